#include <cmath>
#include <iterator>
#include <limits>

#include "apps/pliant/output.h"
#include "fem_experiments.h"
#include "pliant/fem/loads.h"
#include "pliant/fem/statics.h"
#include "plot.h"
#include "samples.h"

namespace pliant::reproduce {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr double kCompressionModulus = 1e5;
struct CompressionCurve {
    Law law;
    double poisson_ratio;
    const char* label;
    Stroke stroke;
};
constexpr CompressionCurve kCurves[] = {
    {Law::StVenantKirchhoff, 0, "St. Venant–Kirchhoff", Stroke::Line},
    {Law::NeoHookean, 0, "neo-Hookean", Stroke::Line},
    {Law::NeoHookean, 0.45, "neo-Hookean, ν = 0.45", Stroke::Dashed},
    {Law::Corotational, 0, "corotational", Stroke::Line},
    {Law::SmallStrain, 0, "linear strain", Stroke::Dashed},
};

/// A unit cube of one element that stands on sliding supports at x = 0, y = 0 and z = 0.
class CompressionPress {
public:
    CompressionPress(Law law, double poisson_ratio)
        : model_(soft_cube(1, 1), {isotropic(kCompressionModulus, poisson_ratio, 1000, law)},
                 kPublishedElements),
          supports_(model_.num_nodes()),
          top_(vertices_where(model_.mesh(), [](const Vector3d& x) { return x.z() > 0.5; })) {
        for (int i = 0; i < model_.num_nodes(); ++i)
            for (int axis = 0; axis < 3; ++axis)
                if (model_.mesh().vertices[static_cast<std::size_t>(i)][axis] == 0)
                    supports_.prescribe(i, axis, 0);
    }

    /// Pressure on the rest area that holds the cube at the given stretch; not a number where no
    /// equilibrium is found.
    [[nodiscard]] double pressure(double stretch) const {
        Constraints constraints = supports_;
        for (const int i : top_) constraints.prescribe(i, 2, stretch - 1);
        const VectorXd none = VectorXd::Zero(model_.num_unknowns());
        const StaticResult result = solve_static(model_, constraints, none);
        if (result.status == StaticStatus::NotConverged)
            return std::numeric_limits<double>::quiet_NaN();
        VectorXd R(model_.num_unknowns());
        model_.internal_force(result.u, R);
        double force = 0;
        for (const int i : top_) force -= R[3 * i + 2];
        return force;
    }
    /// What becomes of the cube under a given pressure.
    [[nodiscard]] StaticResult press(double pressure) const {
        VectorXd f = VectorXd::Zero(model_.num_unknowns());
        add_traction(model_.mesh(), boundary_faces(model_.mesh(), top_), Vector3d(0, 0, -pressure),
                     f);
        return solve_static(model_, supports_, f);
    }
    [[nodiscard]] double stretch_of(const VectorXd& u) const { return 1 + u[3 * top_[0] + 2]; }

private:
    FemModel model_;
    Constraints supports_;
    std::vector<int> top_;
};

/// Largest value of a smooth curve between samples: the parabola through the three highest.
std::pair<double, double> peak_of(const std::vector<std::pair<double, double>>& curve) {
    std::size_t best = 0;
    for (std::size_t i = 0; i < curve.size(); ++i)
        if (curve[i].second > curve[best].second) best = i;
    if (best == 0 || best + 1 == curve.size()) return curve[best];
    const double h = curve[best + 1].first - curve[best].first, a = curve[best - 1].second,
                 b = curve[best].second, c = curve[best + 1].second;
    const double shift = 0.5 * (a - c) / (a - 2 * b + c);
    return {curve[best].first + shift * h, b - 0.25 * (a - c) * shift};
}

}  // namespace

void run_compression(Context& context) {
    Section& page = context.section;
    page.text(
        "One cube with Poisson's ratio 0 is pressed between plates; its sides slide. With "
        "quadratic strain and a linear law (St. Venant–Kirchhoff) the nominal stress is E/2 (s³ "
        "− s): the resistance is largest at a stretch of s = 1/√3 = 0.577 and falls to zero at "
        "s = 0, so that beyond 0.192 E the cube collapses. Stable neo-Hookean material is "
        "finite at s = 0 as well; what makes it resist is its resistance to a change of volume, "
        "that is Poisson's ratio. The corotational law follows the straight line of linear "
        "strain here.");

    const int samples = context.sized(120, 60);
    Plot plot{.title = "Pressing one cube",
              .x_label = "stretch s",
              .y_label = "pressure / E",
              .guides = {{1 / std::sqrt(3.0), "s = 0.577", true}},
              .width = 620,
              .height = 360};
    Table table{"peaks",
                "Largest pressure on the way from s = 1 to s = 0.02",
                {{"law", "law"},
                 {"stretch", "at stretch"},
                 {"reference_stretch", "reference"},
                 {"pressure", "pressure / E"},
                 {"reference_pressure", "reference"}}};
    const int num_curves = static_cast<int>(std::size(kCurves));
    for (int k = 0; k < num_curves; ++k) {
        const CompressionCurve& curve = kCurves[k];
        const CompressionPress press(curve.law, curve.poisson_ratio);
        Series series{curve.label, {}, k, curve.stroke};
        for (int i = 0; i <= samples; ++i) {
            const double s = 1 - 0.98 * i / samples;
            series.points.emplace_back(s, press.pressure(s) / kCompressionModulus);
            context.done((k + (i + 1.0) / (samples + 1)) / num_curves);
        }
        const auto [stretch, pressure] = peak_of(series.points);
        if (curve.law == Law::StVenantKirchhoff)
            table.add({series.label,
                       page.compared("stretch at the peak", stretch, 1 / std::sqrt(3.0), 1e-3),
                       Cell::number(1 / std::sqrt(3.0)),
                       page.compared("peak pressure / E", pressure, 1 / std::sqrt(27.0), 1e-4),
                       Cell::number(1 / std::sqrt(27.0))});
        else
            table.add({series.label,
                       stretch < 0.03 ? Cell("none: still rising") : Cell::number(stretch), "–",
                       Cell::number(pressure), "–"});
        plot.series.push_back(std::move(series));
    }
    page.figure({drawn(plot)},
                "Pressure on the rest area against stretch, each point a static solve.");
    page.table(table);

    // the same seen from the load
    Table loads{"loads",
                "The cube under a given pressure, St. Venant–Kirchhoff",
                {{"pressure", "pressure / E"}, {"outcome", "outcome"}, {"stretch", "stretch"}}};
    const CompressionPress press(Law::StVenantKirchhoff, 0);
    for (const double pressure : {0.10, 0.15, 0.19, 0.20}) {
        const StaticResult result = press.press(pressure * kCompressionModulus);
        loads.add({Cell::number(pressure, "%.2f"), std::string(to_string(result.status)),
                   Cell::number(press.stretch_of(result.u))});
    }
    page.table(loads);
}

}  // namespace pliant::reproduce
