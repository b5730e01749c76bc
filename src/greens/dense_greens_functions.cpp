#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "core/numbers.h"
#include "greens/column_kernels.h"
#include "pliant/core/error.h"
#include "pliant/greens/greens_functions.h"

namespace pliant {

DenseGreensFunctions::DenseGreensFunctions(DenseGreensLayout layout) : layout_(std::move(layout)) {
    read_layout();
    struct alignas(64) Line {
        float values[kColumnPad] = {};
    };
    static_assert(sizeof(Line) == 64);
    const auto lines =
        std::make_shared<std::vector<Line>>(stride_ / kColumnPad * num_scalar_columns());
    values_ = writable_ = lines->data()->values;
    owner_ = lines;
}

DenseGreensFunctions::DenseGreensFunctions(DenseGreensLayout layout, std::span<const float> values,
                                           std::shared_ptr<const void> owner)
    : layout_(std::move(layout)), owner_(std::move(owner)), values_(values.data()) {
    read_layout();
    assert(reinterpret_cast<std::uintptr_t>(values_) % 64 == 0);
    const std::size_t expected = stride_ * num_scalar_columns();
    if (values.size() != expected)
        throw InputError("", "greens.values, length", std::to_string(values.size()),
                         std::to_string(expected) + ": " + std::to_string(num_scalar_columns()) +
                             " columns of " + std::to_string(stride_));
}

void DenseGreensFunctions::read_layout() {
    const auto require = [](bool is_good, const char* field, int value, const char* expected) {
        if (!is_good) throw InputError("", field, std::to_string(value), expected);
    };
    require(layout_.num_nodes > 0, "greens.num_nodes", layout_.num_nodes, "value > 0");
    require(layout_.block == 1 || layout_.block == 3, "greens.block", layout_.block, "1 or 3");
    require(layout_.num_body_columns >= 0, "greens.num_body_columns", layout_.num_body_columns,
            "value >= 0");
    require(layout_.num_readouts >= 0, "greens.num_readouts", layout_.num_readouts, "value >= 0");

    require(layout_.num_column_levels > 0 && layout_.num_column_levels < 32,
            "greens.num_column_levels", layout_.num_column_levels, "1 to 31");

    place_.assign(at(layout_.num_nodes) * at(layout_.num_column_levels), -1);
    int place = 0;
    for (const int id : layout_.columns) {
        require(id >= 0 && at(id) < place_.size() && place_[at(id)] < 0, "greens.columns", id,
                layout_.num_column_levels == 1 ? "every node at most once, below num_nodes"
                                               : "every id at most once, below num_nodes times "
                                                 "num_column_levels");
        place_[at(id)] = place++;
    }
    const std::size_t rows = at(layout_.block) * at(layout_.num_nodes) + at(layout_.num_readouts);
    stride_ = (rows + kColumnPad - 1) / kColumnPad * kColumnPad;
}

std::size_t DenseGreensFunctions::num_scalar_columns() const noexcept {
    return first_body_column() + at(layout_.num_body_columns);
}

std::size_t DenseGreensFunctions::first_scalar_column(int node) const noexcept {
    return at(place_[at(node)]) * at(layout_.block);
}

std::size_t DenseGreensFunctions::first_body_column() const noexcept {
    return layout_.columns.size() * at(layout_.block);
}

void DenseGreensFunctions::store(std::size_t index, const Eigen::Ref<const Eigen::VectorXd>& values,
                                 const char* kind, int number) {
    assert(values.size() == layout_.block * layout_.num_nodes + layout_.num_readouts);
    assert(writable_ != nullptr);
    float* const to = writable_ + index * stride_;
    for (Eigen::Index row = 0; row < values.size(); ++row) {
        const float value = static_cast<float>(values[row]);
        if (!std::isfinite(value))
            throw InputError("", "greens: the column of " + std::string(kind) + " " +
                                     std::to_string(number) + " is not finite in row " +
                                     std::to_string(row) + "; check the mesh for slivers");
        to[row] = value;
    }
}

void DenseGreensFunctions::set_column(int node, const Eigen::Ref<const Eigen::MatrixXd>& values) {
    assert(has_column(node) && values.cols() == layout_.block);
    for (int c = 0; c < layout_.block; ++c)
        store(first_scalar_column(node) + at(c), values.col(c), "node", node);
}

void DenseGreensFunctions::set_body_column(int k, const Eigen::Ref<const Eigen::VectorXd>& values) {
    assert(k >= 0 && k < layout_.num_body_columns);
    store(first_body_column() + at(k), values, "body force", k);
}

void DenseGreensFunctions::element(int i, int j, float* values) const noexcept {
    assert(has_column(j));
    const int block = layout_.block;
    const std::size_t column = first_scalar_column(j);
    for (int c = 0; c < block; ++c) {
        const float* const from = scalar_column(column + at(c)) + at(i) * at(block);
        for (int r = 0; r < block; ++r) values[r * block + c] = from[r];
    }
}

void DenseGreensFunctions::body_element(int i, int k, float* values) const noexcept {
    const float* const from = scalar_column(first_body_column() + at(k));
    std::copy_n(from + at(i) * at(layout_.block), layout_.block, values);
}

void DenseGreensFunctions::add_rows(std::span<const int> nodes, std::span<const float> weights,
                                    std::size_t first_row, std::span<float> out) const noexcept {
    assert(weights.size() == nodes.size() * at(layout_.block));
    ColumnSum<float> sum(out.data(), out.size());
    for (std::size_t k = 0; k < nodes.size(); ++k)
        for (std::size_t c = 0; c < at(layout_.block); ++c)
            sum.add(scalar_column(first_scalar_column(nodes[k]) + c) + first_row,
                    weights[k * at(layout_.block) + c]);
    sum.finish();
}

void DenseGreensFunctions::add_body_rows(std::span<const float> weights, std::size_t first_row,
                                         std::span<float> out) const noexcept {
    assert(weights.size() == at(layout_.num_body_columns));
    ColumnSum<float> sum(out.data(), out.size());
    for (std::size_t k = 0; k < weights.size(); ++k)
        sum.add(scalar_column(first_body_column() + k) + first_row, weights[k]);
    sum.finish();
}

void DenseGreensFunctions::add_columns(std::span<const int> nodes, std::span<const float> weights,
                                       std::span<float> out) const noexcept {
    assert(out.size() <= at(layout_.block) * at(layout_.num_nodes));
    add_rows(nodes, weights, 0, out);
}

void DenseGreensFunctions::add_body_columns(std::span<const float> weights,
                                            std::span<float> out) const noexcept {
    assert(out.size() <= at(layout_.block) * at(layout_.num_nodes));
    add_body_rows(weights, 0, out);
}

void DenseGreensFunctions::add_readouts(std::span<const int> nodes, std::span<const float> weights,
                                        std::span<float> out) const noexcept {
    assert(out.size() == at(layout_.num_readouts));
    add_rows(nodes, weights, at(layout_.block) * at(layout_.num_nodes), out);
}

void DenseGreensFunctions::add_body_readouts(std::span<const float> weights,
                                             std::span<float> out) const noexcept {
    assert(out.size() == at(layout_.num_readouts));
    add_body_rows(weights, at(layout_.block) * at(layout_.num_nodes), out);
}

}  // namespace pliant
