#include "body_handle.h"

#include "pliant/core/error.h"

namespace pliant::python {

BodyHandle::BodyHandle(std::shared_ptr<Body> body, Maker make, bool is_slow)
    : body_(std::move(body)), make_(std::move(make)), is_slow_(is_slow) {}

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

StepStatus BodyHandle::step(double dt) noexcept {
    for (const Loads& loads : loads_) {
        const std::vector<double>& f = *loads.forces;
        for (std::size_t i = 0; 3 * i < f.size(); ++i) {
            if (f[3 * i] == 0 && f[3 * i + 1] == 0 && f[3 * i + 2] == 0) continue;
            body_->add_force(loads.points.empty() ? SurfacePoint::at_vertex(static_cast<int>(i))
                                                  : loads.points[i],
                             {f[3 * i], f[3 * i + 1], f[3 * i + 2]});
        }
    }
    return body_->step(dt);
}

const Shared<double>& BodyHandle::add_loads(std::vector<SurfacePoint> points) {
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
    const auto check = [](const char* name, py::ssize_t i, py::ssize_t count) {
        if (i < 0 || i >= count)
            throw InputError("", name, std::to_string(i), "0 … " + std::to_string(count - 1));
        return static_cast<int>(i);
    };
    const SurfaceMesh& surface = body_->surface();
    if (PyIndex_Check(value.ptr()) != 0) {
        const py::ssize_t i = PyNumber_AsSsize_t(value.ptr(), nullptr);
        return SurfacePoint::at_vertex(check("vertex", i, surface.num_vertices()));
    }
    if (!py::isinstance<py::sequence>(value) || py::len(value) != 2)
        refuse("point", value, "a vertex, or a triangle and the weights of its corners");
    const auto parts = py::reinterpret_borrow<py::sequence>(value);
    const py::object triangle = parts[0];
    if (PyIndex_Check(triangle.ptr()) == 0) refuse("triangle", triangle, "an integer");
    const py::ssize_t t = PyNumber_AsSsize_t(triangle.ptr(), nullptr);
    return SurfacePoint::on_triangle(check("triangle", t, surface.num_triangles()),
                                     vector_of(py::object(parts[1]), "weights"));
}

std::vector<SurfacePoint> BodyHandle::points(py::handle value) const {
    std::vector<SurfacePoint> result;
    if (PyIndex_Check(value.ptr()) != 0) return {point(value)};
    for (const py::handle item : value) result.push_back(point(item));
    return result;
}

}  // namespace pliant::python
