"""Real builds of kernels from hostile patches, C files and source trees: none reaches the next build, the machine or published results."""

import contextlib
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from experiment.definitions import Definition, kernel_id
from mount_namespace import MountNamespace
from study_files.kernels import completed_kernel

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "setup"))
EXAMPLE = ROOT / "examples/tcp_aimd.c"
POISON = b"POISONED-BY-ANOTHER"
pytestmark = pytest.mark.long

#: Places that a patch's Makefile tries to write into: source, host programs, recipe, configuration, the image and others.
TARGETS = (
    "$(srctree)/net/ipv4/tcp_yeah.c",
    "$(srctree)/net/ipv4/tcp_cong.c",
    "$(srctree)/include/net/tcp.h",
    "$(srctree)/scripts/link-vmlinux.sh",
    "$(srctree)/Makefile",
    "$(srctree)/net/sawtooth/Makefile",
    "/build/guest/make_kernel",
    "/build/guest/kernel.config",
    "/build/guest/build_own",
    "/build/options/own.config",
    "/build/make_kernel",
    "/build/kernel.config",
    "/usr/include/stdio.h",
)


class Cache:
    """A cache with the set-up's image of the compiler and no builds."""

    def __init__(self, folder):
        import images

        self.folder, self.made, self.of_the_user = folder, folder.parent / "made", folder.parent / "home"
        image = images.cached_image(ROOT / images.KERNEL)[1]
        self.source = image / "root/build/source"
        (folder / "images").mkdir(parents=True)
        (folder / "images" / image.name).symlink_to(image)

    def build(self, path=None, kernel=None, killed_after_s=None, within=()):
        """Build a kernel of a C file, or of patches or a tree; return the finished process, its bytes and its description.

        ``within`` is the beginning of a command that carries others out somewhere.
        """
        sources = {path: hashlib.sha256(path.read_bytes()).hexdigest()} if path else {}
        definitions = [
            Definition(source=one.name, sha256=sha256, cca=one.stem.removeprefix("tcp_"), parameters={})
            for one, sha256 in sources.items()
        ]
        kernel = kernel and completed_kernel(kernel)
        base = json.loads((ROOT / "envs/testbed.json").read_text())["linux_sha256"]
        name = kernel_id(base, definitions, kernel)
        made = [self.made / name / "linux", self.made / f"{name}.json"]
        given = [json.dumps(kernel)] if kernel else []
        command = [*within, sys.executable, "setup", "kernel", name, *made, *given]
        command += [f"{one}={sha256}" for one, sha256 in sources.items()]
        environ = {**os.environ, "SAWTOOTH_CACHE": str(self.folder), "XDG_CACHE_HOME": str(self.of_the_user)}
        if killed_after_s is not None:
            command = ["timeout", "--signal=KILL", str(killed_after_s), *command]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=environ)
        if done.returncode:
            return done, None, None
        return done, made[0].read_bytes(), made[1].read_text()


@pytest.fixture
def cache(tmp_path):
    return Cache(tmp_path / "cache")


def a_patch(path, file, line, added):
    """Write a patch that adds lines after a line of a file of the image's Linux."""
    path.write_text(
        f"--- a/{file}\n+++ b/{file}\n@@ -{line},0 +{line + 1},{len(added)} @@\n"
        + "".join(f"+{one}\n" for one in added)
    )
    return {"base": "newest", "patches": [str(path)]}


def test_a_clean_kernel_after_a_dirty_one_is_that_of_a_fresh_cache(cache, tmp_path):
    """The patch's Makefile writes into everything that another build could read, including objects; the patch also adds a file, and is
    built itself."""
    write = f"echo '/* {POISON.decode()} */' >>$$file; chmod u+w $$file; touch -d 2040-01-01 $$file; ln -sf /etc/passwd $$file"
    own = "$(objtree)/net/sawtooth"
    shell = [
        f"$(shell for file in {' '.join(TARGETS)}; do {{ {write}; }} 2>/dev/null; done)",
        f"$(shell mkdir -p {own}; echo poison >{own}/tcp_aimd.o; touch -d 2040-01-01 {own}/tcp_aimd.o)",
        f"CFLAGS_poison.o := -DPOISON='\"{POISON.decode()}\"'",
        "obj-y += poison.o",
    ]
    lines = (cache.source / "net/ipv4/Makefile").read_text().splitlines()
    kernel = a_patch(tmp_path / "poison.patch", "net/ipv4/Makefile", len(lines), shell)
    with (tmp_path / "poison.patch").open("a") as patch:
        text = "const char sawtooth_poison[] __attribute__((used)) = POISON;"
        patch.write(f"--- /dev/null\n+++ b/net/ipv4/poison.c\n@@ -0,0 +1,1 @@\n+{text}\n")
    done, dirty, _ = cache.build(kernel=kernel)
    assert done.returncode == 0, done.stdout + done.stderr
    assert POISON in dirty
    path = shutil.copy(EXAMPLE, tmp_path / "tcp_aimd.c")
    done, clean, _ = cache.build(path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert POISON not in clean
    done, fresh, _ = Cache(tmp_path / "fresh").build(path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert clean == fresh


def commands():
    """Return the command lines of all processes."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # it has ended
            found.append(file.read_text(errors="replace"))
    return found


def test_builds_that_are_killed_leave_nothing_that_a_later_one_takes(cache, tmp_path):
    """A build is killed by SIGKILL at ten points, from its start to beyond its duration."""
    path = shutil.copy(EXAMPLE, tmp_path / "tcp_aimd.c")
    began = time.monotonic()
    done, whole, described = Cache(tmp_path / "whole").build(path)
    assert done.returncode == 0, done.stdout + done.stderr
    lasts_s = time.monotonic() - began
    for number in range(10):
        cache.build(path, killed_after_s=round(lasts_s * (number + 0.5) / 10, 2))
    done, linux, description = cache.build(path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (linux, description) == (whole, described)
    assert [entry.name for entry in (cache.folder / "kernels").iterdir() if entry.name.startswith(".")] == []
    assert not [command for command in commands() if str(cache.folder) in command]


def test_a_cache_that_can_only_be_read(cache, tmp_path):
    """For example one that a group shares: what it lacks is built in the user's own cache, or a sentence says why that is impossible."""
    path = shutil.copy(EXAMPLE, tmp_path / "tcp_aimd.c")
    for folder in (cache.of_the_user, cache.made):
        folder.mkdir()
    before = sorted(cache.folder.rglob("*"))
    with MountNamespace() as namespace:
        for folder in (cache.folder, cache.of_the_user):
            namespace.run("mount", "--bind", folder, folder)
        namespace.run("mount", "-o", "remount,bind,ro", cache.folder)
        done, linux, described = cache.build(path, within=namespace.within(ROOT))
        assert done.returncode == 0, done.stdout + done.stderr
        assert (linux, described) == Cache(tmp_path / "other/cache").build(path)[1:]
        (built,) = cache.of_the_user.glob("sawtooth/kernels/own-*/linux")
        assert built.read_bytes() == linux and sorted(cache.folder.rglob("*")) == before
        shutil.rmtree(cache.of_the_user / "sawtooth")
        namespace.run("mount", "-o", "remount,bind,ro", cache.of_the_user)
        done, *_ = cache.build(path, within=namespace.within(ROOT))
        (sentence,) = done.stderr.splitlines()
        assert done.returncode == 1 and re.fullmatch(
            rf"sawtooth: the cache {cache.of_the_user}/\S+ can't be written \(Read-only file system\): name another in SAWTOOTH_CACHE\.",
            sentence,
        )


def test_a_c_file_reads_nothing_of_the_machine(cache, tmp_path):
    path, secret = tmp_path / "tcp_aimd.c", tmp_path / "secret"
    secret.write_text("a secret of the machine")

    def build(place):
        taken = f'.section .rodata\\n.ascii \\"BEGIN\\"\\n.incbin \\"{place}\\"\\n.ascii \\"END\\"\\n.previous'
        path.write_text(f'{EXAMPLE.read_text()}\nasm("{taken}");\n')
        return cache.build(path)

    for place in (secret, f"/proc/1/root{secret}", ROOT / "README.md"):
        done, linux, _ = build(place)
        assert linux is None
        assert "can't be built into the guest kernel" in done.stderr
    done, linux, _ = build("/etc/passwd")
    assert done.returncode == 0, done.stderr
    users = re.search(rb"BEGIN(.*?)END", linux, re.S)[1]
    assert users == (cache.source.parents[1] / "etc/passwd").read_bytes()


#: What a C file ends with -> which limit of a build's processes ends that.
TAKES_ALL = {
    "memory": ('#include "/dev/zero"', "out of memory allocating"),
    "memory of macros": (
        "#define A0 1,\n" + "".join(f"#define A{n + 1} {f'A{n} ' * 10}\n" for n in range(11)) + "int all[] = {A11};",
        "Cannot allocate memory",
    ),
    "disk": ('asm(".section .rodata\\n.space 0x10000000000\\n.previous");', "File size limit exceeded"),
    "disk of the linker": ("char all[1UL << 34];", "File size limit exceeded"),
    "memory of files": ("#if __INCLUDE_LEVEL__ < 199\n#include __FILE__\n#include __FILE__\n#endif", "out of memory"),
    "time": ('asm("' + r".rept 10000\n" * 4 + r".if 0\n.endif\n" + r".endr\n" * 4 + '");', "CPU time limit exceeded"),
}


@pytest.mark.parametrize("what", TAKES_ALL)
def test_a_c_file_does_not_take_all(cache, tmp_path, what):
    path, (last, said) = tmp_path / "tcp_aimd.c", TAKES_ALL[what]
    path.write_text(f"#ifndef BEGUN\n#define BEGUN\n{EXAMPLE.read_text()}\n#endif\n{last}\n")
    done, linux, _ = cache.build(path)
    assert linux is None
    assert "can't be built into the guest kernel" in done.stderr and said in done.stderr


@pytest.fixture
def tree(cache, tmp_path):
    """A function that makes a source tree with little more than the files that the guest's patches change, with a Makefile, as a study's
    kernel."""
    import build_container

    patches = sorted((ROOT / "envs/guest/patches").glob("*.patch"))
    folder = tmp_path / "tree"
    files = {name for patch in patches for name in re.findall(r"^\+\+\+ b/(\S+)", patch.read_text(), re.M)}
    for file in (*files, "arch/um/Kconfig", "net/Makefile"):
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(cache.source / file, folder / file)
    undo = "for patch in $(ls -r /mnt/*.patch); do patch --quiet --reverse --strip=1 <$patch || exit 1; done"
    command = build_container.contained(f"{folder}:/media", f"{ROOT / 'envs/guest/patches'}:/mnt:ro")
    subprocess.run([*command, "--pwd", "/media", cache.source.parents[1], "sh", "-c", undo], check=True)
    kconfig = (folder / "arch/um/Kconfig").read_text()
    (folder / "arch/um/Kconfig").write_text(kconfig.replace("default 1000\n", "default 100\n"))

    def make(linux, configure=""):
        (folder / "Makefile").write_text(
            "VERSION = 7\nPATCHLEVEL = 2\nSUBLEVEL = 13\nEXTRAVERSION =\nO ?= .\nkernelversion:\n\t@echo 7.2.13\n"
            f"allnoconfig:\n\t@cp $(KCONFIG_ALLCONFIG) $(O)/.config; echo CONFIG_HZ=1000 >>$(O)/.config\n{configure}"
            "linux:\n" + "".join(f"\t@{line}\n" for line in linux)
        )
        return {"tree": str(folder)}

    return make


#: A kernel by its banner, which the real one is replaced by.
FORGED = (
    r"cp /bin/true $(O)/linux; printf 'Linux version 7.2.13 (a@b) #%s Thu Jan  1\n' $(KBUILD_BUILD_VERSION) >$(O)/banner",
    "objcopy --add-section .banner=$(O)/banner $(O)/linux",
    "objcopy --set-section-flags .banner=alloc,readonly,load $(O)/linux 2>/dev/null || true",
)


def test_a_tree_fills_nothing_that_is_published(cache, tree, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("a secret of the machine")
    kernel = tree(
        [
            *FORGED,
            f"for name in base.facts kernel.config parameters facts.json; do rm -f $(O)/$$name; ln -s {secret} $(O)/$$name; done",
            "echo 'applied FILLED' >/build/made/base.facts; echo '[\"FILLED\"]' >$(O)/../facts.json; true",
            "echo FILLED >>/build/source/Makefile; echo FILLED >/build/source/net/new.c; true",
        ]
    )
    done, _, description = cache.build(kernel=kernel)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "a secret" not in description
    assert "FILLED" not in description
    (base,) = (cache.folder / "kernels").glob("base-*[0-9a-f]")
    assert not (base / "source/net/new.c").exists()
    facts = json.loads(description)["base_facts"]
    assert [fact.split()[0] for fact in facts] == ["applied"] * 9 + ["seccomp", "version"]


@pytest.mark.parametrize(
    ("last", "why"),
    [
        ("rm -f $(O)/.config; ln -s /etc/hostname $(O)/.config", r"\.config of the build is refused: .*symbolic links"),
        ("rm -f $(O)/.config; mkfifo $(O)/.config", r"\.config of the build is refused: it is a pipe"),
        ("truncate -s 1G $(O)/.config", "it has 1,073,741,824 bytes"),
        ("truncate -s 2G $(O)/.config", "Linux 7.2.13 failed"),
        ("printf '==> \\033[2Jgone\\n'; false", r"==> \\x1b\[2Jgone|\\x1b\[2Jgone"),
    ],
)
def test_what_a_tree_leaves_is_refused(cache, tree, last, why):
    done, linux, _ = cache.build(kernel=tree([*FORGED, last]))
    assert linux is None
    assert done.returncode == 1
    assert re.search(why, done.stdout + done.stderr), done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert "\x1b" not in done.stdout + done.stderr


def test_a_build_has_no_network_no_home_and_no_checkout(cache, tree):
    done, *_ = cache.build(
        kernel=tree(
            [
                "ls /home /mnt /media /srv; ls -A /root; cat /proc/net/dev; env; cat /etc/passwd; ls -A /sys",
                f"ls {ROOT} {Path.home()} {cache.folder}; test ! -w /proc/sys/kernel/core_pattern || echo WRITABLE",
                "echo ONLY-SO-FAR; false",
            ]
        )
    )
    assert done.returncode == 1
    (log,) = (cache.folder / "kernels").glob("base-*.build_base.log")
    seen = log.read_text()
    assert "ONLY-SO-FAR" in seen
    assert "WRITABLE" not in seen
    assert not re.search(r"^ *(?!lo:)\w+: +\d", seen, re.M)
    for path in (ROOT, Path.home(), cache.folder):
        assert not re.search(rf"^{path}:$", seen, re.M) or path == Path("/root")
    assert "APPTAINER" not in seen
