"""Estimate, from a sample of real run documents, the cost of tidying and storing the documents of 14,400 runs."""

import gzip
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scale_calls import ROOT, call, checkout, documents, head, row, snakemake
from session.testbed_identity import image_digest, testbed_digest
from study_files import study as studies

FULL = "config/studies/ipv4-ipv6-full.yaml"
RUNS = 14_400
#: Size of the file system's blocks in bytes. A file occupies whole blocks.
BLOCK_BYTES = 4096


@contextmanager
def sample(options) -> Iterator[tuple[Path, Path]]:
    """Yield a results folder with at least one run of each cell in the full study, and the checkout in which the runs were executed."""
    if options.documents:
        results = Path(options.documents).resolve()
        yield results, results.parent.parent
        return
    with checkout() as folder:
        call(snakemake(FULL, "--until", "emulate_run", "--config", "replications=1", cores="all"), folder)
        yield folder / "results/ipv4-ipv6-full", folder


def tidy(options) -> None:
    """Print the time and memory that `tidy_runs` needs for 14,400 documents.

    The documents are copies of the sample's documents with other replication numbers and seeds.
    """
    largest = {}

    def watch(_):
        for name, megabytes in tidying():
            largest[name] = max(largest.get(name, 0), megabytes)

    with sample(options) as (results, _), checkout() as folder:
        study = studies.resolve(studies.load(folder / FULL), FULL)
        count = multiply(study, results, folder / "results" / study["study"])
        command = snakemake(FULL, "--until", "tidy_runs", cores=2)
        planning = call([*command, "-n"], folder)
        took = call(command, folder, watch)
    print(f"14,400 documents, made from {count} real ones, each used for many replications and seeds.\n")
    head("tidying", "wall s", "CPU s", "memory MB")
    row("the call of Snakemake, planning included", f"{took.wall_s:.0f}", f"{took.cpu_s:.0f}", f"{took.memory_mb:.0f}")
    row("of these, planning (`-n`)", f"{planning.wall_s:.0f}", f"{planning.cpu_s:.0f}", f"{planning.memory_mb:.0f}")
    row("of these, the script `tidy_runs`", "", "", f"{max(largest.values()):.0f}")


def multiply(study, results, target) -> int:
    """Write documents for all runs of a study by copying the documents in ``results``, and return the number of originals.

    The copies state that this checkout's testbed executed the runs.
    """
    made_by = {"testbed_digest": testbed_digest(), "image_digest": image_digest(ROOT / "envs/testbed.json")}
    originals = {path.relative_to(results).parent: path for path in documents(results)}
    texts = {}
    for scenario, cca, ip_version, replication in studies.runs(study):
        cell = Path("runs", scenario, cca, ip_version)
        if cell not in texts:
            if cell not in originals:
                raise SystemExit(f"benchmark: {results} has no document in {cell}; it needs one run of each cell.")
            texts = {cell: json.loads(gzip.decompress(originals[cell].read_bytes()))}
        document = texts[cell]
        document["environment"] |= made_by
        document["specification"] = studies.run_specification(study, scenario, cca, ip_version, replication)
        (target / cell).mkdir(parents=True, exist_ok=True)
        text = json.dumps(document, separators=(",", ":"), ensure_ascii=False) + "\n"
        (target / cell / f"{replication}.json.gz").write_bytes(gzip.compress(text.encode(), 1))
    return len(originals)


def tidying() -> Iterator[tuple[str, float]]:
    """Yield the PID and the peak resident memory in MB of each running process of `tidy_runs`."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
            if b"python" in words[0] and any(word.endswith(b"tidy_runs.py") for word in words[1:]):
                status = (process / "status").read_text()
                yield process.name, int(status.partition("VmHWM:")[2].split()[0]) / 1024
        except (OSError, IndexError):
            continue  # the process has ended


def storage(options) -> None:
    """Print the size of run documents by scenario, and the size of all files by kind, per run and for 14,400 runs."""
    with sample(options) as (results, folder):
        head("scenario", "runs", "document kB, mean", "largest")
        for scenario in sorted({path.parts[-4] for path in documents(results)}):
            sizes = [path.stat().st_size / 1e3 for path in documents(results) if path.parts[-4] == scenario]
            row(scenario, len(sizes), f"{sum(sizes) / len(sizes):.1f}", f"{max(sizes):.1f}")
        runs = len(documents(results))
        kinds = {
            "run documents": documents(results),
            "logs of runs": results.glob("logs/runs/**/*.log"),
            "resources used (benchmark files)": results.glob("benchmarks/runs/**/*.tsv"),
            "Snakemake's records": (folder / ".snakemake/metadata").rglob("*"),
        }
        print()
        head("a run's files", "kB per run", "GB for 14,400 runs", "GB in blocks of 4 kB")
        totals = [0, 0, 0]
        for kind, paths in kinds.items():
            sizes = [path.stat().st_size for path in paths if path.is_file()]
            blocks = sum(-(-size // BLOCK_BYTES) * BLOCK_BYTES for size in sizes)
            of_kind = (sum(sizes) / runs / 1e3, sum(sizes) / runs * RUNS / 1e9, blocks / runs * RUNS / 1e9)
            totals = [total + value for total, value in zip(totals, of_kind, strict=True)]
            row(kind, *(f"{value:.2f}" for value in of_kind))
        row("all", *(f"{value:.2f}" for value in totals))
