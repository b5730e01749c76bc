#include "geometry/text_scanner.h"

#include "pliant/core/error.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>
#include <utility>

namespace pliant {
namespace {

// std::from_chars knows no leading plus sign, but files do.
std::string_view without_plus(std::string_view token) noexcept {
    const bool has_plus = token.size() > 1 && token[0] == '+' && token[1] != '-';
    return has_plus ? token.substr(1) : token;
}

template <class T>
std::errc parse_all(std::string_view token, T& value) {
    const char* end = token.data() + token.size();
    const auto result = std::from_chars(token.data(), end, value);
    if (result.ec == std::errc() && result.ptr != end) return std::errc::invalid_argument;
    return result.ec;
}

}  // namespace

std::string printable(std::string_view value) {
    constexpr std::size_t longest = 40;
    std::string text(value.substr(0, longest));
    // bytes of UTF-8 sequences may be cut in half here, so only ASCII is kept
    for (char& c : text) {
        if (c < ' ' || c > '~') c = '?';
    }
    if (value.size() > longest) text += "...";
    return text;
}

TextScanner::TextScanner(std::string_view text, std::string name, char comment, char separator)
    : text_(text), name_(std::move(name)), comment_(comment), separator_(separator) {
    // the byte order mark some editors put before UTF-8 text
    if (text.starts_with("\xEF\xBB\xBF")) seek(3);
}

bool TextScanner::is_blank(char c) const noexcept {
    return c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == separator_;
}

bool TextScanner::advance_line() {
    cursor_ = line_end_ = next_line_;
    if (next_line_ >= text_.size()) return false;
    ++line_;

    // the end of the line, and of what is visible of it
    std::size_t end = next_line_;
    while (end < text_.size() && text_[end] != '\n' && text_[end] != '\r') ++end;
    line_end_ = end;
    if (comment_ != kNoComment) {
        line_end_ = std::min(end, text_.substr(0, end).find(comment_, next_line_));
    }

    // step over \n, \r\n or \r
    if (end < text_.size()) {
        const bool is_crlf = text_[end] == '\r' && end + 1 < text_.size() && text_[end + 1] == '\n';
        end += is_crlf ? 2 : 1;
    }
    next_line_ = end;
    return true;
}

bool TextScanner::next_line() {
    while (advance_line()) {
        while (cursor_ < line_end_ && is_blank(text_[cursor_])) ++cursor_;
        if (cursor_ < line_end_) return true;
    }
    return false;
}

std::string_view TextScanner::token_on_line() {
    while (cursor_ < line_end_ && is_blank(text_[cursor_])) ++cursor_;
    const std::size_t begin = cursor_;
    while (cursor_ < line_end_ && !is_blank(text_[cursor_])) ++cursor_;
    return text_.substr(begin, cursor_ - begin);
}

bool TextScanner::at_line_end() const noexcept {
    std::size_t next = cursor_;
    while (next < line_end_ && is_blank(text_[next])) ++next;
    return next == line_end_;
}

std::string_view TextScanner::rest_of_line() {
    std::size_t end = line_end_;
    while (cursor_ < end && is_blank(text_[cursor_])) ++cursor_;
    while (end > cursor_ && is_blank(text_[end - 1])) --end;
    const std::string_view rest = text_.substr(cursor_, end - cursor_);
    cursor_ = line_end_;
    return rest;
}

bool TextScanner::next_token(std::string_view& token) {
    token = token_on_line();
    if (token.empty() && next_line()) token = token_on_line();
    return !token.empty();
}

std::string_view TextScanner::token(std::string_view what) {
    std::string_view token;
    if (!next_token(token)) fail("the file ends before " + std::string(what));
    return token;
}

double TextScanner::real(std::string_view what) { return to_real(token(what), what); }

std::int64_t TextScanner::integer(std::string_view what, std::int64_t lo, std::int64_t hi) {
    return to_integer(token(what), what, lo, hi);
}

int TextScanner::count(std::string_view what, std::size_t min_bytes_each, std::int64_t most) {
    return to_count(token(what), what, min_bytes_each, most);
}

double TextScanner::to_real(std::string_view token, std::string_view what) const {
    const std::string_view digits = without_plus(token);
    double value = 0;
    std::errc error = parse_all(digits, value);
    if (error == std::errc::result_out_of_range) {
        // too small for a double is legal and rounds towards zero, too large is not
        long double wide = 0;
        error = parse_all(digits, wide);
        value = static_cast<double>(wide);
    }
    if (error != std::errc() || !std::isfinite(value)) fail(what, token, "a finite number");
    return value;
}

std::int64_t TextScanner::to_integer(std::string_view token, std::string_view what, std::int64_t lo,
                                     std::int64_t hi) const {
    std::int64_t value = 0;
    const std::errc error = parse_all(without_plus(token), value);
    if (error == std::errc::invalid_argument) fail(what, token, "an integer");
    if (error != std::errc() || value < lo || value > hi) {
        if (hi < lo) fail(what, token, "none: there is nothing to refer to");
        fail(what, token, std::to_string(lo) + " … " + std::to_string(hi));
    }
    return value;
}

int TextScanner::to_count(std::string_view token, std::string_view what, std::size_t min_bytes_each,
                          std::int64_t most) const {
    // the last item may lack its separator, hence one byte more
    const std::size_t rest = text_.size() - cursor_;
    const auto room =
        static_cast<std::int64_t>((rest + 1) / std::max<std::size_t>(min_bytes_each, 1));
    const std::int64_t value = to_integer(token, what, 0, most);
    if (value > room) {
        fail(what, token,
             "at most " + std::to_string(room) + ": the file has only " + std::to_string(rest) +
                 " more bytes");
    }
    return static_cast<int>(value);
}

void TextScanner::fail(std::string_view field, std::string_view value,
                       std::string_view expected) const {
    throw InputError(place(), std::string(field), printable(value), std::string(expected));
}

void TextScanner::fail(std::string_view sentence) const {
    throw InputError(place(), std::string(sentence));
}

std::string TextScanner::place() const {
    return name_ + ":" + std::to_string(std::max<std::int64_t>(line_, 1));
}

void TextScanner::seek(std::size_t offset) noexcept {
    next_line_ = std::min(offset, text_.size());
    cursor_ = line_end_ = next_line_;
}

}  // namespace pliant
