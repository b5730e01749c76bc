#include <cstdio>
#include <filesystem>

#include "build_kinds.h"
#include "commands.h"
#include "compare/report.h"
#include "lab.h"
#include "output.h"
#include "pliant/core/parallel.h"

namespace pliant::cli {
namespace {

constexpr int kMaxCompareRank = 100;  // polynomials of a hundred shapes take minutes

int run_compare(const Arguments& arguments) {
    const std::string& in = arguments.operands()[0];
    check_input_name(in);
    const std::vector<compare::Method> methods = compare::parse_methods(arguments.text("--only"));
    const std::string path = wanted_page(arguments, "compare.html");
    compare::ObjectOptions options;
    const std::string material = arguments.text("--material", "tissue");
    with_option_names({{"material", "--material"}},
                      [&] { options.material = material_preset(material); });
    options.size = arguments.real("--size", 0, 1e-6, 1e6);
    options.fixed = arguments.text("--fix", "z < 10 %");
    options.resolution =
        arguments.has("--resolution") ? arguments.integer("--resolution", 0, 4, 64) : 0;
    options.rank = arguments.integer("--rank", options.rank, 1, kMaxCompareRank);
    const double depth = arguments.has("--depth") ? arguments.real("--depth", 0, 1e-9, 1e6) : 0;

    set_num_threads(1);  // costs are stated for one core
    Progress progress(progress_style(arguments));
    compare::Object object;
    with_option_names({{"resolution", "--resolution"}}, [&] {
        object = compare::make_object(load_build_input(in, progress).surface, options, progress);
    });
    const compare::Script script(object, depth);
    compare::Study study;
    study.name = std::filesystem::path(in).filename().string();
    study.material = material;
    study.object = &object;
    study.script = &script;
    study.results = compare::run_methods(object, script, methods, progress);
    progress.finish();

    const compare::Advice advice = compare::advise(study);
    if (arguments.json())
        for (const std::string& line : compare::json_lines(study, advice))
            std::printf("%s\n", line.c_str());
    else
        compare::print(study, advice);
    if (path.empty()) return 0;
    write_page(arguments, path, compare::compare_page(study, advice));
    return 0;
}

}  // namespace

Command compare_command() {
    return {
        .name = "compare",
        .summary = kCompareSummary,
        .operands = "MESH",
        .example = "pliant compare kidney -o compare.html",
        .min_operands = 1,
        .max_operands = 1,
        .options = {{"-o", "PATH", kPageHelp},
                    {"--size", "METRES", "longest side (default: as it is)"},
                    {"--material", "NAME", "of all methods but particles (default tissue)"},
                    {"--fix", "SELECTION", "what is held (default \"z < 10 %\")"},
                    {"--depth", "METRES", "of the press (default 3 % of the size)"},
                    {"--rank", "N", "shapes of linear modal and reduced (default 30)"},
                    {"--resolution", "N",
                     "tetrahedra along the longest side (default 14, thin bodies more)"},
                    {"--only", "METHODS",
                     "some of rigid,linear,reduced,fem,greens,particles; fem always runs: it is "
                     "the reference"}},
        .run = run_compare};
}

}  // namespace pliant::cli
