#include "pliant/field/build_field.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>

namespace pliant {
namespace {

constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();

/// The number after `key` in a file of lines `key value`; the first word when there is no key.
std::size_t number_in(const std::string& path, const std::string& key, std::size_t otherwise) {
    std::ifstream file(path);
    std::string word;
    while (file >> word) {
        if (!key.empty()) {
            if (word != key) continue;
            if (!(file >> word)) break;
        }
        // limits may read `max`
        const bool is_number = word.find_first_not_of("0123456789") == std::string::npos;
        return is_number ? std::strtoull(word.c_str(), nullptr, 10) : otherwise;
    }
    return otherwise;
}

/// Path of this process in the hierarchy of control groups, `/` when it is not known.
std::string group_path() {
    std::ifstream file("/proc/self/cgroup");
    std::string line;
    while (std::getline(file, line))
        if (line.rfind("0::", 0) == 0) return line.substr(3);
    return "/";
}

/// What the control group and all above it leave; files that are only cached do not count.
std::size_t left_by_groups() {
    std::size_t left = kUnlimited;
    std::string path = group_path();
    while (true) {
        const std::string folder = "/sys/fs/cgroup" + path + "/";
        const std::size_t limit = number_in(folder + "memory.max", "", kUnlimited);
        if (limit != kUnlimited) {
            const std::size_t current = number_in(folder + "memory.current", "", 0);
            const std::size_t cached = number_in(folder + "memory.stat", "inactive_file", 0);
            const std::size_t used = current - std::min(current, cached);
            left = std::min(left, limit - std::min(limit, used));
        }
        const std::size_t slash = path.find_last_of('/');
        if (slash == std::string::npos || path == "/") break;
        path = slash == 0 ? "/" : path.substr(0, slash);
    }
    return left;
}

}  // namespace

std::size_t available_memory() noexcept {
    try {
        const std::size_t kilobytes = number_in("/proc/meminfo", "MemAvailable:", kUnlimited);
        const std::size_t free = kilobytes == kUnlimited ? kUnlimited : 1024 * kilobytes;
        return std::min(free, left_by_groups());
    } catch (...) {
        return kUnlimited;  // nothing known: the allocation itself will tell
    }
}

}  // namespace pliant
