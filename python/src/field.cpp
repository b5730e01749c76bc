#include "field_handle.h"
#include "long_call.h"
#include "meshes.h"

#include "pliant/core/error.h"
#include "pliant/field/analytic_field.h"
#include "pliant/field/build_field.h"
#include "pliant/field/iso_surface.h"

namespace pliant::python {
namespace {

/// Components apart, as fields want them.
class PointColumns {
public:
    explicit PointColumns(const ArrayArgument& points) {
        const auto array = real_array(points, "points", {-1, 3});
        count_ = static_cast<std::size_t>(array.shape(0));
        columns_.resize(3 * count_);
        for (std::size_t i = 0; i < count_; ++i)
            for (std::size_t axis = 0; axis < 3; ++axis)
                columns_[axis * count_ + i] = static_cast<float>(array.data()[3 * i + axis]);
    }
    [[nodiscard]] std::size_t count() const noexcept { return count_; }
    [[nodiscard]] PointBatch batch() const noexcept {
        const float* const x = columns_.data();
        return {x, x + count_, x + 2 * count_, static_cast<int>(count_)};
    }

private:
    std::size_t count_ = 0;
    std::vector<float> columns_;
};

py::array distances(const DistanceField& field, const ArrayArgument& points) {
    const PointColumns x(points);
    py::array_t<float> d(static_cast<py::ssize_t>(x.count()));
    float* const out = d.mutable_data();
    {
        const py::gil_scoped_release release;
        field.distances(x.batch(), out);
    }
    return d;
}

py::tuple samples(const DistanceField& field, const ArrayArgument& points) {
    const PointColumns x(points);
    const std::size_t n = x.count();
    std::vector<float> columns(4 * n);
    float* const c = columns.data();
    {
        const py::gil_scoped_release release;
        field.samples(x.batch(), {c, c + n, c + 2 * n, c + 3 * n});
    }
    py::array_t<float> gradients({static_cast<py::ssize_t>(n), py::ssize_t{3}});
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t axis = 0; axis < 3; ++axis)
            gradients.mutable_data()[3 * i + axis] = c[(axis + 1) * n + i];
    return py::make_tuple(py::array_t<float>(static_cast<py::ssize_t>(n), c), gradients);
}

py::array slice(const DistanceField& field, const ArrayArgument& origin,
                const ArrayArgument& across, const ArrayArgument& up, int width, int height) {
    const Eigen::Vector3d corner = vector_of(origin, "origin"), x = vector_of(across, "across"),
                          y = vector_of(up, "up");
    FieldSlice cut;
    {
        const py::gil_scoped_release release;
        cut = slice_field(field, corner, x, y, width, height);
    }
    return array_of<float>(cut.values, {cut.height, cut.width});
}

FieldBuildOptions field_options(const std::string& kind, int resolution, double expansion,
                                double offset_cells, const std::string& storage,
                                double band_cells) {
    return {.surface = static_cast<FieldSurface>(choice_of("kind", kind, {"signed", "offset"})),
            .resolution = resolution,
            .expansion = expansion,
            .offset_cells = offset_cells,
            .storage = static_cast<GridStorage>(choice_of("storage", storage, {"dense", "sparse"})),
            .band_cells = band_cells};
}

void bind_fields(py::module_& m) {
    py::class_<DistanceField, std::shared_ptr<DistanceField>>(
        m, "DistanceField", "Signed distance from a solid [m], negative inside.")
        .def("distances", &distances, py::arg("points"), "(n,) float32 [m] at points (n, 3).")
        .def("samples", &samples, py::arg("points"),
             "Distances (n,) [m] and gradients (n, 3), float32, at points (n, 3).")
        .def(
            "distance",
            [](const DistanceField& field, const ArrayArgument& x) {
                return field.distance(vector_of(x, "x"));
            },
            py::arg("x"), "At one point [m].")
        .def_property_readonly(
            "bounds", [](const DistanceField& field) { return box_array(field.bounds()); },
            "(2, 3): where values are more than bounds [m].")
        .def_property_readonly("resolution", &DistanceField::resolution,
                               "Length below which it knows no detail [m].")
        .def(
            "slice", &slice, py::arg("origin"), py::arg("across"), py::arg("up"),
            py::arg("width") = 400, py::arg("height") = 400,
            "Values of a plane cut, (height, width) float32 [m], rows from the top (largest up): a "
            "picture with its lower left corner at origin [m], its lower side across [m] and its "
            "left side up [m], of 1 to 16384 pixels along each.")
        .def(
            "iso_surface",
            [](const DistanceField& field, double level, int resolution,
               const ProgressArgument& progress) {
                return std::make_shared<SurfaceMesh>(run_long(progress, [&](Progress& shown) {
                    const IsoSurfaceOptions options{.level = level};
                    if (const auto* grid = dynamic_cast<const DistanceGrid*>(&field))
                        return iso_surface(*grid, options, shown);
                    return iso_surface(field, field.bounds(), resolution, options, shown);
                }));
            },
            py::arg("level") = 0.0, py::arg("resolution") = 128, py::arg("progress") = py::none(),
            "Where it has this value [m]; resolution is of fields that are no grid.");
    py::class_<DistanceGrid, DistanceField, std::shared_ptr<DistanceGrid>>(
        m, "DistanceGrid", "Distances on a grid, trilinear between them.")
        .def_static(
            "load",
            [](const std::filesystem::path& path) {
                return std::make_shared<DistanceGrid>(DistanceGrid::load(path));
            },
            py::arg("path"), Unlocked(), "From a .pliant file.")
        .def(
            "save",
            [](const DistanceGrid& grid, const std::filesystem::path& path) { grid.save(path); },
            py::arg("path"), Unlocked(), "To a .pliant file.")
        .def_property_readonly("memory", &DistanceGrid::memory, "[bytes]")
        .def_property_readonly(
            "cells", [](const DistanceGrid& grid) { return grid.frame().cells; },
            "Along each axis.")
        .def_property_readonly(
            "cell", [](const DistanceGrid& grid) { return grid.frame().cell; }, "[m]");
    py::class_<DeformedField, DistanceField, std::shared_ptr<DeformedField>>(
        m, "DeformedField", "The field of a reduced body as it deforms, in its own axes.")
        .def(
            py::init([](const py::object& model, int resolution, int proxies, int neighbours,
                        int domains, const std::string& kind, const ProgressArgument& progress) {
                const ReducedModel reduced = reduced_model_of(model);
                const FieldBuildOptions build =
                    field_options(kind, resolution, 1.5, 1.4, "sparse", 16);
                const DeformedFieldOptions options{
                    .num_proxies = proxies, .num_neighbours = neighbours, .num_domains = domains};
                return std::make_shared<DeformedField>(run_long(progress, [&](Progress& shown) {
                    return DeformedFieldModel(reduced, build, options, shown);
                }));
            }),
            py::arg("model"), py::arg("resolution") = 64, py::arg("proxies") = 40,
            py::arg("neighbours") = 5, py::arg("domains") = 1, py::arg("kind") = "signed",
            py::arg("progress") = py::none(),
            "Of a ReducedModel: its field at rest, of a kind and resolution as in build_field, and "
            "so many proxies on the surface, of which each place asks its nearest neighbours how "
            "the body is deformed there; domains: parts of the surface with proxies of their own.")
        .def(
            "update",
            [](DeformedField& field, const ArrayArgument& q) {
                return field.update(reals_of(q, "q", field.rank()));
            },
            py::arg("q"), "Takes the shape q (r,); False: it is not finite.")
        .def_static(
            "load",
            [](const std::filesystem::path& path, const py::object& model) {
                const ReducedModel reduced = reduced_model_of(model);
                const py::gil_scoped_release release;
                return std::make_shared<DeformedField>(DeformedFieldModel::load(path, reduced));
            },
            py::arg("path"), py::arg("model"),
            "From a .pliant file, of the ReducedModel that it was built for; at rest.")
        .def(
            "save",
            [](const DeformedField& field, const std::filesystem::path& path) {
                field.model().save(path);
            },
            py::arg("path"), Unlocked(), "To a .pliant file: all but its present shape.")
        .def_property_readonly("rank", &DeformedField::rank, "r: size of q.");
}

}  // namespace

void bind_field(py::module_& m) {
    bind_fields(m);
    const auto shared = [](const FieldPointer& field) {
        return std::const_pointer_cast<DistanceField>(field);
    };
    m.def(
        "build_field",
        [](const SurfaceArgument& surface, double size, const std::string& kind, int resolution,
           double expansion, double offset_cells, const std::string& storage, double band_cells,
           const ProgressArgument& progress) {
            const FieldBuildOptions options =
                field_options(kind, resolution, expansion, offset_cells, storage, band_cells);
            const SurfaceInput input(surface);
            return std::make_shared<DistanceGrid>(run_long(progress, [&](Progress& shown) {
                return build_field(input.load(shown, size), options, shown);
            }));
        },
        py::arg("surface"), py::kw_only(), py::arg("size") = 0.0, py::arg("kind") = "signed",
        py::arg("resolution") = 128, py::arg("expansion") = 1.5, py::arg("offset_cells") = 1.4,
        py::arg("storage") = "sparse", py::arg("band_cells") = 4.0,
        py::arg("progress") = py::none(),
        "Distances from a surface (mesh, file or name of a shape): kind signed for closed ones, "
        "offset for soups, sheets and wires, offset_cells outside of them; size: longest side [m], "
        "0: as it is; resolution: cells along the longest side of a box of expansion times the "
        "surface's, a power of two; storage sparse, exact within band_cells of the surface and a "
        "bound beyond, or dense.");
    m.def(
        "sphere_field", [=](double radius) { return shared(sphere_field(radius)); },
        py::arg("radius"), "About the origin [m].");
    m.def(
        "box_field",
        [=](const ArrayArgument& sizes) {
            return shared(box_field(vector_of(sizes, "sizes") / 2));
        },
        py::arg("sizes"), "Of full sides about the origin [m].");
    m.def(
        "capsule_field",
        [=](double radius, double length) { return shared(capsule_field(radius, length / 2)); },
        py::arg("radius"), py::arg("length"), "About z; length of its axis [m].");
    m.def(
        "plane_field",
        [=](const ArrayArgument& normal, double offset) {
            return shared(plane_set_field({FieldPlane{vector_of(normal, "normal"), offset}}));
        },
        py::arg("normal"), py::arg("offset") = 0.0,
        "All with normal · x ≤ offset [m]; normal is made a unit vector.");
    using Parts = std::vector<std::shared_ptr<DistanceField>>;
    m.def(
        "unite_fields",
        [=](const Parts& p) {
            check_all(p, "parts", "a DistanceField");
            return shared(unite_fields({p.begin(), p.end()}));
        },
        py::arg("parts"), "Of points in any of the solids.");
    m.def(
        "intersect_fields",
        [=](const Parts& p) {
            check_all(p, "parts", "a DistanceField");
            return shared(intersect_fields({p.begin(), p.end()}));
        },
        py::arg("parts"), "Of points in all of the solids; a bound of the distance outside.");
    m.def(
        "invert_field",
        [=](const std::shared_ptr<DistanceField>& f) { return shared(invert_field(f)); },
        py::arg("field").none(false), "Inside and outside exchanged.");
    m.def(
        "offset_field",
        [=](const std::shared_ptr<DistanceField>& f, double by) {
            return shared(offset_field(f, by));
        },
        py::arg("field").none(false), py::arg("by"), "Grown by metres.");
    m.def(
        "move_field",
        [=](const std::shared_ptr<DistanceField>& f, const PoseArgument& pose) {
            const Pose to = pose_of(pose);
            return shared(move_field(f, to.position, Eigen::Quaterniond(to.rotation)));
        },
        py::arg("field").none(false), py::arg("pose"), "Put to a pose [m].");
}

}  // namespace pliant::python
