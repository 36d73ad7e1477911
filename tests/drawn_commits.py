"""Commits whose kernels aren't built and whose runs are drawn, for tests of searches."""

import numpy as np

from bisecting.commits import Run, SkippedError


class Drawn:
    """Commits whose runs are drawn: normal values about a mean that the culprit changes; commits in ``broken`` don't build."""

    def __init__(self, names, culprit, before=9.3, after=8.5, spread=0.2, broken=(), dead=(), cell="a", alike=()):
        self.number = {name: number for number, name in enumerate(names)}
        self.culprit, self.means, self.spread, self.cell = culprit, (before, after), spread, cell
        self.broken, self.dead, self.alike = broken, dead, dict(alike)
        self.cores, self.longest_s, self.built, self.runs_made = 2, None, [], []

    def build(self, commit, cells):
        number = self.number[commit]
        self.built.append(number)
        if number in self.broken:
            raise SkippedError("net/a.c:1: error: it does not compile")
        return f"kernel {self.alike.get(number, number)}"

    def runs(self, commit, cells, replications):
        number = self.number[commit]
        self.runs_made += [(number, replication) for replication in replications]
        if number in self.dead:
            return {cell: [Run(None, "the guest ended") for _ in replications] for cell in cells}
        return {
            cell: [
                Run(self.means[number >= self.culprit and cell[0] == self.cell] + self.spread * np.random.default_rng([number, replication, ord(cell[0])]).standard_normal())
                for replication in replications
            ]
            for cell in cells
        }  # fmt: skip
