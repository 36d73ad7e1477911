"""The request made by `make series`: the series, its base kernel, and the CCAs that it touches."""

import hashlib
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path

from experiment.own_kernels import kernel_words
from kernel_tests.named_kernel import PATCHES, KernelNameError, NamedKernel, named_kernel
from sending.touched import Touched, touched_by
from session.candidate import kernels_ccas
from study_files.kernels import LARGEST_PATCH_BYTES, NEWEST, completed_kernel
from study_files.patch_mails import CHANGE, mbox_of, named_paths, patches_in
from study_files.strict_yaml import FileError
from study_files.study_schema import study_schema
from study_files.study_validation import nearest_choice
from testbed.machine.given_file import given_bytes
from wording.missing_files import absence
from wording.terminal_text import shown

#: Folder for results, below the current folder.
FOLDER = Path("results/series")
#: Maximum length of the part of a study's name that is derived from the name of the series.
LONGEST_NAME = 24
#: Example of a complete call.
EXAMPLE = "make series SERIES=my-series.mbox BASE=7.2"
#: Allowed forms of a series, as stated in messages.
ALLOWED = "an mbox or patches, as git format-patch and b4 write them, or a folder of patches"
#: Keys of a kernel's declaration in a study that define the base of the kernel.
OF_BASE = ("base", "tree", "revision", "config")


class SeriesError(FileError):
    """A series can't be tested; the message gives the reason in one sentence."""


@dataclass(frozen=True)
class Question:
    """A series, its base, and the CCAs to examine.

    Attributes
    ----------
    base : kernel_tests.named_kernel.NamedKernel
    patches : dict
        File name -> content in bytes, in the order of the series.
    touched : sending.touched.Touched
    given : tuple of str
        The paths that name the series.
    """

    base: NamedKernel
    patches: dict[str, bytes]
    touched: Touched
    given: tuple[str, ...]

    @property
    def sha256(self) -> str:
        """The SHA-256 of all patches together."""
        return hashlib.sha256(b"".join(self.patches.values())).hexdigest()

    @property
    def name(self) -> str:
        """The name of the results: the name of the series, and a digest of the series and the base."""
        content = json.dumps([self.sha256, self.base.name, self.base.kernel], sort_keys=True)
        stem = re.sub(r"[^a-z0-9]+", "-", Path(self.given[0]).stem.lower()).strip("-")[:LONGEST_NAME].strip("-")
        return f"{stem or 'series'}-{hashlib.sha256(content.encode()).hexdigest()[:8]}"

    @property
    def base_words(self) -> str:
        """The description of the base for public texts: a source tree and patches are named without their folders."""
        kernel = self.base.kernel
        if kernel is None:
            return self.base.words
        named = {"tree": last_part(kernel["tree"])} if "tree" in kernel else {}
        return kernel_words(
            kernel | named | {"patches": [{"path": last_part(one["path"])} for one in kernel["patches"]]}
        )

    @property
    def folder(self) -> Path:
        """The folder for the results."""
        return FOLDER / self.name

    @property
    def number(self) -> int:
        """The number of patches in the series."""
        return len(_texts(self.patches))

    @property
    def files(self) -> list[str]:
        """The paths of the patches in the results folder."""
        return [str(self.folder / "patches" / name) for name in self.patches]

    @property
    def files_of_base(self) -> dict[str, str]:
        """The paths of the base's patches in the results folder, and the paths of the original files."""
        given = [patch["path"] for patch in self.base.kernel["patches"]] if self.base.kernel else []
        folder = self.folder / "patches"
        return {str(folder / f"base-{place:03}-{_plain(Path(path).name)}"): path for place, path in enumerate(given)}

    def kernel(self) -> dict:
        """Return the definition of the patched kernel for a study; before a study uses it, `write_patches` must be called."""
        of_base = self.base.kernel or {"base": NEWEST}
        kernel = {key: of_base[key] for key in OF_BASE if of_base.get(key)}
        return kernel | {"patches": [*self.files_of_base, *self.files]}

    def patched(self) -> NamedKernel:
        """Return the patched kernel; raise SeriesError if no kernel can be built."""
        try:
            return NamedKernel(self.name, f"{self.base.words}, with the series", completed_kernel(self.kernel()))
        except (OSError, ValueError) as error:
            raise SeriesError("SERIES", [f"{error}."]) from None

    def write_patches(self) -> None:
        """Write the patches, including the base's, to the results folder, so that the results can be reproduced without the original files."""
        (self.folder / "patches").mkdir(parents=True, exist_ok=True)
        for file, path in self.files_of_base.items():
            Path(file).write_bytes(given_bytes(path, LARGEST_PATCH_BYTES))
        for file, content in zip(self.files, self.patches.values(), strict=True):
            Path(file).write_bytes(content)


def last_part(path) -> str:
    """Return the last part of a path; for a path such as "." or "linux/", this is the folder's name."""
    return os.path.basename(os.path.abspath(path))


def question_of(series, base, newest, ccas=()) -> Question:
    """Return the request that a call makes; if an argument is not allowed, raise SeriesError, which names the allowed values.

    Parameters
    ----------
    series : list of str
        Paths of an mbox, of patches, or of folders of patches.
    base : str
        Name of the kernel to which the series applies, in the form that `named_kernel` accepts.
    newest : str
        Linux version of the image's kernel.
    ccas : iterable of str
        CCAs to examine instead of the CCAs that the series touches.
    """
    if not series:
        raise SeriesError("SERIES", [f"it is missing; allowed: {ALLOWED}, as in {EXAMPLE}."])
    if not base:
        raise SeriesError("BASE", [f"it is missing; it names the kernel that the series applies to, as in {EXAMPLE}."])
    try:
        of_base = named_kernel(base, newest)
    except KernelNameError as error:
        why = [problem.removeprefix(f"KERNEL={base}: ") for problem in error.problems]
        raise SeriesError(f"BASE={shown(base, 200)}", why) from None
    if of_base.sources:
        raise SeriesError(f"BASE={shown(base, 200)}", ["it is a C file; allowed: a kernel without a C file."])  # fmt: skip
    tree = (of_base.kernel or {}).get("tree", ".")
    if not re.search(study_schema()["$defs"]["kernel"]["properties"]["tree"]["pattern"], tree):
        raise SeriesError(f"BASE={shown(base, 200)}", ["a study can't name this path; allowed in the path of a source tree: letters, digits and _./+- (you can use a symbolic link to the tree)."])  # fmt: skip
    patches = _patches(series)
    changed = named_paths(_texts(patches))
    return Question(of_base, patches, _examined(touched_by(changed), ccas), tuple(series))


def _examined(touched, ccas):
    allowed = kernels_ccas()
    for cca in ccas:
        if cca not in allowed:
            near = nearest_choice(cca, allowed)
            meant = f"did you mean '{near}'? Allowed" if near else "allowed"
            raise SeriesError(f"CCAS={shown(cca, 200)}", [f"it is not a CCA of the guest kernel; {meant}: {', '.join(allowed)}."])  # fmt: skip
    return touched.with_ccas(ccas) if ccas else touched


def _patches(series):
    """Return name -> content of the patches in a series; separate mails are joined into one mbox."""
    contents = {path: _content(path) for given in series for path in _files(given)}
    contents = {path: content for path, content in contents.items() if any(map(CHANGE.search, _read(path, content)))}
    if not contents:
        raise SeriesError(f"SERIES={shown(' '.join(series), 200)}", [f"it changes no file; allowed: {ALLOWED}."])
    mboxes = {path: mbox_of(content) for path, content in contents.items()}
    diffs = [path for path, mbox in mboxes.items() if mbox is None]
    if not diffs:
        whole = b"".join(mboxes.values())
        _read(" ".join(series), whole, is_whole=True)
        return {"series.mbox": whole}
    if len(diffs) < len(mboxes):
        raise SeriesError(f"SERIES={shown(diffs[0], 200)}", ["it is a plain diff, but other files of the series are mails; allowed: only mails, or only plain diffs."])  # fmt: skip
    return {f"{place:03}-{_plain(Path(path).name)}": contents[path] for place, path in enumerate(diffs)}


def _plain(name):
    name = re.sub(r"[^\w.-]+", "-", name, flags=re.A)
    return name if name.endswith(PATCHES) else f"{name}.patch"


def _texts(patches):
    return [text for content in patches.values() for text in patches_in(content) if CHANGE.search(text)]


def _files(given):
    path = Path(given)
    if not path.is_dir():
        return [given]
    files = [str(file) for file in sorted(path.iterdir()) if file.suffix in PATCHES and file.is_file()]
    if not files:
        raise SeriesError(f"SERIES={shown(given, 200)}", [f"the folder has no file that ends with {', '.join(PATCHES)}; allowed: {ALLOWED}."])  # fmt: skip
    return files


def _content(path):
    try:
        return given_bytes(path, LARGEST_PATCH_BYTES)
    except OSError as error:
        why = absence(path) or error.strerror
        raise SeriesError(f"SERIES={shown(path, 200)}", [f"{why}; allowed: {ALLOWED}; several paths are separated by spaces (only a single path may contain spaces)."]) from None  # fmt: skip


def _read(path, content, is_whole=False):
    try:
        return patches_in(content, is_whole)
    except ValueError as error:
        raise SeriesError(f"SERIES={shown(path, 200)}", [f"{error}."]) from None
