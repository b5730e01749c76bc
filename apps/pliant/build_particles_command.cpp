#include <cstdio>
#include <filesystem>

#include "build_kinds.h"
#include "commands.h"
#include "output.h"
#include "particles_report.h"
#include "pliant/core/error.h"
#include "pliant/core/json_writer.h"

namespace pliant::cli {
namespace {

/// Names of the library and the options that set them.
const std::map<std::string, std::string> kParticleOptionOfName{
    {"count", "--particles"},     {"links", "--links"},   {"density", "--density"},
    {"stiffness", "--stiffness"}, {"radius", "--radius"}, {"mass", "--mass"}};

ParticleLayout make_layout(const Arguments& arguments, const SurfaceMesh& surface) {
    const double huge = 1e30;  // what is out of range is said by the library
    PlacementOptions options;
    options.count = arguments.integer("--particles", options.count, -1000000, 1000000);
    options.links = arguments.integer("--links", options.links, -1000000, 1000000);
    options.density = arguments.real("--density", options.density, -huge, huge);
    options.stiffness = arguments.real("--stiffness", options.stiffness, -huge, huge);
    options.radius = arguments.real("--radius", options.radius, -huge, huge);
    options.has_spheres = arguments.has("--spheres") || arguments.has("--radius");
    if (arguments.has("--layout")) return load_layout(arguments.text("--layout"));
    if (!arguments.has("--sheet")) return place_particles(surface, options);
    return particles_of_vertices(surface, arguments.real("--mass", 0.2, -huge, huge),
                                 arguments.real("--radius", 0.01, -huge, huge), options.stiffness,
                                 options.links);
}

}  // namespace

int build_particles_file(const Arguments& arguments) {
    const std::string in = arguments.operands()[0], out = arguments.required("-o");
    check_output(out, {".pliant"});
    if (arguments.has("--save-layout")) check_output(arguments.text("--save-layout"), {".json"});
    Progress progress(progress_style(arguments));
    BuildInput input = load_build_input(in, progress);
    const double size = arguments.real("--size", 0, 1e-6, 1e6);
    if (size > 0) scale_to_size(input.surface, size);
    progress.stage("particles");
    ParticleModel model;
    with_option_names(kParticleOptionOfName, [&] {
        try {
            ParticleLayout layout = make_layout(arguments, input.surface);
            model = make_particle_model(std::move(layout), std::move(input.surface),
                                        arguments.text("--layout"));
        } catch (const InputError& error) {
            // what is not about an option is about the surface
            if (!error.file().empty() || !error.field().empty()) throw;
            throw InputError(in, error.what());
        }
    });
    save_particle_model(
        model, out,
        {{"input", in}, {"input_hash", input.hash}, {"options", arguments.options_text()}});
    if (arguments.has("--save-layout")) save_layout(model.layout, arguments.text("--save-layout"));
    progress.finish();
    if (arguments.json()) {
        JsonWriter json;
        json.begin_object()
            .member("output", out)
            .member("bytes", static_cast<std::uint64_t>(std::filesystem::file_size(out)));
        write_particles(model, json);
        std::printf("%s\n", json.end_object().text().c_str());
        return 0;
    }
    print_particles(model);
    std::printf("wrote %s. Try:  pliant run %s\n", out.c_str(), out.c_str());
    return 0;
}

}  // namespace pliant::cli
