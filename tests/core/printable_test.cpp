#include "core/printable.h"

#include <gtest/gtest.h>

namespace pliant {
namespace {

TEST(Printable, ControlCharactersBecomeQuestionMarks) {
    EXPECT_EQ(printable("liver, µs → 3"), "liver, µs → 3");
    EXPECT_EQ(printable("a\x1b[31mred\x07\x7f\r\n\tb"), "a?[31mred?????b");
    EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a?b");
    EXPECT_EQ(printable("line\n\x1bnext\n", "\n"), "line\n?next\n");
}

TEST(Printable, EscapesOfTwoBytesToo) {
    // U+009B is ESC [ in one character; U+00A0 and those after it are text
    EXPECT_EQ(printable("a\xc2\x9b"
                        "31m"),
              "a?31m");
    EXPECT_EQ(printable("\xc2\x80\xc2\x9f\xc2\xa0\xc3\x9b"), "??\xc2\xa0\xc3\x9b");
    EXPECT_EQ(printable("cut \xc2"), "cut \xc2");
}

}  // namespace
}  // namespace pliant
