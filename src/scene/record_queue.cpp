#include "pliant/scene/record_queue.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace pliant {
namespace {

/// Stands before the bytes of each record.
struct RecordHead {
    std::uint64_t tick;
    std::uint32_t size;  // of the bytes
    std::uint32_t kind;
};
static_assert(sizeof(RecordHead) == 16);

}  // namespace

RecordQueue::RecordQueue(std::size_t capacity_bytes)
    : bytes_(std::bit_ceil(std::max(capacity_bytes, std::size_t{64}))), mask_(bytes_.size() - 1) {}

void RecordQueue::put(std::size_t at, std::span<const std::byte> bytes) noexcept {
    if (bytes.empty()) return;
    const std::size_t begin = at & mask_;
    const std::size_t first = std::min(bytes.size(), bytes_.size() - begin);
    std::memcpy(bytes_.data() + begin, bytes.data(), first);
    if (first < bytes.size())
        std::memcpy(bytes_.data(), bytes.data() + first, bytes.size() - first);
}

void RecordQueue::get(std::size_t at, std::span<std::byte> bytes) const noexcept {
    if (bytes.empty()) return;
    const std::size_t begin = at & mask_;
    const std::size_t first = std::min(bytes.size(), bytes_.size() - begin);
    std::memcpy(bytes.data(), bytes_.data() + begin, first);
    if (first < bytes.size())
        std::memcpy(bytes.data() + first, bytes_.data(), bytes.size() - first);
}

bool RecordQueue::push(RecordKind kind, std::uint64_t tick, std::span<const std::byte> a,
                       std::span<const std::byte> b) noexcept {
    // both counters only grow (and wrap), so that their difference is what is in use
    const std::size_t tail = tail_.load(std::memory_order_relaxed);
    const std::size_t used = tail - head_.load(std::memory_order_acquire);
    const std::size_t room = bytes_.size() - used;
    const bool fits = room >= sizeof(RecordHead) && a.size() <= room - sizeof(RecordHead) &&
                      b.size() <= room - sizeof(RecordHead) - a.size() &&
                      a.size() + b.size() <= UINT32_MAX;
    if (!fits) {
        lost_.store(lost_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        return false;
    }

    const RecordHead head{tick, static_cast<std::uint32_t>(a.size() + b.size()),
                          static_cast<std::uint32_t>(kind)};
    put(tail, std::as_bytes(std::span(&head, 1)));
    put(tail + sizeof head, a);
    put(tail + sizeof head + a.size(), b);
    tail_.store(tail + sizeof head + head.size, std::memory_order_release);
    return true;
}

bool RecordQueue::pop(RecordKind& kind, std::uint64_t& tick, std::vector<std::byte>& bytes) {
    const std::size_t at = head_.load(std::memory_order_relaxed);
    if (at == tail_.load(std::memory_order_acquire)) return false;
    RecordHead head;
    get(at, std::as_writable_bytes(std::span(&head, 1)));
    kind = static_cast<RecordKind>(head.kind);
    tick = head.tick;
    bytes.resize(head.size);
    get(at + sizeof head, bytes);
    head_.store(at + sizeof head + head.size, std::memory_order_release);
    return true;
}

}  // namespace pliant
