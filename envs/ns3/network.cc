#include "network.h"

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-layer.h"
#include "ns3/queue-disc.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>

using namespace ns3;

namespace
{
// Nothing waits long in front of an access link, and nothing is dropped there.
const char* const ACCESS_RATE = "100Gbps";
const char* const ACCESS_QUEUE = "4000000p";

std::string
Read(Ptr<Object> object, const std::string& attribute)
{
    StringValue value;
    object->GetAttribute(attribute, value);
    return value.Get();
}
Ipv4Address
Network4(uint32_t link)
{
    return Ipv4Address(("10.0." + std::to_string(link) + ".0").c_str());
}

Ipv6Address
Prefix6(uint32_t link)
{
    // Not 2001:db8::/32, which is for documentation: the simulator's routers drop it.
    std::ostringstream prefix;
    prefix << "fd00:0:0:" << std::hex << link << "::";
    return Ipv6Address(prefix.str().c_str());
}
} // namespace

Network::Network(const Plan& plan, Time origin)
    : m_plan(plan),
      m_origin(origin),
      m_pairs(plan.accessNs.size())
{
    m_nodes.Create(2 + 2 * m_pairs);
    InternetStackHelper stack;
    stack.SetIpv4StackInstall(!Ipv6());
    stack.SetIpv6StackInstall(Ipv6());
    stack.Install(m_nodes);
    Connect(0, 1, "r1-eth1", "r2-eth1", true, plan.Integer("delay_ns"));
    for (uint32_t pair = 0; pair < m_pairs; ++pair)
    {
        // r1-eth1 is the bottleneck, so the second pair's interface is r1-eth2.
        std::string port = "eth" + std::to_string(pair == 0 ? 0 : pair + 1);
        std::string sender = "h" + std::to_string(2 * pair + 1);
        std::string receiver = "h" + std::to_string(2 * pair + 2);
        Connect(2 + 2 * pair, 0, sender + "-eth0", "r1-" + port, false, plan.accessNs[pair]);
        Connect(1, 3 + 2 * pair, "r2-" + port, receiver + "-eth0", false, plan.accessNs[pair]);
    }
    Route();
    Lose("r2-eth1", plan.Real("loss_forward"), 1);
    Lose("r1-eth1", plan.Real("loss_reverse"), 2);
    for (const auto& change : plan.changes)
    {
        Simulator::Schedule(origin + NanoSeconds(change.atNs), &Network::Change, this, change);
    }
}

Ptr<Node>
Network::Sender(uint32_t pair) const
{
    return m_nodes.Get(2 + 2 * pair);
}

Ptr<Node>
Network::Receiver(uint32_t pair) const
{
    return m_nodes.Get(3 + 2 * pair);
}

bool
Network::Ipv6() const
{
    return m_plan.Text("ip") == "6";
}

Address
Network::ReceiverAddress(uint32_t pair, uint16_t port) const
{
    if (Ipv6())
    {
        return Inet6SocketAddress(Ipv6Address::ConvertFrom(m_receivers[pair]), port);
    }
    return InetSocketAddress(Ipv4Address::ConvertFrom(m_receivers[pair]), port);
}

Network::Waiting
Network::BottleneckQueue() const
{
    const auto& interface = Named("r1-eth1");
    auto queue = interface.device->GetQueue();
    Waiting waiting{queue->GetNPackets(), queue->GetNBytes(), queue->GetTotalDroppedPackets()};
    if (auto discipline = interface.discipline)
    {
        waiting.packets += discipline->GetNPackets();
        waiting.bytes += discipline->GetNBytes();
        waiting.drops += discipline->GetStats().nTotalDroppedPackets;
    }
    return waiting;
}

const Network::Interface&
Network::Named(const std::string& name) const
{
    for (const auto* interface : m_interfaces)
    {
        if (interface->name == name)
        {
            return *interface;
        }
    }
    throw std::runtime_error("no interface " + name);
}

void
Network::Connect(uint32_t a, uint32_t b, const std::string& nameA, const std::string& nameB, bool bottleneck, int64_t delayNs)
{
    PointToPointHelper link;
    bool disciplined = bottleneck && !m_plan.discipline.empty();
    // A full queue stops the device: what comes then waits in the discipline above it, or is dropped there, uncounted, without one.
    if (!disciplined)
    {
        link.DisableFlowControl();
    }
    link.SetDeviceAttribute("DataRate", StringValue(bottleneck ? m_plan.Text("rate") : ACCESS_RATE));
    link.SetDeviceAttribute("InterframeGap", TimeValue(NanoSeconds(bottleneck ? m_plan.Integer("gap_ns") : 0)));
    link.SetChannelAttribute("Delay", TimeValue(NanoSeconds(delayNs)));
    link.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue(disciplined ? "1p" : bottleneck ? m_plan.Text("queue") : ACCESS_QUEUE));
    NetDeviceContainer devices = link.Install(m_nodes.Get(a), m_nodes.Get(b));
    const std::string names[] = {nameA, nameB};
    for (uint32_t end = 0; end < 2; ++end)
    {
        m_interfaces.push_back(new Interface{names[end], DynamicCast<PointToPointNetDevice>(devices.Get(end)), nullptr});
        if (disciplined)
        {
            Discipline(*m_interfaces.back());
        }
        Observe(*m_interfaces.back());
    }

    ++m_links;
    if (Ipv6())
    {
        Ipv6AddressHelper addresses;
        addresses.SetBase(Prefix6(m_links), Ipv6Prefix(64));
        Ipv6InterfaceContainer interfaces = addresses.Assign(devices);
        interfaces.SetForwarding(0, a < 2);
        interfaces.SetForwarding(1, b < 2);
        if (a == 1)
        {
            m_receivers.push_back(interfaces.GetAddress(1, 1));
        }
    }
    else
    {
        Ipv4AddressHelper addresses;
        addresses.SetBase(Network4(m_links), Ipv4Mask("255.255.255.0"));
        Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
        if (a == 1)
        {
            m_receivers.push_back(interfaces.GetAddress(1));
        }
    }
}

void
Network::Discipline(Interface& interface)
{
    ObjectFactory factory(m_plan.discipline);
    for (const auto& [name, value] : m_plan.attributes)
    {
        factory.Set(name, StringValue(value));
    }
    interface.discipline = factory.Create<QueueDisc>();
    auto control = interface.device->GetNode()->GetObject<TrafficControlLayer>();
    control->SetRootQueueDiscOnDevice(interface.device, interface.discipline);
}

void
Network::Route()
{
    // Interface 0 is the loopback. Of a router 1 is the bottleneck, 2 the first pair; of a host 1 is its link.
    for (uint32_t end = 0; end < 2; ++end)
    {
        for (uint32_t pair = 0; pair < m_pairs; ++pair)
        {
            Ptr<Node> host = end == 0 ? Sender(pair) : Receiver(pair);
            Ptr<Node> far = m_nodes.Get(1 - end);
            uint32_t link = 2 + 2 * pair + end; // the host's link, as Connect counted
            if (Ipv6())
            {
                Ipv6StaticRoutingHelper routing;
                routing.GetStaticRouting(host->GetObject<ns3::Ipv6>())->AddNetworkRouteTo(Ipv6Address::GetAny(), Ipv6Prefix::GetZero(), 1);
                routing.GetStaticRouting(far->GetObject<ns3::Ipv6>())
                    ->AddNetworkRouteTo(Prefix6(link), Ipv6Prefix(64), 1);
            }
            else
            {
                Ipv4StaticRoutingHelper routing;
                routing.GetStaticRouting(host->GetObject<Ipv4>())->SetDefaultRoute(Ipv4Address::GetAny(), 1);
                routing.GetStaticRouting(far->GetObject<Ipv4>())
                    ->AddNetworkRouteTo(Network4(link), Ipv4Mask("255.255.255.0"), 1);
            }
        }
    }
}

void
Network::Observe(Interface& interface)
{
    Interface* counted = &interface;
    using Sink = Callback<void, Ptr<const Packet>>;
    interface.device->TraceConnectWithoutContext("PhyRxEnd", Sink([counted](Ptr<const Packet>) { ++counted->passed; }));
    interface.device->TraceConnectWithoutContext("PhyRxDrop", Sink([counted](Ptr<const Packet>) { ++counted->lost; }));
    interface.device->TraceConnectWithoutContext("PhyTxDrop", Sink([counted](Ptr<const Packet>) { ++counted->unsent; }));
}

void
Network::Lose(const std::string& name, double share, int64_t stream)
{
    bool changes = std::any_of(m_plan.changes.begin(), m_plan.changes.end(), [&name](const auto& change) {
        return change.interface == name && change.quantity == "loss";
    });
    if (share == 0 && !changes)
    {
        return;
    }
    Ptr<RateErrorModel> model = CreateObject<RateErrorModel>();
    model->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
    model->SetRate(share);
    model->AssignStreams(stream);
    Named(name).device->SetReceiveErrorModel(model);
}

void
Network::Change(const PlannedChange& change)
{
    const auto& interface = Named(change.interface);
    Changed changed{};
    changed.realisedNs = (Simulator::Now() - m_origin).GetNanoSeconds();
    auto queue = interface.device->GetQueue();
    changed.packets = queue->GetTotalReceivedPackets() - queue->GetNPackets();
    changed.bytes = queue->GetTotalReceivedBytes() - queue->GetNBytes();
    changed.drops = queue->GetTotalDroppedPackets() +
                    (interface.discipline ? interface.discipline->GetStats().nTotalDroppedPackets : 0);
    changed.waiting = queue->GetNPackets() + (interface.discipline ? interface.discipline->GetNPackets() : 0);
    if (change.quantity == "rate")
    {
        interface.device->SetAttribute("DataRate", StringValue(change.value));
        interface.device->SetAttribute("InterframeGap", TimeValue(NanoSeconds(change.gapNs)));
        changed.value = Read(interface.device, "DataRate");
    }
    else if (change.quantity == "delay")
    {
        interface.device->GetChannel()->SetAttribute("Delay", StringValue(change.value));
        changed.value = Read(interface.device->GetChannel(), "Delay");
    }
    else
    {
        PointerValue model;
        interface.device->GetAttribute("ReceiveErrorModel", model);
        auto loss = model.Get<RateErrorModel>();
        loss->SetRate(std::stod(change.value));
        std::ostringstream rate;
        rate.precision(17);
        rate << loss->GetRate();
        changed.value = rate.str();
        changed.packets = interface.passed;
        changed.drops = interface.lost;
        changed.waiting = 0;
    }
    m_changed.push_back(changed);
}

void
Network::WriteChanges(Json& json) const
{
    json.Open('[');
    for (const auto& changed : m_changed)
    {
        json.Open('{').Item("realised_ns", changed.realisedNs).Item("value", changed.value);
        json.Item("packets", changed.packets).Item("bytes", changed.bytes);
        json.Item("drops", changed.drops).Item("waiting", changed.waiting).Close('}');
    }
    json.Close(']');
}

void
Network::WriteSettings(Json& json) const
{
    json.Open('{');
    for (const auto* interface : m_interfaces)
    {
        auto device = interface->device;
        json.Key(interface->name).Open('{');
        json.Item("DataRate", Read(device, "DataRate"));
        json.Item("InterframeGap", Read(device, "InterframeGap"));
        json.Item("Delay", Read(device->GetChannel(), "Delay"));
        json.Item("Mtu", static_cast<int64_t>(device->GetMtu()));
        json.Item("Queue", device->GetQueue()->GetInstanceTypeId().GetName());
        json.Item("MaxSize", Read(device->GetQueue(), "MaxSize"));
        auto control = device->GetNode()->GetObject<TrafficControlLayer>();
        auto disc = control ? control->GetRootQueueDiscOnDevice(device) : nullptr;
        json.Item("QueueDisc", disc ? disc->GetInstanceTypeId().GetName() : std::string("none"));
        if (disc && disc == interface->discipline)
        {
            json.Key("Attributes").Open('{');
            for (const auto& [attribute, value] : m_plan.attributes)
            {
                json.Item(attribute, Read(disc, attribute));
            }
            json.Close('}');
        }
        PointerValue model;
        device->GetAttribute("ReceiveErrorModel", model);
        if (auto loss = model.Get<RateErrorModel>())
        {
            json.Item("ErrorUnit", Read(loss, "ErrorUnit"));
            json.Item("ErrorRate", loss->GetRate());
        }
        json.Close('}');
    }
    json.Close('}');
}

void
Network::WriteCounters(Json& json) const
{
    json.Open('{');
    for (const auto* interface : m_interfaces)
    {
        auto queue = interface->device->GetQueue();
        json.Key(interface->name).Open('{');
        json.Item("passed", static_cast<int64_t>(interface->passed));
        json.Item("lost", static_cast<int64_t>(interface->lost));
        json.Item("unsent", static_cast<int64_t>(interface->unsent));
        json.Item("enqueued_packets", static_cast<int64_t>(queue->GetTotalReceivedPackets()));
        json.Item("enqueued_bytes", static_cast<int64_t>(queue->GetTotalReceivedBytes()));
        json.Item("drops", static_cast<int64_t>(queue->GetTotalDroppedPackets()));
        json.Item("waiting_packets", static_cast<int64_t>(queue->GetNPackets()));
        if (auto discipline = interface->discipline)
        {
            const auto& stats = discipline->GetStats();
            json.Key("discipline").Open('{');
            json.Item("sent_packets", static_cast<int64_t>(stats.nTotalSentPackets));
            json.Item("sent_bytes", static_cast<int64_t>(stats.nTotalSentBytes));
            json.Item("drops", static_cast<int64_t>(stats.nTotalDroppedPackets));
            json.Item("marks", static_cast<int64_t>(stats.nTotalMarkedPackets));
            json.Item("waiting_packets", static_cast<int64_t>(discipline->GetNPackets()));
            json.Close('}');
        }
        json.Close('}');
    }
    json.Close('}');
}
