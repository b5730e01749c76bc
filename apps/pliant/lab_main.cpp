#include "commands.h"
#include "program.h"

/// `pliant-lab`: the commands that measure and reproduce, which people who only run scenes need not
/// build. `pliant bench`, `reproduce`, `haptics`, `compare` and `calibrate` start it.
int main(int argc, char** argv) {
    using namespace pliant::cli;
    return run_program({bench_command(), reproduce_command(), haptics_command(), compare_command(),
                        calibrate_command()},
                       {argv + 1, argv + argc});
}
