#include "cli/command_line.h"

namespace cli_test {
namespace {

/// Small bodies of particles in the beam.
class BuildParticles : public CommandLine {
protected:
    [[nodiscard]] std::string build(const std::string& options) const {
        return "build beam --kind particles --progress none -o " + path("beam.pliant") + " " +
               options;
    }
};

TEST_F(BuildParticles, AreReportedInspectedAndBuiltAgainFromTheirLayout) {
    const Output made = pliant(build("--particles 30 --save-layout " + path("beam.json")));
    ASSERT_EQ(made.exit_code, 0) << made.text;
    EXPECT_TRUE(contains(made, "particles    30, ")) << made.text;
    EXPECT_TRUE(contains(made, "groups       30 in ")) << made.text;
    const Output seen = pliant("inspect " + path("beam.pliant"));
    EXPECT_EQ(seen.exit_code, 0) << seen.text;
    EXPECT_TRUE(contains(seen, ": particle-model, ")) << seen.text;
    EXPECT_TRUE(contains(seen, "particles    30, ")) << seen.text;
    const Output again = pliant(build("--layout " + path("beam.json")));
    EXPECT_EQ(again.exit_code, 0) << again.text;
    EXPECT_TRUE(contains(again, "particles    30, ")) << again.text;
}

TEST_F(BuildParticles, OptionsOutOfRangeAreNamed) {
    const Output few = pliant(build("--particles 1"));
    EXPECT_NE(few.exit_code, 0);
    EXPECT_TRUE(contains(few, "--particles = 1 (expected 2 to 2000)")) << few.text;
    const Output hard = pliant(build("--stiffness 2"));
    EXPECT_TRUE(contains(hard, "--stiffness = 2 (expected above 0, up to 1)")) << hard.text;
    const Output other = pliant("build beam --links 4 --free -o " + path("beam.pliant"));
    EXPECT_NE(other.exit_code, 0);
    EXPECT_TRUE(contains(other, "--kind particles")) << other.text;
}

}  // namespace
}  // namespace cli_test
