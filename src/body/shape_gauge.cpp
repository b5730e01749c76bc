#include "pliant/body/shape_gauge.h"

#include <cmath>

namespace pliant {
namespace {

using Eigen::Vector3d;

constexpr double kCollapsedVolume = 0.2, kStretchedExtent = 10, kFarInSizes = 1e4;
/// A surface whose mean thickness is less than this share of its size is a sheet.
constexpr double kSheet = 1e-3;

}  // namespace

bool BodyShape::is_finite() const noexcept { return std::isfinite(extent) && centre.allFinite(); }

std::string_view to_string(BodyCondition condition) noexcept {
    switch (condition) {
        case BodyCondition::Well: return "well";
        case BodyCondition::Collapsed: return "collapsed";
        case BodyCondition::InsideOut: return "inside out";
        case BodyCondition::Stretched: return "stretched";
        case BodyCondition::Away: return "away";
    }
    return "";
}

ShapeGauge::ShapeGauge(const Body& body, const ShapeGauge* like)
    : surface_(&body.surface()),
      display_(body.display()),
      size_(body.size()),
      may_scatter_(body.kind() == "particles") {
    if (like != nullptr && like->surface_ == surface_) {
        volume_ = like->volume_;
        diagonal_ = like->diagonal_;
        return;
    }
    const Box box = bounding_box(surface_->vertices);
    if (!box.isEmpty()) diagonal_ = box.diagonal().norm();
    // closed where the areas of all triangles add up to nothing
    Vector3d sum = Vector3d::Zero();
    for (int t = 0; t < surface_->num_triangles(); ++t)
        sum += 0.5 * (surface_->corner(t, 1) - surface_->corner(t, 0))
                         .cross(surface_->corner(t, 2) - surface_->corner(t, 0));
    const double area = surface_area(*surface_), volume = enclosed_volume(*surface_);
    if (sum.norm() < 1e-6 * area && 2 * volume > kSheet * area * size_) volume_ = volume;
}

BodyShape ShapeGauge::measure(std::span<const float> state, std::vector<float>& scratch) const {
    BodyShape shape;
    if (surface_->vertices.empty()) return shape;
    scratch.resize(3 * surface_->vertices.size());
    display_->positions(state, scratch);
    const auto x = [&](int v) -> Vector3d {
        return Eigen::Map<const Eigen::Vector3f>(scratch.data() + 3 * v).cast<double>();
    };
    Vector3d low = x(0), high = low;
    for (int v = 1; v < num_vertices() && low.allFinite(); ++v) {
        const Vector3d place = x(v);
        // what is not a number shall be seen
        if (!place.allFinite()) low = place;
        low = low.cwiseMin(place);
        high = high.cwiseMax(place);
    }
    shape.low = low;
    shape.high = high;
    shape.centre = 0.5 * (low + high);
    shape.extent = diagonal_ > 0 ? (high - low).norm() / diagonal_ : 1;
    if (volume_ <= 0 || !shape.is_finite()) return shape;
    // about the centre, for the digits
    double six = 0;
    for (const Triangle& t : surface_->triangles) {
        const Vector3d a = x(t[0]) - shape.centre;
        six += a.dot((x(t[1]) - shape.centre).cross(x(t[2]) - shape.centre));
    }
    shape.volume = six / 6 / volume_;
    return shape;
}

BodyCondition ShapeGauge::condition(const BodyShape& shape, const Vector3d& start) const noexcept {
    if (!shape.is_finite() || (shape.centre - start).norm() > kFarInSizes * size_)
        return BodyCondition::Away;
    if (shape.extent > kStretchedExtent && !may_scatter_) return BodyCondition::Stretched;
    if (shape.volume < 0) return BodyCondition::InsideOut;
    if (shape.volume < kCollapsedVolume) return BodyCondition::Collapsed;
    return BodyCondition::Well;
}

}  // namespace pliant
