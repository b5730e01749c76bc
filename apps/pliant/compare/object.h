#pragma once

#include "pliant/core/progress.h"
#include "pliant/fem/fem_model.h"
#include "pliant/fem/material.h"
#include "pliant/geometry/volume_mesh.h"

#include <array>
#include <string>
#include <vector>

namespace pliant::compare {

/// The ways to simulate an object that are compared.
enum class Method { Rigid, LinearModal, Reduced, FullFem, Greens, Particles };
inline constexpr std::array kMethods{Method::Rigid,   Method::LinearModal, Method::Reduced,
                                     Method::FullFem, Method::Greens,      Method::Particles};
[[nodiscard]] std::string name_of(Method method);   ///< as on the command line: "linear"
[[nodiscard]] std::string title_of(Method method);  ///< "linear modal"
/// Of a list "reduced,greens", in the order of kMethods; empty: all. Full FEM is always among them:
/// it is the reference. Throws InputError for other names.
[[nodiscard]] std::vector<Method> parse_methods(const std::string& list);

struct ObjectOptions {
    double size = 0;  ///< longest side [m]; 0: as the surface is
    Material material;
    std::string fixed;  ///< vertices that are held, as in "z < 10 %"
    /// Of the tetrahedra, along the longest side; 0: 14, or as many as thin bodies need.
    int resolution = 0;
    int rank = 30;  ///< of the reduced models
};

/// One object, as all methods get it.
struct Object {
    /// Of every method, as Green's functions have them: methods are compared, not elements.
    static constexpr FemOptions kElements{ElementFormulation::Plain};

    VolumeMesh mesh;  ///< tetrahedra
    /// Outer faces of the mesh, where parts meet in a vertex or edge cut there: what is shown,
    /// pressed and compared.
    SurfaceMesh surface;
    Material material;
    std::string selection;      ///< of the held vertices
    std::vector<int> fixed;     ///< these, of the mesh
    std::vector<char> is_held;  ///< of each vertex of the surface
    int rank = 0;
    int resolution = 0;          ///< that was taken
    double size = 0;             ///< longest side [m]
    double share_of_length = 1;  ///< of the surface, that the mesh has
    double frequency = 0;        ///< ω of the lowest mode [1/s]
    double mesh_seconds = 0;     ///< that the tetrahedra took
    /// Of a tick [s]: 1 ms, less for stiff objects, so that all are as quick against it.
    [[nodiscard]] double tick() const noexcept;
};
/// Throws InputError for a surface that cannot be filled and a selection that does not hold it or
/// leaves nothing to press.
[[nodiscard]] Object make_object(SurfaceMesh surface, const ObjectOptions& options,
                                 Progress& progress);

}  // namespace pliant::compare
