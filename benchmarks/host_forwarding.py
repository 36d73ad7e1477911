"""Run a TCP flow over the network of `host_path` for 5 s, and print iperf3's JSON output."""

import subprocess

from host_path import host_path
from testbed.traffic.traffic import listening_on

PORT, SECONDS = 5201, 5

net = host_path()
server = net["h2"].popen(["iperf3", "--server", "--one-off"], stdout=subprocess.DEVNULL)
while PORT not in listening_on(net["h2"]):
    assert server.poll() is None, server.communicate()
client = net["h1"].popen(["iperf3", "--client", "10.0.2.2", "--time", str(SECONDS), "--json"])
print(client.communicate()[0].decode())
