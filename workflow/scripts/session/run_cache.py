"""The run cache: documents of runs that this machine has executed before.

A run in the guest kernel or a simulator produces the same bytes whenever it is executed with the same specification, image, program and
kernel (README.md). Its document is therefore stored once per user and machine, next to the images. The cache isn't used where runs must be
executed: in `make verify`, in calibration, in jobs that the user forces (``--force``, ``-R``, ``-F``), and for runs on platform
``host``, which are measurements with a real clock.

Documents are read and stored by Snakemake's own process, outside all containers, because a guest can write only to its job's folder.
"""

import contextlib
import gzip
import hashlib
import json
import os
import threading
import zlib
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from pathlib import Path

from experiment.definitions import kernel_id
from experiment.run_document import specification_of
from session.document_store import DocumentStore, StoreError
from session.testbed_identity import program_content
from testbed.job import specifications
from testbed.machine.messages import in_words, tell

#: Variable that switches the cache off if it is 0.
SWITCH = "SAWTOOTH_RUN_CACHE"
#: Variable and default for the maximum total size of the entries in GB, and for the days after which an unused entry is deleted.
LIMIT_GB, LIMIT_DAYS = ("SAWTOOTH_RUN_CACHE_GB", 10), ("SAWTOOTH_RUN_CACHE_DAYS", 90)
#: Version of the entry format; must be increased if the format changes but the image and the program don't.
FORM = 1
#: Text in the log of a run whose document was taken from the cache.
TAKEN = "not executed here: its document is from the run cache"


class CacheSettingError(ValueError):
    """An environment variable has a value that is not allowed."""


def is_on(environ: Mapping[str, str] = os.environ) -> bool:
    """Return whether the environment leaves the cache enabled; raise CacheSettingError if the value is neither 0 nor 1."""
    value = environ.get(SWITCH) or "1"
    if value not in ("0", "1"):
        raise CacheSettingError(f"{SWITCH} is {value}; allowed: 0 (off) and 1 (on).")
    return value == "1"


def store_of(root: Path, environ: Mapping[str, str] = os.environ) -> DocumentStore:
    """Return this user's store on this machine; ``root`` is the checkout. Raise CacheSettingError unless the limits are numbers above 0."""
    (gigabytes, days) = (_limit(environ, *limit) for limit in (LIMIT_GB, LIMIT_DAYS))
    return DocumentStore(cache_folder(root, environ) / "runs", gigabytes * 1e9, days * 86400)


def cache_folder(root: Path, environ: Mapping[str, str] = os.environ) -> Path:
    """Return the cache folder, which set-up also uses (setup/cache.py); an unpacked bundle has a separate cache folder."""
    if environ.get("SAWTOOTH_CACHE"):
        return Path(os.path.expanduser(environ["SAWTOOTH_CACHE"])).absolute()
    if (root / "bundle").is_dir():
        return (root / "bundle" / "cache").absolute()
    return Path(environ.get("XDG_CACHE_HOME") or Path.home() / ".cache").absolute() / "sawtooth"


def _limit(environ, name, default):
    try:
        value = float(environ.get(name) or default)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise CacheSettingError(f"{name} is {environ[name]}; allowed: numbers above 0.")
    return value


class RunCache:
    """The run cache of one invocation of the workflow.

    Parameters
    ----------
    store : DocumentStore
        Store of the documents.
    linux_sha256 : str
        Digest of the testbed image's kernel; the identifiers of a study's custom kernels depend on this digest.
    copied : set, optional
        Set that collects the paths of outputs copied from the cache.
    """

    def __init__(self, store, linux_sha256, copied=None):
        self.store, self.linux_sha256, self.copied = store, linux_sha256, set() if copied is None else copied
        self._passed_over, self._lock = False, threading.Lock()

    def switch_off(self, environ: MutableMapping[str, str] = os.environ) -> None:
        """Disable the cache in this call and in the processes of a cluster's jobs."""
        self._passed_over, environ[SWITCH] = True, "0"

    def take(self, job, begin: Callable[[], object] = lambda: None) -> set[str]:
        """Copy the cached documents of a job's runs to the job's outputs; return the outputs that were filled.

        ``job`` is a job of a rule that executes runs in the guest kernel or a simulator. ``begin`` is called before the first document is
        copied.
        """
        taken = set()
        for output, run in self._runs(job):
            if not self._passed_over and not os.path.exists(output):
                content = self._kept_document(run)
                if content is not None:
                    if not taken:
                        begin()
                    with contextlib.suppress(OSError):  # such as a full disk, which the run itself reports to the user
                        _put(content, output)
                        _log(job, output, run)
                        taken.add(output)
        self.copied |= taken
        return taken

    def keep(self, job, taken: Iterable[str] = ()) -> None:
        """Store the documents that a job made, except ``taken``, the outputs that came from the cache."""
        for output, run in self._runs(job):
            if not self._passed_over and output not in taken:
                with contextlib.suppress(OSError):
                    content = Path(output).read_bytes()
                    if run.is_its_document(content):
                        self._keep_document(run, content)

    def _kept_document(self, run):
        try:
            content, problem = self.store.take(run.key)
        except (StoreError, OSError) as error:
            return self._pass_over(error)
        if content is not None and not run.is_its_document(content):
            problem, content = "its entry belongs to another run", None
        if problem:
            tell(f"run cache: run {run.name}: {problem}; the run is carried out")
        return content

    def _keep_document(self, run, content):
        try:
            if not self.store.keep(run.key, content):
                tell(
                    f"run cache: run {run.name}: its document differs from an earlier one made with the same image and testbed; "
                    "neither is kept: check with `make verify`"
                )
        except (StoreError, OSError) as error:
            self._pass_over(error)

    def _pass_over(self, error):
        """Stop using the store in this call, and print one line about the error the first time."""
        with self._lock:
            if not self._passed_over:
                self._passed_over = True
                tell(f"run cache: {self.store.folder} is not used: {in_words(error)}")

    def _runs(self, job):
        """Return (output, `_Run`) for each run of a job, or an empty list if the program was edited after the workflow began."""
        params, described = job.params, json.loads(job.params.job)
        if described["program"] != program_content():
            return []
        made_by = {"image_digest": params.image, "testbed_digest": params.testbed}
        runs = specifications(params.conditions, described["runs"])
        return [
            (str(output), _Run(run, made_by, self.linux_sha256)) for output, run in zip(job.output, runs, strict=True)
        ]


class _Run:
    """A run, with everything that determines the bytes of its document."""

    def __init__(self, specification, made_by, linux_sha256):
        self.name, self.specification, self.made_by = specification.name, specification.document, made_by
        kernel = kernel_id(linux_sha256, specification.sources, specification.kernel)
        parts = [FORM, self.specification, made_by["image_digest"], made_by["testbed_digest"], kernel]
        # The order of the keys in the specification determines the order of the keys in the document.
        self.key = hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    def is_its_document(self, content) -> bool:
        """Return whether content is the document of this run, executed with this image and program.

        The document of a failed run never counts: the machine may be the cause (time limit, memory), and finding the cause requires the
        log, which only an execution writes.
        """
        try:
            document = json.loads(gzip.decompress(content))
            environment = document["environment"]
            return (
                "failure" not in document
                and isinstance(document["verdict"]["valid"], bool)
                and json.dumps(specification_of(document).document) == json.dumps(self.specification)
                and all(environment[name] == digest for name, digest in self.made_by.items())
            )
        except (OSError, EOFError, zlib.error, ValueError, KeyError, TypeError):
            return False


def _put(content, output):
    """Write a document to its path atomically."""
    path = Path(output)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        partial.write_bytes(content)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _log(job, output, run):
    """Note in the run's log, and in the job's log if that is a different file, that the document is from the cache."""
    log = log_of(output)
    log.parent.mkdir(parents=True, exist_ok=True)
    line = f"run {run.name}: {TAKEN}\n"
    log.write_text(line)
    for other in map(Path, job.log):
        if other != log:
            other.parent.mkdir(parents=True, exist_ok=True)
            with other.open("a") as stream:
                stream.write(line)


def log_of(document) -> Path:
    """Return the path of a run's log, given the path of its document."""
    *results, runs, scenario, cca, ip_version, name = Path(document).parts
    return Path(*results, "logs", runs, scenario, cca, ip_version, name.removesuffix(".json.gz") + ".log")


def write_origins(folder: str, documents: Iterable[str]) -> str:
    """Write `origin_words` to the logs in a study's folder, if possible, and return the sentence."""
    words = origin_words(Path(folder).name, documents)
    with contextlib.suppress(OSError):
        (Path(folder) / "logs" / "run-origins.txt").write_text(words + "\n", encoding="utf-8")
    return words


def origin_words(study: str, documents: Iterable[str]) -> str:
    """Return a sentence with the number of runs executed here and the number of runs taken from the cache, according to the runs' logs."""
    taken = executed = 0
    for log in map(log_of, filter(os.path.exists, documents)):
        with contextlib.suppress(OSError), log.open("rb") as stream:
            if TAKEN.encode() in stream.read(1000):
                taken += 1
            else:
                executed += 1
    runs = f"{executed:,} run{'s' * (executed != 1)} of {study} {'was' if executed == 1 else 'were'} executed here"
    return f"{runs}, {taken:,} taken from the run cache" + (f" ({SWITCH}=0 executes all)" if taken else "")
