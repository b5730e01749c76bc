#include "greens/singular_integrals.h"

#include <cmath>

#include "core/numbers.h"

namespace pliant {
namespace {

/// What the antiderivatives of docs/greens.md eq. (B7) are made of, at one end of a side.
struct SideEnd {
    SideEnd(double along, double height)
        : u(std::asinh(along / height)),
          cosh(std::hypot(along, height) / height),
          sech(1 / cosh),
          tanh(along / height * sech) {}
    double u, cosh, sech, tanh;
};

}  // namespace

SingularIntegrals singular_integrals(const TriangleCorners& corners,
                                     const Eigen::Vector3d& weights) {
    SingularIntegrals sums;
    for (int s = 0; s < 3; ++s) {
        sums.displacement[at(s)].setZero();
        sums.traction[at(s)].setZero();
    }
    const Eigen::Vector3d x =
        weights[0] * corners[0] + weights[1] * corners[1] + weights[2] * corners[2];
    // the triangles between x and each side; y = x + τ (a point of the side), τ integrated exactly
    for (int k = 0; k < 3; ++k) {
        if (weights[k] == 0) continue;
        const int first = (k + 1) % 3, second = (k + 2) % 3;
        const Eigen::Vector3d side = corners[at(second)] - corners[at(first)];
        const double length = side.norm();
        const Eigen::Vector3d along = side / length;
        const Eigen::Vector3d to_first = corners[at(first)] - x;
        const double start = to_first.dot(along);
        const Eigen::Vector3d perpendicular = to_first - start * along;
        const double height = perpendicular.norm();
        const Eigen::Vector3d across = perpendicular / height;

        // with s = height sinh u along the side from the foot of the perpendicular, the direction
        // from x is across / cosh u + along tanh u
        const SideEnd a(start, height), b(start + length, height);
        const double du = b.u - a.u, dcosh = b.cosh - a.cosh, dsech = b.sech - a.sech,
                     dtanh = b.tanh - a.tanh;
        const Eigen::Matrix3d aa = across * across.transpose(), ll = along * along.transpose(),
                              al = across * along.transpose() + along * across.transpose();
        const Eigen::Matrix3d tensor = dtanh * aa - dsech * al + (du - dtanh) * ll;
        const Eigen::Matrix3d tensor_sinh = -dsech * aa + (du - dtanh) * al + (dcosh + dsech) * ll;
        const Eigen::Vector3d vector = dtanh * across - dsech * along;
        const Eigen::Vector3d vector_sinh = -dsech * across + (du - dtanh) * along;

        // shape functions on the side: constant + slope sinh u
        Eigen::Vector3d constant = Eigen::Vector3d::Zero(), slope = Eigen::Vector3d::Zero();
        constant[first] = (start + length) / length;
        constant[second] = -start / length;
        slope[second] = height / length;
        slope[first] = -slope[second];
        for (int s = 0; s < 3; ++s) {
            sums.displacement[at(s)] +=
                height / 2 * ((weights[s] + constant[s]) * tensor + slope[s] * tensor_sinh);
            sums.traction[at(s)] += (constant[s] - weights[s]) * vector + slope[s] * vector_sinh;
        }
    }
    return sums;
}

}  // namespace pliant
