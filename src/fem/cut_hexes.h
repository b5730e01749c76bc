#pragma once

#include "fem/element_blocks.h"
#include "fem/element_quadrature.h"

#include <Eigen/Core>
#include <functional>
#include <vector>

namespace pliant {

/// Σ_q weights(q, k) f(ξ_q) is the integral of f ψ_k over the filled part of a hex, for every
/// trilinear f: ψ_0 = 1, then the six functions of HexStressSpace::weights().
using HexWeights = Eigen::Matrix<double, 8, 7>;

/// Hexes whose filled part is not spread over all of them, docs/fem.md section "Cut cells": boxes
/// along the axes that the surface cuts.
struct CutHexes {
    std::vector<int> index_of_place;  ///< in `weights`, −1: filled evenly; empty: all are
    std::vector<HexWeights> weights;

    /// Null: filled evenly.
    [[nodiscard]] const HexWeights* of(int place) const noexcept {
        if (index_of_place.empty() || index_of_place[place] < 0) return nullptr;
        return &weights[index_of_place[place]];
    }
};

/// The filled part of each cut cell is taken as the cell below a plane: its normal from the filled
/// fractions around, its place from the cell's own [Youngs1982]. A twentieth of it stays spread
/// over the whole cell, so that no node is left without stiffness.
/// `points`: as in FemModelData, by places; only elements with `is_wanted(place)`.
[[nodiscard]] CutHexes find_cut_hexes(const VolumeMesh& mesh, const ElementBlocks& blocks,
                                      const std::vector<QuadraturePoint>& points,
                                      const std::function<bool(int)>& is_wanted);

}  // namespace pliant
