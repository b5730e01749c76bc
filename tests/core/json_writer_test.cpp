#include "pliant/core/json_writer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>

namespace pliant {
namespace {

template <class T>
std::string json_of(const T& value) {
    return JsonWriter().value(value).text();
}

TEST(JsonWriter, WritesNestedValuesInTheOrderGiven) {
    JsonWriter json;
    json.begin_object().member("name", "bridge").key("sizes").begin_array();
    json.value(1).value(2.5).begin_array().end_array().begin_object().end_object().end_array();
    json.member("closed", true).member("open", false).end_object();
    EXPECT_EQ(json.text(), R"({"name":"bridge","sizes":[1,2.5,[],{}],"closed":true,"open":false})");
}

TEST(JsonWriter, EscapesQuotesAndControlCharacters) {
    EXPECT_EQ(json_of(std::string_view("a\"b\\c\n\t\r\x01\x1f\0/é", 13 + 1)),
              "\"a\\\"b\\\\c\\n\\t\\r\\u0001\\u001f\\u0000/é\"");
    EXPECT_EQ(JsonWriter().begin_object().key("a\"b").value(1).end_object().text(),
              "{\"a\\\"b\":1}");
}

TEST(JsonWriter, KeepsUtf8AndReplacesEveryOtherByte) {
    EXPECT_EQ(json_of("µ € 😀"), "\"µ € 😀\"");
    const std::string bad = "\xef\xbf\xbd";
    EXPECT_EQ(json_of("a\xff"
                      "b"),
              "\"a" + bad + "b\"");
    EXPECT_EQ(json_of("\xe2\x82"), "\"" + bad + bad + "\"") << "cut short";
    EXPECT_EQ(json_of("\xc0\xaf"), "\"" + bad + bad + "\"") << "overlong";
    EXPECT_EQ(json_of("\xed\xa0\x80"), "\"" + bad + bad + bad + "\"") << "surrogate";
    EXPECT_EQ(json_of("\xf4\x90\x80\x80"), "\"" + bad + bad + bad + bad + "\"") << "too large";
}

TEST(JsonWriter, NonFiniteNumbersBecomeNull) {
    EXPECT_EQ(json_of(std::numeric_limits<double>::infinity()), "null");
    EXPECT_EQ(json_of(-std::numeric_limits<double>::infinity()), "null");
    EXPECT_EQ(json_of(std::numeric_limits<double>::quiet_NaN()), "null");
}

TEST(JsonWriter, WritesExtremeIntegersExactly) {
    EXPECT_EQ(json_of(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
    EXPECT_EQ(json_of(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
    EXPECT_EQ(json_of(-7), "-7");
}

TEST(JsonWriter, DoublesAreShortAndReadBackTheSame) {
    EXPECT_EQ(json_of(0.1), "0.1");
    EXPECT_EQ(json_of(1e300), "1e+300");
    EXPECT_EQ(json_of(1.5f), "1.5");
    std::mt19937_64 random(3);
    std::uniform_real_distribution<double> mantissa(-10, 10), exponent(-300, 300);
    for (int i = 0; i < 1000; ++i) {
        const double number = mantissa(random) * std::pow(10.0, exponent(random));
        EXPECT_EQ(std::strtod(json_of(number).c_str(), nullptr), number);
    }
}

}  // namespace
}  // namespace pliant
