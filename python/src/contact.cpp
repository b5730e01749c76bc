#include "contact_handle.h"
#include "long_call.h"
#include "meshes.h"

#include "pliant/contact/build_pointshell.h"
#include "pliant/core/error.h"
#include "pliant/field/iso_surface.h"
#include "pliant/reduction/material_points.h"

namespace pliant::python {
namespace {

using ShellPointer = std::shared_ptr<Pointshell>;

ShellPointer build_shell(const SurfaceArgument& surface, double size, int points, int levels,
                         int resolution, const std::string& kind, double expansion,
                         double offset_cells, const ProgressArgument& progress) {
    FieldBuildOptions field;
    field.surface = static_cast<FieldSurface>(choice_of("kind", kind, {"signed", "offset"}));
    field.resolution = resolution;
    field.expansion = expansion;
    field.offset_cells = offset_cells;
    const SurfaceInput input(surface);
    return std::make_shared<Pointshell>(run_long(progress, [&](Progress& shown) {
        FieldReport report;
        const DistanceGrid grid = build_field(input.load(shown, size), field, shown, &report);
        const SurfaceMesh carrier = iso_surface(grid, {.drops_enclosed = true}, shown);
        Pointshell shell =
            build_pointshell(grid, carrier, {.num_points = points, .num_levels = levels}, shown);
        shell.offset = report.offset;
        return shell;
    }));
}

py::array floats_view(const py::object& self, const std::vector<Eigen::Vector3f>& rows) {
    return view_of(reinterpret_cast<const float*>(rows.data()), rows_of(rows.size(), 3), self);
}

PointTree make_tree(const Pointshell& shell, const py::object& model) {
    if (model.is_none()) {
        const py::gil_scoped_release release;
        return PointTree(shell);
    }
    const ReducedModel reduced = reduced_model_of(model);
    const py::gil_scoped_release release;
    std::vector<Eigen::Vector3d> points;
    for (const Eigen::Vector3f& p : shell.points) points.push_back(p.cast<double>());
    return {shell, material_points(reduced, points, true)};
}

void bind_shell(py::module_& m) {
    py::class_<Pointshell, ShellPointer>(m, "Pointshell", "Points on a surface, coarse to fine.")
        .def_static(
            "load",
            [](const std::filesystem::path& path) {
                return std::make_shared<Pointshell>(load_pointshell(path));
            },
            py::arg("path"), Unlocked(), "From a .pliant file.")
        .def(
            "save",
            [](const Pointshell& shell, const std::filesystem::path& path) {
                save_pointshell(shell, path);
            },
            py::arg("path"), Unlocked(), "To a .pliant file.")
        .def_property_readonly(
            "points",
            [](const py::object& self) {
                return floats_view(self, self.cast<const Pointshell&>().points);
            },
            "(n, 3) float32 [m], no copy.")
        .def_property_readonly(
            "normals",
            [](const py::object& self) {
                return floats_view(self, self.cast<const Pointshell&>().normals);
            },
            "(n, 3) float32, unit, inwards, no copy.")
        .def_readonly("level_start", &Pointshell::level_start, "First point of each level.")
        .def_readonly("spacing", &Pointshell::spacing, "Of the finest level [m].")
        .def_readonly("offset", &Pointshell::offset, "From the surface that it stands for [m].")
        .def_property_readonly("num_points", &Pointshell::num_points, "Of all levels.")
        .def_property_readonly("num_levels", &Pointshell::num_levels, "Coarse to fine.");
    m.def("build_pointshell", &build_shell, py::arg("surface"), py::kw_only(),
          py::arg("size") = 0.0, py::arg("points") = 64000, py::arg("levels") = 4,
          py::arg("resolution") = 256, py::arg("kind") = "signed", py::arg("expansion") = 1.5,
          py::arg("offset_cells") = 1.4, py::arg("progress") = py::none(),
          "About so many even points in all levels on a surface (mesh, file or name of a shape); "
          "size: longest side [m], 0: as it is. They lie on a field with the kind, resolution, "
          "expansion and offset_cells of build_field.");
    py::class_<PointTree>(m, "PointTree", "A pointshell as a tree of spheres.")
        .def(py::init(&make_tree), py::arg("shell"), py::arg("model") = py::none(),
             "Rigid, or following the deformation of a ReducedModel.")
        .def_static("load", &PointTree::load, py::arg("path"), Unlocked(), "From a .pliant file.")
        .def(
            "save",
            [](const PointTree& tree, const std::filesystem::path& path) { tree.save(path); },
            py::arg("path"), Unlocked(), "To a .pliant file.")
        .def_property_readonly("rank", &PointTree::rank,
                               "r of the model that it follows; 0: rigid.")
        .def_property_readonly("num_points", &PointTree::num_points, "Of all levels.")
        .def_property_readonly("num_levels", &PointTree::num_levels, "Coarse to fine.");
}

/// Shares ownership of what a traversal asks.
struct QueryHandle {
    std::unique_ptr<PointTraversal> traversal;

    py::dict find(const PoseArgument& pose, const py::object& q) {
        std::vector<double> shape(static_cast<std::size_t>(traversal->tree().rank()));
        if (!q.is_none()) {
            const Eigen::VectorXd given = reals_of(q, "q", traversal->tree().rank());
            shape.assign(given.data(), given.data() + given.size());
        }
        // keeps the lock: soon over, and of one thread at a time
        traversal->forget();
        const StepStatus status = traversal->update(pose_of(pose), shape);
        const ContactPoints& found = traversal->contacts();
        const auto n = static_cast<py::ssize_t>(found.count);
        py::array_t<double> x({n, py::ssize_t{3}});
        for (py::ssize_t i = 0; i < n; ++i) {
            const auto k = static_cast<std::size_t>(i);
            x.mutable_at(i, 0) = static_cast<double>(found.x[k]);
            x.mutable_at(i, 1) = static_cast<double>(found.y[k]);
            x.mutable_at(i, 2) = static_cast<double>(found.z[k]);
        }
        py::dict result;
        result["status"] = status;
        result["points"] = py::array_t<int>(n, found.point.data());
        result["positions"] = x;
        result["distances"] = py::array_t<float>(n, found.distance.data());
        result["visited"] = traversal->statistics().visited;
        result["is_truncated"] = traversal->statistics().is_truncated;
        return result;
    }
};

}  // namespace

std::shared_ptr<PairHandle> make_pair_of(const BodyPointer& shell, const PointTree& tree,
                                         const BodyPointer& solid,
                                         const std::shared_ptr<DistanceField>& field,
                                         double stiffness, double friction, int budget,
                                         double scaling_count, double cap_depth) {
    FieldBody against{&solid->body(), field, {}};
    if (const auto* deformed = dynamic_cast<const DeformedField*>(field.get())) {
        against.field = nullptr;
        against.deformed = deformed->model();
    }
    ContactPairOptions options;
    options.traversal.budget = budget;
    options.loads.stiffness = stiffness;
    options.loads.friction = friction;
    options.loads.scaling_count = scaling_count;
    options.loads.cap_depth = cap_depth;
    return std::make_shared<PairHandle>(PairHandle{
        shell, solid,
        std::make_unique<ContactPair>(ShellBody{&shell->body(), tree}, against, options)});
}

void bind_contact(py::module_& m) {
    bind_shell(m);
    py::class_<QueryHandle>(m, "ContactQuery", "Which points of a tree are inside a field.")
        .def(py::init([](const PointTree& tree, const std::shared_ptr<DistanceField>& field,
                         int budget) {
                 return QueryHandle{std::make_unique<PointTraversal>(
                     tree, field, TraversalOptions{.budget = budget})};
             }),
             py::arg("tree"), py::arg("field").none(false), py::arg("budget") = 0,
             "budget: nodes that may be visited, 0: all.")
        .def("find", &QueryHandle::find, py::arg("pose"), py::arg("q") = py::none(),
             "With the tree at a pose in the axes of the field and the shape q (r,): a dictionary "
             "of points, their positions (n, 3) there [m] and distances (n,) [m], below 0.");
    py::class_<PairHandle, std::shared_ptr<PairHandle>>(
        m, "ContactPair",
        "Contact of the points of one body with the field of another, rigid or reduced.")
        .def(
            py::init(&make_pair_of), py::arg("shell").none(false), py::arg("tree"),
            py::arg("solid").none(false), py::arg("field").none(false), py::kw_only(),
            py::arg("stiffness") = 1000.0, py::arg("friction") = 0.0, py::arg("budget") = 0,
            py::arg("scaling_count") = 10.0, py::arg("cap_depth") = 0.0,
            "shell: body with the points of tree; solid: body with field, of a reduced body a "
            "DeformedField. stiffness of one point [N/m]; friction: Coulomb's coefficient; budget: "
            "nodes of the tree visited in a step, 0: all. Where more than scaling_count points "
            "push one way they share the stiffness of so many; beyond cap_depth [m], unless 0, a "
            "point pushes back by twice its stiffness more.")
        .def(
            "act", [](PairHandle& pair, double dt) { return pair.pair->act(dt); }, py::arg("dt"),
            "Contact as the bodies are, into their loads of the next step of dt seconds.")
        .def_property_readonly(
            "on_shell", [](const PairHandle& pair) { return pair.pair->loads().on_shell; },
            "Load on the shell body about its centre, world axes.")
        .def_property_readonly(
            "on_solid", [](const PairHandle& pair) { return pair.pair->loads().on_field; },
            "Load on the other body about its centre, world axes.")
        .def_property_readonly(
            "num_contacts", [](const PairHandle& pair) { return pair.pair->loads().num_contacts; },
            "Points inside.")
        .def_property_readonly(
            "deepest", [](const PairHandle& pair) { return pair.pair->loads().deepest; },
            "Depth of the deepest point [m].")
        .def_property_readonly(
            "energy", [](const PairHandle& pair) { return pair.pair->loads().elastic_energy; },
            "Stored in contacts [J].")
        .def(
            "forget", [](PairHandle& pair) { pair.pair->forget(); },
            "Forgets friction: after resets.");
}

}  // namespace pliant::python
