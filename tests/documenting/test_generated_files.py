"""The generated documentation is up to date, and describes each column completely."""

import re
from collections import Counter

import pytest
import yaml

from documenting import document_configuration
from documenting.document_configuration import GENERATED
from documenting.study_keys import sections
from run_tables.tidy_tables import TIDY_TABLES
from study_files import study as studies
from topics.claims.claims_file import claims_schema
from topics.registry import TOPICS

TABLES = [*TIDY_TABLES, *(table for topic in TOPICS for table in topic.tables)]
of_each_table = pytest.mark.parametrize("table", TABLES, ids=[table.path for table in TABLES])
#: End of a column's name -> its unit.
UNITS = {"_ms": "ms", "_mbps": "Mbit/s", "_percent": "%", "_bytes": "bytes", "_s": "s", "_us": "µs"}


@pytest.mark.slow
@pytest.mark.parametrize("name", GENERATED)
def test_the_file_is_up_to_date(root, name):
    text = (root / "config" / name).read_text(encoding="utf-8")
    assert text == GENERATED[name](), "run make documentation"


def test_check_finds_drift(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(document_configuration, "CONFIGURATION", tmp_path)
    monkeypatch.setattr(document_configuration, "GENERATED", {"README.md": lambda: "new", "other.md": lambda: "too"})
    assert document_configuration.main(["--check"]) == 1
    assert capsys.readouterr().out.count("out of date") == 2
    assert document_configuration.main([]) == 0
    assert document_configuration.main(["--check"]) == 0
    (tmp_path / "other.md").write_text("edited by hand")
    assert document_configuration.main(["--check"]) == 1
    assert capsys.readouterr().out == "config/other.md is out of date: run `make documentation`.\n"


def test_the_examples_are_a_study_and_claims_of_kinds_that_there_are(root):
    pages = ("config/README.md", "docs/choosing-runs.md", "docs/programs-and-paths.md")
    texts = [(root / page).read_text(encoding="utf-8") for page in pages]
    examples = [example for text in texts for example in text.split("```yaml\n")[1:]]
    read = [yaml.safe_load(example.partition("```")[0]) for example in examples]
    chain = next(example for example in read if "topology" in example)
    study, claims, varied, grouped, both = (example for example in read if example is not chain)
    assert len(studies.resolve(study, "config/README.md")["scenarios"]) == 3

    def scenario(defaults, **changes):
        """Return the single scenario of a small study with the given defaults."""
        small = {"study": "small", "ccas": ["reno"], "scenarios": [{"id": "a", **changes}], "defaults": defaults}
        return studies.resolve(small, "config/README.md")["scenarios"][0]

    assert scenario(varied.get("defaults", varied))["variation"]["queue_packets"] == 1
    assert len(scenario(chain)["chain"]["bottlenecks"]) == 3
    assert scenario(grouped, traffic={"duration_s": 30})["flows"] == 3
    assert len(scenario(both, traffic={"duration_s": 30})["groups"]) == 3
    kinds = claims_schema()["$defs"]["common"]["kind"]["enum"]
    assert {claim["kind"] for claim in claims["claims"]} <= set(kinds)


def test_the_dictionary_has_every_table_and_column(root):
    text = (root / "config/data-dictionary.md").read_text(encoding="utf-8")
    parts = re.split(r"^#{3,4} `(\S+)`\n", text, flags=re.M)[1:]
    described = {
        path: re.findall(r"^\| `(\w+)` \|", part, re.M) for path, part in zip(parts[::2], parts[1::2], strict=True)
    }
    assert described == {table.path: table.names for table in TABLES}
    for path in described:
        assert f"(#{re.sub(r'[./]', '', path)})" in text


@of_each_table
def test_columns_say_what_they_mean(table):
    assert [column.name for column in table if not re.fullmatch(r"\S.*\.", column.meaning)] == []
    assert [column.name for column in table if f"{column.empty} {column.source}".endswith(".")] == []


@of_each_table
def test_numbers_have_the_unit_that_their_names_end_with(table):
    numbers = [column for column in table if column.kind in ("number", "count")]
    units = {column.name: unit for column in numbers for end, unit in UNITS.items() if column.name.endswith(end)}
    assert {name: table[name].unit for name in units} == units


def test_keys_that_must_be_given_are_those_that_a_study_lacks_otherwise():
    rows = {title: {row.name for row in rows if row.default == "must be given"} for title, _, rows in sections()}
    assert {title: names for title, names in rows.items() if names} == {
        "The study": {"study", "ccas", "scenarios"},
        "`replications` of the study, given as a rule": {"until", "at_most"},
        "A program of `programs`": {"server", "client"},
        "A scenario": {"id"},
        "An entry of `link.timeline`": {"at_s"},
        "`multipath.outage`": {"path", "at_s", "for_s"},
        "A group of `flows`": {"name"},
    }


def test_a_file_is_one_table_of_one_topic():
    assert [path for path, tables in Counter(table.path for table in TABLES).items() if tables > 1] == []
