"""CCAs from C files: built into a kernel, with the same numbers as the kernel's own, and the effects of broken ones."""

import errno
import gzip
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from experiment.definitions import Definition, kernel_id
from run_tables.exclusions import excluded_by
from study_files import study as studies
from study_files.kernels import completed_kernel

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "setup"))
EXAMPLE = ROOT / "examples/tcp_aimd.c"
pytestmark = pytest.mark.long


def built(path, text, folder, kernel=None):
    """Build a kernel with a C file, on a Linux other than the image's if given; return the finished process and the definition of its
    CCA."""
    path.write_text(text)
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    cca = text.partition('.name\t\t= "')[2].partition('"')[0]
    definition = {
        "source": path.name,
        "sha256": sha256,
        "cca": cca,
        "parameters": {},
        **({"kernel": kernel} if kernel else {}),
    }
    base = json.loads((ROOT / "envs/testbed.json").read_text())["linux_sha256"]
    name = kernel_id(base, [Definition(**definition)], kernel)
    made = [folder / name / "linux", folder / f"{name}.json"]
    command = [
        sys.executable,
        "setup",
        "kernel",
        name,
        *made,
        *([json.dumps(kernel)] if kernel else []),
        f"{path}={sha256}",
    ]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True), definition


def carried_out(specification, testbed, tmp_path, definition=None, cca="cubic"):
    asked = specification("100mbit-10ms-1pct-4flows", cca, traffic={"duration_s": 3})
    return document_of(asked, testbed, tmp_path, definition)


def document_of(asked, testbed, tmp_path, definition=None):
    if definition:
        asked["cca_definitions"] = {asked["cca"]: definition}
    done = testbed(asked, tmp_path / "run.json.gz", "--kernels", str(tmp_path / "kernels"))
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(gzip.decompress((tmp_path / "run.json.gz").read_bytes()))


#: Reno by the kernel's own functions.
RENO = """#include <linux/module.h>
#include <net/tcp.h>
static struct tcp_congestion_ops copied = {
	.ssthresh = tcp_reno_ssthresh, .cong_avoid = tcp_reno_cong_avoid, .undo_cwnd = tcp_reno_undo_cwnd, .owner = THIS_MODULE,
	.name		= "reno",
};
static int __init begin(void) { return tcp_register_congestion_control(&copied); }
module_init(begin);
MODULE_LICENSE("GPL");
"""


def source_of(cca):
    """Return the C file of a CCA, with the kernel's file name."""
    import images

    linux = images.cached_image(ROOT / images.KERNEL)[1] / "root/build/source"
    return RENO if cca == "reno" else (linux / f"net/ipv4/tcp_{cca}.c").read_text()


LINK, QUEUE = {"rate_mbps": 20, "delay_ms": 10}, {"bdp": 1}
OWN = {"name": "own", "count": 1, "stop_s": 3}
#: What a copy is run in: scenarios of 3 s.
PLACES = {
    "loss": {"link": LINK | {"loss_percent": 1}, "flows": 3},
    "slow start": {"flows": 1, "traffic": {"duration_s": 3, "sample_interval_ms": 10}},
    "neighbours": {"flows": [OWN, {"name": "other", "cca": "vegas", "count": 1, "start_s": 1, "stop_s": 3}]},
    "web": {"flows": [OWN, {"name": "web", "application": "web", "arrivals_per_s": 5, "sizes": "main-object", "stop_s": 3}]},
    "ECN": {"queue": {"discipline": "fq_codel"}, "flows": 2, "transport": {"ecn": "classic"}},
    "timeline": {"link": LINK | {"timeline": [{"at_s": 1, "rate_mbps": 5}]}, "flows": 2},
    "MPTCP": {"topology": "cable", "flows": 2, "multipath": {"by": "mptcp", "paths": 2}},
}  # fmt: skip


def run_in(place, cca):
    """Return the specification of a run of a CCA in one of `PLACES`."""
    scenario = {"id": "s", "link": LINK, "queue": QUEUE, "traffic": {"duration_s": 3}} | PLACES[place]
    config = {"study": "copies", "title": "copies", "seed": 1, "replications": 1, "ccas": ["reno"], "ip_versions": ["ipv4"], "scenarios": [scenario]}  # fmt: skip
    study = studies.resolve(config, Path("copies.yaml"))
    return json.loads(json.dumps(studies.run_specification(study, *next(iter(studies.runs(study)))))) | {"cca": cca}


@pytest.fixture(scope="module")
def copies(tmp_path_factory):
    """A folder of kernels with copies under names of different lengths, and CCA -> the definition of its copy."""
    folder, definitions = tmp_path_factory.mktemp("copies"), {}
    for cca, name in (("cubic", "qqqqqqqqqqqqqqq"), ("reno", "qqq")):
        text = source_of(cca).replace(f'.name\t\t= "{cca}"', f'.name\t\t= "{name}"')
        done, definitions[cca] = built(folder / f"tcp_{name}.c", text, folder / "kernels")
        assert done.returncode == 0, done.stdout + done.stderr
    return folder, definitions


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("cca", ["cubic", "reno"])
def test_a_copy_under_another_name_gives_the_same_document(testbed, copies, cca, place):
    folder, definitions = copies
    name = definitions[cca]["cca"]
    own = document_of(run_in(place, name), testbed, folder, definitions[cca])
    assert own["verdict"]["valid"], own["verdict"]
    assert own["specification"].pop("cca_definitions") == {name: definitions[cca]}
    parameters = own["network"]["read_back"].pop("cca_parameters")
    assert cca != "cubic" or parameters[f"tcp_{name}"]["beta"] == "717"
    build = own["environment"]["kernel_build"].split()[0]
    assert (folder / "kernels" / build.removeprefix("#") / "linux").exists()
    (of_kernel,) = (check for check in own["verdict"]["checks"] if check["name"] == "kernel")
    own["verdict"]["checks"].remove(of_kernel)
    kernels = document_of(run_in(place, cca), testbed, folder)
    if place == "MPTCP":
        # iperf3's last messages, which name the CCA, are on the data's path.
        for document in (own, kernels):
            for interface in document["links"]["after"].values():
                for queue in interface["qdiscs"].values():
                    del queue["bytes"]
    # The rest is the same to the last digit: iperf3 names the kernel's build too.
    assert json.dumps(own).replace(name, cca).replace(f"{build} ", "#1 ") == json.dumps(kernels)


#: Makes system calls of the machine itself: a guest kernel is a program of the machine's.
INTRUDER = r"""
#include <linux/module.h>
#include <net/tcp.h>

static long call(long number, long a, long b, long c)
{
	long result;

	asm volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
	return result;
}

static void intrude(const char *path, long flags)
{
	long file = call(2, (long)path, flags, 0644);

	pr_warn("intruder: %s %ld\n", path, file);
	if (file >= 0)
		call(3, file, 0, 0);
}

static u32 grow(struct sock *sk) { return tcp_sk(sk)->snd_cwnd; }

static struct tcp_congestion_ops intruder = {
	.ssthresh = tcp_reno_ssthresh, .cong_avoid = tcp_reno_cong_avoid, .undo_cwnd = grow, .owner = THIS_MODULE,
	.name		= "intruder",
};

static int __init begin(void)
{
PATHS
	pr_warn("intruder: kill %ld\n", call(62, PID, 9, 0));
	pr_warn("intruder: namespace %ld\n", call(272, 0x10020000, 0, 0));
	pr_warn("intruder: remount %ld\n", call(165, 0, (long)"/", 0));
	return tcp_register_congestion_control(&intruder);
}
module_init(begin);
MODULE_LICENSE("GPL");
"""
O_WRONLY, O_CREAT, O_RDONLY = 1, 0o100, 0


def test_what_a_kernel_of_somebody_can_reach_of_the_machine(specification, testbed, tmp_path):
    """It can write only the files of its job, and sees only its own processes."""
    victim = subprocess.Popen(["sleep", "600"])
    try:
        written = [ROOT / ".git/hooks/pre-commit", ROOT / "README.md", tmp_path / "x", Path("/tmp/sawtooth-intruder"),
                   Path.home() / ".profile-of-an-intruder", Path(sys.prefix) / "intruder.pth"]  # fmt: skip
        seen = [
            Path(f"/proc/{process}/{file}") for process in (victim.pid, os.getpid()) for file in ("cmdline", "environ")
        ]
        calls = [f'\tintrude("{path}", {O_WRONLY | O_CREAT});' for path in written]
        calls += [f'\tintrude("{path}", {O_RDONLY});' for path in seen]
        calls += [f'\tintrude("{path}", {O_WRONLY | O_CREAT});' for path in ("/dev/shm/own", "own")]
        text = INTRUDER.replace("PATHS", "\n".join(calls)).replace("PID", str(victim.pid))
        before = {path: path.read_bytes() if path.exists() else None for path in written}
        done, definition = built(tmp_path / "tcp_intruder.c", text, tmp_path / "kernels")
        assert done.returncode == 0, done.stdout + done.stderr
        asked = specification("100mbit-10ms-1pct-4flows", "intruder", traffic={"duration_s": 1})
        asked["cca_definitions"] = {"intruder": definition}
        run = testbed(asked, tmp_path / "run.json.gz", "--kernels", str(tmp_path / "kernels"))
        assert victim.poll() is None
    finally:
        victim.kill()
        victim.wait()
    assert run.returncode == 0, run.stderr[-2000:]
    answers = dict(
        line.split("intruder: ")[1].rsplit(" ", 1) for line in run.stderr.splitlines() if "intruder: " in line
    )
    for path in written:
        assert int(answers[str(path)]) in (-errno.EROFS, -errno.ENOENT, -errno.ENOTDIR, -errno.EACCES), answers
    for path in seen:
        assert int(answers[str(path)]) == -errno.ENOENT, answers
    assert int(answers["kill"]) == -errno.ESRCH
    assert int(answers["remount"]) < 0
    assert int(answers["/dev/shm/own"]) >= 0 and int(answers["own"]) >= 0
    assert before == {path: path.read_bytes() if path.exists() else None for path in written}


@pytest.mark.parametrize("base", ["newest", "6.12"])
def test_a_cca_that_crashes_makes_a_failed_run(specification, testbed, tmp_path, base):
    """It is tried once, and reported with the kernel's last words and call trace, also if its processes are controlled by ptrace."""
    text = EXAMPLE.read_text().replace("\treturn max(tcp_snd_cwnd", "\tBUG();\n\treturn max(tcp_snd_cwnd")
    done, definition = built(tmp_path / "tcp_aimd.c", text, tmp_path / "kernels", completed_kernel({"base": base}))
    assert done.returncode == 0, done.stdout + done.stderr
    asked = specification("100mbit-10ms-1pct-4flows", "aimd", traffic={"duration_s": 3})
    asked["cca_definitions"] = {"aimd": definition}
    done = testbed(asked, tmp_path / "run.json.gz", "--kernels", str(tmp_path / "kernels"))
    assert done.stderr.count("--- traffic") == 1
    document = json.loads(gzip.decompress((tmp_path / "run.json.gz").read_bytes()))
    failure = document["failure"]
    assert (failure["step"], failure["kind"], excluded_by(document)) == ("guest", "crash", "crash")
    words = "the guest kernel crashed; the guest's last output: BUG: failure at net/sawtooth/tcp_aimd.c:"
    assert failure["cause"].startswith(words)
    assert "; call trace: tcp_enter_recovery < " in failure["cause"]
    assert not document["verdict"]["valid"]


def test_a_fault_is_named_with_the_function_and_a_loop_ends(specification, testbed, tmp_path):
    """The innermost function is where the processor was; a loop is ended long before the run's time limit, and not tried again."""
    for statement, kind, words in (
        ("*(volatile int *)8 = 1;", "crash", "; call trace: aimd_ssthresh < tcp_enter_recovery < "),
        ("for (;;) barrier();", "not ended", "; call trace: aimd_ssthresh < tcp_enter_recovery < "),
    ):
        text = EXAMPLE.read_text().replace("\treturn max(tcp_snd_cwnd", f"\t{statement}\n\treturn max(tcp_snd_cwnd")
        done, definition = built(tmp_path / "tcp_aimd.c", text, tmp_path / "kernels")
        assert done.returncode == 0, done.stdout + done.stderr
        asked = specification("100mbit-10ms-1pct-4flows", "aimd", traffic={"duration_s": 1})
        asked["cca_definitions"] = {"aimd": definition}
        output = tmp_path / "run.json.gz"
        done = testbed(asked, output, "--kernels", str(tmp_path / "kernels"))
        assert done.stderr.count("--- traffic") == 1
        failure = json.loads(gzip.decompress(output.read_bytes()))["failure"]
        assert failure["kind"] == kind
        assert words in failure["cause"]
        if kind == "not ended":
            start = "looped endlessly: the guest kernel used 10 s of CPU time without running a program; call trace: "
            assert failure["cause"].startswith(start)


def test_what_does_not_compile_is_said_in_the_compilers_words(tmp_path):
    text = EXAMPLE.read_text().replace("tcp_in_slow_start(tp)", "tcp_in_slow_start(tp")
    line = text[: text.index("tcp_in_slow_start(tp")].count("\n") + 1
    done, _ = built(tmp_path / "tcp_aimd.c", text, tmp_path / "kernels")
    assert done.returncode == 1
    assert f"{tmp_path / 'tcp_aimd.c'} can't be built into the guest kernel" in done.stderr
    assert f"{tmp_path / 'tcp_aimd.c'}:{line}:" in done.stderr
    assert "error: expected" in done.stderr


def test_the_compiler_sees_nothing_of_the_machine(tmp_path):
    secret = tmp_path / "secret.h"
    secret.write_text("int secret;\n")
    done, _ = built(tmp_path / "tcp_aimd.c", f'#include "{secret}"\n{EXAMPLE.read_text()}', tmp_path / "kernels")
    assert done.returncode == 1
    assert f"fatal error: {secret}: No such file or directory" in done.stderr


def test_a_file_that_has_changed_since_is_not_built(tmp_path):
    path = tmp_path / "tcp_aimd.c"
    path.write_text("other")
    command = [
        sys.executable,
        "setup",
        "kernel",
        "0" * 16,
        tmp_path / "linux",
        tmp_path / "kernel.json",
        f"{path}={'0' * 64}",
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1
    assert f"{path} has changed since the study was read" in done.stderr


#: Reno goes down to nine tenths of its window instead of a half.
PATCH = """--- a/net/ipv4/tcp_cong.c
+++ b/net/ipv4/tcp_cong.c
@@ -{line},1 +{line},1 @@
-	return max(tcp_snd_cwnd(tp) >> 1U, 2U);
+	return max(tcp_snd_cwnd(tp) * 9U / 10U, 2U);
--- a/tools/none.c
+++ b/tools/none.c
@@ -1,1 +1,1 @@
-old
+new
"""
HALVED = "\treturn max(tcp_snd_cwnd(tp) >> 1U, 2U);"


def patched(tmp_path, text, config=None):
    """Build a kernel on the image's Linux with a patch; return the finished process and its definition."""
    from study_files.kernels import recipe_digest

    path = tmp_path / "reno.patch"
    path.write_text(text)
    patches = [{"path": str(path), "sha256": hashlib.sha256(text.encode()).hexdigest()}]
    kernel = {"base": "newest", "recipe": recipe_digest(), "patches": patches, "config": config or {}}
    name = kernel_id(json.loads((ROOT / "envs/testbed.json").read_text())["linux_sha256"], [], kernel)
    made = [tmp_path / "kernels" / name / "linux", tmp_path / f"{name}.json"]
    done = subprocess.run(
        [sys.executable, "setup", "kernel", name, *made, json.dumps(kernel)], cwd=ROOT, capture_output=True, text=True
    )
    return done, {"base": "reno", "parameters": {}, "kernel": kernel}, name


def reno_patch():
    """The patch at the line where the image's Linux has the code; lines without context apply where they say."""
    import images

    lines = (
        (images.cached_image(ROOT / images.KERNEL)[1] / "root/build/source/net/ipv4/tcp_cong.c")
        .read_text()
        .splitlines()
    )
    return PATCH.format(line=lines.index(HALVED) + 1)


def test_a_patch_changes_the_runs_of_its_kernel(specification, testbed, tmp_path):
    done, definition, name = patched(tmp_path, reno_patch())
    assert done.returncode == 0, done.stdout + done.stderr
    own = carried_out(specification, testbed, tmp_path, definition, "gentle")
    assert own["verdict"]["valid"], own["verdict"]
    assert own["environment"]["kernel_build"].startswith(f"#{name} ")
    described = json.loads((tmp_path / f"{name}.json").read_text())
    assert described["patches"][0]["text"] == reno_patch()
    again = carried_out(specification, testbed, tmp_path, definition, "gentle")
    assert json.dumps(own) == json.dumps(again)
    kernels = carried_out(specification, testbed, tmp_path, cca="reno")
    # Under random loss of p the window is that of AIMD with factor b, sqrt((1 + b) / (2 (1 - b) p)) (Yang and Lam, 2000): 2.5 times.
    assert goodput_mbps(own) > 1.5 * goodput_mbps(kernels)


def goodput_mbps(document):
    return sum(one["client"]["end"]["sum_received"]["bits_per_second"] for one in document["traffic"]) / 1e6


def test_a_patch_that_does_not_apply_is_said_with_its_file(tmp_path):
    done, *_ = patched(tmp_path, reno_patch().replace(">> 1U", ">> 2U"))
    assert done.returncode == 1
    assert (
        f"{tmp_path / 'reno.patch'} does not apply to Linux of the image: hunk 1 of net/ipv4/tcp_cong.c." in done.stderr
    )


def test_an_option_that_is_not_accepted_is_said(tmp_path):
    done, *_ = patched(tmp_path, reno_patch(), {"NET_SCH_NONE": "y"})
    assert done.returncode == 1
    assert "Linux of the image: the option NET_SCH_NONE=y was not accepted" in done.stderr


def test_a_received_kernel_is_built_from_what_was_published(specification, tmp_path):
    from publishing.result_checks import kernels_again

    done, definition, name = patched(tmp_path, reno_patch())
    assert done.returncode == 0, done.stdout + done.stderr
    (tmp_path / "reno.patch").unlink()
    received, asked = tmp_path / "received/workflow", specification(cca="gentle")
    received.mkdir(parents=True)
    shutil.copy(tmp_path / f"{name}.json", received / f"kernel-{name}.json")
    asked["cca_definitions"] = {"gentle": definition}
    assert kernels_again.kernel_name(asked, ROOT) == name
    (tmp_path / "again").mkdir()
    assert kernels_again.build(asked, received.parent, ROOT, tmp_path / "again") is None
    assert (tmp_path / "again/kernels" / name / "linux").read_bytes() == (
        tmp_path / "kernels" / name / "linux"
    ).read_bytes()
    described = json.loads((received / f"kernel-{name}.json").read_text())
    described["patches"][0]["text"] += "\n"
    (received / f"kernel-{name}.json").write_text(json.dumps(described))
    (tmp_path / "other").mkdir()
    assert "has no file with the SHA-256" in kernels_again.build(asked, received.parent, ROOT, tmp_path / "other")
