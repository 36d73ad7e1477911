"""Build each version of the container images once, keep the images in the cache, and link them in envs/."""

import os
import re
import shutil
from collections import Counter
from pathlib import Path

import locked_packages
import unpacked
from cache import cache_dir, cache_entry, digest, made_once, remove_tree, require_cache, require_space
from progress import SetupError, run_fetching, run_logged, run_quietly

BASE = Path("envs/base.def")
#: Image with the guest kernel's source, objects and compiler. The kernel in the testbed's image is copied from this image.
KERNEL = Path("envs/kernel.def")
#: Image with Debian's compilers, in which stacks.py builds the QUIC stacks of examples/.
STACKS = Path("envs/stacks.def")
SIZE_GB = 6  # the kernel's source and build are the largest part
ANALYSIS_PYTHON = "3.13"  # Debian 13's
#: Python version for which an image's wheels are made, if it isn't `ANALYSIS_PYTHON`.
WHEELS_PYTHON = {"ns3": "3.11"}  # the only Python version for which there are wheels of all ns-3 versions
ROOT_ID_RANGE = (1_900_000_000, 65_536)  # systemd's documentation calls 1879048192 to 2147483647 unused
DESCRIPTION = "usr/share/sawtooth/image.json"


def takes(definition, argument) -> bool:
    """Return whether a definition uses the given build argument."""
    return f"{{{{ {argument} }}}}" in definition.read_text()


def files_of(definition) -> list[Path]:
    """Return the files that a definition copies from the checkout, in order.

    Files named by a build argument (``{{ wheels }}``) are omitted. A lock file, which the definition copies too, determines their contents.
    """
    sources = []
    section = ""
    for line in definition.read_text().splitlines():
        if line.startswith("%"):
            section = line.split("#")[0].strip()
        elif section == "%files" and line.strip() and not line.strip().startswith(("#", "{{")):
            sources.append(Path(line.split()[0]))
    return sources


def sections_of(definition) -> list[str]:
    """Return the names of the sections of envs/debian.lock that a definition uses (as ``{{ debian_<section> }}``), sorted."""
    return sorted(set(re.findall(r"\{\{ debian_(\w+) \}\}", definition.read_text())))


def definitions() -> list[Path]:
    """Return the definitions of the images in which jobs run."""
    return sorted(set(Path("envs").glob("*.def")) - {BASE, KERNEL, STACKS})


def definition_key(definition) -> str:
    """Return the key of an image: a digest of all inputs to its build.

    The inputs are the definition, the locked packages, the copied files, and the inputs to the images on which this image is based.

    Raises
    ------
    SetupError
        If a file that the definition copies is missing.
    """
    parts = [definition]
    parts += [definition_key(part) for part in (BASE, KERNEL) if takes(definition, part.stem)]
    for section in sections_of(definition):
        parts += [section, locked_packages.content(section)]
    for source in files_of(definition):
        if not source.exists():
            raise SetupError(f"{definition}: %files names {source}, which doesn't exist.")
        parts += [str(source), source]
    return digest(*parts)


def cached_image(definition) -> tuple[str, Path]:
    """Return the key and the folder of a definition's image; the folder is in a bundle or in the cache, and need not exist."""
    key = definition_key(definition)
    name = f"{definition.stem}-{key[:16]}"
    bundled = unpacked.IMAGES / name
    return key, bundled.absolute() if bundled.is_dir() else cache_entry("images", name)


def wanted_images(definitions, environ=os.environ) -> list[Path]:
    """Return the definitions of the images that set-up provides; ns-3's image is included only with SAWTOOTH_NS3=1."""
    return [definition for definition in definitions if definition.stem != "ns3" or environ.get("SAWTOOTH_NS3") == "1"]


def missing_images(definitions) -> list[Path]:
    """Return the definitions whose images are missing from the cache."""
    return [definition for definition in definitions if not cached_image(definition)[1].exists()]


def why_built(missing) -> str:
    """Return a message that images are built because the cache lacks them; the message names another cache if the last set-up used it."""
    names = ", ".join(definition.stem for definition in missing)
    link = missing[0].with_suffix(".sif")
    other = Path(os.readlink(link)).parents[2] if link.is_symlink() else cache_dir()
    last = f"; the last set-up here used SAWTOOTH_CACHE={other}" if other != cache_dir() and link.exists() else ""
    return f"the cache {cache_dir()} has no image {names} of this version: building takes minutes{last}"


def fetch_wheels(lock, python) -> Path:
    """Return the folder with the wheels that a lock file lists; download the wheels if they aren't cached."""
    version = WHEELS_PYTHON.get(lock.stem, ANALYSIS_PYTHON)
    final = cache_entry("wheels", digest(lock, version)[:16])
    with made_once(final) as partial:
        if partial is not None:
            platforms = [f"--platform=manylinux_2_{minor}_x86_64" for minor in range(17, 42)]
            for number, requirements in enumerate(requirement_sets(lock.read_text())):
                listed = final.with_name(f"{final.name}-{number}.txt")
                listed.write_text(requirements)
                command = [
                    str(python),
                    "-m",
                    "pip",
                    "download",
                    "--quiet",
                    "--only-binary",
                    ":all:",
                    "--no-deps",
                    "--implementation",
                    "cp",
                    "--python-version",
                    version,
                    "--platform=manylinux2014_x86_64",
                    *platforms,
                    "--require-hashes",
                    "--requirement",
                    str(listed),
                    "--dest",
                    str(partial),
                ]
                log = final.with_name(final.name + ".log")
                title = f"Python packages of the {lock.stem} image"
                run_fetching(command, log, title, f"the Python packages of {lock}")
                listed.unlink()
    return final


def requirement_sets(lock) -> list[str]:
    """Split the text of a lock file so that no part lists two versions of a package, because pip rejects such a list.

    Returns
    -------
    list of str
        Parts of the text. The first part lists the first version of each package, the second part the second versions, and so on.
    """
    parts = []
    seen = Counter()
    for requirement in re.findall(r"^[^\s#].*(?:\n[ \t].*)*", lock, re.M):
        package = re.match(r"[\w.-]+", requirement)[0].lower()
        if seen[package] == len(parts):
            parts.append("")
        parts[seen[package]] += requirement + "\n"
        seen[package] += 1
    return parts


def build_image(definition, apptainer, environ, python) -> Path:
    """Build the image of a definition unless it is cached, and return its folder in the cache."""
    key, final = cached_image(definition)
    with made_once(final) as partial:
        if partial is None:
            return final
        arguments = build_arguments(definition, key, apptainer, environ, python)
        image = partial / "image.sif"
        # The image file is only an intermediate file, so fast compression is enough.
        command = [apptainer, "build", "--fakeroot", "--mksquashfs-args", "-comp lz4"]
        for name, value in arguments.items():
            command += ["--build-arg", f"{name}={value}"]
        command += [str(image), str(definition)]
        if os.geteuid() == 0:
            command = as_root(command, partial)
        work = partial / "work"
        work.mkdir()
        if definition == BASE:
            environ = with_trusting_debootstrap(environ, work)
        environ = {**environ, "APPTAINER_CACHEDIR": str(work), "APPTAINER_CONFIGDIR": str(work)}
        environ.setdefault("APPTAINER_TMPDIR", str(work))
        run_logged(command, final.with_name(final.name + ".log"), f"image {definition.stem}", env=environ)
        if definition != BASE:
            unpack(apptainer, image, partial / "root", environ)
            shutil.copy(partial / "root" / DESCRIPTION, partial / "image.json")
            image.unlink()
        (partial / "root-ids").unlink(missing_ok=True)
        remove_tree(work)
    return final


def build_arguments(definition, key, apptainer, environ, python) -> dict[str, str | Path]:
    """Return the values of a definition's build arguments, by name, without unused arguments, which Apptainer would reject."""
    values = {
        "definition_key": lambda: key,
        "base": lambda: build_image(BASE, apptainer, environ, python) / "image.sif",
        "kernel": lambda: build_image(KERNEL, apptainer, environ, python) / "root",
        "wheels": lambda: fetch_wheels(definition.with_suffix(".lock"), python),
        "base_packages": lambda: " ".join(locked_packages.names(locked_packages.BASE)),
    }
    for section in sections_of(definition):
        values[f"debian_{section}"] = lambda section=section: locked_packages.provide(section)
    return {name: value() for name, value in values.items() if takes(definition, name)}


def with_trusting_debootstrap(environ, folder) -> dict[str, str]:
    """Return environment variables that make Apptainer use a debootstrap that doesn't check signatures.

    debootstrap reads packages from a folder in the cache, and these packages have already been compared with the lock file.
    """
    debootstrap = shutil.which("debootstrap", path=environ["PATH"])
    program = folder / "bin/debootstrap"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{debootstrap}" --no-check-gpg "$@"\n')
    program.chmod(0o755)
    return {**environ, "PATH": f"{program.parent}:{environ['PATH']}"}


def unpack(apptainer, image, root, environ) -> None:
    """Unpack an image into a folder in which all files belong to this user.

    A container starts in 0.08 s from a folder, and in 0.14 s from an image file. A job that imports pandas and pingouin starts in 1.6 s
    from a folder, and in 4.5 s from an image file. Where users can't open /dev/fuse, Apptainer would unpack an image file at each start.
    """
    listing = run_quietly([apptainer, "sif", "list", image], env=environ)
    offset = re.search(r"\|(\d+)-\d+ +\|FS \(Squashfs", listing)[1]
    command = ["unsquashfs", "-quiet", "-no-progress", "-no-xattrs", "-offset", offset, "-dest", root, image]
    run_quietly(command, env=environ)


def link_image(definition, folder) -> None:
    """Make envs/<image>.sif and envs/<image>.json links to an image in a folder; remove the links if the folder contains no image."""
    for suffix, target in ((".sif", folder / "root"), (".json", folder / "image.json")):
        link = definition.with_suffix(suffix)
        if not target.exists():
            link.unlink(missing_ok=True)
        elif not link.is_symlink() or link.readlink() != target:
            link.unlink(missing_ok=True)
            link.symlink_to(target)


def check_sources() -> None:
    """Raise SetupError if there isn't enough space to build images, or if packages are missing and no package archive is known."""
    require_cache()
    locked_packages.check_archive()
    require_space(cache_dir(), SIZE_GB, "building the container images")


def as_root(command, workdir) -> list[str]:
    """Wrap a command so that root can use a range of ids in a user namespace without changes to the system's files.

    Apptainer reads /etc/subuid and /etc/subgid, and looks for newuidmap in fixed folders, beginning with /usr/local/sbin. The command runs
    in a separate mount namespace, in which Sawtooth's files are mounted at these paths.
    """
    ids = workdir / "root-ids"
    ids.write_text("root:{}:{}\n".format(*ROOT_ID_RANGE))
    script = (
        'mount --bind "$1" /etc/subuid && mount --bind "$1" /etc/subgid && shift && '
        '{ command -v newuidmap >/dev/null || mount --bind "$SAWTOOTH_ROOT_BIN" /usr/local/sbin; } && exec "$@"'
    )
    return ["unshare", "--mount", "sh", "-c", script, "sh", str(ids), *command]
