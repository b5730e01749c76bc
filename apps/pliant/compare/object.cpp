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

constexpr int kUsualResolution = 14, kFinestResolution = 64;
constexpr double kWholeShare = 0.9;  // of the length: what is shorter has lost a part

double longest_side(const std::vector<Eigen::Vector3d>& points) {
    return bounding_box(points).sizes().maxCoeff();
}

/// The largest part of the mesh of a body; without a resolution by wish the coarsest that fills it
/// whole: thin bodies need more cells than others, or they fall apart.
VolumeMesh filled(const SurfaceMesh& surface, int& resolution, Progress& progress) {
    const SurfaceQuery query(surface);
    const bool has_wish = resolution > 0;
    for (resolution = has_wish ? resolution : kUsualResolution;; resolution += resolution / 4) {
        const bool is_last = has_wish || resolution + resolution / 4 > kFinestResolution;
        try {
            VolumeMesh mesh =
                build_simulation_mesh(query, {.kind = "tet", .resolution = resolution}, progress);
            keep_largest_part(mesh);
            if (is_last ||
                longest_side(mesh.vertices) > kWholeShare * longest_side(surface.vertices))
                return mesh;
        } catch (const InputError& error) {
            if (is_last || error.field() != "resolution") throw;
        }
    }
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
    object.resolution = options.resolution;
    object.mesh = filled(surface, object.resolution, progress);
    object.mesh_seconds = cli::seconds_since(start);
    OuterSurface outer = outer_surface(object.mesh);
    object.surface = std::move(outer.manifold);
    object.size = longest_side(object.surface.vertices);
    object.share_of_length = object.size / longest_side(surface.vertices);

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
    const FemModel model(object.mesh, {object.material}, Object::kElements);
    object.frequency = std::sqrt(
        compute_modes(model, constraints, {.num_modes = 1}, progress).eigenvalues[0]);
    return object;
}

}  // namespace pliant::compare
