#include "core/numbers.h"
#include "core/real_time.h"
#include "haptics/vendor_library.h"
#include "net/test_client.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/haptics/device_safety.h"
#include "pliant/haptics/open_device.h"

#include <gtest/gtest.h>

#include <dlfcn.h>
#include <pthread.h>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <initializer_list>
#include <stdexcept>
#include <thread>
#include <utility>

#include "input_error.h"

// Fake libraries stand for the makers' ones; their files come from the build.

namespace {

using namespace pliant;
using Eigen::Vector3d;
using test::eventually;
using test::input_error;

/// The knobs of a fake library, set back at the end.
class FakeLibrary {
public:
    FakeLibrary(const char* path, const char* set, const char* get,
                std::initializer_list<std::pair<const char*, double>> start)
        : handle_(::dlopen(path, RTLD_NOW)), start_(start) {
        if (!handle_) throw std::runtime_error(::dlerror());
        set_ = reinterpret_cast<void (*)(const char*, double)>(::dlsym(handle_, set));
        get_ = reinterpret_cast<double (*)(const char*)>(::dlsym(handle_, get));
        reset();
    }
    ~FakeLibrary() { reset(); }
    FakeLibrary(const FakeLibrary&) = delete;
    FakeLibrary& operator=(const FakeLibrary&) = delete;
    void set(const char* name, double value) const { set_(name, value); }
    [[nodiscard]] double get(const char* name) const { return get_(name); }

private:
    void reset() const {
        for (const auto& [name, value] : start_) set_(name, value);
    }
    void* handle_;
    std::vector<std::pair<const char*, double>> start_;
    void (*set_)(const char*, double) = nullptr;
    double (*get_)(const char*) = nullptr;
};

struct FakeDhdLibrary : FakeLibrary {
    FakeDhdLibrary()
        : FakeLibrary(
              PLIANT_FAKE_DHD, "fake_dhd_set", "fake_dhd_get",
              {{"present", 1}, {"major", 3},     {"type", 104}, {"motors", 1},    {"wrist", 1},
               {"x", 0},       {"y", 0},         {"z", 0},      {"angle", 0},     {"speed", 0},
               {"gap", 0},     {"buttons", 0},   {"opened", 0}, {"closed", 0},    {"serial", 0},
               {"enabled", 0}, {"reset", 0},     {"bent", 0},   {"placeless", 0}, {"refusals", 0},
               {"enables", 0}, {"ends reset", 0}}) {}
};
struct FakeHdLibrary : FakeLibrary {
    FakeHdLibrary()
        : FakeLibrary(PLIANT_FAKE_HD, "fake_hd_set", "fake_hd_get",
                      {{"present", 1},
                       {"major", 3},
                       {"warm", 0},
                       {"x", 0},
                       {"y", 20},
                       {"z", 0},
                       {"angle", 0},
                       {"speed", 0},
                       {"buttons", 0},
                       {"opened", 0},
                       {"disabled", 0},
                       {"calibration", 0x5000},
                       {"styles", 2},
                       {"updated", 0},
                       {"updates", 0},
                       {"model", 0},
                       {"dof", 3},
                       {"torque mNm", 515},
                       {"has torque", 1}}) {}
};

bool vendor_becomes(HapticDevice& device, DeviceStatus status) {
    return eventually([&] { return device.read(0).status == status; });
}
/// Waits for a reading that was taken after the last change.
DeviceState settled_reading(HapticDevice& device,
                            const std::function<bool(const DeviceState&)>& is_it) {
    DeviceState state;
    EXPECT_TRUE(eventually([&] {
        state = device.read(0);
        return is_it(state);
    }));
    return state;
}

TEST(ForceDimensionDevice, ReadsInItsOwnAxesAndShowsForces) {
    const FakeDhdLibrary fake;
    ForceDimensionDevice device({PLIANT_FAKE_DHD, 0});
    EXPECT_EQ(device.capabilities().name, "Force Dimension sigma.7");
    EXPECT_EQ(device.capabilities().max_force, 20);
    EXPECT_EQ(device.capabilities().max_torque, 0.4);
    EXPECT_NO_THROW(check(device.capabilities()));
    ASSERT_TRUE(vendor_becomes(device, DeviceStatus::Ok));
    EXPECT_EQ(fake.get("enabled"), 1);
    // towards the user, to the right and up; turned about their x
    fake.set("x", 0.01);
    fake.set("y", 0.02);
    fake.set("z", 0.03);
    fake.set("angle", 0.5);
    fake.set("speed", 0.1);
    fake.set("gap", 0.015);
    fake.set("buttons", 5);
    const DeviceState state =
        settled_reading(device, [](const DeviceState& s) { return s.buttons == 5; });
    EXPECT_TRUE(state.pose.position.isApprox(Vector3d(0.02, -0.01, 0.03), 1e-12));
    EXPECT_TRUE(rotation_vector(state.pose.rotation).isApprox(Vector3d(0, -0.5, 0), 1e-12));
    EXPECT_TRUE(state.twist.linear.isApprox(Vector3d(0, -0.1, 0), 1e-12));
    EXPECT_NEAR(state.gripper, 0.5, 1e-12);
    EXPECT_TRUE(eventually([&] {
        device.write({Vector3d(1, 2, 3), Vector3d(0.1, 0.2, 0.3), 0.5});
        return fake.get("grip") == 0.5;
    }));
    EXPECT_NEAR(fake.get("force x"), -2, 1e-12);
    EXPECT_NEAR(fake.get("force y"), 1, 1e-12);
    EXPECT_NEAR(fake.get("force z"), 3, 1e-12);
    EXPECT_NEAR(fake.get("torque x"), -0.2, 1e-12);
    // a loop that stops
    EXPECT_TRUE(eventually([&] { return fake.get("force z") == 0; }));
}

TEST(ForceDimensionDevice, WithoutAWristItShowsNoTorque) {
    const FakeDhdLibrary fake;
    fake.set("wrist", 0);
    fake.set("type", 33);
    const ForceDimensionDevice device({PLIANT_FAKE_DHD, 0});
    EXPECT_EQ(device.capabilities().max_torque, 0);
    EXPECT_FALSE(device.capabilities().is_actuated[4]);
    EXPECT_FALSE(device.capabilities().is_sensed[4]);
    EXPECT_EQ(device.capabilities().max_force, 12);
    EXPECT_NO_THROW(check(device.capabilities()));
}

TEST(ForceDimensionDevice, UnknownModelsGetCarefulNumbers) {
    const FakeDhdLibrary fake;
    fake.set("type", 9999);
    const ForceDimensionDevice device({PLIANT_FAKE_DHD, 0});
    EXPECT_EQ(device.capabilities().max_force, 8);
    EXPECT_NO_THROW(check(device.capabilities()));
}

TEST(ForceDimensionDevice, TheTickAllocatesNothing) {
    const FakeDhdLibrary fake;
    ForceDimensionDevice device({PLIANT_FAKE_DHD, 0});
    ASSERT_TRUE(vendor_becomes(device, DeviceStatus::Ok));
    AllocationGuard guard;
    const DeviceState state = device.read(1);
    device.write({.force = Vector3d(1, 0, 0)});
    const auto allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
    EXPECT_NE(state.status, DeviceStatus::Disconnected);
}

TEST(ForceDimensionDevice, UnpluggedItIsGoneAndIsOpenedAgain) {
    const FakeDhdLibrary fake;
    ForceDimensionDevice device({PLIANT_FAKE_DHD, 0});
    ASSERT_TRUE(vendor_becomes(device, DeviceStatus::Ok));
    fake.set("present", 0);
    ASSERT_TRUE(vendor_becomes(device, DeviceStatus::Disconnected));
    EXPECT_EQ(fake.get("closed"), 1);
    fake.set("present", 1);
    ASSERT_TRUE(vendor_becomes(device, DeviceStatus::Ok));
    EXPECT_EQ(fake.get("opened"), 2);
}

TEST(ForceDimensionDevice, MotorsThatAreOffAreSaidToBe) {
    const FakeDhdLibrary fake;
    ForceDimensionDevice device({PLIANT_FAKE_DHD, 0});
    ASSERT_TRUE(vendor_becomes(device, DeviceStatus::Ok));
    fake.set("motors", 0);
    EXPECT_TRUE(vendor_becomes(device, DeviceStatus::Disabled));
    fake.set("motors", 1);
    EXPECT_TRUE(vendor_becomes(device, DeviceStatus::Ok));
}

TEST(ForceDimensionDevice, WithoutCalibrationItHasNoForceAndGoesOnWhenItIsCalibrated) {
    const FakeDhdLibrary fake;
    fake.set("reset", 1);
    ForceDimensionDevice device({PLIANT_FAKE_DHD, 0});
    ASSERT_TRUE(vendor_becomes(device, DeviceStatus::Uncalibrated));
    EXPECT_STREQ(device.remedy(),
                 "The device is not calibrated: no force. Put its calibration pole into the pit, "
                 "or run the maker's HapticInit, until its light stops blinking; then it goes on "
                 "by itself.");
    const auto forced = [&](double force) {
        return eventually([&] {
            device.write({.force = Vector3d(0, 0, 3)});
            return fake.get("force z") == force;
        });
    };
    // the motors stay off, whatever the loop asks for
    EXPECT_EQ(fake.get("enabled"), 0);
    for (int i = 0; i < 20; ++i) {
        device.write({.force = Vector3d(0, 0, 3)});
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        ASSERT_EQ(fake.get("force z"), 0);
    }
    fake.set("reset", 0);
    ASSERT_TRUE(vendor_becomes(device, DeviceStatus::Ok));
    EXPECT_EQ(fake.get("enabled"), 1);
    EXPECT_TRUE(forced(3));
    // lost while it runs, and found again
    fake.set("reset", 1);
    ASSERT_TRUE(vendor_becomes(device, DeviceStatus::Uncalibrated));
    EXPECT_TRUE(forced(0));
    EXPECT_EQ(fake.get("enabled"), 0);
    fake.set("reset", 0);
    ASSERT_TRUE(vendor_becomes(device, DeviceStatus::Ok));
    EXPECT_TRUE(forced(3));
    EXPECT_EQ(fake.get("closed"), 0);
}

TEST(ForceDimensionDevice, WithoutCalibrationItNeedNotSayWhereItIs) {
    const FakeDhdLibrary fake;
    fake.set("reset", 1);
    fake.set("placeless", 1);
    ForceDimensionDevice device({PLIANT_FAKE_DHD, 0});
    ASSERT_TRUE(vendor_becomes(device, DeviceStatus::Uncalibrated));
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    EXPECT_EQ(device.read(0).status, DeviceStatus::Uncalibrated);
    EXPECT_EQ(fake.get("closed"), 0) << "it is not gone";
    fake.set("reset", 0);
    ASSERT_TRUE(vendor_becomes(device, DeviceStatus::Ok));
    // a place that is no number is none either
    fake.set("placeless", 0);
    fake.set("x", kNan);
    fake.set("reset", 1);
    ASSERT_TRUE(vendor_becomes(device, DeviceStatus::Uncalibrated));
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    EXPECT_EQ(device.read(0).status, DeviceStatus::Uncalibrated);
    EXPECT_EQ(fake.get("closed"), 0);
}

TEST(ForceDimensionDevice, NoPlaceFromBeforeItsCalibrationCounts) {
    const FakeDhdLibrary fake;
    fake.set("reset", 1);
    fake.set("x", 0.05);  // wherever it was switched on
    ForceDimensionDevice device({PLIANT_FAKE_DHD, 0});
    ASSERT_TRUE(vendor_becomes(device, DeviceStatus::Uncalibrated));
    fake.set("ends reset", 1);
    const DeviceState first =
        settled_reading(device, [](const DeviceState& s) { return says_where(s.status); });
    EXPECT_EQ(first.pose.position.y(), 0);
}

TEST(ForceDimensionDevice, MotorsThatDoNotComeOnAreAskedAgain) {
    const FakeDhdLibrary fake;
    fake.set("refusals", 2);
    ForceDimensionDevice device({PLIANT_FAKE_DHD, 0});
    ASSERT_TRUE(vendor_becomes(device, DeviceStatus::Disabled));
    ASSERT_TRUE(vendor_becomes(device, DeviceStatus::Ok));
    EXPECT_EQ(fake.get("enables"), 3);
    // a person who switches them off means it
    fake.set("motors", 0);
    ASSERT_TRUE(vendor_becomes(device, DeviceStatus::Disabled));
    std::this_thread::sleep_for(std::chrono::milliseconds(450));
    EXPECT_EQ(fake.get("enables"), 3);
    EXPECT_EQ(device.read(0).status, DeviceStatus::Disabled);
}

TEST(ForceDimensionDevice, AFalconIsCalibratedInAnotherWay) {
    const FakeDhdLibrary fake;
    fake.set("type", 60);
    fake.set("wrist", 0);
    const ForceDimensionDevice device({PLIANT_FAKE_DHD, 0});
    EXPECT_STREQ(device.remedy(),
                 "The device is not calibrated: no force. Pull its grip out and push it in again, "
                 "all the way, until its lights are blue; then it goes on by itself.");
}

TEST(ForceDimensionDevice, ModelsHaveTheirOwnRangesAndEncoders) {
    const FakeDhdLibrary fake;
    struct Model {
        double type, force, torque, step;
        Vector3d workspace;
    };
    for (const Model& model :
         {Model{33, 12, 0, 1e-5, {0.08, 0.08, 0.055}}, Model{60, 8, 0, 6e-5, {0.05, 0.05, 0.05}},
          Model{63, 20, 0.15, 2e-5, {0.2, 0.2, 0.13}},
          Model{105, 20, 0.4, 1e-5, {0.095, 0.095, 0.065}},
          Model{106, 12, 0.2, 1e-5, {0.095, 0.095, 0.065}},
          Model{108, 12, 0.2, 1e-5, {0.12, 0.12, 0.085}},
          Model{203, 12, 0, 1e-5, {0.12, 0.12, 0.085}}}) {
        fake.set("type", model.type);
        const ForceDimensionDevice device({PLIANT_FAKE_DHD, 0});
        const DeviceCapabilities& can = device.capabilities();
        EXPECT_EQ(can.max_force, model.force) << model.type;
        EXPECT_EQ(can.max_torque, model.torque) << model.type;
        EXPECT_EQ(can.position_step, model.step) << model.type;
        EXPECT_EQ(can.workspace, model.workspace) << model.type;
        EXPECT_NO_THROW(check(can)) << model.type;
    }
}

TEST(ForceDimensionDevice, ARotationThatIsNoneLeavesThePlace) {
    const FakeDhdLibrary fake;
    fake.set("angle", 0.5);
    ForceDimensionDevice device({PLIANT_FAKE_DHD, 0});
    ASSERT_TRUE(vendor_becomes(device, DeviceStatus::Ok));
    fake.set("bent", 0.3);
    ASSERT_TRUE(vendor_becomes(device, DeviceStatus::NoRotation));
    fake.set("z", 0.04);
    const DeviceState state =
        settled_reading(device, [](const DeviceState& s) { return s.pose.position.z() == 0.04; });
    EXPECT_TRUE(rotation_vector(state.pose.rotation).isApprox(Vector3d(0, -0.5, 0), 1e-12));
    fake.set("bent", kNan);
    fake.set("z", 0.05);
    static_cast<void>(
        settled_reading(device, [](const DeviceState& s) { return s.pose.position.z() == 0.05; }));
    fake.set("bent", 0);
    EXPECT_TRUE(vendor_becomes(device, DeviceStatus::Ok));
}

TEST(ForceDimensionDevice, ItsThreadHasThePriorityOfTheLoop) {
    const FakeDhdLibrary fake;
    // made by an ordinary thread, as scenes are
    ForceDimensionDevice device({PLIANT_FAKE_DHD, 0});
    ASSERT_TRUE(vendor_becomes(device, DeviceStatus::Ok));
    EXPECT_EQ(fake.get("priority"), real_time_priority());
    std::string problem;
    bool is_served = false;
    std::thread loop([&] {
        problem = set_real_time_priority(pthread_self(), 37);
        if (!problem.empty()) return;
        is_served = eventually([&] {
            static_cast<void>(device.read(0));
            return fake.get("priority") == 37;
        });
    });
    loop.join();
    if (!problem.empty()) GTEST_SKIP() << "no real-time priority on this machine: " << problem;
    EXPECT_TRUE(is_served);
}

TEST(ForceDimensionDevice, PlacesThatAreNotFiniteAreNoReadings) {
    const FakeDhdLibrary fake;
    ForceDimensionDevice device({PLIANT_FAKE_DHD, 0});
    ASSERT_TRUE(vendor_becomes(device, DeviceStatus::Ok));
    fake.set("x", kNan);
    // nothing is left of such a reading; nothing new comes: it counts as gone
    ASSERT_TRUE(vendor_becomes(device, DeviceStatus::Disconnected));
    EXPECT_TRUE(is_finite(device.read(0).pose));
    fake.set("x", 0);
    EXPECT_TRUE(vendor_becomes(device, DeviceStatus::Ok));
}

TEST(ForceDimensionDevice, ItsEndLeavesTheMotorsAtRest) {
    const FakeDhdLibrary fake;
    {
        ForceDimensionDevice device({PLIANT_FAKE_DHD, 1234});
        EXPECT_EQ(fake.get("serial"), 1234);
        EXPECT_TRUE(eventually([&] {
            device.write({.force = Vector3d(0, 0, 3)});
            return fake.get("force z") == 3;
        }));
    }
    EXPECT_EQ(fake.get("force z"), 0);
    EXPECT_EQ(fake.get("closed"), 1);
}

TEST(VendorLibrary, TheCurrentFolderIsSearchedByEmptyAndRelativeEntries) {
    for (const char* value : {":/opt/sdk", "/opt/sdk:", "/opt/a::/opt/b", ".", "sdk/lib", ";/opt",
                              "/opt/sdk;", "$LIB", "$ORIGINAL/lib", "${ORIGIN", "/opt:$PLATFORM"})
        EXPECT_TRUE(searches_current_folder(value)) << value;
    // the program's own folder, and none at all
    for (const char* value : {"", "/opt/sdk", "/opt/a:/opt/b", "/opt/$LIB", "$ORIGIN",
                              "$ORIGIN/../lib", "${ORIGIN}/../lib:/opt", "/opt;${ORIGIN}"})
        EXPECT_FALSE(searches_current_folder(value)) << value;
}

TEST(VendorLibrary, TheLoadersOwnSearchPathCountsNotALaterOne) {
    const char* const before = std::getenv("LD_LIBRARY_PATH");
    const std::string kept = before ? before : "";
    ASSERT_FALSE(searches_current_folder(kept)) << "tests need a search path without this folder";
    ::setenv("LD_LIBRARY_PATH", ".", 1);
    const std::string error = input_error([] {
        ForceDimensionDevice device({"libof-no-maker.so", 0});
    });
    if (before)
        ::setenv("LD_LIBRARY_PATH", kept.c_str(), 1);
    else
        ::unsetenv("LD_LIBRARY_PATH");
    EXPECT_NE(error.find("cannot be loaded; looked for libof-no-maker.so"), std::string::npos)
        << error;
}

TEST(ForceDimensionDevice, SaysWhatWasLookedForAndWhatToInstall) {
    const FakeDhdLibrary fake;
    const std::string sdk =
        "install the Force Dimension SDK (https://www.forcedimension.com/software/sdk)";
    EXPECT_EQ(input_error([] {
                  ForceDimensionDevice device({"/nowhere/libdhd.so", 0});
              }),
              "library of Force Dimension cannot be loaded; looked for /nowhere/libdhd.so "
              "(/nowhere/libdhd.so: cannot open shared object file: No such file or directory); " +
                  sdk +
                  ", then add its folder to LD_LIBRARY_PATH or name the file, "
                  "--device-library FILE");
    // another maker's library
    EXPECT_EQ(
        input_error([] {
            ForceDimensionDevice device({PLIANT_FAKE_HD, 0});
        }),
        PLIANT_FAKE_HD
            ": has no function dhdGetSDKVersion; Force Dimension SDK 3.3 or later is needed: " +
            sdk);
    fake.set("major", 2);
    EXPECT_EQ(
        input_error([] {
            ForceDimensionDevice device({PLIANT_FAKE_DHD, 0});
        }),
        PLIANT_FAKE_DHD ": is version 2.7.1; Force Dimension SDK 3.3 or later is needed: " + sdk);
    fake.set("major", 3);
    EXPECT_EQ(input_error([] {
                  ForceDimensionDevice device({PLIANT_FAKE_DHD, 5});
              }),
              PLIANT_FAKE_DHD
              ": finds no device with the serial number 5 (no device found); plug it in, switch "
              "it on, and allow access to its USB port");
    const ForceDimensionLibraryInfo info = inspect_force_dimension(PLIANT_FAKE_DHD);
    EXPECT_EQ(info.file, PLIANT_FAKE_DHD);
    EXPECT_EQ(info.version, "3.7.1");
    EXPECT_EQ(info.num_devices, 1);
}

TEST(OpenHapticsDevice, ReadsInItsOwnAxesAndShowsForces) {
    const FakeHdLibrary fake;
    OpenHapticsDevice device({PLIANT_FAKE_HD, "left"});
    const DeviceCapabilities& can = device.capabilities();
    EXPECT_EQ(can.name, "OpenHaptics Touch");
    EXPECT_EQ(can.max_force, 3.3);
    EXPECT_EQ(can.continuous_force, 0.9);
    EXPECT_EQ(can.max_stiffness, 500);
    EXPECT_EQ(can.max_torque, 0);
    EXPECT_TRUE(can.workspace.isApprox(Vector3d(0.16, 0.06, 0.09), 1e-12));
    EXPECT_NO_THROW(check(can));
    EXPECT_EQ(fake.get("enabled"), 0x4000);
    // right, up (20 mm is the middle), towards the user; turned about their y
    fake.set("x", 10);
    fake.set("y", 50);
    fake.set("z", 5);
    fake.set("angle", 0.5);
    fake.set("speed", 100);
    fake.set("buttons", 3);
    const DeviceState state =
        settled_reading(device, [](const DeviceState& s) { return s.buttons == 3; });
    EXPECT_TRUE(state.pose.position.isApprox(Vector3d(0.01, -0.005, 0.03), 1e-12));
    EXPECT_TRUE(rotation_vector(state.pose.rotation).isApprox(Vector3d(0, 0, 0.5), 1e-12));
    EXPECT_TRUE(state.twist.linear.isApprox(Vector3d(0.1, 0, 0), 1e-12));
    EXPECT_TRUE(eventually([&] {
        device.write({.force = Vector3d(0.5, 1, 2), .torque = Vector3d(1, 1, 1)});
        return fake.get("force x") == 0.5;
    }));
    EXPECT_NEAR(fake.get("force y"), 2, 1e-12);
    EXPECT_NEAR(fake.get("force z"), -1, 1e-12);
    EXPECT_TRUE(eventually([&] { return fake.get("force y") == 0; }));
}

TEST(OpenHapticsDevice, SixAxesOfOutputTakeTorquesInMillinewtonMetres) {
    const FakeHdLibrary fake;
    fake.set("model", 1);
    fake.set("dof", 6);
    OpenHapticsDevice device({PLIANT_FAKE_HD, ""});
    const DeviceCapabilities& can = device.capabilities();
    EXPECT_EQ(can.name, "OpenHaptics PHANTOM Premium 1.5 6DOF");
    EXPECT_NEAR(can.max_torque, 0.515, 1e-12);
    EXPECT_TRUE(can.is_actuated[3] && can.is_actuated[4] && can.is_actuated[5]);
    EXPECT_EQ(can.position_step, 3e-5);
    EXPECT_NO_THROW(check(can));
    ASSERT_TRUE(vendor_becomes(device, DeviceStatus::Ok));
    // ours: to the right, away, up; theirs: to the right, up, towards the user
    EXPECT_TRUE(eventually([&] {
        device.write({.torque = Vector3d(0.1, 0.2, 0.3)});
        return fake.get("torque x") != 0;
    }));
    EXPECT_NEAR(fake.get("torque x"), 100, 1e-9);
    EXPECT_NEAR(fake.get("torque y"), 300, 1e-9);
    EXPECT_NEAR(fake.get("torque z"), -200, 1e-9);
    EXPECT_TRUE(eventually([&] { return fake.get("torque y") == 0; }));
}

TEST(OpenHapticsDevice, TorqueIsAskedForCarefully) {
    const FakeHdLibrary fake;
    fake.set("dof", 6);
    // newton metres where millinewton metres are expected: the least that is published
    fake.set("torque mNm", 0.515);
    EXPECT_NEAR(OpenHapticsDevice({PLIANT_FAKE_HD, ""}).capabilities().max_torque, 0.048, 1e-12);
    // a library without the call
    fake.set("has torque", 0);
    const OpenHapticsDevice device({PLIANT_FAKE_HD, ""});
    EXPECT_EQ(device.capabilities().max_torque, 0);
    EXPECT_FALSE(device.capabilities().is_actuated[3]);
}

TEST(OpenHapticsDevice, ACalibrationThatNeedsNoHandIsDone) {
    const FakeHdLibrary fake;
    for (const int styles : {2, 4, 7}) {
        fake.set("styles", styles);
        fake.set("calibration", 0x5001);
        fake.set("updates", 0);
        OpenHapticsDevice device({PLIANT_FAKE_HD, ""});
        ASSERT_TRUE(vendor_becomes(device, DeviceStatus::Ok));
        EXPECT_EQ(fake.get("updates"), 1);
        EXPECT_EQ(fake.get("updated"), styles == 4 ? 4 : 2);
    }
}

TEST(OpenHapticsDevice, WithoutCalibrationItHasNoForceAndSaysWhatToDo) {
    const FakeHdLibrary fake;
    const auto remedy = [&](double styles) {
        fake.set("styles", styles);
        fake.set("calibration", 0x5002);
        OpenHapticsDevice device({PLIANT_FAKE_HD, ""});
        EXPECT_TRUE(vendor_becomes(device, DeviceStatus::Uncalibrated));
        return std::string(device.remedy());
    };
    EXPECT_EQ(remedy(2),
              "The device is not calibrated: no force. Lead its handle slowly through all of its "
              "reach; then it goes on by itself.");
    EXPECT_EQ(remedy(1),
              "The device is not calibrated: no force. Hold its arms at right angles and reset its "
              "encoders with the maker's program; then it goes on by itself.");
    EXPECT_EQ(remedy(4),
              "The device is not calibrated: no force. Put its stylus into the inkwell and take it "
              "out again; then it goes on by itself.");
    // encoders are never reset wherever the handle happens to be
    EXPECT_EQ(fake.get("updates"), 0);
    fake.set("styles", 1);
    fake.set("calibration", 0x5001);
    OpenHapticsDevice device({PLIANT_FAKE_HD, ""});
    ASSERT_TRUE(vendor_becomes(device, DeviceStatus::Uncalibrated));
    for (int i = 0; i < 20; ++i) {
        device.write({.force = Vector3d(0, 0, 2)});
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        ASSERT_EQ(fake.get("force y"), 0);
    }
    EXPECT_EQ(fake.get("updates"), 0);
    const auto forced = [&](double force) {
        return eventually([&] {
            device.write({.force = Vector3d(0, 0, 2)});
            return std::abs(fake.get("force y") - force) < 1e-12;
        });
    };
    fake.set("calibration", 0x5000);
    ASSERT_TRUE(vendor_becomes(device, DeviceStatus::Ok));
    EXPECT_TRUE(forced(2));
    // lost while it runs
    fake.set("calibration", 0x5002);
    ASSERT_TRUE(vendor_becomes(device, DeviceStatus::Uncalibrated));
    EXPECT_TRUE(forced(0));
    fake.set("calibration", 0x5000);
    EXPECT_TRUE(forced(2));
}

TEST(OpenHapticsDevice, UnpluggedItIsGoneAndIsOpenedAgain) {
    const FakeHdLibrary fake;
    {
        OpenHapticsDevice device({PLIANT_FAKE_HD, ""});
        ASSERT_TRUE(vendor_becomes(device, DeviceStatus::Ok));
        // warm motors are no reason to leave
        fake.set("warm", 1);
        const double ticks = fake.get("ticks");
        EXPECT_TRUE(eventually([&] { return fake.get("ticks") > ticks + 20; }));
        EXPECT_NE(device.read(0).status, DeviceStatus::Disconnected);
        fake.set("warm", 0);
        fake.set("present", 0);
        ASSERT_TRUE(vendor_becomes(device, DeviceStatus::Disconnected));
        fake.set("present", 1);
        ASSERT_TRUE(vendor_becomes(device, DeviceStatus::Ok));
        EXPECT_EQ(fake.get("opened"), 2);
    }
    EXPECT_EQ(fake.get("disabled"), 2);
}

TEST(OpenHapticsDevice, SaysWhatWasLookedForAndWhatToInstall) {
    const FakeHdLibrary fake;
    const std::string toolkit =
        "install OpenHaptics for Linux and the Touch device driver of 3D Systems "
        "(https://www.3dsystems.com/haptics)";
    EXPECT_EQ(input_error([] {
                  OpenHapticsDevice device({"/nowhere/libHD.so", ""});
              }),
              "library of OpenHaptics cannot be loaded; looked for /nowhere/libHD.so "
              "(/nowhere/libHD.so: cannot open shared object file: No such file or directory); " +
                  toolkit +
                  ", then add its folder to LD_LIBRARY_PATH or name the file, "
                  "--device-library FILE");
    EXPECT_EQ(input_error([] {
                  OpenHapticsDevice device({PLIANT_FAKE_DHD, ""});
              }),
              PLIANT_FAKE_DHD ": has no function hdInitDevice; OpenHaptics version 3 is needed: " +
                  toolkit);
    EXPECT_EQ(input_error([] {
                  OpenHapticsDevice device({PLIANT_FAKE_HD, "right"});
              }),
              PLIANT_FAKE_HD
              ": cannot open the device \"right\" (communication error); plug it in, and set it "
              "up and calibrate it with the maker's programs");
    fake.set("major", 2);
    EXPECT_EQ(input_error([] {
                  OpenHapticsDevice device({PLIANT_FAKE_HD, ""});
              }),
              PLIANT_FAKE_HD ": is version 2.0.1; OpenHaptics version 3 is needed: " + toolkit);
    EXPECT_EQ(inspect_open_haptics(PLIANT_FAKE_HD), PLIANT_FAKE_HD);
}

TEST(VendorDevices, NothingBeyondALimitReachesTheMotors) {
    const FakeDhdLibrary dhd;
    const FakeHdLibrary hd;
    const Vector3d far(30, -20, 10);
    {
        ForceDimensionDevice device({PLIANT_FAKE_DHD, 0, {.max_force = 2}});
        EXPECT_EQ(device.capabilities().max_force, 2);
        EXPECT_NEAR(device.capabilities().max_torque, 0.04, 1e-12) << "a tenth, as of the force";
        EXPECT_TRUE(eventually([&] {
            device.write({far, 0.1 * far, 50});
            return dhd.get("grip") == 2;
        }));
        const Vector3d force(dhd.get("force x"), dhd.get("force y"), dhd.get("force z"));
        const Vector3d torque(dhd.get("torque x"), dhd.get("torque y"), dhd.get("torque z"));
        EXPECT_NEAR(force.norm(), 2, 1e-12);
        EXPECT_NEAR(torque.norm(), 0.04, 1e-12);
    }
    ForceDimensionDevice weak({PLIANT_FAKE_DHD, 0, {.max_force = 3, .max_torque = 0.1}});
    EXPECT_EQ(weak.capabilities().max_torque, 0.1);
    EXPECT_LE(weak.capabilities().continuous_force / 3 * 0.1, 0.4 / 3 + 1e-12)
        << "no more torque for ever than the device had";
    ForceDimensionDevice strong({PLIANT_FAKE_DHD, 0, {.max_force = 100, .max_torque = 10}});
    EXPECT_EQ(strong.capabilities().max_force, 20);
    EXPECT_EQ(strong.capabilities().max_torque, 0.4);
    OpenHapticsDevice touch({PLIANT_FAKE_HD, "", {.max_force = 0.5}});
    EXPECT_EQ(touch.capabilities().max_force, 0.5);
    EXPECT_EQ(touch.capabilities().continuous_force, 0.5);
    EXPECT_TRUE(eventually([&] {
        touch.write({.force = far});
        return hd.get("force x") != 0;
    }));
    EXPECT_NEAR(Vector3d(hd.get("force x"), hd.get("force y"), hd.get("force z")).norm(), 0.5,
                1e-12);
}

TEST(VendorDevices, UnpluggedInContactTheForceRampsToZero) {
    const FakeDhdLibrary fake;
    ForceDimensionDevice device({PLIANT_FAKE_DHD, 0});
    ASSERT_TRUE(vendor_becomes(device, DeviceStatus::Ok));
    DeviceSafety safety(device.capabilities());
    safety.enable();
    double now = 0, last = 0, largest_step = 0;
    const auto tick = [&] {
        now += 1e-3;
        DeviceState state = device.read(now);
        const DeviceCommand shown = safety.filter({.force = Vector3d(0, 0, 3)}, state, now);
        device.write(shown);
        largest_step = std::max(largest_step, std::abs(shown.force.z() - last));
        last = shown.force.z();
        return state.status;
    };
    EXPECT_TRUE(eventually([&] {
        tick();
        return last > 2.9;
    }));
    fake.set("present", 0);
    EXPECT_TRUE(eventually([&] { return tick() == DeviceStatus::Disconnected && last == 0; }));
    fake.set("present", 1);
    EXPECT_TRUE(eventually([&] {
        tick();
        return last > 0.5;
    }));
    EXPECT_LE(largest_step, 3.001);
}

TEST(OpenDevice, OpensDevicesOfMakers) {
    const FakeDhdLibrary dhd;
    const FakeHdLibrary hd;
    EXPECT_EQ(open_device(ForceDimensionDescription{PLIANT_FAKE_DHD, 0})->capabilities().name,
              "Force Dimension sigma.7");
    EXPECT_EQ(open_device(OpenHapticsDescription{PLIANT_FAKE_HD, ""})->capabilities().name,
              "OpenHaptics Touch");
}

}  // namespace
