#include "reduction/build_cache.h"

#include "core/temporary_directory.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>

namespace pliant {
namespace {

using std::chrono::hours;

void save(BuildCache& cache, const std::string& stage, std::uint64_t key) {
    const std::vector<int> values(1000, 7);
    ArchiveWriter writer("cache-" + stage);
    writer.add<int>("values", values);
    cache.save(stage, key, [&](const std::filesystem::path& path) { writer.save(path); });
}

TEST(BuildCache, FilesUsedLeastRecentlyGoFirst) {
    const test::TemporaryDirectory folder;
    BuildCache cache(folder / "cache", 10000);  // two files of some 4.5 kB
    save(cache, "a", 1);
    save(cache, "b", 2);
    const auto now = std::filesystem::file_time_type::clock::now();
    for (const auto& entry : std::filesystem::directory_iterator(folder / "cache"))
        std::filesystem::last_write_time(entry, now - hours(2));
    EXPECT_TRUE(cache.find("a", 1));  // used: now the newest
    save(cache, "c", 3);
    EXPECT_TRUE(cache.find("a", 1));
    EXPECT_FALSE(cache.find("b", 2));
    EXPECT_TRUE(cache.find("c", 3));
    EXPECT_FALSE(cache.find("a", 3));
    EXPECT_EQ(cache.problem(), "");
}

TEST(BuildCache, WithoutAFolderNothingIsKept) {
    BuildCache cache("", 10000);
    save(cache, "a", 1);
    EXPECT_FALSE(cache.find("a", 1));
    EXPECT_EQ(cache.problem(), "");
}

TEST(BuildCache, APipeInTheCacheIsReplacedByTheResult) {
    const test::TemporaryDirectory folder;
    BuildCache cache(folder / "cache", 10000);
    std::filesystem::create_directories(folder / "cache");
    ASSERT_EQ(mkfifo(cache.path("a", 1).c_str(), 0600), 0);
    std::filesystem::create_symlink("/dev/full", cache.path("b", 2));
    EXPECT_FALSE(cache.find("a", 1));
    save(cache, "a", 1);  // would wait for ever for somebody who reads it
    save(cache, "b", 2);
    EXPECT_TRUE(cache.find("a", 1));
    EXPECT_TRUE(cache.find("b", 2));
    EXPECT_EQ(cache.problem(), "");
    std::filesystem::create_directories(cache.path("c", 3) / "full");
    save(cache, "c", 3);
    EXPECT_NE(cache.problem().find("it is a directory"), std::string::npos) << cache.problem();
}

TEST(BuildCache, KeysTellNeighbouringValuesApart) {
    const auto two = [](const std::string& a, const std::string& b) {
        return CacheKey().add(a).add(b).hash();
    };
    EXPECT_NE(two("ab", "c"), two("a", "bc"));
    EXPECT_EQ(two("ab", "c"), two("ab", "c"));
    EXPECT_NE(CacheKey().add(1.0).hash(), CacheKey().add(1.0000000000000002).hash());
}

}  // namespace
}  // namespace pliant
