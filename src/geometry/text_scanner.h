#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace pliant {

/// Most vertices, triangles and elements a mesh file may hold: indices are `int`, those of the
/// sides of triangles and of the corners of elements too.
inline constexpr std::int64_t kMaxMeshItems = 2147483647;
inline constexpr std::int64_t kMaxTriangles = kMaxMeshItems / 3;
inline constexpr std::int64_t kMaxElements = kMaxMeshItems / 8;

/// Walks the text of a mesh file line by line and token by token (tokens are separated by blanks).
/// Lines end with \n, \r\n or a lone \r; text from the comment character to the end of its line is
/// not seen. Every message names the file and the line: `cup.obj:12: vertex index = 99 (expected
/// 1 … 8)`. The text must outlive the scanner and the tokens.
class TextScanner {
public:
    static constexpr char kNoComment = '\0';

    /// `separator` is one more character that separates tokens as a blank does, such as a comma.
    TextScanner(std::string_view text, std::string name, char comment = '#', char separator = ' ');

    /// Moves to the next line, blank or not; false at the end of the text. Before the first call
    /// the scanner stands before line 1.
    bool advance_line();
    /// Moves to the next line that holds a token; false at the end of the text.
    bool next_line();
    /// The next token of this line; empty at its end.
    std::string_view token_on_line();
    /// True when no token is left on this line.
    [[nodiscard]] bool at_line_end() const noexcept;
    /// What is left of this line without blanks at both ends, and moves to the line's end.
    std::string_view rest_of_line();
    /// The next token on this line or a later one; false at the end of the text.
    bool next_token(std::string_view& token);
    /// The same; the end of the text is refused: `the file ends before <what>`.
    std::string_view token(std::string_view what);

    /// The next token, on this line or a later one, as a finite number, or as an integer in lo …
    /// hi.
    double real(std::string_view what);
    std::int64_t integer(std::string_view what, std::int64_t lo, std::int64_t hi);
    /// The next token as a number of items to follow, each of at least `min_bytes_each` bytes; more
    /// than `most` or than the rest of the text could hold is refused, so that the caller can
    /// reserve memory.
    int count(std::string_view what, std::size_t min_bytes_each, std::int64_t most = kMaxMeshItems);
    /// The same for a token (or part of one) that was already taken.
    [[nodiscard]] double to_real(std::string_view token, std::string_view what) const;
    [[nodiscard]] std::int64_t to_integer(std::string_view token, std::string_view what,
                                          std::int64_t lo, std::int64_t hi) const;
    [[nodiscard]] int to_count(std::string_view token, std::string_view what,
                               std::size_t min_bytes_each, std::int64_t most = kMaxMeshItems) const;

    /// Throws InputError at the current line; unprintable or long values are shortened.
    [[noreturn]] void fail(std::string_view field, std::string_view value,
                           std::string_view expected) const;
    [[noreturn]] void fail(std::string_view sentence) const;

    [[nodiscard]] std::int64_t line() const noexcept { return line_; }
    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    /// First byte after the current line and its end mark: where binary data behind it starts.
    [[nodiscard]] std::size_t offset() const noexcept { return next_line_; }
    /// Continues at `offset`, on a new line; for text behind a block of binary data. Line numbers
    /// count the end marks of text lines only.
    void seek(std::size_t offset) noexcept;

private:
    [[nodiscard]] bool is_blank(char c) const noexcept;
    [[nodiscard]] std::string place() const;  // `cup.obj:12`

    std::string_view text_;
    std::string name_;
    char comment_, separator_;
    std::int64_t line_ = 0;
    std::size_t cursor_ = 0;     // next character of the current line
    std::size_t line_end_ = 0;   // end of the current line, or start of its comment
    std::size_t next_line_ = 0;  // start of the next line
};

/// A value from a file as it may appear in a message: unprintable bytes as '?', at most 40 of them.
[[nodiscard]] std::string printable(std::string_view value);

}  // namespace pliant
