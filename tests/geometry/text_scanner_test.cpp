#include "geometry/text_scanner.h"

#include "input_error.h"

#include <gtest/gtest.h>

#include <cmath>

namespace pliant {
namespace {

using test::input_error;

TEST(TextScanner, AllThreeLineEndsCountOneLine) {
    TextScanner scanner("a\nb\r\nc\rd", "t.txt");
    std::string_view token;
    for (int line = 1; line <= 4; ++line) {
        ASSERT_TRUE(scanner.next_token(token));
        EXPECT_EQ(token, std::string(1, static_cast<char>('a' + line - 1)));
        EXPECT_EQ(scanner.line(), line);
    }
    EXPECT_FALSE(scanner.next_token(token));
}

TEST(TextScanner, BlankAndCommentLinesAreSkippedButCounted) {
    TextScanner scanner("\n# one two\n \t\r\n  word # tail\n#", "t.txt");
    ASSERT_TRUE(scanner.next_line());
    EXPECT_EQ(scanner.line(), 4);
    EXPECT_EQ(scanner.token_on_line(), "word");
    EXPECT_TRUE(scanner.at_line_end());
    EXPECT_EQ(scanner.token_on_line(), "");
    EXPECT_FALSE(scanner.next_line());
}

TEST(TextScanner, WithoutCommentCharacterAllTextIsSeen) {
    TextScanner scanner("#1  part \t", "t.txt", TextScanner::kNoComment);
    ASSERT_TRUE(scanner.next_line());
    EXPECT_EQ(scanner.token_on_line(), "#1");
    EXPECT_FALSE(scanner.at_line_end());
    EXPECT_EQ(scanner.rest_of_line(), "part");
    EXPECT_TRUE(scanner.at_line_end());
}

TEST(TextScanner, ByteOrderMarkIsNotPartOfTheFirstToken) {
    TextScanner scanner("\xEF\xBB\xBFv 1", "t.txt");
    EXPECT_EQ(scanner.token("keyword"), "v");
}

TEST(TextScanner, OffsetPointsBehindTheLineAndSeekContinuesThere) {
    TextScanner scanner("head\r\n\1\2\3tail", "t.txt");
    ASSERT_TRUE(scanner.next_line());
    EXPECT_EQ(scanner.offset(), 6u);
    scanner.seek(9);
    EXPECT_EQ(scanner.token("tail"), "tail");
    EXPECT_EQ(scanner.line(), 2);
}

TEST(TextScanner, NumbersAreReadExactly) {
    TextScanner scanner("0.1 +2.5e-3 -0 .5 7. 1E5 1e-400 -42 +17", "t.txt");
    EXPECT_EQ(scanner.real("x"), 0.1);
    EXPECT_EQ(scanner.real("x"), 2.5e-3);
    EXPECT_TRUE(std::signbit(scanner.real("x")));
    EXPECT_EQ(scanner.real("x"), 0.5);
    EXPECT_EQ(scanner.real("x"), 7.0);
    EXPECT_EQ(scanner.real("x"), 1e5);
    EXPECT_EQ(scanner.real("x"), 0.0) << "underflow is not an error";
    EXPECT_EQ(scanner.integer("i", -100, 0), -42);
    EXPECT_EQ(scanner.integer("i", 0, 100), 17);
}

TEST(TextScanner, WhatIsNoFiniteNumberIsRefused) {
    for (const char* text : {"nan", "-nan", "inf", "-Infinity", "1e999", "-1e5000", "1.0x", "0x10",
                             "1,5", "--1", "+-1", "+", ".", "e5", "1.5.2"}) {
        TextScanner scanner(text, "t.txt");
        EXPECT_EQ(input_error([&] { scanner.real("mass"); }),
                  std::string("t.txt:1: mass = ") + text + " (expected a finite number)");
    }
}

TEST(TextScanner, IntegersAreRefusedOutsideTheirRangeOrWithADecimalPoint) {
    TextScanner scanner("\n\n99 1.0 99999999999999999999 -1", "t.txt");
    EXPECT_EQ(input_error([&] { scanner.integer("vertex index", 1, 8); }),
              "t.txt:3: vertex index = 99 (expected 1 … 8)");
    EXPECT_EQ(input_error([&] { scanner.integer("vertex index", 1, 8); }),
              "t.txt:3: vertex index = 1.0 (expected an integer)");
    EXPECT_EQ(input_error([&] { scanner.integer("vertex index", 1, 8); }),
              "t.txt:3: vertex index = 99999999999999999999 (expected 1 … 8)");
    EXPECT_EQ(input_error([&] { scanner.integer("vertex index", 0, -1); }),
              "t.txt:3: vertex index = -1 (expected none: there is nothing to refer to)");
    EXPECT_EQ(input_error([&] { scanner.integer("vertex index", 1, 8); }),
              "t.txt:3: the file ends before vertex index");
}

TEST(TextScanner, CountThatTheRestOfTheTextCannotHoldIsRefused) {
    // 12 bytes follow the count: two items of six bytes, the last without its line end
    TextScanner good("2\n0 0 0\n0 0 0", "t.txt");
    EXPECT_EQ(good.count("vertex count", 6), 2);
    TextScanner bad("3\n0 0 0\n0 0 0", "t.txt");
    EXPECT_EQ(input_error([&] { (void)bad.count("vertex count", 6); }),
              "t.txt:1: vertex count = 3 (expected at most 2: the file has only 12 more bytes)");
    TextScanner huge("4000000000 0", "t.txt");
    EXPECT_EQ(input_error([&] { (void)huge.count("vertex count", 6); }),
              "t.txt:1: vertex count = 4000000000 (expected 0 … 2147483647)");
}

TEST(TextScanner, MessagesShowNoUnprintableOrEndlessValues) {
    const std::string text = "\x01\xC3\xA4" + std::string(100, 'a');
    TextScanner scanner(text, "t.txt");
    EXPECT_EQ(input_error([&] { scanner.real("mass"); }),
              "t.txt:1: mass = ???" + std::string(37, 'a') + "... (expected a finite number)");
}

}  // namespace
}  // namespace pliant
