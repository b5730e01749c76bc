#pragma once

#include "contact_samples.h"
#include "experiment.h"

#include <vector>

namespace pliant::reproduce {

inline constexpr int kNumBumps = 6, kBarLevels = 5;
inline constexpr double kBarRadius = 0.003;  ///< [m]
/// A plate, its top at z = 0, with six half balls of 2 mm in a zigzag along x, and the points of a
/// round bar along y that slides over it.
struct BumpSample {
    Solid plate;
    PointTree bar;
};
[[nodiscard]] BumpSample bump_sample(const Context& context);
/// Places of the maxima that rise by at least `rise` above the deepest valley towards a higher one
/// or the end.
[[nodiscard]] std::vector<std::size_t> find_peaks(const std::vector<double>& signal, double rise);

}  // namespace pliant::reproduce
