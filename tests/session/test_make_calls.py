"""Calls of make: the study, folder and image that each is about, and one sentence for a call that is mistyped."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from study_files import study as studies


@pytest.fixture(autouse=True)
def in_checkout(root, monkeypatch):
    monkeypatch.chdir(root)


@pytest.mark.parametrize(
    "name, platform, words",
    [
        ("named", "", []), ('"named"', "", []), ("'named'", "platform: null\n", []), ("named", "platform: host\n", []),
        ("named", 'platform: "host"\n', []), ("named", "platform: host\n", ["PLATFORM=uml"]),
    ],
)  # fmt: skip
def test_make_looks_for_results_where_the_study_puts_them(name, platform, words, tmp_path, root):
    """Whether or not the file quotes the name, and wherever the platform is set."""
    text = f"study: {name}\n{platform}ccas: [reno]\nscenarios: [{{id: a}}]\n"
    (tmp_path / "study.yaml").write_text(text)
    (tmp_path / "Makefile").symlink_to(root / "Makefile")
    (tmp_path / "workflow").symlink_to(root / "workflow")
    command = ["make", "--dry-run", "--old-file", "setup", "publish", "STUDY=study.yaml", *words]
    printed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    given = dict(word.lower().split("=") for word in words)
    resolved = studies.resolve(yaml.safe_load(text) | given, "study.yaml")["study"]
    assert f"publishing.pack_results 'results/{resolved}'" in printed


@pytest.mark.parametrize("platform", ["ns3:3.44", '"ns3:3.44"', "'ns3:3.44'"])
def test_make_builds_the_image_of_ns3_for_a_study_that_needs_it(platform, tmp_path, root):
    (tmp_path / "study.yaml").write_text(f"study: a\nccas: [reno]\nscenarios: [{{id: a, platform: {platform}}}]\n")
    (tmp_path / "Makefile").symlink_to(root / "Makefile")
    (tmp_path / "workflow").symlink_to(root / "workflow")
    command = ["make", "--dry-run", "setup", "STUDY=study.yaml"]
    printed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert "SAWTOOTH_NS3=1 " in printed


MISTYPED = [
    (["studdies"], "make has no target studdies"),
    (["tests"], "make has no target tests"),
    (["report", "config"], "make has no target report"),
    (["STUDI=smoke"], "make has no variable STUDI"),
    (["CONFIG=config/studies/smoke.yaml"], "make has no variable CONFIG; make run uses: PLATFORM, PROFILE"),
    (["CCA=my/tcp_mine.c", "STUDY=smoke"], "make run doesn't use CCA, which is for: exam, evaluate; make run uses: "),
    (["STUDIES=smoke"], "make run doesn't use STUDIES, which is for: atlas;"),
    (["gallery", "CCA=vegas"], "make gallery doesn't use CCA, which is for: exam, evaluate;"),
    (["exam", "STUDY=smoke", "CCA=vegas"], "make exam doesn't use STUDY, which is for: run, "),
    (["evaluate", "STUDY=smoke", "CCA=vegas", "QUICK=1"], "make evaluate doesn't use QUICK, which is for: exam,"),
    (["evaluate", "STUDY=examples/quic.yaml", "CCA=vegas", "QUICK=1"], "make evaluate doesn't use QUICK, which is"),
    (["study=smoke"], "make has no variable study"),
    (["STUDY=smok"], "there is no study of that name (nearest: smoke"),
    (["STUDY=config/studies/none.yaml"], "there is no such file, or it can't be read"),
    (["sensitivity", "STUDY=smoke", "N=x"], "sawtooth: N is 'x'; allowed: whole numbers of at least 1."),
    (["sensitivity", "STUDY=smoke", "SEED=-1"], "sawtooth: SEED is '-1'; allowed: whole numbers of at least 0."),
    (["verify", "RESULTS=nowhere"], "sawtooth: nowhere: there is no such folder"),
]


@pytest.mark.parametrize("words, sentence", MISTYPED)
def test_a_mistyped_call_of_make_is_told_in_a_sentence(words, sentence, tmp_path, root):
    """Nothing is started: an unread misspelt variable would run the default study for an hour."""
    for name in ("Makefile", "config", "workflow", "profiles", "Snakefile", "envs"):
        (tmp_path / name).symlink_to(root / name)
    (tmp_path / ".venv").symlink_to(Path(sys.executable).parents[1])
    command = ["make", "--old-file", "setup", *words]
    done = subprocess.run(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120
    )
    assert done.returncode != 0 and sentence in done.stdout and "Traceback" not in done.stdout, done.stdout
    assert not (tmp_path / "results").exists() and not (tmp_path / ".snakemake").exists()


def test_a_study_named_in_the_environment_is_not_ignored(root):
    done = subprocess.run(["env", "STUDY=smoke", "make", "--dry-run"], cwd=root, capture_output=True, text=True)
    assert (
        done.returncode
        and "sawtooth: STUDY is set in the environment, which has no effect; write it after make" in done.stderr
    )
    assert subprocess.run(["env", "STUDY=smoke", "make", "help"], cwd=root, capture_output=True).returncode == 0


def dry_make(root, *words):
    command = ["make", "--dry-run", "--old-file", "setup", *words]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout


def test_a_platform_is_kept_beside_other_configuration(root):
    """Snakemake uses only the last --config."""
    for option in ("--config ", "-C ", "--config="):
        printed = dry_make(root, "STUDY=smoke", "PLATFORM=host", f"ARGS=-n {option}seed=2")
        assert printed.count("'config/studies/smoke.yaml' -n --config 'platform=host' seed=2\n") == 1


EXAM, OTHER = "snakemake --profile 'profiles/exam'", "snakemake --cores all --use-apptainer"


@pytest.mark.parametrize(
    "words", [["run"], ["verify"], ["sensitivity"], ["plan"], ["publish"], ["gallery"], ["exam", "CCA=vegas"], ["selftests", "PACKETDRILL=x"]],
    ids=" ".join,
)  # fmt: skip
def test_an_empty_value_is_the_default(words, root):
    used = re.search(rf"^OF_{words[0]} = (.*)$", (root / "Makefile").read_text(), re.MULTILINE)[1]
    others = {*re.findall(r"\b[A-Z]+\b", used), "PYTHON", "NS3", "ARGS"} - {word.split("=")[0] for word in words}

    def commands(*more):
        return re.sub(r"SAWTOOTH_CALL=.*? PATH=", "", dry_make(root, *words, *more))

    assert commands(*(f"{name}=" for name in sorted(others))) == commands()


@pytest.mark.parametrize(
    "words, folders",
    [
        (["plan", "FROM={}"], "--from '{}'\n"), (["compare", "EXAMS={}"], "session.compare_results '{}' "),
        (["series", "SERIES={}", "BASE=7.2"], "--series '{}' --base"), (["gallery", "CCAS={}"], "for cca in '{}'; do"),
        (["plan", "FROM=results/a results/b"], "--from 'results/a' 'results/b'\n"),
        (["plan", "FROM=config docs"], "--from 'config' 'docs'\n"),
    ],
)  # fmt: skip
def test_a_list_may_be_one_existing_path_with_spaces(words, folders, root, tmp_path):
    place = tmp_path / "it's with space"
    place.mkdir()
    quoted = str(place).replace("'", "'\\''")
    assert folders.format(quoted) in dry_make(root, *(word.format(place) for word in words))


@pytest.mark.parametrize(
    "words, begins",
    [
        (["exam", "CCA=bic", "QUICK=1"], EXAM), (["evaluate", "CCA=bic", "STUDY=config/studies/exam.yaml"], EXAM),
        (["gallery"], EXAM), (["exam", "CCA=bic", "PROFILE=profiles/slurm"], "snakemake --profile 'profiles/slurm'"),
        (["STUDY=examples/quic-go.yaml"], OTHER), (["evaluate", "CCA=bic", "STUDY=smoke"], OTHER),
    ],
)  # fmt: skip
def test_runs_of_an_exam_share_jobs_unless_the_call_names_a_profile(words, begins, root):
    assert begins in dry_make(root, *words)


def test_the_report_is_that_of_the_study_that_runs(root):
    printed = dry_make(root, "STUDY=smoke", "ARGS=--config study=other", "PLATFORM=host")
    assert "setup begun 'results/other-host'" in printed and "echo report: 'results/other-host/report.html'" in printed


def test_zero_switches_an_option_off(root):
    run = dry_make(root, "STUDY=smoke", "RERUN=0")
    packets = dry_make(root, "packets", "RUN=x", "FULL=0", "BUILD=0")
    assert "setup begun" in run and "--full" not in packets and "--build" not in packets
    assert "setup images" not in dry_make(root, "publish", "STUDY=smoke", "IMAGES=0")


@pytest.mark.parametrize(
    "words", [("CCA=vegas", "exam"), ("evaluate", "CCA=x", "STUDY=smoke"), ("gallery",), ("atlas",), ("sensitivity",)]
)
def test_every_command_that_continues_results_checks_their_image(root, words):
    assert dry_make(root, *words).count("setup begun") == 1 and "setup begun" not in dry_make(root, *words, "RERUN=1")


def test_each_target_lists_the_variables_that_it_uses(root):
    text = (root / "Makefile").read_text()
    lists = {target: {*words.split()} for target, words in re.findall(r"^OF_([a-z-]+) = (.*)$", text, re.MULTILINE)}
    known = {name for names in lists.values() for name in names if name.isupper() or name == "NS3"}
    recipes = re.findall(r"^([a-z-]+):.*?##.*\n((?:\t.*\n)*)", text, re.MULTILINE)
    macros = {name: words for name, words in re.findall(r"^([A-Z_]+) = (.*)$", text, re.MULTILINE) if name not in known}
    for target, recipe in recipes:
        for _ in macros:
            recipe = re.sub(r"\$\(([A-Z_]+)\)", lambda name: macros.get(name[1], name[0]), recipe)
        used = {*re.findall(r"\b[A-Z_]+\b(?!=)", " ".join(re.findall(r"\$\([^$]*", recipe)))} & known
        assert used - lists.get(target, set()) <= {"RESULTS"}, target
