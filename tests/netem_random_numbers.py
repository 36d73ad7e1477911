"""The random numbers of netem in Linux, from its seed."""

from collections.abc import Iterator

#: The share that a probability of 1 is in the kernel.
CERTAIN = 0xFFFFFFFF


def taus113(seed) -> Iterator[int]:
    """Yield the numbers of the kernel's prandom_u32_state (lib/random32.c) from a seed, each from 0 to `CERTAIN`."""
    low = ((seed >> 32) ^ (seed << 10) ^ seed) & CERTAIN
    state = [low + least if low < least else low for least in (2, 8, 16, 128)]
    steps = ((6, 13, 4294967294, 18), (2, 27, 4294967288, 2), (13, 21, 4294967280, 7), (3, 12, 4294967168, 13))
    while True:
        for place, (a, b, c, d) in enumerate(steps):
            s = state[place]
            state[place] = (((s & c) << d) & CERTAIN) ^ ((((s << a) & CERTAIN) ^ s) >> b)
        yield state[0] ^ state[1] ^ state[2] ^ state[3]
