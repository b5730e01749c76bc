#pragma once

#include <memory>
#include <vector>

#include "pliant/greens/build_greens.h"
#include "pliant/greens/wavelet_greens.h"
#include "tests/greens/wavelet_domains.h"

namespace pliant::test {

/// Boundary elements of the eared blob, its bottom quarter fixed, all nodes with columns.
inline GreensModel blob_model(int levels, bool has_fixed_columns = false,
                              std::vector<GreensReadout> readouts = {}) {
    GreensBuildOptions options;
    options.fixed = "z < 25 %";
    options.has_fixed_columns = has_fixed_columns;
    options.readouts = std::move(readouts);
    return build_greens_model(eared_blob(levels), options);
}

inline const DenseGreensFunctions& dense_functions(const GreensModel& model) {
    return dynamic_cast<const DenseGreensFunctions&>(*model.reference.functions);
}

inline std::shared_ptr<const WaveletGreensFunctions> compressed(const GreensModel& model,
                                                                const WaveletOptions& options) {
    return compress_greens(dense_functions(model), model.surface, model.reference.kinds,
                           model.reference.areas, options);
}

/// The same numbers as dense columns: each transformed back by itself.
inline std::shared_ptr<const DenseGreensFunctions> reconstructed(
    const WaveletGreensFunctions& wavelets) {
    auto dense = std::make_shared<DenseGreensFunctions>(wavelets.layout());
    const int n = wavelets.num_nodes(), readouts = wavelets.num_readouts();
    Eigen::MatrixXd values(3 * n + readouts, 3);
    const auto fill = [&](int column, auto&& coefficients, auto&& add_readouts) {
        std::vector<double> rows(3 * at(n), 0.0);
        coefficients(rows);
        wavelets.transform().inverse(rows.data(), 3);
        std::vector<float> told(at(readouts), 0.0f);
        add_readouts(told);
        for (int i = 0; i < 3 * n; ++i) values(i, column) = rows[at(i)];
        for (int i = 0; i < readouts; ++i) values(3 * n + i, column) = double{told[at(i)]};
    };
    for (const int node : wavelets.layout().columns) {
        const auto column = wavelets.column(node);
        const auto value = [&](std::size_t block, std::size_t c) {
            if (column.units.empty()) return double{column.blocks[9 * block + c]};
            const int v = column.nodes[block];
            return static_cast<double>(column.integers[9 * block + c]) *
                   double{column.units[at(2 * wavelets.transform().level(v) +
                                          wavelets.transform().domain(v))]};
        };
        for (int c = 0; c < 3; ++c)
            fill(
                c,
                [&](std::vector<double>& rows) {
                    for (std::size_t k = 0; k < column.nodes.size(); ++k)
                        for (std::size_t r = 0; r < 3; ++r)
                            rows[3 * at(column.nodes[k]) + r] = value(k, 3 * at(c) + r);
                },
                [&](std::vector<float>& told) {
                    std::vector<float> weights(3, 0.0f);
                    weights[at(c)] = 1;
                    wavelets.add_readouts(std::vector<int>{node}, weights, told);
                });
        dense->set_column(node, values);
    }
    for (int k = 0; k < wavelets.num_body_columns(); ++k) {
        std::vector<float> weights(at(wavelets.num_body_columns()), 0.0f), out(3 * at(n), 0.0f),
            told(at(readouts), 0.0f);
        weights[at(k)] = 1;
        wavelets.add_body_columns(weights, out);
        wavelets.add_body_readouts(weights, told);
        Eigen::VectorXd column(3 * n + readouts);
        for (int i = 0; i < 3 * n; ++i) column[i] = double{out[at(i)]};
        for (int i = 0; i < readouts; ++i) column[3 * n + i] = double{told[at(i)]};
        dense->set_body_column(k, column);
    }
    return dense;
}

}  // namespace pliant::test
