"""Express a claim's bounds and cells in words."""

from topics.claims.claim_quantities import LEVELS, SIDES
from wording.number_format import plain
from wording.scenario_words import ip_words
from wording.sentence_words import listed


def requirement_words(requirement, unit) -> str:
    """Return a requirement in words, such as "above 50 %" or "at least 8 and at most 12 times"."""
    words = " and ".join(f"{key.replace('_', ' ')} {plain(bound)}" for key, bound in requirement.items())
    if unit in ("times", ""):
        return words
    is_noun = len(unit) > len("ms") and "/" not in unit  # unlike s, ms and Mbit/s
    return f"{words} {unit.removesuffix('s') if is_noun and words.endswith(' 1') else unit}"


def places_words(holds, claim, counts=True) -> str:
    """Name the cells in which a claim doesn't hold; if the cells in which it holds are fewer, name those instead.

    ``holds`` and ``counts`` have the shape (scenarios, CCAs, IP versions). Cells for which ``counts`` is False are ignored.
    """
    fewer, word = counts & ~holds, "not in"
    if (counts & holds).sum() < fewer.sum():
        fewer, word = counts & holds, "namely in"
    if not fewer.any():
        return ""
    names = []
    for place, scenario in enumerate(claim["scenarios"]):
        if fewer[place].all():
            names.append(scenario)
        elif fewer[place].any():
            names.append(f"{scenario} ({_cells_words(fewer[place], claim)})")
    return f", {word} scenario{'s' if len(names) > 1 else ''} {listed(names)}"


def _cells_words(cells, claim):
    words = []
    for place, cca in enumerate(claim["ccas"]):
        versions = [ip_words(name) for name, there in zip(claim["ip_versions"], cells[place], strict=True) if there]
        if len(claim["ccas"]) == 1:
            words += versions
        elif versions:
            words.append(cca if len(versions) == len(claim["ip_versions"]) else f"{cca} {' '.join(versions)}")
    return ", ".join(words)


def side_words(claim, name, samples, measured=("", "")) -> str:
    """Return a name for one of the two groups that a claim compares: the factor levels in which the groups differ.

    `measured` describes the measures of this group and of the other group in words.
    """
    side, other = claim[name], claim[next(key for key in SIDES[claim["kind"]] if key != name)]
    if measured[0] != measured[1]:
        who = side_words(claim, name, samples)
        return measured[0] if who == "the mean" else f"{who} ({measured[0]})"
    words = []
    if "cca" not in claim.get("each", ()) and (side["ccas"] != other["ccas"] or side["pick"] != other["pick"]):
        everyone = len(side["ccas"]) == len(samples.ccas) > 1
        who = "all CCAs" if everyone else listed(side["ccas"])
        words.append(who if who in samples.ccas and side["pick"] == "mean" else f"the {side['pick']} of {who}")
    if side["scenarios"] != other["scenarios"]:
        everywhere = len(side["scenarios"]) == len(samples.scenarios)
        plural = "s" if len(side["scenarios"]) > 1 else ""
        words.append("in all scenarios" if everywhere else f"in scenario{plural} {listed(side['scenarios'])}")
    if side["ip_versions"] != other["ip_versions"]:
        words.append(f"with {listed([ip_words(name) for name in side['ip_versions']])}")
    if not words or words[0].split()[0] in ("in", "with"):
        words.insert(0, f"the {side['pick']}")
    return " ".join(words)


def paired_scenarios(claim) -> list[str]:
    """Return the labels of the scenarios that a claim compares in turn: "a", or "b over a" if a pair of scenarios is compared."""
    sides = (claim[name]["scenarios"] for name in SIDES[claim["kind"]])
    return [above if above == below else f"{above} over {below}" for above, below in zip(*sides, strict=True)]


def level_words(claim, indices) -> str:
    """Return in words the levels to which a ratio belongs, for the factors in the claim's `each`: "scenario 2, IPv6".

    ``indices`` are the ratio's indices along the axes (scenario, CCA, IP version).
    """
    words = []
    for (key, factor), index in zip(LEVELS.items(), indices, strict=True):
        if factor in claim["each"]:
            name = claim[key][index]
            words.append(f"scenario {name}" if factor == "scenario" else ip_words(name))
    return ", ".join(words)
