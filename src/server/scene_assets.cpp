#include "server/scene_assets.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "pliant/reduction/reduced_body.h"
#include "server/binary_writer.h"
#include "server/greens_assets.h"

namespace pliant {
namespace {

constexpr double kLargestShort = 32767;
constexpr std::string_view kParts[] = {"surface", "shapes", "mesh", "greens"};

/// Row 3 v + axis and column k of Ū.
double entry(const SurfaceArrays& arrays, std::size_t row, std::size_t k) {
    const std::size_t i = row * static_cast<std::size_t>(arrays.r) + k;
    if (arrays.storage == ShapeStorage::Float32) return static_cast<double>(arrays.rows32[i]);
    return static_cast<double>(static_cast<std::int16_t>(arrays.rows16[i])) *
           static_cast<double>(arrays.scales[k]);
}

std::vector<float> column_factors(const SurfaceShapes& shapes) {
    const std::size_t num_rows = 3 * static_cast<std::size_t>(shapes.num_vertices());
    std::vector<float> factors(static_cast<std::size_t>(shapes.size()), 0.0f);
    for (std::size_t row = 0; row < num_rows; ++row)
        for (std::size_t k = 0; k < factors.size(); ++k)
            factors[k] =
                std::max(factors[k], std::abs(static_cast<float>(entry(shapes.arrays(), row, k))));
    return factors;
}

/// The number that a path begins with, which is taken off.
std::optional<std::size_t> take_index(std::string_view& path) {
    std::size_t index = 0;
    const auto [end, error] = std::from_chars(path.data(), path.data() + path.size(), index);
    if (error != std::errc{}) return std::nullopt;
    path.remove_prefix(static_cast<std::size_t>(end - path.data()));
    return index;
}

}  // namespace

SharedBytes encode_surface(const SurfaceMesh& surface) {
    BinaryWriter out(8 + 12 * (surface.vertices.size() + surface.triangles.size()));
    out.u32(static_cast<std::uint32_t>(surface.vertices.size()));
    out.u32(static_cast<std::uint32_t>(surface.triangles.size()));
    for (const Eigen::Vector3d& x : surface.vertices)
        for (int axis = 0; axis < 3; ++axis) out.f32(static_cast<float>(x[axis]));
    for (const Triangle& triangle : surface.triangles)
        for (const int vertex : triangle) out.u32(static_cast<std::uint32_t>(vertex));
    return out.take();
}

SharedBytes encode_shapes(const SurfaceShapes& shapes) {
    const auto num_vertices = static_cast<std::size_t>(shapes.num_vertices());
    const std::vector<float> factors = column_factors(shapes);
    BinaryWriter out(8 + 4 * factors.size() + 8 * factors.size() * num_vertices);
    out.u32(static_cast<std::uint32_t>(num_vertices));
    out.u32(static_cast<std::uint32_t>(factors.size()));
    out.floats(factors);
    std::vector<std::int16_t> texels(4 * num_vertices);
    for (std::size_t k = 0; k < factors.size(); ++k) {
        const double scale = factors[k] > 0 ? kLargestShort / static_cast<double>(factors[k]) : 0;
        for (std::size_t v = 0; v < num_vertices; ++v)
            for (std::size_t axis = 0; axis < 3; ++axis) {
                const double value = scale * entry(shapes.arrays(), 3 * v + axis, k);
                texels[4 * v + axis] = static_cast<std::int16_t>(
                    std::lround(std::clamp(value, -kLargestShort, kLargestShort)));
            }
        out.shorts(texels);
    }
    return out.take();
}

SharedBytes encode_mesh_edges(int num_nodes, std::span<const std::array<int, 2>> edges) {
    BinaryWriter out(8 + 8 * edges.size());
    out.u32(static_cast<std::uint32_t>(num_nodes));
    out.u32(static_cast<std::uint32_t>(edges.size()));
    for (const std::array<int, 2>& edge : edges)
        for (const int node : edge) out.u32(static_cast<std::uint32_t>(node));
    return out.take();
}

SceneAssets::SceneAssets(const World& world) {
    // where each loop puts the display states of its bodies
    std::vector<std::vector<std::size_t>> loop_offsets(static_cast<std::size_t>(world.num_loops()));
    for (int l = 0; l < world.num_loops(); ++l) {
        std::size_t offset = 0;
        for (int place = 0; place < world.loop(l).num_bodies(); ++place) {
            loop_offsets[static_cast<std::size_t>(l)].push_back(offset);
            const auto display = world.loop(l).body(place).display();
            offset += static_cast<std::size_t>(display->state_size());
        }
    }

    std::size_t offset = 0;
    const int num_bodies = static_cast<int>(world.bodies().size());
    for (int i = 0; i < num_bodies; ++i) {
        const WorldBody& placed = world.bodies()[static_cast<std::size_t>(i)];
        const Body& body = world.body(i);
        BodyStream stream;
        stream.display = body.display();
        const auto twin =
            std::find_if(streams_.begin(), streams_.end(),
                         [&](const BodyStream& other) { return other.display == stream.display; });
        stream.asset = twin != streams_.end() ? twin->asset : add_asset(body);
        const Asset& asset = assets_[static_cast<std::size_t>(stream.asset)];
        if (asset.shapes != nullptr) {
            stream.encoding = StreamEncoding::Reduced;
            stream.rank = asset.shapes->size();
        } else if (body.kind() != "rigid") {
            stream.encoding = StreamEncoding::Positions;
        }
        stream.num_vertices = asset.num_vertices;
        stream.loop = placed.loop;
        stream.loop_offset = loop_offsets[static_cast<std::size_t>(placed.loop)]
                                         [static_cast<std::size_t>(placed.place)];
        stream.offset = offset;
        offset += static_cast<std::size_t>(stream.display->state_size());
        streams_.push_back(std::move(stream));
    }
}

int SceneAssets::add_asset(const Body& body) {
    Asset asset;
    asset.body = &body;
    if (const auto* reduced = dynamic_cast<const ReducedBody*>(&body))
        asset.shapes = &reduced->shapes();
    asset.greens = dynamic_cast<const GreensBody*>(&body);
    asset.num_vertices = body.surface().num_vertices();
    asset.num_triangles = body.surface().num_triangles();
    asset.has_mesh = body.display()->num_mesh_nodes() > 0;
    if (asset.greens != nullptr) asset.num_levels = display_of(*asset.greens).num_levels();
    if (asset.num_vertices > 0)
        asset.size = bounding_box(body.surface().vertices).sizes().maxCoeff();
    assets_.push_back(std::move(asset));
    return static_cast<int>(assets_.size()) - 1;
}

SharedBytes SceneAssets::find(std::string_view path) {
    const std::optional<std::size_t> index = take_index(path);
    if (!index || *index >= assets_.size()) return nullptr;
    if (path.empty() || path.front() != '/') return nullptr;
    path.remove_prefix(1);
    Asset& asset = assets_[*index];
    if (constexpr std::string_view kUnit = "unit/"; path.starts_with(kUnit)) {
        path.remove_prefix(kUnit.size());
        const std::optional<std::size_t> vertex = take_index(path);
        if (!asset.greens || !vertex || !path.empty() ||
            *vertex >= static_cast<std::size_t>(asset.num_vertices))
            return nullptr;
        return encode_unit_field(*asset.greens, static_cast<int>(*vertex));
    }
    if (constexpr std::string_view kEdges = "edges/"; path.starts_with(kEdges)) {
        path.remove_prefix(kEdges.size());
        const std::optional<std::size_t> level = take_index(path);
        if (!asset.greens || !level || !path.empty() ||
            *level > static_cast<std::size_t>(asset.num_levels))
            return nullptr;
        return encode_mesh_edges(asset.num_vertices,
                                 display_of(*asset.greens).level_edges(static_cast<int>(*level)));
    }
    if (path == "sparsity") return asset.greens ? encode_sparsity(*asset.greens) : nullptr;
    const auto part = std::find(std::begin(kParts), std::end(kParts), path);
    if (part == std::end(kParts)) return nullptr;

    const auto p = static_cast<std::size_t>(part - std::begin(kParts));
    SharedBytes& bytes = asset.parts[p];
    if (bytes != nullptr) return bytes;
    if (p == 0) bytes = encode_surface(asset.body->surface());
    if (p == 1 && asset.shapes != nullptr) bytes = encode_shapes(*asset.shapes);
    if (p == 2 && asset.has_mesh) {
        const auto display = asset.body->display();
        bytes = encode_mesh_edges(display->num_mesh_nodes(), display->mesh_edges());
    }
    if (p == 3 && asset.greens != nullptr) bytes = encode_greens(*asset.greens);
    return bytes;
}

std::string_view to_string(StreamEncoding encoding) noexcept {
    switch (encoding) {
        case StreamEncoding::Pose: return "pose";
        case StreamEncoding::Reduced: return "reduced";
        case StreamEncoding::Positions: return "positions";
    }
    return "";
}

}  // namespace pliant
