#include "scene/json_schema.h"

#include <algorithm>
#include <cmath>
#include <regex>

#include "pliant/core/error.h"
#include "pliant/core/nearest_name.h"

namespace pliant {
namespace {

using Type = JsonValue::Type;

// --- words -------------------------------------------------------------------------------------

std::string joined(const std::vector<std::string>& words, const char* last_separator) {
    std::string text;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (i > 0) text += i + 1 == words.size() ? last_separator : ", ";
        text += words[i];
    }
    return text;
}

std::string quoted(const std::string& text) { return to_text(JsonValue(text)); }

std::string number_text(const JsonValue& number) { return to_text(number); }

/// " from 1 to 10", " > 0 and ≤ 5", …
std::string limits_in_words(const JsonValue& schema) {
    const JsonValue* low = schema.find("minimum");
    const JsonValue* high = schema.find("maximum");
    if (low && high) return " from " + number_text(*low) + " to " + number_text(*high);
    std::vector<std::string> parts;
    if (low) parts.push_back("≥ " + number_text(*low));
    if (const JsonValue* above = schema.find("exclusiveMinimum"))
        parts.push_back("> " + number_text(*above));
    if (high) parts.push_back("≤ " + number_text(*high));
    if (const JsonValue* below = schema.find("exclusiveMaximum"))
        parts.push_back("< " + number_text(*below));
    return parts.empty() ? std::string() : " " + joined(parts, " and ");
}

std::string count_in_words(const JsonValue& schema) {
    const JsonValue* low = schema.find("minItems");
    const JsonValue* high = schema.find("maxItems");
    if (low && high && low->number() == high->number())
        return " of " + number_text(*low) + " items";
    if (low && high) return " of " + number_text(*low) + " to " + number_text(*high) + " items";
    if (low) return " of at least " + number_text(*low) + (low->number() == 1 ? " item" : " items");
    if (high) return " of at most " + number_text(*high) + " items";
    return {};
}

/// What a reference means.
const JsonValue& resolved(const JsonValue& root, const JsonValue& schema) {
    const JsonValue* reference = schema.find("$ref");
    return reference ? *find_part(root, reference->string()) : schema;
}

/// What a schema wants, in words.
std::string in_words(const JsonValue& root, const JsonValue& unresolved) {
    const JsonValue& schema = resolved(root, unresolved);
    if (const JsonValue* title = schema.find("title")) return title->string();
    if (const JsonValue* constant = schema.find("const")) return to_text(*constant);
    if (const JsonValue* choice = schema.find("enum")) {
        std::vector<std::string> words;
        for (const JsonValue& item : choice->array()) words.push_back(to_text(item));
        return joined(words, " or ");
    }
    if (const JsonValue* alternatives = schema.find("oneOf");
        alternatives && !schema.find("type")) {
        std::vector<std::string> words;
        for (const JsonValue& item : alternatives->array()) words.push_back(in_words(root, item));
        return joined(words, ", or ");
    }
    const std::string& type = schema.find("type")->string();
    if (type == "object") return "an object {…}";
    if (type == "array") return "an array […]" + count_in_words(schema);
    if (type == "boolean") return "true or false";
    if (type == "string") {
        const JsonValue* longest = schema.find("maxLength");
        return std::string(schema.find("minLength") ? "a string that is not empty" : "a string") +
               (longest ? ", at most " + number_text(*longest) + " characters" : "");
    }
    return (type == "integer" ? "an integer" : "a number") + limits_in_words(schema);
}

// --- the schema itself -------------------------------------------------------------------------

constexpr std::string_view kKeywords[] = {
    "type", "properties", "required", "additionalProperties", "items", "minItems", "maxItems",
    "enum", "const", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength",
    "maxLength", "pattern", "allOf", "oneOf", "$ref", "$defs",
    // annotations
    "$schema", "$id", "title", "description", "default", "examples"};
constexpr std::string_view kTypes[] = {"object", "array", "string", "number", "integer", "boolean"};

template <class List>
bool contains(const List& list, std::string_view word) {
    return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

/// { "required": ["key"] } and nothing else: the key; otherwise null.
const std::string* required_key(const JsonValue& alternative) {
    if (alternative.object().size() != 1) return nullptr;
    const JsonValue* required = alternative.find("required");
    return required && required->array().size() == 1 ? &required->array()[0].string() : nullptr;
}

/// Goes through a schema once and refuses what check() does not understand.
class SchemaCheck {
public:
    SchemaCheck(const JsonValue& root, const std::string& name) : root_(root), name_(name) {}

    void check(const JsonValue& schema, const std::string& path, bool needs_type = true) const {
        if (!schema.is(Type::Object)) fail(path, "is not an object");
        for (const auto& [key, value] : schema.object())
            if (!contains(kKeywords, key)) fail(member_path(path, key), "is not supported");
        if (const JsonValue* reference = schema.find("$ref")) {
            const JsonValue* target =
                reference->is(Type::String) ? find_part(root_, reference->string()) : nullptr;
            if (!target) fail(path, "refers to nothing");
            if (target->find("$ref")) fail(path, "refers to another reference");
            for (const auto& [key, value] : schema.object())
                if (key != "$ref" && key != "description" && key != "default")
                    fail(member_path(path, key), "is beside $ref, which counts alone");
        } else if (needs_type && !has_type(schema)) {
            fail(path, "has no type");
        }
        check_type(schema, path);
        if (const JsonValue* closed = schema.find("additionalProperties"))
            if (!closed->is(Type::Boolean) || closed->boolean())
                fail(path, "has additionalProperties other than false");
        check_pattern(schema, path);
        for (const char* group : {"properties", "$defs"})
            if (const JsonValue* members = schema.find(group))
                for (const auto& [key, value] : members->object())
                    check(value, member_path(member_path(path, group), key));
        if (const JsonValue* items = schema.find("items"))
            check(*items, member_path(path, "items"));
        if (const JsonValue* all = schema.find("allOf"))
            for (const JsonValue& part : all->array())
                check(part, member_path(path, "allOf"), false);
        if (const JsonValue* alternatives = schema.find("oneOf"))
            check_one_of(*alternatives, member_path(path, "oneOf"));
    }

private:
    [[noreturn]] void fail(const std::string& path, const std::string& sentence) const {
        throw InputError(name_, path + " " + sentence);
    }
    static bool has_type(const JsonValue& schema) {
        return schema.find("type") || schema.find("enum") || schema.find("const") ||
               schema.find("oneOf");
    }
    void check_type(const JsonValue& schema, const std::string& path) const {
        const JsonValue* type = schema.find("type");
        if (type && (!type->is(Type::String) || !contains(kTypes, type->string())))
            fail(path, "has a type that is not supported");
    }
    void check_pattern(const JsonValue& schema, const std::string& path) const {
        const JsonValue* pattern = schema.find("pattern");
        if (!pattern) return;
        // without them nobody understands the message, and long strings take long
        if (!schema.find("title") || !schema.find("maxLength"))
            fail(path, "has a pattern but no title or no maxLength");
        try {
            (void)std::regex(pattern->string());
        } catch (const std::regex_error&) {
            fail(path, "has a pattern that is not a regular expression");
        }
    }
    void check_one_of(const JsonValue& alternatives, const std::string& path) const {
        const JsonValue::Array& all = alternatives.array();
        if (std::all_of(all.begin(), all.end(), required_key)) return;
        std::vector<std::string> types;
        for (const JsonValue& alternative : all) {
            check(alternative, path);
            const JsonValue* type = resolved(root_, alternative).find("type");
            if (!type || contains(types, type->string()))
                fail(path, "has alternatives that their type does not tell apart");
            types.push_back(type->string());
        }
    }

    const JsonValue& root_;
    const std::string& name_;
};

// --- values ------------------------------------------------------------------------------------

bool has_type(const JsonValue& value, const std::string& type) {
    switch (value.type()) {
        case Type::Null: return false;
        case Type::Boolean: return type == "boolean";
        case Type::Number:
            return type == "number" ||
                   (type == "integer" && value.number() == std::floor(value.number()));
        case Type::String: return type == "string";
        case Type::Array: return type == "array";
        case Type::Object: return type == "object";
    }
    return false;
}

bool is_equal(const JsonValue& a, const JsonValue& b) {
    if (a.type() != b.type()) return false;
    if (a.is(Type::String)) return a.string() == b.string();
    if (a.is(Type::Number)) return a.number() == b.number();
    if (a.is(Type::Boolean)) return a.boolean() == b.boolean();
    return false;
}

std::size_t num_characters(const std::string& text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

class ValueCheck {
public:
    ValueCheck(const JsonValue& root, const std::string& file) : root_(root), file_(file) {}

    void check(const JsonValue& unresolved, const JsonValue& value, const std::string& path) const {
        const JsonValue& schema = resolved(root_, unresolved);
        if (const JsonValue* type = schema.find("type"))
            if (!has_type(value, type->string())) fail(schema, value, path);
        if (const JsonValue* constant = schema.find("const"))
            if (!is_equal(value, *constant)) fail(schema, value, path);
        if (const JsonValue* choice = schema.find("enum")) check_enum(schema, *choice, value, path);
        if (value.is(Type::Number)) check_limits(schema, value, path);
        if (value.is(Type::String)) check_string(schema, value, path);
        if (value.is(Type::Array)) check_items(schema, value, path);
        if (value.is(Type::Object)) check_members(schema, value, path);
        if (const JsonValue* all = schema.find("allOf"))
            for (const JsonValue& part : all->array()) check(part, value, path);
        if (const JsonValue* alternatives = schema.find("oneOf"))
            check_one_of(schema, alternatives->array(), value, path);
    }

private:
    [[noreturn]] void fail(const JsonValue& schema, const JsonValue& value,
                           const std::string& path) const {
        throw InputError(file_, path, to_text(value), in_words(root_, schema));
    }
    [[noreturn]] void fail(const std::string& path, const std::string& sentence) const {
        throw InputError(file_, path.empty() ? sentence : path + ": " + sentence);
    }

    void check_enum(const JsonValue& schema, const JsonValue& choice, const JsonValue& value,
                    const std::string& path) const {
        std::vector<std::string> known;
        for (const JsonValue& item : choice.array()) {
            if (is_equal(value, item)) return;
            if (item.is(Type::String)) known.push_back(item.string());
        }
        const std::string nearest =
            value.is(Type::String) ? nearest_name(value.string(), known) : std::string();
        throw InputError(file_, path, to_text(value),
                         in_words(root_, schema) +
                             (nearest.empty() ? "" : "; did you mean " + quoted(nearest) + "?"));
    }

    void check_limits(const JsonValue& schema, const JsonValue& value,
                      const std::string& path) const {
        const double number = value.number();
        const JsonValue *low = schema.find("minimum"), *high = schema.find("maximum");
        const JsonValue* above = schema.find("exclusiveMinimum");
        const JsonValue* below = schema.find("exclusiveMaximum");
        if ((low && number < low->number()) || (high && number > high->number()) ||
            (above && number <= above->number()) || (below && number >= below->number()))
            fail(schema, value, path);
    }

    void check_string(const JsonValue& schema, const JsonValue& value,
                      const std::string& path) const {
        const JsonValue *low = schema.find("minLength"), *high = schema.find("maxLength");
        const auto length = static_cast<double>(num_characters(value.string()));
        if ((low && length < low->number()) || (high && length > high->number()))
            fail(schema, value, path);
        if (const JsonValue* pattern = schema.find("pattern"))
            if (!std::regex_search(value.string(), std::regex(pattern->string())))
                fail(schema, value, path);
    }

    void check_items(const JsonValue& schema, const JsonValue& value,
                     const std::string& path) const {
        const JsonValue *low = schema.find("minItems"), *high = schema.find("maxItems");
        const auto count = static_cast<double>(value.array().size());
        if ((low && count < low->number()) || (high && count > high->number()))
            fail(schema, value, path);
        if (const JsonValue* items = schema.find("items"))
            for (std::size_t i = 0; i < value.array().size(); ++i)
                check(*items, value.array()[i], item_path(path, i));
    }

    void check_members(const JsonValue& schema, const JsonValue& value,
                       const std::string& path) const {
        const JsonValue* properties = schema.find("properties");
        for (const auto& [key, member] : value.object()) {
            const JsonValue* property = properties ? properties->find(key) : nullptr;
            if (property)
                check(*property, member, member_path(path, key));
            else if (schema.find("additionalProperties"))
                fail_unknown(properties, member_path(path, key), key);
        }
        if (const JsonValue* required = schema.find("required"))
            for (const JsonValue& key : required->array())
                if (!value.find(key.string()))
                    fail(path, "the key " + quoted(key.string()) + " is missing");
    }

    [[noreturn]] void fail_unknown(const JsonValue* properties, const std::string& path,
                                   const std::string& key) const {
        std::vector<std::string> known;
        if (properties)
            for (const auto& [name, schema] : properties->object()) known.push_back(name);
        const std::string nearest = nearest_name(key, known);
        std::vector<std::string> words;
        for (const std::string& name : known) words.push_back(quoted(name));
        fail(path, "unknown key; " + (nearest.empty() ? "known here are " + joined(words, " and ")
                                                      : "did you mean " + quoted(nearest) + "?"));
    }

    void check_one_of(const JsonValue& schema, const JsonValue::Array& alternatives,
                      const JsonValue& value, const std::string& path) const {
        if (required_key(alternatives[0])) {
            check_one_key(alternatives, value, path);
            return;
        }
        for (const JsonValue& alternative : alternatives)
            if (has_type(value, resolved(root_, alternative).find("type")->string())) {
                check(alternative, value, path);
                return;
            }
        fail(schema, value, path);
    }

    void check_one_key(const JsonValue::Array& alternatives, const JsonValue& value,
                       const std::string& path) const {
        std::vector<std::string> all, given;
        for (const JsonValue& alternative : alternatives) {
            const std::string& key = *required_key(alternative);
            all.push_back(quoted(key));
            if (value.find(key)) given.push_back(quoted(key));
        }
        if (given.empty()) fail(path, "one of the keys " + joined(all, ", ") + " is needed");
        if (given.size() > 1)
            fail(path, "only one of the keys " + joined(given, " and ") + " may be given");
    }

    const JsonValue& root_;
    const std::string& file_;
};

}  // namespace

const JsonValue* find_part(const JsonValue& schema, std::string_view part) {
    if (!part.starts_with('#')) return nullptr;
    part.remove_prefix(1);
    const JsonValue* result = &schema;
    while (result && part.starts_with('/')) {
        const std::size_t end = std::min(part.find('/', 1), part.size());
        result = result->find(part.substr(1, end - 1));
        part.remove_prefix(end);
    }
    return part.empty() ? result : nullptr;
}

std::string member_path(const std::string& path, const std::string& key) {
    const bool is_plain =
        !key.empty() && key.size() <= 60 && std::all_of(key.begin(), key.end(), [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                   c == '_' || c == '-' || c == '$';
        });
    if (!is_plain) return path + "[" + quoted(key) + "]";
    return path.empty() ? key : path + "." + key;
}

std::string item_path(const std::string& path, std::size_t index) {
    return path + "[" + std::to_string(index) + "]";
}

JsonSchema::JsonSchema(JsonValue schema, const std::string& name) : root_(std::move(schema)) {
    SchemaCheck(root_, name).check(root_, "#");
}

void JsonSchema::check(const JsonValue& value, const std::string& file) const {
    ValueCheck(root_, file).check(root_, value, "");
}

void JsonSchema::check_part(std::string_view part, const JsonValue& value,
                            const std::string& file) const {
    ValueCheck(root_, file).check(*find_part(root_, part), value, "");
}

}  // namespace pliant
