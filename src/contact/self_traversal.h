#pragma once

#include "contact/visit_kernels.h"
#include "pliant/contact/point_traversal.h"
#include "pliant/field/deformed_field.h"
#include "reduction/aligned_array.h"

namespace pliant {

/// Finds the points of a shell that are inside a domain of their own body's field which is not
/// their home, docs/contact.md eq. (33) and (34): level by level within a budget, equal to asking
/// every point of the deepest level completed. update() allocates nothing.
class SelfTraversal {
public:
    /// `field` is at rest.
    SelfTraversal(PointTree tree, const DeformedField& field, double exclusion, int budget,
                  int max_contacts);

    SelfTraversal(const SelfTraversal&) = delete;
    SelfTraversal& operator=(const SelfTraversal&) = delete;

    /// `field` has the shape q too. InputIgnored, and no contact, for what is not finite.
    StepStatus update(const DeformedField& field,
                      const Eigen::Ref<const Eigen::VectorXd>& q) noexcept;
    void clear() noexcept;
    /// Forgets which level was reached last.
    void forget() noexcept { previous_level_ = -1; }
    /// Nodes at which the last update ended, for pictures.
    [[nodiscard]] std::span<const int> frontier() const noexcept {
        return std::span(culled_).first(static_cast<std::size_t>(lists_.num_culled));
    }

    PointTree tree;
    double exclusion;       ///< ε
    int budget;             ///< at most what it was made with; 0: all nodes
    std::vector<int> home;  ///< of each point
    ContactPoints contacts;
    std::vector<int> domain;  ///< of each contact
    TraversalStatistics statistics;

private:
    /// Up to kVisitBatch points and the balls of eq. (33) that they ask with.
    struct alignas(64) Questions {
        float x[kVisitBatch], y[kVisitBatch], z[kVisitBatch];
        float rest_x[kVisitBatch], rest_y[kVisitBatch], rest_z[kVisitBatch], radius[kVisitBatch];
        float answer[kVisitBatch];
        int place[kVisitBatch];  ///< in the batch
        int count = 0;
    };

    void find_homes(const DeformedField& field);
    [[nodiscard]] bool begin(const DeformedField& field,
                             const Eigen::Ref<const Eigen::VectorXd>& q) noexcept;
    /// Children of open nodes into the queue; false if they are more than `room`.
    [[nodiscard]] bool queue_children(int room) noexcept;
    void visit(const DeformedField& field, const std::vector<int>& nodes, int num_nodes,
               bool are_fresh) noexcept;
    /// Adds the place of a batch to the questions.
    void put(int place, int node, float radius) noexcept;
    void ask(const DeformedField& field, int domain) noexcept;
    /// Those of batch.contacts that are inside themselves.
    void add_contacts(const DeformedField& field, const int* nodes, int num_inside) noexcept;

    std::vector<int> node_home_;  ///< of all points below a node, or −1
    int max_contacts_, previous_level_ = -1;
    // this tick
    AlignedArray<float> factors_;
    VisitRows rows_;
    VisitMotion motion_;
    CullRule rule_ = {};
    VisitBatch batch_ = {};
    Questions questions_;
    VisitLists lists_;
    std::vector<int> fresh_, copies_, open_;
    std::vector<int> culled_;  ///< points below them are not below others
    std::vector<float> open_distance_;
    int num_fresh_ = 0, num_copies_ = 0;
    bool has_room_ = true;
};

}  // namespace pliant
