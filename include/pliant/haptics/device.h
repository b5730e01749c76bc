#pragma once

#include "pliant/core/pose.h"

#include <array>
#include <cstdint>
#include <limits>
#include <string>

namespace pliant {

/// What a device is and can do, in its own units: metres of handle travel, newtons at the handle.
/// The rules for gains and the safety of outputs follow from it; docs/haptics.md.
struct DeviceCapabilities {
    std::string name;
    Eigen::Vector3d workspace = {0.08, 0.08, 0.06};  ///< half sides of the box it reaches [m]
    double max_force = 8.5;                          ///< [N]
    double max_torque = 0.17;                        ///< [N m]; 0: it shows none
    double continuous_force = 3;                     ///< that it can hold for ever [N]
    double max_stiffness = 600;                      ///< of the handle that stays stable [N/m]
    double max_angular_stiffness = 1;                ///< [N m/rad]
    /// Of device and the loosest hand, b_tot and b_rot; 0: unknown, the rules assume little.
    double damping = 0;           ///< [N s/m]
    double angular_damping = 0;   ///< [N m s/rad]
    double delay = 1;             ///< n_d: samples between a command and its force
    double position_step = 2e-5;  ///< of the encoders at the handle [m]
    double angle_step = 2e-4;     ///< [rad]
    std::array<bool, 6> is_sensed = {true, true, true, true, true, true};
    std::array<bool, 6> is_actuated = {true, true, true, true, true, true};
};
/// The longest delay [samples].
inline constexpr double kLongestDelay = 64;
/// Throws InputError for numbers that are not finite, not positive where they must be, or absurd.
void check(const DeviceCapabilities& capabilities);

/// What a person allows a device, whatever it can do.
struct DeviceLimits {
    double max_force = std::numeric_limits<double>::infinity();  ///< [N]; infinite: none
    /// [N m]; infinite: as much lower than what the device can do as the force is.
    double max_torque = std::numeric_limits<double>::infinity();
    /// Of limits that were put together, the lowest force that came without a torque [N]: the
    /// torque of the device falls with it, whatever torque others said. smaller() writes it.
    double lone_force = std::numeric_limits<double>::infinity();
};
/// What holds where both are said, in whatever order: the lower force and torque. A force that
/// comes without a torque lowers that of the other, and of the device, in its proportion.
[[nodiscard]] DeviceLimits smaller(const DeviceLimits& a, const DeviceLimits& b) noexcept;
/// What is left of a device: the lower force and torque. What it can hold for ever gets no higher,
/// of its torque neither. Throws InputError for limits out of range.
[[nodiscard]] DeviceCapabilities limited(DeviceCapabilities capabilities,
                                         const DeviceLimits& limits);

/// For people: limits that are higher than what the device itself shows; empty: none.
[[nodiscard]] std::string loose_limits(const DeviceLimits& limits, const DeviceCapabilities& can);

enum class DeviceStatus {
    Ok,
    Disabled,      ///< ready, motors off
    Stale,         ///< no new data since the last read
    Disconnected,  ///< gone; it may come back
    Uncalibrated,  ///< does not know where it is: HapticDevice::remedy()
    NoRotation,    ///< the rest is new and good; the rotation is the last one that was
};
inline constexpr int kNumDeviceStatuses = 6;
[[nodiscard]] const char* name(DeviceStatus status) noexcept;
/// Whether a reading of this status says where the handle is now.
[[nodiscard]] constexpr bool says_where(DeviceStatus status) noexcept {
    return status == DeviceStatus::Ok || status == DeviceStatus::Disabled ||
           status == DeviceStatus::NoRotation;
}

/// One reading of a device. Axes of the device, right-handed, z up.
struct DeviceState {
    double time = 0;            ///< of the measurement, clock of the loop [s]
    Pose pose;                  ///< of the handle
    Twist twist;                ///< zero where the device does not say
    double gripper = 0;         ///< opening, 0 to 1
    std::uint32_t buttons = 0;  ///< bit i: button i is down
    DeviceStatus status = DeviceStatus::Ok;
    /// When it was measured by the device's own clock, of which only differences count [s]; 0: it
    /// says nothing of it, and `time` counts. A loop that was late leaves out ticks, and `time`
    /// does not know.
    double clock = 0;
};

/// One output: on the hand, axes of the device.
struct DeviceCommand {
    Eigen::Vector3d force = Eigen::Vector3d::Zero();   ///< [N]
    Eigen::Vector3d torque = Eigen::Vector3d::Zero();  ///< about the handle's origin [N m]
    double gripper = 0;                                ///< closing force [N]
};

/// A source of poses and a sink of forces: hardware, simulation, mouse, file. One thread at a time;
/// read() and write() neither throw, allocate, lock nor wait.
class HapticDevice {
public:
    virtual ~HapticDevice() = default;
    [[nodiscard]] virtual const DeviceCapabilities& capabilities() const noexcept = 0;
    /// The newest state at `now` seconds on the clock of the loop; a device that is simulated
    /// advances to it.
    [[nodiscard]] virtual DeviceState read(double now) noexcept = 0;
    /// In force until the next write.
    virtual void write(const DeviceCommand& command) noexcept = 0;
    /// What a person has to do with a device that is Uncalibrated, in one sentence; empty: nothing
    /// more is known.
    [[nodiscard]] virtual const char* remedy() const noexcept { return ""; }
};

}  // namespace pliant
