"""Describe problems with link options, in sentences that start with the affected key."""

from collections.abc import Iterator

from experiment.delay_tables import reach
from experiment.host_options import HOST_OPTIONS
from experiment.link_options import (
    LEAST_CHANCE_PERCENT,
    LINK_OPTIONS,
    LOSS_MODELS,
    OF_NAME,
    correlation_of,
    loss_model_of,
)
from experiment.specification import RunSpecification
from experiment.timeline import DIRECTIONS, directions_of
from study_files.study_validation import value_text
from wording.link_option_words import REASONS

#: Loss models in which probabilities determine the share of packets that are lost.
CHANCES = ("loss_gemodel", "loss_state")
NOT_CERTAIN = (("p13", "p14"), ("p31", "p32"))
#: Maximum difference between the given loss and the loss of a model, in percentage points; the given loss may be rounded to seven decimals.
SHARE_SLACK = 1e-6

#: Random effect of netem -> key in `link` that sets the effect, for effects that aren't link options.
DRAWN_BY_LINK = {"loss": "loss_percent", "delay": "jitter_ms"}


def link_option_problems(scenario) -> Iterator[str]:
    """Yield problems with settings that contradict the requirements of a resolved scenario's link and host options."""
    for option in (option for option in LINK_OPTIONS if option.used(scenario["link"])):
        yield from _unmet(scenario, f"link.{option.name}", option.all_needs)
    for option in (option for option in HOST_OPTIONS if option.used(scenario["transport"])):
        yield from _unmet(scenario, f"transport.{option.name}", option.needs)


def _unmet(scenario, name, needs):
    """Yield a problem for each value in a scenario that can't be combined with an option (``name``)."""
    for key, allowed in needs.items():
        value = scenario
        for step in key.split("."):
            value = value[step]
        if value not in allowed:
            section, _, option = name.partition(".")
            reason = (REASONS.get(f"{option} {key}") or REASONS.get(key)) if section == "link" else None
            why = f", because {reason.format(**scenario['traffic'])}" if reason else ""
            yield f"{key} is {_plain(value)}; allowed with {name}: {' or '.join(map(_plain, allowed))}{why}."


def share_problems(scenario) -> Iterator[str]:
    """Yield a problem for each share of packets that is too small for tc, which would set no effect at all."""
    link = scenario["link"]
    options = [option.name for option in LINK_OPTIONS if option.name.endswith("_percent")]
    shares = {f"link.{name}.{way}": link[name][way] for name in options for way in DIRECTIONS}
    shares |= {f"link.loss_percent.{way}": link["loss_percent"][way] for way in DIRECTIONS if not _models_of(link, way)}
    shares |= {
        f"link.timeline[{number}].loss_percent": one["loss_percent"] or 0 for number, one in enumerate(link["timeline"])
    }
    shares |= {
        f"multipath.path_loss_percent[{path}]": share
        for path, share in enumerate(scenario["multipath"].get("path_loss_percent") or ())
    }
    for where, share in shares.items():
        if 0 < share < LEAST_CHANCE_PERCENT:
            yield f"{where} is {share:g}; allowed: 0, or at least {LEAST_CHANCE_PERCENT:g} (percent), because tc rounds a smaller share to 0."


def answer_problems(scenario) -> Iterator[str]:
    """Yield a problem for each option that is set only for the reverse direction if no packets are sent in that direction."""
    run = RunSpecification({"scenario": scenario})
    for option in (option for option in LINK_OPTIONS if option.check and not run.answers):
        if option.used(scenario["link"]) and option.of(scenario["link"], DIRECTIONS[0]) is None:
            yield f"link.{option.name} is only for reverse; allowed if all flows are real-time: forward, because nothing is sent in reverse."


def order_problems(scenario) -> Iterator[str]:
    """Yield problems with settings for packet order and for the distribution of jitter, which require jitter and a sufficient delay."""
    link = scenario["link"]
    if link["jitter_order"] == "kept" and not any(link["jitter_ms"].values()):
        yield "link.jitter_order is kept; allowed without a link.jitter_ms: any, because packets stay in order."
    for key in ("jitter_distribution", "jitter_table"):
        if OF_NAME[key].used(link) and not any(link["jitter_ms"].values()):
            value = link[key] if isinstance(link[key], str) else "given"
            yield f"link.{key} is {value}; allowed without a link.jitter_ms: {_plain(OF_NAME[key].none)}."
    if table := link["jitter_table"]:
        below, _ = reach(table["numbers"])
        for way in DIRECTIONS:
            if (longest := below * link["jitter_ms"][way]) > link["delay_ms"][way]:
                yield f"link.jitter_table goes {longest:g} ms below link.delay_ms.{way}, {link['delay_ms'][way]:g}; allowed: a delay of at least {longest:g} ms."
        if scenario["multipath"].get("outage"):
            yield "link.jitter_table is given; allowed with a multipath.outage: null, because the kernel would lose the table."


def correlation_problems(scenario) -> Iterator[str]:
    """Yield problems with correlations of effects that aren't set for the link, or that correlation would make nearly certain."""
    link = scenario["link"]
    given = DRAWN_BY_LINK | {option.correlated: option.name for option in LINK_OPTIONS if option.correlated}
    for direction in DIRECTIONS:
        for what, key in given.items():
            if not (percent := correlation_of(link, what, direction)):
                continue
            where = f"link.correlation.{what}_percent is {percent:g}; allowed"
            is_drawn = link[key][direction] if what in DRAWN_BY_LINK else OF_NAME[key].of(link, direction) is not None
            if not is_drawn:
                yield f"{where} without a link.{key} in {direction}: 0."
            elif what == "loss" and (model := _models_of(link, direction)):
                yield f"{where} with link.{model[0]}: 0, because the model sets the probabilities of bursts."
            elif what == "loss" and link["loss_percent"][direction] > 50:
                yield f"{where} with a link.loss_percent above 50: 0, because correlation would lose nearly all packets."
            elif what == "reorder" and link["reordering"]["gap_packets"] > 1:
                yield f"{where} with link.reordering.gap_packets: 0."


def _models_of(link, direction):
    """Return the names of a link's loss models in one direction, of which at most one is allowed."""
    return [name for name in LOSS_MODELS if OF_NAME[name].of(link, direction) is not None]


def with_share_of_model(scenario) -> dict:
    """Return the key ``link`` of a scenario, with `loss_percent` set to the share of packets lost according to the loss model.

    Invalid models are ignored; `model_problems` reports them.
    """
    link = scenario["link"]
    shares = dict(link["loss_percent"])
    for way in DIRECTIONS:
        given = next((name for name in _models_of(link, way) if name in CHANCES), None)
        if given and not shares[way] and not list(_chance_problems(given, way, link[given][way])):
            shares[way] = round(100 * loss_model_of(link, way).share, 7)
    return {"link": link | {"loss_percent": shares}}


def _chance_problems(name, way, value):
    """Yield problems with the probabilities of a loss model."""
    percent = {key.removesuffix("_percent"): number for key, number in value.items()}
    for pair in NOT_CERTAIN if name == "loss_state" else ():
        if all(percent[one] for one in pair) and sum(percent[one] for one in pair) >= 100:
            given = " and ".join(f"{one}_percent {percent[one]:g}" for one in pair)
            yield f"link.{name}.{way} has {given}; allowed: a sum below 100, because the kernel adds them in 32 bits."
    if name == "loss_state" and percent["p32"] and not percent["p23"]:
        yield f"link.{name}.{way}.p23_percent is 0; allowed with a p32_percent: a number above 0, because state 2 would never end."
    if name == "loss_state" and not percent["p13"] + percent["p14"]:
        yield f"link.{name}.{way} has p13_percent 0 and p14_percent 0; allowed: one of them above 0, because nothing would be lost."
    if name == "loss_gemodel" and not percent["bad_loss"] + percent["good_loss"]:
        yield f"link.{name}.{way} has bad_loss_percent 0 and good_loss_percent 0; allowed: one of them above 0, because nothing would be lost."
    if name == "loss_gemodel" and percent["good_loss"] == 100:
        yield f"link.{name}.{way}.good_loss_percent is 100; allowed: a number below 100."


def model_problems(scenario) -> Iterator[str]:
    """Yield problems with loss models and with settings that can't be combined with them."""
    link = scenario["link"]
    for way, name in ((one, name) for one in DIRECTIONS for name in _models_of(link, one)):
        value, loss = link[name][way], link["loss_percent"][way] / 100
        where = f"link.{name}.{way} is {value_text(value) if name in CHANCES else f'{value:g}'}; allowed"
        if others := [other for other in _models_of(link, way) if other != name]:
            yield f"{where} with link.{others[0]}: null."
            return
        if name in CHANCES:
            problems = list(_chance_problems(name, way, value))
            yield from problems
            if not problems and abs(100 * loss - (share := 100 * loss_model_of(link, way).share)) > SHARE_SLACK:
                yield f"link.loss_percent.{way} is {100 * loss:g}; allowed with link.{name}: 0, because the model's probabilities make it {share:.9g}."
        elif not loss:
            yield f"{where} without a link.loss_percent.{way}: null."
        elif value < loss / (1 - loss):
            yield f"{where} with link.loss_percent.{way} {100 * loss:g}: {loss / (1 - loss):.4g} or more, the shortest mean length with this loss."
        if scenario["multipath"].get("outage"):
            yield f"{where} with a multipath.outage: null, because the kernel would lose the model."
        if any(
            way in directions_of(one)
            and any(one[key] is not None for key in ("delay_ms", "loss_percent", "down_for_s"))
            for one in link["timeline"]
        ):
            yield f"{where} with a link.timeline of delay or loss in that direction: null, because the kernel would lose the model."


def _plain(value):
    return value if isinstance(value, str) else value_text(value)
