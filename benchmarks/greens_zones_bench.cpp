#include <array>
#include <cmath>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "benchmarks/greens_bench.h"
#include "pliant/geometry/structured_mesh.h"
#include "pliant/greens/build_greens.h"
#include "pliant/greens/distributed_contact.h"
#include "pliant/greens/pad_surface.h"
#include "pliant/greens/zoned_body.h"
#include "pliant/greens/zones.h"

namespace pliant::bench {
namespace {

using Eigen::Vector3d;

constexpr double kZoneLength = 0.04;

/// A chain of four boxes of finite elements, 25 nodes in each seam, held at its first end.
struct BoxChain {
    std::unique_ptr<ZonedModel> model;
    std::vector<Pose> poses;
    int tick = 0;

    BoxChain() {
        std::vector<Zone> zones(4);
        for (std::size_t z = 0; z < zones.size(); ++z) {
            const VolumeMesh mesh = tet_box(
                4, 4, 4, Box(Vector3d::Zero(), Vector3d(kZoneLength, kZoneLength, kZoneLength)));
            // nodes are the vertices of outer faces in ascending order
            std::set<int> outer;
            for (const Triangle& corners : boundary_triangles(mesh))
                outer.insert(corners.begin(), corners.end());
            std::string ends = "list ";
            int node = 0;
            for (const int v : outer) {
                const double x = mesh.vertices[static_cast<std::size_t>(v)].x() / kZoneLength;
                if (x < 1e-9 || (x > 1 - 1e-9 && z < 3))
                    ends += (ends.size() > 5 ? "," : "") + std::to_string(node);
                ++node;
            }
            GreensBuildOptions options;
            options.fixed = ends;
            options.has_fixed_columns = true;
            zones[z].name = std::to_string(z);
            zones[z].model = std::make_shared<GreensModel>(build_greens_model(mesh, options));
            zones[z].pose.position.x() = kZoneLength * static_cast<double>(z);
        }
        model = std::make_unique<ZonedModel>(zones, find_seams(zones));
        for (const Zone& zone : zones) poses.push_back(zone.pose);
    }
    /// The joints from `first` on bend to and fro.
    void bend(std::size_t first) {
        const double angle = 0.1 * std::sin(0.1 * ++tick);
        for (std::size_t z = first; z < poses.size(); ++z) {
            Pose joint;
            joint.rotation = rotation_from_vector(Vector3d(0, angle, 0));
            joint.position = Vector3d(kZoneLength, 0, 0);
            poses[z] = poses[z - 1] * joint;
        }
        (void)model->set_poses(poses);
    }
};

Workload refactor_seams(std::size_t first) {
    auto chain = std::make_shared<BoxChain>();
    Workload load;
    load.run = [chain, first] {
        chain->bend(first);
        return chain->model->seams().report().refactored + chain->poses[3].position.z();
    };
    return load;
}

Workload seam_solve() {
    auto chain = std::make_shared<BoxChain>();
    chain->bend(1);
    Workload load;
    load.run = [chain] {
        (void)chain->model->solve();
        return chain->model->seams().displacements(3).norm();
    };
    return load;
}

Workload posed_model() {
    auto chain = std::make_shared<BoxChain>();
    chain->bend(1);
    (void)chain->model->solve();
    Workload load;
    load.run = [chain] { return chain->model->posed().reference.length; };
    return load;
}

/// The finger of the demo, three pads of 194 vertices, bending on a plate.
struct PadFinger {
    std::unique_ptr<ZonedBody> body;
    std::vector<std::unique_ptr<DistributedContact>> contacts;
    std::vector<int> nodes;
    std::vector<Vector3d> values;
    bool has_contact;

    explicit PadFinger(bool with_contact) : has_contact(with_contact) {
        GreensBuildOptions options;
        options.youngs_modulus = 6e4;
        options.poisson_ratio = 0.45;
        options.fixed = "z > 60 %";
        options.has_fixed_columns = true;
        const auto pad = std::make_shared<GreensModel>(
            build_greens_model(pad_surface({.length = 0.03}, 2), options));
        CharacterModel model;
        ZonedBodyOptions body_options;
        for (int b = 0; b < 3; ++b) {
            model.bones.push_back({.name = std::to_string(b),
                                   .parent = b - 1,
                                   .joint = Vector3d(0.03 * b, 0, -0.005)});
            model.zones.push_back({.name = std::to_string(b), .model = pad, .rest = {}, .bone = b});
            model.zones.back().rest.position.x() = 0.03 * b;
            body_options.flexion.push_back(ScriptedMotion::oscillation(
                Pose{}, Vector3d(0.1, 0, 0), Vector3d::Zero(), 0.5, 0.3 * b));
        }
        model.blend = 0.012;
        body_options.pose.position.z() = 0.0125;
        body = std::make_unique<ZonedBody>(model, body_options);
        const std::vector<RigidShape> plate{RigidShape::box(Vector3d(0.1, 0.05, 0.01))};
        for (int z = 0; z < 3; ++z) {
            DistributedContactOptions contact;
            contact.capacitance.max_loads = 256;
            contacts.push_back(
                std::make_unique<DistributedContact>(pad, plate, UpdateCosts(), contact));
        }
        nodes.reserve(256);
        values.resize(256);
    }
    double run() {
        Pose plate;
        plate.position = Vector3d(0.045, 0, -0.01);
        double force = 0;
        for (int z = 0; z < 3 && has_contact; ++z) {
            GreensBody& zone = body->zone(z);
            DistributedContact& contact = *contacts[static_cast<std::size_t>(z)];
            (void)contact.solver().set_loads(zone.driven_nodes(), zone.driven_displacements());
            (void)contact.step(std::array{zone.pose().inverse() * plate});
            nodes.clear();
            for (const TouchedNode& touched : contact.touched()) nodes.push_back(touched.node);
            const std::span<Vector3d> tractions(values.data(), nodes.size());
            contact.solver().tractions(nodes, tractions);
            zone.add_tractions(nodes, tractions, 0);
            force += contact.load(0).force.norm();
        }
        (void)body->step(1e-2);
        return force + body->bones()[2].position.z();
    }
};

Workload finger_tick(bool with_contact) {
    auto finger = std::make_shared<PadFinger>(with_contact);
    Workload load;
    load.run = [finger] { return finger->run(); };
    return load;
}

Workload finger_picture() {
    auto finger = std::make_shared<PadFinger>(true);
    for (int k = 0; k < 100; ++k) (void)finger->run();
    const auto display = finger->body->display();
    auto state = std::make_shared<std::vector<float>>(display->state_size());
    auto x = std::make_shared<std::vector<float>>(3 * finger->body->surface().vertices.size());
    finger->body->write_display(*state);
    Workload load;
    load.run = [finger, display, state, x] {
        display->positions(*state, *x);
        return static_cast<double>(x->back());
    };
    return load;
}

}  // namespace

std::vector<Benchmark> greens_zones_benchmarks() {
    return {{.module = "greens",
             .name = "zones/refactor/zones=4/seam=25",
             .setup = [] { return refactor_seams(1); }},
            {.module = "greens",
             .name = "zones/refactor_last/zones=4/seam=25",
             .setup = [] { return refactor_seams(3); }},
            {.module = "greens", .name = "zones/solve/zones=4/seam=25", .setup = seam_solve},
            {.module = "greens",
             .name = "zones/posed/zones=4/seam=25",
             .setup = posed_model,
             .samples = 10,
             .wall_time = true},
            {.module = "greens",
             .name = "zones/finger_step/3x194",
             .setup = [] { return finger_tick(false); }},
            {.module = "greens",
             .name = "zones/finger_contact/3x194",
             .setup = [] { return finger_tick(true); },
             .samples = 400},
            {.module = "greens", .name = "zones/finger_picture/3x194", .setup = finger_picture}};
}

}  // namespace pliant::bench
