#include "geometry/byte_reader.h"

#include "geometry/text_scanner.h"
#include "pliant/core/error.h"

#include <utility>

namespace pliant {

ByteReader::ByteReader(std::string_view bytes, std::string name, std::endian order,
                       std::size_t offset)
    : bytes_(bytes),
      name_(std::move(name)),
      swap_(order != std::endian::native),
      offset_(std::min(offset, bytes.size())) {}

void ByteReader::skip(std::uint64_t size) {
    require(size);
    offset_ += static_cast<std::size_t>(size);
}

void ByteReader::require_items(std::string_view what, std::uint64_t count,
                               std::uint64_t min_bytes_each) const {
    const std::uint64_t room = min_bytes_each == 0 ? UINT64_MAX : remaining() / min_bytes_each;
    const auto most = std::min(room, static_cast<std::uint64_t>(kMaxMeshItems));
    if (count <= most) return;
    std::string expected = "at most " + std::to_string(most);
    if (count > room) {
        expected += ": the file has only " + std::to_string(remaining()) + " more bytes";
    }
    throw InputError(name_, std::string(what), std::to_string(count), expected);
}

void ByteReader::fail(std::string_view field, std::string_view value,
                      std::string_view expected) const {
    throw InputError(
        name_, item() + ", before byte " + std::to_string(offset_) + ": " + std::string(field),
        printable(value), std::string(expected));
}

void ByteReader::fail_not_finite(double value, std::string_view what) const {
    fail(what, std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf", "a finite number");
}

void ByteReader::fail_at_end(std::uint64_t size) const {
    throw InputError(name_,
                     "the file ends at byte " + std::to_string(bytes_.size()) + " inside " + item(),
                     "", std::to_string(size - remaining()) + " more bytes");
}

std::string ByteReader::item() const {
    std::string text(item_);
    if (index_ >= 0) text += " " + std::to_string(index_);
    return text;
}

}  // namespace pliant
