#include "pliant/fem/mass.h"

#include "fem/node_shares.h"

namespace pliant {
namespace {

using Matrix = Eigen::SparseMatrix<double>;
/// What is spread over the volume: density or viscosity.
using Content = double Material::*;

/// ∫ φ_a φ_b dV of the element at a place, eq. (E7).
template <int N>
Eigen::Matrix<double, N, N> shape_products(const FemModelData& d, int place) {
    if constexpr (N == 4) {
        const double share = d.points[place].weight / 20;
        Eigen::Matrix4d m = Eigen::Matrix4d::Constant(share);
        m.diagonal().array() += share;
        return m;
    } else {
        const auto& reference = ReferenceElement<N>::get();
        Eigen::Matrix<double, N, N> m = Eigen::Matrix<double, N, N>::Zero();
        for (int k = 0; k < reference.kPoints; ++k) {
            const auto& phi = reference.values[k];
            m += d.points[static_cast<std::size_t>(place) * reference.kPoints + k].weight *
                 phi.lazyProduct(phi.transpose());
        }
        // with the row sums of the lumped mass, and positive definite as both parts are
        if (const HexWeights* const cut = d.cut.of(place)) {
            m *= 0.5;
            const Eigen::Matrix<double, N, 1> evenly = m.rowwise().sum();
            m.diagonal() += cut_shares(d, place, *cut) - evenly;
        }
        return m;
    }
}

/// Calls `add(block column, slot, value)` for every entry of every element.
template <class Add>
void for_each_product(const FemModelData& d, Content content, const Add& add) {
    with_element(d.mesh.kind, [&](auto num_nodes_constant) {
        constexpr int N = num_nodes_constant;
        for_each_block(d.blocks, [&](int, int first, int end) {
            for (int place = first; place < end; ++place) {
                const double density = d.materials[d.regions[place]].*content;
                const Eigen::Matrix<double, N, N> m = density * shape_products<N>(d, place);
                const std::size_t start = static_cast<std::size_t>(place) * N;
                for (int b = 0; b < N; ++b)
                    for (int a = 0; a < N; ++a)
                        add(d.nodes[start + b], d.slots[(start + b) * N + a], m(a, b));
            }
        });
    });
}

Matrix node_matrix(const FemModel& model, Content content) {
    const FemModelData& d = model.data();
    Matrix M(model.num_nodes(), model.num_nodes());
    M.resizeNonZeros(std::ssize(d.rows));
    std::copy(d.column_offsets.begin(), d.column_offsets.end(), M.outerIndexPtr());
    std::copy(d.rows.begin(), d.rows.end(), M.innerIndexPtr());
    std::fill_n(M.valuePtr(), M.nonZeros(), 0.0);
    for_each_product(d, content, [&](int b, int slot, double value) {
        M.valuePtr()[d.column_offsets[b] + slot] += value;
    });
    return M;
}

Matrix full_matrix(const FemModel& model, Content content) {
    const FemModelData& d = model.data();
    Matrix M = model.make_matrix();
    for_each_product(d, content, [&](int b, int slot, double value) {
        double* const block = M.valuePtr() + d.value_index(b, slot);
        for (int c = 0; c < 3; ++c) block[c * d.column_height(b) + c] += value;
    });
    return M;
}

Eigen::VectorXd lumped(const FemModel& model, Content content, Lumping lumping) {
    const FemModelData& d = model.data();
    Eigen::VectorXd m = Eigen::VectorXd::Zero(model.num_unknowns());
    with_element(d.mesh.kind, [&](auto num_nodes_constant) {
        constexpr int N = num_nodes_constant;
        for_each_block(d.blocks, [&](int, int first, int end) {
            for (int place = first; place < end; ++place) {
                const auto shares = node_shares<N>(d, place, lumping);
                const double density = d.materials[d.regions[place]].*content;
                for (int a = 0; a < N; ++a)
                    m.segment<3>(3 * d.nodes[static_cast<std::size_t>(place) * N + a]).array() +=
                        density * shares[a];
            }
        });
    });
    return m;
}

}  // namespace

Matrix node_mass_matrix(const FemModel& model) { return node_matrix(model, &Material::density); }
Matrix mass_matrix(const FemModel& model) { return full_matrix(model, &Material::density); }
Eigen::VectorXd lumped_mass(const FemModel& model, Lumping lumping) {
    return lumped(model, &Material::density, lumping);
}

Matrix node_drag_matrix(const FemModel& model) { return node_matrix(model, &Material::viscosity); }
Matrix drag_matrix(const FemModel& model) { return full_matrix(model, &Material::viscosity); }
Eigen::VectorXd lumped_drag(const FemModel& model, Lumping lumping) {
    return lumped(model, &Material::viscosity, lumping);
}

}  // namespace pliant
