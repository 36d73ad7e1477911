"""Find pairs of CCAs in a study that differ only in their kernels: a patched kernel and its base, or two releases of Linux."""

import math
import re
from dataclasses import dataclass

from experiment.own_kernels import kernel_words

#: Name of the image's own kernel.
IMAGE = "the image's Linux"


@dataclass(frozen=True)
class KernelPair:
    """Two CCAs in a study that are the same CCA on two kernels.

    Attributes
    ----------
    cca, base : str
        Names of the CCA on the changed (or newer) kernel, and on the unchanged (or older) kernel.
    kernel, other : str
        Names of the kernels on which ``cca`` and ``base`` run.
    """

    cca: str
    base: str
    kernel: str
    other: str


def kernel_pairs(ccas, definitions, image_version) -> list[KernelPair]:
    """Return the pairs of CCAs in a study that differ only in the kernel.

    A kernel counts as unchanged if neither patches nor options are declared for it. A CCA on a changed kernel is paired with the same CCA
    on the unchanged kernel built from the same source or, if the study has no such kernel, on the newest unchanged kernel. A CCA on an
    unchanged kernel is paired with the same CCA on the next older unchanged kernel.

    Parameters
    ----------
    ccas : sequence of str
        CCAs of the study, without mixes.
    definitions : dict
        ``cca_definitions`` of a resolved study.
    image_version : str
        Version of the image's Linux, such as 7.2.13-1.
    """
    alike = {}
    for cca in ccas:
        definition = definitions.get(cca, {"base": cca, "parameters": {}})
        of = {key: value for key, value in definition.items() if key != "kernel"}
        alike.setdefault(str(sorted(of.items())), []).append((cca, definition.get("kernel")))
    return [pair for group in alike.values() for pair in _pairs(group, image_version)]


def _pairs(group, image_version):
    plain = sorted((one for one in group if not _is_changed(one[1])), key=lambda one: _age(one[1], image_version))
    pairs = [(newer, older) for older, newer in zip(plain, plain[1:], strict=False)]
    for one in group:
        if _is_changed(one[1]):
            bases = [other for other in plain if _source(other[1]) == _source(one[1])] or plain[-1:]
            pairs += [(one, base) for base in bases[:1]]
    return [KernelPair(new[0], old[0], _words(new[1]), _words(old[1])) for new, old in pairs]


def _is_changed(kernel):
    return kernel is not None and bool(kernel["patches"] or kernel["config"])


def _source(kernel):
    """Return the digest of a kernel's source, or None for the image's kernel."""
    return (kernel or {}).get("sha256")


def _age(kernel, image_version):
    """Return a sort key for kernel versions: releases follow their release candidates, and other trees follow the image's version."""
    words = image_version if kernel is None else kernel["version"]
    version = re.match(r"(\d+)\.(\d+)(?:\.(\d+))?(?:-rc(\d+))?", words)
    release, candidate = [int(number or 0) for number in version.groups()[:3]], version[4]
    return (*release, int(candidate) if candidate else math.inf, kernel is not None)


def _words(kernel):
    return IMAGE if kernel is None else kernel_words(kernel)
