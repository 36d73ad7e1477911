"""The notebook of examples/ reads a finished study and draws every run.

Its code cells are carried out in their order in one Python process, as a notebook's kernel does; a Jupyter is no part of the
environment.
"""

import csv
import json
import subprocess
import sys

import nbformat
import pytest

NOTEBOOK = "examples/read_results.ipynb"
#: Carries the cells out in the notebook's folder; prints what the figures show, as JSON in the last line.
PROGRAM = """
import json, sys
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
names = {}
for cell in json.load(sys.stdin):
    exec(cell, names)
drawn = [
    [{"title": axes.get_title(), "label": axes.get_ylabel(), "dots": [dot[1] for one in axes.collections for dot in one.get_offsets().tolist()],
      "lines": {line.get_label(): line.get_ydata().tolist() for line in axes.lines}} for axes in plt.figure(number).axes]
    for number in plt.get_fignums()
]
print(json.dumps(drawn))
"""


@pytest.fixture(scope="module")
def notebook(root):
    return nbformat.read(root / NOTEBOOK, as_version=4)


@pytest.fixture(scope="module")
def carried_out(smoke, notebook):
    """The output of the cells, and the content of their figures."""
    cells = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=smoke.folder / "examples", input=json.dumps(cells), capture_output=True, text=True
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    *printed, drawn = done.stdout.splitlines()
    return printed, json.loads(drawn)


def test_it_is_a_notebook_without_outputs(notebook):
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.outputs for cell in code] == [[]] * len(code)
    assert [cell.execution_count for cell in code] == [None] * len(code)


def test_every_run_is_a_dot(smoke, carried_out):
    printed, (runs, _) = carried_out
    assert printed[0] == "16 of 16 runs are valid"
    with (smoke.folder / "results/smoke/tidy/runs.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    metrics = {"goodput in Mbit/s": "goodput_mbps", "mean RTT in ms": "rtt_mean_ms"}
    assert len(runs) == 4
    for panel in runs:
        values = [float(row[metrics[panel["label"]]]) for row in rows if row["scenario_label"] == panel["title"]]
        assert sorted(panel["dots"]) == sorted(values) and len(values) == 8


def test_the_time_series_show_what_the_text_says(carried_out):
    """Reno overflows the queue of 33 packets, 40 ms on a path of 40 ms; Vegas has two to four packets in it, 1.2 ms each."""
    rtt, window = carried_out[1][1]
    assert {"reno", "vegas"} == rtt["lines"].keys() == window["lines"].keys()
    assert max(rtt["lines"]["reno"]) > 70
    assert all(40 + 2 * 1.2 < value < 40 + 5 * 1.2 for value in rtt["lines"]["vegas"][3:])
    assert max(window["lines"]["reno"]) > 1.5 * min(window["lines"]["reno"])
