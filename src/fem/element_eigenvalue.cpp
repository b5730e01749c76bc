#include "fem/element_eigenvalue.h"

#include "core/dense_algebra.h"
#include "core/jacobi_eigen.h"
#include "fem/accurate_hex.h"
#include "fem/hex_dilation.h"
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
    if constexpr (N == 8)
        if (C == nullptr && has_mean_dilation(d, place))
            K += HexDilation(d, place, NodeColumns<N>::Zero()).tangent();
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

/// The bound for tetrahedra that do not lock by their edges, each with its part of the lumped mass.
/// The mean of a square is at least the square of the mean: edges that keep their dilation store no
/// less than the stars, eq. (W3), and plain elements no less than edges.
ElementEigenvalue largest_edge_eigenvalue(const FemModelData& d) {
    const TetDomains& edges = *d.domains;
    std::vector<Matrix9d> stress_gradients;
    for (const Material& material : d.materials)
        stress_gradients.push_back(stress_gradient(material, kRestShape));
    const auto larger = [](const ElementEigenvalue& a, const ElementEigenvalue& b) {
        return a.value >= b.value ? a : b;
    };
    return parallel_reduce(
        static_cast<std::size_t>(edges.num_slots()), kEigenvalueGrain, ElementEigenvalue{},
        [&](std::size_t begin, std::size_t end) {
            ElementEigenvalue largest;
            for (int slot = static_cast<int>(begin); slot < static_cast<int>(end); ++slot) {
                if (!(edges.weights[slot] > 0)) continue;
                const int region = edges.regions[slot];
                const auto gradients = edges.gradients_of(slot);
                // Σ g gᵀ / m, whose root on both sides of C gives the eigenvalues of M⁻¹ K
                Eigen::Matrix3d S = Eigen::Matrix3d::Zero();
                for (std::size_t a = 0; a < gradients.size(); ++a)
                    S += gradients[a] * gradients[a].transpose() /
                         edges.node_volumes[static_cast<std::size_t>(edges.offsets[slot]) + a];
                const SmallEigen<3> eigen = jacobi_eigen<3>(S);
                const Eigen::Vector3d roots =
                    (edges.weights[slot] / d.materials[region].density * eigen.values)
                        .cwiseMax(0.0)
                        .cwiseSqrt();
                const Eigen::Matrix3d root =
                    eigen.vectors * roots.asDiagonal() * eigen.vectors.transpose();
                Matrix9d R = Matrix9d::Zero();
                for (int k = 0; k < 3; ++k)
                    for (int l = 0; l < 3; ++l)
                        R.block<3, 3>(3 * k, 3 * l).diagonal().setConstant(root(k, l));
                const Matrix9d product = R * stress_gradients[region] * R;
                const Matrix9d A = 0.5 * (product + product.transpose());
                Eigen::MatrixXd difference = -A;
                difference.diagonal().array() += (1 + kSameEigenvalue) * largest.value;
                if (largest.value > 0 && lower_cholesky(difference).size() > 0) continue;
                largest = larger(largest,
                                 {symmetric_eigenvalues(A)[8], edges.blocks.elements[slot]});
            }
            return largest;
        },
        larger);
}

}  // namespace

ElementEigenvalue largest_elastic_eigenvalue(const FemModel& model, Lumping lumping) {
    const ElementEigenvalue of_elements = largest_eigenvalue(model, nullptr, lumping);
    if (!model.data().domains) return of_elements;
    const ElementEigenvalue of_edges = largest_edge_eigenvalue(model.data());
    return of_edges.value < of_elements.value ? of_edges : of_elements;
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
