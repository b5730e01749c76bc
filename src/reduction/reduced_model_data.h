#pragma once

#include "pliant/reduction/reduced_model.h"

namespace pliant {

/// What copies of a model share: views into arrays that `parts` or `archive` hold.
struct ReducedModel::Data {
    struct Group {
        const double* of_lambda = nullptr;
        const double* of_mu = nullptr;     ///< null: anisotropic
        const double* of_plane = nullptr;  ///< null: no accurate hexes, or anisotropic
    };

    /// Whole for a model just built; of a file only what is small, the rest being looked up.
    ReducedModelParts parts;
    std::optional<Archive> archive;
    std::string name;  ///< of the file, for messages
    Provenance provenance;
    int rank = 0, num_vertices = 0, num_elements = 0, num_surface_vertices = 0;
    const double* U = nullptr;  ///< 3 num_vertices × rank, by columns
    std::vector<Group> groups;  ///< none: direct forces
    std::optional<SurfaceShapes> shapes;

    /// Throws InputError naming the first part that does not fit to the others.
    void check() const;
};

}  // namespace pliant
