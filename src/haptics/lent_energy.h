#pragma once

#include <cmath>

namespace pliant {

/// What a tool passed on to the bodies it touches, which they may give back, and what they gave
/// beyond that, out of their own; docs/haptics.md eq. (21b). Scene units.
class LentEnergy {
public:
    /// The tool does `work` on the bodies in `dt` seconds [J]; negative: they do it on the tool.
    /// Work that is no number is none: it would stay in the book for ever.
    void add(double work, bool is_touching, double dt) noexcept {
        constexpr double kTime = 1;  // in which bodies without contact lose it [s]
        if (std::isfinite(work)) lent_ += work;
        // a body that swings free comes back with it, for a while
        if (!is_touching) lent_ *= std::exp(-dt / kTime);
        if (lent_ >= 0) return;
        given_ -= lent_;
        lent_ = 0;
    }
    [[nodiscard]] double lent() const noexcept { return lent_; }    ///< L, never below zero [J]
    [[nodiscard]] double given() const noexcept { return given_; }  ///< G, so far [J]

private:
    double lent_ = 0, given_ = 0;
};

}  // namespace pliant
