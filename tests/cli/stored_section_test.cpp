#include "apps/pliant/reproduce/stored_section.h"

#include "apps/pliant/reproduce/child_process.h"
#include "cli/command_line.h"

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <new>
#include <thread>

namespace pliant::reproduce {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

class StoredSections : public cli_test::CommandLine {
protected:
    [[nodiscard]] std::string part() const { return path("part.pliant"); }
};

StoredSection sample() {
    Section section("test", "A < B");
    Table table{"values", "Values", {{"value", "value"}, {"name", "name"}}};
    table.add({section.at_most("low", 0.1, 3), "α"});
    table.add({section.compared("nothing", std::nan(""), 1, 0.05), "β"});
    table.add({section.at_least("endless", kInfinity, 3), ""});
    section.text("Some words.");
    section.table(table);
    section.log("recording", "t,x\n0,1\n");
    return {std::move(section), 12.5, 1 << 20, "2026-11-18 06:00 UTC"};
}

TEST_F(StoredSections, ComeBackAsTheyWere) {
    const StoredSection before = sample();
    save_section(before, "a key", part());
    std::string why;
    const std::optional<StoredSection> after = load_section(part(), "a key", why);
    ASSERT_TRUE(after) << why;
    EXPECT_EQ(after->section.html(), before.section.html());
    EXPECT_EQ(after->section.json_lines(), before.section.json_lines());
    EXPECT_EQ(after->section.name(), "test");
    EXPECT_EQ(after->seconds, 12.5);
    EXPECT_EQ(after->peak_memory, 1 << 20);
    EXPECT_EQ(after->date, "2026-11-18 06:00 UTC");
    ASSERT_EQ(after->section.logs().size(), 1u);
    EXPECT_EQ(after->section.logs()[0].csv, "t,x\n0,1\n");
    const std::vector<Comparison>& comparisons = after->section.comparisons();
    ASSERT_EQ(comparisons.size(), 3u);
    EXPECT_EQ(comparisons[0].low, -kInfinity);
    EXPECT_EQ(comparisons[0].high, 3);
    EXPECT_TRUE(std::isnan(comparisons[1].measured));
    EXPECT_TRUE(comparisons[2].holds());
    EXPECT_EQ(after->section.tables()[0].rows[0][0].value, 0.1);
}

TEST_F(StoredSections, OfAnotherKeyAreNotUsed) {
    save_section(sample(), "a key", part());
    std::string why;
    EXPECT_FALSE(load_section(part(), "another key", why));
    EXPECT_EQ(why, "made by another build, with other options or on another machine");
    EXPECT_FALSE(load_section(path("none.pliant"), "a key", why));
    EXPECT_EQ(why, "");
}

TEST_F(StoredSections, DamagedInAnyPlaceAreNotUsed) {
    save_section(sample(), "a key", part());
    std::ifstream file(part(), std::ios::binary);
    const std::string whole{std::istreambuf_iterator<char>(file), {}};
    file.close();
    const auto is_used = [&](const std::string& bytes) {
        std::ofstream(part(), std::ios::binary) << bytes;
        std::string why;
        const bool is_there = load_section(part(), "a key", why).has_value();
        if (!is_there) EXPECT_FALSE(why.empty());
        return is_there;
    };
    ASSERT_TRUE(is_used(whole));
    for (std::size_t at = 0; at < whole.size(); at += 7) {
        std::string broken = whole;
        broken[at] = static_cast<char>(~broken[at]);
        EXPECT_FALSE(is_used(broken)) << at;
    }
    for (std::size_t size = 0; size < whole.size(); size += 97)
        EXPECT_FALSE(is_used(whole.substr(0, size))) << size;
    EXPECT_FALSE(is_used("not an archive"));
}

TEST_F(StoredSections, WorkInAChildFailsAlone) {
    const Progress progress;
    const std::string file = path("made");
    EXPECT_EQ(run_in_child(progress, [&] { std::ofstream(file) << "x"; }), "");
    EXPECT_TRUE(std::filesystem::exists(file));
    EXPECT_EQ(run_in_child(progress, [] { throw std::runtime_error("no equilibrium"); }),
              "no equilibrium");
    EXPECT_EQ(run_in_child(progress, [] { throw std::bad_alloc(); }), "out of memory");
    EXPECT_EQ(run_in_child(progress, [] { _exit(7); }), "ended with code 7");
    EXPECT_TRUE(run_in_child(progress, [] { raise(SIGKILL); }).starts_with("ended by signal 9"));
    EXPECT_THROW((void)run_in_child(progress, [] { throw Cancelled(); }), Cancelled);
}

TEST_F(StoredSections, CancellingReachesTheChild) {
    Progress progress;
    progress.cancel();
    EXPECT_THROW(
        (void)run_in_child(progress, [] { std::this_thread::sleep_for(std::chrono::hours(1)); }),
        Cancelled);
}

}  // namespace
}  // namespace pliant::reproduce
