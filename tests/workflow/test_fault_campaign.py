"""Possible faults, one after another, on each platform: each ends with the bytes of an undisturbed study, or one sentence.

Together with the other tests marked `faults`: `make test-faults`.
"""

import hashlib
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from guest_processes import alive, descendants, nothing_goes_on, wait_for
from session.host_needs import host_problem, kernel_now
from study_files import study as study_files

pytestmark = [pytest.mark.long, pytest.mark.faults]

HEAD = "study: campaign-{name}\nreplications: 2\nccas: [reno]\nip_versions: [ipv4]\ndefaults:\n  traffic: {{duration_s: 2}}\n"
DUMBBELL = (
    HEAD
    + "  link: {{rate_mbps: 5, delay_ms: 5}}\n  queue: {{packets: 20}}\nscenarios:\n  - {{id: s, platform: {platform}}}\n"
)
STUDIES = {
    "uml": DUMBBELL.format(name="uml", platform="uml"),
    "ns3": DUMBBELL.format(name="ns3", platform="ns3:3.44"),
    "host": HEAD.format(name="host")
    + "  topology: cable\n  link: {rate_mbps: 20, delay_ms: 0}\n  queue: {packets: 50}\nscenarios:\n  - {id: s, platform: host}\n",
}


class Campaign:
    """The study of one platform in a checkout, and its results without disturbance."""

    def __init__(self, checkout, platform):
        self.checkout, self.platform, self.reference = checkout, platform, None
        self.file = f"config/studies/campaign-{platform}.yaml"
        (checkout.folder / self.file).write_text(STUDIES[platform])
        self.results = checkout.folder / f"results/campaign-{platform}"
        self.call = ("--cores", "1", "--configfile", self.file)
        self.documents = [f"results/campaign-{platform}/runs/s/reno/ipv4/{number}.json.gz" for number in (1, 2)]
        self.tables = ("--", f"results/campaign-{platform}/tidy/runs.csv", *self.documents)

    def there(self):
        """Return path -> SHA-256 of the existing documents and tables."""
        files = [path for part in ("runs", "tidy") for path in (self.results / part).rglob("*") if path.is_file()]
        return {str(path.relative_to(self.results)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}

    def finish(self):
        """Let the workflow continue to the tables, and compare them with those of an undisturbed workflow."""
        self.checkout.snakemake(*self.call, *self.tables)
        self.same(self.there())
        status, printed = self.checkout.snakemake(*self.call, *self.tables)
        assert "Nothing to be done" in printed

    def same(self, there):
        # Two runs under a real clock are never the same bytes, but all of their files are there.
        reference = self.reference if self.platform != "host" else dict.fromkeys(self.reference)
        assert (there if self.platform != "host" else dict.fromkeys(there)) == reference

    def started(self):
        """Start the workflow from scratch, and return it in the middle of a run."""
        shutil.rmtree(self.results)
        workflow = self.checkout.start("--cores", "1", *self.tables, study=self.file)
        wait_for(lambda: list((self.results / "logs/runs").rglob("*.log")), "the first run")
        wait_for(lambda: len(descendants(workflow.pid)) > 1, "its processes")
        return workflow


@pytest.fixture(scope="module", params=STUDIES)
def undisturbed(request, tmp_path_factory, checkout_in):
    checkout = checkout_in(tmp_path_factory.mktemp("campaign") / "checkout")
    campaign = Campaign(checkout, request.param)
    if request.param == "host":
        kernel, study = kernel_now(), checkout.study(campaign.file)
        if problem := kernel["refused"] or host_problem(study, kernel):
            pytest.skip(str(problem))
    checkout.snakemake(*campaign.call, *campaign.tables)
    campaign.reference = campaign.there()
    assert len(campaign.reference) > 10
    return campaign


@pytest.fixture
def campaign(undisturbed, tmp_path):
    """The finished study in a copy of the checkout."""
    copy = tmp_path / "copy"
    shutil.copytree(undisturbed.checkout.folder, copy, symlinks=True)
    checkout = type(undisturbed.checkout).__new__(type(undisturbed.checkout))
    checkout.folder = copy
    own = Campaign(checkout, undisturbed.platform)
    own.reference = undisturbed.reference
    with nothing_goes_on():
        yield own


def sentences(printed):
    assert "Traceback" not in printed, printed[-3000:]
    return [line for line in printed.splitlines() if line.startswith("sawtooth: ")]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_the_workflow_gets_a_signal(campaign, number):
    """The whole group gets it, as from a terminal, the end of a session or a scheduler."""
    workflow = campaign.started()
    processes = descendants(workflow.pid)
    os.killpg(workflow.pid, number)
    workflow.communicate(timeout=120)
    wait_for(lambda: not alive(processes), "the end of its runs", limit_s=30)
    half = {name: digest for name, digest in campaign.there().items() if campaign.reference.get(name) != digest}
    assert campaign.platform == "host" or half == {}
    campaign.finish()


def test_everything_stands_still_for_a_while(campaign):
    """As when a laptop sleeps."""
    workflow = campaign.started()
    processes = [workflow.pid, *(process for process, _ in descendants(workflow.pid))]
    for process in processes:
        os.kill(process, signal.SIGSTOP)
    time.sleep(5)
    for process in reversed(processes):
        os.kill(process, signal.SIGCONT)
    printed, _ = workflow.communicate(timeout=300)
    assert workflow.returncode == 0, printed[-3000:]
    campaign.finish()


DAMAGE = {
    "emptied": lambda content, _: b"",
    "truncated": lambda content, _: content[:-30],
    "one bit": lambda content, _: content[:400] + bytes([content[400] ^ 4]) + content[401:],
    "foreign": lambda content, _: b"PK\x03\x04" + bytes(500),
    "another run's": lambda _, other: other,
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_document_is_damaged(campaign, damage):
    """Two calls name it and change nothing; once it is deleted, it is made again."""
    first, other = (campaign.checkout.folder / name for name in campaign.documents)
    tables = {name: digest for name, digest in campaign.there().items() if name.startswith("tidy/")}
    first.write_bytes(damage(first.read_bytes(), other.read_bytes()))
    for _ in range(2):
        status, printed = campaign.checkout.snakemake(*campaign.call, *campaign.tables, check=False)
        assert status != 0
        assert "sawtooth: 1 of 2 run documents can't be used:" in sentences(printed)
        assert f"  {campaign.documents[0]}: " in printed
        assert {name: digest for name, digest in campaign.there().items() if name.startswith("tidy/")} == tables
    first.unlink()
    campaign.finish()


@pytest.mark.parametrize("what", ["runs/s/reno/ipv4/1.json.gz", "runs", "tidy/runs.csv", "tidy", "logs"])
def test_something_is_deleted(campaign, what):
    path = campaign.results / what
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    campaign.checkout.snakemake(*campaign.call, *campaign.tables)
    campaign.same(campaign.there())


def test_the_study_is_changed_midway(campaign):
    """The call continues with the study that it has read; the next one runs the changed study, and changing it back restores everything."""
    workflow = campaign.started()
    path = campaign.checkout.folder / campaign.file
    text = path.read_text()
    path.write_text(text.replace("duration_s: 2", "duration_s: 3"))
    printed, _ = workflow.communicate(timeout=300)
    assert workflow.returncode == 0, printed[-3000:]
    campaign.same(campaign.there())
    assert sum(campaign.checkout.planned(*campaign.call, *campaign.tables).values()) >= 4
    path.write_text(text)
    campaign.finish()


def test_the_clock_stands_in_the_past(campaign):
    """It is behind the files' dates: nothing is deleted, and nothing is lost once it is right again."""
    document = campaign.checkout.folder / campaign.documents[0]
    before, times = campaign.there(), document.stat()
    (campaign.checkout.folder / campaign.documents[1]).unlink()
    os.utime(document, (time.time() + 9e4, time.time() + 9e4))
    status, printed = campaign.checkout.snakemake(*campaign.call, *campaign.tables, check=False)
    assert status != 0
    (sentence,) = set(sentences(printed))
    assert sentence.startswith("sawtooth: the clock shows ") and campaign.documents[0] in sentence
    assert campaign.there().items() <= before.items() and len(campaign.there()) == len(before) - 1
    os.utime(document, ns=(times.st_atime_ns, times.st_mtime_ns))
    campaign.finish()


#: Limit of the shell that calls -> its value, what is said.
LIMITS = {
    "open files": (resource.RLIMIT_NOFILE, 64, "the limit of open files is 64"),
    "address space": (resource.RLIMIT_AS, 8 * 2**30, "the limit of address space is 8388608 KiB"),
}


@pytest.mark.parametrize("limit", LIMITS.values(), ids=LIMITS)
def test_limits_of_the_caller(campaign, limit):
    kind, value, sentence = limit
    (campaign.checkout.folder / campaign.documents[0]).unlink()
    done = subprocess.run(
        [Path(sys.executable).with_name("snakemake"), *campaign.call, *campaign.tables],
        cwd=campaign.checkout.folder, capture_output=True, text=True, timeout=120,
        preexec_fn=lambda: resource.setrlimit(kind, (value, value)),
    )  # fmt: skip
    assert done.returncode != 0
    assert any(line.startswith(f"sawtooth: {sentence}") for line in (done.stdout + done.stderr).splitlines()), (
        done.stderr
    )
    campaign.finish()


def test_an_odd_environment(campaign, tmp_path, monkeypatch):
    """The caller has other languages, time zones and places, and modules that stand in for those of the image."""
    bogus = tmp_path / "bogus"
    bogus.mkdir()
    for module in ("pandas", "pyarrow", "json5", "testbed"):
        (bogus / f"{module}.py").write_text("raise SystemExit('a module of the caller was imported')\n")
    (bogus / "matplotlibrc").write_text("font.size: 60\n")
    (tmp_path / "a tmp'dir").mkdir()
    for name, value in {
        "APPTAINERENV_PYTHONPATH": str(bogus), "SINGULARITYENV_PYTHONPATH": str(bogus), "APPTAINERENV_LD_PRELOAD": "/nowhere.so",
        "MPLCONFIGDIR": str(bogus), "MATPLOTLIBRC": str(bogus), "LC_ALL": "tr_TR.UTF-8", "LANG": "C", "TZ": "Pacific/Chatham",
        "GIT_DIR": str(bogus), "PYTHONHASHSEED": "7", "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "20", "TERM": "dumb",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    shutil.rmtree(campaign.results)
    campaign.finish()


@pytest.mark.parametrize("name", ["with spaces (and signs) ü;&#", "it's", "a:b", "$(touch pwned)"])
def test_odd_paths(campaign, tmp_path, name):
    """A path that Snakemake's shell would interpret is refused, any other one changes nothing."""
    campaign.checkout.folder = campaign.checkout.folder.rename(tmp_path / name)
    moved = Campaign(campaign.checkout, campaign.platform)
    moved.reference = campaign.reference
    shutil.rmtree(moved.results)
    if "ü" in name:
        moved.finish()
        return
    status, printed = moved.checkout.snakemake(*moved.call, *moved.tables, check=False)
    assert status != 0
    (sentence,) = set(sentences(printed))
    assert sentence.startswith("sawtooth: the checkout's path has the character ")
    assert not list(tmp_path.rglob("pwned")) and not moved.results.exists()


def test_nothing_outlives_a_killed_workflow(campaign):
    """All processes ever started are counted in a separate process namespace of the workflow."""
    shutil.rmtree(campaign.results)
    command = [
        Path(sys.executable).with_name("snakemake"),
        "--cores",
        "1",
        "--configfile",
        campaign.file,
        *campaign.tables,
    ]
    # The first process of the namespace only waits: were it the workflow, the kernel itself would end the others.
    first = ["sh", "-c", '"$@" & exec sleep 600', "sh", *map(str, command)]
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    holder = subprocess.Popen(
        ["unshare", *user, "--pid", "--fork", "--mount-proc", "--kill-child", *first],
        cwd=campaign.checkout.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    try:
        (job,) = wait_for(lambda: carrying_out(holder), "the first run")
        wait_for(lambda: descendants(job), "the processes of a run")
        # A run that stands still doesn't end by itself, so its processes are gone only if somebody ends them.
        for _ in range(3):
            for process in alive(descendants(job)):
                os.kill(process, signal.SIGSTOP)
            time.sleep(0.2)
        assert alive(descendants(job))
        (workflow,) = [pid for pid in inside(holder) if b"bin/snakemake" in arguments(pid)][:1]
        os.kill(workflow, signal.SIGKILL)
        wait_for(lambda: [arguments(pid)[:5] for pid in inside(holder)] == [b"sleep"], "the end of all others", 60)
    finally:
        os.killpg(holder.pid, signal.SIGKILL)
        holder.wait()
    campaign.finish()


def inside(holder):
    """Return the living processes of a namespace: its first process adopts every orphan in it and in those below."""
    return alive(descendants(holder.pid))


def carrying_out(holder):
    """Return, as a list, the process in a namespace that executes a run; it starts the guest, the simulator or the programs."""
    return [pid for pid in inside(holder) if re.match(rb"python3\0.*\0testbed\.job\0", arguments(pid), re.DOTALL)][:1]


def arguments(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def test_the_campaign_has_all_platforms():
    for name, text in STUDIES.items():
        study = study_files.resolve(yaml.safe_load(text), name)
        assert study["scenarios"][0]["platform"].startswith(name)
