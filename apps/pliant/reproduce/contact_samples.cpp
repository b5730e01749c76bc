#include "contact_samples.h"

#include <Eigen/Eigenvalues>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>

#include "pliant/core/parallel.h"
#include "pliant/geometry/shapes.h"
#include "pliant/reduction/build_reduced.h"
#include "pliant/reduction/reduced_dynamics.h"
#include "samples.h"

namespace pliant::reproduce {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;

AllCores::AllCores() { set_num_threads(0); }
AllCores::~AllCores() { set_num_threads(1); }

SurfaceMesh centred_shape(const std::string& shape, double size, int resolution) {
    SurfaceMesh mesh = make_shape(shape, resolution);
    const Box box = bounding_box(mesh.vertices);
    const double factor = size / box.sizes().maxCoeff();
    for (Vector3d& x : mesh.vertices) x = factor * (x - box.center());
    return mesh;
}

Solid make_solid(SurfaceMesh mesh, int cells, double expansion) {
    const AllCores all;
    auto field = std::make_shared<DistanceGrid>(
        build_field(mesh, {.resolution = cells, .expansion = expansion}));
    return {std::move(mesh), std::move(field)};
}

Pointshell make_shell(const Solid& solid, int num_points, int num_levels, int moves) {
    const AllCores all;
    return build_pointshell(
        *solid.field, solid.mesh,
        {.num_points = num_points, .num_levels = num_levels, .max_iterations = moves});
}

ReducedModel make_soft(const SurfaceMesh& mesh, const SoftOptions& options) {
    const AllCores all;
    ReducedBuildOptions build;
    build.material = isotropic(options.youngs_modulus, 0.4, 1000);
    build.elements = kPublishedElements.elements;
    build.fixed = options.fixed;
    build.mesh.resolution = options.resolution;
    build.num_modes = options.num_modes;
    build.rank = options.rank;
    build.cache = default_cache_folder();
    return build_reduced_model(mesh, build);
}

PointTree make_tree(const Pointshell& shell, const ReducedModel& model) {
    const AllCores all;
    std::vector<Vector3d> points;
    points.reserve(shell.points.size());
    for (const Eigen::Vector3f& x : shell.points) points.push_back(x.cast<double>());
    return {shell, material_points(model, points, true)};
}

double largest_turn(const ReducedModel& model, const VectorXd& q) {
    // about a thousand places are enough
    std::vector<Vector3d> some;
    const SurfaceMesh surface = model.surface();
    const std::size_t stride = std::max<std::size_t>(1, surface.vertices.size() / 1000);
    for (std::size_t i = 0; i < surface.vertices.size(); i += stride)
        some.push_back(surface.vertices[i]);
    const MaterialPoints points = material_points(model, some, true);
    double largest = 0;
    for (int i = 0; i < points.num_points(); ++i) {
        const VectorXd change = points.F(i) * q;
        const Matrix3d F = Matrix3d::Identity() + change.reshaped(3, 3);
        const Eigen::JacobiSVD<Matrix3d> svd(F, Eigen::ComputeFullU | Eigen::ComputeFullV);
        const Matrix3d R = svd.matrixU() * svd.matrixV().transpose();
        largest = std::max(largest, std::acos(std::clamp((R.trace() - 1) / 2, -1.0, 1.0)));
    }
    return largest;
}

VectorXd bent_shape(const ReducedModel& model, int mode, double angle) {
    const ReducedDynamics dynamics(std::shared_ptr<const ReducedForce>(model.make_force()),
                                   model.mass());
    const auto ws = dynamics.make_workspace();
    const Eigen::MatrixXd K = [&] {
        const auto force_ws = dynamics.force().make_workspace();
        VectorXd f(model.rank());
        Eigen::MatrixXd stiffness(model.rank(), model.rank());
        dynamics.force().force_and_stiffness(VectorXd::Zero(model.rank()), f, stiffness, *force_ws);
        return stiffness;
    }();
    // the modes of the subspace itself, softest first
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(K);
    const VectorXd direction = eigen.eigenvectors().col(mode) * eigen.eigenvalues()[mode];
    ReducedState s = dynamics.make_state();
    const auto turn_under = [&](double load) {
        (void)dynamics.solve_static(s, load * direction, 60, *ws);
        return largest_turn(model, s.q);
    };
    // from below, so that every equilibrium is near the one before
    double load = 1e-3 * angle / std::max(1e-12, turn_under(1e-3));
    for (int k = 0; k < 25; ++k) {
        const double turn = turn_under(load);
        if (std::abs(turn / angle - 1) < 2e-3) break;
        load *= std::clamp(angle / turn, 0.6, 1.5);
    }
    return s.q;
}

SurfaceMesh deformed_surface(const ReducedModel& model, const VectorXd& q) {
    SurfaceMesh mesh = model.surface();
    const SurfaceShapes shapes = model.shapes();
    for (int i = 0; i < mesh.num_vertices(); ++i)
        mesh.vertices[static_cast<std::size_t>(i)] = shapes.position(i, q);
    return mesh;
}

Probe::Probe(const PointTree& tree, std::shared_ptr<const DistanceField> field,
             const TraversalOptions& traversal, const ContactLoadOptions& loads)
    : traversal_(tree, std::move(field), traversal), forces_(traversal_, nullptr, loads) {}

const ContactLoads& Probe::at(const Pose& shell_to_field, std::span<const double> q) {
    (void)traversal_.update(shell_to_field, q);
    ContactFrames frames;
    frames.shell = shell_to_field;
    frames.shell_centre = shell_to_field.position;
    (void)forces_.update(traversal_, frames, q);
    return forces_.loads();
}

double depth_of_contacts(const PointTree& tree, const std::shared_ptr<const DistanceField>& field,
                         const Pose& start, const Vector3d& direction, double longest, int wanted,
                         const VectorXd& q) {
    PointTraversal traversal(tree, field, {.has_coherence = false});
    const VectorXd shape = q.size() > 0 ? q : VectorXd::Zero(tree.rank());
    const auto contacts = [&](double depth) {
        Pose pose = start;
        pose.position += depth * direction.normalized();
        (void)traversal.update(pose, {shape.data(), static_cast<std::size_t>(shape.size())});
        return traversal.statistics().contacts;
    };
    // the first depth with enough, in steps of a cell, then halves
    const double step = std::max(field->resolution(), longest / 400);
    double low = 0, high = step;
    while (high < longest && contacts(high) < wanted) {
        low = high;
        high += step;
    }
    for (int k = 0; k < 20; ++k) {
        const double middle = (low + high) / 2;
        (contacts(middle) < wanted ? low : high) = middle;
    }
    return high;
}

}  // namespace pliant::reproduce
