#include "lab.h"

#include <unistd.h>

#include <cstdio>
#include <filesystem>

namespace pliant::cli {

std::vector<Command> lab_summaries() {
    std::vector<Command> commands(5);
    commands[0].name = "bench";
    commands[0].summary = kBenchSummary;
    commands[1].name = "reproduce";
    commands[1].summary = kReproduceSummary;
    commands[2].name = "haptics";
    commands[2].summary = kHapticsSummary;
    commands[3].name = "compare";
    commands[3].summary = kCompareSummary;
    commands[4].name = "calibrate";
    commands[4].summary = kCalibrateSummary;
    return commands;
}

bool is_lab_command(const std::string& name) {
    return name == "bench" || name == "reproduce" || name == "haptics" || name == "compare" ||
           name == "calibrate";
}

int run_lab(char** argv) {
    std::error_code failure;
    const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", failure);
    const std::filesystem::path lab = self.parent_path() / "pliant-lab";
    execv(lab.c_str(), argv);
    std::fprintf(stderr,
                 "error: pliant %s needs the program pliant-lab, which is not at %s; build it with "
                 "tools/build release\n",
                 argv[1], lab.c_str());
    return 1;
}

}  // namespace pliant::cli
