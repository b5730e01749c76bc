#include "cli/command_line.h"

namespace cli_test {
namespace {

/// A small build of the nodule.
class BuildGreensCommand : public CommandLine {
protected:
    [[nodiscard]] std::string build(const std::string& options,
                                    const std::string& surface = "nodule") const {
        return "build " + surface + " --kind greens --size 0.08 --material tissue --cache " +
               path("cache") + " --progress none -o " + path("nodule.pliant") + " " + options;
    }
};

TEST_F(BuildGreensCommand, PrintsAReportAndInspectReadsTheFile) {
    const Output made = pliant(build("--levels 1 --fix \"z < 2 %\" --readout \"stress 0 0 0.03\""));
    ASSERT_EQ(made.exit_code, 0) << made.text;
    for (const char* text : {"nodule       34 vertices, 64 triangles", "linear boundary elements",
                             "assembly", "factorisation", "102 unknowns", "reciprocity  off by "})
        EXPECT_TRUE(contains(made, text)) << text << made.text;

    const Output seen = pliant("inspect " + path("nodule.pliant"));
    EXPECT_EQ(seen.exit_code, 0) << seen.text;
    for (const char* text :
         {"greens-model", "greens/values", "read-outs    1 point, 6 values",
          "material     E = 1e+04 Pa, ν = 0.45", "units        length 0.08 m, shear modulus 3448",
          "surface      34 vertices, 64 triangles, 1 round of subdivision",
          "input          nodule"})
        EXPECT_TRUE(contains(seen, text)) << text << seen.text;
    const Output again =
        pliant(build("--levels 1 --fix \"z < 2 %\" --readout \"stress 0 0 0.03\""));
    EXPECT_TRUE(contains(again, "cached")) << again.text;
    const Output json = pliant("inspect --json " + path("nodule.pliant"));
    EXPECT_TRUE(contains(json, "\"num_nodes\":34") || contains(json, "\"num_nodes\": 34"))
        << json.text;
}

TEST_F(BuildGreensCommand, CompressesAndTellsWhatIsLeft) {
    const Output made = pliant(
        build("--levels 2 --fix \"z < 2 %\" --wavelet lifted-linear --tolerance 0.1 --bits 16"));
    ASSERT_EQ(made.exit_code, 0) << made.text;
    const Output seen = pliant("inspect " + path("nodule.pliant"));
    EXPECT_EQ(seen.exit_code, 0) << seen.text;
    for (const char* text :
         {"wavelet/integers", "wavelet/nodes", "wavelets     lifted-linear, tolerance 0.1, 16 bits",
          "coefficients ", " blocks, compression ", "errors       RMS "})
        EXPECT_TRUE(contains(seen, text)) << text << seen.text;
    const Output json = pliant("inspect --json " + path("nodule.pliant"));
    EXPECT_TRUE(contains(json, "\"max_error\"")) << json.text;
}

TEST_F(BuildGreensCommand, TakesFiniteElementsAndConstantElements) {
    const Output finite =
        pliant(build("--method fem --resolution 6 --fix \"z < 10 %\" --support-columns"));
    ASSERT_EQ(finite.exit_code, 0) << finite.text;
    EXPECT_TRUE(contains(finite, "finite elements")) << finite.text;
    const Output constant = pliant(
        build("--levels 1 --elements constant --fix \"z < 10 %\" --contactable \"z > 90 %\""));
    ASSERT_EQ(constant.exit_code, 0) << constant.text;
    EXPECT_TRUE(contains(constant, "nodes        64,")) << constant.text;
}

TEST_F(BuildGreensCommand, SolvesIterativelyWhenAskedOrWhenMemoryIsShort) {
    const Output iterative =
        pliant(build("--levels 1 --solver iterative --residual 1e-5 --fix \"z < 5 %\""));
    ASSERT_EQ(iterative.exit_code, 0) << iterative.text;
    for (const char* text : {"preconditioner", "products a column, residuals up to"})
        EXPECT_TRUE(contains(iterative, text)) << text << iterative.text;
    const Output wavelet = pliant(
        build("--levels 1 --solver iterative --matrix wavelet --matrix-tolerance 0.005 --fix \"z < "
              "5 %\""));
    ASSERT_EQ(wavelet.exit_code, 0) << wavelet.text;
    EXPECT_TRUE(contains(wavelet, "products a column, residuals up to")) << wavelet.text;
    const Output refused = pliant(build("--levels 1 --memory 0.0001 --fix \"z < 5 %\" --no-cache"));
    EXPECT_NE(refused.exit_code, 0);
    EXPECT_TRUE(contains(refused, "may be used")) << refused.text;
}

TEST_F(BuildGreensCommand, ProbesAModelAndBuildsItFromTheProbes) {
    const std::string fix = "--levels 2 --fix \"z < 10 %\" ";
    const Output probed =
        pliant(build(fix + "--probe " + path("probes.csv") + " --noise 1e-5 --hidden 20"));
    ASSERT_EQ(probed.exit_code, 0) << probed.text;
    const Output made = pliant(build(fix + "--measured " + path("probes.csv")));
    ASSERT_EQ(made.exit_code, 0) << made.text;
    for (const char* text : {"method       measurement", "columns probed", "inferred",
                             "noise of 1e-05 m makes errors of up to"})
        EXPECT_TRUE(contains(made, text)) << text << made.text;
    const Output compressed =
        pliant(build(fix + "--wavelet lifted-linear --measured " + path("probes.csv")));
    ASSERT_EQ(compressed.exit_code, 0) << compressed.text;
    EXPECT_TRUE(contains(compressed, "lifted-linear")) << compressed.text;
    EXPECT_FALSE(contains(compressed, "with the base")) << compressed.text;
    const Output smaller = pliant(
        build(fix + "--wavelet lifted-linear --base-threshold --measured " + path("probes.csv")));
    ASSERT_EQ(smaller.exit_code, 0) << smaller.text;
    EXPECT_TRUE(contains(smaller, "with the base")) << smaller.text;
    const auto says = [&](const std::string& options, const std::string& sentence) {
        const Output output = pliant(build(options));
        EXPECT_NE(output.exit_code, 0);
        EXPECT_TRUE(contains(output, sentence)) << output.text;
    };
    says(fix + "--solver direct --measured x", "--solver is for models that are computed");
    says(fix + "--max-error 0.01 --measured " + path("probes.csv"), "too much noise: the columns");
    says("--levels 1 --fix \"z < 10 %\" --measured " + path("probes.csv"),
         "vertices = 130 (expected 34, as the surface has");
    says(fix + "--constraint-level 1 --measured x",
         "--constraint-level is for models that are computed");
    says(fix + "--method bem --measured x", "--method is for models that are computed");
    says(fix + "--noise 1", "--noise goes with --probe; add that or drop it");
    says(fix + "--max-error 1", "--max-error goes with --measured; add that or drop it");
}

TEST_F(BuildGreensCommand, TakesTheLevelsOfARemeshedSurface) {
    const std::string surface = path("kidney.ply"), levels = path("kidney-levels.pliant");
    ASSERT_EQ(pliant("shape kidney --resolution 32 -o " + surface).exit_code, 0);
    const Output made = pliant("mesh " + surface + " -o " + levels +
                               " --kind semiregular --base 24 --levels 2 --progress none");
    ASSERT_EQ(made.exit_code, 0) << made.text;
    for (const char* text : {"levels       24, 90, 354 vertices, 704 triangles",
                             "24 base vertices, genus 0", "0 triangles flipped"})
        EXPECT_TRUE(contains(made, text)) << text << made.text;
    EXPECT_FALSE(contains(made, "fold less")) << made.text;
    const std::string toy = path("toy.ply");
    ASSERT_EQ(pliant("shape toy --resolution 36 -o " + toy).exit_code, 0);
    const Output folded = pliant("mesh " + toy + " -o " + path("toy.pliant") +
                                 " --kind semiregular --base 12 --levels 2 --progress none");
    EXPECT_EQ(folded.exit_code, 0) << folded.text;
    EXPECT_FALSE(contains(folded, " 0 triangles flipped")) << folded.text;
    EXPECT_TRUE(contains(folded,
                         "note         more vertices in the base (--base) and fewer --levels "
                         "fold less"))
        << folded.text;
    const Output built = pliant(build("--levels 1 --fix \"x < 33 %\"", levels));
    ASSERT_EQ(built.exit_code, 0) << built.text;
    EXPECT_TRUE(contains(built, "90 vertices, 176 triangles")) << built.text;
    const Output fine = pliant(build("--levels 5 --fix \"x < 33 %\"", levels));
    EXPECT_TRUE(contains(fine, "--levels = 5 (expected at most 2, those of ")) << fine.text;
    // a model is no surface
    const Output again = pliant(build("--fix \"x < 33 %\"", path("nodule.pliant")));
    EXPECT_TRUE(contains(again, "is a greens-model; a surface is needed")) << again.text;
    // other options of the command and other surfaces
    const Output mixed =
        pliant("mesh " + surface + " -o " + levels + " --kind semiregular --resolution 9");
    EXPECT_TRUE(contains(mixed, "--resolution does not go with --kind semiregular")) << mixed.text;
    const Output plain = pliant(build("--levels 2 --fix \"x < 33 %\"", surface));
    EXPECT_TRUE(contains(plain, "--kind semiregular' gives it levels")) << plain.text;
}

TEST_F(BuildGreensCommand, HasColumnsOfTheLevelsThatAreAskedFor) {
    const std::string fix = "--levels 2 --fix \"z < 10 %\" ";
    const Output all = pliant(build(fix + "--constraint-level 1"));
    ASSERT_EQ(all.exit_code, 0) << all.text;
    EXPECT_TRUE(contains(all, "levels       1 to 2")) << all.text;
    const Output coarse = pliant(build(fix + "--constraint-level 0 --finest-constraint-level 1"));
    ASSERT_EQ(coarse.exit_code, 0) << coarse.text;
    EXPECT_TRUE(contains(coarse, "levels       0 to 1")) << coarse.text;
    const auto says = [&](const std::string& options, const std::string& sentence) {
        const Output output = pliant(build(fix + options));
        EXPECT_NE(output.exit_code, 0);
        EXPECT_TRUE(contains(output, sentence)) << output.text;
    };
    says("--constraint-level 3", "--constraint-level = 3 (expected ");
    says("--finest-constraint-level 1",
         "--finest-constraint-level goes with --constraint-level; add that or drop it");
    says("--constraint-level 2 --finest-constraint-level 1",
         "--finest-constraint-level = 1 (expected at least the constraint level, 2)");
    says("--constraint-level 1 --method fem", "linear boundary elements without creases");
}

TEST_F(BuildGreensCommand, ErrorsNameTheOption) {
    const auto says = [&](const std::string& options, const std::string& sentence) {
        const Output output = pliant(build(options));
        EXPECT_NE(output.exit_code, 0);
        EXPECT_TRUE(contains(output, sentence)) << output.text;
    };
    says("", "pliant build --kind greens needs --fix \"z < 5 %\"");
    says("--fix \"z < 2 %\" --solver fast", "--solver = fast (expected auto, direct or iterative)");
    says("--fix \"z < 2 %\" --method fem --solver iterative", "--solver is for --method bem");
    says("--fix \"z < 2 %\" --matrix sparse",
         "--matrix = sparse (expected hierarchical or wavelet)");
    says("--fix \"z < 2 %\" --matrix wavelet --elements constant",
         "--matrix = wavelet (expected hierarchical unless there is one node at each vertex");
    says("--fix \"z < 2 %\" --solver direct --matrix wavelet",
         "--matrix = wavelet (expected solver iterative or auto beside it; the direct one has no "
         "use for it)");
    says("--fix \"z < 2 %\" --solver direct --matrix-tolerance 0.01",
         "--matrix-tolerance = 0.01 (expected solver iterative or auto beside it");
    says("--fix \"z < 2 %\" --solver direct --residual 1e-5",
         "--residual = 1e-05 (expected solver iterative or auto beside it");
    says("--fix \"z < 2 %\" --elements constant --crease 30",
         "--crease is for --elements linear; drop one of them");
    says("--fix \"z < 2 %\" --poisson 0.7", "--poisson = 0.7 (expected -1 < value <= 0.5)");
    says("--fix \"z < 2 %\" --poisson 0.5 --method fem",
         "--poisson = 0.5 (expected value <= 0.48 for finite elements, which lock near 0.5; "
         "boundary elements take up to 0.5)");
    says("--fix \"list 0\"", "--fix = list 0 (expected three nodes or more");
    says("--fix \"z < 2 %\" --contactable \"z > 9\"", "--contactable");
    says("--fix \"z < 2 %\" --method fdm", "--method = fdm (expected bem or fem)");
    says("--fix \"z < 2 %\" --elements square",
         "--elements = square (expected linear or constant)");
    says("--fix \"z < 2 %\" --region steel=\"z > 50 %\"", "--region is for --method fem");
    says("--fix \"z < 2 %\" --readout \"strain 0 0 0\"", "--readout = strain 0 0 0 (expected ");
    says("--fix \"z < 2 %\" --readout \"stress 0 0 9\"",
         "--readout = 0 0 9 (expected points inside");
    says("--fix \"z < 2 %\" --wavelet haar", "--wavelet = haar (expected linear, lifted-linear, ");
    says("--fix \"z < 2 %\" --wavelet linear --tolerance 1",
         "--tolerance = 1.000000 (expected 0 <= value < 1; from 1 on nothing but the base");
    says("--fix \"z < 2 %\" --wavelet linear --bits 8", "--bits = 8 (expected 16 or 32)");
    says("--fix \"z < 2 %\" --tolerance 0.1", "--tolerance is for compressed functions");
    says("--fix \"z < 2 %\" --levels 0 --wavelet linear",
         "pliant mesh --kind semiregular makes one with several");
    says("--fix \"z < 2 %\" --wavelet linear --method fem",
         "linear boundary elements without creases");
    says("--fix \"z < 2 %\" --method fem --growth 1",
         "--growth goes with --mesh graded or graded-tet, not with tet; drop it");
    says("--fix \"z < 2 %\" --modes 3", "--modes is for --kind reduced, not for --kind greens");
}

}  // namespace
}  // namespace cli_test
