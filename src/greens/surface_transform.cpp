#include "pliant/greens/surface_transform.h"

#include "core/numbers.h"
#include "greens/domain_borders.h"
#include "greens/transform_kernels.h"
#include "pliant/core/error.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <map>
#include <string>

namespace pliant {
namespace {

constexpr std::array<std::string_view, 4> kWaveletNames{"linear", "lifted-linear", "butterfly",
                                                        "lifted-butterfly"};
/// Of v1 v2 f1 f2 e1 … e4, docs/greens-wavelets.md eq. (W2).
constexpr std::array<double, 8> kButterfly{0.5,     0.5,     0.125,   0.125,
                                           -0.0625, -0.0625, -0.0625, -0.0625};
/// Where negative weights of butterflies leave less than this of the integrals of a vertex and of
/// what is lifted onto it, nothing is: divisions by it would amplify errors.
constexpr double kLeastIntegralShare = 0.1;

bool is_lifted(WaveletKind kind) noexcept {
    return kind == WaveletKind::LiftedLinear || kind == WaveletKind::LiftedButterfly;
}

bool is_butterfly(WaveletKind kind) noexcept {
    return kind == WaveletKind::Butterfly || kind == WaveletKind::LiftedButterfly;
}

std::vector<float> rounded_weights(const std::vector<double>& weights) {
    return {weights.begin(), weights.end()};
}

}  // namespace

std::string_view to_string(WaveletKind kind) noexcept {
    return kWaveletNames[static_cast<std::size_t>(kind)];
}

WaveletKind wavelet_kind(std::string_view name) {
    const auto found = std::find(kWaveletNames.begin(), kWaveletNames.end(), name);
    if (found == kWaveletNames.end())
        throw InputError("", "wavelet", std::string(name),
                         "linear, lifted-linear, butterfly or lifted-butterfly");
    return static_cast<WaveletKind>(found - kWaveletNames.begin());
}

std::vector<int> single_domain(std::span<const int> vertices, int num_vertices) {
    std::vector<int> labels(at(num_vertices), -1);
    for (const int v : vertices) labels[at(v)] = 0;
    return labels;
}

SurfaceTransform::SurfaceTransform(const SemiRegularMesh& mesh, WaveletKind kind,
                                   std::span<const double> areas, std::span<const int> domains)
    : kind_(kind), level_sizes_(mesh.num_vertices), domains_(domains.begin(), domains.end()) {
    const std::size_t n = mesh.mesh.vertices.size();
    if (level_sizes_.empty() || at(level_sizes_.back()) != n ||
        mesh.neighbourhood.size() != n - at(level_sizes_.front()))
        throw InputError("", "transform: the mesh has no levels of subdivision");
    const auto require_size = [&](std::size_t size, const char* field) {
        if (size != n)
            throw InputError("", std::string("transform.") + field, std::to_string(size),
                             "one for each of " + std::to_string(n) + " vertices");
    };
    require_size(areas.size(), "areas");
    if (domains_.empty()) domains_.assign(n, 0);
    require_size(domains_.size(), "domains");
    for (int l = 0; l <= num_levels(); ++l)
        levels_.resize(at(level_sizes_[at(l)]), static_cast<std::uint8_t>(l));
    find_filters(mesh);
    find_integrals(areas);
    find_lifting();

    // the same for single precision
    const auto copy = [](const Rows<double>& from) {
        return Rows<float>{from.offsets, from.vertices, rounded_weights(from.weights)};
    };
    single_.interpolation = copy(double_.interpolation);
    single_.pair_weights = rounded_weights(double_.pair_weights);
    for (const Rows<double>& rows : double_.gathered) single_.gathered.push_back(copy(rows));
}

/// Borders of domains as docs/greens-wavelets.md section "Borders" says.
void SurfaceTransform::find_filters(const SemiRegularMesh& mesh) {
    const int num_base = level_sizes_.front();
    Rows<double>& rows = double_.interpolation;
    rows.offsets.push_back(0);
    for (int m = num_base; m < num_vertices(); ++m) {
        const auto& around = mesh.neighbourhood[at(m - num_base)];
        const int domain = domains_[at(m)];
        const auto is_inside = [&](int v) { return v >= 0 && domains_[at(v)] == domain; };
        const auto add = [&](int v, double weight) {
            rows.vertices.push_back(v);
            rows.weights.push_back(weight);
        };
        int first = m, second = m;
        if (domain >= 0) {
            const auto aunts = aunts_in_domain(mesh, domains_, m, level_sizes_[at(level(m) - 1)]);
            first = aunts[0];
            second = aunts[1];
            if (is_butterfly(kind_) && std::all_of(around.begin(), around.end(), is_inside))
                for (std::size_t k = 0; k < around.size(); ++k) add(around[k], kButterfly[k]);
            else if (first != second)
                for (const int v : {first, second}) add(v, 0.5);
            else if (first != m)
                add(first, 1);
        }
        pairs_.push_back(first);
        pairs_.push_back(second);
        double_.pair_weights.push_back(first == m ? 0 : 0.5);
        rows.offsets.push_back(static_cast<int>(rows.vertices.size()));
    }
}

/// I of each level from that of the finest, eq. (W3).
void SurfaceTransform::find_integrals(std::span<const double> areas) {
    integrals_.resize(level_sizes_.size());
    integrals_.back().assign(areas.begin(), areas.end());
    for (int j = num_levels() - 1; j >= 0; --j) {
        const std::vector<double>& fine = integrals_[at(j + 1)];
        std::vector<double>& coarse = integrals_[at(j)];
        coarse.assign(fine.begin(), fine.begin() + level_sizes_[at(j)]);
        for (int m = level_sizes_[at(j)]; m < level_sizes_[at(j + 1)]; ++m) {
            const Filter filter = interpolation(m);
            for (std::size_t k = 0; k < filter.vertices.size(); ++k)
                coarse[at(filter.vertices[k])] += filter.weights[k] * fine[at(m)];
        }
    }
}

void SurfaceTransform::find_lifting() {
    const int num_base = level_sizes_.front();
    lifting_.offsets.push_back(0);
    for (int m = num_base; m < num_vertices(); ++m) {
        const int* const pair = pairs_.data() + 2 * (m - num_base);
        const int j = level(m) - 1, num_aunts = pair[0] == m ? 0 : pair[0] == pair[1] ? 1 : 2;
        const std::span<const int> aunts(pair, at(num_aunts));
        if (is_lifted(kind_) && std::all_of(aunts.begin(), aunts.end(), [&](int v) {
                return integrals(j)[at(v)] > kLeastIntegralShare * integrals(j + 1)[at(v)] &&
                       integrals(j)[at(v)] > kLeastIntegralShare * integrals(j + 1)[at(m)];
            }))
            for (const int v : aunts) {
                lifting_.vertices.push_back(v);
                lifting_.weights.push_back(integrals(j + 1)[at(m)] /
                                           (num_aunts * integrals(j)[at(v)]));
            }
        lifting_.offsets.push_back(static_cast<int>(lifting_.vertices.size()));
    }

    // by even vertices
    for (int j = 0; j < num_levels(); ++j) {
        Rows<double>& gathered = double_.gathered.emplace_back();
        const int num_even = level_sizes_[at(j)], end = level_sizes_[at(j + 1)];
        gathered.offsets.assign(at(num_even) + 1, 0);
        for (int m = num_even; m < end; ++m)
            for (const int v : lifting(m).vertices) ++gathered.offsets[at(v) + 1];
        for (std::size_t k = 0; k < at(num_even); ++k)
            gathered.offsets[k + 1] += gathered.offsets[k];
        gathered.vertices.resize(at(gathered.offsets.back()));
        gathered.weights.resize(gathered.vertices.size());
        std::vector<int> next(gathered.offsets.begin(), gathered.offsets.end() - 1);
        for (int m = num_even; m < end; ++m) {
            const Filter filter = lifting(m);
            for (std::size_t k = 0; k < filter.vertices.size(); ++k) {
                const auto place = at(next[at(filter.vertices[k])]++);
                gathered.vertices[place] = m;
                gathered.weights[place] = filter.weights[k];
            }
        }
    }
}

SurfaceTransform::Filter SurfaceTransform::interpolation(int vertex) const noexcept {
    const int i = vertex - level_sizes_.front();
    if (i < 0) return {};
    return double_.interpolation.row(at(i));
}

SurfaceTransform::Filter SurfaceTransform::lifting(int vertex) const noexcept {
    const int i = vertex - level_sizes_.front();
    if (i < 0) return {};
    return lifting_.row(at(i));
}

SurfaceTransform::Filter SurfaceTransform::lifted_onto(int vertex, int level) const noexcept {
    assert(vertex < level_sizes_[at(level)]);
    return double_.gathered[at(level)].row(at(vertex));
}

template <class T>
void SurfaceTransform::interpolate(const Filters<T>& filters, int level, T* values, int width,
                                   bool subtracts) const noexcept {
    const int first = level_sizes_[at(level)], count = level_sizes_[at(level + 1)] - first;
    const int i = first - level_sizes_.front();
    if (is_butterfly(kind_))
        add_transform_rows(
            {first, count, filters.interpolation.offsets.data() + i,
             filters.interpolation.vertices.data(), filters.interpolation.weights.data()},
            values, width, subtracts);
    else
        add_transform_pairs({first, count, pairs_.data() + 2 * i, filters.pair_weights.data() + i},
                            values, width, subtracts);
}

template <class T>
void SurfaceTransform::lift(const Filters<T>& filters, int level, T* values, int width,
                            bool subtracts) const noexcept {
    if (!is_lifted(kind_)) return;
    const Rows<T>& rows = filters.gathered[at(level)];
    add_transform_rows({0, level_sizes_[at(level)], rows.offsets.data(), rows.vertices.data(),
                        rows.weights.data()},
                       values, width, subtracts);
}

void SurfaceTransform::forward(float* values, int width) const noexcept {
    for (int j = num_levels() - 1; j >= 0; --j) {
        interpolate(single_, j, values, width, true);
        lift(single_, j, values, width, false);
    }
}

void SurfaceTransform::forward(double* values, int width) const noexcept {
    for (int j = num_levels() - 1; j >= 0; --j) {
        interpolate(double_, j, values, width, true);
        lift(double_, j, values, width, false);
    }
}

void SurfaceTransform::inverse(float* values, int width, int level) const noexcept {
    for (int j = 0; j < level; ++j) {
        lift(single_, j, values, width, true);
        interpolate(single_, j, values, width, false);
    }
}

void SurfaceTransform::inverse(double* values, int width, int level) const noexcept {
    for (int j = 0; j < level; ++j) {
        lift(double_, j, values, width, true);
        interpolate(double_, j, values, width, false);
    }
}

SurfaceTransform::Row SurfaceTransform::row_weights(int vertex) const {
    std::map<int, double> row{{vertex, 1.0}};
    for (int j = num_levels() - 1; j >= 0; --j) {
        const int first = level_sizes_[at(j)], end = level_sizes_[at(j + 1)];
        // transposed interpolation, then transposed lifting
        for (auto entry = row.lower_bound(first); entry != row.end() && entry->first < end;
             ++entry) {
            const Filter filter = interpolation(entry->first);
            for (std::size_t k = 0; k < filter.vertices.size(); ++k)
                row[filter.vertices[k]] += filter.weights[k] * entry->second;
        }
        for (auto entry = row.begin(); entry != row.end() && entry->first < first; ++entry) {
            const Filter filter = lifted_onto(entry->first, j);
            for (std::size_t k = 0; k < filter.vertices.size(); ++k)
                row[filter.vertices[k]] -= filter.weights[k] * entry->second;
        }
    }
    Row result;
    for (const auto& [v, weight] : row) {
        result.vertices.push_back(v);
        result.weights.push_back(weight);
    }
    return result;
}

template <class T>
SelectiveInverse<T>::SelectiveInverse(const SurfaceTransform& transform, int width)
    : transform_(&transform), width_(at(width)), result_(at(width)) {
    for (int j = 0; j < transform.num_levels(); ++j) {
        memory_.emplace_back(at(transform.level_sizes()[at(j)]) * width_);
        stamps_.emplace_back(at(transform.level_sizes()[at(j)]), 0u);
    }
}

template <class T>
void SelectiveInverse<T>::start(const T* coefficients) noexcept {
    coefficients_ = coefficients;
    num_visits_ = 0;
    // stamps of a batch that is 2³² old must not look new
    if (++batch_ == 0) {
        for (auto& stamps : stamps_) std::fill(stamps.begin(), stamps.end(), 0u);
        batch_ = 1;
    }
}

template <class T>
void SelectiveInverse<T>::value_on(int level, int vertex, T* out) noexcept {
    const int own = transform_->level(vertex);
    if (own < level) {
        std::copy_n(before_lifting(level - 1, vertex), width_, out);
        return;
    }
    std::copy_n(coefficients_ + at(vertex) * width_, width_, out);
    const SurfaceTransform::Filter filter = transform_->interpolation(vertex);
    for (std::size_t k = 0; k < filter.vertices.size(); ++k) {
        const T* const from = before_lifting(level - 1, filter.vertices[k]);
        const auto weight = static_cast<T>(filter.weights[k]);
        for (std::size_t c = 0; c < width_; ++c) out[c] += weight * from[c];
    }
}

/// What a vertex of K(level) has before level + 1 is interpolated. Recursion is as deep as levels.
template <class T>
const T* SelectiveInverse<T>::before_lifting(int level, int vertex) noexcept {
    T* const out = memory_[at(level)].data() + at(vertex) * width_;
    std::uint32_t& stamp = stamps_[at(level)][at(vertex)];
    if (stamp == batch_) return out;
    stamp = batch_;
    ++num_visits_;
    value_on(level, vertex, out);
    const SurfaceTransform::Filter filter = transform_->lifted_onto(vertex, level);
    for (std::size_t k = 0; k < filter.vertices.size(); ++k) {
        const T* const from = coefficients_ + at(filter.vertices[k]) * width_;
        const auto weight = static_cast<T>(filter.weights[k]);
        for (std::size_t c = 0; c < width_; ++c) out[c] -= weight * from[c];
    }
    return out;
}

template <class T>
const T* SelectiveInverse<T>::value(int vertex) noexcept {
    ++num_visits_;
    value_on(transform_->num_levels(), vertex, result_.data());
    return result_.data();
}

template class SelectiveInverse<float>;
template class SelectiveInverse<double>;

}  // namespace pliant
