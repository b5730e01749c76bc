#include "body_handle.h"

#include "pliant/contact/moving_surface.h"
#include "pliant/haptics/sphere_tool.h"

namespace pliant::python {
namespace {

/// A tool of spheres with the bodies and surfaces that it needs.
struct SphereToolHandle {
    std::vector<BodyPointer> bodies;
    std::vector<std::unique_ptr<MovingSurface>> surfaces;
    std::unique_ptr<SphereTool> tool;
};

std::unique_ptr<SphereToolHandle> make_sphere_tool(
    const std::vector<BodyPointer>& bodies, const ParticleLayout& spheres, bool rigid,
    int iterations, double translation_stiffness, double rotation_stiffness,
    const std::string& share, const ArrayArgument& centre, double static_friction,
    double dynamic_friction, double body_force) {
    check_all(bodies, "bodies", "a Body");
    SphereToolOptions options;
    options.is_rigid = rigid;
    options.iterations = iterations;
    options.translation_stiffness = translation_stiffness;
    options.rotation_stiffness = rotation_stiffness;
    options.share = static_cast<ToolShare>(choice_of("share", share, {"total", "contacts"}));
    options.centre = vector_of(centre, "centre");
    options.sphere.static_friction = static_friction;
    options.sphere.dynamic_friction = dynamic_friction;
    options.sphere.body_force = body_force;
    auto handle = std::make_unique<SphereToolHandle>();
    handle->bodies = bodies;
    std::vector<MovingSurface*> surfaces;
    for (const BodyPointer& body : bodies) {
        handle->surfaces.push_back(make_moving_surface(body->body()));
        surfaces.push_back(handle->surfaces.back().get());
    }
    handle->tool = std::make_unique<SphereTool>(surfaces, spheres, options);
    return handle;
}

/// Of all spheres, one below the other.
template <class Row>
py::array rows_of_spheres(const SphereTool& tool, Row&& row) {
    std::vector<Eigen::Vector3d> rows;
    rows.reserve(static_cast<std::size_t>(tool.num_spheres()));
    for (int i = 0; i < tool.num_spheres(); ++i) rows.push_back(row(i));
    return array_of(rows);
}

void bind_state(py::module_& m) {
    using State = SphereToolState;
    py::class_<State>(m, "SphereToolState", "A tool of spheres after a tick.")
        .def_readonly("hand", &State::hand, py::return_value_policy::copy,
                      "The last pose that was taken.")
        .def_readonly("wrench", &State::wrench, py::return_value_policy::copy,
                      "On the hand, about its position [N], [N m].")
        .def_readonly("fit", &State::fit, py::return_value_policy::copy,
                      "Of the tool as one piece, about where the hand holds it.")
        .def_readonly("num_touching", &State::num_touching, "Spheres that touch.")
        .def_readonly("num_squeezed", &State::num_squeezed, "Spheres without room.")
        .def_readonly("largest_offset", &State::largest_offset,
                      "Of a sphere from where the hand wants it [m].")
        .def_readonly("is_hand_ignored", &State::is_hand_ignored,
                      "The pose was not finite: no force.")
        .def_readonly("passes", &State::passes, "Of all spheres in the last tick.")
        .def_readonly("status", &State::status, "Of the last tick.");
}

}  // namespace

void bind_sphere_tools(py::module_& m) {
    using Handle = SphereToolHandle;
    bind_state(m);
    py::class_<Handle>(
        m, "SphereTool",
        "A tool of many spheres in a hand with six degrees of freedom. Each stays outside bodies "
        "that move, the shape at rest holds them together; no inertia, no force in free motion.")
        .def(py::init(&make_sphere_tool), py::arg("bodies"), py::arg("spheres"), py::kw_only(),
             py::arg("rigid") = false, py::arg("iterations") = 4,
             py::arg("translation_stiffness") = 500.0, py::arg("rotation_stiffness") = 500.0,
             py::arg("share") = "total", py::arg("centre") = py::make_tuple(0, 0, 0),
             py::arg("static_friction") = 0.0, py::arg("dynamic_friction") = 0.0,
             py::arg("body_force") = 1.0,
             "spheres: a layout, as of place_spheres; rigid: one piece, otherwise it bends in so "
             "many iterations; stiffness of springs to the hand [N/m], shared by all spheres "
             "(total) or those in contact (contacts); centre: where the hand holds it, axes of the "
             "layout [m]; Coulomb's coefficients while spheres stick and slide; body_force: force "
             "on bodies per force on the hand.")
        .def(
            "reset", [](Handle& h, const PoseArgument& hand) { h.tool->reset(pose_of(hand)); },
            py::arg("hand"), "Puts all spheres where the hand is, in front of all surfaces.")
        .def(
            "tick", [](Handle& h, const PoseArgument& hand) { return h.tool->tick(pose_of(hand)); },
            py::arg("hand"), "Surfaces push the spheres, which then follow the hand.")
        .def(
            "apply_forces", [](Handle& h) { h.tool->apply_forces(); },
            "Gives the force of the last tick to the bodies, for their next step.")
        .def_property_readonly(
            "state", [](const Handle& h) { return h.tool->state(); },
            "After the last tick; a copy.")
        .def_property_readonly(
            "num_spheres", [](const Handle& h) { return h.tool->num_spheres(); }, "k.")
        .def_property_readonly(
            "positions",
            [](const Handle& h) {
                return rows_of_spheres(*h.tool, [&](int i) { return h.tool->sphere(i).position; });
            },
            "Centres of the spheres now (k, 3) [m].")
        .def_property_readonly(
            "forces",
            [](const Handle& h) {
                return rows_of_spheres(*h.tool, [&](int i) { return h.tool->sphere(i).force; });
            },
            "Of each sphere on the hand (k, 3) [N].")
        .def_property_readonly(
            "offsets",
            [](const Handle& h) {
                return rows_of_spheres(*h.tool, [&](int i) { return h.tool->offset(i); });
            },
            "Of the spheres from the hand at rest (k, 3) [m].")
        .def_property_readonly(
            "radii",
            [](const Handle& h) {
                std::vector<double> radii;
                radii.reserve(static_cast<std::size_t>(h.tool->num_spheres()));
                for (int i = 0; i < h.tool->num_spheres(); ++i) radii.push_back(h.tool->radius(i));
                return array_of<double>(radii, {static_cast<py::ssize_t>(radii.size())});
            },
            "(k,) [m]")
        .def(
            "sphere",
            [](const Handle& h, int i) {
                check_index("i", i, h.tool->num_spheres());
                return h.tool->sphere(i);
            },
            py::arg("i"), "One sphere as a proxy: contacts, goal, force.");
}

}  // namespace pliant::python
