#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "pliant/server/viewer_message.h"

namespace {

void require(bool condition) {
    if (!condition) std::abort();
}

void check(const pliant::CommandMessage& message) {
    const pliant::Command& command = message.command;
    require(command.slot >= 0 && command.slot < pliant::Command::kMaxSlots);
    require(command.body >= -1 && command.triangle >= -1 && command.parameter == -1);
    for (const double x : command.target) require(std::abs(x) <= 1e6);
    double norm = 0;
    for (const double x : command.rotation) norm += x * x;
    require(std::abs(norm - 1) < 1e-12);
    for (const double w : command.barycentric) require(w >= 0 && w <= 1);
    require(std::isfinite(command.value) && message.parameter.size() <= 200);
}
void check(const pliant::AcknowledgeMessage&) {}
void check(const pliant::ControlMessage& message) {
    require(std::isfinite(message.value) && message.name.size() <= 200);
}

}  // namespace

/// Any bytes give a message whose numbers are in range, or none.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto message = pliant::parse_viewer_message({reinterpret_cast<const char*>(data), size});
    if (message) std::visit([](const auto& known) { check(known); }, *message);
    return 0;
}
