#include "pliant/contact/pointshell.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <random>

#include "core/temporary_directory.h"
#include "input_error.h"

namespace pliant {
namespace {

using test::TemporaryDirectory, test::input_error;
using testing::HasSubstr;

/// Random points of a unit sphere in three levels, or of two sheets a little apart.
Pointshell random_pointshell(int count, bool sheets = false) {
    std::mt19937_64 random(7);
    std::uniform_real_distribution<float> uniform(-1, 1);
    Pointshell shell;
    for (int i = 0; i < count; ++i) {
        Eigen::Vector3f x(uniform(random), uniform(random), uniform(random));
        Eigen::Vector3f n = -x.normalized();
        if (sheets) {
            x.z() = i % 2 == 0 ? 0.001f : 0.0f;
            n = {0, 0, i % 2 == 0 ? -1.0f : 1.0f};
        } else {
            x.normalize();
        }
        shell.points.push_back(x);
        shell.normals.push_back(n);
    }
    shell.level_start = {0, count / 20, count / 4, count};
    shell.spacing = 0.03;
    shell.offset = 0.002;
    return shell;
}

TEST(Pointshell, RoundTripKeepsEveryBit) {
    const TemporaryDirectory directory;
    const Pointshell shell = random_pointshell(500);
    save_pointshell(shell, directory / "s.pliant", {{"input", "sphere"}});
    const Pointshell copy = load_pointshell(directory / "s.pliant");
    EXPECT_EQ(copy.points, shell.points);
    EXPECT_EQ(copy.normals, shell.normals);
    EXPECT_EQ(copy.level_start, shell.level_start);
    EXPECT_EQ(copy.spacing, shell.spacing);
    EXPECT_EQ(copy.offset, shell.offset);
    const Archive archive(directory / "s.pliant");
    EXPECT_EQ(archive.kind(), "pointshell");
    EXPECT_EQ(archive.provenance().at("input"), "sphere");
}

TEST(Pointshell, DamagedFilesAreRefused) {
    const TemporaryDirectory directory;
    save_pointshell(random_pointshell(60), directory / "s.pliant");
    const std::string file = test::read_text(directory / "s.pliant");
    // a flipped bit anywhere is found, and so is a cut
    for (std::size_t at = 0; at < file.size(); at += 13) {
        std::string damaged = file;
        damaged[at] = static_cast<char>(damaged[at] ^ 16);
        test::write_text(directory / "d.pliant", damaged);
        EXPECT_THAT(input_error([&] { (void)load_pointshell(directory / "d.pliant"); }),
                    HasSubstr("d.pliant"))
            << "byte " << at;
    }
    for (std::size_t size = 0; size < file.size(); size += 101) {
        test::write_text(directory / "d.pliant", file.substr(0, size));
        EXPECT_NE(input_error([&] { (void)load_pointshell(directory / "d.pliant"); }), "")
            << size << " bytes";
    }
}

TEST(Pointshell, ForgedFilesAreRefusedByName) {
    const TemporaryDirectory directory;
    const std::vector<float> points(12, 0.5f);
    const std::vector<int> levels = {0, 4};
    const std::vector<double> lengths = {0.1, 0};
    const std::vector<float> units = {1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0};
    const auto complaint = [&](const std::string& kind, const std::vector<float>& x,
                               std::uint64_t columns, const std::vector<float>& n,
                               const std::vector<int>& start, const std::vector<double>& last) {
        ArchiveWriter writer(kind);
        writer.add<float>("shell/points", x, {x.size() / columns, columns});
        writer.add<float>("shell/normals", n, {n.size() / 3, 3});
        writer.add<int>("shell/level_start", start);
        writer.add<double>("shell/lengths", last);
        writer.save(directory / "f.pliant");
        return input_error([&] { (void)load_pointshell(directory / "f.pliant"); });
    };
    EXPECT_EQ(complaint("pointshell", points, 3, units, levels, lengths), "");
    EXPECT_THAT(complaint("volume-mesh", points, 3, units, levels, lengths),
                HasSubstr("pointshell"));
    EXPECT_THAT(complaint("pointshell", points, 4, units, levels, lengths),
                HasSubstr("shell/points, columns = 4 (expected 3)"));
    EXPECT_THAT(complaint("pointshell", points, 3, {1, 0, 0}, levels, lengths),
                HasSubstr("normals = 1 (expected 4, one for each point)"));
    EXPECT_THAT(complaint("pointshell", points, 3, units, {0, 3}, lengths),
                HasSubstr("do not cover its 4 points"));
    EXPECT_THAT(complaint("pointshell", points, 3, units, levels, {0.1}),
                HasSubstr("shell/lengths, length = 1 (expected 2)"));
    EXPECT_THAT(complaint("pointshell", points, 3, units, levels, {-1, 0}),
                HasSubstr("spacing = -1"));
}

TEST(Pointshell, CheckNamesWhatIsWrong) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const auto complaint = [](auto&& change) {
        Pointshell shell = random_pointshell(40);
        change(shell);
        return input_error([&] { check_pointshell(shell); });
    };
    EXPECT_EQ(complaint([](Pointshell&) {}), "");
    EXPECT_THAT(complaint([](Pointshell& s) { s = {}; }), HasSubstr("has no points"));
    EXPECT_THAT(complaint([](Pointshell& s) { s.level_start = {0}; }), HasSubstr("do not cover"));
    EXPECT_THAT(complaint([](Pointshell& s) {
                    s.level_start = {1, 40};
                }),
                HasSubstr("do not cover"));
    EXPECT_THAT(complaint([](Pointshell& s) {
                    s.level_start = {0, 9, 9, 40};
                }),
                HasSubstr("level_start[2] = 9 (expected more than 9"));
    EXPECT_THAT(complaint([&](Pointshell& s) { s.points[3].y() = nan; }),
                HasSubstr("point 3 is not finite"));
    EXPECT_THAT(complaint([&](Pointshell& s) { s.normals[5].z() = nan; }), HasSubstr("normal 5"));
    EXPECT_THAT(complaint([](Pointshell& s) { s.normals[6] *= 1.01f; }),
                HasSubstr("normal 6 = length 1.01"));
    EXPECT_THAT(complaint([](Pointshell& s) { s.offset = -1; }), HasSubstr("offset = -1"));
}

/// Every pair of points.
SpacingStatistics slow_statistics(const Pointshell& shell, int level) {
    const auto count =
        static_cast<std::size_t>(shell.level_start[static_cast<std::size_t>(level) + 1]);
    std::vector<double> nearest;
    for (std::size_t i = 0; i < count; ++i) {
        double best = std::numeric_limits<double>::infinity();
        for (std::size_t k = 0; k < count; ++k)
            if (k != i && shell.normals[i].dot(shell.normals[k]) >= 0)
                best = std::min(best, double{(shell.points[i] - shell.points[k]).norm()});
        if (std::isfinite(best)) nearest.push_back(best);
    }
    const Eigen::Map<const Eigen::ArrayXd> d(nearest.data(),
                                             static_cast<Eigen::Index>(nearest.size()));
    const double mean = d.mean();
    return {mean, d.minCoeff(), d.maxCoeff(), std::sqrt((d - mean).square().mean()) / mean};
}

TEST(SpacingStatistics, EqualThoseOfAllPairsOnEveryLevel) {
    for (const bool sheets : {false, true}) {
        const Pointshell shell = random_pointshell(1500, sheets);
        for (int level = 0; level < shell.num_levels(); ++level) {
            const SpacingStatistics fast = spacing_statistics(shell, level),
                                    slow = slow_statistics(shell, level);
            // single-precision distances
            EXPECT_NEAR(fast.mean, slow.mean, 1e-6);
            EXPECT_NEAR(fast.smallest, slow.smallest, 1e-6);
            EXPECT_NEAR(fast.largest, slow.largest, 1e-6);
            EXPECT_NEAR(fast.variation, slow.variation, 1e-5);
        }
    }
}

TEST(SpacingStatistics, PointsAloneOnTheirSideCountForNothing) {
    Pointshell shell;
    shell.points = {{0, 0, 0}, {0, 0, 1}};
    shell.normals = {{0, 0, 1}, {0, 0, -1}};
    shell.level_start = {0, 1, 2};
    for (const int level : {0, 1}) {
        EXPECT_EQ(spacing_statistics(shell, level).mean, 0);
        EXPECT_EQ(spacing_statistics(shell, level).variation, 0);
    }
    // copies of one point
    shell.points[1] = shell.points[0];
    shell.normals[1] = shell.normals[0];
    EXPECT_EQ(spacing_statistics(shell, 1).mean, 0);
    EXPECT_EQ(spacing_statistics(shell, 1).variation, 0);
}

TEST(SpacingStatistics, ALatticeHasNoVariation) {
    Pointshell shell;
    for (int i = 0; i < 400; ++i) {
        shell.points.emplace_back(0.25f * static_cast<float>(i % 20),
                                  0.25f * static_cast<float>(i / 20), 0.0f);
        shell.normals.emplace_back(0, 0, 1);
    }
    shell.level_start = {0, 400};
    const SpacingStatistics s = spacing_statistics(shell, 0);
    EXPECT_DOUBLE_EQ(s.mean, 0.25);
    EXPECT_EQ(s.variation, 0);
}

}  // namespace
}  // namespace pliant
