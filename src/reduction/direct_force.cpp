#include "pliant/core/parallel.h"
#include "pliant/reduction/reduced_force.h"
#include "reduction/aligned_array.h"
#include "reduction/projection_kernels.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Nodes are cut into so many parts whose sums are added in order: results do not depend on the
/// number of threads.
constexpr int kMaxParts = 16;
/// Rows of K U at a time, so that they are still in the cache when they are projected.
constexpr int kChunkNodes = 32;
/// Of a deformation gradient; materials stay finite up to 1e40.
constexpr double kLargestDisplacement = 1e30;

class DirectForce final : public ReducedForce {
public:
    DirectForce(FemModel model, const MatrixXd& U)
        : model_(std::move(model)),
          r_(static_cast<int>(U.cols())),
          stride_((r_ + kProjectionWidth - 1) / kProjectionWidth * kProjectionWidth),
          part_nodes_(std::max(kChunkNodes, (model_.num_nodes() + kMaxParts - 1) / kMaxParts)),
          num_parts_((model_.num_nodes() + part_nodes_ - 1) / part_nodes_),
          U_(static_cast<std::size_t>(U.rows()) * static_cast<std::size_t>(stride_)),
          limit_(kLargestDisplacement / std::max(1.0, r_ * U.cwiseAbs().maxCoeff())) {
        assert(U.rows() == model_.num_unknowns() && r_ > 0);
        for (Eigen::Index row = 0; row < U.rows(); ++row)
            for (int i = 0; i < r_; ++i) U_.data()[row * stride_ + i] = U(row, i);
    }

    [[nodiscard]] int size() const noexcept override { return r_; }
    [[nodiscard]] std::unique_ptr<Workspace> make_workspace() const override {
        return std::make_unique<Scratch>(*this);
    }

    [[nodiscard]] double energy(const ConstRef& q, Workspace& ws) const noexcept override {
        auto& scratch = static_cast<Scratch&>(ws);
        displace(q, scratch);
        return model_.energy(scratch.u, scratch.model);
    }

    void force(const ConstRef& q, Eigen::Ref<VectorXd> R, Workspace& ws) const noexcept override {
        auto& scratch = static_cast<Scratch&>(ws);
        displace(q, scratch);
        model_.internal_force(scratch.u, scratch.f);
        project_force(scratch, R);
    }

    void force_and_stiffness(const ConstRef& q, Eigen::Ref<VectorXd> R, Eigen::Ref<MatrixXd> K,
                             Workspace& ws) const noexcept override {
        auto& scratch = static_cast<Scratch&>(ws);
        displace(q, scratch);
        model_.force_and_tangent(scratch.u, scratch.f, scratch.K);
        project_force(scratch, R);
        project_stiffness(scratch, K);
    }

private:
    struct Scratch final : Workspace {
        explicit Scratch(const DirectForce& of)
            : model(of.model_.make_workspace()),
              K(of.model_.make_matrix()),
              u(of.model_.num_unknowns()),
              f(of.model_.num_unknowns()),
              q(of.r_),
              force_parts(of.r_, of.num_parts_),
              stiffness_parts(static_cast<std::size_t>(of.num_parts_) * of.matrix_size()),
              chunks(static_cast<std::size_t>(of.num_parts_) * of.chunk_size()) {}
        FemModel::Workspace model;
        FemModel::Matrix K;
        VectorXd u, f, q;
        MatrixXd force_parts;                  ///< one column for each part
        AlignedArray<double> stiffness_parts;  ///< one matrix for each part
        AlignedArray<double> chunks;           ///< rows of K U, for each part
    };
    using Rows =
        Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>, 0,
                   Eigen::OuterStride<>>;

    [[nodiscard]] std::size_t matrix_size() const noexcept {
        return static_cast<std::size_t>(stride_) * static_cast<std::size_t>(stride_);
    }
    [[nodiscard]] std::size_t chunk_size() const noexcept {
        return std::size_t{3} * kChunkNodes * static_cast<std::size_t>(stride_);
    }
    [[nodiscard]] const double* rows_of(int node) const noexcept {
        return U_.data() +
               std::size_t{3} * static_cast<std::size_t>(node) * static_cast<std::size_t>(stride_);
    }
    /// The basis vectors of some nodes.
    [[nodiscard]] Rows basis(int first, int end) const noexcept {
        return {rows_of(first), 3 * (end - first), r_, Eigen::OuterStride<>(stride_)};
    }

    /// Calls `body(part, first node, end node)`.
    template <class Body>
    void for_each_part(const Body& body) const {
        parallel_for(static_cast<std::size_t>(num_parts_), 1, [&](std::size_t k) {
            const int part = static_cast<int>(k), first = part * part_nodes_;
            body(part, first, std::min(first + part_nodes_, model_.num_nodes()));
        });
    }

    /// u = U q.
    void displace(const ConstRef& q, Scratch& scratch) const noexcept {
        assert(q.size() == r_);
        // coordinates that are not finite stay so, for the caller to see
        for (int i = 0; i < r_; ++i)
            scratch.q[i] = std::isfinite(q[i]) ? std::clamp(q[i], -limit_, limit_) : q[i];
        for_each_part([&](int, int first, int end) {
            scratch.u.segment(3 * first, 3 * (end - first)).noalias() =
                basis(first, end) * scratch.q;
        });
    }

    /// R = Uᵀ f.
    void project_force(Scratch& scratch, Eigen::Ref<VectorXd> R) const noexcept {
        assert(R.size() == r_);
        for_each_part([&](int part, int first, int end) {
            scratch.force_parts.col(part).noalias() =
                basis(first, end).transpose() * scratch.f.segment(3 * first, 3 * (end - first));
        });
        R = scratch.force_parts.col(0);
        for (int part = 1; part < num_parts_; ++part) R += scratch.force_parts.col(part);
    }

    /// K = Uᵀ K U, chunk by chunk.
    void project_stiffness(Scratch& scratch, Eigen::Ref<MatrixXd> K) const noexcept {
        assert(K.rows() == r_ && K.cols() == r_);
        const SymmetricColumns columns{scratch.K.outerIndexPtr(), scratch.K.innerIndexPtr(),
                                       scratch.K.valuePtr()};
        for_each_part([&](int part, int first, int end) {
            double* const sum = scratch.stiffness_parts.data() + part * matrix_size();
            double* const KU = scratch.chunks.data() + part * chunk_size();
            std::fill_n(sum, matrix_size(), 0.0);
            for (int node = first; node < end; node += kChunkNodes) {
                const int chunk_end = std::min(node + kChunkNodes, end);
                multiply_by_basis(columns, node, chunk_end, U_.data(), stride_, KU);
                add_upper_product(3 * (chunk_end - node), stride_, rows_of(node), KU, sum);
            }
        });
        for (int i = 0; i < r_; ++i)
            for (int j = i; j < r_; ++j) {
                const double* value = scratch.stiffness_parts.data() + i * stride_ + j;
                double total = 0;
                for (int part = 0; part < num_parts_; ++part, value += matrix_size())
                    total += *value;
                K(i, j) = K(j, i) = total;
            }
    }

    FemModel model_;
    int r_, stride_;
    int part_nodes_, num_parts_;
    AlignedArray<double> U_;  ///< by rows
    double limit_;            ///< coordinates beyond it count as at it
};

}  // namespace

std::unique_ptr<ReducedForce> make_direct_force(FemModel model, const MatrixXd& U) {
    return std::make_unique<DirectForce>(std::move(model), U);
}

}  // namespace pliant
