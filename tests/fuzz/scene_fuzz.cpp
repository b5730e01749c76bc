#include "pliant/core/error.h"
#include "pliant/scene/scene_file.h"

#include <cstddef>
#include <cstdint>
#include <string>

/// Any text is a scene or gives an InputError.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    try {
        const pliant::SceneDescription scene = pliant::parse_scene(text, "fuzz.json");
        if (scene.bodies.empty() || scene.text != text) __builtin_trap();
    } catch (const pliant::InputError&) {
    }
    return 0;
}
