#pragma once

#include "pliant/core/error.h"

#include <sstream>

namespace pliant {

/// Throws an InputError that reads `field = value (expected …)` unless the value `is_valid`.
template <class Number>
void check_option(bool is_valid, const char* field, Number value, const char* expected) {
    if (is_valid) return;
    std::ostringstream text;
    text << value;
    throw InputError("", field, text.str(), expected);
}

}  // namespace pliant
