#include "pliant/haptics/force_dimension_device.h"

#include "haptics/device_exchange.h"
#include "haptics/pose_rules.h"
#include "haptics/vendor_library.h"
#include "pliant/core/error.h"

#include <array>
#include <atomic>
#include <thread>

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using DhdClock = DeviceExchange::Clock;

constexpr std::chrono::microseconds kDhdPeriod{500};
constexpr std::chrono::milliseconds kDhdRetry{200};  // between tries to open a lost device
constexpr double kDhdTimeout = 0.1;                  // in a call that does not return [s]
constexpr double kDhdGripperGap = 0.03;              // opening that counts as 1 [m]
constexpr char kDhdDefault = -1;                     // the device that was opened last
// places among the status: waits for its calibration; motors on
constexpr int kDhdResetStatus = 3, kDhdForceStatus = 5;
constexpr int kDhdFalcon = 60;
// the least pause between two exchanges: their thread may have a real-time priority
constexpr std::chrono::microseconds kDhdPause{50};

/// Our own declarations of what is used, as in version 3.7 of the SDK.
struct DhdFunctions {
    void (*get_sdk_version)(int*, int*, int*, int*);
    int (*get_device_count)();
    int (*open)();
    int (*open_serial)(int);
    int (*close)(char);
    const char* (*error_text)();
    int (*get_system_type)(char);
    const char* (*get_system_name)(char);
    bool (*has_wrist)(char);
    bool (*has_active_wrist)(char);
    bool (*has_gripper)(char);
    int (*enable_force)(unsigned char, char);
    int (*get_status)(int*, char);
    int (*get_pose)(double*, double*, double*, double (*)[3], char);
    int (*get_velocity)(double*, double*, double*, char);
    int (*get_angular_velocity)(double*, double*, double*, char);
    int (*get_gripper_gap)(double*, char);
    unsigned (*get_buttons)(char);
    int (*set_force)(double, double, double, double, double, double, double, char);
};

VendorLibraryNames dhd_names() {
    return {"Force Dimension",
            {"libdhd.so.3", "libdhd.so", "libdrd.so.3", "libdrd.so"},
            "SDK 3.3 or later",
            "the Force Dimension SDK (https://www.forcedimension.com/software/sdk)"};
}

DhdFunctions load_dhd(const VendorLibrary& library) {
    DhdFunctions f{};
    library.load(f.get_sdk_version, "dhdGetSDKVersion");
    library.load(f.get_device_count, "dhdGetDeviceCount");
    library.load(f.open, "dhdOpen");
    library.load(f.open_serial, "dhdOpenSerial");
    library.load(f.close, "dhdClose");
    library.load(f.error_text, "dhdErrorGetLastStr");
    library.load(f.get_system_type, "dhdGetSystemType");
    library.load(f.get_system_name, "dhdGetSystemName");
    library.load(f.has_wrist, "dhdHasWrist");
    library.load(f.has_active_wrist, "dhdHasActiveWrist");
    library.load(f.has_gripper, "dhdHasGripper");
    library.load(f.enable_force, "dhdEnableForce");
    library.load(f.get_status, "dhdGetStatus");
    library.load(f.get_pose, "dhdGetPositionAndOrientationFrame");
    library.load(f.get_velocity, "dhdGetLinearVelocity");
    library.load(f.get_angular_velocity, "dhdGetAngularVelocityRad");
    library.load(f.get_gripper_gap, "dhdGetGripperGap");
    library.load(f.get_buttons, "dhdGetButtonMask");
    library.load(f.set_force, "dhdSetForceAndTorqueAndGripperForce");
    return f;
}

std::string checked_dhd_version(const VendorLibrary& library, const DhdFunctions& dhd) {
    int major = 0, minor = 0, release = 0, revision = 0;
    dhd.get_sdk_version(&major, &minor, &release, &revision);
    const std::string version =
        std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(release);
    // the first with forces, torques and gripper in one call
    if (major < 3 || (major == 3 && minor < 3)) library.refuse_version(version);
    return version;
}

/// Theirs: x towards the user, y to the right. Ours: x to the right, y away from the user.
Matrix3d dhd_axes() { return (Matrix3d() << 0, 1, 0, -1, 0, 0, 0, 0, 1).finished(); }

struct DhdModel {
    int first, last;       ///< system types
    Vector3d workspace;    ///< half sides, our axes [m]
    double force, torque;  ///< largest [N], [N m]
    double stiffness;      ///< that surely is stable [N/m]
    double step, turn;     ///< of the encoders at the handle [m], [rad]
};

/// Where they are from is in docs/haptics.md, table of models; no hardware was at hand to check
/// them.
DhdModel dhd_model(int type) {
    constexpr double kFine = 1e-5, kFineTurn = 1.6e-3, kSigmaTurn = 2.3e-4;
    const Vector3d omega(0.08, 0.08, 0.055), sigma(0.095, 0.095, 0.065), lambda(0.12, 0.12, 0.085);
    const std::array<DhdModel, 9> known = {{
        {33, 37, omega, 12, 0, 1500, kFine, kFineTurn},  // omega.3, .6, .7
        {kDhdFalcon, kDhdFalcon, {0.05, 0.05, 0.05}, 8, 0, 1000, 6e-5, kFineTurn},  // Falcon
        {63, 64, {0.2, 0.2, 0.13}, 20, 0.15, 1500, 2e-5, kFineTurn},                // delta.3, .6
        {104, 105, sigma, 20, 0.4, 2000, kFine, kSigmaTurn},                        // sigma.7
        {106, 107, sigma, 12, 0.2, 2000, kFine, kSigmaTurn},                        // sigma.6+
        {108, 109, lambda, 12, 0.2, 1500, kFine, kSigmaTurn},                       // lambda.7
        {131, 132, lambda, 12, 0.2, 1500, kFine, kSigmaTurn},                       // lambda.6
        {203, 203, lambda, 12, 0, 1500, kFine, kSigmaTurn},                         // lambda.3
        {206, 206, sigma, 20, 0, 2000, kFine, kSigmaTurn}                           // sigma.3
    }};
    for (const DhdModel& model : known)
        if (type >= model.first && type <= model.last) return model;
    return {type, type, {0.05, 0.05, 0.05}, 8, 0.1, 800, 6e-5, kFineTurn};
}

DeviceCapabilities dhd_capabilities(const DhdFunctions& dhd, char id) {
    const DhdModel model = dhd_model(dhd.get_system_type(id));
    DeviceCapabilities can;
    const char* const name = dhd.get_system_name(id);
    can.name = std::string("Force Dimension ") + (name ? name : "device");
    can.workspace = model.workspace;
    can.max_force = model.force;
    can.continuous_force = model.force / 3;
    can.max_stiffness = model.stiffness;
    can.position_step = model.step;
    can.angle_step = model.turn;
    can.is_sensed[3] = can.is_sensed[4] = can.is_sensed[5] = dhd.has_wrist(id);
    const bool turns = dhd.has_active_wrist(id);
    can.is_actuated[3] = can.is_actuated[4] = can.is_actuated[5] = turns;
    can.max_torque = turns ? model.torque : 0;
    can.max_angular_stiffness = turns ? 1 : 0;
    return can;
}

}  // namespace

struct ForceDimensionDevice::Impl {
    explicit Impl(const ForceDimensionDescription& d)
        : description(d),
          library(dhd_names(), d.library),
          dhd(load_dhd(library)),
          exchange(open_first(), kDhdTimeout, DeviceThread::OfLoop),
          has_gripper(dhd.has_gripper(id)),
          is_falcon(dhd.get_system_type(id) == kDhdFalcon),
          thread([this] { run(); }) {}
    ~Impl() {
        is_stopping = true;
        thread.join();
    }

    DeviceCapabilities open_first() {
        static_cast<void>(checked_dhd_version(library, dhd));
        if (!open()) {
            const char* const reason = dhd.error_text();
            throw InputError(library.file(),
                             "finds no device" +
                                 (description.serial ? " with the serial number " +
                                                           std::to_string(description.serial)
                                                     : std::string()) +
                                 " (" + (reason ? reason : "unknown reason") +
                                 "); plug it in, switch it on, and allow access to its USB port");
        }
        return limited(dhd_capabilities(dhd, id), description.limits);
    }
    bool open() {
        const int found = description.serial ? dhd.open_serial(description.serial) : dhd.open();
        is_open = found >= 0;
        if (is_open) {
            id = static_cast<char>(found);
            is_calibrated = false;  // until it says so, its motors stay off
        }
        return is_open;
    }
    void close() {
        dhd.set_force(0, 0, 0, 0, 0, 0, 0, id);
        dhd.close(id);
        is_open = false;
    }

    void run() {
        auto next = DhdClock::now();
        auto next_try = next;
        while (!is_stopping) {
            const auto now = DhdClock::now();
            if (is_open && !exchange_once()) {
                close();
                exchange.publish_gone();
                next_try = now + kDhdRetry;
            } else if (!is_open && now >= next_try) {
                open();
                next_try = DhdClock::now() + kDhdRetry;
            }
            // calls that waited themselves are not slowed down further
            next = std::max(next + kDhdPeriod, DhdClock::now() + kDhdPause);
            std::this_thread::sleep_until(is_open ? next : next + 20 * kDhdPeriod);
        }
        if (is_open) close();
    }

    /// On once the device knows where it is, and again while they did not come on. Motors that were
    /// on and are not any more were switched off by a person, who switches them on again.
    void switch_motors(bool is_known, bool are_on) {
        const auto now = DhdClock::now();
        if (is_known != is_calibrated) {
            dhd.enable_force(is_known ? 1 : 0, id);
            waits_for_motors = is_known;
            next_enable = now + kDhdRetry;
        } else if (are_on) {
            waits_for_motors = false;
        } else if (waits_for_motors && now >= next_enable) {
            dhd.enable_force(1, id);
            next_enable = now + kDhdRetry;
        }
        is_calibrated = is_known;
    }

    /// False: the device does not say where it is.
    bool read_pose(DeviceState& state) {
        Vector3d x, v = Vector3d::Zero(), w = Vector3d::Zero();
        double frame[3][3];
        if (dhd.get_pose(&x[0], &x[1], &x[2], frame, id) < 0) return false;
        // rows of their frame are those of a rotation matrix
        Matrix3d turn;
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) turn(i, j) = frame[i][j];
        state.pose.position = axes * x;
        state.pose.rotation = device_rotation(axes * turn * axes.transpose());
        if (dhd.get_velocity(&v[0], &v[1], &v[2], id) < 0) v.setZero();
        if (dhd.get_angular_velocity(&w[0], &w[1], &w[2], id) < 0) w.setZero();
        state.twist = {axes * v, axes * w};
        return true;
    }

    /// False: the device is lost.
    bool exchange_once() {
        // first: what is measured after a device says that it is calibrated is good. More places
        // than any version has
        std::array<int, 64> status{};
        if (dhd.get_status(status.data(), id) < 0) return false;
        const bool has_force = status[kDhdForceStatus] != 0;
        switch_motors(status[kDhdResetStatus] == 0, has_force);

        DeviceState state;
        // without calibration there need not be a place
        if (!read_pose(state) && is_calibrated) return false;
        const auto measured = DhdClock::now();
        double gap = 0;
        if (has_gripper && dhd.get_gripper_gap(&gap, id) >= 0)
            state.gripper = std::abs(gap) / kDhdGripperGap;
        state.buttons = dhd.get_buttons(id);
        if (!is_calibrated)
            state.status = DeviceStatus::Uncalibrated;
        else if (!has_force)
            state.status = DeviceStatus::Disabled;
        // an unknown place is none, and the device says so all the same
        if (!is_calibrated && !state.pose.position.allFinite()) state.pose = {};
        exchange.publish(state, measured);

        DeviceCommand command = exchange.command(DhdClock::now());
        if (!is_calibrated) command = {};
        const Vector3d f = axes.transpose() * command.force, t = axes.transpose() * command.torque;
        return dhd.set_force(f[0], f[1], f[2], t[0], t[1], t[2], command.gripper, id) >= 0 ||
               !is_calibrated;
    }

    const ForceDimensionDescription description;
    const VendorLibrary library;
    const DhdFunctions dhd;
    const Matrix3d axes = dhd_axes();
    char id = kDhdDefault;
    bool is_open = false, is_calibrated = false;
    bool waits_for_motors = false;  ///< which were told to come on
    DhdClock::time_point next_enable;
    DeviceExchange exchange;
    const bool has_gripper, is_falcon;
    std::atomic<bool> is_stopping{false};
    std::thread thread;
};

ForceDimensionDevice::ForceDimensionDevice(const ForceDimensionDescription& description)
    : impl_(std::make_unique<Impl>(description)) {}
ForceDimensionDevice::~ForceDimensionDevice() = default;

const DeviceCapabilities& ForceDimensionDevice::capabilities() const noexcept {
    return impl_->exchange.capabilities();
}
DeviceState ForceDimensionDevice::read(double now) noexcept { return impl_->exchange.read(now); }
void ForceDimensionDevice::write(const DeviceCommand& command) noexcept {
    impl_->exchange.write(command);
}
const char* ForceDimensionDevice::remedy() const noexcept {
    return impl_->is_falcon
               ? "The device is not calibrated: no force. Pull its grip out and push it in again, "
                 "all the way, until its lights are blue; then it goes on by itself."
               : "The device is not calibrated: no force. Put its calibration pole into the pit, "
                 "or run the maker's HapticInit, until its light stops blinking; then it goes on "
                 "by itself.";
}

ForceDimensionLibraryInfo inspect_force_dimension(const std::string& path) {
    const VendorLibrary library(dhd_names(), path);
    const DhdFunctions dhd = load_dhd(library);
    return {library.file(), checked_dhd_version(library, dhd), std::max(0, dhd.get_device_count())};
}

}  // namespace pliant
