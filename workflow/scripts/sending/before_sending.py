"""Compare a patch series with its base before it is sent: ``python -m sending.before_sending --series ... --base 7.2``.

The program builds the base kernel and the patched kernel, and runs the kernel's own tests on both. It then runs a regression study, and an
exam of each CCA that the series touches. Finally, it writes a page and a text for the cover letter. To resume an interrupted call, repeat
the command.
"""

import argparse
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

from kernel_tests.named_kernel import YAML
from kernel_tests.run_selftests import SelftestsError
from publishing.result_checks.received_errors import ReceivedError
from publishing.result_checks.received_folder import temporary_folder
from publishing.result_checks.testbeds_here import ROOT
from sending import studies
from sending.both_kernels import are_the_same, build, first_failure
from sending.changes import exam_changes, regression_changes
from sending.letter import Found, cover_letter
from sending.page import page
from sending.question import SeriesError, last_part, question_of
from sending.tested import counts_words, names_of, test_both
from session.checkout import bundled_commit, checked_out_commit
from session.compare_results import ComparisonError
from session.testbed_identity import image_fact
from study_files.kernels import image_version
from study_files.strict_yaml import FileError
from testbed.machine.messages import tell
from wording.missing_files import absence
from wording.number_format import count
from wording.terminal_text import shown

#: Profile of Snakemake for the studies.
PROFILE = "profiles/exam"
#: Names of the result files.
PAGE, LETTER, RESULT = "report.html", "cover-letter.txt", "series.json"


def main(arguments=None) -> int:
    """Read the command line, run all steps, and write the page and the text; return the exit status."""
    parser = argparse.ArgumentParser(prog="before_sending", description=__doc__.splitlines()[0])
    parser.add_argument("--series", nargs="*", default=[], help="an mbox, patches, or a folder of patches")
    parser.add_argument(
        "--base", default="", help="the kernel that the series applies to, such as 7.2 or ../linux@main"
    )
    parser.add_argument("--packetdrill", type=Path, help="packetdrill's source, for the kernel's own tests")
    parser.add_argument(
        "--ccas", nargs="*", default=[], help="CCAs to examine instead of the CCAs that the series touches"
    )
    parser.add_argument("--gate", action="store_true", help="exit with status 1 if something newly fails or is worse")
    parser.add_argument("--check", action="store_true", help="only check the values, which needs no images")
    options = parser.parse_args(arguments)
    try:
        asked = question_of(options.series, options.base, image_version(), options.ccas)
        _check_packetdrill(options.packetdrill)
        if options.check:
            return 0
        asked.write_patches()
        return _carry_out(asked, options)
    except (FileError, SelftestsError, ReceivedError, ComparisonError) as error:
        if str(error):
            tell(str(error))
    except KeyboardInterrupt:
        tell("interrupted; the same command continues from here.")
        return 130
    return 1


def _check_packetdrill(path):
    if path is not None and (why := absence(path)):
        raise SeriesError(f"PACKETDRILL={shown(path)}", [f"{why}; allowed: the source of packetdrill, a folder or an archive; without PACKETDRILL, the kernel's own tests are not run."])  # fmt: skip


def _carry_out(asked, options):
    began = time.monotonic()
    found = Found(asked, _version(), _command(options, asked.base.kernel))
    print(f"{count(asked.number, 'patch', 'patches')} on {asked.base.words}; {asked.folder}", flush=True)
    print(asked.touched.why, flush=True)
    patched = asked.patched()
    with temporary_folder() as place:
        found.stopped, found.is_broken = _tried(asked, patched, place)
    if options.packetdrill and not found.is_broken:
        found.tested = test_both(options.packetdrill, asked.base, patched)
        for name, tests in (("base", found.tested.base), ("patched", found.tested.patched)):
            print(f"the kernel's own tests, {name}: {counts_words(tests)}", flush=True)
        for test in names_of(found.tested.newly_failed):
            print(f"  newly failed: {test}", flush=True)
    if not found.stopped:
        _run_studies(found)
    _write(found)
    print("\n".join(found.verdict()))
    print(f"page: {asked.folder / PAGE}, cover letter: {asked.folder / LETTER} ({time.monotonic() - began:.0f} s)")
    return 1 if found.is_broken or (options.gate and found.problems()) else 0


def _tried(asked, patched, place):
    """Build both kernels, and try out the patched kernel.

    Returns the reason why no study is run ("" if studies can be run), and whether runs on the patched kernel fail.
    """
    print("building both kernels", flush=True)
    base, new = build(asked.base, place), build(patched, place)
    if are_the_same(asked.base, new, place):
        why = (
            "The compiled guest kernel is the same with and without the series, byte for byte except for its build number: the changed "
            "code is not part of this kernel, or compiles to the same code. So no run can differ, and no study was run."
        )
        return why, False
    if not asked.touched.ccas:
        return f"{asked.touched.why} So no study was run.", False
    _, study = studies.write(studies.regression(asked), asked)
    cca = asked.touched.ccas[0]
    failure = first_failure(study, studies.patched_name(cca), new, place)
    if failure is None:
        return "", False
    if of_base := first_failure(study, studies.base_name(asked, cca), base, place):
        raise SeriesError(f"BASE={asked.base.name}", [f"a run on its kernel failed: {of_base}"])
    return f"The first run on the patched kernel ({cca}) failed, and the same run on the base did not: {failure}", True


def _run_studies(found):
    asked = found.question
    study = studies.regression(asked)
    found.study = _run(study, asked)
    found.changes = regression_changes(f"results/{study['study']}", asked)
    for cca in asked.touched.ccas:
        exam = studies.exam(asked, cca)
        _run(exam, asked)
        found.exams[cca] = exam_changes(f"results/{exam['study']}")


def _run(study, asked):
    """Write a study and run it with the workflow; return the resolved study, or raise SeriesError if the study didn't finish."""
    file, resolved = studies.write(study, asked)
    print(f"{file}", flush=True)
    status = subprocess.run(["snakemake", "--profile", PROFILE, "--configfile", file]).returncode
    if status:
        raise SeriesError(
            file, ["the study was not finished, for the reason above; the same command continues from here."]
        )
    return resolved


def _version():
    commit, changed, _ = bundled_commit(ROOT) or checked_out_commit(ROOT)
    return {
        "commit": commit,
        "is_changed": bool(changed),
        "image": image_fact(ROOT / "envs/testbed.json", "content_digest").removeprefix("sha256:"),
    }


def _command(options, base):
    """Return a command that repeats the call on another machine: file names without folders, and default paths for packetdrill and trees.

    ``base`` is the definition of the base kernel, or None for the image's kernel. A branch or tag is replaced by its commit.
    """
    words = [f"SERIES={' '.join(map(last_part, options.series))}", f"BASE={_base_word(options.base, base or {})}"]
    words += ["PACKETDRILL=../packetdrill"] if options.packetdrill else []
    words += [f"CCAS={' '.join(options.ccas)}"] if options.ccas else []
    return f"make series {' '.join(map(shlex.quote, words))}"


def _base_word(given, kernel):
    if "tree" not in kernel or given.endswith(YAML):
        return last_part(given)
    tree = f"../{last_part(kernel['tree'])}"
    return f"{tree}@{kernel['revision'][:12]}" if "revision" in kernel else tree


def _write(found):
    folder = found.question.folder
    (folder / PAGE).write_text(page(found), encoding="utf-8", newline="\n")
    (folder / LETTER).write_text(cover_letter(found), encoding="utf-8", newline="\n")
    document = {
        "series_sha256": found.question.sha256,
        "base": found.question.base.kernel or {"base": "newest", "version": found.question.base.name},
        "paths": found.question.touched.paths,
        "ccas": found.ccas,
        **found.version,
        "stopped": found.stopped,
        "problems": found.problems(),
    }
    (folder / RESULT).write_text(json.dumps(document, indent=1) + "\n")
    if found.changes is not None:
        found.changes.to_csv(folder / "changes.csv", index=False, lineterminator="\n")


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    os.environ.setdefault("PYTHONUNBUFFERED", "1")
    sys.exit(main())
