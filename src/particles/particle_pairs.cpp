#include "particles/particle_pairs.h"

#include "core/numbers.h"

#include <algorithm>

namespace pliant {
namespace {

/// Bounding spheres are enlarged by this: passes move particles after the search.
constexpr float kPairMargin = 1.1f;

Eigen::Map<const Eigen::Vector3f> place_of(const MatchParticle& particle) {
    return Eigen::Map<const Eigen::Vector3f>(particle.x);
}

}  // namespace

ParticlePairs::ParticlePairs(std::vector<int> object, std::vector<float> radius, int capacity)
    : object_(std::move(object)), radius_(std::move(radius)), pairs_(at(capacity)) {
    const int num_objects = object_.empty() ? 0 : *std::ranges::max_element(object_) + 1;
    boxes_.resize(at(num_objects));
    candidates_.reserve(object_.size());
}

bool ParticlePairs::find(std::span<const MatchParticle> particles) noexcept {
    size_ = 0;
    if (boxes_.size() < 2) return true;
    for (auto& box : boxes_) box.setEmpty();
    for (std::size_t i = 0; i < particles.size(); ++i) {
        const Eigen::Vector3f reach = Eigen::Vector3f::Constant(kPairMargin * radius_[i]);
        boxes_[at(object_[i])].extend(place_of(particles[i]) - reach);
        boxes_[at(object_[i])].extend(place_of(particles[i]) + reach);
    }
    // only what is in the box of another object counts
    candidates_.clear();
    for (std::size_t i = 0; i < particles.size(); ++i) {
        const float r = kPairMargin * radius_[i];
        const Eigen::Vector3f x = place_of(particles[i]);
        bool is_near = false;
        for (std::size_t b = 0; b < boxes_.size() && !is_near; ++b)
            is_near = b != at(object_[i]) && boxes_[b].squaredExteriorDistance(x) <= r * r;
        // what is no number has no place in an order; the step is rejected later
        if (is_near && x.allFinite())
            candidates_.push_back({x.x() - r, x.x() + r, static_cast<int>(i)});
    }
    std::ranges::sort(candidates_, [](const Candidate& a, const Candidate& b) {
        return a.low != b.low ? a.low < b.low : a.particle < b.particle;
    });
    bool fits = true;
    for (std::size_t a = 0; a < candidates_.size() && fits; ++a) {
        const int i = candidates_[a].particle;
        for (std::size_t b = a + 1;
             b < candidates_.size() && candidates_[b].low <= candidates_[a].high; ++b) {
            const int j = candidates_[b].particle;
            if (object_[at(i)] == object_[at(j)]) continue;
            const float r = kPairMargin * (radius_[at(i)] + radius_[at(j)]);
            if ((place_of(particles[at(i)]) - place_of(particles[at(j)])).squaredNorm() > r * r)
                continue;
            if (size_ == pairs_.size()) {
                fits = false;
                break;
            }
            pairs_[size_++] = {std::min(i, j), std::max(i, j)};
        }
    }
    std::sort(pairs_.begin(), pairs_.begin() + static_cast<std::ptrdiff_t>(size_),
              [](const Pair& a, const Pair& b) {
                  return a.first != b.first ? a.first < b.first : a.second < b.second;
              });
    return fits;
}

}  // namespace pliant
