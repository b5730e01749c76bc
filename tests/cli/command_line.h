#pragma once

#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace cli_test {

/// What a run of the program said.
struct Output {
    int exit_code;
    std::string text;  // both streams
};

/// Of one command.
inline Output shell(const std::string& words) {
    const std::string command = words + " 2>&1";
    std::FILE* pipe = popen(command.c_str(), "r");
    Output output{-1, {}};
    std::array<char, 4096> buffer;
    while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe))
        output.text.append(buffer.data(), count);
    const int status = pclose(pipe);
    output.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    return output;
}

/// PLIANT_PROGRAM is the built program's path.
inline Output pliant(const std::string& arguments) { return shell(PLIANT_PROGRAM " " + arguments); }

/// Runs the program until it first says how far it is, then presses Ctrl-C, or sends another
/// signal. Give `--progress json`.
inline Output interrupted(std::vector<std::string> arguments, int signal = SIGINT) {
    arguments.insert(arguments.begin(), "pliant");
    std::vector<char*> words;
    for (std::string& argument : arguments) words.push_back(argument.data());
    words.push_back(nullptr);
    int ends[2];
    if (pipe(ends) != 0) return {-1, "no pipe"};
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        execv(PLIANT_PROGRAM, words.data());
        _exit(127);
    }
    close(ends[1]);
    Output output{-1, {}};
    char c = 0;
    if (read(ends[0], &c, 1) == 1) {
        output.text += c;
        kill(child, signal);
    }
    while (read(ends[0], &c, 1) == 1) output.text += c;
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    output.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    return output;
}

/// Whom the rights of files bind, as they do not bind the administrator.
constexpr uid_t kOtherUser = 65534;
constexpr int kNoOtherUser = 127;  // exit code: there is no such user here

/// Runs the program in a home of its own; where the tests run as the administrator, as the other
/// user, to whom the home is given.
inline Output pliant_as_user(std::vector<std::string> arguments, const std::string& home) {
    arguments.insert(arguments.begin(), "pliant");
    std::vector<char*> words;
    for (std::string& argument : arguments) words.push_back(argument.data());
    words.push_back(nullptr);
    const bool changes = geteuid() == 0;
    if (changes && chown(home.c_str(), kOtherUser, kOtherUser) != 0) return {kNoOtherUser, "home"};
    // opened first: it may lie where only the administrator looks
    const int program = open(PLIANT_PROGRAM, O_RDONLY | O_CLOEXEC);
    int ends[2];
    if (program < 0 || pipe(ends) != 0) return {-1, "no program or pipe"};
    const pid_t child = fork();
    if (child == 0) {
        for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) dup2(ends[1], stream);
        close(ends[0]);
        setenv("HOME", home.c_str(), 1);
        for (const char* name : {"XDG_CACHE_HOME", "XDG_CONFIG_HOME"}) unsetenv(name);
        const bool is_user = !changes || (setgroups(0, nullptr) == 0 && setgid(kOtherUser) == 0 &&
                                          setuid(kOtherUser) == 0);
        if (is_user && chdir(home.c_str()) == 0) fexecve(program, words.data(), environ);
        _exit(kNoOtherUser);
    }
    close(program);
    close(ends[1]);
    Output output{-1, {}};
    std::array<char, 4096> buffer;
    for (ssize_t count = 0; (count = read(ends[0], buffer.data(), buffer.size())) > 0;)
        output.text.append(buffer.data(), static_cast<std::size_t>(count));
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    output.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    return output;
}

inline bool contains(const Output& output, const std::string& part) {
    return output.text.find(part) != std::string::npos;
}

/// Gives each test a folder of its own.
class CommandLine : public testing::Test {
protected:
    void SetUp() override {
        const auto* info = testing::UnitTest::GetInstance()->current_test_info();
        folder_ = std::filesystem::temp_directory_path() /
                  (std::string("pliant-cli-") + info->name() + "-" + std::to_string(getpid()));
        std::filesystem::create_directories(folder_);
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    [[nodiscard]] std::string path(const std::string& name) const {
        return (folder_ / name).string();
    }
    std::filesystem::path folder_;
};

#define EXPECT_FAILS_WITH(arguments, part)                              \
    do {                                                                \
        const cli_test::Output output_ = cli_test::pliant(arguments);   \
        EXPECT_NE(output_.exit_code, 0);                                \
        EXPECT_TRUE(cli_test::contains(output_, part)) << output_.text; \
    } while (false)

}  // namespace cli_test
