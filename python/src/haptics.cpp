#include "device_handle.h"
#include "meshes.h"

#include "pliant/contact/moving_surface.h"
#include "pliant/core/error.h"
#include "pliant/haptics/dynamic_coupling.h"
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
        .def(py::init<>(), "All 0, which no coupling takes: begin with derive_gains.")
        .def_readwrite("stiffness", &Gains::stiffness, "Of the spring between hand and tool [N/m].")
        .def_readwrite("angular_stiffness", &Gains::angular_stiffness,
                       "The same of rotations [N m/rad].")
        .def_readwrite("max_depth", &Gains::max_depth, "That contacts may reach [m].")
        .def_readwrite("max_force", &Gains::max_force, "Plateau of the spring [N].")
        .def_readwrite("contact_stiffness", &Gains::contact_stiffness, "Of one point [N/m].")
        .def_readwrite("max_torque", &Gains::max_torque,
                       "Plateau of the torque without contact [N m].")
        .def_readwrite("least_lever", &Gains::least_lever,
                       "Least lever of forces that turn the tool [m].")
        .def_readwrite("largest_lever", &Gains::largest_lever,
                       "Largest lever of forces that turn the tool [m].")
        .def_readwrite("length", &Gains::length,
                       "Radius of gyration of the tool: makes rotations comparable to shifts [m].")
        .def_readwrite("reach", &Gains::reach,
                       "No point of the tool is farther from the grasp point [m].")
        .def_readwrite("threshold", &Gains::threshold,
                       "Singular values below this part of the largest count as 0.")
        .def_readwrite("static_damping", &Gains::static_damping,
                       "Part of a Newton step that is made, above 0 to 1.")
        .def_readwrite("max_shift", &Gains::max_shift, "Of a tick [m].")
        .def_readwrite("max_turn", &Gains::max_turn, "Of a tick [rad].")
        .def_readwrite("injection", &Gains::injection,
                       "Damping added in contact, device units [N s/m].")
        .def_readwrite("rendered_force", &Gains::rendered_force, "Largest force shown [N].")
        .def_readwrite("rendered_torque", &Gains::rendered_torque,
                       "Largest torque shown, scene units [N m].");
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
        .def(py::init<>(), "No contact.")
        .def_readwrite("load", &ToolContact::load, "On the tool, about the grasp point [N], [N m].")
        .def_property(
            "gradient", [](const ToolContact& contact) { return matrix_array(contact.gradient); },
            [](ToolContact& contact, const ArrayArgument& value) {
                contact.gradient = matrix_of(value, "gradient");
            },
            "(6, 6): of force [N] and torque [N m] by shift [m] and rotation vector [rad] of the "
            "tool about the grasp point.")
        .def_property(
            "normals", [](const ToolContact& contact) { return matrix_array(contact.normals); },
            [](ToolContact& contact, const ArrayArgument& value) {
                contact.normals = matrix_of(value, "normals");
            },
            "(6, 6): Σ w Jᵀ J of the contacts with any weights w, J = (n, r × n): normal [1] and "
            "its "
            "moment about the grasp point [m].")
        .def_readwrite("num_contacts", &ToolContact::num_contacts, "Points that touch.")
        .def_readwrite("clearance", &ToolContact::clearance,
                       "No point is nearer; 0 in contact [m].");
    py::class_<StaticCoupling>(m, "StaticCoupling",
                               "The tool follows the hand by one Newton step per cycle.")
        .def(py::init([](const CouplingGains& gains) { return StaticCoupling(gains); }),
             py::arg("gains"), "At the origin; place() puts it elsewhere.")
        .def(
            "update",
            [](StaticCoupling& c, const PoseArgument& hand, const ToolContact& contact, double dt) {
                return c.update(pose_of(hand), contact, dt);
            },
            py::arg("manipulandum"), py::arg("contact"), py::arg("dt"),
            "Towards zero net load; poses of a frame at the grasp point.")
        .def_property_readonly(
            "pose", [](const StaticCoupling& c) { return c.pose(); }, "Of the tool; a copy.")
        .def(
            "place", [](StaticCoupling& c, const PoseArgument& pose) { c.place(pose_of(pose)); },
            py::arg("pose"), "Puts the tool there [m], at rest.")
        .def(
            "rendered",
            [](const StaticCoupling& c, const PoseArgument& hand) {
                return c.rendered(pose_of(hand));
            },
            py::arg("manipulandum"), "Load on the hand.")
        .def_property(
            "gains", [](const StaticCoupling& c) { return c.gains(); }, &StaticCoupling::set_gains,
            "In use; a copy.");
}

void bind_baselines(py::module_& m) {
    py::class_<DynamicCoupling>(
        m, "DynamicCoupling",
        "The tool has a mass and hangs on springs and dampers: a baseline for StaticCoupling.")
        .def(py::init([](const CouplingGains& gains, double mass, double damping_ratio, int steps,
                         double velocity_filter, double max_speed, bool silent_in_free_space) {
                 DynamicCouplingOptions options;
                 options.mass = mass;
                 options.damping_ratio = damping_ratio;
                 options.steps = steps;
                 options.velocity_filter = velocity_filter;
                 options.max_speed = max_speed;
                 options.is_silent_in_free_space = silent_in_free_space;
                 return DynamicCoupling(gains, options);
             }),
             py::arg("gains"), py::kw_only(), py::arg("mass") = 0.05,
             py::arg("damping_ratio") = 1.0, py::arg("steps") = 10,
             py::arg("velocity_filter") = 0.3, py::arg("max_speed") = 10.0,
             py::arg("silent_in_free_space") = false,
             "mass of the tool [kg]; damping_ratio of its springs; steps of explicit Euler in a "
             "cycle; velocity_filter: one pole per sample, of the hand's velocity, 0 to 1; "
             "max_speed of the tool [m/s]; silent_in_free_space: shows nothing without contact.")
        .def(
            "update",
            [](DynamicCoupling& c, const PoseArgument& hand, const ToolContact& contact,
               double dt) { return c.update(pose_of(hand), contact, dt); },
            py::arg("manipulandum"), py::arg("contact"), py::arg("dt"),
            "One cycle of dt seconds; poses of a frame at the grasp point. Gradients do not count.")
        .def_property_readonly(
            "pose", [](const DynamicCoupling& c) { return c.pose(); }, "Of the tool; a copy.")
        .def_property_readonly(
            "twist", [](const DynamicCoupling& c) { return c.twist(); }, "Of the tool; a copy.")
        .def(
            "place", [](DynamicCoupling& c, const PoseArgument& pose) { c.place(pose_of(pose)); },
            py::arg("pose"), "Puts the tool there [m], at rest.")
        .def(
            "rendered",
            [](const DynamicCoupling& c, const PoseArgument& hand) {
                return c.rendered(pose_of(hand));
            },
            py::arg("manipulandum"), "Load on the hand, clamped [N], [N m].")
        .def(
            "stored_energy",
            [](const DynamicCoupling& c, const PoseArgument& hand) {
                return c.stored_energy(pose_of(hand));
            },
            py::arg("manipulandum"), "In springs and motion [J].")
        .def_property(
            "gains", [](const DynamicCoupling& c) { return c.gains(); },
            &DynamicCoupling::set_gains, "In use; a copy.");
    py::class_<DirectRendering>(
        m, "DirectRendering",
        "The tool is where the hand is, which feels the contact: a baseline for StaticCoupling.")
        .def(py::init<const CouplingGains&>(), py::arg("gains"), "At the origin.")
        .def(
            "update",
            [](DirectRendering& c, const PoseArgument& hand, const ToolContact& contact,
               double dt) { return c.update(pose_of(hand), contact, dt); },
            py::arg("manipulandum"), py::arg("contact"), py::arg("dt"),
            "One cycle of dt seconds; poses of a frame at the grasp point.")
        .def_property_readonly(
            "pose", [](const DirectRendering& c) { return c.pose(); }, "Of the tool; a copy.")
        .def(
            "place", [](DirectRendering& c, const PoseArgument& pose) { c.place(pose_of(pose)); },
            py::arg("pose"), "Puts the tool there [m].")
        .def(
            "rendered",
            [](const DirectRendering& c, const PoseArgument& hand) {
                return c.rendered(pose_of(hand));
            },
            py::arg("manipulandum"), "Load on the hand, clamped [N], [N m].")
        .def_property(
            "gains", [](const DirectRendering& c) { return c.gains(); },
            &DirectRendering::set_gains, "In use; a copy.");
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
                     const ArrayArgument& grasp, double rate, double scale,
                     const ArrayArgument& centre) {
    check_all(pairs, "pairs", "a ContactPair");
    HapticToolOptions options;
    options.kind =
        static_cast<ToolCoupling>(choice_of("coupling", coupling, {"static", "dynamic", "direct"}));
    options.grasp = vector_of(grasp, "grasp");
    options.rate = rate;
    options.workspace.scale = scale;
    options.workspace.centre = vector_of(centre, "centre");
    std::vector<ContactPair*> felt;
    felt.reserve(pairs.size());
    for (const auto& pair : pairs) felt.push_back(pair->pair.get());
    ToolHandle handle{device, body, pairs, nullptr};
    handle.tool = std::make_unique<HapticTool>(*device, body->get(), felt, gains, options);
    handle.tool->safety().enable();
    return handle;
}

void bind_tool(py::module_& m) {
    py::class_<HapticTick>(m, "HapticTick", "What a tick of a tool did.")
        .def_readonly("device", &HapticTick::device, py::return_value_policy::copy,
                      "What was read of the device.")
        .def_property_readonly(
            "force", [](const HapticTick& tick) { return tick.command.force; }, "Shown [N].")
        .def_property_readonly(
            "torque", [](const HapticTick& tick) { return tick.command.torque; }, "Shown [N m].")
        .def_readonly("manipulandum", &HapticTick::manipulandum, py::return_value_policy::copy,
                      "Where the hand is, as a pose of the tool in the world.")
        .def_readonly("tool", &HapticTick::tool, py::return_value_policy::copy,
                      "Pose of the tool in the world.")
        .def_readonly("contact", &HapticTick::contact, py::return_value_policy::copy,
                      "On the tool about the grasp point [N], [N m].")
        .def_readonly("depth", &HapticTick::depth, "Of the deepest contact [m].")
        .def_readonly("max_depth", &HapticTick::max_depth, "Its bound [m]; 0: none.")
        .def_readonly("num_contacts", &HapticTick::num_contacts, "Points that touch.")
        .def_readonly("port_energy", &HapticTick::port_energy,
                      "That the hand put in, less what it got back [J].")
        .def_readonly("stored_energy", &HapticTick::stored_energy, "In coupling and contacts [J].")
        .def_readonly("oscillation", &HapticTick::oscillation,
                      "Of the force in the last window [N].")
        .def_readonly("status", &HapticTick::status, "Of the tick.");
    py::class_<ToolHandle>(m, "HapticTool", "A rigid tool in the hand, among contact pairs.")
        .def(py::init(&make_tool), py::arg("device").none(false), py::arg("body").none(false),
             py::arg("pairs"), py::arg("gains"), py::kw_only(), py::arg("coupling") = "static",
             py::arg("grasp") = py::make_tuple(0, 0, 0), py::arg("rate") = 1000.0,
             py::arg("scale") = 1.0, py::arg("centre") = py::make_tuple(0, 0, 0),
             "body: a driven rigid body; coupling: static, dynamic or direct; grasp in its axes "
             "[m]; "
             "rate of ticks [Hz]; scale: handle travel over travel in the scene; centre: where the "
             "middle of the device's workspace is in the world [m].")
        .def(
            "tick", [](ToolHandle& h, double now, double dt) { return h.tool->tick(now, dt); },
            py::arg("now"), py::arg("dt"),
            "After the pairs acted: drives the tool and writes the force. Then step all bodies.")
        .def_property_readonly(
            "last", [](const ToolHandle& h) { return h.tool->last(); }, "What the last tick did.")
        .def_property(
            "gains", [](const ToolHandle& h) { return h.tool->gains(); },
            [](ToolHandle& h, const CouplingGains& gains) { h.tool->set_gains(gains); },
            "In use; a copy.")
        .def(
            "reset", [](ToolHandle& h) { h.tool->reset(); },
            "Begins anew where the tool body is; counts and energies are 0.");
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
    check_all(bodies, "bodies", "a Body");
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
        .def_readonly("triangle", &ProxyContact::triangle, "Of the body's surface.")
        .def_readonly("weights", &ProxyContact::barycentric, "Of its corners (3,), sum 1.")
        .def_readonly("point", &ProxyContact::point, "Nearest on the surface [m].")
        .def_readonly("normal", &ProxyContact::normal, "Unit, from the surface to the proxy.")
        .def_readonly("multiplier", &ProxyContact::multiplier,
                      "How far it holds the proxy back [m]; 0: touched, but does not hold.");
    py::class_<ProxyState>(m, "ProxyState", "A proxy after a tick.")
        .def_readonly("position", &ProxyState::position, "Of its centre [m].")
        .def_readonly("goal", &ProxyState::goal, "Where the hand wants it [m].")
        .def_readonly("force", &ProxyState::force, "On the hand [N].")
        .def_readonly("num_contacts", &ProxyState::num_contacts, "Triangles that it touches.")
        .def_property_readonly(
            "contacts",
            [](const ProxyState& state) {
                return std::vector<ProxyContact>(state.contacts.begin(),
                                                 state.contacts.begin() + state.num_contacts);
            },
            "Nearest first.")
        .def_property_readonly("is_touching", &ProxyState::is_touching, "Some contact holds it.")
        .def_readonly("is_sliding", &ProxyState::is_sliding,
                      "Friction did not hold it in the last tick.")
        .def_readonly("is_squeezed", &ProxyState::is_squeezed,
                      "No room for its radius: the last safe position is kept.")
        .def_readonly("has_arrived", &ProxyState::has_arrived,
                      "False: passes ran out on the way to the goal.")
        .def_readonly("passes", &ProxyState::passes, "Of the iteration in the last tick.")
        .def_readonly("status", &ProxyState::status, "Of the last tick.");
    py::class_<ProxyHandle>(m, "VirtualProxy",
                            "A sphere that follows a goal and stays outside bodies that move.")
        .def(
            py::init(&make_proxy), py::arg("bodies"), py::kw_only(), py::arg("radius") = 0.005,
            py::arg("stiffness") = 500.0, py::arg("static_friction") = 0.0,
            py::arg("dynamic_friction") = 0.0, py::arg("mask") = "barycentric",
            py::arg("body_force") = 1.0, py::arg("force_shading") = false,
            "radius [m]; stiffness of the spring between proxy and goal [N/m]; Coulomb's "
            "coefficients while it sticks and slides; mask: barycentric, inverse-distance or "
            "smooth, how the force is shared among vertices; body_force: force on bodies per force "
            "on the hand; force_shading: along normals interpolated between vertices.")
        .def(
            "reset",
            [](ProxyHandle& h, const ArrayArgument& position) {
                h.proxy->reset(vector_of(position, "position"));
            },
            py::arg("position"), "Somewhere in front of all surfaces [m].")
        .def(
            "tick",
            [](ProxyHandle& h, const ArrayArgument& goal) {
                return h.proxy->tick(vector_of(goal, "goal"));
            },
            py::arg("goal"), "Surfaces push it, then it follows the goal [m].")
        .def(
            "apply_forces", [](ProxyHandle& h) { h.proxy->apply_forces(); },
            "Gives the force of the last tick to the bodies, for their next step.")
        .def_property_readonly(
            "state", [](const ProxyHandle& h) { return h.proxy->state(); },
            "After the last tick; a copy.");
}

}  // namespace

void bind_haptics(py::module_& m) {
    bind_gains(m);
    bind_coupling(m);
    bind_baselines(m);
    bind_tool(m);
    bind_proxy(m);
}

}  // namespace pliant::python
