"""Constants of the CCAs in Linux (net/ipv4)."""

#: Factor by which the congestion window is multiplied after a loss: RFC 5681, and `beta` in tcp_cubic.c (RFC 9438: 0.7).
LEFT = {"reno": 0.5, "cubic": 717 / 1024}
#: CUBIC's growth per round trip in its Reno-friendly region, in packets: 3 (1 - beta) / (1 + beta), RFC 9438, section 4.3.
CUBIC_RENO_GROWTH = 3 * (1 - LEFT["cubic"]) / (1 + LEFT["cubic"])
#: Number of packets that a Vegas flow aims to keep in the queue: `alpha` and `beta` in tcp_vegas.c.
VEGAS_ALPHA_PACKETS, VEGAS_BETA_PACKETS = 2, 4
#: Constants in tcp_bbr.c: `bbr_high_gain` (2/ln 2), `bbr_cwnd_gain` in ProbeBW, and cwnd in ProbeRTT (`bbr_cwnd_min_target`).
BBR_HIGH_GAIN, BBR_PROBE_BW_CWND_GAIN, BBR_PROBE_RTT_PACKETS = 2.885, 2.0, 4
#: Age of BBR's minimum RTT estimate at which BBR enters ProbeRTT to measure the RTT again: `bbr_min_rtt_win_sec`.
BBR_PROBE_RTT_EVERY_S = 10.0
#: Minimum duration of ProbeRTT (`bbr_probe_rtt_mode_ms`), and ratio of pacing rate to estimated rate (`bbr_pacing_margin_percent`).
BBR_PROBE_RTT_S, BBR_PACING_SHARE = 0.2, 0.99
