#include <memory>

#include "benchmarks/contact_bench.h"
#include "pliant/contact/point_tree.h"
#include "tests/contact/tree_samples.h"
#include "tests/reduction/carrier_samples.h"

namespace pliant::bench {
namespace {

/// Points of a sphere in 20³ hexes with a random basis: times depend on sizes alone.
struct CarriedSphere {
    CarriedSphere(int num_points, int num_levels, int r)
        : shell(test::sphere_shell(num_points, num_levels, Eigen::Vector3d::Constant(0.5), 0.45)),
          points(test::shell_points(shell)) {
        const VolumeMesh mesh = hex_box(20, 20, 20, test::unit_box());
        std::mt19937 random(1);
        std::uniform_real_distribution<double> uniform(-1, 1);
        const Eigen::MatrixXd U = Eigen::MatrixXd::NullaryExpr(3 * mesh.num_vertices(), r,
                                                               [&] { return uniform(random); });
        model.emplace(test::carrier_model(mesh, U));
    }
    Pointshell shell;
    std::vector<Eigen::Vector3d> points;
    std::optional<ReducedModel> model;
};

double checksum(const PointTree& tree) {
    double sum = tree.radius();
    for (const PointTree::Node& node : tree.nodes()) sum += node.point * double{node.b};
    return sum;
}

Workload motion_workload() {
    const auto sphere = std::make_shared<CarriedSphere>(256000, 5, 15);
    return {.run = [sphere] {
        const MaterialPoints motion = material_points(*sphere->model, sphere->points, true);
        return motion.modes.back() + motion.gradients.back();
    }};
}

Workload deformable_workload() {
    const auto sphere = std::make_shared<CarriedSphere>(256000, 5, 15);
    const auto motion =
        std::make_shared<MaterialPoints>(material_points(*sphere->model, sphere->points, true));
    return {.run = [sphere, motion] { return checksum(PointTree(sphere->shell, *motion)); }};
}

Workload rigid_workload() {
    const auto shell = std::make_shared<Pointshell>(test::sphere_shell(1020000, 6));
    return {.run = [shell] { return checksum(PointTree(*shell)); }};
}

Benchmark build(const std::string& name, const std::function<Workload()>& setup,
                double max_seconds) {
    return {.module = "contact",
            .name = name,
            .setup = setup,
            .max_us = 1e6 * max_seconds,
            .samples = 4,
            .wall_time = true};
}

}  // namespace

std::vector<Benchmark> contact_tree_benchmarks() {
    return {build("material points/n=256000/r=15", motion_workload, 5),
            build("tree build/n=256000/levels=5/r=15", deformable_workload, 10),
            build("tree build/n=1020000/levels=6/rigid", rigid_workload, 5)};
}

}  // namespace pliant::bench
