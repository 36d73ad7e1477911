"""Verify a results folder: rerun some of its runs, recreate everything that is derived from the runs, and compare byte for byte.

``python -m publishing.verify_results RESULTS [--count N] [--seed S] [--runs NAME ...]
[--cores all|N] [--build] [--no-reruns] [--no-derived]``; `make verify` calls it. RESULTS is ``results/<study>``, made
on this machine or received from someone else, or an archive from `make publish`. The
results themselves are not changed.

The exit status is 0 if no problem was found, 1 if a problem was found (for example, a file that was changed, is missing or doesn't belong
to the results), 2 if the call is invalid, 3 if no problem was found but some runs can't be repeated because they need another image or
testbed, and 130 after an interrupt.
"""

import argparse
import os
import signal
import sys
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import NoReturn

from publishing.result_checks import manifest, reruns, results_again, run_rows
from publishing.result_checks.account import Account
from publishing.result_checks.received_documents import ReceivedDocument, check_document
from publishing.result_checks.received_errors import ReceivedError, shown
from publishing.result_checks.received_folder import documents as find_documents
from publishing.result_checks.received_folder import opened, temporary_folder
from publishing.result_checks.received_study import ReceivedStudy
from publishing.result_checks.repeated_runs import check_needs, remedy, repeat_runs, say_skipped
from publishing.result_checks.testbeds_here import ROOT, image_here, testbeds_here
from testbed.machine.messages import tell
from topics.repetitions.tables import REPETITIONS

WELL, WRONG, BAD_CALL, NOT_HERE, INTERRUPTED = 0, 1, 2, 3, 130
#: Time that it takes to read a document and validate it against the schema, in core-seconds.
READ_S = 0.015
#: Default size of the random sample of runs.
DRAWN = 10


def _verify(folder, options, account) -> int:
    """Check a results folder and rerun some of its runs; return the exit status."""
    names, others = find_documents(folder)
    options.count = options.count or min(DRAWN, len(names))
    _check_call(options, names)
    platforms = testbeds_here()
    here = list(platforms.values())
    study = ReceivedStudy(folder)
    reading_s = READ_S * len(names) / options.cores
    time_text = f"; reading them takes {reruns.about(reading_s)}" if reading_s > 10 else ""
    account.step("results", f"{len(names)} run documents in {shown(options.results)}{time_text}")
    _check_files(folder, not os.path.isdir(options.results), account)
    documents = _read_documents(folder, names, study, here, options.cores)
    _check_rows(folder, documents, account)
    _check_documents(documents, others, here, study, account)
    here_too = check_needs(documents, platforms, study, account)
    measured = say_skipped(here_too, options.build, account)
    options.count = min(options.count, len(names) - len(measured))
    left_out, repeated = 0, 0
    if options.reruns:
        with temporary_folder() as place:
            programs = {image: program for image, (_, program) in platforms.items()}
            left_out, repeated = repeat_runs(folder, here_too, measured, options, account, place, programs)
    else:
        account.leave_out("reruns", "--no-reruns")
    if options.derived:
        _check_derived(folder, documents, study, options.cores, account)
    else:
        account.leave_out("derived", "--no-derived")
    return _verdict(account, left_out, repeated, len(names))


def _check_call(options, names) -> None:
    """Raise ReceivedError if there are no runs, if a requested run is missing, or if more runs are requested than exist."""
    results = shown(options.results)
    if not names:
        raise ReceivedError(f"{results} has no run document below `runs`.")
    unknown = next((name for name in options.runs or () if name not in set(names)), None)
    if unknown is not None:
        nearest = shown(", ".join(get_close_matches(unknown, names, n=3, cutoff=0) or names[:3]), 400)
        raise ReceivedError(f"{results} has no run {shown(unknown)}; the nearest names are {nearest}.")
    if options.reruns and not options.runs and options.count > len(names):
        raise ReceivedError(f"N is {options.count}; {results} has {len(names)} runs; allowed: 1 to {len(names)}.")


def _check_files(folder, packed, account) -> None:
    """Compare all files with the manifest, if there is one; ``packed`` is whether they come from an archive."""
    if not (folder / manifest.MANIFEST).exists():
        account.leave_out("files", f"there is no {manifest.MANIFEST}, so the files that belong here aren't known")
        return
    try:
        listed = manifest.read_manifest(folder)
        problems = manifest.problems(folder, listed, packed=packed)
        sentences = (each.sentence if each.kind == "refused" else f"{each.kind}: {each.path}" for each in problems)
        account.check("files", f"{len(listed)} files match {manifest.MANIFEST}, byte for byte", sentences)
    except manifest.ManifestError as error:
        account.check("files", "", [str(error)])


def _read_documents(folder, names, study, here, cores) -> list[ReceivedDocument]:
    """Check each run document; return the findings in the order of ``names``."""
    with ProcessPoolExecutor(cores, initializer=_leave_signals_to_parent) as pool:
        check = partial(check_document, folder, study=study, here=here)
        try:
            return list(pool.map(check, names, chunksize=16))
        except BrokenProcessPool:
            raise ReceivedError("reading the run documents was ended by a signal (out of memory?).") from None
        finally:
            pool.shutdown(cancel_futures=True)


def _leave_signals_to_parent() -> None:
    """In a process that reads documents, ignore interrupts from the terminal, which the parent process handles."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _check_rows(folder, documents, account) -> None:
    """Compare the digests of the documents with the digests in the tables of runs."""
    try:
        digests = run_rows.read_digests(folder)
    except ReceivedError as error:
        if (folder / run_rows.RUNS_TABLE).exists():
            account.check("rows", "", [str(error)])
        else:
            account.leave_out("rows", f"there is no {run_rows.RUNS_TABLE}")
        return
    well = f"{len(digests)} rows of {run_rows.RUNS_TABLE} have the SHA-256 of the {len(documents)} documents"
    account.check("rows", well, run_rows.problems(digests, documents))


def _check_documents(documents, others, here, study, account) -> None:
    """Report documents that are unreadable, at the wrong path, missing, or not from a run of the study."""
    sentences = [f"run {document.name}: {problem}" for document in documents for problem in document.problems]
    sentences += [f"{other} is not a run document" for other in others]
    well = f"all {len(documents)} are complete and in the right place"
    if study.content:
        names = [document.name for document in documents]
        count = study.count(names)
        missing = count - sum(study.specification(name) is not None for name in names)
        if missing:
            first = ", ".join(study.missing(names, 3))
            sentences.append(f"{missing} of the study's {count} runs have no document, for example {first}")
        well += f"; they are the runs of the study {study.content['study']}, with the seeds that follow from the study's seed"
    elif study.present and any(document.made_by in here for document in documents):
        sentences.append(study.problem)
    account.check("documents", well, sentences)
    if not study.content and not sentences:
        account.detail(f"not compared with their study: {shown(study.problem, 600)}")


def _check_derived(folder, documents, study, cores, account) -> None:
    """Recreate tables, analysis, figures, pages and manifest from the documents, and compare them byte for byte."""
    here = image_here("analysis")
    names = [document.name for document in documents]
    if not study.content or any(document.problems for document in documents) or study.count(names) != len(names):
        account.leave_out("derived", "the rest can be made again only if the study and all its documents are in order")
    elif study.analysis_image != here:
        needed = f"this needs the analysis image {study.analysis_image}; the image here is {here}"
        account.leave_out("derived", f"{needed}; {remedy(study)}")
    else:
        try:
            with temporary_folder() as place:
                differences = results_again.problems(folder, names, study, ROOT, place, cores)
        except results_again.NotMadeError as error:
            account.leave_out("derived", str(error))
            return
        except ReceivedError as error:
            differences = [str(error)]
        made = "tables, analysis, figures, page and manifest"
        given = (folder / REPETITIONS.path).exists()
        apart = f" (except {REPETITIONS.path}, which only repeated runs can confirm)" if given else ""
        account.check("derived", f"{made} follow from the documents, byte for byte{apart}", differences)
        if differences and study.commit:
            account.detail(
                f"they were made by the workflow at commit {study.commit}; is this checkout at the same commit?"
            )


def _verdict(account, left_out, repeated, count) -> int:
    """Print the last line and return the exit status.

    The status is `WRONG` if a problem was found, otherwise `NOT_HERE` if some runs can't be repeated on this machine, otherwise `WELL`, even
    if some steps were skipped. The line says that all is well only if everything was compared.
    """
    unchecked = f" (not checked: {', '.join(account.unchecked)})" if account.unchecked else ""
    if account.problems:
        problems = f"{account.problems} problem{'s' * (account.problems > 1)}"
        print(f"verdict: WRONG, {problems}, see above{unchecked}")
        return WRONG
    if left_out:
        print(f"verdict: no problem was found, but some runs could not be repeated here, see `needs`{unchecked}")
        return NOT_HERE
    runs = f"{repeated} of {count} runs were repeated"
    rest = "" if "derived" in account.unchecked else "; everything derived from the runs was made again"
    if repeated == count and not account.unchecked:
        print(f"verdict: all is well: {runs}{rest}")
    else:
        print(f"verdict: no problem was found: {runs}{rest}{unchecked}")
    return WELL


class _Parser(argparse.ArgumentParser):
    """A parser that reports an invalid argument in one sentence, like the rest of Sawtooth."""

    def error(self, message) -> NoReturn:
        self.exit(BAD_CALL, f"sawtooth: {message}\n")


def _whole_number(parser, name, text, least) -> int:
    """Return an argument as a whole number of at least ``least``, or exit with a sentence that states the allowed values."""
    # Up to 18 digits; longer numbers can't be intended.
    if not (text.isascii() and text.isdigit() and len(text) <= 18) or int(text) < least:
        parser.error(f"{name} is '{shown(text)}'; allowed: whole numbers of at least {least}.")
    return int(text)


def main(arguments=None) -> int:
    """Verify the results that the command line names; return the exit status."""
    parser = _Parser(
        prog="verify_results",
        description="Repeat some of the runs, recreate everything that follows from the runs, and compare bytes.",
    )
    parser.add_argument("results", metavar="RESULTS", help="results/<study>, or an archive of `make publish`")
    parser.add_argument("--count", metavar="N", help=f"number of runs to draw ({DRAWN}, or all if there are fewer)")
    parser.add_argument("--seed", metavar="S", default="1", help="seed of the draw (1)")
    parser.add_argument(
        "--runs", metavar="RUN", nargs="+", help="names of runs to repeat instead: scenario/cca/ip_version/replication"
    )
    parser.add_argument("--cores", metavar="N", default="all", help="number of runs at a time (all)")
    parser.add_argument("--no-reruns", dest="reruns", action="store_false", help="don't repeat any runs")
    parser.add_argument(
        "--build", action="store_true", help="also build the study's own kernels, and repeat runs that need them"
    )
    parser.add_argument(
        "--no-derived", dest="derived", action="store_false", help="don't make tables, analysis, figures and page again"
    )
    parser.add_argument("--check", action="store_true", help="only check the values, which needs no images")
    options = parser.parse_args(arguments)
    options.count = options.count and _whole_number(parser, "N", options.count, 1)
    options.seed = _whole_number(parser, "SEED", options.seed, 0)
    every = len(os.sched_getaffinity(0))
    # Each run needs its own core, so starting more runs than there are cores wouldn't save time.
    options.cores = min(every, every if options.cores == "all" else _whole_number(parser, "--cores", options.cores, 1))
    # `apptainer` may be the copy that set-up installed next to this Python.
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    # On each of these signals, exit cleanly, as on Ctrl-C; also make sure that the reruns don't ignore SIGINT.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    try:
        with opened(options.results) as folder:
            return 0 if options.check else _verify(folder, options, Account())
    except (ReceivedError, OSError) as error:
        file_problem = isinstance(error, OSError) and f"{error.filename or 'a file'}: {error.strerror or error}."
        tell(str(file_problem or error))
        return BAD_CALL
    except KeyboardInterrupt:
        tell("interrupted; no run continues, and no temporary file is left.")
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
