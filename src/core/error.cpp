#include "pliant/core/error.h"

#include <utility>

namespace pliant {
namespace {

std::string compose(const std::string& file, const std::string& field, const std::string& value,
                    const std::string& expected) {
    std::string text = file;
    const auto append = [&](const char* separator, const std::string& part) {
        if (part.empty()) return;
        if (!text.empty()) text += separator;
        text += part;
    };
    append(": ", field);
    append(field.empty() ? ": " : " = ", value);
    append(" ", expected.empty() ? std::string() : "(expected " + expected + ")");
    return text;
}

}  // namespace

InputError::InputError(std::string file, std::string field, std::string value, std::string expected)
    : std::runtime_error(compose(file, field, value, expected)),
      file_(std::move(file)),
      field_(std::move(field)),
      value_(std::move(value)),
      expected_(std::move(expected)) {}

InputError::InputError(std::string file, const std::string& sentence)
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
