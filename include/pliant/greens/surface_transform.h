#pragma once

#include "pliant/geometry/subdivision.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace pliant {

enum class WaveletKind { Linear, LiftedLinear, Butterfly, LiftedButterfly };
[[nodiscard]] std::string_view to_string(WaveletKind kind) noexcept;
/// "linear", "lifted-linear", "butterfly", "lifted-butterfly". Throws InputError for other names.
[[nodiscard]] WaveletKind wavelet_kind(std::string_view name);

/// Labels for SurfaceTransform: 0 for the vertices of the list, −1 for the others.
[[nodiscard]] std::vector<int> single_domain(std::span<const int> vertices, int num_vertices);

/// Wavelet transform of functions on a semi-regular mesh, docs/greens-wavelets.md eqs. (W1)–(W4),
/// separately on each of its domains. Values are indexed by the vertices of the mesh, so that
/// coarser levels are prefixes; `width` values lie together for each vertex. Immutable.
class SurfaceTransform {
public:
    /// Vertices with weights.
    struct Filter {
        std::span<const int> vertices;
        std::span<const double> weights;
    };
    struct Row {
        std::vector<int> vertices;  ///< ascending
        std::vector<double> weights;
    };

    /// `areas`: positive, of each vertex (any unit): the integrals of the finest basis functions.
    /// `domains`: a label for each vertex, below zero for vertices that are left alone; empty: all
    /// vertices are one domain. Throws InputError when sizes differ from the mesh.
    SurfaceTransform(const SemiRegularMesh& mesh, WaveletKind kind, std::span<const double> areas,
                     std::span<const int> domains = {});

    [[nodiscard]] WaveletKind kind() const noexcept { return kind_; }
    [[nodiscard]] int num_vertices() const noexcept { return level_sizes_.back(); }
    /// L: there are L + 1 levels.
    [[nodiscard]] int num_levels() const noexcept {
        return static_cast<int>(level_sizes_.size()) - 1;
    }
    /// |K(l)|, vertices of levels 0 … l.
    [[nodiscard]] std::span<const int> level_sizes() const noexcept { return level_sizes_; }
    /// ℓ: the round of subdivision that made the vertex.
    [[nodiscard]] int level(int vertex) const noexcept {
        return levels_[static_cast<std::size_t>(vertex)];
    }
    [[nodiscard]] int domain(int vertex) const noexcept {
        return domains_[static_cast<std::size_t>(vertex)];
    }
    /// Its coefficient is its value: level 0, or no vertex of its domain on the level before.
    [[nodiscard]] bool is_base(int vertex) const noexcept {
        return interpolation(vertex).vertices.empty();
    }
    /// s̃: what predicts a vertex from the level before its own. Empty for base vertices.
    [[nodiscard]] Filter interpolation(int vertex) const noexcept;
    /// s: coarser vertices that a coefficient is lifted onto. Empty where it is not.
    [[nodiscard]] Filter lifting(int vertex) const noexcept;
    /// The other way round: coefficients m ∈ M(level) that are lifted onto a vertex of K(level).
    [[nodiscard]] Filter lifted_onto(int vertex, int level) const noexcept;
    /// I: of the basis functions of a level; eq. (W3).
    [[nodiscard]] std::span<const double> integrals(int level) const noexcept {
        return integrals_[static_cast<std::size_t>(level)];
    }

    /// c = W v in place. O(n), no allocation; so are the others.
    void forward(float* values, int width) const noexcept;
    void forward(double* values, int width) const noexcept;
    /// v = W⁻¹ c in place. With a level below L, values of that level come out for its vertices,
    /// and nothing else is touched.
    void inverse(float* values, int width) const noexcept { inverse(values, width, num_levels()); }
    void inverse(double* values, int width) const noexcept { inverse(values, width, num_levels()); }
    void inverse(float* values, int width, int level) const noexcept;
    void inverse(double* values, int width, int level) const noexcept;

    /// Row functional e_vᵀW⁻¹, eq. (W6).
    [[nodiscard]] Row row_weights(int vertex) const;

private:
    /// Rows of weights that are added to or subtracted from values.
    template <class T>
    struct Rows {
        std::vector<int> offsets, vertices;
        std::vector<T> weights;
        [[nodiscard]] Filter row(std::size_t i) const noexcept {
            const auto begin = static_cast<std::size_t>(offsets[i]),
                       count = static_cast<std::size_t>(offsets[i + 1]) - begin;
            return {{vertices.data() + begin, count}, {weights.data() + begin, count}};
        }
    };
    template <class T>
    struct Filters {
        // of odd vertices, from num_vertices[0] on; linear ones as pairs with one weight, too
        Rows<T> interpolation;
        std::vector<T> pair_weights;
        std::vector<Rows<T>> gathered;  // lifting by even vertices, level by level
    };
    void find_filters(const SemiRegularMesh& mesh);
    void find_integrals(std::span<const double> areas);
    void find_lifting();
    template <class T>
    void interpolate(const Filters<T>& filters, int level, T* values, int width,
                     bool subtracts) const noexcept;
    template <class T>
    void lift(const Filters<T>& filters, int level, T* values, int width,
              bool subtracts) const noexcept;

    WaveletKind kind_;
    std::vector<int> level_sizes_;
    std::vector<std::uint8_t> levels_;
    std::vector<int> domains_;
    std::vector<std::vector<double>> integrals_;
    std::vector<int> pairs_;  // of odd vertices; both the same for a copy, itself for none
    Rows<double> lifting_;    // of odd vertices
    Filters<double> double_;
    Filters<float> single_;
};

/// Values of some vertices of W⁻¹ c without the others, by recursion that remembers within a batch,
/// docs/greens-wavelets.md eq. (W7). One for each thread; allocates at construction alone.
template <class T>
class SelectiveInverse {
public:
    /// The transform must live as long.
    SelectiveInverse(const SurfaceTransform& transform, int width);
    /// Starts a batch: coefficients as for SurfaceTransform::inverse, which must not change in it.
    void start(const T* coefficients) noexcept;
    /// `width` values, valid until the next call of either.
    [[nodiscard]] const T* value(int vertex) noexcept;
    /// Vertices visited in this batch.
    [[nodiscard]] std::int64_t num_visits() const noexcept { return num_visits_; }

private:
    [[nodiscard]] const T* before_lifting(int level, int vertex) noexcept;
    void value_on(int level, int vertex, T* out) noexcept;

    const SurfaceTransform* transform_;
    std::size_t width_;
    const T* coefficients_ = nullptr;
    std::vector<std::vector<T>> memory_;  // by level
    std::vector<std::vector<std::uint32_t>> stamps_;
    std::vector<T> result_;
    std::uint32_t batch_ = 0;
    std::int64_t num_visits_ = 0;
};

}  // namespace pliant
