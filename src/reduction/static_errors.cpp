#include "reduction/static_errors.h"

#include "core/dense_algebra.h"
#include "pliant/core/error.h"
#include "pliant/fem/free_system.h"
#include "pliant/fem/linear_solver.h"
#include "pliant/fem/mass.h"
#include "reduction/rigid_motions.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <numeric>

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using Sparse = Eigen::SparseMatrix<double>;

constexpr double kPatch = 0.1, kFootPart = 0.05;
/// Vertices of a patch at least: fewer would be a needle.
constexpr std::size_t kLeastPatch = 9;
/// Of the lowest eigenvalue: so much mass beside the stiffness of a free body makes it definite.
constexpr double kSmallShift = 1e-4;

class TestLoads {
public:
    TestLoads(const FemModel& model, const Sparse& M, const std::vector<int>& fixed_vertices)
        : mesh_(model.mesh()), is_fixed_(mesh_.vertices.size(), 0) {
        const VectorXd shares = M * VectorXd::Ones(M.cols());
        for (Eigen::Index i = 0; i < shares.size(); i += 3) mass_.push_back(shares[i]);
        for (const int v : fixed_vertices) is_fixed_[static_cast<std::size_t>(v)] = 1;
        for (const Vector3d& x : mesh_.vertices) box_.extend(x);
    }

    /// Carried by a slice at the lower end of an axis.
    [[nodiscard]] VectorXd on_foot(int axis) const {
        const double end = box_.min()[axis] + kFootPart * box_.sizes()[axis];
        VectorXd load = VectorXd::Zero(3 * mesh_.num_vertices());
        for (int v = 0; v < mesh_.num_vertices(); ++v)
            if (vertex(v)[axis] <= end) load[3 * v + axis] = mass_[static_cast<std::size_t>(v)];
        return load / load.sum();
    }
    /// Presses on the end of an axis: in the middle of what lies there (`is_aside` false), or
    /// halfway from it to its border. Nothing where something held is near.
    void add_press(int axis, double side, bool is_aside, std::vector<VectorXd>& loads) const {
        const double depth = kFootPart * box_.sizes()[axis];
        const double end = side > 0 ? box_.max()[axis] : box_.min()[axis];
        std::vector<Vector3d> face;
        for (const Vector3d& x : mesh_.vertices)
            if (std::abs(x[axis] - end) <= depth) face.push_back(x);
        Vector3d place = Vector3d::Zero();
        for (const Vector3d& x : face) place += x / static_cast<double>(face.size());
        const auto distance = [&](const Vector3d& x) { return (x - place).squaredNorm(); };
        if (is_aside) place = 0.5 * (place + *std::ranges::max_element(face, {}, distance));
        add_patch(place, -side * Vector3d::Unit(axis), loads);
    }

private:
    /// A force of 1 N on what is near a place, by the mass of the vertices.
    void add_patch(const Vector3d& place, const Vector3d& direction,
                   std::vector<VectorXd>& loads) const {
        const double reach = kPatch * box_.sizes().maxCoeff();
        std::vector<int> order(mesh_.vertices.size());
        std::iota(order.begin(), order.end(), 0);
        std::ranges::sort(order, {}, [&](int v) { return (vertex(v) - place).squaredNorm(); });
        VectorXd load = VectorXd::Zero(3 * mesh_.num_vertices());
        double mass = 0;
        for (std::size_t i = 0; i < order.size(); ++i) {
            const int v = order[i];
            if (i >= kLeastPatch && (vertex(v) - place).norm() > reach) break;
            if (is_fixed_[static_cast<std::size_t>(v)] != 0) return;
            mass += mass_[static_cast<std::size_t>(v)];
            load.segment<3>(3 * v) = mass_[static_cast<std::size_t>(v)] * direction;
        }
        loads.push_back(load / mass);
    }
    [[nodiscard]] const Vector3d& vertex(int v) const {
        return mesh_.vertices[static_cast<std::size_t>(v)];
    }
    const VolumeMesh& mesh_;
    std::vector<char> is_fixed_;
    std::vector<double> mass_;  ///< of the vertices [kg]
    Eigen::AlignedBox3d box_;
};

}  // namespace

StaticTests solve_static_tests(const FemModel& model, const Constraints& constraints,
                               const std::vector<int>& fixed_vertices, double lowest_eigenvalue,
                               Progress& progress) {
    progress.stage("static tests");
    const bool is_free = fixed_vertices.empty();
    const Sparse M = mass_matrix(model);
    const TestLoads make(model, M, fixed_vertices);
    std::vector<VectorXd> loads;
    for (int axis = 0; axis < 3; ++axis) {
        VectorXd along = VectorXd::Zero(model.num_unknowns());
        for (Eigen::Index i = axis; i < along.size(); i += 3) along[i] = 1;
        loads.push_back(is_free ? make.on_foot(axis) : VectorXd(M * along));
    }
    StaticTests tests;
    tests.num_gravity = 3;
    for (const bool is_aside : {false, true}) {
        for (int axis = 0; axis < 3; ++axis)
            for (const double side : {-1.0, 1.0}) make.add_press(axis, side, is_aside, loads);
        if (!is_aside) tests.num_known = static_cast<int>(loads.size());
    }

    tests.loads.resize(model.num_unknowns(), static_cast<Eigen::Index>(loads.size()));
    for (std::size_t i = 0; i < loads.size(); ++i)
        tests.loads.col(static_cast<Eigen::Index>(i)) = loads[i];
    MatrixXd rigid(model.num_unknowns(), 0);
    if (is_free) {
        rigid = rigid_motions(model.mesh(), M);
        // the acceleration of the whole takes what does not deform it
        tests.loads -= M * (rigid * (rigid.transpose() * tests.loads)).eval();
    }

    const FreeSystem system(model, constraints);
    Sparse K = system.make_matrix(), K_all = model.make_matrix();
    auto ws = system.make_workspace();
    model.tangent(VectorXd::Zero(model.num_unknowns()), K_all);
    system.fold(K_all, K, ws);
    if (is_free) {
        Sparse M_free = system.make_matrix();
        system.fold(M, M_free, ws);
        K += kSmallShift * lowest_eigenvalue * M_free;
    }
    const auto solver = make_linear_solver();
    if (const FactorResult factored = solver->factor(K); !factored.is_ok())
        throw InputError("", "the stiffness matrix cannot be factored (" +
                                 std::string(to_string(factored.status)) + ")");
    MatrixXd free(system.num_unknowns(), tests.size());
    for (int i = 0; i < tests.size(); ++i) {
        VectorXd column(system.num_unknowns());
        system.fold(tests.loads.col(i), column);
        free.col(i) = column;
    }
    solver->solve_in_place(free);
    tests.answers = system.T() * free;
    if (is_free) tests.answers -= rigid * (rigid.transpose() * (M * tests.answers)).eval();
    return tests;
}

VectorXd errors_in(const MatrixXd& U, const Sparse& K, const StaticTests& tests) {
    const MatrixXd K_r = U.transpose() * (K * U), f_r = U.transpose() * tests.loads;
    const MatrixXd q = solve_dense(K_r, f_r);
    VectorXd errors(tests.size());
    for (int i = 0; i < tests.size(); ++i) {
        const double full = tests.loads.col(i).dot(tests.answers.col(i));
        errors[i] = full > 0 ? std::clamp(1 - f_r.col(i).dot(q.col(i)) / full, 0.0, 1.0) : 0.0;
    }
    return errors;
}

}  // namespace pliant
