// A library whose code runs as soon as it is loaded: it writes the file that PLIANT_MARKER names.
#include <cstdio>
#include <cstdlib>

namespace {

[[gnu::constructor]] void leave_a_mark() {
    const char* const path = std::getenv("PLIANT_MARKER");
    if (std::FILE* const file = path ? std::fopen(path, "w") : nullptr) std::fclose(file);
}

}  // namespace
