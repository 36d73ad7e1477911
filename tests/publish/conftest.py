"""A results folder that has a manifest."""

import pytest

from listed_results import listed, write_manifest


@pytest.fixture
def results(tmp_path):
    """A results folder of two files, with its manifest."""
    folder = tmp_path / "results"
    for path in ("runs/a/1.json.gz", "tidy/runs.csv", "logs/a.log", "benchmarks/a.tsv", ".lock"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(path)
    write_manifest(folder, [listed(folder, "runs/a/1.json.gz"), listed(folder, "tidy/runs.csv")])
    return folder
