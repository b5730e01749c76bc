#pragma once

#include "pliant/geometry/surface_mesh.h"

#include <cstdint>
#include <filesystem>
#include <string>

namespace pliant {

/// RGB image, rows from the top.
struct Picture {
    int width = 0, height = 0;
    std::vector<std::uint8_t> rgb;
};

struct CameraOptions {
    int width = 640, height = 480;
    double azimuth = 35.0, elevation = 20.0;  ///< of the viewer around the object [degrees], z up
    bool has_wireframe = false;               ///< draw the mesh edges over the shading
};

/// Small off-screen renderer for reports and tests: fits the mesh in view, smooth two-light shading
/// with ambient occlusion towards the ground, 2 × 2 samples per pixel. Optional colour per vertex
/// (RGB, 0 … 1).
[[nodiscard]] Picture render(const SurfaceMesh& mesh, const CameraOptions& camera = {},
                             const std::vector<Eigen::Vector3f>& vertex_colors = {});
/// Pictures in rows of `columns`, each with a caption under it.
[[nodiscard]] Picture contact_sheet(const std::vector<Picture>& pictures,
                                    const std::vector<std::string>& captions, int columns);
void save_png(const Picture& picture, const std::filesystem::path& path);

}  // namespace pliant
