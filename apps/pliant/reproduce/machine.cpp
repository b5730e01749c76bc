#include "machine.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <ctime>
#include <fstream>
#include <thread>

#include "apps/pliant/build_features.h"
#include "apps/pliant/output.h"
#include "pliant/core/atomic_file.h"
#include "pliant/core/hash.h"
#include "pliant/core/simd.h"
#include "pliant/core/version.h"

namespace pliant::reproduce {

std::string program_hash() {
    const std::string bytes = read_file("/proc/self/exe");
    return hash_text(hash_bytes(bytes.data(), bytes.size()));
}

std::string processor_name() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        if (!line.starts_with("model name")) continue;
        const std::size_t start = line.find_first_not_of(" \t", line.find(':') + 1);
        if (start != std::string::npos) return line.substr(start);
    }
    return "unknown";
}

std::string utc_now() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&now, &parts);
    char text[32];
    return {text, std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &parts)};
}

std::vector<std::pair<std::string, std::string>> provenance() {
    utsname system{};
    uname(&system);
    const double memory =
        static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
    return {{"program", std::string("pliant ") + kVersion + ", hash " + program_hash()},
            {"compiler", cli::compiler_name()},
            {"SIMD", simd_targets().front()},
            {"processor",
             processor_name() + cli::format(", %u cores", std::thread::hardware_concurrency())},
            {"memory", cli::byte_size(memory)},
            {"system", std::string(system.sysname) + " " + system.release + ", " + system.machine}};
}

}  // namespace pliant::reproduce
