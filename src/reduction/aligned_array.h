#pragma once

#include <cstddef>
#include <vector>

namespace pliant {

/// An array that begins at a cache line, filled with zeros.
template <class T>
class AlignedArray {
public:
    explicit AlignedArray(std::size_t size) : lines_((size * sizeof(T) + 63) / 64) {}
    [[nodiscard]] T* data() noexcept { return lines_.data()->values; }
    [[nodiscard]] const T* data() const noexcept { return lines_.data()->values; }

private:
    struct alignas(64) Line {
        T values[64 / sizeof(T)] = {};
    };
    std::vector<Line> lines_;
};

}  // namespace pliant
