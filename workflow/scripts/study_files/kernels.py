"""Complete the definitions of a study's own guest kernels, and describe problems in sentences that start with the affected key.

Standard library only: set-up and the scripts in the analysis image need it too.
"""

import hashlib
import json
import re
from pathlib import Path

from study_files.kernel_trees import described_tree
from study_files.named_programs import names_programs_unread
from study_files.patch_mails import CHANGE, patches_in
from testbed.machine.given_file import given_bytes
from wording.missing_files import absence

#: Keys of a kernel, in the order in which a resolved study lists them.
KEYS = ("base", "tree", "revision", "version", "sha256", "recipe", "patches", "config")
#: Name of the base that stands for the image's Linux.
NEWEST = "newest"
LOCK = Path("envs/debian.lock")
#: Folder that contains `LOCK` and the recipe; a workflow that uses this one as a module runs in a different folder.
CHECKOUT = Path(__file__).parents[3]
#: Inputs to the build of a guest kernel besides the source tree.
OF_BASE = (
    "patch_base",
    "build_base",
    "trim_base",
    "make_kernel",
    "kernel.config",
    "patches",
    "before-6.16",
    "before-6.6",
)
RECIPE = (*OF_BASE, "patch_own", "build_own")
#: Options that a study can't change, because guests depend on the values in envs/guest/kernel.config.
FIXED_OPTIONS = ("64BIT", "MMU", "UML", "UML_TIME_TRAVEL_SUPPORT", "HIGH_RES_TIMERS", "SMP", "MODULES", "IKCONFIG", "IKCONFIG_PROC", "HW_RANDOM", "UML_RANDOM")  # fmt: skip
#: Range of the tick rate (include/linux/jiffies.h).
HZ_RANGE = range(12, 12288)
#: Maximum size of a patch in bytes; the BBRv3 patch is 140,000 bytes long.
LARGEST_PATCH_BYTES = 2**24
#: ELF note that contains the build ID: name size 4 bytes, descriptor size 20 bytes, type 3.
BUILD_ID = re.compile(rb"(\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0).{20}", re.S)


def bases() -> dict[str, dict[str, str]]:
    """Return ``version`` and ``sha256`` of each Debian kernel source, by the name that studies use in the key ``base``."""
    sources = re.findall(r"^\[linux-(.+)\]\n\S+ (\S+) \S+ \d+ (\w{64}) ", (CHECKOUT / LOCK).read_text(), re.M)
    return {base: {"version": version, "sha256": sha256} for base, version, sha256 in sources}


def image_version() -> str:
    """Return the version of the Debian package with the source of the image's Linux, such as 7.2.13-1."""
    return re.search(r"^\[linux\]\n\S+ (\S+) ", (CHECKOUT / LOCK).read_text(), re.M)[1]


def recipe_digest(parts=RECIPE) -> str:
    """Return the SHA-256 of the names and contents of files in the recipe (by default, all files in `RECIPE`)."""
    folder, total = CHECKOUT / "envs/guest", hashlib.sha256()
    for part in (folder / name for name in parts):
        for file in sorted(part.iterdir()) if part.is_dir() else [part]:
            content = file.read_bytes()
            total.update(f"{file.relative_to(folder)}\0{len(content)}\0".encode() + content)
    return total.hexdigest()


def without_number(linux: bytes, name: str) -> bytes:
    """Return the content of a built kernel (``linux``) with its build number (``name``) and build ID replaced by zeros.

    The build ID is replaced because it depends on the build number.
    """
    return BUILD_ID.sub(lambda note: note[1] + bytes(20), linux.replace(name.encode(), b"0" * len(name)))


def completed_kernels(kernels) -> tuple[dict[str, dict | None], list[str]]:
    """Fill in missing keys of kernels from the files that they name, so that each kernel is identified by its content.

    Parameters
    ----------
    kernels : dict
        Kernels by name, already validated by the schema.

    Returns
    -------
    complete : dict
        Completed kernels by name, with the keys in `KEYS`. The image's own kernel is None, and so are kernels with problems. Kernels based
        on the image's Linux lack the keys ``version`` and ``sha256``.
    problems : list of str
        Sentences that start with the affected key.
    """
    complete, problems = {}, []
    for name, one in kernels.items():
        complete[name] = None
        try:
            complete[name] = completed_kernel(one)
        except OSError as error:
            problems.append(f"kernels.{name}: {error.filename}: {error.strerror}.")
        except ValueError as error:
            problems.append(f"kernels.{name}.{error}.")
    return complete, problems


def completed_kernel(one) -> dict | None:
    """Return a kernel completed as in `completed_kernels`; raise ValueError or OSError with the problem.

    None if the result is the image's kernel: base `newest`, without patches and options.
    """
    if fixed := [option for option in one.get("config", {}) if option in FIXED_OPTIONS]:
        raise ValueError(f"config sets {fixed[0]}, whose value in envs/guest/kernel.config every guest kernel needs")
    if "m" in one.get("config", {}).values():
        option = next(option for option, value in one["config"].items() if value == "m")
        raise ValueError(f"config.{option} is m; allowed: y and n, because guest kernels have no modules")
    hz = one.get("config", {}).get("HZ", HZ_RANGE[0])
    if type(hz) is not int or hz not in HZ_RANGE:
        raise ValueError(
            f"config.HZ is {json.dumps(hz)}; allowed: a whole number from {HZ_RANGE[0]} to {HZ_RANGE[-1]:,}"
        )
    patches = [_patch(one, place) for place in range(len(one.get("patches", [])))]
    kernel = {
        "recipe": one.get("recipe") or recipe_digest(),
        "patches": patches,
        "config": dict(sorted(one.get("config", {}).items())),
    }
    if "tree" in one:
        kernel["tree"] = one["tree"]
        if "revision" in one:
            kernel["revision"] = one["revision"]
        if not ("version" in one and "sha256" in one):
            kernel |= described_tree(one["tree"], one.get("revision"))
    else:
        kernel["base"] = one["base"]
        if one["base"] == NEWEST:
            if not patches and not kernel["config"]:
                return None
        elif not ("version" in one and "sha256" in one):
            if one["base"] not in (known := bases()):
                raise ValueError(
                    f"base is {one['base']}; allowed: {', '.join(known)} (Debian's sources, {LOCK}) and {NEWEST} (the image's)"
                )
            kernel |= {key: known[one["base"]][key] for key in ("version", "sha256")}
    kernel |= {key: one[key] for key in ("version", "sha256") if key in one}
    return {key: kernel[key] for key in KEYS if key in kernel}


def _patch(one, place):
    patch = one["patches"][place]
    patch = {"path": patch} if isinstance(patch, str) else patch
    if "sha256" in patch:
        return {"path": patch["path"], "sha256": patch["sha256"]}
    try:
        content = given_bytes(patch["path"], LARGEST_PATCH_BYTES)
    except OSError as error:
        where = ": patches/README.md says where to get such patches" if isinstance(error, FileNotFoundError) else ""
        what = absence(patch["path"]) or error.strerror
        raise ValueError(f"patches[{place}] is {patch['path']}; {what}{where}") from None
    try:
        changes = patches_in(content)
    except ValueError as error:
        raise ValueError(f"patches[{place}] is {patch['path']}; {error}") from None
    if not any(map(CHANGE.search, changes)):
        raise ValueError(
            f"patches[{place}] is {patch['path']}; it changes no file (a patch is a unified diff, with lines --- and +++ or diff --git)"
        )
    return {"path": patch["path"], "sha256": hashlib.sha256(content).hexdigest()}


def with_kernels(study) -> tuple[dict[str, dict], list[str]]:
    """Replace kernel names in a study's CCA definitions and scenarios with the definitions of these kernels.

    The scenarios are changed in place. If the kernel is the image's own, the key ``kernel`` is removed.

    Returns
    -------
    definitions : dict
        The study's CCA definitions by name, including definitions from the ``ccas`` of its kernels.
    problems : list of str
        Sentences that start with the affected key.
    """
    definitions = {name: dict(one) for name, one in study["cca_definitions"].items()}
    written = {
        name: {key: value for key, value in one.items() if key != "ccas"} for name, one in study["kernels"].items()
    }
    problems = []
    for name, one in study["kernels"].items():
        for cca, base in one.get("ccas", {}).items():
            if cca in definitions:
                problems.append(
                    f"kernels.{name}.ccas defines {cca}, which is also defined elsewhere; allowed: a name that is not defined elsewhere."
                )
            definitions[cca] = {"base": base, "kernel": name}
    users = {f"cca_definitions.{cca}": one for cca, one in definitions.items()}
    users |= {f"scenarios[{scenario['id']}]": scenario for scenario in study["scenarios"]}
    users = {where: one for where, one in users.items() if one.get("kernel") or one.pop("kernel", None)}
    for where, one in users.items():
        kernel = one["kernel"]
        if isinstance(kernel, dict):
            written[f"({where})"], one["kernel"] = kernel, f"({where})"
        elif kernel not in study["kernels"]:
            known = f"allowed: {', '.join(study['kernels'])}" if study["kernels"] else "the study has no kernels"
            problems.append(f"{where}.kernel is {kernel}; {known}.")
            del one["kernel"]
    used = {one["kernel"] for one in users.values() if "kernel" in one}
    problems += [
        f"kernels.{name} is not used by any CCA or scenario; use it in its own key ccas, or as the key kernel of cca_definitions or scenarios."
        for name in study["kernels"]
        if name not in used
    ]
    kernels, more = completed_kernels({name: one for name, one in written.items() if name in used})
    for one in users.values():
        kernel = kernels.get(one.pop("kernel", None))
        if kernel is not None:
            one["kernel"] = kernel
    return definitions, [*problems, *more]


def names_files_unread(study) -> bool:
    """Return whether resolving a possibly invalid study would read kernel or program files, because their digests are missing."""
    if not isinstance(study, dict):
        return False
    definitions, scenarios = study.get("cca_definitions"), study.get("scenarios")
    users = [
        *(definitions.values() if isinstance(definitions, dict) else ()),
        *(scenarios if isinstance(scenarios, list) else ()),
        study.get("defaults"),
    ]
    kernels = [one["kernel"] for one in users if isinstance(one, dict) and "kernel" in one]
    return bool(study.get("kernels")) or not all(map(_is_whole, kernels)) or names_programs_unread(study)


def _is_whole(kernel):
    if not isinstance(kernel, dict) or not isinstance(kernel.get("patches"), list) or "recipe" not in kernel:
        return False
    based = kernel.get("base") == NEWEST or ("version" in kernel and "sha256" in kernel)
    return based and all(isinstance(patch, dict) and "sha256" in patch for patch in kernel["patches"])
