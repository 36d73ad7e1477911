"""What joins the paths of a scenario, what the paper calls that, and the single path that it is compared with."""

import pandas as pd
from number_format import is_missing
from scenario_series import platform_name
from scenario_words import ip_words

#: Of `tidy/scenarios.csv`, what a scenario and its single path must have in common.
IN_COMMON = (
    "rate_mbps", "delay_forward_ms", "delay_reverse_ms", "loss_forward_percent", "loss_reverse_percent", "queue", "flows",
    "bitrate_mbps", "duration_s", "platform", "segmentation_offload", "application", "protocol", "message_bytes", "messages",
    "file_bytes", "frame_overhead_bytes", "serialisation",
)  # fmt: skip
#: Environments in the order of the paper's figures.
ENVIRONMENTS = (
    "baseline4", "baseline6", "tun4_path4", "tun4_path6", "tun6_path4", "tun6_path6", "mptcp4", "mptcp6",
)  # fmt: skip


def environment_name(by, tunnel_ip_version, ip_version):
    """Return the paper's name: `tun4_path6` are tunnels over IPv6 that carry IPv4, `baseline4` is plain TCP over IPv4."""
    inside = ip_version.removeprefix("ipv")
    if by == "gre":
        return f"tun{inside}_path{tunnel_ip_version.removeprefix('ipv')}"
    return f"{'mptcp' if by == 'mptcp' else 'baseline'}{inside}"


def joined_by(by, tunnel_ip_version):
    """Return what joins the paths in words: "MPTCP", "GRE over IPv6", "plain TCP"."""
    if by == "gre":
        return f"GRE over {ip_words(tunnel_ip_version)}"
    return "MPTCP" if by == "mptcp" else "plain TCP"


def with_paths(scenarios):
    """Add to scenarios how many paths they have, what joins these, and their single path.

    Parameters
    ----------
    scenarios : pandas.DataFrame
        ``tidy/scenarios.csv``.

    Returns
    -------
    pandas.DataFrame
        The rows with ``paths`` as a number, ``by`` (none, mptcp, gre), ``joined`` (in words), ``even`` (whether
        all paths have the same delay), ``longest_ms`` (what the longest path has more than the shortest, one
        way), ``baseline``: the scenario with plain TCP over one path and else the same
        conditions, None if there is none, and ``application_words``.
    """
    table = scenarios.copy()
    table["paths"] = pd.to_numeric(table["paths"]).astype(int)
    table["by"] = table["multipath"]
    rows = table.to_dict("records")
    table["joined"] = [joined_by(row["by"], row["tunnel_ip_version"]) for row in rows]
    delays = [[float(delay) for delay in row["path_delay_ms"].split()] for row in rows]
    table["longest_ms"] = [max(each) - min(each) for each in delays]
    table["even"] = table["longest_ms"] == 0
    plain = {_key(row): row["scenario"] for row in rows if row["by"] == "none" and row["paths"] == 1}
    table["baseline"] = [plain.get(_key(row)) for row in rows]
    table["application_words"] = ["FTP" if row["application"] == "ftp" else row["application"] for row in rows]
    return table


def _key(row):
    return tuple("" if is_missing(row.get(name)) else str(row.get(name)) for name in IN_COMMON)


def with_platform(name, platform, platforms):
    """Return a panel's name, with its platform if there are several."""
    return f"{name}, {platform_name(platform)}" if len(set(platforms)) > 1 else name


def environments_of(names):
    """Return the distinct environments among some, in the paper's order."""
    return [name for name in ENVIRONMENTS if name in set(names)]
