#pragma once

#include "pliant/field/deformed_field.h"

namespace pliant {

/// Points spread evenly over a surface in proportion to area, `count` of them, the same ones each
/// time.
[[nodiscard]] std::vector<Eigen::Vector3d> area_samples(const SurfaceMesh& mesh, int count);
/// `count` of the candidates, each as far as possible from those before; the first is the farthest
/// from the centre of all.
[[nodiscard]] std::vector<Eigen::Vector3d> farthest_points(
    const std::vector<Eigen::Vector3d>& candidates, int count);

/// The fields and proxies of the parts of a body, docs/field.md section "Domains". `band` of sparse
/// grids [m]; dense where it is 0.
[[nodiscard]] std::vector<FieldDomain> cut_into_domains(const DistanceGrid& body,
                                                        const SurfaceMesh& mesh,
                                                        const std::vector<int>& domain_of_triangle,
                                                        const DeformedFieldOptions& options,
                                                        double band, Progress& progress);

}  // namespace pliant
