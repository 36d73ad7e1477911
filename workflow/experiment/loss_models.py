"""netem's loss models with states: the model of Gilbert (1960) and Elliott (1963), and a model with four states.

A path is in one of a few states and changes state between packets with given probabilities; the state determines the loss probability.
Probabilities are fractions here, as in net/sched/sch_netem.c of Linux 7.2 (`loss_gilb_ell`, `loss_4state`); in tc-netem(8) they are in percent.
The model with four states comes from Salsano, Ludovici and Ordine, "Definition of a general and intuitive loss model" (2009).
"""

from collections.abc import Callable, Iterator
from dataclasses import astuple, dataclass, fields

#: The kernel's value for a probability of 1: its largest random number.
CERTAIN = 0xFFFFFFFF


class LossModel:
    """Base of all loss models: a Markov chain."""

    #: Keyword after ``loss`` in tc-netem(8), and in tc's JSON.
    word = ""

    def chain(self) -> tuple[tuple, tuple, tuple]:
        """Return the stationary probabilities of the states, the transition probabilities, and the loss probability in each state."""
        raise NotImplementedError

    def fates(self, number: Callable[[], int]) -> Iterator[bool]:
        """Yield one bool per packet: whether the kernel drops the packet.

        Each call of ``number`` returns the kernel's next random number.
        """
        raise NotImplementedError

    @property
    def share(self) -> float:
        """The share of packets that are lost."""
        shares, _, losses = self.chain()
        return sum(share * loss for share, loss in zip(shares, losses, strict=True))

    @property
    def burst_packets(self) -> float:
        """Mean number of consecutive losses in a burst, in packets."""
        shares, changes, losses = self.chain()
        begun = sum(
            share * (1 - loss) * sum(chance * then for chance, then in zip(row, losses, strict=True))
            for share, row, loss in zip(shares, changes, losses, strict=True)
        )
        return self.share / begun if begun else float("inf")

    @property
    def in_a_row(self) -> float:
        """The largest probability, over all states with losses, that the packet after a lost packet is lost too."""
        _, changes, losses = self.chain()
        chances = (sum(c * then for c, then in zip(row, losses, strict=True)) for row in changes)
        return max(chance for chance, loss in zip(chances, losses, strict=True) if loss)

    @property
    def words(self) -> str:
        """The arguments for tc(8)."""
        return " ".join([self.word, *(f"{100 * chance:.7f}%" for chance in astuple(self))])

    @property
    def told(self) -> dict[str, float]:
        """The values that the read-back must contain in addition to the share of losses."""
        return {
            f"loss_{one.name}_percent": 100 * chance for one, chance in zip(fields(self), astuple(self), strict=True)
        }


def _in_kernel(chance):
    # tc gets seven digits of each probability in percent (`LossModel.words`).
    return round(float(f"{100 * chance:.7f}") / 100 * CERTAIN)


@dataclass(frozen=True)
class GilbertElliott(LossModel):
    """A model with a good and a bad state.

    After each packet, a good path turns bad with probability ``p``, and a bad path turns good with probability ``r``.
    """

    p: float
    r: float
    #: Share of packets lost in the bad state (netem's 1-h) and in the good state (1-k).
    bad_loss: float = 1.0
    good_loss: float = 0.0

    word = "gemodel"

    @classmethod
    def of_bursts(cls, loss, burst_packets) -> "GilbertElliott":
        """Return the model that loses every packet in the bad state and none in the good state.

        ``loss`` is the mean loss as a fraction, and ``burst_packets`` the mean length of a burst of losses.

        Examples
        --------
        >>> GilbertElliott.of_bursts(0.02, 5)
        GilbertElliott(p=0.004081632653061225, r=0.2, bad_loss=1.0, good_loss=0.0)
        """
        r = 1 / burst_packets
        return cls(r * loss / (1 - loss), r)

    @property
    def is_of_bursts(self) -> bool:
        """Whether the path loses all packets in the bad state and none in the good state."""
        return (self.bad_loss, self.good_loss) == (1, 0)

    def chain(self) -> tuple[tuple, tuple, tuple]:
        """The same as `LossModel.chain`, with the states good and bad."""
        bad = self.p / (self.p + self.r)
        return (1 - bad, bad), ((1 - self.p, self.p), (self.r, 1 - self.r)), (self.good_loss, self.bad_loss)

    def fates(self, number) -> Iterator[bool]:
        """The same as `LossModel.fates`, with two random numbers per packet."""
        to_bad, to_good, bad_loss, good_loss = map(_in_kernel, astuple(self))
        kept, bad = CERTAIN - bad_loss, False
        while True:
            change, loss = number(), number()
            yield loss > kept if bad else loss < good_loss
            if change < (to_good if bad else to_bad):
                bad = not bad

    @property
    def words(self) -> str:
        """The same as `LossModel.words`, without values that are tc's defaults."""
        return " ".join(super().words.split()[:3]) if self.is_of_bursts else super().words

    @property
    def told(self) -> dict[str, float]:
        """The same as `LossModel.told`; for a model from `of_bursts`, only the mean burst length."""
        return {"loss_burst_packets": 1 / self.r} if self.is_of_bursts else super().told


@dataclass(frozen=True)
class FourStates(LossModel):
    """A model with four states: packets pass in states 1 (gap) and 2 (burst), and are lost in states 3 (burst) and 4 (single loss).

    ``p13`` is the probability of a transition from state 1 to state 3, and so on.
    """

    p13: float
    p31: float
    p32: float = 0.0
    p23: float = 1.0
    p14: float = 0.0

    word = "state"

    def chain(self) -> tuple[tuple, tuple, tuple]:
        """The same as `LossModel.chain`, with the states 1 to 4."""
        lost = self.p13 / self.p31 if self.p13 else 0
        shares = (1, lost * self.p32 / self.p23 if lost and self.p32 else 0, lost, self.p14)
        changes = (
            (1 - self.p13 - self.p14, 0, self.p13, self.p14),
            (0, 1 - self.p23, self.p23, 0),
            (self.p31, self.p32, 1 - self.p31 - self.p32, 0),
            (1, 0, 0, 0),
        )
        return tuple(share / sum(shares) for share in shares), changes, (0, 0, 1, 1)

    def fates(self, number) -> Iterator[bool]:
        """The same as `LossModel.fates`, with one random number per packet."""
        p13, p31, p32, p23, p14 = map(_in_kernel, astuple(self))
        # State -> bounds of the random number for each following state; the last state follows for all larger numbers.
        followers = {
            1: ((p14, 4), (p13 + p14, 3), (CERTAIN + 1, 1)),
            2: ((p23, 3), (CERTAIN + 1, 2)),
            3: ((p32, 2), (p31 + p32, 1), (CERTAIN + 1, 3)),
            4: ((CERTAIN + 1, 1),),
        }
        state = 1
        while True:
            drawn = number()
            state = next(follower for bound, follower in followers[state] if drawn < bound)
            yield state in (3, 4)


#: Keyword of tc -> the model, and the names of its parameters in tc's JSON, in order.
MODELS = {
    one.word: (one, names)
    for one, names in ((GilbertElliott, ("p", "r", "1-h", "1-k")), (FourStates, ("p13", "p31", "p32", "p23", "p14")))
}


def read_model(options) -> LossModel | None:
    """Return the loss model from netem's options in tc's JSON, or None if they contain no such model."""
    for word, (model, names) in MODELS.items():
        if told := options.get(f"loss-{word}"):
            return model(*(told[name] for name in names if name in told))
    return None
