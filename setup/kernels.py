"""Guest kernels of a study's own: `python3 setup kernel NAME LINUX DESCRIPTION [KERNEL] FILE=SHA256...`, called by the workflow.

All else of set-up happens in the checkout; this happens where the study's files are, in the folder that it is called from.

C files are built as a part of the kernel, for one that loads modules has other bytes. What a kernel is based on (the image's Linux,
another of Debian's, a tree of the user's) is built once and keeps its objects, so that a patch or a C file takes seconds. Compiler and
`patch` run in a container of its own, the image of envs/kernel.def, which has no network and sees of the machine only these files.

All that runs there is somebody else's: patches bring Makefiles, and a tree is nothing else. So a build can write into its own objects
alone, what it is made of is read once and hashed, its tree is read-only (own_tree.py), and what it leaves is taken over by build_outputs.py.
"""

import contextlib
import hashlib
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import build_outputs
import environment
import images
import locked_packages
import own_tree
import toolbox
from cache import cache_dir, digest, made_once, remove_tree, require_space
from progress import SetupError, run_logged, say
from study_files.kernels import (
    CHECKOUT,
    LARGEST_PATCH_BYTES,
    LOCK,
    NEWEST,
    OF_BASE,
    RECIPE,
    bases,
    digest_of_files,
    digests_of_files,
    files_of_tree,
    recipe_digest,
    tree_version,
)

#: The Makefile of net/sawtooth in the kernel's tree: objects, and where the headers of the kernel's own CCAs are.
MAKEFILE = "obj-y := {objects}\nccflags-y := -I$(srctree)/net/ipv4\n"
GUEST = CHECKOUT / "envs/guest"
#: Copy of the objects and links to the source, and the new kernel; a source tree with its objects.
SIZE_GB, BASE_SIZE_GB = 1, 3
#: What stands beside a base: what is known of it; of a source tree also the digest of each of its files, and the image and recipe that made it.
FACTS, FILES, MADE_BY = "facts.json", "files.json", "made-by"
#: So many files may differ from another state of a tree, and only these: what a build runs (Makefiles, scripts, programs for the machine that
#: compiles) could have put anything into the other state's objects.
MOST_CHANGED = 2000
COMPILED_ONLY = re.compile(
    r"(net|include/net|drivers/net)/[\w./+-]+\.[ch]|include/(uapi/)?linux/(tcp|inet_diag|rtnetlink|snmp|skbuff|netdevice|pkt_sched|mptcp|ip|ipv6|net|socket)\.h",
    re.A,
)
#: Seconds that a build may take, and a base's: minutes at most, on a busy machine with two cores.
LONGEST_S, LONGEST_BASE_S = 3600, 4 * 3600
#: Of what a build says so many bytes are kept of the beginning, and of the end.
KEPT_WORDS = 2**20
#: Images whose source other builds could write into through links, before each had its own: by key, the digest of an untouched one.
SHARED_BY_LINKS = {"c807df1f56ceb29b": "285d924f32eba7165c7fe9cf7dcd0af4f99fc04aceddffbe5889fb32ecdca6b5"}
#: What a container would have of the machine, and has of the image instead.
OF_THE_IMAGE = ("etc/hosts", "etc/passwd", "etc/group", "etc/resolv.conf")
#: What make is at: "  LINK linux", and our own marks.
STEP = re.compile(r"  [A-Z]+ +\S+$|==> ")
#: The environment that a build has, without what Apptainer tells of the machine; and the status of `timeout`.
IN_CONTAINER = ("env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8")
TIMED_OUT = 124
#: What a patch may change without being a part of any guest kernel; the trees that kernels are built in have little of it.
NO_PART = re.compile(
    r"(Documentation|samples|sound|tools|MAINTAINERS|CREDITS|\.mailmap|arch/(?!um/|x86/|Kconfig)[^/]+)(/|$)"
)
#: The first lines of what a failed build said.
LINES = 12


def provide_kernel(name, linux_file, description, sources, kernel=None) -> None:
    """Put a kernel and its description where the workflow wants them, built unless the cache has it.

    Parameters
    ----------
    name : str
        What names it by its content (`experiment.definitions.kernel_id`); it becomes the number of its build.
    linux_file, description : pathlib.Path
        The kernel, and a JSON file with all that it takes to build it again, the text of C files and patches among it.
    sources : dict
        Path of each C file -> the SHA-256 that it must have.
    kernel : dict, optional
        What it is based on, patches and options (`study_files.kernels.completed_kernels`); without one it is the image's.

    Raises
    ------
    SetupError
        A file has changed, can't be read, or isn't compiled; then with the compiler's words. A patch doesn't apply, an option
        isn't accepted, there is no such source; then with the first file or option.
    """
    kernel = kernel or {"base": "newest", "patches": [], "config": {}}
    patches = {Path(patch["path"]): patch["sha256"] for patch in kernel["patches"]}
    contents = {path: read_once(path, sha256) for path, sha256 in (*sources.items(), *patches.items())}
    with contextlib.chdir(CHECKOUT):
        compiler = provide_compiler()
    described = json.loads((compiler / "image.json").read_text())
    made_of = json.dumps([name, kernel, [[str(path), sha256] for path, sha256 in sources.items()]], sort_keys=True)
    key = digest("own objects", described["definition_key"], recipe_digest(), made_of)[:16]
    final = cache_dir() / "kernels" / f"own-{key}"
    with made_once(final) as partial:
        if partial is not None:
            check_untouched(compiler, described["definition_key"])
            base, changed = provide_base(kernel, compiler / "root")
            facts = [] if base == compiler / "root/build" else json.loads((base / FACTS).read_text())
            require_space(partial, SIZE_GB, "a guest kernel of your own")
            linux = build(
                name,
                compiler / "root",
                base,
                partial,
                {path: contents[path] for path in sources},
                kernel,
                changed,
                contents,
            )
            (partial / "linux").write_bytes(linux)
            (partial / "linux").chmod(0o755)
            described = {
                "kernel": name,
                "linux_sha256": hashlib.sha256(linux).hexdigest(),
                **{
                    key: kernel[key]
                    for key in ("base", "tree", "version", "sha256", "recipe", "config")
                    if key in kernel
                },
                **({"base_facts": facts} if facts else {}),
                "patches": [_with_text(path, sha256, contents[path]) for path, sha256 in patches.items()],
                "files": [_with_text(path, sha256, contents[path]) for path, sha256 in sources.items()],
                "built_on": {
                    key: described[key] for key in ("linux_source", "linux_sha256", "packages", "definition_key")
                },
            }
            (partial / "kernel.json").write_text(json.dumps(described, indent=2) + "\n")
    for made, wanted in ((final / "linux", linux_file), (final / "kernel.json", description)):
        wanted.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(made, wanted)


def read_once(path, sha256) -> bytes:
    """Return the content of a C file or patch: what is hashed is what is compiled and published."""
    content = build_outputs.read_regular(path, LARGEST_PATCH_BYTES)
    if hashlib.sha256(content).hexdigest() != sha256:
        raise SetupError(f"{path} has changed since the study was read, or is not the file that it names: call again.")
    return content


def _with_text(path, sha256, content):
    return {"path": str(path), "sha256": sha256, "text": content.decode(errors="replace")}


def check_untouched(compiler, definition_key) -> None:
    """Raise SetupError if the source in an image of `SHARED_BY_LINKS` is not what its definition gives; it is hashed once per cache."""
    expected = SHARED_BY_LINKS.get(definition_key[:16])
    if expected is None:
        return
    with made_once(cache_dir() / "kernels" / f"untouched-{definition_key[:16]}") as partial:
        if partial is not None and digest_of_files(digests_of_files(compiler / "root/build/source")) != expected:
            raise SetupError(
                f"the kernel's source in {compiler} was changed by a build of an earlier version, so no kernel is built from it: "
                f"delete {compiler} and call again, the image is built again (minutes)."
            )


def provide_compiler() -> Path:
    """Return the folder of the image that kernels are built in, built unless it is there."""
    if images.missing_images([images.KERNEL]):
        images.check_sources()
        tools = toolbox.building_environment(environment.VENV)
        apptainer = toolbox.provide_apptainer(environment.VENV)
        images.build_image(images.KERNEL, apptainer, tools, environment.VENV / "bin/python")
    return images.cached_image(images.KERNEL)[1]


def provide_base(kernel, root) -> tuple[Path, dict[str, tuple[Path, str]]]:
    """Return the folder with ``source`` and ``objects`` that a kernel is based on, made unless it is there, and what is to change there.

    That is, of a source tree of which another state was built before, path -> the file that takes the place of the base's and
    its digest; otherwise nothing. ``root`` is the image that it is built in, whose own Linux it may be.
    """
    if kernel.get("base") == NEWEST:
        return root / "build", {}
    if kernel["recipe"] != (here := recipe_digest()):
        raise SetupError(
            f"the study's kernels are made by the recipe {kernel['recipe'][:16]} and this checkout has {here[:16]} (envs/guest): "
            "have the checkout that the study is from, or leave the key recipe away."
        )
    what = f"Linux {kernel['version']}"
    key = digest(root.parent.name, recipe_digest(OF_BASE), kernel["sha256"], "tree" if "tree" in kernel else "package")[
        :16
    ]
    # The version is a tree's own word.
    final = cache_dir() / "kernels" / f"base-{re.sub(r'[^0-9A-Za-z.-]+', '-', kernel['version'])}-{key}"
    made_by = f"{root.parent.name} {recipe_digest(OF_BASE)}"
    if "tree" in kernel and not final.exists() and (near := nearest_base(kernel, made_by)):
        return near
    with made_once(final) as partial:
        if partial is not None:
            require_space(partial, BASE_SIZE_GB, what)
            (copy_tree if "tree" in kernel else fetch_source)(kernel, partial)
            try:
                facts = build_base(partial, root, final, what)
            except SetupError as error:
                raise SetupError(f"{kernel.get('tree', what)}: {error}") from None
            (partial / FACTS).write_text(json.dumps(facts))
            (partial / MADE_BY).write_text(made_by)
    return final, {}


def build_base(partial, root, final, what) -> list[str]:
    """Make the tree in ``partial``/source that of a guest kernel and build ``partial``/objects; return what is known of it.

    The tree's own Makefiles and scripts run in the second of three steps only, and write into the objects only. Each step's log lies
    beside ``final``.
    """
    source, objects, made = (partial / part for part in ("source", "objects", "made"))
    objects.mkdir()
    made.mkdir()
    recipe = copy_recipe(partial / "guest")
    try:
        version = tree_version(source)
    except ValueError as error:
        raise SetupError(f"{str(error).replace(f'{source}/', '')}.") from None
    steps = (
        ("patch_base", version, [f"{source}:/build/source", f"{made}:/build/made"]),
        ("build_base", None, [f"{source}:/build/source:ro", f"{made}:/build/made:ro", f"{objects}:/build/objects"]),
        ("trim_base", None, [f"{source}:/build/source", f"{objects}:/build/objects:ro"]),
    )
    for script, argument, binds in steps:
        log = final.with_name(f"{final.name}.{script}.log")
        command = contained(*binds, recipe=recipe, seconds=LONGEST_BASE_S, root=root)
        command += [root, *IN_CONTAINER, "sh", f"/build/guest/{script}", *([argument] if argument else [])]
        try:
            run_logged([*map(str, command)], log, what, env=outside())
        except SetupError:
            refused = [line for line in tail_lines(log) if line.startswith("guest kernel: ")]
            if not refused:
                raise
            raise SetupError(f"{refused[-1].removeprefix('guest kernel: ')}.") from None
    known = {patch.name for folder in recipe.iterdir() if folder.is_dir() for patch in folder.glob("*.patch")}
    facts = build_outputs.read_facts(made, known)
    wanted = re.findall(r"^(CONFIG_\w+)=y$", (recipe / "kernel.config").read_text(), re.M)
    facts += [f"missing {option.removeprefix('CONFIG_')}" for option in build_outputs.missing_options(objects, wanted)]
    remove_tree(recipe)
    return [*facts, f"version {version}"]


def tail_lines(log) -> list[str]:
    """Return the last lines of a log, of which a build may have written any number."""
    with log.open("rb") as opened:
        opened.seek(max(0, opened.seek(0, os.SEEK_END) - KEPT_WORDS))
        return opened.read(KEPT_WORDS).decode(errors="replace").splitlines()


def copy_recipe(folder) -> Path:
    """Copy those files of envs/guest that make a kernel into a folder, which a build has instead of the checkout; return it."""
    folder.mkdir()
    for part in RECIPE:
        (shutil.copytree if (GUEST / part).is_dir() else shutil.copy)(GUEST / part, folder / part)
    return folder


def nearest_base(kernel, made_by) -> tuple[Path, dict[str, tuple[Path, str]]] | None:
    """Return the base of another state of a source tree that differs least, as `provide_base` does; None if all is to be built anew.

    That is so where a file comes or goes, by which others may be found instead, where a guest's patches change it, or where it is none of
    `COMPILED_ONLY`.
    """
    tree, has, nearest = Path(kernel["tree"]), None, None
    for folder in sorted((cache_dir() / "kernels").glob("base-*")):
        if not (folder / FILES).exists() or (folder / MADE_BY).read_text() != made_by:
            continue
        has = has or digests_of_files(tree)
        had = json.loads((folder / FILES).read_text())
        changed = {path for path, sha256 in had.items() if has.get(path) != sha256} | (has.keys() - had.keys())
        # What no build reads is not kept.
        changed = {path for path in changed if path not in had or os.path.lexists(folder / "source" / path)}
        if len(changed) < (len(nearest[1]) if nearest else MOST_CHANGED) and all(
            path in had
            and path in has
            and COMPILED_ONLY.fullmatch(path)
            and own_tree.is_allowed(path)
            and " " not in had[path] + has[path]  # neither a link nor a program
            and _is_as_it_was(folder / "source" / path, had[path])
            for path in changed
        ):
            nearest = folder, {path: (tree / path, has[path]) for path in sorted(changed)}
    if has and digest_of_files(has) != kernel["sha256"]:
        raise SetupError(f"{tree} has changed since the study was read: call again.")
    if nearest:
        say(
            f"{tree}: building what is not as it was in {nearest[0].name}, {len(nearest[1])} files and what includes them"
        )
    return nearest


def _is_as_it_was(path, sha256):
    return not path.is_symlink() and hashlib.sha256(path.read_bytes()).hexdigest() == sha256


def fetch_source(kernel, partial) -> None:
    """Put the source of a package of Debian's, of which version and SHA-256 are given, into ``partial``/source."""
    locked = bases().get(kernel["base"], {})
    if {key: kernel[key] for key in locked} != locked:
        raise SetupError(
            f"the study's kernel is Linux {kernel['version']}, and {LOCK} has "
            + (f"{locked['version']}: have the checkout that the study is from." if locked else f"no {kernel['base']}.")
        )
    with contextlib.chdir(CHECKOUT):
        (package,) = locked_packages.provide(f"linux-{kernel['base']}").glob("*.deb")
    name = f"linux-source-{kernel['base']}"
    say(f"{name}: unpacking")
    work = partial / "unpacked"
    work.mkdir()
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE) as packed:
        subprocess.run(["tar", "-x", "-C", work, f"./usr/src/{name}.tar.xz"], stdin=packed.stdout, check=True)
    subprocess.run(["tar", "-xf", work / f"usr/src/{name}.tar.xz", "-C", work], check=True)
    (work / name).rename(partial / "source")
    shutil.rmtree(work)


def copy_tree(kernel, partial) -> None:
    """Copy a source tree of the user's, less what Git keeps beside it, into ``partial``/source."""
    say(f"{kernel['tree']}: copying")
    tree, source = Path(kernel["tree"]), partial / "source"
    for path in files_of_tree(tree):
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        if (tree / path).is_symlink():
            (source / path).symlink_to(os.readlink(tree / path))
        else:
            shutil.copy(tree / path, source / path, follow_symlinks=False)
    files = digests_of_files(partial / "source")
    if digest_of_files(files) != kernel["sha256"]:
        raise SetupError(f"{kernel['tree']} has changed since the study was read: call again.")
    (partial / FILES).write_text(json.dumps(files))


def contained(*binds, recipe=GUEST, seconds=None, root=None) -> list[str]:
    """Return the command, less the image and what is to be done there, of a container for compiler and patch.

    It ends after ``seconds``. Of an image's own folder ``root`` come the files that Apptainer would take from the machine. What the
    kernel sets is read-only: root without privileges could set it too.
    """
    places = [*binds, f"{recipe}:/build/guest:ro", "/proc/sys:/proc/sys:ro"]
    if root is not None:
        places += [f"{root / path}:/{path}:ro" for path in OF_THE_IMAGE if (root / path).is_file()]
    return [
        *(["timeout", "--kill-after=10", str(seconds)] if seconds else []),
        str(CHECKOUT / environment.VENV / "bin/apptainer"), "--silent", "exec", "--userns", "--containall", "--no-home",
        "--no-mount", "sys,bind-paths,devpts", "--pwd", "/", "--net", "--network", "none",
        *(part for place in places for part in ("--bind", place)),
    ]  # fmt: skip


def outside() -> dict[str, str]:
    """Return this process's environment without variables by which Apptainer would hand in more."""
    kept = ("APPTAINER_TMPDIR", "APPTAINER_CACHEDIR", "APPTAINER_CONFIGDIR")
    return {
        name: value
        for name, value in os.environ.items()
        if name in kept or not name.startswith(("APPTAINER", "SINGULARITY"))
    }


def build(name, root, base, partial, sources, kernel, changed, contents) -> bytes:
    """Return the kernel, built in the image ``root`` from a base's folder; ``partial`` is for what it takes.

    Parameters
    ----------
    sources : dict
        Path of each C file -> its content.
    changed : dict
        What is other than in the base (`provide_base`).
    contents : dict
        Path -> content, of patches too.
    """
    work = partial / "work"
    objects, own, patches, options, tree = (work / part for part in ("objects", "own", "patches", "options", "tree"))
    for folder in (own, patches, options, tree):
        folder.mkdir(parents=True)
    recipe = copy_recipe(work / "guest")
    # A copy, with its dates, or all would be compiled again.
    subprocess.run(["cp", "-a", "--reflink=auto", base / "objects", objects], check=True)
    for path, content in sources.items():
        (own / path.name).write_bytes(content)
    (own / "Makefile").write_text(MAKEFILE.format(objects=" ".join(path.with_suffix(".o").name for path in sources)))
    texts = [of_kernel(contents[Path(patch["path"])]) for patch in kernel["patches"]]
    for number, text in enumerate(texts):
        (patches / f"{number:03}.patch").write_bytes(text)
    tick = [str(kernel["config"]["HZ"])] if "HZ" in kernel["config"] else []
    source, binds = base / "source", []
    had = own_tree.copy_files(
        source, {*own_tree.named_files(texts), *(["arch/um/Kconfig"] if tick else []), *changed}, tree
    )
    for path, (file, sha256) in changed.items():
        # With today's date, after that of the objects.
        shutil.copyfile(file, tree / path, follow_symlinks=False)
        if not _is_as_it_was(tree / path, sha256):
            raise SetupError(f"{kernel['tree']} has changed since the study was read: call again.")
    if texts or tick:
        command = contained(
            f"{tree}:/build/source", f"{patches}:/build/patches:ro", recipe=recipe, seconds=LONGEST_S, root=root
        )
        status, words = said_by([*command, root, *IN_CONTAINER, "sh", "/build/guest/patch_own", *tick])
        if status:
            raise SetupError(why_not_built(words, sources, kernel))
    binds = [
        f"{file}:/build/source{'/' * bool(path)}{path}:ro" for file, path in own_tree.mounts(source, tree, had, work)
    ]
    binds += [f"{own}:/build/source/net/sawtooth:ro", f"{objects}:/build/objects", f"{options}:/build/options:ro"]
    if kernel["config"]:
        (options / "own.config").write_text(configuration(base, kernel["config"]))
        (options / "own.options").write_text("\n".join(option_lines(kernel["config"])) + "\n")
    command = [*contained(*binds, recipe=recipe, seconds=LONGEST_S, root=root), root, *IN_CONTAINER]
    status, words = said_by([*command, f"SAWTOOTH_KERNEL={name}", "sh", "/build/guest/build_own"])
    for path in sources:
        words = re.sub(rf"\S*net/sawtooth/{re.escape(path.name)}", lambda _, path=path: str(path), words)
    if status:
        raise SetupError(why_not_built(words, sources, kernel))
    # Warnings; of the rest make says at most what it is at.
    if warnings := "\n".join(line for line in words.splitlines() if line.strip() and not STEP.match(line)):
        say(warnings)
    linux = build_outputs.read_linux(objects, name)
    remove_tree(work)
    return linux


def said_by(command) -> tuple[int, str]:
    """Return the exit status of a command and what it said; of much, the beginning and the end."""
    head, end = b"", b""
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=outside()
    ) as process:
        try:
            while chunk := os.read(process.stdout.fileno(), 1 << 16):
                if len(head) < KEPT_WORDS:
                    head += chunk
                else:
                    end = (end + chunk)[-KEPT_WORDS:]
        except BaseException:
            process.terminate()  # interrupted: don't wait for its end
            raise
    if process.returncode == TIMED_OUT:
        raise SetupError(f"the kernel was not built within {LONGEST_S} s, the most that a build may take.")
    return process.returncode, (head + end).decode(errors="replace")


def of_kernel(patch) -> bytes:
    """Return a patch (bytes) without what it changes in files that no guest kernel is built from."""
    parts = re.split(rb"^(?=diff --git |--- (?:a/|/dev/null)(?!.*\n(?!\+\+\+ )))", patch, flags=re.M)
    return b"".join(part for part in parts if not _is_no_part(part))


def _is_no_part(part):
    """Tell whether a part of a patch, one file's, is none of a kernel's."""
    names = re.findall(rb"^(?:---|\+\+\+) [ab]/(\S+)", part, re.M) or re.findall(rb"^diff --git a/(\S+)", part, re.M)
    return bool(names) and all(NO_PART.match(name.decode(errors="replace")) for name in names)


def option_lines(config) -> list[str]:
    """Return a study's options as lines of a configuration."""
    return [f"CONFIG_{option}={option_text(value)}" for option, value in config.items()]


def configuration(base, config) -> str:
    """Return the options of a kernel on a base: the base's with those of ``config`` in their place, but for the tick, which has no prompt."""
    own = base / "made/kernel.config"
    lines = (own if own.exists() else base / "kernel.config").read_text().splitlines()
    kept = [line for line in lines if line.partition("=")[0].removeprefix("CONFIG_") not in config]
    return "\n".join([*kept, *(line for line in option_lines(config) if not line.startswith("CONFIG_HZ="))]) + "\n"


def option_text(value) -> str:
    """Return an option's value as a configuration has it: y, n, a number, or a text in quotes."""
    if isinstance(value, bool):
        return "yn"[not value]
    return str(value) if isinstance(value, int) or value in ("y", "n") else f'"{value}"'


def why_not_built(words, sources, kernel) -> str:
    """Return why a kernel was not built, from what its build said: a patch that does not apply, or the compiler's words."""
    if refused := re.search(r"^guest kernel: (.*)$", words, re.M):
        return f"Linux {kernel.get('version', 'of the image')}: {refused[1]}."
    patching = re.findall(r"^==> apply (\d+)\.patch$", words, re.M)
    if patching and "==> build" not in words:
        patch = kernel["patches"][int(patching[-1])]["path"]
        end = words.rpartition("==> apply ")[2]
        failed = re.search(r"patching file (\S+)\n(?:(?!patching file ).*\n)*?Hunk #(\d+) FAILED", end)
        missing = re.search(r"^\|?--- (?:a/)?(\S+)", end, re.M)
        where = (
            f"hunk {failed[2]} of {failed[1]}"
            if failed
            else f"{missing[1]} is not there"
            if missing
            else end.strip()[-300:]
        )
        return f"{patch} does not apply to Linux {kernel.get('version', 'of the image')}: {where}."
    what = ", ".join(map(str, [*sources, *(patch["path"] for patch in kernel["patches"])])) or "the kernel"
    return f"{what} can't be built into the guest kernel:\n{first_lines(words)}"


def first_lines(text) -> str:
    """Return the lines of a failed build from the first error on."""
    lines = [line for line in text.splitlines() if not line.startswith("make")]
    first = next((place for place, line in enumerate(lines) if re.search(r"\berror\b|undefined|multiple def", line)), 0)
    return "\n".join(lines[first : first + LINES])
