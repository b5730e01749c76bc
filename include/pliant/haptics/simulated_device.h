#pragma once

#include "pliant/haptics/device.h"

#include <memory>

namespace pliant {

/// A hand that holds a device: a spring and damper between the handle and where it wants to be,
/// with tremor; docs/haptics.md eq. (6).
struct HandModel {
    double stiffness = 300;         ///< [N/m]
    double damping = 2;             ///< [N s/m]
    double angular_stiffness = 1;   ///< [N m/rad]
    double angular_damping = 0.01;  ///< [N m s/rad]
    double mass = 0.05;             ///< of the fingers, moves with the handle [kg]
    double tremor = 0;              ///< amplitude of the 8–12 Hz motion of the target [m]

    [[nodiscard]] static HandModel loose();
    [[nodiscard]] static HandModel firm();
    [[nodiscard]] static HandModel absent();  ///< nobody holds it
};

/// The mechanics and electronics of a device.
struct DeviceModel {
    DeviceCapabilities capabilities;
    double mass = 0.1;              ///< felt at the handle [kg]
    double inertia = 5e-5;          ///< about each axis [kg m²]
    double damping = 0.1;           ///< viscous [N s/m]
    double angular_damping = 1e-3;  ///< [N m s/rad]
    double friction = 0;            ///< dry, on the handle [N]
    double motor_bandwidth = 0;     ///< first order [Hz]; 0: forces follow at once
    double rate = 1000;             ///< readings and commands a second: sample and hold [Hz]
    int delay = 1;                  ///< whole samples between a command and its force
    int steps_per_sample = 20;      ///< of the integration
    std::uint64_t seed = 1;         ///< of the tremor
};

/// A device in a hand, in virtual time: masses, friction, saturated motors with delay and
/// bandwidth, encoders with steps; docs/haptics.md eq. (5)–(8). The closed loop can be studied
/// without hardware. Deterministic. read() integrates from the last call to `now`.
class SimulatedDevice final : public HapticDevice {
public:
    /// Throws InputError for numbers out of range.
    explicit SimulatedDevice(const DeviceModel& model, const HandModel& hand = {});
    ~SimulatedDevice() override;

    /// Where the hand wants the handle to be, from the next read() on; reached in a straight line
    /// over it. Not finite: ignored.
    void aim(const Pose& target) noexcept;
    /// Puts handle and hand there at rest.
    void place(const Pose& pose) noexcept;
    void set_hand(const HandModel& hand);

    [[nodiscard]] const DeviceCapabilities& capabilities() const noexcept override;
    [[nodiscard]] DeviceState read(double now) noexcept override;
    void write(const DeviceCommand& command) noexcept override;

    // What no encoder sees.
    [[nodiscard]] const Pose& true_pose() const noexcept;
    [[nodiscard]] const Twist& true_twist() const noexcept;
    [[nodiscard]] const DeviceCommand& applied() const noexcept;  ///< by the motors now
    [[nodiscard]] const Wrench& hand_load() const noexcept;       ///< of the hand on the handle
    /// Work that the motors did on the handle so far [J].
    [[nodiscard]] double motor_work() const noexcept;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pliant
