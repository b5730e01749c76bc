#include "body_handle.h"
#include "long_call.h"
#include "meshes.h"

#include "geometry/triangle.h"
#include "pliant/core/error.h"
#include "pliant/fem/fem_body.h"
#include "pliant/geometry/surface_query.h"

namespace pliant::python {
namespace {

// made once: a new object for each step would cost as much as the step of a small body
std::array<PyObject*, kNumStepStatuses> status_objects{};

py::object status_object(StepStatus status) {
    return py::reinterpret_borrow<py::object>(status_objects[static_cast<std::size_t>(status)]);
}

py::object step(BodyHandle& handle, double dt) {
    if (!handle.is_slow()) return status_object(handle.step(dt));
    StepStatus status = StepStatus::Ok;
    {
        const py::gil_scoped_release release;
        status = handle.step(dt);
    }
    return status_object(status);
}

int find_parameter(const Body& body, const std::string& name) {
    const std::vector<LiveParameter> parameters = body.parameters();
    std::string known;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        if (parameters[i].name == name) return static_cast<int>(i);
        known += (i > 0 ? ", " : "") + parameters[i].name;
    }
    throw InputError("", "parameter", "\"" + name + "\"",
                     known.empty() ? "none: this body has no parameter" : known);
}

/// Many steps at once; positions of points after each of them.
py::array run(BodyHandle& handle, int steps, double dt, const py::object& record,
              const py::object& points, const py::object& forces) {
    if (steps < 0) refuse("steps", py::int_(steps), "0 or more");
    std::vector<SurfacePoint> recorded, loaded;
    if (!record.is_none()) recorded = handle.points(record, "record");
    if (!points.is_none()) loaded = handle.points(points, "points");
    py::array_t<double> f;
    if (!forces.is_none())
        f = real_array(forces, "forces", {steps, static_cast<py::ssize_t>(loaded.size()), 3});
    else if (!loaded.empty())
        throw InputError("", "points are where forces act: give these too");
    const double* const force = f.data();
    py::array_t<double> out({static_cast<py::ssize_t>(steps),
                             static_cast<py::ssize_t>(recorded.size()), py::ssize_t{3}});
    double* x = out.mutable_data();
    Body& body = handle.body();
    run_many(steps, [&](std::int64_t i) {
        const double* next =
            force + static_cast<std::ptrdiff_t>(i) * 3 * static_cast<std::ptrdiff_t>(loaded.size());
        for (std::size_t k = 0; k < loaded.size(); ++k, next += 3)
            body.add_force(loaded[k], {next[0], next[1], next[2]});
        handle.step(dt);
        for (const SurfacePoint& point : recorded) {
            Eigen::Map<Eigen::Vector3d>{x} = body.position(point);
            x += 3;
        }
    });
    return out;
}

/// By a look at every triangle as it is now.
py::tuple closest_point(BodyHandle& handle, const ArrayArgument& place) {
    const Eigen::Vector3d x = vector_of(place, "x");
    // nothing would be nearest to it: squares of distances must be numbers
    if (!is_usable(x))
        throw InputError("", "x", py::str(py::handle(place)), "finite coordinates up to 1e30 m");
    const std::vector<float>& positions = *handle.positions();
    const auto vertex = [&](int v) {
        return Eigen::Map<const Eigen::Vector3f>(positions.data() + 3 * v).cast<double>().eval();
    };
    const std::vector<Triangle>& triangles = handle.body().surface().triangles;
    ClosestPoint best;
    for (std::size_t t = 0; t < triangles.size(); ++t) {
        ClosestPoint found = closest_on_triangle(x, vertex(triangles[t][0]),
                                                 vertex(triangles[t][1]), vertex(triangles[t][2]));
        if (!(found.distance < best.distance)) continue;
        best = found;
        best.triangle = static_cast<int>(t);
    }
    return py::make_tuple(best.triangle, best.barycentric);
}

Shape vertex_rows(const BodyHandle& handle) {
    return rows_of(handle.body().surface().vertices.size(), 3);
}

void bind_values(py::module_& m) {
    py::class_<Energy>(m, "Energy", "Mechanical energy of a body [J].")
        .def_readonly("kinetic", &Energy::kinetic, "[J]")
        .def_readonly("elastic", &Energy::elastic, "[J]")
        .def_property_readonly("total", &Energy::total, "[J]")
        .def("__repr__", [](const Energy& energy) -> std::string {
            return py::str("Energy(kinetic={}, elastic={})").format(energy.kinetic, energy.elastic);
        });
    py::class_<LiveParameter>(m, "LiveParameter", "A number that may change while a body runs.")
        .def_readonly("name", &LiveParameter::name, "For set_parameter and parameters.")
        .def_readonly("unit", &LiveParameter::unit, "Empty: a factor.")
        .def_readonly("help", &LiveParameter::help, "What it does.")
        .def_readonly("value", &LiveParameter::value, "At the start.")
        .def_readonly("low", &LiveParameter::low, "Least value, in its unit.")
        .def_readonly("high", &LiveParameter::high, "Largest value, in its unit.")
        .def("__repr__", [](const LiveParameter& p) -> std::string {
            return py::str("<{} = {} {}, {} … {}>").format(p.name, p.value, p.unit, p.low, p.high);
        });
}

}  // namespace

void bind_body(py::module_& m) {
    // the members themselves, so that "is" works
    for (const auto& [name, member] : m.attr("StepStatus").attr("__members__").cast<py::dict>())
        status_objects[static_cast<std::size_t>(member.cast<StepStatus>())] =
            py::reinterpret_borrow<py::object>(member).release().ptr();
    bind_values(m);
    py::class_<BodyHandle, BodyPointer>(
        m, "Body",
        "Anything simulated. Points of its surface are given as a vertex or as (triangle, weights "
        "of its corners); places, velocities and forces are in the world, SI units. One thread at "
        "a "
        "time.")
        .def_property_readonly(
            "kind", [](const BodyHandle& b) { return std::string(b.body().kind()); },
            "rigid, reduced, fem, greens, particles or zones.")
        .def_property_readonly(
            "surface",
            [](const BodyHandle& b) {
                return std::shared_ptr<SurfaceMesh>(b.shared(),
                                                    const_cast<SurfaceMesh*>(&b.body().surface()));
            },
            "At rest, in the axes of the body.")
        .def_property_readonly(
            "size", [](const BodyHandle& b) { return b.body().size(); },
            "Longest side at rest [m].")
        .def("step", &step, py::arg("dt"),
             "Advances by dt seconds under the loads given since the last step.")
        .def("run", &run, py::arg("steps"), py::arg("dt"), py::arg("record") = py::none(),
             py::arg("points") = py::none(), py::arg("forces") = py::none(),
             "Many steps of dt seconds without the interpreter's lock. Returns where the points of "
             "record are after each, (steps, points, 3) [m]. forces (steps, points, 3) [N] act on "
             "points.")
        .def(
            "add_force",
            [](const BodyHandle& b, const PointArgument& point, const ArrayArgument& force) {
                b.body().add_force(b.point(point), vector_of(force, "force"));
            },
            py::arg("point"), py::arg("force"), "Adds to the loads of the next step [N].")
        .def_property_readonly(
            "forces", [](BodyHandle& b) { return view_of(b.vertex_loads(), vertex_rows(b), true); },
            "(n, 3) float64 [N]: forces on all vertices in every step. Write into it; no copy.")
        .def(
            "forces_at",
            [](BodyHandle& b, const py::object& points) {
                std::vector<SurfacePoint> places = b.points(points, "points");
                const Shape shape = rows_of(places.size(), 3);
                return view_of(b.point_loads(std::move(places)), shape, true);
            },
            py::arg("points"),
            "(k, 3) float64 [N]: forces on these points in every step, until set to 0. Write into "
            "it; no copy. The same points in the same order have one array, however often they are "
            "asked for; those of other points act beside it.")
        .def_property_readonly(
            "positions",
            [](BodyHandle& b) { return view_of(b.positions(), vertex_rows(b), false); },
            "(n, 3) float32 [m]: vertices now. The same array each time, written anew when asked "
            "for; copy it to keep it.")
        .def_property_readonly(
            "normals", [](BodyHandle& b) { return view_of(b.normals(), vertex_rows(b), false); },
            "(n, 3) float32, unit: of the vertices now; as positions.")
        .def(
            "position",
            [](const BodyHandle& b, const PointArgument& point, bool start) {
                return b.body().position(b.point(point),
                                         start ? TickMoment::Start : TickMoment::End);
            },
            py::arg("point"), py::arg("start") = false, "[m]; start: before the last step.")
        .def(
            "velocity",
            [](const BodyHandle& b, const PointArgument& p) {
                return b.body().velocity(b.point(p));
            },
            py::arg("point"), "[m/s]")
        .def(
            "normal",
            [](const BodyHandle& b, const PointArgument& p) { return b.body().normal(b.point(p)); },
            py::arg("point"), "Unit, outwards.")
        .def(
            "mobility",
            [](const BodyHandle& b, const PointArgument& p) {
                return b.body().mobility(b.point(p));
            },
            py::arg("point"), "Change of velocity by an impulse of 1 N s, at most [1/kg].")
        .def(
            "compliance",
            [](const BodyHandle& b, const PointArgument& p) -> py::object {
                Eigen::Matrix3d C;
                if (!b.body().compliance(b.point(p), C)) return py::none();
                C.transposeInPlace();
                return py::array_t<double>({3, 3}, C.data());
            },
            py::arg("point"), "(3, 3) [m/N]: static displacement by a force there; None: unknown.")
        .def("closest_point", &closest_point, py::arg("x"),
             "The place of the surface nearest to x [m] now: (triangle, weights).")
        .def(
            "prescribe",
            [](const BodyHandle& b, const PointArgument& p, const ArrayArgument& x) {
                return b.body().prescribe(b.point(p), vector_of(x, "position"));
            },
            py::arg("point"), py::arg("position"),
            "Holds a point at a place [m] from the next step on; False: this body cannot.")
        .def(
            "release_all", [](const BodyHandle& b) { b.body().release_all(); },
            "Lets go of all points held.")
        .def(
            "holding_force", [](const BodyHandle& b, int i) { return b.body().holding_force(i); },
            py::arg("i") = 0, "Force that held the i-th point in the last step [N].")
        .def(
            "set_gravity",
            [](const BodyHandle& b, const ArrayArgument& g) {
                b.body().set_gravity(vector_of(g, "acceleration"));
            },
            py::arg("acceleration"), "Of every step until changed [m/s²].")
        .def(
            "set_wind",
            [](const BodyHandle& b, const ArrayArgument& direction, double pressure) {
                b.body().set_wind_direction(vector_of(direction, "direction"));
                b.body().set_wind_pressure(pressure);
            },
            py::arg("direction"), py::arg("pressure"), "Dynamic pressure [Pa] until changed.")
        .def_property_readonly(
            "energy", [](const BodyHandle& b) { return b.body().energy(); }, "Now [J].")
        .def_property_readonly(
            "parameters",
            [](const BodyHandle& b) {
                py::dict result;
                for (const LiveParameter& p : b.body().parameters()) result[p.name.c_str()] = p;
                return result;
            },
            "By name: what may change while it runs.")
        .def(
            "set_parameter",
            [](const BodyHandle& b, const std::string& name, double value) {
                b.body().set_parameter(find_parameter(b.body(), name), value);
            },
            py::arg("name"), py::arg("value"), "Kept in its range.")
        .def_property(
            "state",
            [](const BodyHandle& b) {
                std::vector<double> state(static_cast<std::size_t>(b.body().state_size()));
                b.body().save_state(state);
                return array_of<double>(state, {static_cast<py::ssize_t>(state.size())});
            },
            [](const BodyHandle& b, const ArrayArgument& value) {
                const auto state = real_array(value, "state", {b.body().state_size()});
                if (!b.body().restore_state({state.data(), static_cast<std::size_t>(state.size())}))
                    refuse("state", value, "finite numbers of a state of this body");
            },
            "Everything that the future depends on but loads and parameters; a copy.")
        .def_property_readonly(
            "report",
            [](BodyHandle& b) {
                py::dict counts;
                const BodyReport& report = b.body().report();
                for (std::size_t i = 0; i < report.counts.size(); ++i)
                    counts[std::string(to_string(static_cast<StepStatus>(i))).c_str()] =
                        report.counts[i];
                const TickHistogram::Summary steps = report.steps.summary();
                counts["p50_us"] = steps.p50_us;
                counts["p99_us"] = steps.p99_us;
                counts["max_us"] = steps.max_us;
                const auto [shape, condition] = b.shape();
                counts["volume"] = shape.volume;
                counts["extent"] = shape.extent;
                counts["condition"] = std::string(to_string(condition));
                if (const auto* fem = dynamic_cast<const FemBody*>(&b.body()))
                    counts["smallest_det_F"] = fem->smallest_det_F().value;
                return counts;
            },
            "Counts of what steps said, and percentiles of their CPU time [µs]. How it is now: "
            "volume and extent (length) over those at rest, volume nan for sheets; condition: "
            "well, collapsed (less than a fifth of its volume), inside out, stretched (ten times "
            "as long) or away (10,000 times its size); of full FEM smallest_det_F of an element in "
            "the last step.")
        .def(
            "reset",
            [](BodyHandle& b) {
                b.body().reset();
                b.clear_loads();
            },
            "Back to the start: state, held points, loads, forces written into arrays, report.")
        .def("__repr__", [](const BodyHandle& b) {
            return "<" + std::string(b.body().kind()) + " body of " +
                   std::to_string(b.body().surface().num_vertices()) + " surface vertices>";
        });
}

}  // namespace pliant::python
