"""A separate checkout with the set-up's images, and the smoke study really run in it."""

import fcntl
import gzip
import json
import os
import shutil
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

import pytest

import snakemake_forks
import testbed_forks
from mount_namespace import MountNamespace
from received_results import verifying
from run_tables.document_form import read_form, violation
from study_files import study as studies
from testbed.machine.identity import TESTBED, package_digest

ROOT = Path(__file__).resolve().parents[2]
FORM = read_form(ROOT / "workflow/schemas/run.schema.json")
SMOKE = "config/studies/smoke.yaml"
#: Study put into each checkout, for tests that need a workflow but not its numbers.
MINI = "config/studies/mini.yaml"
#: Parts of a checkout that the workflow needs.
PARTS = ("Snakefile", "config", "examples", "profiles", "report", "workflow")


class Checkout:
    """A folder with the workflow, and the commands that its users would call."""

    #: Prefix of the command that starts Snakemake, such as `nsenter` for a view of other mounts.
    within = ()
    #: Results that a call in another checkout has stored about modules, by their content (`session.script_code`): reading all modules again
    #: takes as long as the rest of a dry run.
    digests = b""

    def __init__(self, folder):
        self.folder = Path(folder)
        for part in PARTS:
            source = ROOT / part
            if source.is_dir():  # without what cargo has built of the examples, hundreds of MB
                shutil.copytree(source, self.folder / part, ignore=shutil.ignore_patterns("target"))
            else:
                shutil.copy(source, self.folder / part)
        shutil.copy(Path(__file__).with_name("mini.yaml"), self.folder / MINI)
        (self.folder / "envs").mkdir()
        for part in ("guest", "debian.lock"):  # from which a study's custom kernels are built
            (self.folder / "envs" / part).symlink_to(ROOT / "envs" / part)
        for image in ("testbed", "analysis", "ns3"):
            for suffix in (".sif", ".json"):
                link = ROOT / "envs" / f"{image}{suffix}"
                if not link.exists():
                    pytest.fail(f"{link} is missing: the tests need the images, run `make setup` first.")
                (self.folder / "envs" / link.name).symlink_to(link.resolve())

    def snakemake(self, *arguments, check=True, timeout=600, started=False):
        """Run Snakemake as a user would; return its exit status and output.

        Unless the command itself is to be started (`started`), the call is forked from a Snakemake that is already loaded.
        """
        memory = self.folder / ".snakemake/module-digests.json"
        if Checkout.digests and not memory.parent.exists():
            memory.parent.mkdir()
            memory.write_bytes(Checkout.digests)
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST")}
        if not (started or self.within):
            arguments = ("--use-apptainer", *arguments)
            status, output = snakemake_forks.call(arguments, self.folder, environment, timeout)
        else:
            done = subprocess.run(
                [*self.within, Path(sys.executable).with_name("snakemake"), "--use-apptainer", *arguments],
                cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=timeout, env=environment,
            )  # fmt: skip
            status, output = done.returncode, done.stdout
        if memory.exists():
            Checkout.digests = max(Checkout.digests, memory.read_bytes(), key=len)
        if check and status:
            pytest.fail(f"snakemake {' '.join(arguments)} ended with {status}:\n{output[-4000:]}")
        return status, output

    def start(self, *arguments, study=SMOKE):
        """Start Snakemake on a study in a separate process group, and return without waiting.

        It has a higher nice value than the test, so the test has time to look for a run's guest and to hold it: on a machine
        with other work the guest gets little of a core while the test gets its share at once.
        """
        return subprocess.Popen(
            ["nice", *self.within, Path(sys.executable).with_name("snakemake"), "--use-apptainer", "--configfile", study, *arguments],
            cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
        )  # fmt: skip

    def finished_runs(self, at_least=0, study="smoke"):
        """Return a study's run documents, sorted, once the given number of them exists."""
        deadline = time.monotonic() + 120
        while True:
            documents = sorted((self.folder / "results" / study / "runs").rglob("*.json.gz"))
            if len(documents) >= at_least:
                return documents
            if time.monotonic() > deadline:
                pytest.fail(f"{len(documents)} runs were finished in two minutes, {at_least} were waited for")
            time.sleep(0.1)

    def same_results_as(self, other, *stages, study="mini"):
        """Fail unless all published files of a study, or of some steps, are identical in both checkouts."""
        ours, theirs = (published(checkout.folder / "results" / study, stages) for checkout in (self, other))
        assert ours, f"nothing in {self.folder}/results/{study}"
        assert ours.keys() == theirs.keys()
        assert [path for path in ours if ours[path] != theirs[path]] == []

    def planned(self, *arguments):
        """Return rule -> number of jobs that a dry run plans."""
        return self.jobs_in(self.snakemake("--cores", "1", "--dry-run", *arguments)[1])

    def refused(self, *arguments):
        """Return the output of a call that is refused before it executes anything."""
        status, output = self.snakemake("--cores", "1", *arguments, check=False)
        assert status != 0, output
        return output

    @staticmethod
    def jobs_in(output):
        """Return rule -> number of jobs in the output of a dry run."""
        counts = {}
        for line in output.splitlines():
            *words, count = line.split() or [""]
            if words and count.isdigit() and all(word.isalnum() for word in words):
                counts["_".join(words)] = int(count)
        if counts.pop("total", 0) != sum(counts.values()):
            pytest.fail(f"the dry run's table of jobs can't be read:\n{output}")
        return counts

    def study(self, source=SMOKE):
        """Return the resolved study of a file of this checkout."""
        return studies.resolve(studies.load(self.folder / source), source)

    def document_path(self, scenario, cca, ip_version, replication, study="smoke"):
        return self.folder / "results" / study / "runs" / scenario / cca / ip_version / f"{replication}.json.gz"


@pytest.fixture(scope="session")
def smoke(tmp_path_factory):
    """A checkout in which the smoke study was run on all cores. Tests must leave it as it is."""
    return finished("smoke", SMOKE, tmp_path_factory)


@pytest.fixture(scope="session")
def mini(tmp_path_factory):
    """A checkout in which the mini study was run undisturbed on all cores. Tests must leave it as it is."""
    return finished("mini", MINI, tmp_path_factory)


def finished(name, study, tmp_path_factory):
    """Return a checkout in which a study was run: if tests run in parallel, the first process runs it for all."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        return run_in(tmp_path_factory.mktemp(name), study)
    everyones = tmp_path_factory.getbasetemp().parent / name
    with everyones.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not everyones.exists():
            begun = tmp_path_factory.mktemp(f"{name}-begun")
            run_in(begun, study)
            begun.rename(everyones)
    return copy_of(everyones, tmp_path_factory.mktemp(name))


def run_in(folder, study):
    """Turn a folder into a checkout, run a study in it and return the checkout."""
    checkout = Checkout(folder)
    checkout.snakemake("--cores", "all", "--configfile", study, started=True)
    return checkout


@pytest.fixture
def copy_of_mini(mini, tmp_path):
    """A copy of the finished mini study's checkout, Snakemake's records included."""
    return copy_of(mini.folder, tmp_path)


@pytest.fixture
def one_missing(copy_of_mini):
    """A finished mini study without one run, near/reno/ipv4/1."""
    copy_of_mini.document_path("near", "reno", "ipv4", 1, study="mini").unlink()
    return copy_of_mini


@pytest.fixture
def mounts():
    """A separate mount namespace."""
    try:
        with MountNamespace() as namespace:
            yield namespace
    except OSError as error:
        pytest.skip(str(error))


@pytest.fixture
def fresh(tmp_path):
    """A checkout without results."""
    return Checkout(tmp_path)


@pytest.fixture(scope="session")
def checkout_in():
    """A function that makes a checkout in a folder."""

    def make(folder):
        folder.mkdir()
        return Checkout(folder)

    return make


@pytest.fixture(scope="session")
def run_beside(tmp_path_factory):
    """A function that runs a study whose file is beside these tests; it returns its checkout and the file's path there."""

    def run(name, cores="1"):
        checkout, path = Checkout(tmp_path_factory.mktemp(name)), f"config/studies/{name}.yaml"
        shutil.copy(Path(__file__).with_name(f"{name}.yaml"), checkout.folder / path)
        checkout.snakemake("--cores", cores, "--configfile", path)
        return checkout, path

    return run


@pytest.fixture
def copy_of_smoke(smoke, tmp_path):
    """A copy of the finished smoke study's checkout, Snakemake's records included."""
    return copy_of(smoke.folder, tmp_path)


def published(folder, stages=()):
    """Return path -> bytes of the files of a results folder, except logs, benchmarks and the lock, which belong to one execution."""
    files = {path.relative_to(folder): path for path in folder.rglob("*") if path.is_file()}
    return {
        str(name): path.read_bytes()
        for name, path in files.items()
        if name.parts[0] not in ("logs", "benchmarks", ".lock") and (not stages or name.parts[0] in stages)
    }


def copy_of(original, place):
    """Return a copy, in a folder, of a checkout's folder with all its content."""
    folder = place / "copy"
    shutil.copytree(original, folder, symlinks=True)
    copy = Checkout.__new__(Checkout)
    copy.folder = folder
    return copy


@cache
def program_identity():
    """Return the identity of this checkout's testbed, whose computation would take half of a run's time; Snakemake's jobs use it too."""
    return package_digest(*TESTBED)


@pytest.fixture
def testbed(tmp_path_factory):
    """A function that executes one run in the container and returns the finished process. Its output is validated by the schema.

    Unless the test needs a separate container, or another run is executing, the run is forked from a program that stays loaded
    in one container.
    """

    def carry_out(specification, output, *options, prefix=(), image=None, workflow=ROOT / "workflow", **keywords):
        ours, everyones = workflow == ROOT / "workflow", tmp_path_factory.getbasetemp()
        arguments = ["--specification", json.dumps(specification), "--output", str(output)]
        arguments += [*(["--testbed-digest", program_identity()] if ours else []), *options]
        may_fork = ours and not (prefix or image or keywords) and output.is_relative_to(everyones)
        if may_fork and testbed_forks.BUSY.acquire(blocking=False):
            try:
                done = testbed_forks.call(arguments, everyones, 300)
            finally:
                testbed_forks.BUSY.release()
        else:
            command = [
                *prefix, str(Path(sys.executable).with_name("apptainer")), "--silent", "exec", "--userns", "--cleanenv",
                "--bind", str(output.parent), "--bind", str(workflow), "--env", f"PYTHONPATH={workflow}", str(image or ROOT / "envs/testbed.sif"),
                "python3", "-m", "testbed", *arguments,
            ]  # fmt: skip
            done = subprocess.run(command, cwd=keywords.pop("cwd", ROOT), capture_output=True, text=True, timeout=300)
        if output.exists():
            assert violation(FORM, json.loads(gzip.decompress(output.read_bytes()))) is None
        return done

    return carry_out


@pytest.fixture
def run(specification, testbed, tmp_path):
    """A function that executes a run, of 3 s by default, and returns its document; invalid runs fail the test."""

    def carry_out(**changes):
        asked = specification(**({"traffic": {"duration_s": 3}} | changes))
        done = testbed(asked, tmp_path / "run.json.gz")
        assert done.returncode == 0, done.stderr[-2000:]
        document = json.loads(gzip.decompress((tmp_path / "run.json.gz").read_bytes()))
        assert [check for check in document["verdict"]["checks"] if not check["ok"]] == []
        return document

    return carry_out


@pytest.fixture
def specification():
    """A function that returns the specification of a run of the smoke study, with changes by section."""

    def make(scenario="10mbit-20ms-0pct-1flow", cca="reno", ip_version="ipv4", replication=1, **changes):
        factors = {"ccas": ["reno"], "ip_versions": [ip_version], "replications": replication}
        study = studies.resolve(studies.load(ROOT / SMOKE, factors), SMOKE)
        made = json.loads(json.dumps(studies.run_specification(study, scenario, "reno", ip_version, replication)))
        made["cca"] = cca  # a mix may need more flows than the scenario has before its changes
        for section, values in changes.items():
            if isinstance(values, dict) and section != "queue":
                made["scenario"][section].update(values)
            else:
                made["scenario"][section] = values
        return made

    return make


@pytest.fixture
def received(smoke, tmp_path):
    """A copy of the smoke study's results in another place, as somebody else would have received it."""
    folder = tmp_path / "received, from 'somebody'" / "smoke"
    shutil.copytree(
        smoke.folder / "results/smoke", folder, ignore=shutil.ignore_patterns("logs", "benchmarks", ".lock")
    )
    return folder


@pytest.fixture
def verify(smoke, tmp_path):
    """A function that verifies with the smoke study's checkout; it returns exit status and output.

    ``derived``: tables, figures and page are made again too.
    """

    def run(results, *arguments, derived=False):
        done = subprocess.run(
            verifying(smoke, results, *arguments, *([] if derived else ["--no-derived"])),
            cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300,
        )  # fmt: skip
        return done.returncode, done.stdout

    return run
