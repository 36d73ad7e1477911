"""Results of the kernel's own tests: a document, a table, and lines for the terminal."""

import csv
import hashlib
import json
import shutil
from collections import Counter
from pathlib import Path

from selftests.verdicts import FAILED, NOT_FIT, PASSED, judge, last_lines
from wording.number_format import count
from wording.terminal_text import shown

RESULTS = (PASSED, FAILED, NOT_FIT)
#: Columns of the table; the document contains further keys for each test.
COLUMNS = ("script", "ip_version", "result", "reason", "seconds")
#: If there are more scripts than this, the terminal lists only scripts with a test that did not pass.
MOST_LISTED = 24
#: Version of the document's format.
VERSION = 2


def ip_version_of(command) -> str:
    """Return the IP version that a command (script, then packetdrill's arguments) requests."""
    return next((word.partition("=")[2] for word in command if word.startswith("--ip_version=")), "")


def entry_of(command, outcome, script, options) -> dict:
    """Return a test's entry in the document; ``script`` is the text of the test's script, ``options`` are the kernel's options."""
    result, reason = judge(outcome, script, options)
    test = {"script": command[0], "ip_version": ip_version_of(command), "result": result, "reason": reason}
    test["seconds"] = outcome.get("seconds")
    test["script_sha256"] = hashlib.sha256(script.encode()).hexdigest()
    return test if result == PASSED else test | {"last_lines": last_lines(outcome)}


def write_results(folder, about, tests, outputs) -> None:
    """Write ``selftests.json``, ``selftests.csv`` and the outputs of tests that didn't pass to a results folder.

    Parameters
    ----------
    folder : pathlib.Path
        The results folder; existing contents are deleted.
    about : dict
        Kernel, packetdrill, scripts, seed.
    tests : list of dict
        Entries from `entry_of`, in the order of the commands.
    outputs : list of str
        Output of each test.
    """
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "outputs").mkdir(parents=True)
    document = {"version": VERSION, **about, "counts": dict(counts(tests)), "tests": tests}
    (folder / "selftests.json").write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    with (folder / "selftests.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(tests)
    for test, output in zip(tests, outputs, strict=True):
        if test["result"] != PASSED:
            Path(folder, "outputs", f"{test['script']}.{test['ip_version']}.txt").write_text(output)


def kept_tests(folder, about) -> list[dict] | None:
    """Return the tests in a results folder; None if ``about`` or the format's version differs, or if the file is missing or damaged."""
    try:
        document = json.loads((folder / "selftests.json").read_text())
        same = all(document[key] == value for key, value in ({"version": VERSION} | about).items())
        return [test | {"result": test["result"]} for test in document["tests"]] if same else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def counts(tests) -> Counter:
    """Return the number of tests with each of `RESULTS`, zeros included."""
    found = Counter(test["result"] for test in tests)
    return Counter({result: found[result] for result in RESULTS})


def lines_of(tests) -> list[str]:
    """Return the results as lines for the terminal: counts by IP version, scripts, and the reasons why tests did not pass."""
    versions = list(dict.fromkeys(test["ip_version"] for test in tests))
    width = max(len(version) for version in versions)
    lines = [" " * width + "".join(f"{result:>10}" for result in RESULTS)]
    for version in versions:
        found = counts([test for test in tests if test["ip_version"] == version])
        lines.append(f"{version:{width}}" + "".join(f"{found[result]:>10}" for result in RESULTS))
    lines += ["", *_scripts(tests, versions)]
    for test in tests:
        if test["result"] != PASSED:
            lines.append(f"{test['result'].upper()} {test['script']} over {test['ip_version']}: {shown(test['reason'], 400)}")  # fmt: skip
            lines += [f"    {shown(line, 300)}" for line in test["last_lines"] if test["result"] == FAILED]
    return lines


def _scripts(tests, versions):
    """Return one line per script if there are few scripts, otherwise one line per script with a test that did not pass."""
    by_script = {}
    for test in tests:
        by_script.setdefault(test["script"], {})[test["ip_version"]] = test["result"]
    if len(by_script) > MOST_LISTED:
        by_script = {script: one for script, one in by_script.items() if set(one.values()) != {PASSED}}
    if not by_script:
        return []
    width = max(map(len, by_script))
    rows = [" " * width + "".join(f"  {version}" for version in versions)]
    for script, results in by_script.items():
        rows.append(f"{script:{width}}" + "".join(f"  {results.get(version, '-'):{len(version)}}" for version in versions))  # fmt: skip
    return [*(row.rstrip() for row in rows), ""]


def summary(tests, seconds) -> str:
    """Return the last line: the number of scripts, the number of tests, the duration, and the number of tests with each result."""
    found, scripts = counts(tests), len({test["script"] for test in tests})
    return f"{count(scripts, 'script')}, {count(len(tests), 'test')} in {seconds:.0f} s: {found[PASSED]} passed, {found[FAILED]} failed, {found[NOT_FIT]} not fit"
