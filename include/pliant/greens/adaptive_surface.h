#pragma once

#include "pliant/greens/greens_model.h"
#include "pliant/greens/wavelet_greens.h"

#include <array>
#include <memory>
#include <span>
#include <vector>

#include <Eigen/Core>

namespace pliant {

/// A deformed surface with as many vertices as its shape needs.
struct AdaptiveSurface {
    std::vector<int> vertices;                  ///< of the mesh, ascending: those that are shown
    std::vector<Eigen::Vector3f> positions;     ///< of these [m]
    std::vector<std::array<int, 3>> triangles;  ///< by places in `vertices`; closed like the mesh
    std::vector<int> refined;  ///< vertices that split an edge: those of `vertices` past the base
};

/// Fixed nodes that are not at rest: those that are moved, and those that are let go of.
struct MovedSupports {
    std::span<const int> nodes = {};
    std::span<const Eigen::Vector3d> displacements = {};  ///< as CapacitanceSolver gives them [m]
};

/// Spatially adaptive output, docs/greens-wavelets.md section "Output": edges are split only where
/// coefficients of the deformed shape exceed a tolerance; elsewhere the interpolation of the
/// transform stands. Triangles that meet differ by one level at most and share their vertices.
class AdaptiveDisplay {
public:
    /// Throws InputError unless the model has wavelet Green's functions.
    explicit AdaptiveDisplay(std::shared_ptr<const GreensModel> model);

    /// `sum`: for all nodes, as CapacitanceSolver::sum(). `tolerance` [m] is divided by
    /// `weights` of each vertex where there are any: 0 for what is not seen, more for what is near.
    /// Rows of fixed nodes in a sum are tractions: where they are not at rest, `supports` tell.
    void update(std::span<const float> sum, double tolerance, AdaptiveSurface& surface,
                std::span<const float> weights = {}, const MovedSupports& supports = {});

private:
    void add_supports(const MovedSupports& supports);
    void find_split(double tolerance, std::span<const float> weights);
    void add_triangles(int level, int triangle, AdaptiveSurface& surface) const;
    [[nodiscard]] const std::array<int, 3>& middles(int level, int triangle) const noexcept;

    std::shared_ptr<const GreensModel> model_;
    const WaveletGreensFunctions* functions_;
    std::vector<float> rest_, coefficients_;   // three of each vertex [m]
    std::vector<float> moved_;                 // displacements of fixed nodes, then coefficients
    std::vector<std::array<int, 2>> sides_;    // triangles of the edge a vertex splits
    std::vector<std::vector<char>> is_split_;  // by level
    std::vector<char> is_shown_;
    std::vector<int> place_;
    SelectiveInverse<float> inverse_;
};

}  // namespace pliant
