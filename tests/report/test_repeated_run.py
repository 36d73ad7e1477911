"""The commands that repeat a run, and what the page says of the origin of its results."""

import json

import pandas as pd
import pytest

import tidy_tables
from report_page import repeated_run


def test_commands_name_the_published_study_and_the_document(small):
    html = small.page.read_text()
    document = "results/synthetic/runs/100mbit-10ms-1pct-1flow/reno/ipv4/1.json.gz"
    command = "snakemake --cores 1 --use-apptainer --configfile results/synthetic/workflow/study.json --force"
    assert f"{command} {document}" in html and f"sha256sum {document}" in html


def test_a_published_sum_is_checked():
    run = {"scenario": "a", "cca": "reno", "ip_version": "ipv4", "replication": 1}
    commands = repeated_run.rerun_commands("s", run, "f" * 64)
    assert commands[0].endswith(
        " --configfile results/s/workflow/study.json --force results/s/runs/a/reno/ipv4/1.json.gz"
    )
    assert commands[1] == (f"echo '{'f' * 64}  results/s/runs/a/reno/ipv4/1.json.gz' | sha256sum --check")
    without = repeated_run.rerun_commands("s", run, None)
    assert without == [(sum := "sha256sum results/s/runs/a/reno/ipv4/1.json.gz"), commands[0], sum]


def test_the_run_to_repeat_is_none_that_was_measured_under_a_real_clock():
    scenarios = pd.DataFrame({"scenario": ["measured", "emulated"], "platform": ["host", "uml"]})
    runs = pd.DataFrame({"scenario": ["measured", "emulated", "emulated"], "valid": [True, False, True]})
    assert repeated_run.repeatable_run(runs, scenarios).name == 2
    assert repeated_run.repeatable_run(runs[:2], scenarios).name == 1
    assert repeated_run.repeatable_run(runs[:1], scenarios) is None


def test_provenance_names_what_ran(small):
    text = small.page.read_text()
    provenance = json.loads((small.folder / "tidy" / "provenance.json").read_text())
    environment = provenance["environments"][0]
    assert provenance["workflow"]["commit"] in text
    for key in ("kernel", "image_digest", "iperf3_version", "kernel_config_sha256"):
        assert environment[key] in text


@pytest.mark.slow
def test_uncommitted_changes_and_several_environments_are_said(build):
    study = tidy_tables.synthetic_study(tidy_tables.grid((10,), (0,), (1,)), ["reno"])
    first = study["provenance"]["environments"][0]
    study["provenance"]["environments"] = [first, {**first, "kernel": "6.16.1", "extra": None}]
    study["provenance"]["workflow"] |= {"commit": None, "dirty": True}
    built = build(study)
    html = built.page.read_text()
    assert "made in 2 different environments" in html
    assert "6.16.1" in html
    assert "<dt>Commit</dt><dd>not recorded</dd>" in html
    study["provenance"]["workflow"]["commit"] = "a" * 40
    (built.folder / "tidy/provenance.json").write_text(json.dumps(study["provenance"]))
    built.write_page()
    assert "with changes that were not committed" in built.page.read_text()
