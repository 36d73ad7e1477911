#include "plan.h"

#include <fstream>
#include <sstream>
#include <stdexcept>

const std::string&
Plan::Text(const std::string& key) const
{
    auto found = values.find(key);
    if (found == values.end())
    {
        throw std::runtime_error("the plan has no " + key);
    }
    return found->second;
}

int64_t
Plan::Integer(const std::string& key) const
{
    return std::stoll(Text(key));
}

double
Plan::Real(const std::string& key) const
{
    return std::stod(Text(key));
}

Plan
ReadPlan(const std::string& path)
{
    std::ifstream file(path);
    if (!file)
    {
        throw std::runtime_error("can't read " + path);
    }
    Plan plan;
    for (std::string line; std::getline(file, line);)
    {
        std::istringstream words(line);
        std::string key;
        words >> key;
        if (key == "default")
        {
            std::string attribute, value;
            words >> attribute >> value;
            plan.defaults.emplace_back(attribute, value);
        }
        else if (key == "discipline")
        {
            words >> plan.discipline;
        }
        else if (key == "attribute")
        {
            std::string attribute, value;
            words >> attribute >> value;
            plan.attributes.emplace_back(attribute, value);
        }
        else if (key == "change")
        {
            PlannedChange change;
            words >> change.atNs >> change.interface >> change.quantity >> change.value >> change.gapNs;
            plan.changes.push_back(change);
        }
        else if (key == "flow")
        {
            PlannedFlow flow;
            words >> flow.pair >> flow.cca >> flow.startNs;
            plan.flows.push_back(flow);
        }
        else if (key == "access_ns" || key == "look_ns")
        {
            auto& numbers = key == "access_ns" ? plan.accessNs : plan.looksNs;
            for (int64_t number; words >> number;)
            {
                numbers.push_back(number);
            }
            words.clear();
        }
        else
        {
            words >> plan.values[key];
        }
        if (words.fail())
        {
            throw std::runtime_error("the plan's line can't be read: " + line);
        }
    }
    return plan;
}
