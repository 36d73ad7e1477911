"""Loss bursts in a run: their number and mean length, and the configured length."""

from experiment.run_document import specification_of


def burst_columns(document) -> dict[str, float | None]:
    """Return the columns loss_bursts, loss_burst_packets and loss_burst_configured_packets of `RUNS`, for the data's direction."""
    seen, model = (
        document.get("loss_bursts", {}).get("forward"),
        specification_of(document).direction("forward").loss_model,
    )
    return {
        "loss_burst_configured_packets": model and model.burst_packets,
        "loss_bursts": seen and seen["bursts"],
        "loss_burst_packets": seen["dropped"] / seen["bursts"] if seen and seen["bursts"] else None,
    }
