"""Write `config/studies/traces/cellular.trace`, a synthetic trace of a cellular link in Mahimahi's format.

The model is the one used by Sprout (Winstein, Sivaraman and Balakrishnan, NSDI 2013, section 3.1). The times at which packets may pass
form a Poisson process, whose rate follows a Brownian motion between 0 and a limit. While the rate is 0, the link is in an outage; outages
end at a constant rate. The same seed yields the same bytes.
"""

import math
import random
from pathlib import Path

TRACE = Path(__file__).resolve().parents[1] / "config/studies/traces/cellular.trace"
SEED = 21
LENGTH_MS, TICK_MS = 20_000, 20
#: Initial rate, maximum rate, and standard deviation of the change in one second, all in packets per second.
START, MOST, SIGMA = 400, 1000, 200
#: Rate at which outages end, per second.
ESCAPE = 1


def cellular(seed=SEED) -> list[int]:
    """Return the times in ms at which packets may pass, in ascending order from 1 to `LENGTH_MS`."""
    draw, rate, times = random.Random(seed), START, []
    for begin in range(0, LENGTH_MS, TICK_MS):
        tick_s = TICK_MS / 1e3
        if rate > 0 or draw.random() < 1 - math.exp(-ESCAPE * tick_s):
            rate = min(MOST, max(0.0, rate + draw.gauss(0, SIGMA * math.sqrt(tick_s))))
        at = draw.expovariate(rate / 1e3) if rate else math.inf
        while at < TICK_MS:
            times.append(begin + int(at) + 1)
            at += draw.expovariate(rate / 1e3)
    # The trace ends with its last packet.
    return [*times, LENGTH_MS]


def text() -> str:
    """Return the content of the trace file."""
    return "".join(f"{time_ms}\n" for time_ms in cellular())


if __name__ == "__main__":
    TRACE.write_text(text())
