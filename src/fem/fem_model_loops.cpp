#include "fem/element_kernels.h"
#include "fem/fem_model_data.h"

#include <Eigen/LU>
#include <algorithm>
#include <cassert>
#include <limits>

namespace pliant {
namespace {

using Eigen::Matrix3d;

/// What a loop over elements sees of one of them.
template <int N>
struct ElementView {
    static constexpr int kPoints = ReferenceElement<N>::kPoints;

    ElementView(const FemModelData& d, int place)
        : nodes(d.nodes.data() + static_cast<std::size_t>(place) * N),
          points(d.points.data() + static_cast<std::size_t>(place) * kPoints),
          material(d.materials[d.regions[place]]) {}

    const int* nodes;
    const QuadraturePoint* points;
    const Material& material;
    const ReferenceElement<N>& reference = ReferenceElement<N>::get();
};

/// Adds a symmetric element matrix, given by its blocks on and above the diagonal.
template <int N>
void scatter_add_matrix(const FemModelData& d, int place, const ElementMatrix<N>& K,
                        double* values) {
    const int* const nodes = d.nodes.data() + static_cast<std::size_t>(place) * N;
    const int* const slots = d.slots.data() + static_cast<std::size_t>(place) * N * N;
    for (int b = 0; b < N; ++b) {
        const int height = d.column_height(nodes[b]);
        for (int a = 0; a < N; ++a) {
            double* const block = values + d.value_index(nodes[b], slots[b * N + a]);
            for (int j = 0; j < 3; ++j)
                for (int i = 0; i < 3; ++i) {
                    const bool is_upper = a < b || (a == b && i <= j);
                    block[j * height + i] +=
                        is_upper ? K(3 * a + i, 3 * b + j) : K(3 * b + j, 3 * a + i);
                }
        }
    }
}

/// K and, unless null, R.
template <int N>
void add_force_and_tangent(const FemModelData& d, const double* u, double* R, double* values) {
    for_each_block(d.blocks, [&](int, int first, int end) {
        for (int place = first; place < end; ++place) {
            const ElementView<N> element(d, place);
            const NodeColumns<N> ue = gather<N>(u, element.nodes);
            NodeColumns<N> fe = NodeColumns<N>::Zero();
            ElementMatrix<N> Ke = ElementMatrix<N>::Zero();
            with_law(element.material.law, [&](auto law) {
                for (int k = 0; k < element.kPoints; ++k) {
                    const auto& reference = element.reference.gradients[k];
                    const QuadraturePoint& point = element.points[k];
                    const Matrix3d F = deformation_gradient<N>(ue, reference, point);
                    if (R != nullptr)
                        add_stress_force<N>(law.stress(element.material, F), reference, point, fe);
                    add_tangent<N>(law.stress_gradient(element.material, F), reference, point, Ke);
                }
            });
            if (R != nullptr) scatter_add<N>(fe, element.nodes, R);
            scatter_add_matrix<N>(d, place, Ke, values);
        }
    });
}

}  // namespace

double FemModel::energy(const ConstRef& u, Workspace& ws) const {
    assert(u.size() == num_unknowns());
    const FemModelData& d = *data_;
    with_element(d.mesh.kind, [&](auto num_nodes_constant) {
        constexpr int N = num_nodes_constant;
        for_each_block(d.blocks, [&](int block, int first, int end) {
            double sum = 0;
            for (int place = first; place < end; ++place) {
                const ElementView<N> element(d, place);
                const NodeColumns<N> ue = gather<N>(u.data(), element.nodes);
                with_law(element.material.law, [&](auto law) {
                    for (int k = 0; k < element.kPoints; ++k)
                        sum += element.points[k].weight *
                               law.energy_density(
                                   element.material,
                                   deformation_gradient<N>(ue, element.reference.gradients[k],
                                                           element.points[k]));
                });
            }
            ws.value_of_block[block] = sum;
        });
    });
    double total = 0;
    for (const double value : ws.value_of_block) total += value;
    return total;
}

void FemModel::internal_force(const ConstRef& u, Ref R) const {
    assert(u.size() == num_unknowns() && R.size() == num_unknowns());
    const FemModelData& d = *data_;
    R.setZero();
    with_element(d.mesh.kind, [&](auto num_nodes_constant) {
        constexpr int N = num_nodes_constant;
        for_each_block(d.blocks, [&](int, int first, int end) {
            for (int place = first; place < end; ++place) {
                const ElementView<N> element(d, place);
                const NodeColumns<N> ue = gather<N>(u.data(), element.nodes);
                NodeColumns<N> fe = NodeColumns<N>::Zero();
                with_law(element.material.law, [&](auto law) {
                    for (int k = 0; k < element.kPoints; ++k) {
                        const auto& reference = element.reference.gradients[k];
                        const Matrix3d F =
                            deformation_gradient<N>(ue, reference, element.points[k]);
                        add_stress_force<N>(law.stress(element.material, F), reference,
                                            element.points[k], fe);
                    }
                });
                scatter_add<N>(fe, element.nodes, R.data());
            }
        });
    });
}

void FemModel::tangent(const ConstRef& u, Matrix& K) const {
    assert(u.size() == num_unknowns());
    assert(K.nonZeros() == 9 * std::ssize(data_->rows));
    std::fill_n(K.valuePtr(), K.nonZeros(), 0.0);
    with_element(data_->mesh.kind, [&](auto num_nodes_constant) {
        add_force_and_tangent<num_nodes_constant>(*data_, u.data(), nullptr, K.valuePtr());
    });
}

void FemModel::force_and_tangent(const ConstRef& u, Ref R, Matrix& K) const {
    assert(u.size() == num_unknowns() && R.size() == num_unknowns());
    assert(K.nonZeros() == 9 * std::ssize(data_->rows));
    R.setZero();
    std::fill_n(K.valuePtr(), K.nonZeros(), 0.0);
    with_element(data_->mesh.kind, [&](auto num_nodes_constant) {
        add_force_and_tangent<num_nodes_constant>(*data_, u.data(), R.data(), K.valuePtr());
    });
}

void FemModel::hessian_contraction(const ConstRef& u, const ConstRef& v, const ConstRef& w,
                                   Ref Hvw) const {
    assert(u.size() == num_unknowns() && v.size() == num_unknowns());
    assert(w.size() == num_unknowns() && Hvw.size() == num_unknowns());
    const FemModelData& d = *data_;
    Hvw.setZero();
    with_element(d.mesh.kind, [&](auto num_nodes_constant) {
        constexpr int N = num_nodes_constant;
        for_each_block(d.blocks, [&](int, int first, int end) {
            for (int place = first; place < end; ++place) {
                const ElementView<N> element(d, place);
                const NodeColumns<N> ue = gather<N>(u.data(), element.nodes);
                const NodeColumns<N> ve = gather<N>(v.data(), element.nodes);
                const NodeColumns<N> we = gather<N>(w.data(), element.nodes);
                NodeColumns<N> fe = NodeColumns<N>::Zero();
                with_law(element.material.law, [&](auto law) {
                    for (int k = 0; k < element.kPoints; ++k) {
                        const auto& reference = element.reference.gradients[k];
                        const QuadraturePoint& point = element.points[k];
                        const Matrix3d ddP = law.stress_second_gradient(
                            element.material, deformation_gradient<N>(ue, reference, point),
                            displacement_gradient<N>(ve, reference, point),
                            displacement_gradient<N>(we, reference, point));
                        add_stress_force<N>(ddP, reference, point, fe);
                    }
                });
                scatter_add<N>(fe, element.nodes, Hvw.data());
            }
        });
    });
}

SmallestDetF FemModel::smallest_det_F(const ConstRef& u, Workspace& ws) const {
    assert(u.size() == num_unknowns());
    const FemModelData& d = *data_;
    const auto is_smaller = [](const SmallestDetF& a, const SmallestDetF& b) {
        return a.value != b.value ? a.value < b.value : a.element < b.element;
    };
    constexpr SmallestDetF kNone{std::numeric_limits<double>::infinity(),
                                 std::numeric_limits<int>::max()};
    with_element(d.mesh.kind, [&](auto num_nodes_constant) {
        constexpr int N = num_nodes_constant;
        for_each_block(d.blocks, [&](int block, int first, int end) {
            SmallestDetF smallest = kNone;
            for (int place = first; place < end; ++place) {
                const ElementView<N> element(d, place);
                const NodeColumns<N> ue = gather<N>(u.data(), element.nodes);
                for (int k = 0; k < element.kPoints; ++k) {
                    const Matrix3d F = deformation_gradient<N>(ue, element.reference.gradients[k],
                                                               element.points[k]);
                    const SmallestDetF here{F.determinant(), d.blocks.elements[place]};
                    if (is_smaller(here, smallest)) smallest = here;
                }
            }
            ws.value_of_block[block] = smallest.value;
            ws.element_of_block[block] = smallest.element;
        });
    });
    SmallestDetF smallest = kNone;
    for (int block = 0; block < d.blocks.num_blocks(); ++block)
        if (const SmallestDetF here{ws.value_of_block[block], ws.element_of_block[block]};
            is_smaller(here, smallest))
            smallest = here;
    return smallest;
}

}  // namespace pliant
