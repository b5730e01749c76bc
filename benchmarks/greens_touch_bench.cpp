#include <cmath>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

#include "benchmarks/greens_bench.h"
#include "pliant/geometry/shapes.h"
#include "pliant/geometry/surface_query.h"
#include "pliant/greens/build_greens.h"
#include "pliant/greens/compliant_hand.h"
#include "pliant/greens/distributed_contact.h"
#include "pliant/greens/point_contact.h"

namespace pliant::bench {
namespace {

using Eigen::Vector3d;

std::shared_ptr<const GreensModel> touched_model(const std::string& shape, int levels,
                                                 const std::string& fixed) {
    GreensBuildOptions options;
    options.fixed = fixed;
    options.youngs_modulus = 1e4;
    return std::make_shared<GreensModel>(
        build_greens_model(make_semi_regular(shape, levels), options));
}

/// Points that slide over a kidney with friction, back and forth; one tick is one sample.
struct Strokes {
    std::shared_ptr<const GreensModel> model = touched_model("kidney", 2, "z < 20 %");
    SurfaceStiffness stiffness{model};
    PointContacts contacts;
    std::vector<PointInput> inputs;
    Vector3d top;
    int tick = 0;

    explicit Strokes(int num_points) : contacts(model, num_points), inputs(num_points) {
        const Box box = bounding_box(model->surface.mesh.vertices);
        const Vector3d above = box.center() + model->reference.length * Vector3d(0, 0.1, 1);
        const auto hit = SurfaceQuery(model->surface.mesh).ray(above, {0, 0, -1});
        top = above - hit->t * Vector3d::UnitZ();
        move(0.02);
        (void)contacts.tick(inputs, stiffness);
    }
    void move(double height) {
        const double size = model->reference.length, turn = 1e-3 * tick;
        for (std::size_t k = 0; k < inputs.size(); ++k)
            inputs[k].tip =
                top + size * Vector3d(0.12 * std::sin(5 * turn + 0.8 * static_cast<double>(k)),
                                      0.03 * std::cos(9 * turn), height);
    }
    double run() {
        ++tick;
        move(-0.04);
        return contacts.tick(inputs, stiffness).points[0].force.norm();
    }
};

Workload point_ticks(int num_points) {
    auto strokes = std::make_shared<Strokes>(num_points);
    Workload load;
    load.run = [strokes] { return strokes->run(); };
    return load;
}

/// A hand from above around a nodule, which opens and closes a little.
struct NoduleGrasp {
    std::shared_ptr<const GreensModel> model = touched_model("nodule", 3, "z < 2 %");
    CompliantHand hand{GraspHand::adult()};
    DistributedContact contact{model, hand.model().shapes(), UpdateCosts()};
    Pose wrist;
    std::vector<Wrench> loads;
    std::vector<Matrix6d> stiffness;
    std::vector<float> field;
    int frame = 0;

    NoduleGrasp() : loads(at_links()), stiffness(at_links(), Matrix6d::Zero()), field(3 * nodes()) {
        const Box box = bounding_box(model->surface.mesh.vertices);
        Eigen::Matrix3d axes;  // palm down
        axes << 1, 0, 0, 0, 0, 1, 0, -1, 0;
        wrist.rotation = Quaternion(axes);
        wrist.position = {box.center().x(), box.center().y() - 0.085,
                          box.max().z() + hand.model().palm_half_sizes.y() + 0.006};
        hand.place(wrist, closing_hand(0));
        for (int k = 0; k < 140; ++k) advance(0.006 * k);
    }
    static std::size_t at_links() { return GraspHand::kNumLinks; }
    [[nodiscard]] std::size_t nodes() const { return static_cast<std::size_t>(model->num_nodes()); }

    void advance(double closing) {
        (void)hand.step(wrist, closing_hand(closing), loads, stiffness);
        (void)contact.step(hand.links());
        for (int link = 0; link < GraspHand::kNumLinks; ++link) {
            loads[static_cast<std::size_t>(link)] = contact.load(link);
            stiffness[static_cast<std::size_t>(link)] = contact.stiffness(link);
        }
    }
    double deform() {
        contact.solver().evaluate(model->num_nodes());
        contact.solver().write_displacements(field);
        return double{field[2]};
    }
};

/// Hand, contact and global deformation of one frame.
Workload grasp_frame() {
    auto grasp = std::make_shared<NoduleGrasp>();
    Workload load;
    load.run = [grasp] {
        grasp->advance(0.82 + 0.02 * std::sin(0.05 * ++grasp->frame));
        return grasp->deform();
    };
    return load;
}

/// The deformation alone: s nodes with new displacements, and the whole field.
Workload grasp_deformation(int s) {
    struct State {
        std::shared_ptr<const GreensModel> model = touched_model("nodule", 3, "z < 2 %");
        CapacitanceSolver solver{model->reference, UpdateCosts()};
        std::vector<ChangedDof> changes;
        std::vector<double> values;
        std::vector<float> field;
        int frame = 0;
    };
    auto state = std::make_shared<State>();
    for (int node = 0; node < state->model->num_nodes() && s > 0; ++node)
        if (state->model->reference.functions->has_column(node)) {
            --s;
            for (int k = 0; k < 3; ++k) state->changes.push_back({node, Vector3d::Unit(k)});
        }
    state->values.assign(state->changes.size(), 0.0);
    state->field.assign(3 * static_cast<std::size_t>(state->model->num_nodes()), 0.0f);
    Workload load;
    load.run = [state] {
        for (double& value : state->values) value = 1e-3 * std::sin(0.1 * ++state->frame);
        (void)state->solver.solve(state->changes, state->values);
        state->solver.evaluate(state->model->num_nodes());
        state->solver.write_displacements(state->field);
        return double{state->field.back()};
    };
    return load;
}

}  // namespace

std::vector<Benchmark> greens_touch_benchmarks() {
    std::vector<Benchmark> all;
    const auto add = [&](std::string name, auto setup, double max_us, int samples) {
        Benchmark benchmark;
        benchmark.module = "greens";
        benchmark.name = std::move(name);
        benchmark.setup = setup;
        benchmark.max_us = max_us;
        benchmark.samples = samples;
        all.push_back(benchmark);
    };
    for (const int points : {1, 2}) {
        add(
            "point_tick/slide/points=" + std::to_string(points),
            [points] { return point_ticks(points); }, 10, 20000);
        all.back().max_p999_us = 10;
    }
    add(
        "grasp/deformation/s=40", [] { return grasp_deformation(40); }, 500, 500);
    add(
        "grasp/frame/nodule", [] { return grasp_frame(); }, 0, 500);
    return all;
}

}  // namespace pliant::bench
