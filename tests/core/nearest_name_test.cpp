#include "pliant/core/nearest_name.h"

#include <gtest/gtest.h>

namespace pliant {
namespace {

const std::vector<std::string> kNames = {"bridge",       "tower", "serpent",
                                         "serpent-150k", "hand",  "chair"};

TEST(NearestName, FindsNamesWithOneOrTwoTypingErrors) {
    EXPECT_EQ(nearest_name("brigde", kNames), "bridge");    // swapped
    EXPECT_EQ(nearest_name("bridg", kNames), "bridge");     // missing
    EXPECT_EQ(nearest_name("towwer", kNames), "tower");     // doubled
    EXPECT_EQ(nearest_name("serbemt", kNames), "serpent");  // two replaced
    EXPECT_EQ(nearest_name("CHAIR", kNames), "chair");
}

TEST(NearestName, CompletesABeginning) {
    EXPECT_EQ(nearest_name("ser", kNames), "serpent");
    EXPECT_EQ(nearest_name("serpent-15", kNames), "serpent-150k");
}

TEST(NearestName, IsEmptyWhenNothingIsNear) {
    EXPECT_EQ(nearest_name("unicorn", kNames), "");
    EXPECT_EQ(nearest_name("", kNames), "");
    EXPECT_EQ(nearest_name("xy", kNames), "");
    EXPECT_EQ(nearest_name("bridge", {}), "");
}

TEST(NearestName, PrefersFewerErrorsThenTheFirst) {
    EXPECT_EQ(nearest_name("cat", {"car", "cab", "cat"}), "cat");
    EXPECT_EQ(nearest_name("caz", {"car", "cab"}), "car");
}

}  // namespace
}  // namespace pliant
