#include "field_handle.h"
#include "greens_handle.h"
#include "long_call.h"
#include "meshes.h"

#include "pliant/core/error.h"
#include "pliant/greens/fem_zone.h"
#include "pliant/greens/pad_surface.h"
#include "pliant/greens/reduced_zone.h"
#include "pliant/greens/zoned_body.h"
#include "pliant/greens/zones.h"

namespace pliant::python {
namespace {

using ZonedHandle = HandleOf<ZonedBody>;

std::vector<int> vertices_of(const ArrayArgument& value, const std::string& name) {
    const auto array = index_array(value, name, {-1});
    return {array.data(), array.data() + array.size()};
}

/// As many vectors as there are places for them.
std::vector<Eigen::Vector3d> vectors_of(const ArrayArgument& value, const std::string& name,
                                        std::size_t count) {
    return points_of(real_array(value, name, {static_cast<py::ssize_t>(count), 3}), name);
}

Zone make_zone(const std::string& name, const py::object& model, const PoseArgument& pose) {
    Zone zone;
    zone.name = name;
    zone.pose = pose_of(pose);
    if (py::isinstance<GreensModel>(model))
        zone.model = model.cast<GreensPointer>();
    else if (py::isinstance<SeamResponse>(model))
        zone.response = model.cast<std::shared_ptr<SeamResponse>>();
    else
        refuse("model", model, "a GreensModel, FemZone or ReducedZone");
    return zone;
}

/// Place of a zone in a list of them.
int check_zone(int zone, int count) {
    check_index("zone", zone, count);
    return zone;
}

GreensZone& greens_zone(ZonedModel& model, int zone) {
    GreensZone* const found = model.greens(check_zone(zone, model.num_zones()));
    if (found == nullptr)
        throw InputError("", "zone " + std::to_string(zone) + " has no Green's functions");
    return *found;
}

bool set_loads(ZonedModel& model, int zone, const ArrayArgument& nodes,
               const ArrayArgument& values) {
    const std::vector<int> ids = vertices_of(nodes, "nodes");
    return greens_zone(model, zone).set_loads(ids, vectors_of(values, "values", ids.size()));
}

py::array zone_positions(ZonedModel& model, int zone) {
    const int count = greens_zone(model, zone).reference().functions->num_nodes();
    std::vector<Eigen::Vector3d> x;
    x.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) x.push_back(model.position(zone, i));
    return array_of(x);
}

void bind_zone_kinds(py::module_& m) {
    py::class_<SeamResponse, std::shared_ptr<SeamResponse>>(
        m, "SeamResponse", "What a zone of any kind is to the seams that bond it.")
        .def_property_readonly(
            "num_seam_nodes", [](const SeamResponse& zone) { return zone.seam_positions().size(); },
            "Nodes that it shares with other zones.")
        .def(
            "seam_stiffness",
            [](const SeamResponse& zone) {
                const Eigen::MatrixXd K = zone.seam_stiffness().transpose();
                return py::array_t<double>({K.cols(), K.rows()}, K.data());
            },
            "(3 n, 3 n) [N/m] at rest; a copy.");
    py::class_<FemZone, SeamResponse, std::shared_ptr<FemZone>>(
        m, "FemZone", "Finite elements as a zone, linear about rest.")
        .def(py::init([](const py::object& model, const ArrayArgument& seam,
                         const ArrayArgument& fixed, const ProgressArgument& progress) {
                 const FemModel& fem = fem_model_of(model);
                 const std::vector<int> joined = vertices_of(seam, "seam");
                 const std::vector<int> held = vertices_of(fixed, "fixed");
                 return run_long(progress, [&](Progress& shown) {
                     shown.stage("factorisation");
                     return std::make_shared<FemZone>(fem, joined, held);
                 });
             }),
             py::arg("model"), py::arg("seam"), py::arg("fixed") = py::tuple(),
             py::arg("progress") = py::none(),
             "model: FemModel; seam and fixed: vertices of its mesh.")
        .def(
            "set_loads",
            [](FemZone& zone, const ArrayArgument& vertices, const ArrayArgument& forces,
               const ArrayArgument& gravity) {
                const std::vector<int> loaded = vertices_of(vertices, "vertices");
                zone.set_loads(loaded, vectors_of(forces, "forces", loaded.size()),
                               vector_of(gravity, "gravity"));
            },
            py::arg("vertices"), py::arg("forces"), py::arg("gravity") = py::make_tuple(0, 0, 0),
            "Forces (k, 3) [N] on vertices (k,) off the seam, and gravity [m/s²].");
    py::class_<ReducedZone, SeamResponse, std::shared_ptr<ReducedZone>>(
        m, "ReducedZone", "A reduced model as a zone: its deformation may be large.")
        .def(py::init([](const py::object& model, const ArrayArgument& seam, double layer) {
                 const ReducedModel reduced = reduced_model_of(model);
                 const std::vector<int> joined = vertices_of(seam, "seam");
                 const py::gil_scoped_release release;
                 return std::make_shared<ReducedZone>(reduced, joined,
                                                      ReducedZoneOptions{.layer = layer});
             }),
             py::arg("model"), py::arg("seam"), py::arg("layer") = 0.01,
             "model: ReducedModel; seam: vertices of its mesh; layer: compliance of what bonds a "
             "seam node over that of the modes at it.")
        .def_property_readonly(
            "q", [](const ReducedZone& zone) { return array_of(zone.coordinates()); },
            "Coordinates (r,) of the last solution; a copy.");
    py::class_<Zone>(m, "Zone", "Part of a body of zones.")
        .def(py::init(&make_zone), py::arg("name"), py::arg("model"), py::arg("pose") = py::none(),
             "model: GreensModel, FemZone or ReducedZone; pose: of its axes at rest, where seams "
             "match.")
        .def_readonly("name", &Zone::name, "Of the zone.")
        .def_property_readonly(
            "pose", [](const Zone& zone) { return zone.pose; }, "At rest; a copy.");
}

void bind_zoned_model(py::module_& m) {
    py::enum_<SeamSystem::Status>(m, "SeamStatus", "How a solution of seams went.")
        .value("Solved", SeamSystem::Status::Solved)
        .value("NotConverged", SeamSystem::Status::NotConverged)
        .value("Singular", SeamSystem::Status::Singular)
        .value("BadInput", SeamSystem::Status::BadInput);
    py::class_<ZonedModel>(
        m, "ZonedModel",
        "A body of zones bonded where their nodes are at the same place at rest; "
        "each has axes of its own that may move.")
        .def(py::init([](const std::vector<Zone>& zones, double tolerance) {
                 return std::make_unique<ZonedModel>(zones, find_seams(zones, tolerance));
             }),
             py::arg("zones"), py::arg("tolerance") = 1e-6,
             "tolerance: of places, times the size of the smaller zone.")
        .def_property_readonly("num_zones", &ZonedModel::num_zones, "Zones.")
        .def_property_readonly(
            "num_seams", [](const ZonedModel& model) { return model.seams().num_seams(); },
            "Places where zones hang together.")
        .def(
            "set_poses",
            [](ZonedModel& model, const std::vector<PoseArgument>& poses) {
                std::vector<Pose> given;
                given.reserve(poses.size());
                for (const PoseArgument& pose : poses) given.push_back(pose_of(pose));
                return model.set_poses(given);
            },
            py::arg("poses"), "Of the axes of all zones in the world.")
        .def(
            "set_gravity",
            [](ZonedModel& model, const ArrayArgument& g) {
                model.set_gravity(vector_of(g, "acceleration"));
            },
            py::arg("acceleration"), "In the world [m/s²].")
        .def("set_loads", &set_loads, py::arg("zone"), py::arg("nodes"), py::arg("values"),
             "Of a zone with Green's functions: tractions [Pa] of free nodes, displacements [m] of "
             "fixed ones, (k, 3) in its axes. False: not finite, no column, on a seam or too many.")
        .def(
            "solve", [](ZonedModel& model) { return model.solve(); }, Unlocked(),
            "For the loads and poses of now. Models that share a zone are solved one after the "
            "other.")
        .def("positions", &zone_positions, py::arg("zone"),
             "Nodes of a zone with Green's functions (n, 3) in the world, displaced [m]; a copy.")
        .def(
            "seam_displacements",
            [](const ZonedModel& model, int zone) {
                const Eigen::VectorXd& u =
                    model.seams().displacements(check_zone(zone, model.num_zones()));
                return py::array_t<double>({u.size() / 3, py::ssize_t{3}}, u.data());
            },
            py::arg("zone"), "(n, 3) in the axes of a zone [m]; a copy.")
        .def_property_readonly(
            "largest_gap", [](const ZonedModel& model) { return model.seams().largest_gap(); },
            "Between the two sides of a seam, both displaced [m].")
        .def(
            "posed",
            [](const ZonedModel& model) { return std::make_shared<GreensModel>(model.posed()); },
            Unlocked(),
            "All zones with Green's functions as one GreensModel in their poses of now.");
}

BodyPointer make_character(const CharacterModel& model, const PoseArgument& pose,
                           const std::optional<ScriptedMotion>& motion,
                           const std::vector<ScriptedMotion>& flexion, double rate) {
    ZonedBodyOptions options;
    options.pose = pose_of(pose);
    options.motion = motion;
    options.flexion = flexion;
    options.rate = rate;
    const auto make = [model, options] { return std::make_unique<ZonedBody>(model, options); };
    return std::make_shared<ZonedHandle>(make(), make);
}

void bind_character(py::module_& m) {
    py::class_<Bone>(m, "Bone", "Turns about a hinge, with all bones after it.")
        .def(py::init([](const std::string& name, int parent, const ArrayArgument& joint,
                         const ArrayArgument& axis) {
                 return Bone{name, parent, vector_of(joint, "joint"), vector_of(axis, "axis")};
             }),
             py::arg("name"), py::arg("parent") = -1, py::arg("joint") = py::make_tuple(0, 0, 0),
             py::arg("axis") = py::make_tuple(0, 1, 0),
             "parent: place of a bone before it, -1: the body; joint: a point of the hinge [m] at "
             "rest.")
        .def_readonly("name", &Bone::name, "Of the bone.")
        .def_readonly("parent", &Bone::parent,
                      "The bone before it that it hangs on; -1: the body itself.");
    py::class_<CharacterZone>(m, "CharacterZone", "An elastic part, moved by a bone.")
        .def(py::init([](const std::string& name, const GreensPointer& model, int bone,
                         const PoseArgument& rest, double mask_radius) {
                 return CharacterZone{name, model, pose_of(rest), bone, mask_radius};
             }),
             py::arg("name"), py::arg("model").none(false), py::arg("bone") = 0,
             py::arg("rest") = py::none(), py::arg("mask_radius") = 0.0,
             "model: GreensModel with fixed_columns; rest: of its axes in those of the body; "
             "mask_radius of forces of points [m], 0: 1.5 mean edges.")
        .def_readonly("name", &CharacterZone::name, "Of the zone.");
    py::class_<CharacterModel>(m, "Character", "Elastic zones on bones.")
        .def(py::init([](const std::vector<Bone>& bones, const std::vector<CharacterZone>& zones,
                         double blend, const std::string& seams) {
                 return CharacterModel{
                     bones, zones, blend,
                     static_cast<SeamMode>(choice_of("seams", seams, {"blended", "bonded"}))};
             }),
             py::arg("bones"), py::arg("zones"), py::arg("blend") = 0.01,
             py::arg("seams") = "blended",
             "blend: over which neighbouring bones share fixed nodes at a joint [m]; seams: "
             "blended (every zone by itself) or bonded (forces go from zone to zone).")
        .def("body", &make_character, py::arg("pose") = py::none(), py::arg("motion") = py::none(),
             py::arg("flexion") = py::list(), py::arg("rate") = 1000.0,
             "A body; motion: ScriptedMotion of the whole; flexion: one for each bone, whose x is "
             "the angle of its hinge [rad]; rate of steps [Hz].");
    py::class_<ZonedHandle, BodyHandle, std::shared_ptr<ZonedHandle>>(
        m, "ZonedBody", "A character of elastic zones on bones.")
        .def_property_readonly(
            "pose", [](const ZonedHandle& b) { return b.get().pose(); },
            "Of its axes in the world.")
        .def_property_readonly(
            "num_zones", [](const ZonedHandle& b) { return b.get().num_zones(); }, "Zones.")
        .def(
            "first_vertex",
            [](const ZonedHandle& b, int zone) {
                return b.get().first_vertex(check_zone(zone, b.get().num_zones()));
            },
            py::arg("zone"), "Of a zone in surface.")
        .def_property_readonly(
            "bones",
            [](const ZonedHandle& b) {
                const auto bones = b.get().bones();
                return std::vector<Pose>(bones.begin(), bones.end());
            },
            "Where bones have gone from rest, in the axes of the body.");
}

}  // namespace

void bind_zones(py::module_& m) {
    bind_zone_kinds(m);
    bind_zoned_model(m);
    bind_character(m);
    m.def(
        "pad_surface",
        [](double length, double width, double height, int levels) {
            return std::make_shared<SemiRegularMesh>(
                pad_surface({.length = length, .width = width, .height = height}, levels));
        },
        py::arg("length") = 0.03, py::arg("width") = 0.018, py::arg("height") = 0.015,
        py::arg("levels") = 2,
        "A soft pad around a bone along x, as of a link of a finger, from (0, -width / 2, -height) "
        "to (length, width / 2, 0) [m]; levels: rounds of subdivision of 14 vertices, 0 to 6.");
}

}  // namespace pliant::python
