#pragma once

#include "pliant/haptics/haptic_tool.h"

#include <cstddef>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

namespace pliant {

struct HapticRecord;

/// Ticks of a tool in a hand, one after the other, kept about as small as in their file (a
/// HapticTick has about 500 bytes, what differs from the tick before often less than 20) and
/// decoded by pieces when they are asked for. Several threads may read, each with a reader or
/// iterators of its own.
class HapticTicks {
public:
    /// Any tick by its place; the piece around the last one is kept, so that neighbours cost
    /// little.
    class Reader {
    public:
        explicit Reader(const HapticTicks& ticks) : ticks_(&ticks) {}
        /// Until the next call. `i` below size().
        [[nodiscard]] const HapticTick& operator[](std::size_t i);

    private:
        const HapticTicks* ticks_;
        std::size_t first_ = 0;
        std::vector<HapticTick> near_;
    };

    /// From tick to tick. What it refers to is there until the next step of it or of its copies.
    class Iterator {
    public:
        using iterator_category = std::input_iterator_tag;
        using value_type = HapticTick;
        using difference_type = std::ptrdiff_t;
        using pointer = const HapticTick*;
        using reference = const HapticTick&;

        Iterator(const HapticTicks& ticks, std::size_t place)
            : reader_(std::make_shared<Reader>(ticks)), place_(place) {}
        [[nodiscard]] reference operator*() const { return (*reader_)[place_]; }
        [[nodiscard]] pointer operator->() const { return &**this; }
        Iterator& operator++() {
            ++place_;
            return *this;
        }
        Iterator operator++(int) {
            Iterator before = *this;
            ++place_;
            return before;
        }
        [[nodiscard]] bool operator==(const Iterator& other) const {
            return place_ == other.place_;
        }

    private:
        std::shared_ptr<Reader> reader_;
        std::size_t place_;
    };

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    /// Decodes a piece for one tick: for many use a Reader.
    [[nodiscard]] HapticTick operator[](std::size_t i) const { return Reader(*this)[i]; }
    [[nodiscard]] HapticTick front() const { return (*this)[0]; }
    [[nodiscard]] HapticTick back() const { return (*this)[size_ - 1]; }
    [[nodiscard]] Iterator begin() const { return {*this, 0}; }
    [[nodiscard]] Iterator end() const { return {*this, size_}; }
    /// Of memory, used and kept ready.
    [[nodiscard]] std::size_t num_bytes() const noexcept;

    /// For who reads files: one with statuses that exist.
    void add(const HapticRecord& record);

private:
    std::string code_;
    std::vector<std::size_t> pieces_;  ///< where each of them begins
    std::shared_ptr<HapticRecord> last_;
    std::size_t size_ = 0;
};

}  // namespace pliant
