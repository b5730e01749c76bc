#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "input_error.h"
#include "pliant/scene/scene_file.h"

namespace pliant::test {

/// A folder with files that scenes may name.
class SceneFile : public ::testing::Test {
protected:
    void SetUp() override {
        folder_ = std::filesystem::temp_directory_path() /
                  ("pliant_scene_" + std::to_string(::getpid()) + "_" +
                   ::testing::UnitTest::GetInstance()->current_test_info()->name());
        std::filesystem::create_directories(folder_);
        for (const char* name : {"liver.pliant", "liver.obj", "notes.txt"}) write(name, "x");
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    std::filesystem::path write(const std::string& name, const std::string& text) const {
        std::ofstream(folder_ / name) << text;
        return folder_ / name;
    }
    [[nodiscard]] SceneDescription parse(const std::string& text) const {
        return parse_scene(text, "scene.json", folder_);
    }
    [[nodiscard]] std::string error_of(const std::string& text) const {
        return test::input_error([&] { (void)parse(text); });
    }
    /// Of a scene with one body with these members beside its name.
    [[nodiscard]] std::string body_error(const std::string& members) const {
        return error_of(R"({"pliant": 1, "bodies": [{"name": "a", )" + members + "}]}");
    }
    [[nodiscard]] SceneDescription with_body(const std::string& members) const {
        return parse(R"({"pliant": 1, "bodies": [{"name": "a", )" + members + "}]}");
    }
    /// Of a scene of one sphere with these members beside its bodies.
    [[nodiscard]] std::string scene_error(const std::string& members) const {
        return error_of(
            R"({"pliant": 1, "bodies": [{"name": "ball", "rigid": {"sphere": {"radius": 1}}}], )" +
            members + "}");
    }

    std::filesystem::path folder_;
};

}  // namespace pliant::test
