#include "pliant/geometry/surface_query.h"

#include "geometry/test_meshes.h"
#include "geometry/winding_number.h"

#include <gtest/gtest.h>

namespace pliant {
namespace {

using Eigen::Vector3d;
using test::make_wedge;
using test::sample_points;

TEST(SurfaceQuerySign, SphereAndTorusMatchTheirFormulas) {
    const SurfaceQuery sphere(test::make_sphere(1.0, 60)), torus(test::make_torus(1, 0.4, 120, 60));
    EXPECT_EQ(sphere.sign_method(), SignMethod::PseudoNormal);
    EXPECT_EQ(torus.sign_method(), SignMethod::PseudoNormal);
    test::Random random(10);
    for (int i = 0; i < 3000; ++i) {
        const Vector3d x = random.in_cube(1.5);
        // chords of 3 and 6 degrees stay this close to their circles
        EXPECT_NEAR(sphere.signed_distance(x), x.norm() - 1.0, 2.2e-3);
        EXPECT_NEAR(torus.signed_distance(x),
                    std::hypot(std::hypot(x.x(), x.y()) - 1.0, x.z()) - 0.4, 3e-3);
        EXPECT_EQ(sphere.is_inside(x), sphere.signed_distance(x) < 0);
    }
}

TEST(SurfaceQuerySign, AgreesWithTheWindingNumberEverywhere) {
    for (const SurfaceMesh& mesh : {test::make_torus(1.0, 0.3, 40, 15), test::make_sphere(1.0, 15),
                                    make_wedge(), test::make_cube()}) {
        const SurfaceQuery query(mesh), soup(mesh, SignMethod::WindingNumber);
        ASSERT_EQ(query.sign_method(), SignMethod::PseudoNormal);
        for (const Vector3d& x : sample_points(mesh, 3000, 11)) {
            const double d = query.signed_distance(x);
            if (std::abs(d) < 1e-12) continue;  // the surface itself
            EXPECT_EQ(d<0, query.winding_number(x)> 0.5);
            EXPECT_EQ(d, soup.signed_distance(x));
            EXPECT_EQ(soup.is_inside(x), d < 0);
        }
    }
}

TEST(SurfaceQuerySign, SharpEdgeNeedsTheEdgeNormal) {
    const SurfaceMesh mesh = make_wedge();
    const SurfaceQuery query(mesh);
    const std::vector<Vector3d> normals = face_normals(mesh);
    test::Random random(12);
    int num_fooled = 0;
    for (int i = 0; i < 500; ++i) {
        const Vector3d x(random.uniform(-1.0, -0.01), random.uniform(0, 1), random.uniform(-2, 2));
        const ClosestPoint p = query.closest(x);
        if ((x - p.point).dot(normals[p.triangle]) < 0) ++num_fooled;
        EXPECT_GT(query.signed_distance(x), 0);
    }
    EXPECT_GT(num_fooled, 100);  // the face's own normal would have said "inside"
}

TEST(SurfaceQuerySign, TrianglesWithoutAreaDoNotMislead) {
    // a sharp edge with a vertex in its middle, joined by a triangle without area
    SurfaceMesh mesh = make_wedge();
    mesh.vertices.push_back(0.5 * (mesh.vertices[0] + mesh.vertices[3]));
    mesh.triangles[2] = {0, 6, 4};  // was 0 3 4
    mesh.triangles.push_back({6, 3, 4});
    mesh.triangles.push_back({0, 3, 6});
    const SurfaceQuery query(mesh);
    EXPECT_EQ(query.sign_method(), SignMethod::PseudoNormal);
    test::Random random(13);
    for (int i = 0; i < 500; ++i) {
        const double y = random.uniform(0, 1), z = random.uniform(-2, 2);
        EXPECT_GT(query.signed_distance({random.uniform(-1.0, -0.01), y, z}), 0);
        EXPECT_LT(query.signed_distance({random.uniform(0.1, 0.9), 0.1 + 0.8 * y, 1e-3 * z}), 0);
    }
}

TEST(SurfaceQuerySign, TwoBodiesThatShareAVertexStayApart) {
    // two needles from one tip, along x and along y: pseudonormals need no manifold vertex
    SurfaceMesh mesh;
    mesh.vertices = {{0, 0, 0},     {1, 0.2, 0},    {1, -0.1, 0.2}, {1, -0.1, -0.2},
                     {0.1, 1, 0.2}, {0.1, 1, -0.2}, {-0.2, 1, 0}};
    mesh.triangles = {{0, 2, 1}, {0, 3, 2}, {0, 1, 3}, {1, 2, 3},
                      {0, 5, 4}, {0, 6, 5}, {0, 4, 6}, {4, 5, 6}};
    const SurfaceQuery query(mesh);
    ASSERT_EQ(query.sign_method(), SignMethod::PseudoNormal);
    test::Random random(14);
    int num_inside = 0, num_at_tip = 0;
    for (int i = 0; i < 3000; ++i) {
        const Vector3d x = random.in_cube(0.5);
        EXPECT_EQ(query.signed_distance(x) < 0, query.winding_number(x) > 0.5);
        num_inside += query.is_inside(x);
        num_at_tip += query.closest(x).point.isZero(0.0);
    }
    EXPECT_GT(num_inside, 10);
    EXPECT_GT(num_at_tip, 100);
}

TEST(SurfaceQuerySign, OpenAndOverlappingMeshesUseTheWindingNumber) {
    SurfaceMesh open = test::make_sphere(1.0, 20);
    open.triangles.resize(open.triangles.size() - 40);  // without its southern cap
    const SurfaceQuery cup(open);
    EXPECT_EQ(cup.sign_method(), SignMethod::WindingNumber);
    EXPECT_LT(cup.signed_distance({0, 0, 0.3}), 0);
    EXPECT_GT(cup.signed_distance({0, 0, -1.3}), 0);

    SurfaceMesh flipped = test::make_cube();
    std::swap(flipped.triangles[3][0], flipped.triangles[3][1]);
    EXPECT_EQ(SurfaceQuery(flipped).sign_method(), SignMethod::WindingNumber);

    // two spheres that overlap: between the inner walls is inside
    SurfaceMesh two = test::make_sphere(1.0, 20);
    SurfaceMesh other = test::make_sphere(1.0, 20);
    for (Vector3d& v : other.vertices) v.x() += 1.5;
    append(two, other);
    const SurfaceQuery lens(two);
    EXPECT_EQ(lens.sign_method(), SignMethod::WindingNumber);
    EXPECT_LT(lens.signed_distance({0.45, 0, 0}), 0);
    EXPECT_LT(lens.signed_distance({0.75, 0, 0}), 0);
    EXPECT_GT(lens.signed_distance({-1.1, 0, 0}), 0);
}

TEST(SurfaceQuerySign, SeparateAndHollowPartsKeepPseudonormals) {
    SurfaceMesh hollow = test::make_sphere(1.0, 20);
    SurfaceMesh cavity = test::make_sphere(0.5, 10);
    for (Triangle& t : cavity.triangles) std::swap(t[0], t[1]);
    append(hollow, cavity);
    SurfaceMesh apart = test::make_sphere(1.0, 10);
    for (Vector3d& v : apart.vertices) v += Vector3d(1.9, 1.9, 0);  // boxes overlap, spheres do not
    append(hollow, apart);
    const SurfaceQuery query(hollow);
    EXPECT_EQ(query.sign_method(), SignMethod::PseudoNormal);
    EXPECT_GT(query.signed_distance({0.1, 0, 0}), 0);
    EXPECT_LT(query.signed_distance({0.7, 0, 0}), 0);
    EXPECT_LT(query.signed_distance({1.9, 2.0, 0}), 0);
    // the same cavity facing outwards is a body inside a body
    for (std::size_t t = 4 * 20 * 19; t < 4 * 20 * 19 + cavity.triangles.size(); ++t)
        std::swap(hollow.triangles[t][0], hollow.triangles[t][1]);
    const SurfaceQuery nested(hollow);
    EXPECT_EQ(nested.sign_method(), SignMethod::WindingNumber);
    EXPECT_LT(nested.signed_distance({0.6, 0, 0}), 0);
}

TEST(SurfaceQuerySign, EveryPartIsTestedForOverlapsHoweverSmall) {
    // of 205 000 triangles every sixth is a sample, and none of the last four
    SurfaceMesh mesh = test::make_sphere(1.0, 227);
    ASSERT_EQ(mesh.num_triangles() % 6, 2);
    const int first = mesh.num_vertices();
    for (const Vector3d& x :
         {Vector3d(0, 0, 0), Vector3d(0.1, 0, 0), Vector3d(0, 0.1, 0), Vector3d(0, 0, 0.1)})
        mesh.vertices.push_back(x);
    for (const Triangle& t : {Triangle{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}})
        mesh.triangles.push_back({first + t[0], first + t[1], first + t[2]});
    const SurfaceQuery query(mesh);
    EXPECT_TRUE(query.is_inside({-0.01, 0.02, 0.02}));  // just outside the small part
}

TEST(SurfaceQuerySign, ManySeparatePartsKeepPseudonormals) {
    SurfaceMesh mesh;
    for (int i = 0; i < 100000; ++i) {
        const int first = mesh.num_vertices();
        const Vector3d corner(i % 200, i / 200, 0);
        for (const Vector3d& x :
             {Vector3d(0, 0, 0), Vector3d(0.5, 0, 0), Vector3d(0, 0.5, 0), Vector3d(0, 0, 0.5)})
            mesh.vertices.push_back(corner + x);
        for (const Triangle& t : {Triangle{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}})
            mesh.triangles.push_back({first + t[0], first + t[1], first + t[2]});
    }
    EXPECT_EQ(SurfaceQuery(mesh).sign_method(), SignMethod::PseudoNormal);
}

TEST(SurfaceQuerySign, HoldsForTinyMeshesFarAway) {
    SurfaceMesh mesh = test::make_sphere(1e-4, 20);
    const Vector3d place(1e5, 2e5, -1e5);
    for (Vector3d& v : mesh.vertices) v += place;
    const SurfaceQuery query(mesh);
    test::Random random(15);
    for (int i = 0; i < 1000; ++i) {
        const Vector3d offset = random.in_cube(1.5e-4);
        // positions there are multiples of 3e-11; chords stay within 2 % of the radius
        if (std::abs(offset.norm() - 0.99e-4) < 2e-6) continue;
        EXPECT_EQ(query.signed_distance(place + offset) < 0, offset.norm() < 1e-4);
    }
}
/// Two overlapping cubes and a sphere across both, as one soup of closed parts.
SurfaceMesh overlapping_parts() {
    SurfaceMesh mesh = test::make_cube();
    SurfaceMesh shifted = test::make_cube();
    for (Eigen::Vector3d& v : shifted.vertices) v += Eigen::Vector3d(0.5, 0.25, 0.5);
    append(mesh, shifted);
    append(mesh, test::make_sphere(0.9, 16));
    return mesh;
}

TEST(SurfaceQuerySign, OverlappingClosedPartsAreCountedLikeTheSumOfSolidAngles) {
    const SurfaceQuery query(overlapping_parts());
    ASSERT_EQ(query.sign_method(), SignMethod::WindingNumber);
    std::mt19937 random(5);
    std::uniform_real_distribution<double> coordinate(-1.6, 1.9);
    int num_inside = 0;
    for (int i = 0; i < 4000; ++i) {
        const Eigen::Vector3d x(coordinate(random), coordinate(random), coordinate(random));
        double winding = 0;
        for (int t = 0; t < query.mesh().num_triangles(); ++t)
            winding += detail::triangle_winding(query.mesh().corner(t, 0) - x,
                                                query.mesh().corner(t, 1) - x,
                                                query.mesh().corner(t, 2) - x);
        EXPECT_EQ(query.is_inside(x), winding > 0.5) << x.transpose();
        num_inside += query.is_inside(x);
    }
    EXPECT_GT(num_inside, 300);  // the parts fill about a twelfth of the box
}

TEST(SurfaceQuerySign, LinesThroughVerticesAndEdgesCountOnce) {
    const SurfaceMesh mesh = overlapping_parts();
    const SurfaceQuery query(mesh);
    const Box box = bounding_box(mesh.vertices);
    // lines along x that start outside and pass exactly through vertices and middles of edges
    for (const Triangle& t : mesh.triangles)
        for (std::size_t k = 0; k < 3; ++k) {
            const Eigen::Vector3d& a = mesh.vertices[static_cast<std::size_t>(t[k])];
            const Eigen::Vector3d& b = mesh.vertices[static_cast<std::size_t>(t[(k + 1) % 3])];
            for (const Eigen::Vector3d& p : {a, Eigen::Vector3d(0.5 * (a + b))}) {
                EXPECT_FALSE(query.is_inside({box.min().x() - 0.1, p.y(), p.z()}));
                EXPECT_FALSE(query.is_inside({box.min().x() - 1e9, p.y(), p.z()}));
                EXPECT_FALSE(query.is_inside({box.max().x() + 0.1, p.y(), p.z()}));
            }
        }
    // from the middle of the sphere through its poles
    EXPECT_TRUE(query.is_inside(Eigen::Vector3d::Zero()));
}

}  // namespace
}  // namespace pliant
