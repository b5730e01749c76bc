#include <algorithm>
#include <cmath>

#include "apps/pliant/output.h"
#include "contact_experiments.h"
#include "pliant/body/rigid_body.h"
#include "pliant/contact/contact_solver.h"
#include "pliant/scene/scene_file.h"
#include "pliant/scene/world.h"
#include "plot.h"

namespace pliant::reproduce {
namespace {

using cli::format;
using Eigen::Vector3d;

/// Bodies on a floor, stiffness, damping and sweeps as chosen by default.
struct RestCase {
    const char* name;
    std::string bodies;  ///< besides the floor
    double friction;
    Vector3d gravity = {0, 0, -9.81};
    bool must_rest = true;
};

std::string rest_box(const std::string& name, double side, const std::string& more) {
    const std::string size = std::to_string(side);
    return R"({"name": ")" + name + R"(", "rigid": {"box": {"sizes": [)" + size + ", " + size +
           ", " + size + R"(]}, "density": 500},
        "contact": {"pointshell": {"points": 300, "levels": 2, "resolution": 32}}, )" +
           more + "}";
}

std::vector<RestCase> rest_cases() {
    const std::string lying = R"("pose": {"position": [0, 0, 0.05]})";
    // 1 : 2, so that it leans on its lower edge
    const Vector3d slope = 9.81 / std::sqrt(1.25) * Vector3d(0.5, 0, -1);
    return {
        {"resting: a box falls by 20 mm",
         rest_box("a", 0.1, R"("pose": {"position": [0, 0, 0.07]})"), 0.5},
        {"held on a slope of 1 : 2", rest_box("a", 0.1, lying), 0.6, slope},
        {"sliding at 1 m/s", rest_box("a", 0.1, lying + R"(, "velocity": {"linear": [1, 0, 0]})"),
         0.3},
        {"rolling at 1 m/s, 2,000 points",
         R"({"name": "a", "rigid": {"sphere": {"radius": 0.05}, "density": 500},
             "contact": {"pointshell": {"points": 2000, "levels": 3, "resolution": 64}},
             "pose": {"position": [0, 0, 0.05]},
             "velocity": {"linear": [1, 0, 0], "angular": [0, 20, 0]}})",
         0.5,
         {0, 0, -9.81},
         false},
        {"two equal boxes fall onto each other",
         rest_box("a", 0.1, R"("pose": {"position": [0, 0, 0.07]})") + ", " +
             rest_box("b", 0.1, R"("pose": {"position": [0.002, 0, 0.19]})"),
         0.5},
        {"three boxes, each smaller than the one below",
         rest_box("a", 0.1, R"("pose": {"position": [0, 0, 0.05]})") + ", " +
             rest_box("b", 0.08, R"("pose": {"position": [0, 0, 0.14]})") + ", " +
             rest_box("c", 0.06, R"("pose": {"position": [0, 0, 0.21]})"),
         0.5},
    };
}

World rest_world(const RestCase& rest) {
    std::string names = "\"floor\"", gravity;
    for (const char* name : {"a", "b", "c"})
        if (rest.bodies.find("\"name\": \"" + std::string(name) + "\"") != std::string::npos)
            names += ", \"" + std::string(name) + "\"";
    for (const double g : rest.gravity)
        gravity += (gravity.empty() ? "" : ", ") + std::to_string(g);
    return World(parse_scene(R"({"pliant": 1, "rate": 500, "gravity": [)" + gravity +
                                 R"(], "bodies": [{"name": "floor", "rigid": {"ground": {}}}, )" +
                                 rest.bodies + R"(], "contacts": [{"among": [)" + names +
                                 R"(], "friction": )" + std::to_string(rest.friction) + "}]}",
                             "rest.json"));
}

/// Kinetic, potential and elastic energy, and where bodies are.
struct RestState {
    RestState(const World& world, const Vector3d& gravity)
        : energy(world.loop(0).contact(0).solver()->statistics().elastic_energy) {
        for (int i = 0; i < static_cast<int>(world.bodies().size()); ++i) {
            const auto& body = dynamic_cast<const RigidBody&>(world.body(i));
            if (!body.mass()) continue;
            const Vector3d& x = body.motion().pose.position;
            places.push_back(x);
            const double height = -body.mass()->mass * gravity.dot(x);
            potential += height;
            kinetic += body.energy().kinetic;
            speed = std::max(speed, body.motion().velocity.linear.norm());
        }
        energy += kinetic + potential;
    }
    double energy, kinetic = 0, potential = 0, speed = 0;
    std::vector<Vector3d> places;
};

}  // namespace

void run_rest(Context& context) {
    Section& page = context.section;
    const double seconds = context.sized(60.0, 6.0), last = context.sized(10.0, 1.0);
    page.text(format(
        "Rigid boxes of 0.1 m and 0.5 kg and a ball on a floor, 300 points each, 500 Hz, contact "
        "stiffness, damping and sweeps as they are without being given, one solver. Energy is that "
        "of motion, weight and contact springs together, in every tick; its growth is the largest "
        "value over the first, in per cent of the potential energy at the start. Jitter is how "
        "far any body moves to and fro in the last %g s, and its largest speed there.",
        last));
    Table table{"rest",
                "A minute in contact",
                {{"case", "case"},
                 {"friction", "μ"},
                 {"growth", "energy grows by, %"},
                 {"kinetic", "kinetic at the end, J"},
                 {"amplitude", "jitter, µm"},
                 {"speed", "largest speed, µm/s"}}};
    std::vector<Series> curves;
    const std::vector<RestCase> cases = rest_cases();
    for (std::size_t c = 0; c < cases.size(); ++c) {
        const RestCase& rest = cases[c];
        World world = rest_world(rest);
        const RestState first(world, rest.gravity);
        const int ticks = static_cast<int>(500 * seconds),
                  late = ticks - static_cast<int>(500 * last);
        double most = first.energy, speed = 0, kinetic = 0;
        std::vector<Eigen::AlignedBox3d> boxes(first.places.size());
        Series curve{rest.name, {}, static_cast<int>(c)};
        for (int k = 1; k <= ticks; ++k) {
            world.advance();
            const RestState now(world, rest.gravity);
            most = std::max(most, now.energy);
            kinetic = now.kinetic;
            if (k % std::max(1, ticks / 300) == 0)
                curve.points.emplace_back(0.002 * k, std::log10(std::max(1e-16, kinetic)));
            if (k <= late) continue;
            speed = std::max(speed, now.speed);
            for (std::size_t i = 0; i < boxes.size(); ++i) boxes[i].extend(now.places[i]);
        }
        double amplitude = 0;
        for (const Eigen::AlignedBox3d& box : boxes)
            amplitude = std::max(amplitude, box.sizes().maxCoeff());
        const double growth = 100 * (most - first.energy) / first.potential;
        const std::string name = rest.name;
        // depths are single precision, 7e-9 m; quick runs end while boxes still sway
        const bool is_judged = rest.must_rest && !context.is_quick;
        table.add({name, Cell::number(rest.friction, "%.1f"),
                   page.at_most(name + ": growth of energy [%]", growth, 0.1, "%.4f"),
                   Cell::number(kinetic, "%.1e"),
                   is_judged ? page.at_most(name + ": jitter [µm]", 1e6 * amplitude, 0.1, "%.3f")
                             : Cell::number(1e6 * amplitude, "%.3f"),
                   is_judged ? page.at_most(name + ": speed [µm/s]", 1e6 * speed, 10, "%.2f")
                             : Cell::number(1e6 * speed, "%.2f")});
        curves.push_back(std::move(curve));
        context.done(static_cast<double>(c + 1) / static_cast<double>(cases.size()));
    }
    page.figure({drawn(Plot{.title = "Kinetic energy",
                            .x_label = "time, s",
                            .y_label = "log10 of joules",
                            .series = curves,
                            .width = 620})},
                "Energy of motion over time, by case; what is below 1e-16 J is drawn there.");
    page.table(table);
}

}  // namespace pliant::reproduce
