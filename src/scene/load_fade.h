#pragma once

#include <Eigen/Core>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace pliant {

/// Takes what is shown over from one set of loads to the next without a jump,
/// docs/greens-constraints.md eq. (H12), by superposition. Allocates at construction alone.
class LoadFade {
public:
    /// Over so many steps; 1: at once.
    LoadFade(int steps, std::size_t max_loads) : steps_(steps) {
        for (auto* ids : {&last_ids_, &ids_}) ids->reserve(kSets * max_loads);
        for (auto* values : {&last_, &offsets_, &part_}) values->reserve(kSets * max_loads);
        sums_.reserve(kSets * max_loads);
    }

    /// Loads of this step, and whether they are of another kind than those before. Afterwards ids()
    /// and values() are to be added to them; an id may be there twice.
    void follow(std::span<const int> ids, std::span<const Eigen::Vector3d> values,
                bool has_jumped) noexcept {
        if (has_jumped) {
            // all that was shown, less what is now; too much to keep track of: a jump
            const bool fits = last_ids_.size() + ids.size() <= sums_.capacity();
            left_ = fits ? steps_ : 0;
            if (fits) set_offsets(ids, values);
        }
        if (left_ > 0) --left_;
        if (left_ == 0) {
            ids_.clear();
            offsets_.clear();
        }
        part_.clear();
        for (const Eigen::Vector3d& offset : offsets_)
            part_.push_back(static_cast<double>(left_) / steps_ * offset);
        last_ids_.assign(ids.begin(), ids.end());
        last_.assign(values.begin(), values.end());
        if (last_ids_.size() + ids_.size() > last_ids_.capacity()) return;
        last_ids_.insert(last_ids_.end(), ids_.begin(), ids_.end());
        last_.insert(last_.end(), part_.begin(), part_.end());
    }
    void reset() noexcept {
        left_ = 0;
        for (auto* ids : {&last_ids_, &ids_}) ids->clear();
        for (auto* values : {&last_, &offsets_, &part_}) values->clear();
    }
    [[nodiscard]] std::span<const int> ids() const noexcept { return ids_; }
    [[nodiscard]] std::span<const Eigen::Vector3d> values() const noexcept { return part_; }

private:
    /// Each id once, so that fades that begin anew in every step do not pile up.
    void set_offsets(std::span<const int> ids, std::span<const Eigen::Vector3d> values) noexcept {
        sums_.clear();
        for (std::size_t k = 0; k < last_ids_.size(); ++k)
            sums_.emplace_back(last_ids_[k], last_[k]);
        for (std::size_t k = 0; k < ids.size(); ++k) sums_.emplace_back(ids[k], -values[k]);
        std::sort(sums_.begin(), sums_.end(),
                  [](const auto& a, const auto& b) { return a.first < b.first; });
        ids_.clear();
        offsets_.clear();
        for (const auto& [id, value] : sums_) {
            if (ids_.empty() || ids_.back() != id) {
                ids_.push_back(id);
                offsets_.push_back(value);
            } else {
                offsets_.back() += value;
            }
        }
    }

    static constexpr std::size_t kSets = 4;  // that may be on their way together
    int steps_, left_ = 0;
    std::vector<int> last_ids_, ids_;
    std::vector<Eigen::Vector3d> last_, offsets_, part_;
    std::vector<std::pair<int, Eigen::Vector3d>> sums_;
};

}  // namespace pliant
