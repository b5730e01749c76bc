#pragma once

#include "arguments.h"
#include "pliant/body/shape_gauge.h"

#include <functional>
#include <optional>

namespace pliant::python {

/// A body as Python holds it: the body, the arrays that both sides share, and what it needs to
/// stay alive.
class BodyHandle {
public:
    using Maker = std::function<std::unique_ptr<Body>()>;
    virtual ~BodyHandle() = default;
    /// `make` makes another one of the same kind at its start, for a viewer; null: only its owner
    /// can. `is_slow`: a step takes long enough to let other threads of Python run.
    explicit BodyHandle(std::shared_ptr<Body> body, Maker make = {}, bool is_slow = false);

    [[nodiscard]] Body& body() const noexcept { return *body_; }
    [[nodiscard]] const std::shared_ptr<Body>& shared() const noexcept { return body_; }
    [[nodiscard]] bool is_slow() const noexcept { return is_slow_; }
    /// At the present state. Throws InputError where it cannot be made.
    [[nodiscard]] std::unique_ptr<Body> copy() const;

    // The next two touch nothing of Python.
    /// Gives the forces of all arrays to the body, for its next step.
    void apply_loads() noexcept;
    /// Loads, then a step.
    StepStatus step(double dt) noexcept;
    /// Forces [N] on these points in every step, as long as they stay in the array; of the same
    /// points in the same order always the same one.
    [[nodiscard]] const Shared<double>& point_loads(std::vector<SurfacePoint> points);
    /// The same of all vertices, made at the first call.
    [[nodiscard]] const Shared<double>& vertex_loads();
    void clear_loads() noexcept;
    [[nodiscard]] bool has_loads() const noexcept;  ///< other than 0
    /// Newest positions or unit normals of all vertices in the buffers that all calls share.
    [[nodiscard]] const Shared<float>& positions();
    [[nodiscard]] const Shared<float>& normals();

    /// As it is now; away: from where it was when this handle was made.
    [[nodiscard]] std::pair<BodyShape, BodyCondition> shape();

    /// A vertex, or (triangle, weights of its corners). Throws InputError unless on the surface.
    [[nodiscard]] SurfacePoint point(py::handle value) const;
    [[nodiscard]] std::vector<SurfacePoint> points(py::handle value, const std::string& name) const;
    void keep(std::shared_ptr<const void> thing) { kept_.push_back(std::move(thing)); }

private:
    struct Loads {
        std::vector<SurfacePoint> points;  ///< none: vertices in their order
        Shared<double> forces;
    };
    std::vector<std::shared_ptr<const void>> kept_;
    std::shared_ptr<Body> body_;
    Maker make_;
    bool is_slow_;
    Eigen::Vector3d start_;            ///< of its first vertex [m]
    std::optional<ShapeGauge> gauge_;  ///< made when shape() is asked for first
    std::shared_ptr<const BodyDisplay> display_;
    std::vector<float> display_state_;
    Shared<float> positions_, normals_;
    std::vector<Loads> loads_;
    Shared<double> vertex_loads_;
};
using BodyPointer = std::shared_ptr<BodyHandle>;

/// A handle with the methods of the body's own kind. `keep` lives as long.
[[nodiscard]] BodyPointer handle_of(const std::shared_ptr<Body>& body);

/// A handle whose body is known.
template <class Kind>
class HandleOf : public BodyHandle {
public:
    using BodyHandle::BodyHandle;
    [[nodiscard]] Kind& get() const noexcept { return static_cast<Kind&>(body()); }
};

// In the order in which they need each other; each file of its name has the definition.
void bind_core(py::module_& m);
void bind_geometry(py::module_& m);
void bind_meshing(py::module_& m);
void bind_body(py::module_& m);
void bind_rigid(py::module_& m);
void bind_fem(py::module_& m);
void bind_reduced(py::module_& m);
void bind_greens(py::module_& m);
void bind_greens_levels(py::module_& m);
void bind_greens_measured(py::module_& m);
void bind_zones(py::module_& m);
void bind_particles(py::module_& m);
void bind_field(py::module_& m);
void bind_contact(py::module_& m);
void bind_contact_solver(py::module_& m);
void bind_devices(py::module_& m);
void bind_haptics(py::module_& m);
void bind_sphere_tools(py::module_& m);
void bind_scene(py::module_& m);
void bind_recording(py::module_& m);
void bind_viewer(py::module_& m);

}  // namespace pliant::python
