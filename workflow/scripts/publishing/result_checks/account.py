"""The report that a verification prints for the user."""

from itertools import islice

from publishing.result_checks.received_errors import shown

#: Maximum number of problems that are listed for a step; any others are only counted.
SHOWN = 20


class Account:
    """A report to the user: one line per step, followed by one line per problem; ``problems`` is the total number of problems."""

    def __init__(self):
        self.problems = 0
        self.unchecked = []

    def step(self, name, text) -> None:
        print(f"{name:<11}{text}", flush=True)

    def detail(self, text) -> None:
        print(f"{'':<11}{text}", flush=True)

    def check(self, name, well, problems) -> None:
        """Print the result of a step: ``well`` if there are no problems, otherwise their number and the first `SHOWN` of them."""
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
        """Report that a step is skipped, and why."""
        self.step(name, f"not checked: {shown(why, 600)}")
        self.unchecked.append(name)
