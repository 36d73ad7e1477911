"""Checks that the machine didn't distort a run on platform ``host``, in addition to the checks of every run (`verification`).

Emulation under a real clock needs spare CPU time (Handigol et al., CoNEXT 2012). If a core is saturated, or a hypervisor takes it away,
packets are delayed, and this delay looks like an effect of the network.
"""

from testbed.checks.check import Check
from testbed.readings.cpu import shares_of

#: Maximum share of any second for which a core may be busy: a core that was idle for less than a twentieth of a second had work waiting.
BUSY_LIMIT = 0.95
BUSY_WINDOW_S = 1.0
#: Maximum share of a core's time that a hypervisor may have taken; it equals the uncertainty of CPU times.
STEAL_LIMIT = 0.05
#: Limits in ms on the wake-up delays of the process that reads CPU times. 99 % of the delays must be within Linux's longest tick (100 Hz),
#: and all of them must be so short that no reading is skipped.
LATE_P99_MS = 10.0
LATE_MAX_MS = 100.0


def check_cpu_saturation(specification, document) -> Check:
    """No core of the run was busy for more than `BUSY_LIMIT` of any second, or stolen for more than `STEAL_LIMIT` of the total time."""
    section = document["cpu"]
    busy = {core: max(shares_of(section, core, "busy", BUSY_WINDOW_S)) for core in section["cores"]}
    steal = {core: shares_of(section, core, "steal")[0] for core in section["cores"]}
    return Check(
        "cpu_saturation",
        max(busy.values()) <= BUSY_LIMIT and max(steal.values()) <= STEAL_LIMIT,
        f"at most {100 * BUSY_LIMIT:g} % busy in any second, at most {100 * STEAL_LIMIT:g} % stolen",
        "; ".join(f"core {core} ({', '.join(section['cores'][core]['roles'])}) up to {100 * busy[core]:.1f} % busy, "
                  f"{100 * steal[core]:.1f} % stolen" for core in busy),
    )  # fmt: skip


def check_clock(specification, document) -> Check:
    """99 % of the wake-ups of the process that reads CPU times were at most `LATE_P99_MS` late, and all were at most `LATE_MAX_MS` late."""
    late = document["cpu"]["late_ms"]
    return Check(
        "clock",
        late["p99"] <= LATE_P99_MS and late["max"] <= LATE_MAX_MS,
        f"99 % of wake-ups at most {LATE_P99_MS:g} ms late, all at most {LATE_MAX_MS:g} ms late",
        f"99 % at most {late['p99']:.3f} ms late, all at most {late['max']:.3f} ms late",
    )


CHECKS = (check_cpu_saturation, check_clock)
