#pragma once

#include <filesystem>
#include <string>

namespace pliant {

/// Why a file may not say which code runs and who is called: it is not the user's own. Own is a
/// file below own_profile_folder() when nobody but the user and root could have put it there: all
/// folders down to it, and itself, are theirs and not for others to write. Empty: it is own.
/// `file` is canonical, and what is read: a link that is set elsewhere after it was resolved makes
/// nothing own.
[[nodiscard]] std::string foreign_reason(const std::filesystem::path& file);

}  // namespace pliant
