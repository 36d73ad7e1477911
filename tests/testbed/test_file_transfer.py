"""Commands of the FTP server and its client, and wget's output (1.25.0, unchanged)."""

from types import SimpleNamespace

import pytest

from testbed.errors import TrafficError
from testbed.traffic import file_transfer

SAVED = """\
==> SIZE file ... 100000000
==> EPSV ... done.    ==> RETR file ... done.
Length: 100000000 (95M) (unauthoritative)

 97650K ......                                                100% 11.6T=2.2s

2023-11-14 22:13:23 (44.0 MB/s) - ‘/dev/null’ saved [100000000]
"""
REFUSED = """\
--2023-11-14 22:13:21--  ftp://10.3.1.1/file
           => ‘/dev/null’
Connecting to 10.3.1.1:21... connected.
Error in server response. Closing.
Giving up.

"""


def specification(ip_version="ipv4", by="none", receive_wait="process"):
    return SimpleNamespace(
        ip_version=ip_version, multipath=SimpleNamespace(by=by), udp=False, traffic=SimpleNamespace(file_bytes=5_000_000),
        transport=SimpleNamespace(receive_wait=receive_wait),
    )  # fmt: skip


def test_what_wget_says_of_a_download():
    # 44.0 MB/s are units of 2^20 bytes.
    assert file_transfer.parse(SAVED, 2.167) == {
        "bytes": 100_000_000,
        "seconds": 2.167,
        "wget_mbps": pytest.approx(369.1, abs=0.05),
    }
    assert file_transfer.parse("x (512 B/s) - ‘/dev/null’ saved [512]\n", 1.0)["wget_mbps"] == pytest.approx(0.004096)


@pytest.mark.parametrize(
    ("output", "reason"), [(REFUSED, "wget: Error in server response. Closing."), ("", "wget: no output")]
)
def test_a_download_that_failed(output, reason):
    with pytest.raises(TrafficError, match=reason):
        file_transfer.parse(output, 1.0)


def test_the_server_has_the_file_and_its_configuration(tmp_path):
    command = file_transfer.server_command(SimpleNamespace(port=22), specification("ipv6"), tmp_path)
    assert command == ["vsftpd", str(tmp_path / "vsftpd-22.conf")]
    configured = dict(line.split("=", 1) for line in (tmp_path / "vsftpd-22.conf").read_text().splitlines())
    assert (configured["listen"], configured["listen_ipv6"], configured["listen_port"]) == ("NO", "YES", "22")
    assert configured["pasv_min_port"] == configured["pasv_max_port"] == "20001"
    served = tmp_path / "served" / "file"
    assert (configured["anon_root"], served.stat().st_size) == (str(tmp_path / "served"), 5_000_000)
    assert served.stat().st_blocks == 0  # all holes


def test_commands_over_mptcp(tmp_path):
    first = SimpleNamespace(port=21)
    server = file_transfer.server_command(first, specification(by="mptcp"), tmp_path)
    assert server[:2] == ["mptcpize", "run"]
    assert "/usr/lib/sawtooth/urgent.so" in server
    client = file_transfer.client_command(first, specification(by="mptcp"), "10.3.1.1")
    assert client[:3] == ["mptcpize", "run", "wget"]
    assert client[-1] == "ftp://10.3.1.1:21/file"
    assert (
        file_transfer.client_command(first, specification("ipv6"), "2001:db8::1")[-1] == "ftp://[2001:db8::1]:21/file"
    )
    waiting = file_transfer.client_command(first, specification(by="mptcp", receive_wait="kernel"), "10.3.1.1")
    assert waiting[:3] == ["mptcpize", "run", "sh"]
    assert "/usr/lib/sawtooth/iperf3_server.so" in waiting


def test_the_data_connection_is_the_one_from_the_port_for_data():
    entries = [{"sender": "h1", "port": 21, "flows": [0]}, {"sender": "h1", "port": 22, "flows": [1]}]
    seen = {("h1", 21, 40001), ("h1", 20000, 40002), ("h1", 20001, 40003), ("h1", 22, 40004), ("h2", 20000, 40005)}
    assert file_transfer.connections(entries, seen) == {("h1", 20000, 40002): 0, ("h1", 20001, 40003): 1}


def test_the_end_of_wget_counts_from_its_own_start():
    client, output = SimpleNamespace(start_offset_s=0.5), SimpleNamespace(status=0, text="", errors=SAVED, ended_s=3.0)
    assert file_transfer.entry(client, None, {"client": output})["transfer"]["seconds"] == 2.5
    output.status = 8
    with pytest.raises(TrafficError, match="wget: exit status 8"):
        file_transfer.entry(client, None, {"client": output})
