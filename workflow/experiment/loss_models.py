"""netem's Markov loss models: the model of Gilbert (1960) and Elliott (1963), and a four-state model.

The path is in one of a few states, and changes state between packets with given probabilities; the state determines the loss probability.
Probabilities are fractions here, and percentages in tc-netem(8). The kernel implements the models in `loss_gilb_ell` and `loss_4state`
(net/sched/sch_netem.c of Linux 7.2). The four-state model is from Salsano, Ludovici and Ordine, "Definition of a general and intuitive
loss model" (2009).
"""

from collections.abc import Callable, Iterator
from dataclasses import astuple, dataclass, fields

#: The kernel's value for a probability of 1, which is its largest random number.
CERTAIN = 0xFFFFFFFF


class LossModel:
    """Base class of the loss models, which are Markov chains."""

    #: Keyword after ``loss`` in tc-netem(8) and in tc's JSON.
    word = ""

    def chain(self) -> tuple[tuple, tuple, tuple]:
        """Return the stationary distribution, the matrix of transition probabilities, and the loss probability in each state."""
        raise NotImplementedError

    def fates(self, number: Callable[[], int]) -> Iterator[bool]:
        """Yield one bool per packet: whether the kernel drops the packet.

        Each call to ``number`` returns the kernel's next random number.
        """
        raise NotImplementedError

    @property
    def share(self) -> float:
        """The share of packets that are lost."""
        shares, _, losses = self.chain()
        return sum(share * loss for share, loss in zip(shares, losses, strict=True))

    @property
    def burst_packets(self) -> float:
        """Mean length of a burst of consecutive losses, in packets."""
        shares, changes, losses = self.chain()
        begun = sum(
            share * (1 - loss) * sum(chance * then for chance, then in zip(row, losses, strict=True))
            for share, row, loss in zip(shares, changes, losses, strict=True)
        )
        return self.share / begun if begun else float("inf")

    @property
    def in_a_row(self) -> float:
        """Probability that the packet after a lost packet is lost too: the maximum over all states in which packets are lost."""
        _, changes, losses = self.chain()
        chances = (sum(c * then for c, then in zip(row, losses, strict=True)) for row in changes)
        return max(chance for chance, loss in zip(chances, losses, strict=True) if loss)

    @property
    def stored(self) -> "LossModel":
        """The same model with the probabilities that the kernel stores, in 32 bits."""
        return type(self)(*(_in_kernel(chance) / CERTAIN for chance in astuple(self)))

    @property
    def words(self) -> str:
        """The arguments for tc(8)."""
        return " ".join([self.word, *(f"{100 * chance:.7f}%" for chance in astuple(self))])

    @property
    def told(self) -> dict[str, float]:
        """The values that must be read back in addition to the share of lost packets."""
        return {
            f"loss_{one.name}_percent": 100 * chance for one, chance in zip(fields(self), astuple(self), strict=True)
        }


def _in_kernel(chance):
    # Probabilities are passed to tc in percent with seven decimal places (`LossModel.words`).
    return round(float(f"{100 * chance:.7f}") / 100 * CERTAIN)


@dataclass(frozen=True)
class GilbertElliott(LossModel):
    """The two-state model, with a good and a bad state.

    After each packet, the path changes from the good to the bad state with probability ``p``, and from bad to good with probability ``r``.
    """

    p: float
    r: float
    #: Share of packets lost in the bad state (netem's 1-h) and in the good state (1-k).
    bad_loss: float = 1.0
    good_loss: float = 0.0

    word = "gemodel"

    @classmethod
    def of_bursts(cls, loss, burst_packets) -> "GilbertElliott":
        """Return the model in which every packet is lost in the bad state and none in the good state.

        ``loss`` is the mean loss rate as a fraction, and ``burst_packets`` is the mean length of a loss burst.

        Examples
        --------
        >>> GilbertElliott.of_bursts(0.02, 5)
        GilbertElliott(p=0.004081632653061225, r=0.2, bad_loss=1.0, good_loss=0.0)
        """
        r = 1 / burst_packets
        return cls(r * loss / (1 - loss), r)

    @property
    def is_of_bursts(self) -> bool:
        """Whether all packets are lost in the bad state and none in the good state."""
        return (self.bad_loss, self.good_loss) == (1, 0)

    def chain(self) -> tuple[tuple, tuple, tuple]:
        """The same as `LossModel.chain`; the states are good and bad, in this order."""
        bad = self.p / (self.p + self.r)
        return (1 - bad, bad), ((1 - self.p, self.p), (self.r, 1 - self.r)), (self.good_loss, self.bad_loss)

    def fates(self, number) -> Iterator[bool]:
        """The same as `LossModel.fates`; each packet takes two random numbers."""
        to_bad, to_good, bad_loss, good_loss = map(_in_kernel, astuple(self))
        kept, bad = CERTAIN - bad_loss, False
        while True:
            change, loss = number(), number()
            yield loss > kept if bad else loss < good_loss
            if change < (to_good if bad else to_bad):
                bad = not bad

    @property
    def words(self) -> str:
        """The same as `LossModel.words`; a model from `of_bursts` omits the two loss probabilities, because they are tc's defaults."""
        return " ".join(super().words.split()[:3]) if self.is_of_bursts else super().words

    @property
    def told(self) -> dict[str, float]:
        """The same as `LossModel.told`; for a model from `of_bursts`, the dict contains only the mean burst length."""
        return {"loss_burst_packets": 1 / self.r} if self.is_of_bursts else super().told


@dataclass(frozen=True)
class FourStates(LossModel):
    """The four-state model: packets pass in states 1 (gap) and 2 (burst), and are lost in states 3 (burst) and 4 (single loss).

    ``p13`` is the probability of a transition from state 1 to state 3, and so on.
    """

    p13: float
    p31: float
    p32: float = 0.0
    p23: float = 1.0
    p14: float = 0.0

    word = "state"

    def chain(self) -> tuple[tuple, tuple, tuple]:
        """The same as `LossModel.chain`; the states are numbered 1 to 4."""
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
        """The same as `LossModel.fates`; each packet takes one random number."""
        p13, p31, p32, p23, p14 = map(_in_kernel, astuple(self))
        # State -> (bound, next state) pairs; the next state is the first whose bound exceeds the random number.
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


#: Keyword in tc-netem(8) -> the model, and the names of its parameters in tc's JSON, in the order of the model's fields.
MODELS = {
    one.word: (one, names)
    for one, names in ((GilbertElliott, ("p", "r", "1-h", "1-k")), (FourStates, ("p13", "p31", "p32", "p23", "p14")))
}


def read_model(options) -> LossModel | None:
    """Return the loss model in netem's options, read from tc's JSON; None if they contain no such model."""
    for word, (model, names) in MODELS.items():
        if told := options.get(f"loss-{word}"):
            return model(*(told[name] for name in names if name in told))
    return None
