#include "fem/element_eigenvalue.h"

#include "core/dense_algebra.h"
#include "fem/accurate_hex.h"
#include "fem/node_shares.h"

#include <cmath>

namespace pliant {
namespace {

/// Elements of one task; ranges do not depend on the number of threads, nor does what they find.
constexpr std::size_t kEigenvalueGrain = 1024;
/// Elements whose shape, or eigenvalue, differs by less of itself count as equal.
constexpr double kSameShape = 1e-10, kSameEigenvalue = 1e-9;

/// Stiffness at rest of the element at a place, blocks on and above the diagonal: its own, or with
/// the derivative C of another stress at the points.
template <int N>
ElementMatrix<N> rest_stiffness(const FemModelData& d, int place, const Matrix9d* C) {
    if constexpr (N == 8)
        if (C == nullptr && is_accurate_hex(d, place))
            return AccurateHex(d, place, NodeColumns<N>::Zero()).tangent();
    const Matrix9d gradient =
        C != nullptr ? *C : stress_gradient(d.materials[d.regions[place]], kRestShape);
    const auto& reference = ReferenceElement<N>::get();
    ElementMatrix<N> K = ElementMatrix<N>::Zero();
    for (int k = 0; k < reference.kPoints; ++k)
        add_tangent<N>(gradient, reference.gradients[k],
                       d.points[static_cast<std::size_t>(place) * reference.kPoints + k], K);
    return K;
}

/// M_e^−½ K_e M_e^−½.
template <int N>
ElementMatrix<N> scaled_stiffness(const FemModelData& d, int place, const Matrix9d* C,
                                  Lumping lumping) {
    ElementMatrix<N> K = rest_stiffness<N>(d, place, C);
    const double density = d.materials[d.regions[place]].density;
    const Eigen::Matrix<double, N, 1> scale =
        (density * node_shares<N>(d, place, lumping)).cwiseSqrt().cwiseInverse();
    for (int b = 0; b < 3 * N; ++b)
        for (int a = 0; a <= b; ++a) {
            K(a, b) *= scale[a / 3] * scale[b / 3];
            K(b, a) = K(a, b);
        }
    return K;
}

/// Whether two elements of one material have the same matrices, their points given.
template <int N>
bool is_congruent(const QuadraturePoint* a, const QuadraturePoint* b) {
    for (int k = 0; k < ReferenceElement<N>::kPoints; ++k)
        if (!a[k].inverse_jacobian.isApprox(b[k].inverse_jacobian, kSameShape) ||
            std::abs(a[k].weight - b[k].weight) > kSameShape * a[k].weight)
            return false;
    return true;
}

/// Of the elements' own stiffness, or with one stress gradient C for all.
template <int N>
ElementEigenvalue largest_eigenvalue(const FemModelData& d, const Matrix9d* C, Lumping lumping) {
    const auto larger = [](const ElementEigenvalue& a, const ElementEigenvalue& b) {
        if (a.value != b.value) return a.value > b.value ? a : b;
        return a.element < b.element ? a : b;
    };
    const auto points_at = [&](int place) {
        return d.points.data() + static_cast<std::size_t>(place) * ReferenceElement<N>::kPoints;
    };
    return parallel_reduce(
        d.regions.size(), kEigenvalueGrain, ElementEigenvalue{},
        [&](std::size_t begin, std::size_t end) {
            ElementEigenvalue largest;
            int last = -1;  // the last place that was looked at closely
            for (int place = static_cast<int>(begin); place < static_cast<int>(end); ++place) {
                if (last >= 0 && d.regions[last] == d.regions[place] &&
                    d.cut.of(last) == nullptr && d.cut.of(place) == nullptr &&
                    is_congruent<N>(points_at(last), points_at(place)))
                    continue;
                last = place;
                const ElementMatrix<N> A = scaled_stiffness<N>(d, place, C, lumping);
                // no larger than the largest so far if that times I minus A is definite: a
                // factorisation is ten times cheaper than the eigenvalues
                Eigen::MatrixXd difference = -A;
                difference.diagonal().array() += (1 + kSameEigenvalue) * largest.value;
                if (lower_cholesky(difference).size() > 0) continue;
                const double value = symmetric_eigenvalues(A)[3 * N - 1];
                largest = larger(largest, {value, d.blocks.elements[place]});
            }
            return largest;
        },
        larger);
}

ElementEigenvalue largest_eigenvalue(const FemModel& model, const Matrix9d* C, Lumping lumping) {
    const FemModelData& d = model.data();
    return with_element(d.mesh.kind, [&](auto num_nodes_constant) {
        return largest_eigenvalue<num_nodes_constant>(d, C, lumping);
    });
}

}  // namespace

ElementEigenvalue largest_elastic_eigenvalue(const FemModel& model, Lumping lumping) {
    return largest_eigenvalue(model, nullptr, lumping);
}

double largest_viscous_eigenvalue(const FemModel& model, const Damping& damping, Lumping lumping) {
    if (damping.bulk_viscosity == 0 && damping.shear_viscosity == 0) return 0;
    Material viscous;
    viscous.law = Law::SmallStrain;
    viscous.lambda = damping.bulk_viscosity;
    viscous.mu = damping.shear_viscosity;
    const Matrix9d gradient = stress_gradient(viscous, kRestShape);
    return largest_eigenvalue(model, &gradient, lumping).value;
}

}  // namespace pliant
