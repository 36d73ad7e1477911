"""The account of a verification, as the user reads it."""

from itertools import islice

from publishing.result_checks.received_errors import shown

#: Problems that a step shows; it counts the rest.
SHOWN = 20


class Account:
    """What the user reads: a line a step, a line below for each problem; ``problems`` counts them."""

    def __init__(self):
        self.problems = 0
        self.unchecked = []

    def step(self, name, text) -> None:
        print(f"{name:<11}{text}", flush=True)

    def detail(self, text) -> None:
        print(f"{'':<11}{text}", flush=True)

    def check(self, name, well, problems) -> None:
        """Print a step: ``well`` if there are no problems, or else how many, and the first of them."""
        problems = iter(problems)
        first = list(islice(problems, SHOWN))
        more = sum(1 for _ in problems)
        count = len(first) + more
        self.step(name, well if not count else "1 PROBLEM" if count == 1 else f"{count} PROBLEMS")
        for sentence in first:
            self.detail(shown(sentence, 600))
        if more:
            self.detail(f"and {more} more")
        self.problems += count

    def leave_out(self, name, why) -> None:
        """Say that a step can't be done, and why."""
        self.step(name, f"not checked: {shown(why, 600)}")
        self.unchecked.append(name)
