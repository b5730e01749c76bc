#include "body_handle.h"

#include "pliant/core/error.h"

#include <algorithm>
#include <cmath>

namespace pliant::python {
namespace {

bool is_same_point(const SurfacePoint& a, const SurfacePoint& b) {
    return a.triangle == b.triangle && a.vertex == b.vertex && a.barycentric == b.barycentric;
}

}  // namespace

BodyHandle::BodyHandle(std::shared_ptr<Body> body, Maker make, bool is_slow)
    : body_(std::move(body)),
      make_(std::move(make)),
      is_slow_(is_slow),
      start_(body_->position(SurfacePoint::at_vertex(0))) {}

std::pair<BodyShape, BodyCondition> BodyHandle::shape() {
    // what it measures against takes a look at all triangles at rest
    if (!gauge_) gauge_.emplace(*body_);
    std::vector<float> state(static_cast<std::size_t>(body_->display()->state_size())), x;
    body_->write_display(state);
    const BodyShape shape = gauge_->measure(state, x);
    return {shape, gauge_->condition(shape, start_)};
}

std::unique_ptr<Body> BodyHandle::copy() const {
    if (!make_)
        throw InputError("",
                         "this body belongs to others (a scene, or obstacles that it meets) and "
                         "cannot be copied; view the scene instead");
    std::unique_ptr<Body> other = make_();
    std::vector<double> state(static_cast<std::size_t>(body_->state_size()));
    body_->save_state(state);
    other->restore_state(state);
    return other;
}

void BodyHandle::apply_loads() noexcept {
    for (const Loads& loads : loads_) {
        const std::vector<double>& f = *loads.forces;
        for (std::size_t i = 0; 3 * i < f.size(); ++i) {
            if (f[3 * i] == 0 && f[3 * i + 1] == 0 && f[3 * i + 2] == 0) continue;
            body_->add_force(loads.points.empty() ? SurfacePoint::at_vertex(static_cast<int>(i))
                                                  : loads.points[i],
                             {f[3 * i], f[3 * i + 1], f[3 * i + 2]});
        }
    }
}

StepStatus BodyHandle::step(double dt) noexcept {
    apply_loads();
    return body_->step(dt);
}

const Shared<double>& BodyHandle::point_loads(std::vector<SurfacePoint> points) {
    // a second array of the same points would push beside the first, which nobody may hold any more
    for (const Loads& loads : loads_)
        if (loads.forces != vertex_loads_ &&
            std::ranges::equal(loads.points, points, is_same_point))
            return loads.forces;
    auto forces = std::make_shared<std::vector<double>>(3 * points.size());
    loads_.push_back({std::move(points), std::move(forces)});
    return loads_.back().forces;
}

const Shared<double>& BodyHandle::vertex_loads() {
    if (!vertex_loads_) {
        vertex_loads_ = std::make_shared<std::vector<double>>(3 * body_->surface().vertices.size());
        loads_.push_back({{}, vertex_loads_});
    }
    return vertex_loads_;
}

void BodyHandle::clear_loads() noexcept {
    for (const Loads& loads : loads_) std::fill(loads.forces->begin(), loads.forces->end(), 0.0);
}

bool BodyHandle::has_loads() const noexcept {
    return std::ranges::any_of(loads_, [](const Loads& loads) {
        return std::ranges::any_of(*loads.forces, [](double f) { return f != 0; });
    });
}

const Shared<float>& BodyHandle::positions() {
    if (!positions_) {
        display_ = body_->display();
        display_state_.resize(static_cast<std::size_t>(display_->state_size()));
        positions_ = std::make_shared<std::vector<float>>(3 * body_->surface().vertices.size());
    }
    body_->write_display(display_state_);
    display_->positions(display_state_, *positions_);
    return positions_;
}

const Shared<float>& BodyHandle::normals() {
    const Shared<float>& x = positions();
    if (!normals_) normals_ = std::make_shared<std::vector<float>>(x->size());
    display_->normals(*x, *normals_);
    return normals_;
}

SurfacePoint BodyHandle::point(py::handle value) const {
    const SurfaceMesh& surface = body_->surface();
    if (is_integer(value))
        return SurfacePoint::at_vertex(index_of(value, "vertex", surface.num_vertices()));
    const auto [triangle, weights] =
        pair_of(value, "point", "a vertex, or a triangle and the weights of its corners");
    const int t = index_of(triangle, "triangle", surface.num_triangles());
    const Eigen::Vector3d w = vector_of(weights, "weights");
    // within what single precision leaves of them, as hands of a scene take
    constexpr double kTolerance = 1e-3;
    if (!(std::abs(w.sum() - 1) < kTolerance && w.minCoeff() > -kTolerance))
        throw InputError("", "weights", py::str(weights), "0 to 1 each, with sum 1");
    return SurfacePoint::on_triangle(t, w);
}

std::vector<SurfacePoint> BodyHandle::points(py::handle value, const std::string& name) const {
    if (is_integer(value)) return {point(value)};
    std::vector<SurfacePoint> result;
    for (const py::object& item : items_of(value, name, "points of the surface in a list"))
        result.push_back(point(item));
    return result;
}

}  // namespace pliant::python
