"""The kernel's data on the CCA of a connection: struct tcpvegas_info, tcp_dctcp_info and tcp_bbr_info (include/uapi/linux/inet_diag.h)."""

import struct

#: Attributes that the kernel also sends in response to INET_DIAG_VEGASINFO.
INET_DIAG_DCTCPINFO, INET_DIAG_BBRINFO = 9, 16
#: TCP_INFINITE_SSTHRESH of include/net/tcp.h; also the value of an RTT that a CCA hasn't measured yet.
INFINITE = 0x7FFF_FFFF
NONE_32, NONE_64 = 0xFFFF_FFFF, 0xFFFF_FFFF_FFFF_FFFF
#: From microseconds to ms, and from bytes/s to Mbit/s, by division.
MS, MBPS = 1e3, 125e3
VEGAS_INFO = struct.Struct("=4I")
DCTCP_INFO = struct.Struct("=HHI")
BBR_INFO = struct.Struct("=QIII")
#: Fields that BBRv3 adds (google/bbr, branch v3): bw_hi, bw_lo, mode, phase, version, inflight_lo, inflight_hi, extra_acked.
BBR3_INFO = struct.Struct("=QQBBxBIII")
#: DCTCP_MAX_ALPHA of net/ipv4/tcp_dctcp.c; BBR_UNIT of tcp_bbr.c.
DCTCP_UNIT, BBR_UNIT = 1024, 256


def vegas(buffer, at) -> dict:
    """Return the fields of a struct tcpvegas_info.

    The meaning of ``vegas_rtt_ms`` depends on the CCA. For vegas and yeah it is the base RTT, that is, the minimum RTT of the connection.
    For illinois it is the mean of the samples in the last RTT. For nv and westwood it is the last RTT.

    ``vegas_rtt_min_ms`` is the minimum RTT in a period. For vegas and yeah the period is the last RTT. For the other CCAs it begins with
    the connection or the last loss. veno provides neither value.
    """
    enabled, count, rtt_us, least_us = VEGAS_INFO.unpack_from(buffer, at)
    return {
        "vegas_enabled": bool(enabled),
        "vegas_rtt_count": count,
        "vegas_rtt_ms": known_rtt_ms(rtt_us),
        "vegas_rtt_min_ms": known_rtt_ms(least_us),
    }


def dctcp(buffer, at) -> dict:
    """Return the fields of a struct tcp_dctcp_info; ``dctcp_alpha`` is a fraction from 0 to 1."""
    enabled, ce_state, alpha = DCTCP_INFO.unpack_from(buffer, at)
    return {"dctcp_enabled": bool(enabled), "dctcp_ce_state": ce_state, "dctcp_alpha": alpha / DCTCP_UNIT}


def bbr(buffer, at) -> dict[str, float | None]:
    """Return the fields of a struct tcp_bbr_info: bandwidth in Mbit/s, minimum RTT in ms, and gains as factors."""
    bytes_per_s, least_us, pacing, cwnd = BBR_INFO.unpack_from(buffer, at)
    return {
        "bbr_bw_mbps": bytes_per_s / MBPS,
        "bbr_rtt_min_ms": known_rtt_ms(least_us),
        "bbr_pacing_gain": pacing / BBR_UNIT,
        "bbr_cwnd_gain": cwnd / BBR_UNIT,
    }


def bbr3(buffer, at) -> dict[str, float | None]:
    """Return the fields that BBRv3 adds to struct tcp_bbr_info: version, phase, and bounds (None for a bound that isn't set)."""
    high, low, _, phase, version, least, most, _ = BBR3_INFO.unpack_from(buffer, at + BBR_INFO.size)
    return {
        "bbr_version": version,
        "bbr_phase": phase,
        "bbr_bw_hi_mbps": known_rate_mbps(high),
        "bbr_bw_lo_mbps": known_rate_mbps(low),
        "bbr_inflight_hi_packets": None if most == NONE_32 else most,
        "bbr_inflight_lo_packets": None if least == NONE_32 else least,
    }


def known_rate_mbps(bytes_per_s) -> float | None:
    return None if bytes_per_s in (0, NONE_64) else bytes_per_s / MBPS


def known_rtt_ms(microseconds) -> float | None:
    return None if microseconds in (0, INFINITE, NONE_32) else microseconds / MS
