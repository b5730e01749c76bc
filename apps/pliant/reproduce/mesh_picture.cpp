#include "mesh_picture.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "apps/pliant/output.h"
#include "pliant/fem/loads.h"
#include "report.h"

namespace pliant::reproduce {
namespace {

using cli::format;
using Eigen::Vector3d;

/// Parallel projection: x to the right, y down, z towards the viewer.
struct Projection {
    Eigen::Matrix3d axes;
    Vector3d origin;
    double scale = 1;
    [[nodiscard]] Vector3d operator()(const Vector3d& x) const {
        const Vector3d p = axes * x - origin;
        return {scale * p.x(), -scale * p.y(), p.z()};
    }
};

Eigen::Matrix3d axes_of(const View& view) {
    const double azimuth = view.azimuth * std::numbers::pi / 180,
                 elevation = view.elevation * std::numbers::pi / 180;
    // the horizontal plane is the one across `up`
    const Vector3d up = view.up.normalized();
    const Vector3d first = (std::abs(up.x()) < 0.9 ? Vector3d::UnitX() : Vector3d::UnitY());
    const Vector3d a = (first - first.dot(up) * up).normalized(), b = up.cross(a);
    const Vector3d z = std::cos(elevation) * (std::cos(azimuth) * a + std::sin(azimuth) * b) +
                       std::sin(elevation) * up;
    const Vector3d x = up.cross(z).normalized();
    Eigen::Matrix3d axes;
    axes << x.transpose(), z.cross(x).transpose(), z.transpose();
    return axes;
}

VolumeMesh moved(const Drawn& body) {
    VolumeMesh mesh = *body.mesh;
    if (body.u.size() > 0)
        for (int i = 0; i < mesh.num_vertices(); ++i)
            mesh.vertices[static_cast<std::size_t>(i)] += body.u.segment<3>(3 * i);
    return mesh;
}

/// log₂ of volume over rest volume, mean of the elements at each vertex.
std::vector<double> growth_at_vertices(const VolumeMesh& rest, const VolumeMesh& now) {
    std::vector<double> sum(rest.vertices.size(), 0), count(rest.vertices.size(), 0);
    for (int e = 0; e < rest.num_elements(); ++e) {
        const double ratio = element_volume(now, e) / element_volume(rest, e);
        for (const int v : rest.element(e)) {
            sum[static_cast<std::size_t>(v)] += std::log2(std::clamp(ratio, 0.5, 2.0));
            count[static_cast<std::size_t>(v)] += 1;
        }
    }
    for (std::size_t v = 0; v < sum.size(); ++v) sum[v] /= std::max(1.0, count[v]);
    return sum;
}

/// From blue (−1) over light grey to red (1), darkened by the shade.
std::string color_of(double growth, double shade) {
    const Vector3d blue(0.20, 0.42, 0.86), grey(0.86, 0.86, 0.84), red(0.88, 0.25, 0.18);
    const double t = std::clamp(std::abs(growth), 0.0, 1.0);
    const Vector3d color = shade * ((1 - t) * grey + t * (growth < 0 ? blue : red));
    const auto byte = [](double x) {
        return static_cast<int>(std::lround(255 * std::clamp(x, 0.0, 1.0)));
    };
    return format("#%02x%02x%02x", byte(color.x()), byte(color.y()), byte(color.z()));
}

struct Face {
    double depth;
    std::string svg;
};

/// Of a face with this normal in the axes of the picture.
double shade_of(const Vector3d& normal) {
    return 0.55 + 0.45 * std::max(0.0, normal.dot(Vector3d(-0.35, 0.75, 0.56)));
}

void add_faces(const Drawn& body, const Projection& project, std::vector<Face>& faces) {
    const VolumeMesh mesh = moved(body);
    const std::vector<double> growth = growth_at_vertices(*body.mesh, mesh);
    for (const ElementFace& face : boundary_faces(*body.mesh)) {
        const int corners = face[3] < 0 ? 3 : 4;
        std::string points;
        double depth = body.is_outline ? -1e9 : 0, mean_growth = 0;
        std::array<Vector3d, 4> world;
        for (int k = 0; k < corners; ++k) {
            const auto v = static_cast<std::size_t>(face[static_cast<std::size_t>(k)]);
            world[static_cast<std::size_t>(k)] = mesh.vertices[v];
            const Vector3d p = project(mesh.vertices[v]);
            points += format("%s%.1f,%.1f", k > 0 ? " " : "", p.x(), p.y());
            depth += p.z() / corners;
            mean_growth += growth[v] / corners;
        }
        const Vector3d across = corners == 3 ? (world[1] - world[0]).cross(world[2] - world[0])
                                             : (world[2] - world[0]).cross(world[3] - world[1]);
        const Vector3d normal = project.axes * across.normalized();
        if (normal.z() <= 0) continue;  // turned away
        faces.push_back({depth, body.is_outline
                                    ? "<polygon class=\"ghost\" points=\"" + points + "\"/>\n"
                                    : "<polygon class=\"mesh\" fill=\"" +
                                          color_of(mean_growth, shade_of(normal)) + "\" points=\"" +
                                          points + "\"/>\n"});
    }
}

std::array<Vector3d, 8> corners_of(const Box& box) {
    std::array<Vector3d, 8> corners;
    for (int k = 0; k < 8; ++k)
        corners[static_cast<std::size_t>(k)] = box.corner(static_cast<Box::CornerType>(k));
    return corners;
}

constexpr double kPictureMargin = 6, kPictureCaption = 20;

/// Shows the whole box; `height` is that of the picture without its caption.
Projection fitted(const View& view, const Box& box, double& height) {
    Projection project{axes_of(view), Vector3d::Zero()};
    Eigen::AlignedBox2d seen;
    for (const Vector3d& corner : corners_of(box))
        seen.extend(Eigen::Vector2d((project.axes * corner).head<2>()));
    project.scale = (view.width - 2 * kPictureMargin) / seen.sizes().x();
    project.origin = {seen.min().x() - kPictureMargin / project.scale,
                      seen.max().y() + kPictureMargin / project.scale, 0};
    height = project.scale * seen.sizes().y() + 2 * kPictureMargin;
    return project;
}

std::string framed_picture(const View& view, double height, const std::string& label,
                           const std::string& background, std::vector<Face> faces) {
    std::string out =
        format("<svg viewBox=\"0 0 %d %.0f\" width=\"%d\" height=\"%.0f\" role=\"img\">\n",
               view.width, height + kPictureCaption, view.width, height + kPictureCaption);
    out += "<title>" + escaped(label) + "</title>\n" + background;
    std::stable_sort(faces.begin(), faces.end(),
                     [](const Face& a, const Face& b) { return a.depth < b.depth; });
    for (const Face& face : faces) out += face.svg;
    out += format("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">", 0.5 * view.width,
                  height + kPictureCaption - 6) +
           escaped(label) + "</text>\n";
    return out + "</svg>";
}

}  // namespace

Box box_around(const std::vector<Drawn>& bodies) {
    Box box;
    for (const Drawn& body : bodies) box.extend(bounding_box(moved(body).vertices));
    return box;
}

std::string picture(const std::vector<Drawn>& bodies, const Box& box, const View& view,
                    const std::string& label, const Ground& ground) {
    double height = 0;
    const Projection project = fitted(view, box, height);
    std::string background;
    if (ground.is_there()) {
        // the floor of the box, brought to the plane along `up`
        const Vector3d up = view.up.normalized();
        const Vector3d size = 0.5 * box.sizes();
        const Vector3d a = axes_of(view).row(0).transpose() * 4 * size.norm(),
                       b = (up.cross(axes_of(view).row(0).transpose())) * size.norm();
        std::string points;
        for (const auto& [s, t] : {std::pair{-1, -1}, {1, -1}, {1, 1}, {-1, 1}}) {
            Vector3d corner = box.center() + s * a + t * b;
            corner -= (corner - ground.point).dot(ground.normal) / up.dot(ground.normal) * up;
            const Vector3d p = project(corner);
            points += format("%.1f,%.1f ", p.x(), p.y());
        }
        background += "<polygon class=\"ground\" points=\"" + points + "\"/>\n";
    }
    std::vector<Face> faces;
    for (const Drawn& body : bodies) add_faces(body, project, faces);
    return framed_picture(view, height, label, background, std::move(faces));
}

std::string surface_picture(const SurfaceMesh& mesh, const std::vector<double>& values,
                            const View& view, const std::string& label) {
    double height = 0;
    const Projection project = fitted(view, bounding_box(mesh.vertices), height);
    std::vector<Face> faces;
    for (const Triangle& triangle : mesh.triangles) {
        std::array<Vector3d, 3> seen;
        std::string points;
        double value = 0;
        for (std::size_t k = 0; k < 3; ++k) {
            const auto v = static_cast<std::size_t>(triangle[k]);
            seen[k] = project(mesh.vertices[v]);
            points += format("%s%.1f,%.1f", k > 0 ? " " : "", seen[k].x(), seen[k].y());
            value += values[v] / 3;
        }
        const auto corner = [&](std::size_t k) -> const Vector3d& {
            return mesh.vertices[static_cast<std::size_t>(triangle[k])];
        };
        const Vector3d normal =
            project.axes * (corner(1) - corner(0)).cross(corner(2) - corner(0)).normalized();
        if (normal.z() <= 0) continue;  // turned away
        faces.push_back({(seen[0].z() + seen[1].z() + seen[2].z()) / 3,
                         "<polygon class=\"mesh\" fill=\"" +
                             (std::isfinite(value) ? color_of(value, shade_of(normal)) : "none") +
                             "\" points=\"" + points + "\"/>\n"});
    }
    return framed_picture(view, height, label, "", std::move(faces));
}

}  // namespace pliant::reproduce
