#include "pliant/greens/capacitance_cache.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <functional>
#include <string>

#include "core/numbers.h"
#include "greens/column_kernels.h"
#include "pliant/core/error.h"
#include "pliant/core/hash.h"

namespace pliant {
namespace {

constexpr std::size_t kPageFloats = 4096;
constexpr int kMaxCacheEntries = 1024;

/// C and its inverse.
std::size_t pages_for(int size) noexcept {
    return (2 * at(size) * at(size) + kPageFloats - 1) / kPageFloats;
}

const ChangedDof& dof_of(const ChangedDof& dof) noexcept { return dof; }
const ChangedDof& dof_of(const CapacitanceInverse::ListedDof& listed) noexcept {
    return listed.dof;
}

}  // namespace

CapacitanceCache::CapacitanceCache(int num_nodes, int max_dofs,
                                   const CapacitanceCacheOptions& options)
    : num_nodes_(num_nodes), max_dofs_(max_dofs), options_(options) {
    if (options.nursery < 1)
        throw InputError("", "cache.nursery", std::to_string(options.nursery), "value >= 1");
    words_ = (3 * at(num_nodes) + 63) / 64;
    const std::size_t key_bytes = at(max_dofs) * sizeof(ListedDof) + words_ * 8;
    const int num_entries = static_cast<int>(
        std::clamp(options.max_bytes / 8 / key_bytes, std::size_t{1}, at(kMaxCacheEntries)));
    const std::size_t keys = at(num_entries) * key_bytes,
                      num_pages = keys < options.max_bytes
                                      ? (options.max_bytes - keys) / (kPageFloats * sizeof(float))
                                      : 0;
    if (num_pages < pages_for(max_dofs))
        throw InputError(
            "", "cache.max_bytes", std::to_string(options.max_bytes),
            "room for one inverse, " +
                std::to_string(keys + pages_for(max_dofs) * kPageFloats * sizeof(float)) +
                " bytes or more");
    entries_.resize(at(num_entries));
    keys_.resize(at(num_entries) * at(max_dofs));
    bits_.resize(at(num_entries + 1) * words_);
    pages_.reset(new float[num_pages * kPageFloats]);
    if (options.is_touched) std::fill_n(pages_.get(), num_pages * kPageFloats, 0.0f);
    next_page_.resize(num_pages);
    recent_.resize(at(options.nursery));
    bounds_.resize(at(num_entries));
    clear();
}

void CapacitanceCache::clear() noexcept {
    std::fill(entries_.begin(), entries_.end(), Entry{});
    for (std::size_t page = 0; page < next_page_.size(); ++page)
        next_page_[page] = static_cast<int>(page) + 1;
    next_page_.back() = -1;
    free_page_ = 0;
    num_free_pages_ = static_cast<int>(next_page_.size());
    num_entries_ = 0;
    clock_ = num_evictions_ = 0;
    random_ = options_.seed | 1;
}

/// Three bits for each node: one for each axis; other directions share them, and so do functions of
/// all levels at a vertex, so that differences of bits are never more than those of lists.
std::size_t CapacitanceCache::bit_of(const ChangedDof& dof) const noexcept {
    const std::size_t first = 3 * at(dof.node % num_nodes_);
    for (std::size_t axis = 0; axis < 3; ++axis)
        if (dof.direction[static_cast<Eigen::Index>(axis)] == 1) return first + axis;
    return first + hash_bytes(dof.direction.data(), 3 * sizeof(double)) % 3;
}

std::size_t CapacitanceCache::num_bytes() const noexcept {
    return (next_page_.size() - at(num_free_pages_)) * kPageFloats * sizeof(float);
}

std::span<const CapacitanceCache::ListedDof> CapacitanceCache::key(int entry) const noexcept {
    return {keys_.data() + at(entry) * at(max_dofs_), at(entries_[at(entry)].size)};
}

std::span<std::uint64_t> CapacitanceCache::bits(int entry) noexcept {
    return {bits_.data() + at(entry) * words_, words_};
}

template <class Dofs>
void CapacitanceCache::mark(const Dofs& dofs, int entry) noexcept {
    const auto words = bits(entry);
    std::fill(words.begin(), words.end(), 0);
    for (const auto& item : dofs) {
        const std::size_t bit = bit_of(dof_of(item));
        words[bit / 64] |= std::uint64_t{1} << bit % 64;
    }
}

/// Calls move(page values, matrix, column, first row, count) for all pieces of C (0) and C⁻¹ (1).
template <class Move>
void CapacitanceCache::walk_pages(int first_page, int size, Move&& move) noexcept {
    int page = first_page;
    std::size_t used = 0;
    for (int matrix = 0; matrix < 2; ++matrix)
        for (int column = 0; column < size; ++column)
            for (std::size_t row = 0; row < at(size);) {
                if (used == kPageFloats) {
                    page = next_page_[at(page)];
                    used = 0;
                }
                const std::size_t count = std::min(kPageFloats - used, at(size) - row);
                move(pages_.get() + at(page) * kPageFloats + used, matrix, column, row, count);
                row += count;
                used += count;
            }
}

/// Throws out one entry: at random among those that are not recent, otherwise the oldest.
void CapacitanceCache::evict_one() noexcept {
    std::fill(recent_.begin(), recent_.end(), std::int64_t{-1});
    for (const Entry& entry : entries_)
        if (entry.size >= 0 && entry.last_use > recent_.back()) {
            recent_.back() = entry.last_use;
            std::sort(recent_.begin(), recent_.end(), std::greater<>());
        }
    const auto is_old = [&](const Entry& entry) {
        return entry.size >= 0 && entry.last_use < recent_.back();
    };
    const auto num_old = std::count_if(entries_.begin(), entries_.end(), is_old);
    Entry* chosen = nullptr;
    if (num_old > 0) {
        random_ ^= random_ << 13;
        random_ ^= random_ >> 7;
        random_ ^= random_ << 17;
        auto skip = static_cast<std::int64_t>(random_ % static_cast<std::uint64_t>(num_old));
        for (Entry& entry : entries_)
            if (is_old(entry) && skip-- == 0) chosen = &entry;
    } else {
        for (Entry& entry : entries_)
            if (entry.size >= 0 && (!chosen || entry.last_use < chosen->last_use)) chosen = &entry;
    }
    if (!chosen) return;
    for (int page = chosen->first_page; page >= 0;) {
        const int next = next_page_[at(page)];
        next_page_[at(page)] = free_page_;
        free_page_ = page;
        ++num_free_pages_;
        page = next;
    }
    *chosen = {};
    --num_entries_;
    ++num_evictions_;
}

void CapacitanceCache::insert(const CapacitanceInverse& inverse) noexcept {
    assert(inverse.size() <= max_dofs_);
    const auto list = inverse.list();
    for (int e = 0; e < max_entries(); ++e)
        if (entries_[at(e)].size == inverse.size() &&
            std::equal(list.begin(), list.end(), key(e).begin(),
                       [](const auto& a, const auto& b) { return a.dof == b.dof; })) {
            entries_[at(e)].last_use = ++clock_;
            return;
        }
    const int num_pages = static_cast<int>(pages_for(inverse.size()));
    while (num_entries_ == max_entries() || num_free_pages_ < num_pages) evict_one();

    const auto place = std::find_if(entries_.begin(), entries_.end(),
                                    [](const Entry& entry) { return entry.size < 0; });
    const int e = static_cast<int>(place - entries_.begin());
    *place = {inverse.size(), num_pages > 0 ? free_page_ : -1, inverse.num_updates(),
              inverse.condition(), ++clock_};
    // cut the chain behind the last page of the entry
    int last = -1;
    for (int k = 0; k < num_pages; ++k) {
        last = free_page_;
        free_page_ = next_page_[at(free_page_)];
    }
    if (last >= 0) next_page_[at(last)] = -1;
    num_free_pages_ -= num_pages;
    ++num_entries_;

    std::copy(list.begin(), list.end(), keys_.begin() + e * std::ptrdiff_t{max_dofs_});
    mark(list, e);
    walk_pages(place->first_page, place->size,
               [&](float* to, int matrix, int column, std::size_t row, std::size_t count) {
                   const auto& lines = matrix == 0 ? inverse.C_ : inverse.X_;
                   std::copy_n(inverse.column(lines, column) + row, count, to);
               });
}

int CapacitanceCache::num_common(std::span<const ChangedDof> dofs, int entry) const noexcept {
    int common = 0;
    const auto list = key(entry);
    for (std::size_t a = 0, b = 0; a < dofs.size() && b < list.size();) {
        if (dofs[a] == list[b].dof) {
            ++common;
            ++a;
            ++b;
        } else if (dofs[a] < list[b].dof) {
            ++a;
        } else {
            ++b;
        }
    }
    return common;
}

CapacitanceCache::Match CapacitanceCache::nearest(std::span<const ChangedDof> dofs,
                                                  const UpdateCosts& costs) noexcept {
    const int query = max_entries(), wanted = static_cast<int>(dofs.size());
    mark(dofs, query);
    const auto asked = bits(query);
    const auto predict = [&](int added, int removed) {
        if (added == 0 && removed == 0) return 0.0;
        return costs.update(wanted / 3.0, added / 3.0, removed / 3.0);
    };
    // the least that the bits allow
    int first = -1;
    for (int e = 0; e < max_entries(); ++e) {
        const int size = entries_[at(e)].size;
        if (size < 0) continue;
        int difference = 0;
        const auto own = bits(e);
        for (std::size_t k = 0; k < words_; ++k) difference += std::popcount(own[k] ^ asked[k]);
        const int surplus = wanted - size;
        bounds_[at(e)] = predict(std::max(0, (difference + surplus) / 2),
                                 std::max(0, (difference - surplus) / 2));
        if (first < 0 || bounds_[at(e)] < bounds_[at(first)]) first = e;
    }
    // the lists themselves, the most promising one first: it rules out most of the others
    Match best{-1, 0, 0, kInfinity};
    const auto compare = [&](int e) {
        const int size = entries_[at(e)].size, common = num_common(dofs, e);
        const double seconds = predict(wanted - common, size - common);
        if (seconds < best.seconds) best = {e, wanted - common, size - common, seconds};
    };
    if (first < 0) return best;
    compare(first);
    for (int e = 0; e < max_entries(); ++e)
        if (e != first && entries_[at(e)].size >= 0 && bounds_[at(e)] < best.seconds) compare(e);
    return best;
}

void CapacitanceCache::fetch(int entry, CapacitanceInverse& inverse) noexcept {
    Entry& from = entries_[at(entry)];
    assert(from.size >= 0 && from.size <= inverse.max_size());
    from.last_use = ++clock_;
    inverse.size_ = from.size;
    inverse.num_updates_ = from.num_updates;
    inverse.condition_ = from.condition;
    const auto list = key(entry);
    inverse.list_.assign(list.begin(), list.end());
    for (const ListedDof& listed : list) inverse.dofs_[at(listed.slot)] = listed.dof;
    walk_pages(from.first_page, from.size,
               [&](const float* page, int matrix, int column, std::size_t row, std::size_t count) {
                   auto& lines = matrix == 0 ? inverse.C_ : inverse.X_;
                   std::copy_n(page, count, inverse.column(lines, column) + row);
               });
    // kernels run over the padding
    for (int j = 0; j < from.size; ++j)
        for (auto* lines : {&inverse.C_, &inverse.X_}) {
            float* const values = inverse.column(*lines, j);
            std::fill(values + from.size, values + padded_rows(from.size), 0.0f);
        }
}

}  // namespace pliant
