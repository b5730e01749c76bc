#pragma once

#include "contact/tree_samples.h"
#include "contact/visit_kernels.h"
#include "pliant/contact/point_traversal.h"
#include "pliant/field/analytic_field.h"
#include "pliant/field/distance_grid.h"
#include "reduction/aligned_array.h"

#include <algorithm>
#include <random>

/// Shells against fields, and the obvious way to find contacts.
namespace pliant::test {

/// Waves through the points: neighbours move alike, columns differ in direction and length.
inline MaterialPoints wave_motion(const Pointshell& shell, int r, double amplitude) {
    std::mt19937 random(7);
    std::uniform_real_distribution<double> uniform(-1, 1);
    MaterialPoints motion;
    motion.r = r;
    motion.rest = shell_points(shell);
    motion.modes.resize(3 * static_cast<std::size_t>(r) * motion.rest.size());
    motion.gradients.resize(3 * motion.modes.size(), 0.0);
    for (int j = 0; j < r; ++j) {
        const Eigen::Vector3d wave =
            2 * Eigen::Vector3d::NullaryExpr([&] { return uniform(random); });
        const Eigen::Vector3d along = Eigen::Vector3d::NullaryExpr([&] { return uniform(random); });
        const double phase = 3 * uniform(random);
        for (std::size_t i = 0; i < motion.rest.size(); ++i) {
            const Eigen::Vector3d u =
                amplitude * std::sin(wave.dot(motion.rest[i]) + phase) * along.normalized();
            for (std::size_t c = 0; c < 3; ++c)
                motion.modes[3 * (static_cast<std::size_t>(r) * i + static_cast<std::size_t>(j)) +
                             c] = u[static_cast<Eigen::Index>(c)];
        }
    }
    return motion;
}
inline PointTree rigid_tree(int num_points, int num_levels) {
    return PointTree(sphere_shell(num_points, num_levels, {0.1, -0.05, 0.2}, 0.3));
}
/// |q_j| of about 1 is a large deformation.
inline PointTree soft_tree(int num_points, int num_levels, int r) {
    const Pointshell shell = sphere_shell(num_points, num_levels, {0.1, -0.05, 0.2}, 0.3);
    return {shell, wave_motion(shell, r, 0.05)};
}

/// Distances of another field on a grid around it.
inline DistanceGrid sampled_grid(const DistanceField& field, double half_size, int cells) {
    GridFrame frame;
    frame.low = Eigen::Vector3d::Constant(-half_size);
    frame.cell = 2 * half_size / cells;
    frame.cells = {cells, cells, cells};
    std::vector<float> values;
    float boundary = std::numeric_limits<float>::infinity();
    for (int k = 0; k <= cells; ++k)
        for (int j = 0; j <= cells; ++j)
            for (int i = 0; i <= cells; ++i) {
                values.push_back(field.distance(frame.vertex(i, j, k)));
                for (const int n : {i, j, k})
                    if (n == 0 || n == cells) boundary = std::min(boundary, values.back());
            }
    // between the vertices of a face
    boundary = std::max(0.0f, boundary - static_cast<float>(frame.cell));
    return DistanceGrid::dense(frame, std::move(values), boundary);
}
/// A plate with a knob: flat and curved, thin and thick.
inline FieldPointer knob_field() {
    return unite_fields(
        {box_field({0.35, 0.3, 0.06}),
         move_field(sphere_field(0.12), {0.1, 0.1, 0.12}, Eigen::Quaterniond::Identity())});
}
struct NamedField {
    const char* name;
    FieldPointer field;
};
inline std::vector<NamedField> sample_fields() {
    const DistanceGrid dense = sampled_grid(*knob_field(), 0.5, 48);
    return {{"sphere", sphere_field(0.25)},
            {"half-space", plane_set_field({{Eigen::Vector3d(1, 2, -2), 0.05}})},
            {"dense grid", std::make_shared<DistanceGrid>(dense)},
            {"sparse grid", std::make_shared<DistanceGrid>(DistanceGrid::sparse(dense, 0.05))}};
}

class RandomMotion {
public:
    explicit RandomMotion(unsigned seed) : engine_(seed) {}
    double operator()(double low, double high) {
        return std::uniform_real_distribution<double>(low, high)(engine_);
    }
    Eigen::Vector3d vector(double size) {
        return Eigen::Vector3d::NullaryExpr([&] { return (*this)(-size, size); });
    }
    Pose pose(double distance) {
        return {vector(distance), rotation_from_vector(vector(std::numbers::pi))};
    }
    std::vector<double> shape(int r, double size) {
        std::vector<double> q;
        for (int j = 0; j < r; ++j) q.push_back((*this)(-size, size));
        return q;
    }

private:
    std::mt19937 engine_;
};

struct FoundContact {
    int point;
    float distance, x, y, z;
    bool operator==(const FoundContact&) const = default;
    auto operator<=>(const FoundContact&) const = default;
};
inline std::vector<FoundContact> contacts_of(const PointTraversal& traversal) {
    const ContactPoints& c = traversal.contacts();
    std::vector<FoundContact> all;
    for (std::size_t i = 0; i < static_cast<std::size_t>(c.count); ++i)
        all.push_back({c.point[i], c.distance[i], c.x[i], c.y[i], c.z[i]});
    return all;
}
inline std::vector<FoundContact> sorted(std::vector<FoundContact> contacts) {
    std::ranges::sort(contacts);
    return contacts;
}

/// Every point of a level on its own, by the arithmetic of the traversal.
inline std::vector<FoundContact> exhaustive_contacts(const PointTree& tree,
                                                     const DistanceField& field, const Pose& pose,
                                                     const std::vector<double>& q, int level) {
    AlignedArray<float> factors(static_cast<std::size_t>(tree.row_stride()));
    VisitMotion motion;
    motion.factors = factors.data();
    for (std::size_t j = 0; j < q.size(); ++j) {
        std::fill_n(factors.data() + 4 * j, 3, static_cast<float>(q[j]));
        factors.data()[4 * j + 3] = std::abs(static_cast<float>(q[j]));
    }
    std::fill_n(factors.data() + 4 * q.size(), 4, 1.0f);
    const Quaternion unit(pose.rotation.coeffs() / pose.rotation.norm());
    const Eigen::Matrix3d R = unit.toRotationMatrix();
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) motion.rotation[3 * i + j] = static_cast<float>(R(i, j));
        motion.shift[i] = static_cast<float>(pose.position[i]);
    }
    const VisitRows rows{tree.row(0), tree.row_stride(), tree.rank(), &tree.nodes()[0].b, 4};
    std::vector<FoundContact> all;
    VisitBatch batch = {};
    for (int node = tree.level_start(level); node < tree.level_start(level + 1); ++node) {
        place_nodes(rows, motion, &node, 1, 1, batch);
        float d = 0;
        field.distances({batch.x, batch.y, batch.z, 1}, &d);
        if (d < 0)
            all.push_back({tree.nodes()[static_cast<std::size_t>(node)].point, d, batch.x[0],
                           batch.y[0], batch.z[0]});
    }
    return sorted(all);
}

/// Smooth motion that passes through a field, again and again, differently each time.
inline Pose pose_on_path(double t, double size) {
    const Eigen::Vector3d position(std::sin(1.3 * t), std::sin(1.7 * t + 1), std::sin(0.9 * t + 2));
    return {size * position,
            rotation_from_vector(
                2 * Eigen::Vector3d(std::sin(t), std::cos(0.7 * t), std::sin(0.4 * t)))};
}
inline std::vector<double> shape_on_path(double t, int r, double size) {
    std::vector<double> q;
    for (int j = 0; j < r; ++j) q.push_back(size * std::sin((2 + 0.3 * j) * t + j));
    return q;
}

}  // namespace pliant::test
