#pragma once

#include "greens/iterative_source.h"
#include "pliant/geometry/subdivision.h"

#include <string>
#include <vector>

/// Bodies and measurements of benchmarks and experiments on many nodes.
namespace pliant::bench {

/// A closed body of one hole, held at one place.
struct LargeBody {
    SemiRegularMesh surface;
    BoundaryModel model;
    std::vector<NodeKind> kinds;
};

/// A wavy tube that bites its tail, of longest side 1: `rings` of five vertices, 5·rings·4^levels
/// in all; 31 rings on level 3 make 9,920 vertices, 16 on level 4 make 20,480. Nodes of the highest
/// x are held, a tenth of its length.
[[nodiscard]] LargeBody closed_tube(int rings, int levels);
/// An icosahedron drawn onto a sphere of diameter 1, held at a cap of height 0.17.
[[nodiscard]] LargeBody capped_sphere(int levels);
/// Any other one; `fixed` as in GreensBuildOptions.
[[nodiscard]] LargeBody large_body(SemiRegularMesh surface, const std::string& fixed);

struct LargeSolution {
    IterativeReport report;
    int num_right_sides = 0;
    double matrix_seconds = 0, preconditioner_seconds = 0, column_seconds = 0;
    double sum = 0;  ///< of the results
    [[nodiscard]] double seconds() const noexcept {
        return matrix_seconds + preconditioner_seconds + column_seconds;
    }
};

/// All columns of free functions of level 0, by the iterative solver.
[[nodiscard]] LargeSolution solve_level_0(const LargeBody& body, const IterativeOptions& options,
                                          Progress& progress = Progress::none());

}  // namespace pliant::bench
