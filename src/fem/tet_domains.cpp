#include "fem/tet_domains.h"

#include "fem/fem_model_data.h"
#include "fem/material_dilation.h"
#include "pliant/geometry/mesh_order.h"

#include <algorithm>
#include <array>
#include <bit>
#include <tuple>
#include <unordered_map>

namespace pliant {
namespace {

using Eigen::Vector3d;

/// Batches among which the lanes of the edges are dealt: few enough that those of one batch have
/// about as many nodes each, enough that its lanes are apart.
constexpr int kDealtBatches = 8;

/// An edge of one region, its nodes ascending.
struct Edge {
    std::array<int, 2> ends;
    int region = 0, element = 0;
    double weight = 0;
    std::vector<int> nodes;
    std::vector<Vector3d> gradients;
    std::vector<double> volumes;

    /// Adds what an element gives to a node.
    void add(int node, const Vector3d& gradient, double volume) {
        const auto at = std::lower_bound(nodes.begin(), nodes.end(), node);
        const auto place = at - nodes.begin();
        if (at == nodes.end() || *at != node) {
            nodes.insert(at, node);
            gradients.insert(gradients.begin() + place, Vector3d::Zero());
            volumes.insert(volumes.begin() + place, 0.0);
        }
        gradients[static_cast<std::size_t>(place)] += gradient;
        volumes[static_cast<std::size_t>(place)] += volume;
    }
};

/// All edges in the order in which the elements come to them.
std::vector<Edge> edges_of(const FemModelData& d) {
    std::vector<Edge> edges;
    std::unordered_map<std::uint64_t, int> found;
    const auto num_nodes = static_cast<std::uint64_t>(d.mesh.num_vertices());
    const auto num_regions = static_cast<std::uint64_t>(d.materials.size());
    std::vector<int> place_of(d.regions.size());
    for (std::size_t place = 0; place < place_of.size(); ++place)
        place_of[static_cast<std::size_t>(d.blocks.elements[place])] = static_cast<int>(place);
    for (const int element : elements_along_curve(d.mesh)) {
        const int place = place_of[static_cast<std::size_t>(element)];
        const int* const nodes = d.nodes.data() + std::size_t{4} * place;
        const QuadraturePoint& point = d.points[place];
        const Eigen::Matrix<double, 3, 4> gradients =
            point.inverse_jacobian.transpose() * ReferenceElement<4>::get().gradients[0];
        const double share = point.weight / 6;
        const int region = d.regions[place];
        for (const auto& pair : kTetPairs) {
            const auto [low, high] = std::minmax(nodes[pair[0]], nodes[pair[1]]);
            const std::uint64_t key = (static_cast<std::uint64_t>(low) * num_nodes +
                                       static_cast<std::uint64_t>(high)) *
                                          num_regions +
                                      static_cast<std::uint64_t>(region);
            const auto [at, is_new] = found.try_emplace(key, static_cast<int>(edges.size()));
            if (is_new) {
                edges.emplace_back();
                edges.back().ends = {low, high};
                edges.back().region = region;
                edges.back().element = element;
            }
            Edge& edge = edges[static_cast<std::size_t>(at->second)];
            edge.element = std::min(edge.element, element);
            edge.weight += share;
            for (int a = 0; a < 4; ++a) edge.add(nodes[a], share * gradients.col(a), share / 4);
        }
    }
    for (Edge& edge : edges)
        for (Vector3d& g : edge.gradients) g /= edge.weight;
    return edges;
}

/// Blocks of colours of consecutive edges; the `elements` of the answer are edges.
ElementBlocks edge_blocks(const FemModelData& d, const std::vector<Edge>& edges) {
    std::vector<int> order(edges.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
    const auto share = static_cast<unsigned>(edges.size()) / 128U;
    const int per_block = static_cast<int>(std::clamp(std::bit_floor(share), 256U, 1024U));
    return coloured_blocks(d.mesh.num_vertices(), order, per_block, [&](int edge) {
        return std::span<const int>(edges[static_cast<std::size_t>(edge)].nodes);
    });
}

/// The kernels know λ = 0 only; edges that keep another, below zero, are rare.
TetLaw edge_law(const Material& material) {
    if (material.anisotropy || material.lambda < 0) return TetLaw::Scalar;
    switch (material.law) {
        case Law::StVenantKirchhoff: return TetLaw::StVenantKirchhoff;
        case Law::SmallStrain: return TetLaw::SmallStrain;
        case Law::NeoHookean: return TetLaw::NeoHookean;
        case Law::Corotational: break;
    }
    return TetLaw::Corotational;
}

class DomainBuilder {
public:
    explicit DomainBuilder(const FemModelData& d)
        : d_(d),
          edges_(edges_of(d)),
          place_of_node_(static_cast<std::size_t>(d.mesh.num_vertices()), -1),
          out_(std::make_unique<TetDomains>()) {}

    std::unique_ptr<TetDomains> build() {
        TetDomains& o = *out_;
        for (const Material& m : d_.materials) o.edge_materials.push_back(without_dilation_part(m));
        const ElementBlocks blocks = edge_blocks(d_, edges_);
        o.offsets.push_back(0);
        o.blocks.colour_offsets = blocks.colour_offsets;
        for (int block = 0; block < blocks.num_blocks(); ++block) {
            for (int i = blocks.block_offsets[block]; i < blocks.block_offsets[block + 1]; ++i) {
                const int edge = blocks.elements[static_cast<std::size_t>(i)];
                if (!has_room(edge)) close_round();
                for (const int node : edges_[static_cast<std::size_t>(edge)].nodes) {
                    if (place_of_node_[node] >= 0) continue;
                    place_of_node_[node] = static_cast<int>(nodes_.size());
                    nodes_.push_back(node);
                }
                round_.push_back(edge);
            }
            close_round();
            o.round_offsets.push_back(static_cast<int>(o.rounds.size()));
            o.blocks.block_offsets.push_back(o.num_slots());
        }
        make_stars();
        o.no_displacements.assign(3 * d_.mesh.vertices.size(), 0.0);
        return std::move(out_);
    }

private:
    [[nodiscard]] bool has_room(int edge) const {
        std::size_t num_new = 0;
        for (const int node : edges_[static_cast<std::size_t>(edge)].nodes)
            num_new += place_of_node_[node] < 0 ? 1 : 0;
        return round_.empty() ||
               (round_.size() < kMaxRoundDomains && nodes_.size() + num_new <= kMaxRoundNodes);
    }
    [[nodiscard]] const Edge& edge(int e) const { return edges_[static_cast<std::size_t>(e)]; }
    /// Too many nodes for a round: an edge in a very bad mesh.
    [[nodiscard]] TetLaw law_of(int e) const {
        if (edge(e).nodes.size() > kMaxRoundNodes) return TetLaw::Scalar;
        return edge_law(d_.materials[edge(e).region]);
    }

    void close_round() {
        if (round_.empty()) return;
        TetDomains& o = *out_;
        DomainRound round;
        round.first_run = static_cast<int>(o.runs.size());
        round.first_node = static_cast<int>(o.round_nodes.size());
        // in the order of memory
        std::ranges::sort(nodes_);
        const bool is_small = nodes_.size() <= kMaxRoundNodes;
        if (!is_small) {
            for (const int node : nodes_) place_of_node_[node] = -1;
            nodes_.clear();
        }
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            place_of_node_[nodes_[i]] = static_cast<int>(i);
            o.round_nodes.push_back(3 * nodes_[i]);
        }
        round.num_nodes = static_cast<int>(nodes_.size());

        // one run of batches for each law, edges of many nodes first
        std::ranges::stable_sort(round_, [&](int a, int b) {
            if (law_of(a) != law_of(b)) return law_of(a) < law_of(b);
            return edge(a).nodes.size() > edge(b).nodes.size();
        });
        for (auto first = round_.begin(); first != round_.end();) {
            const auto end = std::find_if(first, round_.end(),
                                          [&](int e) { return law_of(e) != law_of(*first); });
            add_run({first, end});
            first = end;
        }
        round.end_run = static_cast<int>(o.runs.size());
        o.rounds.push_back(round);
        for (const int node : nodes_) place_of_node_[node] = -1;
        nodes_.clear();
        round_.clear();
    }

    void add_run(std::span<const int> edges) {
        TetDomains& o = *out_;
        const int first_batch = static_cast<int>(o.batches.size());
        const TetLaw law = law_of(edges[0]);
        constexpr std::size_t kChunk = std::size_t{kDealtBatches} * kTetLanes;
        for (std::size_t first = 0; first < edges.size(); first += kChunk) {
            const auto chunk = edges.subspan(first, std::min(kChunk, edges.size() - first));
            const std::size_t num_batches = (chunk.size() + kTetLanes - 1) / kTetLanes;
            // a lane takes edges that follow each other, so that those of a batch are apart
            for (std::size_t k = 0; k < num_batches; ++k) {
                std::array<int, kTetLanes> lanes;
                for (std::size_t lane = 0; lane < kTetLanes; ++lane) {
                    const std::size_t i = lane * num_batches + k;
                    lanes[lane] = i < chunk.size() ? chunk[i] : -1;
                }
                add_batch(lanes, law);
            }
        }
        o.runs.push_back({law, first_batch, static_cast<int>(o.batches.size())});
    }

    void add_batch(const std::array<int, kTetLanes>& lanes, TetLaw law) {
        TetDomains& o = *out_;
        std::size_t N = 1;
        for (const int e : lanes)
            if (e >= 0) N = std::max(N, edge(e).nodes.size());
        DomainBatch batch;
        batch.num_nodes = static_cast<int>(N);
        batch.first_gradient = static_cast<int>(o.batch_gradients.size());
        batch.first_place = static_cast<int>(o.places.size());
        o.batches.push_back(batch);
        if (law != TetLaw::Scalar) {
            o.places.resize(o.places.size() + N);
            o.batch_gradients.resize(o.batch_gradients.size() + N - 1);
            o.batch_gradients_single.resize(o.batch_gradients.size());
        }
        o.batch_mu.emplace_back();
        o.batch_weight.emplace_back();
        o.batch_mu_single.emplace_back();
        o.batch_weight_single.emplace_back();
        const auto some = *std::ranges::find_if(lanes, [](int e) { return e >= 0; });
        for (int lane = 0; lane < kTetLanes; ++lane) {
            const bool is_edge = lanes[static_cast<std::size_t>(lane)] >= 0;
            if (law != TetLaw::Scalar)
                fill_lane(is_edge ? lanes[static_cast<std::size_t>(lane)] : some, is_edge, batch,
                          lane);
            add_slot(lanes[static_cast<std::size_t>(lane)]);
        }
    }

    void fill_lane(int e, bool is_edge, const DomainBatch& batch, int lane) {
        TetDomains& o = *out_;
        const Edge& from = edge(e);
        const double mu = is_edge ? from.weight * d_.materials[from.region].mu : 0.0;
        const double weight = is_edge ? from.weight : 0.0;
        o.batch_mu.back().v[lane] = mu;
        o.batch_weight.back().v[lane] = weight;
        o.batch_mu_single.back().v[lane] = static_cast<float>(mu);
        o.batch_weight_single.back().v[lane] = static_cast<float>(weight);
        for (int a = 0; a < batch.num_nodes; ++a) {
            const bool is_node = a < static_cast<int>(from.nodes.size());
            const int node = from.nodes[static_cast<std::size_t>(is_node ? a : 0)];
            o.places[static_cast<std::size_t>(batch.first_place + a)].v[lane] =
                static_cast<std::uint16_t>(4 * place_of_node_[node]);
            if (a == 0) continue;
            const auto at = static_cast<std::size_t>(batch.first_gradient + a - 1);
            for (int k = 0; k < 3; ++k) {
                const double g = is_node ? from.gradients[static_cast<std::size_t>(a)][k] : 0.0;
                o.batch_gradients[at].v[k][lane] = g;
                o.batch_gradients_single[at].v[k][lane] = static_cast<float>(g);
            }
        }
    }

    void add_slot(int e) {
        TetDomains& o = *out_;
        if (e >= 0) {
            o.nodes.insert(o.nodes.end(), edge(e).nodes.begin(), edge(e).nodes.end());
            o.gradients.insert(o.gradients.end(), edge(e).gradients.begin(),
                               edge(e).gradients.end());
            o.node_volumes.insert(o.node_volumes.end(), edge(e).volumes.begin(),
                                  edge(e).volumes.end());
        }
        o.offsets.push_back(static_cast<int>(o.nodes.size()));
        o.weights.push_back(e >= 0 ? edge(e).weight : 0.0);
        o.regions.push_back(e >= 0 ? edge(e).region : 0);
        o.blocks.elements.push_back(e >= 0 ? edge(e).element : -1);
        edge_of_slot_.push_back(e);
    }

    /// One for each end and region of the edges, by ascending node.
    void make_stars() {
        TetDomains& o = *out_;
        struct End {
            int node, region, slot, which;
        };
        std::vector<End> ends;
        o.ends.assign(o.weights.size(), {-1, -1});  // −1: none
        for (int slot = 0; slot < o.num_slots(); ++slot) {
            const int e = edge_of_slot_[static_cast<std::size_t>(slot)];
            if (e < 0 || !has_dilation_part(d_.materials[edge(e).region])) continue;
            for (int which = 0; which < 2; ++which)
                ends.push_back({edge(e).ends[static_cast<std::size_t>(which)], edge(e).region, slot,
                                which});
        }
        std::ranges::sort(ends, [](const End& a, const End& b) {
            return std::tie(a.node, a.region, a.slot) < std::tie(b.node, b.region, b.slot);
        });
        o.star_offsets.push_back(0);
        o.star_edge_offsets.push_back(0);
        std::vector<int> nodes;
        for (auto first = ends.begin(); first != ends.end();) {
            const auto end = std::find_if(first, ends.end(), [&](const End& x) {
                return x.node != first->node || x.region != first->region;
            });
            double weight = 0;
            nodes.clear();
            for (auto at = first; at != end; ++at) {
                weight += o.weights[static_cast<std::size_t>(at->slot)] / 2;
                o.star_edges.push_back(at->slot);
                o.ends[static_cast<std::size_t>(at->slot)][static_cast<std::size_t>(at->which)] =
                    o.num_stars();
                const auto of_edge = o.nodes_of(at->slot);
                nodes.insert(nodes.end(), of_edge.begin(), of_edge.end());
            }
            std::ranges::sort(nodes);
            nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
            o.star_nodes.insert(o.star_nodes.end(), nodes.begin(), nodes.end());
            o.star_offsets.push_back(static_cast<int>(o.star_nodes.size()));
            o.star_edge_offsets.push_back(static_cast<int>(o.star_edges.size()));
            o.star_regions.push_back(first->region);
            o.star_lambda.push_back(d_.materials[first->region].lambda);
            o.star_weights.push_back(weight);
            for (auto at = first; at != end; ++at)
                o.star_shares.push_back(o.weights[static_cast<std::size_t>(at->slot)] /
                                        (2 * weight));
            first = end;
        }
        for (auto& of_edge : o.ends)
            for (int& star : of_edge)
                if (star < 0) star = o.num_stars();
        // stars around each node
        const auto n = static_cast<std::size_t>(d_.mesh.num_vertices());
        o.around_offsets.assign(n + 1, 0);
        for (const int node : o.star_nodes) ++o.around_offsets[static_cast<std::size_t>(node) + 1];
        for (std::size_t i = 0; i < n; ++i) o.around_offsets[i + 1] += o.around_offsets[i];
        std::vector<int> next(o.around_offsets.begin(), o.around_offsets.end() - 1);
        o.around_star.resize(o.star_nodes.size());
        o.around_place.resize(o.star_nodes.size());
        for (int star = 0; star < o.num_stars(); ++star) {
            const auto of_star = o.nodes_of_star(star);
            for (std::size_t a = 0; a < of_star.size(); ++a) {
                const auto at = static_cast<std::size_t>(next[static_cast<std::size_t>(of_star[a])]++);
                o.around_star[at] = star;
                o.around_place[at] = static_cast<int>(a);
            }
        }
    }

    const FemModelData& d_;
    std::vector<Edge> edges_;
    std::vector<int> place_of_node_;       ///< in the open round; −1: not there
    std::vector<int> nodes_, round_;       ///< of the open round: nodes and edges
    std::vector<int> edge_of_slot_;
    std::unique_ptr<TetDomains> out_;
};

/// For nodes a, b of each clique, at offset + b N + a: place of a in the block column of b.
void find_slots(const FemModelData& d, const std::vector<int>& offsets,
                const std::vector<int>& nodes, std::vector<int>& slot_offsets,
                std::vector<int>& slots) {
    slot_offsets.assign(1, 0);
    for (std::size_t k = 0; k + 1 < offsets.size(); ++k) {
        const int N = offsets[k + 1] - offsets[k];
        slot_offsets.push_back(slot_offsets.back() + N * N);
    }
    slots.resize(static_cast<std::size_t>(slot_offsets.back()));
    parallel_for(offsets.size() - 1, 64, [&](std::size_t k) {
        int* to = slots.data() + slot_offsets[k];
        for (int b = offsets[k]; b < offsets[k + 1]; ++b) {
            const int* row = d.rows.data() + d.column_offsets[nodes[b]];
            const int* const first = row;
            // both ascend
            for (int a = offsets[k]; a < offsets[k + 1]; ++a) {
                while (*row != nodes[a]) ++row;
                *to++ = static_cast<int>(row - first);
            }
        }
    });
}

}  // namespace

std::unique_ptr<TetDomains> make_tet_domains(const FemModelData& model) {
    return DomainBuilder(model).build();
}

void set_domain_slots(const FemModelData& model, TetDomains& domains) {
    find_slots(model, domains.offsets, domains.nodes, domains.slot_offsets, domains.slots);
    find_slots(model, domains.star_offsets, domains.star_nodes, domains.star_slot_offsets,
               domains.star_slots);
}

DomainScratch make_domain_scratch(const TetDomains& domains) {
    const std::size_t num_batches = domains.batches.size();
    const auto num_stars = static_cast<std::size_t>(domains.num_stars());
    DomainScratch s;
    s.H.resize(num_batches);
    s.dH.resize(num_batches);
    s.H_single.resize(num_batches);
    for (auto& theta : s.theta) theta.resize(num_batches);
    s.theta_single.resize(num_batches);
    for (auto& pressure : s.pressure) pressure.resize(num_stars + 1, 0.0);
    const auto num_blocks = static_cast<std::size_t>(domains.blocks.num_blocks());
    s.of_block.resize(num_blocks);
    s.det_of_block.resize(num_blocks);
    s.element_of_block.resize(num_blocks);
    s.node_gradients.resize(domains.star_nodes.size());
    return s;
}

}  // namespace pliant
