#pragma once

#include "fem/cut_hexes.h"
#include "fem/element_blocks.h"
#include "fem/hex_kernels.h"
#include "pliant/fem/fem_model.h"

#include <vector>

namespace pliant {

/// True for the isotropic St. Venant–Kirchhoff, small-strain and stable neo-Hookean laws.
[[nodiscard]] bool has_hex_kernel(const Material& material) noexcept;

/// The Hex8 elements of a mesh in batches for the SIMD kernels, one material for each region;
/// blocks hold at most kMaxHexesPerBlock elements. `cut`: the accurate ones that are cut, or null.
/// Within a block, elements of one shape (cut, box or any) and law keep their order.
[[nodiscard]] HexBatches make_hex_batches(const VolumeMesh& mesh, const ElementBlocks& blocks,
                                          const std::vector<Material>& materials,
                                          ElementFormulation elements,
                                          const CutHexes* cut = nullptr);

}  // namespace pliant
