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

struct Plan
{
    std::map<std::string, std::string> values;
    std::vector<std::pair<std::string, std::string>> defaults; // attribute, value
    std::vector<int64_t> accessNs;                             // one-way delay of each pair's access links
    std::vector<int64_t> looksNs;                              // when all sockets are looked at
    std::vector<PlannedFlow> flows;

    // Both throw std::runtime_error if there is no such key or no such number.
    const std::string& Text(const std::string& key) const;
    int64_t Integer(const std::string& key) const;
    double Real(const std::string& key) const;
};

Plan ReadPlan(const std::string& path);
