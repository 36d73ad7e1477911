"""What tells queues apart in a figure: the discipline and its parameters, ECN's switch aside, and who carries it out."""

import pandas as pd

from testbed.disciplines import DISCIPLINES
from wording.scenario_series import platform_name

#: Between a queue and its platform.
ON = " on "


def with_variants(cells) -> pd.DataFrame:
    """Return cells with the column ``variant``: discipline and parameters, but for `ecn`, which lines tell apart; of several platforms theirs."""
    parameters = (
        [words for words in text.split(", ") if words and not words.startswith("ecn ")]
        for text in cells["queue_parameters"]
    )
    several = cells["platform"].nunique() > 1
    platforms = [f"{ON}{platform_name(platform)}" if several else "" for platform in cells["platform"]]
    rows = zip(cells["discipline"], parameters, platforms, strict=True)
    return cells.assign(variant=[", ".join([name, *own]) + platform for name, own, platform in rows])


def variants_of(cells) -> dict[str, str]:
    """Return variant -> its name, in the table's order: the discipline, with what is not its default if it has several."""
    variants = [variant.partition(ON) for variant in dict.fromkeys(cells["variant"])]
    queues = list(dict.fromkeys(queue for queue, *_ in variants))
    disciplines = [queue.split(", ")[0] for queue in queues]
    names = {
        queue: name if disciplines.count(name) == 1 else _name(queue, name)
        for queue, name in zip(queues, disciplines, strict=True)
    }
    return {queue + on + platform: names[queue] + on + platform for queue, on, platform in variants}


def _name(variant, discipline):
    """Return a variant's name with the value of the first parameter that is not the discipline's default."""
    defaults = {
        f"{p.name} {'null' if p.default is None else str(p.default).lower()}"
        for p in DISCIPLINES[discipline].parameters
    }
    own = [words for words in variant.split(", ")[1:] if words not in defaults]
    return f"{discipline} {own[0].split()[-1]}" if own else discipline
