#include "pliant/core/json_writer.h"

#include <charconv>
#include <cmath>
#include <cstddef>

#include "core/utf8.h"

namespace pliant {
namespace {

/// Bytes that are not UTF-8 (odd file names) become U+FFFD, so that the document stays readable.
void append_quoted(std::string& out, std::string_view text) {
    out += '"';
    while (!text.empty()) {
        const std::size_t length = utf8_length(text);
        const char c = text.front();
        if (length == 0)
            out += "\xef\xbf\xbd";
        else if (c == '"' || c == '\\')
            (out += '\\') += c;
        else if (c == '\n')
            out += "\\n";
        else if (c == '\t')
            out += "\\t";
        else if (c == '\r')
            out += "\\r";
        else if (length == 1 && static_cast<unsigned char>(c) < 0x20)
            ((out += "\\u00") += "01"[c >> 4]) += "0123456789abcdef"[c & 15];
        else
            out.append(text.substr(0, length));
        text.remove_prefix(length == 0 ? 1 : length);
    }
    out += '"';
}

template <class Number>
void append_number(std::string& out, Number number) {
    char digits[32];
    out.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

}  // namespace

void JsonWriter::separate() {
    if (needs_comma_) text_ += ',';
    needs_comma_ = true;
}

JsonWriter& JsonWriter::begin_object() {
    separate();
    text_ += '{';
    needs_comma_ = false;
    return *this;
}

JsonWriter& JsonWriter::end_object() {
    text_ += '}';
    needs_comma_ = true;
    return *this;
}

JsonWriter& JsonWriter::begin_array() {
    separate();
    text_ += '[';
    needs_comma_ = false;
    return *this;
}

JsonWriter& JsonWriter::end_array() {
    text_ += ']';
    needs_comma_ = true;
    return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
    separate();
    append_quoted(text_, name);
    text_ += ':';
    needs_comma_ = false;
    return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) {
    separate();
    append_quoted(text_, text);
    return *this;
}

JsonWriter& JsonWriter::value(double number) {
    separate();
    if (std::isfinite(number))
        append_number(text_, number);
    else
        text_ += "null";
    return *this;
}

JsonWriter& JsonWriter::value(std::int64_t number) {
    separate();
    append_number(text_, number);
    return *this;
}

JsonWriter& JsonWriter::value(std::uint64_t number) {
    separate();
    append_number(text_, number);
    return *this;
}

JsonWriter& JsonWriter::value(bool flag) {
    separate();
    text_ += flag ? "true" : "false";
    return *this;
}

}  // namespace pliant
