#include "reproduce_all.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>

#include "core/resource_use.h"
#include "output.h"
#include "pliant/core/atomic_file.h"
#include "pliant/core/error.h"
#include "pliant/core/json_writer.h"
#include "pliant/core/nearest_name.h"
#include "pliant/core/parallel.h"
#include "pliant/core/simd.h"
#include "pliant/core/version.h"
#include "reproduce/child_process.h"
#include "reproduce/experiment.h"
#include "reproduce/index_page.h"
#include "reproduce/machine.h"

namespace pliant::cli {
namespace {

using reproduce::Experiment;
using reproduce::ExperimentPage;
using reproduce::Results;
using reproduce::Section;
using reproduce::StoredSection;

constexpr const char* kNotStored = "the result cannot be stored: ";

/// An experiment of the whole report.
struct Task {
    std::string name;  // "fem/strain"
    Experiment experiment;
    std::filesystem::path part;  // where its section is kept
    bool is_chosen = true;
};

/// Throws unless every name is a module or MODULE/EXPERIMENT.
void check_names(const std::vector<std::string>& wanted, const std::vector<ExperimentPage>& pages) {
    std::vector<std::string> names;
    std::string modules;
    for (const ExperimentPage& page : pages) {
        names.push_back(page.module);
        modules += (modules.empty() ? "" : ", ") + page.module;
        for (const Experiment& experiment : page.experiments)
            names.push_back(page.module + "/" + experiment.name);
    }
    for (const std::string& name : wanted) {
        if (std::find(names.begin(), names.end(), name) != names.end()) continue;
        const std::string near = nearest_name(name, names);
        throw InputError("", "no experiment is called " + name +
                                 (near.empty() ? "" : "; did you mean " + near + "?") +
                                 "; with all, --only takes MODULE or MODULE/NAME, modules are " +
                                 modules);
    }
}

std::vector<Task> all_tasks(const std::vector<ExperimentPage>& pages,
                            const std::vector<std::string>& wanted,
                            const std::filesystem::path& parts) {
    std::vector<Task> tasks;
    for (const ExperimentPage& page : pages)
        for (const Experiment& experiment : page.experiments) {
            Task task{page.module + "/" + experiment.name, experiment,
                      parts / (page.module + "-" + experiment.name + ".pliant")};
            task.is_chosen =
                wanted.empty() ||
                std::any_of(wanted.begin(), wanted.end(), [&](const std::string& name) {
                    return name == page.module || name == task.name;
                });
            tasks.push_back(std::move(task));
        }
    return tasks;
}

/// Makes the folders, and finds out now whether files can be written there.
void prepare(const std::filesystem::path& folder, const std::filesystem::path& parts) {
    if (has_extension(folder.string(), ".html"))
        throw InputError("", "output", folder.string(), "a folder: all writes several pages");
    std::error_code failure;
    std::filesystem::create_directories(parts, failure);
    if (failure) throw InputError(parts.string(), "cannot be created: " + failure.message());
    for (const std::filesystem::path& place : {folder / "index.html", parts / "trial"})
        const AtomicFile trial(place);
}

/// What a result depends on; results of another program, machine or size are not reused.
std::string result_key(bool is_quick) {
    return std::string(kVersion) + " " + reproduce::program_hash() + " " + simd_targets().front() +
           " " + reproduce::processor_name() + (is_quick ? " quick" : "");
}

/// In a process of its own: runs one experiment and keeps its section.
void run_task(const Task& task, bool is_quick, Progress& progress, std::size_t units,
              const std::string& key) {
    set_num_threads(1);  // costs are stated for one core
    StoredSection result{Section(task.experiment.name, task.experiment.title)};
    {
        const SecondsOfScope timer(result.seconds);
        reproduce::Context context(result.section, is_quick, progress, units);
        task.experiment.run(context);
    }
    result.peak_memory = peak_memory();
    result.date = reproduce::utc_now();
    try {
        save_section(result, key, task.part);
    } catch (const InputError& error) {
        throw InputError("", kNotStored + std::string(error.what()));
    }
}

/// Results of earlier calls, and what is said of those that cannot be used.
Results reusable(const std::vector<Task>& tasks, const std::string& key) {
    Results results;
    std::size_t num_old = 0;
    for (const Task& task : tasks) {
        std::string why;
        std::optional<StoredSection> stored = reproduce::load_section(task.part, key, why);
        if (stored)
            results.emplace(task.name, std::move(*stored));
        else if (why == "damaged")
            std::fprintf(stderr, "%s is damaged: %s is done again\n", task.part.c_str(),
                         task.name.c_str());
        else if (!why.empty())
            ++num_old;
    }
    if (num_old > 0)
        std::fprintf(stderr,
                     "%zu results were made by another build, with other options or on another "
                     "machine and are not used\n",
                     num_old);
    return results;
}

void run_tasks(const std::vector<Task>& tasks, const Arguments& arguments, const std::string& key,
               reproduce::Report& report) {
    constexpr std::size_t kUnitsPerSecond = 50;
    std::vector<const Task*> open;
    std::size_t units = 0;
    for (const Task& task : tasks) {
        if (!task.is_chosen || report.results.contains(task.name)) continue;
        open.push_back(&task);
        units += kUnitsPerSecond * static_cast<std::size_t>(task.experiment.seconds);
    }
    if (!report.results.empty())
        std::fprintf(stderr, "%zu of %zu experiments are there already, %zu to do\n",
                     report.results.size(), tasks.size(), open.size());
    Progress progress(progress_style(arguments));
    std::size_t num_done = 0;
    try {
        progress.stage(format("%zu experiments", open.size()), units);
        for (const Task* task : open) {
            const std::size_t share =
                kUnitsPerSecond * static_cast<std::size_t>(task->experiment.seconds);
            progress.note(task->name);
            std::string failure = reproduce::run_in_child(
                progress, [&] { run_task(*task, report.is_quick, progress, share, key); });
            if (failure.find(kNotStored) != std::string::npos) throw InputError("", failure);
            if (failure.empty()) {
                std::string why;
                std::optional<StoredSection> stored = reproduce::load_section(task->part, key, why);
                if (stored)
                    report.results.emplace(task->name, std::move(*stored));
                else
                    failure = task->part.string() + " is gone or damaged";
            }
            if (!failure.empty()) report.failures[task->name] = failure;
            ++num_done;
            progress.advance(share);
        }
    } catch (const Cancelled&) {
        std::fprintf(stderr, "\n%zu experiments done, %zu left; the same command continues\n",
                     num_done, open.size() - num_done);
        throw;
    }
    progress.finish();
}

std::vector<Section> sections_of(const ExperimentPage& page, const reproduce::Report& report) {
    std::vector<Section> sections;
    for (const Experiment& experiment : page.experiments) {
        const std::string name = page.module + "/" + experiment.name;
        if (const auto done = report.results.find(name); done != report.results.end())
            sections.push_back(done->second.section);
        if (const auto failed = report.failures.find(name); failed != report.failures.end()) {
            sections.emplace_back(experiment.name, experiment.title);
            sections.back().text("This experiment failed: " + failed->second);
        }
    }
    return sections;
}

void print_summary(const Arguments& arguments, const reproduce::Report& report,
                   const std::filesystem::path& index) {
    std::map<reproduce::Status, std::size_t> counts;
    for (const reproduce::PublishedWork& work : reproduce::published_works())
        for (const reproduce::PublishedItem& item : work.items) {
            const reproduce::Judgement judgement = judged(item, report.results, report.is_quick);
            ++counts[judgement.status];
            if (!arguments.json()) continue;
            JsonWriter json;
            json.begin_object().member("work", work.key).member("ids", item.ids);
            json.member("what", item.what).member("published", item.published);
            json.member("ours", judgement.ours).member("status", to_string(judgement.status));
            if (reproduce::needs_reason(judgement.status)) json.member("reason", item.reason);
            for (const std::string& missing : judgement.missing) json.member("missing", missing);
            std::printf("%s\n", json.end_object().text().c_str());
        }
    if (arguments.json()) {
        JsonWriter json;
        json.begin_object().member("page", index.string()).member("quick", report.is_quick);
        json.member("experiments", static_cast<std::uint64_t>(report.results.size()));
        json.member("failed", static_cast<std::uint64_t>(report.failures.size()));
        for (const auto& [status, count] : counts)
            json.member(to_string(status), static_cast<std::uint64_t>(count));
        std::printf("%s\n", json.end_object().text().c_str());
        return;
    }
    for (const auto& [name, failure] : report.failures)
        std::printf("%s failed: %s\n", name.c_str(), failure.c_str());
    std::string words;
    for (const auto& [status, count] : counts)
        words += (words.empty() ? "" : ", ") + format("%zu ", count) + to_string(status);
    std::printf("%s  %zu experiments; published items: %s\n", index.c_str(), report.results.size(),
                words.c_str());
}

}  // namespace

int reproduce_all(const Arguments& arguments) {
    const std::vector<ExperimentPage> pages = reproduce::all_pages();
    const std::vector<std::string> wanted = arguments.all("--only");
    check_names(wanted, pages);
    const std::filesystem::path folder = arguments.text("-o", "reproduced"),
                                parts = folder / "parts";
    const std::vector<Task> tasks = all_tasks(pages, wanted, parts);
    if (arguments.has("--list")) {
        for (const Task& task : tasks) {
            if (!task.is_chosen) continue;
            if (arguments.json()) {
                JsonWriter json;
                json.begin_object()
                    .member("name", task.name)
                    .member("title", task.experiment.title);
                std::printf("%s\n", json.end_object().text().c_str());
            } else {
                std::printf("%-25s %s\n", task.name.c_str(), task.experiment.title.c_str());
            }
        }
        return 0;
    }
    prepare(folder, parts);

    reproduce::Report report;
    report.is_quick = arguments.has("--quick");
    const std::string key = result_key(report.is_quick);
    report.results = reusable(tasks, key);
    report.num_reused = report.results.size();
    {
        const SecondsOfScope timer(report.seconds);
        run_tasks(tasks, arguments, key, report);
    }

    for (const ExperimentPage& page : pages) {
        const std::filesystem::path path = folder / (page.module + ".html");
        const std::vector<Section> sections = sections_of(page, report);
        if (sections.empty()) {  // a page of an earlier program would contradict the index
            std::filesystem::remove(path);
            continue;
        }
        write_file(path, page_html(page, sections, report.is_quick,
                                   "<p><a href=\"index.html\">All published results</a></p>\n"));
        if (arguments.has("--logs")) reproduce::write_logs(sections, path);
    }
    write_file(folder / "index.html", index_html(report, pages));
    print_summary(arguments, report, folder / "index.html");
    return report.failures.empty() ? 0 : 1;
}

}  // namespace pliant::cli
