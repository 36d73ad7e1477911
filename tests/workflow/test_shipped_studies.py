"""Snakemake plans every shipped study: each table and figure of its outline has a rule, whose inputs are made by others."""

from pathlib import Path

import pytest

from study_files import study as studies
from study_files.study_design import StudyDesign
from topics.outline import study_outline, together

ROOT = Path(__file__).resolve().parents[2]
STUDIES = ["config/config.yaml", *sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("config/studies/**/*.yaml"))]
#: Studies that `make test` plans; `make test-long` plans all.
PLANNED = (
    "config/config.yaml",
    "config/studies/exam-quick.yaml",
    "config/studies/multipath.yaml",
    "config/studies/witness-queue.yaml",
)
#: Rules of a study that no topic makes.
FRAME = {"all": 1, "check_documents": 1, "tidy_runs": 1, "write_manifest": 1, "write_report": 1, "write_explorer": 1}
RUN_RULES = {"uml": "emulate_run", "host": "measure_run", "ns3": "simulate_run"}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory, checkout_in):
    return checkout_in(tmp_path_factory.mktemp("plans") / "checkout")


def patches_of(study):
    """Return the paths of missing patches of a resolved study's kernels."""
    kernels = [one["kernel"] for one in study["cca_definitions"].values() if one.get("kernel")]
    return [patch["path"] for kernel in kernels for patch in kernel["patches"] if not (ROOT / patch["path"]).exists()]


@pytest.mark.slow
@pytest.mark.parametrize(
    "path", [pytest.param(path, marks=[] if path in PLANNED else [pytest.mark.long]) for path in STUDIES]
)
def test_snakemake_plans_all_that_the_study_has(path, checkout):
    """With one replication, because a plan of 14,400 runs takes half a minute."""
    study = studies.resolve(studies.load(ROOT / path, {"replications": 1}), path)
    arguments = ("--configfile", path, "--config", "replications=1")
    status, output = checkout.snakemake("--cores", "1", "--dry-run", *arguments, check=False)
    if status:
        # What has runs on platform host asks for what this machine's kernel may lack: said in one sentence. So are patches of others.
        (sentence,) = (line for line in output.splitlines() if line.startswith("sawtooth: "))
        if patches := patches_of(study):
            assert f"has the patch {patches[0]}, which doesn't exist" in sentence
            pytest.skip(sentence)
        assert "host" in {scenario["platform"] for scenario in study["scenarios"]}, output[-2000:]
        assert "the machine's kernel" in sentence or "kernel" in sentence
        pytest.skip(sentence)
    planned = checkout.jobs_in(output)
    outline = study_outline(StudyDesign(study))
    drawn = set(together(outline.figures, "draw_figures", len(list(studies.all_runs(study)))))
    assert {rule for rule in planned if rule.startswith(("plot_", "draw_"))} == drawn
    runs = len(list(studies.runs(study)))
    assert sum(count for rule, count in planned.items() if rule in RUN_RULES.values()) == runs
    # A kernel for each mix of CCAs whose C files it needs, and for each Linux besides the image's.
    kernels = {
        frozenset(str(one.get("sha256") or one["kernel"]) for one in parts.values() if {"source", "kernel"} & {*one})
        for parts in (
            studies.definitions_in(study, scenario["id"], cca)
            for scenario in study["scenarios"]
            for cca in study["ccas"]
        )
    } - {frozenset()}
    assert planned.pop("build_kernel", 0) == len(kernels)
    analysis = {rule: count for rule, count in planned.items() if rule not in {*FRAME, *drawn, *RUN_RULES.values()}}
    assert set(analysis.values()) == {1}
    assert {rule: planned[rule] for rule in FRAME} == FRAME
