"""The workflow as a module of another one, with a study in its configuration and a prefix for its files."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import snakemake_forks

MINI = "config/studies/mini.yaml"
RUN = "results/mini/runs/near/reno/ipv4/1.json.gz"
#: What only that workflow is told: where Sawtooth is.
BY_PATH = '"{root}/workflow/Snakefile"'


class Other:
    """A workflow elsewhere that uses this one."""

    def __init__(self, folder, snakefile):
        self.folder = Path(folder)
        shutil.copytree(Path(__file__).with_name("module_use"), self.folder, dirs_exist_ok=True)
        self.edit("workflow/Snakefile", 'config["workflow"]', snakefile)

    def edit(self, name, old, new):
        path = self.folder / name
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    def snakemake(self, *arguments):
        """Return exit status and output of a call in this folder."""
        return snakemake_forks.call(("--cores", "1", *arguments), self.folder, dict(os.environ), 600)


@pytest.fixture
def other(root, tmp_path):
    return Other(tmp_path, BY_PATH.format(root=root))


@pytest.mark.slow
def test_a_run_has_the_bytes_that_it_has_at_home(other, checkout_in, tmp_path_factory):
    home = checkout_in(tmp_path_factory.mktemp("home") / "checkout")
    home.snakemake("--cores", "1", RUN, "--configfile", MINI)
    status, printed = other.snakemake(f"emulation/{RUN}")
    assert status == 0, printed
    assert (other.folder / "emulation" / RUN).read_bytes() == (home.folder / RUN).read_bytes()
    assert "the other workflow starts" in printed  # beside the module's own start, which locks the folder
    assert (other.folder / "emulation/results/mini/.lock").exists() and not (other.folder / "results").exists()
    status, printed = other.snakemake("-n", f"emulation/{RUN}")
    assert status == 0 and "Nothing to be done" in printed


def test_a_study_that_is_wrong_is_refused_in_a_sentence(other):
    other.edit("config/config.yaml", "ccas: [reno, cubic]", "ccas: [renoo]")
    status, printed = other.snakemake("-n")
    assert status != 0 and "sawtooth: the module's config: ccas" in printed and "Traceback" not in printed


def test_containers_that_see_the_caller_are_refused(other):
    other.edit("profiles/default/config.yaml", "--cleanenv ", "")
    status, printed = other.snakemake(f"emulation/{RUN}")
    assert status != 0 and "sawtooth: --cleanenv" in printed
    assert not (other.folder / "emulation" / RUN).exists()


@pytest.mark.long
def test_a_whole_study_goes_to_its_report_and_on(other):
    status, printed = other.snakemake()
    assert status == 0, printed
    assert len((other.folder / "largest.txt").read_text().splitlines()) == 4
    assert "Of another workflow" in (other.folder / "emulation/results/mini/report.html").read_text()
    status, printed = other.snakemake("-n")
    assert status == 0 and "Nothing to be done" in printed, printed


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gitfile", pytest.param("github", marks=pytest.mark.long)])
def test_of_a_repository_a_checkout_is_made_in_the_cache(kind, checkout_in, tmp_path, monkeypatch):
    """The repository is placed in Snakemake's own cache, as if it had been fetched from a forge, so no network is needed."""
    home = checkout_in(tmp_path / "home").folder
    git = ("git", "-C", home, "-c", "user.name=a", "-c", "user.email=a@b.c")
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "x"]):
        subprocess.run([*git, *command], check=True, stdout=subprocess.DEVNULL)
    commit = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("SAWTOOTH_CACHE", str(tmp_path / "sawtooth"))
    snakefile = f'gitfile("{home}", path="workflow/Snakefile", commit="{commit}")'
    if kind == "github":
        bare = tmp_path / "cache/snakemake/snakemake/source-cache/snakemake-git-cache/github.com/a/b"
        subprocess.run(["git", "clone", "-q", "--bare", home, bare], check=True)
        snakefile = f'github("a/b", path="workflow/Snakefile", commit="{commit}")'
    other = Other(tmp_path / "other", snakefile)
    checkout = tmp_path / "sawtooth/checkouts" / commit
    status, printed = other.snakemake("-n")
    assert status == 0 and "sawtooth_emulate_run" in printed, printed
    assert (checkout / "workflow/scripts/session").is_dir()
    (checkout / "envs/testbed.json").unlink()  # as nothing is set up in a new one
    status, printed = other.snakemake("-n")
    assert (
        status == 0
        and f"the images are missing, so this plan treats every result as stale; `make -C {checkout} setup`" in printed
    )
    status, printed = other.snakemake()
    assert status != 0 and f"the images are missing, run `make -C {checkout} setup`" in printed, printed


def test_the_default_profile_serves_a_deployed_folder(other, root):
    """`snakedeploy deploy-workflow` copies profiles/ and config/, but no scripts."""
    shutil.rmtree(other.folder / "profiles", ignore_errors=True)
    shutil.copytree(root / "profiles", other.folder / "profiles")
    status, printed = other.snakemake("-n")
    assert status == 0 and "profiles/default" in printed and "sawtooth_emulate_run" in printed, printed


CLAIMS = """
paper: {title: Of one's own, authors: One}
own_ccas: [own]
ccas: [reno, own]
ip_versions: [ipv4]
scenarios:
  - {id: near, rate_mbps: 10, rtt_path_ms: 10, loss_configured_percent: 0, flows: 1}
claims:
  - id: as-much
    section: "1"
    statement: Both have as much.
    published: ratio 1
    quantity: goodput_mbps
    kind: ratio
    scenarios: [near]
    numerator: {ccas: [own]}
    denominator: {ccas: [reno]}
    requirement: {at_least: 0.9, at_most: 1.1}
    tolerance: A tenth.
"""


@pytest.fixture
def of_own(other, root):
    """A workflow whose study has an algorithm in C and claims, beside its own configuration."""
    for name, content in (
        ("algorithms/tcp_aimd.c", (root / "examples/tcp_aimd.c").read_text()),
        ("config/claims/own.yaml", CLAIMS),
    ):
        (other.folder / name).parent.mkdir()
        (other.folder / name).write_text(content)
    more = "cca_definitions: {own: {source: algorithms/tcp_aimd.c, cca: aimd}}\n  analysis: {claims: own}"
    other.edit("config/config.yaml", "ccas: [reno, cubic]", f"ccas: [reno, own]\n  {more}")
    return other


def test_files_that_a_study_names_are_those_of_the_folder_that_is_worked_in(of_own):
    status, printed = of_own.snakemake("-n")
    assert status == 0, printed
    for file in ("algorithms/tcp_aimd.c", "config/claims/own.yaml"):
        assert str(of_own.folder / file) in printed and f"emulation/{file}" not in printed


@pytest.mark.long
def test_an_own_algorithm_is_built_and_its_study_published(of_own):
    status, printed = of_own.snakemake()
    assert status == 0, printed
    (described,) = of_own.folder.glob("emulation/results/mini/workflow/kernel-*.json")
    assert '"path": "algorithms/tcp_aimd.c"' in described.read_text()
    assert len((of_own.folder / "largest.txt").read_text().splitlines()) == 4
    status, printed = of_own.snakemake("-n")
    assert status == 0 and "Nothing to be done" in printed, printed
