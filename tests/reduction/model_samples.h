#pragma once

#include "fem/fem_samples.h"
#include "geometry/simple_surfaces.h"
#include "pliant/fem/mass.h"
#include "pliant/reduction/modal_derivatives.h"
#include "pliant/reduction/reduced_model.h"

/// Reduced models of the reference bar.
namespace pliant::test {

struct BarOptions {
    int rank = 10;
    bool is_free = false;
    /// The far half is of the second one.
    std::vector<Material> materials = {isotropic(1e5, 0.3, 1000)};
    ShapeStorage storage = ShapeStorage::Float32;
    ElementFormulation elements = ElementFormulation::Accurate;
};

inline ReducedModelParts bar_parts(const BarOptions& options = {}) {
    ReducedModelParts parts;
    parts.mesh = reference_bar();
    parts.materials = options.materials;
    if (parts.materials.size() > 1) {
        parts.mesh.regions.assign(static_cast<std::size_t>(parts.mesh.num_elements()), 0);
        for (int e = 0; e < parts.mesh.num_elements(); ++e)
            if (parts.mesh.vertices[static_cast<std::size_t>(parts.mesh.element(e)[0])].x() > 0.39)
                parts.mesh.regions[static_cast<std::size_t>(e)] = 1;
    }
    if (!options.is_free) parts.fixed_vertices = clamped_end(parts.mesh);
    parts.surface = box_surface(Eigen::Vector3d::Zero(), Eigen::Vector3d(0.8, 0.2, 0.2));
    parts.input_hash = content_hash(parts.surface);
    parts.storage = options.storage;
    parts.elements = options.elements;
    parts.expected_reach = 0.5;

    const FemModel model(parts.mesh, parts.materials, {parts.elements});
    Constraints constraints(model.num_nodes());
    constraints.fix(parts.fixed_vertices);
    const LinearModes modes = compute_modes(model, constraints, {.num_modes = 5});
    const Eigen::MatrixXd derivatives = modal_derivatives(model, constraints, modes);
    const auto M = mass_matrix(model);
    parts.eigenvalues = modes.eigenvalues;
    parts.basis = mass_pca(weighted_modes_and_derivatives(modes, derivatives, M), M, options.rank);
    add_projections(parts, model);
    return parts;
}

inline ReducedModel bar_model(const BarOptions& options = {}) {
    return ReducedModel(bar_parts(options));
}

}  // namespace pliant::test
