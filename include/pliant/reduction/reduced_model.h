#pragma once

#include "pliant/core/archive.h"
#include "pliant/reduction/basis.h"
#include "pliant/reduction/free_flight.h"
#include "pliant/reduction/reduced_coefficients.h"
#include "pliant/reduction/reduced_force.h"
#include "pliant/reduction/surface_shapes.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pliant {

/// What a reduced model is made of; build_reduced_model fills it. Masses and weights are for a
/// density of 1 kg/m³, one for each material, so that densities may be edited.
struct ReducedModelParts {
    VolumeMesh mesh;
    std::vector<Material> materials;  ///< one for each region of the mesh
    ElementFormulation elements = ElementFormulation::Accurate;
    std::vector<int> fixed_vertices;  ///< ascending; none: the body is free
    Eigen::VectorXd eigenvalues;      ///< of the modes that the basis began with [1/s²], ascending
    Basis basis;                      ///< 3n × r
    SurfaceMesh surface;
    double expected_reach = 0;     ///< [m]
    std::uint64_t input_hash = 0;  ///< content_hash of the surface before scaling and repair
    ShapeStorage storage = ShapeStorage::Float32;

    // set by add_projections
    std::vector<MaterialPolynomials> polynomials;  ///< one for each material; none: direct forces
    std::vector<Eigen::MatrixXd> unit_masses;      ///< UᵀM_gU, r × r
    std::vector<Eigen::MatrixXd> unit_weights;     ///< rows e_axisᵀM_gU, 3 × r
    std::optional<InertiaBlocks> inertia;          ///< of a free body
    /// Of the surface's vertices in the mesh; made by ReducedModel where it is missing.
    std::optional<Embedding> embedding;
};
/// Everything that follows from mesh, materials and basis. Polynomials only for laws and ranks that
/// have them.
void add_projections(ReducedModelParts& parts, const FemModel& model,
                     Progress& progress = Progress::none());
/// Largest rank with polynomials in model files: C(r + 4, 4) numbers for each constant, 76 MB here.
inline constexpr int kMaxPolynomialRank = 120;

/// A deformable body in a subspace, as `pliant build --kind reduced` makes it; docs/reduction.md
/// section "Reduced model files". Immutable; copies share their data. Loading maps the file into
/// memory and reads small things only: milliseconds, whatever its size. What returns by value
/// copies from the file at each call.
class ReducedModel {
public:
    /// Throws InputError for parts that do not fit together.
    explicit ReducedModel(ReducedModelParts parts);
    /// Throws InputError for files of another kind, parts missing or not fitting together.
    /// Checksums are left to Archive::verify.
    [[nodiscard]] static ReducedModel load(const std::filesystem::path& path);
    /// The same for an open archive; `name` stands for the file in messages.
    [[nodiscard]] static ReducedModel from_archive(const Archive& archive, std::string name);
    /// With `provenance` beside what it was loaded with. The file appears whole or not at all.
    void save(const std::filesystem::path& path, const Provenance& provenance = {}) const;

    [[nodiscard]] int rank() const noexcept { return rank_; }
    [[nodiscard]] int num_modes() const noexcept;
    [[nodiscard]] int num_vertices() const noexcept;  ///< of the simulation mesh
    [[nodiscard]] int num_elements() const noexcept;
    [[nodiscard]] bool is_free() const noexcept;
    [[nodiscard]] ElementFormulation elements() const noexcept;
    [[nodiscard]] bool has_polynomials() const noexcept;
    /// Of the modes, with the materials of the build.
    [[nodiscard]] const Eigen::VectorXd& eigenvalues() const noexcept;
    [[nodiscard]] double frequency(int mode) const noexcept;  ///< [Hz]
    [[nodiscard]] const Eigen::VectorXd& singular_values() const noexcept;
    /// Σ σ² of the vectors in use over all: how much of modes and derivatives they hold.
    [[nodiscard]] double captured() const noexcept;
    [[nodiscard]] const std::vector<int>& fixed_vertices() const noexcept;
    /// For implicit Newmark [s], docs/reduction.md eq. (25).
    [[nodiscard]] double suggested_step() const noexcept;
    /// Deflection up to which the basis is meant [m], eq. (26).
    [[nodiscard]] double expected_reach() const noexcept;
    [[nodiscard]] const Provenance& provenance() const noexcept;

    [[nodiscard]] Eigen::Map<const Eigen::MatrixXd> basis() const noexcept;  ///< U, 3n × r
    [[nodiscard]] VolumeMesh mesh() const;
    [[nodiscard]] SurfaceMesh surface() const;
    [[nodiscard]] Embedding embedding() const;
    [[nodiscard]] SurfaceShapes shapes() const;
    [[nodiscard]] std::vector<MaterialPolynomials> polynomials() const;

    [[nodiscard]] const std::vector<Material>& materials() const noexcept { return *materials_; }
    /// Elastic force by polynomials, or through the elements where the file has none; the first
    /// costs milliseconds up to r = 60.
    [[nodiscard]] std::unique_ptr<ReducedForce> make_force(
        Precision precision = Precision::Double) const;
    /// Σ ρ_g UᵀM_gU: the identity for the densities of the build.
    [[nodiscard]] Eigen::MatrixXd mass() const;
    /// UᵀMg, the reduced weight for an acceleration [m/s²] in body axes.
    [[nodiscard]] Eigen::VectorXd gravity_load(const Eigen::Vector3d& acceleration) const;
    /// Needs is_free().
    [[nodiscard]] InertiaBlocks inertia() const;

    /// The same subspace with other λ, μ and ρ: force, mass and weight are exact. Throws InputError
    /// for another number of materials, another law, other constants of an anisotropic material,
    /// and densities of a free body that do not change by one factor.
    [[nodiscard]] ReducedModel with_materials(std::vector<Material> materials) const;
    /// With the first vectors of the basis only. Throws InputError outside 1 … rank().
    [[nodiscard]] ReducedModel truncated(int rank) const;

    /// Throws InputError unless the model was built from this surface, as it was given or as the
    /// model carries it (scaled and repaired).
    void require_surface(const SurfaceMesh& surface) const;

private:
    struct Data;
    explicit ReducedModel(std::shared_ptr<const Data> data);
    std::shared_ptr<const Data> data_;
    std::shared_ptr<const std::vector<Material>> materials_;
    int rank_ = 0;
};

/// Of vertices and triangles: models and caches know surfaces by it.
[[nodiscard]] std::uint64_t content_hash(const SurfaceMesh& surface) noexcept;

}  // namespace pliant
