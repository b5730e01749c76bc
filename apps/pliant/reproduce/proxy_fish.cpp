#include <algorithm>
#include <cmath>

#include "apps/pliant/output.h"
#include "mesh_picture.h"
#include "proxy_experiments.h"
#include "proxy_samples.h"

namespace pliant::reproduce {
namespace {

using cli::format;
using Eigen::Vector3d;

constexpr double kFishStep = 1e-3, kBeats = 1.2;              // beats per second
constexpr double kPublishedSpring = 10, kStrokeSpring = 500;  // [N/m]

ProxyOptions fish_proxy() {
    ProxyOptions options;
    options.sphere.radius = 5e-3;
    options.stiffness = kPublishedSpring;
    // a finger holds on
    options.static_friction = 0.8;
    options.dynamic_friction = 0.6;
    return options;
}

/// On the table, belly held; its tail beats when `is_alive`.
struct LyingFish {
    explicit LyingFish(bool is_alive, ParticleModel model = published_fish())
        : body(std::move(model), options(is_alive)) {
        body.set_gravity({0, 0, -9.81});
        surface = make_moving_surface(body);
    }
    static ParticleBodyOptions options(bool is_alive) {
        ParticleBodyOptions options;
        options.pose = lying_pose();
        options.dynamics.damping = 2;
        options.dynamics.friction = 1;
        options.dynamics.planes = {{}};
        const auto oscillation = [](double amplitude) {
            return ScriptedMotion::oscillation({}, Vector3d(0, 0, amplitude), Vector3d::Zero(),
                                               kBeats);
        };
        options.held = {{"sphere 0.02 0 0.06 0.03", {}}};
        if (is_alive) {
            options.held.push_back({"sphere -0.07 0 0.065 0.03", oscillation(0.01)});
            options.held.push_back({"sphere 0.085 0 0.065 0.02", oscillation(0.005)});
        }
        return options;
    }
    ParticleBody body;
    std::unique_ptr<MovingSurface> surface;
};

std::vector<double> upward_forces(const ProxyRecording& recording) {
    std::vector<double> forces;
    for (const ProxyRecording::Row& row : recording.rows) forces.push_back(row.force.z());
    return forces;
}

struct FishStroke {
    double stiffness = 0, neck = 0;
    double mean_force[2] = {}, yielded[2] = {};  // of the head and the rest [N], [m]
    Series force, shape, proxy, hand;
    ProxyRecording recording;
};

/// From head to tail in so many ticks.
FishStroke stroke_fish(double head_stiffness, int steps) {
    FishStroke run;
    run.stiffness = head_stiffness;
    const bool is_stiff = head_stiffness > 0.7;
    run.force = {cli::format("head %.1f", head_stiffness), {}, is_stiff ? 0 : 1};
    run.shape = {"surface at rest", {}, 1};
    run.proxy = {"proxy", {}, 0};
    run.hand = {"hand", {}, 2};
    ParticleModel model = published_fish();
    set_stiffness(model.layout, "x > 70 %", head_stiffness);
    LyingFish lying(false, std::move(model));
    for (int k = 0; k < 1500; ++k) lying.body.step(kFishStep);
    // a line beside the fins, heights at rest
    const double y = -0.012, first = 0.14, last = -0.06, depth = 3e-3;
    std::vector<double> profile;
    for (int k = 0; k <= 100; ++k)
        profile.push_back(top_of(lying.body, first + (last - first) * k / 100.0, y, 0));
    const auto height = [&](double s) {
        const double at = 100 * std::clamp(s, 0.0, 1.0);
        const auto i = static_cast<std::size_t>(std::min(99.0, at));
        const double f = at - static_cast<double>(i);
        return (1 - f) * profile[i] + f * profile[i + 1];
    };
    ProxyOptions options = fish_proxy();
    options.static_friction = options.dynamic_friction = 0;
    options.stiffness = kStrokeSpring;
    const double r = options.sphere.radius;
    VirtualProxy proxy({lying.surface.get()}, options);
    proxy.reset({first, y, height(0) + 0.02});
    // the head is what is stiffer: x > 70 % of the centres
    Box centres;
    for (const Particle& p : published_fish().layout.particles) centres.extend(p.position);
    run.neck = centres.min().x() + 0.7 * centres.sizes().x();
    int counts[2] = {};
    const int down = 300;
    for (int k = -down; k < steps; ++k) {
        const double s = std::max(0.0, k / static_cast<double>(steps));
        const double lift = k < 0 ? 0.02 * -k / down : 0;
        const double x = first + (last - first) * s;
        const ProxyState& state = proxy.tick({x, y, height(s) - depth + r + lift});
        proxy.apply_forces();
        run.recording.add((k + down) * kFishStep, state);
        lying.body.step(kFishStep);
        if (k < 0) continue;
        const int part = x > run.neck ? 0 : 1;
        run.mean_force[part] += state.force.z();
        run.yielded[part] += height(s) + r - state.position.z();
        counts[part] += 1;
        if (k % 8) continue;
        run.force.points.emplace_back(1e3 * x, state.force.z());
        run.shape.points.emplace_back(1e3 * x, 1e3 * height(s));
        run.proxy.points.emplace_back(1e3 * x, 1e3 * (state.position.z() - r));
        run.hand.points.emplace_back(1e3 * x, 1e3 * (state.goal.z() - r));
    }
    for (int part = 0; part < 2; ++part) {
        run.mean_force[part] /= std::max(1, counts[part]);
        run.yielded[part] /= std::max(1, counts[part]);
    }
    return run;
}

}  // namespace

void run_fish_tail(Context& context) {
    Section& page = context.section;
    const ParticleModel& fish = published_fish();
    page.text(format(
        "A fish of %s vertices and %d particles with 8 links lies on a table; belly held, neck and "
        "root of the tail go up and down. The hand comes down on the tail and stays; spring "
        "10 N/m, sphere of radius 10 mm, friction 0.8. Published (1,047 vertices, 137 particles, "
        "the same spring): every beat is a peak of the force, contact is kept in the air and on "
        "the table.",
        cli::grouped(fish.surface.num_vertices()).c_str(), fish.layout.num_particles()));
    LyingFish lying(true);
    for (int k = 0; k < 1000; ++k) lying.body.step(kFishStep);
    ProxyOptions options = fish_proxy();
    options.sphere.radius = 0.01;  // a fingertip; a smaller one slips off the tail
    VirtualProxy proxy({lying.surface.get()}, options);
    const Vector3d tail(-0.113, 0, 0);  // where the fin begins
    const double above = 0.12, below = 0.015;
    proxy.reset({tail.x(), tail.y(), above});
    ProxyRecording recording;
    const double seconds = context.sized(8.0, 4.0), down = 1.0, up = seconds - 0.8;
    int held = 0, touched = 0, wrong = 0;
    std::vector<std::string> pictures;
    for (int k = 0; k * kFishStep < seconds; ++k) {
        const double t = k * kFishStep;
        const double share = t < down ? t / down : t < up ? 1 : std::max(0.0, 1 - (t - up) / 0.5);
        const Vector3d hand(tail.x(), tail.y(), above + share * (below - above));
        const ProxyState& state = proxy.tick(hand);
        proxy.apply_forces();
        recording.add(t, state);
        if (t > down + 0.2 && t < up) {
            ++held;
            touched += state.is_touching();
            wrong += state.position.z() < 0;
        }
        lying.body.step(kFishStep);
        if (k == 2000 || k == 2000 + static_cast<int>(500 / kBeats))
            pictures.push_back(surface_picture(
                surface_now(lying.body), std::vector<double>(fish.surface.vertices.size(), 0.0),
                {.azimuth = -80, .elevation = 12, .width = 330}, format("after %.2f s", t)));
    }
    const std::vector<double> forces = upward_forces(recording);
    const std::vector<double> steady(
        forces.begin() + static_cast<std::ptrdiff_t>((down + 0.2) / kFishStep),
        forces.begin() + static_cast<std::ptrdiff_t>(up / kFishStep));
    const double highest = *std::max_element(steady.begin(), steady.end()),
                 lowest = *std::min_element(steady.begin(), steady.end());
    const auto peaks = peaks_of(steady, lowest + 0.5 * (highest - lowest),
                                static_cast<std::size_t>(0.4 / kBeats / kFishStep));
    double jump = 0;
    for (std::size_t i = 1; i < steady.size(); ++i)
        jump = std::max(jump, std::abs(steady[i] - steady[i - 1]));
    const double beats = kBeats * (up - down - 0.2);
    page.figure(
        {drawn({.title = "Force on the hand, upwards",
                .x_label = "time, s",
                .y_label = "force, N",
                .series = {recording.series("", &ProxyRecording::Row::force, 2, 1, 0, 8)}}),
         drawn({.title = "Heights of hand and proxy",
                .x_label = "time, s",
                .y_label = "height, mm",
                .series = {recording.series("proxy", &ProxyRecording::Row::position, 2, 1e3, 0, 8),
                           recording.series("hand", &ProxyRecording::Row::goal, 2, 1e3, 1, 8)}})},
        "Force, and heights of hand and proxy, while the tail is held and beats.");
    page.figure(pictures, "The beating tail under the hand (not drawn), half a beat apart.");
    Table table{"fish_tail",
                "Holding the tail",
                {{"peaks", "peaks of the force"},
                 {"beats", "beats while it was held"},
                 {"contact", "share of ticks in contact"},
                 {"highest_n", "highest force, N"},
                 {"lowest_n", "lowest, N"},
                 {"jump_n", "largest change in a tick, N"},
                 {"through", "ticks below the table"}}};
    table.add(
        {page.compared("peaks of the tail", static_cast<double>(peaks.size()), beats, 1.01, "%.0f"),
         Cell::number(beats, "%.1f"),
         page.compared("share of ticks in contact with the tail",
                       static_cast<double>(touched) / held, 1, 0.01, "%.3f"),
         Cell::number(highest, "%.3f"), Cell::number(lowest, "%.3f"),
         page.at_most("largest change of the tail's force in a tick [N]", jump, 0.1, "%.4f"),
         Cell::count(wrong)});
    page.table(table);
    page.log("fish-tail", recording.csv());
}

void run_fish_stroke(Context& context) {
    Section& page = context.section;
    page.text(
        "The same fish at rest, stroked from head to tail: the hand keeps 3 mm below where the "
        "surface was at rest, so that it follows the profile, and the force is about that of 3 mm, "
        "less on slopes and where the fish gives way. Particles have a stiffness of 0.9 in "
        "the head and 0.6 elsewhere; for comparison a fish with 0.6 everywhere, whose head gives "
        "way more. How far head and rest give way is set by their shapes as well. Published as a "
        "curve with a spring of 10 N/m, whose force follows stiffness and profile; here 500 N/m, "
        "so that the fish gives way, too. Judged: whether the stiffer head is felt as more force "
        "than the belly, and whether it gives way less than a soft one.");
    const int steps = context.sized(4000, 2000);
    const FishStroke stiff = stroke_fish(0.9, steps);
    context.done(0.5);
    const FishStroke soft = stroke_fish(0.6, steps);
    page.figure({drawn({.title = "Force on the hand, upwards",
                        .x_label = "place, mm (head to the right)",
                        .y_label = "force, N",
                        .series = {stiff.force, soft.force},
                        .guides = {{1e3 * stiff.neck, "rest | head", true}}}),
                 drawn({.title = "Heights under the sphere",
                        .x_label = "place, mm",
                        .y_label = "height, mm",
                        .series = {stiff.shape, stiff.proxy, stiff.hand}})},
                "The stroke over both fish, and the heights of the stiffer one: the proxy lies on "
                "the surface at rest, but for the fractions of a millimetre of the table.");
    Table table{"fish_stroke",
                "Stroking: mean force, and how far the surface gives way",
                {{"fish", "stiffness of the head"},
                 {"head_n", "head, N"},
                 {"head_mm", "head, mm"},
                 {"rest_n", "rest, N"},
                 {"rest_mm", "rest, mm"}}};
    for (const FishStroke* run : {&stiff, &soft})
        table.add({Cell::number(run->stiffness, "%.1f"), Cell::number(run->mean_force[0], "%.3f"),
                   Cell::number(1e3 * run->yielded[0], "%.3f"),
                   Cell::number(run->mean_force[1], "%.3f"),
                   Cell::number(1e3 * run->yielded[1], "%.3f")});
    page.table(table);
    (void)page.at_least("mean force over the stiffer head over that over the belly",
                        stiff.mean_force[0] / stiff.mean_force[1], 1.05, "%.2f");
    Table ratio{"fish_stroke_ratio",
                "A head of 0.6 over one of 0.9",
                {{"head", "gives way, head"}, {"rest", "gives way, rest"}}};
    ratio.add({page.at_least("softer head over stiffer one, gives way",
                             soft.yielded[0] / stiff.yielded[0], 1.05, "%.2f"),
               Cell::number(soft.yielded[1] / stiff.yielded[1], "%.2f")});
    page.table(ratio);
    page.log("fish-stroke", stiff.recording.csv());
}

}  // namespace pliant::reproduce
