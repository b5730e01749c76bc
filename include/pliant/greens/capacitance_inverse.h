#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <Eigen/Core>

#include "pliant/greens/greens_functions.h"

namespace pliant {

/// A scalar condition whose type differs from the reference problem: the component of a node along
/// a unit direction. A whole node is its three axes; directions of one node are orthogonal. Scalar
/// fields (block 1) take the direction (1, 0, 0). `node` may be the id of a column of a coarser
/// level, docs/greens-constraints.md: the condition is that of its own node, what answers to it is
/// spread over its function.
struct ChangedDof {
    int node = 0;
    Eigen::Vector3d direction = Eigen::Vector3d::UnitX();

    [[nodiscard]] friend bool operator==(const ChangedDof& a, const ChangedDof& b) noexcept {
        return a.node == b.node && a.direction == b.direction;
    }
    /// By node, then direction: the order of lists and keys. The axes come as x, y, z.
    [[nodiscard]] friend bool operator<(const ChangedDof& a, const ChangedDof& b) noexcept {
        if (a.node != b.node) return a.node < b.node;
        for (int k = 0; k < 3; ++k)
            if (a.direction[k] != b.direction[k]) return a.direction[k] > b.direction[k];
        return false;
    }
};

enum class InverseStatus {
    Ok,
    IllConditioned,    ///< condition above the limit, or singular
    CapacityExceeded,  ///< more conditions than given at construction; nothing was done
    BadList,           ///< added twice, or removed without being there; nothing was done
};

/// The explicit inverse of the capacitance matrix C = −EᵀΞE of a list of conditions, docs/greens.md
/// eq. (4), and its updating when the list changes a little, eqs. (10)–(12). Conditions keep their
/// *slot* (row and column) while others come and go; a removed one leaves its slot to the last.
/// Stored in `Scalar`; factorisations and small systems in double. Nothing allocates after
/// construction.
template <class Scalar>
class BasicCapacitanceInverse {
public:
    struct ListedDof {
        ChangedDof dof;
        int slot = 0;
    };

    BasicCapacitanceInverse(std::shared_ptr<const GreensFunctions> functions, int max_dofs,
                            double max_condition = 1e5);

    /// From scratch, 2 m³ operations. What is not Ok keeps the old list and inverse.
    InverseStatus reset(std::span<const ChangedDof> dofs) noexcept;
    /// Inverts the stored C again: removes what rounding has gathered.
    InverseStatus refresh() noexcept;

    // Updates: O(m²) for each condition. An ill-conditioned result leaves the list empty: work on
    // a copy where the old one must stay.
    InverseStatus add(std::span<const ChangedDof> dofs) noexcept;
    /// Directly, eq. (11).
    InverseStatus remove(std::span<const ChangedDof> dofs) noexcept;
    /// Both at once by redundant conditions, eq. (12): slower than `remove`, then `add`, but
    /// without the set in between, which may be singular.
    InverseStatus exchange(std::span<const ChangedDof> added,
                           std::span<const ChangedDof> removed) noexcept;

    [[nodiscard]] int size() const noexcept { return size_; }
    [[nodiscard]] int max_size() const noexcept { return max_size_; }
    /// ‖C‖₁ ‖C⁻¹‖₁ of what is stored.
    [[nodiscard]] double condition() const noexcept { return condition_; }
    /// Since the last inversion from scratch.
    [[nodiscard]] int num_updates() const noexcept { return num_updates_; }
    /// ‖C C⁻¹ e − e‖ / ‖e‖ for a random e of signs: O(m²).
    [[nodiscard]] double probe(std::uint64_t seed) noexcept;

    /// Sorted, with the slot of each.
    [[nodiscard]] std::span<const ListedDof> list() const noexcept { return list_; }
    [[nodiscard]] const ChangedDof& dof(int slot) const noexcept {
        return dofs_[static_cast<std::size_t>(slot)];
    }
    [[nodiscard]] Scalar inverse_element(int a, int b) const noexcept { return column(X_, b)[a]; }
    [[nodiscard]] Scalar matrix_element(int a, int b) const noexcept { return column(C_, b)[a]; }
    /// g = C⁻¹ r, both in the order of slots.
    void apply(std::span<const Scalar> r, std::span<Scalar> g) const noexcept;

    /// Takes over list and values of another one with room for no more.
    void copy_from(const BasicCapacitanceInverse& other) noexcept;

private:
    friend class CapacitanceCache;
    template <class T>
    struct alignas(64) Line {
        T values[64 / sizeof(T)] = {};
    };
    using Lines = std::vector<Line<Scalar>>;  // for their alignment: one array of numbers

    [[nodiscard]] Scalar* column(Lines& matrix, int j) noexcept {
        return reinterpret_cast<Scalar*>(matrix.data()) + static_cast<std::size_t>(j) * stride_;
    }
    [[nodiscard]] const Scalar* column(const Lines& matrix, int j) const noexcept {
        return reinterpret_cast<const Scalar*>(matrix.data()) +
               static_cast<std::size_t>(j) * stride_;
    }
    void clear() noexcept;
    [[nodiscard]] int find(const ChangedDof& dof) const noexcept;  // slot or −1
    [[nodiscard]] bool are_new(std::span<const ChangedDof> dofs) const noexcept;
    [[nodiscard]] bool are_there(std::span<const ChangedDof> dofs) const noexcept;
    void append(const ChangedDof& dof) noexcept;
    void drop(std::span<int> slots) noexcept;
    void measure_condition() noexcept;
    [[nodiscard]] bool invert_work() noexcept;
    InverseStatus finish_update() noexcept;
    void multiply_small(int k, int sign) noexcept;
    [[nodiscard]] bool border(std::span<const ChangedDof> added,
                              std::span<const ChangedDof> removed) noexcept;
    [[nodiscard]] bool cut(std::span<const ChangedDof> removed) noexcept;

    std::shared_ptr<const GreensFunctions> functions_;
    int max_size_;
    double max_condition_;
    std::size_t stride_;
    int size_ = 0, num_updates_ = 0;
    double condition_ = 1;
    std::vector<ListedDof> list_;
    std::vector<ChangedDof> dofs_;  // by slot
    Lines C_, X_;
    // scratch: columns and rows of a border, products with X, small systems
    Lines border_columns_, border_rows_, P_, Q_, D_;
    std::vector<Line<double>> work_;
    std::vector<double> factors_, small_;
    std::vector<Scalar> small_factors_;
    std::vector<int> pivots_;
    std::vector<float> elements_;  // of Ξ, for whoever looks them up
};

using CapacitanceInverse = BasicCapacitanceInverse<float>;
extern template class BasicCapacitanceInverse<float>;
extern template class BasicCapacitanceInverse<double>;

}  // namespace pliant
