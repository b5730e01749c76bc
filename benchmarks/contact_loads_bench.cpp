#include <memory>
#include <random>

#include "benchmarks/contact_bench.h"
#include "pliant/contact/contact_loads.h"
#include "pliant/field/analytic_field.h"

namespace pliant::bench {
namespace {

/// A lump of points in a big ball: every point of the shell is a contact.
struct LoadedShell {
    LoadedShell(int num_points, int r, const ContactLoadOptions& options) {
        std::mt19937 random(1);
        std::uniform_real_distribution<double> uniform(-1, 1);
        const auto vector = [&](double size) {
            const double x = uniform(random), y = uniform(random), z = uniform(random);
            return Eigen::Vector3d(size * x, size * y, size * z);
        };
        Pointshell shell;
        MaterialPoints motion;
        motion.r = r;
        for (int i = 0; i < num_points; ++i) {
            motion.rest.push_back(vector(0.05));
            shell.points.push_back(motion.rest.back().cast<float>());
            shell.normals.push_back(
                (Eigen::Vector3d(0, 0, 2) + vector(1)).normalized().cast<float>());
            for (int k = 0; k < 3 * r; ++k) motion.modes.push_back(uniform(random));
            for (int k = 0; k < 9 * r; ++k) motion.gradients.push_back(uniform(random));
        }
        shell.level_start = {0, num_points};
        shell.spacing = 0.001;
        q.assign(static_cast<std::size_t>(r), 1e-3);
        traversal = std::make_unique<PointTraversal>(
            r == 0 ? PointTree(shell) : PointTree(shell, motion), sphere_field(1.0));
        traversal->update({}, q);
        forces = std::make_unique<ContactForces>(*traversal, nullptr, options);
    }
    std::vector<double> q;
    std::unique_ptr<PointTraversal> traversal;
    std::unique_ptr<ContactForces> forces;
};

Workload loads_workload(int num_points, int r, const ContactLoadOptions& options) {
    const auto shell = std::make_shared<LoadedShell>(num_points, r, options);
    Workload workload;
    workload.operations = num_points;
    workload.run = [shell] {
        static_cast<void>(shell->forces->update(*shell->traversal, {}, shell->q));
        const ContactLoads& loads = shell->forces->loads();
        double sum = loads.on_shell.force.sum() + loads.shell_gradient.sum();
        if (loads.shell_load.size() > 0)
            sum += loads.shell_load.sum() + loads.shell_reduced_stiffness.sum();
        return sum;
    };
    return workload;
}

}  // namespace

std::vector<Benchmark> contact_loads_benchmarks() {
    std::vector<Benchmark> all;
    const auto add = [&](const std::string& name, int num_points, int r, double max_us,
                         const ContactLoadOptions& options) {
        all.push_back({.module = "contact",
                       .name = "loads/" + name + "/contacts=" + std::to_string(num_points) +
                               (r > 0 ? "/r=" + std::to_string(r) : ""),
                       .setup = [=] { return loads_workload(num_points, r, options); },
                       .max_us = max_us});
    };
    const ContactLoadOptions plain;
    ContactLoadOptions rough;
    rough.friction = 0.5;
    ContactLoadOptions by_field;
    by_field.takes_field_gradient = true;
    // targets per contact; with few contacts the fixed part shows
    add("rigid", 100, 0, 0, plain);
    add("rigid", 1000, 0, 0.030, plain);
    add("rigid with field gradients", 1000, 0, 0, by_field);
    add("rigid with friction", 1000, 0, 0, rough);
    for (const int r : {15, 30, 60}) add("deformable", 1000, r, r == 15 ? 0.120 : 0, plain);
    add("deformable with friction", 1000, 15, 0, rough);
    return all;
}

}  // namespace pliant::bench
