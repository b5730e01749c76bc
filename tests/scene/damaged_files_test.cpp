#include <functional>
#include <string>

#include <gmock/gmock.h>

#include "pliant/geometry/mesh_io.h"
#include "tests/core/temporary_directory.h"
#include "tests/input_error.h"
#include "tests/sample_archives.h"

namespace pliant {
namespace {

struct FileKind {
    const char* name;
    std::function<void(const std::filesystem::path&)> write, load;
};

class DamagedFile : public testing::TestWithParam<FileKind> {};

// each chunk of each kind of file: one bit in its middle, and the loader says which chunk it was
TEST_P(DamagedFile, OneFlippedBitOfAnyChunkIsRefusedWithItsName) {
    const test::TemporaryDirectory directory;
    const std::filesystem::path path = directory / "sample.pliant";
    GetParam().write(path);
    GetParam().load(path);
    const std::string sound = test::read_text(path);
    const std::vector<ChunkInfo> chunks = Archive(path).chunks();
    ASSERT_GT(chunks.size(), 1u);
    for (const ChunkInfo& chunk : chunks) {
        if (chunk.size == 0) continue;
        const std::string said =
            chunk.name == "provenance" ? "the provenance" : "'" + chunk.name + "'";
        std::string damaged = sound;
        damaged[chunk.offset + chunk.size / 2] ^= 4;
        test::write_text(path, damaged);
        EXPECT_THAT(test::input_error([&] { GetParam().load(path); }),
                    testing::AllOf(testing::HasSubstr("sample.pliant"),
                                   testing::HasSubstr(said + " is damaged")));
    }
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, DamagedFile,
    testing::Values(FileKind{"Volume", test::write_volume_sample,
                             [](const auto& path) { (void)load_volume(path); }},
                    FileKind{"Field", test::write_field_sample,
                             [](const auto& path) { (void)DistanceGrid::load(path); }},
                    FileKind{"Pointshell", test::write_pointshell_sample,
                             [](const auto& path) { (void)load_pointshell(path); }},
                    FileKind{"PointTree", test::write_point_tree_sample,
                             [](const auto& path) { (void)PointTree::load(path); }},
                    FileKind{"Reduced", test::write_reduced_sample,
                             [](const auto& path) { (void)ReducedModel::load(path); }},
                    FileKind{"Greens", test::write_greens_sample,
                             [](const auto& path) { (void)load_greens_model(path); }},
                    FileKind{"Particles", test::write_particle_sample,
                             [](const auto& path) { (void)load_particle_model(path); }}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace pliant
