#pragma once

#include "haptics/tool_contact.h"
#include "pliant/haptics/static_coupling.h"

#include <algorithm>
#include <numbers>
#include <random>
#include <vector>

namespace pliant::test {

using Eigen::Vector3d;

inline Vector3d normal_vector(std::mt19937& random, double size = 1) {
    std::normal_distribution<double> normal;
    const double x = normal(random), y = normal(random), z = normal(random);
    return size * Vector3d(x, y, z);
}

/// A tool made of points with inward normals; the grasp point is the origin of its axes.
struct ToolShape {
    std::vector<Vector3d> points, normals;

    /// Grid on the faces of a box, points in the middle of cells of about `spacing`: a point on an
    /// edge with the normal of one face would push sideways when the other face is in contact.
    void add_box(const Vector3d& half, double spacing) {
        for (int axis = 0; axis < 3; ++axis) {
            const int u = (axis + 1) % 3, v = (axis + 2) % 3;
            const int nu = std::max(2, static_cast<int>(2 * half[u] / spacing) + 1);
            const int nv = std::max(2, static_cast<int>(2 * half[v] / spacing) + 1);
            for (const double side : {-1.0, 1.0})
                for (int i = 0; i < nu; ++i)
                    for (int j = 0; j < nv; ++j) {
                        Vector3d p, n = Vector3d::Zero();
                        p[axis] = side * half[axis];
                        p[u] = half[u] * ((2.0 * i + 1) / nu - 1);
                        p[v] = half[v] * ((2.0 * j + 1) / nv - 1);
                        n[axis] = -side;
                        points.push_back(p);
                        normals.push_back(n);
                    }
        }
    }
    /// Golden spiral.
    void add_sphere(double radius, int count) {
        for (int i = 0; i < count; ++i) {
            const double z = 1 - (2.0 * i + 1) / count, s = std::sqrt(1 - z * z);
            const double angle = i * std::numbers::pi * (3 - std::sqrt(5.0));
            const Vector3d n(s * std::cos(angle), s * std::sin(angle), z);
            points.push_back(radius * n);
            normals.push_back(-n);
        }
    }
    [[nodiscard]] double gyration() const {
        double sum = 0;
        for (const Vector3d& p : points) sum += p.squaredNorm();
        return std::sqrt(sum / static_cast<double>(points.size()));
    }
    [[nodiscard]] double reach() const {
        double reach = 0;
        for (const Vector3d& p : points) reach = std::max(reach, p.norm());
        return reach;
    }
    [[nodiscard]] PointTree tree() const {
        Pointshell shell;
        for (std::size_t i = 0; i < points.size(); ++i) {
            shell.points.push_back(points[i].cast<float>());
            shell.normals.push_back(normals[i].cast<float>());
        }
        shell.level_start = {0, shell.num_points()};
        shell.spacing = 0.001;
        return PointTree(shell);
    }
};

/// The tool in a fixed field: contact as the coupling sees it.
class ToolScene {
public:
    ToolScene(const ToolShape& tool, std::shared_ptr<const DistanceField> field,
              const ContactLoadOptions& loads)
        : traversal_(tool.tree(), std::move(field)), forces_(traversal_, nullptr, loads) {}

    const ToolContact& contact(const Pose& tool) {
        static_cast<void>(traversal_.update(tool, {}));
        ContactFrames frames;
        frames.shell = tool;
        frames.shell_centre = tool.position;
        static_cast<void>(forces_.update(traversal_, frames, {}));
        const ContactLoads& loads = forces_.loads();
        contact_.load = loads.on_shell;
        contact_.gradient = loads.shell_gradient;
        contact_.normals = loads.shell_stiffness / forces_.options().stiffness;
        contact_.num_contacts = loads.num_contacts;
        contact_.clearance = double{traversal_.statistics().clearance};
        contact_.num_deep = 0;
        contact_.other_depth = 0;
        add_deep_contacts(contact_, traversal_, {}, tool.position, true, 0);
        depth_ = loads.deepest;
        return contact_;
    }
    [[nodiscard]] double depth() const { return depth_; }  ///< of the last contact [m]

private:
    PointTraversal traversal_;
    ContactForces forces_;
    ToolContact contact_;
    double depth_ = 0;
};

/// Device of 0.6 N/mm with enough damping of its own.
inline DeviceCapabilities sample_device() {
    DeviceCapabilities device;
    device.name = "sample";
    device.damping = 1.8;
    device.angular_damping = 2e-3;
    return device;
}

}  // namespace pliant::test
