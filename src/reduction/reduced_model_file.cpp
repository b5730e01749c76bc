#include "pliant/core/error.h"
#include "pliant/core/version.h"
#include "pliant/geometry/mesh_archive.h"
#include "reduction/material_chunks.h"
#include "reduction/reduced_model_data.h"

#include <algorithm>

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using Extents = std::vector<std::uint64_t>;

constexpr const char* kReducedModelKind = "reduced-model";

std::string shape_text(const Extents& shape) {
    std::string text = "[";
    for (const std::uint64_t extent : shape)
        text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
    return text + "]";
}

std::uint64_t extent(Eigen::Index count) { return static_cast<std::uint64_t>(count); }

/// Chunks of expected shape.
class Reader {
public:
    Reader(const Archive& archive, const std::string& name) : archive_(archive), name_(name) {}

    [[nodiscard]] bool has(const std::string& chunk) const { return archive_.has(chunk); }
    template <class T>
    [[nodiscard]] std::span<const T> get(const std::string& chunk, const Extents& shape) const {
        const std::span<const T> values = archive_.get<T>(chunk);
        if (archive_.info(chunk).shape != shape)
            throw InputError(name_, chunk + ", shape", shape_text(archive_.info(chunk).shape),
                             shape_text(shape));
        return values;
    }
    /// A list of any length, at most 2³¹ − 1.
    template <class T>
    [[nodiscard]] std::span<const T> list(const std::string& chunk) const {
        return get<T>(chunk, {rows(chunk, 1)});
    }
    /// The first extent of a chunk of so many dimensions.
    [[nodiscard]] std::uint64_t rows(const std::string& chunk, std::size_t dimensions) const {
        const Extents& shape = archive_.info(chunk).shape;
        if (shape.size() != dimensions || shape[0] > 2147483647u)
            throw InputError(name_, chunk + ", shape", shape_text(shape),
                             std::to_string(dimensions) + " extents, the first below 2147483648");
        return shape[0];
    }
    [[nodiscard]] VectorXd vector(const std::string& chunk, std::uint64_t size) const {
        const auto values = get<double>(chunk, {size});
        return Eigen::Map<const VectorXd>(values.data(), static_cast<Eigen::Index>(size));
    }
    /// `count` matrices, each by rows.
    [[nodiscard]] std::vector<MatrixXd> matrices(const std::string& chunk, std::uint64_t count,
                                                 int rows, int cols) const {
        const auto values = get<double>(chunk, {count, extent(rows), extent(cols)});
        using ByRows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
        std::vector<MatrixXd> all;
        for (std::uint64_t i = 0; i < count; ++i)
            all.emplace_back(Eigen::Map<const ByRows>(
                values.data() + i * extent(rows) * extent(cols), rows, cols));
        return all;
    }

private:
    const Archive& archive_;
    const std::string& name_;
};

/// `count` matrices cut to their first columns (and rows, if square), by rows.
std::vector<double> flattened(const std::vector<MatrixXd>& matrices, int rows, int cols) {
    std::vector<double> values;
    for (const MatrixXd& m : matrices)
        for (int i = 0; i < rows; ++i)
            for (int j = 0; j < cols; ++j) values.push_back(m(i, j));
    return values;
}

std::string group_chunk(std::size_t group, const char* part) {
    return "polynomials/" + std::to_string(group) + "/" + part;
}

/// The first `size` of every `r` entries.
template <class T>
std::vector<T> cut_rows(std::span<const T> rows, int r, int size) {
    std::vector<T> cut;
    cut.reserve(rows.size() / static_cast<std::size_t>(r) * static_cast<std::size_t>(size));
    for (auto row = rows.begin(); row != rows.end(); row += r)
        cut.insert(cut.end(), row, row + size);
    return cut;
}

std::vector<MatrixXd> as_matrices(const std::array<VectorXd, 9>& vectors) {
    std::vector<MatrixXd> all;
    all.reserve(vectors.size());
    for (const VectorXd& v : vectors) all.emplace_back(v.transpose());
    return all;
}

InertiaBlocks read_inertia(const Reader& in, int rank) {
    InertiaBlocks inertia;
    const VectorXd rigid = in.vector("inertia/rigid", 13);
    inertia.mass = rigid[0];
    inertia.centre = rigid.segment<3>(1);
    inertia.second_moment = Eigen::Map<const Eigen::Matrix3d>(rigid.data() + 4);
    const auto b = in.matrices("inertia/b", 9, 1, rank);
    const auto B = in.matrices("inertia/B", 9, rank, rank);
    for (std::size_t k = 0; k < 9; ++k) {
        inertia.b[k] = b[k].transpose();
        inertia.B[k] = B[k];
    }
    return inertia;
}

SurfaceShapes read_shapes(const Archive& archive, const Reader& in, std::uint64_t num_vertices,
                          std::uint64_t num_triangles, int rank) {
    SurfaceArrays arrays;
    arrays.r = rank;
    arrays.rest = in.get<float>("shapes/rest", {num_vertices, 3});
    arrays.triangles = in.get<int>("surface/triangles", {num_triangles, 3});
    const Extents shape{num_vertices, 3, extent(rank)};
    if (in.has("shapes/scales")) {
        arrays.storage = ShapeStorage::Int16;
        arrays.rows16 = in.get<std::uint16_t>("shapes/rows", shape);
        arrays.scales = in.get<float>("shapes/scales", {extent(rank)});
    } else {
        arrays.rows32 = in.get<float>("shapes/rows", shape);
    }
    return {arrays, std::make_shared<const Archive>(archive)};
}

}  // namespace

ReducedModel ReducedModel::load(const std::filesystem::path& path) {
    return from_archive(Archive::verified(path), path.string());
}

ReducedModel ReducedModel::from_archive(const Archive& archive, std::string name) {
    archive.require_kind(kReducedModelKind);
    const auto data = std::make_shared<Data>();
    data->name = std::move(name);
    data->provenance = archive.provenance();
    data->archive = archive;
    const Reader in(archive, data->name);
    ReducedModelParts& p = data->parts;

    // sizes
    const std::uint64_t n = in.rows("mesh/vertices", 2), m = in.rows("mesh/elements", 2);
    const std::uint64_t r = in.rows("basis/U", 2);
    if (r < 1 || r > static_cast<std::uint64_t>(SurfaceShapes::kMaxSize) || n < 1 || m < 1)
        throw InputError(data->name, "rank", std::to_string(r),
                         "1 to " + std::to_string(SurfaceShapes::kMaxSize) +
                             ", of a mesh with vertices and elements");
    data->rank = static_cast<int>(r);
    data->num_vertices = static_cast<int>(n);
    data->num_elements = static_cast<int>(m);
    data->U = in.get<double>("basis/U", {r, 3 * n}).data();

    // what is small
    p.materials = read_materials(archive, data->name);
    const auto num_groups = static_cast<std::uint64_t>(p.materials.size());
    p.eigenvalues = in.vector("modes/eigenvalues", in.rows("modes/eigenvalues", 1));
    p.basis.singular_values =
        in.vector("basis/singular_values", in.rows("basis/singular_values", 1));
    const auto fixed = in.list<int>("fixed_vertices");
    p.fixed_vertices.assign(fixed.begin(), fixed.end());
    p.unit_masses = in.matrices("mass/unit", num_groups, data->rank, data->rank);
    p.unit_weights = in.matrices("weight/unit", num_groups, 3, data->rank);
    if (in.has("inertia/rigid")) p.inertia = read_inertia(in, data->rank);
    p.expected_reach = in.vector("model/expected_reach", 1)[0];
    // files of earlier versions hold plain elements
    p.elements = in.has("model/elements") && in.get<int>("model/elements", {1})[0] == 1
                     ? ElementFormulation::Accurate
                     : ElementFormulation::Plain;
    p.input_hash = in.get<std::uint64_t>("model/input_hash", {1})[0];

    // what is large is looked at when it is used
    const auto count = static_cast<std::uint64_t>(num_quartic(data->rank));
    for (std::size_t g = 0; g < p.materials.size() && in.has(group_chunk(0, "lambda")); ++g) {
        Data::Group& group = data->groups.emplace_back();
        group.of_lambda = in.get<double>(group_chunk(g, "lambda"), {count}).data();
        if (!p.materials[g].anisotropy)
            group.of_mu = in.get<double>(group_chunk(g, "mu"), {count}).data();
        if (in.has(group_chunk(g, "plane")))
            group.of_plane = in.get<double>(group_chunk(g, "plane"), {count}).data();
    }
    const std::uint64_t num_points = in.rows("surface/vertices", 2);
    data->num_surface_vertices = static_cast<int>(num_points);
    data->check();
    try {
        data->shapes =
            read_shapes(archive, in, num_points, in.rows("surface/triangles", 2), data->rank);
    } catch (const InputError& error) {
        if (!error.file().empty()) throw;
        throw InputError(data->name, error.what());
    }
    return ReducedModel(std::shared_ptr<const Data>(data));
}

VolumeMesh ReducedModel::mesh() const {
    return data_->archive ? read_volume_mesh(*data_->archive, data_->name) : data_->parts.mesh;
}

SurfaceMesh ReducedModel::surface() const {
    if (!data_->archive) return data_->parts.surface;
    const Reader in(*data_->archive, data_->name);
    const auto n = static_cast<std::uint64_t>(data_->num_surface_vertices);
    const auto x = in.get<double>("surface/vertices", {n, 3});
    SurfaceMesh surface;
    for (std::size_t i = 0; i < x.size(); i += 3)
        surface.vertices.emplace_back(x[i], x[i + 1], x[i + 2]);
    const std::span<const int> corners = data_->shapes->arrays().triangles;
    for (std::size_t t = 0; t < corners.size(); t += 3)
        surface.triangles.push_back({corners[t], corners[t + 1], corners[t + 2]});
    return surface;
}

Embedding ReducedModel::embedding() const {
    if (!data_->archive) return *data_->parts.embedding;
    Embedding embedding = read_embedding(*data_->archive, data_->num_vertices, data_->name);
    if (embedding.num_points() != data_->num_surface_vertices)
        throw InputError(
            data_->name, "embedding/start, points", std::to_string(embedding.num_points()),
            std::to_string(data_->num_surface_vertices) + ", the vertices of the surface");
    return embedding;
}

SurfaceShapes ReducedModel::shapes() const { return data_->shapes->truncated(rank_); }

void ReducedModel::save(const std::filesystem::path& path, const Provenance& provenance) const {
    const ReducedModelParts& p = data_->parts;
    const auto r = extent(rank_), n = static_cast<std::uint64_t>(num_vertices());
    const auto num_groups = static_cast<std::uint64_t>(materials().size());
    ArchiveWriter writer(kReducedModelKind);
    for (const auto& [key, value] : data_->provenance) writer.set_provenance(key, value);
    for (const auto& [key, value] : provenance) writer.set_provenance(key, value);
    writer.set_provenance("version", kVersion);

    // what follows must live until the file is written
    const VolumeMesh volume = mesh();
    const VolumeMeshChunks mesh_chunks = add_volume_mesh(writer, volume);
    const Embedding carried = embedding();
    add_embedding(writer, carried);
    const SurfaceMesh skin = surface();
    const auto num_points = static_cast<std::uint64_t>(skin.num_vertices());
    const double* coordinates = num_points == 0 ? nullptr : skin.vertices.front().data();
    writer.add<double>("surface/vertices", {coordinates, 3 * num_points}, {num_points, 3});
    const SurfaceArrays& arrays = data_->shapes->arrays();
    writer.add<int>("surface/triangles", arrays.triangles,
                    {static_cast<std::uint64_t>(skin.num_triangles()), 3});

    // the surface in the subspace
    writer.add<float>("shapes/rest", arrays.rest, {num_points, 3});
    const std::vector<float> rows32 = cut_rows(arrays.rows32, arrays.r, rank_);
    const std::vector<std::uint16_t> rows16 = cut_rows(arrays.rows16, arrays.r, rank_);
    if (arrays.storage == ShapeStorage::Float32) {
        writer.add<float>("shapes/rows", rows32, {num_points, 3, r});
    } else {
        writer.add<std::uint16_t>("shapes/rows", rows16, {num_points, 3, r});
        writer.add<float>("shapes/scales", arrays.scales.first(static_cast<std::size_t>(r)));
    }

    // basis, modes and materials
    writer.add<double>("basis/U", {data_->U, static_cast<std::size_t>(3 * n * r)}, {r, 3 * n});
    const auto as_span = [](const VectorXd& v) {
        return std::span<const double>(v.data(), static_cast<std::size_t>(v.size()));
    };
    writer.add<double>("basis/singular_values", as_span(p.basis.singular_values));
    writer.add<double>("modes/eigenvalues", as_span(p.eigenvalues));
    writer.add<int>("fixed_vertices", p.fixed_vertices);
    const MaterialChunks material_chunks = add_materials(writer, materials());

    // projections
    const auto count = static_cast<std::size_t>(num_quartic(rank_));
    for (std::size_t g = 0; g < data_->groups.size(); ++g) {
        writer.add<double>(group_chunk(g, "lambda"), {data_->groups[g].of_lambda, count});
        if (data_->groups[g].of_mu)
            writer.add<double>(group_chunk(g, "mu"), {data_->groups[g].of_mu, count});
        if (data_->groups[g].of_plane)
            writer.add<double>(group_chunk(g, "plane"), {data_->groups[g].of_plane, count});
    }
    const std::vector<double> masses = flattened(p.unit_masses, rank_, rank_);
    const std::vector<double> weights = flattened(p.unit_weights, 3, rank_);
    writer.add<double>("mass/unit", masses, {num_groups, r, r});
    writer.add<double>("weight/unit", weights, {num_groups, 3, r});
    std::vector<double> rigid, b, B;
    if (is_free()) {
        const InertiaBlocks blocks = inertia();
        rigid = {blocks.mass, blocks.centre.x(), blocks.centre.y(), blocks.centre.z()};
        rigid.insert(rigid.end(), blocks.second_moment.data(), blocks.second_moment.data() + 9);
        b = flattened(as_matrices(blocks.b), 1, rank_);
        B = flattened({blocks.B.begin(), blocks.B.end()}, rank_, rank_);
        writer.add<double>("inertia/rigid", rigid);
        writer.add<double>("inertia/b", b, {9, 1, r});
        writer.add<double>("inertia/B", B, {9, r, r});
    }
    const std::array<double, 1> reach{p.expected_reach};
    const std::array<std::uint64_t, 1> hash{p.input_hash};
    const std::array<int, 1> formulation{elements() == ElementFormulation::Accurate ? 1 : 0};
    writer.add<int>("model/elements", formulation);
    writer.add<double>("model/expected_reach", reach);
    writer.add<std::uint64_t>("model/input_hash", hash);
    writer.save(path);
}

}  // namespace pliant
