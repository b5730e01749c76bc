#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "core/numbers.h"
#include "greens/wavelet_file.h"
#include "pliant/core/error.h"
#include "pliant/core/parallel.h"
#include "pliant/geometry/mesh_archive.h"
#include "pliant/greens/greens_model.h"
#include "pliant/greens/hierarchical_basis.h"

namespace pliant {
namespace {

using Eigen::Vector3d;

// Chunks of a model, docs/greens.md section "Models and files".
constexpr const char* kGreensKind = "greens-model";
constexpr const char* kGreensConstants = "greens/constants";  // see kConstantNames
constexpr const char* kGreensMethod = "greens/method";        // method, elements
constexpr const char* kGreensLayout = "greens/layout";        // nodes, block, body, read-outs
constexpr const char* kGreensColumns = "greens/columns";
constexpr const char* kGreensValues = "greens/values";
constexpr const char* kNodePositions = "nodes/positions";
constexpr const char* kNodeNormals = "nodes/normals";
constexpr const char* kNodeAreas = "nodes/areas";
constexpr const char* kNodeKinds = "nodes/kinds";
constexpr const char* kCornerNodes = "surface/corner_nodes";
constexpr const char* kVertexOffsets = "surface/vertex_offsets";
constexpr const char* kVertexNodes = "surface/vertex_nodes";
constexpr const char* kVertexWeights = "surface/vertex_weights";
constexpr const char* kReadoutKinds = "readouts/kinds";
constexpr const char* kReadoutPositions = "readouts/positions";

constexpr std::array<const char*, 5> kConstantNames{"length", "modulus", "poisson_ratio", "density",
                                                    "asymmetry"};

static_assert(sizeof(Vector3d) == 3 * sizeof(double));
static_assert(sizeof(NodeKind) == 1 && sizeof(std::array<int, 3>) == 3 * sizeof(int));

std::span<const double> flat_points(const std::vector<Vector3d>& points) {
    return {points.empty() ? nullptr : points.front().data(), 3 * points.size()};
}

/// Chunks with the sizes and ranges they must have.
class GreensReader {
public:
    GreensReader(const Archive& archive, const std::string& name)
        : archive_(archive), name_(name) {}

    template <class T>
    [[nodiscard]] std::span<const T> get(const char* chunk, std::size_t count) const {
        const std::span<const T> values = archive_.get<T>(chunk);
        if (values.size() != count)
            fail(std::string(chunk) + ", length", std::to_string(values.size()),
                 std::to_string(count));
        return values;
    }
    template <class T>
    [[nodiscard]] std::span<const T> get(const char* chunk) const {
        return archive_.get<T>(chunk);
    }
    /// Finite numbers, of magnitudes that sums and products survive.
    [[nodiscard]] std::span<const double> finite(const char* chunk, std::size_t count) const {
        const std::span<const double> values = get<double>(chunk, count);
        for (std::size_t i = 0; i < count; ++i)
            require(std::abs(values[i]) < 1e30, chunk, i, values[i], "a finite number");
        return values;
    }
    [[nodiscard]] std::vector<Vector3d> points(const char* chunk, std::size_t count) const {
        const std::span<const double> values = finite(chunk, 3 * count);
        std::vector<Vector3d> result;
        result.reserve(count);
        for (std::size_t i = 0; i < values.size(); i += 3)
            result.emplace_back(values[i], values[i + 1], values[i + 2]);
        return result;
    }
    [[nodiscard]] std::span<const int> indices(const char* chunk, std::size_t count,
                                               int limit) const {
        const std::span<const int> values = get<int>(chunk, count);
        for (std::size_t i = 0; i < count; ++i)
            require(values[i] >= 0 && values[i] < limit, chunk, i, values[i],
                    "0 to " + std::to_string(limit - 1));
        return values;
    }
    template <class T>
    void require(bool is_good, const char* chunk, std::size_t i, T value,
                 const std::string& expected) const {
        if (!is_good)
            fail(std::string(chunk) + "[" + std::to_string(i) + "]", std::to_string(value),
                 expected);
    }
    [[noreturn]] void fail(const std::string& field, const std::string& value,
                           const std::string& expected) const {
        throw InputError(name_, field, value, expected);
    }

private:
    const Archive& archive_;
    const std::string& name_;
};

void read_constants(const GreensReader& in, GreensModel& model) {
    const auto constants = in.finite(kGreensConstants, kConstantNames.size());
    const auto require = [&](std::size_t i, bool is_good, const char* expected) {
        if (!is_good) in.fail(kConstantNames[i], std::to_string(constants[i]), expected);
    };
    // from here on scales can be multiplied and divided by each other
    for (const std::size_t i : {0, 1, 3}) require(i, constants[i] > 1e-30, "a positive number");
    require(2, constants[2] > -1 && constants[2] <= 0.5, "-1 < value <= 0.5");
    require(4, constants[4] >= 0, "value >= 0");
    model.reference.length = constants[0];
    model.reference.modulus = constants[1];
    model.poisson_ratio = constants[2];
    model.density = constants[3];
    model.asymmetry = constants[4];

    const auto method = in.get<int>(kGreensMethod, 2);
    in.require(method[0] >= 0 && method[0] <= 2, kGreensMethod, 0, method[0], "0, 1 or 2");
    in.require(method[1] == 0 || method[1] == 1, kGreensMethod, 1, method[1], "0 or 1");
    model.method = static_cast<GreensMethod>(method[0]);
    model.elements = static_cast<BoundaryElements>(method[1]);
}

void read_nodes(const GreensReader& in, std::size_t num_nodes, GreensModel& model) {
    model.reference.positions = in.points(kNodePositions, num_nodes);
    model.normals = in.points(kNodeNormals, num_nodes);
    const auto areas = in.finite(kNodeAreas, num_nodes);
    for (std::size_t i = 0; i < num_nodes; ++i)
        in.require(areas[i] > 0, kNodeAreas, i, areas[i], "a positive number");
    model.reference.areas.assign(areas.begin(), areas.end());
    const auto kinds = in.get<std::uint8_t>(kNodeKinds, num_nodes);
    for (std::size_t i = 0; i < num_nodes; ++i) {
        in.require(kinds[i] <= 1, kNodeKinds, i, int{kinds[i]}, "0 for free or 1 for fixed");
        model.reference.kinds.push_back(static_cast<NodeKind>(kinds[i]));
    }
}

void read_greens_surface(const Archive& archive, const std::string& name, const GreensReader& in,
                         int num_nodes, GreensModel& model) {
    model.surface = read_semi_regular_mesh(archive, name);
    const auto num_triangles = at(model.surface.mesh.num_triangles());
    const auto corners = in.indices(kCornerNodes, 3 * num_triangles, num_nodes);
    for (std::size_t i = 0; i < corners.size(); i += 3)
        model.corner_nodes.push_back({corners[i], corners[i + 1], corners[i + 2]});

    const auto num_vertices = at(model.surface.mesh.num_vertices());
    const auto nodes = in.get<int>(kVertexNodes);
    (void)in.indices(kVertexNodes, nodes.size(), num_nodes);
    const auto weights = in.get<float>(kVertexWeights, nodes.size());
    for (std::size_t i = 0; i < weights.size(); ++i)
        in.require(std::abs(weights[i]) <= 1e3f, kVertexWeights, i, weights[i],
                   "a weight of magnitude 1");
    const auto offsets = in.get<int>(kVertexOffsets, num_vertices + 1);
    for (std::size_t v = 0; v <= num_vertices; ++v) {
        const int low = v == 0 ? 0 : offsets[v - 1];
        const bool is_end = v == 0 || v == num_vertices;
        const int end = v == 0 ? 0 : static_cast<int>(nodes.size());
        in.require(offsets[v] >= low && offsets[v] <= static_cast<int>(nodes.size()) &&
                       (!is_end || offsets[v] == end),
                   kVertexOffsets, v, offsets[v], "0 to the number of vertex nodes, ascending");
    }
    model.vertex_offsets.assign(offsets.begin(), offsets.end());
    model.vertex_nodes.assign(nodes.begin(), nodes.end());
    model.vertex_weights.assign(weights.begin(), weights.end());
}

/// Returns the number of their values.
int read_readouts(const GreensReader& in, GreensModel& model) {
    const auto kinds = in.get<std::uint8_t>(kReadoutKinds);
    const std::vector<Vector3d> positions = in.points(kReadoutPositions, kinds.size());
    int count = 0;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        in.require(kinds[i] <= 1, kReadoutKinds, i, int{kinds[i]},
                   "0 for a displacement or 1 for a stress");
        model.readouts.push_back({static_cast<ReadoutKind>(kinds[i]), positions[i]});
        count += model.readouts.back().num_values();
    }
    return count;
}

/// The first value that is not finite, or the number of values.
std::size_t first_not_finite(std::span<const float> values) {
    return parallel_reduce(
        values.size(), std::size_t{1} << 16, values.size(),
        [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i)
                if (!std::isfinite(values[i])) return i;
            return values.size();
        },
        [](std::size_t a, std::size_t b) { return std::min(a, b); });
}

/// Levels of columns by the highest of their ids; with more than one, the hierarchy that they are
/// of. Throws InputError for an id without a function.
int add_hierarchy(const GreensReader& in, std::span<const int> columns, GreensModel& model) {
    const int n = model.num_nodes(), num_levels = model.surface.num_levels();
    const int highest =
        columns.empty() ? 0 : std::max(0, *std::max_element(columns.begin(), columns.end()));
    if (highest < n || highest / n > num_levels || n != model.surface.mesh.num_vertices()) return 1;
    const auto basis =
        std::make_shared<const HierarchicalBasis>(model.surface, model.reference.kinds);
    for (std::size_t k = 0; k < columns.size(); ++k)
        in.require(basis->has(columns[k]), kGreensColumns, k, columns[k],
                   "a node, or a function of a coarser level");
    model.reference.hierarchy = basis;
    return highest / n + 1;
}

}  // namespace

void save_greens_model(const GreensModel& model, const std::filesystem::path& path,
                       const Provenance& provenance) {
    const ReferenceProblem& reference = model.reference;
    const auto* dense = dynamic_cast<const DenseGreensFunctions*>(reference.functions.get());
    const auto* wavelets = dynamic_cast<const WaveletGreensFunctions*>(reference.functions.get());
    if (dense == nullptr && wavelets == nullptr)
        throw InputError(path.string(), "only dense and wavelet Green's functions can be saved");
    const GreensLayout& layout = dense != nullptr ? dense->layout() : wavelets->layout();
    const double constants[] = {reference.length, reference.modulus, model.poisson_ratio,
                                model.density, model.asymmetry};
    const int method[] = {static_cast<int>(model.method), static_cast<int>(model.elements)};
    const int sizes[] = {layout.num_nodes, layout.block, layout.num_body_columns,
                         layout.num_readouts};
    std::vector<std::uint8_t> readout_kinds;
    std::vector<Vector3d> readout_positions;
    for (const GreensReadout& readout : model.readouts) {
        readout_kinds.push_back(static_cast<std::uint8_t>(readout.kind));
        readout_positions.push_back(readout.position);
    }
    const std::uint64_t n = reference.positions.size();

    ArchiveWriter writer(kGreensKind);
    for (const auto& [key, value] : provenance) writer.set_provenance(key, value);
    writer.add<double>(kGreensConstants, constants);
    writer.add<int>(kGreensMethod, method);
    add_semi_regular_mesh(writer, model.surface);
    writer.add<int>(kCornerNodes,
                    {model.corner_nodes.empty() ? nullptr : model.corner_nodes.front().data(),
                     3 * model.corner_nodes.size()},
                    {model.corner_nodes.size(), 3});
    writer.add<int>(kVertexOffsets, model.vertex_offsets);
    writer.add<int>(kVertexNodes, model.vertex_nodes);
    writer.add<float>(kVertexWeights, model.vertex_weights);
    writer.add(kNodePositions, flat_points(reference.positions), {n, 3});
    writer.add(kNodeNormals, flat_points(model.normals), {n, 3});
    writer.add<double>(kNodeAreas, reference.areas);
    writer.add<std::uint8_t>(kNodeKinds,
                             {reinterpret_cast<const std::uint8_t*>(reference.kinds.data()), n});
    writer.add<std::uint8_t>(kReadoutKinds, readout_kinds);
    writer.add(kReadoutPositions, flat_points(readout_positions), {readout_positions.size(), 3});
    writer.add<int>(kGreensLayout, sizes);
    writer.add<int>(kGreensColumns, layout.columns);
    std::optional<WaveletChunks> chunks;
    if (wavelets != nullptr)
        chunks.emplace(*wavelets).add_to(writer);
    else
        writer.add(kGreensValues, dense->values(), {dense->num_scalar_columns(), dense->stride()});
    writer.save(path);
}

GreensModel greens_model_from_archive(const Archive& archive, const std::string& name) {
    archive.require_kind(kGreensKind);
    const GreensReader in(archive, name);
    GreensModel model;
    read_constants(in, model);

    const auto sizes = in.get<int>(kGreensLayout, 4);
    // every node has a position in the file, so that it bounds their number
    const auto num_positions = in.get<double>(kNodePositions).size() / 3;
    if (sizes[0] < 1 || at(sizes[0]) != num_positions)
        in.fail("number of nodes", std::to_string(sizes[0]),
                std::to_string(num_positions) + ", one for each position");
    if (sizes[1] != 3) in.fail("block", std::to_string(sizes[1]), "3");
    if (sizes[2] != 0 && sizes[2] != 3)
        in.fail("number of body columns", std::to_string(sizes[2]), "0, or 3, one for each axis");
    read_nodes(in, num_positions, model);
    read_greens_surface(archive, name, in, sizes[0], model);
    const int num_readouts = read_readouts(in, model);
    if (sizes[3] != num_readouts)
        in.fail("number of values of read-outs", std::to_string(sizes[3]),
                std::to_string(num_readouts));

    const auto columns = in.get<int>(kGreensColumns);
    GreensLayout layout{sizes[0], sizes[1], {columns.begin(), columns.end()},
                        sizes[2], sizes[3], add_hierarchy(in, columns, model)};
    try {
        if (has_wavelet_chunks(archive)) {
            model.reference.functions = read_wavelet_chunks(archive, model, std::move(layout));
            return model;
        }
    } catch (const InputError& error) {
        // those of the archive name the file already
        if (!error.file().empty()) throw;
        throw InputError(name, error.what());
    }
    const auto values = in.get<float>(kGreensValues);
    if (const std::size_t bad = first_not_finite(values); bad < values.size())
        in.require(false, kGreensValues, bad, values[bad], "a finite number");
    try {
        model.reference.functions = std::make_shared<const DenseGreensFunctions>(
            std::move(layout), values, std::make_shared<const Archive>(archive));
    } catch (const InputError& error) {
        throw InputError(name, error.what());
    }
    return model;
}

GreensModel load_greens_model(const std::filesystem::path& path) {
    return greens_model_from_archive(Archive::verified(path), path.string());
}

}  // namespace pliant
