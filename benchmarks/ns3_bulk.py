"""One CUBIC flow over h1 - r1 - r2 - h2 in ns-3, per packet: 1 Gbit/s, RTT 20 ms, 1 BDP of queue.

Argument: simulated seconds. Prints the goodput.
"""
import sys

from ns import ns

duration_s = float(sys.argv[1])
ns.Config.SetDefault("ns3::TcpL4Protocol::SocketType", ns.StringValue("ns3::TcpCubic"))
ns.Config.SetDefault("ns3::TcpSocket::SegmentSize", ns.UintegerValue(1448))
for buffer in ("SndBufSize", "RcvBufSize"):
    ns.Config.SetDefault(f"ns3::TcpSocket::{buffer}", ns.UintegerValue(64 << 20))

nodes = ns.NodeContainer()
nodes.Create(4)
stack = ns.InternetStackHelper()
stack.Install(nodes)
address = ns.Ipv4AddressHelper()
delays = ("0ms", "0ms", "10ms")
for i, delay in enumerate(delays):
    link = ns.PointToPointHelper()
    link.SetDeviceAttribute("DataRate", ns.StringValue("1Gbps" if i == 1 else "100Gbps"))
    link.SetChannelAttribute("Delay", ns.StringValue(delay))
    link.SetQueue("ns3::DropTailQueue", "MaxSize", ns.StringValue("1652p"))
    devices = link.Install(nodes.Get(i), nodes.Get(i + 1))
    address.SetBase(ns.Ipv4Address(f"10.0.{i}.0"), ns.Ipv4Mask("255.255.255.0"))
    interfaces = address.Assign(devices)
ns.Ipv4GlobalRoutingHelper.PopulateRoutingTables()

sink = ns.PacketSinkHelper(
    "ns3::TcpSocketFactory", ns.InetSocketAddress(ns.Ipv4Address.GetAny(), 5201).ConvertTo()
)
sinks = sink.Install(nodes.Get(3))
sinks.Start(ns.Seconds(0))
source = ns.BulkSendHelper(
    "ns3::TcpSocketFactory", ns.InetSocketAddress(interfaces.GetAddress(1), 5201).ConvertTo()
)
source.SetAttribute("SendSize", ns.UintegerValue(131072))
sources = source.Install(nodes.Get(0))
sources.Start(ns.Seconds(0))
if duration_s:
    ns.Simulator.Stop(ns.Seconds(duration_s))
    ns.Simulator.Run()
    received = sinks.Get(0).GetObject[ns.PacketSink]().GetTotalRx()
    print(f"{received * 8 / duration_s / 1e6:.0f} Mbit/s")
ns.Simulator.Destroy()
