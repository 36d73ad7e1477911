// Looks at all sockets and at the bottleneck's queue, at set times and every so often.
#pragma once

#include "flow.h"

#include <memory>
#include <vector>

class Recorder
{
  public:
    Recorder(const Plan& plan, const Network& network, const std::vector<std::unique_ptr<Flow>>& flows, ns3::Time origin);

    void WriteLooks(Json& json) const;
    void WriteSeries(Json& json) const;

  private:
    void TakeLook();
    void Sample();

    struct SocketsLook
    {
        int64_t timeNs;
        std::vector<std::pair<uint32_t, Look>> sockets; // flow, what it knows
    };

    const std::vector<std::unique_ptr<Flow>>& m_flows;
    const Network& m_network;
    ns3::Time m_origin;
    int64_t m_sampleNs;
    std::vector<SocketsLook> m_looks;
    std::vector<std::vector<Look>> m_series; // of each flow
    std::vector<int64_t> m_queueTimesNs, m_queuePackets, m_queueBytes, m_queueDrops;
};
