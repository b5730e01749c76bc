#pragma once

#include "pliant/contact/point_tree.h"
#include "pliant/core/error.h"
#include "pliant/core/pose.h"
#include "pliant/field/distance_field.h"

#include <cstdint>

namespace pliant {

/// The points of a shell that are inside a field, in the order found; docs/contact.md. Arrays are
/// sized once, the first `count` entries are valid.
struct ContactPoints {
    int count = 0;
    std::vector<int> node, point;
    std::vector<float> x, y, z;   ///< in the axes of the field [m]
    std::vector<float> distance;  ///< < 0 [m]
};

struct TraversalOptions {
    /// Nodes that a tick may visit; 0: calibrated from `seconds` by calibrate(), else all.
    int budget = 0;
    double cold_fraction = 0.8;  ///< of the budget before a level deeper than the last is begun
    /// A level is begun only if it fits whole: the budget is never exceeded. false: as published,
    /// the level that was begun is finished.
    bool is_hard = true;
    bool has_coherence = true;  ///< skip nodes that cannot have moved into contact
    bool has_tree = true;       ///< false: all points of the finest level, one by one
    int deepest_level = 1000;   ///< coarser levels only, for comparison
};

struct TraversalStatistics {
    int visited = 0;            ///< nodes asked in this tick
    int skipped = 0;            ///< nodes left out by coherence
    int contacts = 0;           ///< points inside
    int level = -1;             ///< deepest level completed; −1: none
    bool is_truncated = false;  ///< a deeper level existed and the budget did not allow it
    float clearance = 0;        ///< no point is nearer to the field; 0 in contact [m]
};

/// Finds contacts level by level within a budget, docs/contact.md eq. (6)–(9). Equal to asking
/// every point of the deepest level completed, bit for bit. One shell against one field; one thread
/// at a time; update() allocates nothing.
class PointTraversal {
public:
    /// Throws InputError for a budget that does not hold the first level.
    PointTraversal(PointTree tree, std::shared_ptr<const DistanceField> field,
                   const TraversalOptions& options = {});
    ~PointTraversal();
    PointTraversal(PointTraversal&&) noexcept;
    PointTraversal& operator=(PointTraversal&&) noexcept;

    [[nodiscard]] const PointTree& tree() const noexcept;
    [[nodiscard]] const DistanceField& field() const noexcept;
    [[nodiscard]] const TraversalOptions& options() const noexcept;
    void set_options(const TraversalOptions& options);  ///< also forgets; slow
    /// Budget of the next updates, at least the first level and at most the budget that it was
    /// made or set_options() with (0: any). Allocates nothing.
    void set_budget(int nodes) noexcept;

    /// `shell_to_field`: pose of the shell's axes in those of the field. `field_travel`: how far
    /// the field's own surface may have moved since the last update [m]. InputIgnored, and no
    /// contact, for what is not finite.
    StepStatus update(const Pose& shell_to_field, std::span<const double> q,
                      double field_travel = 0) noexcept;
    [[nodiscard]] const ContactPoints& contacts() const noexcept;
    [[nodiscard]] const TraversalStatistics& statistics() const noexcept;
    /// Nodes at which the last update ended (culled, skipped or of the last level), for pictures.
    [[nodiscard]] std::span<const int> frontier() const noexcept;
    /// Forgets what coherence and hysteresis remember.
    void forget() noexcept;

    /// Measures the cost of a node on this machine and sets the budget so that update() and the
    /// loads of what it finds take less than `seconds` of thread CPU time in all but about one of
    /// 1,000 ticks; takes about 20 ms. Returns the budget.
    int calibrate(double seconds);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pliant
