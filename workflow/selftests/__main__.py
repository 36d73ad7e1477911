"""Carry out tests side by side, in the testbed's image: ``python3 -m selftests PLAN``.

PLAN is a JSON file: ``plan`` (`boot.Plan`), ``commands``, ``workers`` and ``logs``, a folder for the guests' consoles. Each outcome is a
line on standard output as it comes: the command's number and the outcome, a JSON list.
"""

import json
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from selftests.boot import Plan, carry_out
from testbed.machine.machine import GuestError
from testbed.machine.messages import in_words, tell


def carry_out_logged(command, plan, log) -> dict:
    """Carry out a test, its guest's console to a file; return its outcome, or the machine's ``fault``."""
    try:
        with log.open("wb", buffering=0) as console:
            outcome = carry_out(command, plan, console)
            if outcome.pop("again", False):
                outcome = carry_out(command, plan, console)
                outcome.pop("again", None)
            return outcome
    except (GuestError, OSError) as error:
        return {"fault": in_words(error)}


def main(arguments) -> int:
    """Carry out the tests of a plan and return the exit status."""
    asked = json.loads(Path(arguments[0]).read_text())
    shared = asked["plan"]
    plan = Plan(**shared | {"programs": Path(shared["programs"]), "scripts": Path(shared["scripts"])})
    with ProcessPoolExecutor(asked["workers"]) as pool:
        running = {
            pool.submit(carry_out_logged, command, plan, Path(asked["logs"], f"{number}.log")): number
            for number, command in enumerate(asked["commands"])
        }
        for future in as_completed(running):
            if fault := future.result().get("fault"):
                pool.shutdown(wait=False, cancel_futures=True)
                tell(fault)
                return 1
            print(json.dumps([running[future], future.result()]), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
