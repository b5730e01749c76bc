#include "core/numbers.h"
#include "pliant/core/error.h"
#include "pliant/core/parallel.h"
#include "pliant/greens/wavelet_greens.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <string>
#include <utility>

namespace pliant {
namespace {

using Eigen::MatrixXd;

/// Body forces act all the time and everywhere, and their few columns are smooth: they are kept
/// to this share of the tolerance.
constexpr double kBodyShare = 0.1;
/// Rounding to 16 bits may add this share of the tolerance.
constexpr double kQuantisationShare = 0.1;
constexpr double kLargestInteger = 32767;
constexpr std::size_t kCompressedAtOnce = 64;

double block_norm(const double* values, std::size_t size) noexcept {
    double sum = 0;
    for (std::size_t c = 0; c < size; ++c) sum += values[c] * values[c];
    return std::sqrt(sum);
}

std::string column_text(int id) {
    return id < 0 ? std::string("a column of body forces") : "the column " + std::to_string(id);
}

/// Rounds blocks of one domain to units of which the largest fits 16 bits, and puts how many into
/// `integers`.
template <class IsIn>
float round_to_units(std::span<float> blocks, std::size_t size, const IsIn& is_in,
                     std::span<std::int16_t> integers) noexcept {
    float largest = 0;
    for (std::size_t k = 0; k < blocks.size(); ++k)
        if (is_in(k / size)) largest = std::max(largest, std::abs(blocks[k]));
    const float unit = largest / static_cast<float>(kLargestInteger);
    if (!(unit > 0)) return 0;
    for (std::size_t k = 0; k < blocks.size(); ++k)
        if (is_in(k / size)) {
            const double count = std::clamp(std::round(double{blocks[k]} / double{unit}),
                                            -kLargestInteger, kLargestInteger);
            blocks[k] = static_cast<float>(count) * unit;
            integers[k] = static_cast<std::int16_t>(count);
        }
    return unit;
}

}  // namespace

struct WaveletGreensBuilder::Packed {
    std::vector<std::uint32_t> level_ends;
    std::vector<int> nodes;
    std::vector<float> blocks, readouts, units;
    std::vector<std::int16_t> integers;
    // over free rows
    std::int64_t num_free = 0;
    double error_squared = 0, norm_squared = 0, max = 0, quantisation = 0;
};

WaveletGreensBuilder::~WaveletGreensBuilder() = default;

WaveletGreensBuilder::WaveletGreensBuilder(const SemiRegularMesh& mesh, std::vector<NodeKind> kinds,
                                           std::vector<double> areas, GreensLayout layout,
                                           const WaveletOptions& options)
    : mesh_(mesh),
      kinds_(std::move(kinds)),
      areas_(std::move(areas)),
      layout_(std::move(layout)),
      options_(options),
      transform_(mesh, options.kind, areas_, domain_labels(kinds_)) {
    check_options(options_);
    if (layout_.num_nodes != transform_.num_vertices())
        throw InputError("", "wavelet.num_nodes", std::to_string(layout_.num_nodes),
                         std::to_string(transform_.num_vertices()) + ", the vertices of the mesh");
    const int num_ids = layout_.num_nodes * (transform_.num_levels() + 1);
    place_.assign(at(num_ids), -1);
    for (std::size_t k = 0; k < layout_.columns.size(); ++k) {
        const int id = layout_.columns[k];
        if (id < 0 || id >= num_ids || place_[at(id)] >= 0)
            throw InputError("", "wavelet.columns", std::to_string(id),
                             "every column at most once, below " + std::to_string(num_ids));
        place_[at(id)] = static_cast<int>(k);
    }
    const std::size_t block = at(layout_.block);
    packed_.resize(layout_.columns.size() + (at(layout_.num_body_columns) + block - 1) / block);
}

/// docs/greens-wavelets.md eq. (W8); `id` below zero: of body forces.
WaveletGreensBuilder::Packed WaveletGreensBuilder::pack(const Eigen::Ref<const MatrixXd>& values,
                                                        int id, double tolerance) const {
    const std::size_t n = at(layout_.num_nodes), block = at(layout_.block), size = block * block;
    const int width = static_cast<int>(size), num_levels = transform_.num_levels();
    assert(values.rows() == layout_.block * layout_.num_nodes + layout_.num_readouts);
    Packed packed;

    // single precision, as from a cache; block by block, each by columns
    std::vector<double> original(n * size, 0.0);
    packed.readouts.assign(block * at(layout_.num_readouts), 0.0f);
    for (Eigen::Index c = 0; c < values.cols(); ++c)
        for (Eigen::Index row = 0; row < values.rows(); ++row) {
            const auto value = static_cast<float>(values(row, c));
            if (!std::isfinite(value))
                throw InputError("", "greens: " + column_text(id) + " is not finite in row " +
                                         std::to_string(row) + "; check the mesh for slivers");
            const auto place = static_cast<std::size_t>(row), column = static_cast<std::size_t>(c);
            if (place < n * block)
                original[place / block * size + column * block + place % block] = double{value};
            else
                packed.readouts[column * at(layout_.num_readouts) + place - n * block] = value;
        }
    std::array<double, 2> amplitudes = {};
    for (std::size_t v = 0; v < n; ++v) {
        double& amplitude = amplitudes[at(transform_.domain(static_cast<int>(v)))];
        amplitude = std::max(amplitude, block_norm(original.data() + v * size, size));
    }

    // small coefficients go
    std::vector<double> kept = original;
    transform_.forward(kept.data(), width);
    bool has_base = false, had_base = false;
    for (int level = 0; level <= num_levels; ++level) {
        const int first = level == 0 ? 0 : transform_.level_sizes()[at(level - 1)];
        const std::size_t first_block = packed.nodes.size();
        for (int v = first; v < transform_.level_sizes()[at(level)]; ++v) {
            double* const coefficient = kept.data() + at(v) * size;
            const double norm = block_norm(coefficient, size);
            const bool is_base = transform_.is_base(v);
            const double limit =
                std::ldexp(tolerance, level - num_levels) * amplitudes[at(transform_.domain(v))];
            const bool is_small = norm < limit && (!is_base || options_.thresholds_base);
            had_base = had_base || (is_base && norm > 0);
            has_base = has_base || (is_base && norm > 0 && !is_small);
            if (is_small || norm == 0) {
                std::fill_n(coefficient, size, 0.0);
                continue;
            }
            packed.nodes.push_back(v);
            for (std::size_t c = 0; c < size; ++c)
                packed.blocks.push_back(static_cast<float>(coefficient[c]));
            packed.num_free += transform_.domain(v) == 0;
        }
        packed.level_ends.push_back(static_cast<std::uint32_t>(packed.nodes.size()));
        if (options_.bits != 16) continue;
        packed.integers.resize(packed.blocks.size());
        for (const int domain : {0, 1})
            packed.units.push_back(round_to_units(
                std::span<float>(packed.blocks).subspan(first_block * size), size,
                [&](std::size_t k) {
                    return transform_.domain(packed.nodes[first_block + k]) == domain;
                },
                std::span<std::int16_t>(packed.integers).subspan(first_block * size)));
    }
    if (had_base && !has_base)
        throw InputError("", "tolerance", std::to_string(options_.tolerance),
                         "a smaller one: it would remove the whole base of " + column_text(id) +
                             ", and with it the response far from the load");

    // what comes back
    std::vector<double> rounding = kept;
    for (std::size_t k = 0; k < packed.nodes.size(); ++k)
        for (std::size_t c = 0; c < size; ++c) {
            const std::size_t place = at(packed.nodes[k]) * size + c;
            kept[place] = double{packed.blocks[k * size + c]};
            rounding[place] -= kept[place];
        }
    transform_.inverse(kept.data(), width);
    if (options_.bits == 16) transform_.inverse(rounding.data(), width);
    for (std::size_t v = 0; v < n; ++v) {
        const double amplitude = amplitudes[at(transform_.domain(static_cast<int>(v)))];
        if (options_.bits == 16 && amplitude > 0)
            packed.quantisation = std::max(
                packed.quantisation, block_norm(rounding.data() + v * size, size) / amplitude);
        if (kinds_[v] != NodeKind::Free || amplitude == 0) continue;
        for (std::size_t c = v * size; c < (v + 1) * size; ++c) kept[c] -= original[c];
        const double error = block_norm(kept.data() + v * size, size),
                     norm = block_norm(original.data() + v * size, size);
        packed.error_squared += error * error;
        packed.norm_squared += norm * norm;
        packed.max = std::max(packed.max, error / amplitude);
    }
    if (packed.quantisation > kQuantisationShare * options_.tolerance)
        throw InputError("", "bits", "16",
                         "32: rounding to 16 changes " + column_text(id) + " by " +
                             std::to_string(packed.quantisation) +
                             " of its largest block, more than a tenth of the tolerance");
    if (options_.bits == 16) packed.blocks.clear();
    packed.nodes.shrink_to_fit();
    packed.blocks.shrink_to_fit();
    return packed;
}

void WaveletGreensBuilder::set_column(int id, const Eigen::Ref<const MatrixXd>& values) {
    assert(values.cols() == layout_.block && place_[at(id)] >= 0);
    packed_[at(place_[at(id)])] = pack(values, id, options_.tolerance);
}

void WaveletGreensBuilder::set_body_columns(const Eigen::Ref<const MatrixXd>& values) {
    assert(values.cols() == layout_.num_body_columns);
    for (Eigen::Index first = 0; first < values.cols(); first += layout_.block)
        packed_[layout_.columns.size() + static_cast<std::size_t>(first / layout_.block)] = pack(
            values.middleCols(first, std::min<Eigen::Index>(layout_.block, values.cols() - first)),
            -1, kBodyShare * options_.tolerance);
}

std::shared_ptr<const WaveletGreensFunctions> WaveletGreensBuilder::finish() {
    WaveletColumns columns;
    CompressionReport report;
    report.options = options_;
    double error_squared = 0, norm_squared = 0;
    std::int64_t num_free_columns = 0;
    std::size_t num_blocks = 0, num_floats = 0, num_integers = 0;
    for (const Packed& packed : packed_) {
        num_blocks += packed.nodes.size();
        num_floats += packed.blocks.size();
        num_integers += packed.integers.size();
    }
    columns.nodes.reserve(num_blocks);
    columns.blocks.reserve(num_floats);
    columns.integers.reserve(num_integers);
    for (std::size_t k = 0; k < packed_.size(); ++k) {
        Packed& packed = packed_[k];
        const auto append = [](auto& to, auto& from) {
            to.insert(to.end(), from.begin(), from.end());
        };
        append(columns.level_ends, packed.level_ends);
        append(columns.nodes, packed.nodes);
        append(columns.blocks, packed.blocks);
        append(columns.integers, packed.integers);
        append(columns.readouts, packed.readouts);
        append(columns.units, packed.units);
        report.quantisation = std::max(report.quantisation, packed.quantisation);
        if (k < layout_.columns.size() &&
            kinds_[at(layout_.columns[k] % layout_.num_nodes)] == NodeKind::Free) {
            ++num_free_columns;
            report.num_free_blocks += packed.num_free;
            error_squared += packed.error_squared;
            norm_squared += packed.norm_squared;
            report.max = std::max(report.max, packed.max);
        }
        packed = {};
    }
    report.num_blocks = static_cast<std::int64_t>(columns.nodes.size());
    const auto num_free = std::count(kinds_.begin(), kinds_.end(), NodeKind::Free);
    if (report.num_free_blocks > 0)
        report.compression = static_cast<double>(num_free * num_free_columns) /
                             static_cast<double>(report.num_free_blocks);
    report.rms = norm_squared > 0 ? std::sqrt(error_squared / norm_squared) : 0;
    return std::make_shared<const WaveletGreensFunctions>(mesh_, kinds_, areas_, layout_,
                                                          std::move(columns), report);
}

std::shared_ptr<const WaveletGreensFunctions> compress_greens(
    GreensColumnSource& source, const SemiRegularMesh& mesh, const std::vector<NodeKind>& kinds,
    const std::vector<double>& areas, const std::vector<int>& columns,
    const WaveletOptions& options, Progress& progress) {
    WaveletGreensBuilder builder(mesh, kinds, areas,
                                 {source.num_nodes(), source.block(), columns,
                                  source.num_body_columns(), source.num_readouts()},
                                 options);
    if (source.num_body_columns() > 0) {
        MatrixXd values(source.num_rows(), source.num_body_columns());
        source.body_columns(values);
        builder.set_body_columns(values);
    }
    progress.stage("Green's functions", columns.size());
    for (std::size_t first = 0; first < columns.size(); first += kCompressedAtOnce) {
        const auto some = std::span<const int>(columns).subspan(
            first, std::min(kCompressedAtOnce, columns.size() - first));
        MatrixXd values(source.num_rows(), static_cast<Eigen::Index>(some.size()) * source.block());
        source.columns(some, values);
        parallel_for(some.size(), 1, [&](std::size_t k) {
            builder.set_column(
                some[k],
                values.middleCols(static_cast<Eigen::Index>(k) * source.block(), source.block()));
        });
        progress.advance(some.size());
    }
    return builder.finish();
}

std::shared_ptr<const WaveletGreensFunctions> compress_greens(const DenseGreensFunctions& dense,
                                                              const SemiRegularMesh& mesh,
                                                              const std::vector<NodeKind>& kinds,
                                                              const std::vector<double>& areas,
                                                              const WaveletOptions& options,
                                                              Progress& progress) {
    const DenseGreensLayout& layout = dense.layout();
    const auto rows =
        static_cast<Eigen::Index>(layout.block) * layout.num_nodes + layout.num_readouts;
    const Eigen::Map<const Eigen::MatrixXf, 0, Eigen::OuterStride<>> values(
        dense.values().data(), rows, static_cast<Eigen::Index>(dense.num_scalar_columns()),
        Eigen::OuterStride<>(static_cast<Eigen::Index>(dense.stride())));
    WaveletGreensBuilder builder(mesh, kinds, areas, layout, options);
    if (layout.num_body_columns > 0)
        builder.set_body_columns(values.rightCols(layout.num_body_columns).cast<double>());
    progress.stage("compression", layout.columns.size());
    for (std::size_t first = 0; first < layout.columns.size(); first += kCompressedAtOnce) {
        const std::size_t count = std::min(kCompressedAtOnce, layout.columns.size() - first);
        parallel_for(count, 1, [&](std::size_t k) {
            builder.set_column(
                layout.columns[first + k],
                values.middleCols(static_cast<Eigen::Index>(first + k) * layout.block, layout.block)
                    .cast<double>());
        });
        progress.advance(count);
    }
    return builder.finish();
}

}  // namespace pliant
