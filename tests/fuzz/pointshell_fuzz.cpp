#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "fuzz/archive_fuzz.h"
#include "pliant/contact/pointshell.h"
#include "pliant/core/error.h"
#include "tests/sample_archives.h"

/// Any bytes give a sound pointshell or an InputError.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const std::vector<std::byte> sample =
        pliant::test::archive_sample(pliant::test::write_pointshell_sample);
    try {
        const pliant::Archive archive =
            pliant::Archive::from_bytes(pliant::test::fuzzed_archive(data, size, sample), "fuzz");
        const pliant::Pointshell shell = pliant::pointshell_from_archive(archive, "fuzz");
        if (shell.num_points() < 1 || shell.num_levels() < 1) std::abort();
        check_pointshell(shell);
    } catch (const pliant::InputError&) {
        // a malformed file, refused
    }
    return 0;
}
