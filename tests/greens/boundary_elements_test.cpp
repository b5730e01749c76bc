#include "pliant/greens/boundary_elements.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <Eigen/Geometry>

#include "core/numbers.h"
#include "greens/boundary_assembly.h"
#include "greens/boundary_cases.h"
#include "pliant/core/parallel.h"
#include "pliant/core/simd.h"
#include "pliant/geometry/shapes.h"
#include "tests/greens/boundary_reference.h"
#include "tests/greens/boundary_shapes.h"
#include "tests/input_error.h"

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

/// A cube with moved vertices and unequal triangles.
SurfaceMesh crooked_cube(int n) {
    SurfaceMesh mesh = test::cube_surface(n);
    std::mt19937 generator(5);
    std::uniform_real_distribution<double> uniform(-0.2 / n, 0.2 / n);
    for (Vector3d& x : mesh.vertices)
        x += Vector3d(uniform(generator), uniform(generator), uniform(generator));
    return mesh;
}

struct BoundarySystem {
    MatrixXd G, H;
};

BoundarySystem assembled(const BoundaryModel& model, int first, int count) {
    const int block = model.block();
    BoundarySystem system;
    system.G.setConstant(block * count, block * model.num_nodes(), kNan);
    system.H = system.G;
    model.assemble(first, count, system.G, system.H);
    return system;
}
BoundarySystem assembled(const BoundaryModel& model) {
    return assembled(model, 0, model.num_nodes());
}

/// Rows of some targets against one kernel at a time. Sums of some hundred terms of the size of the
/// largest block or less.
void expect_reference_rows(const BoundaryModel& model, int stride, double tolerance = 1e-14) {
    const int block = model.block();
    const BoundaryAssembler assembler(model.mesh(), model.nodes(), model.options());
    const test::BoundaryReference reference(model.mesh(), model.nodes(), model.options());
    for (int i = 0; i < model.num_nodes(); i += stride) {
        MatrixXd G = MatrixXd::Constant(block, block * model.num_nodes(), kNan), H = G;
        assembler.assemble(i, 1, G, H);
        const auto expected = reference.row(i);
        ASSERT_TRUE(G.allFinite() && H.allFinite());
        EXPECT_LT((G - expected.G).cwiseAbs().maxCoeff(),
                  tolerance * expected.G.cwiseAbs().maxCoeff());
        EXPECT_LT((H - expected.H).cwiseAbs().maxCoeff(), tolerance);
    }
}

template <class Body>
void with_every_instruction_set(const Body& body) {
    for (const std::string& name : simd_targets()) {
        SCOPED_TRACE(name);
        const ScopedSimdTarget scope(name);
        body();
    }
}

TEST(BoundaryElements, RowsAreThoseOfTheReference) {
    for (const BoundaryPhysics physics : {BoundaryPhysics::Elastic, BoundaryPhysics::Laplace})
        for (const double nu : {0.3, 0.5}) {
            BoundaryOptions options;
            options.physics = physics;
            options.poisson_ratio = nu;
            const BoundaryModel model(crooked_cube(3), options);
            with_every_instruction_set([&] { expect_reference_rows(model, 13); });
        }
}

TEST(BoundaryElements, FarTrianglesAreThoseOfTheReference) {
    // beyond twelve sides, where three points are enough
    for (const BoundaryPhysics physics : {BoundaryPhysics::Elastic, BoundaryPhysics::Laplace}) {
        BoundaryOptions options;
        options.physics = physics;
        const BoundaryModel model(test::cube_surface(14), options);
        with_every_instruction_set([&] { expect_reference_rows(model, 400); });
    }
}

TEST(BoundaryElements, OtherNodesAreThoseOfTheReference) {
    BoundaryOptions constant, creased;
    constant.elements = BoundaryElements::Constant;
    creased.crease_angle = 0.5;
    const BoundaryModel constants(crooked_cube(2), constant), doubled(crooked_cube(2), creased);
    EXPECT_EQ(constants.num_nodes(), 48);
    EXPECT_GT(doubled.num_nodes(), 26);
    // targets near sides: the reference integrates along them less well
    expect_reference_rows(constants, 7, 1e-10);
    expect_reference_rows(doubled, 1, 1e-10);
}

TEST(BoundaryElements, ExteriorRowsAreThoseOfTheReference) {
    for (const BoundaryPhysics physics : {BoundaryPhysics::Elastic, BoundaryPhysics::Laplace}) {
        BoundaryOptions options;
        options.physics = physics;
        options.is_exterior = true;
        expect_reference_rows(BoundaryModel(crooked_cube(2), options), 5);
    }
}

TEST(BoundaryElements, RowsDoNotDependOnHowTheyAreSharedOut) {
    const BoundaryModel model(crooked_cube(4), {});
    const BoundarySystem whole = assembled(model);
    // borders within groups of lanes, single rows, several tasks
    int first = 0;
    for (const int count : {1, 2, 7, 8, 9, 33, model.num_nodes()}) {
        const int rows = std::min(count, model.num_nodes() - first);
        const BoundarySystem part = assembled(model, first, rows);
        EXPECT_EQ(part.G, whole.G.middleRows(3 * first, 3 * rows));
        EXPECT_EQ(part.H, whole.H.middleRows(3 * first, 3 * rows));
        first += rows;
    }
    ASSERT_EQ(first, model.num_nodes());
    for (const int threads : {1, 3}) {
        set_num_threads(threads);
        const BoundarySystem again = assembled(model);
        EXPECT_EQ(again.G, whole.G);
        EXPECT_EQ(again.H, whole.H);
    }
    set_num_threads(0);
}

TEST(BoundaryElements, RowsGoIntoBlocksOfLargerMatrices) {
    const BoundaryModel model(crooked_cube(2), {});
    const int n = 3 * model.num_nodes();
    MatrixXd both = MatrixXd::Constant(60, 2 * n, 7);
    model.assemble(3, 11, both.block(5, 0, 33, n), both.block(5, n, 33, n));
    const BoundarySystem rows = assembled(model, 3, 11);
    EXPECT_EQ(both.block(5, 0, 33, n), rows.G);
    EXPECT_EQ(both.block(5, n, 33, n), rows.H);
    EXPECT_EQ((both.array() == 7).count(), (60 - 33) * 2 * n);
}

/// Every corner of every triangle has a node of its own, so that tractions may jump from triangle
/// to triangle; targets are the vertices.
BoundaryNodes corners_as_nodes(const SurfaceMesh& mesh) {
    BoundaryNodes nodes;
    std::vector<char> has_target(mesh.vertices.size(), 0);
    for (int t = 0; t < mesh.num_triangles(); ++t) {
        nodes.corner_nodes.push_back({3 * t, 3 * t + 1, 3 * t + 2});
        for (int s = 0; s < 3; ++s) {
            nodes.positions.push_back(mesh.corner(t, s));
            char& done = has_target[at(mesh.triangles[at(t)][at(s)])];
            if (done) continue;
            done = 1;
            nodes.targets.push_back(mesh.corner(t, s));
            nodes.target_triangles.push_back(t);
            nodes.target_weights.push_back(Vector3d::Unit(s));
        }
    }
    return nodes;
}

/// A linear field: u = M x, with the tractions σ n of its constant stress.
struct LinearField {
    Matrix3d M, stress;
};

/// Largest residual of H u = G p over vertices, relative to the displacements.
double patch_residual(const SurfaceMesh& mesh, double nu, const LinearField& field) {
    const BoundaryNodes nodes = corners_as_nodes(mesh);
    BoundaryOptions options;
    options.poisson_ratio = nu;
    const BoundaryAssembler assembler(mesh, nodes, options);
    const int rows = static_cast<int>(nodes.targets.size());
    MatrixXd G(3 * rows, 3 * nodes.num_nodes()), H = G;
    assembler.assemble(0, rows, G, H);
    VectorXd u(3 * nodes.num_nodes()), p = u;
    for (int t = 0; t < mesh.num_triangles(); ++t) {
        const Vector3d normal = (mesh.corner(t, 1) - mesh.corner(t, 0))
                                    .cross(mesh.corner(t, 2) - mesh.corner(t, 0))
                                    .normalized();
        for (int s = 0; s < 3; ++s) {
            u.segment<3>(9 * t + 3 * s) = field.M * mesh.corner(t, s);
            p.segment<3>(9 * t + 3 * s) = field.stress * normal;
        }
    }
    return (H * u - G * p).cwiseAbs().maxCoeff() / u.cwiseAbs().maxCoeff();
}

LinearField random_field(double nu, std::mt19937& generator) {
    std::uniform_real_distribution<double> uniform(-1, 1);
    LinearField field;
    for (double& value : field.M.reshaped()) value = uniform(generator);
    if (nu == 0.5) field.M -= field.M.trace() / 3 * Matrix3d::Identity();
    const Matrix3d strain = (field.M + field.M.transpose()) / 2;
    // without a change of volume the pressure is free
    const double pressure =
        nu == 0.5 ? uniform(generator) : -2 * nu / (1 - 2 * nu) * strain.trace();
    field.stress = 2 * strain - pressure * Matrix3d::Identity();
    return field;
}

TEST(BoundaryElements, LinearFieldsPassThePatchTest) {
    const std::pair<const char*, SurfaceMesh> meshes[] = {
        {"sphere", sphere_case_surface(2)},
        {"cube", crooked_cube(4)},
        {"kidney", make_semi_regular("kidney", 1).mesh}};
    std::mt19937 generator(9);
    for (const auto& [name, shape] : meshes) {
        SCOPED_TRACE(name);
        SurfaceMesh mesh = shape;
        scale_to_size(mesh, 1);
        for (const double nu : {0.01, 0.3, 0.5})
            // the quadrature's own error; the specification asks for 1e-5
            EXPECT_LT(patch_residual(mesh, nu, random_field(nu, generator)), 2e-6);
    }
}

TEST(BoundaryElements, RotationsNeedNoTractions) {
    LinearField turn{Matrix3d::Zero(), Matrix3d::Zero()};
    turn.M << 0, -1, 0.5, 1, 0, -0.3, -0.5, 0.3, 0;
    for (const double nu : {0.0, 0.3, 0.5})
        EXPECT_LT(patch_residual(crooked_cube(3), nu, turn), 3e-7);
}

TEST(BoundaryElements, TranslationsNeedNoTractions) {
    for (const BoundaryPhysics physics : {BoundaryPhysics::Elastic, BoundaryPhysics::Laplace}) {
        BoundaryOptions options;
        options.physics = physics;
        const BoundaryModel model(sphere_case_surface(2), options);
        const int block = model.block();
        const BoundarySystem system = assembled(model);
        MatrixXd translations(block * model.num_nodes(), block);
        for (int i = 0; i < model.num_nodes(); ++i)
            translations.middleRows(block * i, block).setIdentity();
        EXPECT_LT((system.H * translations).cwiseAbs().maxCoeff(), 1e-14);
    }
}

TEST(BoundaryElements, OutsideTranslationsAreKept) {
    BoundaryOptions options;
    options.physics = BoundaryPhysics::Laplace;
    options.is_exterior = true;
    const BoundaryModel model(sphere_case_surface(1), options);
    const BoundarySystem system = assembled(model);
    const VectorXd ones = VectorXd::Ones(model.num_nodes());
    EXPECT_LT((system.H * ones - ones).cwiseAbs().maxCoeff(), 1e-14);
    // normals out of the space, into the mesh
    for (int i = 0; i < model.num_nodes(); ++i)
        EXPECT_LT(model.normals()[at(i)].dot(model.positions()[at(i)]), -0.9);
}

TEST(BoundaryElements, DiagonalIsTheSolidAngle) {
    // of a cube's corners, edges and faces, seen from inside
    BoundaryOptions options;
    options.physics = BoundaryPhysics::Laplace;
    const BoundaryModel model(test::cube_surface(2), options);
    const BoundarySystem system = assembled(model);
    for (int i = 0; i < model.num_nodes(); ++i) {
        int on_faces = 0;
        for (const double x : model.positions()[at(i)]) on_faces += x == 0 || x == 1;
        EXPECT_NEAR(system.H(i, i), std::pow(0.5, on_faces), 3e-6);
    }
}

TEST(BoundaryElements, LinearPotentialsPassThePatchTest) {
    const SurfaceMesh mesh = crooked_cube(4);
    const BoundaryNodes nodes = corners_as_nodes(mesh);
    BoundaryOptions options;
    options.physics = BoundaryPhysics::Laplace;
    const BoundaryAssembler assembler(mesh, nodes, options);
    const int rows = static_cast<int>(nodes.targets.size());
    MatrixXd G(rows, nodes.num_nodes()), H = G;
    assembler.assemble(0, rows, G, H);
    const Vector3d slope(0.3, -1, 0.7);
    VectorXd u(nodes.num_nodes()), q = u;
    for (int t = 0; t < mesh.num_triangles(); ++t) {
        const Vector3d normal = (mesh.corner(t, 1) - mesh.corner(t, 0))
                                    .cross(mesh.corner(t, 2) - mesh.corner(t, 0))
                                    .normalized();
        for (int s = 0; s < 3; ++s) {
            u[3 * t + s] = slope.dot(mesh.corner(t, s));
            q[3 * t + s] = slope.dot(normal);
        }
    }
    EXPECT_LT((H * u - G * q).cwiseAbs().maxCoeff(), 1e-6);
}

TEST(BoundaryElements, IncompressibleLimitIsReachedSmoothly) {
    BoundaryOptions limit, before;
    limit.poisson_ratio = 0.5;
    before.poisson_ratio = 0.5 - 1e-8;
    const BoundarySystem a = assembled(BoundaryModel(crooked_cube(2), limit));
    const BoundarySystem b = assembled(BoundaryModel(crooked_cube(2), before));
    EXPECT_LT((a.G - b.G).norm(), 1e-7 * a.G.norm());
    EXPECT_LT((a.H - b.H).norm(), 1e-7 * a.H.norm());
    EXPECT_GT((a.H - b.H).norm(), 0);
}

TEST(BoundaryElements, TurningTheBodyTurnsTheBlocks) {
    SurfaceMesh mesh = crooked_cube(2), turned = mesh;
    const Matrix3d R = Eigen::AngleAxisd(1.1, Vector3d(1, -2, 0.5).normalized()).toRotationMatrix();
    for (Vector3d& x : turned.vertices) x = R * x + Vector3d(0.5, 2, -1);
    const BoundarySystem a = assembled(BoundaryModel(mesh, {}));
    const BoundarySystem b = assembled(BoundaryModel(turned, {}));
    for (int i = 0; i < mesh.num_vertices(); ++i)
        for (int j = 0; j < mesh.num_vertices(); ++j) {
            const Matrix3d g = R * a.G.block<3, 3>(3 * i, 3 * j) * R.transpose();
            const Matrix3d h = R * a.H.block<3, 3>(3 * i, 3 * j) * R.transpose();
            EXPECT_LT((b.G.block<3, 3>(3 * i, 3 * j) - g).norm(), 1e-14);
            EXPECT_LT((b.H.block<3, 3>(3 * i, 3 * j) - h).norm(), 1e-13);
        }
}

TEST(BoundaryElements, LengthsMayBeInAnyUnit) {
    // G grows with lengths, H does not
    SurfaceMesh mesh = crooked_cube(2);
    const BoundarySystem one = assembled(BoundaryModel(mesh, {}));
    for (const double scale : {1e-9, 1e-3, 1e8}) {
        SurfaceMesh scaled = mesh;
        for (Vector3d& x : scaled.vertices) x *= scale;
        const BoundarySystem other = assembled(BoundaryModel(scaled, {}));
        EXPECT_LT((other.G / scale - one.G).cwiseAbs().maxCoeff(), 1e-15);
        EXPECT_LT((other.H - one.H).cwiseAbs().maxCoeff(), 1e-14);
    }
}

TEST(BoundaryElements, AreasAddUp) {
    const SurfaceMesh mesh = crooked_cube(3);
    for (const BoundaryElements elements : {BoundaryElements::Linear, BoundaryElements::Constant}) {
        BoundaryOptions options;
        options.elements = elements;
        const BoundaryModel model(mesh, options);
        double sum = 0;
        for (const double area : model.areas()) sum += area;
        EXPECT_NEAR(sum, surface_area(mesh), 1e-13);
    }
}

TEST(BoundaryElements, BadOptionsAreRefused) {
    const auto error = [](BoundaryOptions options) {
        return test::input_error([&] { BoundaryModel(test::cube_surface(1), options); });
    };
    BoundaryOptions options;
    options.poisson_ratio = 0.62;
    EXPECT_EQ(error(options), "poisson_ratio = 0.62 (expected -1 < value <= 0.5)");
    options.poisson_ratio = -1;
    EXPECT_EQ(error(options), "poisson_ratio = -1 (expected -1 < value <= 0.5)");
    options.poisson_ratio = 0.5;
    EXPECT_EQ(error(options), "");
    options.crease_angle = -0.1;
    EXPECT_EQ(error(options), "crease_angle = -0.1 (expected an angle from 0 to pi [rad])");
}

TEST(BoundaryElements, SizesBeyondSinglePrecisionAreRefused) {
    SurfaceMesh mesh = test::cube_surface(1);
    for (Vector3d& x : mesh.vertices) x *= 1e-20;
    EXPECT_EQ(test::input_error([&] { BoundaryModel(mesh, {}); }),
              "size of the mesh = 1e-20 (expected 1e-9 to 1e9: choose a unit nearer to its size)");
    for (Vector3d& x : mesh.vertices) x *= 1e20 * 1e9;
    EXPECT_EQ(test::input_error([&] { BoundaryModel(mesh, {}); }), "");
}

TEST(BoundaryElements, OpenMeshesAreRefused) {
    SurfaceMesh mesh = test::cube_surface(1);
    mesh.triangles.pop_back();
    EXPECT_NE(test::input_error([&] { BoundaryModel(mesh, {}); }), "");
}

}  // namespace
}  // namespace pliant
