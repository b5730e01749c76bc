#include "core/numbers.h"
#include "greens/unknown_blocks.h"
#include "pliant/core/parallel.h"
#include "pliant/greens/boundary_operator.h"

#include <algorithm>
#include <numeric>

namespace pliant {
namespace {

using Eigen::MatrixXd;

constexpr std::size_t kDenseOperatorTile = 64;  // rows of a task

class DenseOperator final : public BoundaryOperator {
public:
    DenseOperator(const BoundaryModel& model, const std::vector<NodeKind>& kinds,
                  Progress& progress)
        : A_(3 * model.num_nodes(), 3 * model.num_nodes()) {
        UnknownBlocks blocks(model, kinds);
        own_blocks_ = blocks.integrated_own_blocks();
        blocks.set_own_blocks(own_blocks_);
        std::vector<int> all(kinds.size());
        std::iota(all.begin(), all.end(), 0);
        progress.stage("boundary integrals", all.size());
        parallel_ranges(all.size(), kDenseOperatorTile, [&](std::size_t begin, std::size_t end) {
            UnknownBlocks::Workspace workspace(blocks);
            blocks.set_nodes(all, workspace);
            MatrixXd rows;
            blocks.unknowns({all.data() + begin, end - begin}, workspace, rows);
            A_.middleRows(3 * static_cast<Eigen::Index>(begin), rows.rows()) = rows;
            progress.advance(end - begin);
        });
    }
    [[nodiscard]] int num_unknowns() const noexcept override { return static_cast<int>(A_.rows()); }
    [[nodiscard]] std::int64_t num_bytes() const noexcept override { return 8 * A_.size(); }
    void apply(const Eigen::Ref<const MatrixXd>& X, Eigen::Ref<MatrixXd> Y) const override {
        parallel_ranges(static_cast<std::size_t>(A_.rows()), 3 * kDenseOperatorTile,
                        [&](std::size_t begin, std::size_t end) {
                            const auto first = static_cast<Eigen::Index>(begin),
                                       count = static_cast<Eigen::Index>(end - begin);
                            for (Eigen::Index c = 0; c < X.cols(); ++c)
                                Y.col(c).segment(first, count).noalias() =
                                    A_.middleRows(first, count) * X.col(c);
                        });
    }

private:
    MatrixXd A_;
};

}  // namespace

std::unique_ptr<BoundaryOperator> make_dense_operator(const BoundaryModel& model,
                                                      const std::vector<NodeKind>& kinds,
                                                      Progress& progress) {
    return std::make_unique<DenseOperator>(model, kinds, progress);
}

}  // namespace pliant
