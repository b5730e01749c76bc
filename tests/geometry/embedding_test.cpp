#include "pliant/geometry/embedding.h"

#include "geometry/simple_volumes.h"
#include "input_error.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/core/parallel.h"
#include "pliant/geometry/structured_mesh.h"
#include "pliant/geometry/surface_query.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using test::Cube;
using test::cubes_mesh;
using test::input_error;
using test::jitter;
using test::kUnitBox;
using test::split;

std::vector<Vector3d> random_points(int count, const Box& box, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> place(0, 1);
    std::vector<Vector3d> points;
    for (int i = 0; i < count; ++i) {
        const Vector3d t(place(random), place(random), place(random));
        points.push_back(box.min() + t.cwiseProduct(box.sizes()));
    }
    return points;
}

Box widened(const Box& box, double by) {
    return {box.min() - Vector3d::Constant(by), box.max() + Vector3d::Constant(by)};
}

std::vector<double> flat(const std::vector<Vector3d>& vectors) {
    std::vector<double> values;
    for (const Vector3d& v : vectors) values.insert(values.end(), v.begin(), v.end());
    return values;
}

/// Largest |Σ w x_vertex − x_point|: zero when linear fields are reproduced.
double worst_position(const Embedding& embedding, const VolumeMesh& mesh,
                      const std::vector<Vector3d>& points) {
    std::vector<double> carried(3 * points.size());
    embedding.transfer(flat(mesh.vertices), carried);
    double worst = 0;
    for (std::size_t i = 0; i < points.size(); ++i)
        worst = std::max(worst, (Vector3d(carried.data() + 3 * i) - points[i]).norm());
    return worst;
}

double worst_weight_sum(const Embedding& embedding) {
    double worst = 0;
    for (int i = 0; i < embedding.num_points(); ++i) {
        const auto w = embedding.weights().begin();
        const double sum =
            std::accumulate(w + embedding.start()[i], w + embedding.start()[i + 1], 0.0);
        worst = std::max(worst, std::abs(sum - 1));
    }
    return worst;
}

bool has_no_negative_weight(const Embedding& embedding, int i) {
    const auto w = embedding.weights().begin();
    return *std::min_element(w + embedding.start()[i], w + embedding.start()[i + 1]) > -1e-8;
}

/// Distance of a point to the surface of one element.
double distance_to_element(const VolumeMesh& mesh, int element, const Vector3d& p) {
    VolumeMesh one;
    one.kind = mesh.kind;
    one.vertices = mesh.vertices;
    const auto nodes = mesh.element(element);
    one.elements.assign(nodes.begin(), nodes.end());
    double distance = std::numeric_limits<double>::infinity();
    for (const Triangle& t : boundary_triangles(one))
        distance = std::min(distance, closest_on_triangle(p, mesh.vertices[t[0]],
                                                          mesh.vertices[t[1]], mesh.vertices[t[2]])
                                          .distance);
    return distance;
}

VolumeMesh sheared(VolumeMesh mesh) {
    Matrix3d A;
    A << 1.1, 0.3, -0.2, 0.1, 0.9, 0.4, -0.3, 0.2, 1.2;
    for (Vector3d& x : mesh.vertices) x = A * x + Vector3d(5, -3, 2);
    return mesh;
}

VolumeMesh distorted(VolumeMesh mesh, double amount) {
    jitter(mesh, amount, 17);
    return mesh;
}

TEST(Embedding, PointInAHexHasTrilinearWeights) {
    const VolumeMesh mesh = hex_box(1, 1, 1, Box(Vector3d(1, 1, 1), Vector3d(3, 2, 5)));
    const Embedding embedding(mesh, {{1.5, 1.25, 4}});
    const Vector3d t(0.25, 0.25, 0.75);
    ASSERT_EQ(embedding.vertices(), (std::vector{0, 1, 2, 3, 4, 5, 6, 7}));
    for (int v = 0; v < 8; ++v) {
        double expected = 1;
        for (int k = 0; k < 3; ++k) expected *= v >> k & 1 ? t[k] : 1 - t[k];
        EXPECT_NEAR(embedding.weights()[v], expected, 1e-15) << v;
    }
    EXPECT_EQ(embedding.num_outside(), 0);
    EXPECT_EQ(embedding.elements(), std::vector{0});
}

TEST(Embedding, PointInATetHasBarycentricWeights) {
    VolumeMesh mesh;
    mesh.vertices = {{0, 0, 0}, {2, 0, 0}, {0, 2, 0}, {0, 0, 2}};
    mesh.elements = {0, 1, 2, 3};
    const Embedding embedding(mesh, {{0.2, 0.4, 0.6}});
    const std::vector<double> expected{0.4, 0.1, 0.2, 0.3};
    for (int v = 0; v < 4; ++v) EXPECT_NEAR(embedding.weights()[v], expected[v], 1e-15);
}

TEST(Embedding, LinearFieldsAreExactInsideAndOutside) {
    const VolumeMesh hexes = hex_box(7, 6, 5, kUnitBox), tets = tet_box(7, 6, 5, kUnitBox);
    for (const VolumeMesh& mesh : {hexes, tets, sheared(hexes), sheared(tets)}) {
        const Box box = bounding_box(mesh.vertices);
        const auto points = random_points(4000, widened(box, 0.1), 3);
        const Embedding embedding(mesh, points);
        EXPECT_GT(embedding.num_outside(), 500);
        EXPECT_LT(embedding.num_outside(), 3500);
        // within a quarter of an element, so that nothing is clamped
        std::vector<Vector3d> near;
        for (std::size_t i = 0; i < points.size(); ++i)
            if (has_no_negative_weight(embedding, static_cast<int>(i)) ||
                distance_to_element(mesh, embedding.elements()[i], points[i]) < 0.035)
                near.push_back(points[i]);
        EXPECT_GT(near.size(), 800u);
        EXPECT_GT(Embedding(mesh, near).num_outside(), 50);
        EXPECT_LT(worst_position(Embedding(mesh, near), mesh, near), 1e-12);
        EXPECT_LT(worst_weight_sum(embedding), 1e-14);
    }
}

TEST(Embedding, LinearFieldsAreExactInDistortedElements) {
    const VolumeMesh hexes = distorted(hex_box(5, 5, 5, kUnitBox), 0.05);
    const VolumeMesh tets = distorted(tet_box(5, 5, 5, kUnitBox), 0.03);
    for (const VolumeMesh& mesh : {hexes, tets}) {
        ASSERT_TRUE(check_volume(mesh).is_clean()) << check_volume(mesh).text();
        const auto points = random_points(4000, widened(kUnitBox, 0.04), 4);
        const Embedding embedding(mesh, points);
        EXPECT_GT(embedding.num_outside(), 300);
        EXPECT_LT(worst_position(embedding, mesh, points), 1e-12);
        EXPECT_LT(worst_weight_sum(embedding), 1e-14);
    }
}

TEST(Embedding, InsideWeightsAreNotNegativeAndAllInsidePointsAreFound) {
    // the outer vertices stay, so that the distorted cells still fill the box
    VolumeMesh mesh = hex_box(6, 6, 6, kUnitBox);
    const std::vector<Vector3d> straight = mesh.vertices;
    jitter(mesh, 0.045, 9);
    for (int v = 0; v < mesh.num_vertices(); ++v)
        if (straight[v].minCoeff() == 0 || straight[v].maxCoeff() == 1)
            mesh.vertices[v] = straight[v];
    const Embedding embedding(mesh, random_points(5000, kUnitBox, 5));
    EXPECT_EQ(embedding.num_outside(), 0);
    for (const double w : embedding.weights()) EXPECT_GT(w, -1e-8);
}

TEST(Embedding, PointsOnSharedFacesGoToTheLowestElement) {
    // every vertex is a corner of up to eight cells
    const VolumeMesh mesh = hex_box(4, 3, 3, kUnitBox);
    const Embedding embedding(mesh, mesh.vertices);
    EXPECT_EQ(embedding.num_outside(), 0);
    for (int v = 0; v < mesh.num_vertices(); ++v) {
        int lowest = 0;
        while (std::ranges::count(mesh.element(lowest), v) == 0) ++lowest;
        EXPECT_EQ(embedding.elements()[v], lowest);
    }
    EXPECT_LT(worst_position(embedding, mesh, mesh.vertices), 1e-14);
}

TEST(Embedding, OutsidePointsUseTheNearestElement) {
    // an L of cells with a notch, and one big cell beside it
    std::vector<Cube> cubes = split({{0, 0, 0}, 4});
    cubes.erase(cubes.begin() + 3);
    cubes.push_back({{8, 0, 0}, 4});
    VolumeMesh hexes = sheared(cubes_mesh(cubes, 0.25));
    VolumeMesh tets = distorted(tet_box(3, 3, 3, kUnitBox), 0.08);
    for (const VolumeMesh& mesh : {hexes, tets}) {
        const auto points = random_points(800, widened(bounding_box(mesh.vertices), 1.0), 6);
        const Embedding embedding(mesh, points);
        EXPECT_GT(embedding.num_outside(), 500);
        for (std::size_t i = 0; i < points.size(); ++i) {
            double smallest = std::numeric_limits<double>::infinity();
            for (int e = 0; e < mesh.num_elements(); ++e)
                smallest = std::min(smallest, distance_to_element(mesh, e, points[i]));
            const double used = distance_to_element(mesh, embedding.elements()[i], points[i]);
            // inside points lie in their element, perhaps nearer to the surface of another
            if (!has_no_negative_weight(embedding, static_cast<int>(i))) {
                EXPECT_NEAR(used, smallest, 1e-12);
            }
        }
    }
}

TEST(Embedding, ExtrapolationStopsOneElementAway) {
    for (const VolumeMesh& mesh : {hex_box(4, 4, 4, kUnitBox), tet_box(4, 4, 4, kUnitBox)}) {
        const std::vector<Vector3d> points = {{1.2, 0.4, 0.6}, {50, 0.4, 0.6}, {0.1, 0.4, -1e6}};
        const Embedding embedding(mesh, points);
        EXPECT_EQ(embedding.num_outside(), 3);
        std::vector<double> carried(9);
        embedding.transfer(flat(mesh.vertices), carried);
        EXPECT_NEAR(carried[0], 1.2, 1e-13);
        EXPECT_NEAR(carried[3], 1.25, 1e-12);
        EXPECT_NEAR(carried[4], 0.4, 1e-8);
        EXPECT_NEAR(carried[8], -0.25, 1e-8);
        EXPECT_LT(worst_weight_sum(embedding), 1e-14);
        for (const double w : embedding.weights()) EXPECT_LE(std::abs(w), 4.0);
    }
}

TEST(Embedding, FlatElementsGiveFiniteWeights) {
    VolumeMesh tet;
    tet.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.3, 0.3, 0}};
    tet.elements = {0, 1, 2, 3};
    VolumeMesh hex = hex_box(1, 1, 1, kUnitBox);
    for (Vector3d& x : hex.vertices) x.z() = 0;
    for (const VolumeMesh& mesh : {tet, hex}) {
        const Embedding embedding(mesh, {{0.25, 0.25, 0.5}, {0.2, 0.2, 0}});
        EXPECT_EQ(embedding.num_outside(), 2);
        for (const double w : embedding.weights()) EXPECT_TRUE(std::isfinite(w));
        EXPECT_LT(worst_weight_sum(embedding), 1e-14);
    }
}

/// 3³ block of cells of which three are split, one at a corner, one at an edge, one in the middle.
VolumeMesh graded_block() {
    std::vector<Cube> cubes;
    for (int i = 0; i < 27; ++i) {
        const Cube cube{{2 * (i % 3), 2 * (i / 3 % 3), 2 * (i / 9)}, 2};
        if (i == 0 || i == 1 || i == 13)
            std::ranges::copy(split(cube), std::back_inserter(cubes));
        else
            cubes.push_back(cube);
    }
    return cubes_mesh(cubes, 1.0 / 6);
}

TEST(Embedding, HangingVerticesPassTheirWeightToTheirMasters) {
    const VolumeMesh mesh = graded_block();
    ASSERT_GT(mesh.hanging.size(), 20u);
    const auto points = random_points(3000, widened(kUnitBox, 0.05), 8);
    const Embedding embedding(mesh, points);
    std::set<int> hanging;
    for (const HangingNode& node : mesh.hanging) hanging.insert(node.vertex);
    for (const int v : embedding.vertices()) EXPECT_EQ(hanging.count(v), 0u);
    for (int i = 0; i < embedding.num_points(); ++i)
        for (int k = embedding.start()[i] + 1; k < embedding.start()[i + 1]; ++k)
            EXPECT_LT(embedding.vertices()[k - 1], embedding.vertices()[k]);
    EXPECT_LT(worst_position(embedding, mesh, points), 1e-13);
    EXPECT_LT(worst_weight_sum(embedding), 1e-14);

    // the same as giving the hanging vertices their constrained values
    std::vector<double> u = flat(random_points(mesh.num_vertices(), kUnitBox, 2));
    for (const HangingNode& node : mesh.hanging)
        for (int axis = 0; axis < 3; ++axis) {
            double value = 0;
            for (int k = 0; k < node.num_masters; ++k)
                value += node.weight * u[3 * node.masters[k] + axis];
            u[3 * node.vertex + axis] = value;
        }
    VolumeMesh unconstrained = mesh;
    unconstrained.hanging.clear();
    std::vector<double> a(3 * points.size()), b(3 * points.size());
    embedding.transfer(u, a);
    Embedding(unconstrained, points).transfer(u, b);
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-14);
}

TEST(Embedding, ForceTransferIsTheAdjoint) {
    for (const VolumeMesh& mesh :
         {hex_box(6, 5, 4, kUnitBox), tet_box(6, 5, 4, kUnitBox), graded_block()}) {
        const auto points = random_points(5000, widened(kUnitBox, 0.1), 12);
        const Embedding embedding(mesh, points);
        const auto u = flat(random_points(mesh.num_vertices(), kUnitBox, 13));
        const auto f = flat(random_points(5000, kUnitBox, 14));
        std::vector<double> Wu(f.size()), Wtf(u.size(), 0.0);
        embedding.transfer(u, Wu);
        embedding.transfer_transposed(f, Wtf);
        const double down = std::inner_product(Wu.begin(), Wu.end(), f.begin(), 0.0);
        const double up = std::inner_product(Wtf.begin(), Wtf.end(), u.begin(), 0.0);
        EXPECT_NEAR(up / down, 1, 1e-14);
        // it adds to what is there
        embedding.transfer_transposed(f, Wtf);
        EXPECT_NEAR(std::inner_product(Wtf.begin(), Wtf.end(), u.begin(), 0.0) / down, 2, 1e-13);
    }
}

TEST(Embedding, TotalForceIsPreserved) {
    const VolumeMesh mesh = tet_box(3, 3, 3, kUnitBox);
    const auto points = random_points(500, widened(kUnitBox, 2.0), 15);
    const auto f = flat(random_points(500, kUnitBox, 16));
    std::vector<double> lifted(3 * mesh.vertices.size(), 0.0);
    Embedding(mesh, points).transfer_transposed(f, lifted);
    for (int axis = 0; axis < 3; ++axis) {
        double below = 0, above = 0;
        for (std::size_t i = axis; i < f.size(); i += 3) below += f[i];
        for (std::size_t i = axis; i < lifted.size(); i += 3) above += lifted[i];
        EXPECT_NEAR(above, below, 1e-11);
    }
}

TEST(Embedding, TransferAllocatesNothing) {
    const VolumeMesh mesh = hex_box(20, 20, 20, kUnitBox);
    const auto points = random_points(20000, kUnitBox, 18);
    const Embedding embedding(mesh, points);
    const std::vector<double> u(3 * mesh.vertices.size(), 1.0);
    std::vector<double> carried(3 * points.size()), lifted(u.size());
    AllocationGuard guard;
    embedding.transfer(u, carried);
    embedding.transfer_transposed(carried, lifted);
    const auto allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
    EXPECT_NEAR(carried[7], 1, 1e-14);
}

TEST(Embedding, DoesNotDependOnTheNumberOfThreads) {
    const VolumeMesh mesh = distorted(tet_box(6, 6, 6, kUnitBox), 0.03);
    const auto points = random_points(3000, widened(kUnitBox, 0.2), 19);
    set_num_threads(1);
    const Embedding one(mesh, points);
    set_num_threads(4);
    const Embedding four(mesh, points);
    set_num_threads(0);
    EXPECT_EQ(one.elements(), four.elements());
    EXPECT_EQ(one.vertices(), four.vertices());
    EXPECT_EQ(one.weights(), four.weights());
}

TEST(Embedding, NoPointsIsFineNoElementsIsNot) {
    const Embedding none(hex_box(1, 1, 1, kUnitBox), {});
    EXPECT_EQ(none.num_points(), 0);
    none.transfer(std::vector<double>(24), {});
    EXPECT_EQ(input_error([] {
                  Embedding(VolumeMesh{}, {{0, 0, 0}});
              }),
              "points cannot be embedded in a mesh without elements");
}

TEST(Embedding, NonFinitePointIsRefusedByIndex) {
    EXPECT_EQ(
        input_error([] {
            Embedding(hex_box(1, 1, 1, kUnitBox), {{0, 0, 0}, {0, std::nan(""), 0}});
        }),
        "point 1 to be embedded is not finite or beyond 1e30; repair the surface and check its "
        "units first");
    EXPECT_NE(input_error([] { Embedding(hex_box(1, 1, 1, kUnitBox), {{0, 0, 1e200}}); }), "");
}

TEST(Embedding, DistancesWhoseSquaresOverflowStillFindAnElement) {
    const Box far_box(Vector3d::Constant(1e200), Vector3d::Constant(2e200));
    for (const VolumeMesh& mesh : {hex_box(3, 2, 2, far_box), tet_box(3, 2, 2, far_box)}) {
        const Embedding embedding(mesh, {{0, 0, 0}});
        EXPECT_GE(embedding.elements()[0], 0);
        EXPECT_NEAR(std::accumulate(embedding.weights().begin(), embedding.weights().end(), 0.0), 1,
                    1e-12);
    }
}

TEST(Embedding, StoredDataGiveTheSameTransfer) {
    const VolumeMesh mesh = tet_box(2, 2, 2, kUnitBox);
    const Embedding made(mesh, random_points(50, kUnitBox, 20));
    const Embedding read(made.num_vertices(), made.start(), made.vertices(), made.weights());
    EXPECT_EQ(read.num_points(), 50);
    EXPECT_TRUE(read.elements().empty());
    const auto u = flat(random_points(mesh.num_vertices(), kUnitBox, 21));
    std::vector<double> a(150), b(150);
    made.transfer(u, a);
    read.transfer(u, b);
    EXPECT_EQ(a, b);
}

TEST(Embedding, DamagedStoredDataAreRefused) {
    const auto message = [](int n, std::vector<int> start, std::vector<int> vertices,
                            std::vector<double> weights) {
        return input_error(
            [&] { Embedding(n, std::move(start), std::move(vertices), std::move(weights)); });
    };
    EXPECT_EQ(message(3, {0, 2}, {0, 2}, {0.5, 0.5}), "");
    EXPECT_NE(message(3, {}, {}, {}).find("damaged: the starts"), std::string::npos);
    EXPECT_NE(message(3, {1, 2}, {0, 2}, {0.5, 0.5}).find("begin with 0"), std::string::npos);
    EXPECT_NE(message(3, {0, 2, 1, 2}, {0, 2}, {0.5, 0.5}).find("never decrease"),
              std::string::npos);
    EXPECT_NE(message(3, {0, 3}, {0, 2}, {0.5, 0.5}).find("do not agree"), std::string::npos);
    EXPECT_NE(message(3, {0, 2}, {0, 2}, {0.5}).find("do not agree"), std::string::npos);
    EXPECT_NE(message(3, {0, 2}, {0, 3}, {0.5, 0.5}).find("vertex index is out of range"),
              std::string::npos);
    EXPECT_NE(message(3, {0, 2}, {0, 1}, {0.5, std::nan("")}).find("weight is not finite"),
              std::string::npos);
}

}  // namespace
}  // namespace pliant
