#include "pliant/haptics/open_haptics_device.h"

#include "haptics/device_exchange.h"
#include "haptics/pose_rules.h"
#include "haptics/vendor_library.h"
#include "pliant/core/error.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cmath>
#include <cstring>
#include <thread>

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using HdClock = DeviceExchange::Clock;

// Our own declarations of what is used, as in version 3.0 of the library.
struct HdError {
    unsigned code;
    int internal;
    unsigned device;
};
using HdCallback = unsigned (*)(void*);
constexpr unsigned kHdSuccess = 0, kHdNoDevice = 0xffffffffu;
constexpr unsigned kHdButtons = 0x2000, kHdVelocity = 0x2051, kHdTransform = 0x2052,
                   kHdAngularVelocity = 0x2053, kHdVersion = 0x2500, kHdModel = 0x2501,
                   kHdUsableWorkspace = 0x2551, kHdMaxStiffness = 0x2602, kHdMaxForce = 0x2603,
                   kHdContinuousForce = 0x2604, kHdForce = 0x2700, kHdForceOutput = 0x4000,
                   kHdOutputDof = 0x2554, kHdCalibrationStyle = 0x2555, kHdMaxTorque = 0x2622,
                   kHdTorque = 0x2701;
constexpr unsigned kHdCalibrated = 0x5000, kHdNeedsUpdate = 0x5001;
// styles of calibration, bits; the third, 1, resets encoders and needs the arms at right angles
constexpr int kHdByItself = 2, kHdByInkwell = 4;
constexpr unsigned kHdDone = 0, kHdContinue = 1;
constexpr unsigned short kHdPriority = 65535;

constexpr std::chrono::milliseconds kHdWatch{10};
constexpr std::chrono::milliseconds kHdRetry{200};  // between tries to open a lost device
constexpr double kHdTimeout = 0.1;                  // without a servo tick [s]
constexpr double kHdMillimetre = 1e-3;
constexpr double kHdMillinewtonMetre = 1e-3;
constexpr int kHdErrorsPerTick = 8;
constexpr unsigned kHdCalibrationTicks = 10;  // between two looks at it

struct HdFunctions {
    unsigned (*init_device)(const char*);
    void (*disable_device)(unsigned);
    void (*make_current)(unsigned);
    void (*begin_frame)(unsigned);
    void (*end_frame)(unsigned);
    HdError (*get_error)();
    const char* (*error_text)(unsigned);
    void (*enable)(unsigned);
    void (*get_doubles)(unsigned, double*);
    void (*get_integers)(unsigned, int*);
    const char* (*get_string)(unsigned);
    void (*set_doubles)(unsigned, const double*);
    void (*start_scheduler)();
    void (*stop_scheduler)();
    unsigned (*check_calibration)();
    void (*update_calibration)(unsigned);
    unsigned long (*schedule)(HdCallback, void*, unsigned short);
    void (*unschedule)(unsigned long);
};

VendorLibraryNames hd_names() {
    return {"OpenHaptics",
            {"libHD.so", "libHD.so.3", "libHD.so.3.4", "libHD.so.3.0"},
            "version 3",
            "OpenHaptics for Linux and the Touch device driver of 3D Systems "
            "(https://www.3dsystems.com/haptics)"};
}

HdFunctions load_hd(const VendorLibrary& library) {
    HdFunctions f{};
    library.load(f.init_device, "hdInitDevice");
    library.load(f.disable_device, "hdDisableDevice");
    library.load(f.make_current, "hdMakeCurrentDevice");
    library.load(f.begin_frame, "hdBeginFrame");
    library.load(f.end_frame, "hdEndFrame");
    library.load(f.get_error, "hdGetError");
    library.load(f.error_text, "hdGetErrorString");
    library.load(f.enable, "hdEnable");
    library.load(f.get_doubles, "hdGetDoublev");
    library.load(f.get_integers, "hdGetIntegerv");
    library.load(f.get_string, "hdGetString");
    library.load(f.set_doubles, "hdSetDoublev");
    library.load(f.start_scheduler, "hdStartScheduler");
    library.load(f.stop_scheduler, "hdStopScheduler");
    library.load(f.check_calibration, "hdCheckCalibration");
    library.load(f.update_calibration, "hdUpdateCalibration");
    library.load(f.schedule, "hdScheduleAsynchronous");
    library.load(f.unschedule, "hdUnschedule");
    return f;
}

/// Theirs: x to the right, y up, z towards the user. Ours: x to the right, y away, z up.
Matrix3d hd_axes() { return (Matrix3d() << 1, 0, 0, 0, 0, -1, 0, 1, 0).finished(); }

struct HdModel {
    const char* part;   ///< of the name that the library gives
    double step, turn;  ///< of the encoders at the handle [m], [rad]
};

/// As published (docs/haptics.md, table of models); the library says all else.
HdModel hd_model(const std::string& name) {
    constexpr std::array<HdModel, 6> kKnown = {{{"1.5 High", 7e-6, 1.4e-4},
                                                {"3.0", 2.5e-5, 1.4e-4},
                                                {"Premium", 3e-5, 1.4e-4},
                                                {"Desktop", 2.3e-5, 1e-3},
                                                {"Touch X", 2.3e-5, 1e-3},
                                                {"", 5.5e-5, 1e-3}}};  // Omni, Touch, others
    return *std::ranges::find_if(
        kKnown, [&](const HdModel& model) { return name.find(model.part) != std::string::npos; });
}

/// `said` where it can be, else `assumed`.
double plausible(double said, double low, double high, double assumed) {
    return said >= low && said <= high ? said : assumed;
}

}  // namespace

struct OpenHapticsDevice::Impl {
    explicit Impl(const OpenHapticsDescription& d)
        : description(d),
          library(hd_names(), d.library),
          hd(load_hd(library)),
          exchange(open_first(), kHdTimeout, DeviceThread::OfLoop) {
        start();
        watcher = std::thread([this] { watch(); });
    }
    ~Impl() {
        is_stopping = true;
        watcher.join();
        if (is_open) stop();
    }

    DeviceCapabilities open_first() {
        const unsigned error = open();
        if (!is_open) {
            const char* const reason = hd.error_text(error);
            throw InputError(
                library.file(),
                "cannot open " +
                    (description.name.empty() ? std::string("the default device")
                                              : "the device \"" + description.name + "\"") +
                    " (" + (reason ? reason : "unknown reason") +
                    "); plug it in, and set it up and calibrate it with the maker's programs");
        }
        check_version();
        return limited(ask_capabilities(), description.limits);
    }
    /// The error, if it is one.
    unsigned open() {
        const char* const name = description.name.empty() ? nullptr : description.name.c_str();
        device = hd.init_device(name);
        const unsigned error = hd.get_error().code;
        is_open = error == kHdSuccess && device != kHdNoDevice;
        if (is_open) hd.enable(kHdForceOutput);
        return error;
    }
    void check_version() {
        const char* const said = hd.get_string(kHdVersion);
        const std::string version = said ? said : "";
        int major = 0;
        // "3.4.0" or "OpenHaptics 3.4"
        const std::size_t digit = version.find_first_of("0123456789");
        if (digit != std::string::npos)
            std::from_chars(version.data() + digit, version.data() + version.size(), major);
        if (major == 3) return;
        hd.disable_device(device);
        library.refuse_version(version.empty() ? "unknown" : version);
    }
    DeviceCapabilities ask_capabilities() {
        const auto ask = [&](unsigned what) {
            double number = 0;
            hd.get_doubles(what, &number);
            return number;
        };
        DeviceCapabilities can;
        const char* const model = hd.get_string(kHdModel);
        can.name = std::string("OpenHaptics ") + (model && *model ? model : "device");
        can.max_force = plausible(ask(kHdMaxForce), 0.5, 50, 3);
        can.continuous_force = plausible(ask(kHdContinuousForce), 0.1, can.max_force, 0.8);
        // in N/mm
        can.max_stiffness = 1000 * plausible(ask(kHdMaxStiffness), 0.05, 10, 0.4);
        const HdModel published = hd_model(can.name);
        can.position_step = published.step;
        can.angle_step = published.turn;
        has_torque = takes_torque();
        can.is_actuated = {true, true, true, has_torque, has_torque, has_torque};
        // careful: the least of what is published for such a device, and what others use
        can.max_torque =
            has_torque ? kHdMillinewtonMetre * plausible(ask(kHdMaxTorque), 5, 2000, 48) : 0;
        can.max_angular_stiffness = has_torque ? 0.3 : 0;
        hd.get_integers(kHdCalibrationStyle, &styles);
        // smallest and largest corner in millimetres
        std::array<double, 6> box{};
        hd.get_doubles(kHdUsableWorkspace, box.data());
        Vector3d half(0.08, 0.06, 0.035);
        for (int i = 0; i < 3; ++i) {
            const auto low = box[static_cast<std::size_t>(i)];
            const auto high = box[static_cast<std::size_t>(i + 3)];
            const double side = kHdMillimetre * (high - low) / 2;
            const bool is_good = side > 0.005 && side < 2 && std::abs(low) < 2000;
            centre[i] = is_good ? kHdMillimetre * (high + low) / 2 : 0;
            if (is_good) half[i] = side;
        }
        can.workspace = (axes * half).cwiseAbs();
        return can;
    }

    /// Six axes of output, and a library that still has the deprecated torque in Cartesian axes.
    bool takes_torque() {
        int axes_of_output = 3;
        hd.get_integers(kHdOutputDof, &axes_of_output);
        if (axes_of_output < 6) return false;
        const std::array<double, 3> none{};
        for (int i = 0; i < kHdErrorsPerTick && hd.get_error().code != kHdSuccess; ++i) {
        }
        hd.begin_frame(device);
        hd.set_doubles(kHdTorque, none.data());
        hd.end_frame(device);
        return hd.get_error().code == kHdSuccess;
    }

    /// What needs no hand is done; true: the device knows where it is.
    bool is_calibrated() noexcept {
        hd.make_current(device);
        const unsigned said = hd.check_calibration();
        const int style = styles & kHdByItself ? kHdByItself : styles & kHdByInkwell;
        // the update moves the place of the handle: a reading later it is good
        if (said == kHdNeedsUpdate && style != 0)
            hd.update_calibration(static_cast<unsigned>(style));
        return said == kHdCalibrated;
    }

    void start() {
        is_lost = false;
        ticks = 0;
        task = hd.schedule(
            [](void* self) { return static_cast<Impl*>(self)->servo() ? kHdContinue : kHdDone; },
            this, kHdPriority);
        hd.start_scheduler();
    }
    void stop() {
        hd.stop_scheduler();
        hd.unschedule(task);
        hd.disable_device(device);
        is_open = false;
    }

    /// One tick in the library's thread; false: the device is lost.
    bool servo() noexcept {
        if (ticks++ % kHdCalibrationTicks == 0) knows_place = is_calibrated();
        hd.begin_frame(device);
        std::array<double, 16> frame{};
        std::array<double, 3> v{}, w{};
        int buttons = 0;
        hd.get_doubles(kHdTransform, frame.data());
        hd.get_doubles(kHdVelocity, v.data());
        hd.get_doubles(kHdAngularVelocity, w.data());
        hd.get_integers(kHdButtons, &buttons);
        const auto measured = HdClock::now();
        DeviceCommand command = exchange.command(measured);
        if (!knows_place) command = {};
        const Vector3d force = axes.transpose() * command.force;
        hd.set_doubles(kHdForce, force.data());
        if (has_torque) {
            const Vector3d torque = axes.transpose() * command.torque / kHdMillinewtonMetre;
            hd.set_doubles(kHdTorque, torque.data());
        }
        hd.end_frame(device);
        // the newest comes first; only errors of the device itself, 0x03.., mean that it is gone
        for (int i = 0; i < kHdErrorsPerTick; ++i) {
            const unsigned code = hd.get_error().code;
            if (code == kHdSuccess) break;
            if (code >> 8 == 3) {
                is_lost = true;
                return false;
            }
        }
        // by columns, the place last and in millimetres
        const Matrix3d turn = Eigen::Map<const Eigen::Matrix4d>(frame.data()).topLeftCorner<3, 3>();
        const Vector3d place(frame[12], frame[13], frame[14]);
        DeviceState state;
        state.pose.position = axes * (kHdMillimetre * place - centre);
        state.pose.rotation = device_rotation(axes * turn * axes.transpose());
        state.twist.linear = kHdMillimetre * (axes * Vector3d(v[0], v[1], v[2]));
        state.twist.angular = axes * Vector3d(w[0], w[1], w[2]);
        state.buttons = static_cast<unsigned>(buttons);
        if (!knows_place) state.status = DeviceStatus::Uncalibrated;
        exchange.publish(state, measured);
        return true;
    }

    /// Opens a lost device again. Only it publishes while no servo runs.
    void watch() {
        auto next_try = HdClock::now();
        while (!is_stopping) {
            std::this_thread::sleep_for(kHdWatch);
            const auto now = HdClock::now();
            if (is_open && is_lost) {
                stop();
                exchange.publish_gone();
                next_try = now + kHdRetry;
            } else if (!is_open && now >= next_try) {
                open();
                if (is_open) start();
                next_try = HdClock::now() + kHdRetry;
            }
        }
    }

    const OpenHapticsDescription description;
    const VendorLibrary library;
    const HdFunctions hd;
    const Matrix3d axes = hd_axes();
    Vector3d centre = Vector3d::Zero();  ///< of the workspace, their axes [m]
    unsigned device = kHdNoDevice;
    bool is_open = false;
    bool has_torque = false;
    int styles = 0;            ///< of calibration that it has, bits
    unsigned ticks = 0;        ///< of the servo; wraps around
    bool knows_place = false;  ///< is calibrated
    unsigned long task = 0;
    std::atomic<bool> is_lost{false};
    DeviceExchange exchange;
    std::atomic<bool> is_stopping{false};
    std::thread watcher;
};

OpenHapticsDevice::OpenHapticsDevice(const OpenHapticsDescription& description)
    : impl_(std::make_unique<Impl>(description)) {}
OpenHapticsDevice::~OpenHapticsDevice() = default;

const DeviceCapabilities& OpenHapticsDevice::capabilities() const noexcept {
    return impl_->exchange.capabilities();
}
DeviceState OpenHapticsDevice::read(double now) noexcept { return impl_->exchange.read(now); }
void OpenHapticsDevice::write(const DeviceCommand& command) noexcept {
    impl_->exchange.write(command);
}

const char* OpenHapticsDevice::remedy() const noexcept {
    if (impl_->styles & kHdByItself)
        return "The device is not calibrated: no force. Lead its handle slowly through all of its "
               "reach; then it goes on by itself.";
    if (impl_->styles & kHdByInkwell)
        return "The device is not calibrated: no force. Put its stylus into the inkwell and take "
               "it out again; then it goes on by itself.";
    return "The device is not calibrated: no force. Hold its arms at right angles and reset its "
           "encoders with the maker's program; then it goes on by itself.";
}

std::string inspect_open_haptics(const std::string& path) {
    const VendorLibrary library(hd_names(), path);
    static_cast<void>(load_hd(library));
    return library.file();
}

}  // namespace pliant
