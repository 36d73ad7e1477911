"""Phases of a flow's congestion control, told from its samples.

Loss-based CCAs and Vegas, by Linux' own rules (net/ipv4/tcp_input.c, include/net/tcp.h):

- loss recovery: the socket is in the state Loss, after a timeout;
- fast recovery: in the states Recovery or CWR (RFC 6582; with proportional rate reduction, RFC 6937);
- slow start: otherwise, while cwnd is below ssthresh or ssthresh is infinite (`tcp_in_slow_start`);
- congestion avoidance: otherwise.

A platform that doesn't know the state has the last two only: recovery counts as one of them.

BBR, by its gains (net/ipv4/tcp_bbr.c: `bbr_high_gain` 2.885 = 2/ln 2, `bbr_drain_gain` 1/2.885, in ProbeBW
`bbr_pacing_gain` 5/4, 3/4, 1, 1, 1, 1, 1, 1 and `bbr_cwnd_gain` 2, in ProbeRTT both 1 and cwnd
`bbr_cwnd_min_target`, 4 packets). BBR recovers from losses within each of its phases, so that this is no phase
of its own. Where the gains aren't known only ProbeRTT can be told, by its cwnd.

A program that logs its states (qlog: `slow_start`, `congestion_avoidance`, `recovery`) has these; otherwise its phase is not told.

A phase that is shorter than the sampling interval may be missed, and begins and ends are as fine as that.
"""

import numpy as np
import pandas as pd

from tcp_models.linux_ccas import BBR_HIGH_GAIN, BBR_PROBE_BW_CWND_GAIN, BBR_PROBE_RTT_PACKETS
from topics.time_series.tables import PHASES
from topics.time_series.window_series import FLOW

SLOW_START = "slow start"
AVOIDANCE = "congestion avoidance"
RECOVERY = "fast recovery"
LOSS = "loss recovery"
STARTUP, DRAIN, PROBE_BW, PROBE_RTT = "Startup", "Drain", "ProbeBW", "ProbeRTT"
#: What the samples don't tell: BBR's phase before its first packet, or without its gains.
UNTOLD = "not told"
ALL_PHASES = (SLOW_START, AVOIDANCE, RECOVERY, LOSS, STARTUP, DRAIN, PROBE_BW, PROBE_RTT, UNTOLD)
#: Columns of the samples that are looked at.
COLUMNS = ("state", "cwnd_packets", "ssthresh_packets", "bbr_pacing_gain", "bbr_cwnd_gain")

# Gains are 1/256 in the kernel; the nearest two of a kind are far further apart than this.
GAIN_STEP = 0.05


def phase_of_samples(series) -> pd.Categorical:
    """Return the phase of each sample, one of `ALL_PHASES`.

    ``series``: with flow_cca and `COLUMNS`, a row a sample; of any number of flows.
    """
    state = series["state"].astype(object).to_numpy()
    cwnd, ssthresh, pacing, window = (series[name].to_numpy(float) for name in COLUMNS[1:])
    bbr = (series["flow_cca"].astype(object) == "bbr").to_numpy()
    gains = pacing > 0
    rules = (
        (bbr & gains & _near(pacing, BBR_HIGH_GAIN), STARTUP),
        (bbr & gains & _near(pacing, 1 / BBR_HIGH_GAIN), DRAIN),
        (bbr & gains & _near(window, 1.0), PROBE_RTT),
        (bbr & gains & _near(window, BBR_PROBE_BW_CWND_GAIN), PROBE_BW),
        (bbr & np.isnan(pacing) & (cwnd <= BBR_PROBE_RTT_PACKETS), PROBE_RTT),
        (bbr, UNTOLD),
        (np.isnan(cwnd) | (state == "not told") | (state == "application_limited"), UNTOLD),
        (state == "slow_start", SLOW_START),
        (state == "congestion_avoidance", AVOIDANCE),
        (state == "loss", LOSS),
        ((state == "recovery") | (state == "cwr"), RECOVERY),
        (np.isnan(ssthresh) | (cwnd < ssthresh), SLOW_START),
    )
    codes = np.select(
        [rule for rule, _ in rules], [ALL_PHASES.index(name) for _, name in rules], ALL_PHASES.index(AVOIDANCE)
    )
    return pd.Categorical.from_codes(codes, categories=list(ALL_PHASES))


def _near(values, gain):
    return np.abs(values - gain) < GAIN_STEP


def phase_table(series) -> pd.DataFrame:
    """Return the phases of each flow, one after another, as `PHASES`.

    ``series``: as `window_series.valid_series` yields them, with `COLUMNS`.
    """
    if series.empty:
        return pd.DataFrame(columns=PHASES.names)
    flow = series.groupby(FLOW, sort=False, observed=True).ngroup().to_numpy()
    phase = phase_of_samples(series)
    first = np.r_[True, (flow[1:] != flow[:-1]) | (phase.codes[1:] != phase.codes[:-1])]
    begins = np.flatnonzero(first)
    lasts = np.r_[begins[1:], len(series)] - 1
    nexts = np.minimum(lasts + 1, len(series) - 1)
    time = series["time_s"].to_numpy()
    # The next phase's first sample is no end if it is another flow's.
    ends = np.where(flow[nexts] == flow[begins], time[nexts], time[lasts])
    table = series.iloc[begins][[*FLOW, "flow_cca"]].reset_index(drop=True)
    return table.assign(phase=np.asarray(phase[begins].astype(str)), begin_s=time[begins], end_s=ends)
