// One flow: a bulk transfer from a pair's sender to its receiver, and what is counted of it.
#pragma once

#include "json.h"
#include "network.h"

#include "ns3/sequence-number.h"
#include "ns3/tcp-socket-base.h"

#include <deque>
#include <functional>
#include <vector>

// What a sender's socket knows at one moment; times in ns, sizes in bytes, UNKNOWN where it has none.
struct Look
{
    int64_t timeNs; // since the origin
    int64_t cwnd, ssthresh, srttNs, rttvarNs, minRttNs, pacingBps, deliveryBps;
    int64_t rtoNs, unacked, sacked, lost, retransmits, acked, sent, sentAgain, congestionState;
    int64_t bbrBps, bbrMinRttNs, vegasBaseRttNs, vegasMinRttNs;
    double bbrPacingGain, bbrCwndGain;
};

class Flow
{
  public:
    // `ended` is called once the receiver has had the time to get what was sent.
    Flow(const Plan& plan, const Network& network, uint32_t number, ns3::Time origin, std::function<void()> ended);

    bool HasSocket() const;
    Look Observe() const;
    void Write(Json& json) const;
    void WriteIdentity(Json& json) const;
    uint32_t Pair() const;
    int64_t EndNs() const; // when it stopped sending, since the origin; UNKNOWN before

  private:
    struct Interval
    {
        int64_t sent, retransmits, cwnd, srttNs; // the first two since the flow began
    };

    void Listen(ns3::Address address);
    void Start();
    void Fill(ns3::Ptr<ns3::Socket> socket, uint32_t available);
    void Sent(ns3::Ptr<const ns3::Packet> packet, const ns3::TcpHeader& header, ns3::Ptr<const ns3::TcpSocketBase> socket);
    void Acknowledged(ns3::Ptr<const ns3::Packet> packet, const ns3::TcpHeader& header, ns3::Ptr<const ns3::TcpSocketBase> socket);
    void Begin();
    void CloseSenderInterval();
    void CloseReceiverInterval();
    void EndSender();
    void EndReceiver();
    void CountRtt(ns3::Time rtt);
    // Return when the segment that ends there was sent, once and no more; zero if that is unknown.
    ns3::Time Answered(ns3::SequenceNumber32 end);

    const Plan& m_plan;
    const Network& m_network;
    uint32_t m_number;
    PlannedFlow m_planned;
    ns3::Time m_origin;
    std::function<void()> m_ended;
    ns3::Ptr<ns3::Socket> m_listener;
    ns3::Ptr<ns3::TcpSocketBase> m_sender;
    ns3::Ptr<ns3::TcpSocketBase> m_receiver;
    std::vector<std::pair<std::string, std::string>> m_settings; // of the sender, read when it began
    std::vector<std::pair<std::string, std::string>> m_receiverSettings;

    int64_t m_localPort{UNKNOWN};
    int64_t m_beginNs{UNKNOWN}; // when its first byte was sent, since the origin
    int64_t m_endNs{UNKNOWN};
    int64_t m_handshakeNs{UNKNOWN};
    ns3::Time m_connectAt;
    bool m_sawSynTwice{false};
    ns3::SequenceNumber32 m_highest{0}; // of what was sent
    // (end of a segment, when it was sent; zero if it was sent twice or is acknowledged already)
    std::deque<std::pair<ns3::SequenceNumber32, ns3::Time>> m_underWay;
    int64_t m_newBytes{0}, m_allBytes{0}, m_receivedBytes{0}, m_retransmits{0}, m_cwndMax{0};
    int64_t m_rttCount{0}, m_rttSumNs{0}, m_rttMinNs{UNKNOWN}, m_rttMaxNs{UNKNOWN};
    int64_t m_endReceived{UNKNOWN}, m_endSent{UNKNOWN}, m_endRetransmits{UNKNOWN};
    std::vector<Interval> m_intervals;
    std::vector<int64_t> m_received; // at the receiver's ends of intervals, cumulative
};
