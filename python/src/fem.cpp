#include "greens_handle.h"
#include "long_call.h"
#include "meshes.h"

#include "pliant/body/rigid_body.h"
#include "pliant/core/error.h"
#include "pliant/fem/fem_body.h"
#include "pliant/fem/loads.h"
#include "pliant/fem/mass.h"
#include "pliant/fem/stable_step.h"
#include "pliant/fem/statics.h"
#include "pliant/geometry/selection.h"
#include "pliant/geometry/simulation_mesh.h"

namespace pliant::python {
namespace {

/// With the surface that it carries; empty: the boundary of its mesh.
struct FemHandle {
    FemModel model;
    SurfaceMesh surface;
};
using FemBodyHandle = HandleOf<FemBody>;

py::array node_array(const Eigen::VectorXd& numbers) {
    return py::array_t<double>({numbers.size() / 3, py::ssize_t{3}}, numbers.data());
}

Eigen::VectorXd node_values(const FemHandle& fem, const py::object& value, const char* name) {
    if (value.is_none()) return Eigen::VectorXd::Zero(fem.model.num_unknowns());
    const auto array = real_array(value, name, {fem.model.num_nodes(), 3});
    return Eigen::Map<const Eigen::VectorXd>(array.data(), array.size());
}

FemHandle build_fem_of(const py::object& body, double size, const MaterialArgument& material,
                       const std::string& mesh, int resolution, const py::object& regions,
                       bool hollow, double growth, int levels, const std::string& elements,
                       const ProgressArgument& progress) {
    const FemOptions formulation{elements_of(elements)};
    std::vector<Material> materials{material_of(material, Law::NeoHookean)};
    const auto parts = regions_of(regions, Law::NeoHookean);
    for (const auto& [selection, other] : parts) materials.push_back(other);
    const auto with_regions = [&](VolumeMesh filled) {
        if (!parts.empty())
            filled.regions.assign(static_cast<std::size_t>(filled.num_elements()), 0);
        for (std::size_t r = 0; r < parts.size(); ++r)
            for (const int e : select_elements(parts[r].first, filled, "regions"))
                filled.regions[static_cast<std::size_t>(e)] = static_cast<int>(r) + 1;
        return filled;
    };
    if (py::isinstance<VolumeMesh>(body)) {
        const auto volume = body.cast<std::shared_ptr<VolumeMesh>>();
        return run_long(progress, [&](Progress& shown) {
            shown.stage("finite elements");
            return FemHandle{FemModel(with_regions(*volume), materials, formulation), {}};
        });
    }
    const SimulationMeshOptions options{.kind = mesh,
                                        .resolution = resolution,
                                        .is_hollow = hollow,
                                        .growth = growth,
                                        .levels = levels};
    check_options(options);
    const SurfaceInput input{SurfaceArgument(body)};
    FemHandle made = run_long(progress, [&](Progress& shown) {
        SurfaceMesh surface = input.load(shown, size);
        VolumeMesh filled = build_simulation_mesh(SurfaceQuery(surface), options, shown);
        keep_largest_part(filled);
        return FemHandle{FemModel(with_regions(std::move(filled)), materials, formulation),
                         std::move(surface)};
    });
    input.warn_of_refilling(made.model.mesh());
    return made;
}

/// All nodes of a selection, or of a list of them.
std::vector<int> nodes_of(const FemHandle& fem, const py::object& value, const char* name) {
    if (value.is_none()) return {};
    if (py::isinstance<py::str>(value)) {
        const auto text = value.cast<std::string>();
        return text.empty() ? std::vector<int>()
                            : select_some(text, fem.model.mesh().vertices, name);
    }
    const auto array = index_array(value, name, {-1});
    std::vector<int> nodes(array.data(), array.data() + array.size());
    for (const int node : nodes) check_index(name, node, fem.model.num_nodes());
    return nodes;
}

/// Displacements by node.
void prescribe(const py::object& displacements, Constraints& constraints) {
    if (displacements.is_none()) return;
    if (!py::isinstance<py::dict>(displacements))
        refuse("prescribed", displacements, "a dictionary of displacements (3,) [m] by node");
    for (const auto& [key, value] : py::reinterpret_borrow<py::dict>(displacements)) {
        const int node = index_of(key, "node of prescribed", constraints.num_nodes());
        const Eigen::Vector3d u = vector_of(value, "prescribed[" + std::to_string(node) + "]");
        for (int axis = 0; axis < 3; ++axis) constraints.prescribe(node, axis, u[axis]);
    }
}

/// What solve_static tells, by small displacements.
StaticResult solve_linear(const FemModel& model, const Constraints& constraints,
                          const Eigen::VectorXd& f, Progress& progress) {
    progress.stage("equilibrium");
    StaticResult result;
    result.u = solve_linear_static(model, constraints, f);
    result.load_fraction = 1;
    // by the stiffness at rest, as the solution: W(u) is that of a body with large displacements
    Eigen::VectorXd force(f.size());
    model.tangent_product(Eigen::VectorXd::Zero(f.size()), result.u, force);
    result.energy = 0.5 * result.u.dot(force);
    FemModel::Workspace ws = model.make_workspace();
    result.smallest_det_F = model.smallest_det_F(result.u, ws);
    return result;
}

py::dict solve(const FemHandle& fem, const py::object& fixed, const py::object& load,
               const py::object& prescribed, bool linear, int load_steps,
               const ProgressArgument& progress) {
    Constraints constraints(fem.model.num_nodes());
    constraints.fix(nodes_of(fem, fixed, "fixed"));
    prescribe(prescribed, constraints);
    const Eigen::VectorXd f = node_values(fem, load, "load");
    const StaticResult found = run_long(progress, [&](Progress& shown) {
        if (linear) return solve_linear(fem.model, constraints, f, shown);
        return solve_static(fem.model, constraints, f, {.load_steps = load_steps}, shown);
    });
    py::dict result;
    result["u"] = node_array(found.u);
    result["converged"] = found.has_converged();
    result["message"] = found.message;
    result["load_fraction"] = found.load_fraction;
    result["energy"] = found.energy;
    result["smallest_det_F"] = found.smallest_det_F.value;
    result["iterations"] = found.iterations.size();
    return result;
}

BodyPointer make_fem_body(const FemHandle& fem, const std::string& fixed, const PoseArgument& pose,
                          const std::vector<std::shared_ptr<HandleOf<RigidBody>>>& obstacles,
                          double mass_damping, double stiffness_damping, double friction,
                          double inner_step) {
    check_all(obstacles, "obstacles", "a RigidBody");
    FemBodyOptions options;
    options.pose = pose_of(pose);
    options.fixed = fixed;
    options.elements = fem.model.elements();
    options.dynamics.damping.mass = mass_damping;
    options.dynamics.damping.stiffness = stiffness_damping;
    options.friction = friction;
    options.inner_step = inner_step;
    std::vector<RigidBody*> solids;
    solids.reserve(obstacles.size());
    for (const auto& obstacle : obstacles) solids.push_back(&obstacle->get());
    const auto make = [fem, options](const std::vector<RigidBody*>& among) {
        return std::make_unique<FemBody>(fem.model.mesh(), fem.model.materials(), fem.surface,
                                         among, options);
    };
    BodyHandle::Maker copy;
    if (solids.empty()) copy = [make] { return make({}); };
    std::unique_ptr<FemBody> made;
    {
        const py::gil_scoped_release release;
        made = make(solids);
    }
    auto body = std::make_shared<FemBodyHandle>(std::move(made), copy, true);
    for (const auto& obstacle : obstacles) body->keep(obstacle);
    return body;
}

void bind_material(py::module_& m) {
    py::class_<Material>(m, "Material", "An elastic material.")
        .def(py::init([](double youngs_modulus, double poisson_ratio, double density,
                         const std::string& law) {
                 return isotropic(youngs_modulus, poisson_ratio, density, law_of(law));
             }),
             py::arg("youngs_modulus"), py::arg("poisson_ratio"), py::arg("density"),
             py::arg("law") = "st-venant-kirchhoff",
             "[Pa], 1, [kg/m³]; law: st-venant-kirchhoff, small-strain, neo-hookean or "
             "corotational.")
        .def_static(
            "preset",
            [](const std::string& name, const std::string& law) {
                return material_preset(name, law_of(law));
            },
            py::arg("name"), py::arg("law") = "st-venant-kirchhoff", "See material_names().")
        .def_property_readonly("youngs_modulus", &Material::youngs_modulus, "[Pa]")
        .def_property_readonly("poisson_ratio", &Material::poisson_ratio, "Without unit.")
        .def_readonly("density", &Material::density, "[kg/m³]")
        .def_property_readonly(
            "law", [](const Material& a) { return std::string(to_string(a.law)); },
            "Of stress and strain.")
        .def("__repr__", [](const Material& a) -> std::string {
            return py::str("Material(youngs_modulus={:.6g}, poisson_ratio={:.4g}, density={:.6g})")
                .format(a.youngs_modulus(), a.poisson_ratio(), a.density);
        });
    m.def("material_names", &material_names, "Names of materials, softest first.");
}

void bind_fem_model(py::module_& m) {
    py::class_<FemHandle>(m, "FemModel", "Nonlinear finite elements. Cannot be changed.")
        .def_property_readonly(
            "mesh",
            [](const FemHandle& fem) { return std::make_shared<VolumeMesh>(fem.model.mesh()); },
            "Its elements at rest; a copy.")
        .def_property_readonly(
            "num_nodes", [](const FemHandle& fem) { return fem.model.num_nodes(); },
            "n: vertices of the mesh.")
        .def_property_readonly(
            "stable_step",
            [](const FemHandle& fem) {
                const py::gil_scoped_release release;
                return element_stable_step(fem.model).dt;
            },
            "Longest explicit step [s].")
        .def(
            "gravity_load",
            [](const FemHandle& fem, const ArrayArgument& g) {
                return node_array(gravity_load(fem.model, vector_of(g, "acceleration")));
            },
            py::arg("acceleration"), "Forces (n, 3) [N] of an acceleration [m/s²].")
        .def(
            "traction_load",
            [](const FemHandle& fem, const py::object& nodes, const ArrayArgument& traction) {
                Eigen::VectorXd f = Eigen::VectorXd::Zero(fem.model.num_unknowns());
                const std::vector<int> chosen = nodes_of(fem, nodes, "nodes");
                add_traction(fem.model.mesh(), boundary_faces(fem.model.mesh(), chosen),
                             vector_of(traction, "traction"), f);
                return node_array(f);
            },
            py::arg("nodes"), py::arg("traction"),
            "Forces (n, 3) [N] of a force per area [Pa] on the outer faces of a selection.")
        .def(
            "energy",
            [](const FemHandle& fem, const py::object& u) {
                const Eigen::VectorXd moved = node_values(fem, u, "u");
                const py::gil_scoped_release release;
                FemModel::Workspace ws = fem.model.make_workspace();
                return fem.model.energy(moved, ws);
            },
            py::arg("u"), "Elastic energy [J] of displacements (n, 3) [m].")
        .def(
            "internal_force",
            [](const FemHandle& fem, const py::object& u) {
                const Eigen::VectorXd moved = node_values(fem, u, "u");
                Eigen::VectorXd R(fem.model.num_unknowns());
                {
                    const py::gil_scoped_release release;
                    fem.model.internal_force(moved, R);
                }
                return node_array(R);
            },
            py::arg("u"), "Forces (n, 3) [N] that hold the body in a shape.")
        .def(
            "tangent",
            [](const FemHandle& fem, const py::object& u) {
                const Eigen::VectorXd moved = node_values(fem, u, "u");
                FemModel::Matrix K;
                {
                    const py::gil_scoped_release release;
                    K = fem.model.make_matrix();
                    fem.model.tangent(moved, K);
                    K.makeCompressed();
                }
                const auto count = static_cast<py::ssize_t>(K.nonZeros());
                return py::make_tuple(py::array_t<double>(count, K.valuePtr()),
                                      py::array_t<int>(count, K.innerIndexPtr()),
                                      py::array_t<int>(K.outerSize() + 1, K.outerIndexPtr()));
            },
            py::arg("u") = py::none(),
            "Stiffness [N/m] as (data, indices, indptr) for scipy.sparse.csc_matrix.")
        .def(
            "lumped_mass", [](const FemHandle& fem) { return node_array(lumped_mass(fem.model)); },
            "(n, 3) [kg]")
        .def("solve_static", &solve, py::kw_only(), py::arg("fixed"), py::arg("load") = py::none(),
             py::arg("prescribed") = py::none(), py::arg("linear") = false,
             py::arg("load_steps") = 1, py::arg("progress") = py::none(),
             "Equilibrium under dead loads (n, 3) [N] with the nodes fixed held, a selection or "
             "their numbers; prescribed: displacements of nodes [m] by node. linear: for small "
             "displacements, with the stiffness at rest; otherwise load and prescribed "
             "displacements are applied in load_steps equal parts, halved where Newton's method "
             "does not converge. A dictionary: displacements u (n, 3) [m]; converged, and message, "
             "which says what went wrong; load_fraction: part of the load that u carries, 1 when "
             "converged; energy: elastic [J], linear: uᵀ K u / 2; smallest_det_F: least volume of "
             "an element over that at rest, at most 0 where one is inverted; iterations of "
             "Newton's method in all, 0 when linear.")
        .def("body", &make_fem_body, py::arg("fixed") = "", py::arg("pose") = py::none(),
             py::arg("obstacles") = py::list(), py::arg("mass_damping") = 0.0,
             py::arg("stiffness_damping") = 0.0, py::arg("friction") = 0.3,
             py::arg("inner_step") = 0.0,
             "A body in explicit dynamics, held at a selection of nodes; Rayleigh damping: of mass "
             "[1/s], of stiffness [s]; obstacles are rigid bodies that it meets with Coulomb's "
             "coefficient friction, to be stepped before it; inner_step: into which steps are cut "
             "[s], 0: as long as is stable.");
}

}  // namespace

const FemModel& fem_model_of(py::handle value) {
    if (!py::isinstance<FemHandle>(value)) refuse("model", value, "a FemModel");
    return value.cast<const FemHandle&>().model;
}

void bind_fem(py::module_& m) {
    bind_material(m);
    bind_fem_model(m);
    m.def(
        "build_fem", &build_fem_of, py::arg("body"), py::kw_only(), py::arg("size") = 0.0,
        py::arg("material") = "rubber", py::arg("mesh") = "voxel", py::arg("resolution") = 16,
        py::arg("regions") = py::none(), py::arg("hollow") = false, py::arg("growth") = 0.5,
        py::arg("levels") = 4, py::arg("elements") = "accurate", py::arg("progress") = py::none(),
        "Finite elements of a VolumeMesh as it is, or of a surface (mesh, file or name of a shape) "
        "scaled to a longest side of size [m], 0: as it is, and filled with elements: mesh, "
        "resolution, hollow, growth, levels and elements as in build_reduced. regions: pairs of a "
        "selection and a material. Materials given by name have the law neo-hookean.");
    py::class_<FemBodyHandle, BodyHandle, std::shared_ptr<FemBodyHandle>>(
        m, "FemBody", "A body of full finite elements in explicit dynamics.")
        .def_property_readonly(
            "u", [](const FemBodyHandle& b) { return node_array(b.get().state().u); },
            "Displacements of nodes (n, 3) [m]; a copy.")
        .def(
            "inner_steps",
            [](const FemBodyHandle& b, double dt) { return b.get().inner_steps(dt); },
            py::arg("dt"), "Into which a step is cut.")
        .def_property_readonly(
            "num_contacts", [](const FemBodyHandle& b) { return b.get().contacts().size(); },
            "With obstacles, in the last step.")
        .def(
            "obstacle_load",
            [](const FemBodyHandle& b, int i) {
                check_index("i", i, static_cast<py::ssize_t>(b.get().obstacles().size()));
                return b.get().wrench(i);
            },
            py::arg("i"), "Mean load on an obstacle in the last step, about its origin.");
}

}  // namespace pliant::python
