#pragma once

#include "pliant/field/deformed_field.h"

#include <cstdint>

namespace pliant {

struct DeformedFieldModel::Data {
    struct Domain {
        DistanceGrid rest;
        int first_proxy = 0, num_proxies = 0;
        double reach = 0;  ///< farther from it at rest, a proxy knows nothing of the solid [m]
        double cover = 0;  ///< no point of the solid at rest is farther from the nearest one [m]
    };
    /// Of one proxy: rows 0–2 are U, rows 3–11 are F by columns.
    using Motion = Eigen::Matrix<double, 12, Eigen::Dynamic>;

    int rank = 0;
    std::uint64_t surface_hash = 0;  ///< content_hash of the model's surface
    DeformedFieldOptions options;
    std::vector<Domain> domains;
    // of each proxy
    std::vector<Eigen::Vector3d> rest;  ///< P
    std::vector<Motion> motion;
    std::vector<Eigen::Matrix3Xd> modes;  ///< U again, without gaps
    std::vector<Box> served;              ///< rest points that have it among their nearest
    /// Proxies (i, j) of one domain, j among the nearest of i at rest.
    std::vector<std::array<int, 2>> pairs;
    Eigen::VectorXd travel;  ///< largest shift of a point for a unit of each coordinate

    [[nodiscard]] int num_proxies() const noexcept { return static_cast<int>(rest.size()); }
    /// modes, pairs, reaches and covers from the rest.
    void complete();
    /// Both throw InputError: for options out of range, for what does not fit together.
    void check_options(const std::string& name) const;
    void check(const std::string& name) const;
};

/// At least ‖A‖₂, exact where two singular values are equal: from the trace and the deviator of
/// AᵀA.
[[nodiscard]] double norm_bound(const Eigen::Matrix3d& A) noexcept;

/// The `count` points nearest to x of those from `begin` to `end`, nearest first; of equally near
/// ones the lower index. Fewer if there are not so many.
[[nodiscard]] std::vector<int> nearest_points(const std::vector<Eigen::Vector3d>& points, int begin,
                                              int end, const Eigen::Vector3d& x, int count);

}  // namespace pliant
