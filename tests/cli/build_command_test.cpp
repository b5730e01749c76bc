#include "cli/command_line.h"

#include <fstream>

namespace cli_test {
namespace {

/// A small build of the beam with a cache of its own.
class BuildCommand : public CommandLine {
protected:
    [[nodiscard]] std::string build(const std::string& options,
                                    const std::string& surface = "beam") const {
        return "build " + surface + " --mesh voxel --resolution 20 --modes 5 --rank 12 --cache " +
               path("cache") + " --progress none -o " + path("beam.pliant") + " " + options;
    }
    [[nodiscard]] std::filesystem::path cached(const std::string& stage) const {
        for (const auto& entry : std::filesystem::directory_iterator(folder_ / "cache"))
            if (entry.path().filename().string().starts_with("stage-" + stage)) return entry.path();
        return {};
    }
};

/// The line of a report that begins with a word.
std::string line_of(const Output& output, const std::string& word) {
    std::istringstream lines(output.text);
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with(word)) return line;
    return {};
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

constexpr const char* kHeld = "--material rubber --fix \"x < 5 %\" ";

TEST_F(BuildCommand, PrintsAReportAndWritesAModel) {
    // 20 cm, which its weight bends little
    const Output made = pliant(build(std::string(kHeld) + "--size 0.2"));
    ASSERT_EQ(made.exit_code, 0) << made.text;
    EXPECT_TRUE(has(line_of(made, "beam "), "closed, 1 component")) << made.text;
    EXPECT_TRUE(has(line_of(made, "mesh"), "hexahedra, ")) << made.text;
    EXPECT_TRUE(has(line_of(made, "fixed"), "vertices")) << made.text;
    EXPECT_TRUE(has(line_of(made, "modes"), "5, ")) << made.text;
    EXPECT_TRUE(has(line_of(made, "modes"), " Hz")) << made.text;
    EXPECT_TRUE(has(line_of(made, "derivatives"), "15 ")) << made.text;
    EXPECT_TRUE(has(line_of(made, "basis"), "r = 12, captures ")) << made.text;
    EXPECT_TRUE(has(line_of(made, "polynomials"), "kB")) << made.text;
    EXPECT_TRUE(has(line_of(made, "errors"), "under its weight")) << made.text;
    EXPECT_TRUE(has(line_of(made, "its weight"), "smallest det F 0.9")) << made.text;
    EXPECT_TRUE(has(line_of(made, "beam.pliant"), "peak memory")) << made.text;
    EXPECT_TRUE(has(line_of(made, "Suggested step"), "meant for deflections up to")) << made.text;

    const Output seen = pliant("inspect " + path("beam.pliant"));
    EXPECT_EQ(seen.exit_code, 0) << seen.text;
    EXPECT_TRUE(contains(seen, "basis        r = 12 of 5 modes")) << seen.text;
    EXPECT_TRUE(contains(seen, "material     st-venant-kirchhoff, E = 2e+06 Pa")) << seen.text;
    EXPECT_TRUE(contains(seen, "polynomials/0/lambda")) << seen.text;
    EXPECT_TRUE(contains(seen, "input          beam")) << seen.text;
    EXPECT_FALSE(contains(seen, "DAMAGED"));
}

TEST_F(BuildCommand, ElementsOfAnOwnVolumeMeshAreSaidToBeLost) {
    const std::string beam = path("beam.obj"), own = path("own.msh");
    ASSERT_EQ(pliant("shape beam -o " + beam).exit_code, 0);
    ASSERT_EQ(
        pliant("mesh " + beam + " --kind tet --resolution 10 --progress none -o " + own).exit_code,
        0);
    const Output made = pliant(build(kHeld, own));
    ASSERT_EQ(made.exit_code, 0) << made.text;
    const std::string note = line_of(made, "note");
    EXPECT_TRUE(has(note, "own.msh: its own ")) << made.text;
    EXPECT_TRUE(has(note, " tetrahedra are not used: its boundary was filled anew with "))
        << made.text;
    EXPECT_TRUE(has(note, "build_fem(load_volume(\"own.msh\"))")) << made.text;
    EXPECT_TRUE(contains(pliant(build(kHeld, own) + " --json"), R"("note":"own.msh: its own )"));
    EXPECT_TRUE(contains(pliant(build(kHeld) + " --json"), R"("note":"")"));
}

TEST_F(BuildCommand, HelpBeginsWithAnExample) {
    const Output help = pliant("build --help");
    EXPECT_EQ(help.exit_code, 0);
    EXPECT_TRUE(help.text.starts_with("Example:  pliant build heart ")) << help.text;
    for (const char* option : {"--material", "--fix", "--free", "--rank", "--cache"})
        EXPECT_TRUE(contains(help, option)) << option;
}

TEST_F(BuildCommand, JsonHoldsTheWholeReport) {
    const Output made = pliant(build(std::string(kHeld) + "--json"));
    ASSERT_EQ(made.exit_code, 0) << made.text;
    EXPECT_TRUE(made.text.starts_with("{\"output\":")) << made.text;
    for (const char* key :
         {"\"num_elements\":", "\"frequencies_hz\":[", "\"captured\":", "\"suggested_step_s\":",
          "\"expected_reach_m\":", "\"errors\":{\"weight\":", "\"own_weight\":{\"displacement_m\":",
          "\"hand_of_10_N\":{", "\"usable\":true", "\"warning\":\"\"",
          "{\"name\":\"modes\",\"seconds\":", "\"peak_bytes\":", "\"cached\":false"})
        EXPECT_TRUE(contains(made, key)) << key << made.text;
    const Output seen = pliant("inspect --json " + path("beam.pliant"));
    EXPECT_TRUE(contains(seen, "\"model\":{\"rank\":12,\"num_modes\":5")) << seen.text;
}

TEST_F(BuildCommand, SecondBuildWithAnotherRankSaysWhatItReuses) {
    ASSERT_EQ(pliant(build(kHeld)).exit_code, 0);
    const Output second = pliant(build(std::string(kHeld) + "--rank 8"));
    ASSERT_EQ(second.exit_code, 0) << second.text;
    for (const char* stage : {"mesh", "modes", "derivatives"})
        EXPECT_TRUE(line_of(second, stage).ends_with(" cached")) << second.text;
    for (const char* stage : {"basis", "polynomials"})
        EXPECT_TRUE(line_of(second, stage).ends_with(" s")) << second.text;
    EXPECT_TRUE(has(line_of(second, "basis"), "r = 8"));
    const Output third = pliant(build(std::string(kHeld) + "--rank 8 --no-cache"));
    EXPECT_TRUE(line_of(third, "modes").ends_with(" s")) << third.text;

    const Output cleared = pliant("build --clear-cache --cache " + path("cache"));
    EXPECT_EQ(cleared.exit_code, 0);
    EXPECT_TRUE(contains(cleared, "removed 10 files")) << cleared.text;
}

TEST_F(BuildCommand, InterruptedBuildKeepsItsStagesAndGoesOn) {
    const std::string out = path("serpent.pliant"), cache = path("cache");
    const std::vector<std::string> words{
        "build",   "serpent", "--free",     "--resolution", "60", "--modes", "20",
        "--cache", cache,     "--progress", "json",         "-o", out};
    // at its first sign, long before its end
    const Output stopped = interrupted(words);
    EXPECT_EQ(stopped.exit_code, 130) << stopped.text;
    EXPECT_TRUE(contains(stopped, "interrupted; no file is half-written")) << stopped.text;
    EXPECT_FALSE(std::filesystem::exists(out));

    // between two stages of a small one: what came before is used
    ASSERT_EQ(pliant(build(kHeld)).exit_code, 0);
    for (const char* stage : {"derivatives", "basis", "polynomials"})
        std::filesystem::remove(cached(stage));
    const Output resumed = pliant(build(kHeld));
    EXPECT_TRUE(line_of(resumed, "modes").ends_with(" cached")) << resumed.text;
    EXPECT_TRUE(line_of(resumed, "derivatives").ends_with(" s")) << resumed.text;
}

TEST_F(BuildCommand, DamagedCacheFileIsComputedAgain) {
    ASSERT_EQ(pliant(build(kHeld)).exit_code, 0);
    for (const char* stage : {"basis", "polynomials"}) std::filesystem::remove(cached(stage));
    std::filesystem::resize_file(cached("modes"), 1000);
    const Output again = pliant(build(kHeld));
    EXPECT_EQ(again.exit_code, 0) << again.text;
    EXPECT_TRUE(line_of(again, "modes").ends_with(" s")) << again.text;
    EXPECT_TRUE(line_of(again, "derivatives").ends_with(" cached")) << again.text;
    EXPECT_EQ(pliant("inspect " + cached("modes").string()).exit_code, 0);
}

TEST_F(BuildCommand, FreeBodiesSeveralMaterialsAndLawsCanBeBuilt) {
    const Output free = pliant(build("--material tissue --free --storage int16"));
    EXPECT_EQ(free.exit_code, 0) << free.text;
    EXPECT_TRUE(has(line_of(free, "fixed"), "flies freely")) << free.text;
    const Output joined =
        pliant(build("--material wood --region \"steel=x > 60 %\" --fix \"x < 5 %\""));
    EXPECT_EQ(joined.exit_code, 0) << joined.text;
    EXPECT_TRUE(contains(pliant("inspect " + path("beam.pliant")), "anisotropic"));
    const Output direct = pliant(build(std::string(kHeld) + "--law neo-hookean"));
    EXPECT_EQ(direct.exit_code, 0) << direct.text;
    EXPECT_TRUE(has(line_of(direct, "polynomials"), "through the elements")) << direct.text;
    const Output custom = pliant(
        build("--material custom --young 3e5 --poisson 0.3 --density 900 --fix \"x < 5 %\""));
    EXPECT_EQ(custom.exit_code, 0) << custom.text;
    EXPECT_TRUE(
        contains(pliant("inspect " + path("beam.pliant")), "E = 3e+05 Pa, ν = 0.3, ρ = 900 kg/m³"));
}

TEST_F(BuildCommand, NothingHeldOffersAFreeBody) {
    EXPECT_FAILS_WITH(build(""),
                      "pliant build needs --fix \"z < 5 %\" to hold the lowest vertices, or --free "
                      "for a body that flies freely");
    const Output none = pliant(build("--fix \"z < -3\""));
    EXPECT_NE(none.exit_code, 0);
    EXPECT_TRUE(contains(none, "error: --fix \"z < -3\" selects no vertex; z runs from "))
        << none.text;
    EXPECT_TRUE(contains(none, "Or let the body fly freely (--free)")) << none.text;
    EXPECT_FAILS_WITH(build("--free --fix \"x < 5 %\""), "--fix and --free exclude each other");
    EXPECT_FAILS_WITH(build("--fix \"list 0\""), "rotation about");
}

TEST_F(BuildCommand, WrongNumbersNameTheirOption) {
    EXPECT_FAILS_WITH(build(std::string(kHeld) + "--rank 21"),
                      "--rank = 21 (expected 1 to 20, what 5 modes and their derivatives span");
    EXPECT_FAILS_WITH(build(std::string(kHeld) + "--modes 400"),
                      "a tenth of the unknowns: higher modes are artefacts of the mesh");
    EXPECT_FAILS_WITH(build(std::string(kHeld) + "--modes 400"), "error: --modes = 400");
    EXPECT_FAILS_WITH(build(std::string(kHeld) + "--poisson 0.62"),
                      "--poisson = 0.62 (expected -1 < value < 0.5)");
    EXPECT_FAILS_WITH(build(std::string(kHeld) + "--young -3"), "--young = -3");
    EXPECT_FAILS_WITH(build(std::string(kHeld) + "--density 0"), "--density = 0");
    EXPECT_FAILS_WITH(build("--material rubbr --free"), "did you mean 'rubber'?");
    EXPECT_FAILS_WITH(build("--material custom --free"), "--material custom needs --young");
    EXPECT_FAILS_WITH(build("--material wood --young 1e9 --free"), "--material custom");
    EXPECT_FAILS_WITH(build(std::string(kHeld) + "--mesh prism"),
                      "--mesh = prism (expected voxel, graded, tet or graded-tet)");
    EXPECT_FAILS_WITH(build(std::string(kHeld) + "--mesh tet --hollow"),
                      "--hollow works with voxel");
    EXPECT_FAILS_WITH(build(std::string(kHeld) + "--mesh tet --levels 2"),
                      "--levels goes with --mesh graded or graded-tet, not with tet; drop it");
    EXPECT_FAILS_WITH(build(std::string(kHeld) + "--growth 1"),
                      "--growth goes with --mesh graded or graded-tet, not with voxel; drop it");
    EXPECT_FAILS_WITH(build(std::string(kHeld) + "--law rubber"),
                      "--law = rubber (expected one of");
    EXPECT_FAILS_WITH(build(std::string(kHeld) + "--kind green"),
                      "--kind = green (expected reduced, field, pointshell, greens or particles)");
    EXPECT_FAILS_WITH(build(std::string(kHeld) + "--storage f8"), "float32 or int16");
    EXPECT_FAILS_WITH(build(std::string(kHeld) + "--region steel"), "MATERIAL=SELECTION");
    EXPECT_FAILS_WITH("build", "pliant build needs a surface");
    EXPECT_FAILS_WITH("build beam --free -o beam.obj", "a name ending in one of .pliant");
    EXPECT_FAILS_WITH(build("--free", path("none.obj")),
                      "there is no file or shape \"" + path("none.obj") + "\"");
    EXPECT_FAILS_WITH("build nothing", "there is no file or shape \"nothing\"");
    EXPECT_FAILS_WITH(
        build("--free", "nothing"),
        "there is no file or shape \"nothing\"; 'pliant shape list' names the shapes");
    EXPECT_FAILS_WITH(build("--free", "brigde"),
                      "there is no file or shape \"brigde\"; did you mean 'bridge'?");
    EXPECT_FAILS_WITH("build brigde --kind field -o " + path("f.pliant"), "did you mean 'bridge'?");
    // nothing of all that has written a model
    EXPECT_FALSE(std::filesystem::exists(path("beam.pliant")));
}

TEST_F(BuildCommand, MeshInSeveralPiecesIsNamedWithTheFile) {
    std::ofstream obj(path("two.obj"));
    for (int part = 0; part < 2; ++part)
        for (int i = 0; i < 8; ++i)
            obj << "v " << (part ? 1.4 : 0) + (i & 1 ? (part ? 0.1 : 1) : 0) << ' '
                << (i & 2 ? 0.1 : 0) << ' ' << (i & 4 ? 0.1 : 0) << '\n';
    for (int part = 0; part < 2; ++part)
        for (const auto& [a, b, c, d] : {std::array{0, 2, 3, 1},
                                         {4, 5, 7, 6},
                                         {0, 1, 5, 4},
                                         {2, 6, 7, 3},
                                         {0, 4, 6, 2},
                                         {1, 3, 7, 5}})
            obj << "f " << 8 * part + a + 1 << ' ' << 8 * part + b + 1 << ' ' << 8 * part + c + 1
                << ' ' << 8 * part + d + 1 << '\n';
    obj.close();
    const Output refused = pliant(build("--free", path("two.obj")));
    EXPECT_NE(refused.exit_code, 0);
    EXPECT_TRUE(contains(refused, "two.obj: the simulation mesh falls into 2 parts"))
        << refused.text;
    EXPECT_TRUE(contains(refused, "--keep-largest")) << refused.text;
    const Output kept = pliant(build("--free --keep-largest", path("two.obj")));
    EXPECT_EQ(kept.exit_code, 0) << kept.text;
}

TEST_F(BuildCommand, ModelOfAnotherMeshIsFoundOut) {
    ASSERT_EQ(pliant("shape beam --resolution 12 -o " + path("beam.obj")).exit_code, 0);
    ASSERT_EQ(pliant("shape spoon --resolution 12 -o " + path("spoon.obj")).exit_code, 0);
    ASSERT_EQ(pliant(build(std::string(kHeld) + "--size 2", path("beam.obj"))).exit_code, 0);
    const std::string inspect = "inspect " + path("beam.pliant") + " --of ";
    EXPECT_EQ(pliant(inspect + path("beam.obj")).exit_code, 0);
    EXPECT_FAILS_WITH(inspect + path("spoon.obj"), "the model was built from another surface");
}

}  // namespace
}  // namespace cli_test
