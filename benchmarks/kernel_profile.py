"""Profile the guest kernel's branches, and write envs/guest/kernel.profile, with which the kernel is compiled.

    make kernel-profile       or: .venv/bin/python benchmarks/kernel_profile.py [--output FILE]

Builds a kernel with counters at all branches in the code that handles packets and timers, executes some runs on this kernel (two minutes in
total), and keeps the counts of the objects that do nearly all the work. The counts depend only on the runs, and the runs depend only on
their specifications and the testbed. Therefore the file is the same each time.

Regenerate the file after a change to the kernel's source, patches or configuration. The compiler ignores the counts of changed functions,
so a kernel built with an outdated file is correct but slower. A slow test reports if the file is outdated.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "setup"))

import images
import run
from build_container import contained
from gcda import functions, text_of
from study_files import study as studies

PROFILE = ROOT / "envs/guest/kernel.profile"
#: Source folders whose code contains counters. Memory management contains none, because its counts also depend on the processor.
COUNTED = ("net/%", "kernel/", "kernel/sched/%", "kernel/time/%", "lib/", "drivers/net/%", "arch/um/kernel/%")
#: Number of objects whose counts are kept: those with the highest counts, which account for 99.5 % of all counts.
KEPT = 80
COUNTERS = "-fprofile-generate -fprofile-update=single -fno-profile-values"
#: Typical runs of studies: name -> CCA, IP version, scenario and duration of traffic in s.
TRAINING = {
    "one flow": ("cubic", "ipv4", {"link": run.GIGABIT, "flows": 1}, 2),
    "twelve flows with loss": ("reno", "ipv6", {"link": run.LOSSY, "flows": 12}, 2),
    "sixteen pairs": ("bbr", "ipv4", run.DUMBBELL, 2),
    "slow link": ("cubic", "ipv6", {"link": {"rate_mbps": 100, "delay_ms": 20}, "flows": 4}, 5),
    "offload": ("bbr", "ipv6", {"link": run.GIGABIT, "flows": 2, "transport": {"segmentation_offload": True}}, 2),
    "FQ-CoDel": ("cubic", "ipv4", {"link": run.GIGABIT, "flows": 4, "queue": {"discipline": "fq_codel"}}, 1),
}


def main() -> int:
    """Build the kernel with counters, execute the runs, and write the profile."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--output", type=Path, default=PROFILE)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        linux = build(Path(folder))
        counts = Path(folder) / "counts"
        counts.mkdir()
        for name, (cca, ip_version, scenario, duration_s) in TRAINING.items():
            print(f"{name}: {duration_s} s", flush=True)
            carry_out(specification(cca, ip_version, scenario, duration_s), linux, counts)
        options.output.write_text(profile(counts / "objects"))
    return 0


def build(folder) -> Path:
    """Build the kernel with counters in a folder, and return the path to the kernel."""
    os.chdir(ROOT)
    root = images.cached_image(images.KERNEL)[1] / "root"
    source, objects = folder / "source", folder / "objects"
    for part in (source, objects):
        subprocess.run(["cp", "-a", "--reflink=auto", root / "build" / part.name, part], check=True)
    for file in objects.rglob("*.gcda"):
        file.unlink()
    flags = f"_c_flags += $(if $(filter {' '.join(COUNTED)},$(obj)/),{COUNTERS})\n"
    replace(source / "scripts/Makefile.lib", "_cpp_flags     = ", flags + "_cpp_flags     = ")
    replace(source / "arch/um/Makefile", "CFLAGS_vmlinux := ", "CFLAGS_vmlinux := -fprofile-generate -Wl,-z,muldefs ")
    # The functions that write the counts are in these sections; see UPSTREAM.md.
    for script in ("arch/um/include/asm/common.lds.S", "arch/um/kernel/dyn.lds.S"):
        replace(source / script, "*(.fini_array)", "*(.fini_array.*) *(.fini_array)")
    command = [*contained(f"{source}:/build/source", f"{objects}:/build/objects"), root, "/build/make_kernel", "linux"]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    return objects / "linux"


def replace(file, old, new) -> None:
    """Replace a text in a file; exit with an error if the file doesn't contain the text."""
    text = file.read_text()
    if old not in text:
        sys.exit(f"{file} has no {old!r}; this program is for another version of Linux.")
    file.write_text(text.replace(old, new))


def specification(cca, ip_version, scenario, duration_s) -> str:
    """Return the specification of a run in a scenario, as JSON."""
    scenario = {"id": "profile", "traffic": {"duration_s": duration_s}, **scenario}
    config = {"study": "profile", "ccas": [cca], "ip_versions": [ip_version], "scenarios": [scenario]}
    return json.dumps(
        studies.run_specification(studies.resolve(config, "kernel_profile"), "profile", cca, ip_version, 1)
    )


def carry_out(run_specification, linux, counts) -> None:
    """Execute a run on the kernel with counters; the kernel adds its counts to the files in the folder ``counts``."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            *run.IN_IMAGE, "--cleanenv", "--bind", f"{linux}:/usr/lib/sawtooth/linux", "--bind", f"{counts}:/build", "--bind", folder,
            "--env", f"PYTHONPATH={ROOT / 'workflow'}", ROOT / "envs/testbed.sif",
            "python3", "-B", "-m", "testbed", "--specification", run_specification, "--output", f"{folder}/run.json.gz",
        ]  # fmt: skip
        done = subprocess.run(list(map(str, command)), cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"the run was not carried out:\n{done.stdout[-1000:]}{done.stderr[-2000:]}")


def profile(folder) -> str:
    """Return the text of the profile, with the counts of the `KEPT` objects whose counts are highest."""
    objects = {
        file.relative_to(folder).with_suffix("").as_posix(): file.read_bytes() for file in folder.rglob("*.gcda")
    }
    work = {name: sum(sum(counts) for _, counts in functions(content)) for name, content in objects.items()}
    kept = sorted(work, key=lambda name: (-work[name], name))[:KEPT]
    head = f"# How often branches of the guest kernel are taken, by benchmarks/kernel_profile.py; {len(kept)} of {len(objects)} objects\n"
    return head + "".join(text_of(name, objects[name]) for name in sorted(kept))


if __name__ == "__main__":
    sys.exit(main())
