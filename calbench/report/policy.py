"""What a page may load: nothing from elsewhere, and no script that is not ours [C].

A Content-Security-Policy is in each page, so that it holds wherever the site is, as a folder too.
"""

import base64
import hashlib
import re
from pathlib import Path

LOADED = (
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self'; "
    "connect-src 'self'; worker-src 'self' blob:; form-action 'none'; base-uri 'self'"
)
"""What is no script. The theme and Plotly write styles while they draw; pictures of figures to
take are blobs."""

# e.g. "<script>a()</script>"; not '<script src="a.js"></script>'
INLINE = re.compile(
    r"<(?:script)(?![^>]*\ssrc=)(?![^>]*application/json)[^>]*>(.*?)</(?:script)>", re.DOTALL
)
"""A script that runs and has no file; JSON, which is only read, is none."""

# e.g. '<meta charset="utf-8">'; not '<meta name="viewport">'
CHARSET = re.compile(r'<(?:meta) charset="utf-8">')
"""Behind it the policy stands: it holds for what follows."""


def protect(site: Path) -> None:
    """Put its policy into each page of a built site, in place."""
    for path in sorted(site.rglob("*.html")):
        path.write_text(protected(path.read_text(encoding="utf-8")), encoding="utf-8")


def protected(page: str) -> str:
    """Return a page with its policy, which names the digest of each inline script.

    Raises:
        ValueError: it does not say in which encoding it is, where the policy belongs.
    """
    found = (hashlib.sha256(script.encode()).digest() for script in INLINE.findall(page))
    digests = sorted({f"'sha256-{base64.b64encode(each).decode()}'" for each in found})
    scripts = " ".join(["'self'", *digests])
    policy = f"default-src 'none'; script-src {scripts}; {LOADED}"
    tag = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    new, count = CHARSET.subn(lambda charset: f"{charset[0]}\n{tag}", page, count=1)
    if not count:
        raise ValueError("a page without a charset")
    return new
