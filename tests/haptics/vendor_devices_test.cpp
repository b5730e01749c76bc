#include "core/numbers.h"
#include "net/test_client.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/haptics/device_safety.h"
#include "pliant/haptics/open_device.h"

#include <gtest/gtest.h>

#include <dlfcn.h>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <stdexcept>
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
        : FakeLibrary(PLIANT_FAKE_DHD, "fake_dhd_set", "fake_dhd_get",
                      {{"present", 1},
                       {"major", 3},
                       {"type", 104},
                       {"motors", 1},
                       {"wrist", 1},
                       {"x", 0},
                       {"y", 0},
                       {"z", 0},
                       {"angle", 0},
                       {"speed", 0},
                       {"gap", 0},
                       {"buttons", 0},
                       {"opened", 0},
                       {"closed", 0},
                       {"serial", 0}}) {}
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
                       {"disabled", 0}}) {}
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

TEST(ForceDimensionDevice, PlacesThatAreNotFiniteAreNoReadings) {
    const FakeDhdLibrary fake;
    ForceDimensionDevice device({PLIANT_FAKE_DHD, 0});
    ASSERT_TRUE(vendor_becomes(device, DeviceStatus::Ok));
    fake.set("x", kNan);
    // nothing new comes: it counts as gone
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
                  ", then add its folder to LD_LIBRARY_PATH or give the path of the file as "
                  "`library`");
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
              "it on, allow access to its USB port, and calibrate it");
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
                  ", then add its folder to LD_LIBRARY_PATH or give the path of the file as "
                  "`library`");
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
