#include "pliant/core/error.h"

#include <utility>

namespace pliant {
namespace {

std::string sentence(const std::string& file, const std::string& field, const std::string& value,
                     const std::string& expected) {
    std::string text = file;
    if (!field.empty()) text += (text.empty() ? "" : ": ") + field;
    if (!value.empty()) text += (field.empty() ? ": " : " = ") + value;
    if (!expected.empty()) text += " (expected " + expected + ")";
    return text;
}

}  // namespace

InputError::InputError(std::string file, std::string field, std::string value, std::string expected)
    : std::runtime_error(sentence(file, field, value, expected)),
      file_(std::move(file)),
      field_(std::move(field)),
      value_(std::move(value)),
      expected_(std::move(expected)) {}

InputError::InputError(std::string file, std::string sentence)
    : std::runtime_error(file.empty() ? sentence : file + ": " + sentence),
      file_(std::move(file)) {}

std::string_view to_string(StepStatus status) noexcept {
    switch (status) {
        case StepStatus::Ok: return "ok";
        case StepStatus::NotConverged: return "not converged";
        case StepStatus::StepRejected: return "step rejected";
        case StepStatus::StateReset: return "state reset";
        case StepStatus::InputIgnored: return "input ignored";
        case StepStatus::CapacityExceeded: return "capacity exceeded";
    }
    return "unknown";
}

}  // namespace pliant
