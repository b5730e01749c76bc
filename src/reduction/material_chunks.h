#pragma once

#include "pliant/core/archive.h"
#include "pliant/fem/material.h"

#include <string>
#include <vector>

namespace pliant {

/// Materials as numbers. Keep it until ArchiveWriter::save.
struct MaterialChunks {
    std::vector<int> laws;            ///< law and whether anisotropic, of each
    std::vector<double> constants;    ///< ρ, λ, μ, c_v of each
    std::vector<double> anisotropic;  ///< C by columns, E₀, S₀ of each anisotropic one
};
[[nodiscard]] MaterialChunks material_chunks(const std::vector<Material>& materials);

/// Adds the chunks `materials/…`: laws i32 [g, 2], constants f64 [g, 4], anisotropic f64 [a, 48].
[[nodiscard]] MaterialChunks add_materials(ArchiveWriter& writer,
                                           const std::vector<Material>& materials);
/// Reads them back; numbers are left to check_material. `name` stands for the file in messages.
[[nodiscard]] std::vector<Material> read_materials(const Archive& archive, const std::string& name);

}  // namespace pliant
