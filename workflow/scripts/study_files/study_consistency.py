"""Find contradictions between keys of a study.

The checks expect a resolved study that `study_validation` has accepted.
"""

import math
import re
from fractions import Fraction

from experiment.conditions import RECEIVING_SIDE
from study_files.cca_definitions import definition_problems
from study_files.program_problems import mix_problems, program_cca_problems
from study_files.study_analyses import analysis_problems
from study_files.study_chains import chain_mix_problems, chain_problems
from study_files.study_groups import group_problems
from study_files.study_link_options import (
    answer_problems,
    correlation_problems,
    link_option_problems,
    model_problems,
    order_problems,
    share_problems,
)
from study_files.study_memory import buffer_problems, memory_problems, segment_problems
from study_files.study_mtu import ip_version_problems, mtu_problems
from study_files.study_networks import network_problems, traffic_problems
from study_files.study_platforms import LINUX, flow_problems, platform_problems
from study_files.study_queues import mark_problems, network_queue_problems, size_problems
from study_files.study_replications import fixed_replications, has_looks, most_replications
from study_files.study_runs import ccas_written_out, count_runs
from study_files.study_schema import keys_of, scenario_schema, study_schema
from study_files.study_streams import stream_problems
from study_files.study_timeline import policer_problems, timeline_problems
from study_files.study_traces import trace_problems
from study_files.study_validation import problems_of_form, value_text
from study_files.study_variation import corners, is_varied, run_of

# Maximum number of socket readings in the time series of a run, and maximum number of iperf3's reporting intervals, which iperf3 keeps in
# memory until it exits. Twice as many fit into the guest's memory (measured), but not into a document that `make verify` can read (64 MiB
# of text). A reading takes up to 165 bytes (BBR, one flow at 900 Mbit/s, including the queue), and an interval takes 335 bytes (up to 400
# with UDP).
SAMPLES_LIMIT, INTERVALS_LIMIT = 250_000, 50_000
# Maximum number of runs in a study; Snakemake plans 14,400 runs in about ten seconds.
RUNS_LIMIT = 100_000
# Number of SYNs that Linux sends: the first SYN, and as many retries as the default of net.ipv4.tcp_syn_retries.
SYN_COUNT = 7
# Minimum duration of MPTCP traffic in RTTs. On paths with one-way delays of 400 and 500 ms, no data were sent on the longer path in 5 s (6
# RTTs of the shorter path and 5 of the longer), but some were sent in 20 s (measured).
SUBFLOW_RTTS = 10


def contradictions(study) -> list[str]:
    """Return one sentence for each problem in a resolved study that the schema can't detect; the sentences don't name the file."""
    # The label defaults to the id, so a repeated name is reported only once.
    sentences = _repeated(study, "id") or _repeated(study, "label")
    if study["analysis"]["compare_with"] == study["study"]:
        sentences.append(
            f"analysis.compare_with is {study['study']}, the study itself; allowed: another study, or null."
        )
    # A chain with contradictory settings can't be checked further.
    whole = [scenario for scenario in study["scenarios"] if not any(chain_problems(scenario))]
    sentences += [*_check_names(study), *_check_mixes(study), *ip_version_problems(study)]
    sentences += mark_problems(study | {"scenarios": whole})
    sentences += [*_check_replications(study), *_check_seeds(study), *_check_count(study), *analysis_problems(study)]
    kernels_ccas = keys_of(study_schema())["ccas"]["items"]["joined"]
    sentences += definition_problems(study, ccas_written_out(study), kernels_ccas)
    sentences += mix_problems(study)
    checks = (
        _check_rate, _check_jitter, _check_intervals, _check_starts, _check_time, _check_hosts, size_problems,
        segment_problems, buffer_problems, memory_problems, _check_samples, _check_report, _check_loss, network_problems, traffic_problems, stream_problems, network_queue_problems,
        timeline_problems, trace_problems, policer_problems, mtu_problems,
        link_option_problems, model_problems, correlation_problems, order_problems, answer_problems, share_problems,
    )  # fmt: skip
    for scenario in study["scenarios"]:
        # If a chain's settings are contradictory, the other checks would report misleading problems.
        ccas = ccas_written_out(study)
        problems = [*chain_mix_problems(scenario, ccas), *chain_problems(scenario)]
        problems = problems or [*_problems_of(scenario, checks), *group_problems(scenario, ccas)]
        problems += flow_problems(scenario, ccas)
        problems += [] if problems else program_cca_problems(study, scenario)
        if not problems and is_varied(scenario):
            problems = list(_check_variation(scenario, study["analysis"]["calibration"])) or _check_corners(
                scenario, checks
            )
        sentences += [f"scenarios[{scenario['id']}].{problem}" for problem in problems]
        sentences += platform_problems(scenario, study["ccas"], study["ip_versions"])
    return sentences


def _check_variation(scenario, calibration):
    """Yield a problem for each quantity that `variation` can't draw at random in a scenario."""
    asked, run = scenario["variation"], run_of(scenario)
    sizes = {run_of(scenario, ip_version).packet_bytes for ip_version in ("ipv4", "ipv6")}
    for quantity, impossible, allowed in (
        ("rtt_percent", run.rtt_longest_ms == 0, "on a path without delay: 0"),
        ("rate_percent", run.rate_mbps is None, "without a link.rate_mbps: 0"),
        ("rtt_percent", run.timeline, "with a link that changes: 0"),
        ("rate_percent", run.timeline, "with a link that changes: 0"),
        ("down_percent", not any(entry["down_for_s"] for entry in scenario["link"]["timeline"]), "with a link that is never down: 0"),
        (
            "queue_packets", "bdp" in scenario["queue"] and len(sizes) > 1,
            "with a queue in BDPs: 0 where packets of IPv4 and IPv6 differ in size; give the queue in packets or bytes",
        ),
        ("background_percent", not run.is_cable, "with topology dumbbell: 0, because background traffic needs a cable"),
        ("background_percent", run.background != "none", f"with background {run.background}: 0"),
    ):  # fmt: skip
        if asked[quantity] and impossible:
            yield f"variation.{quantity} is {asked[quantity]}; allowed {allowed}."
    if calibration:
        drawn = next(quantity for quantity in asked if asked[quantity])
        yield f"variation.{drawn} is {asked[drawn]}; allowed with analysis.calibration: 0, because calibration needs exact values."


def _check_corners(scenario, checks) -> list[str]:
    """Return a list with the first problem at the bounds of the ranges from which `variation` draws, or an empty list."""
    where = f"scenarios[{scenario['id']}]."
    every = list(corners(scenario))
    for corner in (every[0], every[-1]):
        as_written = {key: value for key, value in corner.items() if key != "label"}
        form = problems_of_form({"study": "corner", "ccas": ["reno"], "scenarios": [as_written]})
        if form:
            return [f"variation includes values that can't be run: {form[0].removeprefix(where)}"]
    for corner in every:
        for problem in _problems_of(corner, checks):
            return [f"variation includes values that can't be run: {problem}"]
    return []


def _problems_of(scenario, checks):
    """Return the problems that the checks find in a resolved scenario; in a chain, checks in `OF_BOTTLENECKS` examine each bottleneck."""
    run, of_each = run_of(scenario), OF_BOTTLENECKS if scenario["topology"] == "chain" else ()
    problems = [problem for check in checks if check not in of_each for problem in check(scenario)]
    return problems + [
        f"chain.bottlenecks[{number}].{problem}"
        for number, bottleneck in enumerate(run.bottlenecks if of_each else ())
        for check in of_each
        for problem in check(bottleneck.scenario)
    ]


def _repeated(study, key):
    first = {}
    return [
        f"scenarios[{position}].{key} is '{value}' as in scenarios[{first[value]}]; "
        "allowed: a name that no other scenario has."
        for position, value in enumerate(scenario[key] for scenario in study["scenarios"])
        if first.setdefault(value, position) != position
    ]


def _check_names(study):
    """Yield a problem for each name that ends in 20 or more repetitions of a text.

    Snakemake would mistake such repetitions for an endless recursion of rules.
    """
    named = [("study", study["study"])]
    named += [(f"scenarios[{scenario['id']}].id", scenario["id"]) for scenario in study["scenarios"]]
    named += [("ccas", cca) for cca in ccas_written_out(study)]
    for key, name in named:
        if ending := re.search(r"(.+?)\1{19,}$", name):
            yield f"{key} has the name {name}; allowed: a name that doesn't end in 20 or more repetitions of '{ending[1]}'."


def _check_replications(study):
    rule = study["replications"]
    if has_looks(study) and rule["at_most"] < rule["at_least"]:
        yield (
            f"replications.at_most is {rule['at_most']:,}; "
            f"allowed: replications.at_least, {rule['at_least']:,}, or more."
        )
    if has_looks(study) and study["controls"] != "none":
        yield (
            f"controls is {study['controls']}; allowed with replications.until: none, "
            "because control runs need a fixed number of replications."
        )
    for scenario in study["scenarios"]:
        if scenario["replications"] and (has_looks(study) or study["controls"] != "none"):
            what = "replications.until" if has_looks(study) else f"controls {study['controls']}"
            yield f"scenarios[{scenario['id']}].replications is {scenario['replications']:,}; allowed with {what}: null."


def _check_seeds(study):
    """Yield a problem for each scenario whose `seeds_of` doesn't name a scenario that uses its own seeds."""
    own = [scenario["id"] for scenario in study["scenarios"] if scenario["seeds_of"] is None]
    for scenario in study["scenarios"]:
        if scenario["seeds_of"] not in (None, *own):
            yield (
                f"scenarios[{scenario['id']}].seeds_of is {scenario['seeds_of']}; allowed: the id of a scenario that has its own seeds"
                f"{': ' + ', '.join(own[:10]) if own else ''}{', ...' if len(own) > 10 else ''}."
            )


def _check_count(study):
    most = most_replications(study)
    of_scenarios = dict.fromkeys((one["id"] for one in study["scenarios"]), most)
    count = count_runs(study, of_scenarios if has_looks(study) else fixed_replications(study))
    if count > RUNS_LIMIT:
        yield (
            f"replications{'.at_most' if has_looks(study) else ''} is {most:,}, which with all scenarios, CCAs and IP versions makes {count:,} runs; "
            f"allowed: up to {RUNS_LIMIT:,}, because Snakemake can't plan more."
        )


def _check_loss(scenario):
    """Yield a problem if loss prevents more than half of all connections from being established.

    Linux sends up to `SYN_COUNT` SYNs, and each SYN or the response to it may be lost.
    """
    run, percent = run_of(scenario), scenario["link"]["loss_percent"]
    if run.udp and run.control_network:
        return
    hops = max(pair.hops for pair in run.pairs)
    passed = math.prod(1 - percent[direction] / 100 for direction in ("forward", "reverse")) ** hops
    share = 1 - (1 - passed) ** SYN_COUNT
    if share < 0.5:
        yield (
            f"link.loss_percent is {value_text(percent)}, with which {100 * share:.2g} % of all connections are established; "
            f"allowed: values with which at least half of the connections are established, such as {{forward: 90, reverse: 0}}."
        )


def _check_rate(scenario):
    if scenario["link"]["rate_mbps"] is not None or scenario["traffic"]["bitrate_mbps"] is not None:
        return
    neither = (
        "link.rate_mbps is null and so is traffic.bitrate_mbps; allowed: a number for one of them (Mbit/s), because"
    )
    if scenario["platform"] != "host":
        # Computation takes no virtual time in the guest, so flows without any limit would send forever at a single point in time.
        yield f"{neither} a virtual clock needs a limit."
    elif scenario["traffic"]["protocol"] == "udp":
        yield f"{neither} UDP doesn't adapt its rate."


def _check_jitter(scenario):
    link = scenario["link"]
    for direction, jitter_ms in link["jitter_ms"].items():
        delay_ms = link["delay_ms"][direction]
        if jitter_ms > delay_ms:
            # netem would draw negative delays.
            yield (
                f"link.jitter_ms.{direction} is {jitter_ms}; "
                f"allowed: at most the delay in that direction, {delay_ms} (ms)."
            )


def _check_intervals(scenario):
    duration_s, interval_s = scenario["traffic"]["duration_s"], scenario["traffic"]["interval_s"]
    if scenario["traffic"]["messages"] is not None or scenario["traffic"]["application"] != "iperf3":
        return
    # Decimal fractions are used because 1 % 0.1 is not zero in floating-point arithmetic.
    if (Fraction(str(duration_s)) / Fraction(str(interval_s))).denominator != 1:
        yield (f"traffic.interval_s is {interval_s}; allowed: a divisor of the duration, {duration_s} (s).")


def _check_mixes(study):
    mixes = [cca for cca in study["ccas"] if "+" in cca]
    if mixes and study["mixes"] == "ordered-pairs":
        yield f"ccas has the mix {mixes[0]}; allowed with mixes ordered-pairs: single CCAs, which are then paired."


def _check_hosts(scenario):
    pairs, flows = scenario["hosts"]["pairs"], run_of(scenario).flows
    delays = len(scenario["hosts"]["access_delay_ms"])
    if pairs > max(1, flows) and not scenario["groups"]:
        yield f"hosts.pairs is {pairs}; allowed: at most the number of flows, {flows}."
    if delays != pairs:
        yield f"hosts.access_delay_ms has {delays} numbers; allowed: one for each of the {pairs} pairs, or one for all."
    if any(scenario["hosts"]["access_delay_ms"]) and scenario["link"]["netem"] != RECEIVING_SIDE:
        yield f"hosts.access_delay_ms is not 0; allowed with netem at {scenario['link']['netem']}: 0, because its netem delays all flows equally."


def _check_starts(scenario):
    within_ms = scenario["traffic"]["start_within_ms"]
    half_ms = round(500 * run_of(scenario).expected_s, 3)
    if within_ms is not None and within_ms >= half_ms:
        yield (
            f"traffic.start_within_ms is {within_ms}; allowed: less than half the traffic's duration, "
            f"{half_ms} (ms), so that all flows overlap for some time."
        )


def _check_time(scenario):
    traffic, run = scenario["traffic"], run_of(scenario, "ipv6")
    if run.expected_s > (limit_s := keys_of(keys_of(scenario_schema())["traffic"])["duration_s"]["maximum"]):
        key = "file_bytes" if traffic["application"] == "ftp" else "messages"
        yield (
            f"traffic.{key} is {traffic[key]:,}, {run.expected_s:,.0f} s of traffic; allowed: up to {limit_s:,} s of traffic, "
            "the maximum of traffic.duration_s."
        )
    looked_at = traffic["protocol"] == "tcp" and traffic["application"] != "round-trip"
    if scenario["platform"] in LINUX and looked_at and 1e3 * run.expected_s <= run.rtt_longest_ms:
        of_iperf3 = "duration_s" if traffic["messages"] is None else "messages"
        key = "file_bytes" if traffic["application"] == "ftp" else of_iperf3
        yield (
            f"traffic.{key} is {traffic[key]}, {1e3 * run.expected_s:.4g} ms of traffic; allowed: traffic that takes longer "
            f"than the path's RTT, {run.rtt_longest_ms:g} (ms), so that there is time to read the sockets."
        )
    elif scenario["multipath"]["by"] == "mptcp" and 1e3 * run.expected_s < SUBFLOW_RTTS * run.rtt_longest_ms:
        yield (
            f"multipath.path_delay_ms makes an RTT of {run.rtt_longest_ms:g} (ms), and traffic takes "
            f"{1e3 * run.expected_s:.4g}; allowed: at least {SUBFLOW_RTTS} RTTs of traffic, because MPTCP joins a path after "
            "two RTTs and uses it only for data that the other paths can't carry."
        )


def _check_report(scenario):
    """Yield a problem if iperf3 would report more intervals than fit into its memory and the run document."""
    traffic = scenario["traffic"]
    lines = round(traffic["duration_s"] / traffic["interval_s"]) * run_of(scenario).flows
    if traffic["processes"] == "per-side":
        return
    if traffic["application"] == "iperf3" and traffic["messages"] is None and lines > INTERVALS_LIMIT:
        yield (
            f"traffic.interval_s is {traffic['interval_s']}, which makes {lines:,} intervals over all flows; "
            f"allowed: up to {INTERVALS_LIMIT:,}."
        )


def _check_samples(scenario):
    interval_ms = scenario["traffic"]["sample_interval_ms"]
    if interval_ms is None:
        return
    run = run_of(scenario, "ipv6")
    readings = round(run.expected_s * 1e3 / interval_ms) * run.sampled_connections
    if readings > SAMPLES_LIMIT:
        least_ms = math.ceil(run.expected_s * 1e3 * run.sampled_connections / SAMPLES_LIMIT)
        yield (
            f"traffic.sample_interval_ms is {interval_ms}, which makes {readings:,} readings of sockets in a run; "
            f"allowed: up to {SAMPLES_LIMIT:,}, with at least {least_ms} (ms)."
        )


#: Checks that are applied to each bottleneck of a chain.
OF_BOTTLENECKS = (_check_jitter, size_problems, segment_problems, memory_problems, network_queue_problems)
