#include "geometry/skin.h"

#include "core/numbers.h"
#include "pliant/core/parallel.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pliant::shape_parts {
namespace {

constexpr int kCoarseVertices = 160;     // at least, of the level that relaxation begins on
constexpr double kStep = 0.7;            // of the way in a round; at 1 rounds may alternate
constexpr std::size_t kSkinGrain = 256;  // vertices a task

/// Triangles around each vertex.
struct VertexFans {
    VertexFans(const std::vector<Triangle>& triangles, int num_vertices)
        : start(at(num_vertices) + 1, 0), triangle(3 * triangles.size()) {
        for (const Triangle& t : triangles)
            for (const int v : t) ++start[at(v) + 1];
        for (std::size_t v = 1; v < start.size(); ++v) start[v] += start[v - 1];
        std::vector<int> next(start.begin(), start.end() - 1);
        for (std::size_t t = 0; t < triangles.size(); ++t)
            for (const int v : triangles[t]) triangle[at(next[at(v)]++)] = static_cast<int>(t);
    }
    std::vector<int> start, triangle;
};

/// Newton steps along the gradient towards the skin, each of at most `reach`.
Vector3d pulled_to_skin(const Implicit& skin, Vector3d x, double reach, int steps) {
    const double e = 1e-6 * skin.box().sizes().maxCoeff();
    for (int k = 0; k < steps; ++k) {
        const double value = skin(x);
        Vector3d gradient;
        for (int i = 0; i < 3; ++i) gradient[i] = (skin(x + e * Vector3d::Unit(i)) - value) / e;
        // where parts blend the slope is less than one, but next to nothing only by accident
        const double slope = std::max(gradient.norm(), 0.2);
        x -= std::clamp(value / slope, -reach, reach) / slope * gradient;
    }
    return x;
}

/// Moves the vertices of one level along the skin.
class SkinRelaxation {
public:
    SkinRelaxation(const Implicit& skin, const std::vector<Triangle>& triangles,
                   const std::vector<char>& is_pinned, std::vector<Vector3d>& x)
        : skin_(skin),
          triangles_(triangles),
          is_pinned_(is_pinned),
          fans_(triangles, static_cast<int>(x.size())),
          x_(x) {}

    /// Every vertex goes towards the middle of its triangles, weighted by their areas to the power
    /// `evenness`, and back to the skin.
    void round(double evenness) {
        take_normals(evenness);
        next_.resize(x_.size());
        parallel_for(x_.size(), kSkinGrain, [&](std::size_t v) {
            const Fan fan = fan_of(v);
            Vector3d step = fan.middle - x_[v];
            step -= fan.normal * fan.normal.dot(step);
            if (is_pinned_[v]) step.setZero();
            next_[v] = pulled_to_skin(skin_, x_[v] + kStep * step, fan.size, 1);
        });
        x_.swap(next_);
    }
    /// All vertices from `first` on exactly to the skin.
    void finish(std::size_t first) {
        take_normals(0);
        next_ = x_;
        parallel_for(x_.size() - first, kSkinGrain, [&](std::size_t k) {
            const Fan fan = fan_of(first + k);
            next_[first + k] = pulled_to_skin(skin_, x_[first + k], fan.size, 8);
        });
        x_.swap(next_);
    }

private:
    struct Fan {
        Vector3d normal, middle;
        double size;  ///< about two edges
    };

    void take_normals(double evenness) {
        const std::size_t count = triangles_.size();
        normal_.resize(count);
        weight_.resize(count);
        parallel_for(count, kSkinGrain, [&](std::size_t t) {
            const auto [a, b, c] = triangles_[t];
            normal_[t] = (x_[at(b)] - x_[at(a)]).cross(x_[at(c)] - x_[at(a)]);
            weight_[t] = std::pow(normal_[t].norm() + std::numeric_limits<double>::min(), evenness);
        });
    }

    [[nodiscard]] Fan fan_of(std::size_t v) const {
        Vector3d normal = Vector3d::Zero(), middle = Vector3d::Zero();
        double sum = 0, area = 0;
        for (int k = fans_.start[v]; k < fans_.start[v + 1]; ++k) {
            const std::size_t t = at(fans_.triangle[at(k)]);
            const auto [a, b, c] = triangles_[t];
            normal += normal_[t];
            area += normal_[t].norm();
            middle += weight_[t] / 3 * (x_[at(a)] + x_[at(b)] + x_[at(c)]);
            sum += weight_[t];
        }
        return {normal.normalized(), middle / sum, std::sqrt(area)};
    }

    const Implicit& skin_;
    const std::vector<Triangle>& triangles_;
    const std::vector<char>& is_pinned_;
    VertexFans fans_;
    std::vector<Vector3d>& x_;
    std::vector<Vector3d> next_, normal_;
    std::vector<double> weight_;
};

/// Place of a new vertex between its neighbours by the butterfly's weights.
Vector3d butterfly_point(const std::vector<Vector3d>& x, const std::array<int, 8>& near) {
    Vector3d point = Vector3d::Zero();
    for (std::size_t k = 0; k < 8; ++k)
        point += (k < 2 ? 0.5 : k < 4 ? 0.125 : -0.0625) * x[at(near[k])];
    return point;
}

}  // namespace

SemiRegularMesh skinned_subdivide(const ControlMesh& control, int levels) {
    const Implicit& skin = *control.skin;
    const int last = std::max(levels, control.levels);
    SemiRegularMesh result = midpoint_subdivide(control.mesh, last);
    int first = 0;
    while (first < control.levels && result.num_vertices[at(first)] < kCoarseVertices) ++first;
    std::vector<char> is_pinned(result.mesh.vertices.size(), 0);
    for (const int v : control.pinned) is_pinned[at(v)] = 1;

    // Loop's surface to begin with
    std::vector<Vector3d> x = loop_subdivide(control.mesh, first, control.rules).mesh.vertices;
    for (const int v : control.pinned) x[at(v)] = control.mesh.vertices[at(v)];
    for (int level = first; level <= last; ++level) {
        std::size_t num_done = 0;
        if (level > first) {
            num_done = x.size();
            x.resize(at(result.num_vertices[at(level)]));
            for (std::size_t v = num_done; v < x.size(); ++v)
                x[v] = butterfly_point(x, result.neighbourhood[v - control.mesh.vertices.size()]);
        }
        SkinRelaxation relaxation(skin, result.triangles[at(level)], is_pinned, x);
        if (level <= control.levels) {
            num_done = 0;
            // what is left to even out is shorter on each level: a quarter of the rounds
            for (int k = control.rounds >> 2 * (level - first); k > 0; --k)
                relaxation.round(control.evenness);
        }
        // beyond the levels of the control mesh the vertices there stay where they are
        relaxation.finish(num_done);
    }

    result.mesh.vertices = std::move(x);
    return result;
}

}  // namespace pliant::shape_parts
