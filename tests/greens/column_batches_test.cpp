#include "greens/column_batches.h"

#include <filesystem>
#include <functional>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "core/numbers.h"
#include "greens/greens_nodes.h"
#include "pliant/core/error.h"
#include "tests/greens/synthetic_greens.h"
#include "tests/input_error.h"

namespace pliant {
namespace {

/// Columns of a random matrix; does something before each batch.
class RecordedSource final : public GreensColumnSource {
public:
    RecordedSource(int num_nodes, std::function<void(int)> before)
        : Xi_(test::random_matrix(3 * num_nodes + 2, 3 * num_nodes, 1)),
          before_(std::move(before)) {}
    [[nodiscard]] int num_nodes() const noexcept override {
        return static_cast<int>(Xi_.cols()) / 3;
    }
    [[nodiscard]] int block() const noexcept override { return 3; }
    [[nodiscard]] int num_body_columns() const noexcept override { return 3; }
    [[nodiscard]] int num_readouts() const noexcept override { return 2; }
    [[nodiscard]] int num_unknowns() const noexcept override { return 3 * num_nodes(); }
    void prepare(Progress&) override {}
    void columns(std::span<const int> nodes, Eigen::Ref<Eigen::MatrixXd> values) override {
        before_(static_cast<int>(asked.size()));
        asked.push_back({nodes.begin(), nodes.end()});
        for (std::size_t k = 0; k < nodes.size(); ++k)
            values.middleCols(3 * static_cast<Eigen::Index>(k), 3) =
                Xi_.middleCols(3 * nodes[k], 3);
    }
    void body_columns(Eigen::Ref<Eigen::MatrixXd> values) override { values = Xi_.leftCols(3); }
    std::vector<std::vector<int>> asked;

private:
    Eigen::MatrixXd Xi_;
    std::function<void(int)> before_;
};

class ColumnBatchesTest : public testing::Test {
protected:
    ~ColumnBatchesTest() override { std::filesystem::remove_all(folder_); }
    static constexpr int kNodes = 700;  // three batches
    [[nodiscard]] static DenseGreensLayout layout() {
        DenseGreensLayout result{
            .num_nodes = kNodes, .columns = {}, .num_body_columns = 3, .num_readouts = 2};
        for (int node = 0; node < kNodes; ++node) result.columns.push_back(node);
        return result;
    }
    std::filesystem::path folder_ = std::filesystem::temp_directory_path() /
                                    ("pliant_column_batches_" + std::to_string(getpid()));
};

std::vector<float> batch_values(const ColumnBatches& batches) {
    const auto values = batches.functions()->values();
    return {values.begin(), values.end()};
}

TEST_F(ColumnBatchesTest, AnInterruptedBuildGoesOnWhereItStopped) {
    BuildCache none({}, 0);
    RecordedSource source(kNodes, [](int) {});
    ColumnBatches at_once(layout(), CacheKey().add(1), none);
    EXPECT_FALSE(at_once.is_complete());
    at_once.compute(source, Progress::none());
    EXPECT_TRUE(at_once.is_complete());
    ASSERT_EQ(source.asked.size(), 3u);
    EXPECT_EQ(source.asked[1].front(), kBatchNodes);

    // Ctrl-C during the second batch
    BuildCache cache(folder_, std::int64_t{1} << 30);
    {
        Progress progress;
        RecordedSource interrupted(kNodes, [&](int batch) {
            if (batch == 1) progress.cancel();
        });
        ColumnBatches batches(layout(), CacheKey().add(1), cache);
        EXPECT_THROW(batches.compute(interrupted, progress), Cancelled);
    }
    RecordedSource rest(kNodes, [](int) {});
    ColumnBatches resumed(layout(), CacheKey().add(1), cache);
    ASSERT_EQ(resumed.missing().size(), at(kNodes - 2 * kBatchNodes));
    EXPECT_EQ(resumed.missing().front(), 2 * kBatchNodes);
    resumed.compute(rest, Progress::none());
    ASSERT_EQ(rest.asked.size(), 1u);
    EXPECT_EQ(batch_values(resumed), batch_values(at_once));

    // everything is there now; another problem finds nothing
    EXPECT_TRUE(ColumnBatches(layout(), CacheKey().add(1), cache).is_complete());
    EXPECT_EQ(batch_values(ColumnBatches(layout(), CacheKey().add(1), cache)),
              batch_values(at_once));
    EXPECT_EQ(ColumnBatches(layout(), CacheKey().add(2), cache).missing().size(), at(kNodes));
}

TEST_F(ColumnBatchesTest, DamagedBatchesAreComputedAgain) {
    BuildCache cache(folder_, std::int64_t{1} << 30);
    RecordedSource source(kNodes, [](int) {});
    ColumnBatches first(layout(), CacheKey().add(1), cache);
    first.compute(source, Progress::none());
    for (const auto& file : std::filesystem::directory_iterator(folder_))
        std::filesystem::resize_file(file.path(), 1000);
    EXPECT_EQ(ColumnBatches(layout(), CacheKey().add(1), cache).missing().size(), at(kNodes));
}

TEST(GreensMemory, IsRefusedWithAlternatives) {
    const GreensMemory memory = boundary_memory(10000, 9000, 9000);
    EXPECT_NEAR(memory.matrix, 7.2e9, 1e6);
    EXPECT_NEAR(memory.columns, 3.24e9, 1e6);
    check_greens_memory(memory, 2e10, GreensMethod::BoundaryElements, 10000, 9000);
    EXPECT_EQ(
        test::input_error(
            [&] { check_greens_memory(memory, 8e9, GreensMethod::BoundaryElements, 10000, 9000); }),
        "Green's functions of 10000 nodes with 9000 columns by boundary elements need 17.1 "
        "GB (7.2 GB of them to be factored, 3.2 GB for the result), and 8.0 GB may be used; "
        "take a coarser surface, make the contactable region smaller, or use the iterative solver "
        "or finite elements");
    // the iterative solver needs less of everything but the result
    const GreensMemory large = iterative_memory(20000, 500);
    EXPECT_LT(large.total(), 8e9);
    EXPECT_EQ(large.columns, boundary_memory(20000, 500, 500).columns);
    EXPECT_GT(boundary_memory(20000, 500, 500).matrix, 28e9);
    EXPECT_NE(test::input_error([&] {
                  check_greens_memory(large, 2e9, GreensMethod::BoundaryElements, 20000, 500);
              }).find("of them for the matrix"),
              std::string::npos);
    EXPECT_NE(test::input_error([&] {
                  check_greens_memory(finite_memory(1e6, 2e4, 2e4), 8e9,
                                      GreensMethod::FiniteElements, 20000, 20000);
              }).find("lower the resolution"),
              std::string::npos);
}

TEST(GreensMemory, TheDirectSolverIsLeftWhereItDoesNotFit) {
    // 10,000 nodes: a matrix of 7.2 GB, and 1.08 GB for each 1,000 columns
    const GreensMemory few = boundary_memory(10000, 100, 100),
                       many = boundary_memory(10000, 9000, 9000);
    EXPECT_NEAR(few.total(), 7.2e9 + 0.108e9, 0.6e9);
    EXPECT_FALSE(solves_iteratively(GreensSolver::Auto, few, 8e9));
    EXPECT_TRUE(solves_iteratively(GreensSolver::Auto, few, 7e9));
    EXPECT_TRUE(solves_iteratively(GreensSolver::Auto, many, 8e9)) << "columns count as well";
    EXPECT_FALSE(solves_iteratively(GreensSolver::Auto, many, 2e10));
    EXPECT_FALSE(solves_iteratively(GreensSolver::Auto, few, few.total()));
    // whoever asks for one gets it; check_greens_memory then says what is missing
    EXPECT_FALSE(solves_iteratively(GreensSolver::Direct, many, 1e9));
    EXPECT_TRUE(solves_iteratively(GreensSolver::Iterative, few, 1e12));
    // where the direct one does not fit, the other does
    EXPECT_LT(iterative_memory(10000, 100).total(), 7e9);
}

}  // namespace
}  // namespace pliant
