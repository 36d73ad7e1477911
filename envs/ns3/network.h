// The dumbbell: pairs of hosts around two routers and one bottleneck.
#pragma once

#include "json.h"
#include "plan.h"

#include "ns3/error-model.h"
#include "ns3/nstime.h"
#include "ns3/node-container.h"
#include "ns3/point-to-point-net-device.h"
#include "ns3/queue-disc.h"
#include "ns3/queue.h"

#include <string>
#include <vector>

class Network
{
  public:
    // Times of changes are counted from the origin.
    Network(const Plan& plan, ns3::Time origin);

    ns3::Ptr<ns3::Node> Sender(uint32_t pair) const;
    ns3::Ptr<ns3::Node> Receiver(uint32_t pair) const;
    // Where a pair's receiver listens.
    ns3::Address ReceiverAddress(uint32_t pair, uint16_t port) const;
    bool Ipv6() const;

    // What waits in front of the bottleneck in the data's direction, its discipline's packets included, and was dropped there.
    struct Waiting
    {
        int64_t packets, bytes, drops;
    };

    Waiting BottleneckQueue() const;
    // What the simulator's objects say of each interface: settings, counters.
    void WriteSettings(Json& json) const;
    void WriteCounters(Json& json) const;
    void WriteChanges(Json& json) const;

  private:
    struct Interface
    {
        std::string name;
        ns3::Ptr<ns3::PointToPointNetDevice> device;
        ns3::Ptr<ns3::QueueDisc> discipline; // null without one
        uint64_t passed{0}; // packets that the device received
        uint64_t lost{0};    // packets that the device's error model took
        uint64_t unsent{0};  // packets that the device dropped itself
    };

    void Connect(uint32_t a, uint32_t b, const std::string& nameA, const std::string& nameB, bool bottleneck, int64_t delayNs);
    void Observe(Interface& interface);
    void Discipline(Interface& interface);
    void Lose(const std::string& name, double share, int64_t stream);
    void Change(const PlannedChange& change);
    void Route();
    const Interface& Named(const std::string& name) const;

    // What an object said right after a change.
    struct Changed
    {
        int64_t realisedNs;
        std::string value;
        int64_t packets, bytes, drops, waiting;
    };

    const Plan& m_plan;
    ns3::Time m_origin;
    uint32_t m_pairs;
    ns3::NodeContainer m_nodes;              // r1, r2, h1, h2, ...
    std::vector<Interface*> m_interfaces;    // in the order of their making; live as long as the program
    std::vector<ns3::Address> m_receivers;   // address of each pair's receiver
    uint32_t m_links{0};
    std::vector<Changed> m_changed;
};
