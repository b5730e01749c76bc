#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>

namespace pliant {

/// Numbers one after the other without padding, little-endian.
class BinaryWriter {
    static_assert(std::endian::native == std::endian::little, "numbers are copied as they are");

public:
    explicit BinaryWriter(std::size_t expected_bytes) { bytes_.reserve(expected_bytes); }

    void u32(std::uint32_t number) { put(&number, sizeof number); }
    void f32(float number) { put(&number, sizeof number); }
    void f64(double number) { put(&number, sizeof number); }
    void floats(std::span<const float> numbers) { put(numbers.data(), numbers.size_bytes()); }
    void shorts(std::span<const std::int16_t> numbers) {
        put(numbers.data(), numbers.size_bytes());
    }
    [[nodiscard]] std::shared_ptr<const std::string> take() {
        return std::make_shared<const std::string>(std::move(bytes_));
    }

private:
    void put(const void* data, std::size_t size) {
        bytes_.append(static_cast<const char*>(data), size);
    }
    std::string bytes_;
};

}  // namespace pliant
