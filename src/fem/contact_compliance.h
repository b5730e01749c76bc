#pragma once

#include "fem/coupled_system.h"

namespace pliant {

/// What a force on one surface node does to the acceleration of another through A⁻¹, blocks
/// W_ij = T_i A⁻¹ T_jᵀ of docs/fem.md eq. (C11). Each node costs one back-substitution with one
/// column (scalar factor) or three, when it is first asked for. Its blocks stay until another step
/// length has another matrix, or until their place is needed.
class ContactCompliance {
public:
    ContactCompliance(CoupledSystem& system, int num_nodes, int capacity);

    /// Sees to it that the blocks between all `nodes` (different ones, at most `capacity`) are
    /// there, and gives their places.
    void require(int step, std::span<const int> nodes, std::span<int> places);
    /// W_ij f.
    [[nodiscard]] Eigen::Vector3d response(int i, int j, const Eigen::Vector3d& f) const noexcept {
        if (is_scalar_) return blocks_(i, j) * f;
        return blocks_.block<3, 3>(3 * i, 3 * j).lazyProduct(f);
    }
    /// Changes when blocks that were handed out before are no longer valid.
    [[nodiscard]] int generation() const noexcept { return generation_; }
    /// Nodes whose blocks were computed since construction.
    [[nodiscard]] std::int64_t num_columns() const noexcept { return num_columns_; }

private:
    /// Of right-hand sides in one back-substitution.
    static constexpr int kBatch = 8;

    int take_place(int node) noexcept;
    void compute(int step, std::span<const int> nodes);

    CoupledSystem& system_;
    bool is_scalar_;
    Eigen::MatrixXd blocks_, columns_;
    std::vector<int> place_of_node_, node_of_place_, missing_;
    std::vector<char> is_needed_;  // of places
    int num_places_ = 0, next_victim_ = 0;
    int matrix_ = -1, generation_ = 0;
    std::int64_t num_columns_ = 0;
};

}  // namespace pliant
