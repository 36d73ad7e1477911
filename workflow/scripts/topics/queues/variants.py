"""Labels of queues in a figure: the discipline, its parameters other than ECN, and the platform."""

import pandas as pd

from experiment.disciplines import DISCIPLINES
from wording.scenario_words import platform_name


def delay_of(cells) -> str:
    """Return the name of the column of `QUEUE_CELLS` whose delay is shown.

    It is the delay measured by samples of the queue if such samples exist for all cells, otherwise the delay derived from RTTs.
    """
    known = cells[cells["n"] > 0]
    return "queueing_ms" if known["queueing_ms"].notna().all() and len(known) else "rtt_above_ms"


def with_variants(cells) -> pd.DataFrame:
    """Return the cells with the column ``variant``, which identifies the queue; CCA and ECN are not part of it.

    ``variant`` joins two further columns. ``queue`` is the discipline with its parameters, except `ecn`. ``besides`` is the platform if
    there are several, and the scenario's label if two scenarios of a setting would otherwise be the same variant.
    """
    parameters = (
        [words for words in text.split(", ") if words and not words.startswith("ecn ")]
        for text in cells["queue_parameters"]
    )
    queues = [", ".join([name, *own]) for name, own in zip(cells["discipline"], parameters, strict=True)]
    several = cells["platform"].nunique() > 1
    besides = [f" on {platform_name(name)}" if several else "" for name in cells["platform"]]
    # The columns are converted to text even if there are no cells.
    variants = cells.assign(queue=queues, besides=besides).astype({"queue": str, "besides": str, "scenario_label": str})
    alike = variants.duplicated(["setting", "ip_version", "cca", "ecn", "queue", "besides"], keep=False)
    variants["besides"] = variants["besides"].where(
        ~alike, variants["besides"] + " (" + variants["scenario_label"] + ")"
    )
    return variants.assign(variant=variants["queue"] + variants["besides"])


def variants_of(cells) -> dict[str, str]:
    """Return variant -> name, in the table's order.

    A name is the discipline; if the discipline occurs with different parameters, the first value that isn't the default is added.
    """
    queues = list(dict.fromkeys(cells["queue"]))
    disciplines = [queue.split(", ")[0] for queue in queues]
    names = {
        queue: name if disciplines.count(name) == 1 else _name(queue, name)
        for queue, name in zip(queues, disciplines, strict=True)
    }
    # If two queues would have the same name, both are named with all their parameters.
    names = {queue: queue if list(names.values()).count(name) > 1 else name for queue, name in names.items()}
    variants = cells.drop_duplicates("variant")
    return {
        variant: names[queue] + besides
        for variant, queue, besides in zip(variants["variant"], variants["queue"], variants["besides"], strict=True)
    }


def _name(variant, discipline):
    """Return a variant's name: the discipline, and the variant's first value that isn't the discipline's default."""
    defaults = {
        f"{p.name} {'null' if p.default is None else str(p.default).lower()}"
        for p in DISCIPLINES[discipline].parameters
    }
    own = [words for words in variant.split(", ")[1:] if words not in defaults]
    return f"{discipline} {own[0].split()[-1]}" if own else discipline
