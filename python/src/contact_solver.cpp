#include "contact_handle.h"
#include "meshes.h"

#include "pliant/contact/contact_solver.h"
#include "pliant/core/error.h"

namespace pliant::python {
namespace {

/// What a body meets others with, and the body itself.
struct ContactBodyHandle {
    BodyPointer body;
    std::optional<PointTree> tree;
    std::shared_ptr<DistanceField> field;

    [[nodiscard]] ContactBody parts() const {
        const auto* deformed = dynamic_cast<const DeformedField*>(field.get());
        if (deformed != nullptr) return {&body->body(), tree, nullptr, deformed->model()};
        return {&body->body(), tree, field, {}};
    }
};
using ContactBodies = std::vector<ContactBodyHandle>;

/// A solver with the bodies that it needs.
struct SolverHandle {
    ContactBodies bodies;
    std::unique_ptr<ContactSolver> solver;

    SolverHandle(ContactBodies given, const ContactSolverOptions& options)
        : bodies(std::move(given)) {
        std::vector<ContactBody> parts;
        for (const ContactBodyHandle& body : bodies) parts.push_back(body.parts());
        solver = std::make_unique<ContactSolver>(std::move(parts), options);
    }
    [[nodiscard]] const ContactSolverStatistics& statistics() const noexcept {
        return solver->statistics();
    }
};

std::unique_ptr<SolverHandle> make_solver(const ContactBodies& bodies, double stiffness,
                                          double friction, double friction_stiffness,
                                          double damping_steps, double scaling_count,
                                          int max_iterations, double tolerance, int max_pairs,
                                          int max_contacts) {
    ContactSolverOptions options;
    options.stiffness = stiffness;
    options.friction = friction;
    options.friction_stiffness = friction_stiffness;
    options.damping_steps = damping_steps;
    options.scaling_count = scaling_count;
    options.max_iterations = max_iterations;
    options.tolerance = tolerance;
    options.max_pairs = max_pairs;
    options.max_contacts = max_contacts;
    return std::make_unique<SolverHandle>(bodies, options);
}

/// Contacts as columns.
py::dict contact_arrays(const SolverHandle& handle) {
    const auto contacts = handle.solver->contacts();
    const auto n = static_cast<py::ssize_t>(contacts.size());
    py::array_t<int> shell(n), solid(n), point(n);
    py::array_t<double> positions({n, py::ssize_t{3}}), forces({n, py::ssize_t{3}}), depths(n);
    for (py::ssize_t i = 0; i < n; ++i) {
        const ContactSolver::Contact& contact = contacts[static_cast<std::size_t>(i)];
        shell.mutable_at(i) = contact.shell;
        solid.mutable_at(i) = contact.field;
        point.mutable_at(i) = contact.point;
        depths.mutable_at(i) = contact.depth;
        for (py::ssize_t k = 0; k < 3; ++k) {
            positions.mutable_at(i, k) = contact.position[k];
            forces.mutable_at(i, k) = contact.force[k];
        }
    }
    py::dict result;
    result["shell"] = shell;
    result["solid"] = solid;
    result["points"] = point;
    result["positions"] = positions;
    result["forces"] = forces;
    result["depths"] = depths;
    return result;
}

StepStatus act(SolverHandle& handle, double dt) {
    // many bodies take longer than handing over the lock
    const py::gil_scoped_release release;
    return handle.solver->act(dt);
}

}  // namespace

void bind_contact_solver(py::module_& m) {
    py::class_<ContactBodyHandle>(
        m, "ContactBody",
        "A body that meets others: by points on its surface, as a solid, or both.")
        .def(py::init([](const BodyPointer& body, const py::object& tree,
                         const std::shared_ptr<DistanceField>& field) {
                 ContactBodyHandle made{body, {}, field};
                 if (tree.is_none()) return made;
                 if (!py::isinstance<PointTree>(tree)) refuse("tree", tree, "None or a PointTree");
                 made.tree = tree.cast<const PointTree&>();
                 return made;
             }),
             py::arg("body").none(false), py::arg("tree") = py::none(),
             py::arg("field") = py::none(),
             "body: rigid or reduced; tree: PointTree of its points; field: its solid, of a "
             "reduced body a DeformedField. Bodies of one shape may share tree and field.");
    py::class_<SolverHandle>(
        m, "ContactSolver",
        "Contact among bodies that move under it, with equal and opposite forces that follow the "
        "velocities they bring about. It keeps its bodies alive.")
        .def(py::init(&make_solver), py::arg("bodies"), py::kw_only(), py::arg("stiffness") = 1e4,
             py::arg("friction") = 0.0, py::arg("friction_stiffness") = 1.0,
             py::arg("damping_steps") = 2.0, py::arg("scaling_count") = 10.0,
             py::arg("max_iterations") = 12, py::arg("tolerance") = 1e-7,
             py::arg("max_pairs") = 8192, py::arg("max_contacts") = 16384,
             "bodies: ContactBody objects; stiffness of one point [N/m]; friction: coefficient of "
             "all bodies; friction_stiffness: tangential stiffness over normal stiffness; "
             "damping_steps: of contacts, in steps; scaling_count: where more points push one way "
             "they share the stiffness of so many; max_iterations: sweeps over all contacts at "
             "most; tolerance that ends them: largest change of a sweep over the largest force; "
             "max_pairs of bodies near each other and max_contacts of all pairs: what there is "
             "room for, from the start.")
        .def("act", &act, py::arg("dt"),
             "Contact as the bodies are, into their loads of the next step of dt seconds; after "
             "all other loads. CapacityExceeded: raise max_pairs or max_contacts. Releases the "
             "interpreter's lock.")
        .def_property_readonly("contacts", &contact_arrays,
                               "Of the last act(): arrays shell, solid (n,) of bodies, points (n,) "
                               "of the shell, positions (n, 3) [m] and forces (n, 3) on the shell "
                               "[N] in the world, depths (n,) [m]; copies.")
        .def_property_readonly(
            "num_pairs", [](const SolverHandle& s) { return s.statistics().num_pairs; },
            "Of bodies near each other.")
        .def_property_readonly(
            "num_contacts", [](const SolverHandle& s) { return s.statistics().num_contacts; },
            "Points inside a solid.")
        .def_property_readonly(
            "num_sliding", [](const SolverHandle& s) { return s.statistics().num_sliding; },
            "Contacts that slide, of those with friction.")
        .def_property_readonly(
            "iterations", [](const SolverHandle& s) { return s.statistics().iterations; },
            "Sweeps of the last act().")
        .def_property_readonly(
            "deepest", [](const SolverHandle& s) { return s.statistics().deepest; },
            "Depth of the deepest point [m].")
        .def_property_readonly(
            "energy", [](const SolverHandle& s) { return s.statistics().elastic_energy; },
            "Stored in contacts [J].")
        .def_property(
            "stiffness", [](const SolverHandle& s) { return s.solver->stiffness(); },
            [](SolverHandle& s, double value) { s.solver->set_stiffness(value); },
            "Of one point [N/m]; kept in range.")
        .def_property(
            "friction", [](const SolverHandle& s) { return s.solver->friction(); },
            [](SolverHandle& s, double value) { s.solver->set_friction(value); },
            "Coefficient of all bodies; kept in range.")
        .def(
            "forget", [](SolverHandle& s) { s.solver->forget(); },
            "Forgets friction and forces: after resets and restored states.");
}

}  // namespace pliant::python
