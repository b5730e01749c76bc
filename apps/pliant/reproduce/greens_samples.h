#pragma once

#include "pliant/greens/build_greens.h"
#include "pliant/greens/surface_stiffness.h"

#include <memory>
#include <string>
#include <vector>

namespace pliant::reproduce {

/// A body as published: its size, what it cost, and our shape in its place.
struct GreensSample {
    std::string title, shape;
    int vertices, free_vertices;
    double minutes, factor_percent;  ///< of the precomputation; 0: not published
    double frame_ms;                 ///< of a frame in contact
};
/// Nodule, kidney, spatula and banana seat.
[[nodiscard]] const std::vector<GreensSample>& greens_samples();

/// The selection that holds such a shape and leaves the published number of vertices free.
[[nodiscard]] std::string greens_support(const std::string& shape, const SemiRegularMesh& surface);

/// E = 10 kPa, ν = 0.3, boundary elements; `levels` −1: the published size.
[[nodiscard]] std::shared_ptr<const GreensModel> greens_sample_model(
    const std::string& shape, int levels = -1, GreensBuildReport* report = nullptr,
    const std::string& contactable = {});

/// A smooth body without symmetry, 10·4^level + 2 vertices on a sphere that was bent, 0.1 m long.
[[nodiscard]] SemiRegularMesh greens_blob(int level);
/// The selection of these vertices.
[[nodiscard]] std::string listed(const std::vector<int>& vertices);

[[nodiscard]] SurfaceStiffness masked_stiffness(const std::shared_ptr<const GreensModel>& model,
                                                MaskKind kind, double radius = 0);
/// Free nodes with a column, nearest to the place first.
[[nodiscard]] std::vector<int> free_nodes_near(const GreensModel& model,
                                               const Eigen::Vector3d& place);
/// All three directions of the nodes [first, end) of a list.
[[nodiscard]] std::vector<ChangedDof> captured_nodes(const std::vector<int>& nodes, int first,
                                                     int end);
/// The highest point of the surface below or above the middle of its box, moved by `offset` lengths
/// of the body.
[[nodiscard]] Eigen::Vector3d point_on_top(const GreensModel& model,
                                           const Eigen::Vector3d& offset = {0, 0, 0});
[[nodiscard]] double mean_edge(const SurfaceMesh& mesh);

}  // namespace pliant::reproduce
