#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "apps/pliant/output.h"
#include "haptics/coupling_samples.h"
#include "haptics_experiments.h"
#include "haptics_samples.h"
#include "pliant/field/analytic_field.h"
#include "plot.h"

namespace pliant::reproduce {
namespace {

using cli::format;
using Eigen::Vector3d;

constexpr double kPoleHalf = 0.2, kPoleThick = 0.006;  // 40 cm, along x [m]

PointTree long_box(double half, double thick, double spacing) {
    test::ToolShape shape;
    shape.add_box({half, thick, thick}, spacing);
    return shape.tree();
}

/// A round bar across the pole, its top 1 mm below it.
FieldPointer bar_under(double x) {
    constexpr double kRadius = 0.01;
    const Eigen::Quaterniond across(Eigen::AngleAxisd(0.5 * std::numbers::pi, Vector3d::UnitX()));
    return move_field(capsule_field(kRadius, 0.05), {x, 0, -kPoleThick - kRadius - 1e-3}, across);
}

struct PoleRun {
    double force = 0, torque = 0;  ///< felt with the hand at its end [N], [N m]
    double stiffness = 0;          ///< force over travel of the hand [N/m]
    double depth_share = 0;
    CouplingGains gains;
};

/// The hand presses the pole on a bar at x by two ways, one after the other, and rests.
PoleRun press_pole(const PointTree& pole, double grasp, double x, double first, double second) {
    ToolInHandOptions options;
    options.hand = HandModel::firm();
    options.device.capabilities.position_step = 1e-6;  // no steps in a measured slope
    options.device.capabilities.angle_step = 1e-6;
    options.tool.grasp = Vector3d(grasp, 0, 0);
    ToolInHand held(pole, bar_under(x), options);
    PoleRun run;
    run.gains = held.gains();
    double felt[2] = {0, 0};
    for (int part = 0; part < 2; ++part) {
        const double from = part == 0 ? 0 : first, to = part == 0 ? first : second;
        for (int k = 0; k < 1500; ++k) {
            const double down = from + (to - from) * smooth_step(k / 800.0);
            const HapticTick& tick = held.step({Vector3d(0, 0, -down), Quaternion::Identity()});
            run.depth_share = std::max(run.depth_share, tick.depth / run.gains.max_depth);
        }
        const HapticTick& tick = held.haptics().last();
        felt[part] = tick.coupling.force.norm();
        run.force = felt[part];
        run.torque = tick.coupling.torque.norm();
    }
    run.stiffness = (felt[1] - felt[0]) / (second - first);
    return run;
}

/// A rod, two posts at ±b beside it, and the hand that turns by 86° within half a second.
struct RodScene {
    static constexpr double kThick = 0.003, kPost = 0.002;

    RodScene(double half, double b) {
        shape.add_box({half, kThick, kThick}, 1e-3);
        const FieldPointer post = capsule_field(kPost, 0.02);
        const auto id = Eigen::Quaterniond::Identity();
        posts = unite_fields({move_field(post, {b, kThick + kPost, 0}, id),
                              move_field(post, {-b, -kThick - kPost, 0}, id)});
    }
    static Pose wanted(int tick) {
        return {Vector3d::Zero(),
                rotation_from_vector({0, 0, std::min(1.5, 3 * kHapticStep * tick)})};
    }
    test::ToolShape shape;
    FieldPointer posts;
};

struct RodRun {
    double depth = 0, angle = 0, torque = 0;
    std::vector<double> depths;

    void record(double now, const Pose& tool) {
        depth = std::max(depth, now);
        depths.push_back(1e3 * now);
        angle = rotation_vector(tool.rotation).z();
    }
};
constexpr int kRodTicks = 1500;

/// Springs for turns as stiff as those for shifts at ρ: a lever that is felt.
void stiffen_turns(CouplingGains& gains) {
    gains.angular_stiffness = gains.stiffness * gains.length * gains.length;
}

RodRun lever_in_hand(const RodScene& scene, bool limits_torque) {
    ToolInHandOptions options;
    options.tool.coupling.limits_torque = limits_torque;
    options.hand = HandModel::firm();
    options.cell = 2e-3;
    options.adjust = stiffen_turns;
    ToolInHand held(scene.shape.tree(), scene.posts, options);
    RodRun run;
    for (int k = 0; k < kRodTicks; ++k) {
        const HapticTick& tick = held.step(RodScene::wanted(k));
        run.record(tick.depth, tick.tool);
        run.torque = std::max(run.torque, tick.command.torque.norm());
    }
    return run;
}

/// The coupling with the torque as published and a hand that does not feel it.
RodRun lever_as_published(const RodScene& scene) {
    CouplingGains gains =
        derive_gains(test::sample_device(), {.cell = 2e-3,
                                             .gyration = scene.shape.gyration(),
                                             .bounding = 1.001 * scene.shape.reach()});
    stiffen_turns(gains);
    ContactLoadOptions loads;
    loads.stiffness = gains.contact_stiffness;
    test::ToolScene contact(scene.shape, scene.posts, loads);
    CouplingOptions published;
    published.limits_torque = published.holds_depth = false;
    StaticCoupling coupling(gains, published);
    RodRun run;
    for (int k = 0; k < kRodTicks; ++k) {
        const ToolContact& touch = contact.contact(coupling.pose());
        run.record(contact.depth(), coupling.pose());
        static_cast<void>(coupling.update(RodScene::wanted(k), touch, kHapticStep));
    }
    return run;
}

}  // namespace

void run_long_pole(Context& context) {
    Section& page = context.section;
    const PointTree pole = long_box(kPoleHalf, kPoleThick, context.sized(2e-3, 3e-3));
    const HandModel hand = HandModel::firm();
    page.text(
        "A pole of 40 cm, held in the middle or at its end, is pressed on a bar at several places "
        "along it. Only the springs at the grasp point are felt: contact at a lever L from it "
        "comes as a torque F L, and gives way by the springs for turns as well. At rest the force "
        "over the travel of the hand is that of four springs in a row, 1/K = 1/k_VC + 1/k_hand + "
        "L² (1/k_R + 1/k_R,hand). The published text shows the same pole without numbers: where "
        "it is grasped decides what is felt.");
    Table table{
        "long_pole",
        "Felt at rest; the hand is firm and 4 mm, from L = 10 cm on 12 mm, at the ends 25 mm lower",
        {{"grasp", "held at"},
         {"lever_mm", "L, mm"},
         {"force_n", "force, N"},
         {"torque_nm", "torque, N m"},
         {"ratio", "torque / (F L)"},
         {"stiffness", "stiffness felt, N/m"},
         {"expected", "four springs, N/m"},
         {"depth", "deepest / bound"}}};
    int done = 0;
    // stiffness felt, held in the middle and at the end
    std::array<double, 2> under_hand{}, far_end{};
    for (const double grasp : {0.0, -kPoleHalf})
        for (const double lever : {0.0, 0.1, 0.19, 0.38}) {
            if (grasp == 0.0 && lever > kPoleHalf) continue;
            const std::string name = format(
                "held %s, L = %.0f mm", grasp == 0 ? "in the middle" : "at the end", 1e3 * lever);
            const double way = lever < 0.05 ? 0.004 : lever < 0.15 ? 0.012 : 0.025;
            // an end has no place right under it: 5 mm beside counts as none
            const double place = grasp + std::max(lever, grasp == 0 ? 0.0 : 0.005);
            const double arm = place - grasp;
            const PoleRun run = press_pole(pole, grasp, place, 0.6 * way, way);
            const double expected =
                1 / (1 / run.gains.stiffness + 1 / hand.stiffness +
                     arm * arm * (1 / run.gains.angular_stiffness + 1 / hand.angular_stiffness));
            table.add({grasp == 0 ? "the middle" : "the end", Cell::number(1e3 * arm, "%.0f"),
                       Cell::number(run.force, "%.3f"), Cell::number(run.torque, "%.4f"),
                       arm > 0.05 ? page.compared("torque over F L, " + name,
                                                  run.torque / (run.force * arm), 1, 0.02, "%.3f")
                                  : Cell("–"),
                       page.compared("stiffness, " + name, run.stiffness, expected, 0.05 * expected,
                                     "%.1f"),
                       Cell::number(expected, "%.1f"),
                       page.at_most("depth, " + name, run.depth_share, 1, "%.2f")});
            (lever == 0 ? under_hand : far_end)[grasp == 0 ? 0 : 1] = run.stiffness;
            context.done(++done / 7.0);
        }
    page.table(table);
    page.text(
        format("The same push on the far end is felt %.0f times softer than under the hand, %.0f "
               "times if the pole is held at its end, because the springs for turns may be no "
               "stiffer than device and rate carry. Held at the end the lever doubles, and a "
               "quarter of the stiffness is left.",
               under_hand[0] / far_end[0], under_hand[1] / far_end[1]));
}

void run_long_rod(Context& context) {
    Section& page = context.section;
    page.text(
        "A rod (6 mm thick) lies between two posts at ±b from the hand, which turns it by 86°, "
        "with force feedback on. The depth allowed is 1 mm. Published: torque saturation is "
        "described and left out, and people lever objects through gaps. Here the largest torque "
        "on the rod follows the lever of contacts, while the device may show all of its own in the "
        "hand; beside it the same with this limit alone left out, and the "
        "published law 2 k_R sin(θ/2), without the depth bound, for a hand without feedback. "
        "References, of a prototype without feedback: at most 0.25 mm with the "
        "torque limited to half of F_max b; without a limit rods of 240 mm pass through the posts "
        "for all b, and that of 120 mm for b = 4 mm; here that of 120 mm does for b = 10 mm as "
        "well.");
    Table table{"long_rod",
                "Deepest contact, and angle after 1.5 s; beyond 80° the rod went through the posts",
                {{"length_mm", "rod, mm"},
                 {"b_mm", "b, mm"},
                 {"depth_mm", "limited, in the hand: deepest, mm"},
                 {"angle", "angle, °"},
                 {"torque", "largest torque shown, N m"},
                 {"unlimited_mm", "torque not limited, in the hand: deepest, mm"},
                 {"unlimited_angle", "angle, °"},
                 {"published_mm", "as published: deepest, mm"},
                 {"published_angle", "angle, °"}}};
    Plot plot{.title = "Rod of 240 mm, posts at ±10 mm",
              .x_label = "time, s",
              .y_label = "depth, mm",
              .series = {},
              .guides = {{1.0, "allowed"}}};
    constexpr double kDegrees = 180 / std::numbers::pi;
    int done = 0;
    for (const double half : {0.03, 0.06, 0.12})
        for (const double b : {0.004, 0.01, 0.02}) {
            const RodScene scene(half, b);
            const RodRun limited = lever_in_hand(scene, true),
                         unlimited = lever_in_hand(scene, false),
                         published = lever_as_published(scene);
            const std::string name = format("rod of %.0f mm, b = %.0f mm", 2e3 * half, 1e3 * b);
            table.add({Cell::number(2e3 * half, "%.0f"), Cell::number(1e3 * b, "%.0f"),
                       page.at_most("depth, " + name, 1e3 * limited.depth, 0.25, "%.3f"),
                       page.at_most("angle, " + name, kDegrees * limited.angle, 6, "%.1f"),
                       Cell::number(limited.torque, "%.3f"),
                       Cell::number(1e3 * unlimited.depth, "%.2f"),
                       Cell::number(kDegrees * unlimited.angle, "%.0f"),
                       Cell::number(1e3 * published.depth, "%.2f"),
                       Cell::number(kDegrees * published.angle, "%.0f")});
            if (half == 0.12 && b == 0.01) {
                plot.series.push_back(tick_curve("limited by the lever", limited.depths, 0));
                plot.series.push_back(tick_curve("as published", published.depths, 1));
            }
            context.done(++done / 9.0);
        }
    page.figure({drawn(plot)},
                "Depth of the rod in the posts; the dotted line is what is allowed.");
    page.table(table);
}

}  // namespace pliant::reproduce
