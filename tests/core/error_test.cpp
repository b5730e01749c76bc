#include "pliant/core/error.h"

#include <gtest/gtest.h>

namespace pliant {
namespace {

TEST(InputError, SaysFileFieldValueAndExpectation) {
    const InputError error("scenes/liver.json", "material.poisson_ratio", "0.62",
                           "-1 < value < 0.5");
    EXPECT_STREQ(error.what(),
                 "scenes/liver.json: material.poisson_ratio = 0.62 (expected -1 < value < 0.5)");
    EXPECT_EQ(error.file(), "scenes/liver.json");
    EXPECT_EQ(error.field(), "material.poisson_ratio");
    EXPECT_EQ(error.value(), "0.62");
    EXPECT_EQ(error.expected(), "-1 < value < 0.5");
}

TEST(InputError, LeavesOutEmptyParts) {
    EXPECT_STREQ(InputError("", "--resolution", "0", "1 or more").what(),
                 "--resolution = 0 (expected 1 or more)");
    EXPECT_STREQ(InputError("a.obj", "", "7", "").what(), "a.obj: 7");
    EXPECT_STREQ(InputError("a.obj", "face 3", "", "three corners").what(),
                 "a.obj: face 3 (expected three corners)");
    EXPECT_STREQ(InputError("", "", "7", "").what(), "7");
    EXPECT_STREQ(InputError("", "", "", "a file").what(), "(expected a file)");
}

TEST(InputError, TakesAWholeSentence) {
    const InputError error("mesh.stl", "the file ends inside triangle 17");
    EXPECT_STREQ(error.what(), "mesh.stl: the file ends inside triangle 17");
    EXPECT_EQ(error.file(), "mesh.stl");
    EXPECT_TRUE(error.field().empty());
    EXPECT_STREQ(InputError("", "no model was named").what(), "no model was named");
}

TEST(StepStatus, EveryValueHasItsText) {
    EXPECT_EQ(to_string(StepStatus::Ok), "ok");
    EXPECT_EQ(to_string(StepStatus::NotConverged), "not converged");
    EXPECT_EQ(to_string(StepStatus::StepRejected), "step rejected");
    EXPECT_EQ(to_string(StepStatus::StateReset), "state reset");
    EXPECT_EQ(to_string(StepStatus::InputIgnored), "input ignored");
    EXPECT_EQ(to_string(StepStatus::CapacityExceeded), "capacity exceeded");
}

}  // namespace
}  // namespace pliant
