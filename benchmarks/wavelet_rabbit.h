#pragma once

#include "pliant/greens/build_greens.h"

namespace pliant::bench {

/// The rabbit of 2,562 vertices on five levels, held as published, by boundary elements: columns of
/// its 2,145 free vertices and of the functions of levels 2 and 3. The fine ones are in the cache
/// of builds, where `pliant reproduce wavelets` finds them as well.
struct WaveletRabbit {
    GreensModel dense;
    ReferenceProblem compressed_16, compressed_32;  ///< ε = 0.05, lifted linear

    [[nodiscard]] const ReferenceProblem& compressed(int bits) const noexcept {
        return bits == 16 ? compressed_16 : compressed_32;
    }
};
/// Made for the first benchmark that asks; about a minute without the cache.
[[nodiscard]] const WaveletRabbit& wavelet_rabbit();

}  // namespace pliant::bench
