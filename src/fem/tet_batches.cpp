#include "fem/tet_batches.h"

#include "fem/fem_model_data.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace pliant {
namespace {

TetLaw tet_law(const Material& material) {
    if (material.anisotropy) return TetLaw::Scalar;
    switch (material.law) {
        case Law::StVenantKirchhoff: return TetLaw::StVenantKirchhoff;
        case Law::SmallStrain: return TetLaw::SmallStrain;
        case Law::NeoHookean: return TetLaw::NeoHookean;
        case Law::Corotational: break;
    }
    return TetLaw::Corotational;
}

/// One element of a round, nodes in ascending order.
struct RoundTet {
    int place;
    std::array<int, 4> corners;  ///< node a of this one is node corners[a] of the mesh's
    std::array<int, 4> nodes;    ///< in the round
    std::array<int, 6> pairs;    ///< in the round
};

class TetBatchBuilder {
public:
    explicit TetBatchBuilder(const FemModelData& d)
        : d_(d),
          place_of_node_(static_cast<std::size_t>(d.mesh.num_vertices()), -1),
          place_of_pair_(static_cast<std::size_t>(kMaxRoundNodes) * kMaxRoundNodes, -1),
          is_seen_(place_of_node_.size(), 0),
          is_paired_(d.rows.size(), 0) {}

    TetBatches build() {
        for (int block = 0; block < d_.blocks.num_blocks(); ++block) {
            for (int place = d_.blocks.block_offsets[block];
                 place < d_.blocks.block_offsets[block + 1]; ++place) {
                if (!has_room()) close_round();
                add(place);
            }
            close_round();
            batches_.round_offsets.push_back(static_cast<int>(batches_.rounds.size()));
        }
        return std::move(batches_);
    }

private:
    [[nodiscard]] bool has_room() const {
        return tets_.size() < kMaxRoundTets && nodes_.size() + 4 <= kMaxRoundNodes &&
               pairs_.size() + 6 <= kMaxRoundPairs;
    }

    void add(int place) {
        RoundTet tet;
        tet.place = place;
        const int* const nodes = d_.nodes.data() + std::size_t{4} * place;
        tet.corners = {0, 1, 2, 3};
        std::ranges::sort(tet.corners, [&](int a, int b) { return nodes[a] < nodes[b]; });
        for (int a = 0; a < 4; ++a) {
            const int node = nodes[tet.corners[a]];
            if (place_of_node_[node] < 0) {
                place_of_node_[node] = static_cast<int>(nodes_.size());
                nodes_.push_back({node, place, tet.corners[a]});
            }
            tet.nodes[a] = place_of_node_[node];
        }
        for (int k = 0; k < 6; ++k) {
            const int a = kTetPairs[k][0], b = kTetPairs[k][1];
            int& pair = place_of_pair_[tet.nodes[a] * kMaxRoundNodes + tet.nodes[b]];
            if (pair < 0) {
                pair = static_cast<int>(pairs_.size());
                pairs_.push_back(
                    {tet.nodes[a], tet.nodes[b], place, tet.corners[a], tet.corners[b]});
            }
            tet.pairs[k] = pair;
        }
        tets_.push_back(tet);
    }

    /// Place of the block (a, b) of an element's nodes among all blocks of K.
    [[nodiscard]] int block_of(int place, int a, int b) const {
        const int column = d_.nodes[std::size_t{4} * place + b];
        return d_.column_offsets[column] + d_.slots[(std::size_t{4} * place + b) * 4 + a];
    }
    /// Where that block starts in the values of K.
    [[nodiscard]] int value_of(int place, int a, int b) const {
        const int column = d_.nodes[std::size_t{4} * place + b];
        const int slot = d_.slots[(std::size_t{4} * place + b) * 4 + a];
        return static_cast<int>(d_.value_index(column, slot));
    }
    [[nodiscard]] int stride_of(int place, int b) const {
        return d_.column_height(d_.nodes[std::size_t{4} * place + b]);
    }

    void close_round() {
        if (tets_.empty()) return;
        TetRound round;
        round.num_nodes = static_cast<int>(nodes_.size());
        round.num_pairs = static_cast<int>(pairs_.size());
        round.first_node = static_cast<int>(batches_.round_nodes.size());
        round.first_pair = static_cast<int>(batches_.pair_targets.size());
        round.first_run = static_cast<int>(batches_.runs.size());

        // new ones first, then in the order of the matrix
        std::vector<int> order(nodes_.size()), new_place(nodes_.size());
        std::iota(order.begin(), order.end(), 0);
        std::ranges::sort(order, [&](int x, int y) {
            const int node_x = nodes_[x].node, node_y = nodes_[y].node;
            return is_seen_[node_x] != is_seen_[node_y] ? is_seen_[node_x] < is_seen_[node_y]
                                                        : node_x < node_y;
        });
        round.num_new_nodes = 0;
        for (int i = 0; i < round.num_nodes; ++i) {
            const Node& n = nodes_[order[i]];
            new_place[order[i]] = i;
            batches_.round_nodes.push_back(3 * n.node);
            batches_.node_targets.push_back({static_cast<int>(d_.value_index(n.node, 0)),
                                             d_.column_height(n.node),
                                             value_of(n.place, n.corner, n.corner)});
            round.num_new_nodes += is_seen_[n.node] == 0;
            is_seen_[n.node] = 1;
        }
        for (RoundTet& tet : tets_)
            for (int& node : tet.nodes) node = new_place[node];

        order.resize(pairs_.size());
        new_place.resize(pairs_.size());
        std::iota(order.begin(), order.end(), 0);
        const auto block = [&](int k) {
            return block_of(pairs_[k].place, pairs_[k].a, pairs_[k].b);
        };
        std::ranges::sort(order, [&](int x, int y) {
            const int block_x = block(x), block_y = block(y);
            return is_paired_[block_x] != is_paired_[block_y]
                       ? is_paired_[block_x] < is_paired_[block_y]
                       : block_x < block_y;
        });
        round.num_new_pairs = 0;
        for (int i = 0; i < round.num_pairs; ++i) {
            const Pair& p = pairs_[order[i]];
            new_place[order[i]] = i;
            char& is_paired = is_paired_[block(order[i])];
            round.num_new_pairs += is_paired == 0;
            is_paired = 1;
            batches_.pair_targets.push_back({value_of(p.place, p.a, p.b), stride_of(p.place, p.b),
                                             value_of(p.place, p.b, p.a), stride_of(p.place, p.a)});
        }
        for (RoundTet& tet : tets_)
            for (int& pair : tet.pairs) pair = new_place[pair];

        // one run of batches for each law
        std::ranges::stable_sort(
            tets_, [&](const RoundTet& a, const RoundTet& b) { return law_of(a) < law_of(b); });
        for (auto first = tets_.begin(); first != tets_.end();) {
            const auto end = std::find_if(
                first, tets_.end(), [&](const RoundTet& t) { return law_of(t) != law_of(*first); });
            add_run(&*first, static_cast<int>(end - first));
            first = end;
        }
        round.end_run = static_cast<int>(batches_.runs.size());
        batches_.rounds.push_back(round);

        for (const Node& n : nodes_) place_of_node_[n.node] = -1;
        for (const Pair& p : pairs_) place_of_pair_[p.p * kMaxRoundNodes + p.q] = -1;
        tets_.clear();
        nodes_.clear();
        pairs_.clear();
    }

    [[nodiscard]] TetLaw law_of(const RoundTet& tet) const {
        return tet_law(d_.materials[d_.regions[tet.place]]);
    }

    void add_run(const RoundTet* tets, int count) {
        const int first = static_cast<int>(batches_.shapes.size());
        const int num_batches = (count + kTetLanes - 1) / kTetLanes;
        batches_.runs.push_back({law_of(tets[0]), first, first + num_batches});
        batches_.shapes.resize(first + num_batches);
        batches_.shapes_single.resize(first + num_batches);
        batches_.nodes.resize(first + num_batches);
        batches_.pairs.resize(first + num_batches);
        batches_.element_places.resize(static_cast<std::size_t>(first + num_batches) * kTetLanes,
                                       -1);
        // A lane takes elements that follow each other, so that the lanes of a batch come from
        // different corners of the round and seldom wait for each other's sums.
        const int num_long = count - (num_batches - 1) * kTetLanes;  // lanes with a last element
        int next = 0;
        for (int lane = 0; lane < kTetLanes; ++lane) {
            const int length = num_batches - (lane < num_long ? 0 : 1);
            for (int k = 0; k < length; ++k) {
                fill_lane(tets[next], first + k, lane, 1.0);
                batches_.element_places[static_cast<std::size_t>(first + k) * kTetLanes + lane] =
                    tets[next++].place;
            }
        }
        for (int lane = num_long; lane < kTetLanes; ++lane)
            fill_lane(tets[num_batches - 1], first + num_batches - 1, lane, 0.0);
    }

    void fill_lane(const RoundTet& tet, int batch, int lane, double stiffness) {
        const QuadraturePoint& point = d_.points[tet.place];
        const Material& material = d_.materials[d_.regions[tet.place]];
        const Eigen::Matrix<double, 3, 4> gradients =
            point.inverse_jacobian.transpose() * ReferenceElement<4>::get().gradients[0];
        const auto fill = [&](auto& shapes) {
            using T = std::remove_reference_t<decltype(shapes.lambda[0])>;
            for (int a = 0; a < 3; ++a)
                for (int k = 0; k < 3; ++k)
                    shapes.gradients[a][k][lane] = static_cast<T>(gradients(k, tet.corners[a + 1]));
            shapes.lambda[lane] = static_cast<T>(stiffness * point.weight * material.lambda);
            shapes.mu[lane] = static_cast<T>(stiffness * point.weight * material.mu);
        };
        fill(batches_.shapes[batch]);
        fill(batches_.shapes_single[batch]);
        for (int a = 0; a < 4; ++a)
            batches_.nodes[batch].places[a][lane] = static_cast<std::uint16_t>(4 * tet.nodes[a]);
        for (int k = 0; k < 6; ++k)
            batches_.pairs[batch].places[k][lane] = static_cast<std::uint16_t>(tet.pairs[k]);
    }

    struct Node {
        int node, place, corner;
    };
    struct Pair {
        int p, q;         ///< in the round
        int place, a, b;  ///< an element with this pair, and its corners there
    };

    const FemModelData& d_;
    TetBatches batches_;
    std::vector<int> place_of_node_, place_of_pair_;  ///< in the open round; −1: not there
    std::vector<char> is_seen_, is_paired_;           ///< nodes and blocks of K that some round has
    std::vector<RoundTet> tets_;
    std::vector<Node> nodes_;
    std::vector<Pair> pairs_;
};

}  // namespace

TetBatches make_tet_batches(const FemModelData& model) { return TetBatchBuilder(model).build(); }

}  // namespace pliant
