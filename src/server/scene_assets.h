#pragma once

#include "server/frame_message.h"

#include "pliant/greens/greens_body.h"
#include "pliant/reduction/surface_shapes.h"
#include "pliant/scene/world.h"

#include <array>
#include <string_view>
#include <vector>

namespace pliant {

// Encoders of docs/server.md section "Data over HTTP".

[[nodiscard]] SharedBytes encode_surface(const SurfaceMesh& surface);
/// Each column of Ū with a factor of its own: right to half a step of factor/32767.
[[nodiscard]] SharedBytes encode_shapes(const SurfaceShapes& shapes);
[[nodiscard]] SharedBytes encode_mesh_edges(int num_nodes,
                                            std::span<const std::array<int, 2>> edges);

/// What pages draw of a world: surfaces and shapes, fetched once for all bodies that share them,
/// and how each body is streamed. Reads what does not change while the world runs.
class SceneAssets {
public:
    struct Asset {
        const Body* body = nullptr;  ///< the first that has it
        const SurfaceShapes* shapes = nullptr;
        const GreensBody* greens = nullptr;
        int num_vertices = 0, num_triangles = 0;
        bool has_mesh = false;
        int num_levels = 0;                ///< rounds of subdivision, of Green's functions
        double size = 0;                   ///< longest side at rest [m]
        std::array<SharedBytes, 4> parts;  ///< made when they are first asked for
    };

    /// The world must outlive it.
    explicit SceneAssets(const World& world);

    [[nodiscard]] const std::vector<BodyStream>& streams() const noexcept { return streams_; }
    [[nodiscard]] const std::vector<Asset>& assets() const noexcept { return assets_; }
    /// Of "{a}/surface", "{a}/shapes", "{a}/mesh", "{a}/greens", "{a}/sparsity",
    /// "{a}/unit/{vertex}" or "{a}/edges/{level}"; null: there is none.
    [[nodiscard]] SharedBytes find(std::string_view path);

private:
    int add_asset(const Body& body);
    std::vector<BodyStream> streams_;
    std::vector<Asset> assets_;
};

[[nodiscard]] std::string_view to_string(StreamEncoding encoding) noexcept;

}  // namespace pliant
