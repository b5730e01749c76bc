#pragma once

#include "pliant/core/json_value.h"

#include <string>
#include <string_view>

namespace pliant {

/// Checks values against a schema in the part of JSON Schema 2020-12 that docs/scene.schema.json
/// uses, and says in words what was expected:
///     scene.json: bodies[1].reduced.rank = 0 (expected an integer from 1 to 1024)
///
/// Known keywords: type, properties, required, additionalProperties: false, items, minItems,
/// maxItems, enum, const, minimum, maximum, exclusiveMinimum, exclusiveMaximum, minLength,
/// maxLength, pattern, allOf, $ref to #/$defs, and oneOf of two kinds: alternatives of different
/// types, or alternatives that require one key each. A title says what is expected in place of the
/// words made from type and limits.
class JsonSchema {
public:
    /// Throws InputError for a schema that uses anything else: what is not checked must not look
    /// as if it were. `name` stands for the schema in such messages.
    JsonSchema(JsonValue schema, const std::string& name);

    /// Throws InputError for the first thing that is wrong. `file` stands for the value's file.
    void check(const JsonValue& value, const std::string& file) const;
    /// Against a part of the schema, such as "#/properties/script".
    void check_part(std::string_view part, const JsonValue& value, const std::string& file) const;

    [[nodiscard]] const JsonValue& root() const noexcept { return root_; }

private:
    JsonValue root_;
};

/// What stands at "#/$defs/pose"; null: nothing.
[[nodiscard]] const JsonValue* find_part(const JsonValue& schema, std::string_view part);

/// Path of a member as messages write it: bodies[1].pose, or bodies[1]["two words"].
[[nodiscard]] std::string member_path(const std::string& path, const std::string& key);
[[nodiscard]] std::string item_path(const std::string& path, std::size_t index);

}  // namespace pliant
