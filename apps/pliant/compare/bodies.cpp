#include "bodies.h"

#include <malloc.h>

#include <algorithm>
#include <cmath>

#include "../stopwatch.h"
#include "pliant/body/rigid_body.h"
#include "pliant/fem/fem_body.h"
#include "pliant/fem/mass.h"
#include "pliant/greens/build_greens.h"
#include "pliant/greens/greens_body.h"
#include "pliant/particles/particle_body.h"
#include "pliant/reduction/modal_derivatives.h"
#include "pliant/reduction/reduced_body.h"

namespace pliant::compare {
namespace {

double heap_in_use() {
    const struct mallinfo2 heap = mallinfo2();
    return static_cast<double>(heap.uordblks) + static_cast<double>(heap.hblkhd);
}

/// Mass-proportional: swinging of all modes fades within a few 1/ω, and the slow press meets
/// little of it.
double settling_damping(const Object& object) { return object.frequency; }

ReducedModel reduce(const Object& object, Progress& progress) {
    const FemModel model(object.mesh, {object.material}, Object::kElements);
    Constraints constraints(object.mesh.num_vertices());
    constraints.fix(object.fixed);
    // two thirds of the rank are modes, as in the default of `pliant build`; few are enough to
    // span a small rank with their derivatives
    const int num_modes = std::max(2 * object.rank / 3, 2);
    const LinearModes modes = compute_modes(model, constraints, {.num_modes = num_modes}, progress);
    const Eigen::MatrixXd derivatives = modal_derivatives(model, constraints, modes, {}, progress);
    const Eigen::SparseMatrix<double> M = mass_matrix(model);
    ReducedModelParts parts;
    parts.mesh = object.mesh;
    parts.materials = {object.material};
    parts.elements = Object::kElements.elements;
    parts.fixed_vertices = object.fixed;
    parts.eigenvalues = modes.eigenvalues;
    parts.basis = mass_pca(weighted_modes_and_derivatives(modes, derivatives, M), M, object.rank);
    parts.surface = object.surface;
    parts.expected_reach = object.size;
    add_projections(parts, model, progress);
    return ReducedModel(std::move(parts));
}

}  // namespace

std::unique_ptr<Body> BodyMaker::make_reduced(bool is_linear, Progress& progress) {
    if (!reduced_) {
        const cli::Clock::time_point start = cli::Clock::now();
        const double before = heap_in_use();
        reduced_ = reduce(object_, progress);
        reduced_seconds_ = cli::seconds_since(start);
        reduced_bytes_ = heap_in_use() - before;
    }
    return std::make_unique<ReducedBody>(
        *reduced_,
        ReducedBodyOptions{.damping = {.mass = settling_damping(object_), .stiffness = 0},
                           .is_linear = is_linear});
}

std::unique_ptr<Body> BodyMaker::make_greens(Progress& progress) const {
    GreensBuildOptions options;
    options.youngs_modulus = object_.material.youngs_modulus();
    options.poisson_ratio = object_.material.poisson_ratio();
    options.density = object_.material.density;
    options.material = object_.material;
    options.fixed = object_.selection;
    auto model = std::make_shared<GreensModel>(build_greens_model(object_.mesh, options, progress));
    return std::make_unique<GreensBody>(
        std::move(model),
        GreensBodyOptions{
            .pose = {}, .rate = 1 / object_.tick(), .max_loads = object_.surface.num_vertices()});
}

std::unique_ptr<Body> BodyMaker::make_particles() const {
    PlacementOptions placement;
    placement.density = object_.material.density;
    ParticleModel model =
        make_particle_model(place_particles(object_.surface, placement), object_.surface);
    // held are those nearest to what the others hold
    const std::vector<Eigen::Vector3d> centres = centres_of(model.layout);
    std::vector<char> is_held(centres.size(), 0);
    for (const int v : object_.fixed) {
        const Eigen::Vector3d& x = object_.mesh.vertices[static_cast<std::size_t>(v)];
        const auto nearest = std::ranges::min_element(
            centres, {}, [&](const Eigen::Vector3d& c) { return (c - x).squaredNorm(); });
        is_held[static_cast<std::size_t>(nearest - centres.begin())] = 1;
    }
    std::string list;
    for (std::size_t i = 0; i < is_held.size(); ++i)
        if (is_held[i] != 0) list += (list.empty() ? "list " : ",") + std::to_string(i);
    ParticleBodyOptions options;
    options.dynamics.damping = settling_damping(object_);
    options.held = {{.selection = list, .motion = {}}};
    return std::make_unique<ParticleBody>(std::move(model), options);
}

MadeBody BodyMaker::make(Method method, Progress& progress) {
    progress.stage(title_of(method) + ": build");
    MadeBody made;
    const bool is_reduced = method == Method::Reduced || method == Method::LinearModal;
    if (is_reduced && !reduced_) (void)make_reduced(false, progress);
    const double before = heap_in_use();
    const cli::Clock::time_point start = cli::Clock::now();
    switch (method) {
        case Method::Rigid:
            made.body =
                std::make_unique<RigidBody>(RigidShape::mesh(object_.surface), object_.surface);
            break;
        case Method::LinearModal: made.body = make_reduced(true, progress); break;
        case Method::Reduced: made.body = make_reduced(false, progress); break;
        case Method::FullFem: {
            FemBodyOptions options;
            options.elements = Object::kElements.elements;
            options.dynamics.damping.mass = settling_damping(object_);
            options.fixed = object_.selection;
            made.body =
                std::make_unique<FemBody>(object_.mesh, std::vector{object_.material},
                                          object_.surface, std::vector<RigidBody*>{}, options);
            break;
        }
        case Method::Greens: made.body = make_greens(progress); break;
        case Method::Particles: made.body = make_particles(); break;
    }
    made.build_seconds = cli::seconds_since(start);
    made.bytes = heap_in_use() - before;
    if (is_reduced) {
        made.build_seconds += reduced_seconds_;
        made.bytes += reduced_bytes_;
    }
    if (method != Method::Rigid && method != Method::Particles)
        made.build_seconds += object_.mesh_seconds;
    made.body->set_gravity(Eigen::Vector3d::Zero());
    return made;
}

void add_forces(Body& body, const std::vector<int>& vertices,
                const std::vector<Eigen::Vector3d>& forces) {
    auto* const greens = dynamic_cast<GreensBody*>(&body);
    for (std::size_t i = 0; i < vertices.size(); ++i) {
        if (!greens) {
            body.add_force(SurfacePoint::at_vertex(vertices[i]), forces[i]);
            continue;
        }
        const GreensModel& model = greens->model();
        const ReferenceProblem& reference = model.reference;
        const int id = model.vertex_nodes[static_cast<std::size_t>(
            model.vertex_offsets[static_cast<std::size_t>(vertices[i])])];
        const auto node = static_cast<std::size_t>(id);
        if (reference.kinds[node] == NodeKind::Fixed) continue;  // the support carries it
        const Eigen::Vector3d traction = forces[i] / reference.areas[node];
        greens->add_tractions({&id, 1}, {&traction, 1}, 0);
    }
}

}  // namespace pliant::compare
