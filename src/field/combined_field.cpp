#include "pliant/core/error.h"
#include "pliant/field/analytic_field.h"
#include "pliant/field/distance_grid.h"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

using Eigen::Vector3d;

constexpr int kChunk = 256;  // points answered at a time, with scratch on the stack
constexpr float kUnknownDistance = std::numeric_limits<float>::infinity();

struct Scratch {
    float distance[kChunk], gx[kChunk], gy[kChunk], gz[kChunk];
    [[nodiscard]] SampleBatch batch() noexcept { return {distance, gx, gy, gz}; }
};

PointBatch part(const PointBatch& points, int first) noexcept {
    return {points.x + first, points.y + first, points.z + first,
            std::min(kChunk, points.count - first)};
}
SampleBatch part(const SampleBatch& samples, int first) noexcept {
    return {samples.distance + first, samples.gx + first, samples.gy + first, samples.gz + first};
}

Box infinite_box() {
    const double far = std::numeric_limits<double>::infinity();
    return {Vector3d::Constant(-far), Vector3d::Constant(far)};
}

void check_part(const FieldPointer& field) {
    if (!field) throw InputError("", "a combination of fields has a part that is missing");
}

/// What all combinations keep.
class CombinedField : public DistanceField {
public:
    [[nodiscard]] const Box& bounds() const noexcept override { return box_; }
    [[nodiscard]] CullingMargin margin() const noexcept override { return margin_; }
    [[nodiscard]] double resolution() const noexcept override { return resolution_; }

protected:
    Box box_;
    CullingMargin margin_;
    double resolution_ = 0;
};

/// The least (union) or greatest (intersection) value, docs/field.md eq. (8); of equal ones the
/// first part's gradient.
template <bool kUnion>
class SetField final : public CombinedField {
public:
    explicit SetField(std::vector<FieldPointer> parts) : parts_(std::move(parts)) {
        if (parts_.empty()) throw InputError("", "a combination of fields needs at least one part");
        for (const FieldPointer& field : parts_) check_part(field);
        box_ = parts_.front()->bounds();
        for (const FieldPointer& field : parts_) {
            box_ = kUnion ? box_.merged(field->bounds()) : box_.intersection(field->bounds());
            resolution_ = std::max(resolution_, field->resolution());
            margin_.near = std::max(margin_.near, field->margin().near);
            margin_.far = std::max({margin_.far, field->margin().far, field->margin().near});
        }
        if (box_.isEmpty())
            throw InputError("",
                             "the parts of an intersection of fields do not meet: their boxes lie "
                             "apart");
        // where the larger margin may be left out, docs/field.md section "Combinations"
        for (const FieldPointer& field : parts_) {
            const CullingMargin m = field->margin();
            const float band = kUnion ? m.band - std::max(m.far - margin_.near, 0.0f) : m.band;
            margin_.band = std::min(margin_.band, band);
        }
    }

    void distances(const PointBatch& points, float* distance) const noexcept override {
        parts_.front()->distances(points, distance);
        float other[kChunk];
        for (int first = 0; first < points.count; first += kChunk) {
            const PointBatch chunk = part(points, first);
            for (std::size_t p = 1; p < parts_.size(); ++p) {
                parts_[p]->distances(chunk, other);
                for (int i = 0; i < chunk.count; ++i)
                    distance[first + i] =
                        is_taken(other[i], distance[first + i]) ? other[i] : distance[first + i];
            }
        }
    }
    void samples(const PointBatch& points, const SampleBatch& samples) const noexcept override {
        parts_.front()->samples(points, samples);
        Scratch other;
        for (int first = 0; first < points.count; first += kChunk) {
            const PointBatch chunk = part(points, first);
            const SampleBatch out = part(samples, first);
            for (std::size_t p = 1; p < parts_.size(); ++p) {
                parts_[p]->samples(chunk, other.batch());
                for (int i = 0; i < chunk.count; ++i) {
                    if (!is_taken(other.distance[i], out.distance[i])) continue;
                    out.distance[i] = other.distance[i];
                    out.gx[i] = other.gx[i];
                    out.gy[i] = other.gy[i];
                    out.gz[i] = other.gz[i];
                }
            }
        }
    }

private:
    static bool is_taken(float candidate, float present) noexcept {
        return kUnion ? candidate < present : candidate > present;
    }
    std::vector<FieldPointer> parts_;
};

class InvertedField final : public CombinedField {
public:
    explicit InvertedField(FieldPointer solid) : solid_(std::move(solid)) {
        check_part(solid_);
        box_ = infinite_box();
        margin_ = solid_->margin();
        resolution_ = solid_->resolution();
    }
    void distances(const PointBatch& points, float* distance) const noexcept override {
        solid_->distances(points, distance);
        for (int i = 0; i < points.count; ++i) distance[i] = inverted(distance[i]);
    }
    void samples(const PointBatch& points, const SampleBatch& samples) const noexcept override {
        solid_->samples(points, samples);
        for (int i = 0; i < points.count; ++i) {
            samples.distance[i] = inverted(samples.distance[i]);
            samples.gx[i] = -samples.gx[i];
            samples.gy[i] = -samples.gy[i];
            samples.gz[i] = -samples.gz[i];
        }
    }

private:
    /// Points that are not finite stay outside.
    static float inverted(float distance) noexcept {
        return distance == kUnknownDistance ? kUnknownDistance : -distance;
    }
    FieldPointer solid_;
};

class OffsetField final : public CombinedField {
public:
    OffsetField(FieldPointer solid, double by)
        : solid_(std::move(solid)), by_(static_cast<float>(by)) {
        check_part(solid_);
        if (!std::isfinite(by_))
            throw InputError("", "offset", std::to_string(by), "a finite number of metres");
        box_ = solid_->bounds();
        if (const auto* grid = dynamic_cast<const DistanceGrid*>(solid_.get())) {
            const float room = grid->arrays().boundary;
            if (by_ >= room)
                throw InputError("", "offset", std::to_string(by) + " m",
                                 "less than " + std::to_string(room) +
                                     " m, as far as the field's box reaches from the surface; "
                                     "build the field with a larger expansion");
        } else if (by > 0) {
            box_.min().array() -= by;
            box_.max().array() += by;
        }
        // docs/field.md section "Combinations": the level set must be where values are good
        const CullingMargin m = solid_->margin();
        margin_.far = std::max(m.far, m.near);
        const bool is_near = std::abs(by_) < m.band;
        margin_.near = is_near ? m.near : margin_.far;
        margin_.band = m.band - by_;
        resolution_ = solid_->resolution();
    }
    void distances(const PointBatch& points, float* distance) const noexcept override {
        solid_->distances(points, distance);
        for (int i = 0; i < points.count; ++i) distance[i] -= by_;
    }
    void samples(const PointBatch& points, const SampleBatch& samples) const noexcept override {
        solid_->samples(points, samples);
        for (int i = 0; i < points.count; ++i) samples.distance[i] -= by_;
    }

private:
    FieldPointer solid_;
    float by_;
};

/// docs/field.md eq. (9).
class MovedField final : public CombinedField {
public:
    MovedField(FieldPointer solid, const Vector3d& position, const Eigen::Quaterniond& rotation)
        : solid_(std::move(solid)) {
        check_part(solid_);
        const double length = rotation.coeffs().norm();
        if (!position.allFinite() || !(length > 1e-30) || !std::isfinite(length))
            throw InputError("", "a moved field needs a finite position and rotation");
        const Eigen::Matrix3d R = rotation.normalized().toRotationMatrix();
        R_ = R.cast<float>();
        position_ = position.cast<float>();

        const Box& inner = solid_->bounds();
        if (!inner.min().allFinite() || !inner.max().allFinite()) {
            box_ = R.isIdentity(0) ? Box(inner.min() + position, inner.max() + position)
                                   : infinite_box();
        } else {
            for (int c = 0; c < 8; ++c)
                box_.extend((R * inner.corner(static_cast<Box::CornerType>(c)) + position).eval());
        }
        resolution_ = solid_->resolution();
        // points are moved in single precision
        margin_ = solid_->margin();
        const double reach =
            position.norm() + (inner.min().allFinite() && inner.max().allFinite()
                                   ? inner.center().norm() + inner.diagonal().norm()
                                   : 0);
        const float rounding =
            4 * std::numeric_limits<float>::epsilon() * static_cast<float>(reach);
        margin_.near += rounding;
        margin_.far += rounding;
    }
    void distances(const PointBatch& points, float* distance) const noexcept override {
        float x[kChunk], y[kChunk], z[kChunk];
        for (int first = 0; first < points.count; first += kChunk) {
            const PointBatch chunk = part(points, first);
            pull_back(chunk, x, y, z);
            solid_->distances({x, y, z, chunk.count}, distance + first);
        }
    }
    void samples(const PointBatch& points, const SampleBatch& samples) const noexcept override {
        float x[kChunk], y[kChunk], z[kChunk];
        for (int first = 0; first < points.count; first += kChunk) {
            const PointBatch chunk = part(points, first);
            const SampleBatch out = part(samples, first);
            pull_back(chunk, x, y, z);
            solid_->samples({x, y, z, chunk.count}, out);
            for (int i = 0; i < chunk.count; ++i) {
                const float gx = out.gx[i], gy = out.gy[i], gz = out.gz[i];
                out.gx[i] = R_(0, 0) * gx + R_(0, 1) * gy + R_(0, 2) * gz;
                out.gy[i] = R_(1, 0) * gx + R_(1, 1) * gy + R_(1, 2) * gz;
                out.gz[i] = R_(2, 0) * gx + R_(2, 1) * gy + R_(2, 2) * gz;
            }
        }
    }

private:
    void pull_back(const PointBatch& points, float* x, float* y, float* z) const noexcept {
        for (int i = 0; i < points.count; ++i) {
            const float dx = points.x[i] - position_[0], dy = points.y[i] - position_[1],
                        dz = points.z[i] - position_[2];
            x[i] = R_(0, 0) * dx + R_(1, 0) * dy + R_(2, 0) * dz;
            y[i] = R_(0, 1) * dx + R_(1, 1) * dy + R_(2, 1) * dz;
            z[i] = R_(0, 2) * dx + R_(1, 2) * dy + R_(2, 2) * dz;
        }
    }
    FieldPointer solid_;
    Eigen::Matrix3f R_;
    Eigen::Vector3f position_;
};

}  // namespace

FieldPointer unite_fields(std::vector<FieldPointer> parts) {
    return std::make_shared<SetField<true>>(std::move(parts));
}
FieldPointer intersect_fields(std::vector<FieldPointer> parts) {
    return std::make_shared<SetField<false>>(std::move(parts));
}
FieldPointer invert_field(FieldPointer solid) {
    return std::make_shared<InvertedField>(std::move(solid));
}
FieldPointer offset_field(FieldPointer solid, double by) {
    return std::make_shared<OffsetField>(std::move(solid), by);
}
FieldPointer move_field(FieldPointer solid, const Vector3d& position,
                        const Eigen::Quaterniond& rotation) {
    return std::make_shared<MovedField>(std::move(solid), position, rotation);
}

}  // namespace pliant
