#include "cli/command_line.h"

#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <optional>

#include "pliant/core/json_value.h"
#include "pliant/scene/recording.h"
#include "pliant/scene/scene_file.h"

// Scenes, recordings and profiles come from anybody: no code that they name runs, nothing that they
// name is called or listens beyond this computer. PLIANT_MARKER_LIBRARY writes a file as soon as it
// is loaded.

namespace cli_test {
namespace {

namespace fs = std::filesystem;

/// A peg that a hand presses on the ground, with a device.
std::string peg_scene(const std::string& device) {
    return R"({
  "pliant": 1, "name": "peg", "gravity": [0, 0, 0],
  "bodies": [
    { "name": "peg", "rigid": { "shape": "peg", "motion": { "path": { "keyframes": [
        { "time": 0, "position": [0, 0, 0.002] }, { "time": 0.3, "position": [0, 0, -0.004] }] } } },
      "contact": { "pointshell": { "points": 300, "levels": 3, "resolution": 32 } } },
    { "name": "floor", "rigid": { "ground": {} } }
  ],
  "contacts": [{ "shell": "peg", "field": "floor" }],
  "tool": { "body": "peg" }, "device": {)" +
           device + "}}";
}

std::string quoted(const std::string& text) { return "\"" + text + "\""; }

/// The library as messages show it: values are cut where they are long, as paths may be.
std::string shown_library() {
    return pliant::to_text(pliant::JsonValue(std::string(PLIANT_MARKER_LIBRARY)));
}

/// Of the environment, set back at the end.
class Variable {
public:
    Variable(const char* name, const std::string& value) : name_(name) {
        if (const char* const old = std::getenv(name)) old_ = old;
        setenv(name, value.c_str(), 1);
    }
    ~Variable() {
        if (old_)
            setenv(name_, old_->c_str(), 1);
        else
            unsetenv(name_);
    }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

private:
    const char* name_;
    std::optional<std::string> old_;
};

class ForeignFiles : public CommandLine {
protected:
    void SetUp() override {
        CommandLine::SetUp();
        mark_.emplace("PLIANT_MARKER", path("marker"));
        config_.emplace("XDG_CONFIG_HOME", path("config"));
        fs::create_directories(path("config/pliant"));
        for (const char* folder : {"config", "config/pliant"}) chmod(path(folder).c_str(), 0755);
    }
    [[nodiscard]] std::string write(const std::string& name, const std::string& text) const {
        std::ofstream(path(name)) << text;
        chmod(path(name).c_str(), 0644);
        return path(name);
    }
    /// Whether the library was loaded since the last call.
    [[nodiscard]] bool has_run() const { return fs::remove(path("marker")); }
    [[nodiscard]] std::string shown(const std::string& scene, const std::string& more = "") const {
        return "run " + scene + " --no-browser --port 0 --duration 0.1 --progress none " + more;
    }
    [[nodiscard]] std::string profile(const std::string& name, const std::string& device) const {
        return write(name,
                     R"({"pliant_device_profile": 1, "passed": true, "device": {)" + device + "}}");
    }
    [[nodiscard]] std::string library_profile(const std::string& name) const {
        return profile(name, R"("kind": "force-dimension", "max_force": 2, "library": )" +
                                 quoted(PLIANT_MARKER_LIBRARY));
    }
    /// A recording of a tool in a hand whose scene names this device.
    [[nodiscard]] std::string recording(const std::string& name, const std::string& device,
                                        bool has_readings) const {
        using namespace pliant;
        const Recording made = [&] {
            World world(parse_scene(peg_scene(""), "peg"), {.cache = path("cache")});
            WorldRecorder recorder(path("made.pliantrec"), world, recording_header(world));
            for (int k = 0; k < 50; ++k) recorder.add_tick(world, world.advance(), 1);
            recorder.finish();
            return Recording::load(path("made.pliantrec"));
        }();
        World world(parse_scene(peg_scene(""), "peg"),
                    {.cache = path("cache"), .say = {}, .device = recorded_readings(made, name)});
        RecordingHeader header = recording_header(world);
        header.scene = peg_scene(device);
        header.device->kind = has_readings ? "force-dimension" : "simulated";
        header.device->is_virtual = !has_readings;
        WorldRecorder recorder(path(name), world, header);
        for (int k = 0; k < 50; ++k) recorder.add_tick(world, world.advance(), 1);
        recorder.finish();
        return path(name);
    }

private:
    std::optional<Variable> mark_, config_;
};

std::string library_device() {
    return R"("kind": "force-dimension", "library": )" + quoted(PLIANT_MARKER_LIBRARY);
}

TEST_F(ForeignFiles, ALibraryIsLoadedWhenTheCommandLineNamesIt) {
    // shows that the mark is left, so that the tests below can fail
    const std::string library = " --device-library " PLIANT_MARKER_LIBRARY;
    const Output listed = pliant("haptics devices --device openhaptics" + library);
    EXPECT_TRUE(has_run()) << listed.text;
    EXPECT_TRUE(contains(listed, "has no function hdInitDevice")) << listed.text;
    EXPECT_FAILS_WITH("haptics check --yes --device force-dimension" + library,
                      "has no function dhdGetSDKVersion");
    EXPECT_TRUE(has_run());
    const Output run =
        pliant(shown(write("peg.json", peg_scene("")), "--device force-dimension" + library));
    if (contains(run, "the viewer is not in this build")) GTEST_SKIP();
    EXPECT_TRUE(has_run()) << run.text;
    // where it belongs to nothing
    EXPECT_FAILS_WITH(shown(path("peg.json"), library),
                      "(expected a device that has one, force-dimension or openhaptics, not a "
                      "simulated one: choose it with --device)");
    EXPECT_FAILS_WITH("haptics devices" + library, "--device KIND says");
    EXPECT_FALSE(has_run());
}

TEST_F(ForeignFiles, ASceneCannotNameALibrary) {
    const std::string scene = write("peg.json", peg_scene(library_device()));
    const std::string refusal = scene + ": device.library = " + shown_library() +
                                " (expected nothing: no scene says which code runs. Leave it out "
                                "and name the maker's library on the command line, "
                                "--device-library FILE, or in a profile of your own in " +
                                path("config/pliant") + ")";
    for (const std::string& command :
         {shown(scene), "run " + scene + " --headless --progress none",
          "run " + scene + " --headless --device simulated --progress none"})
        EXPECT_FAILS_WITH(command, refusal);
    EXPECT_FALSE(has_run());
}

TEST_F(ForeignFiles, AReplayOpensNoDevice) {
    const std::string file = recording("a.pliantrec", library_device(), true);
    for (const std::string& command :
         {"inspect " + file, "replay " + file + " --check",
          "replay " + file + " --csv " + path("a.csv") + " --obj " + path("frames") + " --fps 100",
          "replay " + file + " --vtu " + path("more"),
          "replay " + file + " --no-browser --port 0 --duration 0.1"}) {
        const Output output = pliant(command + " --progress none");
        if (contains(output, "the viewer is not in this build")) continue;
        EXPECT_EQ(output.exit_code, 0) << command << "\n" << output.text;
        EXPECT_FALSE(has_run()) << command;
        if (command.starts_with("replay"))
            EXPECT_TRUE(contains(output,
                                 "that the recording names is left out; a replay opens no "
                                 "device"))
                << output.text;
    }
    EXPECT_TRUE(fs::exists(path("frames/peg_0001.obj")));
}

TEST_F(ForeignFiles, ARecordingThatHidesItsDeviceIsRefused) {
    // says that its hand was simulated, so that the device of its scene would be opened
    for (const std::string& device :
         {library_device(), std::string(R"("kind": "openhaptics")"),
          std::string(R"("kind": "network", "address": "0.0.0.0", "port": 0)")}) {
        const std::string file = recording("a.pliantrec", device, false);
        for (const char* more : {" --check", " --obj ", " --no-browser --port 0 --duration 0.1"})
            EXPECT_FAILS_WITH("replay " + file + more +
                                  (more == std::string(" --obj ") ? path("frames") : "") +
                                  " --progress none",
                              "device that its scene names, and a replay opens none; record the "
                              "scene again, or run it with pliant run");
        EXPECT_FALSE(has_run());
        EXPECT_EQ(pliant("inspect " + file).exit_code, 0);
    }
    EXPECT_FALSE(has_run());
}

TEST_F(ForeignFiles, AProfileOfSomebodyElseCannotNameALibrary) {
    const std::string scene = write("peg.json", peg_scene(""));
    const std::string other = library_profile("other.json");
    const std::string refusal = other + ": device.library = " + shown_library() +
                                " (expected a profile of your own, in " + path("config/pliant") +
                                ", but " + other +
                                " is not in it; keep it there if you trust it, or give "
                                "--device-library FILE on the command line)";
    EXPECT_FAILS_WITH(shown(scene, "--profile " + other), refusal);
    EXPECT_FAILS_WITH("run " + scene + " --headless --profile " + other, refusal);
    // nor by a link, or where others can write
    fs::create_symlink(other, path("config/pliant/link.json"));
    EXPECT_FAILS_WITH(shown(scene, "--profile " + path("config/pliant/link.json")), "is not in it");
    const std::string own = library_profile("config/pliant/own.json");
    for (const char* loose : {"config/pliant/own.json", "config/pliant", "config"}) {
        const std::string place = path(loose);
        struct stat before {};
        ASSERT_EQ(stat(place.c_str(), &before), 0);
        chmod(place.c_str(), before.st_mode | S_IWOTH);
        EXPECT_FAILS_WITH(shown(scene, "--profile " + own),
                          place + " may be written by others: chmod go-w " + place);
        chmod(place.c_str(), before.st_mode);
    }
    EXPECT_FALSE(has_run());
    // what was measured counts with a library of one's own
    EXPECT_FAILS_WITH(shown(scene, "--profile " + other + " --device-library /nowhere/libdhd.so"),
                      "looked for /nowhere/libdhd.so");
    EXPECT_FALSE(has_run());
    // and one's own is believed
    const Output run = pliant(shown(scene, "--profile " + own));
    if (contains(run, "the viewer is not in this build")) GTEST_SKIP();
    EXPECT_TRUE(has_run()) << run.text;
    // with a library beside it
    fs::copy_file(PLIANT_MARKER_LIBRARY, path("config/pliant/mine.so"));
    (void)pliant(
        shown(scene, "--profile " + profile("config/pliant/beside.json",
                                            R"("kind": "openhaptics", "library": "./mine.so")")));
    EXPECT_TRUE(has_run());
}

TEST_F(ForeignFiles, AProfileOfAnotherUserIsNotOnesOwn) {
    if (geteuid() != 0) GTEST_SKIP() << "only the administrator gives files away";
    const std::string scene = write("peg.json", peg_scene(""));
    const std::string own = library_profile("config/pliant/own.json");
    for (const char* foreign : {"config/pliant/own.json", "config/pliant", "config"}) {
        const std::string place = path(foreign);
        if (chown(place.c_str(), kOtherUser, kOtherUser) != 0) GTEST_SKIP() << "no other user";
        EXPECT_FAILS_WITH("run " + scene + " --headless --progress none --profile " + own,
                          "(expected a profile of your own, in " + path("config/pliant") +
                              ", but " + place + " is of another user");
        EXPECT_FAILS_WITH(shown(scene, "--profile " + own), place + " is of another user");
        EXPECT_FALSE(has_run());
        ASSERT_EQ(chown(place.c_str(), 0, 0), 0);
    }
}

TEST_F(ForeignFiles, NamesOfLibrariesAreNotLookedForInTheCurrentFolder) {
    for (const char* name : {"libdhd.so.3", "libHD.so"})
        fs::copy_file(PLIANT_MARKER_LIBRARY, path(name));
    const auto devices = [&] {
        const std::string command =
            "cd " + folder_.string() + " && " PLIANT_PROGRAM " haptics devices --port 0 2>&1";
        Output output{0, {}};
        std::FILE* pipe = popen(command.c_str(), "r");
        char line[1000];
        while (std::fgets(line, sizeof line, pipe)) output.text += line;
        output.exit_code = pclose(pipe);
        return output;
    };
    (void)devices();
    EXPECT_FALSE(has_run());
    for (const char* here : {":/nowhere", "/nowhere:", "/nowhere::/elsewhere", "."}) {
        const Variable searched("LD_LIBRARY_PATH", here);
        const Output output = devices();
        EXPECT_FALSE(has_run()) << here;
        EXPECT_TRUE(contains(output, std::string("LD_LIBRARY_PATH = ") + here +
                                         " (expected absolute paths alone: an entry that is empty "
                                         "or relative has libraries run from the current folder"))
            << output.text;
    }
    {
        // the folder of the program, where there is no such library
        const Variable searched("LD_LIBRARY_PATH", "$ORIGIN/../lib:${ORIGIN}");
        const Output output = devices();
        EXPECT_FALSE(has_run());
        EXPECT_FALSE(contains(output, "LD_LIBRARY_PATH = ")) << output.text;
    }
    const Variable searched("LD_LIBRARY_PATH", folder_.string());
    (void)devices();
    EXPECT_TRUE(has_run()) << "the user's own word";
}

TEST_F(ForeignFiles, NoFileOpensADeviceToOtherComputers) {
    const std::string every =
        write("every.json", peg_scene(R"("kind": "network", "address": "0.0.0.0", "port": 0)"));
    const std::string far =
        write("far.json", peg_scene(R"("kind": "haply", "url": "ws://192.0.2.1:10001")"));
    const std::string refusal =
        " (expected one of this computer alone, with 127.0.0.1: no file opens a device to other "
        "computers. Leave it out and give it on the command line, --device-address ";
    EXPECT_FAILS_WITH(shown(every),
                      every + ": device.address = \"0.0.0.0\"" + refusal + "0.0.0.0)");
    EXPECT_FAILS_WITH(shown(far), far + ": device.url = \"ws://192.0.2.1:10001\"" + refusal +
                                      "ws://192.0.2.1:10001)");
    const std::string scene = write("peg.json", peg_scene(""));
    const std::string other =
        profile("other.json", R"("kind": "network", "address": "192.0.2.1", "port": 0)");
    EXPECT_FAILS_WITH(shown(scene, "--profile " + other),
                      other + ": device.address = \"192.0.2.1\" (expected a profile of your own");
    // the command line may, and is told what that means
    const std::string local = write("local.json", peg_scene(R"("kind": "network", "port": 0)"));
    for (const std::string& command :
         {shown(local, "--device-address 0.0.0.0"),
          std::string("haptics devices --port 0 --device network --device-address 0.0.0.0")}) {
        const Output open = pliant(command);
        if (contains(open, "the viewer is not in this build")) continue;
        EXPECT_EQ(open.exit_code, 0) << open.text;
        EXPECT_TRUE(contains(open,
                             "Warning: the network device is open to other computers: UDP and "
                             "WebSocket (TCP), port of its own choice of 0.0.0.0, neither "
                             "encrypted nor authenticated"))
            << open.text;
        EXPECT_TRUE(contains(open,
                             "Drivers call it at an address of this computer (`hostname -I` "
                             "lists them), port of its own choice."))
            << open.text;
    }
    const Output closed = pliant(shown(local));
    if (contains(closed, "the viewer is not in this build")) return;
    EXPECT_EQ(closed.exit_code, 0) << closed.text;
    EXPECT_TRUE(contains(closed, "Running at")) << closed.text;
    EXPECT_FALSE(contains(closed, "Warning")) << closed.text;
}

}  // namespace
}  // namespace cli_test
