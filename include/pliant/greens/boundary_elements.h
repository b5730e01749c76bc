#pragma once

#include <array>
#include <memory>
#include <vector>

#include <Eigen/Core>

#include "pliant/geometry/surface_mesh.h"

namespace pliant {

struct BoundaryNodes;
class BoundaryAssembler;
class CavityRows;

enum class BoundaryPhysics { Elastic, Laplace };
enum class BoundaryElements {
    Linear,    ///< nodes at vertices, values linear on triangles
    Constant,  ///< nodes at centroids, values constant on triangles
};

struct BoundaryOptions {
    BoundaryPhysics physics = BoundaryPhysics::Elastic;
    BoundaryElements elements = BoundaryElements::Linear;
    double poisson_ratio = 0.3;  ///< −1 < value ≤ 0.5
    /// The space around the mesh instead of its inside. The mesh is oriented as always; the
    /// outward normals of the space, and with them tractions, point into the mesh.
    bool is_exterior = false;
    double crease_angle = 0;  ///< > 0 [rad]: linear elements have a node for each side of edges
                              ///< whose normals differ by more
};

/// The equations H u = G p between displacements u and tractions p of the nodes of a closed
/// surface, docs/greens.md section "Boundary elements" (Laplace: potential and its derivative along
/// the outward normal). Shear modulus 1 (conductivity 1); lengths as those of the mesh. Rows are
/// integrated when asked for: nothing of the size of H is kept. Immutable.
class BoundaryModel {
public:
    /// Throws InputError for options out of range and for a mesh that is open, inside out, cut by
    /// itself or has triangles too thin to integrate over.
    BoundaryModel(SurfaceMesh mesh, const BoundaryOptions& options);

    [[nodiscard]] int num_nodes() const noexcept;
    /// Unknowns of a node: 3 for elasticity, 1 for Laplace.
    [[nodiscard]] int block() const noexcept {
        return options_.physics == BoundaryPhysics::Elastic ? 3 : 1;
    }
    [[nodiscard]] const std::vector<Eigen::Vector3d>& positions() const noexcept;
    [[nodiscard]] const std::vector<Eigen::Vector3d>& normals() const noexcept;  ///< unit, outward
    [[nodiscard]] const std::vector<double>& areas() const noexcept;             ///< ∫ φ_i
    /// Node of each corner of each triangle; constant elements: the triangle's node thrice.
    [[nodiscard]] const std::vector<std::array<int, 3>>& corner_nodes() const noexcept;
    [[nodiscard]] const SurfaceMesh& mesh() const noexcept { return mesh_; }
    [[nodiscard]] const BoundaryOptions& options() const noexcept { return options_; }
    [[nodiscard]] const BoundaryNodes& nodes() const noexcept { return *nodes_; }
    [[nodiscard]] const BoundaryAssembler& assembler() const noexcept { return *assembler_; }

    /// Rows of the equations of nodes [first_node, first_node + num_row_nodes): block·num_row_nodes
    /// rows and block·num_nodes() columns of G and H, all of them written. Rows do not depend on
    /// how they are shared out among calls and threads. Uses all cores: 64 nodes or more in a call.
    void assemble(int first_node, int num_row_nodes, Eigen::Ref<Eigen::MatrixXd> G,
                  Eigen::Ref<Eigen::MatrixXd> H) const;

    /// Right-hand sides b of H u = G p + b for a unit body force along each axis (Laplace: a unit
    /// source): block·num_nodes() rows, block columns. Throws InputError for exterior problems.
    [[nodiscard]] Eigen::MatrixXd body_force_columns() const;

private:
    SurfaceMesh mesh_;
    BoundaryOptions options_;
    std::shared_ptr<const BoundaryNodes> nodes_;
    std::shared_ptr<const BoundaryAssembler> assembler_;
    std::shared_ptr<const CavityRows> cavity_rows_;  // exterior elasticity
};

}  // namespace pliant
