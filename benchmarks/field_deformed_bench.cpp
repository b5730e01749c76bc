#include <memory>
#include <vector>

#include "benchmarks/field_bench.h"
#include "tests/field/deformed_samples.h"

namespace pliant::bench {
namespace {

using namespace test;

constexpr int kDeformedBatch = 256;

/// The bent bar, or the U with its legs apart, and points all over its box.
struct Field {
    ReducedModel model;
    std::unique_ptr<DeformedField> field;
    Eigen::VectorXd q;
    std::unique_ptr<RandomPoints> points;
    std::vector<float> values;

    explicit Field(ReducedModel model_) : model(std::move(model_)) {}
    void finish(const DeformedFieldModel& built, const Eigen::VectorXd& shape) {
        field = std::make_unique<DeformedField>(built);
        q = shape;
        field->update(q);
        points = std::make_unique<RandomPoints>(field->bounds(), 40 * kDeformedBatch, 1);
        values.resize(points->x.size());
    }
    double run() {
        for (int begin = 0; begin < points->size(); begin += kDeformedBatch)
            field->distances(points->batch(begin, kDeformedBatch),
                             values.data() + static_cast<std::size_t>(begin));
        double sum = 0;
        for (const float v : values) sum += double{v};
        return sum;
    }
};

std::shared_ptr<Field> bent_bar(bool pushes_forward) {
    const auto f = std::make_shared<Field>(bar_of_shapes());
    f->finish(DeformedFieldModel::of_domains(f->model, {one_domain(f->model, 128)},
                                             {.pushes_forward = pushes_forward}),
              bend_coordinates(f->model, 1.0));
    return f;
}

std::shared_ptr<Field> opened_u() {
    const VolumeMesh mesh = u_shape();
    const Eigen::VectorXd u =
        displacements(mesh, [](const Eigen::Vector3d& X) { return opened(X, 0.8); });
    const auto f = std::make_shared<Field>(shaped_model(mesh, {u}));
    const SurfaceMesh skin = f->model.surface();
    const DistanceGrid body = exact_grid(skin, 128);
    f->finish(
        DeformedFieldModel::of_domains(
            f->model, cut_into_domains(body, skin, find_domains(skin), {}, 0, Progress::none())),
        coordinates(f->model, u));
    return f;
}

Workload query_workload(const std::shared_ptr<Field>& f) {
    Workload workload;
    workload.operations = f->points->size();
    workload.run = [f] { return f->run(); };
    // each point alone
    workload.reference_operations = kDeformedBatch;
    workload.run_reference = [f] {
        double sum = 0;
        for (int i = 0; i < kDeformedBatch; ++i)
            sum += double{f->field->distance(f->points->at(i))};
        return sum;
    };
    return workload;
}

Workload update_workload() {
    const auto f = bent_bar(false);
    Workload workload;
    workload.operations = 100;
    workload.run = [f] {
        for (int i = 0; i < 100; ++i) f->field->update(f->q);
        return f->field->bounds().max().sum();
    };
    return workload;
}

}  // namespace

std::vector<Benchmark> field_deformed_benchmarks() {
    return {
        {.module = "field",
         .name = "deformed/distance/proxies=40/k=5",
         .setup = [] { return query_workload(bent_bar(false)); },
         .reference = "one point at a time",
         .max_us = 0.3},
        {.module = "field",
         .name = "deformed/distance/push-forward",
         .setup = [] { return query_workload(bent_bar(true)); },
         .reference = "one point at a time"},
        {.module = "field",
         .name = "deformed/distance/domains of a U",
         .setup = [] { return query_workload(opened_u()); },
         .reference = "one point at a time"},
        {.module = "field", .name = "deformed/update/proxies=40/r=14", .setup = update_workload}};
}

}  // namespace pliant::bench
