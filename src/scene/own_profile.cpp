#include "scene/own_profile.h"

#include "pliant/scene/scene_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace pliant {
namespace {

namespace fs = std::filesystem;

/// What is wrong with the owner or the rights of a file or folder; empty: nothing.
std::string loose_rights(const fs::path& path) {
    struct stat info {};
    if (::lstat(path.c_str(), &info) != 0) return path.string() + " cannot be read";
    if (S_ISLNK(info.st_mode)) return path.string() + " is a link";
    if (info.st_uid != ::geteuid() && info.st_uid != 0)
        return path.string() + " is of another user";
    const bool is_writable = (info.st_mode & (S_IWGRP | S_IWOTH)) != 0;
    // in /tmp others may add files, not replace those of the user
    const bool is_kept = S_ISDIR(info.st_mode) && (info.st_mode & S_ISVTX) != 0;
    if (is_writable && !is_kept)
        return path.string() + " may be written by others: chmod go-w " + path.string();
    return "";
}

}  // namespace

fs::path own_profile_folder() {
    const auto folder_of = [](const char* variable) {
        const char* const value = std::getenv(variable);
        return fs::path(value ? value : "");
    };
    // the base directory rules have relative paths ignored
    if (const fs::path base = folder_of("XDG_CONFIG_HOME"); base.is_absolute())
        return base / "pliant";
    const fs::path home = folder_of("HOME");
    return home.is_absolute() ? home / ".config" / "pliant" : fs::path();
}

std::string foreign_reason(const fs::path& file) {
    std::error_code error;
    const fs::path folder = fs::canonical(own_profile_folder(), error);
    if (error) return "there is no such folder";
    const auto [in_folder, in_file] =
        std::mismatch(folder.begin(), folder.end(), file.begin(), file.end());
    if (in_folder != folder.end() || in_file == file.end()) return file.string() + " is not in it";
    fs::path part;
    for (const fs::path& name : file) {
        part /= name;
        if (std::string reason = loose_rights(part); !reason.empty()) return reason;
    }
    return "";
}

}  // namespace pliant
