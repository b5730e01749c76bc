#include "apps/pliant/reproduce/catalogue.h"

#include "cli/command_line.h"

#include <algorithm>
#include <set>
#include <sstream>

namespace pliant::reproduce {
namespace {

std::set<std::string> words_of(const std::string& text) {
    std::istringstream stream(text);
    return {std::istream_iterator<std::string>(stream), {}};
}

std::set<std::string> numbered(const std::string& letter, int last) {
    std::set<std::string> ids;
    for (int k = 1; k <= last; ++k) ids.insert(letter + std::to_string(k));
    return ids;
}

Results with(Section section, const std::string& name = "fem/test") {
    Results results;
    results.emplace(name, StoredSection{std::move(section)});
    return results;
}

TEST(Catalogue, AccountsForEverythingPublished) {
    std::set<std::string> expected{"A-fills", "A-time"};
    // claims of [Zhuang2000] and [Ding2020], their demos, experiments of [Barbic2007], scenes of
    // [JamesPai2003]
    for (const auto& [letter, last] :
         {std::pair{"A", 25}, {"B", 19}, {"D", 25}, {"E", 19}, {"S", 12}})
        expected.merge(numbered(letter, last));
    // tables and figures
    for (const char* id :
         {"R2.1",     "R2.2",     "R2.3",  "R2.4",  "R2.5",       "R2.6",       "R2.7",
          "R2.8",     "R2.9",     "R3.1",  "R3.2",  "R3.3",       "G2.1",       "G2.2",
          "G2.3",     "G3.1",     "G3.2",  "G3.3",  "G4.1",       "G4.2",       "G5",
          "G6",       "G7.1",     "G7.2",  "F2.6",  "F3.6",       "F7.1",       "F7.2-7.4",
          "F7.5-7.7", "F7.8-7.9", "F7.10", "F7.11", "F7.12-7.13", "F7.14-7.15", "F7.19-7.22",
          "F4.4",     "F7.16"})
        expected.insert(id);
    // sections of the thesis that [JamesPai2003] comes from, and of [Ding2020]
    for (const char* id :
         {"J2.2.5", "J2.2.6", "J2.3.4", "J3.2.4", "J3.6", "J3.7.3", "J4.2.4", "J5.1", "J6.1.2",
          "J6.2", "J7.1", "J8.2", "C2.6", "C3.3", "C4.1.3", "C4.1.4", "C4.2.4", "C4.6.1", "C6.1"})
        expected.insert(id);
    std::set<std::string> found;
    for (const PublishedWork& work : published_works())
        for (const PublishedItem& item : work.items) found.merge(words_of(item.ids));
    for (const std::string& id : expected) EXPECT_TRUE(found.contains(id)) << id;
    for (const std::string& id : found) EXPECT_TRUE(expected.contains(id)) << id;
}

TEST(Catalogue, RestsOnExperimentsThatExistAndSaysWhyWhereThereAreNone) {
    const cli_test::Output list = cli_test::pliant("reproduce all --list");
    std::set<std::string> known;
    std::istringstream lines(list.text);
    for (std::string line; std::getline(lines, line);) known.insert(line.substr(0, line.find(' ')));
    ASSERT_TRUE(known.contains("fem/strain")) << list.text;
    for (const PublishedWork& work : published_works())
        for (const PublishedItem& item : work.items) {
            EXPECT_FALSE(item.what.empty() || item.published.empty()) << item.ids;
            if (item.evidence.empty() || item.standing != Standing::Published)
                EXPECT_FALSE(item.reason.empty()) << item.what;
            if (item.standing == Standing::Missing) EXPECT_TRUE(item.evidence.empty()) << item.what;
            for (const Evidence& evidence : item.evidence)
                EXPECT_TRUE(known.contains(evidence.experiment)) << evidence.experiment;
        }
}

TEST(Catalogue, NumbersOfThePageAreMatchedOrDiffer) {
    const PublishedItem item{"A1", "what", "1", {within("fem/test", "height")}};
    Section good("test", "A test");
    (void)good.compared("height of the tip", 1.01, 1, 0.05);
    (void)good.compared("width", 3, 1, 0.05);  // of another item
    EXPECT_EQ(judged(item, with(good)).status, Status::Matched);
    EXPECT_EQ(judged(item, with(good)).ours, "height of the tip: 1.01");

    Section bad = good;
    (void)bad.compared("height of the base", 1.2, 1, 0.05);
    EXPECT_EQ(judged(item, with(bad)).status, Status::Differs);

    Section other("test", "A test");
    (void)other.compared("width", 1, 1, 0.05);
    EXPECT_EQ(judged(item, with(other)).status, Status::NotRun);
    EXPECT_EQ(judged(item, with(other)).missing.size(), 1u);
    EXPECT_EQ(judged(item, {}).status, Status::NotRun);
    EXPECT_EQ(judged({"A1", "what", "1", {}, "why"}, with(good)).status, Status::NotMeasured);
}

TEST(Catalogue, OfManyNumbersThoseBeyondAreNamed) {
    const PublishedItem item{"A1", "what", "1", {within("fem/test", "height")}};
    Section section("test", "A test");
    for (int k = 0; k < 4; ++k) (void)section.compared("height " + std::to_string(k), 1, 1, 0.05);
    EXPECT_EQ(judged(item, with(section)).ours, "4 of 4 numbers within tolerance");
    (void)section.compared("height 4", 2, 1, 0.05);
    EXPECT_EQ(judged(item, with(section)).ours, "4 of 5 numbers within tolerance, not height 4: 2");
    for (int k = 5; k < 9; ++k) (void)section.compared("height " + std::to_string(k), k, 1, 0.05);
    EXPECT_EQ(judged(item, with(section)).ours,
              "4 of 9 numbers within tolerance, not height 4: 2, height 5: 5, height 6: 6 and 2 "
              "more");
}

TEST(Catalogue, ColumnsAreJudgedRowByRowInTheSenseOfTheItem) {
    Section section("test", "A test");
    Table table{
        "times", "Times", {{"body", "body"}, {"ms", "ours, ms"}, {"published_s", "published, s"}}};
    table.add({"small", Cell::number(2), Cell::number(0.01)});
    table.add({"large", Cell::number(5), Cell::number(0.02)});
    table.add({"huge", Cell::number(900), "–"});
    section.table(table);
    const auto status = [&](const Evidence& evidence) {
        return judged({"A1", "what", "1", {evidence}}, with(section)).status;
    };
    const auto times = [&](Sense sense, double unit) {
        return column("fem/test", "times", "ms", "published_s", sense, unit, 0.25);
    };
    EXPECT_EQ(status(times(Sense::LessIsBetter, 1e3)), Status::Better);  // 2 of 10, 5 of 20
    EXPECT_EQ(status(times(Sense::MoreIsBetter, 1e3)), Status::Differs);
    EXPECT_EQ(status(times(Sense::LessIsBetter, 200)), Status::Differs);  // 2 of 2, 5 of 4
    EXPECT_EQ(status(times(Sense::Same, 250)), Status::Matched);          // 2 of 2.5, 5 of 5
    EXPECT_EQ(status(times(Sense::Same, 1e3)), Status::Differs);
    EXPECT_EQ(judged({"A1", "what", "1", {times(Sense::Same, 250)}}, with(section)).ours,
              "ours, ms: 2 to 5 (0.8 to 1 of the published)");
    EXPECT_EQ(judged({"A1", "what", "1", {times(Sense::LessIsBetter, 1e3)}}, with(section)).ours,
              "ours, ms: 2 to 5, 4 to 5 times less");
    // small sizes prove nothing about published times
    EXPECT_EQ(
        judged({"A1", "what", "1", {times(Sense::LessIsBetter, 1e3)}}, with(section), true).status,
        Status::NotRun);
    // one cell against one value
    EXPECT_EQ(status(cell("fem/test", "times", "ms", "huge", Sense::LessIsBetter, 1000)),
              Status::Better);
    EXPECT_EQ(status(cell("fem/test", "times", "ms", "huge", Sense::LessIsBetter, 880)),
              Status::Matched);
    EXPECT_EQ(status(cell("fem/test", "times", "ms", "huge", Sense::LessIsBetter, 800)),
              Status::Differs);
    EXPECT_EQ(status(cell("fem/test", "times", "ms", "tiny", Sense::LessIsBetter, 800)),
              Status::NotRun);
    EXPECT_EQ(status(cell("fem/test", "times", "us", "huge", Sense::LessIsBetter, 800)),
              Status::NotRun);
}

TEST(Catalogue, CasesOfOurOwnAreShownAndNotJudged) {
    Section section("test", "A test");
    Table table{"mast", "Angles", {{"body", "body"}, {"angle", "angle, °"}}};
    table.add({"bridge", Cell::number(40)});
    section.table(table);
    (void)section.compared("height of the bridge", 3, 1, 0.1);
    const auto judgement = [&](Standing standing, bool is_quick = false) {
        return judged({"A1",
                       "what",
                       "90",
                       {cell("fem/test", "mast", "angle", "bridge", Sense::Same, 90),
                        within("fem/test", "height")},
                       "our bridge",
                       standing},
                      with(section), is_quick);
    };
    EXPECT_EQ(judgement(Standing::Published).status, Status::Differs);
    EXPECT_EQ(judgement(Standing::Own).status, Status::OwnCase);
    // nothing is said of the published number, and what the page judges is still told
    EXPECT_EQ(judgement(Standing::Own).ours, "bridge, angle, °: 40; height of the bridge: 3 ✗");
    EXPECT_EQ(judgement(Standing::Own, true).status, Status::OwnCase);
    EXPECT_EQ(judged({"A1", "what", "90", {within("fem/other")}, "why", Standing::Own}, {}).status,
              Status::NotRun);
    EXPECT_STREQ(to_string(Status::OwnCase), "our own case");
    EXPECT_TRUE(needs_reason(Status::OwnCase));
}

TEST(Catalogue, WhatIsNotThereIsMissing) {
    const PublishedItem item{"A1", "what", "1", {}, "why", Standing::Missing};
    EXPECT_EQ(judged(item, {}).status, Status::Missing);
    EXPECT_TRUE(needs_reason(Status::Missing));
}

TEST(Catalogue, RowsAreNamedByTheirWordsOrByTheirColumn) {
    Section section("test", "A test");
    Table table{
        "normals", "Normals", {{"turn", "turned by, °"}, {"body", "body"}, {"over", "over"}}};
    table.add({Cell::number(25), "hose", Cell::number(7)});
    table.add({Cell::number(45), "beam", Cell::number(9)});
    section.table(table);
    const auto ours = [&](const char* row) {
        const Evidence evidence = cell("fem/test", "normals", "over", row, Sense::LessIsBetter, 7);
        return judged({"A1", "what", "1", {evidence}}, with(section)).ours;
    };
    EXPECT_EQ(ours("25"), "over (turned by, °: 25): 7 (1 times 7)");
    EXPECT_EQ(ours("beam"), "beam, over: 9 (1.3 times 7)");
}

TEST(Catalogue, NumbersHaveUnitsAndNoPowers) {
    Section section("test", "A test");
    Table table{"times", "Microseconds of a tick", {{"body", "body"}, {"total_us", "total"}}};
    table.add({"small", Cell::number(2)});
    table.add({"large", Cell::number(16000)});
    section.table(table);
    const Evidence evidence = cell("fem/test", "times", "total_us", "", Sense::LessIsBetter, 32000);
    EXPECT_EQ(judged({"A1", "what", "1", {evidence}}, with(section)).ours,
              "total, µs: 2 to 16,000, 2 to 16000 times less");
}

TEST(Catalogue, NumbersThatRoundToNothingHaveNoSign) {
    EXPECT_EQ(Cell::number(-0.001, "%.2f").text, "0.00");
    EXPECT_EQ(Cell::number(-0.0, "%.1e").text, "0.0e+00");
    EXPECT_EQ(Cell::number(-0.01, "%.2f").text, "-0.01");
    EXPECT_EQ(Cell::number(-0.001, "%.2f").value, -0.001);
}

TEST(Catalogue, WhatDiffersIsSaidEvenWhereOtherEvidenceIsBetterOrMissing) {
    Section section("test", "A test");
    (void)section.at_most("time", 1, 2);
    (void)section.compared("size", 5, 1, 0.1);
    const Evidence faster = less("fem/test", "time", 2), wrong = within("fem/test", "size"),
                   missing = within("fem/other");
    const auto status = [&](const std::vector<Evidence>& evidence) {
        return judged({"A1", "what", "1", evidence}, with(section)).status;
    };
    EXPECT_EQ(status({faster}), Status::Better);
    EXPECT_EQ(status({faster, wrong}), Status::Differs);
    EXPECT_EQ(status({missing, wrong}), Status::Differs);
    EXPECT_EQ(status({faster, missing}), Status::NotRun);
}

}  // namespace
}  // namespace pliant::reproduce
