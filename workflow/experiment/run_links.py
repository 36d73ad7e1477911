"""The effects of a run's links on packets in each direction, excluding the bottleneck.

`RunLinks` is a base class of `specification.RunSpecification`.
"""

from dataclasses import dataclass
from functools import cached_property

from experiment import delay_tables
from experiment.conditions import Link
from experiment.link_options import (
    ARRIVALS,
    JITTER_REACH,
    OF_NAME,
    correlation_of,
    expected_percent,
    loss_model_of,
    options_at,
)
from experiment.loss_models import LossModel
from experiment.netem_correlation import correlated_share
from experiment.timeline import DIRECTIONS


@dataclass(frozen=True)
class Direction:
    """The path's effects on packets in one direction, excluding the bottleneck."""

    delay_ms: float
    jitter_ms: float
    loss_percent: float
    #: None if packets are lost independently.
    loss_model: LossModel | None = None
    #: Maximum deviation from the mean delay.
    jitter_reach_ms: float = 0


class RunLinks:
    """Properties of a run's links."""

    @cached_property
    def link(self) -> Link:
        return Link(**{key: value for key, value in self.scenario["link"].items() if key not in OF_NAME})

    def option(self, name, direction) -> object:
        """Return the value of one of the `link_options` in a direction, or None if the option has no effect there."""
        return OF_NAME[name].of(self.scenario["link"], direction)

    def direction(self, name) -> Direction:
        """Return the `Direction` for ``forward`` (data) or ``reverse`` (ACKs)."""
        return Direction(
            delay_ms=self.link.delay_ms[name],
            jitter_ms=self.link.jitter_ms[name],
            loss_percent=self.link.loss_percent[name],
            loss_model=loss_model_of(self.scenario["link"], name),
            jitter_reach_ms=max(self.jitter_reach(name)) * self.link.jitter_ms[name],
        )

    def jitter_reach(self, direction) -> tuple[float, float]:
        """Return the maximum deviations of a direction's delays below and above the mean, in units of the jitter.

        For netem's built-in tables these are upper bounds.
        """
        if table := self.option("jitter_table", direction):
            return delay_tables.reach(table["numbers"])
        return (JITTER_REACH[self.option("jitter_distribution", direction) or "uniform"],) * 2

    def slot_ms(self, direction) -> float | None:
        """Return the interval in ms between the times at which packets leave the path in a direction; None without slots."""
        return self.option("data_slot_ms", direction) or self.option("ack_slot_ms", direction)

    def late_percent(self, direction) -> float:
        """Return the percentage of a direction's packets that are late (`link.reordering`)."""
        late = self.option("reordering", direction)
        return expected_percent(OF_NAME["reordering"], self.scenario["link"], direction) if late else 0

    def correlation(self, what, direction) -> float:
        """Return netem's correlation of an effect (`link_options.CORRELATED`) in a direction, as a fraction."""
        return correlation_of(self.scenario["link"], what, direction) / 100

    def loss_share(self, direction) -> float:
        """Return the fraction of a direction's packets that are lost at random; a correlation usually lowers this fraction."""
        return correlated_share(self.direction(direction).loss_percent / 100, self.correlation("loss", direction))

    @property
    def has_loss_bursts(self) -> bool:
        """Whether losses in any direction follow a loss model, that is, depend on the path's state."""
        return any(loss_model_of(self.scenario["link"], direction) for direction in DIRECTIONS)

    @property
    def has_arrival_options(self) -> bool:
        """Whether any option affects packets on arrival after the bottleneck (`link_options.ARRIVALS`)."""
        return any(options_at(self.scenario["link"], ARRIVALS, direction) for direction in DIRECTIONS)
