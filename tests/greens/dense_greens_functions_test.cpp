#include "pliant/greens/greens_functions.h"

#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include "core/numbers.h"
#include "pliant/core/simd.h"
#include "tests/greens/synthetic_greens.h"
#include "tests/input_error.h"

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

struct DenseExample {
    static constexpr int kNodes = 37, kReadouts = 5;
    MatrixXd columns = test::rounded_to_float(test::random_matrix(3 * kNodes + kReadouts, 12, 1));
    MatrixXd body = test::rounded_to_float(test::random_matrix(3 * kNodes + kReadouts, 3, 2));
    std::vector<int> nodes{30, 2, 17, 5};
    DenseGreensFunctions functions{{.num_nodes = kNodes,
                                    .block = 3,
                                    .columns = nodes,
                                    .num_body_columns = 3,
                                    .num_readouts = kReadouts}};
    DenseExample() {
        for (std::size_t k = 0; k < nodes.size(); ++k)
            functions.set_column(nodes[k], columns.middleCols(3 * static_cast<int>(k), 3));
        for (int k = 0; k < 3; ++k) functions.set_body_column(k, body.col(k));
    }
};

VectorXd as_double(const std::vector<float>& values) {
    return Eigen::Map<const Eigen::VectorXf>(values.data(), static_cast<int>(values.size()))
        .cast<double>();
}

TEST(DenseGreensFunctions, ElementsAreThoseThatWereSet) {
    const DenseExample example;
    EXPECT_TRUE(example.functions.has_column(17));
    EXPECT_FALSE(example.functions.has_column(3));
    EXPECT_FALSE(example.functions.has_column(-1));
    EXPECT_FALSE(example.functions.has_column(37));
    float block[9], body[3];
    example.functions.element(36, 17, block);
    example.functions.body_element(4, 2, body);
    for (int r = 0; r < 3; ++r) {
        for (int c = 0; c < 3; ++c)
            EXPECT_EQ(double{block[3 * r + c]}, example.columns(3 * 36 + r, 6 + c));
        EXPECT_EQ(double{body[r]}, example.body(3 * 4 + r, 2));
    }
}

TEST(DenseGreensFunctions, SumsOfColumnsAgreeWithProductsOnEveryTarget) {
    const DenseExample example;
    const std::vector<int> order{5, 30, 2, 17};
    const std::vector<float> weights{1, -2, 0.5f, 0, 0, 3, 0.25f, 1, 1, -1, 2, 0.125f},
        beta{0.5f, -1, 2};
    VectorXd w(12);
    w << 0, 0, 3, 0.25, 1, 1, -1, 2, 0.125, 1, -2, 0.5;
    const VectorXd sum = example.columns * w, body = example.body * Eigen::Vector3d(0.5, -1, 2);
    for (const auto& target : simd_targets()) {
        const ScopedSimdTarget scope(target);
        // whole columns, and prefixes of levels with odd ends
        for (const int rows : {3 * DenseExample::kNodes, 50, 7, 0}) {
            std::vector<float> out(at(rows), 1.0f);
            example.functions.add_columns(order, weights, out);
            example.functions.add_body_columns(beta, out);
            const VectorXd expected = (sum + body).head(rows).array() + 1;
            // rounding of a dozen additions of numbers of size one
            EXPECT_LT((as_double(out) - expected).lpNorm<Eigen::Infinity>(), 5e-6) << target;
        }
        std::vector<float> readouts(DenseExample::kReadouts);
        example.functions.add_readouts(order, weights, readouts);
        example.functions.add_body_readouts(beta, readouts);
        const VectorXd expected = (sum + body).tail(DenseExample::kReadouts);
        EXPECT_LT((as_double(readouts) - expected).lpNorm<Eigen::Infinity>(), 5e-6) << target;
    }
}

TEST(DenseGreensFunctions, BadLayoutsAndValuesAreNamed) {
    const auto error = [](DenseGreensLayout layout) {
        return test::input_error([&] { DenseGreensFunctions{std::move(layout)}; });
    };
    EXPECT_EQ(error({.num_nodes = 0, .columns = {}}), "greens.num_nodes = 0 (expected value > 0)");
    EXPECT_EQ(error({.num_nodes = 4, .block = 2, .columns = {}}),
              "greens.block = 2 (expected 1 or 3)");
    EXPECT_EQ(error({.num_nodes = 4, .columns = {1, 1}}),
              "greens.columns = 1 (expected every node at most once, below num_nodes)");
    EXPECT_EQ(error({.num_nodes = 4, .columns = {4}}),
              "greens.columns = 4 (expected every node at most once, below num_nodes)");
    DenseExample example;
    MatrixXd column = MatrixXd::Zero(3 * DenseExample::kNodes + DenseExample::kReadouts, 3);
    column(6, 1) = kNan;
    EXPECT_EQ(test::input_error([&] { example.functions.set_column(17, column); }),
              "greens: the column of node 17 is not finite in row 6; check the mesh for slivers");
}

}  // namespace
}  // namespace pliant
