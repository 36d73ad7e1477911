// What a run is to do, read from a file of lines "key value...", written by workflow/simulator/plan.py.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

struct PlannedFlow
{
    uint32_t pair;
    std::string cca; // TypeId
    int64_t startNs; // of connecting, after the origin
};

// A quantity of the path that gets a value while traffic flows.
struct PlannedChange
{
    int64_t atNs; // after the origin
    std::string interface;
    std::string quantity; // rate, delay or loss
    std::string value;    // as the attribute takes it: "10000000bps", "20000000ns", "0.01"
    int64_t gapNs;        // of a rate: the gap after each packet
};

struct Plan
{
    std::map<std::string, std::string> values;
    std::vector<std::pair<std::string, std::string>> defaults; // attribute, value
    std::vector<int64_t> accessNs;                             // one-way delay of each pair's access links
    std::vector<int64_t> looksNs;                              // when all sockets are looked at
    std::vector<PlannedFlow> flows;
    std::vector<PlannedChange> changes;
    std::string discipline;                                      // TypeId, empty without one
    std::vector<std::pair<std::string, std::string>> attributes; // of the discipline

    // Both throw std::runtime_error if there is no such key or no such number.
    const std::string& Text(const std::string& key) const;
    int64_t Integer(const std::string& key) const;
    double Real(const std::string& key) const;
};

Plan ReadPlan(const std::string& path);
