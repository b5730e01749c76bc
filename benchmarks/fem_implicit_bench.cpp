#include <cmath>
#include <memory>
#include <numbers>
#include <stdexcept>

#include "benchmarks/fem_bench.h"
#include "pliant/core/parallel.h"
#include "pliant/fem/implicit_dynamics.h"
#include "pliant/fem/loads.h"
#include "pliant/fem/mass.h"
#include "pliant/geometry/structured_mesh.h"

namespace pliant::bench {
namespace {

constexpr double kImplicitStep = 1e-3;  // [s]

PenaltyContact ground_under(const FemModel& model, double weight) {
    int num_lowest = 0;
    for (const Eigen::Vector3d& x : model.mesh().vertices) num_lowest += x.z() < 1e-9;
    // the body sinks in by 0.1 mm
    const double stiffness = weight / (1e-4 * num_lowest);
    return {
        model, {RigidShape::half_space()}, {.stiffness = stiffness, .damping = 1e-3 * stiffness}};
}

/// A block of soft tissue that rests on the ground, its top pushed to and fro.
class RestingBlock {
public:
    RestingBlock(VolumeMesh mesh, Law law)
        : model_(std::move(mesh), {material_preset("tissue", law)}),
          weight_(9.81 * lumped_mass(model_).sum() / 3),
          f_(gravity_load(model_, Eigen::Vector3d(0, 0, -9.81))),
          dynamics_(model_, Constraints(model_.num_nodes()), {.damping = {.stiffness = 1e-3}},
                    ground_under(model_, weight_)),
          s_(dynamics_.make_state()) {
        ImplicitDynamics settling(
            model_, Constraints(model_.num_nodes()),
            {.gamma = 1.125, .alpha = 1, .damping = {.mass = 60, .stiffness = 0.02}},
            ground_under(model_, weight_));
        for (int k = 0; k < 200; ++k) (void)settling.step(s_, f_, 5e-3);
        if (std::abs(settling.wrenches()[0].force.z() + weight_) > 1e-3 * weight_)
            throw std::runtime_error("the block does not rest");
        s_.v.setZero();
        s_.a.setZero();
        s_.time = 0;

        Eigen::AlignedBox3d box;
        for (const Eigen::Vector3d& x : model_.mesh().vertices) box.extend(x);
        for (int i = 0; i < model_.num_nodes(); ++i)
            if (model_.mesh().vertices[i].z() > box.max().z() - 1e-9) top_.push_back(i);
        load_ = f_;
    }

    /// One step; every part of it has to be done.
    double run() {
        const double push = 0.1 * weight_ * std::sin(2 * std::numbers::pi * 5 * s_.time);
        for (const int node : top_)
            load_[3 * node] = f_[3 * node] + push / static_cast<double>(top_.size());
        const ImplicitReport report = dynamics_.step(s_, load_, kImplicitStep);
        const bool is_at_rest = s_.time < 1.5 * kImplicitStep;
        if (report.status != StepStatus::Ok || !(report.linear_residual <= 1e-6) ||
            report.contact.num_contacts == 0 || (report.newton_iterations != 1 && !is_at_rest))
            throw std::runtime_error("the step failed");
        return s_.u.squaredNorm() + report.cg_iterations;
    }

private:
    FemModel model_;
    double weight_;
    Eigen::VectorXd f_, load_;
    ImplicitDynamics dynamics_;
    FemState s_;
    std::vector<int> top_;
};

Benchmark step_benchmark(const std::string& name, Law law, VolumeMesh (*mesh)(), double max_us) {
    return {.module = "fem",
            .name = "implicit_step/" + name,
            .setup =
                [law, mesh] {
                    const auto block = std::make_shared<RestingBlock>(mesh(), law);
                    return Workload{.run = [block] {
                        set_num_threads(1);
                        const double value = block->run();
                        set_num_threads(0);
                        return value;
                    }};
                },
            .max_us = max_us,
            .samples = 400};
}

Box tissue_box(double height) {
    return {Eigen::Vector3d::Zero(), Eigen::Vector3d(0.1, 0.1, height)};
}

}  // namespace

std::vector<Benchmark> implicit_benchmarks() {
    return {
        // 4,374 tets and 1,000 nodes
        step_benchmark(
            "stvk/4400-tets", Law::StVenantKirchhoff,
            [] { return tet_box(9, 9, 9, tissue_box(0.1)); }, 4000),
        // 5,832 tets and 1,300 nodes
        step_benchmark(
            "corotational/5844-tets", Law::Corotational,
            [] { return tet_box(9, 9, 12, tissue_box(0.1333)); }, 4000),
        step_benchmark(
            "stvk/729-hexes", Law::StVenantKirchhoff,
            [] { return hex_box(9, 9, 9, tissue_box(0.1)); }, 0),
    };
}

}  // namespace pliant::bench
