#pragma once

#include "pliant/core/pose.h"
#include "pliant/greens/seam_response.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace pliant {

/// Nodes that two zones share, pair by pair: places in the seam_positions() of each.
struct SeamPairs {
    int zone_a = 0, zone_b = 0;
    std::vector<int> nodes_a, nodes_b;
};

struct SeamSystemOptions {
    /// Pairs of nodes may be so far apart in the rest poses, times the size of the seam.
    double match_tolerance = 1e-6;
    int max_iterations = 8;   ///< of Newton's method; linear zones take one
    double tolerance = 1e-9;  ///< of the imbalance, times the largest force, where it is iterated
    std::vector<std::string> names = {};  ///< of zones, in messages; empty: their numbers
};

/// Zones bonded at their seams, each in a frame of its own that moves rigidly and as far as it
/// likes; docs/greens-zones.md eqs. (3)–(6). Unknown are the displacements of the seam nodes; nodal
/// forces balance. Chains are block tridiagonal, trees have no fill, any graph works. Everything is
/// sized at construction: no call after it allocates or throws.
class SeamSystem {
public:
    enum class Status : std::uint8_t {
        Solved,
        NotConverged,  ///< nonlinear zones: still out of balance, but not more than before
        Singular,      ///< something can move freely in these poses: the last solution stays
        BadInput,      ///< not finite, or another number of values: nothing has changed
    };

    /// Throws InputError for seams that do not match (numbers of nodes, first pair that is apart
    /// and its distance), nodes in no seam or in two, and zones that nothing holds: how many rigid
    /// motions are left and of which zones.
    SeamSystem(std::vector<std::shared_ptr<const SeamResponse>> zones, std::vector<SeamPairs> seams,
               std::span<const Pose> rest_poses, const SeamSystemOptions& options = {});

    [[nodiscard]] int num_zones() const noexcept { return static_cast<int>(zones_.size()); }
    [[nodiscard]] int num_seams() const noexcept { return static_cast<int>(seams_.size()); }
    [[nodiscard]] const SeamPairs& seam(int s) const noexcept;
    [[nodiscard]] const SeamResponse& zone(int z) const noexcept { return *zones_[at(z)].response; }
    [[nodiscard]] const Pose& pose(int z) const noexcept { return zones_[at(z)].pose; }
    [[nodiscard]] int num_unknowns() const noexcept { return static_cast<int>(w_.size()); }

    /// Frames in the world. Only what depends on a relative rotation that has changed is factored
    /// again.
    Status set_poses(std::span<const Pose> poses) noexcept;
    /// `external` forces on the seam nodes [N], axes of zone a, all seams one after the other;
    /// empty: none. Asks every zone for its forces.
    Status solve(std::span<const Eigen::Vector3d> external = {}) noexcept;

    /// What the next solve goes on from, where zones are not linear, and the rotations that A was
    /// made for.
    [[nodiscard]] int state_size() const noexcept;
    void save_state(std::span<double> state) const noexcept;
    /// In the poses of then; goes on to the bit. BadInput: nothing has changed.
    Status restore_state(std::span<const Pose> poses, std::span<const double> state) noexcept;
    /// As constructed, for the next set_poses.
    void reset() noexcept;

    /// Of the last solution: displacements of the seam nodes of a zone in its axes [m].
    [[nodiscard]] const Eigen::VectorXd& displacements(int zone) const noexcept {
        return zones_[at(zone)].u;
    }
    /// Largest distance between the two sides of a seam, both displaced [m].
    [[nodiscard]] double largest_gap() const noexcept;

    // Linear changes about the solution, for Green's functions of the whole.
    /// r += the share of forces `f` on the seam nodes of a zone in the balance of the seams.
    void gather(int zone, const Eigen::VectorXd& f, Eigen::VectorXd& r) const noexcept;
    /// A w = r, in place.
    void solve_in_place(Eigen::VectorXd& r) const noexcept;
    /// Displacements of the seam nodes of a zone for unknowns w; without the gap of the poses.
    void spread(int zone, const Eigen::VectorXd& w, Eigen::VectorXd& u) const noexcept;
    /// A, whole: for tests and reports.
    [[nodiscard]] Eigen::MatrixXd matrix() const;

    /// Of the last set_poses.
    struct Report {
        int num_blocks = 0, assembled = 0;   ///< of A; of these, computed anew
        int num_pivots = 0, refactored = 0;  ///< seams; of these, eliminated anew
        int iterations = 0;                  ///< of the last solve
        double seconds = 0;                  ///< of assembly and elimination
    };
    [[nodiscard]] const Report& report() const noexcept { return report_; }

private:
    using Matrix3 = Eigen::Matrix3d;
    static constexpr std::size_t at(int i) noexcept { return static_cast<std::size_t>(i); }
    struct ZoneSeam {
        int seam = 0;
        bool is_b = false;
        const std::vector<int>* nodes = nullptr;  // places of this side
    };
    struct ZoneData {
        std::shared_ptr<const SeamResponse> response;
        Eigen::MatrixXd K;
        std::vector<ZoneSeam> sides;
        Pose pose;
        Eigen::VectorXd u, f;
    };
    struct SeamData {
        SeamPairs pairs;
        int first = 0, size = 0;         // unknowns
        Matrix3 turn;                    // vectors of zone a in the axes of b
        std::vector<Eigen::Vector3d> g;  // gap of the poses, axes of b, eq. (3)
        bool has_turned = true;          // since the last elimination
        int pivot = 0;                   // place in the order of elimination
    };
    /// A block of A and what elimination makes of it.
    struct Block {
        int row = 0, column = 0;  // seams
        Eigen::MatrixXd A, reduced;
        Eigen::MatrixXd solved;  // right of the diagonal: D⁻¹ times it
        bool is_dirty = true;
    };
    struct Pivot {
        int seam = 0;
        std::vector<int> later;       // seams eliminated after it that it touches
        std::vector<int> transposes;  // of the rows of D
        bool is_dirty = true;
    };

    void check_seams(std::span<const Pose> rest_poses);
    void check_support() const;
    void order();
    [[nodiscard]] int block_of(int row, int column) const noexcept;
    [[nodiscard]] bool are_poses(std::span<const Pose> poses) const noexcept;
    void take_poses(std::span<const Pose> poses) noexcept;
    void assemble() noexcept;
    [[nodiscard]] bool eliminate() noexcept;
    [[nodiscard]] bool factor(Pivot& pivot) noexcept;
    void solve_pivot(const Pivot& pivot, double* x) const noexcept;
    [[nodiscard]] double imbalance(std::span<const Eigen::Vector3d> external) noexcept;
    [[nodiscard]] Status solve_linear(std::span<const Eigen::Vector3d> external) noexcept;
    [[nodiscard]] Status iterate(std::span<const Eigen::Vector3d> external) noexcept;
    void displace_zones() noexcept;
    [[nodiscard]] std::string name(int zone) const;

    std::vector<ZoneData> zones_;
    std::vector<SeamData> seams_;
    SeamSystemOptions options_;
    std::vector<Block> blocks_;
    std::vector<int> block_places_;  // by row and column, −1: none
    std::vector<Pivot> pivots_;
    Eigen::VectorXd w_, r_, best_;
    bool is_linear_ = true, is_factored_ = false;
    Report report_;
    Eigen::VectorXd step_, tried_;
};

/// Two zones with free seam nodes in one frame, docs/greens-zones.md eq. (1): both are held by
/// themselves, and the forces between them follow from their compliances alone.
class SeamBond {
public:
    /// `compliance_1`, `compliance_2`: displacements of the seam nodes per force on them [m/N], in
    /// the same order. Throws InputError for sizes that differ and for a sum that is singular.
    SeamBond(const Eigen::MatrixXd& compliance_1, const Eigen::MatrixXd& compliance_2);
    /// Forces on zone 2 [N], their opposites act on zone 1; from the displacements [m] that all
    /// other loads give each side.
    [[nodiscard]] Eigen::VectorXd forces(const Eigen::VectorXd& u_1,
                                         const Eigen::VectorXd& u_2) const;

private:
    Eigen::MatrixXd inverse_;
};

}  // namespace pliant
