#pragma once

#include "pliant/geometry/surface_mesh.h"
#include "pliant/geometry/volume_mesh.h"

#include <string>
#include <vector>

namespace pliant::reproduce {

/// A direction to look from. Pictures with the same view and the same box have the same scale.
struct View {
    double azimuth = -60, elevation = 20;  ///< of the viewer around the body [degrees]
    Eigen::Vector3d up = Eigen::Vector3d::UnitZ();
    int width = 300;  ///< of the picture [pixels]
};

/// One body of a picture.
struct Drawn {
    const VolumeMesh* mesh = nullptr;
    Eigen::VectorXd u;        ///< displacements of all vertices; empty: at rest
    bool is_outline = false;  ///< edges only, behind the others
};

/// An SVG element with the outer faces of the bodies, far ones first, coloured by the change of
/// volume of their elements: blue below half, grey unchanged, red above twice. A `ground` is drawn
/// where the box is cut by the plane through `point` with normal `normal`.
struct Ground {
    Eigen::Vector3d point = Eigen::Vector3d::Zero(), normal = Eigen::Vector3d::Zero();
    [[nodiscard]] bool is_there() const { return normal.squaredNorm() > 0; }
};
[[nodiscard]] std::string picture(const std::vector<Drawn>& bodies, const Box& box,
                                  const View& view, const std::string& label,
                                  const Ground& ground = {});

/// A closed surface coloured by values at its vertices: blue at −1, grey at 0, red at 1, empty
/// where a value is not finite.
[[nodiscard]] std::string surface_picture(const SurfaceMesh& mesh,
                                          const std::vector<double>& values, const View& view,
                                          const std::string& label);

/// Around all bodies, for the `box` above.
[[nodiscard]] Box box_around(const std::vector<Drawn>& bodies);

}  // namespace pliant::reproduce
