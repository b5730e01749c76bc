#include "commands.h"
#include "output.h"
#include "pliant/core/atomic_file.h"
#include "pliant/core/error.h"
#include "pliant/core/json_value.h"
#include "pliant/scene/scene_file.h"
#include "session.h"

namespace pliant::cli {
namespace {

/// The scene with the script of a file in place of its own, also in its text, so that a recording
/// holds all that happened.
SceneDescription with_script(const SceneDescription& scene, const std::string& name,
                             const std::string& script) {
    (void)load_script(script, scene);  // its errors name the file
    constexpr std::size_t kWhole = std::size_t{1} << 40;
    JsonValue::Object members = parse_json(scene.text, name).object();
    std::erase_if(members,
                  [](const JsonValue::Member& member) { return member.first == "script"; });
    members.emplace_back("script", parse_json(read_file(script), script));
    return parse_scene(to_text(JsonValue(std::move(members)), kWhole), name, scene.folder);
}

int run_scene(const Arguments& arguments) {
    const std::string& file = arguments.operands()[0];
    if (has_extension(file, ".pliantrec"))
        throw InputError(file, "is a recording; use pliant replay " + file);
    SceneDescription scene =
        has_extension(file, ".pliant") ? scene_of_model(file) : load_scene(file);
    if (arguments.has("--script")) scene = with_script(scene, file, arguments.text("--script"));
    return run_session(arguments, scene);
}

}  // namespace

Command run_command() {
    std::vector<Option> options = session_options();
    options.insert(options.end(),
                   {{"--script", "FILE", "JSON list of what happens when, instead of the scene's"},
                    {"--speed", "X", "simulated seconds per second, 0.01 to 1 (default 1)"}});
    return {.name = "run",
            .summary = "Runs a scene or a model and shows it in the browser.",
            .operands = "SCENE.json|MODEL.pliant",
            .example = "pliant run liver.pliant --headless --duration 2 --record pull.pliantrec",
            .min_operands = 1,
            .max_operands = 1,
            .options = std::move(options),
            .run = run_scene};
}

}  // namespace pliant::cli
