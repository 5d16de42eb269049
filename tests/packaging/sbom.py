"""What the lock installs, as a bill of materials: ``make sbom``, CycloneDX 1.6."""

import json
import sys
from pathlib import Path
from typing import Any

from tests.packaging.test_packaging import PROJECT, locked


def bill(lock: str) -> dict[str, Any]:
    """Return the packages of a lock, each with the hashes of the files that may be installed."""
    components = [
        {
            "type": "library",
            "name": name,
            "version": (version := next(iter(requirement.specifier)).version),
            "purl": f"pkg:pypi/{name}@{version}",
            "externalReferences": [
                {
                    "type": "distribution",
                    "url": f"https://pypi.org/project/{name}/{version}/#files",
                    "hashes": [
                        {"alg": "SHA-256", "content": each.removeprefix("sha256:")}
                        for each in hashes
                    ],
                }
            ],
        }
        for name, (requirement, hashes) in sorted(locked(lock).items())
    ]
    subject = {"type": "application", "name": PROJECT["name"], "version": PROJECT["version"]}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": subject},
        "components": components,
    }


if __name__ == "__main__":
    target = Path(sys.argv[2])
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(f"{json.dumps(bill(sys.argv[1]), indent=1)}\n")
