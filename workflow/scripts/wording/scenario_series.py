"""Series of scenarios: scenarios that differ only in the buffer size, on one or several platforms."""

import itertools

import pandas as pd

from experiment.packet_sizes import ETHERNET_HEADER_BYTES, HEADER_BYTES, PACKET_BYTES
from wording.number_format import is_missing, plain
from wording.scenario_words import KERNELS, platform_name, shared_and_own

# Columns of tidy/scenarios.csv that depend on the name, the buffer or the platform of a scenario.
APART = ("scenario", "label", "conditions", "queue", "queue_packets", "platform", "recovery")
UNITS = ("packets", "bytes", "BDP")


def with_series(scenarios: pd.DataFrame) -> pd.DataFrame:
    """Return ``tidy/scenarios.csv`` with additional columns about the series to which each scenario belongs.

    The additional columns are ``conditions`` (a number for all conditions other than buffer and platform), ``in_common`` (these conditions
    in words), ``setting`` (unique words for these conditions, or empty if all scenarios share them), ``platform_name``, ``series``
    (platform and setting), ``buffer`` (such as "10 packets"), ``buffer_size``, ``buffer_unit`` and ``buffer_packets`` (the size in full packets).
    """
    table = scenarios.copy()
    sizes = [buffer_size(text) for text in table["queue"]]
    rest = [name for name in table.columns if name not in APART]
    keys = pd.Series(["/".join(map(str, row)) for row in table[rest].itertuples(index=False)], table.index)
    numbers = pd.Series(pd.factorize(keys)[0] + 1, table.index)
    table["in_common"] = numbers.map(
        {number: shared_and_own(table[numbers == number])[0] for number in numbers.unique()}
    )
    table["conditions"] = numbers
    table["setting"] = _settings(table)
    table["platform_name"] = [platform_name(platform) for platform in table["platform"]]
    names = zip(table["platform_name"], table["setting"], strict=True)
    table["series"] = [", ".join(filter(None, parts)) for parts in names]
    table["buffer"] = ["1 packet" if size == (1, "packets") else f"{plain(size[0])} {size[1]}" for size in sizes]
    table["buffer_size"] = [size for size, _ in sizes]
    table["buffer_unit"] = [unit for _, unit in sizes]
    table["buffer_packets"] = [_in_packets(row) for row in table.to_dict("records")]
    return table


def _in_packets(scenario):
    """Return the size of a buffer in full packets of TCP over IPv4; a size in BDPs is the limit set in the runs, if there are any."""
    size, segment = scenario["buffer_size"], scenario["segment_bytes"]
    if scenario["buffer_unit"] == "bytes":
        headers = HEADER_BYTES["ipv4"] + ETHERNET_HEADER_BYTES
        return size / (PACKET_BYTES if is_missing(segment) else segment + headers)
    limits = "" if is_missing(scenario["queue_packets"]) else str(scenario["queue_packets"])
    return size if scenario["buffer_unit"] == "packets" else float((limits.split() or ["nan"])[0])


def buffer_size(text) -> tuple[float, str]:
    """Return the size and the unit of a buffer from its text in scenarios.csv, such as "10 packets" or "0.5 BDP".

    Raises `ValueError` if the unit isn't one of `UNITS`.
    """
    size, _, unit = text.partition(" ")
    if unit not in UNITS:
        raise ValueError(f"a queue is '{text}'; expected a number of {', '.join(UNITS)}")
    return float(size), unit


def buffers_of(table) -> pd.DataFrame:
    """Return the distinct buffers in a table from `with_series`, smallest first: ``buffer``, ``buffer_size`` and ``buffer_unit``.

    Sizes in different units are compared in packets. A size in BDPs may then have several values; the smallest counts.
    """
    size = "buffer_size" if table["buffer_unit"].nunique() == 1 else "buffer_packets"
    known = table.sort_values(size, kind="stable").drop_duplicates("buffer")
    return known[["buffer", "buffer_size", "buffer_unit"]].reset_index(drop=True)


def platforms_of(table) -> list[str]:
    """Return the distinct platforms of scenarios in this order: guest kernel, host kernel, simulators.

    The versions of a simulator are ordered from oldest to newest.
    """
    platforms = dict.fromkeys(table["platform"])
    simulators = sorted(platforms.keys() - KERNELS.keys(), key=lambda name: (name.partition(":")[0], version_of(name)))
    return [*(kernel for kernel in KERNELS if kernel in platforms), *simulators]


def version_of(platform) -> tuple[int, ...]:
    """Return a platform's version as numbers: (3, 44) for `ns3:3.44`, () for `uml`."""
    return tuple(int(part) for part in platform.partition(":")[2].split(".") if part)


def setting_words(scenario) -> str:
    """Return the conditions in a row of `with_series`, with the number of the setting if other conditions result in the same text."""
    return scenario["setting"] or scenario["in_common"]


def compared_platforms(platforms) -> list[str]:
    """Return the platforms of ``analysis/platforms.csv`` in the order of `platforms_of`."""
    return platforms_of(platforms.melt(value_vars=["platform_a", "platform_b"], value_name="platform"))


def main_pairs(platforms: list[str]) -> list[tuple[str, str]]:
    """Return the pairs of platforms to compare.

    The pairs consist of the two kernels, of each kernel and the newest or the oldest version of the simulator, and of these two versions.

    The platforms are in the order of `platforms_of`.
    """
    kernels, versions = [name for name in platforms if ":" not in name], [name for name in platforms if ":" in name]
    pairs = [*itertools.combinations(kernels, 2)]
    pairs += [(kernel, version) for kernel in kernels for version in dict.fromkeys((*versions[-1:], *versions[:1]))]
    return pairs + ([(versions[0], versions[-1])] if len(versions) > 1 else [])


def _settings(table):
    by_key = dict(zip(table["conditions"], table["in_common"], strict=True))
    if len(by_key) == 1:
        return [""] * len(table)
    texts = list(by_key.values())
    return [
        f"{words} (setting {key})" if texts.count(words) > 1 else words
        for words, key in zip(table["in_common"], table["conditions"], strict=True)
    ]
