#include "pliant/scene/body_watch.h"

#include "scene/store_words.h"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

/// Vertices that one look may cost.
constexpr int kVerticesPerLook = 20'000;
/// Between looks in virtual time [s].
constexpr double kBetweenLooks = 0.1;
/// Below everything else by so many times its size, and so much [m], a body has fallen out.
constexpr double kFallenSizes = 20, kFallenLength = 2;

std::string short_number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3g", value);
    return text;
}

/// What can be done about steps that were not ok.
const char* status_remedy(StepStatus status) {
    switch (status) {
        case StepStatus::StepRejected:
        case StepStatus::StateReset: return "take a higher rate of its loop or more damping";
        case StepStatus::NotConverged: return "take a higher rate of its loop";
        case StepStatus::CapacityExceeded:
            return "it touches at more places than there is room for: take fewer or larger "
                   "elements "
                   "or particles";
        default: return "a force, pose or time step that is not finite was dropped";
    }
}

std::string count_text(std::uint64_t count) {
    return grouped(static_cast<int>(std::min<std::uint64_t>(count, 1u << 30))) +
           (count == 1 ? " step" : " steps");
}

/// Of how many steps, and what became of them.
std::string steps_text(StepStatus status, std::uint64_t count) {
    const std::string steps = count_text(count);
    switch (status) {
        case StepStatus::StepRejected: return "rejected " + steps + " and kept the state before";
        case StepStatus::StateReset:
            return "was set back to its start in " + steps + ", because its state left the numbers";
        case StepStatus::NotConverged: return "did not converge in " + steps;
        case StepStatus::CapacityExceeded: return "ran out of room in " + steps;
        default: return "ignored input in " + steps;
    }
}

}  // namespace

std::string_view BodyTrouble::name() const noexcept {
    if (kind == Kind::Status) return to_string(status);
    switch (kind) {
        case Kind::Element: return "element inside out";
        case Kind::HeldUp: return "kept from turning inside out";
        case Kind::Slow: return "slow";
        case Kind::Softened: return "past the limit of its law";
        default: return to_string(condition);
    }
}

BodyWatch::BodyWatch(const World& world)
    : world_(&world), loops_(static_cast<std::size_t>(world.num_loops())) {
    bodies_.reserve(world.bodies().size());
    for (int b = 0; b < static_cast<int>(world.bodies().size()); ++b)
        bodies_.push_back(
            {.gauge = ShapeGauge(world.body(b), b > 0 ? &bodies_.back().gauge : nullptr)});
}

void BodyWatch::forget() {
    for (Watched& watched : bodies_) {
        watched.troubles.clear();
        watched.num_told = 0;
        watched.sight = {};
    }
    for (Loop& loop : loops_) loop.tick = 0;
}

BodyShape BodyWatch::shape(int body, const LoopFrame& frame) {
    const WorldBody& one = world_->bodies()[static_cast<std::size_t>(body)];
    Watched& watched = bodies_[static_cast<std::size_t>(body)];
    const BodyShape shape =
        watched.gauge.measure(world_->loop(one.loop).display_of(frame, one.place), scratch_);
    if (!watched.has_start && shape.is_finite()) {
        watched.start = shape.centre;
        watched.start_low = shape.low.z();
        watched.has_start = true;
        const auto low_of = [&](int b) {
            return b < 0 ? std::numeric_limits<double>::infinity()
                         : bodies_[static_cast<std::size_t>(b)].start_low;
        };
        if (watched.start_low < low_of(lowest_[0]))
            lowest_ = {body, lowest_[0]};
        else if (watched.start_low < low_of(lowest_[1]))
            lowest_[1] = body;
    }
    return shape;
}

double BodyWatch::fall(int body, const BodyShape& shape) const {
    const Eigen::Vector3d& g = world_->scene().gravity;
    const int other = lowest_[lowest_[0] == body ? 1 : 0];
    // nothing else is there, or down is elsewhere
    if (other < 0 || !(g.z() < 0) || g.head<2>().norm() > -0.1 * g.z()) return 0;
    return bodies_[static_cast<std::size_t>(other)].start_low - shape.high.z();
}

double BodyWatch::speed(int body) const {
    const Body& one = world_->body(body);
    double fastest = 0;
    for (int v = 0; v < one.surface().num_vertices(); ++v)
        fastest = std::max(fastest, one.velocity(SurfacePoint::at_vertex(v)).norm());
    return fastest;
}

BodyCondition BodyWatch::condition(int body, const BodyShape& shape) const {
    const Watched& watched = bodies_[static_cast<std::size_t>(body)];
    const BodyCondition is = watched.gauge.condition(shape, watched.start);
    if (is != BodyCondition::Well) return is;
    const double limit = std::max(kFallenSizes * watched.gauge.size(), kFallenLength);
    return fall(body, shape) > limit ? BodyCondition::Away : is;
}

double BodyWatch::distance(int body, const BodyShape& shape) const {
    return (shape.centre - bodies_[static_cast<std::size_t>(body)].start).norm();
}

BodyTrouble& BodyWatch::found(Watched& watched, const BodyTrouble& like, double time) {
    const auto same = std::ranges::find_if(watched.troubles, [&](const BodyTrouble& one) {
        return one.kind == like.kind && one.condition == like.condition &&
               one.status == like.status;
    });
    if (same != watched.troubles.end()) {
        same->until = time;
        return *same;
    }
    watched.troubles.push_back(like);
    watched.troubles.back().since = watched.troubles.back().until = time;
    return watched.troubles.back();
}

void BodyWatch::count(Watched& watched, const BodyTrouble& seen, double time) {
    const auto known = std::ranges::find(watched.troubles, seen.kind, &BodyTrouble::kind);
    // a reset counts anew
    if (seen.count == 0 || (known != watched.troubles.end() && known->count == seen.count)) return;
    BodyTrouble& trouble = found(watched, seen, time);
    trouble.count = seen.count;
    trouble.value = std::min(trouble.value, seen.value);
}

void BodyWatch::look_at(int body, const LoopFrame& frame) {
    const WorldBody& one = world_->bodies()[static_cast<std::size_t>(body)];
    Watched& watched = bodies_[static_cast<std::size_t>(body)];
    const BodyShape now = shape(body, frame);
    BodySight& sight = watched.sight;
    sight.lowest = std::min(sight.lowest, now.low.z());
    sight.highest = std::max(sight.highest, now.high.z());
    if (!(now.volume >= sight.least_volume)) sight.least_volume = now.volume;
    sight.has_moved = sight.has_moved || (now.centre - watched.start).norm() > 0;
    if (const BodyCondition is = condition(body, now); is != BodyCondition::Well) {
        const double value = is == BodyCondition::Away        ? distance(body, now)
                             : is == BodyCondition::Stretched ? now.extent
                                                              : now.volume;
        const bool is_less = is == BodyCondition::Collapsed || is == BodyCondition::InsideOut;
        BodyTrouble& trouble =
            found(watched, {.body = body, .condition = is, .value = value}, frame.time);
        if (is == BodyCondition::Away) trouble.has_fallen = fall(body, now) > 0;
        // what is no number is the worst
        if (!(is_less ? value >= trouble.value : value <= trouble.value)) trouble.value = value;
    }
    const ShownSteps& steps = frame.steps[static_cast<std::size_t>(one.place)];
    using Kind = BodyTrouble::Kind;
    const auto counted = [&](Kind kind, std::uint64_t number, double value) {
        count(watched, {.body = body, .kind = kind, .count = number, .value = value}, frame.time);
    };
    counted(Kind::Element, steps.num_inverted, steps.worst_det_F);
    counted(Kind::HeldUp, steps.num_held_up, steps.worst_det_F);
    counted(Kind::Slow, steps.num_slowed, steps.slowest);
    counted(Kind::Softened, steps.num_softened, steps.smallest_stvk);
    for (int s = 1; s < kNumStepStatuses; ++s) {
        std::uint64_t count = steps.counts[static_cast<std::size_t>(s)];
        const auto status = static_cast<StepStatus>(s);
        // said already
        if (status == StepStatus::CapacityExceeded) count -= std::min(count, steps.num_slowed);
        if (count == 0) continue;
        const auto known = std::ranges::find_if(watched.troubles, [&](const BodyTrouble& trouble) {
            return trouble.kind == BodyTrouble::Kind::Status && trouble.status == status;
        });
        // a reset that a script does leaves what was seen before
        if (known != watched.troubles.end() && known->count >= count) continue;
        found(watched, {.body = body, .kind = BodyTrouble::Kind::Status, .status = status},
              frame.time)
            .count = count;
    }
}

void BodyWatch::look(int loop, const LoopFrame& frame, bool all) {
    Loop& at = loops_[static_cast<std::size_t>(loop)];
    const std::vector<int>& bodies = world_->loop(loop).body_of_world();
    at.tick = frame.tick;
    const int count = static_cast<int>(bodies.size());
    int vertices = 0;
    for (int k = 0; k < count && (all || vertices < kVerticesPerLook); ++k) {
        if (at.next >= count) at.next = 0;
        const int body = bodies[static_cast<std::size_t>(at.next++)];
        look_at(body, frame);
        vertices += bodies_[static_cast<std::size_t>(body)].gauge.num_vertices() + 1;
    }
}

void BodyWatch::look_after_tick(int loop) {
    const SimulationLoop& one = world_->loop(loop);
    Loop& at = loops_[static_cast<std::size_t>(loop)];
    const bool is_due =
        static_cast<double>(one.ticks() - std::min(at.tick, one.ticks())) * one.dt() >=
            kBetweenLooks ||
        one.ticks() < at.tick || at.tick == 0;
    if (!is_due) return;
    if (at.frame.steps.empty()) at.frame = one.make_frame();
    one.fill(at.frame);
    look(loop, at.frame);
}

void BodyWatch::look_at_all() {
    for (int l = 0; l < world_->num_loops(); ++l) {
        Loop& at = loops_[static_cast<std::size_t>(l)];
        if (at.frame.steps.empty()) at.frame = world_->loop(l).make_frame();
        world_->loop(l).fill(at.frame);
        look(l, at.frame, true);
    }
}

std::vector<BodyTrouble> BodyWatch::troubles() const {
    std::vector<BodyTrouble> all;
    for (const Watched& watched : bodies_)
        all.insert(all.end(), watched.troubles.begin(), watched.troubles.end());
    return all;
}

std::string BodyWatch::text(const BodyTrouble& trouble) const {
    const WorldBody& one = world_->bodies()[static_cast<std::size_t>(trouble.body)];
    const double size = bodies_[static_cast<std::size_t>(trouble.body)].gauge.size();
    std::string what, how;
    if (trouble.kind == BodyTrouble::Kind::Status) {
        what = steps_text(trouble.status, trouble.count);
        how = status_remedy(trouble.status);
    } else if (trouble.kind == BodyTrouble::Kind::Element) {
        what =
            "has elements that are inside out (smallest det F " + short_number(trouble.value) + ")";
        how = "take a stiffer material or smaller loads";
    } else if (trouble.kind == BodyTrouble::Kind::HeldUp) {
        what = "was slowed in " + count_text(trouble.count) +
               ", which kept its elements from turning inside out (smallest det F " +
               short_number(trouble.value) + ")";
        how = "take a stiffer material, smaller loads or more damping";
    } else if (trouble.kind == BodyTrouble::Kind::Slow) {
        what = "ran slower than the world in " + count_text(trouble.count) + ", at " +
               short_number(100 * trouble.value) +
               " % of its speed at least, because its stretched elements need more inner steps "
               "than it may take";
        how = "take a higher rate of its loop, smaller loads or more damping";
    } else if (trouble.kind == BodyTrouble::Kind::Softened) {
        what = "was compressed to " + short_number(100 * trouble.value) +
               " % of its length somewhere; its law \"st-venant-kirchhoff\" softens below 57 %";
        how = "take the law \"neo-hookean\"";
    } else if (trouble.condition == BodyCondition::Away) {
        what = std::isfinite(trouble.value)
                   ? "is " + short_number(trouble.value) + " m from where it began, " +
                         short_number(trouble.value / size) + " times its size" +
                         (trouble.has_fallen ? ": it has fallen below everything else" : "")
                   : "is farther away than numbers reach";
        how = trouble.has_fallen
                  ? "put something under it that it meets, see \"contacts\""
                  : "let something carry it, or take a higher rate of its loop or more damping";
    } else if (trouble.condition == BodyCondition::Stretched) {
        what = "is " + short_number(trouble.value) + " times as long as at rest";
        how = "take a stiffer material, smaller loads or a higher rate of its loop";
    } else {
        const std::string percent = short_number(100 * trouble.value) + " % of its volume";
        what = trouble.condition == BodyCondition::InsideOut ? "is inside out: it has " + percent
                                                             : "has collapsed to " + percent;
        how = "take a stiffer material, smaller loads or the law \"neo-hookean\"";
    }
    return "\"" + one.name + "\" " + what + ", from " + short_number(trouble.since) + " s to " +
           short_number(trouble.until) + " s; " + how;
}

std::vector<std::string> BodyWatch::texts_of(const std::vector<BodyTrouble>& troubles,
                                             std::size_t most) const {
    std::vector<std::string> lines;
    std::size_t others = 0;
    int last = -1;
    for (const BodyTrouble& trouble : troubles) {
        if (lines.size() < most) {
            lines.push_back(text(trouble));
            last = trouble.body;
        } else if (trouble.body != last) {
            ++others;
            last = trouble.body;
        }
    }
    if (others > 0)
        lines.push_back(std::to_string(others) +
                        (others == 1 ? " more body is not well" : " more bodies are not well"));
    return lines;
}

std::vector<std::string> BodyWatch::texts(std::size_t most) const {
    return texts_of(troubles(), most);
}

std::vector<std::string> BodyWatch::news(std::size_t most) {
    std::vector<BodyTrouble> fresh;
    for (Watched& watched : bodies_) {
        fresh.insert(fresh.end(),
                     watched.troubles.begin() + static_cast<std::ptrdiff_t>(watched.num_told),
                     watched.troubles.end());
        watched.num_told = watched.troubles.size();
    }
    return texts_of(fresh, most);
}

}  // namespace pliant
