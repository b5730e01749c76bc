#include "cli/command_line.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <algorithm>
#include <fstream>
#include <regex>
#include <sstream>

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
    EXPECT_TRUE(contains(output, "simulated device, 1 : ")) << output.text;
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

TEST_F(Session, InterruptedRunFinishesItsRecording) {
    const std::string file = path("a.pliantrec");
    const Output output = interrupted({"run", path("box.json"), "--headless", "--duration", "1e6",
                                       "--record", file, "--progress", "json"});
    EXPECT_EQ(output.exit_code, 130) << output.text;
    // Ctrl-C may come before the recording begins
    if (!std::filesystem::exists(file)) return;
    const Output check = pliant("replay --check --json " + file);
    EXPECT_EQ(check.exit_code, 0) << check.text;
    EXPECT_TRUE(contains(check, "\"problem\":\"\"")) << check.text;
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

}  // namespace
}  // namespace cli_test
