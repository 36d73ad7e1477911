"""Find the first commit that changes TCP's behaviour: ``python -m bisecting.bisect KERNEL STUDY_FILE --good ... --bad ... --when ...``.

Each step builds the guest kernel of a commit, and executes runs of the deciding cell until a sequential test reaches a verdict.
"""

import argparse
import json
import os
import signal
import sys
import time
from dataclasses import asdict

from bisecting.commits import Commits
from bisecting.condition import BisectError
from bisecting.history import SKIP, History
from bisecting.question import question_of
from bisecting.search import Searching
from publishing.result_checks.received_errors import ReceivedError
from publishing.result_checks.testbeds_here import ROOT
from study_files.git_trees import GitError
from study_files.strict_yaml import FileError
from testbed.machine.messages import tell
from wording.number_format import count

#: Files in a results folder: the request with the skipped commits, the findings as JSON, and the findings as text.
STATE, RESULT, TEXT = "state.json", "bisect.json", "bisect.txt"
#: Keys of `Question.identity` that may differ between calls with the same folder, because kernels and runs don't depend on them.
CHANGEABLE = ("when", "cells")


def main(arguments=None) -> int:
    """Run the search that the command line requests, and write the findings; return the exit status."""
    parser = argparse.ArgumentParser(prog="bisect", description=__doc__.splitlines()[0])
    parser.add_argument("kernel", help="a Git repository of Linux")
    parser.add_argument("study", help="the file of a study")
    parser.add_argument("--good", default="", help="a revision that is good")
    parser.add_argument("--bad", default="", help="a later revision that is bad")
    parser.add_argument(
        "--when", default="", help="condition for a bad run, as in 'goodput_mbps < 9' or 'goodput_mbps falls'"
    )
    parser.add_argument(
        "--only", default="*", help="glob of the cells (scenario/CCA/IP version) that may become the deciding cell"
    )
    parser.add_argument("--check", action="store_true", help="only check the values, which needs no images")
    options = parser.parse_args(arguments)
    try:
        asked = question_of(options.kernel, options.good, options.bad, options.when, options.study, options.only)
        return 0 if options.check else _carry_out(asked)
    except (FileError, ReceivedError, GitError) as error:
        tell(str(error))
    except KeyboardInterrupt:
        tell("interrupted; the same command continues from here.")
        return 130
    return 1


def _carry_out(asked):
    began, folder = time.monotonic(), asked.folder
    skipped, longest_s = _kept(asked)
    cores = len(os.sched_getaffinity(0))
    commits = Commits(asked.tree, asked.study, asked.condition.measure, folder, cores, longest_s)
    history = History(asked.tree, folder / "history.git")
    number = _number(asked, history)
    print(
        f"{count(number, 'commit')} after {asked.good[:12]} up to {asked.bad[:12]}, about {number.bit_length()} steps; {folder}",
        flush=True,
    )
    if begins := history.beginnings(asked.good, asked.bad):
        print(
            f"BAD's history begins with {count(len(begins), 'commit')} that GOOD doesn't have, such as {begins[0][:12]}: if such a commit is bad, an earlier "
            f"one may be the first bad commit{history.shallow_words}",
            flush=True,
        )
    print("building GOOD and BAD, which takes minutes unless the repository was built before", flush=True)
    lines = []

    def say(line):
        lines.append(line)
        print(line, flush=True)

    try:
        answer = Searching(asked, commits, history, say, skipped).carry_out()
    finally:
        _write(folder / STATE, _state(asked, skipped, commits.longest_s))
    for line in lines_of(answer, history):
        say(line)
    say(f"{time.monotonic() - began:.0f} s")
    (folder / TEXT).write_text("\n".join(lines) + "\n")
    _write(folder / RESULT, {"question": asked.identity(ROOT), **document_of(answer)})
    print(f"results: {folder / TEXT}, {folder / RESULT}")
    return 0 if answer.search.found else 1


def _number(asked, history):
    """Return the number of commits to search; raise BisectError if there are none, or if GOOD and BAD have no common ancestor."""
    number = history.count(asked.good, asked.bad)
    if not number:
        fix = f"GOOD={asked.bad[:12]} BAD={asked.good[:12]} WHEN='{asked.condition.opposite.exact}'"
        why = f"it has no commit that GOOD ({asked.good[:12]}) doesn't have; allowed: a later commit, or to find a fix: {fix}."
        raise BisectError(f"BAD={asked.bad[:12]}", [why])
    if not history.common(asked.good, asked.bad):
        why = f"it has no common ancestor with BAD ({asked.bad[:12]}){history.shallow_words}; allowed: commits with a common ancestor."
        raise BisectError(f"GOOD={asked.good[:12]}", [why])
    return number


def _kept(asked):
    """Return the skipped commits and the duration of GOOD's longest run in s, as earlier calls wrote them to ``state.json``.

    Raise BisectError if the folder is damaged or its kernels and runs can't be used for this request.
    """
    state = asked.folder / STATE
    identity = asked.identity(ROOT)
    if not state.exists():
        asked.folder.mkdir(parents=True, exist_ok=True)
        _write(state, _state(asked, {}, None))
        return {}, None
    try:
        kept = json.loads(state.read_text())
        other = [key for key, value in identity.items() if kept["question"].get(key) != value]
        skipped, longest_s = dict(kept["skipped"]), kept.get("longest_s")
        longest_s = None if longest_s is None else float(longest_s)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise BisectError(str(state), ["it is damaged; delete the folder and run the command again."]) from None
    if fixed := [key for key in other if key not in CHANGEABLE]:
        raise BisectError(
            str(asked.folder), [f"it was made with another {fixed[0]}; rename or delete it and run the command again."]
        )
    if other:
        # Another cell may use other C files, with which the kernel of a skipped commit may build.
        skipped = {}
        _write(state, _state(asked, skipped, longest_s))
    return skipped, longest_s


def _state(asked, skipped, longest_s):
    return {"question": asked.identity(ROOT), "skipped": skipped, "longest_s": longest_s}


def _write(file, content):
    partial = file.with_suffix(".partial")
    partial.write_text(json.dumps(content, indent=1) + "\n")
    partial.replace(file)


def lines_of(answer, history) -> list[str]:
    """Return the findings of a search as lines."""
    # A verdict with a reason repeats the verdict on an identical kernel, or has no runs.
    runs = sum(verdict.runs for verdict in answer.verdicts if not verdict.why)
    judged = sum(verdict.kind != SKIP for verdict in answer.verdicts)
    sure = (
        f"the result is wrong with a probability of at most {100 * answer.error:.2g} % (Wald's sequential test, {count(judged, 'verdict')} from "
        f"{count(runs, 'run')}, after {count(2 * answer.references.runs, 'run')} of GOOD and BAD)"
    )
    if answer.search.found is None:
        names = [f"  {commit[:12]} {history.subject(commit)}" for commit in answer.search.candidates]
        earlier = [f"an earlier one is possible: {answer.earlier}"] if answer.earlier else []
        return [f"{_possible(answer)}:", *names, *earlier, sure]
    found = answer.search.found
    lines = [f"first bad commit: {found} {history.subject(found)} ({history.about(found)})"]
    if answer.compared is not None:
        before, after = answer.medians
        of = answer.compared
        interval = f" (95 % interval {of.ci_low:.4g} to {of.ci_high:.4g})" if of.ci_low is not None else ""
        lines.append(
            f"{answer.condition.measure} in {'/'.join(answer.cell)}: {before:.6g} before, {after:.6g} after (medians of {of.pairs} runs with the same seeds), "
            f"a mean change of {of.effect:.4g}{interval}"
        )
    return [*lines, sure]


def _possible(answer):
    """Return a sentence about the number of commits that may be the first bad commit."""
    possible = answer.search.candidates
    skipped = len({verdict.commit for verdict in answer.verdicts if verdict.kind == SKIP} & set(possible))
    words = f"one of these {len(possible)}" if len(possible) > 1 else "this one"
    words += f", of which {skipped} can't be judged" if skipped else ""
    return f"the first bad commit is {words}" + (", or an earlier one" if answer.earlier else "")


def document_of(answer) -> dict:
    """Return the findings of a search in the form of the file `RESULT`."""
    compared = answer.compared
    return {
        "first_bad": answer.search.found,
        "candidates": list(answer.search.candidates),
        "or_earlier": answer.earlier or None,
        "condition": answer.condition.exact,
        "cell": "/".join(answer.cell),
        "references": asdict(answer.references),
        "test": asdict(answer.test),
        "most_error": answer.error,
        "verdicts": [asdict(verdict) for verdict in answer.verdicts],
        "before": None if compared is None else {"commit": answer.before, "median": answer.medians[0]},
        "after": None if compared is None else {"commit": answer.search.found, "median": answer.medians[1]},
    }


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main())
