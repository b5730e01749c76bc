#include "cli/command_line.h"

#include <fstream>

namespace cli_test {
namespace {

class ReproduceAll : public CommandLine {
protected:
    [[nodiscard]] std::string text(const std::string& name) const {
        std::ifstream file(path(name), std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    [[nodiscard]] Output run(const std::string& options) const {
        return pliant("reproduce all --progress none -o " + path("out") + " " + options);
    }
};

constexpr const char* kTwo = "--quick --only fem/compression --only fem/strain";

TEST_F(ReproduceAll, WritesPagesAndAnIndexOfWhatWasPublished) {
    const Output made = run(kTwo);
    ASSERT_EQ(made.exit_code, 0) << made.text;
    EXPECT_TRUE(contains(made, "index.html  2 experiments; published items: ")) << made.text;
    const std::string index = text("out/index.html"), page = text("out/fem.html");
    for (const char* part :
         {"<a href=\"fem.html#compression\">fem/compression</a>", "Zhuang 2000", "Ding 2020",
          "<span class=\"status matched\">matched</span>", "not run", "processor", "hash ",
          "pliant reproduce all --only wavelets/large", "Made with --quick",
          "<em>Our own case</em>", "<span class=\"status open\">missing</span>"})
        EXPECT_NE(index.find(part), std::string::npos) << part;
    // only these two have results
    EXPECT_EQ(index.find("<a href=\"contact.html"), std::string::npos);
    EXPECT_FALSE(std::filesystem::exists(path("out/contact.html")));
    EXPECT_NE(page.find("<a href=\"index.html\">"), std::string::npos);
    EXPECT_LT(page.find("<section id=\"strain\">"), page.find("<section id=\"compression\">"));
    for (const char* part : {"<script", "http", "src="})
        EXPECT_EQ(index.find(part), std::string::npos) << part;

    // but for the link, the page is that of the module
    const Output module =
        pliant("reproduce fem --quick --only compression --only strain --progress none -o " +
               path("alone.html"));
    ASSERT_EQ(module.exit_code, 0) << module.text;
    const std::string link = "<p><a href=\"index.html\">All published results</a></p>\n";
    ASSERT_NE(page.find(link), std::string::npos);
    std::string rest = page;
    rest.erase(rest.find(link), link.size());
    EXPECT_EQ(rest, text("alone.html"));
}

TEST_F(ReproduceAll, FinishedExperimentsAreNotRunAgain) {
    ASSERT_EQ(run(kTwo).exit_code, 0);
    const std::string page = text("out/fem.html");
    const auto written = std::filesystem::last_write_time(path("out/parts/fem-strain.pliant"));
    const Output again = run(kTwo);
    ASSERT_EQ(again.exit_code, 0) << again.text;
    EXPECT_TRUE(contains(again, "2 of ")) << again.text;
    EXPECT_TRUE(contains(again, " experiments are there already, 0 to do")) << again.text;
    EXPECT_EQ(std::filesystem::last_write_time(path("out/parts/fem-strain.pliant")), written);
    EXPECT_EQ(text("out/fem.html"), page);
    EXPECT_NE(text("out/index.html").find("2 results of earlier calls"), std::string::npos);
    // results of another size are not mixed in
    const Output other = run("--only fem/compression");
    ASSERT_EQ(other.exit_code, 0) << other.text;
    EXPECT_TRUE(contains(other, "2 results were made by another build, with other options"))
        << other.text;
    EXPECT_EQ(text("out/fem.html").find("<section id=\"strain\">"), std::string::npos);
}

TEST_F(ReproduceAll, DamagedPartsAreDoneAgain) {
    ASSERT_EQ(run(kTwo).exit_code, 0);
    const std::string part = path("out/parts/fem-compression.pliant"), page = text("out/fem.html");
    std::filesystem::resize_file(part, std::filesystem::file_size(part) / 2);
    const Output again = run(kTwo);
    ASSERT_EQ(again.exit_code, 0) << again.text;
    EXPECT_TRUE(contains(again, "fem-compression.pliant is damaged: fem/compression is done again"))
        << again.text;
    EXPECT_TRUE(contains(again, " experiments are there already, 1 to do")) << again.text;
    EXPECT_EQ(text("out/fem.html"), page);
}

TEST_F(ReproduceAll, InterruptedRunKeepsWhatIsDone) {
    ASSERT_EQ(run("--only fem/compression").exit_code, 0);
    const std::string index = text("out/index.html");
    const auto stop = [&](const std::string& folder) {
        return interrupted({"reproduce", "all", "--only", "fem/compression", "--only",
                            "fem/orderings", "--progress", "json", "-o", path(folder)});
    };
    const Output stopped = stop("out");
    EXPECT_EQ(stopped.exit_code, 130) << stopped.text;
    EXPECT_TRUE(contains(stopped, "0 experiments done, 1 left; the same command continues"))
        << stopped.text;
    EXPECT_EQ(text("out/index.html"), index);
    for (const auto& entry : std::filesystem::directory_iterator(path("out/parts")))
        EXPECT_EQ(entry.path().filename(), "fem-compression.pliant");
    EXPECT_TRUE(contains(run("--only fem/compression"), "already, 0 to do"));

    // the first word comes from the experiment under way
    const Output fresh = stop("fresh");
    EXPECT_EQ(fresh.exit_code, 130) << fresh.text;
    EXPECT_TRUE(contains(fresh, "the same command continues")) << fresh.text;
    EXPECT_FALSE(std::filesystem::exists(path("fresh/index.html")));
    EXPECT_FALSE(std::filesystem::exists(path("fresh/parts/fem-orderings.pliant")));
}

TEST_F(ReproduceAll, JsonHasOneLineForEachPublishedItem) {
    const Output made = run(std::string(kTwo) + " --json");
    ASSERT_EQ(made.exit_code, 0) << made.text;
    EXPECT_TRUE(
        contains(made,
                 "\"what\":\"Cantilever and twisted block, linear and quadratic strain\","
                 "\"published\":\"linear strain grows in volume and length, quadratic does "
                 "not\",\"ours\":\"28 of 28 numbers within tolerance\",\"status\":\"matched\"}"))
        << made.text;
    EXPECT_TRUE(contains(made, "\"experiments\":2,\"failed\":0,")) << made.text;
    EXPECT_FALSE(contains(made, "\"missing\":\"")) << made.text;
}

// The quickest of each page: what the catalogue expects to find in them is there.
TEST_F(ReproduceAll, CompareNumbersThatTheCatalogueNames) {
    const Output made = run(
        "--quick --json --only fem/strain --only fem/compression --only fem/impact --only "
        "fem/collision --only fem/bounce --only greens/masks --only greens/cost-ratios --only "
        "wavelets/patterns --only proxy/edges --only proxy/wedge --only proxy/failures --only "
        "proxy/drag --only proxy/tools --only proxy/fold --only haptics/pole --only contact/bumps "
        "--only reduction/materials");
    ASSERT_EQ(made.exit_code, 0) << made.text;
    EXPECT_FALSE(contains(made, "\"missing\":\"")) << made.text;
    EXPECT_FALSE(contains(made, "\"status\":\"differs\",\"reason\":\"\"")) << made.text;
}

TEST_F(ReproduceAll, WrongPlacesAndNamesAreRefusedBeforeAnythingRuns) {
    EXPECT_FAILS_WITH(
        "reproduce all --only fem/strian -o " + path("out"),
        "no experiment is called fem/strian; did you mean fem/strain?; with all, --only "
        "takes MODULE or MODULE/NAME, modules are fem, reduction, contact, haptics, "
        "greens, wavelets, proxy");
    EXPECT_FAILS_WITH("reproduce all -o " + path("page.html"),
                      "page.html (expected a folder: all writes several pages)");
    EXPECT_TRUE(std::filesystem::is_empty(folder_));
    std::ofstream(path("file")) << "in the way";
    EXPECT_FAILS_WITH("reproduce all -o " + path("file"), "file/parts: cannot be created");
    EXPECT_FAILS_WITH("reproduce all -o /proc/pliant", "/proc/pliant/parts: cannot be created");
}

}  // namespace
}  // namespace cli_test
