#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "pliant/contact/pointshell.h"
#include "pliant/core/error.h"

/// Any bytes give a sound pointshell or an InputError.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto* bytes = reinterpret_cast<const std::byte*>(data);
    try {
        const pliant::Archive archive = pliant::Archive::from_bytes({bytes, bytes + size}, "fuzz");
        const pliant::Pointshell shell = pliant::pointshell_from_archive(archive, "fuzz");
        if (shell.num_points() < 1 || shell.num_levels() < 1) std::abort();
        check_pointshell(shell);
    } catch (const pliant::InputError&) {
        // a malformed file, refused
    }
    return 0;
}
