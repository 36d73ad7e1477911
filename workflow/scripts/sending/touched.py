"""The CCAs that a series touches, determined from the files that it changes."""

import re
from dataclasses import dataclass, replace

from session.candidate import kernels_ccas
from study_files.patch_mails import NO_PART
from wording.number_format import count
from wording.sentence_words import listed
from wording.terminal_text import shown

#: CCAs to examine if a series may affect all CCAs. They are available on most hosts, and Linux lets every user choose them.
DEFAULT = ("cubic", "reno", "bbr")
#: Form of the path of a source file that belongs to one CCA.
OF_CCA = re.compile(r"net/ipv4/tcp_([a-z0-9_]+)\.[ch]")
#: Source files of Linux that have the form `OF_CCA` but don't belong to a CCA.
NO_CCA = (
    "ao", "bpf", "cong", "diag", "fastopen", "input", "ipv4", "metrics", "minisocks", "offload", "output", "plb", "rate", "recovery",
    "sigpool", "timer", "ulp",
)  # fmt: skip
#: Drivers that no guest kernel contains.
NO_DRIVER = re.compile(r"drivers/(?!(?:base|char|input|net|tty)/)[^/]+/|drivers/net/(?!bonding/)[^/]+/")
#: Part of the name of a source file, net/ipv4/tcp_<part>.c -> CCAs, apart from one of this name, that call its functions.
CALLERS = {"vegas": ("yeah",), "plb": ("dctcp",)}
#: Maximum number of files that a sentence names.
MOST_NAMED = 3


@dataclass(frozen=True)
class Touched:
    """The files that a series changes, and the CCAs to examine for the series.

    Attributes
    ----------
    ccas : tuple of str
        CCAs to examine.
    why : str
        A sentence that states why these CCAs were chosen.
    paths : tuple of str
        All files that the series changes.
    of_kernel : tuple of str
        Files in ``paths`` that are part of a guest kernel.
    """

    ccas: tuple[str, ...]
    why: str
    paths: tuple[str, ...]
    of_kernel: tuple[str, ...]

    def with_ccas(self, ccas) -> "Touched":
        """Return the same files with a different choice of CCAs to examine."""
        return replace(
            self,
            ccas=tuple(dict.fromkeys(ccas)),
            why=f"These CCAs were named in the call (CCAS).{_unknown_words(self.of_kernel)}",
        )


def touched_by(paths) -> Touched:
    """Return the CCAs to examine for a series that changes the given files.

    The series touches the CCAs to which changed kernel files belong (net/ipv4/tcp_<cca>.c, .h), and the CCAs that call their functions. A
    change to any other kernel file may affect every CCA; the CCAs in `DEFAULT` are then examined as well. Files that may belong to a CCA
    that guest kernels don't have are named in ``why``.

    Parameters
    ----------
    paths : iterable of str
        Paths of the changed files, relative to the source tree.
    """
    paths = tuple(paths)
    of_kernel = tuple(path for path in paths if not (NO_PART.match(path) or NO_DRIVER.match(path)))
    known = kernels_ccas()
    found = {path: match[1] for path in of_kernel if (match := OF_CCA.fullmatch(path)) and match[1] in known}
    others = [path for path in of_kernel if path not in found]
    if not of_kernel:
        why = f"The series changes no file that a guest kernel is built from ({_named(paths)})."
        return Touched((), why, paths, of_kernel)
    own = list(dict.fromkeys(found.values()))
    parts = [match[1] for path in others if (match := OF_CCA.fullmatch(path))]
    callers = [caller for name in (*own, *parts) for caller in CALLERS.get(name, ()) if caller not in own]
    ccas = tuple(dict.fromkeys((*own, *callers, *(DEFAULT if others else ()))))
    if others:
        why = f"The series changes {_named(others)}, which may affect every CCA; of all CCAs, only {listed(ccas)} are examined."
    else:
        why = f"Of the kernel's code, the series changes only {_named(of_kernel)}."
    if callers:
        why += f" {listed(callers)} {'calls' if len(callers) == 1 else 'call'} functions in this code."
    return Touched(ccas, why + (_unknown_words(of_kernel) if others else ""), paths, of_kernel)


def _unknown_words(paths):
    """Return a sentence about files that may belong to CCAs that guest kernels don't have, or "" if there are none."""
    known = {*kernels_ccas(), *NO_CCA}
    unknown = [path for path in paths if (match := OF_CCA.fullmatch(path)) and match[1] not in known]
    if not unknown:
        return ""
    return f" A CCA in {_named(unknown)} is not run, because guest kernels don't have it."


def _named(paths):
    named = [shown(path, 100) for path in paths[:MOST_NAMED]]
    if len(paths) <= MOST_NAMED:
        return listed(named)
    return f"{', '.join(named)} and {count(len(paths) - MOST_NAMED, 'more file')}"
