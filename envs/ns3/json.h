// JSON with one format for each kind of value, so that the same run gives the same bytes.
#pragma once

#include <cstdint>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

// A value that a simulator object does not have (yet) is written as null.
constexpr int64_t UNKNOWN = INT64_MIN;

class Json
{
  public:
    explicit Json(std::ostream& stream)
        : m_stream(stream)
    {
        m_stream.precision(17);
    }

    Json& Key(const std::string& name)
    {
        Separate();
        Quote(name);
        m_stream << ':';
        m_first = true;
        return *this;
    }

    Json& Open(char bracket)
    {
        Separate();
        m_stream << bracket;
        m_first = true;
        return *this;
    }

    Json& Close(char bracket)
    {
        m_stream << bracket;
        m_first = false;
        return *this;
    }

    Json& Value(int64_t number)
    {
        Separate();
        number == UNKNOWN ? m_stream << "null" : m_stream << number;
        return *this;
    }

    Json& Value(double number)
    {
        Separate();
        m_stream << number;
        return *this;
    }

    Json& Value(const std::string& text)
    {
        Separate();
        Quote(text);
        return *this;
    }

    template <typename T>
    Json& Item(const std::string& name, const T& value)
    {
        Key(name);
        return Value(value);
    }

    template <typename T>
    Json& Value(const std::vector<T>& values)
    {
        Open('[');
        for (const auto& value : values)
        {
            Value(value);
        }
        return Close(']');
    }

  private:
    void Separate()
    {
        if (!m_first)
        {
            m_stream << ',';
        }
        m_first = false;
    }

    void Quote(const std::string& text)
    {
        m_stream << '"';
        for (char c : text)
        {
            if (c == '"' || c == '\\')
            {
                m_stream << '\\';
            }
            m_stream << c;
        }
        m_stream << '"';
    }

    std::ostream& m_stream;
    bool m_first{true};
};
