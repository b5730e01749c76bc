#include "fem/tet_domain_loops.h"

#include "fem/material_dilation.h"
#include "fem/round_vectors.h"
#include "fem/scalar_elements.h"
#include "fem/tet_domain_kernels.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

/// Batches of a round: one more for each law, which may not be full.
constexpr int kMaxRoundBatches = kMaxRoundDomains / kTetLanes + 8;
using DomainRedoBits = std::uint8_t[kMaxRoundBatches];
/// Nodes of one task.
constexpr std::size_t kStarGrain = 256;

using Lease = DomainScratchPool::Lease;

template <class T>
auto& gradients_in(DomainScratch& s) {
    if constexpr (sizeof(T) == sizeof(double))
        return s.H;
    else
        return s.H_single;
}
template <class T>
auto& theta_in(DomainScratch& s) {
    if constexpr (sizeof(T) == sizeof(double))
        return s.theta[0];
    else
        return s.theta_single;
}

template <class T>
DomainBatchView<T> view(const TetDomains& o, const TetRun& run) {
    const auto first = static_cast<std::size_t>(run.first_batch);
    const int count = run.end_batch - run.first_batch;
    if constexpr (sizeof(T) == sizeof(double))
        return {run.law,
                count,
                o.batches.data() + first,
                o.places.data(),
                o.batch_gradients.data(),
                o.batch_mu.data() + first,
                o.batch_weight.data() + first};
    else
        return {run.law,
                count,
                o.batches.data() + first,
                o.places.data(),
                o.batch_gradients_single.data(),
                o.batch_mu_single.data() + first,
                o.batch_weight_single.data() + first};
}

template <class Body>
void for_each_round(const TetDomains& o, int block, const Body& body) {
    for (int r = o.round_offsets[block]; r < o.round_offsets[block + 1]; ++r) body(o.rounds[r]);
}

/// Calls `body(slot)` for the edges of a run that have to take the scalar way.
template <class Body>
void for_each_left_out(const TetDomains& o, const TetRun& run, const std::uint8_t* redo,
                       const Body& body) {
    if (run.law != TetLaw::Scalar && run.law != TetLaw::Corotational) return;
    for (int batch = run.first_batch; batch < run.end_batch; ++batch) {
        unsigned bits = run.law == TetLaw::Scalar ? 0xffU : redo[batch - run.first_batch];
        for (; bits != 0; bits &= bits - 1) {
            const int slot = batch * kTetLanes + std::countr_zero(bits);
            if (o.weights[slot] > 0) body(slot);
        }
    }
}

/// Calls `body(slot)` for the edges of a block.
template <class Body>
void for_each_edge(const TetDomains& o, int block, const Body& body) {
    for (int slot = o.blocks.block_offsets[block]; slot < o.blocks.block_offsets[block + 1]; ++slot)
        if (o.weights[slot] > 0) body(slot);
}

template <class T>
T& at(std::vector<LaneNumbers<T>>& numbers, int slot) {
    return numbers[static_cast<std::size_t>(slot / kTetLanes)].v[slot % kTetLanes];
}
template <class T>
T at(const std::vector<LaneNumbers<T>>& numbers, int slot) {
    return numbers[static_cast<std::size_t>(slot / kTetLanes)].v[slot % kTetLanes];
}
template <class T>
void put(const Matrix3d& H, int slot, std::vector<LaneMatrices<T>>& to) {
    for (int k = 0; k < 9; ++k)
        to[static_cast<std::size_t>(slot / kTetLanes)].m[k][slot % kTetLanes] =
            static_cast<T>(H(k / 3, k % 3));
}
Matrix3d get(const std::vector<LaneMatrices<double>>& from, int slot) {
    Matrix3d H;
    for (int k = 0; k < 9; ++k)
        H(k / 3, k % 3) = from[static_cast<std::size_t>(slot / kTetLanes)].m[k][slot % kTetLanes];
    return H;
}

const Material& material_of(const FemModelData& d, int slot) {
    return d.domains->edge_materials[static_cast<std::size_t>(d.domains->regions[slot])];
}

/// P weight ∂H̃/∂u of an edge.
void add_stress(const TetDomains& o, int slot, const Matrix3d& P, double* R) {
    const auto nodes = o.nodes_of(slot);
    const auto gradients = o.gradients_of(slot);
    const Matrix3d weighted = o.weights[slot] * P;
    Vector3d rest = Vector3d::Zero();
    for (std::size_t a = 1; a < nodes.size(); ++a) {
        const Vector3d f = weighted.lazyProduct(gradients[a]);
        Eigen::Map<Vector3d>(R + 3 * std::ptrdiff_t{nodes[a]}) += f;
        rest -= f;
    }
    Eigen::Map<Vector3d>(R + 3 * std::ptrdiff_t{nodes[0]}) += rest;
}

/// H̃ and θ of all edges at u, and the smallest det F̃ of each block unless not asked for.
template <class T>
void find_gradients(const FemModelData& d, const double* u, DomainScratch& s, bool with_det) {
    const TetDomains& o = *d.domains;
    auto& H = gradients_in<T>(s);
    auto& theta = theta_in<T>(s);
    parallel_for(static_cast<std::size_t>(o.blocks.num_blocks()), 1, [&](std::size_t block) {
        RoundVectors<T> local_u;
        DomainRedoBits redo;
        SmallestDetF smallest = kNoDetF;
        for_each_round(o, static_cast<int>(block), [&](const DomainRound& round) {
            load(o.round_nodes.data() + round.first_node, round.num_nodes, u, local_u);
            for (int r = round.first_run; r < round.end_run; ++r) {
                const TetRun& run = o.runs[r];
                if (run.law != TetLaw::Scalar) {
                    TetDetF of_run;
                    domain_gradients<T>(view<T>(o, run), local_u.values,
                                        H.data() + run.first_batch, theta.data() + run.first_batch,
                                        redo, with_det ? &of_run : nullptr);
                    if (with_det)
                        keep_smaller(
                            {of_run.value,
                             o.blocks.elements[static_cast<std::size_t>(run.first_batch +
                                                                        of_run.batch) *
                                                   kTetLanes +
                                               static_cast<std::size_t>(of_run.lane)]},
                            smallest);
                }
                for_each_left_out(o, run, redo, [&](int slot) {
                    const Matrix3d gradient = domain_gradient(o, slot, u);
                    const Matrix3d F = Matrix3d::Identity() + gradient;
                    put(gradient, slot, H);
                    at(theta, slot) = static_cast<T>(dilation(material_of(d, slot).law, F));
                    if (with_det && run.law == TetLaw::Scalar)
                        keep_smaller({F.determinant(), o.blocks.elements[slot]}, smallest);
                });
            }
        });
        s.det_of_block[block] = smallest.value;
        s.element_of_block[block] = smallest.element;
    });
}

/// λ θ̄ of all stars from θ of the edges, eq. (W2).
template <class T>
void find_pressures(const TetDomains& o, const std::vector<LaneNumbers<T>>& theta,
                    std::vector<double>& pressure) {
    parallel_for(static_cast<std::size_t>(o.num_stars()), kStarGrain, [&](std::size_t star) {
        double sum = 0;
        for (int k = o.star_edge_offsets[star]; k < o.star_edge_offsets[star + 1]; ++k)
            sum += o.star_shares[k] * static_cast<double>(at(theta, o.star_edges[k]));
        pressure[star] = o.star_lambda[star] * sum;
    });
}

/// What the two ends of an edge give it; their stars end with one of no pressure.
double pressure_of(const TetDomains& o, const std::vector<double>& pressure, int slot) {
    return 0.5 * (pressure[o.ends[slot][0]] + pressure[o.ends[slot][1]]);
}
template <class T>
void load_pressures(const TetDomains& o, const TetRun& run, const std::vector<double>& pressure,
                    LaneNumbers<T>* to) {
    for (int batch = run.first_batch; batch < run.end_batch; ++batch, ++to)
        for (int lane = 0; lane < kTetLanes; ++lane)
            to->v[lane] = static_cast<T>(pressure_of(o, pressure, batch * kTetLanes + lane));
}

/// R += the forces, from gradients and pressures.
template <class T>
void add_forces(const FemModelData& d, DomainScratch& s, double* R) {
    const TetDomains& o = *d.domains;
    auto& H = gradients_in<T>(s);
    parallel_phases(o.blocks.colour_offsets, [&](int block) {
        RoundVectors<T> local_R;
        LaneNumbers<T> pressures[kMaxRoundBatches];
        DomainRedoBits redo;
        for_each_round(o, block, [&](const DomainRound& round) {
            clear(round.num_nodes, local_R);
            for (int r = round.first_run; r < round.end_run; ++r) {
                const TetRun& run = o.runs[r];
                if (run.law != TetLaw::Scalar) {
                    load_pressures(o, run, s.pressure[0], pressures);
                    add_domain_forces<T>(view<T>(o, run), H.data() + run.first_batch, pressures,
                                         local_R.values, redo);
                }
                for_each_left_out(o, run, redo, [&](int slot) {
                    const Material& m = material_of(d, slot);
                    Matrix3d F = Matrix3d::Identity();
                    const LaneMatrices<T>& from = H[static_cast<std::size_t>(slot / kTetLanes)];
                    for (int k = 0; k < 9; ++k)
                        F(k / 3, k % 3) += static_cast<double>(from.m[k][slot % kTetLanes]);
                    add_stress(o, slot,
                               stress(m, F) + pressure_of(o, s.pressure[0], slot) *
                                                  dilation_gradient(m.law, F),
                               R);
                });
            }
            add_to_all(o.round_nodes.data() + round.first_node, round.num_nodes, local_R, R);
        });
    });
}

void set_to_zero(double* values, std::size_t count) {
    parallel_ranges(count, 1 << 14, [&](std::size_t begin, std::size_t end) {
        std::fill(values + begin, values + end, 0.0);
    });
}
std::size_t num_unknowns(const FemModelData& d) { return 3 * d.mesh.vertices.size(); }

SmallestDetF smallest_of_blocks(const DomainScratch& s) {
    SmallestDetF smallest = kNoDetF;
    for (std::size_t block = 0; block < s.det_of_block.size(); ++block)
        keep_smaller({s.det_of_block[block], s.element_of_block[block]}, smallest);
    return smallest;
}

/// A 3 × 3 block at a place of K.
void add_block(const FemModelData& d, int column, int slot, const Matrix3d& K, double* values) {
    double* to = values + d.value_index(column, slot);
    const int height = d.column_height(column);
    for (int j = 0; j < 3; ++j, to += height)
        for (int i = 0; i < 3; ++i) to[i] += K(i, j);
}

/// The part of w₀ and of the pressure in K.
void add_edge_tangent(const FemModelData& d, int slot, const DomainScratch& s, double* values) {
    const TetDomains& o = *d.domains;
    const Material& m = material_of(d, slot);
    const Matrix3d F = Matrix3d::Identity() + get(s.H, slot);
    Matrix9d C = stress_gradient(m, F);
    if (const double p = pressure_of(o, s.pressure[0], slot); p != 0)
        C += p * dilation_hessian(m.law, F);
    C *= o.weights[slot];
    const auto nodes = o.nodes_of(slot);
    const auto g = o.gradients_of(slot);
    const int* const slots = o.slots.data() + o.slot_offsets[slot];
    const std::size_t N = nodes.size();
    for (std::size_t b = 0; b < N; ++b) {
        // response of the stress to unit displacements of node b, stacked like P
        Eigen::Matrix<double, 9, 3> D = g[b][0] * C.leftCols<3>();
        D += g[b][1] * C.middleCols<3>(3);
        D += g[b][2] * C.rightCols<3>();
        for (std::size_t a = 0; a <= b; ++a) {
            Matrix3d K = g[a][0] * D.topRows<3>();
            K += g[a][1] * D.middleRows<3>(3);
            K += g[a][2] * D.bottomRows<3>();
            if (a == b) {
                K.triangularView<Eigen::StrictlyLower>() = K.transpose();
            } else {
                add_block(d, nodes[a], slots[a * N + b], K.transpose(), values);
            }
            add_block(d, nodes[b], slots[b * N + a], K, values);
        }
    }
}

/// √(λ V_n) ∂θ̄_n/∂u of a star.
void find_star_gradient(const FemModelData& d, int star, DomainScratch& s) {
    const TetDomains& o = *d.domains;
    const double root = std::sqrt(o.star_lambda[star] * o.star_weights[star]);
    const Law law = d.materials[o.star_regions[star]].law;
    const auto of_star = o.nodes_of_star(star);
    Vector3d* const to = s.node_gradients.data() + o.star_offsets[star];
    std::fill_n(to, of_star.size(), Vector3d::Zero());
    for (int k = o.star_edge_offsets[star]; k < o.star_edge_offsets[star + 1]; ++k) {
        const int slot = o.star_edges[k];
        const Matrix3d G = (root * o.star_shares[k]) *
                           dilation_gradient(law, Matrix3d::Identity() + get(s.H, slot));
        const auto nodes = o.nodes_of(slot);
        const auto gradients = o.gradients_of(slot);
        // both ascend
        std::size_t place = 0;
        for (std::size_t a = 0; a < nodes.size(); ++a) {
            while (of_star[place] != nodes[a]) ++place;
            to[place] += G.lazyProduct(gradients[a]);
        }
    }
}

/// The part of the stars in the columns of a node of K.
void add_star_columns(const FemModelData& d, int node, const DomainScratch& s, double* values) {
    const TetDomains& o = *d.domains;
    const int height = d.column_height(node);
    for (int k = o.around_offsets[node]; k < o.around_offsets[node + 1]; ++k) {
        const int star = o.around_star[k], b = o.around_place[k];
        const int N = o.star_offsets[star + 1] - o.star_offsets[star];
        const Vector3d* const g = s.node_gradients.data() + o.star_offsets[star];
        const int* const slots = o.star_slots.data() + o.star_slot_offsets[star] + b * N;
        for (int a = 0; a < N; ++a) {
            double* to = values + d.value_index(node, slots[a]);
            for (int j = 0; j < 3; ++j, to += height)
                for (int i = 0; i < 3; ++i) to[i] += g[a][i] * g[b][j];
        }
    }
}

}  // namespace

double domain_energy(const FemModelData& d, const double* u) {
    const TetDomains& o = *d.domains;
    const Lease lease(*d.domain_scratch);
    DomainScratch& s = *lease;
    find_gradients<double>(d, u, s, false);
    find_pressures(o, s.theta[0], s.pressure[0]);
    parallel_for(s.of_block.size(), 1, [&](std::size_t block) {
        double sum = 0;
        for_each_edge(o, static_cast<int>(block), [&](int slot) {
            sum += o.weights[slot] *
                   energy_density(material_of(d, slot), Matrix3d::Identity() + get(s.H, slot));
        });
        s.of_block[block] = sum;
    });
    double total = 0;
    for (const double sum : s.of_block) total += sum;
    for (int star = 0; star < o.num_stars(); ++star)
        total += 0.5 * o.star_weights[star] * s.pressure[0][star] * s.pressure[0][star] /
                 o.star_lambda[star];
    return total;
}

template <class T>
SmallestDetF domain_force(const FemModelData& d, const double* u, double* R) {
    const Lease lease(*d.domain_scratch);
    DomainScratch& s = *lease;
    find_gradients<T>(d, u, s, true);
    find_pressures(*d.domains, theta_in<T>(s), s.pressure[0]);
    set_to_zero(R, num_unknowns(d));
    add_forces<T>(d, s, R);
    return smallest_of_blocks(s);
}
template SmallestDetF domain_force<double>(const FemModelData&, const double*, double*);
template SmallestDetF domain_force<float>(const FemModelData&, const double*, double*);

void domain_product(const FemModelData& d, const double* u, const double* p, double* Kp) {
    const TetDomains& o = *d.domains;
    const Lease lease(*d.domain_scratch);
    DomainScratch& s = *lease;
    // gradients and their changes
    parallel_for(s.of_block.size(), 1, [&](std::size_t block) {
        RoundVectors<double> local_u, local_p;
        DomainRedoBits redo;
        for_each_round(o, static_cast<int>(block), [&](const DomainRound& round) {
            const int* const nodes = o.round_nodes.data() + round.first_node;
            load(nodes, round.num_nodes, u, local_u);
            load(nodes, round.num_nodes, p, local_p);
            for (int r = round.first_run; r < round.end_run; ++r) {
                const TetRun& run = o.runs[r];
                const int first = run.first_batch;
                if (run.law != TetLaw::Scalar)
                    domain_changes(view<double>(o, run), local_u.values, local_p.values,
                                   s.H.data() + first, s.dH.data() + first,
                                   s.theta[0].data() + first, s.theta[1].data() + first, redo);
                for_each_left_out(o, run, redo, [&](int slot) {
                    const Law law = material_of(d, slot).law;
                    const Matrix3d H = domain_gradient(o, slot, u), dH = domain_gradient(o, slot, p);
                    const Matrix3d F = Matrix3d::Identity() + H;
                    put(H, slot, s.H);
                    put(dH, slot, s.dH);
                    at(s.theta[0], slot) = dilation(law, F);
                    at(s.theta[1], slot) = dilation_gradient(law, F).cwiseProduct(dH).sum();
                });
            }
        });
    });
    for (int k = 0; k < 2; ++k) find_pressures(o, s.theta[k], s.pressure[k]);
    set_to_zero(Kp, num_unknowns(d));
    parallel_phases(o.blocks.colour_offsets, [&](int block) {
        RoundVectors<double> local_Kp;
        LaneNumbers<double> pressures[kMaxRoundBatches], changes[kMaxRoundBatches];
        DomainRedoBits redo;
        for_each_round(o, block, [&](const DomainRound& round) {
            clear(round.num_nodes, local_Kp);
            for (int r = round.first_run; r < round.end_run; ++r) {
                const TetRun& run = o.runs[r];
                if (run.law != TetLaw::Scalar) {
                    load_pressures(o, run, s.pressure[0], pressures);
                    load_pressures(o, run, s.pressure[1], changes);
                    add_domain_products(view<double>(o, run), s.H.data() + run.first_batch,
                                        s.dH.data() + run.first_batch, pressures, changes,
                                        local_Kp.values, redo);
                }
                for_each_left_out(o, run, redo, [&](int slot) {
                    const Material& m = material_of(d, slot);
                    const Matrix3d F = Matrix3d::Identity() + get(s.H, slot);
                    const Matrix3d dF = get(s.dH, slot);
                    const Matrix9d C = stress_gradient(m, F) + pressure_of(o, s.pressure[0], slot) *
                                                                   dilation_hessian(m.law, F);
                    Matrix3d dP;
                    dP.reshaped() = C.lazyProduct(dF.reshaped());
                    dP += pressure_of(o, s.pressure[1], slot) * dilation_gradient(m.law, F);
                    add_stress(o, slot, dP, Kp);
                });
            }
            add_to_all(o.round_nodes.data() + round.first_node, round.num_nodes, local_Kp, Kp);
        });
    });
}

void domain_tangent(const FemModelData& d, const double* u, double* R, double* values) {
    const TetDomains& o = *d.domains;
    const Lease lease(*d.domain_scratch);
    DomainScratch& s = *lease;
    find_gradients<double>(d, u, s, false);
    find_pressures(o, s.theta[0], s.pressure[0]);
    if (R != nullptr) {
        set_to_zero(R, num_unknowns(d));
        add_forces<double>(d, s, R);
    }
    set_to_zero(values, 9 * d.rows.size());
    parallel_phases(o.blocks.colour_offsets, [&](int block) {
        for_each_edge(o, block, [&](int slot) { add_edge_tangent(d, slot, s, values); });
    });
    parallel_for(static_cast<std::size_t>(o.num_stars()), kStarGrain,
                 [&](std::size_t star) { find_star_gradient(d, static_cast<int>(star), s); });
    parallel_for(d.mesh.vertices.size(), kStarGrain,
                 [&](std::size_t node) { add_star_columns(d, static_cast<int>(node), s, values); });
}

void domain_hessian_contraction(const FemModelData& d, const double* u, const double* v,
                                const double* w, double* Hvw) {
    const TetDomains& o = *d.domains;
    const Lease lease(*d.domain_scratch);
    DomainScratch& s = *lease;
    struct Gradients {
        Matrix3d F, Fv, Fw, G, dGv, dGw;
    };
    const auto gradients_of = [&](int slot) {
        const Law law = material_of(d, slot).law;
        Gradients g;
        g.F = Matrix3d::Identity() + domain_gradient(o, slot, u);
        g.Fv = domain_gradient(o, slot, v);
        g.Fw = domain_gradient(o, slot, w);
        g.G = dilation_gradient(law, g.F);
        const Matrix9d C = dilation_hessian(law, g.F);
        g.dGv.reshaped() = C.lazyProduct(g.Fv.reshaped());
        g.dGw.reshaped() = C.lazyProduct(g.Fw.reshaped());
        return g;
    };
    parallel_for(s.of_block.size(), 1, [&](std::size_t block) {
        for_each_edge(o, static_cast<int>(block), [&](int slot) {
            const Gradients g = gradients_of(slot);
            at(s.theta[0], slot) = dilation(material_of(d, slot).law, g.F);
            at(s.theta[1], slot) = g.G.cwiseProduct(g.Fv).sum();
            at(s.theta[2], slot) = g.G.cwiseProduct(g.Fw).sum();
            at(s.theta[3], slot) = g.dGv.cwiseProduct(g.Fw).sum();
        });
    });
    for (int k = 0; k < 4; ++k) find_pressures(o, s.theta[k], s.pressure[k]);
    set_to_zero(Hvw, num_unknowns(d));
    parallel_phases(o.blocks.colour_offsets, [&](int block) {
        for_each_edge(o, block, [&](int slot) {
            const Material& m = material_of(d, slot);
            const Gradients g = gradients_of(slot);
            double p[4];
            for (int k = 0; k < 4; ++k) p[k] = pressure_of(o, s.pressure[k], slot);
            const Matrix3d ddP = stress_second_gradient(m, g.F, g.Fv, g.Fw) +
                                 p[0] * dilation_third(m.law, g.F, g.Fv, g.Fw) + p[1] * g.dGw +
                                 p[2] * g.dGv + p[3] * g.G;
            add_stress(o, slot, ddP, Hvw);
        });
    });
}

SmallestDetF domain_smallest_det_F(const FemModelData& d, const double* u) {
    const Lease lease(*d.domain_scratch);
    find_gradients<double>(d, u, *lease, true);
    return smallest_of_blocks(*lease);
}

}  // namespace pliant
