#pragma once

#include "haptics/coupling_springs.h"
#include "scene/proxy_exchange.h"

namespace pliant {

/// Where a proxy, or a tool of many, is for a hand, whichever loop its bodies are in. Poses are of
/// where the hand holds it.
class ProxySource {
public:
    struct Answer {
        Pose pose;
        Wrench wrench;         ///< on the hand, about where it is, without limits [N, N m]
        ShownSprings shown;    ///< with those of the tuning
        double work = 0;       ///< of the bodies on these springs in this tick [J]
        int num_contacts = 0;  ///< planes that hold a proxy, spheres in contact of many
        double depth = 0;      ///< nearer than the radius by [m]
        StepStatus status = StepStatus::Ok;
    };
    virtual ~ProxySource() = default;
    [[nodiscard]] virtual Answer follow(const Pose& goal, const ProxyTuning& tuning,
                                        double now) noexcept = 0;
    /// The hand begins anew at this place.
    virtual void put(const Pose& pose) noexcept = 0;
    virtual void reset() noexcept = 0;
    virtual void fill(ShownProxy& shown) const noexcept = 0;
    [[nodiscard]] virtual LetterReader* letters() noexcept { return nullptr; }
};

}  // namespace pliant
