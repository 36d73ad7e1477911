"""The models' assumptions. A cell that violates an assumption of a model can't be compared with this model."""

from experiment.flow_groups import LONG, OWN
from experiment.specification import RunSpecification
from study_files.study_design import is_changing
from tcp_models.model_names import CUBIC, FULL_LINK, FULL_QUEUE, SQUARE_ROOT

#: Flows that are limited by receive windows or send buffers for more than this percentage of the time violate a model's assumptions.
WINDOW_LIMITED_PERCENT = 10
#: Maximum ratio of segments retransmitted after start-up to segments lost at random; a larger ratio shows that there are other losses.
MORE_LOSSES = 1.5
#: Reason why flows of a program aren't comparable with the response functions, whichever CCA it uses.
OF_PROGRAM = "a program's pauses, window limits and number of connections aren't known"


def unlike(scenario) -> dict[str, list[str]]:
    """Return model -> list of reasons why a resolved scenario violates the model's assumptions; an empty list if it meets them.

    The response functions assume random losses of individual segments on a constant path. The model of the saturated link assumes that only
    the measured flows use the link. The model of the full queue assumes that nothing else delays a packet beyond the path's delay.
    """
    run, link = RunSpecification({"scenario": scenario}), scenario["link"]
    changes = (is_changing(scenario), "the path changes while traffic flows")
    late = run.option("reordering", "forward") is not None
    response = _said(
        changes,
        (link.get("policer"), "a policer drops packets in bursts"),
        (link.get("reverse_policer"), "a policer drops acknowledgements"),
        (run.direction("forward").loss_model, "packets are lost in bursts, but the law assumes isolated losses"),
        (run.correlation("loss", "forward"), "losses are correlated, but the law assumes independent losses"),
        (
            scenario["transport"]["segmentation_offload"],
            "a lost super-packet is several segments, but the law assumes isolated losses",
        ),
        (late, "late packets are considered lost"),
        (_pausing(run), "flows pause"),
        (run.max_pacing_rate_mbps, "the senders are limited to a rate"),
        (
            run.flows > 1 and len({pair.rtt_ms for pair in run.pairs}) > 1,
            "flows have paths with different RTTs, but the law assumes one RTT",
        ),
    )
    others = [group for group in run.groups if group.application != LONG or group.cca != OWN]
    shared = _said(
        (others, "other flows share the link"),
        (scenario["background"] != "none", "a server shares the link"),
        (_pausing(run), "flows pause"),
        (run.max_pacing_rate_mbps, "the senders are limited to a rate"),
        (_holds_less_than_path(run), "the send buffers are too small to fill the path"),
    )
    disturbed = any(link["jitter_ms"].values()) or late or run.option("reordering", "reverse") is not None
    delayed = _said(
        changes,
        (disturbed or link.get("ack_slot_ms") or link.get("data_slot_ms"), "packets are delayed elsewhere too"),
        (link.get("policer"), "a policer drops packets before they queue"),
    )
    return {SQUARE_ROOT: response, CUBIC: response, FULL_LINK: shared, FULL_QUEUE: delayed}


def _said(*conditions):
    return [words for holds, words in conditions if holds]


def _holds_less_than_path(run):
    """Return whether the send buffers of all flows together hold less than the path's bandwidth-delay product.

    The kernel uses half of a send buffer for data structures. It doesn't count the time during which a program is blocked because the send
    buffer is full, so `window_limited_percent` doesn't include this time.
    """
    buffer = run.transport.send_buffer_bytes
    if buffer is None or run.capacity.is_unlimited():
        return False
    return run.flows * buffer / 2 < run.capacity.most_mbps() * run.rtt_path_ms * 125


def _pausing(run):
    return any(group.on_s is not None for group in run.groups)


def unlike_runs(runs, model) -> list[str]:
    """Return the reasons why a cell's valid runs violate a model's assumptions; ``runs`` are rows of ``tidy/runs.csv``."""
    waited = runs["window_limited_percent"].mean()
    reasons = _said(
        (
            model != FULL_QUEUE and waited > WINDOW_LIMITED_PERCENT,
            f"flows waited for the receiver's window or their send buffer for {waited:.0f} % of the time",
        )
    )
    if model in (SQUARE_ROOT, CUBIC):
        reasons += _said(
            ((runs["queue_marks"] > 0).any(), "marks reduce the window, too"),
            (
                _other_losses(runs),
                "after start-up the queue also drops packets, or segments are retransmitted needlessly",
            ),
        )
    return reasons


def _other_losses(runs):
    """Return whether more segments were retransmitted after start-up than random losses explain.

    The limit is `MORE_LOSSES` times the random losses, plus three standard errors.
    """
    passed = runs["packets_sent"] - runs["queue_drops"]
    # A netem qdisc that serves both as the queue and as the source of loss doesn't count the two kinds of drops separately; the configured
    # loss is then used.
    random = (runs["link_drops"] / passed.where(passed > 0)).fillna(runs["loss_configured_percent"] / 100)
    known = runs["retransmit_steady_percent"].notna() & (runs["packets_sent"] > 0)
    packets = runs["packets_sent"].where(known, 0).fillna(0)
    expected = (random * packets).sum()
    retransmitted = (runs["retransmit_steady_percent"].fillna(0) / 100 * packets).sum()
    return retransmitted > MORE_LOSSES * expected + 3 * expected**0.5
