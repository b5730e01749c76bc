#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>

#include "commands.h"
#include "lab.h"
#include "output.h"
#include "pliant/core/atomic_file.h"
#include "pliant/core/error.h"
#include "pliant/core/json_writer.h"
#include "pliant/core/nearest_name.h"
#include "pliant/core/parallel.h"
#include "reproduce/experiment.h"
#include "reproduce_all.h"

namespace pliant::cli {
namespace {

using reproduce::Context;
using reproduce::Experiment;
using reproduce::ExperimentPage;
using reproduce::Section;

/// The page of the module, with the experiments asked for.
ExperimentPage chosen_experiments(const Arguments& arguments) {
    ExperimentPage page;
    for (ExperimentPage& candidate : reproduce::all_pages())
        if (candidate.module == arguments.operands()[0]) page = std::move(candidate);
    if (page.module.empty())
        throw InputError("", "module", arguments.operands()[0],
                         "fem, reduction, contact, haptics, greens, wavelets, proxy or all");
    std::vector<Experiment>& all = page.experiments;
    const std::vector<std::string> wanted = arguments.all("--only");
    if (wanted.empty()) {
        if (arguments.has("--list")) return page;
        const auto is_long = [](const Experiment& experiment) { return experiment.only_by_name; };
        std::copy_if(all.begin(), all.end(), std::back_inserter(page.left_out), is_long);
        std::erase_if(all, is_long);
        return page;
    }

    std::vector<std::string> names;
    std::string list;
    for (const Experiment& experiment : all) {
        names.push_back(experiment.name);
        list += (list.empty() ? "" : ", ") + experiment.name;
    }
    for (const std::string& name : wanted) {
        if (std::find(names.begin(), names.end(), name) != names.end()) continue;
        const std::string near = nearest_name(name, names);
        throw InputError("", "no experiment is called " + name +
                                 (near.empty() ? "" : "; did you mean " + near + "?") +
                                 "; there are " + list);
    }
    std::erase_if(all, [&](const Experiment& experiment) {
        return std::find(wanted.begin(), wanted.end(), experiment.name) == wanted.end();
    });
    return page;
}

int run_experiments(const Arguments& arguments) {
    if (arguments.operands()[0] == "all") return reproduce_all(arguments);
    const ExperimentPage page = chosen_experiments(arguments);
    const std::vector<Experiment>& experiments = page.experiments;
    if (arguments.has("--list")) {
        for (const Experiment& experiment : experiments) {
            if (arguments.json()) {
                JsonWriter json;
                json.begin_object()
                    .member("name", experiment.name)
                    .member("title", experiment.title);
                std::printf("%s\n", json.end_object().text().c_str());
            } else {
                std::printf("%-13s %s%s\n", experiment.name.c_str(), experiment.title.c_str(),
                            experiment.only_by_name ? " (with --only)" : "");
            }
        }
        return 0;
    }
    const std::filesystem::path path = page_path(arguments.text("-o"), page.module + ".html");
    const bool is_quick = arguments.has("--quick");
    set_num_threads(1);  // costs are stated for one core

    std::size_t units = 0;
    constexpr std::size_t kUnitsPerSecond = 50;
    for (const Experiment& experiment : experiments)
        units += kUnitsPerSecond * static_cast<std::size_t>(experiment.seconds);
    Progress progress(progress_style(arguments));
    progress.stage(experiments.size() == 1 ? experiments[0].name
                                           : format("%zu experiments", experiments.size()),
                   units);
    std::vector<Section> sections;
    for (const Experiment& experiment : experiments) {
        sections.emplace_back(experiment.name, experiment.title);
        Context context(sections.back(), is_quick, progress,
                        kUnitsPerSecond * static_cast<std::size_t>(experiment.seconds));
        experiment.run(context);
        context.done(1);
    }
    progress.finish();

    const std::size_t size = write_file(path, reproduce::page_html(page, sections, is_quick));
    if (arguments.has("--logs")) reproduce::write_logs(sections, path);

    std::size_t total = 0, beyond = 0;
    for (const Section& section : sections) {
        total += section.comparisons().size();
        beyond += section.num_beyond();
    }
    if (arguments.json()) {
        for (const Section& section : sections)
            for (const std::string& line : section.json_lines()) std::printf("%s\n", line.c_str());
        JsonWriter json;
        json.begin_object().member("page", path.string()).member("quick", is_quick);
        json.member("comparisons", static_cast<std::uint64_t>(total));
        json.member("beyond_tolerance", static_cast<std::uint64_t>(beyond)).end_object();
        std::printf("%s\n", json.text().c_str());
        return 0;
    }
    for (const Section& section : sections)
        for (const reproduce::Comparison& comparison : section.comparisons())
            if (!comparison.holds())
                std::printf("%s: %s: measured %.5g, expected %s\n", section.name().c_str(),
                            comparison.what.c_str(), comparison.measured,
                            comparison.expected.c_str());
    std::printf("%s  %s; %zu numbers compared with references, %zu beyond their tolerances\n",
                path.string().c_str(), byte_size(static_cast<double>(size)).c_str(), total, beyond);
    return 0;
}

}  // namespace

Command reproduce_command() {
    return {.name = "reproduce",
            .summary = kReproduceSummary,
            .operands = "fem|reduction|contact|haptics|greens|wavelets|proxy|all",
            .example = "pliant reproduce fem -o fem.html",
            .min_operands = 1,
            .max_operands = 1,
            .options = {{"-o", "PATH",
                         "an .html file, or a folder for MODULE.html (default MODULE.html); all: a "
                         "folder (default reproduced), continued where it was left"},
                        {"--only", "NAME",
                         "one experiment; may be repeated; all: MODULE or MODULE/NAME"},
                        {"--quick", "", "smaller sizes: seconds instead of minutes"},
                        {"--logs", "", "what was recorded, as PAGE-NAME.csv beside the page"},
                        {"--list", "", "only names"}},
            .run = run_experiments};
}

}  // namespace pliant::cli
