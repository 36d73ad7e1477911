"""CCAs that a study defines: a kernel's CCA with different parameters, or a custom C file built into the kernel.

A parameter's value applies to all sockets of a kernel. The parameters are set at boot, because a later write to sysfs would not update
the values that a module derives from them at registration (such as CUBIC's `beta_scale`, derived from `beta`).
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from experiment.own_kernels import identity


@dataclass(frozen=True)
class Definition:
    """A CCA that a study defines (`cca_definitions` of study.schema.yaml): a variant of the CCA ``base``, or a C file.

    The fields ``source``, ``sha256`` and ``cca`` are set only for a C file. ``kernel`` comes from `study_files.kernels.completed_kernels`;
    it is None for the image's kernel.
    """

    parameters: dict[str, int | bool]
    base: str | None = None
    source: str | None = None
    sha256: str | None = None
    cca: str | None = None
    kernel: dict | None = None

    @property
    def kernel_cca(self) -> str:
        """The CCA's name in the kernel."""
        return self.base or self.cca

    @property
    def module(self) -> str:
        """Name of the kernel module to which the parameters belong."""
        return Path(self.source).stem if self.source else f"tcp_{self.base}"


def kernel_id(linux_sha256, sources, kernel=None) -> str | None:
    """Return the identifier of a study's custom kernel (16 hexadecimal digits), or None for the image's kernel.

    Parameters
    ----------
    linux_sha256 : str
        SHA-256 that identifies the image's kernel. It depends on Linux's source, patches, configuration and compiler.
    sources : iterable of Definition
        CCA definitions with a C file.
    kernel : dict, optional
        Definition of a kernel that replaces the image's kernel (`Definition.kernel`).
    """
    lines = sorted({f"{one.module} {one.sha256}\n" for one in sources})
    lines += [identity(kernel) + "\n"] if kernel else []
    return hashlib.sha256("".join([linux_sha256 + "\n", *lines]).encode()).hexdigest()[:16] if lines else None


def boot_arguments(specification) -> list[str]:
    """Return the guest kernel's command-line arguments that set the CCAs' parameters."""
    return [
        f"{one.module}.{name}={int(value)}"
        for one in specification.definitions.values()
        for name, value in sorted(one.parameters.items())
    ]
