#include <algorithm>
#include <cmath>
#include <random>

#include "apps/pliant/output.h"
#include "contact_samples.h"
#include "haptics_experiments.h"
#include "pliant/core/parallel.h"
#include "pliant/field/analytic_field.h"
#include "pliant/geometry/shapes.h"
#include "pliant/haptics/haptic_tool.h"
#include "pliant/haptics/simulated_device.h"
#include "plot.h"
#include "stability_rests.h"

namespace pliant::reproduce {
namespace {

using cli::format;
using Eigen::Vector3d;

constexpr double kStabilityTick = 1e-3;
constexpr double kToolHalf = 0.02;  // of boxes and radius of balls [m]
constexpr double kMovingTime = 2;   // of each round, then the hand holds still [s]
constexpr double kJudgedTime = 1;   // two windows [s]
constexpr double kLongRest = 6;     // twelve windows at the end [s]

/// Points in the middle of cells on the faces of a box about the origin.
Pointshell stability_box(const Vector3d& half, double spacing) {
    Pointshell shell;
    shell.spacing = spacing;
    for (int axis = 0; axis < 3; ++axis)
        for (const int side : {-1, 1}) {
            const int a = (axis + 1) % 3, b = (axis + 2) % 3;
            const int na = std::max(1, static_cast<int>(2 * half[a] / spacing));
            const int nb = std::max(1, static_cast<int>(2 * half[b] / spacing));
            for (int i = 0; i < na * nb; ++i) {
                Vector3d p;
                p[axis] = side * half[axis];
                p[a] = half[a] * ((2.0 * (i / nb) + 1) / na - 1);
                p[b] = half[b] * ((2.0 * (i % nb) + 1) / nb - 1);
                shell.points.push_back(p.cast<float>());
                shell.normals.push_back((-side * Vector3d::Unit(axis)).cast<float>());
            }
        }
    shell.level_start = {0, shell.num_points()};
    return shell;
}
Pointshell stability_ball(double radius, int count) {
    Pointshell shell;
    shell.spacing = std::sqrt(4 * std::numbers::pi / count) * radius;
    for (int i = 0; i < count; ++i) {
        const double z = 1 - (2.0 * i + 1) / count, s = std::sqrt(1 - z * z);
        const double angle = i * std::numbers::pi * (3 - std::sqrt(5.0));
        const Vector3d n(s * std::cos(angle), s * std::sin(angle), z);
        shell.points.push_back((radius * n).cast<float>());
        shell.normals.push_back((-n).cast<float>());
    }
    shell.level_start = {0, shell.num_points()};
    return shell;
}
FieldPointer stability_walls(std::initializer_list<int> axes) {
    std::vector<FieldPointer> parts;
    for (const int axis : axes)
        for (const double side : {-1.0, 1.0})
            parts.push_back(
                plane_set_field({{side * Vector3d::Unit(axis), -(kToolHalf + 0.0002)}}));
    return unite_fields(parts);
}

/// A tool, what it meets and how it is held.
struct StabilityScene {
    std::string name;
    CouplingScene rules = {.rate = 1 / kStabilityTick,
                           .scale = 1,
                           .cell = 1e-3,
                           .gyration = kToolHalf,
                           .bounding = 0.035};
    Vector3d start = Vector3d::Zero();
    Pointshell shell = {};
    FieldPointer field = {};
    bool tool_is_field = false;
    const ReducedModel* soft = nullptr;  ///< whose points are the shell
    Vector3d press = {0, 0, -0.012};     ///< of the hand, into contact [m at the handle]
    double settling = 2;                 ///< until what swings is at rest [s]
    [[nodiscard]] double round() const { return kMovingTime + settling + kJudgedTime; }
};

const ReducedModel& stability_beam() {
    static const ReducedModel model =
        make_soft(make_shape("beam"), {.fixed = "x < 3 %", .resolution = 20, .num_modes = 10});
    return model;
}

std::vector<StabilityScene> stability_scenes(bool is_quick) {
    const Pointshell box = stability_box(Vector3d::Constant(kToolHalf), 0.004);
    std::vector<StabilityScene> all;
    all.push_back({.name = "box on a plane",
                   .start = {0, 0, kToolHalf + 0.002},
                   .shell = box,
                   .field = plane_set_field({FieldPlane{}})});
    all.push_back({.name = "box in a slot",
                   .shell = box,
                   .field = stability_walls({1}),
                   .press = {0, 0.008, 0}});
    if (!is_quick) {
        all.push_back({.name = "box in a shaft",
                       .shell = box,
                       .field = stability_walls({0, 1}),
                       .press = {0.004, 0.008, 0}});
        all.push_back({.name = "ball in a socket",
                       .shell = stability_ball(kToolHalf, 1000),
                       .field = invert_field(sphere_field(kToolHalf + 0.0002)),
                       .press = {0, 0.008, 0}});
        const FieldPointer post = capsule_field(0.005, 0.03);
        const auto id = Eigen::Quaterniond::Identity();
        all.push_back({.name = "pole between posts",
                       .rules = {.rate = 1 / kStabilityTick,
                                 .scale = 1,
                                 .cell = 1e-3,
                                 .gyration = 0.06,
                                 .bounding = 0.1},
                       .shell = stability_box({0.1, 0.004, 0.004}, 0.004),
                       .field = unite_fields({move_field(post, {0.02, 0.0095, 0}, id),
                                              move_field(post, {-0.02, -0.0095, 0}, id)}),
                       .press = {0, 0.004, 0}});
    }
    all.push_back({.name = "ball (field) on a box",
                   .start = {0, 0, 2 * kToolHalf + 0.002},
                   .shell = stability_box(Vector3d::Constant(kToolHalf), 0.002),
                   .field = sphere_field(kToolHalf),
                   .tool_is_field = true});
    if (is_quick) return all;
    // 8 cm of the beam for 1.6 cm of the handle
    const ReducedModel& model = stability_beam();
    Vector3d low = model.surface().vertices.front(), high = low;
    for (const Vector3d& x : model.surface().vertices) {
        low = low.cwiseMin(x);
        high = high.cwiseMax(x);
    }
    const Vector3d half = 0.5 * (high - low), middle = 0.5 * (high + low);
    const double radius = half.z();
    Pointshell shell = stability_box(half, 0.2 * radius);
    for (Eigen::Vector3f& p : shell.points) p += middle.cast<float>();
    all.push_back({.name = "ball on a soft beam",
                   .rules = {.rate = 1 / kStabilityTick,
                             .scale = 0.02 / radius,
                             .cell = 0.05 * radius,
                             .gyration = 0.8 * radius,
                             .bounding = radius},
                   .start = {high.x() - radius, middle.y(), high.z() + 1.05 * radius},
                   .shell = shell,
                   .field = sphere_field(radius),
                   .tool_is_field = true,
                   .soft = &model,
                   .press = {0, 0, -0.02},
                   .settling = 9});  // it swings for seconds
    return all;
}

/// The scene in a closed loop with a device in a hand.
class StabilityLoop {
public:
    StabilityLoop(const StabilityScene& scene, const DeviceModel& model, const HandModel& hand,
                  double gain_factor, const HapticToolOptions& tool_options)
        : device(model, hand), tool_(body_at(scene.start)) {
        if (scene.soft != nullptr)
            other_ = std::make_unique<ReducedBody>(
                *scene.soft, ReducedBodyOptions{.damping = {.mass = 0, .stiffness = 0.005}});
        else
            other_ = body_at(Vector3d::Zero());
        Body* points = scene.tool_is_field ? other_.get() : tool_.get();
        Body* solid = scene.tool_is_field ? static_cast<Body*>(tool_.get()) : other_.get();
        const PointTree tree =
            scene.soft != nullptr ? make_tree(scene.shell, *scene.soft) : PointTree(scene.shell);
        pair_ = std::make_unique<ContactPair>(ShellBody{points, tree},
                                              FieldBody{solid, scene.field, {}});
        gains = derive_gains(device.capabilities(), scene.rules);
        gains.stiffness *= gain_factor;
        gains.angular_stiffness *= gain_factor;
        HapticToolOptions options = tool_options;
        options.workspace.scale = scene.rules.scale;
        haptics = std::make_unique<HapticTool>(
            device, *tool_, std::vector<ContactPair*>{pair_.get()}, gains, options);
        handle_stiffness = gains.stiffness / scene.rules.scale;
        handle_turning = gains.angular_stiffness * scene.rules.scale;
    }
    const HapticTick& step(const Pose& target) {
        device.aim(target);
        now_ += kStabilityTick;
        static_cast<void>(pair_->act(kStabilityTick));
        const HapticTick& tick = haptics->tick(now_, kStabilityTick);
        static_cast<void>(tool_->step(kStabilityTick));
        static_cast<void>(other_->step(kStabilityTick));
        return tick;
    }
    SimulatedDevice device;
    CouplingGains gains;
    std::unique_ptr<HapticTool> haptics;
    double handle_stiffness = 0, handle_turning = 0;

private:
    static std::unique_ptr<RigidBody> body_at(const Vector3d& position) {
        RigidBodyOptions options;
        options.pose.position = position;
        return std::make_unique<RigidBody>(RigidShape::sphere(0.01), make_shape("beam"), options);
    }
    std::unique_ptr<RigidBody> tool_;
    std::unique_ptr<Body> other_;
    std::unique_ptr<ContactPair> pair_;
    double now_ = 0;
};

/// Where the hand wants to be: rounds of motion and rest in contact, each ending elsewhere. Odd
/// rounds are scripted (press, slide and turn), even ones go through random places.
class StabilityHand {
public:
    StabilityHand(const StabilityScene& scene, int num_rounds, unsigned seed)
        : round_(scene.round()) {
        const Vector3d& press = scene.press;
        std::mt19937_64 random(seed);
        const auto uniform = [&] {
            return 2 * (static_cast<double>(random() >> 11) * 0x1p-53) - 1;
        };
        const auto vector = [&](double size) {
            const double x = uniform(), y = uniform(), z = uniform();
            return Vector3d(size * x, size * y, size * z);
        };
        Pose last;
        for (int i = 0; i < num_rounds; ++i) {
            std::vector<Pose> way = {last};
            const double depth = 0.7 + 0.3 * uniform();
            if (i % 2 == 0) {
                way.push_back({depth * press, Quaternion::Identity()});
                const Vector3d slide = 0.006 * Vector3d(uniform(), uniform(), 0);
                way.push_back({depth * press + slide,
                               rotation_from_vector({0.1 * uniform(), 0.1 * uniform(), 0.2})});
            } else {
                for (int k = 0; k < 5; ++k)
                    way.push_back({press * (0.3 + 0.7 * uniform()) + vector(0.008),
                                   rotation_from_vector(vector(0.3))});
                way.push_back({depth * press + vector(0.003), rotation_from_vector(vector(0.1))});
            }
            last = way.back();
            rounds_.push_back(std::move(way));
        }
    }
    [[nodiscard]] Pose at(double time) const {
        const auto round = std::min(static_cast<std::size_t>(time / round_), rounds_.size() - 1);
        const std::vector<Pose>& way = rounds_[round];
        const double part =
            std::clamp((time - round_ * static_cast<double>(round)) / kMovingTime, 0., 1.);
        const double place = part * static_cast<double>(way.size() - 1);
        const auto i = std::min(static_cast<std::size_t>(place), way.size() - 2);
        const double s = place - static_cast<double>(i);
        return interpolate(way[i], way[i + 1], s * s * (3 - 2 * s));
    }

    [[nodiscard]] double round() const { return round_; }

private:
    double round_;  ///< [s]
    std::vector<std::vector<Pose>> rounds_;
};

/// The criterion of docs/haptics.md eq. (24) for each rest after `from` seconds, and a long rest at
/// the end.
StabilityOutcome judge_stability(StabilityLoop& loop, const StabilityHand& hand, double seconds,
                                 double from) {
    const RestSchedule schedule{.dt = kStabilityTick,
                                .round = hand.round(),
                                .judged = kJudgedTime,
                                .seconds = seconds,
                                .from = from,
                                .long_rest = kLongRest};
    return judge_rests(
        RestJudge(loop.device.capabilities(), loop.handle_stiffness, loop.handle_turning,
                  1 / kStabilityTick),
        schedule, [&](double time) -> const HapticTick& { return loop.step(hand.at(time)); },
        [&] { return loop.haptics->notice(); });
}

}  // namespace

void run_stability_suite(Context& context) {
    Section& page = context.section;
    const double seconds = context.sized(60.0, 10.0);
    const std::vector<StabilityScene> scenes = stability_scenes(context.is_quick);
    const std::vector<StabilityCase> cases = stability_cases(context.is_quick),
                                     fine_cases = fine_encoder_cases(context.is_quick);
    page.text(format(
        "A simulated device in a hand, closed through the virtual coupling and contact at 1 kHz "
        "with a sample of delay. Rounds of %g s: the hand moves for %g s (pressing, sliding and "
        "turning by a script, then through random places, in turn), holds still, and after %g s "
        "two windows of half a second are judged: none above %s, the second at most a tenth above "
        "the first or below 0.01 N. Where it is more, the hand holds still for 5 s more: an "
        "oscillation that grows has a mean of the last four of these windows a tenth above that of "
        "the first two. (On the soft beam after 9 s, since it swings: a "
        "handle that moves steps through its encoder.) A rest of %g s ends each run. Masses 0.05 "
        "to 0.3 kg, hands of "
        "100 N/m (loose) "
        "and 1000 N/m (firm), encoders of 20 and 50 µm: %zu runs of %g s for each scene; and %zu "
        "with an encoder of 1 µm. W − S is what the hand put in less what the springs hold, "
        "docs/haptics.md eq. (21): judged to be above −0.2 mJ.",
        scenes[0].round(), kMovingTime, scenes[0].settling, "max(0.03 N, stiffness × encoder step)",
        kLongRest, cases.size(), seconds, fine_cases.size()));

    const auto run_all = [&](const StabilityScene& scene, const std::vector<StabilityCase>& of,
                             double factor, const HapticToolOptions& options, double length,
                             double from) {
        // nothing is timed, and each case has a loop of its own
        const AllCores all;
        std::vector<StabilityOutcome> outcomes(of.size());
        parallel_ranges(of.size(), 1, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                StabilityLoop loop(scene, of[i].device(), of[i].hand(), factor, options);
                const StabilityHand hand(scene, static_cast<int>(length / scene.round()) + 1,
                                         static_cast<unsigned>(i + 1));
                outcomes[i] = judge_stability(loop, hand, length, from);
            }
        });
        StabilityOutcome worst;
        for (const StabilityOutcome& outcome : outcomes) worst.add(outcome);
        return worst;
    };

    Table rules{"stability", "Gains by the rules alone", stability_columns()};
    double part = 0;
    const double step = 0.5 / static_cast<double>(scenes.size());
    for (const StabilityScene& scene : scenes) {
        const StabilityOutcome o = run_all(scene, cases, 1, {}, seconds, 0);
        const StabilityOutcome fine = run_all(scene, fine_cases, 1, {}, seconds, 0);
        rules.add(stability_row(page, scene.name, o, fine, 1.01));
        context.done(part += step);
    }
    page.table(rules);

    page.text(
        "Both stiffnesses four times too high, by a user: alone, and with damping injection, "
        "back-off and the passivity controller. The first two rounds are theirs to act; the "
        "criterion is that of the device's own stiffness, as if the gains had never been "
        "changed. Rows without help show what it is for and are not judged by their rests. The "
        "last columns: how often lowered gains were not told to the user, and what was told last.");
    Table high{"stability_too_high", "Gains four times too high", too_high_columns()};
    for (const StabilityScene& scene : scenes) {
        HapticToolOptions alone;
        alone.injects_damping = alone.backs_off = alone.passivity.controls = false;
        const double length = std::max(context.sized(30.0, 15.0), 4 * scene.round());
        for (const bool has_help : {false, true}) {
            const StabilityOutcome o = run_all(
                scene, cases, 4, has_help ? HapticToolOptions{} : alone, length, 2 * scene.round());
            high.add(too_high_row(page, scene.name, o, has_help, 1.01));
        }
        context.done(part += step);
    }
    page.table(high);
}

}  // namespace pliant::reproduce
