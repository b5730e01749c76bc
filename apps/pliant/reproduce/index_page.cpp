#include "index_page.h"

#include <algorithm>
#include <cmath>

#include "apps/pliant/output.h"
#include "machine.h"

namespace pliant::reproduce {
namespace {

using cli::format;

std::string duration(double seconds) {
    if (seconds < 60) return format("%.1f s", seconds);
    const long whole = std::lround(seconds);
    if (whole < 3600) return format("%ld min %02ld s", whole / 60, whole % 60);
    return format("%ld h %02ld min", whole / 3600, whole / 60 % 60);
}

/// "fem/strain" as a link to its section.
std::string link_to(const std::string& name) {
    const std::size_t slash = name.find('/');
    const std::string module = name.substr(0, slash), experiment = name.substr(slash + 1);
    return "<a href=\"" + module + ".html#" + experiment + "\">" + escaped(name) + "</a>";
}

const char* css_class(Status status) {
    switch (status) {
        case Status::Matched: return "matched";
        case Status::Better: return "better";
        case Status::Differs: return "differs";
        case Status::OwnCase: return "own";
        default: return "open";
    }
}

std::string links_of(const PublishedItem& item, const Report& report) {
    std::string links;
    std::vector<std::string> seen;
    for (const Evidence& evidence : item.evidence) {
        if (std::find(seen.begin(), seen.end(), evidence.experiment) != seen.end()) continue;
        seen.push_back(evidence.experiment);
        links += links.empty() ? "" : "<br>";
        links += report.results.contains(evidence.experiment) ||
                         report.failures.contains(evidence.experiment)
                     ? link_to(evidence.experiment)
                     : escaped(evidence.experiment);
    }
    return links;
}

std::string table_of(const PublishedWork& work, const Report& report) {
    std::string out = "<section id=\"" + work.key + "\">\n<h2>" + escaped(work.title) +
                      "</h2>\n<div class=\"scroll\"><table class=\"words\">\n<thead><tr>"
                      "<th>published</th><th>value</th><th>ours</th><th>status</th>"
                      "<th>experiment</th></tr></thead>\n<tbody>\n";
    for (const PublishedItem& item : work.items) {
        const Judgement judgement = judged(item, report.results, report.is_quick);
        std::string ours = escaped(judgement.ours);
        std::string reason;
        if (needs_reason(judgement.status)) reason = item.reason;
        if (judgement.status == Status::Differs && reason.empty())
            reason = "No reason is known: it was not so when the reasons were written.";
        if (!reason.empty())
            ours += (ours.empty() ? "" : "<br>") + ("<em>" + escaped(reason) + "</em>");
        out += "<tr><td>" + escaped(item.what) + " <span class=\"ids\">" + escaped(item.ids) +
               "</span></td><td>" + escaped(item.published) + "</td><td>" + ours +
               "</td><td><span class=\"status " + css_class(judgement.status) + "\">" +
               to_string(judgement.status) + "</span></td><td>" + links_of(item, report) +
               "</td></tr>\n";
    }
    return out + "</tbody></table></div>\n</section>\n";
}

std::string summary(const std::vector<PublishedWork>& works, const Report& report) {
    std::map<Status, std::size_t> totals;
    std::string rows;
    for (const PublishedWork& work : works) {
        std::map<Status, std::size_t> counts;
        for (const PublishedItem& item : work.items)
            ++counts[judged(item, report.results, report.is_quick).status];
        rows += "<tr><td><a href=\"#" + work.key + "\">" + escaped(work.title) + "</a></td>";
        for (const Status status : kAllStatuses) {
            rows += format("<td class=\"num\">%zu</td>", counts[status]);
            totals[status] += counts[status];
        }
        rows += "</tr>\n";
    }
    std::string out = "<div class=\"scroll\"><table>\n<thead><tr><th>published items</th>";
    for (const Status status : kAllStatuses)
        out += std::string("<th><span class=\"status ") + css_class(status) + "\">" +
               to_string(status) + "</span></th>";
    out += "</tr></thead>\n<tbody>\n" + rows + "<tr><td><strong>all</strong></td>";
    for (const Status status : kAllStatuses)
        out += format("<td class=\"num\"><strong>%zu</strong></td>", totals[status]);
    return out + "</tr>\n</tbody></table></div>\n";
}

std::string table_of_pages(const std::vector<ExperimentPage>& pages, const Report& report) {
    std::string out =
        "<div class=\"scroll\"><table>\n<thead><tr><th>page</th><th>experiments</th>"
        "<th>numbers compared</th><th>beyond tolerance</th><th>time</th></tr></thead>\n<tbody>\n";
    for (const ExperimentPage& page : pages) {
        std::size_t done = 0, failed = 0, compared = 0, beyond = 0;
        double seconds = 0;
        for (const Experiment& experiment : page.experiments) {
            const std::string name = page.module + "/" + experiment.name;
            failed += report.failures.count(name);
            const auto found = report.results.find(name);
            if (found == report.results.end()) continue;
            ++done;
            seconds += found->second.seconds;
            compared += found->second.section.comparisons().size();
            beyond += found->second.section.num_beyond();
        }
        const std::string title = escaped(page.title);
        out +=
            "<tr><td>" +
            (done + failed > 0 ? "<a href=\"" + page.module + ".html\">" + title + "</a>" : title) +
            format(
                "</td><td class=\"num\">%zu of %zu</td><td class=\"num\">%zu</td>"
                "<td class=\"%s\">%zu</td><td class=\"num\">%s</td></tr>\n",
                done, page.experiments.size(), compared, beyond > 0 ? "off" : "num", beyond,
                duration(seconds).c_str());
    }
    return out + "</tbody></table></div>\n";
}

/// One table of times, and what has none.
std::string table_of_times(const std::vector<ExperimentPage>& pages, const Report& report) {
    std::string rows, open;
    for (const ExperimentPage& page : pages)
        for (const Experiment& experiment : page.experiments) {
            const std::string name = page.module + "/" + experiment.name;
            if (const auto failed = report.failures.find(name); failed != report.failures.end()) {
                open += "<li>" + link_to(name) + ": failed: " + escaped(failed->second) + "</li>\n";
                continue;
            }
            const auto found = report.results.find(name);
            if (found == report.results.end()) {
                open += "<li>" + escaped(experiment.title) +
                        ": <code>pliant reproduce all --only " + escaped(name) + "</code>, " +
                        format("about %d s</li>\n", experiment.seconds);
                continue;
            }
            const StoredSection& stored = found->second;
            rows += "<tr><td>" + link_to(name) + "</td><td>" + escaped(experiment.title) +
                    format("</td><td class=\"num\">%.1f</td><td class=\"num\">%.0f</td><td>",
                           stored.seconds, 1e-6 * static_cast<double>(stored.peak_memory)) +
                    escaped(stored.date) + "</td></tr>\n";
        }
    std::string out = "<section id=\"times\">\n<h2>Time of each experiment</h2>\n";
    if (!open.empty()) out += "<p>Not on these pages:</p>\n<ul>\n" + open + "</ul>\n";
    return out +
           "<div class=\"scroll\"><table>\n<thead><tr><th>experiment</th><th>title</th><th>s</th>"
           "<th>peak memory, MB</th><th>ended</th></tr></thead>\n<tbody>\n" +
           rows + "</tbody></table></div>\n</section>\n";
}

std::string table_of_provenance(const Report& report) {
    double total = 0;
    for (const auto& [name, stored] : report.results) total += stored.seconds;
    std::vector<std::pair<std::string, std::string>> rows = provenance();
    rows.emplace_back("command",
                      std::string("pliant reproduce all") + (report.is_quick ? " --quick" : ""));
    rows.emplace_back("date", utc_now());
    rows.emplace_back("time of all experiments", duration(total));
    rows.emplace_back(
        "this call",
        duration(report.seconds) +
            (report.num_reused > 0 ? format(", %zu results of earlier calls", report.num_reused)
                                   : ""));
    std::string out = "<div class=\"scroll\"><table>\n<tbody>\n";
    for (const auto& [name, value] : rows)
        out += "<tr><td>" + escaped(name) + "</td><td>" + escaped(value) + "</td></tr>\n";
    return out + "</tbody></table></div>\n";
}

}  // namespace

std::string index_html(const Report& report, const std::vector<ExperimentPage>& pages) {
    const std::vector<PublishedWork> works = published_works();
    const std::string title = "Published results and ours";
    std::string out = "<h1>" + title + "</h1>\n";
    out +=
        "<p>Tables, figures, claims and demos of the works that Pliant follows, with what this "
        "run measured. <em>Matched</em>: all numbers are within the tolerances that the pages "
        "state. <em>Better</em>: faster, smaller or more exact than published. "
        "<em>Differs</em>: a number is beyond its tolerance, or not what was published; the reason "
        "is beside it. <em>Our own case</em>: the published body, load or motion is not known, and "
        "one of ours stands in its place; its numbers are shown and not judged by the published "
        "ones. <em>Not measured</em>: there is no number, and why. <em>Missing</em>: published, "
        "and not done here. Nothing here is written by hand but the published values and the "
        "reasons. Published times are those of the machines of their day. Experiments run one "
        "after the other, each in a process of its own and on "
        "one thread where it is timed, so that none disturbs another's times.</p>\n";
    if (report.is_quick)
        out +=
            "<p class=\"bad\">Made with --quick: sizes are smaller than the published ones. "
            "Nothing "
            "is set against published times and counts, and numbers may differ for their size "
            "alone.</p>\n";
    out += summary(works, report) + table_of_pages(pages, report) + table_of_provenance(report);
    for (const PublishedWork& work : works) out += table_of(work, report);
    out += table_of_times(pages, report);
    return html_document(title, out);
}

}  // namespace pliant::reproduce
