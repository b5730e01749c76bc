#include "pliant/greens/tolerance_view.h"

#include "core/numbers.h"
#include "pliant/core/parallel.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>

namespace pliant {
namespace {

/// Columns, evenly chosen, of which errors are known, and tolerances for which.
constexpr std::size_t kErrorColumns = 32;
constexpr int kToleranceSamples = 17;
constexpr double kLargestTolerance = 1;
constexpr std::size_t kOrderedAtOnce = 64;

float norm_of_block(const float* values, std::size_t size) noexcept {
    float sum = 0;
    for (std::size_t c = 0; c < size; ++c) sum += values[c] * values[c];
    return std::sqrt(sum);
}

}  // namespace

ToleranceView::ToleranceView(std::shared_ptr<const WaveletGreensFunctions> stored)
    : stored_(std::move(stored)) {
    const std::vector<int>& columns = stored_->layout().columns;
    starts_.assign(1, 0);
    for (const int id : columns)
        starts_.push_back(starts_.back() + stored_->column(id).nodes.size());
    order_.resize(starts_.back());
    drops_.resize(starts_.back());
    amplitudes_.assign(columns.size(), 0.0f);
    const std::size_t block = at(stored_->block()),
                      field_size = at(stored_->num_nodes()) * block * block;
    parallel_for((columns.size() + kOrderedAtOnce - 1) / kOrderedAtOnce, 1, [&](std::size_t part) {
        std::vector<float> field(field_size);
        const std::size_t end = std::min((part + 1) * kOrderedAtOnce, columns.size());
        for (std::size_t place = part * kOrderedAtOnce; place < end; ++place) order(place, field);
    });

    // what the report counts
    const SurfaceTransform& transform = stored_->transform();
    for (std::size_t place = 0; place < columns.size(); ++place) {
        if (transform.domain(columns[place] % stored_->num_nodes()) != 0) continue;
        const auto nodes = stored_->column(columns[place]).nodes;
        for (std::size_t k = starts_[place]; k < starts_[place + 1]; ++k)
            if (transform.domain(nodes[order_[k]]) == 0) all_drops_.push_back(drops_[k]);
    }
    std::ranges::sort(all_drops_);
    const double first = std::max(stored_->report().options.tolerance, 1e-4);
    for (int k = 0; k < kToleranceSamples; ++k)
        samples_.push_back(first * std::pow(kLargestTolerance / first,
                                            static_cast<double>(k) / (kToleranceSamples - 1)));
    errors_.resize(samples_.size());
    parallel_for(samples_.size(), 1, [&](std::size_t k) { errors_[k] = errors_of(samples_[k]); });
}

/// Eq. (W11).
void ToleranceView::order(std::size_t place, std::span<float> field) {
    const SurfaceTransform& transform = stored_->transform();
    const auto column = stored_->column(stored_->layout().columns[place]);
    const std::size_t size = at(stored_->block()) * at(stored_->block());
    // the largest block of each domain
    std::ranges::fill(field, 0.0f);
    for (std::size_t k = 0; k < column.nodes.size(); ++k)
        stored_->copy_block(column, k, field.data() + at(column.nodes[k]) * size);
    transform.inverse(field.data(), static_cast<int>(size));
    std::array<float, 2> amplitudes = {};
    for (int v = 0; v < stored_->num_nodes(); ++v) {
        float& amplitude = amplitudes[at(transform.domain(v))];
        amplitude = std::max(amplitude, norm_of_block(field.data() + at(v) * size, size));
    }
    amplitudes_[place] = amplitudes[0];

    const bool keeps_base = !stored_->report().options.thresholds_base;
    std::vector<float> drops(column.nodes.size()), values(size);
    for (std::size_t k = 0; k < drops.size(); ++k) {
        stored_->copy_block(column, k, values.data());
        const int v = column.nodes[k];
        const float unit = std::ldexp(amplitudes[at(transform.domain(v))],
                                      transform.level(v) - transform.num_levels());
        const float drop = norm_of_block(values.data(), size) / unit;
        // not a number where those of a file overflow: what is sorted must have an order
        drops[k] = (keeps_base && transform.is_base(v)) || !(unit > 0) || !(drop >= 0)
                       ? std::numeric_limits<float>::infinity()
                       : drop;
    }
    const std::span<std::uint32_t> order =
        std::span(order_).subspan(starts_[place], column.nodes.size());
    std::iota(order.begin(), order.end(), 0u);
    std::ranges::stable_sort(order,
                             [&](std::uint32_t a, std::uint32_t b) { return drops[a] > drops[b]; });
    for (std::size_t k = 0; k < order.size(); ++k) drops_[starts_[place] + k] = drops[order[k]];
}

std::size_t ToleranceView::num_kept(std::size_t place, double tolerance) const noexcept {
    const auto first = drops_.begin() + static_cast<std::ptrdiff_t>(starts_[place]),
               end = drops_.begin() + static_cast<std::ptrdiff_t>(starts_[place + 1]);
    if (!(tolerance > stored_->report().options.tolerance))
        return static_cast<std::size_t>(end - first);
    const auto limit = static_cast<float>(tolerance);
    const auto dropped =
        std::partition_point(first, end, [&](float drop) { return drop >= limit; });
    return static_cast<std::size_t>(dropped - first);
}

void ToleranceView::accumulate(std::span<const int> ids, std::span<const float> weights,
                               std::span<const float> body_weights, double tolerance, int num_nodes,
                               std::span<float> sum) const noexcept {
    assert(sum.size() >= stored_->sum_size(num_nodes));
    const std::size_t block = at(stored_->block()), stride = stored_->sum_stride();
    const int end = static_cast<int>(stored_->sum_size(num_nodes) / stride);
    std::array<float, 9> values;
    assert(block <= 3);
    for (std::size_t i = 0; i < ids.size(); ++i) {
        const auto place = at(stored_->place(ids[i]));
        const auto column = stored_->column(ids[i]);
        const std::size_t count = num_kept(place, tolerance);
        for (std::size_t k = starts_[place]; k < starts_[place] + count; ++k) {
            const int node = column.nodes[order_[k]];
            if (node >= end) continue;
            stored_->copy_block(column, order_[k], values.data());
            float* const row = sum.data() + at(node) * stride;
            for (std::size_t c = 0; c < block; ++c)
                for (std::size_t r = 0; r < block; ++r)
                    row[r] += weights[i * block + c] * values[c * block + r];
        }
    }
    stored_->accumulate({}, {}, body_weights, num_nodes, sum);
}

ToleranceView::Errors ToleranceView::errors_of(double tolerance) const {
    const std::vector<int>& columns = stored_->layout().columns;
    const SurfaceTransform& transform = stored_->transform();
    const std::size_t size = at(stored_->block()) * at(stored_->block()),
                      count = std::min(kErrorColumns, columns.size());
    std::vector<float> dropped, whole;
    double error = 0, norm = 0;
    Errors errors;
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t place = i * columns.size() / count;
        if (transform.domain(columns[place] % stored_->num_nodes()) != 0) continue;
        const auto column = stored_->column(columns[place]);
        dropped.assign(at(stored_->num_nodes()) * size, 0.0f);
        whole = dropped;
        const std::size_t kept = num_kept(place, tolerance);
        for (std::size_t k = 0; k < column.nodes.size(); ++k) {
            const std::size_t from = order_[starts_[place] + k], to = at(column.nodes[from]) * size;
            stored_->copy_block(column, from, whole.data() + to);
            if (k >= kept) stored_->copy_block(column, from, dropped.data() + to);
        }
        for (auto* values : {&dropped, &whole})
            transform.inverse(values->data(), static_cast<int>(size));
        for (int v = 0; v < stored_->num_nodes(); ++v) {
            if (transform.domain(v) != 0) continue;
            const double e = double{norm_of_block(dropped.data() + at(v) * size, size)},
                         x = double{norm_of_block(whole.data() + at(v) * size, size)};
            error += e * e;
            norm += x * x;
            if (amplitudes_[place] > 0)
                errors.max = std::max(errors.max, e / double{amplitudes_[place]});
        }
    }
    errors.rms = norm > 0 ? std::sqrt(error / norm) : 0;
    return errors;
}

CompressionReport ToleranceView::report(double tolerance) const {
    CompressionReport report = stored_->report();
    if (!(tolerance > report.options.tolerance)) return report;
    report.options.tolerance = tolerance;
    for (std::size_t place = 0; place + 1 < starts_.size(); ++place)
        report.num_blocks -= static_cast<std::int64_t>(starts_[place + 1] - starts_[place] -
                                                       num_kept(place, tolerance));
    const auto dropped = std::ranges::lower_bound(all_drops_, static_cast<float>(tolerance));
    const auto all_free = report.compression * static_cast<double>(report.num_free_blocks);
    report.num_free_blocks = all_drops_.end() - dropped;
    report.compression = all_free / std::max(1.0, static_cast<double>(report.num_free_blocks));
    // between the samples
    const auto after = std::ranges::upper_bound(samples_, tolerance);
    const std::size_t k = std::clamp<std::size_t>(
        static_cast<std::size_t>(after - samples_.begin()), 1, samples_.size() - 1);
    const double low = samples_[k - 1], high = samples_[k];
    const double part = std::clamp((tolerance - low) / (high - low), 0.0, 1.0);
    const Errors &a = errors_[k - 1], &b = errors_[k];
    report.rms += a.rms + part * (b.rms - a.rms);
    report.max += a.max + part * (b.max - a.max);
    return report;
}

}  // namespace pliant
