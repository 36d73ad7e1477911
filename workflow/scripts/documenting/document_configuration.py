"""Write what is generated of the documentation in config/, or check that it is up to date.

    python -m documenting.document_configuration           writes README.md and data-dictionary.md
    python -m documenting.document_configuration --check   fails if one of them would change

The text stands in the templates beside this module; studies, keys and columns come from the studies' files, the schema
and the declarations of the tables.
"""

import argparse
import re
import sys
from importlib import import_module
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from documenting.study_keys import sections
from run_tables.table import KINDS
from run_tables.tidy_tables import TIDY_TABLES
from study_files.study import cells, load, resolve
from study_files.study_schema import keys_of, study_schema
from topics.claims.claims_file import claims_schema
from topics.registry import TOPICS

CONFIGURATION = Path(__file__).resolve().parents[3] / "config"


def readme(configuration: Path = CONFIGURATION) -> str:
    """Compose the text of config/README.md.

    Parameters
    ----------
    configuration : pathlib.Path
        The folder with `config.yaml` and `studies/`.

    Returns
    -------
    str
        Markdown.
    """
    return filled(
        "configuration.md.j2",
        studies=studies_of(configuration),
        ccas=keys_of(study_schema())["ccas"]["items"]["joined"],
        claim_kinds=claims_schema()["$defs"]["common"]["kind"]["enum"],
        sections=sections(),
    )


def data_dictionary() -> str:
    """Compose the text of config/data-dictionary.md: every table that a study may have, column by column."""
    topics = [(topic, question_of(topic)) for topic in TOPICS if topic.tables]
    return filled("data-dictionary.md.j2", kinds=KINDS, tidy_tables=TIDY_TABLES, topics=topics)


#: File in config/ -> what composes its text.
GENERATED = {"README.md": readme, "data-dictionary.md": data_dictionary}


def filled(template: str, **values) -> str:
    """Return a template of this folder, filled in."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["cell"] = lambda text: text.replace("|", "\\|")
    environment.filters["anchor"] = anchor_of
    return environment.get_template(template).render(**values)


def anchor_of(heading: str) -> str:
    """Return the anchor that GitHub gives a heading: letters, digits, hyphens and underscores of it."""
    return re.sub(r"[^a-z0-9_ -]", "", heading.lower()).replace(" ", "-")


def studies_of(configuration: Path) -> list[dict]:
    """Return what is said of each shipped study, the default one first."""
    shipped = []
    for path in [configuration / "config.yaml", *sorted((configuration / "studies").glob("*.yaml"))]:
        study = resolve(load(path), str(path))
        shipped.append(
            {
                "name": study["study"],
                "file": path.relative_to(configuration).as_posix(),
                "description": study["description"],
                "cells": len(list(cells(study))),
                "replications": study["replications"],
            }
        )
    return shipped


def question_of(topic) -> str:
    """Return a topic's question: the first line of its module's docstring."""
    return import_module(f"topics.{topic.name}.topic").__doc__.splitlines()[0]


def main(arguments: list[str] | None = None) -> int:
    """Write the files, or compare them; return the exit status."""
    parser = argparse.ArgumentParser(prog="document_configuration", description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare only, and fail if a file would change")
    check = parser.parse_args(arguments).check
    status = 0
    for name, compose in GENERATED.items():
        path, text = CONFIGURATION / name, compose()
        if not check:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            print(f"config/{name} is out of date: `make documentation` writes it anew.")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
