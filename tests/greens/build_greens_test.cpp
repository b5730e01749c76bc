#include "pliant/greens/build_greens.h"

#include <cmath>
#include <filesystem>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "core/numbers.h"
#include "pliant/core/atomic_file.h"
#include "pliant/fem/loads.h"
#include "pliant/fem/statics.h"
#include "pliant/geometry/structured_mesh.h"
#include "pliant/greens/capacitance_solver.h"
#include "tests/greens/boundary_shapes.h"
#include "tests/greens/synthetic_greens.h"
#include "tests/input_error.h"

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

/// Columns are rounded to single precision; sums of some hundred of them lose a little more.
constexpr double kGreensRounding = 3e-6;

constexpr double kBoxYoung = 2e5, kBoxPoisson = 0.3, kBoxDensity = 1100;

GreensBuildOptions greens_box_options() {
    GreensBuildOptions options;
    options.youngs_modulus = kBoxYoung;
    options.poisson_ratio = kBoxPoisson;
    options.density = kBoxDensity;
    options.fixed = "z < 0.001";
    options.has_fixed_columns = true;
    return options;
}

VolumeMesh greens_box(ElementKind kind = ElementKind::Tet4) {
    const Box box(Vector3d(0, 0, 0), Vector3d(0.4, 0.3, 0.3));
    return kind == ElementKind::Tet4 ? tet_box(4, 3, 3, box) : hex_box(4, 3, 3, box);
}

/// Vertices of the boundary, ascending: the nodes.
std::vector<int> outer_vertices(const VolumeMesh& mesh) {
    std::vector<char> is_outer(mesh.vertices.size(), 0);
    for (const Triangle& triangle : boundary_triangles(mesh))
        for (const int v : triangle) is_outer[at(v)] = 1;
    std::vector<int> vertices;
    for (int v = 0; v < mesh.num_vertices(); ++v)
        if (is_outer[at(v)] != 0) vertices.push_back(v);
    return vertices;
}

Matrix3d greens_element(const GreensModel& model, int i, int j) {
    float values[9];
    model.reference.functions->element(i, j, values);
    return Eigen::Map<const Eigen::Matrix<float, 3, 3, Eigen::RowMajor>>(values).cast<double>();
}

/// All unknowns of the reference problem for known values `v_bar` and parameters `beta`.
VectorXd greens_response(const GreensModel& model, const VectorXd& v_bar, const VectorXd& beta) {
    std::vector<int> nodes;
    for (int node = 0; node < model.num_nodes(); ++node) nodes.push_back(node);
    const Eigen::VectorXf weights = v_bar.cast<float>(), body = beta.cast<float>();
    Eigen::VectorXf out = Eigen::VectorXf::Zero(v_bar.size());
    const auto span = [](const Eigen::VectorXf& v) {
        return std::span<const float>(v.data(), static_cast<std::size_t>(v.size()));
    };
    model.reference.functions->add_columns(nodes, span(weights),
                                           {out.data(), static_cast<std::size_t>(out.size())});
    model.reference.functions->add_body_columns(span(body),
                                                {out.data(), static_cast<std::size_t>(out.size())});
    return out.cast<double>();
}

/// As Green's functions take them: tetrahedra of parts must add up, which accurate ones do not.
FemOptions elements_of_greens(const VolumeMesh& mesh) {
    return {mesh.kind == ElementKind::Tet4 ? ElementFormulation::Plain
                                           : ElementFormulation::Accurate};
}

/// The body solved by itself, in SI units.
struct DirectSolution {
    VectorXd u;                // of all components [m]
    VectorXd reaction_forces;  // K u − f [N]
};

DirectSolution direct_solution(const FemModel& model, const std::vector<int>& nodes,
                               const GreensModel& greens, const VectorXd& v_bar,
                               const Vector3d& gravity) {
    const ReferenceProblem& reference = greens.reference;
    Constraints constraints(model.num_nodes());
    VectorXd f = gravity_load(model, gravity);
    const VectorXd body = f;
    for (std::size_t node = 0; node < nodes.size(); ++node)
        for (int axis = 0; axis < 3; ++axis) {
            const double value = v_bar[3 * static_cast<int>(node) + axis];
            if (reference.kinds[node] == NodeKind::Fixed)
                constraints.prescribe(nodes[node], axis, value * reference.length);
            else
                f[3 * nodes[node] + axis] += value * reference.modulus * reference.areas[node];
        }
    DirectSolution solution{solve_linear_static(model, constraints, f), {}};
    FemModel::Matrix K = model.make_matrix();
    model.tangent(VectorXd::Zero(model.num_unknowns()), K);
    solution.reaction_forces = K * solution.u - body;
    return solution;
}

void expect_same_as_direct(const VolumeMesh& mesh, const std::vector<Material>& materials,
                           const GreensModel& greens) {
    const FemModel model(mesh, materials, elements_of_greens(mesh));
    const std::vector<int> nodes = outer_vertices(mesh);
    ASSERT_EQ(static_cast<int>(nodes.size()), greens.num_nodes());
    const ReferenceProblem& reference = greens.reference;
    const VectorXd v_bar = 1e-2 * test::random_matrix(3 * greens.num_nodes(), 1, 3);
    const Vector3d gravity(3, -2, -9.81);
    const auto beta = greens.gravity_parameters(gravity);

    const VectorXd v = greens_response(greens, v_bar, Vector3d(beta[0], beta[1], beta[2]));
    const DirectSolution direct = direct_solution(model, nodes, greens, v_bar, gravity);
    double largest_u = 0, largest_p = 0;
    for (int pass = 0; pass < 2; ++pass)
        for (int node = 0; node < greens.num_nodes(); ++node) {
            const bool is_free = reference.kinds[at(node)] == NodeKind::Free;
            const Vector3d expected =
                is_free ? Vector3d(direct.u.segment<3>(3 * nodes[at(node)]) / reference.length)
                        : Vector3d(direct.reaction_forces.segment<3>(3 * nodes[at(node)]) /
                                   (reference.areas[at(node)] * reference.modulus));
            double& largest = is_free ? largest_u : largest_p;
            if (pass == 0)
                largest = std::max(largest, expected.norm());
            else
                EXPECT_LT((v.segment<3>(3 * node) - expected).norm(), kGreensRounding * largest)
                    << node;
        }
    EXPECT_GT(largest_u, 0);
    EXPECT_GT(largest_p, 0);
}

TEST(BuildGreens, FiniteElementsAnswerAnyLoadLikeADirectSolve) {
    for (const ElementKind kind : {ElementKind::Tet4, ElementKind::Hex8}) {
        const VolumeMesh mesh = greens_box(kind);
        const GreensModel model = build_greens_model(mesh, greens_box_options());
        EXPECT_DOUBLE_EQ(model.reference.length, 0.4);
        EXPECT_DOUBLE_EQ(model.reference.modulus, kBoxYoung / 2.6);
        EXPECT_EQ(model.num_columns(), model.num_nodes());
        expect_same_as_direct(
            mesh, {isotropic(kBoxYoung, kBoxPoisson, kBoxDensity, Law::SmallStrain)}, model);
    }
}

TEST(BuildGreens, MaterialsMayDifferFromPlaceToPlaceAndWithDirection) {
    VolumeMesh mesh = greens_box();
    GreensBuildOptions options = greens_box_options();
    options.material = material_preset("wood", Law::SmallStrain);
    options.regions = {{"x > 50 %", isotropic(3e9, 0.2, 2000, Law::StVenantKirchhoff)}};
    const GreensModel model = build_greens_model(mesh, options);
    mesh.regions.assign(at(mesh.num_elements()), 0);
    for (const int e : select_elements("x > 50 %", mesh, "region")) mesh.regions[at(e)] = 1;
    expect_same_as_direct(mesh, {*options.material, options.regions[0].material}, model);

    // regions of the mesh count as they are
    const GreensModel again = build_greens_model(mesh, options);
    EXPECT_EQ(greens_element(again, 7, 11), greens_element(model, 7, 11));
}

/// docs/greens.md eq. (C5) and its other two cases: to rounding.
TEST(BuildGreens, FiniteElementsAreReciprocal) {
    const GreensModel model = build_greens_model(greens_box(), greens_box_options());
    EXPECT_LT(model.asymmetry, 1e-6);
    const auto& reference = model.reference;
    double worst[3] = {}, largest[3] = {};
    for (int i = 0; i < model.num_nodes(); ++i)
        for (int j = 0; j < model.num_nodes(); ++j) {
            const bool i_free = reference.kinds[at(i)] == NodeKind::Free,
                       j_free = reference.kinds[at(j)] == NodeKind::Free;
            const double ai = reference.areas[at(i)], aj = reference.areas[at(j)];
            Matrix3d x, y;
            if (i_free && j_free) {
                x = greens_element(model, i, j) / aj;
                y = greens_element(model, j, i).transpose() / ai;
            } else {
                const double sign = i_free == j_free ? 1 : -1;
                x = ai * greens_element(model, i, j);
                y = sign * aj * greens_element(model, j, i).transpose();
                // one of the two is a displacement, the other a force
                if (i_free) continue;
            }
            const int kind = i_free && j_free ? 0 : (i_free == j_free ? 1 : 2);
            worst[kind] = std::max(worst[kind], (x - y).norm());
            largest[kind] = std::max(largest[kind], x.norm());
        }
    for (int kind = 0; kind < 3; ++kind) {
        EXPECT_GT(largest[kind], 0);
        EXPECT_LT(worst[kind], 1e-6 * largest[kind]) << kind;
    }
}

/// docs/greens.md eq. (C6): nodes are where the surface is, whatever the cells stick out.
TEST(BuildGreens, NodesOfFiniteElementsLieOnTheSurfaceThatIsFilled) {
    const SemiRegularMesh surface = midpoint_subdivide(test::cube_surface(4), 0);
    const SurfaceQuery query(surface.mesh);
    for (const char* const kind : {"voxel", "tet"})
        for (const int resolution : {5, 6, 7}) {
            GreensBuildOptions options = greens_box_options();
            options.method = GreensMethod::FiniteElements;
            options.fixed = "z < 1 %";
            options.mesh = {.kind = kind, .resolution = resolution};
            const GreensModel model = build_greens_model(surface, options);
            const ReferenceProblem& reference = model.reference;
            EXPECT_NEAR(reference.length, 1, 1e-9) << kind << resolution;
            double area = 0;
            for (int node = 0; node < model.num_nodes(); ++node) {
                EXPECT_LT(query.closest(reference.positions[at(node)]).distance, 1e-9);
                area += reference.areas[at(node)];
            }
            // edges and corners are there
            EXPECT_NEAR(area, 6, 0.02) << kind << resolution;
            // the energy of two loads is the same whichever comes first
            EXPECT_LT(model.asymmetry, 1e-5) << kind << resolution;
            // supports carry every load: Σ a p over them is −a e for a unit traction e
            for (int j = 0; j < model.num_nodes(); j += 11) {
                if (reference.kinds[at(j)] == NodeKind::Fixed) continue;
                Matrix3d sum = Matrix3d::Zero();
                for (int i = 0; i < model.num_nodes(); ++i)
                    if (reference.kinds[at(i)] == NodeKind::Fixed)
                        sum += reference.areas[at(i)] * greens_element(model, i, j);
                EXPECT_LT((sum / reference.areas[at(j)] + Matrix3d::Identity()).norm(), 2e-4)
                    << kind << resolution << " " << j;
            }
            // supports that move take the body along: Σ_j Ξ_ij e = e over all of them
            for (int i = 0; i < model.num_nodes(); i += 11) {
                if (reference.kinds[at(i)] == NodeKind::Fixed) continue;
                Matrix3d sum = Matrix3d::Zero();
                for (int j = 0; j < model.num_nodes(); ++j)
                    if (reference.kinds[at(j)] == NodeKind::Fixed)
                        sum += greens_element(model, i, j);
                EXPECT_LT((sum - Matrix3d::Identity()).norm(), 2e-4) << kind << resolution << i;
            }
        }
}

TEST(BuildGreens, ReadoutsInsideAreThoseOfTheField) {
    GreensBuildOptions options = greens_box_options();
    // stretched by its own load: u = M x is a solution when the faces carry σ n
    options.readouts = {{ReadoutKind::Displacement, {0.21, 0.14, 0.17}},
                        {ReadoutKind::Stress, {0.07, 0.2, 0.11}}};
    for (const ElementKind kind : {ElementKind::Tet4, ElementKind::Hex8}) {
        const VolumeMesh mesh = greens_box(kind);
        const GreensModel model = build_greens_model(mesh, options);
        const ReferenceProblem& reference = model.reference;
        Matrix3d M;
        M << 2, 1, 0.5, -1, 3, 0.3, 0.2, 0.1, -2;
        M *= 1e-3;
        // forces that hold the linear field, as tractions of the free nodes
        const FemModel fem(mesh,
                           {isotropic(kBoxYoung, kBoxPoisson, kBoxDensity, Law::SmallStrain)},
                           elements_of_greens(mesh));
        VectorXd u(fem.num_unknowns()), f(fem.num_unknowns());
        for (int v = 0; v < mesh.num_vertices(); ++v)
            u.segment<3>(3 * v) = M * mesh.vertices[at(v)];
        fem.internal_force(u, f);
        const std::vector<int> nodes = outer_vertices(mesh);
        std::vector<int> loaded;
        std::vector<float> weights;
        for (int node = 0; node < model.num_nodes(); ++node) {
            loaded.push_back(node);
            const int v = nodes[at(node)];
            const Vector3d value = reference.kinds[at(node)] == NodeKind::Fixed
                                       ? Vector3d(u.segment<3>(3 * v) / reference.length)
                                       : Vector3d(f.segment<3>(3 * v) /
                                                  (reference.areas[at(node)] * reference.modulus));
            for (int axis = 0; axis < 3; ++axis) weights.push_back(static_cast<float>(value[axis]));
        }
        std::vector<float> out(9, 0.0f);
        model.reference.functions->add_readouts(loaded, weights, out);
        const Vector3d expected_u = M * options.readouts[0].position / reference.length;
        const Matrix3d strain = 0.5 * (M + M.transpose());
        const double lambda = 2 * kBoxPoisson / (1 - 2 * kBoxPoisson);
        const Matrix3d s = 2 * strain + lambda * strain.trace() * Matrix3d::Identity();
        const double voigt[] = {s(0, 0), s(1, 1), s(2, 2), s(1, 2), s(2, 0), s(0, 1)};
        for (int k = 0; k < 3; ++k) EXPECT_NEAR(out[at(k)], expected_u[k], 1e-7);
        for (int k = 0; k < 6; ++k) EXPECT_NEAR(out[at(3 + k)], voigt[k], 1e-7) << k;
    }
}

TEST(BuildGreens, SupportsOnALineAreRefused) {
    GreensBuildOptions options = greens_box_options();
    options.fixed = "box -1 -0.01 -0.01 1 0.01 0.01";
    EXPECT_EQ(test::input_error([&] { (void)build_greens_model(greens_box(), options); }),
              "fixed = box -1 -0.01 -0.01 1 0.01 0.01 (expected three nodes or more that are not "
              "on a line, but it selects 5 nodes on one, about which the body could turn; widen "
              "the selection)");
}

TEST(BuildGreens, ContactSolvedByCapacitanceIsADirectSolveOfTheChangedProblem) {
    const VolumeMesh mesh = greens_box();
    const GreensModel greens = build_greens_model(mesh, greens_box_options());
    const std::vector<int> nodes = outer_vertices(mesh);
    CapacitanceSolver solver(greens.reference, UpdateCosts(), {});
    // one free node is pressed in, one support is released
    int pressed = -1, released = -1;
    for (int node = 0; node < greens.num_nodes(); ++node)
        if (greens.reference.kinds[at(node)] == NodeKind::Fixed)
            released = node;
        else
            pressed = node;
    std::vector<ChangedDof> changes = test::whole_nodes({pressed, released});
    const Vector3d push(0.001, 0, -0.01);
    const std::vector<double> values{push.x(), push.y(), push.z(), 0, 0, 0};
    ASSERT_FALSE(is_refused(solver.solve(changes, values)));

    const FemModel model(mesh, {isotropic(kBoxYoung, kBoxPoisson, kBoxDensity, Law::SmallStrain)},
                         elements_of_greens(mesh));
    Constraints constraints(model.num_nodes());
    for (int node = 0; node < greens.num_nodes(); ++node) {
        const bool is_held =
            greens.reference.kinds[at(node)] == NodeKind::Fixed && node != released;
        for (int axis = 0; axis < 3; ++axis)
            if (is_held || node == pressed)
                constraints.prescribe(nodes[at(node)], axis, node == pressed ? push[axis] : 0);
    }
    const VectorXd u =
        solve_linear_static(model, constraints, VectorXd::Zero(model.num_unknowns()));
    std::vector<int> all;
    for (int node = 0; node < greens.num_nodes(); ++node) all.push_back(node);
    std::vector<Vector3d> found(all.size());
    solver.displacements(all, found);
    for (int node = 0; node < greens.num_nodes(); ++node)
        EXPECT_LT((found[at(node)] - u.segment<3>(3 * nodes[at(node)])).norm(), 2e-5 * 0.01);
}

}  // namespace
}  // namespace pliant
