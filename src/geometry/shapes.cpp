#include "pliant/geometry/shapes.h"

#include "geometry/shape_parts.h"
#include "geometry/skin.h"
#include "pliant/core/error.h"
#include "pliant/core/nearest_name.h"
#include "pliant/geometry/polygonize.h"
#include "pliant/geometry/surface_topology.h"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

using Eigen::Vector3d;

/// How a registry entry is made: a body to polygonise, triangles at once, or a subdivision surface.
struct Recipe {
    ShapeInfo info;
    Implicit (*body)();
    SurfaceMesh (*mesh)(int resolution);
    /// Kept where and as large as it was built, because it belongs with another shape; the others
    /// are scaled to `info.size`, centred on the z axis and put on the ground.
    bool is_as_built;
    shape_parts::ControlMesh (*control)() = nullptr;

    [[nodiscard]] Recipe seen_from(double azimuth, double elevation) const {
        Recipe copy = *this;
        copy.info.azimuth = azimuth;
        copy.info.elevation = elevation;
        return copy;
    }
};

Recipe body(std::string name, std::string description, double size, int resolution,
            Implicit (*make)(), bool is_as_built = false) {
    return {{.name = std::move(name),
             .description = std::move(description),
             .kind = ShapeKind::Closed,
             .size = size,
             .default_resolution = resolution},
            make,
            nullptr,
            is_as_built};
}

Recipe soup(std::string name, std::string description, double size, int resolution,
            SurfaceMesh (*make)(int)) {
    return {{.name = std::move(name),
             .description = std::move(description),
             .kind = ShapeKind::Soup,
             .size = size,
             .default_resolution = resolution},
            nullptr,
            make,
            false};
}

/// `resolution`: edges along the longest side, roughly, at the levels of the control mesh.
Recipe subdivided(std::string name, std::string description, double size, int resolution,
                  shape_parts::ControlMesh (*make)()) {
    return {{.name = std::move(name),
             .description = std::move(description),
             .kind = ShapeKind::Closed,
             .size = size,
             .default_resolution = resolution},
            nullptr,
            nullptr,
            false,
            make};
}

SurfaceMesh beam(int resolution) {
    return shape_parts::grid_box({-0.5, -0.1, 0.0}, {0.5, 0.1, 0.2}, resolution);
}
Implicit first_alpha() { return shape_parts::alpha_tube(false); }
Implicit second_alpha() { return shape_parts::alpha_tube(true); }
Implicit bare_figure() { return shape_parts::figure(false); }
Implicit figure_with_axe() { return shape_parts::figure(true); }

const std::vector<Recipe>& recipes() {
    using namespace shape_parts;
    static const std::vector<Recipe> list = {
        {{.name = "beam",
          .description = "square beam, 1 x 0.2 x 0.2 m, exact box",
          .default_resolution = 40},
         nullptr,
         beam,
         false},
        body("spoon", "spoon with a deep bowl", 0.2, 50, spoon).seen_from(50, 28),
        soup("bridge", "suspension bridge with truss deck, main cables and hangers", 1.0, 24,
             bridge)
            .seen_from(62, 18),
        soup("tower", "lattice tower on four curved legs, with platforms and arches", 1.0, 18,
             tower),
        body("heart", "heart with great vessels and coronary arteries", 0.16, 43, heart)
            .seen_from(15, 12),
        soup("basket", "woven basket with a twisted rim and handle", 0.4, 9, basket)
            .seen_from(35, 24),
        body("chair", "wooden chair with turned legs and a spindle back", 0.95, 48, chair),
        body("hoses", "two ribbed hoses held by a metal bracket", 0.593, 90, hoses, true)
            .seen_from(60, 28),
        body("bracket", "metal bracket with two hose clamps, in the frame of 'hoses'", 0.2, 60,
             bracket, true)
            .seen_from(60, 28),
        body("alpha-tube-1", "alpha puzzle, first tube in the linked starting pose", 0.206, 60,
             first_alpha, true)
            .seen_from(60, 35),
        body("alpha-tube-2", "alpha puzzle, second tube in the linked starting pose", 0.206, 60,
             second_alpha, true)
            .seen_from(60, 35),
        body("creature", "spiny reptile with a row of back spines", 0.5, 78, creature),
        body("creature-150k", "spiny reptile, 150 000 triangles", 0.5, 127, creature)
            .seen_from(-40, 16),
        body("serpent", "horned serpent, coiled, with scales and an open mouth", 0.5, 60, serpent)
            .seen_from(45, 14),
        body("serpent-150k", "horned serpent, 150 000 triangles", 0.5, 78, serpent)
            .seen_from(-40, 14),
        body("figure", "armoured figure with helmet, pauldrons and shield", 1.9, 90, bare_figure)
            .seen_from(32, 10),
        body("figure-with-axe", "armoured figure with shield and battle axe", 1.9, 90,
             figure_with_axe)
            .seen_from(32, 10),
        body("axe", "battle axe on a long haft", 1.0, 80, axe).seen_from(65, 12),
        body("peg", "keyed peg with a knob; fits 'hole' tip down", 0.11, 40, peg, true),
        body("hole", "block with a keyed hole 0.6 mm wider than 'peg' all round", 0.08, 32, hole,
             true)
            .seen_from(35, 38),
        body("fish", "fish with rayed fins", 0.3, 70, fish).seen_from(65, 15),
        body("hand", "open hand with five fingers and wrist", 0.2, 60, hand).seen_from(15, 12),
        subdivided("nodule", "round nodule on a flat, sharp face; subdivision surface", 0.06, 8,
                   nodule),
        subdivided("kidney", "kidney; subdivision surface", 0.11, 16, kidney).seen_from(-65, 35),
        subdivided("spatula", "kitchen spatula with three slots; subdivision surface", 0.3, 34,
                   spatula)
            .seen_from(50, 35),
        subdivided("banana-seat", "bicycle seat, long and raised at the rear; subdivision surface",
                   0.45, 24, banana_seat)
            .seen_from(50, 25),
        subdivided("rabbit", "sitting rabbit over an icosahedron; levels on one surface", 0.12, 48,
                   rabbit)
            .seen_from(25, 12),
        subdivided("finger", "last link of a finger with its pad; levels on one surface", 0.035, 40,
                   finger)
            .seen_from(50, 20),
        subdivided("serpent-ring", "horned serpent that bites its tail; levels on one surface", 0.5,
                   64, serpent_ring)
            .seen_from(50, 35),
        subdivided("toy", "toy dog on four legs; levels on one surface", 0.15, 24, toy)
            .seen_from(35, 15),
    };
    return list;
}

const Recipe& recipe(const std::string& name) {
    for (const Recipe& r : recipes())
        if (r.info.name == name) return r;
    std::vector<std::string> names;
    for (const ShapeInfo& info : shape_list()) names.push_back(info.name);
    const std::string near = nearest_name(name, names);
    throw InputError("", "shape", "'" + name + "'",
                     near.empty()
                         ? "a name from 'pliant shape list'"
                         : "a name from 'pliant shape list'; did you mean '" + near + "'?");
}

const Recipe& subdivided_recipe(const std::string& name) {
    const Recipe& r = recipe(name);
    if (r.control) return r;
    std::string names;
    for (const Recipe& other : recipes())
        if (other.control) names += (names.empty() ? "" : ", ") + other.info.name;
    throw InputError("", "shape", "'" + name + "'", "a subdivision surface: " + names);
}

/// Keeps the largest component: tips thinner than the lattice may come off at low resolutions.
SurfaceMesh largest_component(const SurfaceMesh& mesh) {
    const SurfaceTopology topology(mesh);
    if (topology.num_components() == 1) return mesh;
    std::vector<int> size(topology.num_components(), 0);
    for (const int component : topology.components()) ++size[component];
    const auto largest =
        static_cast<int>(std::max_element(size.begin(), size.end()) - size.begin());
    SurfaceMesh kept;
    std::vector<int> number(mesh.vertices.size(), -1);
    for (int t = 0; t < mesh.num_triangles(); ++t) {
        if (topology.components()[t] != largest) continue;
        Triangle corners = mesh.triangles[t];
        for (int& v : corners) {
            if (number[v] < 0) {
                number[v] = kept.num_vertices();
                kept.vertices.push_back(mesh.vertices[v]);
            }
            v = number[v];
        }
        kept.triangles.push_back(corners);
    }
    return kept;
}

/// Scales to the given size, centres on the z axis and puts on the ground what fills `box`.
void settle(std::vector<Vector3d>& vertices, const Box& box, double size) {
    const Vector3d ground(box.center().x(), box.center().y(), box.min().z());
    const double factor = size / box.sizes().maxCoeff();
    for (Vector3d& v : vertices) v = factor * (v - ground);
}

/// Scales and places the control mesh so that the smooth surface, not the mesh of some level, is as
/// large as it should be: then all levels approximate one body.
shape_parts::ControlMesh settled_control(const Recipe& r) {
    constexpr int kSmoothLevels = 4;  // on which the box changes by less than 1 % from then on
    shape_parts::ControlMesh control = r.control();
    const SurfaceMesh smooth = loop_subdivide(control.mesh, kSmoothLevels, control.rules).mesh;
    settle(control.mesh.vertices, bounding_box(smooth.vertices), r.info.size);
    return control;
}

SemiRegularMesh semi_regular(const Recipe& r, int levels) {
    if (const auto control = r.control(); control.skin) {
        SemiRegularMesh mesh = shape_parts::skinned_subdivide(control, levels);
        // sized by the same level whatever is asked for, so that coarser levels are prefixes
        const Box box = bounding_box(coarse_levels(mesh, control.levels).mesh.vertices);
        settle(mesh.mesh.vertices, box, r.info.size);
        return coarse_levels(mesh, levels);
    }
    const shape_parts::ControlMesh control = settled_control(r);
    return loop_subdivide(control.mesh, levels, control.rules);
}

}  // namespace

const std::vector<ShapeInfo>& shape_list() {
    static const std::vector<ShapeInfo> list = [] {
        std::vector<ShapeInfo> infos;
        for (const Recipe& r : recipes()) infos.push_back(r.info);
        return infos;
    }();
    return list;
}

const ShapeInfo& shape_info(const std::string& name) { return recipe(name).info; }

SurfaceMesh make_shape(const std::string& name, int resolution, Progress& progress) {
    const Recipe& r = recipe(name);
    if (resolution == 0) resolution = r.info.default_resolution;
    if (resolution < 4 || resolution > 2048)
        throw InputError("", "resolution", std::to_string(resolution),
                         "4 to 2048, or 0 for the default");
    if (r.control) {
        // each level doubles the resolution
        const double doublings = std::log2(static_cast<double>(resolution) /
                                           static_cast<double>(r.info.default_resolution));
        const int levels = r.control().levels + static_cast<int>(std::lround(doublings));
        return semi_regular(r, std::max(0, levels)).mesh;
    }
    SurfaceMesh mesh =
        r.mesh ? r.mesh(resolution)
               : largest_component(polygonize(r.body(), {.resolution = resolution}, progress));
    if (!r.is_as_built) settle(mesh.vertices, bounding_box(mesh.vertices), r.info.size);
    return mesh;
}

bool is_subdivision_shape(const std::string& name) {
    return static_cast<bool>(recipe(name).control);
}

SemiRegularMesh make_semi_regular(const std::string& name, int levels) {
    const Recipe& r = subdivided_recipe(name);
    if (levels < -1)
        throw InputError("", "levels", std::to_string(levels), "0 or more, or -1 for the default");
    return semi_regular(r, levels < 0 ? r.control().levels : levels);
}

std::string shape_support(const std::string& name, const SemiRegularMesh& mesh) {
    return subdivided_recipe(name).control().support(mesh);
}

}  // namespace pliant
