#include "scene/json_schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "input_error.h"

namespace pliant {
namespace {

using ::testing::HasSubstr;

JsonSchema make_schema(const std::string& text) { return {parse_json(text, "s.json"), "s.json"}; }
/// The sentence about a value, or nothing.
std::string value_error(const std::string& schema, const std::string& value) {
    const JsonSchema checker = make_schema(schema);
    return test::input_error([&] { checker.check(parse_json(value, "v.json"), "v.json"); });
}
std::string schema_error(const std::string& schema) {
    return test::input_error([&] { (void)make_schema(schema); });
}

TEST(JsonSchema, TypesAreToldInWords) {
    const std::string any =
        R"({"type": "object", "properties": {"n": {"type": "number"}, "i": {"type": "integer"},
            "s": {"type": "string"}, "b": {"type": "boolean"}, "a": {"type": "array"}, "o": {"type": "object"}}})";
    EXPECT_EQ(
        value_error(any, R"({"n": 1.5, "i": 2, "s": "", "b": true, "a": [1], "o": {"x": 1}})"), "");
    EXPECT_EQ(value_error(any, R"({"n": "1"})"), "v.json: n = \"1\" (expected a number)");
    EXPECT_EQ(value_error(any, R"({"i": 2.5})"), "v.json: i = 2.5 (expected an integer)");
    EXPECT_EQ(value_error(any, R"({"s": 1})"), "v.json: s = 1 (expected a string)");
    EXPECT_EQ(value_error(any, R"({"b": 0})"), "v.json: b = 0 (expected true or false)");
    EXPECT_EQ(value_error(any, R"({"a": {}})"), "v.json: a = {} (expected an array […])");
    EXPECT_EQ(value_error(any, R"({"o": null})"), "v.json: o = null (expected an object {…})");
    EXPECT_EQ(value_error(any, "[1]"), "v.json: [1] (expected an object {…})");
}

TEST(JsonSchema, LimitsAreToldInWords) {
    const std::string range = R"({"type": "integer", "minimum": 1, "maximum": 10})";
    EXPECT_EQ(value_error(range, "1"), "");
    EXPECT_EQ(value_error(range, "10"), "");
    EXPECT_EQ(value_error(range, "0"), "v.json: 0 (expected an integer from 1 to 10)");
    EXPECT_EQ(value_error(range, "11"), "v.json: 11 (expected an integer from 1 to 10)");
    const std::string open =
        R"({"type": "number", "exclusiveMinimum": -1, "exclusiveMaximum": 0.5})";
    EXPECT_EQ(value_error(open, "0.49"), "");
    EXPECT_EQ(value_error(open, "0.5"), "v.json: 0.5 (expected a number > -1 and < 0.5)");
    EXPECT_EQ(value_error(open, "-1"), "v.json: -1 (expected a number > -1 and < 0.5)");
    EXPECT_EQ(value_error(R"({"type": "number", "exclusiveMinimum": 0, "maximum": 5})", "0"),
              "v.json: 0 (expected a number > 0 and ≤ 5)");
    EXPECT_EQ(value_error(R"({"type": "number", "minimum": 0})", "-1"),
              "v.json: -1 (expected a number ≥ 0)");
}

TEST(JsonSchema, StringsHaveLengthsInCharactersAndPatterns) {
    const std::string text = R"({"type": "string", "minLength": 1, "maxLength": 3})";
    EXPECT_EQ(value_error(text, "\"é€😀\""), "");
    EXPECT_EQ(value_error(text, "\"\""),
              "v.json: \"\" (expected a string that is not empty, at most 3 characters)");
    EXPECT_THAT(value_error(text, "\"abcd\""), HasSubstr("at most 3 characters"));
    const std::string colour =
        R"({"title": "a colour", "type": "string", "maxLength": 3, "pattern": "^#[0-9]+$"})";
    EXPECT_EQ(value_error(colour, "\"#12\""), "");
    EXPECT_EQ(value_error(colour, "\"x12\""), "v.json: \"x12\" (expected a colour)");
}

TEST(JsonSchema, ItemsAreCountedAndNamedByIndex) {
    const std::string list =
        R"({"type": "array", "minItems": 1, "maxItems": 2, "items": {"type": "number"}})";
    EXPECT_EQ(value_error(list, "[1, 2]"), "");
    EXPECT_EQ(value_error(list, "[]"), "v.json: [] (expected an array […] of 1 to 2 items)");
    EXPECT_THAT(value_error(list, "[1, 2, 3]"), HasSubstr("of 1 to 2 items"));
    EXPECT_EQ(value_error(list, "[1, true]"), "v.json: [1] = true (expected a number)");
    EXPECT_THAT(value_error(R"({"type": "array", "minItems": 3, "maxItems": 3})", "[]"),
                HasSubstr("of 3 items"));
    EXPECT_THAT(value_error(R"({"type": "array", "minItems": 1})", "[]"),
                HasSubstr("of at least 1 item)"));
}

TEST(JsonSchema, EnumsSuggestTheNearestName) {
    const std::string kinds = R"({"enum": ["voxel", "graded", "tet"]})";
    EXPECT_EQ(value_error(kinds, "\"tet\""), "");
    EXPECT_EQ(value_error(kinds, "\"voxle\""),
              "v.json: \"voxle\" (expected \"voxel\", \"graded\" or \"tet\"; did you mean "
              "\"voxel\"?)");
    EXPECT_EQ(value_error(kinds, "7"), "v.json: 7 (expected \"voxel\", \"graded\" or \"tet\")");
    EXPECT_EQ(value_error(R"({"const": 1})", "1"), "");
    EXPECT_EQ(value_error(R"({"const": 1})", "2"), "v.json: 2 (expected 1)");
    EXPECT_EQ(value_error(R"({"const": true})", "false"), "v.json: false (expected true)");
}

TEST(JsonSchema, UnknownKeysSuggestTheNearestAndMissingOnesAreNamed) {
    const std::string schema =
        R"({"type": "object", "properties": {"bodies": {"type": "array", "items":
            {"type": "object", "additionalProperties": false, "required": ["name"],
             "properties": {"name": {"type": "string"}, "rank": {"type": "integer"}}}}}})";
    EXPECT_EQ(value_error(schema, R"({"bodies": [{"name": "a"}, {"name": "b", "rnak": 3}]})"),
              "v.json: bodies[1].rnak: unknown key; did you mean \"rank\"?");
    EXPECT_EQ(value_error(schema, R"({"bodies": [{"name": "a", "zzzzzzzz": 3}]})"),
              "v.json: bodies[0].zzzzzzzz: unknown key; known here are \"name\" and \"rank\"");
    EXPECT_EQ(
        value_error(schema, R"({"bodies": [{"name": "a", "two words": 3}]})"),
        "v.json: bodies[0][\"two words\"]: unknown key; known here are \"name\" and \"rank\"");
    EXPECT_EQ(value_error(schema, R"({"bodies": [{"rank": 3}]})"),
              "v.json: bodies[0]: the key \"name\" is missing");
    EXPECT_EQ(value_error(schema, R"({"other": 1})"), "") << "this object is not closed";
}

TEST(JsonSchema, OneOfKeysSaysWhichAreNeededOrTooMany) {
    const std::string schema =
        R"({"type": "object", "oneOf": [{"required": ["fem"]}, {"required": ["rigid"]}, {"required": ["model"]}]})";
    EXPECT_EQ(value_error(schema, R"({"fem": 1})"), "");
    EXPECT_EQ(value_error(schema, R"({"other": 1})"),
              "v.json: one of the keys \"fem\", \"rigid\", \"model\" is needed");
    EXPECT_EQ(value_error(schema, R"({"model": 1, "fem": 2})"),
              "v.json: only one of the keys \"fem\" and \"model\" may be given");
}

TEST(JsonSchema, OneOfTypesChecksTheAlternativeOfTheValuesType) {
    const std::string schema =
        R"({"oneOf": [{"type": "string", "minLength": 2},
                      {"title": "{\"path\": file}", "type": "object", "required": ["path"]}]})";
    EXPECT_EQ(value_error(schema, "\"ab\""), "");
    EXPECT_EQ(value_error(schema, R"({"path": 1})"), "");
    EXPECT_EQ(value_error(schema, "\"a\""), "v.json: \"a\" (expected a string that is not empty)");
    EXPECT_EQ(value_error(schema, "{}"), "v.json: the key \"path\" is missing");
    EXPECT_EQ(value_error(schema, "3"),
              "v.json: 3 (expected a string that is not empty, or {\"path\": file})");
}

TEST(JsonSchema, AllOfAndReferencesAreFollowed) {
    const std::string schema = R"({"type": "object", "properties": {"v": {"$ref": "#/$defs/v"}},
        "allOf": [{"oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
                  {"oneOf": [{"required": ["c"]}, {"required": ["d"]}]}],
        "$defs": {"v": {"title": "three numbers", "type": "array", "minItems": 3, "maxItems": 3}}})";
    EXPECT_EQ(value_error(schema, R"({"a": 1, "d": 1, "v": [1, 2, 3]})"), "");
    EXPECT_EQ(value_error(schema, R"({"a": 1, "d": 1, "v": [1]})"),
              "v.json: v = [1] (expected three numbers)");
    EXPECT_THAT(value_error(schema, R"({"a": 1})"), HasSubstr("\"c\", \"d\" is needed"));
    const JsonSchema checker = make_schema(schema);
    EXPECT_THAT(test::input_error(
                    [&] { checker.check_part("#/$defs/v", parse_json("7", "v.json"), "v.json"); }),
                HasSubstr("7 (expected three numbers)"));
}

TEST(JsonSchema, RefusesSchemasThatItWouldNotCheck) {
    EXPECT_EQ(schema_error(R"({"type": "object", "patternProperties": {}})"),
              "s.json: #.patternProperties is not supported");
    EXPECT_THAT(schema_error(R"({"type": "null"})"), HasSubstr("type that is not supported"));
    EXPECT_THAT(schema_error(R"({"type": "object", "properties": {"a": {}}})"),
                HasSubstr("#.properties.a has no type"));
    EXPECT_THAT(schema_error(R"({"$ref": "#/$defs/x"})"), HasSubstr("refers to nothing"));
    EXPECT_THAT(schema_error(R"({"$ref": "#/$defs/x", "$defs": {"x": {"$ref": "#"}}})"),
                HasSubstr("refers to another reference"));
    EXPECT_THAT(schema_error(R"({"type": "object", "properties":
                    {"a": {"$ref": "#/$defs/x", "minimum": 1}}, "$defs": {"x": {"type": "number"}}})"),
                HasSubstr("beside $ref"));
    EXPECT_THAT(schema_error(R"({"type": "object", "additionalProperties": true})"),
                HasSubstr("other than false"));
    EXPECT_THAT(schema_error(R"({"type": "string", "pattern": "x"})"), HasSubstr("no title"));
    EXPECT_THAT(schema_error(R"({"title": "t", "type": "string", "maxLength": 9, "pattern": "["})"),
                HasSubstr("not a regular expression"));
    EXPECT_THAT(
        schema_error(R"({"oneOf": [{"type": "number"}, {"type": "number", "minimum": 1}]})"),
        HasSubstr("does not tell apart"));
}

TEST(JsonSchema, PathsAreReadable) {
    EXPECT_EQ(member_path("", "a"), "a");
    EXPECT_EQ(member_path("a[2]", "b_c"), "a[2].b_c");
    EXPECT_EQ(member_path("a", ""), "a[\"\"]");
    EXPECT_EQ(item_path("a", 3), "a[3]");
    EXPECT_LT(member_path("a", std::string(100000, 'x')).size(), 80u);
}

}  // namespace
}  // namespace pliant
