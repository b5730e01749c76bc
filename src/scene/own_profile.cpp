#include "scene/own_profile.h"

#include "pliant/core/atomic_file.h"
#include "pliant/scene/scene_file.h"

#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

namespace pliant {
namespace {

namespace fs = std::filesystem;

/// Whether nobody but the user is in the group: their primary one, of their name, without members,
/// as most systems give each user, whose new files are then writable for it (umask 002).
bool is_own_group(gid_t id) {
    std::array<char, 16384> user_text{}, group_text{};
    passwd user{}, *found_user = nullptr;
    group owner{}, *found_group = nullptr;
    const bool are_known =
        ::getpwuid_r(::geteuid(), &user, user_text.data(), user_text.size(), &found_user) == 0 &&
        ::getgrgid_r(id, &owner, group_text.data(), group_text.size(), &found_group) == 0;
    return are_known && found_user && found_group && user.pw_gid == id &&
           std::string_view(user.pw_name) == owner.gr_name && owner.gr_mem && !*owner.gr_mem;
}

/// Whether only the owner and a group that is the user's own may write. With an access list the
/// rights of the group are those of all that are in it, so that they say nothing.
bool is_writable_by_own_group_alone(const fs::path& path, const struct stat& info) {
    return (info.st_mode & S_IWOTH) == 0 && is_own_group(info.st_gid) &&
           ::lgetxattr(path.c_str(), "system.posix_acl_access", nullptr, 0) < 0;
}

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
    if (is_writable && !is_kept && !is_writable_by_own_group_alone(path, info))
        return path.string() + " may be written by others: chmod go-w " + path.string();
    return "";
}

/// For the user alone, as the base directory rules have it. That it could not be made, writing into
/// it says.
void make_private_folders(const fs::path& folder) {
    struct stat info {};
    if (folder.empty() || ::stat(folder.c_str(), &info) == 0) return;
    make_private_folders(folder.parent_path());
    static_cast<void>(::mkdir(folder.c_str(), S_IRWXU));
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

void write_own_profile(const fs::path& path, std::string_view text) {
    make_private_folders(path.parent_path());
    write_file(path, text);
    // a device or a pipe, /dev/stdout, stays as it is
    std::error_code failure;
    if (!fs::is_regular_file(path, failure)) return;
    fs::permissions(path, fs::perms::group_write | fs::perms::others_write,
                    fs::perm_options::remove, failure);
}

}  // namespace pliant
