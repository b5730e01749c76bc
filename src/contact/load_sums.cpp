#include "contact/load_sums.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace pliant {

using Eigen::Matrix3d;
using Eigen::Vector3d;

namespace {

void store_rows(const Matrix3d& m, float* out) {
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) out[3 * i + j] = static_cast<float>(m(i, j));
}

Matrix6d symmetric(const double* upper) {
    Matrix6d m;
    for (int i = 0; i < 6; ++i)
        for (int j = i; j < 6; ++j) m(i, j) = m(j, i) = *upper++;
    return m;
}

/// Kernels take eight rows at a time: places up to there must be zero.
void clear_tail(LoadRows& rows) noexcept {
    const int end = (rows.count + 7) / 8 * 8;
    for (int i = rows.count; i < end; ++i) {
        rows.x[i] = rows.y[i] = rows.z[i] = rows.dx[i] = rows.dy[i] = rows.dz[i] = 0;
        rows.stiffness[i] = rows.load[i] = 0;
        rows.node[i] = 0;
    }
}

PointBatch points_of(const ContactPoints& contacts, int first, int count) {
    return {contacts.x.data() + first, contacts.y.data() + first, contacts.z.data() + first, count};
}

}  // namespace

ProxySums::ProxySums(const DeformedField* field) : field_(field) {
    if (!field) return;
    // proxies are few: two of them hardly ever meet in one place
    places_.resize(256);
    load.setZero(field->rank());
    stiffness.setZero(field->rank(), field->rank());
    product_.setZero(3, field->rank());
}

void ProxySums::clear() noexcept {
    for (Place& place : places_) place.proxy = -1;
    load.setZero();
    stiffness.setZero();
}

void ProxySums::add(const LoadRows& rows, const Vector3d& reference) noexcept {
    if (!field_) return;
    const Eigen::Vector3f origin = reference.cast<float>();
    float x[kLoadBatch], y[kLoadBatch], z[kLoadBatch];
    for (int i = 0; i < rows.count; ++i) {
        x[i] = origin.x() + rows.x[i];
        y[i] = origin.y() + rows.y[i];
        z[i] = origin.z() + rows.z[i];
    }
    int proxies[kLoadBatch];
    field_->nearest_proxies({x, y, z, rows.count}, proxies);
    for (int i = 0; i < rows.count; ++i) {
        const int proxy = proxies[i];
        Place& place = places_[static_cast<std::size_t>(proxy) % places_.size()];
        if (place.proxy != proxy) {
            flush(place);
            place.proxy = proxy;
            place.force.setZero();
            place.stiffness.setZero();
        }
        const Vector3d v(rows.dx[i], rows.dy[i], rows.dz[i]);
        place.force -= double{rows.load[i]} * v;
        place.stiffness.noalias() += (double{rows.stiffness[i]} * v).lazyProduct(v.transpose());
    }
}

void ProxySums::flush(Place& place) noexcept {
    if (place.proxy < 0) return;
    using Modes = Eigen::Map<const Eigen::Matrix<double, 3, Eigen::Dynamic>>;
    const Modes U(field_->proxy_modes(place.proxy), 3, field_->rank());
    load.noalias() += U.transpose().lazyProduct(place.force);
    product_.noalias() = place.stiffness.lazyProduct(U);
    stiffness.noalias() += U.transpose().lazyProduct(product_);
    place.proxy = -1;
}

void ProxySums::finish() noexcept {
    for (Place& place : places_) flush(place);
}

LoadSums::LoadSums(const ShellRows& shell, const DeformedField* deformed,
                   const ContactLoadOptions& load_options)
    : options(load_options), proxies(deformed), anchors(load_options.max_anchors), shell_(shell) {
    const auto num_points = static_cast<std::size_t>(shell.num_points);
    nx_.resize(num_points);
    ny_.resize(num_points);
    nz_.resize(num_points);
    is_of_field_.resize(num_points);
    point_forces.resize(num_points);
    q_groups_.assign(static_cast<std::size_t>(shell.stride), 0.0f);
    if (shell.r == 0) return;
    const auto length = static_cast<std::size_t>(padded_rank(shell.r));
    products_.resize(length * kLoadBatch / 16);
    padded_load_.resize(length);
    padded_stiffness_.resize(length * length);
    shell_load.setZero(shell.r);
    shell_stiffness.setZero(shell.r, shell.r);
}

void LoadSums::clear() noexcept {
    normal = tangential = of_field = {};
    gradient.setZero();
    std::ranges::fill(padded_load_, 0.0);
    std::ranges::fill(padded_stiffness_, 0.0);
    shell_load.setZero();
    shell_stiffness.setZero();
    proxies.clear();
    num_contacts = num_sticking = num_sliding = 0;
    deepest = elastic_energy = 0;
}

StepStatus LoadSums::update(const ContactPoints& contacts, const DistanceField& field,
                            const Matrix3d& shell_to_field, const Matrix3d& field_to_world,
                            std::span<const double> q) noexcept {
    assert(contacts.count <= shell_.num_points);
    clear();
    if (contacts.count == 0) {
        anchors.clear();
        return StepStatus::Ok;
    }
    num_contacts = contacts.count;
    // sums about a point near all contacts lose no digits
    reference = Vector3d(contacts.x[0], contacts.y[0], contacts.z[0]);
    store_rows(shell_to_field, to_field_);
    store_rows(shell_to_field.transpose(), to_shell_);
    store_rows(field_to_world, to_world_);

    // weights need all normals first
    find_normals(contacts, field, q);
    law_ = normal_law();

    const bool has_friction = options.friction > 0;
    int num_new = options.max_anchors;
    if (has_friction) {
        anchors.begin();
        // points that have an anchor keep it when there are too few for all
        if (contacts.count > options.max_anchors)
            for (int i = 0; i < contacts.count; ++i)
                num_new -= anchors.find(contacts.point[static_cast<std::size_t>(i)]) != nullptr;
    }
    bool has_anchors_for_all = true;
    for (int first = 0; first < contacts.count; first += kLoadBatch) {
        rows_.count = std::min(kLoadBatch, contacts.count - first);
        add_batch(contacts, field, first);
        if (has_friction) has_anchors_for_all &= add_friction(contacts, first, num_new);
    }
    if (has_friction) anchors.end();
    finish();

    // depths or positions beyond all numbers
    const bool is_finite = normal.stiffness.allFinite() && normal.moment.allFinite() &&
                           tangential.stiffness.allFinite() && tangential.moment.allFinite() &&
                           of_field.stiffness.allFinite() && of_field.moment.allFinite() &&
                           gradient.allFinite() && shell_load.allFinite() &&
                           proxies.load.allFinite();
    if (!is_finite) {
        clear();
        anchors.clear();
        return StepStatus::InputIgnored;
    }
    return has_anchors_for_all ? StepStatus::Ok : StepStatus::CapacityExceeded;
}

void LoadSums::find_normals(const ContactPoints& contacts, const DistanceField& field,
                            std::span<const double> q) noexcept {
    has_field_rows_ = false;
    if (options.normals == ContactNormals::FieldGradient) {
        for (int first = 0; first < contacts.count; first += kLoadBatch) {
            const int count = std::min(kLoadBatch, contacts.count - first);
            field.samples(points_of(contacts, first, count),
                          {distance_, nx_.data() + first, ny_.data() + first, nz_.data() + first});
        }
        normalize_vectors(contacts.count, nx_.data(), ny_.data(), nz_.data());
        return;
    }
    const bool is_deformed = options.normals != ContactNormals::Undeformed;
    for (int j = 0; j < shell_.r; ++j)
        for (int c = 0; c < 3; ++c)
            q_groups_[static_cast<std::size_t>(4 * j + c)] =
                is_deformed ? static_cast<float>(q[static_cast<std::size_t>(j)]) : 0.0f;
    for (int c = 0; c < 3; ++c) q_groups_[static_cast<std::size_t>(4 * shell_.r + c)] = 1.0f;
    contact_normals(shell_.normal_rows, shell_.stride, q_groups_.data(), contacts.point.data(),
                    contacts.count, to_field_, nx_.data(), ny_.data(), nz_.data());
    if (options.normals == ContactNormals::Spread && !spread.empty()) follow_field(contacts, field);
}

void LoadSums::follow_field(const ContactPoints& contacts, const DistanceField& field) noexcept {
    float x[kLoadBatch], y[kLoadBatch], z[kLoadBatch], d[kLoadBatch];
    float gx[kLoadBatch], gy[kLoadBatch], gz[kLoadBatch];
    int at[kLoadBatch];
    int count = 0;
    const auto flush = [&] {
        field.samples({x, y, z, count}, {d, gx, gy, gz});
        for (int k = 0; k < count; ++k) {
            const auto c = static_cast<std::size_t>(at[k]);
            Eigen::Vector3f g(gx[k], gy[k], gz[k]), n(nx_[c], ny_[c], nz_[c]);
            const float length = g.norm();
            if (!(length > 0.5f)) continue;  // on a medial axis
            g /= length;
            const float cosine = n.dot(g),
                        limit = spread[static_cast<std::size_t>(contacts.point[c])];
            has_field_rows_ = true;
            if (cosine >= limit) {
                is_of_field_[c] = 1;
                n = g;
            } else {
                // as far towards it as the normals around spread
                const Eigen::Vector3f across = g - cosine * n;
                const float size = across.norm();
                if (size > 1e-6f) n = limit * n + std::sqrt(1 - limit * limit) / size * across;
            }
            nx_[c] = n.x();
            ny_[c] = n.y();
            nz_[c] = n.z();
        }
        count = 0;
    };
    for (int i = 0; i < contacts.count; ++i) {
        const auto c = static_cast<std::size_t>(i);
        is_of_field_[c] = 0;
        if (spread[static_cast<std::size_t>(contacts.point[c])] >= 1) continue;
        x[count] = contacts.x[c];
        y[count] = contacts.y[c];
        z[count] = contacts.z[c];
        at[count++] = i;
        if (count == kLoadBatch) flush();
    }
    if (count > 0) flush();
}

void LoadSums::split_rows(int first) noexcept {
    shell_rows_.count = field_rows_.count = 0;
    for (int i = 0; i < rows_.count; ++i) {
        const bool is_of_field = is_of_field_[static_cast<std::size_t>(first + i)] != 0;
        LoadRows& out = is_of_field ? field_rows_ : shell_rows_;
        const int k = out.count++;
        out.x[k] = rows_.x[i];
        out.y[k] = rows_.y[i];
        out.z[k] = rows_.z[i];
        out.dx[k] = rows_.dx[i];
        out.dy[k] = rows_.dy[i];
        out.dz[k] = rows_.dz[i];
        out.stiffness[k] = rows_.stiffness[i];
        out.load[k] = rows_.load[i];
        out.node[k] = rows_.node[i];
        (is_of_field ? field_contact_ : shell_contact_)[k] = first + i;
    }
    clear_tail(shell_rows_);
    clear_tail(field_rows_);
}

NormalLaw LoadSums::normal_law() const noexcept {
    NormalLaw law;
    law.stiffness = static_cast<float>(options.stiffness);
    law.cap_depth = static_cast<float>(options.cap_depth);
    law.cap_stiffness = 2 * law.stiffness;
    // no direction counts more contacts than there are
    if (options.scaling == ContactScaling::None || num_contacts <= options.scaling_count)
        return law;
    if (options.scaling == ContactScaling::SingleCount) {
        law.stiffness *= static_cast<float>(options.scaling_count / num_contacts);
        return law;
    }
    double moments[6] = {};
    add_normal_moments(nx_.data(), ny_.data(), nz_.data(), num_contacts, moments);
    law.scaling_count = static_cast<float>(options.scaling_count);
    std::ranges::transform(moments, law.moments, [](double m) { return static_cast<float>(m); });
    return law;
}

void LoadSums::add_batch(const ContactPoints& contacts, const DistanceField& field,
                         int first) noexcept {
    const auto start = static_cast<std::size_t>(first);
    const Eigen::Vector3f origin = reference.cast<float>();
    for (int i = 0; i < rows_.count; ++i) {
        const std::size_t c = start + static_cast<std::size_t>(i);
        rows_.x[i] = contacts.x[c] - origin.x();
        rows_.y[i] = contacts.y[c] - origin.y();
        rows_.z[i] = contacts.z[c] - origin.z();
        rows_.dx[i] = nx_[c];
        rows_.dy[i] = ny_[c];
        rows_.dz[i] = nz_[c];
        rows_.node[i] = contacts.node[c];
        contact_[i] = first + i;
        distance_[i] = contacts.distance[c];
        deepest = std::max(deepest, -double{distance_[i]});
        point_forces[c].setZero();
    }
    clear_tail(rows_);
    for (int i = rows_.count; i < kLoadBatch; ++i) distance_[i] = 0;
    elastic_energy += weigh_rows(law_, distance_, rows_);
    if (has_field_rows_) {
        split_rows(first);
        if (shell_rows_.count > 0) add_rows(shell_rows_, shell_contact_, normal);
        if (field_rows_.count > 0) add_rows(field_rows_, field_contact_, of_field);
    } else {
        add_rows(rows_, contact_, normal);
    }

    if (options.takes_field_gradient) {
        alignas(64) float d[kLoadBatch], gx[kLoadBatch], gy[kLoadBatch], gz[kLoadBatch];
        field.samples(points_of(contacts, first, rows_.count), {d, gx, gy, gz});
        for (int i = rows_.count; i < (rows_.count + 7) / 8 * 8; ++i) gx[i] = gy[i] = gz[i] = 0;
        double sums[kNumGradientSums] = {};
        add_gradient_sums(rows_, gx, gy, gz, sums);
        gradient += Eigen::Map<const Eigen::Matrix<double, 6, 6, Eigen::RowMajor>>(sums);
    }
}

bool LoadSums::add_friction(const ContactPoints& contacts, int first, int& num_new) noexcept {
    bool has_all = true;
    friction_rows_.count = 0;
    const auto put = [&](int i, const Vector3d& v, double stiffness, double load) {
        LoadRows& rows = friction_rows_;
        const int k = rows.count++;
        rows.x[k] = rows_.x[i];
        rows.y[k] = rows_.y[i];
        rows.z[k] = rows_.z[i];
        rows.dx[k] = static_cast<float>(v.x());
        rows.dy[k] = static_cast<float>(v.y());
        rows.dz[k] = static_cast<float>(v.z());
        rows.stiffness[k] = static_cast<float>(stiffness);
        rows.load[k] = static_cast<float>(load);
        rows.node[k] = rows_.node[i];
        friction_contact_[k] = first + i;
    };
    const auto flush = [&] {
        clear_tail(friction_rows_);
        add_rows(friction_rows_, friction_contact_, tangential);
        friction_rows_.count = 0;
    };
    for (int i = 0; i < rows_.count; ++i) {
        const auto c = static_cast<std::size_t>(first + i);
        const Vector3d p(contacts.x[c], contacts.y[c], contacts.z[c]);
        const Vector3d* found = anchors.find(contacts.point[c]);
        if (!found && num_new-- <= 0) {
            has_all = false;
            continue;
        }
        Vector3d n(rows_.dx[i], rows_.dy[i], rows_.dz[i]);
        const double length = n.norm();
        if (!(length > 0.5)) continue;  // a normal that vanished: no plane to slip in
        n /= length;
        const double k_t = options.friction_stiffness * double{rows_.stiffness[i]};
        // normal load over stiffness: the depth, but for a cap
        const double depth = options.cap_depth > 0
                                 ? double{rows_.load[i]} / double{rows_.stiffness[i]}
                                 : std::abs(double{distance_[i]});
        const double limit = options.friction / options.friction_stiffness * depth;
        const AnchoredSlip slip =
            anchored_slip(found ? Vector3d(p - *found) : Vector3d::Zero(), n, limit);
        // takes out the normal part, and when sliding drags the anchor along
        anchors.keep(contacts.point[c], p - slip.stretch * slip.e);
        ++(slip.is_sliding ? num_sliding : num_sticking);
        elastic_energy += 0.5 * k_t * slip.stretch * slip.stretch;
        put(i, slip.e, k_t * slip.along, -k_t * slip.stretch);
        put(i, slip.side, k_t * slip.across, 0);
        if (friction_rows_.count + 2 > kLoadBatch) flush();
    }
    if (friction_rows_.count > 0) flush();
    return has_all;
}

void LoadSums::add_rows(const LoadRows& rows, const int* contact, ForceSums& sums) noexcept {
    double stiffness[kNumStiffnessSums] = {}, force[kNumForceSums] = {};
    add_stiffness_sums(rows, stiffness);
    add_force_sums(rows, force);
    sums.stiffness += symmetric(stiffness);
    sums.force += Eigen::Map<const Vector3d>(force);
    sums.moment += Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(force + 3);
    add_point_forces(rows, contact, to_world_, point_forces.data()->data());
    if (shell_.r > 0)
        add_reduced_sums(rows, to_shell_, {shell_.rows, shell_.stride, shell_.r},
                         products_.data()->values, padded_load_.data(), padded_stiffness_.data());
    proxies.add(rows, reference);
}

void LoadSums::finish() noexcept {
    const auto length = static_cast<std::size_t>(padded_rank(shell_.r));
    for (int i = 0; i < shell_.r; ++i) {
        const auto row = static_cast<std::size_t>(i);
        shell_load[i] = padded_load_[row];
        for (int j = i; j < shell_.r; ++j)
            shell_stiffness(i, j) = shell_stiffness(j, i) =
                padded_stiffness_[row * length + static_cast<std::size_t>(j)];
    }
    proxies.finish();
}

}  // namespace pliant
