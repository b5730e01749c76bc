#include "pliant/greens/adaptive_surface.h"

#include "core/numbers.h"
#include "pliant/core/error.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

namespace pliant {
namespace {

const WaveletGreensFunctions& wavelets_of(const GreensModel* model) {
    const auto* functions =
        model ? dynamic_cast<const WaveletGreensFunctions*>(model->reference.functions.get())
              : nullptr;
    if (functions == nullptr || functions->block() != 3)
        throw InputError("",
                         "adaptive output needs a model with wavelet Green's functions, as from "
                         "pliant build --kind greens --wavelet lifted-linear");
    return *functions;
}

}  // namespace

AdaptiveDisplay::AdaptiveDisplay(std::shared_ptr<const GreensModel> model)
    : model_(std::move(model)),
      functions_(&wavelets_of(model_.get())),
      inverse_(functions_->transform(), 3) {
    const SemiRegularMesh& mesh = model_->surface;
    for (const Eigen::Vector3d& x : mesh.mesh.vertices)
        for (int c = 0; c < 3; ++c) rest_.push_back(static_cast<float>(x[c]));
    functions_->transform().forward(rest_.data(), 3);
    coefficients_.resize(rest_.size());
    is_shown_.resize(mesh.mesh.vertices.size());
    place_.resize(mesh.mesh.vertices.size());
    sides_.assign(mesh.mesh.vertices.size(), {-1, -1});
    for (int l = 0; l < mesh.num_levels(); ++l) {
        is_split_.emplace_back(mesh.triangles[at(l)].size());
        for (int t = 0; t < static_cast<int>(mesh.triangles[at(l)].size()); ++t)
            for (const int m : middles(l, t)) sides_[at(m)][sides_[at(m)][0] < 0 ? 0 : 1] = t;
    }
}

/// Vertices in the middle of the sides of a triangle, across from its corners.
const std::array<int, 3>& AdaptiveDisplay::middles(int level, int triangle) const noexcept {
    return model_->surface.triangles[at(level + 1)][at(4 * triangle + 3)];
}

/// From the finest level down, so that what fine triangles need is there before it is looked at.
void AdaptiveDisplay::find_split(double tolerance, std::span<const float> weights) {
    const SurfaceTransform& transform = functions_->transform();
    const auto is_wanted = [&](int m) {
        if (transform.is_base(m)) return true;
        const Eigen::Map<const Eigen::Vector3f> detail(coefficients_.data() + 3 * at(m));
        const double weight = weights.empty() ? 1 : double{weights[at(m)]};
        return weight * double{detail.norm()} > tolerance;
    };
    for (auto& split : is_split_) std::fill(split.begin(), split.end(), 0);
    for (int l = transform.num_levels() - 1; l >= 0; --l)
        for (int t = 0; t < static_cast<int>(is_split_[at(l)].size()); ++t) {
            char& is_split = is_split_[at(l)][at(t)];
            const std::array<int, 3>& across = middles(l, t);
            is_split = is_split || std::any_of(across.begin(), across.end(), is_wanted);
            if (!is_split || l == 0) continue;
            // it is there itself, and so are its neighbours
            is_split_[at(l - 1)][at(t / 4)] = 1;
            for (const int m : across)
                for (const int side : sides_[at(m)])
                    if (side >= 0) is_split_[at(l - 1)][at(side / 4)] = 1;
        }
    std::fill(is_shown_.begin(), is_shown_.end(), 0);
    std::fill_n(is_shown_.begin(), transform.level_sizes()[0], 1);
    for (int l = 0; l < transform.num_levels(); ++l)
        for (int t = 0; t < static_cast<int>(is_split_[at(l)].size()); ++t)
            if (is_split_[at(l)][at(t)])
                for (const int m : middles(l, t)) is_shown_[at(m)] = 1;
}

/// A triangle, its four parts, or what joins it to neighbours that are split.
void AdaptiveDisplay::add_triangles(int level, int triangle, AdaptiveSurface& surface) const {
    const Triangle& corners = model_->surface.triangles[at(level)][at(triangle)];
    const auto add = [&](int a, int b, int c) {
        surface.triangles.push_back({place_[at(a)], place_[at(b)], place_[at(c)]});
    };
    if (level == functions_->transform().num_levels())
        return add(corners[0], corners[1], corners[2]);
    if (is_split_[at(level)][at(triangle)]) {
        for (int k = 0; k < 4; ++k) add_triangles(level + 1, 4 * triangle + k, surface);
        return;
    }
    const std::array<int, 3>& m = middles(level, triangle);
    int count = 0;
    for (const int middle : m) count += is_shown_[at(middle)];
    if (count == 0) return add(corners[0], corners[1], corners[2]);
    if (count == 3) {
        for (std::size_t k = 0; k < 3; ++k) add(corners[k], m[(k + 2) % 3], m[(k + 1) % 3]);
        return add(m[0], m[1], m[2]);
    }
    // the side that differs from the two others, across from corner k
    std::size_t k = 0;
    while (is_shown_[at(m[k])] != (count == 1 ? 1 : 0)) ++k;
    const int a = corners[k], b = corners[(k + 1) % 3], c = corners[(k + 2) % 3];
    if (count == 1) {
        add(a, b, m[k]);
        add(a, m[k], c);
    } else {
        const int on_b = m[(k + 2) % 3], on_c = m[(k + 1) % 3];
        add(a, on_b, on_c);
        add(on_b, b, c);
        add(on_b, c, on_c);
    }
}

/// Fixed nodes are a domain of the transform of their own: coefficients of theirs are theirs alone.
void AdaptiveDisplay::add_supports(const MovedSupports& supports) {
    assert(supports.nodes.size() == supports.displacements.size());
    if (supports.nodes.empty()) return;
    moved_.assign(coefficients_.size(), 0.0f);
    for (std::size_t k = 0; k < supports.nodes.size(); ++k)
        if (const std::size_t v = at(supports.nodes[k]);
            model_->reference.kinds[v] == NodeKind::Fixed)
            Eigen::Map<Eigen::Vector3f>(moved_.data() + 3 * v) =
                supports.displacements[k].cast<float>();
    functions_->transform().forward(moved_.data(), 3);
    for (std::size_t i = 0; i < moved_.size(); ++i) coefficients_[i] += moved_[i];
}

void AdaptiveDisplay::update(std::span<const float> sum, double tolerance, AdaptiveSurface& surface,
                             std::span<const float> weights, const MovedSupports& supports) {
    const SurfaceTransform& transform = functions_->transform();
    const std::size_t n = at(transform.num_vertices()), stride = functions_->sum_stride();
    assert(sum.size() >= functions_->sum_size(transform.num_vertices()));
    // coefficients of the deformed shape: rows of supports are tractions
    const auto length = static_cast<float>(model_->reference.length);
    for (std::size_t v = 0; v < n; ++v) {
        const float factor = model_->reference.kinds[v] == NodeKind::Free ? length : 0.0f;
        for (std::size_t c = 0; c < 3; ++c)
            coefficients_[3 * v + c] = rest_[3 * v + c] + factor * sum[v * stride + c];
    }
    add_supports(supports);
    find_split(tolerance, weights);

    // what is not shown is as predicted
    for (std::size_t v = 0; v < n; ++v)
        if (!is_shown_[v]) std::fill_n(coefficients_.begin() + std::ptrdiff_t(3 * v), 3, 0.0f);
    inverse_.start(coefficients_.data());
    surface.vertices.clear();
    surface.positions.clear();
    surface.triangles.clear();
    surface.refined.clear();
    for (int v = 0; v < static_cast<int>(n); ++v) {
        if (!is_shown_[at(v)]) continue;
        place_[at(v)] = static_cast<int>(surface.vertices.size());
        surface.vertices.push_back(v);
        surface.positions.emplace_back(Eigen::Map<const Eigen::Vector3f>(inverse_.value(v)));
        if (transform.level(v) > 0) surface.refined.push_back(v);
    }
    for (int t = 0; t < static_cast<int>(model_->surface.triangles[0].size()); ++t)
        add_triangles(0, t, surface);
}

}  // namespace pliant
