#include "pliant/field/deformed_field.h"

#include "field/deformed_field_data.h"
#include "field/proxy_kernels.h"

#include <Eigen/LU>
#include <algorithm>
#include <cassert>
#include <cmath>

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

/// Of F⁻¹: beyond it a proxy counts as collapsed.
constexpr double kLargestInverse = 1e3;
/// Weight of the disagreement of neighbours in eq. (14); the second where proxies were skipped and
/// farther ones stand in.
constexpr double kDisagreementFactor = 1, kGapFactor = 8;
/// Farther points are asked about here [m]: single precision squares them.
constexpr float kFarthest = 1e12f;
constexpr int kMaxPlaces = kMaxProxyPoints * kMaxLookUps;

/// Where a proxy is in the present shape.
struct ProxyPose {
    Vector3d p = Vector3d::Zero();
    Matrix3d F = Matrix3d::Identity(), inverse = Matrix3d::Identity();
    bool is_valid = true;
    [[nodiscard]] Vector3d pull_back(const Vector3d& rest, const Vector3d& x) const {
        return rest + inverse * (x - p);
    }
};

/// Points of one chunk, cleaned.
struct Chunk {
    int count = 0;
    alignas(64) float x[kMaxProxyPoints], y[kMaxProxyPoints], z[kMaxProxyPoints];
    bool is_finite[kMaxProxyPoints];
    bool are_finite = true;  ///< all of them

    void load(const PointBatch& points, int begin) noexcept {
        count = std::min(points.count - begin, kMaxProxyPoints);
        are_finite = true;
        for (int i = 0; i < count; ++i) {
            const float a = points.x[begin + i], b = points.y[begin + i], c = points.z[begin + i];
            is_finite[i] = std::isfinite(a) && std::isfinite(b) && std::isfinite(c);
            are_finite = are_finite && is_finite[i];
            x[i] = is_finite[i] ? std::clamp(a, -kFarthest, kFarthest) : 0;
            y[i] = is_finite[i] ? std::clamp(b, -kFarthest, kFarthest) : 0;
            z[i] = is_finite[i] ? std::clamp(c, -kFarthest, kFarthest) : 0;
        }
    }
};

/// Places of one chunk in the rest field of a domain, and its values there.
struct Places {
    alignas(64) float x[kMaxPlaces], y[kMaxPlaces], z[kMaxPlaces];
    alignas(64) float weight[kMaxPlaces], outside[kMaxPlaces], value[kMaxPlaces];
    alignas(64) int proxy[kMaxPlaces];
    alignas(64) float nearest[kMaxProxyPoints];
    [[nodiscard]] ProxyPlaces rows() noexcept { return {x, y, z, weight, outside, proxy, nearest}; }
};

}  // namespace

struct DeformedField::Impl {
    struct Domain {
        std::vector<float> rows;   // of the table
        std::vector<int> proxies;  // of the model, as the table counts them
        ProxyTable table{};
    };

    std::shared_ptr<const DeformedFieldModel::Data> data;
    std::vector<ProxyPose> poses, next_poses;
    std::vector<Domain> domains;
    std::vector<float> positions;  ///< p of all proxies, three rows
    Box bounds;
    CullingMargin margin;
    double resolution = 0;
    int num_skipped = 0;

    explicit Impl(std::shared_ptr<const DeformedFieldModel::Data> model_data);
    bool find_poses(const Eigen::Ref<const Eigen::VectorXd>& q) noexcept;
    void make_table(std::size_t d) noexcept;
    void list_positions() noexcept;
    [[nodiscard]] int position_stride() const noexcept {
        return padded_proxies(data->num_proxies());
    }
    void find_bounds() noexcept;
    void find_margin() noexcept;
    /// Where domain d looks up n points, and the rest values there.
    void ask_domain(std::size_t d, const float* x, const float* y, const float* z, int n,
                    Places& found) const noexcept;
    void evaluate(const float* x, const float* y, const float* z, int n,
                  float* distance) const noexcept;
};

DeformedField::Impl::Impl(std::shared_ptr<const DeformedFieldModel::Data> model_data)
    : data(std::move(model_data)), poses(data->rest.size()), next_poses(data->rest.size()) {
    positions.resize(3 * static_cast<std::size_t>(position_stride()));
    for (const auto& part : data->domains) {
        Domain domain;
        domain.rows.resize(static_cast<std::size_t>(ProxyTable::kRows) *
                           static_cast<std::size_t>(padded_proxies(part.num_proxies)));
        domain.proxies.resize(static_cast<std::size_t>(part.num_proxies));
        // differences of push-forward stay in the box
        const GridFrame& frame = part.rest.frame();
        const double inset = (data->options.pushes_forward ? 0.5 + 1e-4 : 1e-4) * frame.cell;
        const Box box = frame.box();
        for (int axis = 0; axis < 3; ++axis) {
            domain.table.low[axis] = static_cast<float>(box.min()[axis] + inset);
            domain.table.high[axis] = static_cast<float>(box.max()[axis] - inset);
        }
        domain.table.boundary = part.rest.arrays().boundary;
        domain.table.reach = static_cast<float>(part.reach);
        resolution = std::max(resolution, frame.cell);
        domains.push_back(std::move(domain));
    }
}

/// Eq. (10). False, and nothing changed, where the shape is not finite.
bool DeformedField::Impl::find_poses(const Eigen::Ref<const Eigen::VectorXd>& q) noexcept {
    for (std::size_t i = 0; i < poses.size(); ++i) {
        Eigen::Matrix<double, 12, 1> shift = Eigen::Matrix<double, 12, 1>::Zero();
        for (Eigen::Index j = 0; j < q.size(); ++j) shift += data->motion[i].col(j) * q[j];
        if (!shift.allFinite() || shift.cwiseAbs().maxCoeff() > double{kFarthest}) return false;
        ProxyPose& pose = next_poses[i];
        pose.p = data->rest[i] + shift.head<3>();
        pose.F = Matrix3d::Identity() + Eigen::Map<const Matrix3d>(shift.data() + 3);
        double determinant = 0;
        bool has_inverse = false;
        pose.F.computeInverseAndDetWithCheck(pose.inverse, determinant, has_inverse);
        pose.is_valid = has_inverse && determinant > 0 && pose.inverse.allFinite() &&
                        pose.inverse.cwiseAbs().maxCoeff() < kLargestInverse;
    }
    poses.swap(next_poses);
    // a domain with too few proxies left follows them without turning
    num_skipped = 0;
    for (const auto& part : data->domains) {
        const auto begin = poses.begin() + part.first_proxy, end = begin + part.num_proxies;
        const auto num_valid =
            std::count_if(begin, end, [](const ProxyPose& pose) { return pose.is_valid; });
        num_skipped += part.num_proxies - static_cast<int>(num_valid);
        if (num_valid >= kMinNeighbours) continue;
        for (auto pose = begin; pose != end; ++pose) {
            pose->F = pose->inverse = Matrix3d::Identity();
            pose->is_valid = true;
        }
    }
    return true;
}

void DeformedField::Impl::make_table(std::size_t d) noexcept {
    const auto& part = data->domains[d];
    Domain& domain = domains[d];
    float* rows = domain.rows.data();
    const int stride = padded_proxies(part.num_proxies);
    int count = 0;
    double stretch = 1;
    for (int k = 0; k < part.num_proxies; ++k) {
        const auto i = static_cast<std::size_t>(part.first_proxy + k);
        const ProxyPose& pose = poses[i];
        if (!pose.is_valid) continue;
        const Vector3d a = pose.pull_back(data->rest[i], Vector3d::Zero());
        for (int axis = 0; axis < 3; ++axis) {
            rows[axis * stride + count] = static_cast<float>(pose.p[axis]);
            rows[(3 + axis) * stride + count] = static_cast<float>(a[axis]);
            for (int c = 0; c < 3; ++c)
                rows[(6 + 3 * axis + c) * stride + count] =
                    static_cast<float>(pose.inverse(axis, c));
            rows[(15 + axis) * stride + count] = static_cast<float>(data->rest[i][axis]);
        }
        domain.proxies[static_cast<std::size_t>(count)] = static_cast<int>(i);
        stretch = std::max(stretch, norm_bound(pose.F));
        ++count;
    }
    // what a skipped proxy served may be far from the others
    domain.table.cover = count == part.num_proxies ? static_cast<float>(part.cover * stretch)
                                                   : std::numeric_limits<float>::infinity();
    domain.table.rows = rows;
    domain.table.stride = stride;
    domain.table.count = count;
    domain.table.num_neighbours = std::min(data->options.num_neighbours, count);
}

void DeformedField::Impl::list_positions() noexcept {
    const auto stride = static_cast<std::size_t>(position_stride());
    for (std::size_t i = 0; i < poses.size(); ++i)
        for (std::size_t axis = 0; axis < 3; ++axis)
            positions[axis * stride + i] =
                static_cast<float>(poses[i].p[static_cast<Eigen::Index>(axis)]);
}

/// The images of what each proxy serves.
void DeformedField::Impl::find_bounds() noexcept {
    bounds.setEmpty();
    for (std::size_t i = 0; i < poses.size(); ++i) {
        const ProxyPose& pose = poses[i];
        if (!pose.is_valid) continue;
        const Box& served = data->served[i];
        const Vector3d centre = pose.p + pose.F * (served.center() - data->rest[i]);
        const Vector3d half = pose.F.cwiseAbs() * (0.5 * served.sizes());
        bounds.extend(centre - half);
        bounds.extend(centre + half);
    }
    const Vector3d pad = Vector3d::Constant(2 * resolution);
    bounds = Box(bounds.min() - pad, bounds.max() + pad);
}

/// Eq. (14).
void DeformedField::Impl::find_margin() noexcept {
    double inverse = 0, forward = 0;
    for (const ProxyPose& pose : poses) {
        if (!pose.is_valid) continue;
        inverse = std::max(inverse, norm_bound(pose.inverse));
        if (data->options.pushes_forward) forward = std::max(forward, norm_bound(pose.F));
    }
    // how differently neighbours see each other
    double largest_gap = 0, largest_ratio = 0;
    for (const auto& [i, j] : data->pairs) {
        const auto a = static_cast<std::size_t>(i), b = static_cast<std::size_t>(j);
        if (!poses[a].is_valid) continue;
        const double gap = (poses[a].pull_back(data->rest[a], poses[b].p) - data->rest[b]).norm();
        const double distance = (poses[b].p - poses[a].p).norm();
        largest_gap = std::max(largest_gap, gap);
        // proxies that fell together say nothing about the ratio
        if (distance > 1e-6 * resolution) largest_ratio = std::max(largest_ratio, gap / distance);
    }
    double near = 0, far = 0, band = std::numeric_limits<double>::infinity();
    for (const auto& part : data->domains) {
        const CullingMargin rest = part.rest.margin();
        near = std::max(near, double{rest.near});
        far = std::max(far, double{rest.far});
        band = std::min(band, double{rest.band});
    }
    const double factor_of_ratio = num_skipped == 0 ? kDisagreementFactor : kGapFactor;
    double stretch = std::max(1.0, inverse + factor_of_ratio * largest_ratio);
    if (data->options.pushes_forward) {
        const double factor = std::max(1.0, forward);
        stretch *= factor;
        near *= factor;
        far *= factor;
    }
    margin.near = static_cast<float>(near);
    margin.far = static_cast<float>(far);
    margin.band = static_cast<float>(std::max(0.0, band - largest_gap));
    margin.stretch = static_cast<float>(std::min(stretch, 1e30));
}

void DeformedField::Impl::ask_domain(std::size_t d, const float* x, const float* y, const float* z,
                                     int n, Places& found) const noexcept {
    const ProxyTable& table = domains[d].table;
    const DistanceGrid& rest = data->domains[d].rest;
    find_places(table, x, y, z, n, found.rows());
    const int count = n * (table.num_neighbours - 1);
    rest.distances({found.x, found.y, found.z, count}, found.value);
    if (!data->options.pushes_forward) return;
    // the rest gradient from the corners of a tetrahedron: continuous, unlike a cell's own
    static constexpr int kSigns[4][3] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
    alignas(64) float corner[4][kMaxPlaces], cx[kMaxPlaces], cy[kMaxPlaces], cz[kMaxPlaces];
    const auto half = static_cast<float>(0.5 * rest.frame().cell);
    for (int c = 0; c < 4; ++c) {
        for (int i = 0; i < count; ++i) {
            cx[i] = found.x[i] + half * static_cast<float>(kSigns[c][0]);
            cy[i] = found.y[i] + half * static_cast<float>(kSigns[c][1]);
            cz[i] = found.z[i] + half * static_cast<float>(kSigns[c][2]);
        }
        rest.distances({cx, cy, cz, count}, corner[c]);
    }
    const float* const corners[4] = {corner[0], corner[1], corner[2], corner[3]};
    stretch_weights(table, count, corners, half, found.proxy, found.weight);
}

void DeformedField::Impl::evaluate(const float* x, const float* y, const float* z, int n,
                                   float* distance) const noexcept {
    std::fill_n(distance, n, std::numeric_limits<float>::infinity());
    Places found;
    for (std::size_t d = 0; d < domains.size(); ++d) {
        ask_domain(d, x, y, z, n, found);
        blend_places(domains[d].table, n, found.value, found.rows(), distance);
    }
}

DeformedField::DeformedField(const DeformedFieldModel& model)
    : impl_(std::make_unique<Impl>(model.data_)) {
    update(Eigen::VectorXd::Zero(model.rank()));
}
DeformedField::~DeformedField() = default;

bool DeformedField::update(const Eigen::Ref<const Eigen::VectorXd>& q) noexcept {
    assert(q.size() == rank());
    if (!q.allFinite() || !impl_->find_poses(q)) return false;
    for (std::size_t d = 0; d < impl_->domains.size(); ++d) impl_->make_table(d);
    impl_->list_positions();
    impl_->find_bounds();
    impl_->find_margin();
    return true;
}

double DeformedField::travel(const Eigen::Ref<const Eigen::VectorXd>& q_change) const noexcept {
    assert(q_change.size() == rank());
    const double sum = impl_->data->travel.dot(q_change.cwiseAbs());
    return std::isfinite(sum) ? sum * (1 + 1e-6) : std::numeric_limits<double>::infinity();
}

void DeformedField::distances(const PointBatch& points, float* distance) const noexcept {
    Chunk chunk;
    for (int begin = 0; begin < points.count; begin += kMaxProxyPoints) {
        chunk.load(points, begin);
        impl_->evaluate(chunk.x, chunk.y, chunk.z, chunk.count, distance + begin);
        if (chunk.are_finite) continue;
        for (int i = 0; i < chunk.count; ++i)
            if (!chunk.is_finite[i]) distance[begin + i] = std::numeric_limits<float>::infinity();
    }
}

void DeformedField::samples(const PointBatch& points, const SampleBatch& samples) const noexcept {
    distances(points, samples.distance);
    const auto step = static_cast<float>(0.25 * impl_->resolution);
    float* const gradients[3] = {samples.gx, samples.gy, samples.gz};
    Chunk chunk;
    for (int begin = 0; begin < points.count; begin += kMaxProxyPoints) {
        chunk.load(points, begin);
        float* const coordinates[3] = {chunk.x, chunk.y, chunk.z};
        for (int axis = 0; axis < 3; ++axis) {
            float centre[kMaxProxyPoints], low[kMaxProxyPoints], high[kMaxProxyPoints];
            float below[kMaxProxyPoints], above[kMaxProxyPoints];
            float* c = coordinates[axis];
            for (int i = 0; i < chunk.count; ++i) {
                centre[i] = c[i];
                low[i] = c[i] - step;
                high[i] = c[i] + step;
            }
            std::copy_n(low, chunk.count, c);
            impl_->evaluate(chunk.x, chunk.y, chunk.z, chunk.count, below);
            std::copy_n(high, chunk.count, c);
            impl_->evaluate(chunk.x, chunk.y, chunk.z, chunk.count, above);
            std::copy_n(centre, chunk.count, c);
            // far out the step may be lost in rounding
            for (int i = 0; i < chunk.count; ++i) {
                const float width = high[i] - low[i];
                gradients[axis][begin + i] =
                    chunk.is_finite[i] && width > 0 ? (above[i] - below[i]) / width : 0.0f;
            }
        }
    }
}

const Box& DeformedField::bounds() const noexcept { return impl_->bounds; }
CullingMargin DeformedField::margin() const noexcept { return impl_->margin; }
double DeformedField::resolution() const noexcept { return impl_->resolution; }
DeformedFieldModel DeformedField::model() const noexcept {
    DeformedFieldModel model;
    model.data_ = impl_->data;
    return model;
}
int DeformedField::rank() const noexcept { return impl_->data->rank; }
int DeformedField::num_skipped() const noexcept { return impl_->num_skipped; }

void DeformedField::nearest_proxies(const PointBatch& points, int* proxy) const noexcept {
    Chunk chunk;
    for (int begin = 0; begin < points.count; begin += kMaxProxyPoints) {
        chunk.load(points, begin);
        find_nearest_proxies(impl_->positions.data(), impl_->position_stride(),
                             impl_->data->num_proxies(), chunk.x, chunk.y, chunk.z, chunk.count,
                             proxy + begin);
        for (int i = 0; i < chunk.count && !chunk.are_finite; ++i)
            if (!chunk.is_finite[i]) proxy[begin + i] = 0;
    }
}

int DeformedField::nearest_proxy(const Vector3d& x) const noexcept {
    const Eigen::Vector3f at = x.cast<float>();
    int proxy = 0;
    nearest_proxies({&at.x(), &at.y(), &at.z(), 1}, &proxy);
    return proxy;
}

void DeformedField::add_load(int proxy, const Vector3d& force, double* f) const noexcept {
    const auto& U = impl_->data->modes[static_cast<std::size_t>(proxy)];
    for (int j = 0; j < rank(); ++j) f[j] += U.col(j).dot(force);
}

int DeformedField::num_domains() const noexcept { return static_cast<int>(impl_->domains.size()); }

void DeformedField::domain_distances(int domain, const PointBatch& points, const RestBalls& balls,
                                     float* distance) const noexcept {
    const auto d = static_cast<std::size_t>(domain);
    Chunk chunk;
    Places found;
    for (int begin = 0; begin < points.count; begin += kMaxProxyPoints) {
        chunk.load(points, begin);
        impl_->ask_domain(d, chunk.x, chunk.y, chunk.z, chunk.count, found);
        blend_outside_balls(
            impl_->domains[d].table, chunk.count, found.value, found.rows(),
            {balls.x + begin, balls.y + begin, balls.z + begin, balls.radius + begin},
            distance + begin);
        for (int i = 0; i < chunk.count && !chunk.are_finite; ++i)
            if (!chunk.is_finite[i]) distance[begin + i] = std::numeric_limits<float>::infinity();
    }
}

void DeformedField::domain_modes(int domain, const PointBatch& points, float* modes,
                                 int stride) const noexcept {
    assert(stride >= 4 * rank());
    const Impl& m = *impl_;
    const Impl::Domain& part = m.domains[static_cast<std::size_t>(domain)];
    Chunk chunk;
    Places found;
    for (int begin = 0; begin < points.count; begin += kMaxProxyPoints) {
        chunk.load(points, begin);
        const int n = chunk.count;
        find_places(part.table, chunk.x, chunk.y, chunk.z, n, found.rows());
        for (int i = 0; i < n; ++i) {
            float* row =
                modes + static_cast<std::size_t>(begin + i) * static_cast<std::size_t>(stride);
            std::fill_n(row, stride, 0.0f);
            for (int k = 0; k < part.table.num_neighbours - 1; ++k) {
                const int place = k * n + i;
                const auto proxy = static_cast<std::size_t>(
                    part.proxies[static_cast<std::size_t>(found.proxy[place])]);
                // the neighbourhood moves with its proxy: U + F_j (X − P)
                const Eigen::Vector3f arm =
                    Eigen::Vector3f(found.x[place], found.y[place], found.z[place]) -
                    m.data->rest[proxy].cast<float>();
                const auto& motion = m.data->motion[proxy];
                for (int j = 0; j < rank(); ++j) {
                    const Eigen::Matrix<float, 12, 1> column = motion.col(j).cast<float>();
                    Eigen::Map<Eigen::Vector3f>(row + 4 * j) +=
                        found.weight[place] *
                        (column.head<3>() + arm.x() * column.segment<3>(3) +
                         arm.y() * column.segment<3>(6) + arm.z() * column.segment<3>(9));
                }
            }
        }
    }
}

const double* DeformedField::proxy_modes(int proxy) const noexcept {
    return impl_->data->modes[static_cast<std::size_t>(proxy)].data();
}

}  // namespace pliant
