#include "core/real_time.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace pliant {
namespace {

constexpr std::int64_t kNanosecondsPerSecond = 1'000'000'000;

}  // namespace

std::int64_t monotonic_ns() noexcept {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * kNanosecondsPerSecond + now.tv_nsec;
}

void sleep_until_ns(std::int64_t time_ns) noexcept {
    const timespec until{.tv_sec = time_ns / kNanosecondsPerSecond,
                         .tv_nsec = time_ns % kNanosecondsPerSecond};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
    }
}

std::string set_real_time_priority(std::thread::native_handle_type thread, int priority) {
    const sched_param parameters{.sched_priority = priority};
    const int error = pthread_setschedparam(thread, SCHED_FIFO, &parameters);
    if (error == 0) return {};
    return error == EPERM ? "needs CAP_SYS_NICE or an rtprio limit" : std::strerror(error);
}

int real_time_priority() noexcept {
    // those of the kernel, where pthreads would take a lock
    sched_param parameters{};
    const bool has_one = sched_getparam(0, &parameters) == 0;
    return has_one ? parameters.sched_priority : 0;
}

std::string lock_memory() {
    // a process that may lock only so much would run out of memory with what it allocates later
    rlimit allowed{};
    const bool is_limited =
        getrlimit(RLIMIT_MEMLOCK, &allowed) == 0 && allowed.rlim_cur != RLIM_INFINITY && geteuid() != 0;
    if (is_limited) return "needs CAP_IPC_LOCK or an unlimited memlock limit";
    if (mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) == 0) return {};
    return errno == EPERM || errno == ENOMEM ? "needs CAP_IPC_LOCK or an unlimited memlock limit"
                                             : std::strerror(errno);
}

void set_thread_name(std::thread& thread, const std::string& name) {
    pthread_setname_np(thread.native_handle(), name.substr(0, 15).c_str());
}

}  // namespace pliant
