#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace pliant {

/// Why a file may not say which code runs and who is called: it is not the user's own. Own is a
/// file below own_profile_folder() when nobody but the user and root could have put it there: all
/// folders down to it, and itself, are theirs and not for others to write. A group that has no
/// member but the user is no others: where each user has such a group, new files are writable for
/// it. Empty: it is own. `file` is canonical, and what is read: a link that is set elsewhere after
/// it was resolved makes nothing own.
[[nodiscard]] std::string foreign_reason(const std::filesystem::path& file);

/// Writes a profile that may become one's own, whatever the umask: its folders, where they are
/// missing, for the user alone (0700), and the file for nobody else to write (0644 or less). Throws
/// InputError when it cannot be written.
void write_own_profile(const std::filesystem::path& path, std::string_view text);

}  // namespace pliant
