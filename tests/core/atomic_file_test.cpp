#include "pliant/core/atomic_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "core/temporary_directory.h"
#include "input_error.h"

namespace pliant {
namespace {

namespace fs = std::filesystem;
using test::TemporaryDirectory, test::input_error, test::read_text, test::write_text;
using testing::HasSubstr;

TEST(AtomicFile, AppearsOnlyAtCommit) {
    const TemporaryDirectory directory;
    AtomicFile file(directory / "a.txt");
    file.write("hello ");
    file.write("world");
    EXPECT_EQ(file.size(), 11u);
    EXPECT_FALSE(fs::exists(directory / "a.txt"));
    file.commit();
    EXPECT_EQ(read_text(directory / "a.txt"), "hello world");
    EXPECT_EQ(directory.num_files(), 1u);
}

TEST(AtomicFile, OldFileSurvivesAnAbandonedWrite) {
    const TemporaryDirectory directory;
    write_text(directory / "a.txt", "old");
    try {
        AtomicFile file(directory / "a.txt");
        file.write(std::string(1 << 20, 'x'));
        throw std::runtime_error("interrupted");
    } catch (const std::runtime_error&) {
    }
    EXPECT_EQ(read_text(directory / "a.txt"), "old");
    EXPECT_EQ(directory.num_files(), 1u) << "the temporary file is gone";
}

TEST(AtomicFile, ReplacesAnOldFile) {
    const TemporaryDirectory directory;
    write_text(directory / "a.txt", "a much longer old text");
    AtomicFile file(directory / "a.txt");
    file.write("new");
    file.commit();
    EXPECT_EQ(read_text(directory / "a.txt"), "new");
}

TEST(AtomicFile, AWholeTextIsWrittenInOneCall) {
    const TemporaryDirectory directory;
    EXPECT_EQ(write_file(directory / "a.txt", "all of it"), 9u);
    EXPECT_EQ(read_text(directory / "a.txt"), "all of it");
    EXPECT_EQ(directory.num_files(), 1u);
}

TEST(AtomicFile, SmallAndLargePiecesKeepTheirOrder) {
    const TemporaryDirectory directory;
    AtomicFile file(directory / "a.bin");
    std::string expected;
    for (const std::size_t size :
         {0u, 1u, 1000u, 1u << 18, 17u, (1u << 18) - 1, 5u, 1u << 20, 3u}) {
        const std::string piece(size, static_cast<char>('a' + size % 26));
        file.write(piece);
        expected += piece;
    }
    file.commit();
    EXPECT_EQ(file.size(), expected.size());
    EXPECT_TRUE(read_text(directory / "a.bin") == expected);
}

TEST(AtomicFile, TwoWritersOfOneTargetDoNotMix) {
    const TemporaryDirectory directory;
    AtomicFile first(directory / "a.txt"), second(directory / "a.txt");
    first.write("first");
    second.write("second");
    first.commit();
    EXPECT_EQ(read_text(directory / "a.txt"), "first");
    second.commit();
    EXPECT_EQ(read_text(directory / "a.txt"), "second");
}

TEST(AtomicFile, LongNamesAndUsualPermissions) {
    const TemporaryDirectory directory;
    const std::string name(255, 'n');  // the longest name a Linux file system takes
    AtomicFile file(directory / name);
    file.commit();
    struct stat status {};
    ASSERT_EQ(stat((directory / name).c_str(), &status), 0);
    const mode_t mask = umask(0);
    umask(mask);
    EXPECT_EQ(status.st_mode & 0777, 0666 & ~mask);
}

TEST(AtomicFile, WritesThroughALink) {
    const TemporaryDirectory directory;
    write_text(directory / "real.txt", "old");
    fs::create_symlink("real.txt", directory / "link.txt");
    AtomicFile file(directory / "link.txt");
    file.write("new");
    file.commit();
    EXPECT_TRUE(fs::is_symlink(directory / "link.txt"));
    EXPECT_EQ(read_text(directory / "real.txt"), "new");
}

TEST(AtomicFile, MakesWhatALinkPointsTo) {
    const TemporaryDirectory directory;
    fs::create_symlink("later.txt", directory / "link.txt");
    fs::create_symlink(fs::absolute(directory / "link.txt"), directory / "second.txt");
    AtomicFile file(directory / "second.txt");
    file.write("new");
    file.commit();
    EXPECT_TRUE(fs::is_symlink(directory / "second.txt"));
    EXPECT_TRUE(fs::is_symlink(directory / "link.txt"));
    EXPECT_EQ(read_text(directory / "later.txt"), "new");
}

TEST(AtomicFile, FollowedLinksEndWhereAFileWouldBeMade) {
    const TemporaryDirectory directory;
    fs::create_directory(directory / "d");
    fs::create_symlink("d/later.txt", directory / "link.txt");
    fs::create_symlink(fs::absolute(directory / "link.txt"), directory / "second.txt");
    EXPECT_EQ(followed_links(directory / "second.txt"), directory / "d/later.txt");
    EXPECT_EQ(followed_links(directory / "plain.txt"), directory / "plain.txt");
    EXPECT_EQ(followed_links("plain.txt"), "plain.txt");
}

TEST(AtomicFile, LinksInACircleAreRefusedAndStay) {
    const TemporaryDirectory directory;
    for (const auto& [from, to] : {std::pair("a", "b"), std::pair("b", "c"), std::pair("c", "a")})
        fs::create_symlink(to, directory / from);
    EXPECT_EQ(input_error([&] { AtomicFile file(directory / "a"); }),
              (directory / "a").string() + ": cannot be written: its links lead nowhere");
    for (const char* name : {"a", "b", "c"}) EXPECT_TRUE(fs::is_symlink(directory / name)) << name;
}

TEST(AtomicFile, RelativeNameWithoutDirectoryWorks) {
    const TemporaryDirectory directory;
    const fs::path before = fs::current_path();
    fs::current_path(directory / "");
    AtomicFile file("plain.txt");
    file.write("x");
    file.commit();
    fs::current_path(before);
    EXPECT_EQ(read_text(directory / "plain.txt"), "x");
}

TEST(AtomicFile, MissingDirectoryIsNamed) {
    const TemporaryDirectory directory;
    const std::string message = input_error([&] { AtomicFile file(directory / "none/a.txt"); });
    EXPECT_THAT(message, HasSubstr("none/a.txt: cannot be written: the directory '"));
    EXPECT_THAT(message, HasSubstr("none' does not exist; create it first"));
}

TEST(AtomicFile, DirectoryAsTargetIsRefused) {
    const TemporaryDirectory directory;
    EXPECT_THAT(input_error([&] { AtomicFile file(directory / ""); }),
                HasSubstr("it is a directory; name a file"));
}

TEST(AtomicFile, FullDiskIsReported) {
    const std::string message = input_error([] {
        AtomicFile file("/dev/full");
        file.write("text");
        file.commit();
    });
    EXPECT_THAT(message, HasSubstr("/dev/full: writing failed: No space left on device"));
    EXPECT_TRUE(fs::is_character_file("/dev/full")) << "devices are not replaced";
}

TEST(AtomicFile, PipesAreWrittenInPlace) {
    const TemporaryDirectory directory;
    ASSERT_EQ(mkfifo((directory / "pipe").c_str(), 0600), 0);
    std::string received;
    std::thread reader([&] { received = read_text(directory / "pipe"); });
    AtomicFile file(directory / "pipe");
    file.write("through the pipe");
    file.commit();
    reader.join();
    EXPECT_EQ(received, "through the pipe");
}

/// What a program leaves that is killed while it writes, and its age.
fs::path leave_a_temporary(const TemporaryDirectory& directory, std::chrono::hours age) {
    const pid_t child = fork();
    if (child == 0) {
        AtomicFile file(directory / "big.bin");
        file.write(std::string(1 << 20, 'x'));
        kill(getpid(), SIGKILL);
    }
    waitpid(child, nullptr, 0);
    for (const auto& entry : fs::directory_iterator(directory / "")) {
        if (!entry.path().filename().string().starts_with(".pliant-")) continue;
        fs::last_write_time(entry, fs::file_time_type::clock::now() - age);
        return entry.path();
    }
    return {};
}

TEST(AtomicFile, WhatAKilledWriterLeftIsRemovedByTheNextWrite) {
    using std::chrono::hours;
    const TemporaryDirectory directory, young;
    const fs::path left = leave_a_temporary(directory, hours(1));
    ASSERT_TRUE(fs::exists(left));
    const std::string name = left.filename().string();
    const std::string end = name.substr(name.find('@'));
    // others' files, whatever they are called
    write_text(directory / (".pliant-1-0" + end + ".txt"), "mine");
    fs::create_directory(directory / (".pliant-2-0" + end));
    ASSERT_EQ(mkfifo((directory / (".pliant-3-0" + end)).c_str(), 0600), 0);
    write_file(directory / "a.txt", "new");
    EXPECT_FALSE(fs::exists(left));
    EXPECT_EQ(read_text(directory / "a.txt"), "new");
    EXPECT_EQ(directory.num_files(), 4u);

    // between being made and being locked a temporary is young
    const fs::path just_made = leave_a_temporary(young, hours(0));
    write_file(young / "a.txt", "new");
    EXPECT_TRUE(fs::exists(just_made));
}

TEST(AtomicFile, TemporariesOfOtherComputersStay) {
    // its lock is not seen here where a folder is shared over a network: it may be written still
    const TemporaryDirectory directory;
    const fs::path left = leave_a_temporary(directory, std::chrono::hours(1));
    ASSERT_TRUE(fs::exists(left));
    char host[256] = {};
    ASSERT_EQ(gethostname(host, sizeof host - 1), 0);
    const std::string name = left.filename().string(), end = "@" + std::string(host) + ".tmp";
    ASSERT_TRUE(name.ends_with(end)) << name;
    const std::string number = name.substr(0, name.size() - end.size());
    std::vector<fs::path> others;
    for (const std::string& other :
         {std::string("@elsewhere"), "@x" + std::string(host), std::string()})
        others.push_back(directory / (number + other + ".tmp"));
    for (const fs::path& other : others) {
        fs::copy_file(left, other);
        fs::last_write_time(other, fs::file_time_type::clock::now() - std::chrono::hours(1));
    }
    write_file(directory / "a.txt", "new");
    EXPECT_FALSE(fs::exists(left));
    for (const fs::path& other : others) EXPECT_TRUE(fs::exists(other)) << other;
}

TEST(AtomicFile, WhatIsStillWrittenStaysHoweverOldItIs) {
    const TemporaryDirectory directory;
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        AtomicFile file(directory / "big.bin");
        file.write("whole");
        for (const auto& entry : fs::directory_iterator(directory / ""))
            fs::last_write_time(entry, fs::file_time_type::clock::now() - std::chrono::hours(9));
        if (write(ends[1], "x", 1) == 1) sleep(1);  // the other one writes meanwhile
        file.commit();
        _exit(0);
    }
    char word = 0;
    ASSERT_EQ(read(ends[0], &word, 1), 1);
    write_file(directory / "a.txt", "new");
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(read_text(directory / "big.bin"), "whole");
}

TEST(ReadFile, ReadsEveryByte) {
    const TemporaryDirectory directory;
    for (const std::size_t size : {0u, 1u, 4096u, 100000u}) {
        std::string text(size, '\0');
        for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * 7);
        write_text(directory / "a.bin", text);
        EXPECT_TRUE(read_file(directory / "a.bin") == text);
    }
    EXPECT_FALSE(read_file("/proc/self/status").empty()) << "a file that claims to have no size";
}

TEST(ReadFile, MissingFileDirectoryAndTooLargeFileAreRefused) {
    const TemporaryDirectory directory;
    EXPECT_THAT(input_error([&] { (void)read_file(directory / "none"); }),
                HasSubstr("none: the file does not exist"));
    EXPECT_THAT(input_error([&] { (void)read_file(directory / ""); }),
                HasSubstr("it is a directory; name a file"));
    write_text(directory / "a.txt", "0123456789");
    EXPECT_EQ(read_file(directory / "a.txt", 10), "0123456789");
    EXPECT_THAT(input_error([&] { (void)read_file(directory / "a.txt", 9); }),
                HasSubstr("the file is larger than the 9 bytes allowed here"));
    EXPECT_THAT(input_error([] { (void)read_file("/proc/self/status", 10); }),
                HasSubstr("larger than the 10 bytes"));
}

TEST(ReadFile, DevicesAndPipesAreRefusedAtOnce) {
    const TemporaryDirectory directory;
    ASSERT_EQ(mkfifo((directory / "pipe").c_str(), 0600), 0);
    EXPECT_EQ(input_error([&] { (void)read_file(directory / "pipe"); }),
              (directory / "pipe").string() + ": cannot be read: it is not a regular file");
    EXPECT_EQ(input_error([] { (void)read_file("/dev/zero"); }),
              "/dev/zero: cannot be read: it is not a regular file");
}

TEST(ReadFile, UnreadableFileIsReported) {
    if (geteuid() == 0) GTEST_SKIP() << "root may read everything";
    const TemporaryDirectory directory;
    write_text(directory / "a.txt", "x");
    fs::permissions(directory / "a.txt", fs::perms::none);
    EXPECT_THAT(input_error([&] { (void)read_file(directory / "a.txt"); }),
                HasSubstr("cannot be read: Permission denied"));
}

}  // namespace
}  // namespace pliant
