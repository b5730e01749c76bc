#include "cli/command_line.h"

#include <fstream>

namespace cli_test {
namespace {

/// Small fields and shells of the beam.
class BuildField : public CommandLine {
protected:
    [[nodiscard]] std::string field(const std::string& options,
                                    const std::string& surface = "beam") const {
        return "build " + surface + " --kind field --resolution 64 --progress none -o " +
               path("field.pliant") + " " + options;
    }
    [[nodiscard]] std::string shell(const std::string& options) const {
        return "build beam --kind pointshell --resolution 64 --points 1300 --levels 3 "
               "--progress none -o " +
               path("shell.pliant") + " " + options;
    }
};

std::string bytes_of(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

TEST_F(BuildField, FieldIsReportedInspectedCutAndConverted) {
    const Output made = pliant(field(""));
    ASSERT_EQ(made.exit_code, 0) << made.text;
    EXPECT_TRUE(contains(made, "field        64 × 64 × 64 cells of ")) << made.text;
    EXPECT_TRUE(contains(made, "sparse: ")) << made.text;
    EXPECT_TRUE(contains(made, "built        ")) << made.text;
    EXPECT_TRUE(contains(made, "Try:  pliant inspect ")) << made.text;

    const Output seen = pliant("inspect " + path("field.pliant"));
    EXPECT_EQ(seen.exit_code, 0) << seen.text;
    for (const char* part : {": distance-field, ", "field        64 × 64 × 64 cells of ",
                             "memory       ", "margin       ", "input          beam"})
        EXPECT_TRUE(contains(seen, part)) << part << seen.text;

    const Output cut =
        pliant("inspect " + path("field.pliant") + " --slice y=0.01 -o " + path("slice.png"));
    EXPECT_EQ(cut.exit_code, 0) << cut.text;
    EXPECT_TRUE(contains(cut, "slice        wrote ")) << cut.text;
    EXPECT_TRUE(contains(cut, "900 × 900 pixels of ")) << cut.text;
    EXPECT_EQ(bytes_of(path("slice.png")).substr(1, 3), "PNG");

    const Output converted = pliant("convert " + path("field.pliant") + " " + path("iso.ply"));
    EXPECT_EQ(converted.exit_code, 0) << converted.text;
    EXPECT_TRUE(contains(converted, "triangles")) << converted.text;
    const Output surface = pliant("inspect " + path("iso.ply"));
    EXPECT_TRUE(contains(surface, "nothing wrong found")) << surface.text;
    EXPECT_TRUE(contains(surface, "volume ")) << surface.text;
    const Output larger =
        pliant("convert " + path("field.pliant") + " --level 0.01 " + path("larger.ply"));
    EXPECT_EQ(larger.exit_code, 0) << larger.text;
    EXPECT_NE(bytes_of(path("iso.ply")), bytes_of(path("larger.ply")));
}

TEST_F(BuildField, OffsetAndDenseFieldsAndJson) {
    const Output made =
        pliant(field("--surface offset --offset-cells 1.5 --storage dense --expansion 1.3 --json"));
    ASSERT_EQ(made.exit_code, 0) << made.text;
    for (const char* key : {"{\"output\":", "\"field\":{\"cells\":[64,64,64],\"cell_m\":",
                            "\"storage\":\"dense\"", "\"offset_m\":0.0", "\"margin_near_m\":"})
        EXPECT_TRUE(contains(made, key)) << key << made.text;
    const Output seen =
        pliant("inspect --json " + path("field.pliant") + " --slice z=0.0 -o " + path("slice.png"));
    EXPECT_EQ(seen.exit_code, 0) << seen.text;
    EXPECT_TRUE(contains(seen, "\"kind\":\"distance-field\"")) << seen.text;
    EXPECT_TRUE(contains(seen, "\"slice\":\"")) << seen.text;
    EXPECT_TRUE(std::filesystem::exists(path("slice.png")));
}

TEST_F(BuildField, PointshellIsReportedAndInspected) {
    const Output made = pliant(shell(""));
    ASSERT_EQ(made.exit_code, 0) << made.text;
    EXPECT_TRUE(contains(made, " in 3 levels, ")) << made.text;
    EXPECT_TRUE(contains(made, "rigid")) << made.text;
    const Output seen = pliant("inspect " + path("shell.pliant"));
    EXPECT_EQ(seen.exit_code, 0) << seen.text;
    for (const char* part : {": point-tree, ", "spacing [mm]", "variation", "rigid"})
        EXPECT_TRUE(contains(seen, part)) << part << seen.text;
    const Output json = pliant("inspect --json " + path("shell.pliant"));
    EXPECT_TRUE(contains(json, "\"pointshell\":{\"num_points\":")) << json.text;
    EXPECT_TRUE(contains(json, "\"rank\":0")) << json.text;
}

TEST_F(BuildField, PointshellFollowsAModel) {
    const std::string model = path("beam.pliant");
    const Output built = pliant(
        "build beam --size 0.5 --mesh voxel --resolution 16 --modes 3 --rank 6 --no-cache "
        "--fix \"x < 5 %\" --progress none -o " +
        model);
    ASSERT_EQ(built.exit_code, 0) << built.text;
    const Output made = pliant(shell("--model " + model));
    ASSERT_EQ(made.exit_code, 0) << made.text;
    EXPECT_TRUE(contains(made, "deformable, r = 6")) << made.text;
    const Output seen = pliant("inspect --json " + path("shell.pliant"));
    EXPECT_TRUE(contains(seen, "\"rank\":6")) << seen.text;
    EXPECT_FAILS_WITH(shell("--size 1 --model " + model), "--size and --model exclude each other");
    EXPECT_FAILS_WITH("build heart --kind pointshell --resolution 64 --progress none --model " +
                          model + " -o " + path("other.pliant"),
                      "the model was built from another surface");
}

TEST_F(BuildField, ErrorsNameTheOption) {
    EXPECT_FAILS_WITH(field("--surface thick"), "--surface = thick (expected signed or offset)");
    EXPECT_FAILS_WITH(field("--storage int16"), "--storage = int16 (expected sparse or dense)");
    EXPECT_FAILS_WITH(field("--expansion 9"), "--expansion = 9 (expected 1.05 to 4)");
    EXPECT_FAILS_WITH(field("--surface offset --offset-cells 0.1"), "--offset-cells = 0.1");
    EXPECT_FAILS_WITH(field("--offset-cells 2"), "--offset-cells is for --surface offset");
    EXPECT_FAILS_WITH(field("--material rubber"),
                      "--material is for --kind reduced or greens, not for --kind field");
    EXPECT_FAILS_WITH("build beam --kind field --resolution 100 -o " + path("f.pliant"),
                      "--resolution = 100 (expected a power of two, 16 to 1024)");
    EXPECT_FAILS_WITH("build beam --kind mist -o " + path("f.pliant"),
                      "--kind = mist (expected reduced, field, pointshell, greens or particles)");
    EXPECT_FAILS_WITH(shell("--points 0"), "--points");
    EXPECT_FAILS_WITH(shell("--levels 99"), "--levels");
    EXPECT_FALSE(std::filesystem::exists(path("field.pliant")));
}

TEST_F(BuildField, OpenSurfacesAreReferredToTheOffsetSurface) {
    std::ofstream(path("sheet.obj")) << "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    const std::string sheet = path("sheet.obj");
    EXPECT_FAILS_WITH(field("", sheet), "sheet.obj: a signed field needs a closed mesh");
    EXPECT_FAILS_WITH(field("", sheet), "(--surface offset)");
    const Output made = pliant(field("--surface offset", sheet));
    EXPECT_EQ(made.exit_code, 0) << made.text;
}

TEST_F(BuildField, SlicesAndLevelsAreForFields) {
    ASSERT_EQ(pliant(field("")).exit_code, 0);
    const std::string file = path("field.pliant"), out = " -o " + path("slice.png");
    EXPECT_FAILS_WITH("inspect " + file + " --slice q=1" + out,
                      "--slice = q=1 (expected an axis and a position in metres, as in z=0.1)");
    EXPECT_FAILS_WITH("inspect " + file + " --slice z=99" + out, "the box of the field");
    EXPECT_FAILS_WITH("inspect " + file + " --slice z=0", "-o");
    EXPECT_FAILS_WITH("inspect " + file + out, "-o is for a slice");
    EXPECT_FAILS_WITH("convert " + file + " " + path("mesh.msh"), "is a distance field");
    EXPECT_FAILS_WITH("convert " + file + " --level -5 " + path("iso.ply"), "--level = -5");
    std::ofstream(path("one.obj")) << "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    EXPECT_FAILS_WITH("inspect " + path("one.obj") + " --slice z=0" + out, "--kind field");
    EXPECT_FAILS_WITH("convert " + path("one.obj") + " --level 0.1 " + path("iso.ply"),
                      "--level is for distance fields");
}

}  // namespace
}  // namespace cli_test
