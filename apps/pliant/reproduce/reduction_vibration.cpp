#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "apps/pliant/output.h"
#include "carried_body.h"
#include "mesh_picture.h"
#include "pliant/fem/linear_solver.h"
#include "pliant/fem/loads.h"
#include "pliant/fem/mass.h"
#include "pliant/geometry/selection.h"
#include "pliant/reduction/reduced_dynamics.h"
#include "plot.h"
#include "reduction_experiments.h"
#include "reduction_models.h"

namespace pliant::reproduce {
namespace {

using cli::format;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

double hertz(double eigenvalue) {
    return std::sqrt(std::max(0.0, eigenvalue)) / (2 * std::numbers::pi);
}

/// A published body and what is pulled and watched.
struct VibratingBody {
    std::string name, title;
    int resolution, quick_resolution, picture_resolution;
    std::string fixed, support, pulled, place;
    double reach;  ///< linear deflection of the pulled place [m]
    struct {
        double linear, reduced, unreduced;
    } published_hz;
};

struct Range {
    double low, high;  ///< [Hz]
};

/// K and M of the whole body without fixed vertices, for Lanczos' method.
class RestBody {
public:
    explicit RestBody(const Sample& body)
        : model_(body.model),
          at_rest_(VectorXd::Zero(body.model.num_unknowns())),
          moved_(at_rest_),
          force_(at_rest_),
          solver_(make_linear_solver()) {
        const std::vector<int> held = body.constraints.held_nodes();
        for (int i = 0, next = 0; i < body.model.num_nodes(); ++i)
            if (next < static_cast<int>(held.size()) && held[static_cast<std::size_t>(next)] == i)
                ++next;
            else
                free_.push_back(i);
        std::vector<Eigen::Triplet<double>> entries;
        entries.reserve(free_.size());
        for (int k = 0; k < num_free(); ++k)
            entries.emplace_back(free_[static_cast<std::size_t>(k)], k, 1.0);
        Eigen::SparseMatrix<double> choice(body.model.num_nodes(), num_free());
        choice.setFromTriplets(entries.begin(), entries.end());
        const Eigen::SparseMatrix<double> M =
            choice.transpose() * node_mass_matrix(body.model) * choice;
        (void)solver_->factor(M);
    }

    [[nodiscard]] int num_free() const { return static_cast<int>(free_.size()); }
    /// Rows of `x` are the displacements of the free vertices.
    void multiply_stiffness(const MatrixXd& x, MatrixXd& Kx) {
        for (int k = 0; k < num_free(); ++k)
            moved_.segment<3>(3 * free_[static_cast<std::size_t>(k)]) = x.row(k);
        model_.tangent_product(at_rest_, moved_, force_);
        for (int k = 0; k < num_free(); ++k)
            Kx.row(k) = force_.segment<3>(3 * free_[static_cast<std::size_t>(k)]);
    }
    void solve_mass(MatrixXd& x) { solver_->solve_in_place(x); }

private:
    FemModel model_;
    VectorXd at_rest_, moved_, force_;
    std::unique_ptr<LinearSolver> solver_;
    std::vector<int> free_;
};

/// Largest eigenvalue of K x = λ M x by Lanczos' method in the inner product of M, from below:
/// extreme ones appear first.
double largest_eigenvalue(RestBody& body, int steps) {
    MatrixXd z(body.num_free(), 3), Kx = z, z_last = MatrixXd::Zero(body.num_free(), 3);
    for (Eigen::Index i = 0; i < z.size(); ++i) {
        const double phase = 0.6180339887498949 * static_cast<double>(i + 1);
        z.data()[i] = phase - std::floor(phase) - 0.5;
    }
    MatrixXd x = z;
    body.solve_mass(x);
    double beta = std::sqrt(x.cwiseProduct(z).sum());
    VectorXd diagonal(steps), off_diagonal(steps);
    for (int k = 0; k < steps; ++k) {
        x /= beta;
        z /= beta;
        body.multiply_stiffness(x, Kx);
        diagonal[k] = x.cwiseProduct(Kx).sum();
        if (k > 0) Kx -= off_diagonal[k - 1] * z_last;
        z_last = z;
        z = Kx - diagonal[k] * z_last;
        x = z;
        body.solve_mass(x);
        beta = off_diagonal[k] = std::sqrt(x.cwiseProduct(z).sum());
    }
    Eigen::SelfAdjointEigenSolver<MatrixXd> eigen;
    eigen.computeFromTridiagonal(diagonal, off_diagonal.head(steps - 1), Eigen::EigenvaluesOnly);
    return eigen.eigenvalues()[steps - 1];
}

Range reduced_range(const ReducedForce& force) {
    const int r = force.size();
    VectorXd R(r);
    MatrixXd K(r, r);
    const auto workspace = force.make_workspace();
    force.force_and_stiffness(VectorXd::Zero(r), R, K, *workspace);
    const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(K, Eigen::EigenvaluesOnly);
    return {hertz(eigen.eigenvalues()[0]), hertz(eigen.eigenvalues()[r - 1])};
}

// ---- free vibration ----

/// Motion of the pulled place after it is let go.
struct VibrationMotion {
    std::vector<double> time, across, along, elastic, total;
    std::vector<double> swing;  ///< share of the shape that the load gives in the linear modes
    VectorXd start;             ///< shape at the release
    double period = 0;          ///< mean over whole swings [s]
    double drift = 0;           ///< largest change of the energy, relative
};

Vector3d mean_displacement(const MatrixXd& rows, const VectorXd& q) {
    const VectorXd u = rows * q;
    Vector3d sum = Vector3d::Zero();
    for (Eigen::Index i = 0; i < u.size(); i += 3) sum += u.segment<3>(i);
    return 3.0 / static_cast<double>(u.size()) * sum;
}

MatrixXd rows_of(const MatrixXd& U, const std::vector<int>& nodes) {
    MatrixXd rows(3 * static_cast<Eigen::Index>(nodes.size()), U.cols());
    for (std::size_t i = 0; i < nodes.size(); ++i)
        rows.middleRows<3>(3 * static_cast<Eigen::Index>(i)) = U.middleRows<3>(3 * nodes[i]);
    return rows;
}

void record(VibrationMotion& motion, double time, const Vector3d& d, double swing, double elastic,
            double total) {
    motion.swing.push_back(swing);
    motion.time.push_back(time);
    motion.across.push_back(d.x());
    motion.along.push_back(d.z());
    motion.elastic.push_back(elastic);
    motion.total.push_back(total);
}

/// Period from downward crossings of zero, and drift.
void summarise(VibrationMotion& motion) {
    double first = -1, last = -1;
    int crossings = 0;
    for (std::size_t i = 1; i < motion.time.size(); ++i) {
        motion.drift = std::max(motion.drift, std::abs(motion.total[i] / motion.total.front() - 1));
        if (motion.swing[i - 1] <= 0 || motion.swing[i] > 0) continue;
        const double share = motion.swing[i - 1] / (motion.swing[i - 1] - motion.swing[i]);
        last = motion.time[i - 1] + share * (motion.time[i] - motion.time[i - 1]);
        if (crossings++ == 0) first = last;
    }
    if (crossings > 1) motion.period = (last - first) / (crossings - 1);
}

struct Release {
    std::vector<int> nodes;
    VectorXd load;
    VectorXd momentum;  ///< M u of the linear shape under the load: the measure of a swing
    double dt;
    int num_steps, stride;  ///< every stride-th step is recorded
};

VibrationMotion nonlinear_motion(const std::shared_ptr<const ReducedForce>& force,
                                 const MatrixXd& U, const Release& release) {
    const int r = force->size();
    const ReducedDynamics dynamics(force, MatrixXd::Identity(r, r));
    const auto workspace = dynamics.make_workspace();
    const MatrixXd rows = rows_of(U, release.nodes);
    ReducedState s = dynamics.make_state();
    const VectorXd f = U.transpose() * release.load, none = VectorXd::Zero(r);
    constexpr int kMaxIterations = 200, kLevels = 4;
    for (int i = 1; i <= kLevels; ++i)
        (void)dynamics.solve_static(s, VectorXd(i * f / kLevels), kMaxIterations, *workspace);
    s.time = 0;
    s.v.setZero();
    VibrationMotion motion;
    motion.start = U * s.q;
    dynamics.set_acceleration(s, none, *workspace);
    const VectorXd measure = U.transpose() * release.momentum;
    const auto note = [&] {
        const double elastic = dynamics.elastic_energy(s, *workspace);
        record(motion, s.time, mean_displacement(rows, s.q), measure.dot(s.q), elastic,
               elastic + dynamics.kinetic_energy(s));
    };
    note();
    for (int i = 1; i <= release.num_steps; ++i) {
        (void)dynamics.step(s, none, release.dt, *workspace);
        if (i % release.stride == 0) note();
    }
    summarise(motion);
    return motion;
}

VibrationMotion linear_motion(const LinearModes& modes, const Release& release) {
    const ModalOscillators oscillators(modes.eigenvalues, 0, 0);
    const MatrixXd rows = rows_of(modes.shapes, release.nodes);
    ReducedState s = oscillators.make_state();
    const VectorXd f = modes.shapes.transpose() * release.load, none = VectorXd::Zero(modes.size());
    s.q = f.cwiseQuotient(modes.eigenvalues);
    VibrationMotion motion;
    motion.start = modes.shapes * s.q;
    const VectorXd measure = modes.shapes.transpose() * release.momentum;
    const auto note = [&] {
        const double elastic = 0.5 * s.q.cwiseAbs2().dot(modes.eigenvalues);
        record(motion, s.time, mean_displacement(rows, s.q), measure.dot(s.q), elastic,
               elastic + 0.5 * s.v.squaredNorm());
    };
    note();
    for (int i = 1; i <= release.num_steps; ++i) {
        (void)oscillators.step(s, none, release.dt);
        if (i % release.stride == 0) note();
    }
    summarise(motion);
    return motion;
}

/// A load along x on the pulled place that moves it by `reach` in the linear modes.
Release release_of(const Sample& sample, const VibratingBody& body, double seconds) {
    constexpr double kStep = 1e-3;
    constexpr int kStride = 10;
    Release release{.nodes = select_some(body.pulled, sample.model.mesh().vertices, "pulled"),
                    .load = VectorXd::Zero(sample.model.num_unknowns()),
                    .momentum = {},
                    .dt = kStep,
                    .num_steps = static_cast<int>(std::lround(seconds / kStep)),
                    .stride = kStride};
    add_nodal_force(release.nodes, Vector3d::UnitX(), release.load);
    const MatrixXd& shapes = sample.modes.shapes;
    const VectorXd q = (shapes.transpose() * release.load).cwiseQuotient(sample.modes.eigenvalues);
    const double factor = body.reach / mean_displacement(rows_of(shapes, release.nodes), q).norm();
    release.load *= factor;
    release.momentum = sample.mass * (shapes * (factor * q));
    return release;
}

// ---- the page ----

void add_spectra(Section& page, Table& table, const VibratingBody& body, const Sample& sample,
                 const Range& reduced, const Range& derivatives, int r, double unreduced_hz) {
    const int k = sample.modes.size();
    const auto row = [&](const std::string& spectrum, const Cell& low, double high,
                         const Cell& published) {
        table.add({body.name, spectrum, low, Cell::number(high, "%.4g"), published,
                   Cell::number(1e3 / (std::numbers::pi * high), "%.3g")});
    };
    const auto number = [](double value) { return Cell::number(value, "%.5g"); };
    row(format("%d linear modes", k), "1, set", sample.modes.frequency(k - 1),
        number(body.published_hz.linear));
    // modes and derivatives are mixed by their weights: the first mode need not be among them
    row(format("reduced, k = %d, r = %d", k, r),
        page.compared(body.name + ": lowest frequency in the subspace over that of the body",
                      reduced.low / sample.modes.frequency(0), 1, 0.01, "%.3f"),
        reduced.high, number(body.published_hz.reduced));
    row(format("derivatives without modes, r = %d", r),
        page.at_least(body.name + ": lowest frequency without modes over that of the body",
                      derivatives.low / sample.modes.frequency(0), 1.01, "%.3f"),
        derivatives.high, "–");
    row("unreduced", "1, set", unreduced_hz, number(body.published_hz.unreduced));
}

/// Plots and pictures of one body, for the page in its order.
struct Drawings {
    std::string heading, place;
    std::vector<std::string> shapes, curves;
};

std::vector<std::string> drawn_motion(const VibrationMotion& nonlinear,
                                      const VibrationMotion& linear) {
    const auto series = [](const std::string& label, const VibrationMotion& motion,
                           const std::vector<double>& values, int color, Stroke stroke) {
        Series s{label, {}, color, stroke};
        for (std::size_t i = 0; i < values.size(); ++i)
            s.points.emplace_back(motion.time[i], values[i]);
        return s;
    };
    const auto plot = [](const char* title, const char* y, std::vector<Series> lines) {
        return drawn({.title = title,
                      .x_label = "time, s",
                      .y_label = y,
                      .series = std::move(lines),
                      .width = 308,
                      .height = 270});
    };
    const auto both = [&](const char* title, std::vector<double> VibrationMotion::*values) {
        return plot(title, "displacement, m",
                    {series("reduced", nonlinear, nonlinear.*values, 1, Stroke::Line),
                     series("linear modes", linear, linear.*values, 0, Stroke::Dashed)});
    };
    return {both("Along the pull", &VibrationMotion::across),
            both("Upwards", &VibrationMotion::along),
            plot("Energy, reduced", "energy, J",
                 {series("elastic", nonlinear, nonlinear.elastic, 2, Stroke::Line),
                  series("total", nonlinear, nonlinear.total, 3, Stroke::Line)})};
}

std::vector<std::string> drawn_shapes(const VibratingBody& body, const Sample& sample,
                                      const VibrationMotion& nonlinear,
                                      const VibrationMotion& linear) {
    const CarriedBody carried(sample.model.mesh(), body.name, body.picture_resolution);
    const Drawn rest{&carried.mesh(), {}};
    const Drawn bent{&carried.mesh(), carried.moved(nonlinear.start)},
        stretched{&carried.mesh(), carried.moved(linear.start)};
    const Box box = box_around({rest, bent, stretched});
    const View view{.azimuth = -75, .elevation = 12, .width = 260};
    return {picture({rest}, box, view, "at rest"), picture({bent}, box, view, "reduced, nonlinear"),
            picture({stretched}, box, view, "linear modes")};
}

}  // namespace

void run_vibration(Context& context) {
    const VibratingBody bodies[] = {{.name = "tower",
                                     .title = "Tower",
                                     .resolution = 133,
                                     .quick_resolution = 30,
                                     .picture_resolution = 56,
                                     .fixed = "z < 5 %",
                                     .support = "its feet",
                                     .pulled = "z > 85 %",
                                     .place = "the top",
                                     .reach = 0.6,
                                     .published_hz = {15.5, 517.0, 11811}},
                                    {.name = "heart",
                                     .title = "Heart",
                                     .resolution = 110,
                                     .quick_resolution = 18,
                                     .picture_resolution = 32,
                                     .fixed = "z > 80 %",
                                     .support = "the great vessels on top",
                                     .pulled = "z < 8 %",
                                     .place = "the lower end",
                                     .reach = 0.5,
                                     .published_hz = {5.6, 70.8, 21986}}};
    Section& page = context.section;
    const int k = context.sized(20, 6), r = context.sized(30, 10);
    page.text(
        "Two bodies whose modulus is chosen for a lowest mode of 1 Hz, as published. Derivatives "
        "bring stiff directions into the subspace: its highest frequency is far above those of "
        "the modes, and far below that of the mesh. Published on another tower and another heart, "
        "supports and Poisson's ratio unknown (here 0.4), so that no range can be expected to "
        "agree: they depend on the body, and the highest one of the mesh on its smallest voxel. "
        "The highest frequency of the unreduced body, with consistent mass, is found by "
        "Lanczos' method from below.");
    Table spectra{"spectra",
                  "Lowest and highest frequencies, and the longest step of explicit integration, "
                  "1/(π f). The first mode is set to 1 Hz, there and here; the subspace must keep "
                  "it, and one of derivatives alone must not",
                  {{"body", "body"},
                   {"spectrum", "spectrum"},
                   {"lowest", "lowest over the first mode"},
                   {"highest_hz", "highest, Hz"},
                   {"published_highest_hz", "published"},
                   {"explicit_ms", "explicit limit, ms"}}};
    Table vibration{"vibration",
                    "At the release, and in the four seconds after it",
                    {{"body", "body"},
                     {"start_nonlinear_m", "deflection at the start, nonlinear, m"},
                     {"start_linear_m", "linear, m"},
                     {"period_nonlinear_s", "mean period, nonlinear, s"},
                     {"period_linear_s", "linear, s"},
                     {"drift", "change of energy, %"}}};
    std::vector<Drawings> drawings;
    double fraction = 0;
    for (const VibratingBody& body : bodies) {
        const int resolution = context.sized(body.resolution, body.quick_resolution);
        const Sample sample = make_sample({.shape = body.name,
                                           .resolution = resolution,
                                           .fixed = body.fixed,
                                           .num_modes = k,
                                           .lowest_frequency = 1});
        context.done(fraction + 0.3);
        const MatrixXd U = derivative_basis(sample, r).U;
        const std::shared_ptr<const ReducedForce> force = polynomial_force(sample.model, U);
        context.done(fraction + 0.4);
        RestBody whole(sample);
        constexpr int kLanczosSteps = 40;
        const MatrixXd alone = mass_pca(sample.derivatives, sample.mass, r).U;
        add_spectra(page, spectra, body, sample, reduced_range(*force),
                    reduced_range(*make_direct_force(sample.model, alone)), force->size(),
                    hertz(largest_eigenvalue(whole, kLanczosSteps)));
        context.done(fraction + 0.45);

        const Release release = release_of(sample, body, 4);
        const VibrationMotion nonlinear = nonlinear_motion(force, U, release);
        const VibrationMotion linear = linear_motion(sample.modes, release);
        drawings.push_back(
            {format("%s, %s voxels, held at %s", body.title.c_str(),
                    cli::grouped(sample.model.mesh().num_elements()).c_str(), body.support.c_str()),
             body.place, drawn_shapes(body, sample, nonlinear, linear),
             drawn_motion(nonlinear, linear)});
        vibration.add({body.name, Cell::number(nonlinear.across.front(), "%.3f"),
                       Cell::number(linear.across.front(), "%.3f"),
                       Cell::number(nonlinear.period, "%.3f"), Cell::number(linear.period, "%.3f"),
                       page.at_most(body.name + ", free vibration: change of energy [%]",
                                    100 * nonlinear.drift, 5, "%.2g")});
        context.done(fraction += 0.5);
    }
    page.table(spectra);
    page.heading("Free vibration");
    page.text(
        "A dead load along x pulls each body; then it is let go, without damping. Reduced: the "
        "equilibrium and the motion in the nonlinear subspace, implicit Newmark with steps of 1 ms "
        "and one Newton iteration each. Linear: the modes as independent oscillators, exact in "
        "time (ModalOscillators), from their own equilibrium under the same load: they stretch "
        "where the body would "
        "turn, and keep the period of small swings. Periods are those of the part of the motion "
        "along the linear shape under the load (in the inner product of the mass).");
    page.table(vibration);
    for (const Drawings& body : drawings) {
        page.heading(body.heading);
        page.figure(body.shapes, "Pulled at " + body.place +
                                     ", before it is let go; on larger voxels that move with the "
                                     "mesh. Colours: change of volume, red doubled, blue halved.");
        page.figure(body.curves, "Mean displacement of " + body.place + ", and energies.");
    }
}

}  // namespace pliant::reproduce
