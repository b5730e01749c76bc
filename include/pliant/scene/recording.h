#pragma once

#include "pliant/scene/haptic_ticks.h"
#include "pliant/scene/record_queue.h"
#include "pliant/scene/world.h"

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace pliant {

/// What a recording is about.
struct RecordingHeader {
    std::string scene;         ///< JSON text
    std::string scene_folder;  ///< relative files of the scene are found from here
    std::string version;       ///< of Pliant
    std::string started;       ///< ISO 8601, UTC; empty in virtual time
    struct Loop {
        std::string name;
        double rate = 0;  ///< [Hz]
    };
    std::vector<Loop> loops;
    struct RecordedBody {
        std::string name;
        int body = 0;  ///< of the world
        int loop = 0;
        int state_size = 0;
        int every = 1;  ///< ticks of its loop between two states
    };
    std::vector<RecordedBody> bodies;  ///< whose states are in the file
    /// Of the tool in a hand.
    struct Device {
        int loop = 0;      ///< of the tool
        std::string kind;  ///< "simulated"
        bool is_virtual = true;
        DeviceCapabilities capabilities;
    };
    std::optional<Device> device;  ///< whose readings are in the file
    /// Values of World::parameters() when the recording began.
    std::vector<std::pair<std::string, double>> parameters;
};
/// For the world as it stands. States of the named bodies (all when empty; none for "-"; the name
/// of copies stands for all of them) at most `states_per_second` times. Throws InputError for a
/// name that no body has.
[[nodiscard]] RecordingHeader recording_header(const World& world,
                                               const std::vector<std::string>& bodies = {},
                                               double states_per_second = 60);

/// Writes a `.pliantrec` file, docs/scene.md section "Recordings": checked blocks as they fill, an
/// index at the end, under its final name from the start. A file that was cut off (disk full,
/// killed program) reads up to its last whole block. One thread at a time.
class RecordingWriter {
public:
    /// Throws InputError when the file cannot be made.
    RecordingWriter(const std::filesystem::path& path, const RecordingHeader& header);
    /// Finishes if it was not done, without throwing.
    ~RecordingWriter();
    RecordingWriter(const RecordingWriter&) = delete;
    RecordingWriter& operator=(const RecordingWriter&) = delete;

    // The next four throw InputError when the disk is full: what is there stays readable. Later
    // records are dropped, and finish() throws again.
    /// One record as RecordQueue::push takes it.
    void add(int loop, RecordKind kind, std::uint64_t tick, std::span<const std::byte> bytes);
    /// Everything that waits in the queue of a loop.
    void drain(int loop, RecordQueue& queue);
    /// Writes what is in memory as a block of each loop.
    void flush();
    /// Blocks, index, end.
    void finish();
    [[nodiscard]] std::uint64_t bytes_written() const noexcept;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// Records a world in virtual time, from its start on.
class WorldRecorder {
public:
    /// The world has not moved yet. Throws InputError as RecordingWriter does, here and below.
    WorldRecorder(const std::filesystem::path& path, const World& world,
                  const RecordingHeader& header);
    /// After a tick of the loop, which took `work_us` of thread CPU time.
    void add_tick(const World& world, int loop, double work_us);
    void finish() { writer_.finish(); }
    [[nodiscard]] std::uint64_t bytes_written() const noexcept { return writer_.bytes_written(); }

private:
    void add_states(const World& world, int loop);
    RecordingWriter writer_;
    std::vector<RecordingHeader::RecordedBody> bodies_;
    std::vector<std::byte> bytes_;
};

/// A recording, read.
class Recording {
public:
    struct TimedCommand {
        std::uint64_t tick = 0;  ///< number of ticks of the loop before it
        Command command;
    };

    /// Throws InputError for a file that is missing, foreign, newer or damaged before its first
    /// block.
    [[nodiscard]] static Recording load(const std::filesystem::path& path);
    /// The same for bytes; `name` stands for the file in messages.
    [[nodiscard]] static Recording parse(std::string_view bytes, const std::string& name);

    [[nodiscard]] const RecordingHeader& header() const noexcept;
    /// False: the file was cut off or is damaged; `problem` says where.
    [[nodiscard]] bool is_complete() const noexcept;
    [[nodiscard]] const std::string& problem() const noexcept;
    [[nodiscard]] double duration() const noexcept;  ///< of the longest loop [s]
    /// Of a loop since the recording began.
    [[nodiscard]] std::uint64_t num_ticks(int loop) const noexcept;

    [[nodiscard]] const std::vector<TickSample>& samples(int loop) const noexcept;
    [[nodiscard]] const std::vector<TimedCommand>& commands(int loop) const noexcept;
    /// Of the tool in a hand after each tick of the loop; empty: it has none.
    [[nodiscard]] const HapticTicks& haptics(int loop) const noexcept;
    /// After which tick of the loop each of them is: one after the other, but for those that the
    /// file lacks.
    [[nodiscard]] const std::vector<std::uint64_t>& haptic_ticks(int loop) const noexcept;
    /// Of header().bodies[i].
    [[nodiscard]] int num_states(int i) const noexcept;
    [[nodiscard]] std::uint64_t state_tick(int i, int k) const noexcept;
    [[nodiscard]] std::span<const double> state(int i, int k) const noexcept;

private:
    struct Data;
    std::shared_ptr<const Data> data_;
};

/// The device of a recording for WorldOptions: its readings again, so that a replay needs neither
/// the device nor its hand. Nothing where the device was simulated and runs again, closed loop, and
/// where there was none. Throws InputError where readings are missing.
[[nodiscard]] std::optional<DeviceDescription> recorded_device(const Recording& recording);

/// The scene that was recorded, without the library or address that its text may name: no file
/// says which code runs and who is called. `name` stands for the file in messages.
[[nodiscard]] SceneDescription recorded_scene(const Recording& recording, const std::string& name);
/// That scene with recorded_device(), to be shown or checked. Opens no device, whatever the
/// recording says: throws InputError where it has no readings of one that is not virtual.
[[nodiscard]] World replay_world(const Recording& recording, const std::string& name,
                                 WorldOptions options = {}, Progress& progress = Progress::none());

// The next two are for another run of this scene or of another one, whatever device it was; `name`
// stands for the file in messages. They throw InputError where no tool was in a hand or readings
// are missing; what was cut off ends there.

/// Readings of the device, to be played open loop. Their clock goes on through resets of the loop.
[[nodiscard]] RecordedDescription recorded_readings(const Recording& recording,
                                                    const std::string& name);
/// Where the hand led the tool, tick by tick in the axes of the scene: the manipulandum.
[[nodiscard]] std::vector<Keyframe> recorded_path(const Recording& recording,
                                                  const std::string& name);

/// Samples of a loop as a table with a header line: tick, time_s, hand_x_m, …, and of the tool in a
/// hand what a HapticTick says. Throws InputError.
void save_csv(const Recording& recording, int loop, const std::filesystem::path& path);

// The next two take a world made from the scene of the recording, and throw InputError when its
// bodies are not those that were recorded, and Cancelled.

/// The surfaces of the recorded bodies at `frames_per_second` from the states nearest in time, one
/// file per frame: FOLDER/NAME_0000.obj or .vtu (extension without dot), NAME of the scene. Returns
/// the number of files.
int save_frames(const Recording& recording, World& world, const std::filesystem::path& folder,
                const std::string& extension, double frames_per_second,
                Progress& progress = Progress::none());

struct ReplayCheck {
    std::uint64_t num_compared = 0, num_different = 0;
    std::string first_difference;  ///< "bridge at tick 1200"; empty: none
    /// Last ticks of a loop that saw more of another loop than the file has: not run again. More
    /// than a second of them is a difference, unless the file was cut off or is damaged.
    std::uint64_t num_beyond = 0;
    /// Ticks of the tool in a hand that ran again and were compared with nothing, because the file
    /// lacks what the tool did there. The first of them is a difference, with the same exception.
    std::uint64_t num_skipped = 0;
};
/// Runs the world again in virtual time with the recorded commands and compares states and what the
/// tool in a hand did bit for bit. A world whose device was not virtual is made with
/// recorded_device().
[[nodiscard]] ReplayCheck check_replay(const Recording& recording, World& world,
                                       Progress& progress = Progress::none());

}  // namespace pliant
