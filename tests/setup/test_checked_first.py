"""Values of a call are checked before images are built: a mistake is told after seconds, not after the minutes of set-up."""

import pytest

from fresh_clone import Clone

STUDY = "study: mine\nccas: [{cca}]\nscenarios: [{{id: a}}]\n"


@pytest.fixture(scope="module")
def new_machine(root, tmp_path_factory):
    """A clone on a machine without images; its Python packages are there, and set-up of the images would begin at once."""
    place = tmp_path_factory.mktemp("new machine")
    clone = Clone(root, place)
    clone.environ["SAWTOOTH_CACHE"] = str(place / "empty")
    for cca in ("cubic", "cubicc"):
        (clone.folder / f"{cca}.yaml").write_text(STUDY.format(cca=cca))
    return clone


def refused(clone, words, sentence):
    """Check that make refuses a call with a sentence, and that no image, results or records of Snakemake exist afterwards."""
    status, printed = clone.run(f"make {words}", timeout=120)
    assert status and sentence in printed and "Traceback" not in printed, printed
    assert not (clone.folder.parent / "empty/images").exists() and not (clone.folder / "results/mine").exists()


def test_a_misspelt_cca_of_a_study_is_refused_before_images_are_built(new_machine):
    refused(new_machine, "STUDY=cubicc.yaml", "ccas[0] is \"cubicc\"; did you mean 'cubic'?")


@pytest.mark.slow
@pytest.mark.parametrize(
    "words, sentence",
    [
        ("STUDY=cubic.yaml PLATFORM=hosst", 'platform is "hosst"; did you mean \'host\'?'),
        ("STUDY=cubic.yaml ARGS='--config replications=x'", "replications"),
        ("exam CCA=cubicc QUICK=1", "CCA=cubicc: is not a CCA of the guest kernel; did you mean 'cubic'?"),
        ("exam CCA=my/tcp_mine.c", "CCA=my/tcp_mine.c: there is no such file"),
        ("exam CCA=quic-go:renoo", "did you mean 'quic-go:reno'?"),
        ("exam PROGRAM=mine.yaml CCA=cubic", "mine.yaml: can't be read (No such file or directory)"),
        ("evaluate CCA=vegas STUDY=cubicc.yaml", "cubicc"),
        ("gallery CCAS='vegas illinoi'", "CCA=illinoi: is not a CCA of the guest kernel; did you mean 'illinois'?"),
        ("exam QUICK=1", "CCA is missing; allowed: a CCA of the kernel"),
        ("sensitivity STUDY=cubic.yaml N=x", "N is 'x'; allowed: whole numbers of at least 1."),
        ("atlas STUDIES='bbr-when nonne'", "nonne"),
        ("verify RESULTS=results/cubik", "results/cubik: there is no such folder"),
        ("verify RESULTS=results/mine.crate.zip", "results/mine.crate.zip: there is no such folder"),
        ("packets RUN=results/mine/runs/a.json.gz", "RUN=results/mine/runs/a.json.gz: there is no such file"),
        ("trace RUN=mine.yaml", "RUN=mine.yaml: there is no such file"),
        ("trace RUN=cubic.yaml EVENTS=tcp", "EVENTS names tcp; allowed: names with * and ?"),
        ("publish RESULTS=results/cubik", "results/cubik: there is no such folder"),
        ("selftests PACKETDRILL=. KERNEL=6.13", "KERNEL=6.13"),
        ("bisect KERNEL=../linux GOOD=a BAD=b WHEN='goodput_mbps falls' STUDY=smoke", "KERNEL=../linux: there is no such folder"),
        ("bisect KERNEL=. GOOD=HEAD BAD=HEAD WHEN='goodput falls' STUDY=smoke", "WHEN"),
        ("series SERIES=mine.mbox BASE=7.2", "SERIES=mine.mbox: there is no such file"),
        ("series SERIES=cubic.yaml BASE=7.2 PACKETDRILL=../pd", "SERIES=cubic.yaml"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_before_images_are_built(new_machine, words, sentence):
    refused(new_machine, words, sentence)


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    ["STUDY=smoke", "", "exam CCA=examples/tcp_aimd.c QUICK=1", "exam CCA=quic-go:reno QUICK=1",
     "evaluate CCA=vegas STUDY=cubic.yaml", "gallery CCAS='vegas illinois'", "sensitivity STUDY=smoke N=1",
     "atlas STUDIES=bbr-when", "selftests PACKETDRILL=. KERNEL=6.12", "series SERIES=upstream/um BASE=7.2"],
)  # fmt: skip
def test_a_call_without_a_mistake_passes_the_check(new_machine, words):
    """The check is the command after ``setup --check`` in what make would execute."""
    status, planned = new_machine.run(f"make --dry-run {words}", timeout=120)
    (line,) = {line for line in planned.splitlines() if " setup --check " in line}
    status, printed = new_machine.run("sh -c " + line.partition(" setup --check ")[2], timeout=120)
    assert status == 0, printed


@pytest.mark.slow
def test_lists_and_plans_need_no_images(new_machine):
    status, printed = new_machine.run("make studies && make plan STUDY=smoke", timeout=240)
    assert status == 0 and "config/studies/smoke.yaml" in printed and "enough for" in printed, printed
    assert not (new_machine.folder.parent / "empty/images").exists()


@pytest.mark.slow
@pytest.mark.parametrize("words", ["-n", "--rulegraph", "--lint"])
def test_snakemake_plans_without_apptainer(new_machine, words):
    """The PATH has the programs of the system only."""
    command = f"PATH=/usr/bin:/bin .venv/bin/snakemake {words} --configfile config/studies/smoke.yaml"
    status, printed = new_machine.run(command, timeout=120)
    assert status == 0, printed
