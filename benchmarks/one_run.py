"""Execute a run in the testbed's image on one core, and measure the run's wall-clock time, CPU time and memory."""

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
    """Return the exponent b of cost = a * x^b, computed from two costs between which x grows by the factor ``growth``.

    Return "not measurable" if a cost isn't positive.
    """
    return f"{math.log(last / first) / math.log(growth):.2f}" if min(first, last) > 0 else "not measurable"


@dataclass
class OneRun:
    """An executed run.

    Attributes
    ----------
    wall_s, cpu_s : float
        Wall-clock time and CPU time in seconds.
    memory_mb, document_mb : float
        Peak memory, and size of the compressed run document, in MB.
    document : dict
        Run document.
    errors : str
        Output on stderr.
    """

    wall_s: float
    cpu_s: float
    memory_mb: float
    document_mb: float
    document: dict
    errors: str


def execute(scenario, cca, core, folder, modules=ROOT / "workflow", programs=None, before=()) -> OneRun:
    """Execute a run of a scenario on one core; exit with an error if the run fails.

    Parameters
    ----------
    scenario : dict
        Scenario as in a study file.
    cca : str
        The run's CCA.
    core : int
        Core on which the run is executed.
    folder : str
        Folder for the run document. It must contain the archives of ``programs``.
    modules : pathlib.Path
        Folder with the testbed's program.
    programs : dict, optional
        Declarations of programs, as in a study file.
    before : sequence of str
        Command that executes the run's command, such as perf with its options.
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
