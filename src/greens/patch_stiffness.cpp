#include "pliant/greens/patch_stiffness.h"

#include <algorithm>

#include <Eigen/Geometry>

#include "core/numbers.h"

namespace pliant {
namespace {

using PatchVector = Eigen::Matrix<double, 6, 1>;

/// How rigid motions of a patch move its conditions: (d, (x − c) × d), slot by slot. Forces act at
/// the centres of functions, conditions hold at their nodes; for plain nodes they are the same.
template <class Visit>
void visit_patch(const CapacitanceSolver& solver, const RigidPatch& patch, Visit&& visit) noexcept {
    const ReferenceProblem& reference = solver.reference();
    const auto list = solver.inverse().list();
    for (const int node : patch.nodes) {
        // conditions of a node lie together in the sorted list
        auto entry = std::lower_bound(
            list.begin(), list.end(), node,
            [](const auto& listed, int wanted) { return listed.dof.node < wanted; });
        for (; entry != list.end() && entry->dof.node == node; ++entry) {
            const Eigen::Vector3d& d = entry->dof.direction;
            const Eigen::Vector3d& x = reference.positions[at(reference.functions->row_of(node))];
            PatchVector motion, wrench;
            motion << d, (x - patch.centre).cross(d);
            wrench << d, (solver.centre_of(node) - patch.centre).cross(d);
            visit(entry->slot, node, motion, wrench);
        }
    }
}

}  // namespace

Matrix6d rigid_patch_stiffness(const CapacitanceSolver& solver, const RigidPatch& i,
                               const RigidPatch& j) noexcept {
    const ReferenceProblem& reference = solver.reference();
    Matrix6d K = Matrix6d::Zero();
    visit_patch(solver, i, [&](int a, int node, const PatchVector&, const PatchVector& wrench) {
        PatchVector row = PatchVector::Zero();
        visit_patch(solver, j, [&](int b, int, const PatchVector& motion, const PatchVector&) {
            row += double{solver.inverse().inverse_element(a, b)} * motion;
        });
        K.noalias() -= solver.area(node) * wrench * row.transpose();
    });
    return reference.modulus / reference.length * K;
}

}  // namespace pliant
