"""Execute one run in the testbed's image on one core, and measure its wall-clock time, processor time and memory."""

import gzip
import json
import math
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from run import IN_IMAGE, WITH_MEMORY, own_s
from scale_calls import ROOT

# isort: split
# This import needs the search path that the two modules above set.
from study_files import study as studies


def exponent(first, last, growth) -> str:
    """Return b of cost = a * x^b from two costs, with x growing by the factor ``growth``; "not measurable" if a cost isn't positive."""
    return f"{math.log(last / first) / math.log(growth):.2f}" if min(first, last) > 0 else "not measurable"


@dataclass
class OneRun:
    """An executed run: wall and processor seconds, MB of memory and of its document, the document, and its output on stderr."""

    wall_s: float
    cpu_s: float
    memory_mb: float
    document_mb: float
    document: dict
    errors: str


def execute(scenario, cca, core, folder, modules=ROOT / "workflow", programs=None, before=()) -> OneRun:
    """Execute a run of a scenario, given as in a study, on one core; end the benchmark if it fails.

    ``folder`` receives the document and contains the archives of ``programs``, which are a study's declarations; ``modules`` contains the
    testbed's program; ``before`` is a command that executes another command.
    """
    config = {"study": "bench", "ccas": [cca], "ip_versions": ["ipv4"], "scenarios": [{"id": "bench"} | scenario]}
    config |= {"programs": programs} if programs else {}
    asked = studies.run_specification(studies.resolve(config, "the benchmark"), "bench", cca, "ipv4", 1)
    document = Path(folder) / "run.json.gz"
    command = [
        *before, "taskset", "-c", str(core), *IN_IMAGE, "--cleanenv", "--bind", folder, "--env", f"PYTHONPATH={modules}",
        ROOT / "envs/testbed.sif", "python3", "-c", WITH_MEMORY, "--specification", json.dumps(asked), "--output", document,
        *(("--programs", folder) if programs else ()),
    ]  # fmt: skip
    began_s, cpu_s = time.monotonic(), own_s()
    done = subprocess.run(list(map(str, command)), cwd=ROOT, capture_output=True, text=True)
    wall_s, cpu_s = time.monotonic() - began_s, own_s() - cpu_s
    if done.returncode:
        sys.exit(f"benchmark: {json.dumps(scenario)} failed:\n{done.stdout[-500:]}{done.stderr[-2000:]}")
    (kilobytes,) = (line.split()[1] for line in done.stdout.splitlines() if line.startswith("peak-memory-kb "))
    packed = document.read_bytes()
    read = json.loads(gzip.decompress(packed))
    return OneRun(wall_s, cpu_s, int(kilobytes) / 1024, len(packed) / 1e6, read, done.stderr)
