#pragma once

#include "pliant/core/archive.h"
#include "pliant/geometry/embedding.h"
#include "pliant/geometry/subdivision.h"
#include "pliant/geometry/volume_mesh.h"

#include <string>
#include <vector>

namespace pliant {

/// What a mesh stores in another form than an archive does. Keep it, and the mesh, until
/// ArchiveWriter::save.
struct VolumeMeshChunks {
    std::vector<int> hanging_vertices;
    std::vector<int> hanging_masters;  ///< four each, −1 behind the last
    std::vector<char> region_names;    ///< each ends with a NUL
};

/// Adds the chunks `mesh/…` to an archive of any kind: vertices f64 [n, 3], elements i32 [m, 4 or
/// 8], and where the mesh has them regions i32 [m], region_names u8, filled f64 [m],
/// hanging/vertices i32 [h] and hanging/masters i32 [h, 4].
[[nodiscard]] VolumeMeshChunks add_volume_mesh(ArchiveWriter& writer, const VolumeMesh& mesh);
VolumeMeshChunks add_volume_mesh(ArchiveWriter& writer, VolumeMesh&& mesh) = delete;
/// Reads them back; everything is checked but checksums (see Archive::verify). `name` stands for
/// the file in messages.
[[nodiscard]] VolumeMesh read_volume_mesh(const Archive& archive, const std::string& name);

/// Adds the chunks `embedding/…`: start i32 [p + 1], vertices i32 [k], weights f64 [k]. Keep the
/// embedding until ArchiveWriter::save.
void add_embedding(ArchiveWriter& writer, const Embedding& embedding);
void add_embedding(ArchiveWriter& writer, Embedding&& embedding) = delete;
/// Reads them back for a mesh of `num_vertices` vertices.
[[nodiscard]] Embedding read_embedding(const Archive& archive, int num_vertices,
                                       const std::string& name);

/// Kind of an archive that holds nothing but a semi-regular mesh; other kinds may hold one too.
inline constexpr const char* kSemiRegularKind = "semi-regular-mesh";
/// Adds the chunks `semi_regular/…`: vertices f64 [n, 3] of the finest level, num_vertices i32
/// [L + 1] and triangles i32 [m, 3] of the coarsest level; all else follows from these. Keep the
/// mesh until ArchiveWriter::save.
void add_semi_regular_mesh(ArchiveWriter& writer, const SemiRegularMesh& mesh);
void add_semi_regular_mesh(ArchiveWriter& writer, SemiRegularMesh&& mesh) = delete;
/// Reads them back and rebuilds the levels, the same to the bit.
[[nodiscard]] SemiRegularMesh read_semi_regular_mesh(const Archive& archive,
                                                     const std::string& name);

}  // namespace pliant
