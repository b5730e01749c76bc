#include "calibrate_models.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "output.h"
#include "pliant/core/error.h"
#include "pliant/fem/loads.h"
#include "pliant/fem/statics.h"
#include "pliant/geometry/selection.h"
#include "pliant/greens/build_greens.h"
#include "pliant/greens/surface_stiffness.h"
#include "pliant/particles/particle_body.h"
#include "pliant/reduction/build_reduced.h"
#include "pliant/reduction/modes.h"

namespace pliant::cli {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

// what shape matching moves by itself until it rests is a tenth of this
constexpr double kLeastShareOfSize = 1e-5;
constexpr int kNumLevels = 8;     // of load, for bodies that are not linear
constexpr double kFullLevel = 6;  // the one at which a linear body is pressed all the way

/// One newton on the pad, spread evenly over its area; as weights, the mean depth of the pad.
VectorXd pad_load(const VolumeMesh& mesh, const CalibrationSetup& setup) {
    std::vector<int> nodes;
    double nearest = INFINITY;
    int closest = -1;
    std::vector<char> is_outer(mesh.vertices.size(), 0);
    for (const Triangle& triangle : boundary_triangles(mesh))
        for (const int corner : triangle) is_outer[static_cast<std::size_t>(corner)] = 1;
    for (int i = 0; i < mesh.num_vertices(); ++i) {
        if (!is_outer[static_cast<std::size_t>(i)]) continue;
        const double distance = (mesh.vertices[static_cast<std::size_t>(i)] - setup.at).norm();
        if (distance <= setup.radius) nodes.push_back(i);
        if (distance < nearest) nearest = distance, closest = i;
    }
    VectorXd load = VectorXd::Zero(3 * mesh.num_vertices());
    if (!nodes.empty()) add_traction(mesh, boundary_faces(mesh, nodes), setup.direction, load);
    // a pad smaller than a face presses on the nearest node
    if (load.isZero()) load.segment<3>(3 * closest) = setup.direction;
    double total = 0;
    for (Eigen::Index i = 0; i < load.size(); i += 3)
        total += load.segment<3>(i).dot(setup.direction);
    return load / total;
}

VolumeMesh calibration_mesh(const CalibrationSetup& setup, Progress& progress) {
    return build_simulation_mesh(SurfaceQuery(setup.surface), setup.mesh, progress);
}

Constraints held(const VolumeMesh& mesh, const std::string& selection) {
    Constraints constraints(mesh.num_vertices());
    constraints.fix(select_some(selection, mesh.vertices, "--fix"));
    return constraints;
}

/// For E = 1: forces scale with E whatever the law, as long as depths are the same.
PressCurve fem_curve(const VolumeMesh& mesh, const Constraints& constraints, const VectorXd& load,
                     const CalibrationSetup& setup, double poisson, double deepest) {
    const FemModel model(mesh, {isotropic(1, poisson, setup.density, setup.law)});
    const double stiffness = 1 / load.dot(solve_linear_static(model, constraints, load));
    if (setup.law == Law::SmallStrain) return {{deepest}, {stiffness * deepest}};
    PressCurve curve;
    for (int level = 1; level <= kNumLevels; ++level) {
        const double force = stiffness * deepest * level / kFullLevel;
        const StaticResult result =
            solve_static(model, constraints, force * load, {.load_steps = level});
        if (!result.has_converged()) {
            if (curve.depth.size() >= 3) break;  // beyond these the last stiffness counts
            throw InputError("",
                             "the body cannot be pressed as deep as the data: " + result.message +
                                 ". Try --law neo-hookean or small-strain, or a larger --radius");
        }
        curve.force.push_back(force);
        curve.depth.push_back(load.dot(result.u));
        if (curve.depth.back() >= deepest) break;
    }
    return curve;
}

PressModel fem_press(const CalibrationSetup& setup, double deepest, Progress& progress) {
    const auto mesh = std::make_shared<VolumeMesh>(calibration_mesh(setup, progress));
    const auto constraints = std::make_shared<Constraints>(held(*mesh, setup.fixed));
    const VectorXd load = pad_load(*mesh, setup);
    auto known = std::make_shared<std::map<double, PressCurve>>();
    return [=](const CalibrationValues& values) {
        auto place = known->find(values.poisson);
        if (place == known->end())
            place = known
                        ->emplace(values.poisson, fem_curve(*mesh, *constraints, load, setup,
                                                            values.poisson, deepest))
                        .first;
        PressCurve curve = place->second;
        for (double& force : curve.force) force *= values.modulus;
        return curve;
    };
}

/// The same levels in the subspace: Newton's method on R(q) = F Uᵀw.
PressCurve reduced_curve(const ReducedModel& model, const VectorXd& load, Law law, double deepest) {
    const std::unique_ptr<ReducedForce> elastic = model.make_force();
    const auto ws = elastic->make_workspace();
    const int r = elastic->size();
    VectorXd q = VectorXd::Zero(r), R(r);
    MatrixXd K(r, r);
    elastic->force_and_stiffness(q, R, K, *ws);
    const double stiffness = 1 / load.dot(K.ldlt().solve(load));
    if (law == Law::SmallStrain) return {{deepest}, {stiffness * deepest}};
    PressCurve curve;
    for (int level = 1; level <= kNumLevels; ++level) {
        const double force = stiffness * deepest * level / kFullLevel;
        for (int iteration = 0; iteration < 30; ++iteration) {
            elastic->force_and_stiffness(q, R, K, *ws);
            const VectorXd step = K.ldlt().solve(force * load - R);
            q += step;
            if (step.norm() <= 1e-10 * q.norm()) break;
        }
        const double depth = load.dot(q);
        if (!std::isfinite(depth) || (!curve.depth.empty() && depth <= curve.depth.back())) break;
        curve.force.push_back(force);
        curve.depth.push_back(depth);
        if (depth >= deepest) break;
    }
    if (curve.depth.empty())
        throw InputError("",
                         "the reduced body finds no rest when pressed as deep as the data; try "
                         "--law small-strain or a larger --radius");
    return curve;
}

PressModel reduced_press(const CalibrationSetup& setup, const CalibrationValues& start,
                         double deepest, Progress& progress) {
    ReducedBuildOptions options;
    options.material = isotropic(start.modulus, start.poisson, setup.density, setup.law);
    options.fixed = setup.fixed;
    options.mesh = setup.mesh;
    options.num_modes = setup.num_modes;
    // without derivatives there is nothing beyond the modes
    options.rank =
        setup.law == Law::SmallStrain ? std::min(setup.rank, setup.num_modes) : setup.rank;
    const auto model =
        std::make_shared<ReducedModel>(build_reduced_model(setup.surface, options, progress));
    const VectorXd load = model->basis().transpose() * pad_load(model->mesh(), setup);
    return [=](const CalibrationValues& values) {
        // the subspace stays, force and stiffness follow the constants exactly
        return reduced_curve(model->with_materials({isotropic(values.modulus, values.poisson,
                                                              setup.density, setup.law)}),
                             load, setup.law, deepest);
    };
}

PressModel greens_press(const CalibrationSetup& setup, double deepest, Progress& progress) {
    SemiRegularMesh surface;  // one level: pressing needs no others
    surface.mesh = setup.surface;
    surface.num_vertices = {surface.mesh.num_vertices()};
    surface.triangles = {surface.mesh.triangles};
    int vertex = 0;
    double nearest = INFINITY;
    for (int i = 0; i < surface.mesh.num_vertices(); ++i) {
        const double d = (surface.mesh.vertices[static_cast<std::size_t>(i)] - setup.at).norm();
        if (d < nearest) nearest = d, vertex = i;
    }
    auto models = std::make_shared<std::map<double, std::shared_ptr<const GreensModel>>>();
    auto known = std::make_shared<std::map<std::pair<double, double>, double>>();
    Progress* shown = &progress;
    return [=](const CalibrationValues& values) -> PressCurve {
        const std::pair key{values.poisson, values.mask_radius};
        auto place = known->find(key);
        if (place == known->end()) {
            auto& model = (*models)[values.poisson];
            if (!model) {
                GreensBuildOptions options;
                options.youngs_modulus = 1;
                options.poisson_ratio = values.poisson;
                options.density = setup.density;
                options.fixed = setup.fixed;
                model = std::make_shared<GreensModel>(build_greens_model(surface, options, *shown));
            }
            SurfaceStiffnessOptions options;
            options.mask.radius = values.mask_radius;
            const SurfaceStiffness stiffness(model, options);
            if (stiffness.is_rigid(vertex))
                throw InputError("",
                                 "the pressed place is held by --fix; choose another with --at");
            const double k =
                setup.direction.dot(stiffness.vertex_stiffness(vertex) * setup.direction);
            place = known->emplace(key, k).first;
        }
        return {{deepest}, {values.modulus * place->second * deepest}};
    };
}

PressModel particle_press(const CalibrationSetup& setup, double strongest) {
    PlacementOptions placement;
    placement.count = setup.num_particles;
    placement.density = setup.density;
    placement.stiffness = 1;
    const auto model = std::make_shared<ParticleModel>(
        make_particle_model(place_particles(setup.surface, placement), setup.surface));
    const ClosestPoint place = SurfaceQuery(setup.surface).closest(setup.at);
    const SurfacePoint point = SurfacePoint::on_triangle(place.triangle, place.barycentric);
    const double least = least_particle_travel(setup.surface);
    return [=](const CalibrationValues& values) {
        ParticleModel own = *model;
        for (Particle& particle : own.layout.particles) particle.stiffness = values.stiffness;
        ParticleBodyOptions options;
        options.dynamics.damping = 30;  // comes to rest soon; where does not depend on it
        options.held.push_back({setup.fixed, {}, false});
        ParticleBody body(std::move(own), options);
        body.set_gravity(Vector3d::Zero());
        const Vector3d start = body.position(point);
        PressCurve curve;
        for (int level = 1; level <= 3; ++level) {
            const double force = strongest * level / 3;
            double depth = 0;
            for (int step = 1; step <= 3000; ++step) {
                body.add_force(point, force * setup.direction);
                (void)body.step(1e-3);
                if (step % 50 != 0) continue;
                const double now = (body.position(point) - start).dot(setup.direction);
                const bool is_settled = std::abs(now - depth) < 1e-5 * std::abs(now);
                depth = now;
                if (is_settled) break;
            }
            curve.force.push_back(force);
            curve.depth.push_back(std::max(depth, 1e-3 * least));
        }
        return curve;
    };
}

}  // namespace

double PressCurve::force_at(double depth_m) const {
    if (!(depth_m > 0) || depth.empty()) return 0;
    std::size_t i = 0;
    while (i + 1 < depth.size() && depth[i] < depth_m) ++i;
    const double k1 = force[i] / depth[i];
    if (i == 0 || depth_m >= depth[i]) return k1 * depth_m;
    const double k0 = force[i - 1] / depth[i - 1];
    const double part = (depth_m - depth[i - 1]) / (depth[i] - depth[i - 1]);
    return (k0 + part * (k1 - k0)) * depth_m;
}

PressModel make_press_model(const CalibrationSetup& setup, const CalibrationValues& start,
                            double deepest, double strongest, Progress& progress) {
    if (setup.kind == "fem") return fem_press(setup, deepest, progress);
    if (setup.kind == "reduced") return reduced_press(setup, start, deepest, progress);
    if (setup.kind == "greens") return greens_press(setup, deepest, progress);
    return particle_press(setup, strongest);
}

FrequencyModel make_frequency_model(const CalibrationSetup& setup, int num_modes,
                                    Progress& progress) {
    const auto mesh = std::make_shared<VolumeMesh>(calibration_mesh(setup, progress));
    const auto constraints = std::make_shared<Constraints>(held(*mesh, setup.fixed));
    auto known = std::make_shared<std::map<double, std::vector<double>>>();
    return [=](const CalibrationValues& values) {
        auto place = known->find(values.poisson);
        if (place == known->end()) {
            const FemModel model(*mesh, {isotropic(1, values.poisson, setup.density, setup.law)});
            const LinearModes modes = compute_modes(model, *constraints, {.num_modes = num_modes});
            std::vector<double> found(static_cast<std::size_t>(num_modes));
            for (int i = 0; i < num_modes; ++i)
                found[static_cast<std::size_t>(i)] = modes.frequency(i);
            place = known->emplace(values.poisson, found).first;
        }
        std::vector<double> frequencies = place->second;
        for (double& f : frequencies) f *= std::sqrt(values.modulus);  // f ~ sqrt(E)
        return frequencies;
    };
}

double least_particle_travel(const SurfaceMesh& surface) {
    return kLeastShareOfSize * bounding_box(surface.vertices).sizes().maxCoeff();
}

double default_mask_radius(const SurfaceMesh& surface) {
    double sum = 0;
    for (const Triangle& triangle : surface.triangles)
        for (std::size_t k = 0; k < 3; ++k)
            sum += (surface.vertices[static_cast<std::size_t>(triangle[k])] -
                    surface.vertices[static_cast<std::size_t>(triangle[(k + 1) % 3])])
                       .norm();
    return 1.5 * sum / (3.0 * static_cast<double>(surface.triangles.size()));
}

}  // namespace pliant::cli
