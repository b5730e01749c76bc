#pragma once

#include "pliant/contact/moving_surface.h"

namespace pliant {

/// The nearest point of a triangle of a neighbourhood at the end of the tick.
struct NearTriangle {
    int index = -1;  ///< in the patch
    double distance = 0;
    Eigen::Vector3d point = Eigen::Vector3d::Zero(), barycentric = Eigen::Vector3d::Zero();
};

/// Triangles of moving surfaces around one small sphere: gathered when asked for a place that the
/// last ones do not cover, so that answers are always about all triangles. One thread at a time;
/// nothing marked noexcept allocates.
class SurfaceNeighbourhood {
public:
    /// The surfaces must outlive it.
    explicit SurfaceNeighbourhood(std::vector<MovingSurface*> surfaces);

    [[nodiscard]] const std::vector<MovingSurface*>& surfaces() const noexcept { return surfaces_; }
    [[nodiscard]] MovingSurface& surface_of(int i) const noexcept {
        return *surfaces_[static_cast<std::size_t>(patch_.surface(i))];
    }
    [[nodiscard]] const TrianglePatch& patch() const noexcept { return patch_; }

    /// Triangles that come within `reach` of `p` during the tick.
    void gather_swept(const Eigen::Vector3d& p, double reach) noexcept;
    /// Makes sure that all triangles within `reach` of `p` at the end of the tick are there; where
    /// they are not, gathers `spare` more around it.
    void require(const Eigen::Vector3d& p, double reach, double spare) noexcept;
    /// After surfaces advanced.
    void forget() noexcept { radius_ = -1; }
    /// How far from `p` the patch is complete.
    [[nodiscard]] double covered(const Eigen::Vector3d& p) const noexcept {
        return radius_ - (p - centre_).norm();
    }

    /// Triangles of the patch that cross the plane of `p`, from front to back and near it.
    [[nodiscard]] std::span<const int> crossings(const Eigen::Vector3d& p, double radius) noexcept;
    /// Squared distances of all triangles of the patch to `p` at the end of the tick; kept until
    /// the next call. Not a number: degenerate, ask nearest().
    void measure(const Eigen::Vector3d& p) noexcept;
    [[nodiscard]] bool is_within(int i, double distance) const noexcept {
        return !(squares_[static_cast<std::size_t>(i)] > distance * distance * (1 + 1e-9));
    }
    /// Those within `distance` by what measure() found, nearest first. Valid until crossings(),
    /// within() or in_order() is called.
    [[nodiscard]] std::span<const int> within(double distance) noexcept;
    /// All of the patch in the order of surfaces and their triangles.
    [[nodiscard]] std::span<const int> in_order() noexcept;
    [[nodiscard]] NearTriangle nearest(int i, const Eigen::Vector3d& p) const noexcept;
    /// Least distance of any triangle of the patch; at most what is covered.
    [[nodiscard]] double clearance(const Eigen::Vector3d& p) noexcept;

    /// How far one can go from `from` along the unit vector `direction` until a front face is
    /// crossed, at most `length`; triangles for which `is_left_out(i)` do not count.
    template <class Predicate>
    [[nodiscard]] double free_length(const Eigen::Vector3d& from, const Eigen::Vector3d& direction,
                                     double length, const Predicate& is_left_out) noexcept {
        double least = length;
        for (const int i : in_way(from, direction, length))
            if (!is_left_out(i))
                least = std::min(least, crossing_length(i, from, direction, least));
        return least;
    }
    /// Triangles of the patch that may be crossed on such a way. Valid until reached() or in_way()
    /// is called.
    [[nodiscard]] std::span<const int> in_way(const Eigen::Vector3d& from,
                                              const Eigen::Vector3d& direction,
                                              double length) noexcept;
    /// Triangles of the patch that a sphere of radius `rho` may come to touch on its way from `p`
    /// to `to`. Valid as those of in_way().
    [[nodiscard]] std::span<const int> reached(const Eigen::Vector3d& p, const Eigen::Vector3d& to,
                                               double rho) noexcept;
    /// Of one triangle; `length` where it is not crossed.
    [[nodiscard]] double crossing_length(int i, const Eigen::Vector3d& from,
                                         const Eigen::Vector3d& direction,
                                         double length) const noexcept;
    /// Where a move of the centre from `from` to `to` may end without crossing a front face: at
    /// `to`, or half-way to the face, or not at all where that would be nearer than 1e-6 r to
    /// anything; docs/contact-moving.md eq. (8).
    [[nodiscard]] Eigen::Vector3d guarded_move(const Eigen::Vector3d& from,
                                               const Eigen::Vector3d& to, double radius) noexcept {
        return guarded_move(from, to, radius, [](int) { return false; });
    }
    /// Faces of triangles for which `is_left_out(i)` may be crossed.
    template <class Predicate>
    [[nodiscard]] Eigen::Vector3d guarded_move(const Eigen::Vector3d& from,
                                               const Eigen::Vector3d& to, double radius,
                                               const Predicate& is_left_out) noexcept {
        const double floor = 1e-6 * radius, length = (to - from).norm();
        if (!(length > 0)) return from;
        const Eigen::Vector3d direction = (to - from) / length;
        require(from, length + 2 * floor, radius);
        const double reach = length + floor;
        const double free = free_length(from, direction, reach, is_left_out);
        if (free >= reach) return to;
        const Eigen::Vector3d half_way = from + 0.5 * free * direction;
        require(half_way, 2 * floor, radius);
        return clearance(half_way) < floor ? from : half_way;
    }

    // Since the last reset_counters().
    [[nodiscard]] int num_gathers() const noexcept { return num_gathers_; }
    [[nodiscard]] int num_tested() const noexcept { return num_tested_; }  ///< triangles
    void reset_counters() noexcept { num_gathers_ = num_tested_ = 0; }

private:
    void gather(const Eigen::Vector3d& p, double radius, SurfaceMoment moment) noexcept;

    std::vector<MovingSurface*> surfaces_;
    TrianglePatch patch_;
    std::vector<double> squares_;
    std::vector<int> found_, ahead_;
    Eigen::Vector3d centre_ = Eigen::Vector3d::Zero();
    double radius_ = -1;
    Eigen::Vector3d measured_at_ = Eigen::Vector3d::Zero();
    bool is_measured_ = false;
    int num_gathers_ = 0, num_tested_ = 0;
};

}  // namespace pliant
