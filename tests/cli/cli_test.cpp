#include "cli/command_line.h"

#include <filesystem>
#include <fstream>

#include "apps/pliant/library_path.h"
#include "pliant/core/archive.h"
#include "pliant/core/atomic_file.h"
#include "pliant/core/json_value.h"
#include "pliant/geometry/mesh_io.h"

namespace cli_test {
namespace {

TEST_F(CommandLine, EveryCommandHasHelpThatBeginsWithAnExample) {
    for (const std::string command : {"demo", "run", "replay", "shape", "mesh", "build", "convert",
                                      "inspect", "bench", "reproduce", "haptics", "calibrate"}) {
        const Output help = pliant(command + " --help");
        EXPECT_EQ(help.exit_code, 0);
        EXPECT_TRUE(help.text.starts_with("Example:  pliant " + command)) << help.text;
    }
    EXPECT_EQ(pliant("--help").exit_code, 0);
    EXPECT_EQ(pliant("--version").exit_code, 0);
    EXPECT_NE(pliant("").exit_code, 0);
}

TEST_F(CommandLine, TheVersionSaysWhatTheBuildHas) {
    const Output text = pliant("--version"), json = pliant("--version --json");
    EXPECT_TRUE(text.text.starts_with("pliant 0.")) << text.text;
    for (const char* name : {"compiler", "solvers", "eigen", "SIMD", "viewer", "Python", "C "})
        EXPECT_TRUE(contains(text, name)) << text.text;
    EXPECT_TRUE(contains(json, "\"compiler\":\"") && contains(json, "\"c_abi\":1")) << json.text;
    EXPECT_TRUE(contains(json, "\"simd_targets\":[")) << json.text;
}

TEST_F(CommandLine, WrongWordsAreAnsweredWithTheNearestRightOne) {
    EXPECT_FAILS_WITH("insect x.obj", "unknown command 'insect'; did you mean 'inspect'?");
    EXPECT_FAILS_WITH("mesh x.obj --resolutoin 5",
                      "unknown option --resolutoin; did you mean --resolution?");
    EXPECT_FAILS_WITH("shape briidge -o x.ply", "bridge");
    EXPECT_FAILS_WITH("mesh x.obj", "needs -o");
    EXPECT_FAILS_WITH("mesh x.obj -o", "-o needs a value");
    EXPECT_FAILS_WITH("mesh", "needs more operands");
    EXPECT_FAILS_WITH("mesh a.obj b.obj -o c.vtu", "unexpected operand 'b.obj'");
    EXPECT_FAILS_WITH("mesh a.obj -o c.vtu --resolution abc",
                      "--resolution = abc (expected a number from 2 to 1024)");
    EXPECT_FAILS_WITH("mesh a.obj -o c.vtu --size -1", "--size = -1 (expected a number from");
    EXPECT_FAILS_WITH("bench nothing", "contact, greens, wavelets, particles");
}

TEST_F(CommandLine, MissingAndForeignFilesAreNamed) {
    EXPECT_FAILS_WITH("inspect " + path("none.obj"), "none.obj");
    EXPECT_FAILS_WITH("inspect " + path("none.pliant"), "none.pliant");
    std::ofstream(path("text.pliant")) << "this is not an archive, only a line of text";
    EXPECT_FAILS_WITH("inspect " + path("text.pliant"), "not a Pliant archive");
    std::ofstream(path("mesh.xyz")) << "1 2 3";
    EXPECT_FAILS_WITH("inspect " + path("mesh.xyz"), ".obj");
    EXPECT_FAILS_WITH("mesh " + path("none.obj") + " -o " + path("out.abc"), "a name ending in");
}

TEST_F(CommandLine, ShapeToMeshToInspectionWorksForEveryKind) {
    ASSERT_EQ(pliant("shape spoon --resolution 40 -o " + path("spoon.ply")).exit_code, 0);
    for (const std::string kind :
         {"voxel", "voxel --hollow", "graded --levels 2", "tet", "graded-tet --levels 2"}) {
        const Output made = pliant("mesh " + path("spoon.ply") + " --resolution 48 --kind " + kind +
                                   " -o " + path("spoon.pliant"));
        EXPECT_EQ(made.exit_code, 0) << made.text;
        EXPECT_TRUE(contains(made, "embedding")) << made.text;
        const Output seen = pliant("inspect " + path("spoon.pliant"));
        EXPECT_EQ(seen.exit_code, 0) << seen.text;
        EXPECT_TRUE(contains(seen, "embedding/weights")) << seen.text;
        EXPECT_FALSE(contains(seen, "DAMAGED"));
    }
}

TEST_F(CommandLine, MeshesConvertThroughEveryVolumeFormat) {
    ASSERT_EQ(pliant("shape beam --resolution 16 -o " + path("beam.obj")).exit_code, 0);
    ASSERT_EQ(pliant("mesh " + path("beam.obj") +
                     " --kind tet --resolution 16 --region \"end=x > 80 %\" -o " + path("a.pliant"))
                  .exit_code,
              0);
    std::string previous = path("a.pliant");
    for (const std::string name : {"b.msh", "c.veg", "d.mesh", "e.node", "f.pliant", "g.vtu"}) {
        const Output converted = pliant("convert " + previous + " " + path(name));
        ASSERT_EQ(converted.exit_code, 0) << converted.text;
        previous = path(name);
    }
    const Output first = pliant("convert " + path("a.pliant") + " " + path("first.obj"));
    const Output last = pliant("convert " + path("f.pliant") + " " + path("last.obj"));
    EXPECT_EQ(first.exit_code, 0);
    std::ifstream a(path("first.obj")), b(path("last.obj"));
    const std::string text_a(std::istreambuf_iterator<char>(a), {}),
        text_b(std::istreambuf_iterator<char>(b), {});
    EXPECT_FALSE(text_a.empty());
    EXPECT_EQ(text_a, text_b);  // coordinates survive every text format exactly
    // and so do inner vertices and elements, and regions as long as the format has them
    const pliant::VolumeMesh meshed = pliant::load_volume(path("a.pliant")),
                             end = pliant::load_volume(path("f.pliant"));
    EXPECT_EQ(end.vertices, meshed.vertices);
    EXPECT_EQ(end.elements, meshed.elements);
    EXPECT_FALSE(meshed.regions.empty());
    EXPECT_EQ(pliant::load_volume(path("c.veg")).regions, meshed.regions);
}

TEST_F(CommandLine, VolumesAreWrittenForOlderGmshAndSayWhatIsLost) {
    ASSERT_EQ(pliant("shape beam --resolution 12 -o " + path("beam.obj")).exit_code, 0);
    ASSERT_EQ(
        pliant("mesh " + path("beam.obj") + " --resolution 12 -o " + path("a.pliant")).exit_code,
        0);
    const std::string convert = "convert " + path("a.pliant") + " ";
    const Output old = pliant(convert + path("old.msh") + " --msh 2.2");
    EXPECT_EQ(old.exit_code, 0) << old.text;
    EXPECT_TRUE(contains(old, "keeps no hanging nodes and filled fractions")) << old.text;
    EXPECT_TRUE(pliant::read_file(path("old.msh")).starts_with("$MeshFormat\n2.2 "));
    EXPECT_FAILS_WITH(convert + path("new.msh") + " --msh 3", "--msh = 3 (expected 4.1 or 2.2)");
    EXPECT_FAILS_WITH(convert + path("b.veg") + " --msh 2.2", "--msh is for .msh files");
    EXPECT_FAILS_WITH(convert + path("b.veg") + " --size 1", "--size is for surfaces");
}

TEST_F(CommandLine, DamagedArchiveIsReportedWithTheChunk) {
    ASSERT_EQ(pliant("shape beam --resolution 12 -o " + path("beam.obj")).exit_code, 0);
    ASSERT_EQ(
        pliant("mesh " + path("beam.obj") + " --resolution 12 -o " + path("beam.pliant")).exit_code,
        0);
    std::fstream file(path("beam.pliant"), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(std::filesystem::file_size(path("beam.pliant")) / 2));
    file.put('\x5a').put('\xa5').put('\x5a');
    file.close();
    const Output seen = pliant("inspect " + path("beam.pliant"));
    EXPECT_NE(seen.exit_code, 0);
    EXPECT_TRUE(contains(seen, "DAMAGED")) << seen.text;
    // the chunk that has the byte in the middle of the file, and no other
    const pliant::Archive archive(path("beam.pliant"));
    std::string damaged;
    for (const pliant::ChunkInfo& chunk : archive.chunks())
        if (!archive.is_intact(chunk)) damaged += (damaged.empty() ? "" : ", ") + chunk.name;
    EXPECT_TRUE(contains(seen, "chunk '" + damaged + "'")) << damaged << ": " << seen.text;
    EXPECT_FAILS_WITH("mesh " + path("beam.pliant") + " -o " + path("again.vtu"), "is damaged");
}

TEST_F(CommandLine, MeshArchivesSayWhereTheyCameFrom) {
    ASSERT_EQ(pliant("shape beam --resolution 12 -o " + path("beam.obj")).exit_code, 0);
    ASSERT_EQ(
        pliant("mesh " + path("beam.obj") + " --resolution 12 -o " + path("beam.pliant")).exit_code,
        0);
    const Output seen = pliant("inspect " + path("beam.pliant"));
    for (const char* key : {"input", "input_hash", "options", "version"})
        EXPECT_TRUE(contains(seen, key)) << key << ": " << seen.text;
    EXPECT_TRUE(contains(seen, "beam.obj")) << seen.text;
    EXPECT_TRUE(contains(seen, "--resolution 12")) << seen.text;
}

TEST_F(CommandLine, SelectionThatPicksNothingSaysWhereTheVerticesAre) {
    ASSERT_EQ(pliant("shape beam --resolution 12 -o " + path("beam.obj")).exit_code, 0);
    EXPECT_EQ(pliant("inspect " + path("beam.obj") + " --select \"z < 5 %\"").exit_code, 0);
    EXPECT_FAILS_WITH("inspect " + path("beam.obj") + " --select \"z < -3\"",
                      "--select \"z < -3\" selects no vertex; z runs from");
}

TEST_F(CommandLine, BrokenSurfaceIsRepairedOnRequest) {
    // a cube of separate, partly flipped and doubled facets
    std::ofstream obj(path("cube.obj"));
    const int faces[12][3] = {{0, 2, 1}, {0, 3, 2}, {4, 5, 6}, {4, 6, 7}, {0, 1, 5}, {0, 5, 4},
                              {1, 2, 6}, {1, 6, 5}, {2, 3, 7}, {2, 7, 6}, {3, 0, 4}, {3, 4, 7}};
    int next = 1;
    for (int f = 0; f < 12; ++f) {
        for (int copies = f == 0 ? 2 : 1; copies > 0; --copies) {
            for (const int v : faces[f])
                obj << "v " << ((v == 1 || v == 2 || v == 5 || v == 6) ? 1 : 0) << ' '
                    << ((v & 2) ? 1 : 0) << ' ' << (v > 3 ? 1 : 0) << '\n';
            obj << "f " << next << ' ' << next + (f % 3 ? 1 : 2) << ' ' << next + (f % 3 ? 2 : 1)
                << '\n';
            next += 3;
        }
    }
    obj.close();
    EXPECT_TRUE(contains(pliant("inspect " + path("cube.obj")), "open edges"));
    const Output repaired =
        pliant("convert " + path("cube.obj") + " " + path("fixed.ply") + " --repair");
    EXPECT_TRUE(contains(repaired, "welded 31 vertices")) << repaired.text;
    const Output seen = pliant("inspect " + path("fixed.ply"));
    EXPECT_TRUE(contains(seen, "nothing wrong found")) << seen.text;
    EXPECT_TRUE(contains(seen, "volume       1 m³")) << seen.text;
}

/// Faces on both sides of a sheet, so that a proxy can touch any body that is made of it.
TEST_F(CommandLine, ASheetGetsASecondFace) {
    std::ofstream(path("sheet.obj")) << "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3\nf 1 3 4\n";
    const Output doubled =
        pliant("convert " + path("sheet.obj") + " " + path("two.obj") + " --repair --double-faced");
    EXPECT_TRUE(contains(doubled, "4 vertices, 4 triangles")) << doubled.text;
    EXPECT_FALSE(contains(pliant("inspect " + path("two.obj")), "open edges"));
    EXPECT_FAILS_WITH("convert " + path("two.obj") + " " + path("four.obj") + " --double-faced",
                      "--double-faced: " + path("two.obj") + " has two faces already; drop it");
    // both faces of one triangle are a closed surface as well
    std::ofstream(path("thin.obj")) << "v 0 0 0\nv 1 0 0\nv 1 1 0\nf 1 2 3\nf 1 3 2\n";
    EXPECT_FAILS_WITH("convert " + path("thin.obj") + " " + path("four.obj") + " --double-faced",
                      "--double-faced: " + path("thin.obj") + " has two faces already; drop it");
    ASSERT_EQ(pliant("shape beam --resolution 12 -o " + path("beam.obj")).exit_code, 0);
    EXPECT_FAILS_WITH("convert " + path("beam.obj") + " " + path("b.obj") + " --double-faced",
                      "--double-faced is for sheets, and " + path("beam.obj") + " is closed");
}

TEST_F(CommandLine, JsonOutputIsOneObjectPerLine) {
    ASSERT_EQ(pliant("shape beam --resolution 12 --json -o " + path("beam.obj")).exit_code, 0);
    for (const char* arguments : {"shape list --json", "bench core --json --filter histogram"}) {
        const Output output = pliant(arguments);
        EXPECT_EQ(output.exit_code, 0) << output.text;
        std::istringstream lines(output.text);
        EXPECT_FALSE(output.text.empty());
        for (std::string line; std::getline(lines, line);) {
            ASSERT_FALSE(line.empty());
            EXPECT_EQ(line.front(), '{') << line;
            EXPECT_EQ(line.back(), '}') << line;
        }
    }
    const Output bench = pliant("bench core --json --filter histogram");
    for (const char* key : {"\"name\":", "\"median_us\":", "\"p99_us\":", "\"p999_us\":",
                            "\"max_us\":", "\"checksum\":"})
        EXPECT_TRUE(contains(bench, key)) << bench.text;
    const Output compared = pliant("bench core --json --filter archive_verify");
    for (const char* key : {"\"reference\":", "\"reference_us\":", "\"ratio\":"})
        EXPECT_TRUE(contains(compared, key)) << compared.text;
    const Output judged = pliant("bench geometry --json --filter closest_point/near");
    for (const char* key : {"\"target\":", "\"pass\":"})
        EXPECT_TRUE(contains(judged, key)) << judged.text;
    const Output mesh =
        pliant("mesh " + path("beam.obj") + " --resolution 12 --json -o " + path("b.vtu"));
    EXPECT_TRUE(mesh.text.starts_with("{\"output\":")) << mesh.text;
}

TEST_F(CommandLine, StableWallsAreTabledAndDrawn) {
    const std::string quick = "haptics zwidth --duration 0.2 --hand loose ";
    const Output table = pliant(quick + "-o " + path("walls"));
    EXPECT_EQ(table.exit_code, 0) << table.text;
    EXPECT_TRUE(contains(table, "Stiffest wall of the table")) << table.text;
    std::ifstream file(path("walls/zwidth.html"));
    const std::string page(std::istreambuf_iterator<char>(file), {});
    EXPECT_NE(page.find("12 within their tolerances, 0 beyond"), std::string::npos);
    EXPECT_NE(page.find("Virtual walls on this device"), std::string::npos);
    const Output json = pliant(quick + "--json");
    EXPECT_TRUE(contains(json, "\"half_stiffness_times_period\":5,")) << json.text;
    EXPECT_FAILS_WITH("haptics nothing",
                      "study = nothing (expected check, devices, zwidth or report FILE)");
    EXPECT_FAILS_WITH("haptics zwidth --hand soft", "--hand = soft (expected none, loose or firm)");
}

TEST_F(CommandLine, DevicesAreListedWithWhatIsMissing) {
    const std::string search = "haptics devices --port 0 --haply ws://127.0.0.1:9 --hd " +
                               path("libHD.so") + " --dhd " + path("libdhd.so");
    const Output table = pliant(search);
    EXPECT_EQ(table.exit_code, 0) << table.text;
    EXPECT_TRUE(contains(table, "is free for a driver, by UDP or WebSocket")) << table.text;
    EXPECT_TRUE(contains(table, "nobody answers at ws://127.0.0.1:9")) << table.text;
    EXPECT_TRUE(contains(table, "looked for " + path("libdhd.so"))) << table.text;
    const Output json = pliant(search + " --json");
    EXPECT_TRUE(contains(json, "{\"kind\":\"simulated\",\"ready\":true,")) << json.text;
    EXPECT_TRUE(contains(json, "{\"kind\":\"openhaptics\",\"ready\":false,")) << json.text;
}

TEST_F(CommandLine, ADeviceIsCheckedStepByStepAndItsProfileKept) {
    const Output table = pliant("haptics check --yes --delay 3 --profile " + path("device.json") +
                                " -o " + path("check.html"));
    EXPECT_EQ(table.exit_code, 0) << table.text;
    for (const char* part : {"readings  passed", "axes      passed", "button    passed",
                             "push      passed", "gravity   passed", "3 samples of the loop"})
        EXPECT_TRUE(contains(table, part)) << part << "\n" << table.text;
    const pliant::JsonValue profile =
        pliant::parse_json(pliant::read_file(path("device.json")), "device.json");
    EXPECT_EQ(profile.find("device")->find("delay")->number(), 3);
    EXPECT_EQ(profile.find("device")->find("clutch")->number(), 0);
    EXPECT_TRUE(contains(table, "█")) << "intervals as bars\n" << table.text;
    // read back by what runs scenes, in its gains too
    ASSERT_EQ(pliant("shape beam --resolution 16 -o " + path("tool.obj")).exit_code, 0);
    std::ofstream(path("press.json")) << R"({"pliant": 1, "gravity": [0, 0, 0], "bodies": [
        {"name": "tool", "rigid": {"surface": "tool.obj", "motion": {"path": {"keyframes": [
            {"time": 0, "position": [0, 0, 0.02]}, {"time": 0.2, "position": [0, 0, -0.02]}]}}},
         "contact": {"pointshell": {"points": 500, "levels": 2, "resolution": 32}}},
        {"name": "floor", "rigid": {"ground": {}}}],
        "contacts": [{"shell": "tool", "field": "floor"}], "tool": {"body": "tool"}})";
    const std::string run = "run " + path("press.json") + " --headless --duration 0.3 --json";
    const Output plain = pliant(run), with = pliant(run + " --profile " + path("device.json"));
    ASSERT_EQ(plain.exit_code, 0) << plain.text;
    ASSERT_EQ(with.exit_code, 0) << with.text;
    const auto state = [](const Output& output) {
        return output.text.substr(output.text.find("state_hash"));
    };
    EXPECT_NE(state(plain), state(with));
    EXPECT_FAILS_WITH(run + " --profile " + path("check.html"), "check.html");
    EXPECT_FAILS_WITH(run + " --device network --profile " + path("device.json"),
                      "--profile says which device it is of; drop --device");
    const Output json = pliant("haptics check --yes --json");
    EXPECT_TRUE(contains(json, "\"passed\":true")) << json.text;
    EXPECT_NE(pliant::read_file(path("check.html")).find("Time between new readings"),
              std::string::npos);
}

TEST(Profiles, NameALibraryForScenesOfEveryFolder) {
    const std::string here = std::filesystem::current_path().string();
    EXPECT_EQ(pliant::cli::whole_library_path("./sdk/../libdhd.so"), here + "/libdhd.so");
    EXPECT_EQ(pliant::cli::whole_library_path("sdk/libdhd.so"), here + "/sdk/libdhd.so");
    EXPECT_EQ(pliant::cli::whole_library_path("/opt/sdk/libdhd.so"), "/opt/sdk/libdhd.so");
    EXPECT_EQ(pliant::cli::whole_library_path("libdhd.so.3"), "libdhd.so.3")
        << "for the system to find";
}

TEST_F(CommandLine, ADeviceThatMovesTheWrongWayStopsItsCheck) {
    const std::string check = "haptics check --yes --fault y --profile " + path("device.json");
    EXPECT_FAILS_WITH(check, "pushed along +y, the handle moved along -y");
    EXPECT_FAILS_WITH(check, "change the sign of the force along y in the driver");
    EXPECT_FALSE(std::filesystem::exists(path("device.json")));
    EXPECT_FAILS_WITH("haptics check --device mouse", "--device = mouse (expected simulated, ");
    EXPECT_FAILS_WITH("haptics check --device network --port 0 < /dev/null",
                      "asks for motions of the handle and needs a terminal; --yes goes on");
    EXPECT_FAILS_WITH("haptics check --fault w", "--fault = w (expected x, y or z)");
}

TEST_F(CommandLine, InterruptedMeshingLeavesNoFile) {
    ASSERT_EQ(pliant("shape serpent -o " + path("serpent.ply")).exit_code, 0);
    const std::string in = path("serpent.ply"), out = path("serpent.vtu");
    // it would go on for many seconds
    const Output output = interrupted(
        {"mesh", in, "--kind", "tet", "--resolution", "500", "--progress", "json", "-o", out});
    EXPECT_EQ(output.exit_code, 130) << output.text;
    EXPECT_TRUE(contains(output, "interrupted; no file is half-written")) << output.text;
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}),
              1);  // the surface alone
}

TEST_F(CommandLine, FullDiskAndMissingFolderAreErrorsNotCrashes) {
    ASSERT_EQ(pliant("shape beam --resolution 12 -o " + path("beam.obj")).exit_code, 0);
    std::filesystem::create_symlink("/dev/full", path("full.ply"));
    EXPECT_FAILS_WITH("convert " + path("beam.obj") + " " + path("full.ply"), "full.ply");
    EXPECT_NE(pliant("shape list > /dev/full").exit_code, 0);
    EXPECT_FAILS_WITH("convert " + path("beam.obj") + " /no/such/folder/out.ply",
                      "/no/such/folder");
}

}  // namespace
}  // namespace cli_test
