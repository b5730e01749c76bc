#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "pliant/greens/capacitance_inverse.h"
#include "pliant/greens/update_costs.h"

namespace pliant {

struct CapacitanceCacheOptions {
    std::size_t max_bytes = std::size_t{256} << 20;
    int nursery = 8;         ///< the most recent entries, which are not evicted
    std::uint64_t seed = 1;  ///< of the choice of what is evicted
    /// Touches all memory at construction. Otherwise an idle cache costs address space only, but
    /// the system makes its pages in the steps that first use them, some 0.3 ms for each MB.
    bool is_touched = false;
};

/// Inverses of earlier lists of conditions, to start from when contact recurs. Memory is taken at
/// construction, in pages; entries are thrown out at random, the same ones in every run.
class CapacitanceCache {
public:
    /// The entry from which a list is reached at the least predicted cost.
    struct Match {
        int entry = -1;              ///< −1: the cache is empty
        int added = 0, removed = 0;  ///< conditions; both zero: the list itself
        double seconds = 0;          ///< predicted
    };

    /// For functions of `num_nodes` nodes and lists up to `max_dofs`. Throws InputError when not
    /// even one such inverse fits.
    CapacitanceCache(int num_nodes, int max_dofs, const CapacitanceCacheOptions& options = {});

    /// Keeps a copy; a list that is there already is only made recent.
    void insert(const CapacitanceInverse& inverse) noexcept;
    /// Compares symmetric differences, first by bits, then exactly. `dofs` is sorted.
    [[nodiscard]] Match nearest(std::span<const ChangedDof> dofs,
                                const UpdateCosts& costs) noexcept;
    /// Copies an entry into `inverse`, which must have room for it, and makes it recent.
    void fetch(int entry, CapacitanceInverse& inverse) noexcept;
    /// As after construction, memory that was touched included.
    void clear() noexcept;

    [[nodiscard]] int num_entries() const noexcept { return num_entries_; }
    [[nodiscard]] int max_entries() const noexcept { return static_cast<int>(entries_.size()); }
    [[nodiscard]] std::size_t num_bytes() const noexcept;  ///< of the entries' pages
    [[nodiscard]] std::int64_t num_evictions() const noexcept { return num_evictions_; }

private:
    using ListedDof = CapacitanceInverse::ListedDof;
    struct Entry {
        int size = -1;  // −1: empty place
        int first_page = -1;
        int num_updates = 0;
        double condition = 1;
        std::int64_t last_use = 0;
    };
    template <class Move>
    void walk_pages(int first_page, int size, Move&& move) noexcept;
    [[nodiscard]] std::span<const ListedDof> key(int entry) const noexcept;
    [[nodiscard]] std::span<std::uint64_t> bits(int entry) noexcept;  // last: of the query
    [[nodiscard]] std::size_t bit_of(const ChangedDof& dof) const noexcept;
    [[nodiscard]] int num_common(std::span<const ChangedDof> dofs, int entry) const noexcept;
    template <class Dofs>
    void mark(const Dofs& dofs, int entry) noexcept;
    void evict_one() noexcept;

    int num_nodes_, max_dofs_;
    CapacitanceCacheOptions options_;
    std::vector<Entry> entries_;
    std::vector<ListedDof> keys_;
    std::size_t words_;
    std::vector<std::uint64_t> bits_;
    std::vector<double> bounds_;  // of an entry, on the seconds from it to the query
    std::unique_ptr<float[]> pages_;
    std::vector<int> next_page_;
    int free_page_ = -1, num_free_pages_ = 0;
    std::vector<std::int64_t> recent_;
    int num_entries_ = 0;
    std::int64_t clock_ = 0, num_evictions_ = 0;
    std::uint64_t random_ = 1;
};

}  // namespace pliant
