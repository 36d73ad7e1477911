"""A study as a gate, run by Snakemake: exit status, complete results, and the effect of a second call."""

import pytest
import yaml

pytestmark = pytest.mark.long

VALID = {"id": "valid", "table": "runs", "column": "valid", "one_of": [True]}
FASTER_THAN_THE_LINK = {"id": "faster", "table": "runs", "column": "goodput_mbps", "requirement": {"above": 10}}


def test_a_gate_that_fails_leaves_everything_and_fails_again(copy_of_mini):
    file, folder = copy_of_mini.folder / "config/studies/mini.yaml", copy_of_mini.folder / "results/mini"
    study = yaml.safe_load(file.read_text())

    def call(*expect):
        file.write_text(yaml.safe_dump(study | {"analysis": {"expect": list(expect)}}))
        return copy_of_mini.snakemake("--cores", "1", "--configfile", "config/studies/mini.yaml", check=False)

    status, output = call(VALID, FASTER_THAN_THE_LINK)
    assert status == 1
    lines = [line for line in output.splitlines() if line.startswith("sawtooth: gate: faster is not met: ")]
    assert len(lines) == 8 and all("expected above 10 Mbit/s" in line for line in lines)
    assert lines[0].endswith("--configfile config/studies/mini.yaml --force results/mini/runs/near/reno/ipv4/1.json.gz")
    page = (folder / "report.html").read_text()
    # Whole, published, and it says so.
    assert "pass as a gate" in page and "</html>" in page
    assert "analysis/expectations.csv" in (folder / "ro-crate-metadata.json").read_text()
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*.csv")}
    status, output = call(VALID, FASTER_THAN_THE_LINK)
    assert status == 1 and "faster is not met" in output
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*.csv")} == before
    assert call(VALID)[0] == 0
    status, output = call(VALID)
    assert status == 0 and "Nothing to be done" in output
    # A gate that was passed is none for what comes later.
    assert call(FASTER_THAN_THE_LINK)[0] == 1
    status, output = call(VALID | {"colum": "valid"})
    assert status == 1 and "unknown key 'analysis.expect[valid].colum'; did you mean 'column'?" in output
