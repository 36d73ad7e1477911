"""Short labels and conditions of scenarios; a scenario is a row of ``tidy/scenarios.csv`` as a mapping."""

from experiment.flow_groups import OWN, REVERSE
from experiment.programs import Program
from wording.number_format import is_missing, plain

#: Platform that uses a Linux kernel -> name for readers, in the order of tables and figures.
KERNELS = {"uml": "Linux", "host": "host Linux"}


def rate_words(rate_mbps) -> str:
    """Return a rate with its unit: "1 Gbit/s", "20 Mbit/s", "no rate limit"."""
    if is_missing(rate_mbps):
        return "no rate limit"
    if rate_mbps >= 1000:
        return f"{plain(rate_mbps / 1000)} Gbit/s"
    return f"{plain(rate_mbps)} Mbit/s"


def both_ways(forward, reverse, unit) -> str:
    """Return the values for both directions as text: "10 ms" if both are equal, otherwise "10 ms / 5 ms"."""
    if forward == reverse:
        return f"{plain(forward)} {unit}"
    return f"{plain(forward)} {unit} / {plain(reverse)} {unit}"


def conditions(scenario) -> str:
    """Return a scenario's conditions in one line, unique within the study (`scenario_labels.conditions_of`)."""
    return scenario["conditions"]


def capacity_words(scenario) -> str:
    """Return the capacity of a scenario's path in the data's direction: "20 Mbit/s", "0 to 24 Mbit/s (mean 12)", "no rate limit"."""
    return conditions(scenario).split(", ")[0]


def shared_and_own(scenarios) -> tuple[str, list[str]]:
    """Return the conditions that all rows of ``tidy/scenarios.csv`` share and, for each row, the conditions that distinguish it.

    Returns
    -------
    shared : str
        Shared conditions, such as "1 Gbit/s"; empty if no conditions are shared.
    own : list of str
        Distinguishing conditions of each scenario, such as "RTT 20 ms, 1 % loss, 1 flow"; an empty text if there is only one scenario.
    """
    parts = [conditions(scenario).split(", ") for scenario in scenarios.to_dict("records")]
    shared = [part for part in parts[0] if all(part in others for others in parts)]
    return ", ".join(shared), [", ".join(part for part in own if part not in shared) for own in parts]


def distinct_first(texts) -> dict[str, str]:
    """Return, for each of several conditions in one line, the line with the parts first that aren't in all of them.

    >>> list(distinct_first(["20 Mbit/s, no loss, 1 flow", "20 Mbit/s, 1 % loss, 1 flow"]).values())
    ['no loss, 20 Mbit/s, 1 flow', '1 % loss, 20 Mbit/s, 1 flow']
    """
    parts = {text: text.split(", ") for text in texts}
    return {
        text: ", ".join(sorted(own, key=lambda part: all(part in others for others in parts.values())))
        for text, own in parts.items()
    }


def loss_words(scenario, alike, apart) -> str:
    """Return a scenario's loss, such as "1 % loss", followed by ``alike`` if the loss is the same in both directions.

    The function ``apart`` returns the words for two different values and their unit.
    """
    forward, reverse = scenario["loss_forward_percent"], scenario["loss_reverse_percent"]
    if forward == reverse == 0:
        return "no loss"
    if reverse == 0:
        return f"{plain(forward)} % loss"
    return f"{plain(forward)} % loss {alike}" if forward == reverse else f"{apart(forward, reverse, '%')} loss"


def groups_words(groups) -> str:
    """Return a resolved scenario's groups in words, such as "web, call, long bbr, up (reverse)".

    A group's CCA is included if it differs from the run's CCA.
    """
    return ", ".join(
        " ".join(
            [
                group["name"],
                *([] if group["cca"] == OWN else [group["cca"]]),
                *([Program(**group["program"]).label] if group.get("program") else []),
                *(["(reverse)"] if group.get("direction") == REVERSE else []),
            ]
        )
        for group in groups
    )


def amount_words(scenario) -> str:
    """Return how long or how much a scenario's runs send: "10 s", "1,000,000 messages", or "50 MB" for a file."""
    for name, unit, factor in (("messages", "messages", 1.0), ("file_bytes", "MB", 1e-6)):
        if not is_missing(scenario[name]):
            return f"{plain(factor * scenario[name])} {unit}"
    return f"{plain(scenario['duration_s'])} s"


def heading(scenario) -> str:
    """Return a scenario's label as a heading; a number that isn't the scenario's name gets a noun, as in "Scenario 1"."""
    label = scenario["label"]
    return f"Scenario {label}" if label.isdigit() and label != scenario["scenario"] else label


def path_rtts_ms(scenario) -> list[float]:
    """Return the distinct base RTTs between a scenario's pairs of hosts in ms, shortest first."""
    if chain := scenario.get("chain_rtts_ms"):
        return sorted({float(rtt) for rtt in chain.split()})
    both_ways_ms = scenario["delay_forward_ms"] + scenario["delay_reverse_ms"]
    access, paths = ([float(delay) for delay in scenario[key].split()] for key in ("access_delay_ms", "path_delay_ms"))
    # A round trip crosses the access link of each of the two hosts twice.
    return sorted({both_ways_ms + 4 * pair + 2 * path for pair in access for path in paths})


def least_rtt_ms(scenario) -> float:
    """Return the minimum possible RTT in a scenario in ms: the base RTT of the shortest path, minus the largest reduction by jitter.

    On a chain, the shortest path crosses one bottleneck and has the jitter of one link.
    """
    return max(0.0, path_rtts_ms(scenario)[0] - scenario["jitter_forward_ms"] - scenario["jitter_reverse_ms"])


def platform_words(platform) -> str:
    """Return a platform's name with its version: "ns-3 3.44" for "ns3:3.44", and any other name unchanged."""
    name, _, version = platform.partition(":")
    return f"ns-3 {version}" if name == "ns3" else platform


def platform_name(platform) -> str:
    """Return a platform's label: "Linux", "host Linux", "ns-3 3.44"."""
    return KERNELS.get(platform) or platform_words(platform)


def ip_words(ip_version) -> str:
    """Return an IP version's name: "IPv4" for "ipv4"."""
    return ip_version.replace("ipv", "IPv")
