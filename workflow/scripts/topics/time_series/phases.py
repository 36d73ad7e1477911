"""Phases of a flow's congestion control, derived from the flow's samples.

Loss-based CCAs and Vegas, by Linux's rules (net/ipv4/tcp_input.c, include/net/tcp.h):

- loss recovery: after a timeout, the socket is in the state Loss;
- fast recovery: the socket is in the state Recovery or CWR (RFC 6582; with proportional rate reduction, RFC 6937);
- slow start: in any other state, while cwnd is below ssthresh or ssthresh is infinite (`tcp_in_slow_start`);
- congestion avoidance: in all other samples.

On a platform that doesn't report the socket's state, only the last two phases can be distinguished; recovery then counts as one of them.

BBR, by its gains (net/ipv4/tcp_bbr.c):

- Startup: `bbr_high_gain`, 2.885 = 2/ln 2;
- Drain: `bbr_drain_gain`, 1/2.885;
- ProbeBW: `bbr_pacing_gain` is 5/4, 3/4, 1, 1, 1, 1, 1, 1 in turn, and `bbr_cwnd_gain` is 2;
- ProbeRTT: both gains are 1, and cwnd is `bbr_cwnd_min_target`, 4 packets.

BBR recovers from losses within each of these phases, so recovery isn't a separate phase. If the gains are unknown, only
ProbeRTT can be recognised, by its cwnd.

If a program logs its states (qlog: `slow_start`, `congestion_avoidance`, `recovery`), its phases have the same names. The phases
of other programs over UDP are unknown.

A phase shorter than the sampling interval may be missed; beginnings and ends are only accurate to one sampling interval.
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
#: Phase of samples that don't show a phase, such as BBR samples that were taken before the first packet or that lack the gains.
UNTOLD = "unknown"
ALL_PHASES = (SLOW_START, AVOIDANCE, RECOVERY, LOSS, STARTUP, DRAIN, PROBE_BW, PROBE_RTT, UNTOLD)
#: Columns of the samples from which phases are derived.
COLUMNS = ("state", "cwnd_packets", "ssthresh_packets", "bbr_pacing_gain", "bbr_cwnd_gain", "bbr_version")

# The kernel stores gains in units of 1/256; any two pacing gains, or cwnd gains, differ by much more than this tolerance.
GAIN_STEP = 0.05


def phase_of_samples(series) -> pd.Categorical:
    """Return the phase of each sample, one of `ALL_PHASES`.

    ``series`` contains the columns flow_cca and `COLUMNS`, with one row per sample, for any number of flows.
    """
    state = series["state"].astype(object).to_numpy()
    cwnd, ssthresh, pacing, window, version = (series[name].to_numpy(float) for name in COLUMNS[1:])
    gains = pacing > 0
    # Programs over TCP (nginx:bbr) and copies of BBR's file report the same gains under other names; BBRv3 has other gains.
    bbr = (series["flow_cca"].astype(object) == "bbr").to_numpy() | (gains & (version != 3))
    rules = (
        (bbr & gains & _near(pacing, BBR_HIGH_GAIN), STARTUP),
        (bbr & gains & _near(pacing, 1 / BBR_HIGH_GAIN), DRAIN),
        (bbr & gains & _near(window, 1.0), PROBE_RTT),
        (bbr & gains & _near(window, BBR_PROBE_BW_CWND_GAIN), PROBE_BW),
        (bbr & np.isnan(pacing) & (cwnd <= BBR_PROBE_RTT_PACKETS), PROBE_RTT),
        (bbr, UNTOLD),
        (np.isnan(cwnd) | (state == "unknown") | (state == "application_limited"), UNTOLD),
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
    """Return the phases of each flow in chronological order, as `PHASES`.

    ``series`` comes from `window_series.valid_series`, with `COLUMNS`.
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
    # A phase ends at the first sample of the flow's next phase or, in the flow's last phase, at the last sample.
    ends = np.where(flow[nexts] == flow[begins], time[nexts], time[lasts])
    table = series.iloc[begins][[*FLOW, "flow_cca"]].reset_index(drop=True)
    return table.assign(phase=np.asarray(phase[begins].astype(str)), begin_s=time[begins], end_s=ends)
