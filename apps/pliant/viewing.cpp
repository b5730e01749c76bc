#include "viewing.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>
#include <thread>

#include "core/printable.h"
#include "output.h"
#include "pliant/core/error.h"
#include "pliant/core/json_writer.h"
#include "pliant/reduction/build_reduced.h"
#include "server/leading_page.h"
#include "server/page_files.h"
#include "stopwatch.h"

extern char** environ;

namespace pliant::cli {
namespace fs = std::filesystem;
namespace {

constexpr int kFirstPort = 8080, kLastPort = 8099;
constexpr int kLost = 1;                // exit code when a recording is not whole
constexpr double kBrowserPatience = 8;  // [s] from its start to its first request

/// Whether somebody listens there already; addresses that are not numbers are the server's to
/// judge.
bool is_taken(const std::string& address, int port) {
    sockaddr_in v4{};
    sockaddr_in6 v6{};
    v4.sin_family = AF_INET;
    v6.sin6_family = AF_INET6;
    v4.sin_port = v6.sin6_port = htons(static_cast<std::uint16_t>(port));
    const bool is_v4 = inet_pton(AF_INET, address.c_str(), &v4.sin_addr) == 1;
    if (!is_v4 && inet_pton(AF_INET6, address.c_str(), &v6.sin6_addr) != 1) return false;
    const int probe = socket(is_v4 ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (probe < 0) return false;
    // a port whose last connections are still fading away is free
    const int yes = 1;
    setsockopt(probe, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    const bool fails = bind(probe,
                            is_v4 ? reinterpret_cast<const sockaddr*>(&v4)
                                  : reinterpret_cast<const sockaddr*>(&v6),
                            is_v4 ? sizeof v4 : sizeof v6) != 0 &&
                       errno == EADDRINUSE;
    close(probe);
    return fails;
}

std::atomic<bool> is_stopped{false};

/// While alive, Ctrl-C, SIGTERM and the SIGHUP of a terminal that is closed only set `is_stopped`.
class StopOnSignal {
public:
    StopOnSignal() {
        for (std::size_t i = 0; i < kSignals.size(); ++i) {
            struct sigaction action {};
            action.sa_handler = [](int) { is_stopped.store(true, std::memory_order_relaxed); };
            sigemptyset(&action.sa_mask);
            action.sa_flags = SA_RESTART;
            // a second one ends the program at once; of a terminal, kernel and shell both send one
            if (kSignals[i] != SIGHUP) action.sa_flags |= static_cast<int>(SA_RESETHAND);
            sigaction(kSignals[i], nullptr, &before_[i]);
            // a background job of a script is deaf to Ctrl-C, one of nohup to SIGHUP, and stays so
            if (before_[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);
        }
    }
    ~StopOnSignal() {
        for (std::size_t i = 0; i < kSignals.size(); ++i)
            sigaction(kSignals[i], &before_[i], nullptr);
    }
    StopOnSignal(const StopOnSignal&) = delete;
    StopOnSignal& operator=(const StopOnSignal&) = delete;

private:
    static constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};
    std::array<struct sigaction, kSignals.size()> before_{};
};

bool has_desktop() {
    return std::getenv("DISPLAY") != nullptr || std::getenv("WAYLAND_DISPLAY") != nullptr;
}

/// In a session of its own, so that Ctrl-C here does not end it, and without the signals that this
/// program ignores. Does not wait for it. False: it could not be started.
bool open_browser(const std::string& page) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    for (const int stream : {STDOUT_FILENO, STDERR_FILENO})
        posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_WRONLY, 0);
    sigset_t defaults;
    sigemptyset(&defaults);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ})
        sigaddset(&defaults, signal);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes,
                             static_cast<short>(POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF));
    std::string program = "xdg-open", address = page;
    char* words[] = {program.data(), address.data(), nullptr};
    pid_t child = 0;
    const bool is_started =
        posix_spawnp(&child, program.c_str(), &actions, &attributes, words, environ) == 0;
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return is_started;
}

/// What the file of the kept token holds; empty: there is none. Throws InputError when it is not to
/// be trusted.
std::string read_token(const fs::path& path, std::size_t length) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0 && errno == ENOENT) return {};
    if (file < 0 && errno == ELOOP) throw InputError(path.string(), "is a link; remove it");
    if (file < 0)
        throw InputError(path.string(), std::string("cannot be read: ") + std::strerror(errno));
    // of one byte more than it should have
    struct stat info {};
    const bool is_known = fstat(file, &info) == 0;
    std::string token(length + 1, '\0');
    const ssize_t found = read(file, token.data(), token.size());
    close(file);
    if (!is_known || !S_ISREG(info.st_mode) || info.st_uid != geteuid())
        throw InputError(path.string(), "is not a file of yours; remove it");
    if ((info.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        throw InputError(path.string(), "others may read it; remove it");
    token.resize(length);
    if (found != static_cast<ssize_t>(length) ||
        token.find_first_not_of("0123456789abcdef") != std::string::npos)
        throw InputError(path.string(), "holds no whole token; remove it");
    return token;
}

/// Puts a token there, whole or not at all. False: there is one already. Throws InputError when it
/// cannot.
bool write_token(const fs::path& path, const std::string& token) {
    std::string temporary = path.string() + "-XXXXXX";
    const int file = mkostemp(temporary.data(), O_CLOEXEC);  // mode 0600
    if (file >= 0) errno = ENOSPC;                           // where less is written without a word
    const bool is_there =
        file >= 0 &&
        write(file, token.data(), token.size()) == static_cast<ssize_t>(token.size()) &&
        fsync(file) == 0 && link(temporary.c_str(), path.c_str()) == 0;
    const int error = errno;
    if (file >= 0) {
        close(file);
        unlink(temporary.c_str());
    }
    if (!is_there && error != EEXIST)
        throw InputError(path.string(), std::string("cannot be written: ") + std::strerror(error));
    return is_there;
}

/// The same in every run with --keep-token, so that bookmarks stay right and pages come back by
/// themselves; in a file that only its owner reads. Where that cannot be, one for this run alone,
/// and why is said. `lost_port`: pages that are still open ask there for this program, and another
/// one listens; 0: none.
std::string kept_token(int lost_port) {
    const std::string token = random_token();
    try {
        const fs::path folder = default_cache_folder();
        if (folder.empty())
            throw InputError("", "there is no cache folder to keep it in; set HOME");
        std::error_code error;
        fs::create_directories(folder, error);
        if (error) throw InputError(folder.string(), "cannot be made: " + error.message());
        const fs::path path = folder / "viewer-token";
        if (lost_port != 0) {
            if (unlink(path.c_str()) == 0)
                std::fprintf(stderr,
                             "There is a new token instead of the kept one, which pages that are "
                             "still open may have told to the program on port %d.\n",
                             lost_port);
            else if (errno != ENOENT)
                throw InputError(path.string(),
                                 std::string("cannot be replaced: ") + std::strerror(errno));
        }
        // of two first starts the second finds what the first has made meanwhile
        for (;;) {
            if (std::string kept = read_token(path, token.size()); !kept.empty()) return kept;
            if (write_token(path, token)) return token;
        }
    } catch (const InputError& problem) {
        std::fprintf(stderr, "The token is for this run alone and not kept: %s.\n",
                     printable(problem.what()).c_str());
    }
    return token;
}

/// Who may come in where the viewer is open to the network, and by what.
void warn_of_network(const ViewerServer& server) {
    std::fprintf(
        stderr,
        "Warning: with --address the viewer is open to other machines: everybody who can reach "
        "this one may try to come in. The token in the address is the only protection, and nothing "
        "is encrypted: who sees the traffic can read the token, watch, and steer. Without "
        "--address the viewer answers this computer only.\n");
    if (server.network_urls().empty())
        std::fprintf(stderr,
                     "This computer has no address in a network now: nobody else can connect.\n");
}

/// How punctual the loops were.
void print_times(const std::vector<LoopTimes>& loops) {
    for (const LoopTimes& loop : loops) {
        const TickHistogram::Summary& late = loop.lateness;
        std::printf(
            "%-12s %s ticks at %g Hz, late by p50 %.1f µs, p99.9 %.1f, max %.1f; %.2f %% within "
            "0.1 ms\n",
            printable(loop.name).c_str(), grouped(static_cast<std::int64_t>(late.count)).c_str(),
            loop.rate, late.p50_us, late.p999_us, late.max_us, 100 * loop.on_time());
        if (loop.skipped > 0)
            std::printf(
                "%-12s %s ticks of \"%s\" were skipped: a tick of %.3g ms took up to %.3g "
                "ms\n",
                "late", grouped(static_cast<std::int64_t>(loop.skipped)).c_str(),
                printable(loop.name).c_str(), 1e3 / loop.rate, 1e-3 * loop.work.max_us);
    }
}

void print_times_json(const std::vector<LoopTimes>& loops,
                      const std::vector<std::string>& troubles) {
    JsonWriter json;
    json.begin_object().key("loops").begin_array();
    for (const LoopTimes& loop : loops) {
        json.begin_object().member("name", loop.name).member("rate_hz", loop.rate);
        json.member("ticks", loop.work.count).member("missed", loop.skipped);
        json.member("p50_us", loop.work.p50_us).member("p99_us", loop.work.p99_us);
        json.member("p999_us", loop.work.p999_us).member("max_us", loop.work.max_us);
        json.member("late_p50_us", loop.lateness.p50_us);
        json.member("late_p999_us", loop.lateness.p999_us);
        json.member("late_max_us", loop.lateness.max_us);
        json.member("on_time", loop.on_time()).end_object();
    }
    json.end_array().key("troubles").begin_array();
    for (const std::string& trouble : troubles) json.value(trouble);
    std::printf("%s\n", json.end_array().end_object().text().c_str());
}

}  // namespace

const std::vector<Option>& viewing_options() {
    static const std::vector<Option> options{
        {"--port", "N", "of the viewer (default 8080, or the next free one); 0: any free one"},
        {"--address", "A",
         "where the viewer listens (default 127.0.0.1: this computer only); 0.0.0.0: all networks, "
         "not encrypted, with the token as the only protection"},
        {"--keep-token", "",
         "the same token in every run, for bookmarks (default: a new one in each)"},
        {"--no-browser", "", "only print the address of the viewer"},
        {"--duration", "S", "stop after so many seconds (default: at Ctrl-C)"},
    };
    return options;
}

WebServerOptions viewer_address(const Arguments& arguments) {
    if (page_files().empty())
        throw InputError("",
                         "the viewer is not in this build; install npm and build again, or use "
                         "--headless");
    WebServerOptions web;
    web.address = arguments.text("--address", web.address);
    web.port = arguments.integer("--port", kFirstPort, 0, 65535);
    const bool is_elsewhere = web.port != 0 && is_taken(web.address, web.port);
    web.token =
        arguments.has("--keep-token") ? kept_token(is_elsewhere ? web.port : 0) : random_token();
    if (!is_elsewhere) return web;
    if (arguments.has("--port"))
        throw InputError("", "port " + std::to_string(web.port) +
                                 " is in use; choose another with --port, or 0 for any free one");
    while (web.port <= kLastPort && is_taken(web.address, web.port)) ++web.port;
    if (web.port > kLastPort)
        throw InputError("", "all ports from " + std::to_string(kFirstPort) + " to " +
                                 std::to_string(kLastPort) +
                                 " are in use; choose another with --port");
    std::fprintf(stderr, "Port %d is in use; using %d.\n", kFirstPort, web.port);
    return web;
}

int serve_viewer(const Arguments& arguments, const std::string& headline, const std::string& hints,
                 const std::function<std::unique_ptr<ViewerServer>()>& start) {
    constexpr auto kLook = std::chrono::milliseconds(50), kRedraw = std::chrono::milliseconds(1000);
    const double duration =
        arguments.real("--duration", std::numeric_limits<double>::infinity(), 0, 1e9);
    is_stopped.store(false, std::memory_order_relaxed);
    const StopOnSignal signals;
    const std::unique_ptr<ViewerServer> server = start();
    // those that other machines need work on this one, too
    std::vector<std::string> urls = server->network_urls();
    if (urls.empty()) urls.push_back(server->url());
    if (server->is_open_to_network()) warn_of_network(*server);
    if (arguments.json()) {
        JsonWriter json;
        json.begin_object().member("url", urls.front());
        json.key("urls").begin_array();
        for (const std::string& url : urls) json.value(url);
        json.end_array().member("scheduling", server->scheduling()).end_object();
        std::printf("%s\n", json.text().c_str());
    } else {
        std::string addresses = urls.front();
        for (std::size_t i = 1; i < urls.size(); ++i) addresses += "\n  or  " + urls[i];
        std::printf("%s. Open  %s\n", headline.c_str(), addresses.c_str());
        std::printf("  %s\n", hints.c_str());
        std::printf("  %s\n", server->scheduling().c_str());
    }
    std::fflush(stdout);
    const bool shows_status = !arguments.json() && isatty(STDOUT_FILENO);
    const auto say_no_browser = [&] {
        if (shows_status) show_status("");
        std::fprintf(stderr, "The browser did not come; open the address above.\n");
    };
    std::optional<LeadingPage> page;
    bool awaits_browser = false;
    if (has_desktop() && !arguments.has("--no-browser")) {
        page.emplace(server->url());
        awaits_browser = !page->path().empty() && open_browser(page->path());
        if (!awaits_browser) say_no_browser();
    }

    std::size_t num_said = 0;
    const auto say_losses = [&] {
        const std::vector<std::string> losses = server->losses();
        if (shows_status && num_said < losses.size()) show_status("");
        for (; num_said < losses.size(); ++num_said) print_error(InputError("", losses[num_said]));
    };
    const auto begin = Clock::now();
    auto next_status = begin;
    while (!is_stopped.load(std::memory_order_relaxed) && seconds_since(begin) < duration) {
        std::this_thread::sleep_for(kLook);
        say_losses();
        // some browsers may not read the file that leads to the page, and show an error
        if (server->counts().requests > 0) awaits_browser = false;
        if (awaits_browser && seconds_since(begin) > kBrowserPatience) {
            awaits_browser = false;
            say_no_browser();
        }
        if (!shows_status || Clock::now() < next_status) continue;
        next_status = Clock::now() + kRedraw;
        show_status(server->status_line());
    }
    page.reset();  // before anything is said: a closed terminal may end the program then
    server->finish_recording();
    say_losses();
    if (arguments.json()) {
        print_times_json(server->loop_times(), server->troubles());
    } else {
        if (shows_status) show_status("");
        std::printf("%s\n", printable(server->status_line()).c_str());
        print_times(server->loop_times());
        for (const std::string& trouble : server->troubles())
            std::printf("%-12s %s\n", "not well", printable(trouble).c_str());
    }
    return num_said == 0 ? 0 : kLost;
}

}  // namespace pliant::cli
