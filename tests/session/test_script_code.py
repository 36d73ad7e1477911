"""What makes a rule stale: the code of its script and of all modules that it reaches, but no prose."""

import shutil

import pytest

from session import module_memory, script_code
from session.script_code import code_of, modules_of
from topics.registry import TOPICS

DESCRIBE, PLOT, TIDY = "topics/cells/describe_cells", "topics/cells/plot_metric", "run_tables/tidy_runs"
TABLE = """\
\"\"\"Tables.\"\"\"
from run_tables.table import Table, interval_columns, number_column, text_column

#: How long.
SPEEDS = Table(
    "speeds",
    "a run",
    (
        text_column("scenario", "Its name."),
        number_column("goodput_mbps", "Mbit/s", "What arrived.", "nothing was sent", "iperf3", least=0),
        *interval_columns("low", "high", "Mbit/s", "the mean", empty="there is one run only"),
    ),
)


def fast(speed):
    \"\"\"Tell whether a speed is high.\"\"\"
    return speed > 10
"""
SCRIPT = """\
from wide.speeds import fast


def main(inputs, outputs, params):
    print(fast(3))
"""


@pytest.fixture
def scripts(tmp_path, monkeypatch):
    """A folder in which scripts are looked up; the cache about them is a file there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(script_code, "SCRIPTS", tmp_path / "scripts")
    for name in ("modules_of", "_read", "_exists"):
        monkeypatch.setattr(script_code, name, getattr(script_code, name).__wrapped__)
    module_memory._remembered.cache_clear()
    yield tmp_path / "scripts"
    module_memory._remembered.cache_clear()


@pytest.fixture
def digest_of(scripts):
    """A function that returns the digest of a script that imports a module with the given text."""

    def digest(text, script=SCRIPT):
        for name, content in (("wide/speeds.py", text), ("narrow/show.py", script), ("run_tables/table.py", "")):
            (scripts / name).parent.mkdir(parents=True, exist_ok=True)
            (scripts / name).write_text(content)
        module_memory._remembered.cache_clear()  # as a new call of Snakemake
        return code_of("narrow/show")

    return digest


def test_modules_are_followed_through_other_modules():
    modules = modules_of(TIDY)
    assert "run_tables/tidy_rows.py" in modules  # imported
    assert "run_tables/run_metrics.py" in modules  # by tidy_rows
    assert f"{TIDY}.py" not in modules
    assert modules == tuple(sorted(modules))


def test_a_colour_concerns_figures_and_report_only():
    scripts = [
        str(path.relative_to(script_code.SCRIPTS).with_suffix(""))
        for path in script_code.SCRIPTS.rglob("*.py")
        if 'if "snakemake" in globals()' in path.read_text() or path.stem.startswith("plot_")
    ]
    scripts += [f"topics/{topic.name}/{analysis.script}" for topic in TOPICS for analysis in topic.analyses]
    concerned = {name for name in scripts if "figure_parts/figure_style.py" in modules_of(name)}
    figures = {name for name in scripts if name.rpartition("/")[2].startswith("plot_")}
    assert figures and concerned == {*figures, "report_page/write_report", "report_page/write_explorer"}


def test_a_script_that_is_not_there_is_an_error():
    with pytest.raises(FileNotFoundError, match="plot_nothing"):
        code_of("topics/cells/plot_nothing")


def test_a_changed_function_changes_whatever_imports_it(scripts, root):
    shutil.copytree(root / "workflow/scripts", scripts, ignore=shutil.ignore_patterns("__pycache__"))
    before = {name: code_of(name) for name in (DESCRIBE, PLOT, TIDY)}
    with (scripts / "figure_parts/figure_style.py").open("a") as style:
        style.write("\n\ndef one_more():\n    return 1\n")
    assert {name for name in before if code_of(name) != before[name]} == {PLOT}


@pytest.mark.parametrize(
    "text, other",
    [
        ("Tables.", "All tables."),  # docstrings
        ("Tell whether a speed is high.", "Tell whether it is fast."),
        ("#: How long.", "#: How long it takes."),  # a comment
        ("Its name.", "The scenario's name."),  # meaning
        ("nothing was sent", "nothing arrived"),  # empty if
        ("iperf3", "the receiver"),  # source
        ("the mean", "the median"),
        ("there is one run only", "there are fewer than two"),
        ("\n\n\ndef", "\n\n\n\n\ndef"),  # layout
        ("return speed > 10", "return (speed > 10)"),
        ("fast(speed)", "fast(speed: float) -> bool"),
        ("fast(speed)", "fast(speed: 'Speed') -> bool | None"),
    ],
)
def test_no_word_of_prose_changes_anything(digest_of, text, other):
    assert text in TABLE
    assert digest_of(TABLE.replace(text, other)) == digest_of(TABLE)


@pytest.mark.parametrize(
    "text, other",
    [
        ("speed > 10", "speed > 11"),
        ("fast(speed)", "fast(speed, *_)"),
        ("goodput_mbps", "speed_mbps"),  # a column's name
        ('"goodput_mbps", "Mbit/s"', '"goodput_mbps", "kbit/s"'),  # a column's unit
        ('"low", "high", "Mbit/s"', '"low", "high", "kbit/s"'),
        ("number_column(", "text_column("),  # a column's kind
        ("least=0", "least=1"),  # a bound
        ('"speeds"', '"rates"'),
    ],
)
def test_what_a_script_may_depend_on_changes_it(digest_of, text, other):
    assert text in TABLE
    assert digest_of(TABLE.replace(text, other)) != digest_of(TABLE)


def test_a_function_of_another_name_keeps_its_words(digest_of):
    """Only the declarations' arguments are prose; texts of the script itself are not."""
    shown = SCRIPT.replace("print(fast(3))", 'print(text("a", "b"))')
    assert digest_of(TABLE, shown) != digest_of(TABLE, shown.replace('"b"', '"c"'))
    assert digest_of(TABLE, SCRIPT) != digest_of(TABLE, SCRIPT.replace("print", "repr"))


def test_what_was_read_is_not_read_again_until_it_changes(digest_of, monkeypatch):
    before, read, reader = digest_of(TABLE), [], script_code._WithoutProse
    monkeypatch.setattr(script_code, "_WithoutProse", lambda: read.append(reader()) or read[-1])
    assert digest_of(TABLE) == before and len(read) == 0
    assert digest_of(TABLE.replace("speed > 10", "speed > 11")) != before and len(read) == 1
    assert digest_of(TABLE) == before and len(read) == 1


@pytest.mark.parametrize("damaged", ["", "[]", '{"read_by": "another", "modules": {}}', '{"modules": 1}'])
def test_a_memory_that_cannot_be_used_is_made_anew(digest_of, tmp_path, damaged):
    before = digest_of(TABLE)
    memory = tmp_path / module_memory.MEMORY
    whole = memory.read_text()
    memory.write_text(damaged)
    assert digest_of(TABLE) == before
    assert memory.read_text() == whole


def test_without_a_place_to_remember_in_everything_is_read(digest_of, tmp_path):
    (tmp_path / module_memory.MEMORY.parent).write_text("a file where the folder would be")
    assert digest_of(TABLE) == digest_of(TABLE)
    assert digest_of(TABLE) != digest_of(TABLE.replace("speed > 10", "speed > 11"))
