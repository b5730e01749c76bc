#include "pliant/fem/damping.h"

#include "fem/scalar_elements.h"
#include "fem/tet_domain_loops.h"
#include "geometry/option_check.h"

#include <cassert>
#include <cmath>

namespace pliant {
namespace {

using Eigen::Matrix3d;

/// F (φ tr(Ė) I + 2ψ Ė) with Ė the symmetric part of Fᵀ Ḟ, eq. (D3).
Matrix3d viscous_stress(const Damping& damping, const Matrix3d& F, const Matrix3d& F_rate) {
    const Matrix3d product = F.transpose().lazyProduct(F_rate);
    Matrix3d S = damping.shear_viscosity * (product + product.transpose());
    S.diagonal().array() += damping.bulk_viscosity * product.trace();
    return F.lazyProduct(S);
}

/// Its derivative with respect to Ḟ; f_a, f_b columns of F, eq. (D4).
Matrix9d viscous_stress_gradient(const Damping& damping, const Matrix3d& F) {
    const double phi = damping.bulk_viscosity, psi = damping.shear_viscosity;
    const Matrix3d F_Ft = F.lazyProduct(F.transpose());
    Matrix9d C;
    for (int b = 0; b < 3; ++b)
        for (int a = 0; a < 3; ++a) {
            Matrix3d block = phi * F.col(a).lazyProduct(F.col(b).transpose()) +
                             psi * F.col(b).lazyProduct(F.col(a).transpose());
            if (a == b) block += psi * F_Ft;
            C.block<3, 3>(3 * a, 3 * b) = block;
        }
    return C;
}

}  // namespace

void check_damping(const Damping& damping) {
    const auto check = [](const char* name, double value) {
        check_option(value >= 0 && std::isfinite(value), name, value, "0 <= value < infinity");
    };
    check("damping.mass", damping.mass);
    check("damping.stiffness", damping.stiffness);
    check("damping.bulk_viscosity", damping.bulk_viscosity);
    check("damping.shear_viscosity", damping.shear_viscosity);
}

void add_stiffness_damping(const FemModel& model, const Damping& damping,
                           const FemModel::ConstRef& u, const FemModel::ConstRef& v,
                           Eigen::VectorXd& scratch, FemModel::Ref f) {
    assert(f.size() == model.num_unknowns() && scratch.size() == model.num_unknowns());
    if (damping.stiffness > 0 && damping.is_tangential) {
        model.tangent_product(u, v, scratch);
        f += damping.stiffness * scratch;
    }
    const FemModelData& d = model.data();
    bool is_fixed = damping.stiffness > 0 && !damping.is_tangential;
    if (is_fixed && d.domains) {
        domain_product(d, d.domains->no_displacements.data(), v.data(), scratch.data());
        f += damping.stiffness * scratch;
        is_fixed = false;
    }
    const bool is_viscous = damping.bulk_viscosity > 0 || damping.shear_viscosity > 0;
    if (!is_fixed && !is_viscous) return;
    with_element(d.mesh.kind, [&](auto num_nodes_constant) {
        constexpr int N = num_nodes_constant;
        for_each_block(d.blocks, [&](int, int first, int end) {
            for (int place = first; place < end; ++place) {
                const ElementView<N> element(d, place);
                const NodeColumns<N> ue = gather<N>(u.data(), element.nodes);
                const NodeColumns<N> ve = gather<N>(v.data(), element.nodes);
                Matrix9d rest_gradient = Matrix9d::Zero();
                NodeColumns<N> fe = NodeColumns<N>::Zero();
                bool is_at_points = is_fixed;
                if constexpr (N == 8) {
                    if (is_fixed && is_accurate_hex(d, place)) {
                        const AccurateHex at_rest(d, place, NodeColumns<N>::Zero());
                        fe = damping.stiffness * at_rest.product(ve);
                        is_at_points = false;
                    } else if (is_fixed && has_mean_dilation(d, place)) {
                        const HexDilation at_rest(d, place, NodeColumns<N>::Zero());
                        fe = damping.stiffness * at_rest.product(ve);
                    }
                }
                if (is_at_points)
                    rest_gradient =
                        damping.stiffness * stress_gradient(element.material, kRestShape);
                for (int k = 0; k < element.kPoints; ++k) {
                    const auto& gradients = element.reference.gradients[k];
                    const QuadraturePoint& point = element.points[k];
                    const Matrix3d F_rate = displacement_gradient<N>(ve, gradients, point);
                    Matrix3d P = Matrix3d::Zero();
                    if (is_viscous)
                        P = viscous_stress(damping, deformation_gradient<N>(ue, gradients, point),
                                           F_rate);
                    if (is_at_points) P.reshaped() += rest_gradient.lazyProduct(F_rate.reshaped());
                    add_stress_force<N>(P, gradients, point, fe);
                }
                scatter_add<N>(fe, element.nodes, f.data());
            }
        });
    });
}

void add_damping_matrix(const FemModel& model, const Damping& damping, const FemModel::ConstRef& u,
                        const FemModel::Matrix& K, FemModel::Matrix& D) {
    assert(u.size() == model.num_unknowns() && K.nonZeros() == D.nonZeros());
    if (damping.stiffness > 0)
        Eigen::Map<Eigen::VectorXd>(D.valuePtr(), D.nonZeros()) +=
            damping.stiffness * Eigen::Map<const Eigen::VectorXd>(K.valuePtr(), K.nonZeros());
    if (damping.bulk_viscosity == 0 && damping.shear_viscosity == 0) return;
    const FemModelData& d = model.data();
    with_element(d.mesh.kind, [&](auto num_nodes_constant) {
        constexpr int N = num_nodes_constant;
        for_each_block(d.blocks, [&](int, int first, int end) {
            for (int place = first; place < end; ++place) {
                const ElementView<N> element(d, place);
                const NodeColumns<N> ue = gather<N>(u.data(), element.nodes);
                ElementMatrix<N> De = ElementMatrix<N>::Zero();
                for (int k = 0; k < element.kPoints; ++k) {
                    const auto& gradients = element.reference.gradients[k];
                    const QuadraturePoint& point = element.points[k];
                    const Matrix3d F = deformation_gradient<N>(ue, gradients, point);
                    add_tangent<N>(viscous_stress_gradient(damping, F), gradients, point, De);
                }
                scatter_add_matrix<N>(d, place, De, D.valuePtr());
            }
        });
    });
}

}  // namespace pliant
