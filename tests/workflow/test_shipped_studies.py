"""Snakemake plans every shipped study: each table and figure of its outline has a rule, whose inputs are made by others."""

from pathlib import Path

import pytest

from study_files import study as studies
from study_files.study_design import StudyDesign
from topics.claims.claims_file import load_claims
from topics.outline import study_outline, together

ROOT = Path(__file__).resolve().parents[2]
STUDIES = ["config/config.yaml", *sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("config/studies/**/*.yaml"))]
#: Studies of which the plan has the rules of another one's, so that `make test` has Snakemake plan that one alone.
ALIKE = {
    "config/studies/bbr-buffer-full.yaml": "config/studies/bbr-buffer.yaml",
    "config/studies/atlas/bbr-share.yaml": "config/studies/fairness.yaml",
    "config/studies/exbench.yaml": "config/config.yaml",
    "config/studies/ipv4-ipv6-full.yaml": "config/config.yaml",
    "config/studies/multipath-cpu-gre.yaml": "config/studies/multipath-cpu.yaml",
    "config/studies/multipath-full.yaml": "config/studies/multipath.yaml",
    "config/studies/packet-size-full.yaml": "config/studies/packet-size.yaml",
    "config/studies/witness.yaml": "config/studies/witness-queue.yaml",
}
#: Studies of publications, of which the plans hardly differ.
ATLAS = "config/studies/atlas/"
#: Rules of a study that no topic makes.
FRAME = {"all": 1, "check_documents": 1, "tidy_runs": 1, "write_manifest": 1, "write_report": 1, "write_explorer": 1}
RUN_RULES = {"uml": "emulate_run", "host": "measure_run", "ns3": "simulate_run"}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory, checkout_in):
    return checkout_in(tmp_path_factory.mktemp("plans") / "checkout")


def rules_of(path):
    """Return what determines the rules in a study's plan: tables, figures with their inputs, platforms, claims, another study."""
    study = studies.resolve(studies.load(ROOT / path, {"replications": 1}), path)
    outline, analysis = study_outline(StudyDesign(study)), study["analysis"]
    if analysis["claims"]:
        load_claims(ROOT / f"config/claims/{analysis['claims']}.yaml")  # as the Snakefile does
    return (
        {table.name for table in outline.tables},
        {(figure.script, figure.inputs) for figure in outline.figures},
        {topic.name for topic in outline.topics},
        {scenario["platform"].partition(":")[0] for scenario in study["scenarios"]},
        [bool(analysis["claims"]), bool(analysis["compare_with"]), studies.has_looks(study), study["controls"]],
    )


def patches_of(study):
    """Return the paths of missing patches of a resolved study's kernels."""
    kernels = [one["kernel"] for one in study["cca_definitions"].values() if one.get("kernel")]
    return [patch["path"] for kernel in kernels for patch in kernel["patches"] if not (ROOT / patch["path"]).exists()]


@pytest.mark.parametrize("path", ALIKE)
def test_studies_that_are_alike_have_the_same_rules(path):
    assert rules_of(path) == rules_of(ALIKE[path])


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=[pytest.mark.long] if path in ALIKE or path.startswith(ATLAS) else [])
        for path in STUDIES
    ],
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
            assert f"has the patch {patches[0]}, which is not there" in sentence
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
