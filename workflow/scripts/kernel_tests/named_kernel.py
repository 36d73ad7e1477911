"""The kernel named by `make selftests KERNEL=...`: the image's kernel, another Linux version from Debian, or the user's own kernel."""

import hashlib
import re
from dataclasses import dataclass, field
from pathlib import Path

from experiment.definitions import Definition, kernel_id
from experiment.own_kernels import kernel_words
from session.candidate import CandidateError, candidate_of
from study_files.cca_definitions import LARGEST_BYTES
from study_files.kernels import NEWEST, bases, completed_kernel
from study_files.strict_yaml import FileError, read_mapping
from study_files.study_schema import dereferenced, study_schema
from study_files.study_validation import problems_of_form
from study_files.tree_archives import is_archive
from testbed.machine.given_file import given_bytes
from wording.missing_files import absence

#: Extensions of files with one or more patches (a series is in mail format); `b4 am` writes .mbx, and `b4 send -o` writes .eml.
PATCHES = (".patch", ".diff", ".mbox", ".mbx", ".eml")
#: Extensions of files with a kernel's keys.
YAML = (".yaml", ".yml")


class KernelNameError(FileError):
    """There is no kernel with the given name."""


@dataclass(frozen=True)
class NamedKernel:
    """A kernel that was named on the command line.

    Attributes
    ----------
    name : str
        Name of the results folder.
    words : str
        Description for messages.
    kernel : dict or None
        Definition of the kernel (`study_files.kernels.completed_kernel`); None for the image's kernel.
    sources : list of experiment.definitions.Definition
        C files that are built into the kernel.
    """

    name: str
    words: str
    kernel: dict | None = None
    sources: list[Definition] = field(default_factory=list)

    @property
    def is_own(self) -> bool:
        """Whether the kernel must be built."""
        return self.kernel is not None or bool(self.sources)

    def identity(self, linux_sha256) -> str | None:
        """Return the identifier of the kernel's content, or None for the image's kernel, whose digest is ``linux_sha256``."""
        return kernel_id(linux_sha256, self.sources, self.kernel)


def named_kernel(given, newest) -> NamedKernel:
    """Return the kernel that a user names; ``newest`` is the version of the image's kernel.

    Raises
    ------
    KernelNameError
        There is no such kernel; the message lists the allowed names.
    """
    path, release = Path(given), ".".join(re.findall(r"\d+", newest)[:2])
    try:
        if given in ("", NEWEST, release):
            return NamedKernel(newest, f"Linux {newest}, the image's")
        if given in bases():
            return _of_kernel({"base": given}, bases()[given]["version"])
        if path.suffix == ".c":
            return _of_source(path, newest)
        if path.suffix in YAML:
            return _of_kernel(_read(path), path.stem)
        if path.suffix in PATCHES:
            return _of_kernel({"base": NEWEST, "patches": [given]}, f"{newest}-{path.stem}")
        if path.is_dir() or is_archive(given):
            return _of_kernel({"tree": given}, path.resolve().name)
        # Both the path and the revision may contain an @, as in HEAD@{1}.
        for place in (match.start() for match in reversed([*re.finditer("@", given)])):
            tree, revision = given[:place], given[place + 1 :]
            if tree and Path(tree).is_dir():
                return _of_kernel({"tree": tree, "revision": revision}, f"{Path(tree).resolve().name}-{revision}")
    except OSError as error:
        raise KernelNameError(f"KERNEL={given}", [f"{error.filename}: {error.strerror}."]) from None
    except ValueError as error:
        raise KernelNameError(f"KERNEL={given}", [f"{error}."]) from None
    known = f"{', '.join([*bases(), release])}, or the path of a patch ({', '.join(PATCHES)}), a C file, a YAML file with a kernel's keys, a source tree, an archive of a source tree, or a revision of a Git repository (../linux@v7.2)"
    why = absence(path, "kernel") if "/" in given or path.exists() else "there is no such kernel"
    raise KernelNameError(f"KERNEL={given}", [f"{why or 'it is none of these'}; allowed: {known}."])


def _of_kernel(written, name):
    kernel = completed_kernel(written)
    if kernel is None:
        raise ValueError(f"{name} is the image's kernel; allowed: {NEWEST}, the name of this kernel")
    return NamedKernel(_folder(name), kernel_words(kernel), kernel)


def _of_source(path, newest):
    try:
        candidate = candidate_of(f"./{path}" if "/" not in str(path) else str(path))
    except CandidateError as error:
        raise KernelNameError(f"KERNEL={path}", [str(error).partition(": ")[2]]) from None
    sha256 = hashlib.sha256(given_bytes(path, LARGEST_BYTES)).hexdigest()
    source = Definition({}, source=str(path), sha256=sha256, cca=candidate.name)
    return NamedKernel(_folder(f"{newest}-{path.stem}"), f"Linux {newest} with {path}", sources=[source])


def _read(path):
    form = dereferenced(study_schema()["$defs"]["kernel"])
    form = form | {"properties": {key: one for key, one in form["properties"].items() if key != "ccas"}}
    content = read_mapping(path, "a kernel", form["properties"], KernelNameError)
    if problems := problems_of_form(content, form | {"$defs": study_schema()["$defs"]}):
        raise KernelNameError(path, [problem.strip() for problem in problems])
    return content


def _folder(name):
    """Turn a kernel's name into a valid folder name."""
    return re.sub(r"[^\w.-]+", "-", name, flags=re.A).strip(".-") or "kernel"
