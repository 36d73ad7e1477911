"""Sentences about validity: the number of valid runs, and the agreement of loss and RTT with the configured values."""

from experiment.packet_sizes import PACKET_BYTES
from report_parts.data_tables import minus
from run_tables.exclusions import not_run
from run_tables.reading import link_packets
from topics.validity.emulation_check import longer_paths_ms
from wording.check_words import check_noun
from wording.number_format import count, number
from wording.scenario_words import least_rtt_ms
from wording.sentence_words import listed

MAX_REASONS = 2


def trust_sentence(runs, checks, scenarios, shifts_ms=None, loss_changing=()) -> str:
    """Report the number of valid runs, and whether loss and RTT agree with the configured values.

    ``shifts_ms`` has the same meaning as in `emulation_check.smallest_rtt`. Loss isn't compared in the scenarios ``loss_changing``, in
    which it changes during a run.
    """
    valid = runs[runs["valid"]]
    # If the hosts' paths differ, the minimum RTT is that of the pair with the shortest path.
    least = {
        row["scenario"]: max(0.0, least_rtt_ms(row) + (shifts_ms or {}).get(row["scenario"], 0.0))
        for row in scenarios.to_dict("records")
    }
    valid = valid.assign(rtt_path_ms=valid["scenario"].map(least) + longer_paths_ms(valid, scenarios))
    jitter = (scenarios["jitter_forward_ms"] + scenarios["jitter_reverse_ms"]).any()
    largest_bytes = valid.groupby("scenario")["packet_bytes"].max().clip(lower=PACKET_BYTES)
    packet_ms = largest_bytes * 8e-3 / scenarios.set_index("scenario")["rate_mbps"].astype(float)
    rtts = rtt_words(valid, "the minimum that jitter allows" if jitter else "the base RTT", packet_ms)
    return (
        "; ".join([validity_words(runs, checks), *loss_sentences(valid[~valid["scenario"].isin(loss_changing)]), *rtts])
        + "."
    )


def validity_words(runs, checks) -> str:
    """Report the number of runs carried out, the number of valid runs, and the checks that the other runs failed."""
    if (absent := not_run(runs)).any():
        carried_out = runs[~absent]
        if carried_out.empty:
            return "No run was carried out"
        words = validity_words(carried_out, checks)
        rest = words[0].lower() + words[1:]
        return f"{len(carried_out):,} of {count(len(runs), 'run')} {'was' if len(carried_out) == 1 else 'were'} carried out; {rest}"
    total, valid = len(runs), int(runs["valid"].sum())
    if valid == total:
        return f"All {total:,} runs passed every check" if total > 1 else "The only run passed every check"
    failed = checks[checks["failed"] > 0].sort_values("failed", ascending=False, kind="stable")
    names = [check_noun(name) for name in failed["check"]]
    reasons = [f"{name} ({number_of:,.0f})" for name, number_of in zip(names, failed["failed"], strict=True)]
    shown = listed([*reasons[:MAX_REASONS], *(["others"] if len(reasons) > MAX_REASONS else [])]) if reasons else ""
    if valid == 0:
        subject = f"No run of {total:,} is valid" if total > 1 else "The only run is not valid"
        return f"{subject}; failed checks: {shown}" if shown else subject
    others = "the other" if total - valid == 1 else f"the other {total - valid:,}"
    subject = f"{valid:,} of {count(total, 'run')} {'is' if valid == 1 else 'are'} valid"
    if len(reasons) == 1:
        return f"{subject}, and {others} failed the check of {names[0]}"
    return f"{subject}, and {others} failed the checks of {shown}" if shown else subject


def loss_sentences(valid) -> list[str]:
    """Report whether the links' realised loss agrees with the configured loss."""
    lossy = valid[valid["loss_configured_percent"] > 0]
    lossy = lossy.assign(reached=link_packets(lossy)).dropna(subset=["reached", "link_drops"])
    sums = lossy.groupby("loss_configured_percent")[["reached", "link_drops"]].sum()
    sums = sums[sums["reached"] > 0]
    if sums.empty:
        return []
    rates = list((100 * sums["link_drops"] / sums["reached"]).items())
    reached = number(sums["reached"].sum(), 0)
    of_all = f"of {reached} packets, the links dropped "
    if len(rates) > 2:
        rates = [max(rates, key=lambda rate: abs(rate[1] / rate[0] - 1))]
        of_all = f"{reached} packets reached links with {len(sums)} loss rates; at the rate with the largest deviation, the links dropped "
    shown = " and ".join(f"{number(seen)} % (configured: {configured:.10g} %)" for configured, seen in rates)
    return [f"{of_all}{shown}"]


def _reason_for_early(valid):
    """Return why minimum RTTs lie below the path's, in parentheses, or "" if rounding doesn't explain all of them (`check_rtt_floor`)."""
    excess = valid["rtt_min_ms"] - valid["rtt_path_ms"]
    early = valid["rtt_min_ms"][excess <= -0.005]
    is_rounded = (early % 1 == 0).all() and excess.min() > -1
    return " (after a loss, the kernel computes RTTs from timestamps in whole milliseconds)" if is_rounded else ""


def rtt_words(valid, least="the base RTT", packet_ms=None) -> list[str]:
    """Compare the minimum measured RTT in each scenario with the minimum possible RTT, which `least` describes in words.

    ``packet_ms`` is the transmission time of a full packet on each scenario's link. On a slow link, this time accounts for most of the
    difference.
    """
    excess = (valid["rtt_min_ms"] - valid["rtt_path_ms"]).groupby(valid["scenario"]).min().dropna()
    if excess.empty:
        return []
    low, high = excess.min(), excess.max()
    minimum = "the minimum RTT in each scenario" if len(excess) > 1 else "the minimum RTT"
    if max(abs(low), abs(high)) < 0.005:
        return [f"{minimum} is within 0.01 ms of {least}"]
    if low <= -0.005:
        # Adding 0 turns -0.0 into 0.0.
        ends = " to ".join(f"{round(end, 2) + 0.0:.2f}" for end in (low, high))
        return [f"{minimum} differs from {least} by {minus(ends)} ms{_reason_for_early(valid)}"]
    slow = "" if packet_ms is None else packet_ms.get(excess.idxmax(), 0)
    where = f", on a link where a packet takes {number(slow, 2)} ms" if high >= 1 and slow >= high / 10 else ""
    return [f"{minimum} is at most {number(high, 2)} ms above {least}{where}"]
