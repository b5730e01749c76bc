#pragma once

#include "stored_section.h"

#include <limits>
#include <map>
#include <string>
#include <vector>

namespace pliant::reproduce {

/// Finished sections by "module/experiment".
using Results = std::map<std::string, StoredSection>;

enum class Sense { Same, LessIsBetter, MoreIsBetter };

/// What a statement about a published item rests on: numbers of an experiment's section.
/// Make one with the functions below.
struct Evidence {
    std::string experiment;  ///< "fem/orderings"
    std::string label;       ///< part of the compared numbers' names; empty: all of the section
    Sense sense = Sense::Same;
    double published = std::numeric_limits<double>::quiet_NaN();
    // instead of a label: a column of a table
    std::string table = {}, column = {};
    std::string published_column = {};  ///< its published neighbour; empty: `published`
    std::string row = {};               ///< only rows with a cell of this text
    double unit = 1;                    ///< the published column's unit over ours
    double tolerance = 0.1;             ///< relative, where the sense is Same
};
/// Compared numbers that the page itself judges by their tolerances.
[[nodiscard]] Evidence within(std::string experiment, std::string label = {});
/// Compared numbers against one published value.
[[nodiscard]] Evidence less(std::string experiment, std::string label, double published);
[[nodiscard]] Evidence more(std::string experiment, std::string label, double published);
/// A column of a table against the published one beside it, row by row.
[[nodiscard]] Evidence column(std::string experiment, std::string table, std::string column,
                              std::string published_column, Sense sense, double unit = 1,
                              double tolerance = 0.1);
/// The cells of a column in rows with a cell `row`, against one published value.
[[nodiscard]] Evidence cell(std::string experiment, std::string table, std::string column,
                            std::string row, Sense sense, double published, double tolerance = 0.1);

/// Whose case the numbers of an item belong to.
enum class Standing {
    Published,  ///< the published one, or one of its size where only the size counts
    Own,        ///< a body, load or motion of ours in its place: shown, never judged
    Missing,    ///< there is none, neither theirs nor ours
};

/// One published table, figure, claim or demo.
struct PublishedItem {
    std::string ids;        ///< as in the list of what was published: "A15 D10"
    std::string what;       ///< short name, with table or figure number where there is one
    std::string published;  ///< value in words
    std::vector<Evidence> evidence;
    /// why it differs where it does; what is ours in a case of our own; without evidence, why
    /// there is none
    std::string reason = {};
    Standing standing = Standing::Published;
};

/// What one group of authors published.
struct PublishedWork {
    std::string key, title;
    std::vector<PublishedItem> items;
};
[[nodiscard]] PublishedWork published_fem();
[[nodiscard]] PublishedWork published_reduction();
[[nodiscard]] PublishedWork published_contact();
[[nodiscard]] PublishedWork published_greens();
[[nodiscard]] PublishedWork published_wavelets();
[[nodiscard]] PublishedWork published_proxy();
[[nodiscard]] std::vector<PublishedWork> published_works();

enum class Status { Matched, Better, Differs, OwnCase, NotRun, NotMeasured, Missing };
/// All of them, in the order of the index.
inline constexpr Status kAllStatuses[] = {Status::Matched, Status::Better, Status::Differs,
                                          Status::OwnCase, Status::NotRun, Status::NotMeasured,
                                          Status::Missing};
[[nodiscard]] const char* to_string(Status status);
/// Whether the index says the item's reason beside this status.
[[nodiscard]] bool needs_reason(Status status);

/// A published item beside this run's results.
struct Judgement {
    Status status = Status::NotMeasured;
    std::string ours;                  ///< in words
    std::vector<std::string> missing;  ///< evidence that names numbers the sections do not have
};
/// With `is_quick` nothing is set against published values: sizes are not the published ones.
[[nodiscard]] Judgement judged(const PublishedItem& item, const Results& results,
                               bool is_quick = false);

}  // namespace pliant::reproduce
