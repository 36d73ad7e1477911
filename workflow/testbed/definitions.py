"""CCAs that a study defines: one of the kernel's with other parameters, or a C file of one's own built into it.

The parameters are the kernel's, one value for all sockets. They are set where it boots: what a module computes from them
as it registers (CUBIC's `beta_scale` from `beta`) would keep its old value if they were written later, into sysfs.
"""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from .check import Check
from .environment import IMAGE_DESCRIPTION
from .errors import SettingError
from .own_kernels import identity

MODULES = Path("/sys/module")


@dataclass(frozen=True)
class Definition:
    """A CCA as a study defines it (`cca_definitions` of study.schema.yaml): by ``base``, or by a C file's three; ``kernel`` as
    `study_files.kernels.completed_kernels` has it, None for the image's.
    """

    parameters: dict[str, int | bool]
    base: str | None = None
    source: str | None = None
    sha256: str | None = None
    cca: str | None = None
    kernel: dict | None = None

    @property
    def kernel_cca(self) -> str:
        """Its name in the kernel."""
        return self.base or self.cca

    @property
    def module(self) -> str:
        """What its parameters belong to."""
        return Path(self.source).stem if self.source else f"tcp_{self.base}"


def kernel_id(linux_sha256, sources, kernel=None) -> str | None:
    """Return what names a kernel of a study's own, None for the image's.

    Parameters
    ----------
    linux_sha256 : str
        Of the image's kernel, which follows from Linux's source, patches, configuration and compiler.
    sources : iterable of Definition
        The definitions with a C file.
    kernel : dict, optional
        What it is instead of the image's (`Definition.kernel`).

    Returns
    -------
    str or None
        16 hexadecimal digits.
    """
    lines = sorted({f"{one.module} {one.sha256}\n" for one in sources})
    lines += [identity(kernel) + "\n"] if kernel else []
    return hashlib.sha256("".join([linux_sha256 + "\n", *lines]).encode()).hexdigest()[:16] if lines else None


def kernel_of(specification) -> str | None:
    """Return the `kernel_id` of a run's kernel in this image."""
    if not specification.has_own_kernel:
        return None
    image = json.loads(IMAGE_DESCRIPTION.read_text())
    return kernel_id(image["linux_sha256"], specification.sources, specification.kernel)


def boot_arguments(specification) -> list[str]:
    """Return what sets the parameters on the guest kernel's command line."""
    return [
        f"{one.module}.{name}={int(value)}"
        for one in specification.definitions.values()
        for name, value in sorted(one.parameters.items())
    ]


def read_back(specification) -> dict[str, dict[str, str]]:
    """Return all parameters of the modules that a run's definitions are about: module -> parameter -> value, as the kernel says.

    Raises
    ------
    SettingError
        If a parameter is not among them.
    """
    seen = {}
    for one in specification.definitions.values():
        folder = MODULES / one.module / "parameters"
        seen[one.module] = {
            path.name: path.read_text().strip() for path in (sorted(folder.iterdir()) if folder.exists() else ())
        }
        if missing := [name for name in one.parameters if name not in seen[one.module]]:
            raise SettingError(
                f"{one.module} has no parameter {missing[0]} that the kernel shows; "
                f"it shows {', '.join(seen[one.module]) or 'none'}"
            )
    return seen


def check_parameters(specification, document) -> Check:
    """The kernel's CCAs had the parameters that the study defines."""
    read_back = document["network"]["read_back"]["cca_parameters"]
    wanted = [
        (one.module, name, value)
        for one in specification.definitions.values()
        for name, value in one.parameters.items()
    ]
    seen = [(module, name, read_back[module][name]) for module, name, _ in wanted]
    ok = all(_same(text, value) for (_, _, text), (_, _, value) in zip(seen, wanted, strict=True))
    return Check("parameters", ok, _words(wanted), _words(seen))


def _same(text, value):
    """Tell whether the kernel's text of a parameter means a value; of a switch it is Y or N."""
    return text in (("N", "0"), ("Y", "1"))[value] if value in (0, 1) else text == str(value)


def _words(parameters):
    return (
        ", ".join(f"{module}.{name} {int(v) if isinstance(v, bool) else v}" for module, name, v in parameters) or "none"
    )


def check_kernel(specification, document) -> Check:
    """The kernel that ran is the study's own, by the number of its build."""
    wanted, build = kernel_of(specification), document["environment"]["kernel_build"]
    return Check("kernel", build.startswith(f"#{wanted} "), f"build {wanted}", build)


def checks_of(specification) -> tuple:
    """Return the checks that a run has because of what its study defines."""
    if specification.platform != "uml":
        return ()
    parameters = any(one.parameters for one in specification.definitions.values())
    return (*((check_parameters,) if parameters else ()), *((check_kernel,) if specification.has_own_kernel else ()))
