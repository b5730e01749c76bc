#include "pliant/geometry/mesh_archive.h"

#include "geometry/text_scanner.h"
#include "pliant/core/error.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace pliant {
namespace {

// Three contiguous doubles each, so that a mesh can be written and read without a copy in between.
static_assert(sizeof(Eigen::Vector3d) == 3 * sizeof(double));
static_assert(sizeof(Triangle) == 3 * sizeof(int));

// Chunks of an archive, with checks that name file and chunk.
class ChunkReader {
public:
    ChunkReader(const Archive& archive, const std::string& name) : archive_(archive), name_(name) {}

    [[nodiscard]] bool has(const std::string& chunk) const { return archive_.has(chunk); }

    // A chunk of rows with `columns` numbers each.
    template <class T>
    [[nodiscard]] std::vector<T> rows(const std::string& chunk, std::uint64_t columns) const {
        const auto& shape = archive_.info(chunk).shape;
        const bool is_flat = columns == 1 && shape.size() == 1;
        if (!is_flat && (shape.size() != 2 || shape[1] != columns)) {
            const std::string expected = columns == 1 ? "n" : "n × " + std::to_string(columns);
            fail(chunk + ", shape", shape_text(shape), expected);
        }
        if (shape[0] > static_cast<std::uint64_t>(kMaxMeshItems) / columns) {
            fail(chunk + ", shape", shape_text(shape), "at most 2147483647 numbers");
        }
        const std::span<const T> values = archive_.get<T>(chunk);
        return {values.begin(), values.end()};
    }
    template <class T>
    [[nodiscard]] std::vector<T> rows_of_elements(const std::string& chunk,
                                                  int num_elements) const {
        std::vector<T> values = rows<T>(chunk, 1);
        if (values.size() != static_cast<std::size_t>(num_elements)) {
            fail(chunk + ", length", std::to_string(values.size()),
                 std::to_string(num_elements) + ", one for each element");
        }
        return values;
    }

    // All values within lo … hi; nan is not.
    template <class T>
    void require_range(const std::string& chunk, const std::vector<T>& values, T lo, T hi,
                       const std::string& expected) const {
        for (std::size_t i = 0; i < values.size(); ++i) {
            if (values[i] >= lo && values[i] <= hi) continue;
            fail(chunk + "[" + std::to_string(i) + "]", std::to_string(values[i]), expected);
        }
    }
    void require_indices(const std::string& chunk, const std::vector<int>& values,
                         std::size_t count) const {
        const int last = static_cast<int>(count) - 1;
        require_range(chunk, values, 0, last,
                      count == 0 ? "none: there are no vertices" : "0 … " + std::to_string(last));
    }
    void require_finite(const std::string& chunk, const std::vector<double>& values) const {
        constexpr double largest = std::numeric_limits<double>::max();
        require_range(chunk, values, -largest, largest, "a finite number");
    }

    [[noreturn]] void fail(const std::string& field, const std::string& value,
                           const std::string& expected) const {
        throw InputError(name_, field, value, expected);
    }

    static std::string shape_text(const std::vector<std::uint64_t>& shape) {
        std::string text = "[";
        for (const std::uint64_t extent : shape) {
            text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
        }
        return text + "]";
    }

private:
    const Archive& archive_;
    const std::string& name_;
};

ElementKind read_kind(const Archive& archive, const ChunkReader& in) {
    const auto& shape = archive.info("mesh/elements").shape;
    if (shape.size() != 2 || (shape[1] != 4 && shape[1] != 8)) {
        in.fail("mesh/elements, shape", ChunkReader::shape_text(shape),
                "n × 4 for tetrahedra or n × 8 for hexahedra");
    }
    if (shape[0] > static_cast<std::uint64_t>(kMaxElements)) {
        in.fail("mesh/elements, shape", ChunkReader::shape_text(shape),
                "at most " + std::to_string(kMaxElements) + " elements");
    }
    return shape[1] == 4 ? ElementKind::Tet4 : ElementKind::Hex8;
}

std::vector<Eigen::Vector3d> read_point_rows(const ChunkReader& in, const std::string& chunk) {
    const auto coordinates = in.rows<double>(chunk, 3);
    in.require_finite(chunk, coordinates);
    std::vector<Eigen::Vector3d> points;
    points.reserve(coordinates.size() / 3);
    for (std::size_t i = 0; i < coordinates.size(); i += 3) {
        points.emplace_back(coordinates[i], coordinates[i + 1], coordinates[i + 2]);
    }
    return points;
}

std::vector<std::string> read_names(const ChunkReader& in) {
    const std::vector<char> text = in.rows<char>("mesh/region_names", 1);
    if (!text.empty() && text.back() != '\0') {
        in.fail("mesh/region_names, last byte", std::to_string(text.back()), "0 behind each name");
    }
    std::vector<std::string> names;
    for (auto begin = text.begin(); begin != text.end();) {
        const auto end = std::find(begin, text.end(), '\0');
        names.emplace_back(begin, end);
        begin = end + 1;
    }
    return names;
}

std::vector<HangingNode> read_hanging(const ChunkReader& in, std::size_t num_vertices) {
    const std::string masters_chunk = "mesh/hanging/masters";
    const auto vertices = in.rows<int>("mesh/hanging/vertices", 1);
    const auto masters = in.rows<int>(masters_chunk, 4);
    in.require_indices("mesh/hanging/vertices", vertices, num_vertices);
    if (masters.size() != 4 * vertices.size()) {
        in.fail(masters_chunk + ", rows", std::to_string(masters.size() / 4),
                std::to_string(vertices.size()) + ", one for each hanging node");
    }

    std::vector<HangingNode> hanging(vertices.size());
    for (std::size_t i = 0; i < hanging.size(); ++i) {
        HangingNode& node = hanging[i];
        node.vertex = vertices[i];
        const auto row = masters.begin() + static_cast<std::ptrdiff_t>(4 * i);
        const auto last = std::find(row, row + 4, -1);
        node.num_masters = static_cast<int>(last - row);
        const bool is_padded = std::all_of(last, row + 4, [](int m) { return m == -1; });
        if ((node.num_masters != 2 && node.num_masters != 4) || !is_padded) {
            in.fail(masters_chunk + "[" + std::to_string(i) + "]",
                    std::to_string(node.num_masters) + " vertices", "2 or 4, then -1");
        }
        in.require_indices(masters_chunk + "[" + std::to_string(i) + "]", {row, last},
                           num_vertices);
        std::copy(row, row + 4, node.masters.begin());
        node.weight = 1.0 / node.num_masters;
    }

    // each vertex hangs once, between different vertices that are free
    std::vector<char> is_hanging(num_vertices, 0);
    for (std::size_t i = 0; i < hanging.size(); ++i) {
        if (std::exchange(is_hanging[static_cast<std::size_t>(vertices[i])], 1) == 0) continue;
        in.fail("mesh/hanging/vertices[" + std::to_string(i) + "]", std::to_string(vertices[i]),
                "each vertex at most once");
    }
    for (std::size_t i = 0; i < masters.size(); ++i) {
        if (masters[i] < 0) continue;
        const auto row = masters.begin() + static_cast<std::ptrdiff_t>(i - i % 4);
        const auto here = masters.begin() + static_cast<std::ptrdiff_t>(i);
        const bool is_repeated = std::find(row, here, masters[i]) != here;
        if (!is_repeated && !is_hanging[static_cast<std::size_t>(masters[i])]) continue;
        in.fail(masters_chunk + "[" + std::to_string(i / 4) + "][" + std::to_string(i % 4) + "]",
                std::to_string(masters[i]),
                is_repeated ? "another vertex than before" : "a vertex that does not hang itself");
    }
    return hanging;
}

}  // namespace

VolumeMeshChunks add_volume_mesh(ArchiveWriter& writer, const VolumeMesh& mesh) {
    VolumeMeshChunks chunks;
    const auto n = static_cast<std::uint64_t>(mesh.num_vertices());
    const auto m = static_cast<std::uint64_t>(mesh.num_elements());
    const double* coordinates = n == 0 ? nullptr : mesh.vertices.front().data();
    writer.add<double>("mesh/vertices", {coordinates, 3 * n}, {n, 3});
    writer.add<int>("mesh/elements", mesh.elements,
                    {m, static_cast<std::uint64_t>(nodes_per_element(mesh.kind))});
    if (!mesh.regions.empty()) writer.add<int>("mesh/regions", mesh.regions);
    if (!mesh.filled.empty()) writer.add<double>("mesh/filled", mesh.filled);

    for (const std::string& name : mesh.region_names) {
        // c_str() ends with a NUL, and so does the first part of a name that holds one
        const std::string_view text(name.c_str());
        chunks.region_names.insert(chunks.region_names.end(), text.begin(), text.end());
        chunks.region_names.push_back('\0');
    }
    if (!mesh.region_names.empty()) writer.add<char>("mesh/region_names", chunks.region_names);

    for (const HangingNode& node : mesh.hanging) {
        chunks.hanging_vertices.push_back(node.vertex);
        chunks.hanging_masters.insert(chunks.hanging_masters.end(), node.masters.begin(),
                                      node.masters.end());
    }
    if (!mesh.hanging.empty()) {
        const auto h = static_cast<std::uint64_t>(mesh.hanging.size());
        writer.add<int>("mesh/hanging/vertices", chunks.hanging_vertices);
        writer.add<int>("mesh/hanging/masters", chunks.hanging_masters, {h, 4});
    }
    return chunks;
}

VolumeMesh read_volume_mesh(const Archive& archive, const std::string& name) {
    const ChunkReader in(archive, name);
    VolumeMesh mesh;
    mesh.kind = read_kind(archive, in);

    mesh.vertices = read_point_rows(in, "mesh/vertices");

    const auto num_corners = static_cast<std::uint64_t>(nodes_per_element(mesh.kind));
    mesh.elements = in.rows<int>("mesh/elements", num_corners);
    in.require_indices("mesh/elements", mesh.elements, mesh.vertices.size());

    if (in.has("mesh/regions")) {
        mesh.regions = in.rows_of_elements<int>("mesh/regions", mesh.num_elements());
        // memory of later work grows with the largest region, so that it must be sane
        const int last = std::max(65536, mesh.num_elements()) - 1;
        in.require_range("mesh/regions", mesh.regions, 0, last, "0 … " + std::to_string(last));
    }
    if (in.has("mesh/region_names")) mesh.region_names = read_names(in);
    if (in.has("mesh/filled")) {
        mesh.filled = in.rows_of_elements<double>("mesh/filled", mesh.num_elements());
        // fractions are computed, so 1 may have become a little more
        in.require_range("mesh/filled", mesh.filled, 0.0, 1.0 + 1e-6, "0 … 1");
    }
    if (in.has("mesh/hanging/vertices")) mesh.hanging = read_hanging(in, mesh.vertices.size());
    return mesh;
}

void add_embedding(ArchiveWriter& writer, const Embedding& embedding) {
    writer.add<int>("embedding/start", embedding.start());
    writer.add<int>("embedding/vertices", embedding.vertices());
    writer.add<double>("embedding/weights", embedding.weights());
}

Embedding read_embedding(const Archive& archive, int num_vertices, const std::string& name) {
    const ChunkReader in(archive, name);
    auto start = in.rows<int>("embedding/start", 1);
    auto vertices = in.rows<int>("embedding/vertices", 1);
    auto weights = in.rows<double>("embedding/weights", 1);
    try {
        return {num_vertices, std::move(start), std::move(vertices), std::move(weights)};
    } catch (const InputError& error) {
        // the embedding checks itself but does not know the file
        throw InputError(name, error.what());
    }
}

void add_semi_regular_mesh(ArchiveWriter& writer, const SemiRegularMesh& mesh) {
    const std::uint64_t n = mesh.mesh.vertices.size(), m = mesh.triangles.front().size();
    writer.add<double>("semi_regular/vertices", {mesh.mesh.vertices.front().data(), 3 * n}, {n, 3});
    writer.add<int>("semi_regular/num_vertices", mesh.num_vertices);
    writer.add<int>("semi_regular/triangles", {mesh.triangles.front().front().data(), 3 * m},
                    {m, 3});
}

SemiRegularMesh read_semi_regular_mesh(const Archive& archive, const std::string& name) {
    const ChunkReader in(archive, name);
    std::vector<Eigen::Vector3d> vertices = read_point_rows(in, "semi_regular/vertices");
    const auto num_vertices = in.rows<int>("semi_regular/num_vertices", 1);
    const auto corners = in.rows<int>("semi_regular/triangles", 3);
    const auto count = static_cast<int>(vertices.size());
    if (num_vertices.empty()) {
        in.fail("semi_regular/num_vertices, length", "0", "one number for each level");
    }
    in.require_range("semi_regular/num_vertices", num_vertices, 3, count,
                     "3 … " + std::to_string(count));

    // every round makes three edges inside each triangle, and a vertex on each of them in the next
    const std::size_t num_rounds = num_vertices.size() - 1;
    const double least = std::ldexp(
        corners.size(), 2 * static_cast<int>(std::min<std::size_t>(num_rounds, 100)) - 4);
    if (num_rounds >= 2 && least > count) {
        in.fail("semi_regular/num_vertices, length", std::to_string(num_vertices.size()),
                "fewer levels: " + std::to_string(count) + " vertices are too few for these");
    }

    // the connectivity of all levels follows from the coarsest one
    SurfaceMesh base;
    base.vertices.assign(vertices.begin(), vertices.begin() + num_vertices.front());
    in.require_indices("semi_regular/triangles", corners, base.vertices.size());
    for (std::size_t i = 0; i < corners.size(); i += 3) {
        base.triangles.push_back({corners[i], corners[i + 1], corners[i + 2]});
    }
    SemiRegularMesh mesh;
    try {
        mesh = midpoint_subdivide(base, static_cast<int>(num_vertices.size()) - 1);
    } catch (const InputError& error) {
        // subdivision does not know the file
        throw InputError(name, error.what());
    }
    if (mesh.num_vertices != num_vertices || mesh.mesh.num_vertices() != count) {
        in.fail("semi_regular/num_vertices, last", std::to_string(num_vertices.back()),
                std::to_string(mesh.mesh.num_vertices()) + " after " +
                    std::to_string(mesh.num_levels()) + " rounds, one for each vertex");
    }
    mesh.mesh.vertices = std::move(vertices);
    return mesh;
}

}  // namespace pliant
