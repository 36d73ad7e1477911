"""Write the generated parts of the documentation in config/, or check that they are up to date.

    python -m documenting.document_configuration           writes README.md and data-dictionary.md
    python -m documenting.document_configuration --check   fails if a file is out of date

The text is in the templates next to this module; the lists of studies, keys and columns come from the study files, the schema and the table
declarations.
"""

import argparse
import re
import sys
from importlib import import_module
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from documenting.study_keys import sections
from experiment.disciplines import DISCIPLINES
from experiment.link_options import LINK_OPTIONS
from run_tables.table import KINDS
from run_tables.tidy_tables import TIDY_TABLES
from study_files.study import cells, load, resolve
from study_files.study_replications import replications_words
from study_files.study_runs import runs_at_looks
from study_files.study_schema import keys_of, study_schema
from topics.claims.claims_file import claims_schema
from topics.registry import TOPICS

CONFIGURATION = Path(__file__).resolve().parents[3] / "config"


def _readme():
    """Compose the text of config/README.md."""
    return _filled(
        "configuration.md.j2",
        studies=_studies(),
        ccas=keys_of(study_schema())["ccas"]["items"]["joined"],
        disciplines=DISCIPLINES,
        link_options=LINK_OPTIONS,
        claim_kinds=claims_schema()["$defs"]["common"]["kind"]["enum"],
        sections=sections(),
    )


def _data_dictionary():
    """Compose the text of config/data-dictionary.md, which describes every table that a study may produce, column by column."""
    topics = [(topic, _question(topic)) for topic in TOPICS if topic.tables]
    return _filled("data-dictionary.md.j2", kinds=KINDS, tidy_tables=TIDY_TABLES, topics=topics)


#: File in config/ -> function that composes its text.
GENERATED = {"README.md": _readme, "data-dictionary.md": _data_dictionary}


def _filled(template, **values):
    """Return the text of a template in this folder, filled in with the given values."""
    layout = {"trim_blocks": True, "lstrip_blocks": True, "keep_trailing_newline": True}
    environment = Environment(loader=FileSystemLoader(Path(__file__).parent), undefined=StrictUndefined, **layout)
    environment.filters |= {"cell": lambda text: text.replace("|", "\\|"), "anchor": _anchor}
    return environment.get_template(template).render(**values)


def _anchor(heading):
    """Return the anchor that GitHub derives from a heading: lower-case letters, digits, underscores and hyphens (also for spaces)."""
    return re.sub(r"[^a-z0-9_ -]", "", heading.lower()).replace(" ", "-")


def _studies():
    """Yield the file, the content, and the numbers of cells, replications and runs of each study, the default study first."""
    for path in [CONFIGURATION / "config.yaml", *sorted((CONFIGURATION / "studies").rglob("*.yaml"))]:
        study = resolve(load(path), str(path))
        file, count = path.relative_to(CONFIGURATION).as_posix(), len(list(cells(study)))
        runs = " to ".join(f"{number:,}" for number in sorted({*runs_at_looks(study)}))
        yield file, study, count, replications_words(study), runs


def _question(topic):
    """Return a topic's question: the first line of the docstring of the topic's module."""
    return import_module(f"topics.{topic.name}.topic").__doc__.splitlines()[0]


def main(arguments: list[str] | None = None) -> int:
    """Write the files; if ``--check`` is given, only compare them. Return the exit status."""
    parser = argparse.ArgumentParser(prog="document_configuration", description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare only, and fail if a file would change")
    check = parser.parse_args(arguments).check
    status = 0
    for name, compose in GENERATED.items():
        path, text = CONFIGURATION / name, compose()
        if not check:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            print(f"config/{name} is out of date: run `make documentation`.")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
