#include <cstdio>

#include "commands.h"
#include "output.h"
#include "pliant/core/json_writer.h"
#include "pliant/scene/scene_file.h"
#include "session.h"

namespace pliant::cli {
namespace {

int list_demos(const Arguments& arguments) {
    Table table({"name", "description"});
    for (const DemoInfo& demo : demo_list()) {
        if (arguments.json())
            std::printf("%s\n", JsonWriter()
                                    .begin_object()
                                    .member("name", demo.name)
                                    .member("description", demo.description)
                                    .end_object()
                                    .text()
                                    .c_str());
        else
            table.add({demo.name, demo.description});
    }
    if (!arguments.json()) table.print();
    return 0;
}

int run_demo(const Arguments& arguments) {
    if (arguments.has("--list")) return list_demos(arguments);
    const std::string name =
        arguments.operands().empty() ? demo_list().front().name : arguments.operands()[0];
    return run_session(arguments, demo_scene(name));
}

}  // namespace

Command demo_command() {
    std::vector<Option> options = session_options();
    options.insert(options.begin(), {"--list", "", "say what demos there are"});
    return {.name = "demo",
            .summary = "Runs a built-in scene, the bridge by default, and shows it in the browser.",
            .operands = "[NAME]",
            .example = "pliant demo spoon",
            .min_operands = 0,
            .max_operands = 1,
            .options = std::move(options),
            .run = run_demo};
}

}  // namespace pliant::cli
