#include <cmath>
#include <numbers>
#include <random>

#include "apps/pliant/output.h"
#include "contact_experiments.h"
#include "contact_samples.h"
#include "pliant/field/analytic_field.h"
#include "pliant/geometry/polygonize.h"
#include "pliant/geometry/surface_query.h"
#include "plot.h"

namespace pliant::reproduce {
namespace {

using cli::format;
using Eigen::Vector3d;

constexpr double kStiffness = 1000, kCount = 10;

/// ∫ −d n dS and ∫ dS over the part of a surface inside a field, n inwards.
struct Wetted {
    Vector3d moment = Vector3d::Zero();  ///< [m³]
    double area = 0;                     ///< [m²]
};

/// By the mesh: every triangle in n² parts, each by its middle.
Wetted wetted_part(const SurfaceMesh& mesh, const DistanceField& field, const Pose& pose, int n) {
    Wetted sum;
    for (int t = 0; t < mesh.num_triangles(); ++t) {
        const Vector3d a = pose.to_world(mesh.corner(t, 0)),
                       u = pose.to_world(mesh.corner(t, 1)) - a,
                       v = pose.to_world(mesh.corner(t, 2)) - a;
        const Vector3d across = u.cross(v);
        const double part = 0.5 * across.norm() / (n * n), reach = u.norm() + v.norm();
        if (field.distance(a) > reach) continue;
        const Vector3d inwards = -across.normalized();
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < 2 * (n - i) - 1; ++j) {
                // upright and overturned parts in turn
                const double s = (i + (j % 2 == 0 ? 1 : 2) / 3.0) / n,
                             r = (j / 2 + (j % 2 == 0 ? 1 : 2) / 3.0) / n;
                const double d = field.distance(a + s * u + r * v);
                if (d >= 0) continue;
                sum.moment += -d * part * inwards;
                sum.area += part;
            }
    }
    return sum;
}

/// A ball of radius R, `depth` in the half-space: exact.
Wetted wetted_cap(double R, double depth) {
    const double h = R - depth, c = h / R;
    Wetted sum;
    sum.moment.z() = 2 * std::numbers::pi * R * R * (R * (1 - c * c * c) / 3 - h * (1 - c * c) / 2);
    sum.area = 2 * std::numbers::pi * R * R * (1 - c);
    return sum;
}

struct ConvergenceCase {
    Pose pose;
    Wetted exact;
};

struct Errors {
    std::vector<double> spacing, integral, scaled;  ///< of each level; relative, root mean square
};

/// Both limits at each level of a shell: Σ −k d n A/N → k ∫ −d n dS, and with the weights L/l.
Errors errors_of(const PointTree& tree, const std::shared_ptr<const DistanceField>& field,
                 double area, const std::vector<ConvergenceCase>& cases) {
    Errors errors;
    for (int level = 0; level < tree.num_levels(); ++level) {
        const TraversalOptions options{.has_coherence = false, .deepest_level = level};
        Probe plain(tree, field, options,
                    {.stiffness = kStiffness, .scaling = ContactScaling::None});
        Probe scaled(tree, field, options,
                     {.stiffness = kStiffness,
                      .scaling_count = kCount,
                      .scaling = ContactScaling::SingleCount});
        const int n = tree.shell().level_start[static_cast<std::size_t>(level) + 1];
        double sum_plain = 0, sum_scaled = 0, size_plain = 0, size_scaled = 0;
        for (const ConvergenceCase& c : cases) {
            const Vector3d integral = kStiffness * c.exact.moment;
            sum_plain += (plain.at(c.pose).on_shell.force * (area / n) - integral).squaredNorm();
            size_plain += integral.squaredNorm();
            const Vector3d mean = kStiffness * kCount * c.exact.moment / c.exact.area;
            sum_scaled += (scaled.at(c.pose).on_shell.force - mean).squaredNorm();
            size_scaled += mean.squaredNorm();
        }
        errors.spacing.push_back(std::sqrt(area / n));
        errors.integral.push_back(std::sqrt(sum_plain / size_plain));
        errors.scaled.push_back(std::sqrt(sum_scaled / size_scaled));
    }
    return errors;
}

/// Shells lie on a grid's surface, a little off the body. Beside them, to tell what that costs:
/// the same points moved to where the limit is.
Pointshell on_surface(Pointshell shell, const SurfaceMesh& mesh) {
    const SurfaceQuery query(mesh);
    for (Eigen::Vector3f& x : shell.points) x = query.closest(x.cast<double>()).point.cast<float>();
    return shell;
}
Pointshell on_ball(Pointshell shell, double radius) {
    for (std::size_t i = 0; i < shell.points.size(); ++i) {
        const Eigen::Vector3f out = shell.points[i].normalized();
        shell.points[i] = static_cast<float>(radius) * out;
        shell.normals[i] = -out;
    }
    return shell;
}

/// A spiral of equal areas, of as many points as each level of `like`: even at all lengths.
std::vector<Pointshell> spirals(const Pointshell& like, double radius) {
    std::vector<Pointshell> all;
    for (int level = 0; level < like.num_levels(); ++level) {
        const int n = like.level_start[static_cast<std::size_t>(level) + 1];
        Pointshell shell;
        for (int i = 0; i < n; ++i) {
            const double z = 1 - (2 * i + 1.0) / n,
                         turn = i * std::numbers::pi * (3 - std::sqrt(5.0));
            const double across = std::sqrt(1 - z * z);
            const Vector3d out(across * std::cos(turn), across * std::sin(turn), z);
            shell.points.push_back((radius * out).cast<float>());
            shell.normals.push_back(-out.cast<float>());
        }
        shell.level_start = {0, n};
        shell.spacing = std::sqrt(4 * std::numbers::pi / n) * radius;
        all.push_back(std::move(shell));
    }
    return all;
}

/// Slope of the line through the logarithms of all levels but the first.
double order(const std::vector<double>& h, const std::vector<double>& error) {
    double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (std::size_t i = 1; i < h.size(); ++i) {
        const double x = std::log(h[i]), y = std::log(error[i]);
        n += 1, sx += x, sy += y, sxx += x * x, sxy += x * y;
    }
    return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

Quaternion random_turn(std::mt19937& random) {
    std::normal_distribution<double> normal;
    const double w = normal(random), x = normal(random), y = normal(random), z = normal(random);
    return Quaternion(w, x, y, z).normalized();
}

/// `moved`: of the same points put on the surface of the limit, shown and not judged.
void write_errors(Context& context, const std::string& name, const std::string& caption,
                  const PointTree& tree, const Errors& errors, const Errors* moved,
                  double least_plain, double least_scaled) {
    Section& page = context.section;
    Table table{name,
                caption,
                {{"points", "points"},
                 {"spacing_mm", "√(area / points), mm"},
                 {"error_integral", "error of Σ k d n A/N"},
                 {"error_scaled", "error with L/ℓ"},
                 {"moved_integral", "points moved onto the surface: error of Σ k d n A/N"},
                 {"moved_scaled", "with L/ℓ"}}};
    Plot plot{.title = caption,
              .x_label = "√(area / points), mm",
              .y_label = "relative error, root mean square",
              .series = {{"to k ∫ d n dS", {}, 0, Stroke::LineAndDots},
                         {"with L/ℓ", {}, 1, Stroke::LineAndDots}},
              .log_x = true,
              .log_y = true};
    if (moved != nullptr)
        plot.series.push_back({"to k ∫ d n dS, points moved", {}, 0, Stroke::Dashed});
    const auto beside = [&](std::vector<double> Errors::*values, std::size_t i) {
        return moved == nullptr ? Cell("–") : Cell::number((moved->*values)[i], "%.2e");
    };
    for (std::size_t i = 0; i < errors.spacing.size(); ++i) {
        table.add({Cell::count(tree.shell().level_start[i + 1]),
                   Cell::number(1e3 * errors.spacing[i], "%.2f"),
                   Cell::number(errors.integral[i], "%.2e"), Cell::number(errors.scaled[i], "%.2e"),
                   beside(&Errors::integral, i), beside(&Errors::scaled, i)});
        const double spacing = 1e3 * errors.spacing[i];
        plot.series[0].points.emplace_back(spacing, errors.integral[i]);
        plot.series[1].points.emplace_back(spacing, errors.scaled[i]);
        if (moved != nullptr) plot.series[2].points.emplace_back(spacing, moved->integral[i]);
    }
    table.add({"order", "",
               page.at_least("order of convergence, " + name,
                             order(errors.spacing, errors.integral), least_plain, "%.2f"),
               page.at_least("order of convergence with L/ℓ, " + name,
                             order(errors.spacing, errors.scaled), least_scaled, "%.2f"),
               moved == nullptr ? Cell("–")
                                : Cell::number(order(moved->spacing, moved->integral), "%.2f"),
               moved == nullptr ? Cell("–")
                                : Cell::number(order(moved->spacing, moved->scaled), "%.2f")});
    page.figure({drawn(plot)}, "The numbers of the table.");
    page.table(table);
}

}  // namespace

void run_convergence(Context& context) {
    context.section.text(
        "The force of all points, each with its share of the area, tends to the integral of "
        "k d n over the wetted surface, and with the published weights L/ℓ to L k times its mean "
        "(docs/contact.md eq. (11)). Errors at every level of one nested shell over many poses, "
        "made by particle repulsion; the limit is a formula for the ball and a fine quadrature of "
        "the mesh for the serpent. Shells lie on the surface of a grid of distances, a little off "
        "the body: judged as they are built; beside that, the same points moved onto the body. "
        "Published: a statement without numbers.");
    std::mt19937 random(1);
    std::uniform_real_distribution<double> uniform(0, 1);

    // a ball in the half-space z < 0, at many depths and turns
    const double R = 0.1;
    const Solid ball = make_solid(
        polygonize(implicit::sphere(Vector3d::Zero(), R), {.resolution = context.sized(64, 32)}),
        context.sized(128, 64));
    const int levels = context.sized(6, 4);
    const PointTree tree(make_shell(ball, context.sized(128000, 4000), levels)),
        moved_tree(on_ball(tree.shell(), R));
    const auto half_space = plane_set_field({FieldPlane{}});
    std::vector<ConvergenceCase> cases;
    for (int k = 0; k < context.sized(200, 40); ++k) {
        const double depth = R * (0.15 + 0.35 * uniform(random));
        cases.push_back({{Vector3d(0, 0, R - depth), random_turn(random)}, wetted_cap(R, depth)});
    }
    const double area = 4 * std::numbers::pi * R * R;
    const Errors moved = errors_of(moved_tree, half_space, area, cases);
    write_errors(context, "ball", "A ball in a half-space, repulsion", tree,
                 errors_of(tree, half_space, area, cases), &moved, 0.5, 0.5);
    Errors even;
    for (const Pointshell& shell : spirals(tree.shell(), R)) {
        const Errors one = errors_of(PointTree(shell), half_space, area, cases);
        even.spacing.push_back(one.spacing[0]);
        even.integral.push_back(one.integral[0]);
        even.scaled.push_back(one.scaled[0]);
    }
    write_errors(context, "spiral", "A ball in a half-space, spiral", tree, even, nullptr, 2, 1.2);
    context.section.text(
        "On the spiral, which is even at all lengths, the sum has the order of a good quadrature, "
        "and the weights, a count that jumps at the rim, bring it down to 3/2. Repulsion acts over "
        "one spacing and leaves slow changes of density over many; they decide the small errors on "
        "the ball, and nothing on bodies with detail, where the order is that of the weights.");
    context.done(0.4);

    // two bodies with fields on grids
    const Solid serpent = make_solid(centred_shape("serpent", 0.5, context.sized(0, 30)),
                                     context.sized(256, 128), 1.1);
    const PointTree scaly(make_shell(serpent, context.sized(128000, 8000), context.sized(5, 3),
                                     context.sized(0, 10))),
        moved_scaly(on_surface(scaly.shell(), serpent.mesh));
    const Solid creature =
        make_solid(centred_shape("creature", 0.5, context.sized(0, 45)), context.sized(256, 128));
    const std::shared_ptr<const DistanceField> field = creature.field;
    cases.clear();
    for (int k = 0; k < context.sized(30, 6); ++k) {
        Pose pose{Vector3d(0.15 * (uniform(random) - 0.5), 0.05 * (uniform(random) - 0.5), 0.8),
                  random_turn(random)};
        const double depth =
            depth_of_contacts(scaly, field, pose, -Vector3d::UnitZ(), 1.2, context.sized(400, 60));
        pose.position.z() -= depth + 0.006;
        cases.push_back({pose, wetted_part(serpent.mesh, *field, pose, context.sized(12, 6))});
    }
    const double whole = surface_area(serpent.mesh);
    const Errors moved_errors = errors_of(moved_scaly, field, whole, cases);
    write_errors(context, "serpent", "The serpent on the creature", scaly,
                 errors_of(scaly, field, whole, cases), &moved_errors, context.sized(1.0, 0.3),
                 context.sized(1.0, 0.3));
}

}  // namespace pliant::reproduce
