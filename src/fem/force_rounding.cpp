#include "fem/force_rounding.h"

#include "fem/fem_model_data.h"

#include <cmath>
#include <limits>

namespace pliant {

double rounding_of_force(const FemModel& model) {
    const FemModelData& d = model.data();
    Eigen::VectorXd stiffness = Eigen::VectorXd::Zero(model.num_nodes());
    with_element(d.mesh.kind, [&](auto num_nodes_constant) {
        constexpr int N = num_nodes_constant;
        const auto& reference = ReferenceElement<N>::get();
        for (std::size_t i = 0; i < d.nodes.size(); ++i) {
            const std::size_t place = i / N;
            const Material& m = d.materials[d.regions[place]];
            const double modulus = m.anisotropy ? m.anisotropy->stiffness.cwiseAbs().maxCoeff()
                                                : std::abs(m.lambda) + 2 * m.mu;
            for (int k = 0; k < reference.kPoints; ++k) {
                const QuadraturePoint& point = d.points[place * reference.kPoints + k];
                const Eigen::Vector3d g = point.inverse_jacobian.transpose() *
                                          reference.gradients[k].col(static_cast<int>(i % N));
                stiffness[d.nodes[i]] += modulus * point.weight * g.norm();
            }
        }
    });
    return 8 * std::numeric_limits<double>::epsilon() * stiffness.norm();
}

}  // namespace pliant
