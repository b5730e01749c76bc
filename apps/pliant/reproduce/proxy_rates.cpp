#include <algorithm>
#include <cmath>

#include "apps/pliant/output.h"
#include "pliant/haptics/plane_port.h"
#include "proxy_experiments.h"
#include "proxy_samples.h"

namespace pliant::reproduce {
namespace {

using cli::format;
using Eigen::Vector3d;

constexpr double kProbeTick = 1e-3, kProbeSpring = 200;

struct Probing {
    std::vector<double> force;  // upwards, every millisecond [N]
    [[nodiscard]] double largest_change() const {
        double largest = 0;
        for (std::size_t i = 1; i < force.size(); ++i)
            largest = std::max(largest, std::abs(force[i] - force[i - 1]));
        return largest;
    }
    /// RMS of the change from tick to tick [N].
    [[nodiscard]] double rms_change() const {
        double sum = 0;
        for (std::size_t i = 1; i < force.size(); ++i) sum += std::pow(force[i] - force[i - 1], 2);
        return std::sqrt(sum / static_cast<double>(force.size() - 1));
    }
};

/// A soft fish on a table is probed twice a second. Its loop runs every `period` ms, with steps of
/// 1 ms in all cases, and tells planes; the hand feels them every millisecond.
Probing probe_fish(int period, bool interpolates, double seconds) {
    ParticleBodyOptions body_options;
    body_options.pose = lying_pose();
    body_options.dynamics.damping = 5;
    body_options.dynamics.planes = {{}};
    body_options.held = {{"sphere 0.02 0 0.06 0.03", {}}};
    ParticleBody body(published_fish(), body_options);
    body.set_gravity({0, 0, -9.81});
    for (int k = 0; k < 1000; ++k) body.step(kProbeTick);
    const auto surface = make_moving_surface(body);
    ProxyOptions options;
    options.stiffness = kProbeSpring;
    options.body_force = 0.5;
    VirtualProxy proxy({surface.get()}, options);
    PlaneLink link;
    PlanePort port(link, {.stiffness = kProbeSpring, .interpolates = interpolates});
    const double x = -0.01, y = -5e-3, top = top_of(body, x, y, 0) + options.sphere.radius;
    proxy.reset({x, y, top + 0.01});
    Probing probing;
    for (int k = 0; k * kProbeTick < seconds; ++k) {
        const double t = k * kProbeTick;
        const Vector3d hand(x, y, top + 2e-3 - 5e-3 * (0.5 - 0.5 * std::cos(4 * EIGEN_PI * t)));
        if (k % period == 0) {
            (void)proxy.tick(hand);
            link.publish(proxy.state(), t);
            for (int i = 0; i < period; ++i) {
                proxy.apply_forces();
                body.step(kProbeTick);
            }
        }
        probing.force.push_back(port.tick(hand, t).force.z());
    }
    return probing;
}

}  // namespace

void run_plane_rates(Context& context) {
    Section& page = context.section;
    page.text(
        "A soft fish is probed up and down, 5 mm twice a second, 200 N/m; its own loop runs at a "
        "low rate and tells the haptic thread constraint planes, 1,000 times a second the hand "
        "feels them. Published, for tens of hertz: planes that jump are felt as vibration. Here "
        "the force jumps most at the touch, when a plane is first told; planes that move to their "
        "new place within one period have no such jumps.");
    const double seconds = context.sized(2.0, 1.0);
    Table table{"plane_rates",
                "Change of the force from one millisecond to the next",
                {{"rate_hz", "rate of the body, Hz"},
                 {"jump_n", "planes jump: largest, N"},
                 {"jump_rms_n", "RMS, N"},
                 {"moved_n", "planes move: largest, N"},
                 {"moved_rms_n", "RMS, N"},
                 {"ratio", "largest, ratio"}}};
    std::vector<std::string> plots;
    int done = 0;
    for (const int period : {50, 33, 20, 10, 4}) {
        const Probing jumping = probe_fish(period, false, seconds),
                      moving = probe_fish(period, true, seconds);
        const double ratio = moving.largest_change() / jumping.largest_change();
        table.add({Cell::number(1e3 / period, "%.0f"),
                   Cell::number(jumping.largest_change(), "%.3f"),
                   Cell::number(jumping.rms_change(), "%.4f"),
                   Cell::number(moving.largest_change(), "%.3f"),
                   Cell::number(moving.rms_change(), "%.4f"),
                   period >= 20
                       ? page.at_most(format("largest change with moving planes over jumping ones "
                                             "at %.0f Hz",
                                             1e3 / period),
                                      ratio, 0.5, "%.2f")
                       : Cell::number(ratio, "%.2f")});
        if (period == 50 || period == 20) {
            Plot plot{.title = format("Body at %.0f Hz", 1e3 / period),
                      .x_label = "time, s",
                      .y_label = "force on the hand, N"};
            const auto add = [&](const char* label, const Probing& probing, int color) {
                Series series{label, {}, color};
                for (std::size_t i = 0; i < probing.force.size() && i < 1000; ++i)
                    series.points.emplace_back(kProbeTick * static_cast<double>(i),
                                               probing.force[i]);
                plot.series.push_back(std::move(series));
            };
            add("planes jump", jumping, 1);
            add("planes move", moving, 0);
            plots.push_back(drawn(plot));
        }
        context.done(++done / 5.0);
    }
    page.figure(plots, "The first second of the hand's force.");
    page.table(table);
}

}  // namespace pliant::reproduce
