#pragma once

#include "pliant/core/progress.h"
#include "pliant/geometry/implicit.h"
#include "pliant/geometry/subdivision.h"

#include <optional>
#include <string>

namespace pliant {

enum class ShapeKind {
    Closed,  ///< one or more closed manifold components that do not overlap
    Soup,    ///< closed parts that overlap each other, or open sheets
};

/// A named procedural model for demos and tests.
struct ShapeInfo {
    std::string name;         ///< "bridge"
    std::string description;  ///< one line
    ShapeKind kind = ShapeKind::Closed;
    double size = 1.0;  ///< longest side of the bounding box [m]
    int default_resolution = 64;
    double azimuth = 35.0, elevation = 20.0;  ///< a good place to see it from [degrees]
};

[[nodiscard]] const std::vector<ShapeInfo>& shape_list();
/// Throws InputError with the nearest known name when there is none.
[[nodiscard]] const ShapeInfo& shape_info(const std::string& name);
/// Generates the named model; `resolution` 0 means its default. Deterministic.
[[nodiscard]] SurfaceMesh make_shape(const std::string& name, int resolution = 0,
                                     Progress& progress = Progress::none());
/// Whether make_semi_regular knows the named model; errors as those of shape_info.
[[nodiscard]] bool is_subdivision_shape(const std::string& name);
/// The named model with its hierarchy, for those that are subdivision surfaces: nodule, kidney,
/// spatula, banana-seat (Loop's scheme); rabbit, finger, serpent-ring, toy (all vertices on one
/// smooth surface, those of coarser levels at the same places). `levels` −1 means those of
/// `make_shape` at its default resolution; all numbers of levels approximate the same body.
[[nodiscard]] SemiRegularMesh make_semi_regular(const std::string& name, int levels = -1);
/// Where the published model is held: text of a selection of the vertices of `mesh`, which is
/// make_semi_regular(name, …) at any size.
[[nodiscard]] std::string shape_support(const std::string& name, const SemiRegularMesh& mesh);

}  // namespace pliant
