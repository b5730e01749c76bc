#pragma once

#include "pliant/geometry/volume_mesh.h"

#include <algorithm>
#include <map>
#include <random>

namespace pliant::test {

inline const Box kUnitBox(Eigen::Vector3d::Zero(), Eigen::Vector3d::Ones());

/// Cube with an integer corner and side, in units of half the finest cell or any other.
struct Cube {
    std::array<int, 3> low;
    int side;
};

/// Hexes of several sizes, with the hanging vertices found the obvious way: a vertex that is the
/// middle of an edge or a face of some cube. Cubes must be 2:1 balanced.
inline VolumeMesh cubes_mesh(const std::vector<Cube>& cubes, double scale = 1.0) {
    constexpr std::array<std::array<int, 3>, 8> kCorners{
        {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}}};
    VolumeMesh mesh;
    mesh.kind = ElementKind::Hex8;
    std::map<std::array<int, 3>, int> index;
    std::vector<std::array<int, 3>> places;
    for (const Cube& cube : cubes)
        for (const auto& c : kCorners) {
            std::array<int, 3> place{};
            for (int k = 0; k < 3; ++k) place[k] = cube.low[k] + c[k] * cube.side;
            const auto [found, is_new] = index.try_emplace(place, static_cast<int>(index.size()));
            if (is_new) {
                places.push_back(place);
                mesh.vertices.emplace_back(scale * Eigen::Vector3d(place[0], place[1], place[2]));
            }
            mesh.elements.push_back(found->second);
        }
    for (int v = 0; v < mesh.num_vertices(); ++v) {
        HangingNode best;
        for (const Cube& cube : cubes) {
            // 0, 1, 2: at the low side, in the middle, at the high side of the cube
            std::array<int, 3> step{};
            bool on_lattice = true;
            int num_middle = 0;
            for (int k = 0; k < 3; ++k) {
                const int offset = 2 * (places[v][k] - cube.low[k]);
                on_lattice &= offset >= 0 && offset <= 2 * cube.side && offset % cube.side == 0;
                step[k] = offset / cube.side;
                num_middle += step[k] == 1;
            }
            // an edge decides before a face: its masters are corners of all coarse cubes there
            if (!on_lattice || num_middle < 1 || num_middle > 2) continue;
            if (best.vertex >= 0 && best.num_masters <= 2 * num_middle) continue;
            best = {v, 0, {-1, -1, -1, -1}, 0.5 / num_middle};
            for (const auto& c : kCorners) {
                bool is_master = true;
                std::array<int, 3> place{};
                for (int k = 0; k < 3; ++k) {
                    is_master &= step[k] == 1 || step[k] == 2 * c[k];
                    place[k] = cube.low[k] + c[k] * cube.side;
                }
                if (is_master) best.masters[best.num_masters++] = index.at(place);
            }
        }
        if (best.vertex >= 0) mesh.hanging.push_back(best);
    }
    return mesh;
}

/// The eight halves of a cube.
inline std::vector<Cube> split(const Cube& cube) {
    std::vector<Cube> halves;
    const int h = cube.side / 2;
    for (int i = 0; i < 8; ++i)
        halves.push_back({{cube.low[0] + h * (i & 1), cube.low[1] + h * (i >> 1 & 1),
                           cube.low[2] + h * (i >> 2)},
                          h});
    return halves;
}

/// Moves every vertex by up to `amount` along each axis.
inline void jitter(VolumeMesh& mesh, double amount, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> offset(-amount, amount);
    for (Eigen::Vector3d& x : mesh.vertices)
        x += Eigen::Vector3d(offset(random), offset(random), offset(random));
}

}  // namespace pliant::test
