#pragma once

#include "pliant/core/error.h"
#include "pliant/core/json_writer.h"

namespace pliant {

/// Throws InputError unless low ≤ value ≤ high; NaN is outside.
inline void require_range(const char* name, double value, double low, double high,
                          const char* unit) {
    if (value >= low && value <= high) return;
    const auto text = [](double number) {
        return number - number == 0 ? JsonWriter().value(number).text() : std::to_string(number);
    };
    throw InputError("", name, text(value),
                     text(low) + " to " + text(high) + (*unit ? " " : "") + unit);
}

/// Throws InputError unless the value is good and finite.
inline void require_good(const std::string& name, double value, bool is_good,
                         const std::string& expected) {
    if (!is_good || !(value - value == 0))
        throw InputError("", name, std::to_string(value), expected);
}

}  // namespace pliant
