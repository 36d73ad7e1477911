"""Provide bases of guest kernels: source trees (another version of Linux, or a user's tree) that are patched and built once."""

import contextlib
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import build_outputs
import given_trees
import locked_packages
import own_tree
from build_container import IN_CONTAINER, LONGEST_BASE_S, contained, copy_recipe, outside, tail_lines
from cache import cache_dir, cache_entry, digest, made_once, own_cache, remove_tree, require_space
from progress import SetupError, run_logged, run_quietly, say
from study_files.kernel_trees import tree_version
from study_files.kernels import CHECKOUT, LOCK, NEWEST, OF_BASE, bases, recipe_digest

#: Disk space in GB for a source tree and its objects.
BASE_SIZE_GB = 3
#: Files in a base's folder: facts about the base, digests of its source files (only if they come from a user's tree), and the image and
#: recipe with which it was built.
FACTS, FILES, MADE_BY = "facts.json", "files.json", "made-by"
#: A base that was built from another state of a tree is used again if fewer files than this differ, and all of them match `COMPILED_ONLY`.
#: Files that a build executes (Makefiles, scripts, host programs) don't match, because they could have written anything into the objects.
MOST_CHANGED = 2000
COMPILED_ONLY = re.compile(
    r"(net|include/net|drivers/net)/[\w./+-]+\.[ch]|include/(uapi/)?linux/(tcp|inet_diag|rtnetlink|snmp|skbuff|netdevice|pkt_sched|mptcp|ip|ipv6|net|socket)\.h",
    re.A,
)


def provide_base(kernel, root) -> tuple[Path, dict[str, str]]:
    """Return the base of a kernel; if the base isn't cached, build it first.

    Parameters
    ----------
    kernel : dict
        Definition of the kernel (`study_files.kernels.completed_kernels`).
    root : pathlib.Path
        Root folder of the image in which bases are built. The kernel may also be based on the Linux in this image.

    Returns
    -------
    base : pathlib.Path
        Folder with ``source`` and ``objects``.
    changed : dict
        Files that must be replaced in the base: path -> digest of the file in the kernel's source tree. The dict is empty unless the base
        was built from another state of this tree.
    """
    if kernel.get("base") == NEWEST:
        return root / "build", {}
    if kernel["recipe"] != (here := recipe_digest()):
        raise SetupError(
            f"the study's kernels are made by the recipe {kernel['recipe'][:16]} and this checkout has {here[:16]} (envs/guest): "
            "use the checkout that the study comes from, or omit the key recipe."
        )
    what = f"Linux {kernel['version']}"
    key = digest(root.parent.name, recipe_digest(OF_BASE), kernel["sha256"], "tree" if "tree" in kernel else "package")[
        :16
    ]
    # The version may be any text, because it comes from the source tree.
    final = cache_entry("kernels", f"base-{re.sub(r'[^0-9A-Za-z.-]+', '-', kernel['version'])}-{key}")
    made_by = f"{root.parent.name} {recipe_digest(OF_BASE)}"
    if given_trees.lists_files(kernel) and not final.exists() and (near := nearest_base(kernel, made_by)):
        return near
    with made_once(final) as partial:
        if partial is not None:
            require_space(partial, BASE_SIZE_GB, what)
            if "tree" in kernel:
                files = given_trees.copy_tree(kernel, partial / "source")
                if given_trees.lists_files(kernel):
                    (partial / FILES).write_text(json.dumps(files))
            else:
                fetch_source(kernel, partial)
            try:
                facts = build_base(partial, root, final, what)
            except SetupError as error:
                raise SetupError(f"{kernel.get('tree', what)}: {error}") from None
            (partial / FACTS).write_text(json.dumps(facts))
            (partial / MADE_BY).write_text(made_by)
    return final, {}


def build_base(partial, root, final, what) -> list[str]:
    """Patch the tree in ``partial``/source for the guest, build ``partial``/objects, and return facts about the base.

    Only the second of the three steps runs the tree's Makefiles and scripts, which can write only to the folder of objects. The logs of the
    steps are written next to ``final``.
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


def nearest_base(kernel, made_by) -> tuple[Path, dict[str, str]] | None:
    """Return the cached base that differs in the fewest files from a kernel's source tree, in the same form as `provide_base`.

    A base can be used again if

    - fewer than `MOST_CHANGED` files differ, and all of them match `COMPILED_ONLY`,
    - no file was added or removed (a build might otherwise find another file instead), and
    - the guest's patches don't modify any file that differs.

    Return None if there is no such base.
    """
    tree, has, nearest = kernel["tree"], None, None
    for folder in sorted(folder for cache in {cache_dir(), own_cache()} for folder in cache.glob("kernels/base-*")):
        if not (folder / FILES).exists() or (folder / MADE_BY).read_text() != made_by:
            continue
        has = has or given_trees.digests(kernel)
        had = json.loads((folder / FILES).read_text())
        changed = {path for path, sha256 in had.items() if has.get(path) != sha256} | (has.keys() - had.keys())
        # Files that no build reads are removed from a base, so they don't count.
        changed = {path for path in changed if path not in had or os.path.lexists(folder / "source" / path)}
        if len(changed) < (len(nearest[1]) if nearest else MOST_CHANGED) and all(
            path in had
            and path in has
            and COMPILED_ONLY.fullmatch(path)
            and own_tree.is_allowed(path)
            and given_trees.is_plain_file(had[path])
            and given_trees.is_plain_file(has[path])
            and given_trees.is_as_it_was(folder / "source" / path, had[path])
            for path in changed
        ):
            nearest = folder, {path: has[path] for path in sorted(changed)}
    if has:
        given_trees.check_unchanged(kernel, has)
    if nearest:
        say(
            f"{tree}: rebuilding the {len(nearest[1])} files that differ from {nearest[0].name}, and the files that include them"
        )
    return nearest


def fetch_source(kernel, partial) -> None:
    """Unpack the Linux source from a locked Debian package into ``partial``/source.

    Raises SetupError if the lock file lists a different version.
    """
    locked = bases().get(kernel["base"], {})
    if {key: kernel[key] for key in locked} != locked:
        raise SetupError(
            f"the study's kernel is Linux {kernel['version']}, and {LOCK} has "
            + (
                f"{locked['version']}: use the checkout that the study comes from."
                if locked
                else f"no {kernel['base']}."
            )
        )
    with contextlib.chdir(CHECKOUT):
        (package,) = locked_packages.provide(f"linux-{kernel['base']}").glob("*.deb")
    name = f"linux-source-{kernel['base']}"
    say(f"{name}: unpacking")
    work = partial / "unpacked"
    work.mkdir()
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE) as packed:
        run_quietly(["tar", "-x", "-C", work, f"./usr/src/{name}.tar.xz"], stdin=packed.stdout)
    run_quietly(["tar", "-xf", work / f"usr/src/{name}.tar.xz", "-C", work])
    (work / name).rename(partial / "source")
    shutil.rmtree(work)
