#include "pliant/greens/wavelet_greens.h"

#include "core/fetch_memory.h"
#include "core/large_pages.h"
#include "core/numbers.h"
#include "greens/wavelet_kernels.h"
#include "pliant/core/error.h"
#include "pliant/core/parallel.h"
#include "pliant/field/build_field.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <string>
#include <utility>

namespace pliant {
namespace {

/// Entries of a row functional that are looked up together.
constexpr int kRowChunk = 256;
/// Columns that are fetched together before they are summed.
constexpr std::size_t kFetched = 16;

/// Of each thread, for sums that nobody keeps.
std::span<float> thread_scratch(std::size_t size) {
    thread_local std::vector<float> scratch;
    scratch.assign(size, 0.0f);
    return scratch;
}

/// Free nodes, and fixed ones unless displacements are all that is wanted.
std::size_t num_domains(SummedRows rows) noexcept {
    return rows == SummedRows::Displacements ? 1 : 2;
}

/// What a sum will read of some columns.
void fetch_blocks(std::span<const SparseBlocks> columns, std::size_t block_size) noexcept {
    std::array<FetchedRange, 2 * kFetched> ranges;
    const std::span<const FetchedRange> all{ranges.data(), columns.size()};
    std::transform(columns.begin(), columns.end(), ranges.begin(), [](const SparseBlocks& column) {
        return FetchedRange(column.nodes, column.count);
    });
    fetch_memory(all);
    std::transform(columns.begin(), columns.end(), ranges.begin(), [&](const SparseBlocks& column) {
        const std::size_t count = column.count * block_size;
        return column.integers ? FetchedRange(column.integers, count)
                               : FetchedRange(column.blocks, count);
    });
    fetch_memory(all);
}

[[noreturn]] void fail_columns(const std::string& field, const std::string& value,
                               const std::string& expected) {
    throw InputError("", "wavelet." + field, value, expected);
}

}  // namespace

std::vector<int> domain_labels(std::span<const NodeKind> kinds) {
    std::vector<int> labels;
    for (const NodeKind kind : kinds) labels.push_back(kind == NodeKind::Free ? 0 : 1);
    return labels;
}

void check_options(const WaveletOptions& options) {
    if (!(options.tolerance >= 0 && options.tolerance < 1))
        throw InputError("", "tolerance", std::to_string(options.tolerance),
                         "0 <= value < 1; from 1 on nothing but the base would be left");
    if (options.bits != 16 && options.bits != 32)
        throw InputError("", "bits", std::to_string(options.bits), "16 or 32");
}

WaveletGreensFunctions::WaveletGreensFunctions(const SemiRegularMesh& mesh,
                                               std::span<const NodeKind> kinds,
                                               std::span<const double> areas, GreensLayout layout,
                                               WaveletColumns columns,
                                               const CompressionReport& report)
    : layout_(std::move(layout)),
      transform_(mesh, report.options.kind, areas, domain_labels(kinds)),
      report_(report),
      readouts_(std::move(columns.readouts)) {
    if (layout_.num_nodes != transform_.num_vertices())
        fail_columns("num_nodes", std::to_string(layout_.num_nodes),
                     std::to_string(transform_.num_vertices()) + ", the vertices of the mesh");
    if (layout_.block != 1 && layout_.block != 3)
        fail_columns("block", std::to_string(layout_.block), "1 or 3");
    const int num_ids = layout_.num_nodes * (transform_.num_levels() + 1);
    std::vector<int> place(at(num_ids), -1);
    int num_placed = 0;
    for (const int id : layout_.columns) {
        if (id < 0 || id >= num_ids || place[at(id)] >= 0)
            fail_columns("columns", std::to_string(id),
                         "every column at most once, below " + std::to_string(num_ids));
        place[at(id)] = num_placed++;
        layout_.num_column_levels = std::max(layout_.num_column_levels, id / layout_.num_nodes + 1);
    }
    check_columns(columns);
    divide_by_domains(std::move(columns), std::move(place));
    find_places();
    find_rows();
}

std::size_t WaveletGreensFunctions::num_groups() const noexcept {
    const std::size_t block = at(layout_.block);
    return layout_.columns.size() + (at(layout_.num_body_columns) + block - 1) / block;
}

/// Sizes, order and values, so that nothing needs to be checked later.
void WaveletGreensFunctions::check_columns(const WaveletColumns& columns) const {
    const std::size_t levels = at(transform_.num_levels() + 1), block = at(layout_.block);
    const auto require_size = [](std::size_t size, std::size_t expected, const char* field) {
        if (size != expected)
            fail_columns(std::string(field) + ", length", std::to_string(size),
                         std::to_string(expected));
    };
    require_size(columns.level_ends.size(), levels * num_groups(), "level_ends");
    std::size_t first = 0;
    for (std::size_t g = 0; g < num_groups(); ++g) {
        std::uint32_t begin = 0;
        for (std::size_t l = 0; l < levels; ++l) {
            const std::uint32_t end = columns.level_ends[g * levels + l];
            if (end < begin || end > at(layout_.num_nodes) || first + end > columns.nodes.size())
                fail_columns("level_ends[" + std::to_string(g * levels + l) + "]",
                             std::to_string(end), "ascending, no more than there are nodes");
            int lowest = l == 0 ? 0 : transform_.level_sizes()[l - 1];
            for (std::size_t k = first + begin; k < first + end; ++k) {
                const int node = columns.nodes[k];
                if (node < lowest || node >= transform_.level_sizes()[l])
                    fail_columns("nodes[" + std::to_string(k) + "]", std::to_string(node),
                                 "nodes of level " + std::to_string(l) + ", ascending");
                lowest = node + 1;
            }
            begin = end;
        }
        first += begin;
    }
    require_size(columns.nodes.size(), first, "nodes");
    const bool is_short = report_.options.bits == 16;
    require_size(columns.blocks.size(), is_short ? 0 : first * block * block, "blocks");
    require_size(columns.integers.size(), is_short ? first * block * block : 0, "integers");
    require_size(readouts_.size(), num_groups() * block * at(layout_.num_readouts), "readouts");
    require_size(columns.units.size(), is_short ? 2 * levels * num_groups() : 0, "units");
    const auto require_finite = [](const std::vector<float>& values, const char* field) {
        for (std::size_t k = 0; k < values.size(); ++k)
            if (!std::isfinite(values[k]))
                fail_columns(std::string(field) + "[" + std::to_string(k) + "]",
                             std::to_string(values[k]), "a finite number");
    };
    require_finite(columns.blocks, "blocks");
    require_finite(columns.units, "units");
    require_finite(readouts_, "readouts");
}

/// Words of a column before its nodes: ends of levels, and units of 16 bits.
std::size_t WaveletGreensFunctions::num_heads() const noexcept {
    const std::size_t levels = at(transform_.num_levels() + 1);
    return (report_.options.bits == 16 ? 4 : 2) * levels;
}

/// Displacements can then be summed without tractions, which are rougher and need more blocks.
void WaveletGreensFunctions::divide_by_domains(WaveletColumns columns, std::vector<int> place) {
    constexpr std::size_t kLineWords = 16;
    const std::size_t levels = at(transform_.num_levels() + 1),
                      size = at(layout_.block) * at(layout_.block),
                      bytes = size * at(report_.options.bits / 8);
    const auto* const values = columns.integers.empty()
                                   ? reinterpret_cast<const char*>(columns.blocks.data())
                                   : reinterpret_cast<const char*>(columns.integers.data());
    num_blocks_ = columns.nodes.size();
    std::vector<std::size_t> starts;
    std::vector<std::uint32_t> records;
    std::vector<std::size_t> order;  // of the blocks of a column
    for (std::size_t g = 0, first = 0; g < num_groups(); ++g, first += order.size()) {
        const std::uint32_t* const ends = columns.level_ends.data() + g * levels;
        starts.push_back(records.size());
        order.clear();
        for (const int domain : {0, 1}) {
            const std::size_t part = order.size();
            for (std::size_t l = 0, k = 0; l < levels; ++l) {
                for (; k < ends[l]; ++k)
                    if (transform_.domain(columns.nodes[first + k]) == domain)
                        order.push_back(first + k);
                records.push_back(static_cast<std::uint32_t>(order.size() - part));
            }
        }
        for (std::size_t k = 0; k < 2 * levels && !columns.units.empty(); ++k)
            records.push_back(std::bit_cast<std::uint32_t>(columns.units[2 * g * levels + k]));
        for (const std::size_t k : order)
            records.push_back(static_cast<std::uint32_t>(columns.nodes[k]));
        const std::size_t place_of_values = records.size(),
                          words = (order.size() * bytes + 3) / 4 + kLineWords;
        // whole lines
        records.resize((place_of_values + words) / kLineWords * kLineWords);
        char* to = reinterpret_cast<char*>(records.data() + place_of_values);
        for (const std::size_t k : order) to = std::copy_n(values + k * bytes, bytes, to);
    }
    // never more than two copies of everything
    columns = {};
    LargePages pages(LargePages::room_for(place) + LargePages::room_for(starts) +
                     LargePages::room_for(records));
    memory_ = pages.owner();
    place_ = pages.add(std::move(place));
    starts_ = pages.add(std::move(starts));
    records_ = pages.add(std::move(records));
}

WaveletColumns WaveletGreensFunctions::columns() const {
    const std::size_t levels = at(transform_.num_levels() + 1),
                      size = at(layout_.block) * at(layout_.block);
    WaveletColumns columns;
    columns.readouts = readouts_;
    for (std::size_t g = 0; g < num_groups(); ++g) {
        const Column one = group(g);
        columns.units.insert(columns.units.end(), one.units.begin(), one.units.end());
        const std::size_t num_free = one.level_ends[levels - 1];
        std::size_t place[2] = {0, num_free};
        for (std::size_t l = 0; l < levels; ++l) {
            const std::size_t end[2] = {one.level_ends[l], num_free + one.level_ends[levels + l]};
            while (place[0] < end[0] || place[1] < end[1]) {
                const std::size_t domain =
                    place[1] == end[1] ||
                            (place[0] < end[0] && one.nodes[place[0]] < one.nodes[place[1]])
                        ? 0
                        : 1;
                const std::size_t k = place[domain]++;
                columns.nodes.push_back(one.nodes[k]);
                for (std::size_t c = k * size; c < (k + 1) * size; ++c)
                    if (one.units.empty())
                        columns.blocks.push_back(one.blocks[c]);
                    else
                        columns.integers.push_back(one.integers[c]);
            }
            columns.level_ends.push_back(static_cast<std::uint32_t>(end[0] + end[1] - num_free));
        }
    }
    return columns;
}

void WaveletGreensFunctions::find_places() {
    rank_.resize(at(layout_.num_nodes));
    int num_ranked = 0;
    for (const int domain : {0, 1})
        for (int v = 0; v < layout_.num_nodes; ++v)
            if (transform_.domain(v) == domain) rank_[at(v)] = num_ranked++;
    words_ = (at(layout_.num_nodes) + 63) / 64;
    // a small file can have many nodes and columns without blocks
    const double bytes = 12.0 * static_cast<double>(words_) * static_cast<double>(num_groups());
    if (bytes > static_cast<double>(available_memory()))
        fail_columns("columns", std::to_string(num_groups()),
                     "fewer: the places of their blocks do not fit into memory");
    masks_.assign(words_ * num_groups(), 0);
    ranks_.assign(words_ * num_groups(), 0);
    for (std::size_t g = 0; g < num_groups(); ++g) {
        std::uint64_t* const masks = masks_.data() + g * words_;
        for (const int node : group(g).nodes) {
            const int rank = rank_[at(node)];
            masks[at(rank) / 64] |= std::uint64_t{1} << (rank % 64);
        }
        std::uint32_t count = 0;
        for (std::size_t w = 0; w < words_; ++w) {
            ranks_[g * words_ + w] = count;
            count += static_cast<std::uint32_t>(std::popcount(masks[w]));
        }
    }
    for (int v = 0; v < layout_.num_nodes; ++v)
        unit_of_node_.push_back(
            static_cast<std::uint8_t>(2 * transform_.level(v) + transform_.domain(v)));
}

void WaveletGreensFunctions::find_rows() {
    const std::size_t n = at(layout_.num_nodes);
    std::vector<SurfaceTransform::Row> rows(n);
    parallel_for(n, 64,
                 [&](std::size_t v) { rows[v] = transform_.row_weights(static_cast<int>(v)); });
    row_starts_.assign(1, 0);
    for (const SurfaceTransform::Row& row : rows) {
        row_nodes_.insert(row_nodes_.end(), row.vertices.begin(), row.vertices.end());
        for (const double weight : row.weights) row_weights_.push_back(static_cast<float>(weight));
        row_starts_.push_back(static_cast<int>(row_nodes_.size()));
    }
}

std::size_t WaveletGreensFunctions::num_bytes() const noexcept {
    const auto bytes = [](const auto& values) { return values.size() * sizeof(values[0]); };
    return bytes(records_) + bytes(readouts_) + bytes(masks_) + bytes(ranks_) + bytes(starts_) +
           bytes(rank_) + bytes(place_) + bytes(unit_of_node_) + bytes(row_starts_) +
           bytes(row_nodes_) + bytes(row_weights_);
}

std::size_t WaveletGreensFunctions::sum_stride() const noexcept {
    return layout_.block == 3 ? kPaddedBlock : 1;
}

void WaveletGreensFunctions::copy_block(const Column& column, std::size_t k,
                                        float* values) const noexcept {
    const std::size_t size = at(block()) * at(block());
    if (column.units.empty()) {
        std::copy_n(column.blocks.data() + k * size, size, values);
        return;
    }
    const float unit = column.units[unit_of_node_[at(column.nodes[k])]];
    for (std::size_t c = 0; c < size; ++c)
        values[c] = unit * static_cast<float>(column.integers[k * size + c]);
}

WaveletGreensFunctions::Column WaveletGreensFunctions::group(std::size_t index) const noexcept {
    const std::size_t levels = at(transform_.num_levels() + 1),
                      size = at(layout_.block) * at(layout_.block);
    const std::uint32_t* const record = records_.data() + starts_[index];
    const std::size_t count = std::size_t{record[levels - 1]} + record[2 * levels - 1];
    const std::uint32_t* const values = record + num_heads() + count;
    Column column;
    column.level_ends = {record, 2 * levels};
    column.nodes = {reinterpret_cast<const int*>(record + num_heads()), count};
    if (report_.options.bits == 16) {
        column.units = {reinterpret_cast<const float*>(record + 2 * levels), 2 * levels};
        column.integers = {reinterpret_cast<const std::int16_t*>(values), count * size};
    } else {
        column.blocks = {reinterpret_cast<const float*>(values), count * size};
    }
    return column;
}

WaveletGreensFunctions::Column WaveletGreensFunctions::column(int id) const noexcept {
    assert(has_column(id));
    return group(at(place_[at(id)]));
}

int WaveletGreensFunctions::level_of_prefix(int num_nodes) const noexcept {
    const auto sizes = transform_.level_sizes();
    return static_cast<int>(std::lower_bound(sizes.begin(), sizes.end(), num_nodes) -
                            sizes.begin());
}

std::size_t WaveletGreensFunctions::sum_size(int num_nodes) const noexcept {
    return at(transform_.level_sizes()[at(level_of_prefix(num_nodes))]) * sum_stride();
}

SparseBlocks WaveletGreensFunctions::blocks_to(std::size_t index, std::size_t domain,
                                               int level) const noexcept {
    const std::size_t levels = at(transform_.num_levels() + 1),
                      size = at(layout_.block) * at(layout_.block);
    const Column column = group(index);
    const std::size_t first = domain == 0 ? 0 : column.level_ends[levels - 1];
    SparseBlocks blocks;
    blocks.nodes = column.nodes.data() + first;
    blocks.level_ends = column.level_ends.data() + domain * levels;
    blocks.num_levels = at(level) + 1;
    blocks.count = blocks.level_ends[level];
    if (report_.options.bits == 16) {
        blocks.integers = column.integers.data() + first * size;
        blocks.units = column.units.data() + domain;
    } else {
        blocks.blocks = column.blocks.data() + first * size;
    }
    return blocks;
}

void WaveletGreensFunctions::add_blocks(const SparseBlocks& column, const float* weights,
                                        float* sum) const noexcept {
    if (layout_.block == 3) return add_sparse_blocks(column, weights, sum);
    for (std::size_t l = 0, k = 0; l < column.num_levels; ++l)
        for (; k < column.level_ends[l]; ++k)
            sum[at(column.nodes[k])] +=
                weights[0] * (column.integers
                                  ? column.units[2 * l] * static_cast<float>(column.integers[k])
                                  : column.blocks[k]);
}

void WaveletGreensFunctions::add_body_groups(std::span<const float> weights, int level,
                                             SummedRows rows, float* sum) const noexcept {
    const std::size_t block = at(layout_.block);
    for (std::size_t first = 0, g = layout_.columns.size(); first < weights.size();
         first += block, ++g) {
        std::array<float, 3> some = {};
        std::copy_n(weights.data() + first, std::min(block, weights.size() - first), some.data());
        for (std::size_t domain = 0; domain < num_domains(rows); ++domain)
            add_blocks(blocks_to(g, domain, level), some.data(), sum);
    }
}

/// Fetches what tells where the blocks of columns are, and their units.
void WaveletGreensFunctions::look_ahead(std::span<const int> ids) const noexcept {
    std::array<FetchedRange, kFetched> ranges;
    std::transform(ids.begin(), ids.end(), ranges.begin(), [&](int id) {
        return FetchedRange(records_.data() + starts_[at(place_[at(id)])], num_heads());
    });
    fetch_memory({ranges.data(), ids.size()});
}

void WaveletGreensFunctions::accumulate(std::span<const int> ids, std::span<const float> weights,
                                        std::span<const float> body_weights, int num_nodes,
                                        std::span<float> sum, SummedRows rows) const noexcept {
    const std::size_t block = at(layout_.block), domains = num_domains(rows);
    assert(weights.size() == ids.size() * block);
    assert(sum.size() >= sum_size(num_nodes));
    const int level = level_of_prefix(num_nodes);
    look_ahead(ids.first(std::min(kFetched, ids.size())));
    while (!ids.empty()) {
        const std::size_t count = std::min(kFetched, ids.size());
        std::array<SparseBlocks, 2 * kFetched> parts;
        for (std::size_t k = 0; k < count * domains; ++k)
            parts[k] = blocks_to(at(place_[at(ids[k / domains])]), k % domains, level);
        const std::span<const int> rest = ids.subspan(count);
        look_ahead(rest.first(std::min(kFetched, rest.size())));
        fetch_blocks({parts.data(), count * domains}, block * block);
        for (std::size_t k = 0; k < count * domains; ++k)
            add_blocks(parts[k], weights.data() + k / domains * block, sum.data());
        ids = rest;
        weights = weights.subspan(count * block);
    }
    add_body_groups(body_weights, level, rows, sum.data());
}

std::span<const float> WaveletGreensFunctions::field(std::span<const float> sum, int num_nodes,
                                                     std::span<float> scratch) const noexcept {
    const std::size_t size = sum_size(num_nodes), stride = sum_stride(), block = at(layout_.block);
    assert(sum.size() >= size && scratch.size() >= size);
    if (scratch.data() != sum.data()) std::copy_n(sum.data(), size, scratch.data());
    transform_.inverse(scratch.data(), static_cast<int>(stride), level_of_prefix(num_nodes));
    if (stride != block) remove_padding(scratch.data(), at(num_nodes));
    return scratch.first(at(num_nodes) * block);
}

void WaveletGreensFunctions::row_of_sum(std::span<const float> sum, int node,
                                        float* values) const noexcept {
    assert(sum.size() >= sum_size(layout_.num_nodes));
    const int first = row_starts_[at(node)], count = row_starts_[at(node) + 1] - first;
    if (layout_.block == 3) {
        float padded[kPaddedBlock];
        sum_padded(row_nodes_.data() + first, row_weights_.data() + first, count, sum.data(),
                   padded);
        std::copy_n(padded, 3, values);
        return;
    }
    values[0] = 0;
    for (int k = first; k < first + count; ++k)
        values[0] += row_weights_[at(k)] * sum[at(row_nodes_[at(k)])];
}

/// Σ_m r_i[m] ξ̃_j[m] over the blocks that there are, eq. (W6).
void WaveletGreensFunctions::group_element(int i, std::size_t index,
                                           float* by_columns) const noexcept {
    const std::uint64_t* const masks = masks_.data() + index * words_;
    const std::uint32_t* const ranks = ranks_.data() + index * words_;
    const Column column = group(index);
    const std::size_t size = at(layout_.block) * at(layout_.block);
    std::fill_n(by_columns, size, 0.0f);
    const int end = row_starts_[at(i) + 1];
    for (int first = row_starts_[at(i)]; first < end; first += kRowChunk) {
        // what is there, without branches
        std::uint32_t places[kRowChunk];
        float weights[kRowChunk];
        int count = 0;
        for (int k = first; k < std::min(first + kRowChunk, end); ++k) {
            const std::size_t node = at(row_nodes_[at(k)]);
            const auto rank = static_cast<unsigned>(rank_[node]);
            const std::uint64_t mask = masks[rank / 64];
            const unsigned bit = rank % 64;
            const auto before =
                static_cast<std::uint32_t>(std::popcount(mask & ((std::uint64_t{1} << bit) - 1)));
            places[count] = ranks[rank / 64] + before;
            weights[count] = row_weights_[at(k)];
            if (!column.units.empty()) weights[count] *= column.units[unit_of_node_[node]];
            count += static_cast<int>(mask >> bit & 1);
        }
        if (layout_.block == 3) {
            float some[9];
            if (column.units.empty())
                sum_blocks(places, weights, count, column.blocks.data(), some);
            else
                sum_blocks(places, weights, count, column.integers.data(), some);
            for (std::size_t c = 0; c < size; ++c) by_columns[c] += some[c];
        } else {
            for (int k = 0; k < count; ++k)
                by_columns[0] +=
                    weights[k] * (column.units.empty()
                                      ? column.blocks[places[k]]
                                      : static_cast<float>(column.integers[places[k]]));
        }
    }
}

void WaveletGreensFunctions::element(int i, int j, float* values) const noexcept {
    assert(has_column(j));
    const std::size_t block = at(layout_.block);
    float by_columns[9];
    group_element(i < layout_.num_nodes ? i : i % layout_.num_nodes, at(place_[at(j)]), by_columns);
    for (std::size_t r = 0; r < block; ++r)
        for (std::size_t c = 0; c < block; ++c) values[r * block + c] = by_columns[c * block + r];
}

void WaveletGreensFunctions::body_element(int i, int k, float* values) const noexcept {
    const std::size_t block = at(layout_.block);
    float by_columns[9];
    group_element(i, layout_.columns.size() + at(k) / block, by_columns);
    std::copy_n(by_columns + at(k) % block * block, block, values);
}

/// out += W⁻¹ sum of the coarsest level that has as many nodes as `out`; `sum` is used up.
void WaveletGreensFunctions::add_field(std::span<float> sum, std::span<float> out) const noexcept {
    const std::size_t block = at(layout_.block), stride = sum_stride(), nodes = out.size() / block;
    transform_.inverse(sum.data(), static_cast<int>(stride),
                       level_of_prefix(static_cast<int>(nodes)));
    for (std::size_t node = 0; node < nodes; ++node)
        for (std::size_t c = 0; c < block; ++c) out[node * block + c] += sum[node * stride + c];
}

void WaveletGreensFunctions::add_columns(std::span<const int> ids, std::span<const float> weights,
                                         std::span<float> out) const noexcept {
    const int nodes = static_cast<int>(out.size()) / layout_.block;
    const std::span<float> sum = thread_scratch(sum_size(nodes));
    accumulate(ids, weights, {}, nodes, sum);
    add_field(sum, out);
}

void WaveletGreensFunctions::add_body_columns(std::span<const float> weights,
                                              std::span<float> out) const noexcept {
    const int nodes = static_cast<int>(out.size()) / layout_.block;
    const std::span<float> sum = thread_scratch(sum_size(nodes));
    accumulate({}, {}, weights, nodes, sum);
    add_field(sum, out);
}

void WaveletGreensFunctions::add_readouts(std::span<const int> ids, std::span<const float> weights,
                                          std::span<float> out) const noexcept {
    assert(out.size() == at(layout_.num_readouts));
    const std::size_t block = at(layout_.block);
    for (std::size_t k = 0; k < ids.size(); ++k)
        for (std::size_t c = 0; c < block; ++c) {
            const float* const column =
                readouts_.data() + (at(place_[at(ids[k])]) * block + c) * out.size();
            for (std::size_t r = 0; r < out.size(); ++r)
                out[r] += weights[k * block + c] * column[r];
        }
}

void WaveletGreensFunctions::add_body_readouts(std::span<const float> weights,
                                               std::span<float> out) const noexcept {
    assert(out.size() == at(layout_.num_readouts));
    for (std::size_t k = 0; k < weights.size(); ++k) {
        const float* const column =
            readouts_.data() + (layout_.columns.size() * at(layout_.block) + k) * out.size();
        for (std::size_t r = 0; r < out.size(); ++r) out[r] += weights[k] * column[r];
    }
}

}  // namespace pliant
