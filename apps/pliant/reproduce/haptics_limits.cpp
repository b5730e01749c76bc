#include <algorithm>
#include <cmath>
#include <map>

#include "apps/pliant/output.h"
#include "haptics/coupling_samples.h"
#include "haptics_experiments.h"
#include "haptics_samples.h"
#include "pliant/field/analytic_field.h"

namespace pliant::reproduce {
namespace {

using cli::format;
using Eigen::Vector3d;

/// One way to hold a tool with something left out.
struct LimitCase {
    std::string name;
    std::string scene = {};  ///< in which the tool goes clearly deeper without it; empty: none
    CouplingOptions coupling = {};
    double static_damping = 0.5;
    bool caps_points = true;
};

std::vector<LimitCase> limit_cases() {
    std::vector<LimitCase> cases(11);
    cases[0].name = "all";
    cases[1].name = "springs not saturated";
    cases[1].scene = "plane";
    cases[1].coupling.saturation = CouplingSaturation::None;
    cases[2].name = "torque not limited";
    cases[2].scene = "rod";
    cases[2].coupling.limits_torque = false;
    cases[3].name = "steps not limited";
    cases[3].scene = "plane";
    cases[3].coupling.limits_steps = cases[3].coupling.adapts_to_clearance = false;
    cases[4].name = "steps without clearance";
    cases[4].scene = "impact";
    cases[4].coupling.adapts_to_clearance = false;
    cases[5].name = "rotations in radians";
    cases[5].scene = "slot";
    cases[5].coupling.scales_rotations = false;
    cases[6].name = "no static damping";
    cases[6].static_damping = 0;
    cases[7].name = "no cap on points";
    cases[7].caps_points = false;
    cases[8].name = "steps may press beyond";
    cases[8].coupling.holds_depth = false;
    // the published saturation by itself, and neither it nor any limit of ours
    for (std::size_t i = 9; i < 11; ++i) {
        cases[i].coupling.limits_torque = cases[i].coupling.adapts_to_clearance =
            cases[i].coupling.holds_depth = false;
        cases[i].caps_points = false;
    }
    cases[9].name = "saturation alone";
    cases[10].name = "no saturation, no limit of ours";
    cases[10].coupling.saturation = CouplingSaturation::None;
    return cases;
}

struct LimitScene {
    std::string name, key;
    test::ToolShape tool;
    FieldPointer field;
    double max_depth;
    Pose start;
    int num_ticks;
    Pose (*hand)(double time);
    bool is_stiff;  ///< springs for turns as stiff as those for shifts at ρ
};

std::vector<LimitScene> limit_scenes() {
    std::vector<LimitScene> scenes;
    test::ToolShape box;
    box.add_box({0.02, 0.015, 0.01}, 1e-3);
    const FieldPointer floor = plane_set_field({FieldPlane{}});
    scenes.push_back({"hand 200 mm in a plane",
                      "plane",
                      box,
                      floor,
                      1e-3,
                      {Vector3d(0, 0, 0.015), Quaternion::Identity()},
                      1200,
                      [](double) {
                          return Pose{{0, 0, -0.2}, Quaternion::Identity()};
                      },
                      false});
    scenes.push_back(
        {"impact at 0.5 m/s",
         "impact",
         box,
         floor,
         0.25e-3,
         {Vector3d(0, 0, 0.02), Quaternion::Identity()},
         200,
         [](double t) {
             return Pose{{0, 0, std::max(-0.03, 0.02 - 0.5 * t)}, Quaternion::Identity()};
         },
         false});
    const FieldPointer slot = unite_fields({plane_set_field({{Vector3d(0, 0, 1), -0.0101}}),
                                            plane_set_field({{Vector3d(0, 0, -1), -0.0101}})});
    scenes.push_back({"slot, turned by 52°",
                      "slot",
                      box,
                      slot,
                      1e-3,
                      {},
                      1000,
                      [](double) {
                          return Pose{{0, 0, 0.2}, rotation_from_vector({0, 0.9, 0})};
                      },
                      false});
    test::ToolShape rod;
    rod.add_box({0.12, 0.003, 0.003}, 1e-3);
    const FieldPointer post = capsule_field(0.002, 0.02);
    const auto id = Eigen::Quaterniond::Identity();
    scenes.push_back(
        {"rod of 240 mm levered",
         "rod",
         rod,
         unite_fields(
             {move_field(post, {0.01, 0.005, 0}, id), move_field(post, {-0.01, -0.005, 0}, id)}),
         1e-3,
         {},
         1200,
         [](double t) {
             return Pose{Vector3d::Zero(), rotation_from_vector({0, 0, std::min(1.5, 3 * t)})};
         },
         true});
    // a plate that grazes a floor with its whole face while one edge is pushed against a step
    test::ToolShape plate;
    plate.add_box({0.03, 0.03, 0.003}, 1e-3);
    scenes.push_back({"plate on a floor against a post",
                      "post",
                      plate,
                      unite_fields({plane_set_field({{Vector3d(0, 0, 1), -0.003}}),
                                    move_field(capsule_field(0.002, 0.02), {0.033, 0, 0}, id)}),
                      1e-3,
                      {},
                      1200,
                      [](double t) {
                          return Pose{{std::min(0.2, t), 0, -0.05}, Quaternion::Identity()};
                      },
                      false});
    return scenes;
}

struct LimitRun {
    double peak = 0, last = 0;  ///< over the depth allowed
};

LimitRun run_limit(const LimitScene& scene, const LimitCase& limits) {
    CouplingGains gains =
        derive_gains(test::sample_device(), {.cell = 2 * scene.max_depth,
                                             .gyration = scene.tool.gyration(),
                                             .bounding = 1.001 * scene.tool.reach()});
    gains.static_damping = limits.static_damping;
    if (scene.is_stiff) gains.angular_stiffness = gains.stiffness * gains.length * gains.length;
    ContactLoadOptions loads;
    loads.stiffness = gains.contact_stiffness;
    if (limits.caps_points) loads.cap_depth = 0.5 * gains.max_depth;
    test::ToolScene contact(scene.tool, scene.field, loads);
    StaticCoupling coupling(gains, limits.coupling);
    coupling.place(scene.start);
    LimitRun run;
    for (int k = 0; k < scene.num_ticks; ++k) {
        const ToolContact& touch = contact.contact(coupling.pose());
        run.last = contact.depth() / scene.max_depth;
        run.peak = std::max(run.peak, run.last);
        static_cast<void>(coupling.update(scene.hand(kHapticStep * k), touch, kHapticStep));
    }
    return run;
}

}  // namespace

void run_limits(Context& context) {
    Section& page = context.section;
    page.text(
        "What each limit is for: the largest depth over the depth allowed, with one of them left "
        "out at a time. Hand without feedback, 600 N/m, 8.5 N, 1 mm allowed (impact: 0.25 mm), "
        "which is half a cell where fields have cells, 1 kHz. Published: half to one cell when "
        "saturated. References, of a prototype with scenes that are alike: 0.29 at rest in the "
        "plane, "
        "3.2 without saturation; 0.52 in the impact, 0.87 without clearance; 0.18 in the slot, 7.0 "
        "with rotations in radians; long rods pass through their posts without a limit of the "
        "torque.");
    const std::vector<LimitScene> scenes = limit_scenes();
    Table table{"limits", "Largest depth, and at the end, over the depth allowed", {}};
    table.columns.push_back({"limits", "limits"});
    for (const LimitScene& scene : scenes) {
        table.columns.push_back({scene.key + "_peak", scene.name + ": largest"});
        table.columns.push_back({scene.key + "_end", "at the end"});
    }
    int done = 0;
    std::map<std::string, double> peaks;  // with all limits
    const auto cases = limit_cases();
    for (const LimitCase& limits : cases) {
        std::vector<Cell> row = {limits.name};
        for (const LimitScene& scene : scenes) {
            const LimitRun run = run_limit(scene, limits);
            const bool is_all = limits.name == "all",
                       is_none = &limits == &cases.back() &&
                                 (scene.key == "plane" || scene.key == "slot");
            if (is_all) peaks[scene.key] = run.peak;
            // the scene tells a tool without the limit apart
            if (limits.scene == scene.key)
                (void)page.at_least(
                    limits.name + ", " + scene.name + ": depth over that with all limits",
                    run.peak / peaks[scene.key], 1.5, "%.1f");
            row.push_back(is_all ? page.at_most("largest depth, " + scene.name, run.peak, 1, "%.2f")
                          : is_none ? page.at_least("largest depth, nothing limited, told apart, " +
                                                        scene.name,
                                                    run.peak, 1.01, "%.2f")
                                    : Cell::number(run.peak, "%.2f"));
            row.push_back(Cell::number(run.last, "%.2f"));
            context.done(++done / (static_cast<double>(cases.size() * scenes.size())));
        }
        table.add(std::move(row));
    }
    page.table(table);
    page.text(
        "Judged, too: without saturation, limits of torque and steps, clearance or scaled "
        "rotations the tool goes at least 1.5 times as deep, each in the scene that is there for "
        "it. Rows that equal the first: no scene here needs static damping, the cap on points or "
        "the limit of depth. In the plane and the slot the published saturation is enough by "
        "itself, and without it and our limits the tool goes too deep. "
        "Numbers far above 1 in the row of unlimited steps are tools that one step has thrown far "
        "into a body; where the end is as bad, they do not come back.");
}

}  // namespace pliant::reproduce
