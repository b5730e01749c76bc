// Green's functions by boundary elements, against their definition and against finite elements.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "core/dense_algebra.h"
#include "core/numbers.h"
#include "greens/boundary_cases.h"
#include "pliant/core/atomic_file.h"
#include "pliant/geometry/structured_mesh.h"
#include "pliant/geometry/surface_check.h"
#include "pliant/greens/boundary_readouts.h"
#include "pliant/greens/build_greens.h"
#include "tests/input_error.h"

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;

SemiRegularMesh on_greens_sphere(SemiRegularMesh mesh) {
    for (Vector3d& x : mesh.mesh.vertices) x = 0.1 * x.normalized();
    return mesh;
}

/// An octahedron, split and drawn onto a sphere of diameter 0.2 m.
SemiRegularMesh greens_sphere(int levels) {
    SurfaceMesh octahedron;
    octahedron.vertices = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {-1, 0, 0}, {0, -1, 0}, {0, 0, -1}};
    octahedron.triangles = {{0, 1, 2}, {1, 3, 2}, {3, 4, 2}, {4, 0, 2},
                            {1, 0, 5}, {3, 1, 5}, {4, 3, 5}, {0, 4, 5}};
    return on_greens_sphere(midpoint_subdivide(octahedron, levels));
}

/// The same from an icosahedron, whose triangles are more even: 642 vertices.
SemiRegularMesh even_greens_sphere(int levels = 3) {
    return on_greens_sphere(midpoint_subdivide(sphere_case_surface(0), levels));
}

GreensBuildOptions greens_sphere_options() {
    GreensBuildOptions options;
    options.youngs_modulus = 5e4;
    options.poisson_ratio = 0.3;
    options.fixed = "z < 15 %";
    options.has_fixed_columns = true;
    return options;
}

MatrixXd all_greens_elements(const GreensModel& model) {
    const int n = model.num_nodes();
    MatrixXd Xi(3 * n, 3 * n);
    float block[9];
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            model.reference.functions->element(i, j, block);
            for (int r = 0; r < 3; ++r)
                for (int c = 0; c < 3; ++c) Xi(3 * i + r, 3 * j + c) = block[3 * r + c];
        }
    return Xi;
}

/// Ξ = −A⁻¹Ā with columns of H and G exchanged one by one, docs/greens.md eq. (C1).
TEST(BoundaryGreens, ColumnsAreThoseOfTheExchangedSystem) {
    const SemiRegularMesh surface = greens_sphere(2);
    for (const BoundaryElements elements : {BoundaryElements::Linear, BoundaryElements::Constant}) {
        GreensBuildOptions options = greens_sphere_options();
        options.elements = elements;
        const GreensModel model = build_greens_model(surface, options);
        EXPECT_DOUBLE_EQ(model.reference.length, 0.2);
        SurfaceMesh unit = surface.mesh;
        for (Vector3d& x : unit.vertices) x /= 0.2;
        const BoundaryModel boundary(
            unit, {.elements = elements, .poisson_ratio = options.poisson_ratio});
        const int n = boundary.num_nodes();
        ASSERT_EQ(model.num_nodes(), n);
        MatrixXd G(3 * n, 3 * n), H(3 * n, 3 * n);
        boundary.assemble(0, n, G, H);
        MatrixXd A = H, A_bar = -G;
        for (int node = 0; node < n; ++node)
            if (model.reference.kinds[at(node)] == NodeKind::Fixed)
                for (int k = 3 * node; k < 3 * node + 3; ++k) A.col(k).swap(A_bar.col(k));
        const MatrixXd expected = -solve_dense(A, A_bar), found = all_greens_elements(model);
        EXPECT_LT((found - expected).norm(), 1e-6 * expected.norm());

        const MatrixXd body = solve_dense(A, boundary.body_force_columns());
        float values[3];
        for (int node = 0; node < n; ++node)
            for (int k = 0; k < 3; ++k) {
                model.reference.functions->body_element(node, k, values);
                for (int r = 0; r < 3; ++r)
                    EXPECT_NEAR(values[r], body(3 * node + r, k),
                                1e-6 * body.cwiseAbs().maxCoeff());
            }
    }
}

TEST(BoundaryGreens, VerticesFollowTheFacesAroundThemWithConstantElements) {
    GreensBuildOptions options = greens_sphere_options();
    options.elements = BoundaryElements::Constant;
    options.contactable = "z > 90 %";
    const GreensModel model = build_greens_model(greens_sphere(1), options);
    const SurfaceMesh& mesh = model.surface.mesh;
    ASSERT_EQ(model.num_nodes(), mesh.num_triangles());
    for (int v = 0; v < mesh.num_vertices(); ++v) {
        double sum = 0;
        for (int k = model.vertex_offsets[at(v)]; k < model.vertex_offsets[at(v + 1)]; ++k) {
            const Triangle& face = mesh.triangles[at(model.vertex_nodes[at(k)])];
            EXPECT_NE(std::find(face.begin(), face.end(), v), face.end());
            sum += model.vertex_weights[at(k)];
        }
        EXPECT_NEAR(sum, 1, 1e-6);
    }
    EXPECT_LT(model.num_columns(), model.num_nodes());
}

TEST(BoundaryGreens, DoubledNodesShowTheFirst) {
    const VolumeMesh box = hex_box(2, 2, 2, Box(Vector3d(0, 0, 0), Vector3d(0.1, 0.1, 0.1)));
    SurfaceMesh surface{box.vertices, boundary_triangles(box)};
    repair_surface(surface);  // drops the vertex inside
    GreensBuildOptions options = greens_sphere_options();
    options.crease_angle = 1;
    const GreensModel model = build_greens_model(midpoint_subdivide(surface, 0), options);
    ASSERT_EQ(model.surface.mesh.num_vertices(), 26);
    EXPECT_EQ(model.num_nodes(), 6 * 9);      // every side has its own
    EXPECT_EQ(model.num_fixed(), 9 + 4 * 3);  // the lower side, and the lower ends of the others
    std::vector<int> first(26, model.num_nodes());
    for (int t = 0; t < surface.num_triangles(); ++t)
        for (int k = 0; k < 3; ++k) {
            int& node = first[at(model.surface.mesh.triangles[at(t)][at(k)])];
            node = std::min(node, model.corner_nodes[at(t)][at(k)]);
        }
    EXPECT_EQ(model.vertex_nodes, first);
    EXPECT_EQ(model.vertex_weights, std::vector<float>(26, 1.0f));
}

/// Read-outs of a column are those of its displacements and tractions.
TEST(BoundaryGreens, ReadoutsBelongToTheColumns) {
    GreensBuildOptions options = greens_sphere_options();
    options.readouts = {{ReadoutKind::Displacement, {0.02, 0.03, -0.01}},
                        {ReadoutKind::Stress, {-0.03, 0.01, 0.04}}};
    const SemiRegularMesh surface = greens_sphere(2);
    const GreensModel model = build_greens_model(surface, options);
    const auto& kinds = model.reference.kinds;
    SurfaceMesh unit = surface.mesh;
    for (Vector3d& x : unit.vertices) x /= 0.2;
    std::vector<GreensReadout> readouts = options.readouts;
    for (GreensReadout& readout : readouts) readout.position /= 0.2;
    const BoundaryReadouts rows =
        boundary_readouts(BoundaryModel(unit, {.poisson_ratio = options.poisson_ratio}), readouts);
    const MatrixXd Xi = all_greens_elements(model);
    for (int node = 0; node < model.num_nodes(); node += 7) {
        MatrixXd u = Xi.middleCols(3 * node, 3), p = u;
        for (int i = 0; i < model.num_nodes(); ++i)
            (kinds[at(i)] == NodeKind::Free ? p : u).middleRows(3 * i, 3).setZero();
        (kinds[at(node)] == NodeKind::Free ? p : u).middleRows(3 * node, 3).setIdentity();
        const MatrixXd expected = rows.of_displacements * u + rows.of_tractions * p;
        for (int axis = 0; axis < 3; ++axis) {
            std::vector<float> weights(3, 0.0f), out(9, 0.0f);
            weights[at(axis)] = 1;
            model.reference.functions->add_readouts(std::vector{node}, weights, out);
            for (int k = 0; k < 9; ++k)
                EXPECT_NEAR(out[at(k)], expected(k, axis), 1e-5 * expected.norm());
        }
    }
    std::vector<float> out(9, 0.0f);
    model.reference.functions->add_body_readouts(std::vector{0.0f, 0.0f, 1.0f}, out);
    EXPECT_GT(out[2], 0);  // lifted up
    EXPECT_GT(std::abs(out[5]), 0);
}

/// The ball within a surface: layers of prisms, each of three tetrahedra, around the centre. The
/// vertices of the surface come first.
VolumeMesh greens_ball(const SurfaceMesh& surface, int layers) {
    VolumeMesh mesh;
    const int n = surface.num_vertices();
    for (int layer = 0; layer < layers; ++layer)
        for (const Vector3d& x : surface.vertices)
            mesh.vertices.push_back((1 - static_cast<double>(layer) / layers) * x);
    mesh.vertices.emplace_back(0, 0, 0);
    const auto add = [&](std::array<int, 4> tet) {
        const Vector3d a = mesh.vertices[at(tet[0])];
        const Vector3d b = mesh.vertices[at(tet[1])] - a, c = mesh.vertices[at(tet[2])] - a,
                       d = mesh.vertices[at(tet[3])] - a;
        if (b.cross(c).dot(d) < 0) std::swap(tet[2], tet[3]);
        mesh.elements.insert(mesh.elements.end(), tet.begin(), tet.end());
    };
    for (Triangle t : surface.triangles) {
        // the same diagonal on both sides of a face between prisms
        std::sort(t.begin(), t.end());
        for (int layer = 0; layer + 1 < layers; ++layer) {
            const int o = layer * n, i = o + n;
            add({o + t[0], o + t[1], o + t[2], i + t[2]});
            add({o + t[0], o + t[1], i + t[1], i + t[2]});
            add({o + t[0], i + t[0], i + t[1], i + t[2]});
        }
        const int last = (layers - 1) * n;
        add({last + t[0], last + t[1], last + t[2], layers * n});
    }
    return mesh;
}

/// How far boundary elements are from finite ones with the same nodes: all columns between free
/// nodes, and displacements under a smooth load, pressure that falls off from the top.
struct GreensDifference {
    double columns = 0, smooth = 0;
};
GreensDifference greens_difference(const GreensModel& boundary, const GreensModel& finite) {
    double difference = 0, size = 0;
    std::vector<int> nodes;
    std::vector<float> load;
    float of_boundary[9], of_finite[9];
    for (int j = 0; j < boundary.num_nodes(); ++j) {
        if (!boundary.reference.functions->has_column(j)) continue;
        nodes.push_back(j);
        const Vector3d n = boundary.normals[at(j)];
        for (int k = 0; k < 3; ++k)
            load.push_back(static_cast<float>(-std::exp(5 * (n.z() - 1)) * n[k]));
        for (int i = 0; i < boundary.num_nodes(); ++i) {
            if (boundary.reference.kinds[at(i)] == NodeKind::Fixed) continue;
            boundary.reference.functions->element(i, j, of_boundary);
            finite.reference.functions->element(i, j, of_finite);
            for (int k = 0; k < 9; ++k) {
                difference += std::pow(of_boundary[k] - of_finite[k], 2);
                size += std::pow(of_finite[k], 2);
            }
        }
    }
    Eigen::VectorXf smooth[2];
    for (const GreensModel* model : {&boundary, &finite}) {
        Eigen::VectorXf& u = smooth[model == &finite];
        u = Eigen::VectorXf::Zero(3 * boundary.num_nodes());
        model->reference.functions->add_columns(nodes, load,
                                                {u.data(), static_cast<std::size_t>(u.size())});
        for (int i = 0; i < boundary.num_nodes(); ++i)
            if (boundary.reference.kinds[at(i)] == NodeKind::Fixed) u.segment<3>(3 * i).setZero();
    }
    return {std::sqrt(difference / size),
            static_cast<double>((smooth[0] - smooth[1]).norm() / smooth[1].norm())};
}

/// Verification item 15: two methods that have nothing in common but the body. Halving the edges
/// (42, 162, 642 nodes, layers of tetrahedra as thick) at least halves what is between them: both
/// converge to the same with order one or more.
TEST(BoundaryGreens, AgreeWithFiniteElementsOfTheSameBody) {
    std::vector<GreensDifference> apart;
    for (const int level : {1, 2, 3}) {
        const SemiRegularMesh surface = even_greens_sphere(level);
        GreensBuildOptions options = greens_sphere_options();
        options.has_fixed_columns = false;
        options.contactable = "z > 75 %";
        const GreensModel boundary = build_greens_model(surface, options);
        const GreensModel finite = build_greens_model(
            greens_ball(surface.mesh, level == 1 ? 3 : 5 * (level - 1)), options);
        ASSERT_EQ(finite.num_nodes(), boundary.num_nodes());
        ASSERT_EQ(finite.reference.kinds, boundary.reference.kinds);
        apart.push_back(greens_difference(boundary, finite));
        EXPECT_GT(boundary.asymmetry, 1e-4);  // collocation is not symmetric
        EXPECT_LT(finite.asymmetry, 1e-6);
    }
    for (const std::size_t k : {1u, 2u}) {
        EXPECT_LT(apart[k].columns, 0.5 * apart[k - 1].columns) << k;
        EXPECT_LT(apart[k].smooth, 0.5 * apart[k - 1].smooth) << k;
    }
}

TEST(BoundaryGreens, StiffnessAndSizeAreUnitsOnly) {
    GreensBuildOptions options = greens_sphere_options();
    const GreensModel small = build_greens_model(greens_sphere(1), options);
    options.size = 0.4;
    options.youngs_modulus = 1e7;
    const GreensModel large = build_greens_model(greens_sphere(1), options);
    EXPECT_DOUBLE_EQ(large.reference.length, 0.4);
    EXPECT_NEAR(large.reference.areas[3], 4 * small.reference.areas[3],
                1e-12 * large.reference.areas[3]);
    EXPECT_LT((all_greens_elements(large) - all_greens_elements(small)).norm(),
              1e-6 * all_greens_elements(small).norm());
    EXPECT_DOUBLE_EQ(large.youngs_modulus(), 1e7);
}

class GreensCache : public testing::Test {
protected:
    GreensCache() { std::filesystem::create_directories(folder_); }
    ~GreensCache() override { std::filesystem::remove_all(folder_); }
    [[nodiscard]] std::string built(const SemiRegularMesh& surface,
                                    const GreensBuildOptions& options) {
        report_ = {};
        save_greens_model(build_greens_model(surface, options, Progress::none(), &report_),
                          folder_ / "model.pliant");
        return read_file(folder_ / "model.pliant");
    }
    /// Removes every other batch, as if the build had been stopped before it.
    void remove_some_batches() {
        std::vector<std::filesystem::path> files;
        for (const auto& file : std::filesystem::directory_iterator(folder_ / "cache"))
            files.push_back(file.path());
        std::sort(files.begin(), files.end());
        for (std::size_t i = 0; i < files.size(); i += 2) std::filesystem::remove(files[i]);
    }
    std::filesystem::path folder_ = std::filesystem::temp_directory_path() /
                                    ("pliant_greens_cache_" + std::to_string(getpid()));
    GreensBuildReport report_;
};

TEST_F(GreensCache, ResumedBuildsGiveTheSameFile) {
    const SemiRegularMesh surface = greens_sphere(3);
    for (const GreensMethod method :
         {GreensMethod::BoundaryElements, GreensMethod::FiniteElements}) {
        GreensBuildOptions options = greens_sphere_options();
        options.method = method;
        if (method == GreensMethod::FiniteElements) options.mesh.resolution = 8;
        const std::string expected = built(surface, options);
        EXPECT_EQ(report_.num_cached, 0);
        options.cache = folder_ / "cache";
        EXPECT_EQ(built(surface, options), expected);
        remove_some_batches();
        EXPECT_EQ(built(surface, options), expected);
        EXPECT_LT(report_.num_cached, report_.num_columns);
        // what is kept does not depend on the modulus
        options.youngs_modulus *= 2;
        (void)built(surface, options);
        EXPECT_EQ(report_.num_cached, report_.num_columns);
        EXPECT_EQ(report_.num_unknowns, 0);
        std::filesystem::remove_all(options.cache);
    }
}

TEST(BuildGreensOptions, ErrorsNameTheValueAndTheRemedy) {
    const SemiRegularMesh surface = greens_sphere(1);
    const auto refused = [&](auto change) {
        GreensBuildOptions options = greens_sphere_options();
        change(options);
        return test::input_error([&] { (void)build_greens_model(surface, options); });
    };
    using Options = GreensBuildOptions;
    EXPECT_EQ(refused([](Options& o) { o.poisson_ratio = 0.6; }),
              "poisson_ratio = 0.6 (expected -1 < value <= 0.5)");
    EXPECT_EQ(refused([](Options& o) {
                  o.poisson_ratio = 0.49;
                  o.method = GreensMethod::FiniteElements;
              }),
              "poisson_ratio = 0.49 (expected value <= 0.48 for finite elements, which lock near "
              "0.5; boundary elements take up to 0.5)");
    EXPECT_EQ(refused([](Options& o) { o.youngs_modulus = -1; }),
              "youngs_modulus = -1 (expected a positive number)");
    EXPECT_EQ(refused([](Options& o) { o.density = 0; }),
              "density = 0 (expected a positive number)");
    EXPECT_EQ(refused([](Options& o) { o.fixed = ""; }),
              "fixed names no node, but the reference problem must hold the body somewhere: name "
              "its nodes, as in \"z < 5 %\"");
    EXPECT_TRUE(refused([](Options& o) { o.fixed = "z < -7"; }).starts_with("fixed"));
    EXPECT_EQ(refused([](Options& o) { o.fixed = "list 0,1"; }),
              "fixed = list 0,1 (expected three nodes or more that are not on a line, but it "
              "selects 2 nodes, about which the body could turn; widen the selection)");
    EXPECT_EQ(refused([](Options& o) { o.fixed = "z < 100 %"; }).substr(0, 60),
              std::string("fixed = z < 100 % (expected a part of the body, but it selects")
                  .substr(0, 60));
    EXPECT_EQ(refused([](Options& o) { o.contactable = "z < 2 %"; }),
              "contactable = z < 2 % (expected free nodes too, but it selects only nodes that are "
              "fixed by \"z < 15 %\"; widen the selection)");
    EXPECT_TRUE(refused([](Options& o) { o.contactable = "z > 7"; }).starts_with("contactable"));
    EXPECT_TRUE(refused([](Options& o) {
                    o.regions = {{"z > 50 %", material_preset("steel")}};
                }).starts_with("boundary elements know one isotropic material"));
    EXPECT_TRUE(refused([](Options& o) { o.size = -1; }).starts_with("size = -1"));
    EXPECT_TRUE(refused([](Options& o) { o.crease_angle = 7; }).starts_with("crease_angle = 7"));
    EXPECT_TRUE(refused([](Options& o) {
                    o.method = GreensMethod::FiniteElements;
                    o.mesh.kind = "graded";
                }).starts_with("Green's functions need a mesh without hanging nodes"));
    EXPECT_TRUE(refused([](Options& o) {
                    o.readouts = {{ReadoutKind::Displacement, {1, 1, 1}}};
                    o.method = GreensMethod::FiniteElements;
                }).starts_with("readouts lie outside the finite elements: 1 of the points"));
    EXPECT_EQ(refused([](Options& o) {
                  o.readouts = {{ReadoutKind::Displacement, {0.5, 1, 1}}};
              }),
              "readouts = 0.5 1 1 (expected points inside the body [m], and not quite on its "
              "surface)");

    const auto refused_finite = [&](auto change) {
        return refused([&](Options& o) {
            o.method = GreensMethod::FiniteElements;
            change(o);
        });
    };
    const std::string boundary_only =
        " (expected boundary elements, whose option it is; drop it for finite elements)";
    EXPECT_EQ(refused_finite([](Options& o) { o.elements = BoundaryElements::Constant; }),
              "elements = constant" + boundary_only);
    EXPECT_EQ(refused_finite([](Options& o) { o.crease_angle = 0.5; }),
              "crease_angle = 0.5" + boundary_only);
    EXPECT_EQ(refused_finite([](Options& o) { o.residual = 1e-5; }),
              "residual = 1e-05" + boundary_only);
    EXPECT_EQ(refused_finite([](Options& o) { o.matrix = GreensMatrix::Wavelet; }),
              "matrix = wavelet" + boundary_only);
    EXPECT_EQ(refused_finite([](Options& o) { o.matrix_tolerance = 0.01; }),
              "matrix_tolerance = 0.01" + boundary_only);
    const std::string finite_only =
        " (expected finite elements, which fill the surface by a mesh; drop it for boundary "
        "elements)";
    EXPECT_EQ(refused([](Options& o) { o.mesh.kind = "voxel"; }), "mesh = voxel" + finite_only);
    EXPECT_EQ(refused([](Options& o) { o.mesh.resolution = 8; }), "resolution = 8" + finite_only);
    EXPECT_EQ(refused([](Options& o) { o.mesh.is_hollow = true; }), "hollow = true" + finite_only);
    EXPECT_EQ(refused([](Options& o) { o.mesh.growth = 2; }), "growth = 2" + finite_only);
    EXPECT_EQ(refused([](Options& o) { o.keeps_largest = true; }),
              "keep_largest = true" + finite_only);
    const auto refused_direct = [&](auto change) {
        return refused([&](Options& o) {
            o.solver = GreensSolver::Direct;
            change(o);
        });
    };
    const std::string iterative_only =
        " (expected solver iterative or auto beside it; the direct one has no use for it)";
    EXPECT_EQ(refused_direct([](Options& o) { o.residual = 1e-5; }),
              "residual = 1e-05" + iterative_only);
    EXPECT_EQ(refused_direct([](Options& o) { o.matrix = GreensMatrix::Wavelet; }),
              "matrix = wavelet" + iterative_only);
    EXPECT_EQ(refused_direct([](Options& o) { o.matrix_tolerance = 0.01; }),
              "matrix_tolerance = 0.01" + iterative_only);
    EXPECT_EQ(refused([](Options& o) {
                  o.elements = BoundaryElements::Constant;
                  o.crease_angle = 0.5;
              }),
              "crease_angle = 0.5 (expected linear elements, whose nodes it doubles; drop it for "
              "constant ones)");

    SemiRegularMesh open = surface;
    open.mesh.triangles.pop_back();
    EXPECT_NE(test::input_error([&] { (void)build_greens_model(open, greens_sphere_options()); }),
              "");
    EXPECT_TRUE(test::input_error([&] {
                    (void)build_greens_model(SemiRegularMesh{}, greens_sphere_options());
                }).starts_with("the surface has no triangles"));
}

TEST(BuildGreensOptions, VolumeMeshesAreTakenAsTheyAre) {
    const VolumeMesh mesh = tet_box(2, 2, 2, Box(Vector3d(0, 0, 0), Vector3d(0.1, 0.1, 0.1)));
    const auto refused = [&](auto change) {
        GreensBuildOptions options = greens_sphere_options();
        change(options);
        return test::input_error([&] { (void)build_greens_model(mesh, options); });
    };
    using Options = GreensBuildOptions;
    const std::string expected = " (expected a surface; a volume mesh is taken as it is: drop it)";
    EXPECT_EQ(refused([](Options& o) { o.size = 0.2; }), "size = 0.2" + expected);
    EXPECT_EQ(refused([](Options& o) { o.mesh.resolution = 8; }), "resolution = 8" + expected);
    EXPECT_EQ(refused([](Options& o) { o.keeps_largest = true; }),
              "keep_largest = true" + expected);
    EXPECT_EQ(refused([](Options&) {}), "");
}

TEST(BuildGreensOptions, StiffElementsAreTold) {
    GreensBuildOptions options = greens_sphere_options();
    options.poisson_ratio = 0.47;
    GreensBuildReport report;
    (void)build_greens_model(tet_box(2, 2, 2, Box(Vector3d(0, 0, 0), Vector3d(0.1, 0.1, 0.1))),
                             options, Progress::none(), &report);
    ASSERT_EQ(report.notes.size(), 1u);
    EXPECT_TRUE(report.notes[0].starts_with("linear elements are too stiff"));
    EXPECT_EQ(report.num_nodes, 26);
    EXPECT_EQ(report.num_fixed, 9);
    EXPECT_EQ(report.num_unknowns, 3 * (27 - 9));
    EXPECT_GT(report.estimated_bytes, 0);
}

}  // namespace
}  // namespace pliant
