#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>

#include <cstdint>
#include <vector>

namespace pliant {

/// Where points of a shell stuck to the other body, by number of the point; docs/contact.md section
/// "Friction". Each update builds the next set from those points of the present one that are still
/// in contact: the others are dropped without being looked for. Sized once; the order of calls
/// decides, nothing else.
class FrictionAnchors {
public:
    explicit FrictionAnchors(int capacity);

    [[nodiscard]] int capacity() const noexcept { return capacity_; }
    [[nodiscard]] int size() const noexcept { return present_.size; }

    /// Begins the next set.
    void begin() noexcept;
    /// Anchor of a point in the present set, or null.
    [[nodiscard]] const Eigen::Vector3d* find(int point) const noexcept;
    /// Puts an anchor into the next set; false when that is full.
    bool keep(int point, const Eigen::Vector3d& anchor) noexcept;
    /// The next set becomes the present one.
    void end() noexcept;
    /// Drops all.
    void clear() noexcept;

private:
    struct Slot {
        std::uint64_t set = 0;  ///< which set the slot belongs to; older ones are free
        int point = 0;
        Eigen::Vector3d anchor = Eigen::Vector3d::Zero();
    };
    struct Set {
        std::vector<Slot> slots;  ///< open addressing, at most half full
        std::uint64_t number = 0;
        int size = 0;
    };
    [[nodiscard]] std::size_t first_place(int point) const noexcept;

    int capacity_;
    int shift_;                   ///< of the hash
    std::uint64_t num_sets_ = 1;  ///< counts sets begun; slots never written have 0
    Set present_, next_;
};

/// Law of one anchored contact, docs/contact.md eq. (17), as far as geometry goes: multiply by
/// k_t = κ k_s.
struct AnchoredSlip {
    Eigen::Vector3d e;     ///< unit, along the slip, perpendicular to the normal
    Eigen::Vector3d side;  ///< n × e
    double stretch = 0;    ///< of the tangential spring [m]; the force is −k_t stretch e
    double along = 0;      ///< tangential stiffness over k_t along e: 1, or 0 when sliding
    double across = 0;     ///< and along `side`
    bool is_sliding = false;
};
/// `offset` = p − anchor, `normal` unit, `limit` = μ |d| / κ: the largest stretch [m].
[[nodiscard]] AnchoredSlip anchored_slip(const Eigen::Vector3d& offset,
                                         const Eigen::Vector3d& normal, double limit) noexcept;

}  // namespace pliant
