#include "device_handle.h"
#include "meshes.h"

#include "pliant/contact/moving_surface.h"
#include "pliant/core/error.h"
#include "pliant/haptics/haptic_tool.h"
#include "pliant/haptics/virtual_proxy.h"

namespace pliant::python {
namespace {

/// Row by row in Python, by columns in Eigen; symmetric or not.
Eigen::Matrix<double, 6, 6> matrix_of(const ArrayArgument& value, const char* name) {
    const auto array = real_array(value, name, {6, 6});
    return Eigen::Map<const Eigen::Matrix<double, 6, 6, Eigen::RowMajor>>(array.data());
}
py::array matrix_array(const Eigen::Matrix<double, 6, 6>& matrix) {
    const Eigen::Matrix<double, 6, 6, Eigen::RowMajor> rows = matrix;
    return py::array_t<double>({6, 6}, rows.data());
}

void bind_gains(py::module_& m) {
    using Gains = CouplingGains;
    py::class_<Gains>(m, "CouplingGains", "Numbers of the virtual coupling, scene units.")
        .def(py::init<>())
        .def_readwrite("stiffness", &Gains::stiffness, "[N/m]")
        .def_readwrite("angular_stiffness", &Gains::angular_stiffness, "[N m/rad]")
        .def_readwrite("max_depth", &Gains::max_depth, "[m]")
        .def_readwrite("max_force", &Gains::max_force, "[N]")
        .def_readwrite("contact_stiffness", &Gains::contact_stiffness, "Of one point [N/m].")
        .def_readwrite("max_torque", &Gains::max_torque, "[N m]")
        .def_readwrite("least_lever", &Gains::least_lever, "[m]")
        .def_readwrite("largest_lever", &Gains::largest_lever, "[m]")
        .def_readwrite("length", &Gains::length, "[m]")
        .def_readwrite("reach", &Gains::reach, "[m]")
        .def_readwrite("threshold", &Gains::threshold)
        .def_readwrite("static_damping", &Gains::static_damping)
        .def_readwrite("max_shift", &Gains::max_shift, "Of a tick [m].")
        .def_readwrite("max_turn", &Gains::max_turn, "[rad]")
        .def_readwrite("injection", &Gains::injection, "[N s/m]")
        .def_readwrite("rendered_force", &Gains::rendered_force, "[N]")
        .def_readwrite("rendered_torque", &Gains::rendered_torque, "[N m]");
    m.def(
        "derive_gains",
        [](const DeviceCapabilities& device, double rate, double scale, double cell,
           double gyration, double bounding) {
            return derive_gains(device, {rate, scale, cell, gyration, bounding});
        },
        py::arg("device"), py::arg("rate") = 1000.0, py::arg("scale") = 1.0,
        py::arg("cell") = 0.001, py::arg("gyration") = 0.05, py::arg("bounding") = 0.1,
        "By rule: rate of the loop [Hz], handle travel over travel in the scene, cell of the field "
        "[m], radius of gyration and radius of the tool [m].");
}

void bind_coupling(py::module_& m) {
    py::class_<ToolContact>(m, "ToolContact", "Contact of a tool as the coupling sees it.")
        .def(py::init<>())
        .def_readwrite("load", &ToolContact::load, "About the grasp point.")
        .def_property(
            "gradient", [](const ToolContact& contact) { return matrix_array(contact.gradient); },
            [](ToolContact& contact, const ArrayArgument& value) {
                contact.gradient = matrix_of(value, "gradient");
            },
            "(6, 6): of force and torque by shift and rotation vector of the tool.")
        .def_property(
            "normals", [](const ToolContact& contact) { return matrix_array(contact.normals); },
            [](ToolContact& contact, const ArrayArgument& value) {
                contact.normals = matrix_of(value, "normals");
            },
            "(6, 6): Σ w Jᵀ J of the contacts.")
        .def_readwrite("num_contacts", &ToolContact::num_contacts)
        .def_readwrite("clearance", &ToolContact::clearance, "[m]");
    py::class_<StaticCoupling>(m, "StaticCoupling",
                               "The tool follows the hand by one Newton step per cycle.")
        .def(py::init([](const CouplingGains& gains) { return StaticCoupling(gains); }),
             py::arg("gains"))
        .def(
            "update",
            [](StaticCoupling& c, const PoseArgument& hand, const ToolContact& contact, double dt) {
                return c.update(pose_of(hand), contact, dt);
            },
            py::arg("manipulandum"), py::arg("contact"), py::arg("dt"),
            "Towards zero net load; poses of a frame at the grasp point.")
        .def_property_readonly("pose", &StaticCoupling::pose, "Of the tool.")
        .def(
            "place", [](StaticCoupling& c, const PoseArgument& pose) { c.place(pose_of(pose)); },
            py::arg("pose"))
        .def(
            "rendered",
            [](const StaticCoupling& c, const PoseArgument& hand) {
                return c.rendered(pose_of(hand));
            },
            py::arg("manipulandum"), "Load on the hand.")
        .def_property("gains", &StaticCoupling::gains, &StaticCoupling::set_gains);
}

/// A tool with all that it needs.
struct ToolHandle {
    DevicePointer device;
    std::shared_ptr<HandleOf<RigidBody>> body;
    std::vector<std::shared_ptr<PairHandle>> pairs;
    std::unique_ptr<HapticTool> tool;
};

ToolHandle make_tool(const DevicePointer& device, const std::shared_ptr<HandleOf<RigidBody>>& body,
                     const std::vector<std::shared_ptr<PairHandle>>& pairs,
                     const CouplingGains& gains, const std::string& coupling,
                     const Eigen::Vector3d& grasp, double rate, double scale,
                     const Eigen::Vector3d& centre) {
    HapticToolOptions options;
    options.kind =
        static_cast<ToolCoupling>(choice_of("coupling", coupling, {"static", "dynamic", "direct"}));
    options.grasp = grasp;
    options.rate = rate;
    options.workspace.scale = scale;
    options.workspace.centre = centre;
    std::vector<ContactPair*> felt;
    for (const auto& pair : pairs) felt.push_back(pair->pair.get());
    ToolHandle handle{device, body, pairs, nullptr};
    handle.tool = std::make_unique<HapticTool>(*device, body->get(), felt, gains, options);
    handle.tool->safety().enable();
    return handle;
}

void bind_tool(py::module_& m) {
    py::class_<HapticTick>(m, "HapticTick", "What a tick of a tool did.")
        .def_readonly("device", &HapticTick::device)
        .def_property_readonly(
            "force", [](const HapticTick& tick) { return tick.command.force; }, "Shown [N].")
        .def_property_readonly(
            "torque", [](const HapticTick& tick) { return tick.command.torque; }, "Shown [N m].")
        .def_readonly("manipulandum", &HapticTick::manipulandum)
        .def_readonly("tool", &HapticTick::tool)
        .def_readonly("contact", &HapticTick::contact)
        .def_readonly("depth", &HapticTick::depth, "[m]")
        .def_readonly("max_depth", &HapticTick::max_depth, "[m]")
        .def_readonly("num_contacts", &HapticTick::num_contacts)
        .def_readonly("port_energy", &HapticTick::port_energy, "[J]")
        .def_readonly("stored_energy", &HapticTick::stored_energy, "[J]")
        .def_readonly("oscillation", &HapticTick::oscillation, "[N]")
        .def_readonly("status", &HapticTick::status);
    py::class_<ToolHandle>(m, "HapticTool", "A rigid tool in the hand, among contact pairs.")
        .def(py::init(&make_tool), py::arg("device"), py::arg("body"), py::arg("pairs"),
             py::arg("gains"), py::kw_only(), py::arg("coupling") = "static",
             py::arg("grasp") = py::make_tuple(0, 0, 0), py::arg("rate") = 1000.0,
             py::arg("scale") = 1.0, py::arg("centre") = py::make_tuple(0, 0, 0),
             "body: a driven rigid body; coupling: static, dynamic or direct; grasp in its axes "
             "[m]; "
             "scale: handle travel over travel in the scene; centre of the workspace in the world.")
        .def(
            "tick", [](ToolHandle& h, double now, double dt) { return h.tool->tick(now, dt); },
            py::arg("now"), py::arg("dt"),
            "After the pairs acted: drives the tool and writes the force. Then step all bodies.")
        .def_property_readonly("last", [](const ToolHandle& h) { return h.tool->last(); })
        .def_property(
            "gains", [](const ToolHandle& h) { return h.tool->gains(); },
            [](ToolHandle& h, const CouplingGains& gains) { h.tool->set_gains(gains); })
        .def("reset", [](ToolHandle& h) { h.tool->reset(); });
}

/// A proxy with the bodies and surfaces that it needs.
struct ProxyHandle {
    std::vector<BodyPointer> bodies;
    std::vector<std::unique_ptr<MovingSurface>> surfaces;
    std::unique_ptr<VirtualProxy> proxy;
};

std::unique_ptr<ProxyHandle> make_proxy(const std::vector<BodyPointer>& bodies, double radius,
                                        double stiffness, double static_friction,
                                        double dynamic_friction, const std::string& mask,
                                        double body_force, bool force_shading) {
    ProxyOptions options;
    options.sphere.radius = radius;
    options.stiffness = stiffness;
    options.static_friction = static_friction;
    options.dynamic_friction = dynamic_friction;
    options.mask = static_cast<ForceMask>(
        choice_of("mask", mask, {"barycentric", "inverse-distance", "smooth"}));
    options.body_force = body_force;
    options.has_force_shading = force_shading;
    auto handle = std::make_unique<ProxyHandle>();
    handle->bodies = bodies;
    std::vector<MovingSurface*> surfaces;
    for (const BodyPointer& body : bodies) {
        handle->surfaces.push_back(make_moving_surface(body->body()));
        surfaces.push_back(handle->surfaces.back().get());
    }
    handle->proxy = std::make_unique<VirtualProxy>(surfaces, options);
    return handle;
}

void bind_proxy(py::module_& m) {
    py::class_<ProxyContact>(m, "ProxyContact", "Where a proxy touches.")
        .def_readonly("body", &ProxyContact::surface, "Place in the list of bodies.")
        .def_readonly("triangle", &ProxyContact::triangle)
        .def_readonly("weights", &ProxyContact::barycentric)
        .def_readonly("point", &ProxyContact::point, "[m]")
        .def_readonly("normal", &ProxyContact::normal)
        .def_readonly("multiplier", &ProxyContact::multiplier,
                      "0: touched, but does not hold [m].");
    py::class_<ProxyState>(m, "ProxyState", "A proxy after a tick.")
        .def_readonly("position", &ProxyState::position, "[m]")
        .def_readonly("goal", &ProxyState::goal, "[m]")
        .def_readonly("force", &ProxyState::force, "On the hand [N].")
        .def_readonly("num_contacts", &ProxyState::num_contacts)
        .def_property_readonly(
            "contacts",
            [](const ProxyState& state) {
                return std::vector<ProxyContact>(state.contacts.begin(),
                                                 state.contacts.begin() + state.num_contacts);
            },
            "Nearest first.")
        .def_property_readonly("is_touching", &ProxyState::is_touching)
        .def_readonly("is_sliding", &ProxyState::is_sliding)
        .def_readonly("is_squeezed", &ProxyState::is_squeezed)
        .def_readonly("has_arrived", &ProxyState::has_arrived)
        .def_readonly("passes", &ProxyState::passes)
        .def_readonly("status", &ProxyState::status);
    py::class_<ProxyHandle>(m, "VirtualProxy",
                            "A sphere that follows a goal and stays outside bodies that move.")
        .def(py::init(&make_proxy), py::arg("bodies"), py::kw_only(), py::arg("radius") = 0.005,
             py::arg("stiffness") = 500.0, py::arg("static_friction") = 0.0,
             py::arg("dynamic_friction") = 0.0, py::arg("mask") = "barycentric",
             py::arg("body_force") = 1.0, py::arg("force_shading") = false,
             "radius [m]; stiffness of the spring between proxy and goal [N/m]; body_force: force "
             "on bodies per force on the hand.")
        .def(
            "reset",
            [](ProxyHandle& h, const Eigen::Vector3d& position) { h.proxy->reset(position); },
            py::arg("position"), "Somewhere in front of all surfaces [m].")
        .def(
            "tick", [](ProxyHandle& h, const Eigen::Vector3d& goal) { return h.proxy->tick(goal); },
            py::arg("goal"), "Surfaces push it, then it follows the goal [m].")
        .def(
            "apply_forces", [](ProxyHandle& h) { h.proxy->apply_forces(); },
            "Gives the force of the last tick to the bodies, for their next step.")
        .def_property_readonly("state", [](const ProxyHandle& h) { return h.proxy->state(); });
}

}  // namespace

void bind_haptics(py::module_& m) {
    bind_gains(m);
    bind_coupling(m);
    bind_tool(m);
    bind_proxy(m);
}

}  // namespace pliant::python
