#include "server/leading_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "core/temporary_directory.h"

namespace pliant {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

TEST(LeadingPage, LeadsToTheAddressAndIsForItsUserAlone) {
    const test::TemporaryDirectory folder;
    ::setenv("XDG_RUNTIME_DIR", (folder / "").c_str(), 1);
    const std::string url = "http://127.0.0.1:8080/?t=0123456789abcdef";
    fs::path path;
    {
        const LeadingPage page(url);
        path = page.path();
        EXPECT_EQ(path.parent_path(), (folder / "").parent_path());
        EXPECT_EQ(path.extension(), ".html");
        struct stat info {};
        ASSERT_EQ(::stat(path.c_str(), &info), 0);
        EXPECT_EQ(info.st_mode & 0777u, 0600u);
        const std::string text = test::read_text(path);
        EXPECT_THAT(text, HasSubstr("http-equiv=\"refresh\" content=\"0; url=" + url + "\""));
        EXPECT_THAT(text, HasSubstr("<a href=\"" + url + "\""));
        EXPECT_EQ(text.find("URL"), std::string::npos);
        const LeadingPage second(url);
        EXPECT_NE(second.path(), page.path());
    }
    EXPECT_FALSE(fs::exists(path));
}

TEST(LeadingPage, PagesOfKilledProgramsAreRemovedByTheNext) {
    const test::TemporaryDirectory folder;
    for (const char* name : {"runtime", "cache"}) fs::create_directory(folder / name);
    ::setenv("XDG_RUNTIME_DIR", (folder / "runtime").c_str(), 1);
    ::setenv("XDG_CACHE_HOME", (folder / "cache").c_str(), 1);
    const std::string url = "http://127.0.0.1:8080/?t=0123456789abcdef";
    const auto leave_a_page = [&] {
        const pid_t child = ::fork();
        if (child == 0) {
            const LeadingPage page(url);
            ::kill(::getpid(), SIGKILL);
        }
        ::waitpid(child, nullptr, 0);
    };
    const LeadingPage alive(url);
    leave_a_page();
    ::unsetenv("XDG_RUNTIME_DIR");
    leave_a_page();
    ::setenv("XDG_RUNTIME_DIR", (folder / "runtime").c_str(), 1);
    const auto num_files = [&](const char* name) {
        return std::distance(fs::directory_iterator(folder / name), fs::directory_iterator());
    };
    ASSERT_EQ(num_files("runtime"), 2);
    ASSERT_EQ(num_files("cache/pliant"), 1);
    // what is called otherwise is not ours, nor is what only looks like a page
    test::write_text(folder / "runtime/pliant-notes.html", "mine");
    fs::create_directory(folder / "runtime/pliant-viewer-abcdef.html");
    fs::create_symlink(folder / "runtime/pliant-notes.html",
                       folder / "runtime/pliant-viewer-ghijkl.html");
    {
        const LeadingPage next(url);
        EXPECT_TRUE(fs::exists(alive.path()));
        EXPECT_TRUE(fs::exists(next.path()));
        EXPECT_EQ(num_files("runtime"), 5);
        EXPECT_EQ(num_files("cache/pliant"), 0);
    }
    EXPECT_EQ(num_files("runtime"), 4);
    EXPECT_EQ(test::read_text(folder / "runtime/pliant-notes.html"), "mine");
    ::unsetenv("XDG_CACHE_HOME");
    ::unsetenv("XDG_RUNTIME_DIR");
}

TEST(LeadingPage, IsInTheCacheFolderWhereTheRuntimeFolderIsMissing) {
    const test::TemporaryDirectory folder;
    ::setenv("XDG_RUNTIME_DIR", (folder / "missing").c_str(), 1);
    ::setenv("XDG_CACHE_HOME", (folder / "cache").c_str(), 1);
    EXPECT_EQ(fs::path(LeadingPage("http://localhost/").path()).parent_path(),
              folder / "cache/pliant");
    // and nowhere when that cannot be made
    test::write_text(folder / "file", "in the way");
    ::setenv("XDG_CACHE_HOME", (folder / "file").c_str(), 1);
    EXPECT_EQ(LeadingPage("http://localhost/").path(), "");
    ::unsetenv("XDG_CACHE_HOME");
    ::unsetenv("XDG_RUNTIME_DIR");
}

}  // namespace
}  // namespace pliant
