#include "field/deformed_field_data.h"
#include "field/domain_cutting.h"
#include "field/proxy_kernels.h"
#include "pliant/core/error.h"
#include "pliant/field/build_field.h"
#include "pliant/reduction/material_points.h"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

/// Along each axis, to find how far a solid reaches from its proxies.
constexpr int kReachSamples = 32;
/// On that: the nearest proxies of a shape are not those of rest.
constexpr double kReachFactor = 1.25;

/// Neighbours disagree by several cells in strong bends, and beyond the band of a sparse grid
/// margins are loose, eq. (14).
constexpr double kLeastBand = 16;
/// Up to here a dense grid is small.
constexpr int kDenseResolution = 64;

FieldBuildOptions rest_options(FieldBuildOptions build) {
    if (build.resolution <= kDenseResolution) build.storage = GridStorage::Dense;
    build.band_cells = std::max(build.band_cells, kLeastBand);
    return build;
}

void check_band(const FieldDomain& domain, const std::string& name) {
    const GridArrays& arrays = domain.rest.arrays();
    if (arrays.storage == GridStorage::Dense) return;
    const double cell = domain.rest.frame().cell;
    // a band is cut where the box ends
    const double least = std::min(kLeastBand * cell, double{arrays.boundary});
    if (double{arrays.margin.band} >= 0.999 * least) return;
    throw InputError("", name,
                     "sparse with a band of " +
                         std::to_string(static_cast<int>(double{arrays.margin.band} / cell)) +
                         " cells",
                     "a dense grid, or band_cells = 16");
}

/// The domains' proxies in a row, and how all of them move.
void add_proxies(DeformedFieldModel::Data& data, const ReducedModel& model,
                 const std::vector<FieldDomain>& domains) {
    for (const FieldDomain& domain : domains) {
        data.domains.push_back(
            {domain.rest, data.num_proxies(), static_cast<int>(domain.proxies.size())});
        data.rest.insert(data.rest.end(), domain.proxies.begin(), domain.proxies.end());
    }
    const MaterialPoints points = material_points(model, data.rest, true);
    for (std::size_t i = 0; i < data.rest.size(); ++i) {
        DeformedFieldModel::Data::Motion motion(12, model.rank());
        motion.topRows<3>() = points.U(static_cast<int>(i));
        motion.bottomRows<9>() = points.F(static_cast<int>(i));
        data.motion.push_back(std::move(motion));
    }
}

/// Boxes of the surface's points that have a proxy among their nearest ones at rest.
void add_served_boxes(DeformedFieldModel::Data& data, const SurfaceMesh& surface) {
    std::vector<Vector3d> points = area_samples(surface, 4000);
    points.insert(points.end(), surface.vertices.begin(), surface.vertices.end());
    data.served.assign(data.rest.size(), Box());
    for (std::size_t i = 0; i < data.rest.size(); ++i) data.served[i].extend(data.rest[i]);
    for (const auto& domain : data.domains) {
        const double reach = 2 * domain.rest.frame().cell;
        for (const Vector3d& x : points) {
            if (domain.rest.distance(x) > reach) continue;
            for (const int i : nearest_points(data.rest, domain.first_proxy,
                                              domain.first_proxy + domain.num_proxies, x,
                                              data.options.num_neighbours))
                data.served[static_cast<std::size_t>(i)].extend(x);
        }
    }
}

/// Largest shift for a unit of each coordinate: of the mesh, and of what the proxies carry along.
void add_travel(DeformedFieldModel::Data& data, const ReducedModel& model) {
    data.travel = Eigen::VectorXd::Zero(model.rank());
    const auto U = model.basis();
    for (int j = 0; j < model.rank(); ++j) {
        double largest = 0;
        for (Eigen::Index row = 0; row < U.rows(); row += 3)
            largest = std::max(largest, U.col(j).segment<3>(row).norm());
        for (std::size_t i = 0; i < data.rest.size(); ++i) {
            const Box& box = data.served[i];
            const double reach =
                (box.max() - data.rest[i]).cwiseMax(data.rest[i] - box.min()).norm();
            const auto column = data.motion[i].col(j);
            const Matrix3d F = Eigen::Map<const Matrix3d>(column.data() + 3);
            largest = std::max(largest, column.head<3>().norm() + norm_bound(F) * reach);
        }
        data.travel[j] = largest;
    }
}

/// How far at rest the points of a domain's solid are from the proxies that answer for them, and
/// from the nearest one, with some room for others in other shapes.
void find_reach(const DeformedFieldModel::Data& data, DeformedFieldModel::Data::Domain& part) {
    const GridFrame& frame = part.rest.frame();
    const int stride =
        std::max(1, *std::max_element(frame.cells.begin(), frame.cells.end()) / kReachSamples);
    const auto last = data.rest.begin() + part.first_proxy + part.num_proxies;
    double reach = 0, cover = 0;
    std::vector<double> squares;
    for (int k = 0; k <= frame.cells[2]; k += stride)
        for (int j = 0; j <= frame.cells[1]; j += stride)
            for (int i = 0; i <= frame.cells[0]; i += stride) {
                const Vector3d x = frame.vertex(i, j, k);
                const double value = part.rest.distance(x);
                if (value > stride * frame.cell) continue;
                squares.clear();
                for (auto P = data.rest.begin() + part.first_proxy; P != last; ++P)
                    squares.push_back((*P - x).squaredNorm());
                const auto farthest = squares.begin() + (data.options.num_neighbours - 2);
                std::nth_element(squares.begin(), farthest, squares.end());
                reach = std::max(reach, *farthest);
                const double nearest = std::sqrt(*std::min_element(squares.begin(), farthest + 1));
                // with depths as they are
                cover = std::max(
                    {cover, kReachFactor * nearest, nearest - value / double{kCoverSteepness}});
            }
    part.reach = kReachFactor * std::sqrt(reach);
    part.cover = cover;
}

}  // namespace

double norm_bound(const Matrix3d& A) noexcept {
    Matrix3d C = A.transpose() * A;
    const double mean = C.trace() / 3;
    C.diagonal().array() -= mean;
    return std::sqrt(mean + std::sqrt(2.0 / 3.0) * C.norm());
}

std::vector<int> nearest_points(const std::vector<Vector3d>& points, int begin, int end,
                                const Vector3d& x, int count) {
    std::vector<std::pair<double, int>> order;
    for (int i = begin; i < end; ++i)
        order.emplace_back((points[static_cast<std::size_t>(i)] - x).squaredNorm(), i);
    const auto kept = std::min(order.size(), static_cast<std::size_t>(count));
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept),
                      order.end());
    std::vector<int> nearest;
    for (std::size_t i = 0; i < kept; ++i) nearest.push_back(order[i].second);
    return nearest;
}

void DeformedFieldModel::Data::complete() {
    for (Domain& domain : domains) find_reach(*this, domain);
    for (const Motion& m : motion) modes.emplace_back(m.topRows<3>());
    for (const Domain& domain : domains)
        for (int i = 0; i < domain.num_proxies; ++i) {
            const int proxy = domain.first_proxy + i;
            for (const int other :
                 nearest_points(rest, domain.first_proxy, domain.first_proxy + domain.num_proxies,
                                rest[static_cast<std::size_t>(proxy)], options.num_neighbours))
                if (other != proxy) pairs.push_back({proxy, other});
        }
}

void DeformedFieldModel::Data::check_options(const std::string& name) const {
    const auto require = [&](bool is_valid, const char* field, int value, const char* expected) {
        if (!is_valid) throw InputError(name, field, std::to_string(value), expected);
    };
    const int k = options.num_neighbours;
    require(k >= kMinNeighbours && k <= kMaxNeighbours, "num_neighbours", k, "3 … 8");
    require(options.num_proxies >= k && options.num_proxies <= 10000, "num_proxies",
            options.num_proxies, "at least num_neighbours and at most 10000");
    require(options.num_domains >= 0 && options.num_domains <= 64, "num_domains",
            options.num_domains, "0 (found from the mesh) … 64");
}

void DeformedFieldModel::Data::check(const std::string& name) const {
    if (domains.empty()) throw InputError(name, "domains", "none", "one or more");
    for (std::size_t d = 0; d < domains.size(); ++d)
        if (domains[d].num_proxies < options.num_neighbours)
            throw InputError(name, "domains[" + std::to_string(d) + "].proxies",
                             std::to_string(domains[d].num_proxies),
                             "at least num_neighbours = " + std::to_string(options.num_neighbours));
    for (std::size_t i = 0; i < rest.size(); ++i)
        if (!rest[i].allFinite() || !motion[i].allFinite())
            throw InputError(name, "proxies[" + std::to_string(i) + "]", "not finite",
                             "finite positions and motions");
}

DeformedFieldModel DeformedFieldModel::of_domains(const ReducedModel& model,
                                                  const std::vector<FieldDomain>& domains,
                                                  const DeformedFieldOptions& options) {
    const auto data = std::make_shared<Data>();
    data->rank = model.rank();
    data->options = options;
    data->check_options("");
    for (std::size_t d = 0; d < domains.size(); ++d)
        check_band(domains[d], "domains[" + std::to_string(d) + "].rest");
    const SurfaceMesh surface = model.surface();
    data->surface_hash = content_hash(surface);
    add_proxies(*data, model, domains);
    data->check("");
    data->complete();
    add_served_boxes(*data, surface);
    add_travel(*data, model);
    DeformedFieldModel result;
    result.data_ = data;
    return result;
}

DeformedFieldModel::DeformedFieldModel(const ReducedModel& model, const FieldBuildOptions& wanted,
                                       const DeformedFieldOptions& options, Progress& progress) {
    const FieldBuildOptions build = rest_options(wanted);
    Data unfinished;
    unfinished.options = options;
    unfinished.check_options("");
    const SurfaceMesh surface = model.surface();
    const DistanceGrid body = build_field(surface, build, progress);
    const int max_domains = options.num_domains == 0 ? 8 : options.num_domains;
    std::vector<FieldDomain> domains;
    if (max_domains > 1) {
        const std::vector<int> domain_of = find_domains(surface, max_domains);
        const double band =
            build.storage == GridStorage::Sparse ? build.band_cells * body.frame().cell : 0;
        domains = cut_into_domains(body, surface, domain_of, options, band, progress);
    } else {
        const auto candidates = area_samples(surface, 50 * options.num_proxies);
        domains.push_back({body, farthest_points(candidates, options.num_proxies)});
    }
    *this = of_domains(model, domains, options);
}

int DeformedFieldModel::rank() const noexcept { return data_->rank; }
int DeformedFieldModel::num_domains() const noexcept {
    return static_cast<int>(data_->domains.size());
}
int DeformedFieldModel::num_proxies() const noexcept { return data_->num_proxies(); }
const DeformedFieldOptions& DeformedFieldModel::options() const noexcept { return data_->options; }

}  // namespace pliant
