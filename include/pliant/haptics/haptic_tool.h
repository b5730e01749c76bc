#pragma once

#include "pliant/contact/contact_pair.h"
#include "pliant/haptics/device_safety.h"
#include "pliant/haptics/oscillation.h"
#include "pliant/haptics/passivity.h"
#include "pliant/haptics/static_coupling.h"
#include "pliant/haptics/workspace_map.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace pliant {

/// How a tool follows the hand: by StaticCoupling, or by one of the baselines.
enum class ToolCoupling { Static, Dynamic, Direct };

struct HapticToolOptions {
    ToolCoupling kind = ToolCoupling::Static;
    CouplingOptions coupling;  ///< of the static one
    WorkspaceOptions workspace;
    DeviceSafetyOptions safety;
    PassivityOptions passivity;
    Eigen::Vector3d grasp = Eigen::Vector3d::Zero();  ///< in the axes of the tool
    double rate = 1000;                               ///< of ticks [Hz]
    bool injects_damping = true;                      ///< −b_inj v while in contact
    bool backs_off = true;    ///< smaller steps, then lower gains when it oscillates
    bool shows_force = true;  ///< false: feedback off
};

/// What a tick did, for plots, recordings and people.
struct HapticTick {
    DeviceState device;
    DeviceCommand command;            ///< after safety
    Pose manipulandum, tool;          ///< frames of the tool body
    Wrench contact;                   ///< on the tool about the grasp point
    Wrench coupling;                  ///< shown to the hand, scene units
    double depth = 0, max_depth = 0;  ///< of contacts and its bound [m]; bound 0: none
    double worst_depth = 0;           ///< the deepest since reset [m]
    std::uint64_t violations = 0;     ///< ticks with contacts deeper than max_depth, since reset
    int num_contacts = 0;
    double port_energy = 0, stored_energy = 0;  ///< [J]
    double oscillation = 0;                     ///< of the last window [N]
    double gain_scale = 1, step_scale = 1;      ///< what back-off made of them
    StepStatus status = StepStatus::Ok;
    std::uint64_t faults = 0;  ///< readings that jumped or were too fast, since reset; not recorded
};

/// A rigid tool in the hand: one cycle reads the device, follows it through the virtual coupling
/// against the contact pairs it is in, and shows the force; docs/haptics.md section "One cycle".
/// The manipulandum begins at the tool, and again after readings that jumped or failed and when
/// the tool was put elsewhere: no force comes from nowhere. One thread at a time; tick() allocates
/// nothing. Device, tool and pairs must outlive it.
class HapticTool {
public:
    /// `tool` is a driven rigid body; `pairs` those contacts it takes part in, which get the
    /// contact stiffness of the gains. Throws InputError for a tool of another kind, pairs without
    /// it, and gains and options out of range.
    HapticTool(HapticDevice& device, RigidBody& tool, const std::vector<ContactPair*>& pairs,
               const CouplingGains& gains, const HapticToolOptions& options = {});
    ~HapticTool();

    /// After the pairs acted on the bodies as they are: drives the tool to its next pose and writes
    /// the force to the device. Then step all bodies. InputIgnored, no motion and no force for
    /// times that are not finite or no time.
    const HapticTick& tick(double now, double dt) noexcept;
    [[nodiscard]] const HapticTick& last() const noexcept;
    /// As chosen, before back-off. Kept in range; what is not finite is ignored.
    [[nodiscard]] const CouplingGains& gains() const noexcept;
    void set_gains(const CouplingGains& gains) noexcept;
    void show_force(bool is_on) noexcept;
    void set_back_off(bool is_on) noexcept;
    void set_passivity_control(bool is_on) noexcept;
    /// The static coupling as it works; its gains are set here every time back-off changes them.
    [[nodiscard]] StaticCoupling& coupling() noexcept;
    [[nodiscard]] DeviceSafety& safety() noexcept;
    [[nodiscard]] const PassivityPort& port() const noexcept;
    /// What safety, back-off and damping do now, in a sentence for the page; empty: nothing. Valid
    /// until the next call.
    [[nodiscard]] const char* notice() const noexcept;
    void reset() noexcept;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pliant
