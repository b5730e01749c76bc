#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <Eigen/Core>

#include "pliant/greens/capacitance_cache.h"
#include "pliant/greens/capacitance_inverse.h"
#include "pliant/greens/greens_functions.h"
#include "pliant/greens/update_costs.h"

namespace pliant {

class HierarchicalBasis;

/// Green's functions, and what gives them dimensions: displacements are in units of `length`,
/// tractions in units of `modulus`.
struct ReferenceProblem {
    std::shared_ptr<const GreensFunctions> functions;
    std::vector<NodeKind> kinds;             ///< of each node
    std::vector<Eigen::Vector3d> positions;  ///< [m]
    std::vector<double> areas;               ///< of nodes [m²]
    double length = 1;                       ///< [m]
    double modulus = 1;                      ///< shear modulus [Pa]
    /// Of functions with columns of coarser levels.
    std::shared_ptr<const HierarchicalBasis> hierarchy = {};
};

/// How a solve came to its inverse, or why it did not.
enum class CapacitanceStatus {
    Hit,               ///< the list was in the cache, or the same as before
    Updated,           ///< from a similar list
    Refactored,        ///< from scratch
    OverBudget,        ///< every way would take longer than the budget: try fewer conditions
    IllConditioned,    ///< condition of C above the limit
    TooFewHeld,        ///< what stays held allows rigid motions
    BadInput,          ///< not finite, not a unit direction, no column, or a condition twice
    CapacityExceeded,  ///< more conditions or loads than given at construction
    TwoLevels,         ///< conditions of one vertex on two levels: C would be singular
};
[[nodiscard]] std::string_view to_string(CapacitanceStatus status) noexcept;
/// The last good solution stays.
[[nodiscard]] constexpr bool is_refused(CapacitanceStatus status) noexcept {
    return status >= CapacitanceStatus::OverBudget;
}

struct CapacitanceOptions {
    int max_dofs = 300;          ///< scalar conditions that may differ from the reference problem
    int max_loads = 64;          ///< nodes with values other than zero in the reference problem
    double max_condition = 1e5;  ///< of C, 1-norm
    double budget = std::numeric_limits<double>::infinity();  ///< for an inverse [s]
    int refresh_interval = 500;  ///< updates between inversions from scratch
    double max_probe = 1e-3;     ///< residual of a probe above which it is inverted anew
    CapacitanceCacheOptions cache = {};
};

/// Solves problems that differ from the reference problem in the type of some conditions, exactly,
/// docs/greens.md eqs. (3)–(8). A condition at a free node prescribes its displacement along the
/// direction [m] (captured); at a fixed node, its traction [Pa] (released). Everything is sized at
/// construction: no call allocates, throws or locks. One solver for each thread. Conditions, loads
/// and patches may be given by ids of columns of coarser levels, docs/greens-constraints.md.
class CapacitanceSolver {
public:
    /// Throws InputError when sizes differ, scales are not positive, the reference problem is not
    /// held against rigid motions, or a hierarchy is missing for its columns.
    CapacitanceSolver(ReferenceProblem reference, const UpdateCosts& costs,
                      const CapacitanceOptions& options = {});

    /// Values of the reference problem that are not zero, for the next solve: tractions [Pa] of
    /// free nodes and displacements [m] of fixed ones. Components along changed conditions do not
    /// count. False: not finite, no column, a node twice or too many; the old ones stay.
    bool set_loads(std::span<const int> nodes, std::span<const Eigen::Vector3d> values) noexcept;
    [[nodiscard]] int num_loads() const noexcept { return static_cast<int>(load_nodes_.size()); }
    /// Parameters of body columns, nondimensional (force density · length / modulus).
    bool set_body_loads(std::span<const double> parameters) noexcept;
    /// Drops inverses of earlier lists: what follows is then the same, to the bit, as what follows
    /// construction, however warm the cache was. Loads and the solution stay.
    void forget() noexcept;
    /// [s], for the next solve.
    void set_budget(double seconds) noexcept { options_.budget = seconds; }

    /// `values` of `changes`, in any order: docs/greens.md eq. (6).
    CapacitanceStatus solve(std::span<const ChangedDof> changes,
                            std::span<const double> values) noexcept;
    /// The cheapest way to the inverse for these conditions.
    struct Prediction {
        double seconds = 0;   ///< of its algebra; infinity: more than max_dofs
        double elements = 0;  ///< of Ξ that have to be looked up
    };
    /// The solution stays.
    [[nodiscard]] Prediction predict(std::span<const ChangedDof> changes) noexcept;

    // Of the last good solution:
    [[nodiscard]] const CapacitanceInverse& inverse() const noexcept { return *current_; }
    /// What came out along the condition in this slot: traction [Pa] where captured, displacement
    /// [m] where released.
    [[nodiscard]] double unknown(int slot) const noexcept;
    /// Selective: any nodes, without the field; O(conditions + loads) each, eq. (7).
    void displacements(std::span<const int> nodes, std::span<Eigen::Vector3d> out) const noexcept;
    void tractions(std::span<const int> nodes, std::span<Eigen::Vector3d> out) const noexcept;
    /// Σ a p over these conditions [N], by their ids; nodes must be free.
    [[nodiscard]] Eigen::Vector3d force(std::span<const int> nodes) const noexcept;
    /// Force on patch `i` for a common displacement of patch `j` [N/m], eq. (8).
    [[nodiscard]] Eigen::Matrix3d patch_stiffness(std::span<const int> i,
                                                  std::span<const int> j) const noexcept;

    /// Global: sums all columns for the first nodes (all: num_nodes) into the field. Compressed
    /// functions are transformed once, whatever is summed.
    void evaluate(int num_nodes) noexcept;
    /// Incremental: adds what has changed by more than `tolerance` (nondimensional) since; every
    /// 256 calls, and after another number of nodes, it evaluates instead. Returns the nodes
    /// summed. The sum that is kept is of coefficients where functions are compressed.
    int advance(int num_nodes, double tolerance) noexcept;
    /// Displacements [m] of the first nodes from the field, block() values each.
    void write_displacements(std::span<float> out) const noexcept;
    void write_readouts(std::span<float> out) const noexcept;  ///< nondimensional
    /// The sum behind the field, as GreensFunctions::accumulate left it.
    [[nodiscard]] std::span<const float> sum() const noexcept { return sum_; }

    /// Of the last solve, refused or not.
    struct Report {
        CapacitanceStatus status = CapacitanceStatus::Hit;
        int size = 0, added = 0, removed = 0;  ///< conditions
        double predicted = 0;                  ///< cost of the inverse [s]
        double condition = 1;
        /// Farthest that a captured condition moves its node from where it would be [m].
        double farthest = 0;
    };
    [[nodiscard]] const Report& report() const noexcept { return report_; }
    [[nodiscard]] const CapacitanceCache& cache() const noexcept { return cache_; }
    [[nodiscard]] const ReferenceProblem& reference() const noexcept { return reference_; }
    /// Of the function of a column, by id [m²].
    [[nodiscard]] double area(int column) const noexcept {
        return areas_[static_cast<std::size_t>(column)];
    }
    /// Where the force of its traction acts [m]: a node, or the centre of a wider function.
    [[nodiscard]] const Eigen::Vector3d& centre_of(int column) const noexcept {
        return centres_[static_cast<std::size_t>(column)];
    }
    /// Known values of the last solution that are not zero, eq. (6), nondimensional: ids of their
    /// columns, block() values each.
    [[nodiscard]] std::span<const int> known_columns() const noexcept { return known_nodes_; }
    [[nodiscard]] std::span<const float> known_values() const noexcept { return known_values_; }

private:
    using Matrix6 = Eigen::Matrix<double, 6, 6>;
    struct ValuedDof {
        ChangedDof dof;
        double value;  // nondimensional
    };
    [[nodiscard]] int row_of(int column) const noexcept { return column % num_nodes_; }
    [[nodiscard]] double unit_of_known(int column) const noexcept;
    [[nodiscard]] double unit_of_unknown(int column) const noexcept;
    [[nodiscard]] Eigen::Vector3d vector_of(const float* values) const noexcept;
    void add_held(Matrix6& held, const Eigen::Vector3d& position, const Eigen::Vector3d& direction,
                  double sign) const noexcept;
    [[nodiscard]] bool holds(const Matrix6& held) const noexcept;
    [[nodiscard]] CapacitanceStatus read(std::span<const ChangedDof> changes,
                                         std::span<const double> values) noexcept;
    [[nodiscard]] CapacitanceStatus reach_inverse() noexcept;
    [[nodiscard]] CapacitanceCache::Match match_of(std::span<const ChangedDof> dofs) noexcept;
    [[nodiscard]] bool update_from(const CapacitanceCache::Match& match) noexcept;
    void sum_knowns() const noexcept;
    [[nodiscard]] Eigen::Vector3d unknown_of(int node) const noexcept;
    [[nodiscard]] Eigen::Vector3d known(int node) const noexcept;
    [[nodiscard]] CapacitanceStatus finish(CapacitanceStatus status) noexcept;

    ReferenceProblem reference_;
    UpdateCosts costs_;
    CapacitanceOptions options_;
    int block_, num_nodes_, num_columns_;
    std::vector<double> areas_;             // by id
    std::vector<Eigen::Vector3d> centres_;  // by id
    Matrix6 held_ = Matrix6::Zero();
    Eigen::Vector3d centre_ = Eigen::Vector3d::Zero();
    double radius_ = 1;
    int num_held_ = 0;
    CapacitanceCache cache_;
    std::unique_ptr<CapacitanceInverse> current_, next_;

    std::vector<ValuedDof> valued_;   // the wanted list, sorted
    std::vector<ChangedDof> wanted_;  // the same, without values
    std::vector<ChangedDof> added_, removed_;
    std::vector<ChangedDof> predicted_;  // of the last prediction, sorted, while it holds
    CapacitanceCache::Match predicted_match_;
    bool is_predicted_ = false;
    std::vector<float> right_, unknowns_;  // by slot
    // loads as given, nondimensional
    std::vector<int> load_nodes_;
    std::vector<float> load_values_, body_values_;
    std::vector<char> is_marked_;
    std::vector<int> seen_column_;  // by node, −1: none
    // known values w of the solution, eq. (6), where they are not zero
    std::vector<int> known_nodes_, known_place_;
    std::vector<float> known_values_, body_solution_;
    // those that are in the field, by node, and the list of nodes that have some
    std::vector<int> summed_nodes_, change_nodes_;
    std::vector<float> summed_values_, summed_body_, change_values_;
    std::vector<char> is_summed_;
    std::vector<float> sum_, scratch_;
    std::span<const float> field_;  // rows, of one of these
    int field_nodes_ = 0, num_advances_ = 0;
    // of the known values as they are, where single rows are read from sums
    mutable std::vector<float> known_sum_;
    mutable bool is_known_summed_ = false;
    std::uint64_t num_solves_ = 0;
    Report report_;
};

}  // namespace pliant
