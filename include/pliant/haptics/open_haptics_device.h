#pragma once

#include "pliant/haptics/device.h"

#include <memory>
#include <string>

namespace pliant {

/// "openhaptics": through the maker's library, loaded at run time; OpenHapticsDevice.
struct OpenHapticsDescription {
    std::string library = {};  ///< path; empty: libHD.so where the system looks
    std::string name = {};     ///< as given in the maker's setup; empty: the default device
    DeviceLimits limits = {};
};

/// A Touch or Phantom of 3D Systems through the library HD of OpenHaptics, version 3. Readings and
/// forces are exchanged in the library's own servo thread, 1000 times a second. Shows forces, and
/// torques where it says that it has six axes of output. A device that is unplugged is Disconnected
/// and opened again when it is back. One that is not calibrated is Uncalibrated without force: what
/// the library can do by itself is done, what needs a hand is told. The origin is in the middle of
/// the workspace; axes: x to the right, y away from the user, z up. One at a time: the library has
/// one scheduler.
class OpenHapticsDevice final : public HapticDevice {
public:
    /// Throws InputError when the library or the device is missing, or too old, with what was
    /// looked for.
    explicit OpenHapticsDevice(const OpenHapticsDescription& description = {});
    ~OpenHapticsDevice() override;

    [[nodiscard]] const DeviceCapabilities& capabilities() const noexcept override;
    [[nodiscard]] DeviceState read(double now) noexcept override;
    void write(const DeviceCommand& command) noexcept override;
    [[nodiscard]] const char* remedy() const noexcept override;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// The file of the library, with all that is needed in it; nothing is opened. Throws InputError as
/// the device does.
[[nodiscard]] std::string inspect_open_haptics(const std::string& library = {});

}  // namespace pliant
