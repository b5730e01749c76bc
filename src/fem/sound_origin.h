#pragma once

namespace pliant {

/// Where displacements are counted from in single precision: a value in the middle of three,
/// whichever of them is lost (not a number, infinite, run away); 0 when two are. Not inline, for
/// the sake of Highway files.
[[nodiscard]] double sound_origin(double a, double b, double c) noexcept;

}  // namespace pliant
