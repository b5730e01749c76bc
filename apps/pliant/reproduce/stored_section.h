#pragma once

#include "report.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace pliant::reproduce {

/// A finished experiment, with what it took.
struct StoredSection {
    Section section;
    double seconds = 0;            ///< on the clock
    std::int64_t peak_memory = 0;  ///< [bytes] of its process
    std::string date = {};         ///< when it ended, UTC
};

/// Writes the section as an archive that appears whole or not at all. `key` says what the result
/// depends on: program, options, machine.
void save_section(const StoredSection& stored, const std::string& key,
                  const std::filesystem::path& path);

/// Nothing if there is no such file, if it was written under another key, or if it is damaged;
/// `why` then says which, and is empty where there is no file.
[[nodiscard]] std::optional<StoredSection> load_section(const std::filesystem::path& path,
                                                        const std::string& key, std::string& why);

}  // namespace pliant::reproduce
