#include "pliant/core/json_value.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "input_error.h"
#include "pliant/core/json_writer.h"

namespace pliant {
namespace {

using ::testing::HasSubstr;
using Type = JsonValue::Type;

JsonValue parse(std::string_view text) { return parse_json(text, "a.json"); }
std::string error_of(std::string_view text, const JsonLimits& limits = {}) {
    return test::input_error([&] { (void)parse_json(text, "a.json", limits); });
}

TEST(JsonValue, ReadsEveryTypeAndKeepsTheOrderOfMembers) {
    const JsonValue value = parse(
        R"( {"z": [1, -2.5, 1e3, 0, -0.5E-2], "a": {"x": true, "y": false}, "n": null, "s": ""} )");
    ASSERT_TRUE(value.is(Type::Object));
    ASSERT_EQ(value.object().size(), 4u);
    EXPECT_EQ(value.object()[0].first, "z");
    EXPECT_EQ(value.object()[3].first, "s");
    const JsonValue::Array& numbers = value.find("z")->array();
    ASSERT_EQ(numbers.size(), 5u);
    EXPECT_EQ(numbers[1].number(), -2.5);
    EXPECT_EQ(numbers[2].number(), 1000);
    EXPECT_EQ(numbers[4].number(), -0.005);
    EXPECT_TRUE(value.find("a")->find("x")->boolean());
    EXPECT_FALSE(value.find("a")->find("y")->boolean());
    EXPECT_TRUE(value.find("n")->is(Type::Null));
    EXPECT_EQ(value.find("s")->string(), "");
    EXPECT_EQ(value.find("q"), nullptr);
    EXPECT_EQ(numbers[0].find("q"), nullptr) << "a number has no members";
    EXPECT_TRUE(parse("[]").array().empty());
    EXPECT_TRUE(parse(" { } ").object().empty());
}

TEST(JsonValue, KnowsTheLineOfEachValue) {
    const JsonValue value = parse("{\n\"a\":\n 1,\r\n\"b\": [2,\n3]}");
    EXPECT_EQ(value.line(), 1);
    EXPECT_EQ(value.find("a")->line(), 3);
    EXPECT_EQ(value.find("b")->line(), 4);
    EXPECT_EQ(value.find("b")->array()[1].line(), 5);
}

TEST(JsonValue, DecodesEscapes) {
    EXPECT_EQ(parse(R"("\"\\\/\b\f\n\r\t")").string(), "\"\\/\b\f\n\r\t");
    EXPECT_EQ(parse(R"("\u0041\u00e9\u20AC\ud83d\ude00")").string(), "Aé€😀");
    EXPECT_EQ(parse("\"µ € 😀\"").string(), "µ € 😀");
    EXPECT_EQ(parse(R"("\u0000")").string(), std::string(1, '\0'));
}

TEST(JsonValue, NumbersBeyondDoublesAreErrorsAndTinyOnesZero) {
    EXPECT_EQ(parse("1.7976931348623157e308").number(), 1.7976931348623157e308);
    EXPECT_EQ(parse("1e-400").number(), 0);
    EXPECT_EQ(parse("0.0000001e-99999999999").number(), 0);
    EXPECT_EQ(parse("0e999999999999").number(), 0);
    EXPECT_EQ(parse("5e-324").number(), 5e-324);
    EXPECT_EQ(error_of("[1,\n 1e400]"), "a.json:2:2: 1e400 is too large; numbers go up to 1.8e308");
    EXPECT_THAT(error_of("-1e99999999999"), HasSubstr("is too large"));
    EXPECT_THAT(error_of(std::string(400, '9')), HasSubstr("is too large"));
    EXPECT_EQ(parse("0." + std::string(400, '0') + "1").number(), 0);
}

TEST(JsonValue, SyntaxErrorsNameLineAndColumn) {
    EXPECT_THAT(error_of(""), HasSubstr("a.json:1:1: a value is expected"));
    EXPECT_THAT(error_of(""), HasSubstr("found the end of the text"));
    EXPECT_EQ(error_of("{\"a\": 1,\n  \"µ\": 2 \"c\": 3}"),
              "a.json:2:10: a comma or } is expected after a member, found a string")
        << "columns count characters, not bytes";
    EXPECT_EQ(error_of("[1 2]"), "a.json:1:4: a comma or ] is expected after an item, found \"2\"");
    EXPECT_EQ(error_of("{\"a\" 1}"), "a.json:1:6: a colon is expected after the key, found \"1\"");
    EXPECT_EQ(error_of("{a: 1}"), "a.json:1:2: a key in \" is expected, found \"a\"");
    EXPECT_EQ(error_of("[1,]"),
              "a.json:1:4: a value is expected after the comma; remove the comma");
    EXPECT_EQ(error_of("{\"a\":1,}"),
              "a.json:1:8: a key is expected after the comma; remove the comma");
    EXPECT_EQ(error_of("{} x"), "a.json:1:4: nothing may follow the value, found \"x\"");
    EXPECT_THAT(error_of("[1, // one\n2]"), HasSubstr("JSON has no comments"));
    EXPECT_THAT(error_of("['a']"), HasSubstr("written with \""));
    EXPECT_THAT(error_of("\xef\xbb\xbf{}"), HasSubstr("byte order mark"));
    for (const char* word : {"NaN", "Infinity", "True", "+1", ".5", "nul", "\x01"})
        EXPECT_THAT(error_of(word), HasSubstr("a value is expected")) << word;
    for (const char* number : {"01", "1.", "-", "1e", "1e+", "-.5", "1.e3", "00"})
        EXPECT_THAT(error_of(number), HasSubstr("not a number as JSON writes them")) << number;
    EXPECT_EQ(error_of("[\"a"), "a.json:1:4: the text ends inside a string");
    for (const char* open : {"[", "{", "[1,", "{\"a\"", "{\"a\":", "\"a", "\"a\\", "\"\\u12"})
        EXPECT_NE(error_of(open), "") << open;
}

TEST(JsonValue, StringsMustBeUtf8WithoutRawControlCharacters) {
    EXPECT_THAT(error_of("\"a\xff\""), HasSubstr("byte 255 is not UTF-8"));
    EXPECT_THAT(error_of("\"\xc0\xaf\""), HasSubstr("is not UTF-8")) << "overlong";
    EXPECT_THAT(error_of("\"\xed\xa0\x80\""), HasSubstr("is not UTF-8")) << "surrogate";
    EXPECT_THAT(error_of("\"a\nb\""), HasSubstr("the line ends inside a string"));
    EXPECT_THAT(error_of("\"a\tb\""), HasSubstr("control characters"));
    EXPECT_THAT(error_of("\"\\x\""), HasSubstr("\\ is followed by one of"));
    EXPECT_THAT(error_of("\"\\u12g4\""), HasSubstr("four hexadecimal digits"));
    EXPECT_THAT(error_of("\"\\u-123\""), HasSubstr("four hexadecimal digits"));
    for (const char* half : {"\"\\ud83d\"", "\"\\ude00\"", "\"\\ud83d\\u0041\"", "\"\\ud83dx\""})
        EXPECT_THAT(error_of(half), HasSubstr("surrogate")) << half;
}

TEST(JsonValue, RepeatedKeysAreErrorsThatNameBothLines) {
    EXPECT_EQ(error_of("{\"a\": 1,\n\"b\": 2,\n\"a\": 3}"),
              "a.json:3: the key \"a\" comes twice, first in line 1");
    EXPECT_EQ(error_of(R"([{"a":1},{"a":1}])"), "");
}

TEST(JsonValue, SizeAndDepthAreLimited) {
    EXPECT_EQ(error_of("[1,2]", {.max_bytes = 4}), "a.json: 5 bytes of JSON; at most 4 are read");
    EXPECT_EQ(error_of("[1,2]", {.max_bytes = 5}), "");
    EXPECT_EQ(error_of("[[{}]]", {.max_depth = 3}), "");
    EXPECT_THAT(error_of("[[{}]]", {.max_depth = 2}),
                HasSubstr("more than 2 arrays and objects inside each other"));
    EXPECT_EQ(error_of("[[],[],[]]", {.max_depth = 2}), "") << "depth is left again";
    EXPECT_NE(error_of(std::string(1'000'000, '[')), "");
}

TEST(JsonValue, TextIsWhatWasReadCutWhereItIsLong) {
    const char* text = R"({"a":[1,2.5,true,null],"b":"x\"y","c":{}})";
    EXPECT_EQ(to_text(parse(text)), text);
    EXPECT_EQ(to_text(parse("[1,2,3,4]"), 5), "[1,2,…");
    EXPECT_EQ(to_text(parse("\"ééé\""), 4), "\"é…") << "not inside a character";
    EXPECT_LT(to_text(parse("[\"" + std::string(100000, 'x') + "\"]")).size(), 70u);
}

TEST(JsonValue, ReadsWhatTheWriterWrites) {
    JsonWriter json;
    json.begin_object().member("t", "a\"\\\n\x01€").member("x", 0.1).member("i", -7).end_object();
    const JsonValue value = parse(json.text());
    EXPECT_EQ(value.find("t")->string(), "a\"\\\n\x01€");
    EXPECT_EQ(value.find("x")->number(), 0.1);
    EXPECT_EQ(value.find("i")->number(), -7);
}

}  // namespace
}  // namespace pliant
