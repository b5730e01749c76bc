#pragma once

#include "pliant/haptics/device.h"

#include <memory>
#include <string>

namespace pliant {

/// "force-dimension": through the maker's library, loaded at run time; ForceDimensionDevice.
struct ForceDimensionDescription {
    std::string library = {};  ///< path; empty: libdhd.so or libdrd.so where the system looks
    int serial = 0;            ///< 0: the first device
    DeviceLimits limits = {};
};

/// A device of Force Dimension (omega, delta, sigma, lambda) or a Falcon through their library
/// `dhd`, version 3.3 or later. Their calls wait for the hardware and are made on a thread of its
/// own, 2000 times a second. A device that is unplugged is Disconnected and opened again when it is
/// back. Axes: x to the right, y away from the user, z up; the origin is the library's. One that
/// waits for its calibration is Uncalibrated, its motors are off, and it goes on when a person has
/// calibrated it: it moves nothing by itself.
class ForceDimensionDevice final : public HapticDevice {
public:
    /// Throws InputError when the library or the device is missing, or too old, with what was
    /// looked for.
    explicit ForceDimensionDevice(const ForceDimensionDescription& description = {});
    ~ForceDimensionDevice() override;

    [[nodiscard]] const DeviceCapabilities& capabilities() const noexcept override;
    [[nodiscard]] DeviceState read(double now) noexcept override;
    void write(const DeviceCommand& command) noexcept override;
    [[nodiscard]] const char* remedy() const noexcept override;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// What the library says; nothing is opened.
struct ForceDimensionLibraryInfo {
    std::string file, version;
    int num_devices = 0;
};
/// Throws InputError as the device does.
[[nodiscard]] ForceDimensionLibraryInfo inspect_force_dimension(const std::string& library = {});

}  // namespace pliant
