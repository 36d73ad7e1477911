"""Run tests in parallel in the testbed's image: ``python3 -m selftests PLAN``.

PLAN is a JSON file with the keys ``plan`` (`boot.Plan`), ``commands`` (one per test), ``workers`` (the number of worker processes) and
``logs`` (a folder for the guests' console logs). As soon as a test has ended, one line is printed to standard output: a JSON list of the
command's number and the test's outcome.
"""

import json
import multiprocessing
import sys
from pathlib import Path

from selftests.boot import Plan, carry_out
from testbed.machine.machine import GuestError
from testbed.machine.messages import in_words, tell


def work(asked, plan, next_number) -> None:
    """Run tests until no more are left; all workers share ``next_number``, the number of the next test."""
    commands = asked["commands"]
    try:
        while (number := _taken(next_number)) < len(commands):
            with Path(asked["logs"], f"{number}.log").open("wb", buffering=0) as console:
                outcome = carry_out_twice(commands[number], plan, console)
            with next_number.get_lock():
                print(json.dumps([number, outcome]), flush=True)
    except (GuestError, OSError) as error:
        next_number.value = len(commands)
        tell(in_words(error))
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(1)


def _taken(next_number):
    with next_number.get_lock():
        next_number.value += 1
        return next_number.value - 1


def carry_out_twice(command, plan, console) -> dict:
    """Run a test and return the outcome; if the machine may have terminated the test, run it a second time."""
    outcome = carry_out(command, plan, console)
    if outcome.pop("again", False):
        outcome = carry_out(command, plan, console)
        outcome.pop("again", None)
    return outcome


def main(arguments) -> int:
    """Run the tests of a plan in parallel and return the exit status."""
    asked = json.loads(Path(arguments[0]).read_text())
    shared = asked["plan"]
    plan = Plan(**shared | {"programs": Path(shared["programs"]), "scripts": Path(shared["scripts"])})
    given = asked, plan, multiprocessing.Value("q", 0)
    workers = [multiprocessing.Process(target=work, args=given) for _ in range(asked["workers"])]
    for worker in workers:
        worker.start()
    try:
        for worker in workers:
            worker.join()
    except KeyboardInterrupt:  # each worker is interrupted, too
        return 1
    return max(abs(worker.exitcode) for worker in workers)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
