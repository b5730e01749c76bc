#include "program.h"

#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "build_features.h"
#include "output.h"
#include "pliant/core/error.h"
#include "pliant/core/nearest_name.h"
#include "pliant/core/parallel.h"
#include "pliant/core/progress.h"
#include "pliant/core/version.h"

namespace pliant::cli {
namespace {

constexpr int kFailed = 1, kInterrupted = 130;

void print_overview(const std::vector<Command>& commands) {
    std::printf("Pliant %s: deformable objects you can touch.\n\n", kVersion);
    std::printf("Example:  pliant demo\n\n");
    for (const Command& command : commands)
        std::printf("  pliant %-9s %s\n", command.name.c_str(), command.summary.c_str());
    std::printf("\nEach command has --help. pliant --version says what this build has.\n");
}

int dispatch(const std::vector<Command>& commands, const std::vector<std::string>& words) {
    if (words.empty() || words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
        print_overview(commands);
        return words.empty() ? kFailed : 0;
    }
    if (words[0] == "--version") {
        std::printf("%s", features_text(words.size() > 1 && words[1] == "--json").c_str());
        return 0;
    }

    std::vector<std::string> names;
    for (const Command& command : commands) {
        names.push_back(command.name);
        if (command.name != words[0]) continue;
        const Arguments arguments(command, {words.begin() + 1, words.end()});
        if (arguments.wants_help()) {
            std::printf("%s", help_text(command).c_str());
            return 0;
        }
        set_num_threads(arguments.integer("--threads", 0, 1, 1024));
        return command.run(arguments);
    }
    const std::string near = nearest_name(words[0], names);
    throw InputError("",
                     "unknown command '" + words[0] + "'" +
                         (near.empty() ? "; see pliant --help" : "; did you mean '" + near + "'?"));
}

}  // namespace

int run_program(const std::vector<Command>& commands, const std::vector<std::string>& words) {
    // a file that grows beyond the limit is then an error of the write, which cleans up
    std::signal(SIGXFSZ, SIG_IGN);
    protect_terminal();
    try {
        const CancelOnInterrupt ctrl_c;
        const int code = dispatch(commands, words);
        if (std::fflush(stdout) != 0 || std::ferror(stdout))
            throw InputError("standard output", "cannot be written; is the disk full?");
        return code;
    } catch (const Cancelled& cancelled) {
        std::fprintf(stderr, "\n%s\n", cancelled.what());
        return kInterrupted;
    } catch (const InputError& error) {
        print_error(error);
        return kFailed;
    } catch (const std::bad_alloc&) {
        std::fprintf(stderr, "error: out of memory; try a lower resolution\n");
        return kFailed;
    } catch (const std::exception& error) {
        print_error(InputError("", error.what()));
        return kFailed;
    }
}

}  // namespace pliant::cli
