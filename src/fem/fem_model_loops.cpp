#include "fem/scalar_elements.h"
#include "fem/tet_domain_loops.h"
#include "fem/tet_rounds.h"

#include <algorithm>
#include <cassert>

namespace pliant {
namespace {

/// The smallest of all blocks, from what each of them left in the workspace.
SmallestDetF smallest_of_blocks(const FemModel::Workspace& ws) {
    SmallestDetF smallest = kNoDetF;
    for (std::size_t block = 0; block < ws.value_of_block.size(); ++block)
        keep_smaller({ws.value_of_block[block], ws.element_of_block[block]}, smallest);
    return smallest;
}

/// Calls `body(place)` for the hexes of a block that have no kernel.
template <class Body>
void for_each_other_hex(const HexBatches& hexes, int block, const Body& body) {
    for (int k = hexes.other_offsets[block]; k < hexes.other_offsets[block + 1]; ++k)
        body(hexes.others[k]);
}

template <class T>
void add_block_forces(const FemModelData& d, int block, const double* u, double* R) {
    if (d.mesh.kind == ElementKind::Tet4) return add_tet_block_forces<T>(d, block, u, R);
    add_hex_forces<T>(d.hexes, block, u, R);
    for_each_other_hex(d.hexes, block, [&](int place) { add_element_force<8>(d, place, u, R); });
}

template <class T>
SmallestDetF add_block_forces_and_det_F(const FemModelData& d, int block, const double* u,
                                        double* R) {
    if (d.mesh.kind == ElementKind::Tet4) return add_tet_block_forces_and_det_F<T>(d, block, u, R);
    const HexDetF of_kernels = add_hex_forces_and_det_F<T>(d.hexes, block, u, R);
    SmallestDetF smallest{of_kernels.value, of_kernels.element};
    for_each_other_hex(d.hexes, block, [&](int place) {
        add_element_force<8>(d, place, u, R);
        keep_element_det_F<8>(d, place, u, smallest);
    });
    return smallest;
}

void clear(double* values, std::size_t count) {
    parallel_ranges(count, 1 << 14, [&](std::size_t begin, std::size_t end) {
        std::fill(values + begin, values + end, 0.0);
    });
}

void clear(FemModel::Ref x) { clear(x.data(), static_cast<std::size_t>(x.size())); }

/// K and, unless null, R, which is zero.
void assemble(const FemModelData& d, const double* u, double* R, double* values) {
    if (d.mesh.kind == ElementKind::Tet4)
        return for_each_block(
            d.blocks, [&](int block, int, int) { add_tet_block_tangents(d, block, u, R, values); });
    clear(values, 9 * d.rows.size());
    const HexPattern pattern{d.column_offsets.data(), d.slots.data()};
    for_each_block(d.blocks, [&](int block, int, int) {
        add_hex_tangents(d.hexes, block, pattern, u, R, values);
        for_each_other_hex(d.hexes, block,
                           [&](int place) { add_element_tangent<8>(d, place, u, R, values); });
    });
}

}  // namespace

double FemModel::energy(const ConstRef& u, Workspace& ws) const {
    assert(u.size() == num_unknowns());
    const FemModelData& d = *data_;
    if (d.domains) return domain_energy(d, u.data());
    with_element(d.mesh.kind, [&](auto num_nodes_constant) {
        constexpr int N = num_nodes_constant;
        for_each_block(d.blocks, [&](int block, int first, int end) {
            double sum = 0;
            for (int place = first; place < end; ++place) {
                const ElementView<N> element(d, place);
                const NodeColumns<N> ue = gather<N>(u.data(), element.nodes);
                if constexpr (N == 8) {
                    if (is_accurate_hex(d, place)) {
                        sum += AccurateHex(d, place, ue).energy();
                        continue;
                    }
                    if (has_mean_dilation(d, place)) sum += HexDilation(d, place, ue).energy();
                }
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
    if (d.domains) {
        domain_force<double>(d, u.data(), R.data());
        return;
    }
    clear(R);
    for_each_block(d.blocks, [&](int block, int, int) {
        add_block_forces<double>(d, block, u.data(), R.data());
    });
}

SmallestDetF FemModel::internal_force(const ConstRef& u, Ref R, Workspace& ws,
                                      Precision precision) const {
    assert(u.size() == num_unknowns() && R.size() == num_unknowns());
    const FemModelData& d = *data_;
    if (d.domains)
        return precision == Precision::Single ? domain_force<float>(d, u.data(), R.data())
                                              : domain_force<double>(d, u.data(), R.data());
    clear(R);
    for_each_block(d.blocks, [&](int block, int, int) {
        const SmallestDetF smallest =
            precision == Precision::Single
                ? add_block_forces_and_det_F<float>(d, block, u.data(), R.data())
                : add_block_forces_and_det_F<double>(d, block, u.data(), R.data());
        ws.value_of_block[block] = smallest.value;
        ws.element_of_block[block] = smallest.element;
    });
    return smallest_of_blocks(ws);
}

void FemModel::tangent_product(const ConstRef& u, const ConstRef& p, Ref Kp) const {
    assert(u.size() == num_unknowns() && p.size() == num_unknowns());
    assert(Kp.size() == num_unknowns());
    const FemModelData& d = *data_;
    if (d.domains) return domain_product(d, u.data(), p.data(), Kp.data());
    clear(Kp);
    for_each_block(d.blocks, [&](int block, int, int) {
        if (d.mesh.kind == ElementKind::Tet4)
            return add_tet_block_products(d, block, u.data(), p.data(), Kp.data());
        add_hex_tangent_products(d.hexes, block, u.data(), p.data(), Kp.data());
        for_each_other_hex(d.hexes, block, [&](int place) {
            add_element_product<8>(d, place, u.data(), p.data(), Kp.data());
        });
    });
}

void FemModel::tangent(const ConstRef& u, Matrix& K) const {
    assert(u.size() == num_unknowns());
    assert(K.nonZeros() == 9 * std::ssize(data_->rows));
    if (data_->domains) return domain_tangent(*data_, u.data(), nullptr, K.valuePtr());
    assemble(*data_, u.data(), nullptr, K.valuePtr());
}

void FemModel::force_and_tangent(const ConstRef& u, Ref R, Matrix& K) const {
    assert(u.size() == num_unknowns() && R.size() == num_unknowns());
    assert(K.nonZeros() == 9 * std::ssize(data_->rows));
    if (data_->domains) return domain_tangent(*data_, u.data(), R.data(), K.valuePtr());
    clear(R);
    assemble(*data_, u.data(), R.data(), K.valuePtr());
}

void FemModel::hessian_contraction(const ConstRef& u, const ConstRef& v, const ConstRef& w,
                                   Ref Hvw) const {
    assert(u.size() == num_unknowns() && v.size() == num_unknowns());
    assert(w.size() == num_unknowns() && Hvw.size() == num_unknowns());
    const FemModelData& d = *data_;
    if (d.domains)
        return domain_hessian_contraction(d, u.data(), v.data(), w.data(), Hvw.data());
    clear(Hvw);
    with_element(d.mesh.kind, [&](auto num_nodes_constant) {
        constexpr int N = num_nodes_constant;
        for_each_block(d.blocks, [&](int, int first, int end) {
            for (int place = first; place < end; ++place) {
                const ElementView<N> element(d, place);
                const NodeColumns<N> ue = gather<N>(u.data(), element.nodes);
                const NodeColumns<N> ve = gather<N>(v.data(), element.nodes);
                const NodeColumns<N> we = gather<N>(w.data(), element.nodes);
                if constexpr (N == 8)
                    if (is_accurate_hex(d, place)) {
                        scatter_add<N>(AccurateHex(d, place, ue).hessian(ve, we), element.nodes,
                                       Hvw.data());
                        continue;
                    }
                NodeColumns<N> fe = NodeColumns<N>::Zero();
                with_law(element.material.law, [&](auto law) {
                    for (int k = 0; k < element.kPoints; ++k) {
                        const auto& reference = element.reference.gradients[k];
                        const QuadraturePoint& point = element.points[k];
                        const Eigen::Matrix3d ddP = law.stress_second_gradient(
                            element.material, deformation_gradient<N>(ue, reference, point),
                            displacement_gradient<N>(ve, reference, point),
                            displacement_gradient<N>(we, reference, point));
                        add_stress_force<N>(ddP, reference, point, fe);
                    }
                });
                if constexpr (N == 8)
                    if (has_mean_dilation(d, place))
                        fe += HexDilation(d, place, ue).hessian(ve, we);
                scatter_add<N>(fe, element.nodes, Hvw.data());
            }
        });
    });
}

SmallestDetF FemModel::smallest_det_F(const ConstRef& u, Workspace& ws) const {
    assert(u.size() == num_unknowns());
    const FemModelData& d = *data_;
    with_element(d.mesh.kind, [&](auto num_nodes_constant) {
        for_each_block(d.blocks, [&](int block, int first, int end) {
            SmallestDetF smallest = kNoDetF;
            for (int place = first; place < end; ++place)
                keep_element_det_F<num_nodes_constant>(d, place, u.data(), smallest);
            ws.value_of_block[block] = smallest.value;
            ws.element_of_block[block] = smallest.element;
        });
    });
    SmallestDetF smallest = smallest_of_blocks(ws);
    if (d.domains) keep_smaller(domain_smallest_det_F(d, u.data()), smallest);
    return smallest;
}

}  // namespace pliant
