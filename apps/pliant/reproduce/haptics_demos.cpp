#include <algorithm>
#include <cmath>
#include <random>

#include "apps/pliant/output.h"
#include "contact_samples.h"
#include "core/numbers.h"
#include "haptics_experiments.h"
#include "haptics_samples.h"
#include "held_demos.h"
#include "pliant/core/error.h"
#include "pliant/core/parallel.h"
#include "pliant/scene/scene_file.h"
#include "pliant/scene/world.h"
#include "stability_rests.h"

namespace pliant::reproduce {
namespace {

using cli::format;
using Eigen::Vector3d;

constexpr double kDemoMoving = 2;        // of each round, then the hand holds still [s]
constexpr double kDemoJudged = 1;        // two windows [s]
constexpr double kDemoLongRest = 6;      // [s]
constexpr double kDemoWander = 8e-3;     // random places about the path, at the handle [m]
constexpr double kDemoBeside = 3e-3;     // ends of random ways, and of paths that touch nothing [m]
constexpr double kDemoDepth = 1.05;      // over its bound: soft bodies swing back into the tool
constexpr double kLeastTouch = 0.02;     // felt where a rest is to be [N]
constexpr double kDemoHandReach = 0.1;   // of tools that say none: hands [m]
constexpr double kDemoTooHigh = 4;       // gains of a user who overdoes it
constexpr double kDemoTooHighTime = 30;  // the first rounds are for the helps to act [s]

/// What a user may change.
struct DemoGains {
    double factor = 1;  ///< of both springs
    bool has_help = true;
};

/// A demo in which nothing but the hand moves: its path is that of the tool in the scene.
struct DemoInHand {
    SceneDescription scene;
    ScriptedMotion path;
    double settling = 3;    ///< until what swings is at rest [s]
    double falling = 0;     ///< the hand waits at first until bodies have fallen [s]
    bool has_bound = true;  ///< of the depth: not on full FEM and with Green's functions
    [[nodiscard]] double round() const { return kDemoMoving + settling + kDemoJudged; }
};

DemoInHand demo_in_hand(const HeldDemo& demo) {
    SceneDescription scene = still_scene(demo.name);
    ScriptedMotion path = way_of_hand(scene);
    // pairs have one, and proxies that have room are at their radius
    bool has_bound = !scene.held_tool->fem && !scene.held_tool->among && !scene.held_tool->proxy &&
                     !scene.held_tool->spheres;
    for (const ContactDescription& contact : scene.contacts)
        has_bound = has_bound && !std::holds_alternative<GreensContactDescription>(contact);
    return {std::move(scene), std::move(path), demo.settling, demo.falling, has_bound};
}

/// The demo with a device and a hand, tick by tick.
class DemoLoop {
public:
    DemoLoop(const DemoInHand& demo, const StabilityCase& c, const DemoGains& gains = {})
        : world_(with_device(demo.scene, c)), loop_(world_.loop(0)) {
        for (const GainNote& note : info().gains) {
            if (note.name == "stiffness") stiffness = note.value / info().workspace.scale;
            if (note.name == "angular_stiffness") turning = note.value * info().workspace.scale;
            if (note.name == "reach") reach = note.value;
        }
        // as with the sliders of the page: scene files take no more than the device does
        if (gains.factor != 1) {
            set("tool.stiffness", gains.factor * stiffness);
            set("tool.turning stiffness", gains.factor * turning);
        }
        if (!gains.has_help)
            for (const char* help : {"tool.damping", "tool.back-off", "tool.passivity"})
                set(help, 0);
    }
    const HapticTick& step(const Pose& wanted) {
        world_.apply(hand_to(wanted));
        while (world_.advance() != 0) {
        }
        return *loop_.haptic_tick();
    }
    [[nodiscard]] const HapticInfo& info() const { return *loop_.haptics(); }
    [[nodiscard]] double dt() const { return loop_.dt(); }
    [[nodiscard]] const char* notice() {
        loop_.fill(frame_);
        return frame_.haptics.notice.data();
    }
    double stiffness = 0, turning = 0;  ///< by rule, at the handle [N/m], [N m/rad]
    double reach = kDemoHandReach;      ///< of the tool about the grasp point [m]

private:
    void set(const char* name, double value) {
        const int i = world_.find_parameter(name);
        if (i >= 0)  // points have no turning stiffness
            world_.apply({.kind = Command::Kind::SetParameter, .parameter = i, .value = value});
    }
    static SceneDescription with_device(SceneDescription scene, const StabilityCase& c) {
        SimulatedDescription device;
        device.model = c.device();
        device.hand = c.hand();
        scene.device = device;
        return scene;
    }
    World world_;
    SimulationLoop& loop_;
    LoopFrame frame_ = loop_.make_frame();
};

/// Where on the path the tool touches, followed once with the middle hand; if it does not, the
/// hand goes beside it.
struct DemoTouches {
    Vector3d beside = Vector3d::Zero();
    std::vector<double> times;
};
DemoTouches find_touches(const DemoInHand& demo) {
    DemoLoop loop(demo, {.mass = 0.1, .encoder = 2e-5, .is_firm = true});
    DemoTouches found;
    const double scale = loop.info().workspace.scale;
    constexpr double kPathTime = 12;  // [s]
    const int stride = static_cast<int>(0.05 / loop.dt());
    for (const double shift : {0.0, kDemoBeside}) {
        found.beside = shift / scale * Vector3d::Ones().normalized();
        for (int k = 0; k * loop.dt() < kPathTime; ++k) {
            Pose wanted = demo.path.at(k * loop.dt()).pose;
            wanted.position += found.beside;
            const HapticTick& t = loop.step(wanted);
            if (k % stride == 0 && t.num_contacts > 0 && t.command.force.norm() > kLeastTouch)
                found.times.push_back(k * loop.dt());
        }
        if (!found.times.empty()) return found;
    }
    throw InputError("", "the tool of demo " + demo.scene.name + " touches nothing on its path");
}

/// Rounds of motion and rest: along the path to the next place of touch, then about that place at
/// random, in turn.
class DemoHand {
public:
    DemoHand(const DemoInHand& demo, const DemoTouches& touches, const DemoLoop& loop,
             int num_rounds, unsigned seed)
        : path_(demo.path), beside_(touches.beside), round_(demo.round()) {
        std::mt19937_64 random(seed);
        const auto uniform = [&] {
            return 2 * (static_cast<double>(random() >> 11) * 0x1p-53) - 1;
        };
        const auto vector = [&](double size) {
            const double x = uniform(), y = uniform(), z = uniform();
            return Vector3d(size * x, size * y, size * z);
        };
        const double scale = loop.info().workspace.scale;
        const Vector3d grasp = loop.info().grasp;
        // turns move the far end of the tool no farther than shifts
        const auto moved = [&](const Pose& pose, double shift) {
            const double turn = std::min(0.3, shift / scale / loop.reach);
            const Quaternion rotation = rotation_from_vector(vector(turn)) * pose.rotation;
            const Vector3d place = pose.to_world(grasp) + vector(shift / scale);
            return Pose{place - rotation * grasp, rotation.normalized()};
        };
        double time = 0;
        Pose last = place(0);
        for (int i = 0; i < num_rounds; ++i) {
            Round round{time, time, {last}};
            if (i % 2 == 0) {
                const double part = (0.5 * i + 0.5) / ((num_rounds + 1) / 2);
                time = touches.times[static_cast<std::size_t>(
                    part * static_cast<double>(touches.times.size()))];
                round.to = time;
                last = place(time);
            } else {
                for (int k = 0; k < 5; ++k) round.way.push_back(moved(place(time), kDemoWander));
                last = moved(place(time), kDemoBeside);
                round.way.push_back(last);
            }
            rounds_.push_back(std::move(round));
        }
    }
    [[nodiscard]] Pose at(double time) const {
        const auto i = std::min(static_cast<std::size_t>(time / round_), rounds_.size() - 1);
        const Round& round = rounds_[i];
        const double part =
            std::clamp((time - round_ * static_cast<double>(i)) / kDemoMoving, 0.0, 1.0);
        if (round.way.size() == 1) {
            const Pose there = place(round.from + (round.to - round.from) * smooth_step(part));
            return interpolate(round.way[0], there, std::min(1.0, 4 * part));
        }
        const double leg = part * static_cast<double>(round.way.size() - 1);
        const auto k = std::min(static_cast<std::size_t>(leg), round.way.size() - 2);
        return interpolate(round.way[k], round.way[k + 1],
                           smooth_step(leg - static_cast<double>(k)));
    }

private:
    struct Round {
        double from, to;        ///< on the path
        std::vector<Pose> way;  ///< or through these
    };
    [[nodiscard]] Pose place(double time) const {
        Pose pose = path_.at(time).pose;
        pose.position += beside_;
        return pose;
    }
    const ScriptedMotion& path_;
    Vector3d beside_;
    double round_;  ///< [s]
    std::vector<Round> rounds_;
};

StabilityOutcome judge_demo(const DemoInHand& demo, const DemoTouches& touches,
                            const StabilityCase& c, const DemoGains& gains, double seconds,
                            unsigned seed) {
    DemoLoop loop(demo, c, gains);
    const DemoHand hand(demo, touches, loop, static_cast<int>(seconds / demo.round()), seed);
    const RestSchedule schedule{.dt = loop.dt(),
                                .round = demo.round(),
                                .judged = kDemoJudged,
                                .seconds = seconds,
                                .from = gains.factor == 1 ? 0 : 2 * demo.round(),
                                .long_rest = kDemoLongRest};
    for (int k = 0; k * loop.dt() < demo.falling; ++k) static_cast<void>(loop.step(hand.at(0)));
    return judge_rests(
        RestJudge(loop.info().capabilities, loop.stiffness, loop.turning, 1 / loop.dt()), schedule,
        [&](double time) -> const HapticTick& { return loop.step(hand.at(time)); },
        [&] { return loop.notice(); });
}

}  // namespace

void run_demo_stability(Context& context) {
    Section& page = context.section;
    const double seconds = context.sized(60.0, 12.0);
    const std::vector<StabilityCase> cases = stability_cases(context.is_quick),
                                     fine_cases = fine_encoder_cases(context.is_quick);
    std::vector<HeldDemo> demos = held_demos();
    if (context.is_quick)  // a pair, a point, a proxy and many of them
        std::erase_if(demos, [](const HeldDemo& demo) {
            return demo.name != "peg-hole" && demo.name != "kidney" &&
                   demo.name != "creature-stroke" && demo.name != "sliding-hand-single";
        });
    page.text(format(
        "The demos whose tool is in a hand, from their scene files, with the gains of the rules. "
        "The hand goes along the path of the scene to a place where the tool touches, in %g s, and "
        "holds still; then through five random places about it (%g mm at the handle, turns whose "
        "far end moves as much) and holds still beside it; in turn. Everything else that moves by "
        "a script or in the wind stands still. After 3 s of rest (9 s where a serpent or a cloth "
        "swings and baskets slide), two windows are judged as above; a rest of %g s ends each run. "
        "Where baskets or a cloth fall, the hand waits for the first 10 s. "
        "%zu runs of %g s for each scene, and %zu with an encoder of 1 µm. "
        "Full FEM, bodies that move under contact, particles and tools of many spheres have the "
        "four runs of the lightest and the heaviest device; the hundreds of bodies of baskets have "
        "one of a single round, and none with higher gains. Tools on full FEM bodies, among bodies "
        "that move, proxies, tools of many spheres and points on Green's functions have no depth "
        "bound. In the heap baskets go on moving while the hand holds still, as they do without "
        "a tool, and the hand feels them: with a fine encoder, where little else is felt, half a "
        "second may be louder than the one before. Which run meets an oscillation on its "
        "way depends on the last bits of sums, and so on the processor: by the rules alone "
        "back-off was at work nowhere with AVX2, in bridge-creature with AVX-512.",
        kDemoMoving, 1e3 * kDemoWander, kDemoLongRest, cases.size(), seconds, fine_cases.size()));
    Table table{"demo_stability", "Demos in hands from loose to firm", stability_columns()};
    Table high{"demo_stability_too_high", "Demos with gains four times too high",
               too_high_columns()};
    struct ReadyDemo {
        DemoInHand demo;
        DemoTouches touches;
        bool is_slow, is_heap;
    };
    std::vector<ReadyDemo> ready;  // all of them first: a demo that touches nothing ends at once
    for (const HeldDemo& one : demos) {
        DemoInHand demo = demo_in_hand(one);
        DemoTouches touches = find_touches(demo);
        ready.push_back({std::move(demo), std::move(touches), one.is_slow, one.is_heap});
    }
    double part = 0;
    for (const ReadyDemo& one : ready) {
        const DemoInHand& demo = one.demo;
        const DemoTouches& touches = one.touches;
        const std::string& name = demo.scene.name;
        const double bound = demo.has_bound ? kDemoDepth : kInfinity;
        const auto run_all = [&](const std::vector<StabilityCase>& of, const DemoGains& gains,
                                 double length) {
            // nothing is timed, and each case has a world of its own
            const AllCores all;
            std::vector<StabilityOutcome> outcomes(of.size());
            parallel_ranges(of.size(), 1, [&](std::size_t begin, std::size_t end) {
                for (std::size_t i = begin; i < end; ++i)
                    outcomes[i] = judge_demo(demo, touches, of[i], gains, length,
                                             static_cast<unsigned>(i + 1));
            });
            StabilityOutcome worst;
            for (const StabilityOutcome& outcome : outcomes) worst.add(outcome);
            return worst;
        };
        const std::vector<StabilityCase> extremes = extreme_cases(context.is_quick);
        if (one.is_heap) {
            const StabilityOutcome coarse = run_all({extremes.back()}, {}, demo.round());
            const StabilityOutcome fine = run_all({fine_cases.back()}, {}, demo.round());
            table.add(stability_row(page, name, coarse, fine, bound));
            continue;
        }
        const std::vector<StabilityCase>& chosen = one.is_slow ? extremes : cases;
        const StabilityOutcome coarse = run_all(chosen, {}, seconds);
        table.add(stability_row(page, name, coarse, run_all(fine_cases, {}, seconds), bound));
        // by a user: alone for the lightest and the heaviest device, and with all help
        const double length = std::max(context.sized(kDemoTooHighTime, 18.0), 4 * demo.round());
        const DemoGains alone{kDemoTooHigh, false}, helped{kDemoTooHigh, true};
        high.add(too_high_row(page, name, run_all(extremes, alone, length), false, bound));
        high.add(too_high_row(page, name, run_all(chosen, helped, length), true, bound));
        context.done(part += 1.0 / static_cast<double>(demos.size()));
    }
    page.table(table);
    page.text(
        "Both stiffnesses four times too high, set by a user with the sliders of the page: alone "
        "(for the lightest and the heaviest device), and with damping injection, back-off and the "
        "passivity controller. The first two rounds are theirs to act.");
    page.table(high);
}

}  // namespace pliant::reproduce
