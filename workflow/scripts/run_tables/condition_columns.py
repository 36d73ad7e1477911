"""Columns that the tables of runs and of scenarios share: traffic, topology and queue management."""

from run_tables.table import count_column, number_column, text_column

#: Columns about traffic and topology.
APPLICATION_COLUMNS = (
    text_column("topology", "`dumbbell`, `cable` or `chain`."),
    count_column(
        "bottlenecks",
        "",
        "Number of bottlenecks in series: 1, except for a chain. For a chain, columns on the bottleneck and its path refer to the narrowest bottleneck.",
    ),
    text_column("background", "Background traffic on the path: `none` or `server`."),
    text_column(
        "application",
        "`iperf3`, `round-trip` (qperf) or `ftp` (vsftpd, wget). A program under test (`cca`) replaces the iperf3 flows; this column and the next two describe the flows that it replaces.",
    ),
    text_column("protocol", "`tcp` or `udp`."),
    number_column(
        "message_bytes", "bytes", "Bytes that the application writes at a time; for UDP, the payload of a packet."
    ),
    text_column("multipath", "Method that aggregates several paths: `none`, `mptcp` or `gre`."),
    count_column("paths", "", "Number of cables between the hosts."),
    text_column("tunnel_ip_version", "Outer IP version of the tunnels.", "there are no tunnels"),
)
#: Columns about queue management at the bottleneck and the flows' use of ECN.
DISCIPLINE_COLUMNS = (
    text_column("discipline", "Queueing discipline of the bottleneck: `drop-tail`, `codel` and so on."),
    text_column("ecn", "Mode of ECN that flows request: `off`, `classic` (RFC 3168) or `accurate` (RFC 9768)."),
)
