#include "pliant/geometry/picture.h"

#include "geometry/triangle.h"
#include "pliant/core/error.h"
#include "pliant/core/parallel.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>
#include <numbers>

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

constexpr int kSamples = 2;            // per pixel and axis
constexpr double kHalfField = 0.21;    // tangent of half the vertical angle of view
constexpr double kBorder = 1.12;       // empty border around the mesh
constexpr double kCreaseCosine = 0.7;  // sharper edges are not smoothed
constexpr int kShadowSize = 1024;

/// Triangles seen along rows of `axes`: x to the right, y up, z towards the viewer.
struct View {
    Matrix3d axes;
    Vector3d centre;
    double distance = 0.0;  ///< of the eye along z from the centre; 0 for a parallel projection
    double scale = 1.0;     ///< pixels per metre (parallel) or per unit slope
    int width = 0, height = 0;

    /// Pixel coordinates (y down) and depth; larger is nearer.
    [[nodiscard]] Vector3d project(const Vector3d& x) const {
        const Vector3d p = axes * (x - centre);
        const double s = distance > 0.0 ? scale / (distance - p.z()) : scale;
        // 1/distance is linear on screen
        const double depth = distance > 0.0 ? 1.0 / (distance - p.z()) : p.z();
        return {0.5 * width + s * p.x(), 0.5 * height - s * p.y(), depth};
    }
};

/// Nearest triangle and its depth at every sample.
struct DepthBuffer {
    DepthBuffer(int w, int h)
        : width(w),
          depth(static_cast<std::size_t>(w) * h, -std::numeric_limits<float>::infinity()),
          triangle(depth.size(), -1) {}
    int width;
    std::vector<float> depth;
    std::vector<int> triangle;
};

DepthBuffer rasterize(const SurfaceMesh& mesh, const View& view) {
    std::vector<Vector3d> p(mesh.vertices.size());
    parallel_for(p.size(), 4096, [&](std::size_t i) { p[i] = view.project(mesh.vertices[i]); });
    DepthBuffer buffer(view.width, view.height);
    for (int t = 0; t < mesh.num_triangles(); ++t) {
        const Triangle& tri = mesh.triangles[t];
        const Vector3d &a = p[tri[0]], &b = p[tri[1]], &c = p[tri[2]];
        const double area = (b.x() - a.x()) * (c.y() - a.y()) - (b.y() - a.y()) * (c.x() - a.x());
        if (area == 0.0) continue;
        const int x0 =
            std::max(0, static_cast<int>(std::ceil(std::min({a.x(), b.x(), c.x()}) - 0.5)));
        const int x1 = std::min(
            view.width - 1, static_cast<int>(std::floor(std::max({a.x(), b.x(), c.x()}) - 0.5)));
        const int y0 =
            std::max(0, static_cast<int>(std::ceil(std::min({a.y(), b.y(), c.y()}) - 0.5)));
        const int y1 = std::min(
            view.height - 1, static_cast<int>(std::floor(std::max({a.y(), b.y(), c.y()}) - 0.5)));
        for (int y = y0; y <= y1; ++y)
            for (int x = x0; x <= x1; ++x) {
                const double px = x + 0.5 - a.x(), py = y + 0.5 - a.y();
                const double wb = (px * (c.y() - a.y()) - py * (c.x() - a.x())) / area;
                const double wc = ((b.x() - a.x()) * py - (b.y() - a.y()) * px) / area;
                if (wb < 0.0 || wc < 0.0 || wb + wc > 1.0) continue;
                const auto depth =
                    static_cast<float>(a.z() + wb * (b.z() - a.z()) + wc * (c.z() - a.z()));
                const std::size_t at = static_cast<std::size_t>(y) * view.width + x;
                if (depth <= buffer.depth[at]) continue;
                buffer.depth[at] = depth;
                buffer.triangle[at] = t;
            }
    }
    return buffer;
}

Matrix3d axes_towards(const Vector3d& viewer) {
    const Vector3d z = viewer.normalized();
    Vector3d x = Vector3d::UnitZ().cross(z);
    x = x.norm() > 1e-6 ? x.normalized() : Vector3d::UnitX();
    Matrix3d axes;
    axes << x.transpose(), z.cross(x).transpose(), z.transpose();
    return axes;
}

/// Perspective view with the whole mesh in the middle of the picture.
View fit_view(const SurfaceMesh& mesh, const CameraOptions& camera, int width, int height) {
    const double azimuth = camera.azimuth * std::numbers::pi / 180.0,
                 elevation = camera.elevation * std::numbers::pi / 180.0;
    View view;
    view.axes = axes_towards({std::cos(elevation) * std::cos(azimuth),
                              std::cos(elevation) * std::sin(azimuth), std::sin(elevation)});
    view.centre = bounding_box(mesh.vertices).center();
    view.width = width;
    view.height = height;
    view.scale = 0.5 * height / kHalfField;
    const double half_x = kHalfField * width / height / kBorder, half_y = kHalfField / kBorder;
    // shift to the middle of what is seen, then step back until it fits; twice is enough
    for (int round = 0; round < 2; ++round) {
        Eigen::AlignedBox2d seen;
        double distance = 1e-9;
        for (const Vector3d& v : mesh.vertices) {
            const Vector3d p = view.axes * (v - view.centre);
            distance = std::max(
                {distance, p.z() + std::abs(p.x()) / half_x, p.z() + std::abs(p.y()) / half_y});
        }
        for (const Vector3d& v : mesh.vertices) {
            const Vector3d p = view.axes * (v - view.centre);
            seen.extend(Eigen::Vector2d(p.head<2>() / (distance - p.z())));
        }
        if (round == 0) {
            const Eigen::Vector2d middle = seen.center() * distance;
            view.centre += view.axes.transpose() * Vector3d(middle.x(), middle.y(), 0.0);
        }
        view.distance = distance;
    }
    return view;
}

/// Parallel view along the key light that holds the mesh and its shadow on the ground.
View light_view(const SurfaceMesh& mesh, const Vector3d& light) {
    View view;
    view.axes = axes_towards(light);
    const Box box = bounding_box(mesh.vertices);
    view.centre = box.center();
    view.width = view.height = kShadowSize;
    double reach = 1e-12;
    for (const Vector3d& v : mesh.vertices)
        reach = std::max(reach, (view.axes * (v - view.centre)).head<2>().cwiseAbs().maxCoeff());
    view.scale = 0.48 * kShadowSize / reach;
    return view;
}

/// Part of the light that reaches x past the mesh, over a square of (2 spread + 1)² shadow texels.
double light_reaching(const Vector3d& x, const View& light, const DepthBuffer& shadow, int spread,
                      double bias) {
    const Vector3d p = light.project(x);
    const int u = static_cast<int>(std::floor(p.x())), v = static_cast<int>(std::floor(p.y()));
    int lit = 0, count = 0;
    const int step = std::max(1, spread / 4);
    for (int j = v - spread; j <= v + spread; j += step)
        for (int i = u - spread; i <= u + spread; i += step) {
            ++count;
            const bool outside = i < 0 || j < 0 || i >= light.width || j >= light.height;
            if (outside ||
                shadow.depth[static_cast<std::size_t>(j) * light.width + i] <= p.z() + bias)
                ++lit;
        }
    return static_cast<double>(lit) / count;
}

/// Normals of the corners of each triangle, smoothed over edges flatter than the crease angle.
std::vector<std::array<Vector3d, 3>> corner_normals(const SurfaceMesh& mesh) {
    const std::vector<Vector3d> flat = face_normals(mesh);
    std::vector<int> start(mesh.vertices.size() + 1, 0), fans(3 * mesh.triangles.size());
    for (const Triangle& t : mesh.triangles)
        for (const int v : t) ++start[v + 1];
    for (std::size_t v = 0; v < mesh.vertices.size(); ++v) start[v + 1] += start[v];
    std::vector<int> fill(start.begin(), start.end() - 1);
    for (int t = 0; t < mesh.num_triangles(); ++t)
        for (const int v : mesh.triangles[t]) fans[fill[v]++] = t;
    std::vector<std::array<Vector3d, 3>> normals(mesh.triangles.size());
    parallel_for(normals.size(), 1024, [&](std::size_t t) {
        for (int k = 0; k < 3; ++k) {
            const int v = mesh.triangles[t][k];
            Vector3d sum = 1e-6 * flat[t];
            for (int i = start[v]; i < start[v + 1]; ++i)
                if (flat[fans[i]].dot(flat[t]) > kCreaseCosine) sum += flat[fans[i]];
            normals[t][k] = sum.normalized();
        }
    });
    return normals;
}

/// Everything that the colour of one sample depends on.
struct Scene {
    const SurfaceMesh& mesh;
    const std::vector<Eigen::Vector3f>& colors;
    bool has_wireframe;
    View view, light;
    DepthBuffer shadow;
    std::vector<std::array<Vector3d, 3>> normals;
    Vector3d key, fill, eye;
    Box box;

    [[nodiscard]] Vector3d ray(double px, double py) const {
        return view.axes.transpose() * Vector3d((px - 0.5 * view.width) / view.scale,
                                                (0.5 * view.height - py) / view.scale, -1.0);
    }

    [[nodiscard]] Vector3d background(double px, double py) const {
        const double up = 1.0 - py / view.height;
        Vector3d color = Vector3d(0.80, 0.81, 0.82) + up * Vector3d(0.08, 0.10, 0.13);
        // shadow on the ground, softer than on the mesh
        const Vector3d d = ray(px, py);
        const double ground = box.min().z();
        if (d.z() < -1e-6 && eye.z() > ground) {
            const Vector3d x = eye + d * ((ground - eye.z()) / d.z());
            const double bias = 1e-3 / light.scale;
            color *= 0.58 + 0.42 * light_reaching(x, light, shadow, 16, bias);
        }
        return color;
    }

    [[nodiscard]] Vector3d surface(int t, double px, double py) const {
        const Vector3d &a = mesh.corner(t, 0), &b = mesh.corner(t, 1), &c = mesh.corner(t, 2);
        const Vector3d d = ray(px, py), n = (b - a).cross(c - a);
        const Vector3d x = eye + d * (n.dot(a - eye) / n.dot(d));
        const double area2 = n.squaredNorm();
        const Vector3d w(n.dot((c - b).cross(x - b)) / area2, n.dot((a - c).cross(x - c)) / area2,
                         n.dot((b - a).cross(x - a)) / area2);
        Vector3d normal =
            (w[0] * normals[t][0] + w[1] * normals[t][1] + w[2] * normals[t][2]).normalized();
        if (n.dot(d) > 0.0) normal = -normal;  // open sheets show their back

        Vector3d base(0.62, 0.34, 0.17);
        if (!colors.empty()) {
            base.setZero();
            for (int k = 0; k < 3; ++k) base += w[k] * colors[mesh.triangles[t][k]].cast<double>();
        }
        // two lights, and a sky that darkens towards the ground
        const double bias = 3.0 / light.scale;
        const double lit = light_reaching(x + bias * normal, light, shadow, 2, 0.5 * bias);
        const double height = (x.z() - box.min().z()) / std::max(1e-12, box.sizes().maxCoeff());
        const double open = 1.0 - 0.45 * std::exp(-12.0 * height);
        const double sky = 0.5 + 0.5 * normal.z();
        const Vector3d ambient =
            open * (Vector3d(0.20, 0.18, 0.17) + sky * Vector3d(0.20, 0.23, 0.27));
        const double diffuse =
            0.85 * lit * std::max(0.0, normal.dot(key)) + 0.22 * std::max(0.0, normal.dot(fill));
        const Vector3d half = (key - d.normalized()).normalized();
        const double shine = 0.18 * lit * std::pow(std::max(0.0, normal.dot(half)), 40.0);
        Vector3d color = base.cwiseProduct(ambient + Vector3d::Constant(diffuse)).array() + shine;
        if (has_wireframe && is_near_edge(t, w)) color *= 0.35;
        return color;
    }

    /// Within half a pixel of a side, on screen.
    [[nodiscard]] bool is_near_edge(int t, const Vector3d& w) const {
        std::array<Vector3d, 3> p;
        for (int k = 0; k < 3; ++k) p[k] = view.project(mesh.corner(t, k));
        const Vector3d ab = p[1] - p[0], ac = p[2] - p[0];
        const double area2 = std::abs(ab.x() * ac.y() - ab.y() * ac.x());
        for (int k = 0; k < 3; ++k) {
            const double side = (p[(k + 1) % 3] - p[(k + 2) % 3]).head<2>().norm();
            if (w[k] * area2 < 0.5 * kSamples * side) return true;
        }
        return false;
    }
};

}  // namespace

Picture render(const SurfaceMesh& mesh, const CameraOptions& camera,
               const std::vector<Eigen::Vector3f>& vertex_colors) {
    assert(camera.width > 0 && camera.height > 0);
    assert(vertex_colors.empty() || vertex_colors.size() == mesh.vertices.size());
    for (const Vector3d& x : mesh.vertices)
        if (!is_usable(x))
            throw InputError("",
                             "vertex " + std::to_string(&x - mesh.vertices.data()) +
                                 " is not finite or beyond 1e30 m and cannot be drawn; repair the "
                                 "surface, which drops it");
    const int width = kSamples * camera.width, height = kSamples * camera.height;
    const View view = fit_view(mesh, camera, width, height);
    // lights hang over the viewer's left shoulder and at the right
    const Vector3d key =
        (view.axes.transpose() * Vector3d(-0.45, 0.0, 0.55) + 0.9 * Vector3d::UnitZ()).normalized();
    const Vector3d fill = (view.axes.transpose() * Vector3d(0.9, 0.1, 0.3)).normalized();
    const View light = light_view(mesh, key);
    const Scene scene{mesh,
                      vertex_colors,
                      camera.has_wireframe,
                      view,
                      light,
                      rasterize(mesh, light),
                      corner_normals(mesh),
                      key,
                      fill,
                      view.centre + view.distance * view.axes.row(2).transpose(),
                      bounding_box(mesh.vertices)};
    const DepthBuffer buffer = rasterize(mesh, view);

    Picture picture{camera.width, camera.height, {}};
    picture.rgb.resize(static_cast<std::size_t>(3) * camera.width * camera.height);
    parallel_for(static_cast<std::size_t>(camera.height), 4, [&](std::size_t row) {
        for (int column = 0; column < camera.width; ++column) {
            Vector3d sum = Vector3d::Zero();
            int missed = 0;
            for (int s = 0; s < kSamples * kSamples; ++s) {
                const int x = kSamples * column + s % kSamples,
                          y = kSamples * static_cast<int>(row) + s / kSamples;
                const int t = buffer.triangle[static_cast<std::size_t>(y) * width + x];
                if (t >= 0)
                    sum += scene.surface(t, x + 0.5, y + 0.5).cwiseMin(1.0);
                else
                    ++missed;
            }
            // the background is smooth: one sample is enough
            if (missed > 0)
                sum += missed * scene.background(kSamples * (column + 0.5),
                                                 kSamples * (static_cast<double>(row) + 0.5));
            for (int k = 0; k < 3; ++k) {
                const double value = std::pow(sum[k] / (kSamples * kSamples), 1.0 / 2.2);
                picture.rgb[3 * (row * camera.width + column) + k] =
                    static_cast<std::uint8_t>(std::lround(255.0 * value));
            }
        }
    });
    return picture;
}

}  // namespace pliant
