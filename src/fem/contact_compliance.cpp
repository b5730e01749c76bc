#include "fem/contact_compliance.h"

#include <algorithm>
#include <cassert>

namespace pliant {

ContactCompliance::ContactCompliance(CoupledSystem& system, int num_nodes, int capacity)
    : system_(system),
      is_scalar_(system.is_scalar()),
      place_of_node_(static_cast<std::size_t>(num_nodes), -1),
      node_of_place_(static_cast<std::size_t>(capacity), -1),
      is_needed_(static_cast<std::size_t>(capacity), 0) {
    const int width = is_scalar_ ? 1 : 3;
    blocks_.setZero(width * capacity, width * capacity);
    columns_.setZero(system.num_free() / (is_scalar_ ? 3 : 1), kBatch);
    missing_.reserve(static_cast<std::size_t>(capacity));
}

int ContactCompliance::take_place(int node) noexcept {
    int place = num_places_;
    if (num_places_ < static_cast<int>(node_of_place_.size())) {
        ++num_places_;
    } else {
        // in turns; there are no more needed ones than places
        while (is_needed_[next_victim_])
            next_victim_ = (next_victim_ + 1) % static_cast<int>(node_of_place_.size());
        place = next_victim_;
        place_of_node_[node_of_place_[place]] = -1;
        ++generation_;
    }
    node_of_place_[place] = node;
    place_of_node_[node] = place;
    is_needed_[place] = 1;
    return place;
}

void ContactCompliance::require(int step, std::span<const int> nodes, std::span<int> places) {
    assert(nodes.size() <= node_of_place_.size() && places.size() == nodes.size());
    if (const int matrix = system_.steps().matrix_of(step); matrix != matrix_) {
        matrix_ = matrix;
        ++generation_;
        for (int p = 0; p < num_places_; ++p) place_of_node_[node_of_place_[p]] = -1;
        num_places_ = 0;
    }
    std::ranges::fill(is_needed_, char{0});
    for (const int node : nodes)
        if (place_of_node_[node] >= 0) is_needed_[place_of_node_[node]] = 1;
    missing_.clear();
    for (const int node : nodes)
        if (place_of_node_[node] < 0) {
            take_place(node);
            missing_.push_back(node);
        }
    const std::size_t batch = is_scalar_ ? kBatch : kBatch / 3;
    for (std::size_t first = 0; first < missing_.size(); first += batch)
        compute(step, std::span(missing_).subspan(first, std::min(batch, missing_.size() - first)));
    for (std::size_t k = 0; k < nodes.size(); ++k) places[k] = place_of_node_[nodes[k]];
}

void ContactCompliance::compute(int step, std::span<const int> nodes) {
    using Entry = CoupledSystem::RowMatrix::InnerIterator;
    const CoupledSystem::RowMatrix& T = system_.T_by_rows();
    // with a scalar factor component x of the node stands for all, unknown q / 3 for its node
    const int width = is_scalar_ ? 1 : 3, divisor = is_scalar_ ? 3 : 1;
    auto columns = columns_.leftCols(width * static_cast<int>(nodes.size()));
    columns.setZero();
    for (int k = 0; k < static_cast<int>(nodes.size()); ++k)
        for (int c = 0; c < width; ++c)
            for (Entry entry(T, 3 * nodes[k] + c); entry; ++entry)
                columns(entry.col() / divisor, width * k + c) = entry.value();
    system_.steps().solve(step, columns);

    for (int k = 0; k < static_cast<int>(nodes.size()); ++k) {
        const int j = width * place_of_node_[nodes[k]];
        for (int p = 0; p < num_places_; ++p)
            for (int d = 0; d < width; ++d)
                for (int c = 0; c < width; ++c) {
                    double value = 0;
                    for (Entry entry(T, 3 * node_of_place_[p] + d); entry; ++entry)
                        value += entry.value() * columns(entry.col() / divisor, width * k + c);
                    blocks_(width * p + d, j + c) = blocks_(j + c, width * p + d) = value;
                }
    }
    num_columns_ += static_cast<std::int64_t>(nodes.size());
}

}  // namespace pliant
