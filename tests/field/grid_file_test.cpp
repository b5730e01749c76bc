#include "input_error.h"
#include "pliant/core/archive.h"
#include "pliant/core/error.h"
#include "pliant/field/distance_grid.h"
#include "tests/core/temporary_directory.h"
#include "tests/field/sampled_grid.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>

namespace pliant {
namespace {

using test::input_error;
using ::testing::HasSubstr;

DistanceGrid small_dense() {
    GridFrame frame = grid_test::frame_of(24);
    frame.cells = {24, 16, 32};
    return grid_test::sample_dense(frame, grid_test::ball(frame.box().center(), 3 * frame.cell),
                                   5 * frame.cell);
}
DistanceGrid small_sparse() {
    const DistanceGrid dense = small_dense();
    return DistanceGrid::sparse(dense, dense.frame().cell);
}

template <class T>
bool same_bits(std::span<const T> a, std::span<const T> b) {
    return std::ranges::equal(std::as_bytes(a), std::as_bytes(b));
}

TEST(GridFile, RoundTripsEveryBitInPlace) {
    for (const DistanceGrid& grid : {small_dense(), small_sparse()}) {
        const test::TemporaryDirectory folder;
        const std::filesystem::path path = folder / "grid.pliant";
        grid.save(path, {{"input", "ball"}});
        const DistanceGrid loaded = DistanceGrid::load(path);
        const GridArrays &a = grid.arrays(), &b = loaded.arrays();
        EXPECT_EQ(a.storage, b.storage);
        EXPECT_EQ(a.frame.low, b.frame.low);
        EXPECT_EQ(a.frame.cell, b.frame.cell);
        EXPECT_EQ(a.frame.cells, b.frame.cells);
        EXPECT_TRUE(same_bits(a.coarse, b.coarse));
        EXPECT_TRUE(same_bits(a.brick_of_block, b.brick_of_block));
        EXPECT_TRUE(same_bits(a.bricks, b.bricks));
        EXPECT_EQ(a.boundary, b.boundary);
        EXPECT_EQ(a.margin.near, b.margin.near);
        EXPECT_EQ(a.margin.far, b.margin.far);
        EXPECT_EQ(a.margin.band, b.margin.band);

        const Archive archive(path);
        archive.verify();
        EXPECT_EQ(archive.kind(), "distance-field");
        EXPECT_EQ(archive.provenance().at("input"), "ball");
        // a view of the mapped file
        const DistanceGrid view = DistanceGrid::from_archive(archive, "grid");
        EXPECT_EQ(view.arrays().coarse.data(), archive.get<float>("field/coarse").data());

        grid_test::Points points = grid_test::random_points(grid.bounds(), 100, 1);
        points.ask_samples(grid);
        const std::vector<float> distances = points.distance;
        points.ask_samples(loaded);
        EXPECT_EQ(distances, points.distance);
    }
}

TEST(GridFile, LoadedGridsOutliveTheArchive) {
    const test::TemporaryDirectory folder;
    const std::filesystem::path path = folder / "grid.pliant";
    small_sparse().save(path);
    const auto grid = [&] {
        const Archive archive(path);
        return DistanceGrid::from_archive(archive, "grid");
    }();
    std::filesystem::remove(path);
    EXPECT_LT(grid.distance(grid.bounds().center()), 0);
}

/// Chunks of a grid that can be changed before they are saved.
struct Chunks {
    explicit Chunks(const DistanceGrid& grid) {
        const GridArrays& a = grid.arrays();
        frame = {a.frame.low.x(), a.frame.low.y(), a.frame.low.z(), a.frame.cell};
        cells = {a.frame.cells[0], a.frame.cells[1], a.frame.cells[2]};
        bounds = {a.boundary, a.margin.near, a.margin.far, a.margin.band};
        coarse.assign(a.coarse.begin(), a.coarse.end());
        brick_of_block.assign(a.brick_of_block.begin(), a.brick_of_block.end());
        bricks.assign(a.bricks.begin(), a.bricks.end());
        const auto extent = [](int n) { return static_cast<std::uint64_t>(n); };
        coarse_shape = {extent(cells[2] / 8 + 1), extent(cells[1] / 8 + 1),
                        extent(cells[0] / 8 + 1)};
        block_shape = {extent(cells[2] / 8), extent(cells[1] / 8), extent(cells[0] / 8)};
        brick_shape = {bricks.size() / kBrickFloats, kBrickFloats};
    }
    std::vector<double> frame;
    std::vector<int> cells, brick_of_block;
    std::vector<float> bounds, coarse, bricks;
    std::vector<std::uint64_t> coarse_shape, block_shape, brick_shape;
    std::string kind = "distance-field";

    [[nodiscard]] std::string message() const {
        const test::TemporaryDirectory folder;
        const std::filesystem::path path = folder / "changed.pliant";
        ArchiveWriter writer(kind);
        writer.add<double>("field/frame", frame);
        writer.add<int>("field/cells", cells);
        writer.add<float>("field/bounds", bounds);
        writer.add<float>("field/coarse", coarse, coarse_shape);
        writer.add<int>("field/brick_of_block", brick_of_block, block_shape);
        if (!bricks.empty()) writer.add<float>("field/bricks", bricks, brick_shape);
        writer.save(path);
        return input_error([&] { static_cast<void>(DistanceGrid::load(path)); });
    }
};

std::string changed(const std::function<void(Chunks&)>& change) {
    Chunks chunks(small_sparse());
    change(chunks);
    return chunks.message();
}

TEST(GridFile, RefusesWhatDoesNotFitTogether) {
    constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
    EXPECT_EQ(changed([](Chunks&) {}), "");
    EXPECT_THAT(changed([](Chunks& c) { c.kind = "volume-mesh"; }), HasSubstr("distance-field"));
    EXPECT_THAT(changed([](Chunks& c) { c.frame.pop_back(); }),
                HasSubstr("field/frame, shape = [3] (expected [4])"));
    EXPECT_THAT(changed([](Chunks& c) { c.frame[3] = -1; }), HasSubstr("frame.cell = -1"));
    EXPECT_THAT(changed([](Chunks& c) { c.frame[0] = double{kNaN}; }), HasSubstr("frame.low"));
    EXPECT_THAT(changed([](Chunks& c) { c.cells[0] = -24; }), HasSubstr("field/cells = -24"));
    EXPECT_THAT(changed([](Chunks& c) { c.cells[2] = 2147483640; }),
                HasSubstr("field/cells = 2147483640"));
    EXPECT_THAT(changed([](Chunks& c) { c.cells[1] = 24; }),
                HasSubstr("field/coarse, shape = [5, 3, 4] (expected [5, 4, 4])"));
    EXPECT_THAT(changed([](Chunks& c) { c.bounds[0] = kNaN; }), HasSubstr("boundary = nan"));
    EXPECT_THAT(changed([](Chunks& c) { c.bounds[1] = kNaN; }), HasSubstr("margin"));
    EXPECT_THAT(changed([](Chunks& c) { c.coarse[7] = kNaN; }),
                HasSubstr("changed.pliant: coarse[7] = nan (expected a finite distance)"));
    EXPECT_THAT(changed([](Chunks& c) { c.bricks[736 + 3] = -kNaN; }), HasSubstr("bricks[739]"));
    EXPECT_THAT(changed([](Chunks& c) { c.brick_of_block[3] = 1000; }),
                HasSubstr("brick_of_block[3] = 1000 (expected -1 … "));
    EXPECT_THAT(changed([](Chunks& c) { c.brick_shape = {c.bricks.size()}; }),
                HasSubstr("field/bricks, shape"));
    EXPECT_THAT(changed([](Chunks& c) { c.block_shape = {c.brick_of_block.size()}; }),
                HasSubstr("field/brick_of_block, shape = [24] (expected [4, 2, 3])"));
    EXPECT_THAT(changed([](Chunks& c) { c.bricks.clear(); }), HasSubstr("field/bricks"));
    EXPECT_THAT(input_error([] { static_cast<void>(DistanceGrid::load("no-such-file.pliant")); }),
                HasSubstr("no-such-file.pliant"));
}

TEST(GridFile, DamagedFilesAreRefusedOrLookedUpSafely) {
    const test::TemporaryDirectory folder;
    const std::filesystem::path path = folder / "damaged.pliant";
    small_sparse().save(path);
    const std::string whole = test::read_text(path);
    const auto load = [](const std::string& text) {
        std::vector<std::byte> bytes(text.size());
        std::memcpy(bytes.data(), text.data(), text.size());
        const DistanceGrid grid =
            DistanceGrid::from_archive(Archive::from_bytes(bytes, "damaged"), "damaged");
        grid_test::Points points = grid_test::random_points(grid.bounds(), 50, 2);
        points.ask_samples(grid);
    };
    std::mt19937 random(11);
    // cut off anywhere
    for (int trial = 0; trial < 100; ++trial)
        EXPECT_NE(input_error([&] { load(whole.substr(0, random() % whole.size())); }), "");
    // bytes changed anywhere, mostly in the small chunks in front
    int num_refused = 0;
    for (int trial = 0; trial < 2000; ++trial) {
        std::string text = whole;
        const std::size_t reach = trial % 2 == 0 ? 2048 : text.size();
        for (int i = 0; i < 4; ++i)
            text[random() % std::min(reach, text.size())] = static_cast<char>(random());
        num_refused += !input_error([&] { load(text); }).empty();
    }
    EXPECT_GT(num_refused, 300);
}

}  // namespace
}  // namespace pliant
