#include "pliant/fem/implicit_dynamics.h"

#include "fem/fem_model_data.h"
#include "fem/finite_state.h"
#include "fem/force_rounding.h"
#include "fem/step_linear_solver.h"
#include "geometry/option_check.h"
#include "pliant/fem/mass.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace pliant {
namespace {

using Eigen::VectorXd;
using Matrix = FemModel::Matrix;
using ConstRef = FemModel::ConstRef;

/// Sufficient decrease of the residual, as a part of what a linear one would give.
constexpr double kResidualDecrease = 1e-4;
constexpr int kMaxResidualBacktracks = 2;
/// Places tried along an increment, and the work left that is good enough, over that at its start.
constexpr int kMaxSearches = 8;
constexpr double kWorkLeft = 0.5;
/// Of contact in a single Newton iteration, as a part of the largest force.
constexpr double kContactTolerance = 1e-3;
constexpr int kMaxContactIterations = 6;

const ImplicitOptions& checked(const ImplicitOptions& o) {
    check_option(o.gamma > 0 && std::isfinite(o.gamma), "gamma", o.gamma, "value > 0");
    check_option(o.alpha >= 0 && o.alpha <= 1, "alpha", o.alpha, "0 <= value <= 1");
    check_option(o.max_iterations > 0, "max_iterations", o.max_iterations, "value > 0");
    check_option(o.tolerance > 0 && o.tolerance < 1, "tolerance", o.tolerance, "0 < value < 1");
    check_option(o.cg.tolerance > 0 && o.cg.tolerance < 1, "cg.tolerance", o.cg.tolerance,
                 "0 < value < 1");
    check_option(o.cg.max_iterations > 0, "cg.max_iterations", o.cg.max_iterations, "value > 0");
    check_option(std::isfinite(o.collapse_limit), "collapse_limit", o.collapse_limit,
                 "a finite value");
    check_damping(o.damping);
    return o;
}

/// Diagonal node matrix on the pattern of `pattern`; what hanging nodes have goes to their masters.
Matrix lumped_node_matrix(const VolumeMesh& mesh, const Matrix& pattern, const VectorXd& of_all) {
    VectorXd values(mesh.num_vertices());
    for (int i = 0; i < mesh.num_vertices(); ++i) values[i] = of_all[3 * i];
    for (const HangingNode& h : mesh.hanging) {
        for (int m = 0; m < h.num_masters; ++m) values[h.masters[m]] += h.weight * values[h.vertex];
        values[h.vertex] = 0;
    }
    Matrix lumped = 0 * pattern;
    for (int i = 0; i < mesh.num_vertices(); ++i) lumped.coeffRef(i, i) = values[i];
    return lumped;
}

/// A diagonal block of K.
struct DiagonalBlock {
    int node;
    std::size_t place;  ///< of its first entry
    int height;         ///< from column to column
};

/// y += (S ⊗ I₃) x for a symmetric node matrix.
void add_node_product(const Matrix& S, const VectorXd& x, VectorXd& y) noexcept {
    for (int i = 0; i < S.cols(); ++i) {
        Eigen::Vector3d sum = Eigen::Vector3d::Zero();
        for (int k = S.outerIndexPtr()[i]; k < S.outerIndexPtr()[i + 1]; ++k)
            sum += S.valuePtr()[k] * x.segment<3>(3 * S.innerIndexPtr()[k]);
        y.segment<3>(3 * i) += sum;
    }
}

/// λ of the stand-in below, at most this times μ.
constexpr double kStandInLambda = 20;

/// Whose K the conjugate gradients see. K of tetrahedra that do not lock couples nodes two elements
/// apart and is four times as large: products are taken without it, and the incomplete factor is
/// that of plain elements, whose λ is limited since they lock.
FemModel stand_in(const FemModel& model, StepSolver solver) {
    if (!model.data().domains || solver != StepSolver::ConjugateGradient) return model;
    std::vector<Material> materials = model.materials();
    for (Material& m : materials)
        if (!m.anisotropy) m.lambda = std::min(m.lambda, kStandInLambda * m.mu);
    return {model.mesh(), std::move(materials), {ElementFormulation::Plain}};
}

}  // namespace

struct ImplicitDynamics::Impl {
    FemModel model;
    ImplicitOptions options;
    std::optional<PenaltyContact> contact;
    FemModel matrix_model;  ///< of K, D and all other matrices
    FreeSystem system;
    Matrix node_mass, node_drag;
    bool has_drag = false;
    double rounding = 0;
    VectorXd is_prescribed;          ///< 1 for given components, 0 for others
    std::vector<int> free_unknowns;  ///< place of each unknown that is left among all

    FemModel::Workspace model_ws;
    FreeSystem::Workspace system_ws;
    Matrix K, D, K_rest;  ///< the last two only where damping needs them
    Matrix A_free;        ///< not used when all unknowns are free
    /// Where matrix_model is not the model: K and D of its elements, what the system matrix holds
    /// besides, and the product of the system with K of the model instead.
    Matrix K_elements, besides, besides_free;
    StepOperator exact;
    VectorXd tangent_u, p_all, Kp, Kp_sum, Kp_free;
    std::optional<StepLinearSolver> solver;

    std::vector<RigidMotion> motions;
    std::vector<Wrench> wrenches;
    std::vector<DiagonalBlock> contact_blocks;
    std::vector<Eigen::Matrix3d> without_contact;  ///< these blocks of the system matrix
    FemState rest;
    FemState now, start;  ///< iterate at the end of the step, and before a line search
    VectorXd f, inertia, R, contact_force, total, scratch;
    VectorXd b, x, du;  ///< residual and displacement increment, free; the latter of all
    VectorXd best;      ///< increment so far, while contact settles
    double dt = 0;
    double largest_force = 0;

    Impl(FemModel model_given, Constraints constraints, const ImplicitOptions& options_given,
         std::optional<PenaltyContact> contact_given);

    /// Displacement and velocity per unit of acceleration at the end, eq. (T6).
    [[nodiscard]] double u_factor() const noexcept { return 0.5 * options.gamma * dt * dt; }
    [[nodiscard]] double v_factor() const noexcept { return options.alpha * dt; }
    [[nodiscard]] Matrix& system_matrix() noexcept { return system.is_whole() ? K : A_free; }

    void follow_masters(VectorXd& y) const noexcept;
    [[nodiscard]] bool take_motions(std::span<const RigidMotion> given) noexcept;
    void predict(const FemState& s) noexcept;
    void set_forces(ImplicitReport& report, bool with_tangent);
    void set_matrix();
    [[nodiscard]] auto block_of(const DiagonalBlock& block) noexcept {
        return Eigen::Map<Eigen::Matrix3d, 0, Eigen::OuterStride<>>(
            K.valuePtr() + block.place, Eigen::OuterStride<>(block.height));
    }
    void add_node_matrix(double mass_factor, double drag_factor) noexcept;
    /// y += T x.
    void add_free(const VectorXd& q, VectorXd& y) const { y.noalias() += system.T() * q; }
    void add_contact_matrix() noexcept;
    [[nodiscard]] bool is_matrix_free() const noexcept { return exact != nullptr; }
    void set_elements(double ratio) noexcept;
    void apply(const VectorXd& p, VectorXd& q);
    [[nodiscard]] bool solve(ImplicitReport& report);
    void settle_contact(ImplicitReport& report);
    void move(double fraction) noexcept;
    [[nodiscard]] bool line_search(ImplicitReport& report);
    void iterate(ImplicitReport& report);
};

ImplicitDynamics::Impl::Impl(FemModel model_given, Constraints constraints,
                             const ImplicitOptions& options_given,
                             std::optional<PenaltyContact> contact_given)
    : model(std::move(model_given)),
      options(checked(options_given)),
      contact(std::move(contact_given)),
      matrix_model(stand_in(model, options.solver)),
      system(matrix_model, std::move(constraints)) {
    const int n = model.num_unknowns();
    node_mass = node_mass_matrix(matrix_model);
    node_drag = node_drag_matrix(matrix_model);
    if (!options.has_consistent_mass) {
        node_mass = lumped_node_matrix(model.mesh(), node_mass, lumped_mass(model));
        node_drag = lumped_node_matrix(model.mesh(), node_drag, lumped_drag(model));
    }
    has_drag = node_drag.norm() > 0;
    rounding = rounding_of_force(model);
    is_prescribed = VectorXd::Zero(n);
    for (int i = 0; i < n; ++i)
        if (system.constraints().is_prescribed(i / 3, i % 3)) is_prescribed[i] = 1;

    for (int j = 0; j < system.num_unknowns(); ++j) {
        Matrix::InnerIterator entry(system.T(), j);
        while (entry.value() != 1) ++entry;  // past hanging nodes
        free_unknowns.push_back(static_cast<int>(entry.index()));
    }

    model_ws = model.make_workspace();
    K = matrix_model.make_matrix();
    if (options.damping.has_stiffness_part()) {
        D = K;
        if (!options.damping.is_tangential) {
            K_rest = K;
            matrix_model.tangent(VectorXd::Zero(n), K_rest);
        }
    }
    if (!system.is_whole()) {
        A_free = system.make_matrix();
        system_ws = system.make_workspace();
    }
    if (&matrix_model.data() != &model.data()) {
        K_elements = besides = K;
        if (!system.is_whole()) besides_free = A_free;
        tangent_u = p_all = Kp = Kp_sum = VectorXd::Zero(n);
        Kp_free = VectorXd::Zero(system.num_unknowns());
        exact = [this](const VectorXd& p, VectorXd& q) { apply(p, q); };
    }
    VectorXd mass(system.num_unknowns());
    system.fold(lumped_mass(model), mass);
    solver.emplace(system_matrix(), std::move(mass), options);

    if (contact) {
        motions.resize(contact->obstacles().size());
        wrenches.resize(contact->obstacles().size());
        const FemModelData& d = matrix_model.data();
        for (const int node : contact->nodes()) {
            const auto first = d.rows.begin() + d.column_offsets[node];
            const auto last = d.rows.begin() + d.column_offsets[node + 1];
            const auto slot = std::lower_bound(first, last, node) - first;
            contact_blocks.push_back(
                {node, d.value_index(node, static_cast<int>(slot)), d.column_height(node)});
        }
        without_contact.resize(contact_blocks.size());
    }
    rest = {VectorXd::Zero(n), VectorXd::Zero(n), VectorXd::Zero(n), 0};
    b = x = VectorXd::Zero(system.num_unknowns());
    system.expand(x, 1, rest.u);
    now = start = rest;
    f = inertia = R = contact_force = total = scratch = du = best = VectorXd::Zero(n);
}

void ImplicitDynamics::Impl::follow_masters(VectorXd& y) const noexcept {
    for (const HangingNode& h : model.mesh().hanging) {
        Eigen::Vector3d mean = Eigen::Vector3d::Zero();
        for (int m = 0; m < h.num_masters; ++m) mean += h.weight * y.segment<3>(3 * h.masters[m]);
        y.segment<3>(3 * h.vertex) = mean;
    }
}

/// An obstacle whose motion is not finite stops where it was; false then.
bool ImplicitDynamics::Impl::take_motions(std::span<const RigidMotion> given) noexcept {
    assert(given.empty() || given.size() == motions.size());
    if (given.empty()) std::ranges::fill(motions, RigidMotion{});
    bool all_finite = true;
    for (std::size_t i = 0; i < std::min(given.size(), motions.size()); ++i) {
        if (pliant::is_finite(given[i])) {
            motions[i] = given[i];
        } else {
            motions[i].velocity = motions[i].acceleration = {};
            all_finite = false;
        }
    }
    return all_finite;
}

/// Motion at constant velocity: a' such that a_γ = 0, eq. (T7). Prescribed unknowns are there
/// already.
void ImplicitDynamics::Impl::predict(const FemState& s) noexcept {
    const double g = options.gamma;
    const auto free = 1 - is_prescribed.array();
    now.u.array() = s.u.array() + free * (dt * s.v.array());
    now.v.array() = s.v.array() + free * (dt * (1 - options.alpha / g) * s.a.array());
    now.a.array() = s.a.array() - free * (s.a.array() / g);
    for (VectorXd* y : {&now.u, &now.v, &now.a}) follow_masters(*y);
    now.time = start.time = s.time + dt;
    // guess of the increment: the acceleration goes on
    for (std::size_t i = 0; i < free_unknowns.size(); ++i)
        x[static_cast<int>(i)] = 0.5 * dt * dt * s.a[free_unknowns[i]];
}

/// Everything that acts on the body at `now`, and the residual on the free unknowns into b, eq.
/// (T6).
void ImplicitDynamics::Impl::set_forces(ImplicitReport& report, bool with_tangent) {
    // inertia, drag and damping
    scratch = now.a + options.damping.mass * now.v;
    inertia.setZero();
    add_node_product(node_mass, scratch, inertia);
    if (has_drag) add_node_product(node_drag, now.v, inertia);
    if (options.damping.has_stiffness_part())
        add_stiffness_damping(model, options.damping, now.u, now.v, scratch, inertia);

    if (with_tangent && is_matrix_free()) {
        model.internal_force(now.u, R);
        matrix_model.tangent(now.u, K);
    } else if (with_tangent) {
        model.force_and_tangent(now.u, R, K);
    } else {
        report.smallest_det_F = model.internal_force(now.u, R, model_ws);
    }

    contact_force.setZero();
    if (contact)
        report.contact = contact->add_force(now.u, now.v, motions, contact_force, wrenches);

    total = f + contact_force - inertia - R;
    system.fold(total, b);
    report.residual = b.norm();
    largest_force = std::max({f.norm(), R.norm(), inertia.norm(), contact_force.norm()});
    report.limit = options.tolerance * largest_force + rounding;
}

/// K + (α dt D + M) / (γ dt²/2), eq. (T7), in place of K.
void ImplicitDynamics::Impl::set_matrix() {
    const double per_u = 1 / u_factor(), ratio = v_factor() * per_u;
    if (options.damping.has_stiffness_part()) {
        std::fill_n(D.valuePtr(), D.nonZeros(), 0.0);
        add_damping_matrix(matrix_model, options.damping, now.u,
                           options.damping.is_tangential ? K : K_rest, D);
        if (is_matrix_free()) set_elements(ratio);
        for (Eigen::Index k = 0; k < K.nonZeros(); ++k) K.valuePtr()[k] += ratio * D.valuePtr()[k];
    } else if (is_matrix_free()) {
        set_elements(ratio);
    }
    add_node_matrix(per_u + ratio * options.damping.mass, ratio);
    for (std::size_t i = 0; i < contact_blocks.size(); ++i)
        without_contact[i] = block_of(contact_blocks[i]);
    add_contact_matrix();
}

void ImplicitDynamics::Impl::add_contact_matrix() noexcept {
    if (contact) contact->add_matrix(now.u, now.v, motions, 1, v_factor() / u_factor(), K);
    if (!system.is_whole()) system.fold(K, A_free, system_ws);
    if (!is_matrix_free()) return;
    for (Eigen::Index k = 0; k < K.nonZeros(); ++k)
        besides.valuePtr()[k] = K.valuePtr()[k] - K_elements.valuePtr()[k];
    if (!system.is_whole()) system.fold(besides, besides_free, system_ws);
}

/// The part of the elements in the system matrix: K + (α dt / (γ dt²/2)) β K, where β K is at `now`
/// or at rest.
void ImplicitDynamics::Impl::set_elements(double ratio) noexcept {
    const Damping& damping = options.damping;
    const double factor = ratio * damping.stiffness;
    const Matrix& damped = damping.is_tangential || factor == 0 ? K : K_rest;
    for (Eigen::Index k = 0; k < K.nonZeros(); ++k)
        K_elements.valuePtr()[k] = K.valuePtr()[k] + factor * damped.valuePtr()[k];
    tangent_u = now.u;
}

/// q = A p with K of the model.
void ImplicitDynamics::Impl::apply(const VectorXd& p, VectorXd& q) {
    p_all.setZero();
    add_free(p, p_all);
    model.tangent_product(tangent_u, p_all, Kp);
    const Damping& damping = options.damping;
    if (const double factor = v_factor() / u_factor() * damping.stiffness; factor > 0) {
        if (damping.is_tangential) {
            Kp *= 1 + factor;
        } else {
            model.tangent_product(rest.v, p_all, Kp_sum);
            Kp += factor * Kp_sum;
        }
    }
    system.fold(Kp, Kp_free);
    q.noalias() = (system.is_whole() ? besides : besides_free) * p;
    q += Kp_free;
}

/// Mass and drag on the diagonals of the blocks of K.
void ImplicitDynamics::Impl::add_node_matrix(double mass_factor, double drag_factor) noexcept {
    const FemModelData& d = matrix_model.data();
    for (int node = 0; node < model.num_nodes(); ++node) {
        const int height = d.column_height(node);
        for (int k = d.column_offsets[node]; k < d.column_offsets[node + 1]; ++k) {
            const double value =
                mass_factor * node_mass.valuePtr()[k] + drag_factor * node_drag.valuePtr()[k];
            double* const block = K.valuePtr() + d.value_index(node, k - d.column_offsets[node]);
            for (int c = 0; c < 3; ++c) block[c * height + c] += value;
        }
    }
}

/// du from b; false if the solver failed.
bool ImplicitDynamics::Impl::solve(ImplicitReport& report) {
    const StepSolution solution = solver->solve(system_matrix(), 1 / u_factor(), b, x, exact);
    report.cg_iterations += solution.iterations;
    report.linear_residual = solution.relative_residual;
    report.mass_shift = std::max(report.mass_shift, solution.shift);
    du.setZero();
    add_free(x, du);
    return solution.is_solved;
}

/// Solves again with the contact found at the end of the step, until it is the one that was
/// assumed: forces jump where nodes touch or leave. The elements keep their tangent.
void ImplicitDynamics::Impl::settle_contact(ImplicitReport& report) {
    total = best = du;
    double smallest = std::numeric_limits<double>::infinity();
    for (int k = 0, num_worse = 0; k <= kMaxContactIterations; ++k) {
        // what the matrix assumed, and what is
        for (std::size_t i = 0; i < contact_blocks.size(); ++i) {
            const Eigen::Index at = 3 * Eigen::Index{contact_blocks[i].node};
            const Eigen::Matrix3d C = block_of(contact_blocks[i]) - without_contact[i];
            contact_force.segment<3>(at) -= C * du.segment<3>(at);
        }
        scratch = -contact_force;
        du = total;
        move(1);
        contact_force.setZero();
        (void)contact->add_force(now.u, now.v, motions, contact_force, {});
        scratch += contact_force;
        system.fold(scratch, b);
        const double mismatch = b.norm();
        if (mismatch < 0.99 * smallest) {
            smallest = mismatch;
            best = total;
            num_worse = 0;
        } else if (++num_worse == 2) {
            break;  // a node at the edge between touching and not
        }
        if (k == kMaxContactIterations || mismatch <= kContactTolerance * largest_force) break;

        for (std::size_t i = 0; i < contact_blocks.size(); ++i)
            block_of(contact_blocks[i]) = without_contact[i];
        add_contact_matrix();
        x.setZero();
        if (!solve(report)) break;
        total += du;
    }
    du = best;
}

/// From `start` by a part of the increment du.
void ImplicitDynamics::Impl::move(double fraction) noexcept {
    const double per_u = 1 / u_factor();
    now.u = start.u + fraction * du;
    now.v = start.v + (fraction * v_factor() * per_u) * du;
    now.a = start.a + (fraction * per_u) * du;
}

/// Takes the step, half or a quarter of it if the residual falls. Otherwise it seeks a place along
/// the step where the forces do no more work on it: a minimum of the energy where there is one,
/// also where contact makes the residual jump. False if nothing was found that is any better.
bool ImplicitDynamics::Impl::line_search(ImplicitReport& report) {
    const ImplicitReport at_start = report;
    const double work_at_start = b.dot(x);
    const auto work = [&](double fraction) {
        move(fraction);
        set_forces(report, false);
        return b.dot(x);
    };
    double high = 1, work_high = 0;
    for (int k = 0; k <= kMaxResidualBacktracks; ++k) {
        const double fraction = std::ldexp(1.0, -k), found = work(fraction);
        if (report.residual <= (1 - kResidualDecrease * fraction) * at_start.residual) return true;
        if (k == 0) work_high = found;
    }
    // Illinois' rule between a place where the step still pays and one where it no longer does
    double low = 0, work_low = work_at_start;
    for (int k = 0; k < kMaxSearches && work_at_start > 0; ++k) {
        const bool is_beyond = std::isfinite(work_high) && work_high < 0;
        const double fraction =
            is_beyond ? low + (high - low) * work_low / (work_low - work_high) : 0.5 * (low + high);
        const double found = work(fraction);
        if (std::abs(found) <= kWorkLeft * work_at_start) return true;
        if (found > 0) {
            low = fraction;
            work_low = found;
            work_high *= 0.5;
        } else {
            high = fraction;
            work_high = found;
            work_low *= 0.5;
        }
    }
    // a jump: as far as the step pays
    if (low > 0) {
        (void)work(low);
        return true;
    }
    if (report.residual < at_start.residual) return true;
    std::swap(now, start);
    set_forces(report, false);
    return false;
}

/// Newton's method from the prediction, eq. (T7).
void ImplicitDynamics::Impl::iterate(ImplicitReport& report) {
    set_forces(report, true);
    bool is_solved = true;
    while (report.residual > report.limit && report.newton_iterations < options.max_iterations) {
        if (report.newton_iterations > 0) matrix_model.tangent(now.u, K);
        set_matrix();
        if (report.newton_iterations > 0) x.setZero();
        ++report.newton_iterations;
        is_solved = solve(report);
        std::swap(start, now);
        if (options.max_iterations == 1 && is_solved) {
            if (contact) settle_contact(report);
            move(1);
            set_forces(report, false);
            return;
        }
        if (!line_search(report)) break;
    }
    if (report.newton_iterations == 0)
        report.smallest_det_F = model.smallest_det_F(now.u, model_ws);
    if (!is_solved || report.residual > report.limit) report.status = StepStatus::NotConverged;
}

ImplicitDynamics::ImplicitDynamics(FemModel model, Constraints constraints,
                                   const ImplicitOptions& options,
                                   std::optional<PenaltyContact> contact)
    : impl_(std::make_unique<Impl>(std::move(model), std::move(constraints), options,
                                   std::move(contact))) {}
ImplicitDynamics::ImplicitDynamics(ImplicitDynamics&&) noexcept = default;
ImplicitDynamics& ImplicitDynamics::operator=(ImplicitDynamics&&) noexcept = default;
ImplicitDynamics::~ImplicitDynamics() = default;

const FemModel& ImplicitDynamics::model() const noexcept { return impl_->model; }
const ImplicitOptions& ImplicitDynamics::options() const noexcept { return impl_->options; }
std::span<const Wrench> ImplicitDynamics::wrenches() const noexcept { return impl_->wrenches; }
FemState ImplicitDynamics::make_state() const { return impl_->rest; }

void ImplicitDynamics::set_acceleration(FemState& s, const ConstRef& f,
                                        std::span<const RigidMotion> motions) {
    Impl& m = *impl_;
    assert(s.u.size() == m.model.num_unknowns() && f.size() == m.model.num_unknowns());
    (void)m.take_motions(motions);
    m.f = f;
    m.now = s;
    for (VectorXd* y : {&m.now.u, &m.now.v, &m.now.a}) m.follow_masters(*y);
    // what the present acceleration leaves unbalanced
    ImplicitReport report;
    m.set_forces(report, false);

    std::fill_n(m.K.valuePtr(), m.K.nonZeros(), 0.0);
    m.add_node_matrix(1, 0);
    if (!m.system.is_whole()) m.system.fold(m.K, m.A_free, m.system_ws);
    ConjugateGradient cg({Preconditioner::BlockDiagonal, 1e-13, 1000});
    cg.analyse(m.system_matrix());
    cg.set_values(m.system_matrix());
    m.x.setZero();
    (void)cg.solve(m.b, m.x);
    m.add_free(m.x, m.now.a);
    s = m.now;
}

ImplicitReport ImplicitDynamics::step(FemState& s, const ConstRef& f, double dt,
                                      std::span<const RigidMotion> motions) noexcept {
    Impl& m = *impl_;
    assert(s.u.size() == m.model.num_unknowns() && f.size() == m.model.num_unknowns());
    ImplicitReport report;
    m.dt = dt;
    if (!(dt > 0) || !std::isfinite(1 / m.u_factor()) || !std::isfinite(m.u_factor())) {
        report.status = StepStatus::InputIgnored;
        return report;
    }
    if (!is_finite(s)) {
        s = m.rest;
        report.status = StepStatus::StateReset;
        return report;
    }
    const bool load_is_finite = f.allFinite(), motion_is_finite = m.take_motions(motions);
    if (load_is_finite)
        m.f = f;
    else
        m.f.setZero();

    m.predict(s);
    m.iterate(report);
    if (!is_finite(m.now) || !std::isfinite(report.residual)) {
        report.status = StepStatus::StepRejected;
        return report;
    }
    report.is_collapsing = report.smallest_det_F.value < m.options.collapse_limit;
    if (report.status == StepStatus::Ok && !(load_is_finite && motion_is_finite))
        report.status = StepStatus::InputIgnored;
    s.u = m.now.u;
    s.v = m.now.v;
    s.a = m.now.a;
    s.time = m.now.time;
    return report;
}

Energy ImplicitDynamics::energy(const FemState& s) {
    Impl& m = *impl_;
    m.scratch.setZero();
    add_node_product(m.node_mass, s.v, m.scratch);
    return {0.5 * s.v.dot(m.scratch), m.model.energy(s.u, m.model_ws)};
}

}  // namespace pliant
