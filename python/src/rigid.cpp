#include "body_handle.h"
#include "long_call.h"
#include "meshes.h"

#include "pliant/body/rigid_body.h"
#include "pliant/core/error.h"
#include "scene/primitive_surfaces.h"

namespace pliant::python {
namespace {

/// A solid with the surface that is drawn.
struct Solid {
    RigidShape shape;
    SurfaceMesh surface;
};

ScriptedMotion make_motion(const ArrayArgument& times, const ArrayArgument& positions,
                           const py::object& rotations, bool repeat) {
    const auto t = real_array(times, "times", {-1});
    const auto x = real_array(positions, "positions", {t.shape(0), 3});
    py::array_t<double> q;
    if (!rotations.is_none()) q = real_array(rotations, "rotations", {t.shape(0), 4});
    std::vector<Keyframe> keys(static_cast<std::size_t>(t.shape(0)));
    for (py::ssize_t i = 0; i < t.shape(0); ++i) {
        Keyframe& key = keys[static_cast<std::size_t>(i)];
        key.time = t.at(i);
        key.pose.position = {x.at(i, 0), x.at(i, 1), x.at(i, 2)};
        if (q.size() > 0)
            key.pose.rotation =
                Quaternion(q.at(i, 0), q.at(i, 1), q.at(i, 2), q.at(i, 3)).normalized();
    }
    return ScriptedMotion(std::move(keys), repeat);
}

BodyPointer make_rigid(const Solid& solid, const PoseArgument& pose, double density,
                       const std::optional<ScriptedMotion>& motion, const Twist& velocity) {
    RigidBodyOptions options;
    options.pose = pose_of(pose);
    options.velocity = velocity;
    options.script = motion;
    if (density != 0) options.mass = rigid_mass(solid.surface, density);
    const auto make = [solid, options] {
        return std::make_unique<RigidBody>(solid.shape, solid.surface, options);
    };
    return std::make_shared<HandleOf<RigidBody>>(make(), make);
}

void bind_solids(py::module_& m) {
    py::class_<Solid>(m, "Solid", "A solid that does not deform, in its own axes.")
        .def_property_readonly(
            "surface",
            [](const Solid& solid) { return std::make_shared<SurfaceMesh>(solid.surface); },
            "Triangles that stand for it; a copy.")
        .def(
            "gap",
            [](const Solid& solid, const ArrayArgument& points) {
                const auto x = points_of(points, "points");
                std::vector<double> gaps;
                {
                    const py::gil_scoped_release release;
                    for (const Eigen::Vector3d& p : x) gaps.push_back(solid.shape.sample(p).gap);
                }
                return array_of<double>(gaps, {static_cast<py::ssize_t>(gaps.size())});
            },
            py::arg("points"), "Signed distance (n,) [m], negative inside.")
        .def(
            "body", &make_rigid, py::arg("pose") = py::none(), py::arg("density") = 0.0,
            py::arg("motion") = py::none(), py::arg("velocity") = Twist{},
            "A rigid body: static or driven; with a density [kg/m³] moved by forces; with a motion "
            "along a path, which says where it begins. pose: of its axes in the world at the "
            "start; velocity of their origin at the start, of a body that forces move.");
    m.def(
        "Sphere",
        [](double r) {
            return Solid{RigidShape::sphere(r), sphere_surface(r)};
        },
        py::arg("radius"), "About the origin [m].");
    m.def(
        "Box",
        [](const ArrayArgument& sides) {
            const Eigen::Vector3d sizes = vector_of(sides, "sizes");
            return Solid{RigidShape::box(sizes / 2), box_surface(sizes)};
        },
        py::arg("sizes"), "Of full sides about the origin [m].");
    m.def(
        "Capsule",
        [](double radius, double length) {
            return Solid{RigidShape::capsule(radius, length / 2), capsule_surface(radius, length)};
        },
        py::arg("radius"), py::arg("length"), "About z; length of its axis [m].");
    m.def(
        "Ground",
        [](double size) {
            return Solid{RigidShape::half_space(), ground_surface(size)};
        },
        py::arg("size") = 1.0, "All below z = 0; drawn as a square [m].");
    m.def(
        "MeshSolid",
        [](const SurfaceArgument& surface, double size, const ProgressArgument& progress) {
            const SurfaceInput input(surface);
            return run_long(progress, [&](Progress& shown) {
                SurfaceMesh mesh = input.load(shown, size);
                shown.stage("solid");
                return Solid{RigidShape::mesh(mesh), mesh};
            });
        },
        py::arg("surface"), py::arg("size") = 0.0, py::arg("progress") = py::none(),
        "Inside a closed surface, scaled to a longest side of size [m] unless 0.");
}

}  // namespace

void bind_rigid(py::module_& m) {
    py::class_<ScriptedMotion>(m, "ScriptedMotion", "A smooth path through poses.")
        .def(py::init(&make_motion), py::arg("times"), py::arg("positions"),
             py::arg("rotations") = py::none(), py::arg("repeat") = false,
             "times (k,) [s], positions (k, 3) [m], rotations (k, 4) quaternions (w, x, y, z).")
        .def_static(
            "oscillation",
            [](const PoseArgument& base, const ArrayArgument& amplitude, double frequency,
               const ArrayArgument& rotation_amplitude, double phase) {
                return ScriptedMotion::oscillation(
                    pose_of(base), vector_of(amplitude, "amplitude"),
                    vector_of(rotation_amplitude, "rotation_amplitude"), frequency, phase);
            },
            py::arg("base"), py::arg("amplitude"), py::arg("frequency"),
            py::arg("rotation_amplitude") = py::make_tuple(0, 0, 0), py::arg("phase") = 0.0,
            "base + amplitude sin(2π frequency t + phase): amplitude [m] and rotation_amplitude "
            "[rad] along world axes, frequency [Hz], phase [rad].")
        .def(
            "at", [](const ScriptedMotion& s, double time) { return s.at(time).pose; },
            py::arg("time"), "Pose at a time [s].");
    bind_solids(m);
    using RigidHandle = HandleOf<RigidBody>;
    py::class_<RigidHandle, BodyHandle, std::shared_ptr<RigidHandle>>(
        m, "RigidBody", "A body that does not deform.")
        .def_property_readonly(
            "pose", [](const RigidHandle& b) { return b.get().motion().pose; }, "Now.")
        .def_property_readonly(
            "twist", [](const RigidHandle& b) { return b.get().motion().velocity; }, "Now.")
        .def_property_readonly(
            "mass",
            [](const RigidHandle& b) { return b.get().mass() ? b.get().mass()->mass : 0.0; },
            "[kg]; 0: not moved by forces.")
        .def(
            "drive_to",
            [](const RigidHandle& b, const PoseArgument& p) { b.get().drive_to(pose_of(p)); },
            py::arg("pose"), "Where the next step ends; bodies without motion or mass.")
        .def(
            "add_wrench",
            [](const RigidHandle& b, const Wrench& wrench) { b.get().add_wrench(wrench); },
            py::arg("wrench"), "Load of the next step about the origin of its frame.")
        .def_property_readonly(
            "last_load", [](const RigidHandle& b) { return b.get().last_load(); },
            "All loads on it in the last step about the origin of its frame.");
}

}  // namespace pliant::python
