#pragma once

#include "pliant/body/shape_gauge.h"
#include "pliant/scene/world.h"

#include <array>
#include <limits>
#include <string>
#include <vector>

namespace pliant {

/// What went wrong with one body while it ran.
struct BodyTrouble {
    enum class Kind {
        Shape,     ///< beyond use as it is: `condition`
        Element,   ///< of full FEM: an element is inside out
        HeldUp,    ///< of full FEM: elements were kept from turning inside out
        Slow,      ///< of full FEM: it ran slower than the world, for want of inner steps
        Softened,  ///< of full FEM: St. Venant and Kirchhoff's law was driven past its limit
        Status,    ///< steps that were not ok: `status`
    };
    int body = 0;  ///< of the world
    Kind kind = Kind::Shape;
    BodyCondition condition = BodyCondition::Well;
    StepStatus status = StepStatus::Ok;
    double since = 0;         ///< when it was seen first [s]
    double until = 0;         ///< and last [s]
    std::uint64_t count = 0;  ///< steps of that status, or with such an element
    /// The worst: volume over that at rest, length over that at rest, distance [m], det F, time of
    /// the body over that of the world, stretch.
    double value = 0;
    bool has_fallen = false;  ///< away: below everything else

    /// "collapsed", "inside out", …, "element inside out", "slow", or the status: "step rejected".
    [[nodiscard]] std::string_view name() const noexcept;
};

/// What looks at one body have seen so far, up to ten a simulated second.
struct BodySight {
    double lowest = std::numeric_limits<double>::infinity();  ///< z of the drawn surface [m]
    double highest = -lowest;                                 ///< likewise
    /// Over that at rest; not a number: the surface encloses none.
    double least_volume = std::numeric_limits<double>::quiet_NaN();
    bool has_moved = false;
};

/// Watches the bodies of a world for what nobody would see in a status: collapsed, inside out,
/// stretched, away or fallen below everything else; and keeps which body said what and when. Never
/// in a tick: it looks at frames that loops have shown. Memory and time of a look are bounded. The
/// world must outlive it.
class BodyWatch {
public:
    explicit BodyWatch(const World& world);

    /// Some bodies of a loop, the next ones at the next call; `all`: each of them.
    void look(int loop, const LoopFrame& frame, bool all = false);
    /// In virtual time, between ticks, at a loop that has gone on for a tenth of a second since the
    /// last look.
    void look_after_tick(int loop);
    /// Likewise, at all bodies.
    void look_at_all();
    /// As if nothing had been seen: after a reset.
    void forget();

    /// By body, then by kind.
    [[nodiscard]] std::vector<BodyTrouble> troubles() const;
    /// One sentence with what to do.
    [[nodiscard]] std::string text(const BodyTrouble& trouble) const;
    /// Of all troubles; beyond `most` only how many bodies there are.
    [[nodiscard]] std::vector<std::string> texts(std::size_t most = 12) const;
    /// The same of those that were never asked for here.
    [[nodiscard]] std::vector<std::string> news(std::size_t most = 3);

    /// One body as a frame shows it.
    [[nodiscard]] BodyShape shape(int body, const LoopFrame& frame);
    [[nodiscard]] BodyCondition condition(int body, const BodyShape& shape) const;
    [[nodiscard]] const BodySight& sight(int body) const {
        return bodies_[static_cast<std::size_t>(body)].sight;
    }
    /// Of its fastest vertex now [m/s]: all are looked at. Not while its loop runs.
    [[nodiscard]] double speed(int body) const;
    /// From where its first frame showed it [m].
    [[nodiscard]] double distance(int body, const BodyShape& shape) const;

private:
    struct Watched {
        ShapeGauge gauge;
        Eigen::Vector3d start = Eigen::Vector3d::Zero();
        bool has_start = false;
        double start_low = 0;  ///< z [m]
        BodySight sight = {};
        std::vector<BodyTrouble> troubles = {};
        std::size_t num_told = 0;
    };
    void look_at(int body, const LoopFrame& frame);
    /// How far a body is below everything else as it was at the start [m]; ≤ 0: it is not.
    [[nodiscard]] double fall(int body, const BodyShape& shape) const;
    /// Steps that a body counts itself: they may be over by the time of a look.
    void count(Watched& watched, const BodyTrouble& seen, double time);
    [[nodiscard]] BodyTrouble& found(Watched& watched, const BodyTrouble& like, double time);
    [[nodiscard]] std::vector<std::string> texts_of(const std::vector<BodyTrouble>& troubles,
                                                    std::size_t most) const;

    const World* world_;
    std::vector<Watched> bodies_;        ///< of the world
    std::array<int, 2> lowest_{-1, -1};  ///< bodies that were lowest at the start, the lowest first
    struct Loop {
        int next = 0;            ///< body to look at
        std::uint64_t tick = 0;  ///< of the last look
        LoopFrame frame;         ///< made at the first look in virtual time
    };
    std::vector<Loop> loops_;
    std::vector<float> scratch_;
};

}  // namespace pliant
