#pragma once

#include <string>
#include <vector>

#include "pliant/haptics/oscillation.h"
#include "pliant/scene/recording.h"

namespace pliant::cli {

/// What a recording says of a tool in a hand: forces at the device, depth against its bound, energy
/// at the port, oscillation and clicks.
struct HapticStudy {
    std::string file;
    RecordingHeader::Device device;
    double rate = 0;  ///< of the loop [Hz]
    std::vector<HapticTick> ticks;
    double median_force = 0, p99_force = 0, max_force = 0;  ///< sent to the device [N]
    double max_torque = 0;                                  ///< [N m]
    double saturated = 0, contacting = 0, reduced = 0;      ///< shares of the ticks
    double deepest = 0, bound = 0;                          ///< of contacts, and its limit [m]
    std::int64_t num_beyond = 0;                            ///< ticks deeper than the limit
    double least_margin = 0;                                ///< of W − S at the port [J]
    double oscillation = 0, oscillation_limit = 0;          ///< of the worst window [N]
    int num_windows = 0, num_loud_windows = 0;
    double least_gain = 1, least_step = 1;  ///< that back-off made of them
    std::int64_t num_unread = 0;            ///< ticks without a new reading of the device
    std::int64_t num_not_ok = 0;            ///< ticks with another status
    std::vector<ForceJump> jumps;           ///< of the force, the largest ones first
    std::size_t num_jumps = 0;              ///< of all
    ForceSpectrum spectrum;
    double loudest_frequency = 0;  ///< above the cutoff of oscillation [Hz]
};

/// Throws InputError for a recording without a tool in a hand.
[[nodiscard]] HapticStudy study_haptics(const Recording& recording, const std::string& file);
void print(const HapticStudy& study);
[[nodiscard]] std::string json_line(const HapticStudy& study);
[[nodiscard]] std::string haptics_page(const HapticStudy& study);

}  // namespace pliant::cli
