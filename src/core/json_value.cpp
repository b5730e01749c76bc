#include "pliant/core/json_value.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <tuple>

#include "core/utf8.h"
#include "pliant/core/error.h"
#include "pliant/core/json_writer.h"

namespace pliant {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

void append_utf8(std::string& out, unsigned code) {
    const auto put = [&](unsigned byte) { out += static_cast<char>(byte); };
    if (code < 0x80) {
        put(code);
    } else if (code < 0x800) {
        put(0xc0 | code >> 6);
        put(0x80 | (code & 63));
    } else if (code < 0x10000) {
        put(0xe0 | code >> 12);
        put(0x80 | (code >> 6 & 63));
        put(0x80 | (code & 63));
    } else {
        put(0xf0 | code >> 18);
        put(0x80 | (code >> 12 & 63));
        put(0x80 | (code >> 6 & 63));
        put(0x80 | (code & 63));
    }
}

/// Whether a well-formed number that a double cannot hold is too large; otherwise it is too small.
bool is_too_large(std::string_view number) {
    // decimal exponent of the first digit that is not zero
    int place = 0, exponent = 0;
    bool is_fraction = false, has_digit = false;
    std::size_t i = 0;
    for (; i < number.size() && number[i] != 'e' && number[i] != 'E'; ++i) {
        if (number[i] == '.') is_fraction = true;
        if (!is_digit(number[i])) continue;
        has_digit = has_digit || number[i] != '0';
        if (has_digit && !is_fraction) ++place;
        if (!has_digit && is_fraction) --place;
    }
    if (i < number.size()) {
        const bool is_negative = number[++i] == '-';
        for (; i < number.size(); ++i)
            if (is_digit(number[i]))
                exponent = std::min(100'000'000, 10 * exponent + number[i] - '0');
        if (is_negative) exponent = -exponent;
    }
    return place + exponent > 0;
}

/// One pass over the text, one function for each rule of the grammar.
class Parser {
public:
    Parser(std::string_view text, const std::string& name, const JsonLimits& limits)
        : text_(text), name_(name), limits_(limits) {}

    JsonValue document() {
        if (text_.size() > limits_.max_bytes)
            throw InputError(name_, std::to_string(text_.size()) + " bytes of JSON; at most " +
                                        std::to_string(limits_.max_bytes) + " are read");
        if (text_.starts_with("\xef\xbb\xbf"))
            fail("a byte order mark; save the text as UTF-8 without one");
        skip_blanks();
        JsonValue root = value();
        skip_blanks();
        if (!at_end()) fail("nothing may follow the value, found " + found());
        return root;
    }

private:
    [[nodiscard]] bool at_end() const { return at_ == text_.size(); }
    [[nodiscard]] char peek() const { return at_end() ? '\0' : text_[at_]; }
    bool take(char c) {
        if (at_end() || text_[at_] != c) return false;
        ++at_;
        return true;
    }

    [[noreturn]] void fail_at(std::size_t place, const std::string& sentence) const {
        const auto begin = text_.begin() + static_cast<std::ptrdiff_t>(line_start_);
        const auto column =
            1 + std::count_if(begin, begin + static_cast<std::ptrdiff_t>(place - line_start_),
                              [](char c) { return (c & 0xc0) != 0x80; });
        throw InputError(name_ + ":" + std::to_string(line_) + ":" + std::to_string(column),
                         sentence);
    }
    [[noreturn]] void fail(const std::string& sentence) const { fail_at(at_, sentence); }

    /// What stands here, for messages.
    [[nodiscard]] std::string found() const {
        if (at_end()) return "the end of the text";
        const std::size_t length = utf8_length(text_.substr(at_));
        const auto byte = static_cast<unsigned char>(peek());
        if (length == 0 || byte < 0x20 || byte == 0x7f) return "byte " + std::to_string(byte);
        if (peek() == '"') return "a string";
        return "\"" + std::string(text_.substr(at_, length)) + "\"";
    }

    void skip_blanks() {
        for (; !at_end(); ++at_) {
            const char c = text_[at_];
            if (c == '\n') {
                ++line_;
                line_start_ = at_ + 1;
            } else if (c != ' ' && c != '\t' && c != '\r') {
                break;
            }
        }
    }

    JsonValue value() {
        const int line = line_;
        JsonValue result = value_here();
        result.set_line(line);
        return result;
    }

    JsonValue value_here() {
        const char c = peek();
        if (c == '{') return object();
        if (c == '[') return array();
        if (c == '"') return JsonValue(string());
        if (c == '-' || is_digit(c)) return JsonValue(number());
        if (take_word("true")) return JsonValue(true);
        if (take_word("false")) return JsonValue(false);
        if (take_word("null")) return {};
        if (c == '/' || c == '#')
            fail("JSON has no comments; use a \"description\" where there is one");
        if (c == '\'') fail("strings are written with \", not with '");
        fail("a value is expected: {, [, a string in \", a number, true, false or null; found " +
             found());
    }

    bool take_word(std::string_view word) {
        if (!text_.substr(at_).starts_with(word)) return false;
        at_ += word.size();
        return true;
    }

    void enter() {
        if (++depth_ > limits_.max_depth)
            fail("more than " + std::to_string(limits_.max_depth) +
                 " arrays and objects inside each other");
    }

    JsonValue array() {
        enter();
        ++at_;
        JsonValue::Array items;
        skip_blanks();
        if (!take(']')) {
            do {
                skip_blanks();
                if (peek() == ']') fail("a value is expected after the comma; remove the comma");
                items.push_back(value());
                skip_blanks();
            } while (take(','));
            if (!take(']')) fail("a comma or ] is expected after an item, found " + found());
        }
        --depth_;
        return JsonValue(std::move(items));
    }

    JsonValue object() {
        enter();
        ++at_;
        JsonValue::Object members;
        skip_blanks();
        if (!take('}')) {
            do {
                skip_blanks();
                if (peek() == '}') fail("a key is expected after the comma; remove the comma");
                if (peek() != '"') fail("a key in \" is expected, found " + found());
                std::string key = string();
                skip_blanks();
                if (!take(':')) fail("a colon is expected after the key, found " + found());
                skip_blanks();
                members.emplace_back(std::move(key), value());
                skip_blanks();
            } while (take(','));
            if (!take('}')) fail("a comma or } is expected after a member, found " + found());
            refuse_repeated_keys(members);
        }
        --depth_;
        return JsonValue(std::move(members));
    }

    /// In O(n log n), whoever wrote the file.
    void refuse_repeated_keys(const JsonValue::Object& members) const {
        std::vector<const JsonValue::Member*> sorted;
        sorted.reserve(members.size());
        for (const JsonValue::Member& member : members) sorted.push_back(&member);
        std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) {
            return std::tie(a->first, a) < std::tie(b->first, b);
        });
        const auto twin =
            std::adjacent_find(sorted.begin(), sorted.end(),
                               [](const auto* a, const auto* b) { return a->first == b->first; });
        if (twin == sorted.end()) return;
        throw InputError(name_ + ":" + std::to_string(twin[1]->second.line()),
                         "the key " + to_text(JsonValue(twin[0]->first)) +
                             " comes twice, first in line " +
                             std::to_string(twin[0]->second.line()));
    }

    std::string string() {
        std::string result;
        ++at_;
        while (!take('"')) {
            if (at_end()) fail("the text ends inside a string");
            const std::size_t length = utf8_length(text_.substr(at_));
            if (length == 0) fail(found() + " is not UTF-8; save the text as UTF-8");
            if (static_cast<unsigned char>(peek()) < 0x20)
                fail(peek() == '\n' ? "the line ends inside a string; a line break is written \\n"
                                    : "control characters in strings are written \\u00XX");
            if (peek() == '\\') {
                escape(result);
            } else {
                result.append(text_.substr(at_, length));
                at_ += length;
            }
        }
        return result;
    }

    void escape(std::string& result) {
        static constexpr std::string_view kLetters = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
        const std::size_t start = at_++;
        if (take('u')) {
            unsigned code = hex4(start);
            if (code >= 0xd800 && code < 0xdc00) {
                if (!take('\\') || !take('u')) fail_at(start, "half of a surrogate pair");
                const unsigned low = hex4(start);
                if (low < 0xdc00 || low > 0xdfff) fail_at(start, "half of a surrogate pair");
                code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
            } else if (code >= 0xdc00 && code < 0xe000) {
                fail_at(start, "half of a surrogate pair");
            }
            append_utf8(result, code);
            return;
        }
        const std::size_t letter = at_end() ? std::string_view::npos : kLetters.find(peek());
        if (letter == std::string_view::npos)
            fail_at(start,
                    "\\ is followed by one of \" \\ / b f n r t u in strings; a \\ itself is "
                    "written \\\\");
        result += kMeanings[letter];
        ++at_;
    }

    unsigned hex4(std::size_t start) {
        unsigned code = 0;
        const std::string_view digits = text_.substr(at_, 4);
        const auto [end, problem] =
            std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
        if (digits.size() < 4 || problem != std::errc() || end != digits.data() + 4)
            fail_at(start, "\\u is followed by four hexadecimal digits");
        at_ += 4;
        return code;
    }

    double number() {
        const std::size_t start = at_;
        bool is_well_formed = true;
        const auto digits = [&] {
            is_well_formed = is_well_formed && is_digit(peek());
            while (is_digit(peek())) ++at_;
        };
        take('-');
        const bool has_leading_zero = peek() == '0';
        const std::size_t first = at_;
        digits();
        if (has_leading_zero && at_ > first + 1) is_well_formed = false;
        if (take('.')) digits();
        if (take('e') || take('E')) {
            if (!take('+')) take('-');
            digits();
        }
        const std::string_view number = text_.substr(start, at_ - start);
        if (!is_well_formed)
            fail_at(start, std::string(number.substr(0, 40)) +
                               " is not a number as JSON writes them, such as 0.5, -3 or 1e-3");
        double result = 0;
        const auto [end, problem] =
            std::from_chars(number.data(), number.data() + number.size(), result);
        if (problem == std::errc::result_out_of_range) {
            if (is_too_large(number))
                fail_at(start, std::string(number.substr(0, 40)) +
                                   " is too large; numbers go up to 1.8e308");
            result = 0;
        }
        return result;
    }

    std::string_view text_;
    const std::string& name_;
    const JsonLimits& limits_;
    std::size_t at_ = 0, line_start_ = 0;
    int line_ = 1, depth_ = 0;
};

/// Stops where the text is long enough.
void write(JsonWriter& json, const JsonValue& value, std::size_t max_length) {
    if (json.text().size() > max_length) return;
    switch (value.type()) {
        case JsonValue::Type::Null: json.value(std::numeric_limits<double>::quiet_NaN()); break;
        case JsonValue::Type::Boolean: json.value(value.boolean()); break;
        case JsonValue::Type::Number: json.value(value.number()); break;
        case JsonValue::Type::String:
            json.value(std::string_view(value.string()).substr(0, max_length + 4));
            break;
        case JsonValue::Type::Array:
            json.begin_array();
            for (const JsonValue& item : value.array()) write(json, item, max_length);
            json.end_array();
            break;
        case JsonValue::Type::Object:
            json.begin_object();
            for (const auto& [key, member] : value.object()) {
                if (json.text().size() > max_length) break;
                write(json.key(std::string_view(key).substr(0, max_length + 4)), member,
                      max_length);
            }
            json.end_object();
            break;
    }
}

}  // namespace

const JsonValue* JsonValue::find(std::string_view key) const noexcept {
    const auto* members = std::get_if<Object>(&value_);
    if (!members) return nullptr;
    for (const Member& member : *members)
        if (member.first == key) return &member.second;
    return nullptr;
}

JsonValue parse_json(std::string_view text, const std::string& name, const JsonLimits& limits) {
    return Parser(text, name, limits).document();
}

std::string to_text(const JsonValue& value, std::size_t max_length) {
    max_length = std::min(max_length, std::size_t{1} << 40);  // a little is added to it
    JsonWriter json;
    write(json, value, max_length);
    std::string text = json.text();
    if (text.size() <= max_length) return text;
    // not inside a character
    std::size_t length = 0;
    while (true) {
        const std::size_t next = length + utf8_length(std::string_view(text).substr(length));
        if (next > max_length) break;
        length = next;
    }
    return text.substr(0, length) + "…";
}

}  // namespace pliant
