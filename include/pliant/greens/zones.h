#pragma once

#include "pliant/greens/greens_model.h"
#include "pliant/greens/seam_system.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace pliant {

/// Elements of Green's functions in double precision, from a source that has them; those that are
/// stored have single. Blocks of three, nondimensional, as GreensFunctions.
class PreciseElements {
public:
    virtual ~PreciseElements() = default;
    virtual void element(int i, int j, double* values) const noexcept = 0;  ///< by rows
    virtual void body_element(int i, int k, double* values) const noexcept = 0;
};

/// A zone with Green's functions, docs/greens-zones.md eq. (2). Its seam nodes are all displaced by
/// its reference problem, or all free in one that holds the zone by itself. Loads may be anywhere
/// off the seams. Calls marked noexcept allocate nothing.
class GreensZone final : public SeamResponse {
public:
    static constexpr int kMaxSeamNodes = 1024, kMaxLoads = 256;

    /// Throws InputError, naming `name`, for seam nodes that are not there, without a column, twice
    /// or of both kinds, and for free seam nodes of a zone that its supports do not hold.
    GreensZone(const ReferenceProblem& reference, std::vector<int> seam_nodes,
               const std::string& name = "",
               std::shared_ptr<const PreciseElements> precise = nullptr);

    [[nodiscard]] const std::vector<int>& seam_nodes() const noexcept { return seam_nodes_; }
    [[nodiscard]] bool is_displaced() const noexcept { return is_displaced_; }
    [[nodiscard]] const ReferenceProblem& reference() const noexcept { return reference_; }
    /// Place of a node among the seam nodes, −1: none.
    [[nodiscard]] int seam_place(int node) const noexcept {
        return seam_place_[static_cast<std::size_t>(node)];
    }

    /// Tractions [Pa] of free nodes and displacements [m] of fixed ones that are no seam nodes, in
    /// the axes of the zone, by ids of columns (coarser functions, too); free seam nodes may be
    /// loaded, too. False: not finite, no column, a displaced seam node or too many; the old ones
    /// stay.
    bool set_loads(std::span<const int> columns, std::span<const Eigen::Vector3d> values) noexcept;
    /// Nondimensional, as for CapacitanceSolver.
    bool set_body_loads(std::span<const double> parameters) noexcept;

    [[nodiscard]] std::span<const Eigen::Vector3d> seam_positions() const noexcept override {
        return positions_;
    }
    [[nodiscard]] Eigen::MatrixXd seam_stiffness() const override { return K_; }
    void seam_forces(const Eigen::VectorXd& u, Eigen::VectorXd& f) const noexcept override;
    /// Displacements per force on the seam nodes [m/N]; of free seam nodes only.
    [[nodiscard]] Eigen::MatrixXd seam_compliance() const;
    /// Displacements [m] that the loads give free seam nodes that no other zone holds.
    [[nodiscard]] const Eigen::VectorXd& free_displacements() const noexcept { return held_; }

    /// What comes out at a node when the seam nodes are displaced by `u` [m]: displacement [m] of
    /// free nodes and seam nodes, traction [Pa] of the other fixed ones.
    [[nodiscard]] Eigen::Vector3d unknown(int node, const Eigen::VectorXd& u) const noexcept;
    /// Values of the reference problem at the seam nodes with which it has that solution,
    /// nondimensional.
    void seam_known(const Eigen::VectorXd& u, Eigen::VectorXd& known) const noexcept;
    /// held(j) = forces that hold the seam nodes at rest (displaced ones, [N]) or their
    /// displacements (free ones, [m]) for unit nondimensional values of node j, or of β_j; three
    /// columns, or one.
    [[nodiscard]] Eigen::MatrixXd held_by(int node) const;
    [[nodiscard]] Eigen::VectorXd held_by_body(int k) const;
    /// Forces [N] on the seam nodes, K u + f̂, for what held_by gives.
    void forces_of(const Eigen::VectorXd& held, const Eigen::VectorXd& u,
                   Eigen::VectorXd& f) const noexcept;
    /// As seam_known, for what held_by gives.
    void known_of(const Eigen::VectorXd& held, const Eigen::VectorXd& u,
                  Eigen::VectorXd& known) const noexcept;

private:
    [[nodiscard]] Eigen::Matrix3d block(int i, int j) const noexcept;
    [[nodiscard]] Eigen::Vector3d body_block(int i, int k) const noexcept;
    void check(const std::string& name);
    [[nodiscard]] bool moves_seam(int column) const noexcept;
    void hold_loads() noexcept;
    /// What a nondimensional unknown of a seam node is in `held`.
    [[nodiscard]] double held_unit(int place) const noexcept;

    ReferenceProblem reference_;
    std::vector<int> seam_nodes_, seam_place_;
    std::shared_ptr<const PreciseElements> precise_;
    bool is_displaced_ = true;
    std::vector<Eigen::Vector3d> positions_;
    Eigen::MatrixXd K_;
    std::vector<int> load_nodes_;
    std::vector<Eigen::Vector3d> load_values_;  // nondimensional
    std::vector<double> body_values_;
    Eigen::VectorXd held_;                // by all loads
    mutable Eigen::VectorXd difference_;  // of free seam nodes: one thread at a time
};

/// Part of a body: a model with Green's functions, or anything else with an interface response.
struct Zone {
    std::string name;
    std::shared_ptr<const GreensModel> model;      ///< or null:
    std::shared_ptr<const SeamResponse> response;  ///< all of its nodes are seam nodes
    Pose pose;                                     ///< of its frame at rest, where the seams match
    std::shared_ptr<const PreciseElements> precise = nullptr;  ///< of `model`
};
/// Nodes of two zones that are one, pair by pair: of models, or places of responses.
struct ZoneSeam {
    int zone_a = 0, zone_b = 0;
    std::vector<int> nodes_a, nodes_b;
};

/// Pairs of nodes at the same place at rest, for every two zones that have some. `tolerance` times
/// the size of the smaller zone. Throws InputError when a displaced node of a zone is nearer to a
/// surface of another than its nodes are to each other, without a partner: the meshes differ.
[[nodiscard]] std::vector<ZoneSeam> find_seams(std::span<const Zone> zones,
                                               double tolerance = 1e-6);
/// Which of the vertices, in the frame of a pose, are at nodes of zones with Green's functions:
/// the seam of a zone of another kind that is to be made. `tolerance` times the size of them all.
[[nodiscard]] std::vector<int> vertices_at_nodes(std::span<const Eigen::Vector3d> vertices,
                                                 const Pose& pose, std::span<const Zone> zones,
                                                 double tolerance = 1e-6);

/// A body of zones bonded at their seams; docs/greens-zones.md. Loads in any zone, frames anywhere.
/// What a single model offers it offers as `posed()` for one pose. One thread at a time; nothing
/// marked noexcept allocates.
class ZonedModel {
public:
    /// Throws InputError as GreensZone and SeamSystem do.
    ZonedModel(std::vector<Zone> zones, const std::vector<ZoneSeam>& seams,
               SeamSystemOptions options = {});

    [[nodiscard]] int num_zones() const noexcept { return static_cast<int>(zones_.size()); }
    [[nodiscard]] const Zone& zone(int z) const noexcept {
        return zones_[static_cast<std::size_t>(z)];
    }
    /// Null for zones of another kind.
    [[nodiscard]] GreensZone* greens(int z) noexcept {
        return greens_[static_cast<std::size_t>(z)].get();
    }
    [[nodiscard]] const GreensZone* greens(int z) const noexcept {
        return greens_[static_cast<std::size_t>(z)].get();
    }
    [[nodiscard]] SeamSystem& seams() noexcept { return *seams_; }
    [[nodiscard]] const SeamSystem& seams() const noexcept { return *seams_; }

    /// As those of seams(); loads are those of the zones. Gravity [m/s²] in the world.
    SeamSystem::Status set_poses(std::span<const Pose> poses) noexcept {
        return seams_->set_poses(poses);
    }
    void set_gravity(const Eigen::Vector3d& g) noexcept;
    SeamSystem::Status solve(std::span<const Eigen::Vector3d> external = {}) noexcept {
        return seams_->solve(external);
    }
    /// Of a node of a zone with Green's functions, from the last solve, axes of the zone: as
    /// GreensZone::unknown.
    [[nodiscard]] Eigen::Vector3d unknown(int zone, int node) const noexcept {
        return greens(zone)->unknown(node, seams_->displacements(zone));
    }
    /// In the world, displaced.
    [[nodiscard]] Eigen::Vector3d position(int zone, int node) const noexcept;

    /// First node of a zone in posed(); those of zones of another kind are left out.
    [[nodiscard]] int first_node(int zone) const noexcept {
        return first_node_[static_cast<std::size_t>(zone)];
    }
    /// All zones as one body in their poses of now, at rest as the last solve left them: what a
    /// contact, a hand or a picture takes for a single model. Nodes of zones follow each other; the
    /// second side of a seam follows the first and has no columns. The surface is closed over the
    /// seams where zones have one node for each vertex. Keeps nothing of this object.
    [[nodiscard]] GreensModel posed() const;

private:
    std::vector<Zone> zones_;
    std::vector<std::shared_ptr<GreensZone>> greens_;
    std::unique_ptr<SeamSystem> seams_;
    std::vector<ZoneSeam> node_seams_;
    std::vector<int> first_node_;
};

/// Green's functions of bonded zones in one pose, in the axes of the world: those of the zones,
/// and corrections through the displacements of the seams, docs/greens-zones.md eq. (7), computed
/// once for every column. Elements take O(seam nodes), sums the columns of the zones and those of
/// their seam nodes.
class ZonedGreensFunctions final : public GreensFunctions {
public:
    /// Nondimensional by `length` and `modulus`; body columns are gravity for `density`.
    ZonedGreensFunctions(const ZonedModel& model, double length, double modulus, double density,
                         std::span<const double> seam_areas);

    [[nodiscard]] int num_nodes() const noexcept override { return num_nodes_; }
    [[nodiscard]] int block() const noexcept override { return 3; }
    [[nodiscard]] bool has_column(int node) const noexcept override {
        return node >= 0 && node < num_nodes_ && column_[static_cast<std::size_t>(node)] >= 0;
    }
    void element(int i, int j, float* values) const noexcept override;
    /// Memory for it is kept by each thread from its first call on: in a step use sums.
    void add_columns(std::span<const int> nodes, std::span<const float> weights,
                     std::span<float> out) const noexcept override;
    [[nodiscard]] int num_body_columns() const noexcept override { return num_body_columns_; }
    void body_element(int i, int k, float* values) const noexcept override;
    void add_body_columns(std::span<const float> weights,
                          std::span<float> out) const noexcept override;
    // Sums are those of the zones, one after the other, each with displacements of its seam nodes:
    // coefficients where a zone is compressed, which is transformed once when the field is read.
    [[nodiscard]] std::size_t sum_size(int num_nodes) const noexcept override;
    void accumulate(std::span<const int> nodes, std::span<const float> weights,
                    std::span<const float> body_weights, int num_nodes, std::span<float> sum,
                    SummedRows rows = SummedRows::All) const noexcept override;
    [[nodiscard]] std::span<const float> field(std::span<const float> sum, int num_nodes,
                                               std::span<float> scratch) const noexcept override;
    void row_of_sum(std::span<const float> sum, int node, float* values) const noexcept override;
    /// Where that of a zone does.
    [[nodiscard]] bool prefers_sums() const noexcept override { return prefers_sums_; }
    [[nodiscard]] int num_readouts() const noexcept override { return 0; }
    void add_readouts(std::span<const int>, std::span<const float>,
                      std::span<float>) const noexcept override {}
    void add_body_readouts(std::span<const float>, std::span<float>) const noexcept override {}
    /// Of the corrections.
    [[nodiscard]] std::size_t num_bytes() const noexcept;

private:
    struct ZonePart {
        std::shared_ptr<const GreensFunctions> functions;
        std::vector<NodeKind> kinds;
        std::vector<int> seam_nodes;
        std::vector<int> seam_place;           // of each node, −1: none
        Eigen::Matrix3f turn;                  // to the world
        float displacement = 1, traction = 1;  // units of the zone over those of the whole
        float weight = 1;                      // of gravity along the axes of the zone
        int first = 0, size = 0;               // nodes
        // values of the seam nodes for each scalar column, 3 seam nodes rows: knowns of the
        // reference problem, displacements (empty: the same)
        Eigen::MatrixXf known, moved;
        [[nodiscard]] const Eigen::MatrixXf& displacements() const noexcept {
            return moved.size() ? moved : known;
        }
    };
    [[nodiscard]] int zone_of(int node) const noexcept;
    [[nodiscard]] Eigen::Vector3f to_zone(const ZonePart& zone, int node,
                                          const float* weights) const noexcept;
    [[nodiscard]] Eigen::Vector3f to_whole(const ZonePart& zone, int node,
                                           const Eigen::Vector3f& value) const noexcept;
    [[nodiscard]] int num_rows(const ZonePart& zone, int num_nodes) const noexcept;
    [[nodiscard]] std::size_t zone_size(const ZonePart& zone, int num_nodes) const noexcept;
    void sum_seams(const Eigen::MatrixXf& columns, std::span<const int> nodes,
                   std::span<const float> weights, std::span<const float> gravity,
                   Eigen::Map<Eigen::VectorXf> total) const noexcept;
    void add_sum(std::span<const int> nodes, std::span<const float> weights,
                 std::span<const float> body_weights, std::span<float> out) const noexcept;

    std::vector<ZonePart> zones_;
    int num_nodes_ = 0, num_columns_ = 0, num_body_columns_ = 0;
    bool prefers_sums_ = false;
    std::vector<int> column_;  // of each node: place of its first scalar column, −1: none
};

}  // namespace pliant
