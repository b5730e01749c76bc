#include "pliant/core/error.h"
#include "pliant/field/distance_grid.h"

#include <algorithm>
#include <string>

namespace pliant {
namespace {

using Extents = std::vector<std::uint64_t>;

constexpr const char* kGridKind = "distance-field";
constexpr const char* kFrame = "field/frame";  // low x, y, z and cell [m]
constexpr const char* kCells = "field/cells";
constexpr const char* kBounds = "field/bounds";  // boundary, margin: near, far, band [m]
constexpr const char* kCoarse = "field/coarse";
constexpr const char* kBrickOfBlock = "field/brick_of_block";
constexpr const char* kBricks = "field/bricks";

std::string text(const Extents& shape) {
    std::string all = "[";
    for (const std::uint64_t extent : shape)
        all += (all.size() > 1 ? ", " : "") + std::to_string(extent);
    return all + "]";
}

/// Chunks of an archive with the shapes they must have.
class Reader {
public:
    Reader(const Archive& archive, const std::string& name) : archive_(archive), name_(name) {}

    template <class T>
    [[nodiscard]] std::span<const T> get(const char* chunk, const Extents& shape) const {
        const std::span<const T> values = archive_.get<T>(chunk);
        if (archive_.info(chunk).shape != shape)
            fail(std::string(chunk) + ", shape", text(archive_.info(chunk).shape), text(shape));
        return values;
    }
    /// Rows of a known width, as many as there are.
    [[nodiscard]] std::span<const float> rows(const char* chunk, std::uint64_t width) const {
        const std::span<const float> values = archive_.get<float>(chunk);
        const Extents& shape = archive_.info(chunk).shape;
        if (shape.size() != 2 || shape[1] != width)
            fail(std::string(chunk) + ", shape", text(shape), "[n, " + std::to_string(width) + "]");
        return values;
    }
    [[noreturn]] void fail(const std::string& field, const std::string& value,
                           const std::string& expected) const {
        throw InputError(name_, field, value, expected);
    }

private:
    const Archive& archive_;
    const std::string& name_;
};

/// Extents of an array over the grid, x last, with `extra` more than one for each `step` cells.
Extents extents(const std::array<int, 3>& cells, int step, int extra) {
    Extents shape;
    for (const int n : {cells[2], cells[1], cells[0]})
        shape.push_back(static_cast<std::uint64_t>(n / step + extra));
    return shape;
}

}  // namespace

DistanceGrid DistanceGrid::load(const std::filesystem::path& path) {
    return from_archive(Archive::verified(path), path.string());
}

DistanceGrid DistanceGrid::from_archive(const Archive& archive, const std::string& name) {
    archive.require_kind(kGridKind);
    const Reader in(archive, name);
    GridArrays a;
    const auto frame = in.get<double>(kFrame, {4});
    a.frame.low = {frame[0], frame[1], frame[2]};
    a.frame.cell = frame[3];
    const auto cells = in.get<std::int32_t>(kCells, {3});
    for (const int n : cells)
        if (n < 8 || n > kMaxGridCells || n % 8 != 0)
            in.fail(kCells, std::to_string(n),
                    "multiples of 8, 8 to " + std::to_string(kMaxGridCells));
    std::copy(cells.begin(), cells.end(), a.frame.cells.begin());
    const auto bounds = in.get<float>(kBounds, {4});
    a.boundary = bounds[0];
    a.margin = {bounds[1], bounds[2], bounds[3]};

    a.storage = archive.has(kBrickOfBlock) ? GridStorage::Sparse : GridStorage::Dense;
    const int step = a.storage == GridStorage::Sparse ? 8 : 1;
    a.coarse = in.get<float>(kCoarse, extents(a.frame.cells, step, 1));
    if (a.storage == GridStorage::Sparse) {
        a.brick_of_block = in.get<std::int32_t>(kBrickOfBlock, extents(a.frame.cells, 8, 0));
        a.bricks = in.rows(kBricks, kBrickFloats);
    }
    try {
        return {a, std::make_shared<const Archive>(archive)};
    } catch (const InputError& error) {
        throw InputError(name, error.what());
    }
}

void DistanceGrid::save(const std::filesystem::path& path, const Provenance& provenance) const {
    const GridArrays& a = arrays_;
    const double frame[] = {a.frame.low.x(), a.frame.low.y(), a.frame.low.z(), a.frame.cell};
    const float bounds[] = {a.boundary, a.margin.near, a.margin.far, a.margin.band};
    ArchiveWriter writer(kGridKind);
    for (const auto& [key, value] : provenance) writer.set_provenance(key, value);
    writer.add<double>(kFrame, frame);
    writer.add<std::int32_t>(kCells, a.frame.cells);
    writer.add<float>(kBounds, bounds);
    const int step = a.storage == GridStorage::Sparse ? 8 : 1;
    writer.add(kCoarse, a.coarse, extents(a.frame.cells, step, 1));
    if (a.storage == GridStorage::Sparse) {
        writer.add(kBrickOfBlock, a.brick_of_block, extents(a.frame.cells, 8, 0));
        writer.add(kBricks, a.bricks, {static_cast<std::uint64_t>(num_bricks()), kBrickFloats});
    }
    writer.save(path);
}

}  // namespace pliant
