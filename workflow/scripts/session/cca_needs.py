"""Check, before any run, the parameters and patches that a study's custom CCAs need, and list the kernels to be built for them."""

import hashlib
import re
from pathlib import Path

from experiment.definitions import Definition
from experiment.definitions import kernel_id as kernel_id_of
from study_files.cca_definitions import LARGEST_BYTES, definitions_of_runs
from study_files.kernels import LARGEST_PATCH_BYTES
from testbed.machine.given_file import given_bytes

#: File in the testbed's unpacked image that lists the modules' parameters, one per line: module, parameter and type.
PARAMETERS = Path("envs/testbed.sif/usr/share/sawtooth/linux.parameters")
#: Pattern of a parameter's declaration. The name is the first argument of module_param(name, type, permission) and of similar macros,
#: such as module_param_named and module_param_unsafe.
IN_SOURCE = re.compile(r"\bmodule_param(?:_[a-z_]+)?\s*\(\s*(\w+)\s*,")


def parameter_problem(study: dict) -> str | None:
    """Return a sentence about a nonexistent parameter that a resolved study sets for a CCA, or None."""
    listed = PARAMETERS.read_text().splitlines() if PARAMETERS.exists() else []
    of_kernel = {}
    for line in listed:
        module, name, _ = line.split(" ", 2)
        of_kernel.setdefault(module, []).append(name)
    for name, one in study["cca_definitions"].items():
        definition = Definition(**one)
        if definition.source:
            try:
                content = given_bytes(definition.source, LARGEST_BYTES)
            except OSError:
                continue  # the kernel is already built, or the build reports the problem
            has = IN_SOURCE.findall(content.decode(errors="replace"))
        elif not listed or definition.kernel:
            continue  # the run reads the parameters back and reports the problem
        else:
            has = of_kernel.get(definition.module, [])
        if missing := [key for key in definition.parameters if key not in has]:
            where = definition.source or f"the kernel's {definition.module}"
            return (
                f"cca_definitions.{name}.parameters has {missing[0]}; {where} has "
                f"{'the parameters ' + ', '.join(has) if has else 'no parameters'}."
            )
    return None


def kernels_of(study: dict, linux_sha256: str) -> dict[str, tuple[dict | None, list[Definition]]]:
    """Return the kernels that a resolved study needs in addition to the image's kernel.

    The result maps a kernel's name to the kernel's description (None for the image's kernel with modules) and to the definitions that
    name a C file.
    """
    of_runs = (
        definitions_of_runs(study, scenario, cca)
        for scenario in study["scenarios"]
        if scenario["platform"] == "uml"
        for cca in study["ccas"]
    )
    kernels = {kernel_of(each, linux_sha256): (kernel_under(each), sources_of(each)) for each in of_runs}
    return {name: made_of for name, made_of in kernels.items() if name}


def kernel_of(definitions: dict, linux_sha256: str) -> str | None:
    """Return the `kernel_id` of the kernel needed by runs with the given definitions, or None for the image's kernel."""
    return kernel_id_of(linux_sha256, sources_of(definitions), kernel_under(definitions))


def kernel_under(definitions: dict) -> dict | None:
    """Return the description of the kernel that the definitions name (`Definition.kernel`), or None for the image's kernel."""
    return next((one["kernel"] for one in definitions.values() if one.get("kernel")), None)


def sources_of(definitions: dict) -> list[Definition]:
    """Return the given definitions that name a C file, one per module."""
    parts = (Definition(**one) for one in definitions.values())
    return list({one.module: one for one in parts if one.source}.values())


def patch_problem(study: dict, linux_sha256: str, folder: Path) -> str | None:
    """Return a sentence about a missing or changed patch that is still needed to build a resolved study's kernels, or None.

    ``folder`` is the study's results folder, which contains the built kernels.
    """
    for name, (kernel, _) in kernels_of(study, linux_sha256).items():
        if (folder / "kernels" / name / "linux").exists():
            continue
        for patch in (kernel or {}).get("patches", []):
            file = patch["path"]
            try:
                content = given_bytes(file, LARGEST_PATCH_BYTES)
            except FileNotFoundError:
                return f"kernels has the patch {file}, which doesn't exist: patches/README.md says where to get such patches."
            except OSError as error:
                return f"kernels has the patch {file}, which can't be read ({error.strerror})."
            if (sha256 := hashlib.sha256(content).hexdigest()) != patch["sha256"]:
                return (
                    f"kernels has the patch {file} with SHA-256 {patch['sha256']}, but the file has {sha256}: get the expected file, or change or "
                    "remove `sha256` in the study; runs with the patch are then repeated."
                )
    return None
