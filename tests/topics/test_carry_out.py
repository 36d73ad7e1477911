"""Several scripts in one process: each gets the tables and parameters that it needs, including results of earlier ones."""

import inspect
import sys
from importlib import import_module
from types import ModuleType

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from figure_parts.figure_svg import Drawing
from rule_files import Named
from topics import carry_out
from topics.registry import TOPICS


@pytest.fixture
def scripts(monkeypatch):
    """Two scripts of a topic: one makes a table from another and a word, the other draws it."""

    def copy(runs_of, word):
        return pd.DataFrame({"cca": runs_of["cca"] + word, "share": 1 / 3})

    def draw(copied, params, missing=None):
        return Drawing(plt.figure(), [], params.word, copied.assign(missing=missing is None), 2)

    for function in (copy, draw):
        module = ModuleType(f"topics.drawn.{function.__name__}")
        setattr(module, function.__name__, function)
        monkeypatch.setitem(sys.modules, module.__name__, module)


def call(script, inputs, outputs, params, **more):
    return {"script": f"drawn/{script}", "inputs": inputs, "outputs": outputs, "params": params, "kinds": {}} | more


def test_scripts_share_files_and_captions_are_filled(scripts, tmp_path):
    (tmp_path / "table.csv").write_text("cca\nreno\n")
    (tmp_path / "caption.rst").write_text("Of {{ snakemake.params.word }}.")
    files = {"figure": "f_figure", "data": "f_data", "caption": "f_caption"}
    of_table, of_copy = {"runs_of": {"cca": "text"}}, {"copied": {"cca": "text", "share": "number"}}
    calls = [
        # `table` is read from one place and made in another, as tidy/checks.csv and analysis/checks.csv are.
        call(
            "copy",
            {"runs_of": "table"},
            {"copied": "copied"},
            {"word": "a"},
            kinds=of_table,
            columns={"copied": ["cca", "share"]},
            digits={"copied": 3},
        ),
        call("draw", {"copied": "copied", "caption": "f_template"}, files, {"word": "b"}, kinds=of_copy),
    ]
    inputs = {"table": tmp_path / "table.csv", "f_template": tmp_path / "caption.rst"}
    outputs = {name: tmp_path / f"made-{name}.csv" for name in ("table", "copied", *files.values())}
    carry_out.main(Named(**inputs), Named(**outputs), Named(calls=calls))
    assert outputs["copied"].read_text() == "cca,share\nrenoa,0.333\n"
    assert outputs["f_data"].read_text() == "cca,share,missing\nrenoa,0.33,True\n"
    assert outputs["f_caption"].read_text() == "Of b.\n"
    assert 'aria-label="b"' in outputs["f_figure"].read_text()


def test_what_a_script_wants_and_does_not_get_is_named(scripts, tmp_path):
    with pytest.raises(
        ValueError, match="copy needs 'word', which isn't among the declared inputs and parameters: runs_of"
    ):
        carry_out.carry_out(call("copy", {}, {}, {}), {"runs_of": ["a.parquet"]}, {"copied": tmp_path / "copied.csv"})


def test_tables_in_another_order_than_declared_are_refused(scripts, tmp_path):
    (tmp_path / "table.csv").write_text("cca\nreno\n")
    asked = call(
        "copy", {}, {}, {"word": "a"}, kinds={"runs_of": {"cca": "text"}}, columns={"copied": ["share", "cca"]}
    )
    with pytest.raises(
        ValueError, match="drawn/copy returns cca, share as copied; its declared columns are share, cca"
    ):
        carry_out.carry_out(asked, {"runs_of": tmp_path / "table.csv"}, {"copied": tmp_path / "copied.csv"})


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.name)
def test_declared_scripts_have_a_function_of_their_name_and_no_other_interface(topic):
    for analysis in topic.analyses:
        module = import_module(f"topics.{topic.name}.{analysis.script}")
        assert inspect.isfunction(getattr(module, analysis.script)) and not hasattr(module, "main")
