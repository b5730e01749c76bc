#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace pliant {

/// What a user's file or option got wrong, in one sentence:
/// `scenes/liver.json: material.poisson_ratio = 0.62 (expected -1 < value < 0.5)`.
/// Parts that are empty are left out of the sentence.
class InputError : public std::runtime_error {
public:
    InputError(std::string file, std::string field, std::string value, std::string expected);
    /// For errors that are not about one value: `mesh.stl: the file ends inside triangle 17; ...`.
    InputError(std::string file, const std::string& sentence);

    [[nodiscard]] const std::string& file() const noexcept { return file_; }
    [[nodiscard]] const std::string& field() const noexcept { return field_; }
    [[nodiscard]] const std::string& value() const noexcept { return value_; }
    [[nodiscard]] const std::string& expected() const noexcept { return expected_; }

private:
    std::string file_, field_, value_, expected_;
};

/// What happened inside one real-time step. A step never throws; it keeps its state finite and says
/// so here.
enum class StepStatus {
    Ok,
    NotConverged,      ///< best iterate kept
    StepRejected,      ///< previous state kept
    StateReset,        ///< state was not finite and was set back to rest
    InputIgnored,      ///< non-finite force, pose or time step dropped
    CapacityExceeded,  ///< more items than the capacity given at construction; the rest was dropped
};
inline constexpr int kNumStepStatuses = 6;

[[nodiscard]] std::string_view to_string(StepStatus status) noexcept;

}  // namespace pliant
