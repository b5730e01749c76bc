#include "child_process.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <thread>

#include "apps/pliant/output.h"
#include "pliant/core/error.h"

namespace pliant::reproduce {
namespace {

constexpr int kFailedCode = 1, kCancelledCode = 130;

/// Never returns: the copy must not run the parent's destructors.
[[noreturn]] void run_and_exit(const std::function<void()>& work, int report) {
    std::string failure;
    int code = 0;
    try {
        work();
    } catch (const Cancelled&) {
        code = kCancelledCode;
    } catch (const std::bad_alloc&) {
        failure = "out of memory";
    } catch (const std::exception& error) {
        failure = error.what();
    }
    if (!failure.empty()) {
        code = kFailedCode;
        // a message cut short is still one
        (void)!write(report, failure.data(), failure.size());
    }
    std::fflush(nullptr);
    _exit(code);
}

}  // namespace

std::string run_in_child(const Progress& progress, const std::function<void()>& work) {
    int report[2];
    if (pipe(report) != 0)
        throw InputError("", std::string("no pipe to a child process: ") + std::strerror(errno));
    std::fflush(nullptr);
    const pid_t parent = getpid(), child = fork();
    if (child == 0) {
        // a group of its own: Ctrl-C on a terminal reaches the parent alone, which hands it on once
        setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(report[0]);
        if (getppid() != parent) _exit(kFailedCode);
        run_and_exit(work, report[1]);
    }
    close(report[1]);
    if (child < 0) {
        close(report[0]);
        throw InputError("", std::string("no child process: ") + std::strerror(errno));
    }

    int status = 0;
    bool handed_on = false;
    while (waitpid(child, &status, WNOHANG) != child) {
        if (progress.is_cancelled() && !handed_on) {
            kill(child, SIGINT);
            handed_on = true;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    std::string failure;
    char part[512];
    for (ssize_t size; (size = read(report[0], part, sizeof part)) > 0;)
        failure.append(part, static_cast<std::size_t>(size));
    close(report[0]);
    if (progress.is_cancelled() || (WIFEXITED(status) && WEXITSTATUS(status) == kCancelledCode))
        throw Cancelled();
    if (WIFSIGNALED(status))
        return cli::format(
            "ended by signal %d (%s)", WTERMSIG(status),
            WTERMSIG(status) == SIGKILL ? "killed; out of memory?" : strsignal(WTERMSIG(status)));
    if (WEXITSTATUS(status) != 0 && failure.empty())
        return cli::format("ended with code %d", WEXITSTATUS(status));
    return failure;
}

}  // namespace pliant::reproduce
