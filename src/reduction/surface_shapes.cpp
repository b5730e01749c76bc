#include "pliant/reduction/surface_shapes.h"

#include "pliant/core/error.h"
#include "reduction/surface_kernels.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <string>
#include <vector>

namespace pliant {

using Eigen::Vector3d;

namespace {

static_assert(SurfaceShapes::kMaxSize == kMaxSurfaceColumns);

void require(bool condition, const std::string& field, std::size_t value,
             const std::string& expected) {
    if (!condition) throw InputError("", field, std::to_string(value), expected);
}

/// Arrays of a surface that was built here.
struct OwnedArrays {
    std::vector<float> rest, rows32, scales;
    std::vector<int> triangles;
    std::vector<std::uint16_t> rows16;
};

std::vector<float> flat_vertices(const SurfaceMesh& surface) {
    std::vector<float> flat;
    flat.reserve(3 * surface.vertices.size());
    for (const Vector3d& x : surface.vertices)
        for (int c = 0; c < 3; ++c) flat.push_back(static_cast<float>(x[c]));
    return flat;
}
std::vector<int> flat_triangles(const SurfaceMesh& surface) {
    std::vector<int> flat;
    flat.reserve(3 * surface.triangles.size());
    for (const Triangle& t : surface.triangles) flat.insert(flat.end(), t.begin(), t.end());
    return flat;
}

/// Column k of Ū into `owned`.
void add_column(const std::vector<double>& column, std::size_t k, std::size_t r,
                ShapeStorage storage, OwnedArrays& owned) {
    double largest = 0;
    for (const double value : column) {
        if (!std::isfinite(static_cast<float>(value)))
            throw InputError("", "the basis has an entry in column " + std::to_string(k) +
                                     " that is not finite or beyond single precision; build it "
                                     "again");
        largest = std::max(largest, std::abs(value));
    }
    if (storage == ShapeStorage::Float32) {
        for (std::size_t i = 0; i < column.size(); ++i)
            owned.rows32[i * r + k] = static_cast<float>(column[i]);
        return;
    }
    // the rounded factor takes part in the division, so that only entries are rounded
    constexpr double kLargest = 32767;
    const auto scale = static_cast<float>(largest / kLargest);
    owned.scales[k] = scale;
    for (std::size_t i = 0; i < column.size(); ++i) {
        const double entry = scale > 0 ? std::round(column[i] / scale) : 0;
        owned.rows16[i * r + k] = static_cast<std::uint16_t>(
            static_cast<std::int16_t>(std::clamp(entry, -kLargest, kLargest)));
    }
}

/// Entries of one row of Ū.
struct Row {
    const float* entries32 = nullptr;
    const std::uint16_t* entries16 = nullptr;
    const float* scales = nullptr;

    [[nodiscard]] double operator[](int k) const noexcept {
        return entries32 ? double{entries32[k]}
                         : double{scales[k]} * static_cast<std::int16_t>(entries16[k]);
    }
};
Row row_of(const SurfaceArrays& a, int vertex, int axis) noexcept {
    const std::size_t begin =
        (3 * static_cast<std::size_t>(vertex) + static_cast<std::size_t>(axis)) *
        static_cast<std::size_t>(a.r);
    if (a.storage == ShapeStorage::Float32) return {a.rows32.data() + begin, nullptr, nullptr};
    return {nullptr, a.rows16.data() + begin, a.scales.data()};
}

std::array<int, 3> corners(const SurfaceArrays& a, int triangle) noexcept {
    const int* const t = a.triangles.data() + 3 * static_cast<std::size_t>(triangle);
    return {t[0], t[1], t[2]};
}

/// Calls multiply(rows, q) with the storage of `a`; factors of columns go into the coordinates.
template <class Multiply>
void with_rows(const SurfaceArrays& a, int size, std::span<const float> q,
               const Multiply& multiply) noexcept {
    assert(static_cast<int>(q.size()) == size);
    if (a.storage == ShapeStorage::Float32) {
        multiply(SurfaceRows<float>{a.rows32.data(), size, a.r}, q.data());
        return;
    }
    std::array<float, SurfaceShapes::kMaxSize> scaled;
    for (std::size_t k = 0; k < q.size(); ++k) scaled[k] = a.scales[k] * q[k];
    multiply(SurfaceRows<std::int16_t>{reinterpret_cast<const std::int16_t*>(a.rows16.data()), size,
                                       a.r},
             scaled.data());
}

void multiply_all(const SurfaceArrays& a, int size, std::span<const float> q, const float* base,
                  std::span<float> out) noexcept {
    assert(out.size() == a.rest.size());
    with_rows(a, size, q, [&](const auto& rows, const float* coordinates) {
        multiply_rows(rows, out.size(), coordinates, base, out.data());
    });
}
void multiply_some(const SurfaceArrays& a, int size, std::span<const int> vertices,
                   std::span<const float> q, const float* base, std::span<float> out) noexcept {
    assert(out.size() == 3 * vertices.size());
    with_rows(a, size, q, [&](const auto& rows, const float* coordinates) {
        multiply_rows_of(vertices.data(), vertices.size(), rows, coordinates, base, out.data());
    });
}

/// Ū_s x.
Vector3d product(const SurfaceArrays& a, int vertex, const SurfaceShapes::ConstRef& x) noexcept {
    Vector3d sum = Vector3d::Zero();
    for (int axis = 0; axis < 3; ++axis) {
        const Row row = row_of(a, vertex, axis);
        for (int k = 0; k < x.size(); ++k) sum[axis] += row[k] * x[k];
    }
    return sum;
}

}  // namespace

SurfaceShapes::SurfaceShapes(const SurfaceMesh& surface, const Embedding& embedding,
                             const Eigen::MatrixXd& U, ShapeStorage storage)
    : size_(static_cast<int>(U.cols())) {
    const auto r = static_cast<std::size_t>(U.cols());
    require(r >= 1 && r <= std::size_t{kMaxSize}, "columns of the basis", r,
            "1 to " + std::to_string(kMaxSize));
    require(embedding.num_points() == surface.num_vertices(), "embedded points",
            static_cast<std::size_t>(embedding.num_points()),
            "one for each of the " + std::to_string(surface.num_vertices()) +
                " vertices of the surface");
    require(U.rows() == 3 * Eigen::Index{embedding.num_vertices()}, "rows of the basis",
            static_cast<std::size_t>(U.rows()),
            "3 for each of the " + std::to_string(embedding.num_vertices()) +
                " vertices of the embedding's mesh");

    const auto owned = std::make_shared<OwnedArrays>();
    owned->rest = flat_vertices(surface);
    owned->triangles = flat_triangles(surface);
    const std::size_t num_rows = owned->rest.size();
    if (storage == ShapeStorage::Float32) {
        owned->rows32.resize(num_rows * r);
    } else {
        owned->rows16.resize(num_rows * r);
        owned->scales.resize(r);
    }
    std::vector<double> column(num_rows);
    for (std::size_t k = 0; k < r; ++k) {
        embedding.transfer({U.col(static_cast<Eigen::Index>(k)).data(),
                            3 * static_cast<std::size_t>(embedding.num_vertices())},
                           column);
        add_column(column, k, r, storage, *owned);
    }
    *this = SurfaceShapes({size_, storage, owned->rest, owned->triangles, owned->rows32,
                           owned->rows16, owned->scales},
                          owned);
}

SurfaceShapes::SurfaceShapes(const SurfaceArrays& arrays, std::shared_ptr<const void> owner)
    : arrays_(arrays), owner_(std::move(owner)), size_(arrays.r) {
    require(arrays.r >= 1 && arrays.r <= kMaxSize, "columns of the surface matrix",
            static_cast<std::size_t>(std::max(arrays.r, 0)), "1 to " + std::to_string(kMaxSize));
    require(arrays.rest.size() % 3 == 0, "coordinates of surface vertices", arrays.rest.size(),
            "a multiple of 3");
    require(arrays.triangles.size() % 3 == 0, "corners of surface triangles",
            arrays.triangles.size(), "a multiple of 3");

    const bool is_float = arrays.storage == ShapeStorage::Float32;
    const std::size_t entries = arrays.rest.size() * static_cast<std::size_t>(arrays.r);
    const std::string expected = std::to_string(entries) + ", " + std::to_string(arrays.r) +
                                 " for each coordinate of the surface's vertices";
    require(arrays.rows32.size() == (is_float ? entries : 0),
            "32-bit entries of the surface matrix", arrays.rows32.size(),
            is_float ? expected : "none beside 16-bit ones");
    require(arrays.rows16.size() == (is_float ? 0 : entries),
            "16-bit entries of the surface matrix", arrays.rows16.size(),
            is_float ? "none beside 32-bit ones" : expected);
    require(arrays.scales.size() == (is_float ? 0 : static_cast<std::size_t>(arrays.r)),
            "factors of the columns of the surface matrix", arrays.scales.size(),
            is_float ? "none for 32-bit entries" : "one for each column");
    for (std::size_t i = 0; i < arrays.triangles.size(); ++i)
        if (arrays.triangles[i] < 0 || arrays.triangles[i] >= num_vertices())
            throw InputError("", "triangle " + std::to_string(i / 3) + " of the surface",
                             "vertex " + std::to_string(arrays.triangles[i]),
                             "0 to " + std::to_string(num_vertices() - 1));
}

SurfaceShapes SurfaceShapes::truncated(int size) const {
    if (size < 1 || size > size_)
        throw InputError("", "columns of the surface matrix to keep", std::to_string(size),
                         "1 to " + std::to_string(size_));
    SurfaceShapes kept = *this;
    kept.size_ = size;
    return kept;
}

void SurfaceShapes::positions(std::span<const float> q, std::span<float> x) const noexcept {
    multiply_all(arrays_, size_, q, arrays_.rest.data(), x);
}

void SurfaceShapes::velocities(std::span<const float> v, std::span<float> xdot) const noexcept {
    multiply_all(arrays_, size_, v, nullptr, xdot);
}

void SurfaceShapes::positions(std::span<const int> vertices, std::span<const float> q,
                              std::span<float> x) const noexcept {
    multiply_some(arrays_, size_, vertices, q, arrays_.rest.data(), x);
}

void SurfaceShapes::velocities(std::span<const int> vertices, std::span<const float> v,
                               std::span<float> xdot) const noexcept {
    multiply_some(arrays_, size_, vertices, v, nullptr, xdot);
}

void SurfaceShapes::normals(std::span<const float> x, std::span<float> n) const noexcept {
    assert(x.size() == arrays_.rest.size() && n.size() == x.size());
    std::fill(n.begin(), n.end(), 0.0f);
    // twice the area times the normal of each face, to its corners
    for (std::size_t t = 0; t < arrays_.triangles.size(); t += 3) {
        std::array<std::size_t, 3> at;
        for (std::size_t k = 0; k < 3; ++k)
            at[k] = 3 * static_cast<std::size_t>(arrays_.triangles[t + k]);
        const float *const a = x.data() + at[0], *const b = x.data() + at[1],
                           *const c = x.data() + at[2];
        const float e[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
        const float g[3] = {c[0] - a[0], c[1] - a[1], c[2] - a[2]};
        const float face[3] = {e[1] * g[2] - e[2] * g[1], e[2] * g[0] - e[0] * g[2],
                               e[0] * g[1] - e[1] * g[0]};
        for (const std::size_t corner : at)
            for (std::size_t k = 0; k < 3; ++k) n[corner + k] += face[k];
    }
    // squares of small areas would vanish in single precision
    for (std::size_t i = 0; i < n.size(); i += 3) {
        const double u = n[i], v = n[i + 1], w = n[i + 2], square = u * u + v * v + w * w;
        const double factor = square > 0 && std::isfinite(square) ? 1 / std::sqrt(square) : 0;
        for (std::size_t k = 0; k < 3; ++k)
            n[i + k] = factor > 0 ? static_cast<float>(n[i + k] * factor) : 0.0f;
    }
}

Vector3d SurfaceShapes::position(int vertex, const ConstRef& q) const noexcept {
    const float* const rest = arrays_.rest.data() + 3 * static_cast<std::size_t>(vertex);
    return Vector3d(rest[0], rest[1], rest[2]) + velocity(vertex, q);
}

Vector3d SurfaceShapes::position(int triangle, const Vector3d& barycentric,
                                 const ConstRef& q) const noexcept {
    const std::array<int, 3> t = corners(arrays_, triangle);
    return barycentric[0] * position(t[0], q) + barycentric[1] * position(t[1], q) +
           barycentric[2] * position(t[2], q);
}

Vector3d SurfaceShapes::velocity(int vertex, const ConstRef& v) const noexcept {
    assert(vertex >= 0 && vertex < num_vertices() && v.size() == size_);
    return product(arrays_, vertex, v);
}

Vector3d SurfaceShapes::velocity(int triangle, const Vector3d& barycentric,
                                 const ConstRef& v) const noexcept {
    const std::array<int, 3> t = corners(arrays_, triangle);
    return barycentric[0] * velocity(t[0], v) + barycentric[1] * velocity(t[1], v) +
           barycentric[2] * velocity(t[2], v);
}

Vector3d SurfaceShapes::normal(int triangle, const ConstRef& q) const noexcept {
    const std::array<int, 3> t = corners(arrays_, triangle);
    const Vector3d a = position(t[0], q);
    const Vector3d face = (position(t[1], q) - a).cross(position(t[2], q) - a);
    const double length = face.norm();
    return length > 0 && std::isfinite(length) ? Vector3d(face / length) : Vector3d::Zero();
}

void SurfaceShapes::add_force(int vertex, const Vector3d& force,
                              Eigen::Ref<Eigen::VectorXd> f) const noexcept {
    assert(vertex >= 0 && vertex < num_vertices() && f.size() == size_);
    const Row x = row_of(arrays_, vertex, 0), y = row_of(arrays_, vertex, 1),
              z = row_of(arrays_, vertex, 2);
    for (int k = 0; k < size_; ++k) f[k] += x[k] * force[0] + y[k] * force[1] + z[k] * force[2];
}

void SurfaceShapes::add_force(int triangle, const Vector3d& barycentric, const Vector3d& force,
                              Eigen::Ref<Eigen::VectorXd> f) const noexcept {
    const std::array<int, 3> t = corners(arrays_, triangle);
    for (std::size_t k = 0; k < 3; ++k)
        add_force(t[k], barycentric[static_cast<Eigen::Index>(k)] * force, f);
}

}  // namespace pliant
