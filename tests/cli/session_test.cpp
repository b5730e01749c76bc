#include "cli/command_line.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <algorithm>
#include <fstream>
#include <regex>
#include <sstream>

#include "pliant/scene/recording.h"

namespace cli_test {
namespace {

/// A falling, turning box that a script grabs: no model has to be built.
constexpr const char* kScene = R"({
  "pliant": 1,
  "name": "box",
  "loops": [{ "name": "slow", "rate": 200 }],
  "bodies": [
    { "name": "box", "rigid": { "box": { "sizes": [0.2, 0.1, 0.1] }, "density": 500 },
      "pose": { "position": [0, 0, 1] } },
    { "name": "ball", "rigid": { "sphere": { "radius": 0.1 }, "density": 100 }, "loop": "slow" }
  ],
  "script": [
    { "time": 0.1, "grab": { "body": "box", "at": [0.1, 0, 1], "target": [0.2, 0.1, 1.2] } }
  ]
})";

/// A peg that a hand presses on the ground.
constexpr const char* kHeldScene = R"({
  "pliant": 1, "name": "peg", "gravity": [0, 0, 0],
  "bodies": [
    { "name": "peg", "rigid": { "shape": "peg", "motion": { "path": { "keyframes": [
        { "time": 0, "position": [0, 0, 0.002] }, { "time": 0.3, "position": [0, 0, -0.004] }] } } },
      "contact": { "pointshell": { "points": 300, "levels": 3, "resolution": 32 } } },
    { "name": "floor", "rigid": { "ground": {} } }
  ],
  "contacts": [{ "shell": "peg", "field": "floor" }],
  "tool": { "body": "peg" }
})";

std::string read(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

std::string hash_in(const Output& output) {
    const std::string mark = "\"state_hash\":\"";
    const std::size_t at = output.text.find(mark);
    return at == std::string::npos ? "" : output.text.substr(at + mark.size(), 16);
}

/// A socket that listens on a free port of this computer.
class TakenPort {
public:
    TakenPort() : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        if (bind(socket_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
            listen(socket_, 1) != 0 ||
            getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
            ADD_FAILURE() << "no port";
        port_ = ntohs(address.sin_port);
    }
    ~TakenPort() { close(socket_); }
    TakenPort(const TakenPort&) = delete;
    TakenPort& operator=(const TakenPort&) = delete;
    [[nodiscard]] int port() const { return port_; }

private:
    int socket_ = -1, port_ = 0;
};

class Session : public CommandLine {
protected:
    void SetUp() override {
        CommandLine::SetUp();
        std::ofstream(path("box.json")) << kScene;
        std::ofstream(path("peg.json")) << kHeldScene;
    }
    [[nodiscard]] std::string headless(const std::string& more) const {
        return "run " + path("box.json") + " --headless --progress none " + more;
    }
};

TEST_F(Session, HeadlessRunSaysWhatHappened) {
    const Output output = pliant(headless("--duration 0.5"));
    EXPECT_EQ(output.exit_code, 0) << output.text;
    EXPECT_TRUE(contains(output, "0.5 s simulated in")) << output.text;
    EXPECT_TRUE(contains(output, "500 ticks at 1000 Hz, work p50")) << output.text;
    EXPECT_TRUE(contains(output, "100 ticks at 200 Hz")) << output.text;
    EXPECT_TRUE(contains(output, "N at most on the hand")) << output.text;
    EXPECT_FALSE(contains(output, " 0 N at most")) << output.text;
}

TEST_F(Session, ABodyBeyondUseIsNamedInTheSummaryAndInJson) {
    std::ofstream(path("soft.json")) << R"({"pliant": 1, "bodies": [
        {"name": "floor", "rigid": {"ground": {}}},
        {"name": "b", "fem": {"box": {"sizes": [0.1, 0.1, 0.1], "cells": [5, 5, 5]},
            "material": {"preset": "tissue", "law": "st-venant-kirchhoff"}},
            "pose": {"position": [0, 0, 0.1]}}]})";
    const std::string run = "run " + path("soft.json") + " --headless --progress none --duration 1";
    const Output output = pliant(run);
    EXPECT_EQ(output.exit_code, 0) << "the run did what was asked; " << output.text;
    EXPECT_TRUE(std::regex_search(
        output.text,
        std::regex("not well +\"b\" was slowed in [0-9]+ steps, which kept its elements from "
                   "turning inside out .*, from 0[0-9.]* s to 0[0-9.]* s; take a stiffer "
                   "material")))
        << output.text;
    const Output json = pliant(run + " --json");
    EXPECT_EQ(std::count(json.text.begin(), json.text.end(), '\n'), 1) << json.text;
    EXPECT_TRUE(contains(json, R"("warnings":[],"troubles":[{"body":"b",)")) << json.text;
    EXPECT_TRUE(contains(json, R"({"body":"b","what":"kept from turning inside out","since_s":0.)"))
        << json.text;
    // and one that is not
    EXPECT_FALSE(contains(pliant(headless("--duration 0.5")), "not well"));
}

TEST_F(Session, BodiesThatPassThroughEachOtherAreNamedAtTheStart) {
    const Output output = pliant(headless("--duration 0.01"));
    EXPECT_TRUE(contains(output, "warning: \"box\" and \"ball\" pass through each other"))
        << output.text;
    EXPECT_TRUE(contains(pliant(headless("--duration 0.01 --json")),
                         R"("warnings":["\"box\" and \"ball\" pass through each other)"));
}

TEST_F(Session, ALoopThatCannotKeepItsRateIsSaidBeforeAndAfter) {
    std::ofstream(path("stiff.json")) << R"({"pliant": 1, "rate": 500, "bodies": [
        {"name": "b", "fem": {"box": {"sizes": [0.1, 0.1, 0.1], "cells": [5, 5, 5]},
            "material": {"youngs_modulus": 1e13, "poisson_ratio": 0.3, "density": 1000}}}]})";
    const std::string run =
        "run " + path("stiff.json") + " --headless --progress none --duration 0.02";
    const Output output = pliant(run);
    EXPECT_EQ(output.exit_code, 0) << output.text;
    EXPECT_TRUE(contains(output, "warning: the loop \"haptic\" will not keep its 500 Hz"))
        << output.text;
    EXPECT_TRUE(contains(output, "10 of 10 ticks of \"haptic\" took longer than their 2 ms"))
        << output.text;
    EXPECT_TRUE(contains(output, ": it cannot run in real time")) << output.text;
    EXPECT_TRUE(contains(pliant(run + " --json"), "\"missed\":10,"));
    // where there is a window, too
    const Output shown = pliant("run " + path("stiff.json") +
                                " --no-browser --port 0 --progress none --duration 1.5");
    EXPECT_EQ(shown.exit_code, 0) << shown.text;
    EXPECT_TRUE(contains(shown, "ticks of \"haptic\" were skipped: a tick of 2 ms took up to "))
        << shown.text;
}

TEST_F(Session, SameSceneGivesTheSameStateForEveryNumberOfThreads) {
    const Output one = pliant(headless("--duration 0.5 --json --threads 1"));
    const Output two = pliant(headless("--duration 0.5 --json --threads 2"));
    const Output longer = pliant(headless("--duration 0.6 --json"));
    EXPECT_EQ(hash_in(one).size(), 16u) << one.text;
    EXPECT_EQ(hash_in(one), hash_in(two));
    EXPECT_NE(hash_in(one), hash_in(longer));
    EXPECT_EQ(std::count(one.text.begin(), one.text.end(), '\n'), 1) << one.text;
    for (const char* key : {"\"peak_force_N\":", "\"p999_us\":", "\"statuses\":{\"ok\":"})
        EXPECT_TRUE(contains(one, key)) << one.text;
}

TEST_F(Session, RecordingIsExportedAndRepeatedBitForBit) {
    const std::string file = path("a.pliantrec");
    ASSERT_EQ(pliant(headless("--duration 0.5 --record " + file)).exit_code, 0);
    const Output content = pliant("inspect " + file);
    EXPECT_TRUE(contains(content, "500 ticks at 1000 Hz, 0 commands")) << content.text;
    EXPECT_TRUE(contains(pliant("inspect --json " + file), "\"complete\":true"));
    const Output replay = pliant("replay " + file + " --progress none --check --csv " +
                                 path("a.csv") + " --obj " + path("frames") + " --fps 10");
    EXPECT_EQ(replay.exit_code, 0) << replay.text;
    EXPECT_TRUE(contains(replay, "none of ")) << replay.text;
    EXPECT_TRUE(contains(replay, "500 rows in ")) << replay.text;
    EXPECT_TRUE(contains(replay, "6 files in ")) << replay.text;
    const std::string table = read(path("a.csv"));
    EXPECT_TRUE(table.starts_with("tick,time_s,hand_x_m,")) << table.substr(0, 80);
    EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 501);
    EXPECT_TRUE(std::filesystem::exists(path("frames/box_0005.obj")));
    EXPECT_EQ(
        pliant("replay " + file + " --loop slow --csv " + path("b.csv") + " --json").exit_code, 0);
    EXPECT_FAILS_WITH("replay " + file + " --loop fast --csv " + path("b.csv"),
                      "--loop = fast (expected one of haptic, slow)");
}

TEST_F(Session, AToolInAHandIsRecordedWithItsDeviceAndRepeatedBitForBit) {
    const std::string file = path("a.pliantrec");
    const std::string run = "run " + path("peg.json") + " --headless --progress none ";
    const Output output = pliant(run + "--duration 0.6 --hand firm --record " + file);
    EXPECT_EQ(output.exit_code, 0) << output.text;
    EXPECT_TRUE(contains(output, "mm at most, 0 of 600 ticks deeper")) << output.text;
    EXPECT_TRUE(contains(output, "simulated device, up to 8.5 N and 0.17 N m, 1 : "))
        << output.text;
    EXPECT_TRUE(contains(pliant("inspect " + file), "simulated device (simulated), 600 readings"));
    const Output replay =
        pliant("replay " + file + " --progress none --check --csv " + path("a.csv"));
    EXPECT_EQ(replay.exit_code, 0) << replay.text;
    EXPECT_TRUE(contains(replay, "none of ")) << replay.text;
    EXPECT_NE(read(path("a.csv")).find(",max_depth_m,"), std::string::npos);
    // what the hand felt
    const Output report = pliant("haptics report " + file + " -o " + path("felt.html"));
    EXPECT_EQ(report.exit_code, 0) << report.text;
    EXPECT_TRUE(contains(report, "0.6 s at 1000 Hz")) << report.text;
    EXPECT_TRUE(contains(report, "deepest contact")) << report.text;
    const std::string page = read(path("felt.html"));
    for (const char* part : {"Energy at the port", "Depth of contacts", "<svg"})
        EXPECT_NE(page.find(part), std::string::npos) << part;
    EXPECT_TRUE(contains(pliant("haptics report --json " + file), "\"violations\":0,"));
    // another grip, another run
    const Output loose = pliant(run + "--json --duration 0.6 --hand loose");
    EXPECT_TRUE(contains(loose, "\"haptics\":{\"device\":\"simulated device\"")) << loose.text;
    EXPECT_NE(hash_in(loose), hash_in(pliant(run + "--json --duration 0.6 --hand firm")));
    EXPECT_FAILS_WITH(run + "--device netwrk", "did you mean \"network\"?");
    EXPECT_FAILS_WITH(run + "--device network", "in which no network device can take part");
    EXPECT_FAILS_WITH("haptics report", "needs the recording");
    const std::string unheld = path("unheld.pliantrec");
    ASSERT_EQ(pliant(headless("--duration 0.01 --record " + unheld)).exit_code, 0);
    EXPECT_FAILS_WITH("haptics report " + unheld, "no tool is held in a hand in this recording");
    EXPECT_FAILS_WITH(headless("--device simulated"),
                      "nothing in the scene \"box\" is held in a hand");
}

TEST_F(Session, ARecordedHandIsPlayedAndFollowed) {
    const std::string file = path("hand.pliantrec"), again = path("again.pliantrec");
    const std::string run = "run " + path("peg.json") + " --headless --progress none --json ";
    const Output made = pliant(run + "--duration 0.5 --hand loose --record " + file);
    ASSERT_EQ(made.exit_code, 0) << made.text;
    const Output played =
        pliant(run + "--duration 0.5 --device recorded --recording " + file + " --record " + again);
    ASSERT_EQ(played.exit_code, 0) << played.text;
    EXPECT_EQ(hash_in(played), hash_in(made));
    EXPECT_TRUE(contains(played, "\"device\":\"recording of simulated device\"")) << played.text;
    const std::string follow = run + "--duration 0.5 --hand firm --recording " + file;
    const Output followed = pliant(follow);
    ASSERT_EQ(followed.exit_code, 0) << followed.text;
    EXPECT_NE(hash_in(followed), hash_in(made));
    EXPECT_EQ(hash_in(followed), hash_in(pliant(follow)));
    const Output longer = pliant("run " + path("peg.json") +
                                 " --headless --progress none --duration 0.6 --device recorded "
                                 "--recording " +
                                 file);
    EXPECT_TRUE(contains(longer, "has ended: the tool stayed where it was, without force"))
        << longer.text;
    // what was played is all there
    std::filesystem::remove(file);
    EXPECT_EQ(pliant("replay " + again + " --progress none --check").exit_code, 0);
    EXPECT_FAILS_WITH(run + "--device recorded",
                      "--device recorded needs the recording that it plays: --recording FILE");
    EXPECT_FAILS_WITH(run + "--recording " + file, "hand.pliantrec");
    EXPECT_FAILS_WITH(run + "--device recorded --hand firm --recording " + again,
                      "is of a simulated device, not of a recorded one");
}

TEST_F(Session, RecordingWithAScriptHoldsTheScript) {
    std::ofstream(path("poke.json"))
        << R"([{ "time": 0.05, "poke": { "body": "box", "at": [0.1, 0, 1], "force": 3 } }])";
    const std::string file = path("a.pliantrec");
    const Output run = pliant(
        headless("--json --duration 0.3 --script " + path("poke.json") + " --record " + file));
    ASSERT_EQ(run.exit_code, 0) << run.text;
    EXPECT_NE(hash_in(run), hash_in(pliant(headless("--json --duration 0.3"))));
    const Output check = pliant("replay --check --json " + file);
    EXPECT_EQ(check.exit_code, 0) << check.text;
    EXPECT_TRUE(contains(check, "\"states_different\":0")) << check.text;
    std::ofstream(path("bad.json")) << R"([{ "time": "soon" }])";
    EXPECT_FAILS_WITH(headless("--script " + path("bad.json")), "bad.json");
}

TEST_F(Session, CutOffRecordingIsUsedUpToItsEndAndSaysSo) {
    const std::string file = path("a.pliantrec");
    ASSERT_EQ(pliant(headless("--duration 6 --record " + file)).exit_code, 0);
    std::filesystem::resize_file(file, std::filesystem::file_size(file) * 2 / 3);
    const Output check = pliant("replay --check --progress none " + file);
    EXPECT_EQ(check.exit_code, 0) << check.text;
    EXPECT_TRUE(contains(check, " s: cut off")) << check.text;
    EXPECT_TRUE(contains(check, "none of ")) << check.text;
}

TEST_F(Session, FullDiskWhileRecordingLeavesAReadableRecording) {
    const std::string file = path("a.pliantrec");
    std::string limited = "( ulimit -f 100; " PLIANT_PROGRAM " ";
    limited += headless("--duration 20 --record " + file) + " ) 2>&1";
    std::FILE* pipe = popen(limited.c_str(), "r");
    Output output{-1, {}};
    std::array<char, 4096> buffer;
    while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe))
        output.text.append(buffer.data(), count);
    output.exit_code = WEXITSTATUS(pclose(pipe));
    EXPECT_EQ(output.exit_code, 1) << output.text;
    EXPECT_TRUE(contains(output, "what was recorded before stays readable")) << output.text;
    const Output check = pliant("replay --check --progress none " + file);
    EXPECT_EQ(check.exit_code, 0) << check.text;
    EXPECT_TRUE(contains(check, "cut off")) << check.text;
}

TEST_F(Session, FullDiskInALiveRunIsSaidAtOnceAndAtTheEnd) {
    const std::string file = path("a.pliantrec"), out = path("out"), errors = path("errors");
    const std::string live =
        "run " + path("box.json") + " --port 0 --no-browser --progress none --record " + file;
    if (contains(pliant(live + " --duration 0.01"), "the viewer is not in this build"))
        GTEST_SKIP() << "no page in this build";
    // until the loss is said, at most as long as a file takes to reach 20 kB and a second more
    std::string limited = "( ulimit -f 20; exec " PLIANT_PROGRAM " ";
    limited += live + " > " + out + " 2> " + errors + " ) & ";
    limited += "for i in $(seq 100); do grep -q 'writing failed' " + errors +
               " && break; sleep 0.05; done; kill -TERM $!; wait $!; echo $? > " + path("code");
    ASSERT_EQ(std::system(limited.c_str()), 0);
    EXPECT_EQ(read(path("code")), "1\n");
    // once, after what is said of the scene
    const std::string said = read(errors);
    EXPECT_EQ(said.substr(std::min(said.find("error: "), said.size())),
              "error: " + file +
                  ": writing failed: File too large; what was recorded before stays readable\n");
    EXPECT_NE(read(out).find("ticks at 1000 Hz"), std::string::npos) << "the run goes on";
    const Output content = pliant("inspect " + file);
    EXPECT_EQ(content.exit_code, 0) << content.text;
    EXPECT_TRUE(contains(content, "cut off")) << content.text;
    EXPECT_EQ(pliant("replay --check --progress none " + file).exit_code, 0);
}

TEST_F(Session, AReadOnlyPlaceIsSaidBeforeTheRun) {
    namespace fs = std::filesystem;
    for (const char* folder : {"home", "r"}) fs::create_directory(path(folder));
    for (const char* file :
         {"r/old.pliantrec", "r/old.obj", "home/fixed.pliantrec", "home/fixed.obj"})
        std::ofstream(path(file)) << "old";
    fs::create_symlink(path("r/new.obj"), path("home/link.obj"));
    const auto set_mode = [&](const char* name, int mode) {
        fs::permissions(path(name), static_cast<fs::perms>(mode));
    };
    for (const char* file : {"r/old.pliantrec", "r/old.obj"}) set_mode(file, 0666);
    for (const char* file : {"home/fixed.pliantrec", "home/fixed.obj"}) set_mode(file, 0444);
    set_mode("box.json", 0644);
    set_mode(".", 0755);
    set_mode("r", 0555);
    const auto record = [&](const char* file) {
        return pliant_as_user({"run", path("box.json"), "--headless", "--progress", "none",
                               "--duration", "0.01", "--record", path(file)},
                              path("home"));
    };
    const auto make = [&](const char* file) {
        return pliant_as_user({"shape", "beam", "--resolution", "8", "-o", path(file)},
                              path("home"));
    };
    // recordings are written where they are, other files beside that and then renamed
    const std::string why = ": cannot be written: Permission denied; choose another place";
    const Output first = record("r/new.pliantrec");
    if (first.exit_code == kNoOtherUser) GTEST_SKIP() << "no other user";
    for (const auto& [refused, file] :
         {std::pair(first, "r/new.pliantrec"),
          std::pair(record("home/fixed.pliantrec"), "home/fixed.pliantrec"),
          std::pair(make("r/new.obj"), "r/new.obj"), std::pair(make("r/old.obj"), "r/old.obj"),
          std::pair(make("home/link.obj"), "home/link.obj")}) {
        EXPECT_EQ(refused.exit_code, 1) << refused.text;
        EXPECT_TRUE(contains(refused, path(file) + why)) << refused.text;
    }
    for (const Output& made : {record("r/old.pliantrec"), make("home/fixed.obj")})
        EXPECT_EQ(made.exit_code, 0) << made.text;
    EXPECT_NE(read(path("r/old.pliantrec")), "old");
    EXPECT_NE(read(path("home/fixed.obj")), "old");
    EXPECT_EQ(read(path("r/old.obj")), "old");
    set_mode("r", 0755);  // or it could not be removed
}

TEST_F(Session, RecordingThatIsRemovedIsSaid) {
    const std::string file = path("a.pliantrec");
    std::string removed = PLIANT_PROGRAM " ";
    removed += headless("--duration 2000 --record " + file) + " 2> " + path("errors");
    removed += " & for i in $(seq 600); do [ -s " + file + " ] && break; sleep 0.05; done; rm " +
               file + "; wait $!";
    EXPECT_EQ(WEXITSTATUS(std::system(removed.c_str())), 1);
    EXPECT_NE(read(path("errors")).find("a.pliantrec: the file was removed while it was being"),
              std::string::npos);
}

/// Nothing that a terminal obeys.
bool is_plain(const std::string& text) {
    const auto is_control = [](unsigned char c) { return (c < ' ' && c != '\n') || c == 0x7f; };
    return std::none_of(text.begin(), text.end(), is_control) &&
           text.find("\xc2\x9b") == std::string::npos;
}

TEST_F(Session, NamesInScenesReachTheTerminalAsText) {
    std::string scene = kScene;  // ESC and U+009B begin commands to a terminal
    const std::string name = R"("name": "box",)";
    scene.replace(scene.find(name), name.size(),
                  R"("name": "box\u001b[2J\nstate ok\u009b31m", "description": "\u001b[2J",)");
    std::ofstream(path("box.json")) << scene;
    const std::string file = path("a.pliantrec");
    const Output run = pliant(headless("--duration 0.2 --record " + file));
    EXPECT_TRUE(contains(run, "box?[2J?state ok?31m 0.2 s simulated")) << run.text;
    for (const std::string& command :
         {headless("--json"), "inspect " + file, "inspect --json " + file,
          "replay --check --progress lines " + file,
          "replay --progress lines --obj " + path("frames") + " " + file})
        EXPECT_TRUE(is_plain(pliant(command).text)) << command;
    for (const auto& frame : std::filesystem::directory_iterator(path("frames")))
        EXPECT_TRUE(is_plain(frame.path().string()));
}

TEST_F(Session, NamesOfBodiesReachTheTerminalAsTextBesideJsonToo) {
    std::string scene = kScene;
    const std::string name = R"("name": "ball")";
    scene.replace(scene.find(name), name.size(), R"("name": "ball\u001bc\u009b31m")");
    std::ofstream(path("ball.json")) << scene;
    const Output run = pliant("run " + path("ball.json") +
                              " --no-browser --port 0 --duration 0.1 --progress none --json");
    if (contains(run, "the viewer is not in this build")) GTEST_SKIP() << "no page";
    EXPECT_EQ(run.exit_code, 0) << run.text;
    EXPECT_TRUE(contains(run, "warning: \"box\" and \"ball?c?31m\" pass through each other"))
        << run.text;
    EXPECT_TRUE(is_plain(run.text)) << run.text;
}

TEST_F(Session, NamesInRecordingsReachTheTerminalAsText) {
    using pliant::RecordingHeader;
    const std::string odd =
        "a\x1b[2J\nproblem none\xc2\x9b"
        "1m";
    const std::string file = path("a.pliantrec");
    RecordingHeader header{.scene = odd, .scene_folder = odd, .version = odd, .started = odd};
    header.loops.push_back({odd, 1000});
    header.bodies.push_back({odd, 0, 0, 1, 1});
    header.device = RecordingHeader::Device{.loop = 0, .kind = odd, .is_virtual = true};
    header.device->capabilities.name = odd;
    {
        pliant::RecordingWriter writer(file, header);
        const pliant::TickSample sample{};
        writer.add(0, pliant::RecordKind::Sample, 1, std::as_bytes(std::span(&sample, 1)));
        writer.finish();
    }
    const Output content = pliant("inspect " + file);
    EXPECT_EQ(content.exit_code, 0) << content.text;
    EXPECT_EQ(std::count(content.text.begin(), content.text.end(), '\n'), 3) << content.text;
    for (const std::string& command :
         {"inspect " + file, "inspect --json " + file, "replay --check " + file,
          "replay --loop no --csv " + path("a.csv") + " " + file,
          "replay --csv " + path("a.csv") + " " + file, "haptics report " + file})
        EXPECT_TRUE(is_plain(pliant(command).text)) << command;
}

TEST_F(Session, NamesInMeshesReachTheTerminalAsText) {
    const std::string beam = "'" + path("b\x1b[1m.obj") + "'";
    ASSERT_EQ(pliant("shape beam --resolution 8 -o " + beam).exit_code, 0);
    const std::string make = "mesh " + beam + " --resolution 8 --progress lines -o ";
    EXPECT_TRUE(is_plain(pliant(make + path("a.pliant")).text));
    const Output archive = pliant("inspect " + path("a.pliant"));  // knows where it came from
    EXPECT_TRUE(contains(archive, "b?[1m.obj")) << archive.text;
    EXPECT_TRUE(is_plain(archive.text)) << archive.text;
    std::ofstream(path("odd.obj")) << "v 0 \x1b[2J 0\n";
    std::ofstream(path("odd.json")) << "{\"pliant\": 1, \"\\u001b[2J\": 3}";
    std::ofstream(path("odd.msh")) << "$MeshFormat\n4.1 0 8\n$\x1b[2J\n";
    for (const char* file : {"inspect odd.obj", "run --headless odd.json", "inspect odd.msh"}) {
        const std::string words = file;
        const std::size_t name = words.rfind(' ') + 1;
        const Output refused = pliant(words.substr(0, name) + path(words.substr(name)));
        EXPECT_NE(refused.exit_code, 0) << refused.text;
        EXPECT_TRUE(is_plain(refused.text)) << refused.text;
    }
}

TEST_F(Session, InterruptedRunFinishesItsRecording) {
    const auto before = std::signal(SIGHUP, SIG_DFL);  // tests may run under nohup
    // Ctrl-C, and what ends a program whose terminal or machine goes
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        const std::string file = path("a" + std::to_string(signal) + ".pliantrec");
        const Output output = interrupted({"run", path("box.json"), "--headless", "--duration",
                                           "1e6", "--record", file, "--progress", "json"},
                                          signal);
        EXPECT_EQ(output.exit_code, 130) << signal << ": " << output.text;
        // it may come before the recording begins
        if (!std::filesystem::exists(file)) continue;
        const Output check = pliant("replay --check --json " + file);
        EXPECT_EQ(check.exit_code, 0) << check.text;
        EXPECT_TRUE(contains(check, "\"problem\":\"\"")) << check.text;
    }
    std::signal(SIGHUP, before);
}

TEST_F(Session, DemosAreListedAndMisspeltOnesCorrected) {
    const Output list = pliant("demo --list");
    EXPECT_EQ(list.exit_code, 0);
    for (const char* name : {"bridge", "spoon", "tower", "heart", "twist", "wedge", "poke"})
        EXPECT_TRUE(contains(list, name)) << list.text;
    EXPECT_TRUE(pliant("demo --list --json").text.starts_with("{\"name\":\"bridge\""));
    EXPECT_FAILS_WITH("demo brigde --headless", "did you mean bridge?");
}

TEST_F(Session, WrongFilesAndOptionsAreNamed) {
    EXPECT_FAILS_WITH("run " + path("none.json"), "none.json: the file does not exist");
    EXPECT_FAILS_WITH("replay " + path("none.pliantrec"), "none.pliantrec");
    EXPECT_FAILS_WITH("replay --check " + path("box.json"), "not a Pliant recording");
    EXPECT_FAILS_WITH("run " + path("a.pliantrec"), "is a recording; use pliant replay");
    EXPECT_FAILS_WITH(headless("--record " + path("a.txt")),
                      "(expected a name ending in one of .pliantrec)");
    EXPECT_FAILS_WITH(headless("--duration -1"), "--duration = -1 (expected a number from 0");
    EXPECT_FAILS_WITH(headless("--port 8000"), "--port is for the viewer");
}

/// In the address that a run printed; empty: none.
std::string token_of(const std::string& text) {
    std::smatch found;
    return std::regex_search(text, found, std::regex(R"(\?t=([0-9a-f]{32})\b)")) ? found[1].str()
                                                                                 : std::string();
}
std::string token_of(const Output& run) { return token_of(run.text); }

TEST_F(Session, ViewerPrintsItsAddressAndStopsCleanly) {
    const Output output =
        pliant("run " + path("box.json") + " --port 0 --no-browser --duration 0.2 --progress none");
    if (contains(output,
                 "the viewer is not in this build; install npm and build again, or use "
                 "--headless")) {
        EXPECT_EQ(output.exit_code, 1);
        return;
    }
    EXPECT_EQ(output.exit_code, 0) << output.text;
    EXPECT_TRUE(contains(output, "Running at 1000 Hz. Open  http://127.0.0.1:")) << output.text;
    EXPECT_TRUE(contains(output, "help: ?")) << output.text;
    const std::regex times(
        "haptic +[0-9,]+ ticks at 1000 Hz, late by p50 [0-9.]+ µs, p99.9 [0-9.]+, max [0-9.]+; "
        "[0-9.]+ % within 0.1 ms");
    EXPECT_TRUE(std::regex_search(output.text, times)) << output.text;
    const Output json = pliant("run " + path("box.json") +
                               " --port 0 --no-browser --duration 0.2 --progress none --json");
    const std::regex members(R"("late_p999_us":[0-9.e+-]+.*"on_time":[01])");
    EXPECT_TRUE(std::regex_search(json.text, members)) << json.text;

    // a token of 128 bits, another one in each run
    EXPECT_EQ(token_of(output).size(), 32u) << output.text;
    EXPECT_EQ(token_of(json).size(), 32u) << json.text;
    EXPECT_NE(token_of(output), token_of(json));
    EXPECT_FALSE(contains(output, "Warning")) << output.text;

    const TakenPort taken;
    const std::string port = std::to_string(taken.port());
    EXPECT_FAILS_WITH("run " + path("box.json") + " --no-browser --port " + port,
                      "port " + port + " is in use; choose another with --port");

    // SIGTERM is as good as Ctrl-C
    std::string stopped = PLIANT_PROGRAM " run ";
    stopped += path("box.json") + " --port 0 --no-browser --progress none > " + path("out");
    stopped += " & for i in $(seq 600); do grep -q 'Running at' " + path("out");
    stopped += " && break; sleep 0.05; done; kill -TERM $!; wait $!";
    EXPECT_EQ(std::system(stopped.c_str()), 0);
    EXPECT_NE(read(path("out")).find("Running at"), std::string::npos);
}

TEST_F(Session, ViewerThatIsOpenToTheNetworkSaysWhoMayComeInAndHow) {
    const std::string run =
        "run " + path("box.json") + " --no-browser --duration 0.1 --progress none --port 0 ";
    const Output output = pliant(run + "--address 0.0.0.0");
    if (contains(output, "the viewer is not in this build")) GTEST_SKIP() << "no page";
    EXPECT_EQ(output.exit_code, 0) << output.text;
    for (const char* part :
         {"Warning: with --address the viewer is open to other machines",
          "everybody who can reach this one may try to come in",
          "The token in the address is the only protection", "nothing is encrypted",
          "Without --address the viewer answers this computer only"})
        EXPECT_TRUE(contains(output, part)) << output.text;
    // addresses of the network, or the word that there is none
    const std::regex loopback(R"(Open  http://(127|\[::1\]))"), numbers(R"(Open  http://[0-9.]+:)");
    if (contains(output, "This computer has no address in a network now"))
        EXPECT_TRUE(std::regex_search(output.text, loopback)) << output.text;
    else
        EXPECT_FALSE(std::regex_search(output.text, loopback)) << output.text;
    EXPECT_TRUE(std::regex_search(output.text, numbers)) << output.text;
    const Output json = pliant(run + "--address 0.0.0.0 --json");
    EXPECT_TRUE(std::regex_search(json.text, std::regex(R"("urls":\["http://[0-9.]+:)")))
        << json.text;
    const Output closed = pliant(run + "--address 127.0.0.1");
    EXPECT_EQ(closed.exit_code, 0) << closed.text;
    EXPECT_FALSE(contains(closed, "Warning")) << closed.text;
}

TEST_F(Session, ATokenIsKeptOrItIsSaidWhyNot) {
    namespace fs = std::filesystem;
    const std::string run = PLIANT_PROGRAM " run " + path("box.json") +
                            " --no-browser --duration 0.05 --progress none --keep-token --port ";
    const auto in_cache = [&](const char* folder) {
        return "XDG_CACHE_HOME=" + path(folder) + " ";
    };
    const Output first = shell(in_cache("cache") + run + "0");
    if (contains(first, "the viewer is not in this build")) GTEST_SKIP() << "no page";
    const std::string kept = token_of(first), file = path("cache/pliant/viewer-token");
    EXPECT_EQ(kept.size(), 32u) << first.text;
    EXPECT_EQ(token_of(shell(in_cache("cache") + run + "0")), kept);
    EXPECT_EQ(read(file), kept);
    EXPECT_EQ(fs::status(file).permissions(), fs::perms(0600));
    EXPECT_FALSE(contains(first, "not kept")) << first.text;

    const auto expect_other = [&](const std::string& command, const std::string& why) {
        const Output other = shell(command + "0");
        EXPECT_EQ(other.exit_code, 0) << other.text;
        EXPECT_TRUE(contains(other, "The token is for this run alone and not kept: " + why + "."))
            << other.text;
        EXPECT_EQ(token_of(other).size(), 32u) << other.text;
        EXPECT_NE(token_of(other), kept);
    };
    fs::permissions(file, fs::perms(0640));
    expect_other(in_cache("cache") + run, file + ": others may read it; remove it");
    fs::permissions(file, fs::perms(0600));
    fs::resize_file(file, 10);
    expect_other(in_cache("cache") + run, file + ": holds no whole token; remove it");
    fs::remove(file);
    std::ofstream(path("elsewhere")) << kept;
    fs::create_symlink(path("elsewhere"), file);
    expect_other(in_cache("cache") + run, file + ": is a link; remove it");
    expect_other(in_cache("box.json") + run,
                 path("box.json") + "/pliant: cannot be made: Not a directory");
    expect_other("env -u HOME -u XDG_CACHE_HOME " + run,
                 "there is no cache folder to keep it in; set HOME");
    // nothing is left of what a full disk did not take
    const Output full = shell("( ulimit -f 0; " + in_cache("full") + run + "0 )");
    EXPECT_TRUE(
        contains(full, path("full/pliant/viewer-token") + ": cannot be written: File too large."))
        << full.text;
    EXPECT_TRUE(fs::is_empty(path("full/pliant")));
}

TEST_F(Session, TwoFirstStartsKeepOneToken) {
    const std::string run = "XDG_CACHE_HOME=" + path("cache") + " " PLIANT_PROGRAM " run " +
                            path("box.json") +
                            " --no-browser --duration 0.05 --progress none --keep-token --port 0 ";
    std::string both;
    for (int i = 0; i < 4; ++i) both += run + "> " + path("out" + std::to_string(i)) + " 2>&1 & ";
    (void)shell("( " + both + "wait )");
    const std::string token = token_of(read(path("out0")));
    if (read(path("out0")).find("not in this build") != std::string::npos) GTEST_SKIP();
    EXPECT_EQ(token.size(), 32u);
    for (int i = 1; i < 4; ++i)
        EXPECT_EQ(token_of(read(path("out" + std::to_string(i)))), token) << i;
    EXPECT_EQ(read(path("cache/pliant/viewer-token")), token);
}

TEST_F(Session, AKeptTokenIsRenewedWhereAnotherProgramHasThePort) {
    const std::string run = "XDG_CACHE_HOME=" + path("cache") + " " PLIANT_PROGRAM " run " +
                            path("box.json") +
                            " --no-browser --duration 0.05 --progress none --keep-token --port ";
    const Output first = shell(run + "0");
    if (contains(first, "the viewer is not in this build")) GTEST_SKIP() << "no page";
    const TakenPort taken;
    const std::string port = std::to_string(taken.port());
    const Output refused = shell(run + port);
    EXPECT_EQ(refused.exit_code, 1) << refused.text;
    EXPECT_TRUE(contains(refused,
                         "There is a new token instead of the kept one, which pages that are "
                         "still open may have told to the program on port " +
                             port + "."))
        << refused.text;
    const Output second = shell(run + "0");
    EXPECT_EQ(token_of(second).size(), 32u) << second.text;
    EXPECT_NE(token_of(second), token_of(first));
    EXPECT_EQ(token_of(shell(run + "0")), token_of(second));
}

TEST_F(Session, AClosedTerminalEndsTheRunInOrder) {
    const std::string file = path("a.pliantrec"), out = path("out");
    const std::string run =
        "run " + path("box.json") + " --port 0 --no-browser --progress none --record " + file;
    if (contains(pliant(run + " --duration 0.01"), "the viewer is not in this build"))
        GTEST_SKIP() << "no page";
    // twice, as kernel and shell do
    std::string stopped = PLIANT_PROGRAM " ";
    stopped += run + " > " + out + " 2>&1 & for i in $(seq 600); do grep -q 'Running at' " + out +
               " && break; sleep 0.05; done; sleep 0.2; kill -HUP $!; kill -HUP $! 2> " +
               path("late") + "; wait $!; echo $? > " + path("code");
    const auto before = std::signal(SIGHUP, SIG_DFL);  // tests may run under nohup
    EXPECT_EQ(std::system(stopped.c_str()), 0);
    std::signal(SIGHUP, before);
    EXPECT_EQ(read(path("code")), "0\n") << read(out);
    const Output check = pliant("replay --check --json " + file);
    EXPECT_EQ(check.exit_code, 0) << check.text;
    EXPECT_TRUE(contains(check, "\"problem\":\"\"")) << check.text;
}

/// A program that takes the place of the one that opens browsers, in a folder of its own.
std::string fake_browser(const std::string& folder, const std::string& script) {
    std::filesystem::create_directory(folder);
    std::ofstream(folder + "/xdg-open") << script;
    std::filesystem::permissions(folder + "/xdg-open", std::filesystem::perms::owner_all);
    return "PATH=" + folder + ":$PATH DISPLAY=:99 ";
}

TEST_F(Session, BrowserIsOpenedWithoutTheTokenInItsWords) {
    std::filesystem::create_directory(path("runtime"));
    const std::string browser = fake_browser(path("bin"), "#!/bin/sh\ncd " + folder_.string() + R"(
tr '\0' ' ' </proc/$$/cmdline >words
cp "$1" copy
stat -c %a "$1" >mode
echo $$ >process
cut -d ' ' -f 6 /proc/$$/stat >session
grep SigIgn /proc/$$/status >ignored
readlink /proc/$$/fd/0 >input
)");
    const Output output =
        shell(browser + "XDG_RUNTIME_DIR=" + path("runtime") + " " PLIANT_PROGRAM " run " +
              path("box.json") + " --port 0 --duration 1 --progress none <" + path("box.json"));
    if (contains(output, "the viewer is not in this build")) GTEST_SKIP() << "no page";
    EXPECT_EQ(output.exit_code, 0) << output.text;
    std::smatch url;
    ASSERT_TRUE(std::regex_search(output.text, url, std::regex(R"(http://\S+\?t=[0-9a-f]{32})")));
    const std::string words = read(path("words"));
    EXPECT_NE(words.find("xdg-open " + path("runtime") + "/pliant-"), std::string::npos) << words;
    EXPECT_EQ(words.find("t="), std::string::npos) << words;
    EXPECT_EQ(read(path("mode")), "600\n");
    EXPECT_NE(read(path("copy")).find("url=" + url[0].str()), std::string::npos)
        << read(path("copy"));
    // nothing is left
    EXPECT_TRUE(std::filesystem::is_empty(path("runtime")));
    // it may still be at work
    for (int i = 0; i < 100 && read(path("input")).empty(); ++i) usleep(50'000);
    // Ctrl-C on our terminal is not for it, and it has the signals and input of a program on its
    // own
    EXPECT_EQ(read(path("session")), read(path("process")));
    EXPECT_EQ(read(path("input")), "/dev/null\n");
    const std::string ignored = read(path("ignored"));
    const std::size_t digits = ignored.find_first_of("0123456789abcdef", ignored.find(':'));
    ASSERT_NE(digits, std::string::npos) << ignored;
    const auto mask = std::stoull(ignored.substr(digits), nullptr, 16);
    for (const int signal : {SIGINT, SIGHUP, SIGPIPE, SIGXFSZ})
        EXPECT_EQ(mask >> (signal - 1) & 1u, 0u) << signal;
}

TEST_F(Session, ABrowserThatDoesNotComeIsSaid) {
    const std::string silent = fake_browser(path("silent"), "#!/bin/sh\n");
    // one that asks for the page, which needs no token
    const std::string asking =
        fake_browser(path("asking"), "#!/usr/bin/env bash\ncd " + folder_.string() + R"(
host=$(sed -n 's|.*href="http://\([^/]*\)/.*|\1|p' "$1")
exec 3<>"/dev/tcp/${host%:*}/${host#*:}"
printf 'GET / HTTP/1.1\r\nHost: %s\r\n\r\n' "$host" >&3
head -c 15 <&3 >answer
)");
    const std::string sentence = "The browser did not come; open the address above.\n";
    const std::string run = "XDG_CACHE_HOME=" + path("cache") + " " PLIANT_PROGRAM " run " +
                            path("box.json") + " --port 0 --progress none --duration ";
    // none at all is known at once
    const Output none = shell("DISPLAY=:99 PATH=" + path("nothing") + " " + run + "0.1");
    if (contains(none, "the viewer is not in this build")) GTEST_SKIP() << "no page";
    EXPECT_EQ(none.exit_code, 0) << none.text;
    EXPECT_TRUE(contains(none, sentence)) << none.text;
    // both at the same time, longer than a browser is waited for
    EXPECT_EQ(shell("( " + silent + run + "9 >" + path("out") + " 2>&1 & " + asking + run + "9 >" +
                    path("other") + " 2>&1; wait )")
                  .exit_code,
              0);
    const std::string said = read(path("out"));
    EXPECT_NE(said.find(sentence), std::string::npos) << said;
    EXPECT_EQ(said.find(sentence), said.rfind(sentence)) << "once; " << said;
    EXPECT_EQ(read(path("other")).find(sentence), std::string::npos) << read(path("other"));
    EXPECT_EQ(read(path("answer")), "HTTP/1.1 200 OK");
}

}  // namespace
}  // namespace cli_test
