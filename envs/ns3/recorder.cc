#include "recorder.h"

#include "ns3/core-module.h"

using namespace ns3;

namespace
{
const std::pair<const char*, int64_t Look::*> COLUMNS[] = {
    {"time_ns", &Look::timeNs},
    {"cwnd", &Look::cwnd},
    {"ssthresh", &Look::ssthresh},
    {"srtt_ns", &Look::srttNs},
    {"rttvar_ns", &Look::rttvarNs},
    {"min_rtt_ns", &Look::minRttNs},
    {"pacing_bps", &Look::pacingBps},
    {"delivery_bps", &Look::deliveryBps},
    {"rto_ns", &Look::rtoNs},
    {"unacked", &Look::unacked},
    {"sacked", &Look::sacked},
    {"lost", &Look::lost},
    {"retransmits", &Look::retransmits},
    {"acked", &Look::acked},
    {"sent", &Look::sent},
    {"sent_again", &Look::sentAgain},
    {"congestion_state", &Look::congestionState},
    {"bbr_bps", &Look::bbrBps},
    {"bbr_min_rtt_ns", &Look::bbrMinRttNs},
    {"vegas_base_rtt_ns", &Look::vegasBaseRttNs},
    {"vegas_min_rtt_ns", &Look::vegasMinRttNs},
};
const std::pair<const char*, double Look::*> GAINS[] = {
    {"bbr_pacing_gain", &Look::bbrPacingGain},
    {"bbr_cwnd_gain", &Look::bbrCwndGain},
};
} // namespace

Recorder::Recorder(const Plan& plan, const Network& network, const std::vector<std::unique_ptr<Flow>>& flows, Time origin)
    : m_flows(flows),
      m_network(network),
      m_origin(origin),
      m_sampleNs(plan.Integer("sample_ns")),
      m_series(flows.size())
{
    for (int64_t timeNs : plan.looksNs)
    {
        Simulator::Schedule(origin + NanoSeconds(timeNs), &Recorder::TakeLook, this);
    }
    if (m_sampleNs > 0)
    {
        Simulator::Schedule(origin, &Recorder::Sample, this);
    }
}

void
Recorder::TakeLook()
{
    m_looks.push_back({(Simulator::Now() - m_origin).GetNanoSeconds(), {}});
    for (uint32_t number = 0; number < m_flows.size(); ++number)
    {
        if (m_flows[number]->HasSocket() && m_flows[number]->EndNs() == UNKNOWN)
        {
            m_looks.back().sockets.emplace_back(number, m_flows[number]->Observe());
        }
    }
}

void
Recorder::Sample()
{
    int64_t nowNs = (Simulator::Now() - m_origin).GetNanoSeconds();
    for (uint32_t number = 0; number < m_flows.size(); ++number)
    {
        if (m_flows[number]->HasSocket() && m_flows[number]->EndNs() == UNKNOWN)
        {
            m_series[number].push_back(m_flows[number]->Observe());
        }
    }
    m_queueTimesNs.push_back(nowNs);
    auto waiting = m_network.BottleneckQueue();
    m_queuePackets.push_back(waiting.packets);
    m_queueBytes.push_back(waiting.bytes);
    m_queueDrops.push_back(waiting.drops);
    Simulator::Schedule(NanoSeconds(m_sampleNs), &Recorder::Sample, this);
}

void
Recorder::WriteLooks(Json& json) const
{
    json.Open('[');
    for (const auto& look : m_looks)
    {
        json.Open('{').Item("time_ns", look.timeNs).Key("sockets").Open('[');
        for (const auto& [number, socket] : look.sockets)
        {
            json.Open('{').Item("flow", static_cast<int64_t>(number));
            m_flows[number]->WriteIdentity(json);
            for (const auto& [name, member] : COLUMNS)
            {
                json.Item(name, socket.*member);
            }
            json.Close('}');
        }
        json.Close(']').Close('}');
    }
    json.Close(']');
}

void
Recorder::WriteSeries(Json& json) const
{
    json.Open('{').Key("sockets").Open('[');
    for (const auto& series : m_series)
    {
        json.Open('{');
        for (const auto& [name, member] : COLUMNS)
        {
            std::vector<int64_t> values;
            for (const auto& look : series)
            {
                values.push_back(look.*member);
            }
            json.Item(name, values);
        }
        for (const auto& [name, member] : GAINS)
        {
            std::vector<double> values;
            for (const auto& look : series)
            {
                values.push_back(look.*member);
            }
            json.Item(name, values);
        }
        json.Close('}');
    }
    json.Close(']').Key("queue").Open('{');
    json.Item("time_ns", m_queueTimesNs).Item("packets", m_queuePackets);
    json.Item("bytes", m_queueBytes).Item("drops", m_queueDrops).Close('}');
    json.Close('}');
}
