#include "catalogue.h"

#include <algorithm>
#include <cmath>

#include "apps/pliant/output.h"

namespace pliant::reproduce {
namespace {

using cli::format;

/// A measured number with the one it stands beside, for one piece of evidence.
struct Pair {
    std::string name;
    double measured, published;
    bool holds = false;  // within the page's own tolerance
};

/// -1 if there is no such column.
int find_column(const Table& table, const std::string& key) {
    const auto found = std::find_if(table.columns.begin(), table.columns.end(),
                                    [&](const Table::Column& c) { return c.key == key; });
    return found == table.columns.end() ? -1 : static_cast<int>(found - table.columns.begin());
}

/// The label of a column with the unit that its key ends in, which its table may say elsewhere.
std::string label_with_unit(const Table::Column& column) {
    constexpr std::pair<const char*, const char*> kUnits[] = {
        {"us", "µs"}, {"ms", "ms"},   {"s", "s"},        {"hz", "Hz"},
        {"mb", "MB"}, {"kib", "KiB"}, {"bytes", "bytes"}};
    const std::string ending = column.key.substr(column.key.rfind('_') + 1);
    for (const auto& [key, unit] : kUnits)
        if (ending == key && !column.label.ends_with(std::string(", ") + unit))
            return column.label + ", " + unit;
    return column.label;
}

/// A measured number in words: 16,000, not 1.6e+04.
std::string told(double value) {
    return std::abs(value) >= 1e4 && std::abs(value) < 1e9 ? cli::grouped(std::llround(value))
                                                           : format("%.4g", value);
}

std::vector<Pair> pairs_of_cells(const Evidence& evidence, const Section& section) {
    std::vector<Pair> pairs;
    // an experiment may write several tables of one name, as one for each load
    for (const Table& table : section.tables()) {
        if (table.name != evidence.table) continue;
        const int measured = find_column(table, evidence.column),
                  published = find_column(table, evidence.published_column);
        if (measured < 0 || (published < 0 && !evidence.published_column.empty())) continue;
        for (const std::vector<Cell>& row : table.rows) {
            const auto key = std::find_if(row.begin(), row.end(),
                                          [&](const Cell& c) { return c.text == evidence.row; });
            const Cell& ours = row[static_cast<std::size_t>(measured)];
            if ((!evidence.row.empty() && key == row.end()) || !ours.is_number) continue;
            double theirs = evidence.published;
            if (published >= 0) {
                const Cell& beside = row[static_cast<std::size_t>(published)];
                if (!beside.is_number) continue;
                theirs = evidence.unit * beside.value;
            }
            if (!std::isfinite(theirs)) continue;
            const std::string label =
                label_with_unit(table.columns[static_cast<std::size_t>(measured)]);
            // a bare number needs the words over its column
            const std::string name =
                evidence.row.empty() ? label
                : key->is_number
                    ? label + " (" +
                          table.columns[static_cast<std::size_t>(key - row.begin())].label + ": " +
                          evidence.row + ")"
                    : evidence.row + ", " + label;
            pairs.push_back({name, ours.value, theirs});
        }
    }
    return pairs;
}

std::vector<Pair> pairs_of(const Evidence& evidence, const Section& section) {
    if (!evidence.table.empty()) return pairs_of_cells(evidence, section);
    std::vector<Pair> pairs;
    for (const Comparison& comparison : section.comparisons())
        if (comparison.what.find(evidence.label) != std::string::npos)
            pairs.push_back(
                {comparison.what, comparison.measured, evidence.published, comparison.holds()});
    return pairs;
}

/// A ratio, rounded to say.
std::string said(double ratio) { return format(ratio < 10 ? "%.2g" : "%.0f", ratio); }

std::string range(double low, double high) {
    return said(low) == said(high) ? said(low) : said(low) + " to " + said(high);
}

/// Status and words for numbers that the page judges.
Status judge_within(const std::vector<Pair>& pairs, std::string& ours) {
    const auto held =
        std::count_if(pairs.begin(), pairs.end(), [](const Pair& p) { return p.holds; });
    constexpr std::size_t kFew = 3;
    if (pairs.size() <= kFew) {
        for (const Pair& pair : pairs)
            ours += (ours.empty() ? "" : "; ") + pair.name + ": " + told(pair.measured) +
                    (pair.holds ? "" : " ✗");
    } else {
        ours += (ours.empty() ? "" : "; ") +
                format("%td of %zu numbers within tolerance", held, pairs.size());
        std::size_t named = 0;
        for (const Pair& pair : pairs)
            if (!pair.holds && named++ < kFew)
                ours += (named == 1 ? ", not " : ", ") + pair.name + ": " + told(pair.measured);
        if (named > kFew) ours += format(" and %zu more", named - kFew);
    }
    return static_cast<std::size_t>(held) == pairs.size() ? Status::Matched : Status::Differs;
}

/// The measured numbers by themselves.
void show(const std::vector<Pair>& pairs, std::string& ours) {
    double low = 1e300, high = -1e300;
    for (const Pair& pair : pairs) {
        low = std::min(low, pair.measured);
        high = std::max(high, pair.measured);
    }
    const bool have_one_name = std::all_of(pairs.begin(), pairs.end(),
                                           [&](const Pair& p) { return p.name == pairs[0].name; });
    ours += (ours.empty() ? "" : "; ") +
            (have_one_name ? pairs[0].name : format("%zu numbers", pairs.size())) + ": " +
            (told(low) == told(high) ? told(low) : told(low) + " to " + told(high));
}

/// Status and words for numbers beside published ones. Ratios above one are on the good side.
Status judge_beside(const Evidence& evidence, const std::vector<Pair>& pairs, std::string& ours) {
    double least = 1e300, most = 0;
    for (const Pair& pair : pairs) {
        double gain = evidence.sense == Sense::LessIsBetter ? pair.published / pair.measured
                                                            : pair.measured / pair.published;
        // none where some were published, or the other way round
        if (!std::isfinite(gain)) gain = pair.measured == pair.published ? 1 : 1e6;
        least = std::min(least, gain);
        most = std::max(most, gain);
    }
    show(pairs, ours);
    // one number for all is named: it may stand for a claim without a number
    const std::string reference = evidence.published_column.empty()
                                      ? " times " + told(evidence.published)
                                      : " of the published";
    if (evidence.sense == Sense::Same) {
        if (pairs.size() > 1) ours += " (" + range(least, most) + reference + ")";
        return least >= 1 - evidence.tolerance && most <= 1 + evidence.tolerance ? Status::Matched
                                                                                 : Status::Differs;
    }
    constexpr double kNoticeable = 1.02, kAsGood = 0.95;
    const bool is_less = evidence.sense == Sense::LessIsBetter;
    if (least >= kNoticeable)
        ours += ", " + range(least, most) + (is_less ? " times less" : " times more");
    else
        ours +=
            " (" + (is_less ? range(1 / most, 1 / least) : range(least, most)) + reference + ")";
    return least >= kNoticeable ? Status::Better
           : least >= kAsGood   ? Status::Matched
                                : Status::Differs;
}

}  // namespace

Evidence within(std::string experiment, std::string label) {
    return {std::move(experiment), std::move(label)};
}
Evidence less(std::string experiment, std::string label, double published) {
    return {std::move(experiment), std::move(label), Sense::LessIsBetter, published};
}
Evidence more(std::string experiment, std::string label, double published) {
    return {std::move(experiment), std::move(label), Sense::MoreIsBetter, published};
}

Evidence column(std::string experiment, std::string table, std::string column,
                std::string published_column, Sense sense, double unit, double tolerance) {
    Evidence evidence{std::move(experiment), {}, sense};
    evidence.table = std::move(table);
    evidence.column = std::move(column);
    evidence.published_column = std::move(published_column);
    evidence.unit = unit;
    evidence.tolerance = tolerance;
    return evidence;
}
Evidence cell(std::string experiment, std::string table, std::string column, std::string row,
              Sense sense, double published, double tolerance) {
    Evidence evidence{std::move(experiment), {}, sense, published};
    evidence.table = std::move(table);
    evidence.column = std::move(column);
    evidence.row = std::move(row);
    evidence.tolerance = tolerance;
    return evidence;
}

std::vector<PublishedWork> published_works() {
    return {published_fem(),    published_reduction(), published_contact(),
            published_greens(), published_wavelets(),  published_proxy()};
}

const char* to_string(Status status) {
    switch (status) {
        case Status::Matched: return "matched";
        case Status::Better: return "better";
        case Status::Differs: return "differs";
        case Status::OwnCase: return "our own case";
        case Status::NotRun: return "not run";
        case Status::NotMeasured: return "not measured";
        case Status::Missing: return "missing";
    }
    return "";
}

bool needs_reason(Status status) {
    return status != Status::Matched && status != Status::Better && status != Status::NotRun;
}

Judgement judged(const PublishedItem& item, const Results& results, bool is_quick) {
    Judgement judgement;
    const bool is_own = item.standing == Standing::Own;
    if (item.standing == Standing::Missing) judgement.status = Status::Missing;
    if (item.evidence.empty()) return judgement;
    bool is_complete = true, is_better = false, differs = false;
    for (const Evidence& evidence : item.evidence) {
        const auto found = results.find(evidence.experiment);
        if (found == results.end()) {
            is_complete = false;
            continue;
        }
        const std::vector<Pair> pairs = pairs_of(evidence, found->second.section);
        if (pairs.empty()) {
            judgement.missing.push_back(
                evidence.experiment + ": " +
                (evidence.table.empty() ? evidence.label : evidence.table + "." + evidence.column));
            is_complete = false;
            continue;
        }
        const bool is_judged_by_page = evidence.table.empty() && evidence.sense == Sense::Same;
        if (is_own && !is_judged_by_page) {
            show(pairs, judgement.ours);
            continue;
        }
        if (is_quick && !is_judged_by_page) {
            is_complete = false;
            continue;
        }
        const Status status = is_judged_by_page ? judge_within(pairs, judgement.ours)
                                                : judge_beside(evidence, pairs, judgement.ours);
        is_better |= status == Status::Better;
        differs |= status == Status::Differs;
    }
    // what differs does so whatever the rest would say; a case of our own differs from nothing
    judgement.status = differs && !is_own ? Status::Differs
                       : !is_complete     ? Status::NotRun
                       : is_own           ? Status::OwnCase
                       : is_better        ? Status::Better
                                          : Status::Matched;
    return judgement;
}

}  // namespace pliant::reproduce
