#pragma once

#include "fem/element_blocks.h"
#include "fem/tet_batches.h"
#include "fem/tet_lanes.h"
#include "pliant/fem/material.h"

#include <Eigen/Core>
#include <array>
#include <atomic>
#include <memory>
#include <span>

/// Tet4 elements that do not lock, docs/fem.md section "Tet4 elements that do not lock". The
/// gradient of an edge is the mean over its tetrahedra, each of which gives a sixth of its volume
/// V_e s_e; the dilation of a node is the mean over its edges, each of which gives half its volume,
/// a quarter of each tetrahedron in sum:
///     H̃_i = Σ_e V_e s_e H_e / (6 V_i),    V_i = Σ_e V_e s_e / 6                               (W1)
///     θ̄_n = Σ_i V_i θ(I + H̃_i) / (2 V_n),  V_n = Σ_i V_i / 2                                  (W2)
///     W = Σ_i V_i w₀(I + H̃_i) + Σ_n V_n λ/2 θ̄_n²                                              (W3)
/// with w₀ and θ of material_dilation.h. Where materials meet each has edges and nodes of its own,
/// so that every mean is over one material.
namespace pliant {

struct FemModelData;

inline constexpr int kMaxRoundDomains = 512;

struct DomainRound {
    int first_run, end_run;
    int first_node, num_nodes;
};

/// What one evaluation finds on the way; each thread that calls the model has one.
struct DomainScratch {
    std::vector<LaneMatrices<double>> H, dH;
    std::vector<LaneMatrices<float>> H_single;
    /// Of edges: θ and changes of it. Of nodes: pressures λ θ̄ and changes of them.
    std::vector<LaneNumbers<double>> theta[4];
    std::vector<LaneNumbers<float>> theta_single;
    std::vector<double> pressure[4];  ///< and a zero at the end
    std::vector<double> of_block, det_of_block;
    std::vector<int> element_of_block;
    std::vector<Eigen::Vector3d> node_gradients;  ///< √(λ V_n) ∂θ̄_n/∂u, by TetDomains::star_nodes
};

/// Edges are called by their slots: lanes of batches, of which some stay empty (no node).
struct TetDomains {
    // edges
    ElementBlocks blocks;      ///< of slots, a multiple of 8 in each; `elements`: the lowest
    std::vector<int> offsets;  ///< of each slot's first node
    std::vector<int> nodes;    ///< ascending
    std::vector<Eigen::Vector3d> gradients;  ///< ∂H̃/∂u of each of these nodes
    std::vector<double> node_volumes;        ///< V_e s_e / 24 of the tetrahedra of each of them
    std::vector<double> weights;             ///< V_i; 0: empty slot
    std::vector<int> regions;
    /// Stars of the two ends; num_stars(), without pressure, where the edge takes all.
    std::vector<std::array<int, 2>> ends;
    std::vector<int> slots;  ///< of the blocks (a, b) of an edge at slot_offsets + b N + a
    std::vector<int> slot_offsets;

    // the stars of the nodes, of regions with a dilation part
    std::vector<double> star_weights;
    std::vector<double> star_lambda;
    std::vector<int> star_regions;
    std::vector<int> star_edge_offsets, star_edges;  ///< slots
    std::vector<double> star_shares;                 ///< V_i / 2 V_n of each of these
    std::vector<int> star_offsets, star_nodes;       ///< nodes of the star, ascending
    std::vector<int> star_slots, star_slot_offsets;  ///< as those of edges
    /// Stars that each node is in, ascending, and its place among their nodes.
    std::vector<int> around_offsets, around_star, around_place;

    std::vector<double> no_displacements;  ///< of all unknowns

    // layout for the kernels
    std::vector<Material> edge_materials;  ///< of w₀, by region
    std::vector<TetRun> runs;
    std::vector<DomainRound> rounds;
    std::vector<int> round_offsets{0};
    std::vector<int> round_nodes;  ///< 3 × node
    std::vector<DomainBatch> batches;
    std::vector<LanePlaces> places;
    std::vector<LaneVectors<double>> batch_gradients;
    std::vector<LaneVectors<float>> batch_gradients_single;
    std::vector<LaneNumbers<double>> batch_mu, batch_weight;
    std::vector<LaneNumbers<float>> batch_mu_single, batch_weight_single;

    [[nodiscard]] int num_slots() const noexcept { return static_cast<int>(weights.size()); }
    [[nodiscard]] int num_stars() const noexcept { return static_cast<int>(star_weights.size()); }
    [[nodiscard]] std::span<const int> nodes_of(int slot) const noexcept {
        return {nodes.data() + offsets[slot], nodes.data() + offsets[slot + 1]};
    }
    [[nodiscard]] std::span<const Eigen::Vector3d> gradients_of(int slot) const noexcept {
        return {gradients.data() + offsets[slot], gradients.data() + offsets[slot + 1]};
    }
    [[nodiscard]] std::span<const int> nodes_of_star(int star) const noexcept {
        return {star_nodes.data() + star_offsets[star], star_nodes.data() + star_offsets[star + 1]};
    }
    [[nodiscard]] std::span<const int> edges_of_star(int star) const noexcept {
        return {star_edges.data() + star_edge_offsets[star],
                star_edges.data() + star_edge_offsets[star + 1]};
    }
};

[[nodiscard]] DomainScratch make_domain_scratch(const TetDomains& domains);

/// Scratch for those who call: one is kept, so that one caller at a time allocates nothing.
class DomainScratchPool {
public:
    explicit DomainScratchPool(const TetDomains& domains)
        : domains_(domains), kept_(new DomainScratch(make_domain_scratch(domains))) {}
    DomainScratchPool(const DomainScratchPool&) = delete;
    DomainScratchPool& operator=(const DomainScratchPool&) = delete;
    ~DomainScratchPool() { delete kept_.load(); }

    class Lease {
    public:
        explicit Lease(DomainScratchPool& pool)
            : pool_(pool), scratch_(pool.kept_.exchange(nullptr)) {
            if (scratch_ == nullptr) scratch_ = new DomainScratch(make_domain_scratch(pool.domains_));
        }
        Lease(const Lease&) = delete;
        Lease& operator=(const Lease&) = delete;
        ~Lease() {
            DomainScratch* none = nullptr;
            if (!pool_.kept_.compare_exchange_strong(none, scratch_)) delete scratch_;
        }
        [[nodiscard]] DomainScratch& operator*() const noexcept { return *scratch_; }

    private:
        DomainScratchPool& pool_;
        DomainScratch* scratch_;
    };

private:
    const TetDomains& domains_;
    std::atomic<DomainScratch*> kept_;
};

/// From the mesh, materials, blocks, regions and points of a model of Tet4 elements. Slots of the
/// matrix are left to set_domain_slots().
[[nodiscard]] std::unique_ptr<TetDomains> make_tet_domains(const FemModelData& model);
/// From the pattern of K, which holds all pairs of nodes of every edge and star.
void set_domain_slots(const FemModelData& model, TetDomains& domains);

}  // namespace pliant
