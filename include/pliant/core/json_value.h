#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace pliant {

/// A JSON value, read. Objects keep the order of their members; numbers are doubles.
class JsonValue {
public:
    using Array = std::vector<JsonValue>;
    using Member = std::pair<std::string, JsonValue>;
    using Object = std::vector<Member>;
    enum class Type { Null, Boolean, Number, String, Array, Object };

    JsonValue() = default;
    explicit JsonValue(bool flag) : value_(flag) {}
    explicit JsonValue(double number) : value_(number) {}
    explicit JsonValue(std::string text) : value_(std::move(text)) {}
    explicit JsonValue(Array items) : value_(std::move(items)) {}
    explicit JsonValue(Object members) : value_(std::move(members)) {}

    [[nodiscard]] Type type() const noexcept { return static_cast<Type>(value_.index()); }
    [[nodiscard]] bool is(Type type) const noexcept { return this->type() == type; }
    // The type must be right: programmer's error otherwise.
    [[nodiscard]] bool boolean() const { return std::get<bool>(value_); }
    [[nodiscard]] double number() const { return std::get<double>(value_); }
    [[nodiscard]] const std::string& string() const { return std::get<std::string>(value_); }
    [[nodiscard]] const Array& array() const { return std::get<Array>(value_); }
    [[nodiscard]] const Object& object() const { return std::get<Object>(value_); }
    /// Member of an object, or null pointer.
    [[nodiscard]] const JsonValue* find(std::string_view key) const noexcept;
    /// Where it began in the text, from 1.
    [[nodiscard]] int line() const noexcept { return line_; }
    void set_line(int line) noexcept { line_ = line; }

private:
    std::variant<std::monostate, bool, double, std::string, Array, Object> value_;
    int line_ = 0;
};

struct JsonLimits {
    std::size_t max_bytes = std::size_t{16} << 20;
    int max_depth = 64;
};

/// Strict JSON (RFC 8259, UTF-8, no byte order mark). Throws InputError with line and column for
/// anything else, a key that comes twice, and numbers that are not finite. `name` stands for the
/// file in messages.
[[nodiscard]] JsonValue parse_json(std::string_view text, const std::string& name,
                                   const JsonLimits& limits = {});
/// As it would be written, cut after `max_length` characters: for messages.
[[nodiscard]] std::string to_text(const JsonValue& value, std::size_t max_length = 60);

}  // namespace pliant
