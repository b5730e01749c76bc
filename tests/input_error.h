#pragma once

#include "pliant/core/error.h"

#include <string>

namespace pliant::test {

/// The sentence of the InputError that `call` throws; empty when it throws none.
template <class Call>
std::string input_error(Call&& call) {
    try {
        call();
    } catch (const InputError& error) {
        return error.what();
    }
    return {};
}

}  // namespace pliant::test
