#include "pliant/core/error.h"
#include "pliant/particles/particle_layout.h"

#include <cstddef>
#include <cstdint>
#include <string>

/// Any text is a layout that passes its own check or gives an InputError.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    try {
        const pliant::ParticleLayout layout = pliant::parse_layout(text, "fuzz.json");
        pliant::check_layout(layout);
        if (layout.particles.empty()) __builtin_trap();
    } catch (const pliant::InputError&) {
    }
    return 0;
}
