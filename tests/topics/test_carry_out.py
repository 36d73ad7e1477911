"""Several scripts in one process: each gets its own files, what an earlier one made too, and a caption is filled."""

import sys
from types import ModuleType

import pytest

from rule_files import Named
from topics import carry_out


@pytest.fixture
def scripts(monkeypatch):
    """Two scripts of a topic: one copies a table with a word more, the other writes what it got."""

    def copy(inputs, outputs, params):
        outputs.copied.write_text(inputs.table.read_text() + params.word)

    def draw(inputs, outputs, params):
        outputs.figure.write_text(inputs.copied.read_text())
        outputs.data.write_text(str(inputs.get("missing")))

    for name, main in (("copy", copy), ("draw", draw)):
        module = ModuleType(f"topics.drawn.{name}")
        module.main = main
        monkeypatch.setitem(sys.modules, module.__name__, module)


def test_scripts_share_files_and_captions_are_filled(scripts, tmp_path):
    (tmp_path / "table").write_text("read ")
    (tmp_path / "caption").write_text("Of {{ snakemake.params.word }}.")
    files = {"figure": "f_figure", "data": "f_data", "caption": "f_caption"}
    calls = [
        # `table` is read from one place and made in another, as tidy/checks.csv and analysis/checks.csv are.
        {
            "script": "drawn/copy",
            "inputs": {"table": "table"},
            "outputs": {"copied": "copied"},
            "params": {"word": "a"},
        },
        {
            "script": "drawn/draw",
            "inputs": {"copied": "copied", "caption": "f_template"},
            "outputs": files,
            "params": {"word": "b"},
        },
    ]
    inputs = {"table": tmp_path / "table", "f_template": tmp_path / "caption"}
    outputs = {name: tmp_path / f"made-{name}" for name in ("table", "copied", *files.values())}
    carry_out.main(Named(**inputs), Named(**outputs), Named(calls=calls))
    assert outputs["copied"].read_text() == "read a"
    assert outputs["f_figure"].read_text() == "read a"
    assert outputs["f_data"].read_text() == "None"
    assert outputs["f_caption"].read_text() == "Of b.\n"
