// Profiles that may name libraries and other computers: the user's own, and no others.
#include "scene/own_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>

#include "core/temporary_directory.h"
#include "pliant/scene/scene_file.h"

namespace pliant {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// A folder of settings that is not there yet, and a umask.
class OwnProfile : public testing::Test {
protected:
    void SetUp() override {
        if (const char* const value = getenv("XDG_CONFIG_HOME")) before_ = value;
        setenv("XDG_CONFIG_HOME", (folder_ / "config").c_str(), 1);
        mask_ = umask(002);
    }
    void TearDown() override {
        umask(mask_);
        if (before_)
            setenv("XDG_CONFIG_HOME", before_->c_str(), 1);
        else
            unsetenv("XDG_CONFIG_HOME");
    }
    [[nodiscard]] static fs::path file() { return own_profile_folder() / "mine.json"; }
    [[nodiscard]] static std::string reason() { return foreign_reason(fs::canonical(file())); }
    [[nodiscard]] static mode_t rights(const fs::path& path) {
        struct stat info {};
        EXPECT_EQ(stat(path.c_str(), &info), 0) << path;
        return info.st_mode & 07777;
    }
    /// Of most systems: each user has a group of the same name without other members.
    [[nodiscard]] static bool has_group_of_its_own() {
        const passwd* const user = getpwuid(geteuid());
        const group* const owner = user ? getgrgid(user->pw_gid) : nullptr;
        return owner && std::string(owner->gr_name) == user->pw_name && !*owner->gr_mem &&
               user->pw_gid == getegid();
    }

private:
    test::TemporaryDirectory folder_;
    std::optional<std::string> before_;
    mode_t mask_ = 0;
};

TEST_F(OwnProfile, WhatTheProgramWritesIsOnesOwnWhateverTheUmask) {
    for (const mode_t mask : {0, 002, 022, 077}) {
        umask(mask);
        write_own_profile(file(), "{}");
        EXPECT_EQ(rights(own_profile_folder()), 0700u) << mask;
        EXPECT_EQ(rights(own_profile_folder().parent_path()), 0700u) << mask;
        EXPECT_EQ(rights(file()), mask == 077 ? 0600u : 0644u) << mask;
        EXPECT_EQ(reason(), "") << mask;
        EXPECT_EQ(test::read_text(file()), "{}");
        // over one that others could write
        chmod(file().c_str(), 0666);
        EXPECT_THAT(reason(), HasSubstr("mine.json may be written by others: chmod go-w "));
        write_own_profile(file(), "{}");
        EXPECT_EQ(reason(), "") << mask;
        fs::remove_all(own_profile_folder().parent_path());
    }
}

TEST_F(OwnProfile, AGroupOfTheUserAloneIsNobodyElse) {
    // as mkdir and an editor make them
    fs::create_directories(own_profile_folder());
    test::write_text(file(), "{}");
    ASSERT_EQ(rights(own_profile_folder()), 0775u);
    ASSERT_EQ(rights(file()), 0664u);
    if (!has_group_of_its_own()) {
        EXPECT_THAT(reason(), HasSubstr("may be written by others"));
        GTEST_SKIP() << "this user has no group of their own";
    }
    EXPECT_EQ(reason(), "");
    // everybody else may write
    for (const fs::path& path : {file(), own_profile_folder()}) {
        const mode_t before = rights(path);
        chmod(path.c_str(), before | S_IWOTH);
        EXPECT_THAT(reason(), HasSubstr(path.string() + " may be written by others")) << path;
        chmod(path.c_str(), before);
        EXPECT_EQ(reason(), "");
    }
    // a group that others may be in; only root gives files to any group
    constexpr gid_t kNobodysGroup = 64321;
    if (chown(file().c_str(), static_cast<uid_t>(-1), kNobodysGroup) != 0) return;
    chmod(file().c_str(), 0664);
    EXPECT_THAT(reason(), HasSubstr("mine.json may be written by others"));
    chmod(file().c_str(), 0644);
    EXPECT_EQ(reason(), "");
}

}  // namespace
}  // namespace pliant
