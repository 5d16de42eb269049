"""What machines read about a bundle: Croissant, RO-Crate, DataCite and CodeMeta.

The formats: Croissant 1.0 with its extension for responsible AI 1.0 (MLCommons), RO-Crate 1.1,
DataCite Metadata Schema 4.5 and CodeMeta 3.0.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from calbench.bundle.files import Entry
from calbench.bundle.tables import Written
from calbench.domain.canary import CANARY, KEY
from calbench.facts.columns import Kind

About = Mapping[str, Any]
"""What cards and descriptions say alike: ``templates/about.yaml``, with version and date."""

CONTEXT: dict[str, Any] = json.loads(
    (Path(__file__).parent / "templates" / "croissant.json").read_bytes()
)
"""The names of Croissant 1.0 as its specification prints them."""

TYPES: Mapping[Kind, str] = {
    "text": "sc:Text",
    "list": "sc:Text",
    "integer": "sc:Integer",
    "number": "sc:Float",
    "truth": "sc:Boolean",
}
"""Of fields of Croissant by kind of column."""

MEDIA = {
    ".bz2": "application/x-bzip2",
    ".csv": "text/csv",
    ".gz": "application/gzip",
    ".json": "application/json",
    ".lock": "text/plain",
    ".md": "text/markdown",
    ".parquet": "application/vnd.apache.parquet",
    ".zst": "application/zstd",
}
"""Media types by suffix; others are plain text."""


def croissant(about: About, tables: Sequence[Written]) -> dict[str, Any]:
    """Describe the tables for Croissant: a file and a record set for each."""
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": [
            "http://mlcommons.org/croissant/1.0",
            "http://mlcommons.org/croissant/RAI/1.0",
        ],
        "name": "calbench",
        "alternateName": about["title"],
        "description": about["description"],
        "identifier": CANARY,
        "license": about["licence"],
        "url": about["paper"],
        "version": about["version"],
        "datePublished": about["date"],
        "inLanguage": "en",
        "keywords": about["keywords"],
        "creator": {"@type": "sc:Organization", "name": about["creator"]},
        "publisher": {"@type": "sc:Organization", "name": about["publisher"]},
        "citeAs": about["citation"],
        "isLiveDataset": False,
        "rai:dataCollection": about["collection"],
        "rai:dataCollectionType": "Software Collection",
        "rai:dataCollectionMissingData": about["missing"],
        "rai:dataPreprocessingProtocol": about["preprocessing"],
        "rai:dataAnnotationProtocol": about["annotation"],
        "rai:dataUseCases": [*about["uses"], *(f"Not for: {each}" for each in about["misuses"])],
        "rai:dataBiases": about["biases"],
        "rai:dataLimitations": about["limitations"],
        "rai:dataSocialImpact": about["harms"],
        "rai:personalSensitiveInformation": about["personal"],
        "rai:dataReleaseMaintenancePlan": about["maintenance"],
        "distribution": [_file_object(each) for each in tables],
        "recordSet": [_record_set(each) for each in tables],
    }


def _file_object(each: Written) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": each.parquet.path,
        "name": each.parquet.path,
        "contentUrl": each.parquet.path,
        "contentSize": f"{each.parquet.bytes} B",
        "encodingFormat": "application/x-parquet",  # as readers of Croissant know it
        "sha256": each.parquet.sha256,
    }


def _record_set(each: Written) -> dict[str, Any]:
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"{each.name}/{column.name}",
            "name": column.name,
            "description": column.meaning + (f"; unit: {column.unit}" if column.unit else ""),
            "dataType": TYPES[column.kind] if column.digits is not None else "sc:Text",
            "source": {
                "fileObject": {"@id": each.parquet.path},
                "extract": {"column": column.name},
            },
        }
        for column in each.table.columns
    ]
    key = [{"@id": f"{each.name}/{name}"} for name in each.table.key]
    return {
        "@type": "cr:RecordSet",
        "@id": each.name,
        "name": each.name,
        "description": each.table.about,
        **({"key": key} if key else {}),
        "field": fields,
    }


def crate(about: About, files: Iterable[Entry], folders: Mapping[str, str]) -> dict[str, Any]:
    """Describe every file for RO-Crate; those of the site as one folder.

    Args:
        about: the bundle.
        files: which, with their checksums.
        folders: what is in each folder at the top.
    """
    found = [each for each in files if each.part != "site"]
    paths = {name: [each.path for each in found if each.part == name] for name in folders}
    top = [each.path for each in found if each.part not in folders]
    return {
        "@context": ["https://w3id.org/ro/crate/1.1/context", {"sha256": SHA256, KEY: CANARY_TERM}],
        "@graph": [
            {
                "@id": "ro-crate-metadata.json",
                "@type": "CreativeWork",
                "about": {"@id": "./"},
                "conformsTo": {"@id": "https://w3id.org/ro/crate/1.1"},
            },
            {"@id": "./", **_root(about), **_parts([*(f"{name}/" for name in folders), *top])},
            *(
                {"@id": f"{name}/", "@type": "Dataset", "name": name, "description": said}
                | _parts(paths[name])
                for name, said in folders.items()
            ),
            *map(_file, found),
            {"@id": "#developers", "@type": "Organization", "name": about["creator"]},
            {
                "@id": about["licence"],
                "@type": "CreativeWork",
                "name": "Creative Commons Attribution 4.0 International",
                "description": "Of the data; code, schemas and notebooks: MIT.",
            },
            {"@id": about["paper"], "@type": "ScholarlyArticle", "name": about["paper_title"]},
        ],
    }


def _parts(paths: Iterable[str]) -> dict[str, Any]:
    return {"hasPart": [{"@id": path} for path in paths]}


def _root(about: About) -> dict[str, Any]:
    return {
        "@type": "Dataset",
        "name": about["title"],
        "description": about["description"],
        "datePublished": about["date"],
        "version": about["version"],
        "keywords": about["keywords"],
        "license": {"@id": about["licence"]},
        "author": {"@id": "#developers"},
        "publisher": {"@id": "#developers"},
        "citation": {"@id": about["paper"]},
        KEY: CANARY,
    }


SHA256 = "https://w3id.org/ro/terms/workflow-run#sha256"
"""The term for a checksum, which RO-Crate 1.1 lacks itself."""

CANARY_TERM = "https://schema.org/identifier"


def _file(each: Entry) -> dict[str, Any]:
    return {
        "@id": each.path,
        "@type": "File",
        "name": each.path,
        "contentSize": str(each.bytes),
        "encodingFormat": MEDIA.get(Path(each.path).suffix, "text/plain"),
        "sha256": each.sha256,
    }


def datacite(about: About) -> dict[str, Any]:
    """Return what a registry of DOIs asks for; the DOI is given when a version is deposited."""
    return {
        "schemaVersion": "http://datacite.org/schema/kernel-4",
        "types": {"resourceType": "Benchmark", "resourceTypeGeneral": "Dataset"},
        "creators": [{"name": about["creator"], "nameType": "Organizational"}],
        "titles": [{"title": about["title"]}],
        "publisher": {"name": about["publisher"]},
        "publicationYear": about["date"][:4],
        "dates": [{"date": about["date"], "dateType": "Issued"}],
        "subjects": [{"subject": each} for each in about["keywords"]],
        "language": "en",
        "version": about["version"],
        "formats": sorted(set(MEDIA.values())),
        "rightsList": [
            {
                "rights": "Creative Commons Attribution 4.0 International",
                "rightsUri": about["licence"],
                "rightsIdentifier": "CC-BY-4.0",
                "rightsIdentifierScheme": "SPDX",
            }
        ],
        "descriptions": [
            {"description": about["description"], "descriptionType": "Abstract"},
            {"description": CANARY, "descriptionType": "TechnicalInfo"},
        ],
        "relatedIdentifiers": [
            {
                "relatedIdentifier": about["paper"],
                "relatedIdentifierType": "URL",
                "relationType": "References",
            }
        ],
    }


def codemeta(about: About) -> dict[str, Any]:
    """Describe the software that made the bundle."""
    return {
        "@context": "https://w3id.org/codemeta/3.0",
        "@type": "SoftwareSourceCode",
        "name": "calbench",
        "description": about["description"],
        "identifier": CANARY,
        "version": about["version"],
        "dateModified": about["date"],
        "datePublished": about["date"],
        "license": "https://spdx.org/licenses/MIT",
        "programmingLanguage": {"@type": "ComputerLanguage", "name": "Python"},
        "runtimePlatform": "Python 3.11 or later",
        "keywords": about["keywords"],
        "author": [{"@type": "Organization", "name": about["creator"]}],
        "referencePublication": {
            "@type": "ScholarlyArticle",
            "name": about["paper_title"],
            "url": about["paper"],
        },
    }
