#include "scene/haptic_scenes.h"

#include <gmock/gmock.h>

#include <chrono>
#include <cstring>
#include <fstream>
#include <random>
#include <thread>

#include "input_error.h"
#include "pliant/field/analytic_field.h"
#include "pliant/scene/engine.h"
#include "pliant/scene/recording.h"
#include "scene/haptic_record.h"

namespace pliant {
namespace {

using Eigen::Vector3d;
using test::input_error;
using testing::HasSubstr;
using Kind = Command::Kind;

class HapticRecording : public test::HapticScenes {
protected:
    [[nodiscard]] std::filesystem::path file() const { return *folder / "a.pliantrec"; }
};

bool is_same_tick(const HapticTick& a, const HapticTick& b) {
    const HapticRecord x = to_record(a), y = to_record(b);
    return std::memcmp(&x, &y, sizeof x) == 0;
}

/// Somebody outside: a handle on a path of its own, felt by nobody here.
class OutsideDevice final : public HapticDevice {
public:
    OutsideDevice() { capabilities_.name = "somebody's device"; }
    [[nodiscard]] const DeviceCapabilities& capabilities() const noexcept override {
        return capabilities_;
    }
    [[nodiscard]] DeviceState read(double now) noexcept override {
        ++num_reads;
        DeviceState state;
        state.time = now;
        // presses, loses its plug, comes back elsewhere; not of the time of the loop
        const double t = 1e-3 * num_reads;
        state.pose.position = {0.01 * std::sin(3 * t), 0, -0.006 * std::min(1.0, t)};
        state.pose.rotation = rotation_from_vector({0, 0.05 * std::sin(5 * t), 0.1 * t});
        if (num_reads > 500 && num_reads < 560) state.status = DeviceStatus::Disconnected;
        if (num_reads > 700) state.pose.position.x() += 0.004;
        return state;
    }
    void write(const DeviceCommand& command) noexcept override { written = command; }

    int num_reads = 0;
    DeviceCommand written;

private:
    DeviceCapabilities capabilities_;
};

/// A world of one loop around any device.
class OutsideWorld {
public:
    /// Takes shape and points from `model`, a world of press().
    explicit OutsideWorld(const World& model) : model_(model) {}

    [[nodiscard]] World make(std::unique_ptr<HapticDevice> device, bool is_virtual) const {
        const auto& block = dynamic_cast<const RigidBody&>(model_.body(0));
        const auto& ground = dynamic_cast<const RigidBody&>(model_.body(1));
        RigidBodyOptions placed;
        placed.pose.position.z() = 0.022;
        std::vector<std::unique_ptr<Body>> bodies;
        bodies.push_back(std::make_unique<RigidBody>(block.shape(), block.surface(), placed));
        bodies.push_back(std::make_unique<RigidBody>(ground.shape(), ground.surface()));
        const PointTree tree = *model_.loop(0).contact(0).bodies[0].tree;
        LoopContact contact{"block/floor",
                            {{0, false, tree}, {1, false, {}}},
                            ContactPair({bodies[0].get(), tree},
                                        {bodies[1].get(), plane_set_field({FieldPlane{}}), {}})};
        HeldTool held;
        held.place = 0;
        held.kind = is_virtual ? "recorded" : "network";
        held.is_virtual = is_virtual;
        held.scene = {.cell = 1e-3, .gyration = 0.02, .bounding = 0.035};
        held.gains = derive_gains(device->capabilities(), held.scene);
        held.device = std::move(device);
        std::vector<LoopContact> contacts;
        contacts.push_back(std::move(contact));
        LoopSettings settings;
        settings.gravity.setZero();
        WorldParts parts;
        parts.loops.push_back(
            std::make_unique<SimulationLoop>(settings, std::move(bodies), std::vector<int>{0, 1},
                                             nullptr, std::move(contacts), std::move(held)));
        parts.bodies = {{.name = "block"}, {.name = "floor", .description = 1, .place = 1}};
        SceneDescription scene;
        scene.name = "outside";
        return {scene, std::move(parts)};
    }

private:
    const World& model_;
};

/// So many ticks, with a command before some of them, as an engine records them.
void record_ticks(World& world, const std::filesystem::path& path, int ticks,
                  const std::vector<std::pair<int, Command>>& commands) {
    const RecordingHeader header = recording_header(world, {}, 100);
    RecordingWriter writer(path, header);
    std::size_t next = 0;
    for (int k = 0; k < ticks; ++k) {
        const auto tick = static_cast<std::uint64_t>(k);
        for (; next < commands.size() && commands[next].first <= k; ++next) {
            writer.add(0, RecordKind::Command, tick,
                       std::as_bytes(std::span(&commands[next].second, 1)));
            world.apply(commands[next].second, 0);
        }
        world.advance();
        const HapticRecord haptic = to_record(*world.loop(0).haptic_tick());
        writer.add(0, RecordKind::Sample, tick + 1,
                   std::as_bytes(std::span(&world.loop(0).sample(), 1)));
        writer.add(0, RecordKind::Haptic, tick + 1, std::as_bytes(std::span(&haptic, 1)));
    }
    writer.finish();
}

TEST_F(HapticRecording, HoldsEveryTickOfTheToolBitForBit) {
    World world = build(press("", R"("hand": "loose", "tremor": 0.0003)"));
    std::vector<HapticTick> ticks;
    {
        WorldRecorder recorder(file(), world, recording_header(world));
        for (int k = 0; k < 1200; ++k) {
            recorder.add_tick(world, world.advance(), 1.5);
            ticks.push_back(*world.loop(0).haptic_tick());
        }
        recorder.finish();
    }
    const Recording recording = Recording::load(file());
    ASSERT_TRUE(recording.is_complete()) << recording.problem();
    ASSERT_EQ(recording.haptics(0).size(), ticks.size());
    int num_different = 0;
    for (std::size_t i = 0; i < ticks.size(); ++i)
        num_different += !is_same_tick(recording.haptics(0)[i], ticks[i]);
    EXPECT_EQ(num_different, 0);
    EXPECT_GT(recording.haptics(0).back().num_contacts, 0);
    ASSERT_TRUE(recording.header().device);
    EXPECT_EQ(recording.header().device->kind, "simulated");
    EXPECT_EQ(recording.header().device->capabilities.name, "simulated device");
    EXPECT_EQ(recording.header().device->capabilities.position_step, 2e-5);
    EXPECT_FALSE(recorded_device(recording)) << "it may run again";
    // everything but constants in every tick: less than the numbers themselves
    EXPECT_LT(std::filesystem::file_size(file()), 1200u * (sizeof(HapticRecord) + 60));
}

TEST_F(HapticRecording, OfASimulatedDeviceReplaysBitForBitThroughCommandsSlidersAndResets) {
    const std::string text = press("", R"("hand": "loose", "tremor": 0.0003)");
    World world = build(text);
    const auto slider = [&](const char* name, double value) {
        return Command{
            .kind = Kind::SetParameter, .parameter = world.find_parameter(name), .value = value};
    };
    Command turned{.kind = Kind::MoveTool, .target = {0.004, 0, 0.012}, .duration = 0.1};
    turned.rotation = {0.9950041652780258, 0.09983341664682815, 0, 0};
    turned.buttons = 2;
    record_ticks(world, file(), 1500,
                 {{0, slider("hand.stiffness", 400)},
                  {700, turned},
                  {900, slider("tool.stiffness", 200)},
                  {1000, {.kind = Kind::Reset}},
                  {1200, slider("tool.depth limit", 2e-4)}});
    const Recording recording = Recording::load(file());
    ASSERT_EQ(recording.commands(0).size(), 5u);
    EXPECT_EQ(recording.commands(0)[1].command.rotation, turned.rotation);
    EXPECT_EQ(recording.commands(0)[1].command.buttons, 2u);
    EXPECT_EQ(recording.commands(0)[0].command.buttons, 0u);
    World again = build(text);
    const ReplayCheck check = check_replay(recording, again);
    EXPECT_GE(check.num_compared, 1500u);
    EXPECT_EQ(check.num_different, 0u) << check.first_difference;
    EXPECT_EQ(check_replay(recording, again).num_different, 0u) << "the same world once more";
    // another tremor is noticed at once
    World other = build(press("", R"("hand": "loose", "tremor": 0.0003, "seed": 2)"));
    const ReplayCheck difference = check_replay(recording, other);
    EXPECT_GT(difference.num_different, 1000u);
    EXPECT_THAT(difference.first_difference, HasSubstr("the tool in the hand at tick "));
}

TEST_F(HapticRecording, OfAnEngineHoldsEveryTickAndReplaysBitForBit) {
    {
        Engine engine(std::make_unique<World>(build(press())), {.is_real_time = false});
        engine.run();
        engine.start_recording(file(), recording_header(engine.world()));
        Command there{.kind = Kind::MoveTool, .target = {0.002, 0, 0.015}};
        there.rotation = {0.9987502603949663, 0, 0.04997916927067833, 0};
        EXPECT_TRUE(engine.send(there));
        while (engine.frame(0).tick < 300)
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        engine.stop_recording();
    }
    const Recording recording = Recording::load(file());
    EXPECT_GE(recording.num_ticks(0), 300u);
    EXPECT_EQ(recording.haptics(0).size(), recording.num_ticks(0));
    World again = build(press());
    const ReplayCheck check = check_replay(recording, again);
    EXPECT_GE(check.num_compared, 300u);
    EXPECT_EQ(check.num_different, 0u) << check.first_difference;
}

TEST_F(HapticRecording, OfADeviceOutsideReplaysFromItsReadings) {
    const World model = build(press());
    const OutsideWorld outside(model);
    World world = outside.make(std::make_unique<OutsideDevice>(), false);
    record_ticks(world, file(), 1000, {{300, {.kind = Kind::Reset}}});
    ASSERT_GT(world.loop(0).haptic_tick()->num_contacts, 0);
    const Recording recording = Recording::load(file());
    const std::optional<DeviceDescription> device = recorded_device(recording);
    ASSERT_TRUE(device);
    EXPECT_STREQ(kind(*device), "recorded");
    const auto& readings = std::get<RecordedDescription>(*device);
    ASSERT_EQ(readings.states.size(), 1000u);
    EXPECT_EQ(readings.states[520].status, DeviceStatus::Disconnected);
    EXPECT_EQ(readings.capabilities.name, "somebody's device");
    World again = outside.make(open_device(*device), true);
    const ReplayCheck check = check_replay(recording, again);
    EXPECT_GE(check.num_compared, 1000u);
    EXPECT_EQ(check.num_different, 0u) << check.first_difference;
    EXPECT_EQ(check_replay(recording, again).num_different, 0u) << "from the first reading";
}

/// A hand that wanders to and fro at 0.3 m/s while it presses, seen by a loop that stands still for
/// 20 ms now and then: its ticks are 1 ms apart all the same.
class LateLoopDevice final : public HapticDevice {
public:
    LateLoopDevice() { capabilities_.name = "seen late"; }
    [[nodiscard]] const DeviceCapabilities& capabilities() const noexcept override {
        return capabilities_;
    }
    [[nodiscard]] DeviceState read(double now) noexcept override {
        clock_ += ++num_reads_ % 200 == 150 ? 0.021 : 0.001;
        DeviceState state;
        state.time = now;
        state.clock = clock_;
        const double time = clock_ - 7, way = std::fmod(0.3 * time, 0.02);
        state.pose.position = {std::min(way, 0.02 - way), 0, -0.006 * std::min(1.0, time)};
        return state;
    }
    void write(const DeviceCommand& /*command*/) noexcept override {}

private:
    DeviceCapabilities capabilities_;
    double clock_ = 7;  ///< at the start; any
    int num_reads_ = 0;
};

TEST_F(HapticRecording, AReplayKnowsHowLateTheLoopWas) {
    const World model = build(press());
    const OutsideWorld outside(model);
    World world = outside.make(std::make_unique<LateLoopDevice>(), false);
    record_ticks(world, file(), 1000, {});
    EXPECT_EQ(world.loop(0).haptic_tick()->faults, 0u);
    const Recording recording = Recording::load(file());
    DeviceDescription device = *recorded_device(recording);
    World again = outside.make(open_device(device), true);
    const ReplayCheck check = check_replay(recording, again);
    EXPECT_GE(check.num_compared, 1000u);
    EXPECT_EQ(check.num_different, 0u) << check.first_difference;
    EXPECT_EQ(again.loop(0).haptic_tick()->faults, 0u);
    // by the ticks of the loop alone it would have been too fast for a hand
    for (DeviceState& state : std::get<RecordedDescription>(device).states) state.clock = 0;
    World blind = outside.make(open_device(device), true);
    EXPECT_GT(check_replay(recording, blind).num_different, 0u);
    EXPECT_GT(blind.loop(0).haptic_tick()->faults, 0u);
}

TEST_F(HapticRecording, ADeviceOutsidePushesOnlyWhileItMayAndComesBackSlowly) {
    const World model = build(press());
    auto own = std::make_unique<OutsideDevice>();
    OutsideDevice& device = *own;
    World world = OutsideWorld(model).make(std::move(own), false);
    const auto run = [&](int ticks) {
        for (int k = 0; k < ticks; ++k) world.advance();
    };
    run(490);
    EXPECT_GT(world.loop(0).haptic_tick()->command.force.norm(), 0.1);
    EXPECT_TRUE(device.written.force.isZero(0)) << "not in virtual time";
    device.num_reads = 600;
    run(60);
    world.loop(0).allow_force(true);
    world.loop(0).allow_force(true);
    run(1);
    EXPECT_LT(device.written.force.norm(),
              0.01 * world.loop(0).haptic_tick()->command.force.norm());
    run(600);
    EXPECT_EQ(device.written.force, world.loop(0).haptic_tick()->command.force);
    EXPECT_GT(device.written.force.norm(), 0.1);
    world.loop(0).allow_force(false);
    EXPECT_TRUE(device.written.force.isZero(0)) << "at once";
    run(5);
    EXPECT_TRUE(device.written.force.isZero(0));
}

TEST_F(HapticRecording, WithoutAToolInAHandStaysAFileOfTheFirstVersion) {
    const auto version = [&] {
        std::ifstream in(file(), std::ios::binary);
        in.seekg(16);
        std::uint32_t number = 0;
        in.read(reinterpret_cast<char*>(&number), sizeof number);
        return number;
    };
    World plain = build(
        R"({"pliant": 1, "bodies": [{"name": "ball", "rigid": {"sphere": {"radius": 1}, "density": 1}}]})");
    {
        WorldRecorder recorder(file(), plain, recording_header(plain));
        recorder.add_tick(plain, plain.advance(), 1);
    }
    EXPECT_EQ(version(), 1u);
    EXPECT_TRUE(Recording::load(file()).haptics(0).empty());
    EXPECT_FALSE(recorded_device(Recording::load(file())));
    World held = build(press());
    {
        WorldRecorder recorder(file(), held, recording_header(held));
        recorder.add_tick(held, held.advance(), 1);
    }
    EXPECT_EQ(version(), 3u);
}

TEST(HapticTicks, AreReadInAnyOrderAndByManyAtOnce) {
    HapticTicks ticks;
    EXPECT_TRUE(ticks.empty());
    EXPECT_TRUE(ticks.begin() == ticks.end());
    std::vector<HapticRecord> records;
    std::mt19937 random(1);
    HapticRecord record;
    for (int k = 0; k < 300; ++k) {
        record.numbers[random() % HapticRecord::kNumbers] = 1e-3 * k - 0.1;
        record.violations += random() % 3;
        record.num_contacts = static_cast<std::int32_t>(random() % 5);
        records.push_back(record);
        ticks.add(record);
    }
    ASSERT_EQ(ticks.size(), records.size());
    const auto is_right = [&](const HapticTick& tick, std::size_t k) {
        const HapticRecord again = to_record(tick);
        return std::memcmp(&again, &records[k], sizeof again) == 0;
    };
    std::size_t place = 0;
    for (const HapticTick& tick : ticks) EXPECT_TRUE(is_right(tick, place++));
    EXPECT_EQ(place, records.size());
    HapticTicks::Reader reader(ticks);
    for (int k = 0; k < 1000; ++k) {
        const std::size_t i = random() % records.size();
        EXPECT_TRUE(is_right(reader[i], i)) << i;
        EXPECT_TRUE(is_right(ticks[i], i)) << i;
    }
    EXPECT_TRUE(is_right(ticks.front(), 0));
    EXPECT_TRUE(is_right(ticks.back(), records.size() - 1));
    // one goes on, a copy of it otherwise
    HapticTicks copy = ticks;
    record.numbers[3] = 5;
    copy.add(record);
    record.numbers[3] = 7;
    ticks.add(record);
    EXPECT_EQ(to_record(copy.back()).numbers[3], 5);
    EXPECT_EQ(to_record(ticks.back()).numbers[3], 7);
}

TEST(HapticTicks, ThatSayLittleTakeLittleMemory) {
    HapticTicks ticks;
    HapticRecord record;
    for (double& number : record.numbers) number = 0.1;
    constexpr std::size_t kTicks = 100'000;
    for (std::size_t k = 0; k < kTicks; ++k) {
        record.numbers[0] = 1e-3 * static_cast<double>(k);
        ticks.add(record);
    }
    // 22 bytes in a file; with room to grow
    EXPECT_LT(ticks.num_bytes(), 70 * kTicks);
    EXPECT_GT(sizeof(HapticTick), 400u);
    EXPECT_EQ(to_record(ticks.back()).numbers[0], 1e-3 * static_cast<double>(kTicks - 1));
}

TEST_F(HapticRecording, TicksOfTheToolThatTheFileLacksAreCountedAndTheOthersCompared) {
    const std::string text = press("", R"("hand": "loose", "tremor": 0.0003)");
    World world = build(text);
    {
        RecordingWriter writer(file(), recording_header(world, {}, 1));
        for (std::uint64_t k = 1; k <= 100; ++k) {
            world.advance();
            const HapticRecord haptic = to_record(*world.loop(0).haptic_tick());
            writer.add(0, RecordKind::Sample, k,
                       std::as_bytes(std::span(&world.loop(0).sample(), 1)));
            // a slow disk lost some
            if (k < 30 || k > 32)
                writer.add(0, RecordKind::Haptic, k, std::as_bytes(std::span(&haptic, 1)));
        }
    }
    const Recording whole = Recording::load(file());
    ASSERT_TRUE(whole.is_complete());
    ASSERT_EQ(whole.haptic_ticks(0).size(), 97u);
    EXPECT_EQ(whole.haptic_ticks(0)[28], 29u);
    EXPECT_EQ(whole.haptic_ticks(0)[29], 33u);
    World again = build(text);
    const ReplayCheck check = check_replay(whole, again);
    EXPECT_EQ(check.num_skipped, 3u);
    EXPECT_EQ(check.num_different, 1u);
    EXPECT_EQ(check.first_difference,
              "the tool in the hand (the recording lacks what it did) at tick 30");
    // what is there is compared
    EXPECT_EQ(check.num_compared, 97u + 1);
    World other = build(press("", R"("hand": "loose", "tremor": 0.0003, "seed": 2)"));
    EXPECT_GT(check_replay(whole, other).num_different, 50u);
    // a file that was cut off says itself that something may be missing
    std::filesystem::resize_file(file(), std::filesystem::file_size(file()) - 1);
    const Recording cut = Recording::load(file());
    ASSERT_FALSE(cut.is_complete());
    const ReplayCheck of_cut = check_replay(cut, again);
    EXPECT_EQ(of_cut.num_skipped, 3u);
    EXPECT_EQ(of_cut.num_different, 0u) << of_cut.first_difference;
}

TEST_F(HapticRecording, SaysWhenReadingsAreMissing) {
    const World model = build(press());
    World world = OutsideWorld(model).make(std::make_unique<OutsideDevice>(), false);
    {
        RecordingWriter writer(file(), recording_header(world));
        for (std::uint64_t k = 1; k <= 5; ++k) {
            world.advance();
            const HapticRecord haptic = to_record(*world.loop(0).haptic_tick());
            if (k != 3) writer.add(0, RecordKind::Haptic, k, std::as_bytes(std::span(&haptic, 1)));
        }
    }
    const Recording recording = Recording::load(file());
    EXPECT_EQ(input_error([&] { (void)recorded_device(recording); }),
              "the recording has 4 readings of its device for 5 ticks; it cannot be simulated "
              "again");
}

TEST_F(HapticRecording, TablesHaveColumnsOfTheTool) {
    World world = build(press());
    {
        WorldRecorder recorder(file(), world, recording_header(world));
        for (int k = 0; k < 900; ++k) recorder.add_tick(world, world.advance(), 1);
    }
    const auto table = *folder / "a.csv";
    save_csv(Recording::load(file()), 0, table);
    std::ifstream in(table);
    std::string head, line, last;
    std::getline(in, head);
    while (std::getline(in, line)) last = line;
    EXPECT_THAT(head, HasSubstr("late_us,handle_x_m,handle_y_m,handle_z_m,handle_qw,handle_q_x"));
    EXPECT_THAT(head, HasSubstr("device_force_x_N"));
    EXPECT_THAT(head, HasSubstr("contact_torque_z_Nm,coupling_force_x_N"));
    EXPECT_THAT(head, HasSubstr("violations,contacts,port_energy_J,stored_energy_J,oscillation_N"));
    EXPECT_EQ(std::count(head.begin(), head.end(), ','), std::count(last.begin(), last.end(), ','));
    // the column of contacts
    const auto column = [&](const std::string& row, std::ptrdiff_t number) {
        std::istringstream cells(row);
        std::string cell;
        for (std::ptrdiff_t i = 0; i <= number; ++i) std::getline(cells, cell, ',');
        return cell;
    };
    const std::string before = head.substr(0, head.find(",contacts"));
    const auto place = std::count(before.begin(), before.end(), ',') + 1;
    EXPECT_EQ(column(head, place), "contacts");
    EXPECT_EQ(column(last, place), std::to_string(world.loop(0).haptic_tick()->num_contacts));
    EXPECT_THAT(last, HasSubstr(",ok,"));
}

}  // namespace
}  // namespace pliant
