#pragma once

#include "pliant/core/archive.h"
#include "pliant/geometry/subdivision.h"
#include "pliant/greens/boundary_elements.h"
#include "pliant/greens/capacitance_solver.h"

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace pliant {

/// How Green's functions were found.
enum class GreensMethod { BoundaryElements, FiniteElements, Measured };
[[nodiscard]] std::string_view to_string(GreensMethod method) noexcept;

enum class ReadoutKind : std::uint8_t { Displacement, Stress };

/// A result inside the body that superposes like the unknowns, in units of length and modulus.
struct GreensReadout {
    ReadoutKind kind = ReadoutKind::Displacement;
    Eigen::Vector3d position = Eigen::Vector3d::Zero();  ///< [m]

    /// x y z of a displacement; xx yy zz yz zx xy of a stress.
    [[nodiscard]] int num_values() const noexcept {
        return kind == ReadoutKind::Displacement ? 3 : 6;
    }
};

/// An elastic body at rest with its Green's functions: what scenes load and tools touch.
/// docs/greens.md section "Models and files". Immutable when shared.
struct GreensModel {
    SemiRegularMesh surface;               ///< unloaded [m]; one level unless it came with more
    ReferenceProblem reference;            ///< nodes, kinds, areas, functions, length, modulus
    std::vector<Eigen::Vector3d> normals;  ///< of nodes, unit, outward
    std::vector<std::array<int, 3>> corner_nodes;  ///< node of each corner of the finest triangles
    /// The displacement shown at vertex v is Σ vertex_weights[k] u(vertex_nodes[k]), k from
    /// vertex_offsets[v] to vertex_offsets[v + 1].
    std::vector<int> vertex_offsets, vertex_nodes;
    std::vector<float> vertex_weights;
    double poisson_ratio = 0.3;
    /// Mean [kg/m³]. Body column k is gravity along axis k: β'_k = density · g_k · length /
    /// modulus.
    double density = 1000;
    GreensMethod method = GreensMethod::BoundaryElements;
    BoundaryElements elements = BoundaryElements::Linear;  ///< of GreensMethod::BoundaryElements
    std::vector<GreensReadout> readouts;  ///< their values follow each other in this order
    /// Reciprocity between free nodes, docs/greens.md eq. (C5): 0 for exact models.
    double asymmetry = 0;

    [[nodiscard]] int num_nodes() const noexcept {
        return static_cast<int>(reference.kinds.size());
    }
    [[nodiscard]] double youngs_modulus() const noexcept {
        return 2 * reference.modulus * (1 + poisson_ratio);
    }
    /// Nodes with a column, and of these the free ones.
    [[nodiscard]] int num_columns() const noexcept;
    [[nodiscard]] int num_free_columns() const noexcept;
    [[nodiscard]] int num_fixed() const noexcept;
    /// Parameters β' for gravity g [m/s²], for CapacitanceSolver::set_body_loads.
    [[nodiscard]] std::array<double, 3> gravity_parameters(const Eigen::Vector3d& g) const noexcept;
};

/// Dense and wavelet Green's functions. The file appears whole or not at all.
void save_greens_model(const GreensModel& model, const std::filesystem::path& path,
                       const Provenance& provenance = {});
/// Dense Green's functions stay in the mapped file, which is kept while they live. Throws
/// InputError for a file that is missing, foreign, truncated or damaged, and for contents that make
/// no sense.
[[nodiscard]] GreensModel load_greens_model(const std::filesystem::path& path);
/// The same for an open archive; `name` stands for the file in messages.
[[nodiscard]] GreensModel greens_model_from_archive(const Archive& archive,
                                                    const std::string& name);

}  // namespace pliant
