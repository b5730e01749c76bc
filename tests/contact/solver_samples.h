#pragma once

#include "contact/tree_samples.h"
#include "geometry/simple_surfaces.h"
#include "pliant/contact/contact_solver.h"
#include "pliant/field/analytic_field.h"

#include <memory>
#include <numbers>

/// Bodies for the contact solver, and scenes made of them.
namespace pliant::test {

inline constexpr double kStandardGravity = 9.81;

/// n × n points in the middle of equal cells on each face, on one level.
inline Pointshell face_shell(const Eigen::Vector3d& half, int n) {
    Pointshell shell;
    for (int axis = 0; axis < 3; ++axis)
        for (const int side : {-1, 1})
            for (int i = 0; i < n; ++i)
                for (int j = 0; j < n; ++j) {
                    Eigen::Vector3d p;
                    const int a = (axis + 1) % 3, b = (axis + 2) % 3;
                    p[axis] = side * half[axis];
                    p[a] = half[a] * (2 * (i + 0.5) / n - 1);
                    p[b] = half[b] * (2 * (j + 0.5) / n - 1);
                    shell.points.push_back(p.cast<float>());
                    shell.normals.push_back((-side * Eigen::Vector3d::Unit(axis)).cast<float>());
                }
    shell.level_start = {0, shell.num_points()};
    return shell;
}

inline RigidMass ball_mass(double radius, double mass) {
    return {mass, Eigen::Vector3d::Zero(),
            0.4 * mass * radius * radius * Eigen::Matrix3d::Identity()};
}
inline RigidMass box_mass(const Eigen::Vector3d& half, double mass) {
    const Eigen::Vector3d squares = half.cwiseAbs2();
    return {mass, Eigen::Vector3d::Zero(),
            (mass / 3 * (Eigen::Vector3d::Constant(squares.sum()) - squares)).asDiagonal()};
}

/// Rigid bodies that stand, lie, roll and collide.
struct RigidScene {
    void add_ground(const Eigen::Vector3d& normal = Eigen::Vector3d::UnitZ()) {
        bodies.push_back(
            std::make_unique<RigidBody>(RigidShape::half_space(normal), box_surface()));
        parts.push_back({bodies.back().get(), {}, plane_set_field({{normal, 0}}), {}});
    }
    RigidBody& add(const RigidMass& mass, const Pose& pose, const Twist& velocity,
                   const PointTree& tree, const FieldPointer& field) {
        RigidBodyOptions options;
        options.pose = pose;
        options.velocity = velocity;
        options.mass = mass;
        bodies.push_back(
            std::make_unique<RigidBody>(RigidShape::sphere(0.1), box_surface(), options));
        bodies.back()->set_gravity(gravity);
        parts.push_back({bodies.back().get(), tree, field, {}});
        return *bodies.back();
    }
    RigidBody& add_box(const Eigen::Vector3d& half, double mass, const Pose& pose,
                       const Twist& velocity = {}, int n = 4) {
        return add(box_mass(half, mass), pose, velocity, PointTree(face_shell(half, n)),
                   box_field(half));
    }
    RigidBody& add_ball(double radius, double mass, const Pose& pose, const Twist& velocity = {},
                        int num_points = 2000) {
        return add(ball_mass(radius, mass), pose, velocity,
                   PointTree(sphere_shell(num_points, 3, Eigen::Vector3d::Zero(), radius)),
                   sphere_field(radius));
    }
    void start(const ContactSolverOptions& options = {}) {
        solver = std::make_unique<ContactSolver>(parts, options);
    }
    void tick() {
        last = solver->act(dt);
        for (const auto& body : bodies) body->step(dt);
    }
    void run(double seconds) {
        for (int k = 0; k < static_cast<int>(std::lround(seconds / dt)); ++k) tick();
    }
    [[nodiscard]] double kinetic_energy() const {
        double sum = 0;
        for (const auto& body : bodies) sum += body->energy().kinetic;
        return sum;
    }
    /// Without that of contact.
    [[nodiscard]] double energy() const {
        double sum = kinetic_energy();
        for (const auto& body : bodies)
            if (body->mass()) sum -= body->mass()->mass * gravity.dot(body->motion().pose.position);
        return sum;
    }
    /// Linear in `force`, angular about the world's origin in `torque`.
    [[nodiscard]] Wrench momentum() const {
        Wrench sum;
        for (const auto& body : bodies) {
            if (!body->mass()) continue;
            const RigidMotion& m = body->motion();
            const Quaternion& R = m.pose.rotation;
            const Eigen::Vector3d linear = body->mass()->mass * m.velocity.linear;
            sum += {linear, m.pose.position.cross(linear) +
                                R * (body->mass()->inertia * (R.conjugate() * m.velocity.angular))};
        }
        return sum;
    }

    double dt = 1e-3;
    Eigen::Vector3d gravity = -kStandardGravity * Eigen::Vector3d::UnitZ();
    std::vector<std::unique_ptr<RigidBody>> bodies;
    std::vector<ContactBody> parts;
    std::unique_ptr<ContactSolver> solver;
    StepStatus last = StepStatus::Ok;
};

inline Pose at(double x, double y, double z) {
    return {Eigen::Vector3d(x, y, z), Quaternion::Identity()};
}

}  // namespace pliant::test
