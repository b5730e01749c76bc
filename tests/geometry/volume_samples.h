#pragma once

#include "pliant/geometry/volume_mesh.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <string>

/// Small volume meshes for tests of files.
namespace pliant::test {

/// Two tetrahedra in two regions, with coordinates that are hard to write and read back.
inline VolumeMesh sample_tets() {
    VolumeMesh mesh;
    mesh.vertices = {{1.0 / 3.0, -0.0, 0.1},
                     {1.0, std::numeric_limits<double>::denorm_min(), 1e-300},
                     {-2.5e-7, 123456789.123456789, 0.3},
                     {0.1 + 0.2, -7.0 / 11.0, 1e22},
                     {4.0, 5.0, 6.0}};
    mesh.elements = {0, 1, 2, 3, 4, 2, 1, 3};
    mesh.regions = {1, 0};
    mesh.region_names = {"soft", "bone"};
    return mesh;
}

/// A row of four unit cubes along x; regions change to and fro, so that their order shows.
inline VolumeMesh sample_hexes() {
    VolumeMesh mesh;
    mesh.kind = ElementKind::Hex8;
    for (int x = 0; x < 5; ++x) {
        for (int k = 0; k < 4; ++k) mesh.vertices.emplace_back(x + 0.1, k & 1, k >> 1);
    }
    for (int x = 0; x < 4; ++x) {
        for (const int corner : {0, 4, 5, 1, 2, 6, 7, 3}) mesh.elements.push_back(4 * x + corner);
    }
    mesh.regions = {2, 0, 1, 2};
    mesh.region_names = {"a", "b", "c"};
    return mesh;
}

inline void expect_same_mesh(const VolumeMesh& actual, const VolumeMesh& expected) {
    EXPECT_EQ(actual.kind, expected.kind);
    ASSERT_EQ(actual.num_vertices(), expected.num_vertices());
    EXPECT_EQ(std::memcmp(actual.vertices.data(), expected.vertices.data(),
                          expected.vertices.size() * sizeof(Eigen::Vector3d)),
              0)
        << "coordinates differ";
    EXPECT_EQ(actual.elements, expected.elements);
    EXPECT_EQ(actual.regions, expected.regions);
    EXPECT_EQ(actual.region_names, expected.region_names);
}

/// `text` with the first `from` exchanged; fails when there is none.
inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

inline std::string with_windows_line_ends(const std::string& text) {
    std::string windows;
    for (const char c : text) windows += c == '\n' ? std::string("\r\n") : std::string(1, c);
    return windows;
}

}  // namespace pliant::test
