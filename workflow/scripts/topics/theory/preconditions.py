"""What the models presume, and which scenarios are otherwise: there a cell is not comparable with the model, for the reasons said here."""

from experiment.flow_groups import LONG, OWN
from experiment.specification import RunSpecification
from study_files.study_design import is_changing
from tcp_models.model_names import CUBIC, FULL_LINK, FULL_QUEUE, SQUARE_ROOT

#: Share of the time that flows may wait for windows or buffers before a model of the path says nothing of them, in %.
WINDOW_LIMITED_PERCENT = 10
#: How many times as many segments as random loss takes may be retransmitted after start-up.
MORE_LOSSES = 1.5


def unlike(scenario) -> dict[str, list[str]]:
    """Return model -> why a resolved scenario is not what it presumes; no reasons: it is.

    The response functions are of single segments that are lost at random on a path that stays as it is; a full link is one that only
    the flows measured share; a full queue is all that may delay a packet beyond the path.
    """
    run, link = RunSpecification({"scenario": scenario}), scenario["link"]
    changes = (is_changing(scenario), "the path changes while traffic flows")
    late = run.option("reordering", "forward") is not None
    response = _said(
        changes,
        (link.get("policer"), "a policer drops packets in bursts"),
        (link.get("reverse_policer"), "a policer drops acknowledgements"),
        (run.direction("forward").loss_model, "packets are lost in bursts, but the law assumes single losses"),
        (run.correlation("loss", "forward"), "losses are correlated, but the law assumes independent ones"),
        (
            scenario["transport"]["segmentation_offload"],
            "a lost super-packet is several segments, but the law assumes single losses",
        ),
        (late, "late packets are considered lost"),
        (_pausing(run), "flows pause"),
        (run.max_pacing_rate_mbps, "the senders are limited to a rate"),
        (
            run.flows > 1 and len({pair.rtt_ms for pair in run.pairs}) > 1,
            "flows have paths with different RTTs, but the law assumes one",
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
    """Return whether the flows' send buffers, half of which the kernel's own structures take, are smaller than the path's bandwidth-delay product.

    The kernel doesn't count the time for which a blocking program waits for its buffer: `window_limited_percent` misses it.
    """
    buffer = run.transport.send_buffer_bytes
    if buffer is None or run.capacity.is_unlimited():
        return False
    return run.flows * buffer / 2 < run.capacity.most_mbps() * run.rtt_path_ms * 125


def _pausing(run):
    return any(group.on_s is not None for group in run.groups)


def unlike_runs(runs, model) -> list[str]:
    """Return the reasons why valid runs of a cell don't meet a model's preconditions.

    ``runs``: rows of ``tidy/runs.csv``.
    """
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
                "after start-up the queue drops packets too, or segments are retransmitted needlessly",
            ),
        )
    return reasons


def _other_losses(runs):
    """Return whether clearly more was retransmitted after start-up than is lost at random: beyond three standard errors of that, too."""
    passed = runs["packets_sent"] - runs["queue_drops"]
    # One netem that is queue and loss at once doesn't tell its drops apart: then what is set counts.
    random = (runs["link_drops"] / passed.where(passed > 0)).fillna(runs["loss_configured_percent"] / 100)
    known = runs["retransmit_steady_percent"].notna() & (runs["packets_sent"] > 0)
    packets = runs["packets_sent"].where(known, 0).fillna(0)
    expected = (random * packets).sum()
    retransmitted = (runs["retransmit_steady_percent"].fillna(0) / 100 * packets).sum()
    return retransmitted > MORE_LOSSES * expected + 3 * expected**0.5
