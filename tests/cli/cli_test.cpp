#include "cli/command_line.h"

#include <sys/stat.h>

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

TEST_F(CommandLine, NamesOfFilesReachTheTerminalWithoutControlCharacters) {
    const Output missing = pliant("inspect '" + path("ä\n\x1b[31m.obj") + "'");
    EXPECT_EQ(missing.text, "error: " + path("ä??[31m.obj") + ": the file does not exist\n");
    EXPECT_FAILS_WITH("'in\tspect' x.obj", "error: unknown command 'in?spect'");
}

TEST_F(CommandLine, PipesAreRefusedAtOnce) {
    ASSERT_EQ(mkfifo(path("pipe.obj").c_str(), 0600), 0);
    EXPECT_FAILS_WITH("inspect " + path("pipe.obj"),
                      "pipe.obj: cannot be read: it is not a regular file");
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
        const bool is_pair = name == "e.node";
        EXPECT_TRUE(contains(
            converted, "wrote " + path(name) + (is_pair ? " and " + path("e.ele") : "") + ": "))
            << converted.text;
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

/// The whole output, which must be one object.
pliant::JsonValue json_of(const Output& output) {
    return pliant::parse_json(output.text, "output");
}

void expect_numbers(const pliant::JsonValue& object, const std::map<std::string, double>& numbers) {
    for (const auto& [key, number] : numbers) {
        const pliant::JsonValue* value = object.find(key);
        ASSERT_NE(value, nullptr) << key;
        EXPECT_EQ(value->number(), number) << key;
    }
}

TEST_F(CommandLine, JsonOfAVolumeMeshHasEveryDefectInEveryFormat) {
    // a sound tetrahedron, an inverted one, one with a repeated corner, one with an absurd vertex
    std::ofstream(path("broken.msh"))
        << "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n7\n1 0 0 0\n2 1 0 0\n3 0 1 0\n"
           "4 0 0 1\n5 1e200 0 0\n6 9 9 9\n7 0 0 -1\n$EndNodes\n$Elements\n4\n"
           "1 4 0 1 2 3 4\n2 4 0 1 2 3 7\n3 4 0 1 1 2 3\n4 4 0 1 2 3 5\n$EndElements\n";
    ASSERT_EQ(pliant("convert " + path("broken.msh") + " " + path("broken.pliant")).exit_code, 0);
    for (const char* name : {"broken.msh", "broken.pliant"}) {
        const Output output = pliant("inspect " + path(name) + " --json --select \"x < 2\"");
        ASSERT_EQ(output.exit_code, 0) << output.text;
        const pliant::JsonValue mesh = json_of(output);
        EXPECT_EQ(mesh.find("file")->string(), path(name));
        EXPECT_EQ(mesh.find("element")->string(), "tet4");
        expect_numbers(mesh, {{"num_vertices", 7},
                              {"num_elements", 4},
                              {"num_parts", 1},
                              {"num_invalid", 1},
                              {"first_invalid", 2},
                              {"num_non_finite", 1},
                              {"first_non_finite", 4},
                              {"num_inverted", 1},
                              {"first_inverted", 1},
                              {"worst_jacobian", -1},
                              {"num_orphans", 1},
                              {"first_orphan", 5},
                              {"num_weak_joints", 0},
                              {"first_weak_joint", -1},
                              {"volume_m3", 0},
                              {"num_selected", 5}});
    }
    EXPECT_EQ(
        json_of(pliant("inspect " + path("broken.pliant") + " --json")).find("kind")->string(),
        "volume-mesh");
}

TEST_F(CommandLine, JsonOfASurfaceHasEveryDefect) {
    std::ofstream(path("broken.obj")) << "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1e200 0 0\nv 5 5 5\n"
                                         "f 1 2 3\nf 1 1 2\nf 1 2 4\n";
    const pliant::JsonValue mesh = json_of(pliant("inspect " + path("broken.obj") + " --json"));
    expect_numbers(mesh, {{"num_vertices", 5}, {"num_triangles", 3}, {"num_components", 1}});
    const std::map<std::string, std::pair<double, double>> defects{
        {"non_finite_vertices", {1, 3}},  {"unused_vertices", {1, 4}},
        {"invalid_indices", {0, -1}},     {"degenerate_triangles", {1, 1}},
        {"duplicate_triangles", {0, -1}}, {"open_edges", {3, 0}},
        {"non_manifold_edges", {0, -1}},  {"non_manifold_vertices", {0, -1}},
        {"inconsistent_edges", {0, -1}}};
    for (const auto& [name, defect] : defects) {
        ASSERT_NE(mesh.find(name), nullptr) << name;
        expect_numbers(*mesh.find(name), {{"count", defect.first}, {"first", defect.second}});
    }
}

TEST_F(CommandLine, AbsurdCoordinatesOfAVolumeMeshAreSaid) {
    std::ofstream(path("absurd.mesh")) << "MeshVersionFormatted 2 Dimension 3 Vertices 4\n"
                                          "1e200 0 0 0\n0 -1e200 0 0\n0 0 1e200 0\n0 0 0 0\n"
                                          "Tetrahedra 1\n1 2 3 4 0\nEnd\n";
    EXPECT_EQ(pliant("inspect " + path("absurd.mesh")).text,
              path("absurd.mesh") +
                  ": 4 vertices, 1 tetrahedron in 0 parts\n"
                  "box          0 … 0, 0 … 0, 0 … 0 m\n"
                  "volume       0 m³\n"
                  "3 vertices that are not finite or beyond 1e30 (first: vertex 0)\n");
}

TEST_F(CommandLine, SurfacesWithoutTrianglesAreNotWritten) {
    std::ofstream(path("line.obj")) << "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n";
    EXPECT_FAILS_WITH("convert " + path("line.obj") + " " + path("a.ply") + " --repair",
                      path("a.ply") + ": the mesh to save has no triangles");
    EXPECT_FALSE(std::filesystem::exists(path("a.ply")));
    // two elements in one place have no outer face
    std::ofstream(path("twice.mesh"))
        << "MeshVersionFormatted 2 Dimension 3 Vertices 4\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\n"
           "Tetrahedra 2\n1 2 3 4 0\n2 1 3 4 0\nEnd\n";
    EXPECT_FAILS_WITH("convert " + path("twice.mesh") + " " + path("a.stl"),
                      path("a.stl") + ": the mesh to save has no triangles");
    EXPECT_EQ(pliant("convert " + path("line.obj") + " " + path("a.vtu") + " --repair").exit_code,
              0);
}

TEST_F(CommandLine, MeshingErrorsNameTheFileOrTheOption) {
    const auto mesh = [&](const std::string& name, const std::string& options) {
        return "mesh " + path(name) + " -o " + path("out.vtu") + " --kind " + options;
    };
    // a sheet, many of them above each other, a sliver, and a box in no unit that there is
    std::ofstream(path("sheet.obj")) << "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3\nf 1 3 4\n";
    EXPECT_FAILS_WITH(
        mesh("sheet.obj", "graded-tet --resolution 16"),
        "error: " + path("sheet.obj") +
            ": the body is empty or too thin for lattice tetrahedra at any resolution "
            "up to 512; use voxels or give the surface a volume");
    std::ofstream stack(path("stack.obj"));
    for (int k = 0; k < 40; ++k) {
        for (const char* corner : {"0 0", "1 0", "1 1", "0 1"})
            stack << "v " << corner << ' ' << 1e-3 * k << '\n';
        stack << "f -4 -3 -2\nf -4 -2 -1\n";
    }
    stack.close();
    for (const char* kind : {"tet", "graded-tet"})
        EXPECT_FAILS_WITH(mesh("stack.obj", std::string(kind) + " --resolution 16 --repair"),
                          "error: " + path("stack.obj") +
                              ": points beyond the bounding box count as inside: the body does "
                              "not end there, as open surfaces may not; use voxels");
    std::ofstream(path("sliver.obj"))
        << "v 0 0 0\nv 1 0.05 0.31\nv 0.13 0.9 0.57\nv 0.376667 0.316667 0.293667\n"
           "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";
    EXPECT_FAILS_WITH(mesh("sliver.obj", "graded-tet --resolution 7 --levels 2"),
                      "error: --resolution = 7 (expected more cells: the body is thinner than half "
                      "a cell everywhere)");
    ASSERT_EQ(pliant("shape beam --resolution 4 -o " + path("beam.obj")).exit_code, 0);
    pliant::SurfaceMesh tiny = pliant::load_surface(path("beam.obj"));
    for (Eigen::Vector3d& x : tiny.vertices) x *= 1e-300;
    pliant::save_surface(tiny, path("tiny.obj"));
    for (const char* kind : {"voxel", "tet", "graded-tet"})
        EXPECT_FAILS_WITH(mesh("tiny.obj", kind),
                          "error: " + path("tiny.obj") +
                              ": the surface has no size, all its vertices lie at one point; check "
                              "its units");
    // what no surface can make good, before it is read
    EXPECT_FAILS_WITH(mesh("none.obj", "voxel --levels 2"),
                      "--levels goes with --kind graded or graded-tet, not with voxel; drop it");
    EXPECT_FAILS_WITH(mesh("none.obj", "tet --growth 1"),
                      "--growth goes with --kind graded or graded-tet, not with tet; drop it");
    for (const char* name : {"top", "body"})
        EXPECT_FAILS_WITH(
            mesh("none.obj",
                 "voxel --region \"top=z > 1\" --region \"" + std::string(name) + "=z < 1\""),
            "--region = " + std::string(name) +
                " (expected a name that no other region has; what no selection has is called "
                "body)");
    EXPECT_FAILS_WITH(mesh("none.obj", "voxel --region top"),
                      "--region = top (expected NAME=SELECTION, as in top=\"z > 90 %\")");
    EXPECT_FAILS_WITH(mesh("none.obj", "voxel --base 40"),
                      "--base goes with --kind semiregular; add that or drop it");
    EXPECT_FAILS_WITH(mesh("none.obj", "tet --hollow"), "--hollow works with voxel meshes only");
    EXPECT_FAILS_WITH(mesh("none.obj", "prism"),
                      "--kind = prism (expected voxel, graded, tet or graded-tet)");
    for (const std::string option : {"--resolution 16", "--hollow", "--growth 1", "--region a=b"})
        EXPECT_FAILS_WITH(
            "mesh none.obj -o " + path("out.ply") + " --kind semiregular " + option,
            option.substr(0, option.find(' ')) + " does not go with --kind semiregular; drop it");
    EXPECT_FAILS_WITH("mesh none.obj -o " + path("out.ele"),
                      path("out.ele") +
                          " holds tetrahedra only; add --kind tet or choose .vtu, "
                          ".msh, .veg, .mesh or .pliant");
    EXPECT_FAILS_WITH(mesh("beam.obj", "voxel --resolution 8 --region \"top=list 99999\""),
                      "element 99999 of the list does not exist; there are ");
    EXPECT_FAILS_WITH(mesh("beam.obj", "graded-tet --resolution 512 --levels 0"),
                      path("beam.obj") + ": the lattice would begin with ");
}

TEST_F(CommandLine, SurfacesThatCannotBeMeshedSayWhatToDo) {
    const auto mesh = [&](const std::string& name) {
        return "mesh " + path(name) + " -o " + path("out.vtu") + " --resolution 8";
    };
    // a tetrahedron inside out, the same with a corner out of reach, and no surface at all
    const std::string corners = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n";
    std::ofstream(path("turned.obj")) << corners << "f 1 2 3\nf 1 4 2\nf 2 4 3\nf 1 3 4\n";
    EXPECT_FAILS_WITH(mesh("turned.obj"),
                      path("turned.obj") + ": the surface is inside out; try --repair");
    std::ofstream(path("far.obj"))
        << corners << "v 1e200 0 0\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";
    EXPECT_FAILS_WITH(mesh("far.obj"), "1 vertex that is not finite or beyond 1e30");
    EXPECT_FAILS_WITH(mesh("far.obj"), "; try --repair");
    EXPECT_FALSE(std::filesystem::exists(path("out.vtu")));
    const Output repaired = pliant(mesh("far.obj") + " --repair --size 0.2");
    ASSERT_EQ(repaired.exit_code, 0) << repaired.text;
    EXPECT_TRUE(contains(repaired, "the surface encloses 0.00133333 m³"));  // 0.2³ / 6
    std::ofstream(path("twice.mesh"))
        << "MeshVersionFormatted 2 Dimension 3 Vertices 4\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\n"
           "Tetrahedra 2\n1 2 3 4 0\n2 1 3 4 0\nEnd\n";
    EXPECT_FAILS_WITH(mesh("twice.mesh"),
                      path("twice.mesh") + ": has no triangles; a surface mesh is needed");
}

TEST_F(CommandLine, ConversionsThatCannotBeNameTheWay) {
    ASSERT_EQ(pliant("shape beam --resolution 4 -o " + path("beam.obj")).exit_code, 0);
    const std::string beam = path("beam.obj"), volume = path("beam.msh");
    EXPECT_FAILS_WITH("convert " + beam + " " + volume,
                      beam + " is a surface and " + volume +
                          " holds volume meshes; make one with: pliant mesh " + beam + " -o " +
                          volume);
    std::ofstream(path("far.obj")) << "v 0 0 0\nv 1e200 0 0\nv 0 1 0\nf 1 2 3\n";
    EXPECT_FAILS_WITH(
        "convert " + path("far.obj") + " " + path("far.png"),
        path("far.obj") + ": vertex 1 is not finite or beyond 1e30 m and cannot be drawn");
    ASSERT_EQ(pliant("convert " + beam + " " + path("beam.vtu")).exit_code, 0);
    EXPECT_FAILS_WITH("inspect " + path("beam.vtu"), "is written for ParaView and not read back");
}

TEST_F(CommandLine, OneIsCountedInTheSingular) {
    std::ofstream(path("one.obj")) << "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    EXPECT_EQ(pliant("convert " + path("one.obj") + " " + path("one.ply")).text,
              "wrote " + path("one.ply") + ": 3 vertices, 1 triangle\n");
    EXPECT_TRUE(contains(pliant("inspect " + path("one.ply")), ": 3 vertices, 1 triangle, 1 comp"));
    std::ofstream(path("one.mesh")) << "MeshVersionFormatted 2 Dimension 3 Vertices 4\n"
                                       "0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\n"
                                       "Tetrahedra 1\n1 2 3 4 0\nEnd\n";
    EXPECT_TRUE(
        contains(pliant("inspect " + path("one.mesh")), ": 4 vertices, 1 tetrahedron in 1 part\n"));
    EXPECT_EQ(pliant("convert " + path("one.mesh") + " " + path("one.msh")).text,
              "wrote " + path("one.msh") + ": 4 vertices, 1 element\n");
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
    const std::string search = "haptics devices --port 0 --device ";
    const Output table = pliant(search + "haply --device-address ws://127.0.0.1:9");
    EXPECT_EQ(table.exit_code, 0) << table.text;
    EXPECT_TRUE(contains(table, "is free for a driver, by UDP or WebSocket")) << table.text;
    EXPECT_TRUE(contains(table, "nobody answers at ws://127.0.0.1:9")) << table.text;
    const Output other = pliant(search + "force-dimension --device-library " + path("libdhd.so"));
    EXPECT_TRUE(contains(other, "looked for " + path("libdhd.so"))) << other.text;
    const Output json =
        pliant(search + "openhaptics --device-library " + path("libHD.so") + " --json");
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

TEST_F(CommandLine, TheCheckOfADeviceSuggestsGainsAndSaysWhy) {
    const std::string check = "haptics check --yes --delay 3 ";
    const char* reason = "carry 460 N/m at 1000 Hz with 3 samples of delay";
    const Output table = pliant(check + "-o " + path("check.html"));
    for (const char* part :
         {"\nSuggested gains (tool of 5 cm", reason,
          "  stiffness                       460 N/m       limit of the sampled loop: ",
          "  contact_stiffness           1.7e+04 N/m       max_force / max_depth"})
        EXPECT_TRUE(contains(table, part)) << part << "\n" << table.text;
    const std::string page = pliant::read_file(path("check.html"));
    EXPECT_NE(page.find("Gains by rule for this device"), std::string::npos);
    EXPECT_NE(page.find("<td>stiffness</td><td class=\"num\">460</td><td>N/m</td>"),
              std::string::npos);
    EXPECT_NE(page.find(reason), std::string::npos);
    const pliant::JsonValue json = pliant::parse_json(pliant(check + "--json").text, "check");
    const pliant::JsonValue::Array& gains = json.find("gains")->array();
    EXPECT_EQ(gains.size(), 17u);
    for (const pliant::JsonValue& gain : gains)
        for (const char* key : {"name", "unit", "meaning", "reason"})
            EXPECT_NE(gain.find(key)->string(), "") << to_text(gain);
    EXPECT_EQ(gains[0].find("name")->string(), "stiffness");
    EXPECT_NEAR(gains[0].find("value")->number(), 460, 1e-9);
    EXPECT_NE(gains[0].find("reason")->string().find(reason), std::string::npos);
}

TEST_F(CommandLine, ADeviceThatMovesTheWrongWayStopsItsCheck) {
    const std::string check = "haptics check --yes --fault y --profile " + path("device.json");
    EXPECT_FALSE(contains(pliant(check), "Suggested gains"));
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
