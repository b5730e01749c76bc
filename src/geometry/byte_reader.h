#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace pliant {

/// Bounds-checked reads of binary data in either byte order. Running out of bytes is refused with
/// `cup.ply: the file ends at byte 120 inside vertex 7 (expected 84 more bytes)`.
/// The bytes must outlive the reader.
class ByteReader {
public:
    ByteReader(std::string_view bytes, std::string name, std::endian order = std::endian::little,
               std::size_t offset = 0);

    /// Names what is read from now on: `vertex 7`, or `the header` without an index. `item` must
    /// outlive its use, as a literal does.
    void begin_item(std::string_view item, std::int64_t index = -1) noexcept {
        item_ = item;
        index_ = index;
    }

    /// A number of type T (any arithmetic type); real() refuses nan and inf.
    template <class T>
    [[nodiscard]] T read();
    template <class T>
    [[nodiscard]] double real(std::string_view what);
    void skip(std::uint64_t size);

    /// Throws unless `size` more bytes are there.
    void require(std::uint64_t size) const {
        if (size > remaining()) fail_at_end(size);
    }
    /// Throws unless `count` items of at least `min_bytes_each` fit in the rest of the file and in
    /// an `int`, so that the caller can reserve memory.
    void require_items(std::string_view what, std::uint64_t count,
                       std::uint64_t min_bytes_each) const;

    /// Throws InputError: `cup.ply: face 3, before byte 312: vertex index = 99 (expected 0 … 7)`.
    [[noreturn]] void fail(std::string_view field, std::string_view value,
                           std::string_view expected) const;

    [[nodiscard]] std::size_t offset() const noexcept { return offset_; }
    [[nodiscard]] std::size_t remaining() const noexcept { return bytes_.size() - offset_; }
    [[nodiscard]] const std::string& name() const noexcept { return name_; }

private:
    [[noreturn]] void fail_not_finite(double value, std::string_view what) const;
    [[noreturn]] void fail_at_end(std::uint64_t size) const;
    [[nodiscard]] std::string item() const;

    std::string_view bytes_;
    std::string name_;
    bool swap_;
    std::size_t offset_;
    std::string_view item_ = "the header";
    std::int64_t index_ = -1;
};

template <class T>
T ByteReader::read() {
    require(sizeof(T));
    std::array<char, sizeof(T)> raw;
    std::copy_n(bytes_.data() + offset_, sizeof(T), raw.data());
    offset_ += sizeof(T);
    if (swap_) std::reverse(raw.begin(), raw.end());
    return std::bit_cast<T>(raw);
}

template <class T>
double ByteReader::real(std::string_view what) {
    const auto value = static_cast<double>(read<T>());
    if (!std::isfinite(value)) fail_not_finite(value, what);
    return value;
}

}  // namespace pliant
