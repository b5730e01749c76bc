#include "object.h"

#include <algorithm>
#include <cmath>

#include "../stopwatch.h"
#include "greens/outer_surface.h"
#include "pliant/core/error.h"
#include "pliant/geometry/selection.h"
#include "pliant/geometry/simulation_mesh.h"
#include "pliant/geometry/surface_check.h"
#include "pliant/reduction/modes.h"

namespace pliant::compare {
namespace {

struct MethodNames {
    Method method;
    const char *name, *title;
};
constexpr MethodNames kMethodNames[] = {{Method::Rigid, "rigid", "rigid"},
                                        {Method::LinearModal, "linear", "linear modal"},
                                        {Method::Reduced, "reduced", "reduced"},
                                        {Method::FullFem, "fem", "full FEM"},
                                        {Method::Greens, "greens", "Green's functions"},
                                        {Method::Particles, "particles", "particles"}};

const MethodNames& names_of(Method method) {
    return *std::ranges::find(kMethodNames, method, &MethodNames::method);
}

}  // namespace

std::string name_of(Method method) { return names_of(method).name; }
std::string title_of(Method method) { return names_of(method).title; }

std::vector<Method> parse_methods(const std::string& list) {
    if (list.empty()) return {kMethods.begin(), kMethods.end()};
    std::vector<Method> wanted{Method::FullFem};
    for (std::size_t start = 0; start <= list.size();) {
        const std::size_t end = std::min(list.find(',', start), list.size());
        const std::string word = list.substr(start, end - start);
        const auto* const found = std::ranges::find(kMethodNames, word, &MethodNames::name);
        if (found == std::end(kMethodNames))
            throw InputError("", "--only", word,
                             "some of rigid,linear,reduced,fem,greens,particles, with commas");
        wanted.push_back(found->method);
        start = end + 1;
    }
    std::ranges::sort(wanted);
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    return wanted;
}

double Object::tick() const noexcept { return std::min(1e-3, 0.1 / frequency); }

Object make_object(SurfaceMesh surface, const ObjectOptions& options, Progress& progress) {
    repair_surface(surface);
    if (options.size > 0) scale_to_size(surface, options.size);

    Object object;
    object.material = options.material;
    object.selection = options.fixed;
    object.rank = options.rank;
    const cli::Clock::time_point start = cli::Clock::now();
    object.mesh = build_simulation_mesh(
        SurfaceQuery(surface), {.kind = "tet", .resolution = options.resolution}, progress);
    keep_largest_part(object.mesh);
    object.mesh_seconds = cli::seconds_since(start);
    OuterSurface outer = outer_surface(object.mesh);
    object.surface = std::move(outer.manifold);
    object.size = bounding_box(object.surface.vertices).sizes().maxCoeff();

    object.fixed = select_some(options.fixed, object.mesh.vertices, "--fix");
    object.is_held.assign(object.surface.vertices.size(), 0);
    for (std::size_t t = 0; t < outer.triangles.size(); ++t)
        for (std::size_t k = 0; k < 3; ++k) {
            const int in_mesh = outer.vertices[static_cast<std::size_t>(outer.triangles[t][k])];
            if (std::ranges::binary_search(object.fixed, in_mesh))
                object.is_held[static_cast<std::size_t>(object.surface.triangles[t][k])] = 1;
        }
    if (std::ranges::find(object.is_held, 0) == object.is_held.end())
        throw InputError("", "--fix", options.fixed,
                         "a selection that leaves some of the surface free to be pressed");

    // how fast it is: durations of the script and damping follow
    Constraints constraints(object.mesh.num_vertices());
    constraints.fix(object.fixed);
    object.frequency = std::sqrt(compute_modes(FemModel(object.mesh, {object.material}),
                                               constraints, {.num_modes = 1}, progress)
                                     .eigenvalues[0]);
    return object;
}

}  // namespace pliant::compare
