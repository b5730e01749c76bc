#include "body_handle.h"
#include "long_call.h"
#include "meshes.h"

#include "pliant/core/error.h"
#include "pliant/fem/constraints.h"
#include "pliant/fem/mass.h"
#include "pliant/reduction/build_reduced.h"
#include "pliant/reduction/reduced_body.h"
#include "pliant/reduction/reduced_trial.h"
#include "pliant/reduction/sketch_model.h"
#include "pliant/reduction/snapshots.h"

#include <mutex>

namespace pliant::python {
namespace {

/// Copies of one model share the tables of its bodies.
class ModelHandle {
public:
    explicit ModelHandle(ReducedModel model) : model_(std::move(model)) {}
    [[nodiscard]] const ReducedModel& model() const noexcept { return model_; }
    /// Made by the first who asks, while others wait: to be called without the interpreter's lock.
    [[nodiscard]] const ReducedBodyModel& bodies() {
        const std::lock_guard lock(mutex_);
        if (!bodies_) bodies_.emplace(model_);
        return *bodies_;
    }
    std::vector<StageReport> stages;
    StaticErrors errors;

private:
    ReducedModel model_;
    std::mutex mutex_;
    std::optional<ReducedBodyModel> bodies_;
};
using ModelPointer = std::shared_ptr<ModelHandle>;
using ReducedHandle = HandleOf<ReducedBody>;

ModelPointer build_reduced_of(const SurfaceArgument& surface, double size,
                              const MaterialArgument& material, const std::string& fixed, bool free,
                              int rank, int num_modes, const std::string& mesh, int resolution,
                              const py::object& regions, bool hollow, bool keep_largest,
                              const CacheArgument& cache, double growth, int levels,
                              const std::string& storage, const std::string& elements,
                              const ProgressArgument& progress) {
    ReducedBuildOptions options;
    options.size = size;
    options.material = material_of(material);
    for (auto& [selection, other] : regions_of(regions))
        options.regions.push_back({selection, other});
    options.fixed = fixed;
    options.is_free = free;
    options.mesh.kind = mesh;
    options.mesh.resolution = resolution;
    options.mesh.is_hollow = hollow;
    options.mesh.growth = growth;
    options.mesh.levels = levels;
    options.storage =
        static_cast<ShapeStorage>(choice_of("storage", storage, {"float32", "int16"}));
    options.keeps_largest = keep_largest;
    options.elements = elements_of(elements);
    options.num_modes = num_modes;
    options.rank = rank;
    options.finds_errors = true;
    options.cache = cache_of(cache);
    check_options(options);
    const SurfaceInput input(surface);
    ReducedBuildReport report;
    auto model = std::make_shared<ModelHandle>(run_long(progress, [&](Progress& shown) {
        return build_reduced_model(input.load(shown), options, shown, &report);
    }));
    model->stages = std::move(report.stages);
    model->errors = report.errors;
    if (const ReducedTrial trial = try_model(model->model()); !trial.is_usable())
        warn("the body " + trial.warning());
    input.warn_of_refilling(model->model().mesh());
    return model;
}

BodyPointer make_reduced_body(ModelHandle& model, const PoseArgument& pose, double mass_damping,
                              double stiffness_damping, bool linear, const Twist& velocity) {
    ReducedBodyOptions options;
    options.pose = pose_of(pose);
    options.velocity = velocity;
    options.damping.mass = mass_damping;
    options.damping.stiffness = stiffness_damping;
    options.is_linear = linear;
    const py::gil_scoped_release release;
    const auto make = [shared = model.bodies(), options] {
        return std::make_unique<ReducedBody>(shared, options);
    };
    return std::make_shared<ReducedHandle>(make(), make);
}

/// What a basis of other shapes leaves as it is.
ReducedModelParts parts_of(const ReducedModel& model) {
    ReducedModelParts parts;
    parts.mesh = model.mesh();
    parts.materials = model.materials();
    parts.fixed_vertices = model.fixed_vertices();
    parts.surface = model.surface();
    parts.input_hash = content_hash(parts.surface);
    parts.eigenvalues = model.eigenvalues();
    parts.expected_reach = model.expected_reach();
    parts.storage = model.shapes().arrays().storage;
    parts.embedding = model.embedding();
    return parts;
}

/// Finite, and at rest where the body is held: a basis of them would move what is fixed.
void check_snapshots(std::span<const double> shapes, const ReducedModel& model) {
    const std::size_t size = 3 * static_cast<std::size_t>(model.num_vertices());
    for (std::size_t start = 0; start < shapes.size(); start += size) {
        const std::string name = "shapes[" + std::to_string(start / size) + "]";
        const Eigen::Map<const Eigen::Matrix3Xd> u(shapes.data() + start, 3, model.num_vertices());
        if (!u.allFinite())
            throw InputError("", name, "not finite", "finite displacements of all vertices [m]");
        // solvers leave rounding there
        const double limit = 1e-9 * u.cwiseAbs().maxCoeff();
        for (const int v : model.fixed_vertices())
            if (u.col(v).cwiseAbs().maxCoeff() > limit)
                refuse(name + "[" + std::to_string(v) + "]", py::float_(u.col(v).norm()),
                       "0 m: it is one of fixed_vertices, which the model holds");
    }
}

/// The same body in the best subspace of shapes of a full simulation.
ModelPointer with_snapshots(const ModelHandle& handle, const ArrayArgument& shapes, int rank,
                            double distance, const ProgressArgument& progress) {
    const ReducedModel& model = handle.model();
    const auto n = static_cast<py::ssize_t>(model.num_vertices());
    const auto array = real_array(shapes, "shapes", {-1, n, 3});
    if (array.shape(0) == 0) refuse("shapes", shapes, "one shape or more");
    check_snapshots({array.data(), static_cast<std::size_t>(array.size())}, model);
    if (!(distance >= 0 && distance < 1))
        throw InputError("", "distance", std::to_string(distance), "0 <= value < 1");
    const double largest =
        Eigen::Map<const Eigen::VectorXd>(array.data(), array.size()).cwiseAbs().maxCoeff();
    const auto check_rank = [&](Eigen::Index most, const std::string& why) {
        if (rank < 1 || rank > most)
            throw InputError("", "rank", std::to_string(rank),
                             "1 to " + std::to_string(most) + ", " + why);
    };
    check_rank(std::min<Eigen::Index>(array.shape(0), SurfaceShapes::kMaxSize),
               "the number of shapes, and " + std::to_string(SurfaceShapes::kMaxSize) + " at most");
    return std::make_shared<ModelHandle>(run_long(progress, [&](Progress& shown) {
        ReducedModelParts parts = parts_of(model);
        const FemModel fem(parts.mesh, parts.materials);
        Constraints constraints(fem.num_nodes());
        constraints.fix(parts.fixed_vertices);
        SnapshotRecorder recorder(fem, constraints, 0);
        shown.stage("basis");
        for (py::ssize_t i = 0; i < array.shape(0); ++i)
            recorder.record(static_cast<double>(i),
                            Eigen::Map<const Eigen::VectorXd>(array.data() + 3 * n * i, 3 * n));
        const Eigen::MatrixXd kept = recorder.shapes(distance);
        // what is left of rigid motion is rounding
        if (kept.size() == 0 || kept.cwiseAbs().maxCoeff() <= 1e-9 * largest)
            throw InputError("", "shapes", "at rest but for rigid motion",
                             "one or more that deform the body");
        check_rank(kept.cols(), "the shapes that differ by distance");
        parts.basis = mass_pca(kept, mass_matrix(fem), rank);
        check_rank(parts.basis.size(), "the shapes that are independent of one another");
        add_projections(parts, fem, shown);
        return ReducedModel(std::move(parts));
    }));
}

constexpr const char* kSketch = "lists of pairs of a point and a force (3,) [N]";

/// One load: pairs of a point of the surface and a force.
std::vector<SurfaceForce> surface_forces_of(const BodyHandle& body, py::handle load) {
    std::vector<SurfaceForce> forces;
    const BodySurface surface(body.body().surface());
    for (const py::object& item : items_of(load, "loads", kSketch)) {
        const auto [place, force] = pair_of(item, "loads", kSketch);
        const SurfacePoint point = body.point(place);
        SurfaceForce& added = forces.emplace_back();
        added.force = vector_of(force, "force");
        added.triangle = surface.triangle_of(point);
        added.barycentric = point.barycentric;
        if (point.triangle < 0) {
            const Triangle& corners =
                surface.mesh().triangles[static_cast<std::size_t>(added.triangle)];
            for (int k = 0; k < 3; ++k) added.barycentric[k] = corners[k] == point.vertex;
        }
    }
    return forces;
}

/// The same body in a subspace that also holds what these loads do.
ModelPointer with_loads(ModelHandle& handle, const py::object& loads, int rank, int max_loads,
                        const ProgressArgument& progress) {
    const ReducedModel& model = handle.model();
    const BodyPointer body = make_reduced_body(handle, PoseArgument(py::none()), 0, 0, true, {});
    const Embedding embedding = model.embedding();
    const SurfaceMesh surface = model.surface();
    std::vector<SketchLoad> sketched;
    for (const py::object& load : items_of(loads, "loads", kSketch))
        sketched.push_back(sketch_load(embedding, surface, surface_forces_of(*body, load)));
    return std::make_shared<ModelHandle>(run_long(progress, [&](Progress& shown) {
        return sketch_model(model, sketched, {.rank = rank, .max_loads = max_loads}, shown);
    }));
}

std::string reduced_text(const ModelHandle& handle) {
    const ReducedModel& model = handle.model();
    return "<ReducedModel of rank " + std::to_string(model.rank()) + ", " +
           std::to_string(model.num_elements()) + " elements" + (model.is_free() ? ", free>" : ">");
}

void bind_model(py::module_& m) {
    py::class_<ModelHandle, ModelPointer>(m, "ReducedModel",
                                          "A deformable body in a subspace. Cannot be changed.")
        .def_static(
            "load",
            [](const std::filesystem::path& path) {
                return std::make_shared<ModelHandle>(ReducedModel::load(path));
            },
            py::arg("path"), Unlocked(), "From a .pliant file, which is mapped into memory.")
        .def(
            "save",
            [](const ModelHandle& h, const std::filesystem::path& path) { h.model().save(path); },
            py::arg("path"), Unlocked(), "To a .pliant file, as pliant build makes it.")
        .def("body", &make_reduced_body, py::arg("pose") = py::none(),
             py::arg("mass_damping") = 0.0, py::arg("stiffness_damping") = 0.002,
             py::arg("linear") = false, py::arg("velocity") = Twist{},
             "A body of this model; Rayleigh damping: of mass [1/s], of stiffness [s]. linear: "
             "small "
             "displacements; velocity of a free body at the start.")
        .def_property_readonly(
            "rank", [](const ModelHandle& h) { return h.model().rank(); },
            "r: vectors of the basis.")
        .def_property_readonly(
            "num_modes", [](const ModelHandle& h) { return h.model().num_modes(); },
            "Modes of vibration that the basis began with.")
        .def_property_readonly(
            "is_free", [](const ModelHandle& h) { return h.model().is_free(); },
            "Nothing of it is held.")
        .def_property_readonly(
            "frequencies",
            [](const ModelHandle& h) {
                std::vector<double> f;
                f.reserve(static_cast<std::size_t>(h.model().num_modes()));
                for (int i = 0; i < h.model().num_modes(); ++i) f.push_back(h.model().frequency(i));
                return array_of<double>(f, {static_cast<py::ssize_t>(f.size())});
            },
            "Of the modes [Hz].")
        .def_property_readonly(
            "captured", [](const ModelHandle& h) { return h.model().captured(); },
            "Part of modes and derivatives that the basis holds, 0 to 1.")
        .def_property_readonly(
            "suggested_step", [](const ModelHandle& h) { return h.model().suggested_step(); },
            "For implicit steps [s].")
        .def_property_readonly(
            "expected_reach", [](const ModelHandle& h) { return h.model().expected_reach(); },
            "Deflection up to which the basis is meant [m].")
        .def_property_readonly(
            "basis",
            [](const py::object& self) {
                const auto U = self.cast<const ModelHandle&>().model().basis();
                const Shape strides{sizeof(double),
                                    static_cast<py::ssize_t>(sizeof(double)) * U.rows()};
                py::array array(py::dtype::of<double>(), {U.rows(), U.cols()}, strides, U.data(),
                                self);
                py::detail::array_proxy(array.ptr())->flags &=
                    ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
                return array;
            },
            "U, (3n, r): displacement of the mesh is U q; no copy.")
        .def_property_readonly(
            "mesh",
            [](const ModelHandle& h) { return std::make_shared<VolumeMesh>(h.model().mesh()); },
            "Simulation mesh.")
        .def_property_readonly(
            "surface",
            [](const ModelHandle& h) { return std::make_shared<SurfaceMesh>(h.model().surface()); },
            "That is shown and touched, at rest.")
        .def_property_readonly(
            "fixed_vertices",
            [](const ModelHandle& h) {
                const std::vector<int>& fixed = h.model().fixed_vertices();
                return array_of<int>(fixed, {static_cast<py::ssize_t>(fixed.size())});
            },
            "Of the simulation mesh.")
        .def_property_readonly(
            "materials", [](const ModelHandle& h) { return h.model().materials(); },
            "One for each region of the mesh.")
        .def(
            "with_materials",
            [](const ModelHandle& h, const std::vector<Material>& materials) {
                return std::make_shared<ModelHandle>(h.model().with_materials(materials));
            },
            py::arg("materials"),
            "The same subspace with other constants: force and mass are exact.")
        .def(
            "truncated",
            [](const ModelHandle& h, int rank) {
                return std::make_shared<ModelHandle>(h.model().truncated(rank));
            },
            py::arg("rank"), "With the first vectors of the basis only.")
        .def("with_snapshots", &with_snapshots, py::arg("shapes"), py::kw_only(), py::arg("rank"),
             py::arg("distance") = 0.0, py::arg("progress") = py::none(),
             "The same body in the best subspace of shapes (m, n, 3) of a full simulation: "
             "displacements [m] of the n vertices of mesh, as FemBody.u has them, 0 at "
             "fixed_vertices. Rigid motion of a free body is taken out. rank: at most m; distance: "
             "shapes kept differ by this part of the largest, "
             "0: all.")
        .def("with_loads", &with_loads, py::arg("loads"), py::kw_only(), py::arg("rank") = 0,
             py::arg("max_loads") = 8, py::arg("progress") = py::none(),
             "The same held body in a subspace that also has the equilibria under these loads (a "
             "sketch), each a list of pairs of a point and a force (3,) [N] in body axes. rank 0: "
             "as it is; max_loads: solved at most, those that differ most.")
        .def_property_readonly(
            "stages",
            [](const ModelHandle& h) {
                py::dict seconds;
                for (const StageReport& stage : h.stages)
                    seconds[stage.name.c_str()] = stage.seconds;
                return seconds;
            },
            "Seconds of each stage of the build; empty for a model from a file.")
        .def_property_readonly(
            "errors",
            [](const ModelHandle& h) {
                py::dict errors;
                errors["weight"] = h.errors.weight;
                errors["press"] = h.errors.press;
                return errors;
            },
            "How much less the body gives way than the whole mesh, for small loads: 0 exact, 1 "
            "rigid; of its weight along each axis, and of presses on a tenth of its size. -1: not "
            "known, of a model from a file.")
        .def(
            "trial",
            [](const ModelHandle& h) -> py::dict {
                const ReducedTrial trial = try_model(h.model());
                const auto load = [](const TriedLoad& tried) {
                    py::dict d;
                    d["displacement"] = tried.displacement;
                    d["volume"] = tried.volume;
                    d["least_det_F"] = tried.least_det_F;
                    d["settled"] = tried.is_settled;
                    return d;
                };
                py::dict all;
                all["weight"] = load(trial.weight);
                all["hand"] = load(trial.hand);
                all["frequency"] = trial.frequency;
                all["usable"] = trial.is_usable();
                all["warning"] = trial.warning();
                return all;
            },
            "What its own weight and a hand of 10 N do to it: largest displacement [m], volume "
            "over that at rest, smallest det F; and a warning where its weight alone is too much.")
        .def("__repr__", &reduced_text);
}

}  // namespace

ReducedModel reduced_model_of(py::handle value) {
    if (!py::isinstance<ModelHandle>(value)) refuse("model", value, "a ReducedModel");
    return value.cast<const ModelHandle&>().model();
}

void bind_reduced(py::module_& m) {
    bind_model(m);
    py::class_<ReducedHandle, BodyHandle, std::shared_ptr<ReducedHandle>>(
        m, "ReducedBody", "A body in a subspace, held or free.")
        .def_property_readonly(
            "q", [](const ReducedHandle& b) { return array_of(b.get().state().q); },
            "Reduced coordinates (r,); a copy.")
        .def_property_readonly(
            "v", [](const ReducedHandle& b) { return array_of(b.get().state().v); },
            "Their velocities (r,); a copy.")
        .def_property_readonly(
            "time", [](const ReducedHandle& b) { return b.get().state().time; }, "[s]")
        .def_property_readonly(
            "pose", [](const ReducedHandle& b) { return b.get().pose(); },
            "Of the rest shape's axes now.")
        .def(
            "add_reduced_force",
            [](const ReducedHandle& b, const ArrayArgument& f) {
                b.get().add_reduced_force(reals_of(f, "f", b.get().model().rank()));
            },
            py::arg("f"), "Load in reduced coordinates (r,), of the next step.")
        .def(
            "add_wrench",
            [](const ReducedHandle& b, const Wrench& wrench) { b.get().add_wrench(wrench); },
            py::arg("wrench"), "Load of a free body about its centre of mass, of the next step.")
        // nothing but the library in the loop: what examples/python/step_overhead.py compares with
        .def(
            "_bare_steps",
            [](const ReducedHandle& b, int steps, double dt) {
                ReducedBody& body = b.get();
                const py::gil_scoped_release release;
                for (int i = 0; i < steps; ++i) (void)body.step(dt);
            },
            py::arg("steps"), py::arg("dt"), "Steps in C++, without loads and the interpreter.");
    m.def(
        "build_reduced", &build_reduced_of, py::arg("surface"), py::kw_only(),
        py::arg("size") = 0.0, py::arg("material") = "rubber", py::arg("fixed") = "",
        py::arg("free") = false, py::arg("rank") = 0, py::arg("num_modes") = 20,
        py::arg("mesh") = "voxel", py::arg("resolution") = 40, py::arg("regions") = py::none(),
        py::arg("hollow") = false, py::arg("keep_largest") = false, py::arg("cache") = true,
        py::arg("growth") = 0.5, py::arg("levels") = 4, py::arg("storage") = "float32",
        py::arg("elements") = "accurate", py::arg("progress") = py::none(),
        "From a surface (mesh, file or name of a shape) to a model that deforms at haptic rates. "
        "size: longest side [m], 0: as it is; fixed: selection of vertices that are held, as "
        "\"z < 5 %\", or free; rank of the basis, which begins with num_modes modes of vibration, "
        "0: 12 to 30, for errors of "
        "2 % under its weight and presses; "
        "mesh: voxel, graded, tet or graded-tet with so many cells along the longest side, hollow: "
        "only where the surface is (voxel), growth: cell size over depth, and levels of sizes "
        "(graded kinds); keep_largest: of a mesh in several parts, instead of an error; regions: "
        "pairs of a selection and a material; storage of the surface's shapes: float32 or int16; "
        "elements: accurate, which do not lock, or plain; cache: finished stages are kept.");
}

}  // namespace pliant::python
