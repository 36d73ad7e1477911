#include "flow.h"

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/tcp-bbr.h"
#include "ns3/tcp-rate-ops.h"
#include "ns3/tcp-tx-buffer.h"
#include "ns3/tcp-vegas.h"

#include <algorithm>
#include <utility>

using namespace ns3;

namespace
{
const uint16_t FIRST_PORT = 5201;
// The application writes whole segments, many at a time: the fewer pieces the buffer is cut into, the faster.
const uint32_t BLOCK_SEGMENTS = 64;

// Attributes that are read back from the sockets themselves.
const char* const SETTINGS[] = {"SegmentSize", "SndBufSize", "RcvBufSize", "InitialCwnd", "DelAckCount", "MinRto",
                                "Sack", "Timestamp", "WindowScaling"};

std::vector<std::pair<std::string, std::string>>
SettingsOf(Ptr<TcpSocketBase> socket)
{
    std::vector<std::pair<std::string, std::string>> read;
    for (const char* name : SETTINGS)
    {
        StringValue value;
        socket->GetAttribute(name, value);
        read.emplace_back(name, value.Get());
    }
    read.emplace_back("CongestionControl", socket->m_congestionControl->GetInstanceTypeId().GetName());
    read.emplace_back("Recovery", socket->m_recoveryOps->GetInstanceTypeId().GetName());
    return read;
}

// A minimum that nothing was measured for is the largest time there is.
int64_t
Known(Time minimum)
{
    return minimum < Time::Max() ? minimum.GetNanoSeconds() : UNKNOWN;
}

int64_t
PortOf(Ptr<Socket> socket)
{
    Address address;
    socket->GetSockName(address);
    return Inet6SocketAddress::IsMatchingType(address) ? Inet6SocketAddress::ConvertFrom(address).GetPort()
                                                       : InetSocketAddress::ConvertFrom(address).GetPort();
}

// BBR's shortest RTT: versions up to 3.41 call it otherwise.
template <typename Bbr>
auto
MinimumRtt(const Bbr& bbr, int) -> decltype(Time(bbr.m_rtProp))
{
    return bbr.m_rtProp;
}

template <typename Bbr>
Time
MinimumRtt(const Bbr& bbr, long)
{
    return bbr.m_minRtt;
}
} // namespace

Flow::Flow(const Plan& plan, const Network& network, uint32_t number, Time origin, std::function<void()> ended)
    : m_plan(plan),
      m_network(network),
      m_number(number),
      m_planned(plan.flows[number]),
      m_origin(origin),
      m_ended(std::move(ended))
{
    uint16_t port = FIRST_PORT + number;
    Ptr<Node> receiver = network.Receiver(m_planned.pair);
    m_listener = Socket::CreateSocket(receiver, TcpSocketFactory::GetTypeId());
    m_listener->Bind(network.Ipv6() ? Address(Inet6SocketAddress(Ipv6Address::GetAny(), port))
                                    : Address(InetSocketAddress(Ipv4Address::GetAny(), port)));
    m_listener->Listen();
    m_listener->SetAcceptCallback(
        MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
        Callback<void, Ptr<Socket>, const Address&>([this](Ptr<Socket> accepted, const Address&) {
            m_receiver = DynamicCast<TcpSocketBase>(accepted);
            m_receiverSettings = SettingsOf(m_receiver);
            accepted->SetRecvCallback(Callback<void, Ptr<Socket>>([this](Ptr<Socket> socket) {
                while (Ptr<Packet> packet = socket->Recv())
                {
                    m_receivedBytes += packet->GetSize();
                }
            }));
        }));
    Simulator::Schedule(origin + NanoSeconds(m_planned.startNs), &Flow::Start, this);
}

void
Flow::Start()
{
    Ptr<Node> node = m_network.Sender(m_planned.pair);
    auto cca = TypeId::LookupByName(m_planned.cca);
    auto recovery = TypeId::LookupByName(m_plan.Text("recovery"));
    m_sender = DynamicCast<TcpSocketBase>(node->GetObject<TcpL4Protocol>()->CreateSocket(cca, recovery));
    using Segment = Callback<void, Ptr<const Packet>, const TcpHeader&, Ptr<const TcpSocketBase>>;
    m_sender->TraceConnectWithoutContext("Tx", Segment(&Flow::Sent, this));
    m_sender->TraceConnectWithoutContext("Rx", Segment(&Flow::Acknowledged, this));
    m_network.Ipv6() ? m_sender->Bind6() : m_sender->Bind();
    m_localPort = PortOf(m_sender);
    m_sender->SetSendCallback(MakeCallback(&Flow::Fill, this));
    m_sender->SetConnectCallback(Callback<void, Ptr<Socket>>([this](Ptr<Socket>) {
                                     if (!m_sawSynTwice)
                                     {
                                         m_handshakeNs = (Simulator::Now() - m_connectAt).GetNanoSeconds();
                                     }
                                     Fill(m_sender, m_sender->GetTxAvailable());
                                 }),
                                 MakeNullCallback<void, Ptr<Socket>>());
    m_connectAt = Simulator::Now();
    m_sender->Connect(m_network.ReceiverAddress(m_planned.pair, FIRST_PORT + m_number));
}

void
Flow::Fill(Ptr<Socket> socket, uint32_t available)
{
    uint32_t block = BLOCK_SEGMENTS * m_sender->m_tcb->m_segmentSize;
    while (m_endNs == UNKNOWN && m_sender->GetTxAvailable() >= block && m_sender->Send(Create<Packet>(block), 0) > 0)
    {
    }
}

void
Flow::Sent(Ptr<const Packet> packet, const TcpHeader& header, Ptr<const TcpSocketBase> socket)
{
    if (header.GetFlags() & TcpHeader::SYN)
    {
        m_sawSynTwice = Simulator::Now() > m_connectAt;
        m_highest = header.GetSequenceNumber() + 1;
        return;
    }
    uint32_t size = packet->GetSize();
    if (size == 0)
    {
        return;
    }
    if (m_beginNs == UNKNOWN)
    {
        Begin();
    }
    auto first = header.GetSequenceNumber();
    m_allBytes += size;
    if (first < m_highest)
    {
        ++m_retransmits;
        Answered(first + size); // Karn's rule: which of the two is acknowledged nobody knows
    }
    else
    {
        m_newBytes += size;
        m_highest = first + size;
        m_underWay.emplace_back(m_highest, Simulator::Now());
    }
    m_cwndMax = std::max<int64_t>(m_cwndMax, m_sender->m_tcb->m_cWnd.Get());
}

void
Flow::Acknowledged(Ptr<const Packet> packet, const TcpHeader& header, Ptr<const TcpSocketBase> socket)
{
    if (!(header.GetFlags() & TcpHeader::ACK))
    {
        return;
    }
    // The segment that made the receiver send this is the last one that is acknowledged, or the
    // last of the first block (RFC 2018); if it was acknowledged before, the segment is unknown.
    Time sentAt;
    if (header.HasOption(TcpOption::SACK))
    {
        auto blocks = DynamicCast<const TcpOptionSack>(header.GetOption(TcpOption::SACK))->GetSackList();
        sentAt = Answered(blocks.front().second);
    }
    while (!m_underWay.empty() && m_underWay.front().first <= header.GetAckNumber())
    {
        sentAt = m_underWay.front().first == header.GetAckNumber() ? m_underWay.front().second : Time();
        m_underWay.pop_front();
    }
    if (sentAt.IsStrictlyPositive())
    {
        CountRtt(Simulator::Now() - sentAt);
    }
}

Time
Flow::Answered(SequenceNumber32 end)
{
    auto found = std::lower_bound(m_underWay.begin(), m_underWay.end(), end, [](const auto& one, auto end) { return one.first < end; });
    return found != m_underWay.end() && found->first == end ? std::exchange(found->second, Time()) : Time();
}

void
Flow::CountRtt(Time rtt)
{
    int64_t ns = rtt.GetNanoSeconds();
    ++m_rttCount;
    m_rttSumNs += ns;
    m_rttMinNs = m_rttMinNs == UNKNOWN ? ns : std::min(m_rttMinNs, ns);
    m_rttMaxNs = std::max(m_rttMaxNs, ns);
}

void
Flow::Begin()
{
    m_beginNs = (Simulator::Now() - m_origin).GetNanoSeconds();
    m_settings = SettingsOf(m_sender);
    // The receiver's intervals are later by the way of a packet: what arrives in one was sent in it.
    int64_t way = m_plan.Integer("delay_ns") + 2 * m_plan.accessNs[m_planned.pair];
    int64_t interval = m_plan.Integer("interval_ns");
    int64_t duration = m_plan.Integer("duration_ns");
    for (int64_t end = interval; end <= duration; end += interval)
    {
        Simulator::Schedule(NanoSeconds(end), &Flow::CloseSenderInterval, this);
        Simulator::Schedule(NanoSeconds(end + way), &Flow::CloseReceiverInterval, this);
    }
    Simulator::Schedule(NanoSeconds(duration), &Flow::EndSender, this);
    Simulator::Schedule(NanoSeconds(duration + way), &Flow::EndReceiver, this);
}

void
Flow::CloseSenderInterval()
{
    Look now = Observe();
    m_intervals.push_back({m_newBytes, m_retransmits, now.cwnd, now.srttNs});
}

void
Flow::CloseReceiverInterval()
{
    m_received.push_back(m_receivedBytes);
}

void
Flow::EndSender()
{
    m_endNs = (Simulator::Now() - m_origin).GetNanoSeconds();
    m_endSent = m_newBytes;
    m_endRetransmits = m_retransmits;
    // As if the application had not written what TCP has not sent.
    auto buffer = m_sender->m_txBuffer;
    buffer->m_appList.clear();
    buffer->m_size = buffer->m_sentSize;
}

void
Flow::EndReceiver()
{
    m_endReceived = m_receivedBytes;
    m_ended();
}

bool
Flow::HasSocket() const
{
    return m_beginNs != UNKNOWN;
}

int64_t
Flow::EndNs() const
{
    return m_endNs;
}

Look
Flow::Observe() const
{
    Look look{};
    const auto& tcb = m_sender->m_tcb;
    bool measured = m_sender->m_rtt->GetNSamples() > 0;
    look.timeNs = (Simulator::Now() - m_origin).GetNanoSeconds();
    look.cwnd = tcb->m_cWnd.Get();
    look.ssthresh = tcb->m_ssThresh.Get() < INT32_MAX ? tcb->m_ssThresh.Get() : UNKNOWN;
    look.srttNs = measured ? m_sender->m_rtt->GetEstimate().GetNanoSeconds() : UNKNOWN;
    look.rttvarNs = measured ? m_sender->m_rtt->GetVariation().GetNanoSeconds() : UNKNOWN;
    look.minRttNs = Known(tcb->m_minRtt);
    look.pacingBps = tcb->m_pacing ? static_cast<int64_t>(tcb->m_pacingRate.Get().GetBitRate()) : UNKNOWN;
    int64_t delivery = DynamicCast<TcpRateLinux>(m_sender->m_rateOps)->m_rateSample.m_deliveryRate.GetBitRate();
    look.deliveryBps = delivery > 0 ? delivery : UNKNOWN;
    look.unacked = tcb->m_highTxMark.Get() - m_sender->m_txBuffer->HeadSequence();
    look.rtoNs = m_sender->m_rto.Get().GetNanoSeconds();
    look.retransmits = m_retransmits;
    look.sacked = m_sender->m_txBuffer->GetSacked();
    look.lost = m_sender->m_txBuffer->GetLost();
    look.acked = m_newBytes - look.unacked;
    look.sent = m_allBytes;
    look.sentAgain = m_allBytes - m_newBytes;
    look.congestionState = tcb->m_congState.Get();
    look.bbrBps = look.bbrMinRttNs = look.vegasBaseRttNs = look.vegasMinRttNs = UNKNOWN;
    if (auto bbr = DynamicCast<TcpBbr>(m_sender->m_congestionControl))
    {
        look.bbrBps = bbr->m_maxBwFilter.GetBest().GetBitRate();
        look.bbrMinRttNs = Known(MinimumRtt(*bbr, 0));
        look.bbrPacingGain = bbr->m_pacingGain;
        look.bbrCwndGain = bbr->m_cWndGain;
    }
    else if (auto vegas = DynamicCast<TcpVegas>(m_sender->m_congestionControl))
    {
        look.vegasBaseRttNs = Known(vegas->m_baseRtt);
        look.vegasMinRttNs = Known(vegas->m_minRtt);
    }
    return look;
}

uint32_t
Flow::Pair() const
{
    return m_planned.pair;
}

void
Flow::WriteIdentity(Json& json) const
{
    json.Item("local_port", m_localPort).Item("remote_port", static_cast<int64_t>(FIRST_PORT + m_number));
    json.Item("cca", m_sender->m_congestionControl->GetInstanceTypeId().GetName());
    json.Item("segment_bytes", static_cast<int64_t>(m_sender->m_tcb->m_segmentSize));
}

void
Flow::Write(Json& json) const
{
    json.Open('{');
    json.Item("begin_ns", m_beginNs).Item("end_ns", m_endNs).Item("handshake_ns", m_handshakeNs);
    json.Item("sent", m_endSent).Item("received", m_endReceived).Item("retransmits", m_endRetransmits);
    json.Item("rtt_count", m_rttCount).Item("rtt_sum_ns", m_rttSumNs);
    json.Item("rtt_min_ns", m_rttMinNs).Item("rtt_max_ns", m_rttMaxNs).Item("cwnd_max", m_cwndMax);
    const std::pair<const char*, const decltype(m_settings)&> sides[] = {{"sender", m_settings}, {"receiver", m_receiverSettings}};
    for (const auto& [side, settings] : sides)
    {
        json.Key(side).Open('{');
        for (const auto& [name, value] : settings)
        {
            json.Item(name, value);
        }
        json.Close('}');
    }
    json.Key("intervals").Open('[');
    for (size_t i = 0; i < m_intervals.size(); ++i)
    {
        const auto& one = m_intervals[i];
        int64_t received = i < m_received.size() ? m_received[i] : UNKNOWN;
        json.Value(std::vector<int64_t>{one.sent, received, one.retransmits, one.cwnd, one.srttNs});
    }
    json.Close(']').Close('}');
}
