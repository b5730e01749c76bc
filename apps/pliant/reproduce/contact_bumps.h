#pragma once

#include "pliant/geometry/surface_mesh.h"

#include <vector>

namespace pliant::reproduce {

inline constexpr int kNumBumps = 6;
/// A plate, its top at z = 0, with six half balls of 2 mm in a zigzag along x.
[[nodiscard]] SurfaceMesh bumpy_plate(int resolution);
/// Maxima that rise by at least `rise` above the deepest valley towards a higher one or the end.
[[nodiscard]] int count_peaks(const std::vector<double>& signal, double rise);

}  // namespace pliant::reproduce
