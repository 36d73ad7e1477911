"""Where a link can't have an option: sentences that start with the key."""

from collections.abc import Iterator

from experiment.link_options import LINK_OPTIONS, OF_NAME, correlation_of
from experiment.specification import RunSpecification
from experiment.timeline import DIRECTIONS, directions_of
from study_files.study_validation import value_text
from wording.link_option_words import REASONS

#: What netem draws for and is no option -> its key.
DRAWN_BY_LINK = {"loss": "loss_percent", "delay": "jitter_ms"}


def link_option_problems(scenario) -> Iterator[str]:
    """Yield what the rest of a resolved scenario is that an option of its link can't have, by the declarations."""
    for option in (option for option in LINK_OPTIONS if option.used(scenario["link"])):
        for key, allowed in option.all_needs.items():
            value = scenario
            for step in key.split("."):
                value = value[step]
            if value not in allowed:
                reason = REASONS.get(f"{option.name} {key}") or REASONS.get(key)
                why = f", for {reason.format(**scenario['traffic'])}" if reason else ""
                words = " or ".join(map(_plain, allowed))
                yield f"{key} is {_plain(value)}; allowed with link.{option.name} is {words}{why}."


def answer_problems(scenario) -> Iterator[str]:
    """Yield what would happen to packets against the data only, where there are none."""
    run = RunSpecification({"scenario": scenario})
    for option in (option for option in LINK_OPTIONS if option.check and not run.answers):
        if option.used(scenario["link"]) and option.of(scenario["link"], DIRECTIONS[0]) is None:
            yield f"link.{option.name} is of reverse only; allowed with flows of real-time alone is forward, because they send nothing back."


def order_problems(scenario) -> Iterator[str]:
    """Yield where there is no order to be kept."""
    link = scenario["link"]
    if link["jitter_order"] == "kept" and not any(link["jitter_ms"].values()):
        yield "link.jitter_order is kept; allowed without a link.jitter_ms is any, because nothing overtakes."


def correlation_problems(scenario) -> Iterator[str]:
    """Yield where nothing is drawn that could be correlated, or so often that correlated numbers make it certain."""
    link = scenario["link"]
    given = DRAWN_BY_LINK | {option.correlated: option.name for option in LINK_OPTIONS if option.correlated}
    for direction in DIRECTIONS:
        for what, key in given.items():
            if not (percent := correlation_of(link, what, direction)):
                continue
            where = f"link.correlation.{what}_percent is {percent:g}; allowed"
            is_drawn = link[key][direction] if what in DRAWN_BY_LINK else OF_NAME[key].of(link, direction) is not None
            if not is_drawn:
                yield f"{where} without a link.{key} in {direction} is 0."
            elif what == "loss" and link["loss_burst_packets"][direction] is not None:
                yield f"{where} with link.loss_burst_packets is 0, for bursts have their own chances."
            elif what == "loss" and link["loss_percent"][direction] > 50:
                yield f"{where} with a link.loss_percent above 50 is 0, for correlated numbers would lose nearly all."
            elif what == "reorder" and link["reordering"]["gap_packets"] > 1:
                yield f"{where} with link.reordering.gap_packets is 0."


def burst_problems(scenario) -> Iterator[str]:
    """Yield where losses can't come in bursts of that length, or not go on to."""
    link = scenario["link"]
    for way, burst in link["loss_burst_packets"].items():
        if burst is None:
            continue
        where, loss = f"link.loss_burst_packets.{way} is {burst:g}; allowed", link["loss_percent"][way] / 100
        if not loss:
            yield f"{where} without a link.loss_percent.{way} is null."
        elif burst < loss / (1 - loss):
            yield f"{where} with link.loss_percent.{way} {100 * loss:g} is {loss / (1 - loss):.4g} or more, for so long are bursts at least."
        if scenario["multipath"].get("outage"):
            yield f"{where} with a multipath.outage is null, because the kernel would forget it."
        if any(
            way in directions_of(one)
            and any(one[key] is not None for key in ("delay_ms", "loss_percent", "down_for_s"))
            for one in link["timeline"]
        ):
            yield f"{where} with a link.timeline of delay or loss that way is null, because the kernel would forget it."


def _plain(value):
    return value if isinstance(value, str) else value_text(value)
