#include "commands.h"
#include "lab.h"
#include "program.h"

int main(int argc, char** argv) {
    using namespace pliant::cli;
    const std::vector<std::string> words(argv + 1, argv + argc);
    if (!words.empty() && is_lab_command(words[0])) return run_lab(argv);
    std::vector<Command> commands = {demo_command(),    run_command(),    replay_command(),
                                     build_command(),   shape_command(),  mesh_command(),
                                     convert_command(), inspect_command()};
    for (const Command& command : lab_summaries()) commands.push_back(command);
    return run_program(commands, words);
}
