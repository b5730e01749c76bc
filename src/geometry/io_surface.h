#pragma once

#include "pliant/core/atomic_file.h"
#include "pliant/geometry/surface_mesh.h"

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <string>

namespace pliant {

/// Adds a polygon as a fan of triangles around its first corner.
/// Throws InputError above kMaxTriangles triangles.
void add_polygon(SurfaceMesh& mesh, std::span<const int> corners, const std::string& name);

/// Refuses a file that was read without fault but describes no surface.
void require_triangles(const SurfaceMesh& mesh, const std::string& name);

/// Writes a number with its lowest byte first.
template <class T>
void write_little_endian(AtomicFile& file, T value) {
    auto raw = std::bit_cast<std::array<char, sizeof(T)>>(value);
    if (std::endian::native != std::endian::little) std::reverse(raw.begin(), raw.end());
    file.write(raw.data(), raw.size());
}

// The writers behind save_surface; coordinates are finite.
void write_obj(const SurfaceMesh& mesh, AtomicFile& file);
void write_ply(const SurfaceMesh& mesh, AtomicFile& file);
void write_stl(const SurfaceMesh& mesh, AtomicFile& file);

}  // namespace pliant
