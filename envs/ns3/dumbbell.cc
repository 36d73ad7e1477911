// Simulates one run: dumbbell PLAN RESULT. Errors go to standard error, with exit status 1.
#include "flow.h"
#include "network.h"
#include "plan.h"
#include "recorder.h"
#include "scoreboard.h"

#include "ns3/core-module.h"
#include "ns3/internet-module.h"

#include <exception>
#include <fstream>
#include <iostream>
#include <memory>

using namespace ns3;

namespace
{
// The hosts' own messages at start (IPv6) are gone by then, and no timestamp is zero.
const Time ORIGIN = Seconds(1);

void
Configure(const Plan& plan)
{
    RngSeedManager::SetSeed(plan.Integer("seed"));
    RngSeedManager::SetRun(plan.Integer("run"));
    for (const auto& [name, value] : plan.defaults)
    {
        if (!Config::SetDefaultFailSafe(name, StringValue(value)))
        {
            throw std::runtime_error("this version has no attribute " + name + " that can be " + value);
        }
    }
    ObjectFactory scheduler(plan.Text("scheduler"));
    Simulator::SetScheduler(scheduler);
}

void
Simulate(const Plan& plan, std::ostream& result)
{
    Configure(plan);
    if (plan.Text("search") == "linear")
    {
        SearchInLinearTime();
    }
    Network network(plan, ORIGIN);
    std::vector<std::unique_ptr<Flow>> flows;
    size_t running = plan.flows.size();
    auto ended = [&running]() {
        if (--running == 0)
        {
            Simulator::Stop();
        }
    };
    for (uint32_t number = 0; number < plan.flows.size(); ++number)
    {
        flows.push_back(std::make_unique<Flow>(plan, network, number, ORIGIN, ended));
    }
    Recorder recorder(plan, network, flows, ORIGIN);
    // For the case that a flow never begins.
    Simulator::Stop(ORIGIN + NanoSeconds(plan.Integer("limit_ns")));
    Simulator::Run();

    Json json(result);
    json.Open('{').Item("events", static_cast<int64_t>(Simulator::GetEventCount()));
    json.Key("settings");
    network.WriteSettings(json);
    json.Key("counters");
    network.WriteCounters(json);
    json.Key("changes");
    network.WriteChanges(json);
    json.Key("flows").Open('[');
    for (const auto& flow : flows)
    {
        flow->Write(json);
    }
    json.Close(']').Key("looks");
    recorder.WriteLooks(json);
    json.Key("series");
    recorder.WriteSeries(json);
    json.Close('}');
    result << '\n';
    Simulator::Destroy();
}
} // namespace

int
main(int count, char** arguments)
{
    try
    {
        if (count != 3)
        {
            throw std::runtime_error("usage: dumbbell PLAN RESULT");
        }
        std::ofstream result(arguments[2]);
        Simulate(ReadPlan(arguments[1]), result);
        if (!result.flush())
        {
            throw std::runtime_error(std::string("can't write ") + arguments[2]);
        }
    }
    catch (const std::exception& error)
    {
        std::cerr << "dumbbell: " << error.what() << std::endl;
        return 1;
    }
    return 0;
}
