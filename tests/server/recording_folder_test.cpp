#include "server/recording_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "core/temporary_directory.h"
#include "input_error.h"

namespace pliant {
namespace {

namespace fs = std::filesystem;
constexpr std::time_t kMoment = 1794790923;  // 2026-11-16T01:02:03Z

/// A body as it is sent, in pieces of one byte.
std::string all_of(const HttpReply& reply) {
    std::string text;
    char c = 0;
    while (reply.streamed && text.size() < reply.streamed->size &&
           reply.streamed->read(text.size(), {&c, 1}) == 1)
        text += c;
    return text;
}

TEST(RecordingFolder, NamesSayWhatAndWhen) {
    EXPECT_EQ(recording_name("bridge", kMoment), "bridge-2026-11-16T01-02-03.pliantrec");
    EXPECT_EQ(recording_name("../my scène", kMoment), "---my-sc--ne-2026-11-16T01-02-03.pliantrec");
    EXPECT_EQ(recording_name("", kMoment), "scene-2026-11-16T01-02-03.pliantrec");
    EXPECT_TRUE(is_recording_name(recording_name(std::string(1000, '/'), kMoment)));
    EXPECT_EQ(iso_time(kMoment), "2026-11-16T01:02:03Z");
}

TEST(RecordingFolder, NoNameLeavesTheFolder) {
    EXPECT_TRUE(is_recording_name("a.pliantrec"));
    for (const char* name :
         {"", ".pliantrec", "a", "a.txt", "../a.pliantrec", "..%2fa.pliantrec", "/etc/a.pliantrec",
          "x/a.pliantrec", "x\\a.pliantrec", ".a.pliantrec", "a b.pliantrec", "a\n.pliantrec"})
        EXPECT_FALSE(is_recording_name(name)) << name;
    EXPECT_FALSE(is_recording_name(std::string_view("a\0.pliantrec", 12)));
}

TEST(RecordingFolder, NewFileNeverReplacesAnother) {
    const test::TemporaryDirectory folder;
    const fs::path deep = folder / "made/on/demand";
    const fs::path first = new_recording_path(deep, "heart", kMoment);
    EXPECT_EQ(first, deep / "heart-2026-11-16T01-02-03.pliantrec");
    test::write_text(first, "1");
    const fs::path second = new_recording_path(deep, "heart", kMoment);
    EXPECT_EQ(second, deep / "heart-2026-11-16T01-02-03-2.pliantrec");
    test::write_text(second, "2");
    EXPECT_EQ(new_recording_path(deep, "heart", kMoment).filename(),
              "heart-2026-11-16T01-02-03-3.pliantrec");
}

TEST(RecordingFolder, SketchedModelsAreNamedAfterTheirBody) {
    const test::TemporaryDirectory folder;
    const fs::path first = new_model_path(folder / "", "my bar", kMoment);
    EXPECT_EQ(first.filename(), "my-bar-sketch-2026-11-16T01-02-03.pliant");
    test::write_text(first, "1");
    EXPECT_EQ(new_model_path(folder / "", "my bar", kMoment).filename(),
              "my-bar-sketch-2026-11-16T01-02-03-2.pliant");
}

TEST(RecordingFolder, FolderThatCannotBeMadeIsNamed) {
    const test::TemporaryDirectory folder;
    test::write_text(folder / "file", "in the way");
    const std::string message = test::input_error(
        [&] { (void)new_recording_path(folder / "file/inside", "heart", kMoment); });
    EXPECT_NE(message.find("file/inside for recordings cannot be made"), std::string::npos)
        << message;
}

TEST(RecordingFolder, RecordingsAreListedAndRead) {
    const test::TemporaryDirectory folder;
    test::write_text(folder / "b.pliantrec", "bb");
    test::write_text(folder / "a.pliantrec", "a");
    test::write_text(folder / "notes.txt", "private");
    test::write_text(folder / "odd name.pliantrec", "x");
    fs::create_directory(folder / "d.pliantrec");
    fs::create_symlink(folder / "notes.txt", folder / "link.pliantrec");
    EXPECT_EQ(*list_recordings(folder / "").body,
              R"([{"name":"a.pliantrec","bytes":1},{"name":"b.pliantrec","bytes":2}])");
    EXPECT_EQ(*list_recordings(folder / "missing").body, "[]");

    const HttpReply reply = read_recording(folder / "", "b.pliantrec");
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(all_of(reply), "bb");
    for (const char* name : {"notes.txt", "c.pliantrec", "d.pliantrec", "link.pliantrec", "",
                             "../b.pliantrec", "./b.pliantrec", "odd name.pliantrec"})
        EXPECT_EQ(read_recording(folder / "", name).status, 404) << name;
}

TEST(RecordingFolder, FilesMayChangeWhileTheyAreSent) {
    const test::TemporaryDirectory folder;
    test::write_text(folder / "a.pliantrec", "0123456789");
    const HttpReply shortened = read_recording(folder / "", "a.pliantrec");
    fs::resize_file(folder / "a.pliantrec", 4);
    EXPECT_EQ(all_of(shortened), "0123");
    std::string rest(10, '-');
    EXPECT_EQ(shortened.streamed->read(2, rest), 2u);
    EXPECT_EQ(rest, "23--------");
    const HttpReply removed = read_recording(folder / "", "a.pliantrec");
    fs::remove(folder / "a.pliantrec");
    EXPECT_EQ(all_of(removed), "0123");
    EXPECT_EQ(read_recording(folder / "", "a.pliantrec").status, 404);
    // a pipe would be waited for
    ASSERT_EQ(::mkfifo((folder / "p.pliantrec").c_str(), 0600), 0);
    EXPECT_EQ(read_recording(folder / "", "p.pliantrec").status, 404);
}

}  // namespace
}  // namespace pliant
