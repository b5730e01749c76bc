#pragma once

#include "pliant/fem/material.h"
#include "pliant/geometry/volume_mesh.h"

#include <Eigen/SparseCore>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace pliant {

struct FemModelData;

/// The element nearest to collapse.
struct SmallestDetF {
    double value = 1;  ///< det F: volume relative to rest; ≤ 0 is inverted
    int element = -1;
};

/// Of the arithmetic inside element forces.
enum class Precision { Double, Single };

/// How the energy of an element is formed from the displacements of its nodes.
enum class ElementFormulation {
    Accurate,  ///< does not lock in bending, shear or nearly incompressible material
    Plain      ///< the displacement element of textbooks, stiffer the coarser the mesh
};
/// `accurate`, `plain`.
[[nodiscard]] std::string_view to_string(ElementFormulation elements) noexcept;
/// The formulation of that name; throws InputError with `field` for another one.
[[nodiscard]] ElementFormulation element_formulation(std::string_view name,
                                                     const std::string& field);

struct FemOptions {
    ElementFormulation elements = ElementFormulation::Accurate;
};

/// Elastic body of Hex8 or Tet4 elements, docs/fem.md section "Elements":
///     W(u) = ∫ w(F) dV,   R = ∂W/∂u,   K = ∂R/∂u,   F = I + ∇u                               (E1)
/// u holds the displacements of all n nodes [m], (x, y, z) of node i from place 3i on; hanging
/// nodes have places as well, which FreeSystem takes out. Small-strain laws make K constant.
///
/// Immutable, and copies share their data: one model for all threads, one workspace per thread.
/// Loops run in parallel and give the same bits for every number of threads. With one thread
/// nothing below allocates except make_…() and the constructor.
class FemModel {
public:
    using Matrix = Eigen::SparseMatrix<double>;
    using ConstRef = Eigen::Ref<const Eigen::VectorXd>;
    using Ref = Eigen::Ref<Eigen::VectorXd>;
    struct Workspace {
        std::vector<double> value_of_block;
        std::vector<int> element_of_block;
    };

    /// One material for each region of the mesh; the filled fraction of an element scales its
    /// stiffness and mass. Throws InputError for an inverted or degenerate element, an index out
    /// of range, a vertex without element, and materials that do not match the regions.
    FemModel(VolumeMesh mesh, std::vector<Material> materials, const FemOptions& options = {});

    [[nodiscard]] const VolumeMesh& mesh() const noexcept;
    [[nodiscard]] const std::vector<Material>& materials() const noexcept;
    [[nodiscard]] const Material& material_of(int element) const noexcept;
    [[nodiscard]] ElementFormulation elements() const noexcept;
    [[nodiscard]] int num_nodes() const noexcept { return mesh().num_vertices(); }
    [[nodiscard]] int num_unknowns() const noexcept { return 3 * num_nodes(); }

    [[nodiscard]] Workspace make_workspace() const;
    /// Zeros at all places that K may fill, both triangles: 3 × 3 blocks of nodes that share an
    /// element, or for accurate tetrahedra of nodes whose elements share a node (four times as many).
    [[nodiscard]] Matrix make_matrix() const;

    /// W [J].
    [[nodiscard]] double energy(const ConstRef& u, Workspace& ws) const;
    /// R [N], the force that holds the body in its shape.
    void internal_force(const ConstRef& u, Ref R) const;
    /// R and, found on the way, the element nearest to collapse (of equal ones always the same one;
    /// NaN is passed over; none: infinity and −1). In Single the error of R stays below about 1e-6
    /// of Σ weight (λ + 2μ) |∇u| |g_a|, at half to two thirds of the time; elements without SIMD
    /// kernel are computed in Double. Of accurate tetrahedra it is the edge whose mean det (I + H̃)
    /// is smallest, which is what their stress sees, by its lowest element.
    SmallestDetF internal_force(const ConstRef& u, Ref R, Workspace& ws,
                                Precision precision = Precision::Double) const;
    /// K(u) p without the matrix.
    void tangent_product(const ConstRef& u, const ConstRef& p, Ref Kp) const;
    /// K [N/m] into a matrix of make_matrix(); exactly symmetric.
    void tangent(const ConstRef& u, Matrix& K) const;
    /// Both at the cost of K alone.
    void force_and_tangent(const ConstRef& u, Ref R, Matrix& K) const;
    /// (H : v) w with H = ∂K/∂u, symmetric in v and w, eq. (E6).
    void hessian_contraction(const ConstRef& u, const ConstRef& v, const ConstRef& w,
                             Ref Hvw) const;
    /// Over all quadrature points, and the edges of accurate tetrahedra as well; the lowest element
    /// of equal ones.
    [[nodiscard]] SmallestDetF smallest_det_F(const ConstRef& u, Workspace& ws) const;

    /// For the library's own loops over elements.
    [[nodiscard]] const FemModelData& data() const noexcept { return *data_; }

private:
    std::shared_ptr<const FemModelData> data_;
};

}  // namespace pliant
