#include "pliant/geometry/tet_mesh.h"

#include "core/numbers.h"
#include "geometry/fill_check.h"
#include "geometry/option_check.h"
#include "geometry/tagged_bisection.h"
#include "pliant/core/parallel.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pliant {
namespace {

// Every point of a tet is nearer than this times the longest edge to one of its corners, in all
// three shapes.
constexpr double kReach = 0.5;
constexpr int kMaxGradedResolution = 512;
constexpr double kMaxFirstTets = 2e7;  // before any is bisected: some gigabytes

/// Bisects until `is_too_large(tet)` holds for no leaf. Calls `prepare(first_point)` whenever there
/// are new points from that one on; tests run in parallel.
template <class Prepare, class IsTooLarge>
void refine(TaggedBisection& forest, Prepare&& prepare, IsTooLarge&& is_too_large,
            Progress& progress) {
    std::size_t num_tested = 0, num_prepared = 0;
    while (num_tested < forest.tets().size()) {
        prepare(num_prepared);
        num_prepared = forest.points().size();
        const std::size_t first = num_tested;
        num_tested = forest.tets().size();
        std::vector<char> marked(num_tested - first, 0);
        parallel_for(marked.size(), 1024, [&](std::size_t n) {
            marked[n] = forest.is_leaf(first + n) && is_too_large(first + n);
        });
        for (std::size_t n = 0; n < marked.size(); ++n) {
            if (n % 1024 == 0) progress.advance(0);
            if (marked[n]) forest.bisect(static_cast<int>(first + n));
        }
        progress.advance();
    }
}

/// Fraction of a tet where the linear function with these corner values is negative.
double negative_fraction(std::array<double, 4> f) {
    std::sort(f.begin(), f.end());
    // how far from a corner with value a the zero lies on the way to one with value b
    const auto cut = [](double a, double b) { return a / (a - b); };
    if (f[0] >= 0) return 0;
    if (f[3] < 0) return 1;
    if (f[1] >= 0) return cut(f[0], f[1]) * cut(f[0], f[2]) * cut(f[0], f[3]);
    if (f[2] < 0) return 1 - cut(f[3], f[0]) * cut(f[3], f[1]) * cut(f[3], f[2]);
    // two corners inside: the prism as three tets
    const double c02 = cut(f[0], f[2]), c03 = cut(f[0], f[3]);
    const double c12 = cut(f[1], f[2]), c13 = cut(f[1], f[3]);
    return c02 * c03 * (1 - c13) + c02 * c13 * (1 - c12) + c12 * c13;
}

/// Corners and edge middles of a tet (the middle of edge a–b is kMiddle[a][b]), and the eight tets
/// of half the size between them, all of the same volume.
constexpr int kMiddle[4][4] = {{0, 4, 5, 6}, {4, 1, 7, 8}, {5, 7, 2, 9}, {6, 8, 9, 3}};
constexpr int kParts[8][4] = {{0, 4, 5, 6}, {4, 1, 7, 8}, {5, 7, 2, 9}, {6, 8, 9, 3},
                              {4, 9, 5, 6}, {4, 9, 6, 8}, {4, 9, 8, 7}, {4, 9, 7, 5}};

/// The lattice of a graded mesh and the signed distance at the points of its forest.
class SurfaceGrading {
public:
    SurfaceGrading(const SurfaceQuery& surface, const GradedTetOptions& options)
        : surface_(surface), options_(options), forest_({1, 1, 1}, 1) {
        const Box box = box_of_triangles(surface.mesh());
        cell_ = box.sizes().maxCoeff() / options.resolution;
        const int side = 1 << options.max_levels;
        std::array<int, 3> cubes{};
        for (int axis = 0; axis < 3; ++axis) {
            const double wanted = box.sizes()[axis] / (cell_ * side);
            cubes[at(axis)] = std::max(1, static_cast<int>(std::ceil(wanted - 1e-9)));
            origin_[axis] = box.center()[axis] - 0.5 * cell_ * side * cubes[at(axis)];
        }
        const double num_first = 6.0 * cubes[0] * cubes[1] * cubes[2];
        if (num_first > kMaxFirstTets)
            throw InputError("", "the lattice would begin with " +
                                     std::to_string(std::llround(num_first / 1e6)) +
                                     " million tetrahedra; add levels or lower the resolution");
        forest_ = TaggedBisection(cubes, side);
        if (surface.is_inside(box.min().array() - cell_)) throw InputError("", kEndlessInside);
    }

    VolumeMesh build(Progress& progress) {
        progress.stage("bisection", at(3 * options_.max_levels + 1));
        refine(
            forest_, [&](std::size_t first) { measure_points(first, progress); },
            [&](std::size_t tet) { return is_too_large(tet); }, progress);

        const std::vector<int> leaves = forest_.leaves();
        measure_middles(leaves, progress);
        std::vector<double> filled(leaves.size());
        parallel_for(leaves.size(), 1024,
                     [&](std::size_t n) { filled[n] = filled_fraction(leaves[n]); });
        std::vector<int> kept;
        std::vector<double> kept_filled;
        for (std::size_t n = 0; n < leaves.size(); ++n)
            if (filled[n] > 0) {
                kept.push_back(leaves[n]);
                kept_filled.push_back(filled[n]);
            }
        if (kept.empty()) refuse_lost_body();
        VolumeMesh mesh = extract_mesh(forest_, kept, origin_, cell_);
        mesh.filled = std::move(kept_filled);
        return mesh;
    }

private:
    /// More cells may find a body with more volume than the smallest of them.
    [[noreturn]] void refuse_lost_body() const {
        const double smallest = cell_ * options_.resolution / kMaxGradedResolution;
        const bool can_be_found = options_.resolution < kMaxGradedResolution &&
                                  enclosed_volume(surface_.mesh()) > std::pow(smallest, 3);
        check_option(!can_be_found, "resolution", options_.resolution,
                     "more cells: the body is thinner than half a cell everywhere");
        throw InputError("", nothing_to_fill(kMaxGradedResolution));
    }
    [[nodiscard]] Eigen::Vector3d position(int point) const {
        const auto& p = forest_.points()[at(point)];
        return origin_ + cell_ * Eigen::Vector3d(p[0], p[1], p[2]);
    }
    void measure_points(std::size_t first, Progress& progress) {
        distance_.resize(forest_.points().size());
        parallel_ranges(distance_.size() - first, 512, [&](std::size_t begin, std::size_t end) {
            for (std::size_t n = first + begin; n < first + end; ++n)
                distance_[n] = surface_.signed_distance(position(static_cast<int>(n)));
            progress.advance(0);
        });
    }

    struct Range {
        double low, high;
    };
    /// Of the signed distance over the corners.
    [[nodiscard]] Range corner_range(std::size_t tet) const {
        Range range{std::numeric_limits<double>::infinity(),
                    -std::numeric_limits<double>::infinity()};
        for (const int point : forest_.tets()[tet].x) {
            range.low = std::min(range.low, distance_[at(point)]);
            range.high = std::max(range.high, distance_[at(point)]);
        }
        return range;
    }
    [[nodiscard]] double longest_edge(std::size_t tet) const {
        return cell_ * std::sqrt(static_cast<double>(forest_.squared_longest_edge(tet)));
    }
    [[nodiscard]] bool is_too_large(std::size_t tet) const {
        if (forest_.squared_longest_edge(tet) <= 3) return false;  // finest
        const double longest = longest_edge(tet), reach = kReach * longest;
        const Range range = corner_range(tet);
        if (range.low > reach) return false;       // outside
        const double depth = -range.high - reach;  // of the nearest point, or less
        return depth <= 0 || longest > options_.growth * depth;
    }
    /// +1: no point of the tet is inside; −1: all are; 0: the surface may pass through it.
    [[nodiscard]] int side(int tet) const {
        const double reach = kReach * longest_edge(at(tet));
        const Range range = corner_range(at(tet));
        return range.low > reach ? 1 : range.high < -reach ? -1 : 0;
    }
    /// The middle of an edge between two points, in half cells.
    [[nodiscard]] TaggedBisection::Point middle(int a, int b) const {
        const auto &p = forest_.points()[at(a)], &q = forest_.points()[at(b)];
        return {p[0] + q[0], p[1] + q[1], p[2] + q[2]};
    }
    /// Signed distance at the middles of all edges that the surface may cut, each once.
    void measure_middles(const std::vector<int>& leaves, Progress& progress) {
        for (const int tet : leaves) {
            if (side(tet) != 0) continue;
            const auto& x = forest_.tets()[at(tet)].x;
            for (std::size_t a = 0; a < 4; ++a)
                for (std::size_t b = 0; b < a; ++b) middles_.push_back(middle(x[a], x[b]));
        }
        std::sort(middles_.begin(), middles_.end());
        middles_.erase(std::unique(middles_.begin(), middles_.end()), middles_.end());
        middle_distance_.resize(middles_.size());
        progress.stage("filled fractions", middles_.size());
        parallel_ranges(middles_.size(), 512, [&](std::size_t begin, std::size_t end) {
            for (std::size_t n = begin; n < end; ++n) {
                const auto& m = middles_[n];
                middle_distance_[n] = surface_.signed_distance(
                    origin_ + 0.5 * cell_ * Eigen::Vector3d(m[0], m[1], m[2]));
            }
            progress.advance(end - begin);
        });
    }
    [[nodiscard]] double filled_fraction(int tet) const {
        if (const int which = side(tet); which != 0) return which > 0 ? 0 : 1;
        // linear interpolation over eight parts
        const auto& x = forest_.tets()[at(tet)].x;
        std::array<double, 10> value{};
        for (std::size_t a = 0; a < 4; ++a) {
            value[a] = distance_[at(x[a])];
            for (std::size_t b = 0; b < a; ++b) {
                const auto found =
                    std::lower_bound(middles_.begin(), middles_.end(), middle(x[a], x[b]));
                value[at(kMiddle[a][b])] =
                    middle_distance_[static_cast<std::size_t>(found - middles_.begin())];
            }
        }
        double sum = 0;
        for (const auto& part : kParts)
            sum += negative_fraction(
                {value[at(part[0])], value[at(part[1])], value[at(part[2])], value[at(part[3])]});
        return sum / 8;
    }

    const SurfaceQuery& surface_;
    GradedTetOptions options_;
    TaggedBisection forest_;
    Eigen::Vector3d origin_;
    double cell_ = 0;
    std::vector<double> distance_;                 // of the points of the forest
    std::vector<TaggedBisection::Point> middles_;  // ascending
    std::vector<double> middle_distance_;
};

}  // namespace

VolumeMesh build_graded_tets(const SurfaceQuery& surface, const GradedTetOptions& options,
                             Progress& progress) {
    check_option(options.resolution >= 2 && options.resolution <= kMaxGradedResolution,
                 "resolution", options.resolution, "2 to 512");
    check_option(options.max_levels >= 0 && options.max_levels <= 9, "max_levels",
                 options.max_levels, "0 to 9");
    check_option(options.growth >= 0 && std::isfinite(options.growth), "growth", options.growth,
                 "0 or more");
    require_fillable_outwards(surface);
    return SurfaceGrading(surface, options).build(progress);
}

VolumeMesh graded_tet_box(int n, int coarsest, double growth, double side) {
    check_option(coarsest >= 1, "coarsest", coarsest, "1 or more");
    check_option(growth >= 0 && std::isfinite(growth), "growth", growth, "0 or more");
    check_option(side > 0 && std::isfinite(side), "side", side, "a positive length");
    int cube_side = 1;
    while (coarsest * cube_side < n && cube_side <= 512) cube_side *= 2;
    check_option(coarsest * cube_side == n, "n", n, "a power of two times `coarsest`");

    TaggedBisection forest({coarsest, coarsest, coarsest}, cube_side);
    const auto is_too_large = [&](std::size_t tet) {
        // the depth is concave in the box: its smallest value sits at a corner
        int depth = n;
        for (const int point : forest.tets()[tet].x)
            for (const int p : forest.points()[at(point)]) depth = std::min({depth, p, n - p});
        const double longest = std::sqrt(static_cast<double>(forest.squared_longest_edge(tet)));
        return longest > std::max(std::sqrt(3.0), growth * depth);
    };
    refine(
        forest, [](std::size_t) {}, is_too_large, Progress::none());
    return extract_mesh(forest, forest.leaves(), Eigen::Vector3d::Zero(), side / n);
}

}  // namespace pliant
