#include "contact/tree_samples.h"
#include "core/temporary_directory.h"
#include "input_error.h"
#include "reduction/force_samples.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>

namespace pliant {
namespace {

using test::bar_shell;
using test::carried_tree;
using test::input_error;
using test::sphere_shell;

PointTree bar_tree() { return carried_tree(bar_shell(300, 3), test::bar_model()); }

void expect_equal(const PointTree& a, const PointTree& b) {
    ASSERT_EQ(a.num_nodes(), b.num_nodes());
    ASSERT_EQ(a.num_points(), b.num_points());
    ASSERT_EQ(a.rank(), b.rank());
    ASSERT_EQ(a.row_stride(), b.row_stride());
    const std::size_t row = sizeof(float) * static_cast<std::size_t>(a.row_stride());
    const auto num_nodes = static_cast<std::size_t>(a.num_nodes()),
               num_points = static_cast<std::size_t>(a.num_points());
    EXPECT_EQ(std::memcmp(a.row(0), b.row(0), num_nodes * row), 0);
    EXPECT_EQ(std::memcmp(a.normal_row(0), b.normal_row(0), num_points * row), 0);
    EXPECT_EQ(std::memcmp(a.nodes().data(), b.nodes().data(), num_nodes * sizeof(PointTree::Node)),
              0);
    for (int level = 0; level <= a.num_levels(); ++level)
        EXPECT_EQ(a.level_start(level), b.level_start(level));
    EXPECT_EQ(a.shell().points, b.shell().points);
    EXPECT_EQ(a.shell().normals, b.shell().normals);
    EXPECT_EQ(a.shell().level_start, b.shell().level_start);
    EXPECT_EQ(a.shell().spacing, b.shell().spacing);
    EXPECT_EQ(a.shell().offset, b.shell().offset);
    EXPECT_EQ(a.centre(), b.centre());
    EXPECT_EQ(a.radius(), b.radius());
    EXPECT_TRUE(std::ranges::equal(a.reach(), b.reach()));
    EXPECT_EQ(a.memory(), b.memory());
}

TEST(PointTreeFile, ARoundTripKeepsEveryBit) {
    const test::TemporaryDirectory folder;
    Pointshell sphere = sphere_shell(500, 4);
    sphere.spacing = 0.125;
    sphere.offset = 0.25;
    for (const PointTree& tree : {PointTree(sphere), PointTree(sphere_shell(3, 1)), bar_tree()}) {
        tree.save(folder / "tree.pliant", {{"input", "bar"}});
        const PointTree loaded = PointTree::load(folder / "tree.pliant");
        expect_equal(loaded, tree);
        EXPECT_EQ(Archive(folder / "tree.pliant").provenance().at("input"), "bar");
        // what was loaded can be saved, and outlives its file
        loaded.save(folder / "again.pliant");
        const PointTree again = PointTree::load(folder / "again.pliant");
        std::filesystem::remove(folder / "again.pliant");
        expect_equal(again, tree);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(again.row(0)) % 64, 0u);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(again.normal_row(0)) % 64, 0u);
    }
}

TEST(PointTreeFile, OtherKindsAreRefused) {
    const test::TemporaryDirectory folder;
    save_pointshell(sphere_shell(10, 1), folder / "shell.pliant");
    const std::string message =
        input_error([&] { (void)PointTree::load(folder / "shell.pliant"); });
    EXPECT_NE(message.find("point-tree"), std::string::npos) << message;
    EXPECT_NE(input_error([&] { (void)PointTree::load(folder / "missing.pliant"); }), "");
}

/// The chunks of a file, to be changed.
struct Chunks {
    std::vector<float> points, normals, b, rows, normal_rows;
    std::vector<int> level_start, rank, nodes;
    std::vector<double> lengths;
    std::uint64_t stride = 0;
    std::string left_out;

    explicit Chunks(const Archive& archive) {
        const auto read = [&](auto& values, const char* name) {
            const auto all = archive.get<typename std::decay_t<decltype(values)>::value_type>(name);
            values.assign(all.begin(), all.end());
        };
        read(points, "shell/points");
        read(normals, "shell/normals");
        read(level_start, "shell/level_start");
        read(lengths, "shell/lengths");
        read(rank, "tree/rank");
        read(nodes, "tree/nodes");
        read(b, "tree/b");
        read(rows, "tree/rows");
        read(normal_rows, "tree/normal_rows");
        stride = archive.info("tree/rows").shape[1];
    }
    void save(const std::filesystem::path& path) const {
        ArchiveWriter writer("point-tree");
        const auto add = [&](const auto& values, const char* name, std::uint64_t columns) {
            using Value = typename std::decay_t<decltype(values)>::value_type;
            if (name == left_out) return;
            std::vector<std::uint64_t> shape{values.size()};
            if (columns > 0) shape = {values.size() / columns, columns};
            writer.add<Value>(name, values, shape);
        };
        add(points, "shell/points", 3);
        add(normals, "shell/normals", 3);
        add(level_start, "shell/level_start", 0);
        add(lengths, "shell/lengths", 0);
        add(rank, "tree/rank", 0);
        add(nodes, "tree/nodes", 3);
        add(b, "tree/b", 1);
        add(rows, "tree/rows", stride);
        add(normal_rows, "tree/normal_rows", stride);
        writer.save(path);
    }
};

TEST(PointTreeFile, DamagedTreesAreRefusedByName) {
    const test::TemporaryDirectory folder;
    const PointTree tree = bar_tree();
    tree.save(folder / "tree.pliant");
    const Chunks whole{Archive(folder / "tree.pliant")};
    const auto message = [&](const std::function<void(Chunks&)>& damage) {
        Chunks chunks = whole;
        damage(chunks);
        chunks.save(folder / "damaged.pliant");
        return input_error([&] { (void)PointTree::load(folder / "damaged.pliant"); });
    };
    const auto expect = [&](const std::function<void(Chunks&)>& damage, const std::string& part) {
        const std::string text = message(damage);
        EXPECT_NE(text.find("damaged.pliant: "), std::string::npos) << text;
        EXPECT_NE(text.find(part), std::string::npos) << text;
    };
    ASSERT_EQ(message([](Chunks&) {}), "");
    const float nan = std::nanf("");

    // shell
    expect([](Chunks& c) { c.points.resize(30); }, "shell/normals, shape");
    expect([](Chunks& c) { c.level_start = {0, 100, 50, 300}; }, "level_start");
    expect([](Chunks& c) { c.level_start.clear(); }, "levels");
    expect([&](Chunks& c) { c.points[5] = nan; }, "point 1 is not finite");
    expect([](Chunks& c) { c.normals[5] = 3; }, "normal 1");
    expect([](Chunks& c) { c.lengths = {1}; }, "shell/lengths, length = 1");
    expect([](Chunks& c) { c.left_out = "shell/points"; }, "shell/points");

    // sizes
    expect([](Chunks& c) { c.rank[0] = -1; }, "tree/rank = -1");
    expect([](Chunks& c) { c.rank[0] = 2000000000; }, "tree/rank = 2000000000");
    expect([](Chunks& c) { c.rank = {10, 10}; }, "tree/rank = not one number");
    expect([](Chunks& c) { c.rank[0] = 15; }, "tree/rows, shape = [393, 48] (expected [393, 64])");
    expect([](Chunks& c) { c.nodes.resize(30); }, "tree/nodes, shape");
    expect([](Chunks& c) { c.b.resize(30); }, "tree/b, shape");
    expect([](Chunks& c) { c.rows.resize(480); }, "tree/rows, shape");
    expect([](Chunks& c) { c.normal_rows.resize(480); }, "tree/normal_rows, shape");
    expect([](Chunks& c) { c.left_out = "tree/rows"; }, "tree/rows");

    // links: 18 nodes, 75, 300
    expect([](Chunks& c) { c.nodes[0] = 18; }, "tree/nodes[0].point = 18 (expected 0 … 17)");
    expect([](Chunks& c) { c.nodes[0] = -1; }, "tree/nodes[0].point = -1");
    expect([](Chunks& c) { c.nodes[0] = 1; }, "the copy of its parent");
    expect([](Chunks& c) { c.nodes[3 * 392] = c.nodes[3 * 391]; }, "each point once on a level");
    expect([](Chunks& c) { c.nodes[1] = 19; }, "tree/nodes[0], first child and children = 19, ");
    expect([](Chunks& c) { c.nodes[1] = 0; }, "tree/nodes[0], first child");
    expect([](Chunks& c) { c.nodes[2] = 0; }, "tree/nodes[0], first child and children = 18, 0");
    expect([](Chunks& c) { c.nodes[2] = 2147483647; }, "tree/nodes[0], first child");
    expect([](Chunks& c) { c.nodes[3 * 17 + 2] += 1; }, "tree/nodes[17], first child");
    expect([](Chunks& c) { c.nodes[3 * 392 + 2] = 1; }, "tree/nodes[392], first child");
    expect([](Chunks& c) { c.nodes[3 * 392 + 1] = 7; }, "tree/nodes[392], first child");

    // numbers
    expect([&](Chunks& c) { c.rows[48 * 7 + 2] = nan; }, "tree/rows[7, 2] = nan");
    expect([](Chunks& c) { c.rows[48 * 7 + 2] = 1e20F; }, "tree/rows[7, 2]");
    expect([](Chunks& c) { c.rows[48 * 7 + 3] = -1; }, "tree/rows[7, 3] = -1");
    expect([](Chunks& c) { c.rows[48 * 7 + 40] += 1; }, "tree/rows[7] = another vector");
    expect([&](Chunks& c) { c.normal_rows[48 * 299] = nan; }, "tree/normal_rows[299, 0] = nan");
    expect([](Chunks& c) { c.normal_rows[48 * 299 + 41] += 1; }, "tree/normal_rows[299]");
    expect([&](Chunks& c) { c.b[5] = nan; }, "tree/b[5] = nan");
    expect([](Chunks& c) { c.b[5] = -2; }, "tree/b[5] = -2");
}

TEST(PointTreeFile, ChildrenThatDoNotFillTheNextLevelAreRefused) {
    const test::TemporaryDirectory folder;
    PointTree(sphere_shell(40, 2)).save(folder / "tree.pliant");
    Chunks chunks{Archive(folder / "tree.pliant")};
    // the last of ten parents gives one child away
    ASSERT_GT(chunks.nodes[3 * 9 + 2], 1);
    --chunks.nodes[3 * 9 + 2];
    chunks.save(folder / "damaged.pliant");
    EXPECT_NE(input_error([&] {
                  (void)PointTree::load(folder / "damaged.pliant");
              }).find("tree/nodes, children of level 0 = 39 (expected 40)"),
              std::string::npos);
}

TEST(PointTreeFile, RandomDamageIsRefusedOrHarmless) {
    const test::TemporaryDirectory folder;
    bar_tree().save(folder / "tree.pliant");
    std::vector<std::byte> bytes(std::filesystem::file_size(folder / "tree.pliant"));
    std::ifstream(folder / "tree.pliant", std::ios::binary)
        .read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    std::mt19937 random(1);
    int num_refused = 0;
    for (int sample = 0; sample < 600; ++sample) {
        std::vector<std::byte> damaged = bytes;
        // in the header and table, in the links, or anywhere
        const std::size_t range = sample % 2 == 0 ? 4096 : damaged.size();
        for (int k = 0; k < 3; ++k)
            damaged[random() % range] = static_cast<std::byte>(random() % 256);
        if (sample % 7 == 0) damaged.resize(random() % damaged.size());
        try {
            const PointTree tree =
                PointTree::from_archive(Archive::from_bytes(damaged, "damaged"), "damaged");
            // all that a traversal follows
            const std::vector<double> q(static_cast<std::size_t>(tree.rank()), 0.1);
            std::size_t num_leaves = 0;
            for (int n = 0; n < tree.level_start(1); ++n)
                num_leaves += test::leaves_below(tree, n).size();
            EXPECT_EQ(num_leaves, static_cast<std::size_t>(tree.num_points()));
            for (int n = 0; n < tree.num_nodes(); ++n) {
                EXPECT_TRUE(tree.position(n, q).allFinite());
                EXPECT_GE(tree.sphere_radius(n, q), 0);
            }
            for (int p = 0; p < tree.num_points(); ++p) EXPECT_TRUE(tree.normal(p, q).allFinite());
        } catch (const InputError&) {
            ++num_refused;
        }
    }
    EXPECT_GT(num_refused, 100);
    EXPECT_LT(num_refused, 600);
}

}  // namespace
}  // namespace pliant
