#pragma once

#include "contact/contact_facing.h"
#include "contact/contact_sweep.h"
#include "contact/moving_body.h"
#include "contact/primitive_contacts.h"

namespace pliant {

/// Directions of a contact: along the field's gradient, and two across it with friction.
inline constexpr int kNumDirections = 3;

/// One touching point, docs/contact.md eq. (26).
struct SolverContact {
    int point = 0, node = 0;                      ///< of the shell; −1: exact
    int proxy = -1;                               ///< of a deformed field
    int feature = -1;                             ///< of an exact contact
    Eigen::Vector3d p = Eigen::Vector3d::Zero();  ///< world [m]
    std::array<Eigen::Vector3d, kNumDirections> e = {
        Eigen::Vector3d::Zero(), Eigen::Vector3d::Zero(), Eigen::Vector3d::Zero()};
    double distance = 0;          ///< < 0 [m]
    double share = 1, entry = 1;  ///< of ContactFacing
    double weight = 0;            ///< follows eq. (12), eq. (26a)
    double k = 0;                 ///< with its weight [N/m]
    double rest = 0;              ///< depth without force, eq. (39), ≤ 0 [m]
    double target = 0;            ///< of an impact, eq. (38) [m/s]
    bool is_new = true, is_impact = false;
    Eigen::Vector3d slip = Eigen::Vector3d::Zero();     ///< of an exact contact, now [m/s]
    Eigen::Vector3d stretch = Eigen::Vector3d::Zero();  ///< p − anchor, tangential [m]
    std::array<double, kNumDirections> f = {};          ///< along the directions [N]
    bool is_sliding = false;

    [[nodiscard]] Eigen::Vector3d force() const noexcept {
        return f[0] * e[0] + f[1] * e[1] + f[2] * e[2];
    }
};

/// What a contact leaves for the next tick.
struct RememberedContact {
    BodyPair pair;
    int point = 0;
    int feature = -1;
    double weight = 0;
    double rest = 0;
    double normal_force = 0;
    Eigen::Vector3d tangential_force;  ///< world
    /// In the axes of the field body: where friction's spring is held, or where an exact contact
    /// is.
    Eigen::Vector3d anchor;
    Eigen::Vector3d stretch, slip;  ///< of an exact contact, world
};

/// What two surfaces make of each other.
struct PairLaw {
    double stiffness = 0;  ///< of one point [N/m]
    double friction = 0, restitution = 0;
    double damping = 0;  ///< β_c [s]
};

struct RowOptions {
    double scaling_count = 0;
    ContactScaling scaling = ContactScaling::None;
    double friction_stiffness = 0;
    double dt = 0;                         ///< h [s]
    double stiffening = 1, softening = 1;  ///< rates of eq. (26a), at most 1
    double emerging = 1;                   ///< rate of eq. (39), at most 1
    PairLaw law;                           ///< of the pair at hand
    [[nodiscard]] double reach() const noexcept { return dt + law.damping; }
};

/// Which pairs may touch at all: one distance at the centre of each shell, asked field by field.
/// Sized once.
class FieldNeighbours {
public:
    FieldNeighbours(std::size_t num_bodies, std::size_t max_pairs)
        : start_(num_bodies + 1), order_(max_pairs), may_touch_(max_pairs) {}
    void arrange(std::span<const BodyPair> pairs, std::size_t num_bodies) noexcept;
    [[nodiscard]] bool has_any(int field_body) const noexcept {
        const auto i = static_cast<std::size_t>(field_body);
        return start_[i] < start_[i + 1];
    }
    /// About the pairs of one field; those of several at once.
    void ask(std::span<const MovingBody> bodies, std::span<const BodyPair> pairs,
             int field_body) noexcept;
    /// Of a pair, after all fields were asked.
    [[nodiscard]] bool may_touch(std::size_t pair) const noexcept { return may_touch_[pair] != 0; }

private:
    static constexpr int kBatch = 64;
    std::vector<int> start_;  ///< of each field's pairs in order_
    std::vector<int> order_;
    std::vector<char> may_touch_;
};

/// Contacts of some of the pairs; one for each part of the work. Sized once.
class ContactRows {
public:
    ContactRows(std::span<const MovingBody> bodies, int max_contacts);

    void clear() noexcept;
    /// Finds the contacts of a pair; appends them, ordered by point.
    void add_pair(std::span<const MovingBody> bodies, const BodyPair& pair,
                  const RowOptions& options, std::span<const RememberedContact> memory) noexcept;

    std::vector<SolverContact> contacts;
    std::vector<SweepRow> rows;  ///< of each contact
    int count = 0;
    int num_visited = 0;
    bool is_complete = true;  ///< false: there were more contacts than places

private:
    /// Stands for the field of whichever pair is asked.
    class FieldSlot final : public DistanceField {
    public:
        void distances(const PointBatch& points, float* distance) const noexcept override {
            field->distances(points, distance);
        }
        void samples(const PointBatch& points, const SampleBatch& samples) const noexcept override {
            field->samples(points, samples);
        }
        [[nodiscard]] const Box& bounds() const noexcept override { return field->bounds(); }
        [[nodiscard]] CullingMargin margin() const noexcept override { return field->margin(); }
        [[nodiscard]] double resolution() const noexcept override { return field->resolution(); }
        const DistanceField* field = nullptr;
    };

    /// Distances and gradients of the points found, and how much they count.
    void ask(const MovingBody& shell, const MovingBody& field, const ContactPoints& found) noexcept;
    void place(const MovingBody& shell, const MovingBody& field, const ContactPoints& found,
               int index, SolverContact& c) noexcept;
    /// Contacts of a pair by points; their number, after `count`.
    int find_points(const MovingBody& shell, const MovingBody& field, const BodyPair& pair,
                    const RowOptions& options, std::span<const RememberedContact> memory) noexcept;
    /// The same of two primitives.
    int find_exactly(const MovingBody& shell, const MovingBody& field, const BodyPair& pair,
                     const RowOptions& options, std::span<const RememberedContact> memory) noexcept;
    static void weigh(std::span<SolverContact> added, const RowOptions& options) noexcept;
    static void recall(const MovingBody& field, std::span<const RememberedContact> memory,
                       const RowOptions& options, std::span<SolverContact> added) noexcept;
    static void recall_exactly(const MovingBody& field, std::span<const RememberedContact> memory,
                               const RowOptions& options, std::span<SolverContact> added) noexcept;
    /// What a contact that is new does: eq. (38), (39).
    static void meet(const MovingBody& shell, const MovingBody& field, bool is_first,
                     const RowOptions& options, SolverContact& c) noexcept;
    static void fill_row(const MovingBody& shell, const MovingBody& field,
                         const RowOptions& options, const SolverContact& c, SweepRow& row) noexcept;

    std::shared_ptr<FieldSlot> slot_;
    std::vector<PointTraversal> traversals_;  ///< of each tree
    std::vector<int> traversal_of_;           ///< of each body; −1: has no points
    std::vector<int> order_;
    std::vector<int> proxy_;  ///< of a deformed field, nearest to each contact
    std::vector<float> distance_, gx_, gy_, gz_, share_, entry_;
    std::vector<float> q_groups_;  ///< of the shell, for its normals
    ContactFacing facing_;
};

}  // namespace pliant
