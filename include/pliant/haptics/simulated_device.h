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

/// The mechanics and electronics of a device. Encoder steps, limits and axes are those of its
/// capabilities, whose delay is overwritten.
struct DeviceModel {
    DeviceCapabilities capabilities = {};
    double mass = 0.1;              ///< felt at the handle [kg]
    double inertia = 5e-5;          ///< about each axis [kg m²]
    double damping = 0.1;           ///< viscous [N s/m]
    double angular_damping = 1e-3;  ///< [N m s/rad]
    double friction = 0;            ///< dry, on the handle [N]
    double motor_bandwidth = 0;     ///< first order [Hz]; 0: forces follow at once
    double rate = 1000;             ///< readings and commands a second: sample and hold [Hz]
    int delay = 1;                  ///< whole samples between a command and its force, up to 64
    int steps_per_sample = 20;      ///< of the integration
    std::uint64_t seed = 1;         ///< of the tremor
};

/// A device in a hand, in virtual time: masses, friction, saturated motors with delay and
/// bandwidth, encoders with steps; docs/haptics.md eq. (5)–(8). The closed loop can be studied
/// without hardware. Deterministic. read() integrates the whole samples that are due at `now`, 200
/// at most: time that jumps further, or back, is not made up for.
class SimulatedDevice final : public HapticDevice {
public:
    /// Throws InputError for numbers out of range.
    explicit SimulatedDevice(const DeviceModel& model, const HandModel& hand = {});
    ~SimulatedDevice() override;

    /// Where the hand wants the handle to be, from the next read() on; reached in a straight line
    /// over it. Not finite, or beyond 1000 km: ignored.
    void aim(const Pose& target) noexcept;
    /// Puts handle and hand there, the handle with a velocity.
    void place(const Pose& pose, const Twist& twist = {}) noexcept;
    /// As constructed but for the hand and the mass, with the handle there: also clock, tremor,
    /// commands on their way, buttons and plug.
    void reset(const Pose& pose = {}) noexcept;
    /// Throws InputError for numbers out of range.
    void set_hand(const HandModel& hand);
    /// Of the handle [kg]; a reset keeps it. Throws InputError as the constructor.
    void set_mass(double mass);
    void set_buttons(std::uint32_t buttons) noexcept;
    /// Pulls the plug: commands are lost, also those on their way; readings stay the last one and
    /// say so.
    void set_connected(bool is_connected) noexcept;

    [[nodiscard]] const DeviceCapabilities& capabilities() const noexcept override;
    /// The newest sample; Stale when it is the one of the last call. The twist is the difference of
    /// the last two samples, encoder steps included.
    [[nodiscard]] DeviceState read(double now) noexcept override;
    /// Clamped to what the motors can do; zero where not finite or not actuated.
    void write(const DeviceCommand& command) noexcept override;

    // What no encoder sees.
    [[nodiscard]] const Pose& true_pose() const noexcept;
    [[nodiscard]] const Twist& true_twist() const noexcept;
    [[nodiscard]] const DeviceCommand& applied() const noexcept;  ///< by the motors now
    [[nodiscard]] const Wrench& hand_load() const noexcept;       ///< of the hand on the handle

    // Energies since place() [J]: stored = stored then + motor_work + hand_work − dissipated, as
    // long as the hand is the same; exact but for large rotations in the hand, docs/haptics.md.
    [[nodiscard]] double motor_work() const noexcept;     ///< of the motors on the handle
    [[nodiscard]] double hand_work() const noexcept;      ///< of the arm, where it moves the target
    [[nodiscard]] double dissipated() const noexcept;     ///< by dampers and friction
    [[nodiscard]] double stored_energy() const noexcept;  ///< of motion and of the hand's springs

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pliant
