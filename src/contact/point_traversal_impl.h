#pragma once

#include "contact/travel_odometer.h"
#include "contact/visit_kernels.h"
#include "pliant/contact/point_traversal.h"
#include "reduction/aligned_array.h"

namespace pliant {

/// Where the shell was: what the next travel is measured from.
struct ShellMotion {
    Eigen::Vector3d centre = Eigen::Vector3d::Zero();  ///< of its sphere, in the axes of the field
    Quaternion rotation = Quaternion::Identity();
    Eigen::VectorXd q;
    CullingMargin margin;
    bool is_known = false;
};

struct PointTraversal::Impl {
    Impl(PointTree point_tree, std::shared_ptr<const DistanceField> distance_field,
         const TraversalOptions& traversal_options);

    void set_options(const TraversalOptions& wanted);
    void set_budget(int nodes) noexcept;
    void forget() noexcept;
    StepStatus update(const Pose& pose, std::span<const double> q, double field_travel) noexcept;

    /// Takes pose and shape; false for what is not finite.
    [[nodiscard]] bool begin(const Pose& pose, std::span<const double> q,
                             double field_travel) noexcept;
    void traverse_tree() noexcept;
    void sweep() noexcept;
    /// Fills the queue with the nodes of level 0 that are awake.
    void queue_roots() noexcept;
    /// Fills the queue with children of open nodes; false if they are more than `room`.
    [[nodiscard]] bool queue_children(int room) noexcept;
    /// Keeps nodes that are awake, with their distances unless those are null; returns how many.
    int leave_out_resting(int* nodes, float* distances, int count) noexcept;
    /// Fills the queue with up to `count` nodes from all over a level, for measurements.
    void queue_sample(int level, int count, std::uint32_t& random) noexcept;
    /// Visits the queue, fills `lists`.
    void visit_queue() noexcept;
    void visit_fresh(int begin, int count) noexcept;
    void visit_copies(int begin, int count) noexcept;
    /// Nodes that a tick may have visited when `level` is complete.
    [[nodiscard]] int limit_of(int level) const noexcept;
    [[nodiscard]] int level_size(int level) const noexcept {
        return tree.level_start(level + 1) - tree.level_start(level);
    }

    PointTree tree;
    std::shared_ptr<const DistanceField> field;
    TraversalOptions options;
    int deepest = 0;         ///< level, by options
    int most_nodes = 0;      ///< that the arrays hold, by options
    int sweep_level = 0;     ///< of a sweep without tree, by options
    int previous_level = 0;  ///< deepest of the last tick
    TravelOdometer odometer;
    ShellMotion last, now;

    // this tick
    AlignedArray<float> factors;
    VisitRows rows;
    VisitMotion motion;
    CullRule rule = {};
    VisitBatch batch = {};
    VisitLists lists;
    double shortest_rest = 0;  ///< left to the nodes that rest
    // the queue of a level: points seen for the first time, and copies of points with known
    // distance
    std::vector<int> fresh, copies;
    std::vector<float> copy_distance;
    int num_fresh = 0, num_copies = 0;
    std::vector<int> open, frontier;
    std::vector<float> open_distance;
    int num_frontier = 0;
    ContactPoints contacts;
    TraversalStatistics statistics;
};

}  // namespace pliant
