#pragma once

#include "pliant/geometry/subdivision.h"

namespace pliant {

/// A soft pad around a bone along x, as of a link of a finger: round, a little flatter above, where
/// the bone holds it, than below. Its box goes from (0, −width/2, −height) to (length, width/2, 0).
struct PadShape {
    double length = 0.03, width = 0.018, height = 0.015;  ///< [m]
};

/// Loop subdivision of a control mesh of 14 vertices: 50, 194 and 770 on the levels 1 to 3. The
/// limit surface fills the box. Throws InputError for sizes that are not positive and finite, and
/// more than 6 levels.
[[nodiscard]] SemiRegularMesh pad_surface(const PadShape& shape, int levels);

}  // namespace pliant
