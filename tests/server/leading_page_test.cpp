#include "server/leading_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

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
