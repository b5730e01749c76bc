#include "pliant/field/build_field.h"

#include "field/field_check.h"
#include "geometry/simple_surfaces.h"
#include "geometry/test_meshes.h"
#include "input_error.h"
#include "pliant/core/parallel.h"
#include "pliant/field/iso_surface.h"
#include "pliant/geometry/shapes.h"
#include "pliant/geometry/surface_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace pliant {
namespace {

using Eigen::Vector3d;
using test::box_surface;
using test::input_error;
using test::make_sphere;
using test::Random;
using testing::HasSubstr;

FieldBuildOptions with(int resolution, GridStorage storage = GridStorage::Dense) {
    return {.resolution = resolution, .storage = storage};
}
FieldBuildOptions offset_with(int resolution, GridStorage storage = GridStorage::Sparse) {
    return {.surface = FieldSurface::Offset, .resolution = resolution, .storage = storage};
}

double exact_box_distance(const Vector3d& x, const Vector3d& half) {
    const Vector3d q = x.cwiseAbs() - half;
    return q.cwiseMax(0.0).norm() + std::min(q.maxCoeff(), 0.0);
}
double torus_distance(const Vector3d& x, double R, double r) {
    return std::hypot(std::hypot(x.x(), x.y()) - R, x.z()) - r;
}

/// A point anywhere in the box of the grid.
Vector3d point_in(const DistanceGrid& grid, Random& random) {
    const Box& box = grid.bounds();
    return box.center() + random.in_cube(0.4999 * box.sizes().x());
}

/// The largest error at random points that `exact` puts within `reach` of the surface.
double value_error(const DistanceGrid& grid, const std::function<double(const Vector3d&)>& exact,
                   double reach) {
    Random random(5);
    double largest = 0;
    for (int i = 0; i < 40000; ++i) {
        const Vector3d x = point_in(grid, random);
        const double d = exact(x);
        if (std::abs(d) < reach) largest = std::max(largest, std::abs(grid.distance(x) - d));
    }
    return largest;
}

/// A soup: a sphere inside a sphere.
SurfaceMesh nested_spheres() {
    SurfaceMesh mesh = make_sphere(1, 40);
    append(mesh, make_sphere(0.5, 30));
    return mesh;
}

/// A square sheet of two triangles, 1 m wide, in the plane z = 0.
SurfaceMesh sheet() {
    return {{{-0.5, -0.5, 0}, {0.5, -0.5, 0}, {0.5, 0.5, 0}, {-0.5, 0.5, 0}},
            {{0, 1, 2}, {0, 2, 3}}};
}

TEST(BuildField, FrameIsACubeAroundTheObjectThatIsLargerByTheExpansion) {
    const SurfaceMesh mesh = box_surface({1, 2, 3}, {2, 2.5, 3.5});
    const DistanceGrid grid = build_field(mesh, {.resolution = 32, .expansion = 1.25});
    EXPECT_NEAR(grid.frame().cell, 1.25 / 32, 1e-15);
    EXPECT_EQ(grid.frame().cells, (std::array<int, 3>{32, 32, 32}));
    EXPECT_LT((grid.bounds().center() - Vector3d(1.5, 2.25, 3.25)).norm(), 1e-14);
}

TEST(BuildField, ValuesOfABoxAreExactAtEveryVertex) {
    const Vector3d half(0.5, 0.35, 0.2);
    const DistanceGrid grid = build_field(box_surface(-half, half), with(32));
    const GridFrame& frame = grid.frame();
    for (int k = 0; k <= 32; ++k)
        for (int j = 0; j <= 32; ++j)
            for (int i = 0; i <= 32; ++i) {
                const auto at = static_cast<std::size_t>(i + 33 * (j + 33 * k));
                ASSERT_NEAR(grid.arrays().coarse[at],
                            exact_box_distance(frame.vertex(i, j, k), half),
                            1e-7)  // single precision
                    << i << " " << j << " " << k;
            }
}

TEST(BuildField, SurfacesMayPassThroughVertices) {
    // nearest points and vertices then agree to rounding
    const Vector3d low(0.1, 0.2, 0.3), centre = low + Vector3d::Constant(0.5);
    const SurfaceMesh mesh = box_surface(low, low + Vector3d::Ones());
    FieldBuildOptions options = with(16);
    options.expansion = 2;
    const DistanceGrid solid = build_field(mesh, options);
    options.surface = FieldSurface::Offset;
    const DistanceGrid offset = build_field(mesh, options);
    for (int v = 0; v < 17 * 17 * 17; ++v) {
        const Vector3d x = solid.frame().vertex(v % 17, v / 17 % 17, v / 289) - centre;
        const double d = exact_box_distance(x, Vector3d::Constant(0.5));
        ASSERT_NEAR(solid.arrays().coarse[static_cast<std::size_t>(v)], d, 1e-7);
        if (d < 0) continue;
        ASSERT_NEAR(offset.arrays().coarse[static_cast<std::size_t>(v)],
                    d - 1.4 * offset.frame().cell, 1e-7);
    }
}

TEST(BuildField, InterpolatedValuesOfSmoothShapesConvergeAtSecondOrder) {
    // away from the medial axis, and for the sparse grids within their bands
    const auto order = [](const SurfaceMesh& mesh, const auto& exact, double reach, int resolution,
                          GridStorage storage) {
        const double coarse =
                         value_error(build_field(mesh, with(resolution, storage)), exact, reach),
                     fine = value_error(build_field(mesh, with(2 * resolution, storage)), exact,
                                        reach);
        return std::log2(coarse / fine);
    };
    const auto to_sphere = [](const Vector3d& x) { return x.norm() - 1; };
    const auto to_torus = [](const Vector3d& x) { return torus_distance(x, 1, 0.4); };
    EXPECT_NEAR(order(make_sphere(1, 100), to_sphere, 0.5, 16, GridStorage::Dense), 2, 0.3);
    EXPECT_NEAR(order(test::torus_surface(200, 100), to_torus, 0.15, 32, GridStorage::Sparse), 2,
                0.3);
}

TEST(BuildField, EveryVertexHasTheBitsOfASearchOfItsOwn) {
    const SurfaceMesh mesh = make_shape("hand", 24);
    const SurfaceQuery query(mesh);
    const FieldBuildOptions options = with(64);
    const DistanceGrid grid = build_field(mesh, options);
    int num_different = 0;
    Random random(11);
    for (int i = 0; i < 30000; ++i) {
        const int x = random.below(65), y = random.below(65), z = random.below(65);
        const auto at = static_cast<std::size_t>(x + 65 * (y + 65 * z));
        const auto expected =
            static_cast<float>(query.signed_distance(grid.frame().vertex(x, y, z)));
        num_different += grid.arrays().coarse[at] != expected;
    }
    EXPECT_EQ(num_different, 0);
}

TEST(BuildField, SignsAgreeWithWindingNumbers) {
    for (const char* name : {"serpent", "creature"}) {
        const SurfaceMesh mesh = make_shape(name, 24);
        const SurfaceQuery winding(mesh, SignMethod::WindingNumber);
        const DistanceGrid grid = build_field(mesh, with(128, GridStorage::Sparse));
        Random random(3);
        int num_inside = 0;
        for (int i = 0; i < 20000; ++i) {
            const Vector3d x = point_in(grid, random);
            const bool is_inside = winding.is_inside(x);
            num_inside += is_inside;
            // interpolation moves the surface by a part of a cell, not more
            if ((grid.distance(x) < 0) == is_inside) continue;
            ASSERT_LT(winding.closest(x).distance, 0.87 * grid.frame().cell)
                << name << " at " << x.transpose();
        }
        EXPECT_GT(num_inside, 100) << name;

        // no excuse at vertices: corners of blocks, and all of some bricks
        const GridArrays& a = grid.arrays();
        const auto check = [&](int i, int j, int k, float value) {
            const Vector3d x = grid.frame().vertex(i, j, k);
            ASSERT_EQ(value < 0, winding.is_inside(x)) << name << " at " << x.transpose();
        };
        for (int c = 0; c < 17 * 17 * 17; ++c)
            check(8 * (c % 17), 8 * (c / 17 % 17), 8 * (c / 289),
                  a.coarse[static_cast<std::size_t>(c)]);
        for (int block = 0; block < 16 * 16 * 16; ++block) {
            const int brick = a.brick_of_block[static_cast<std::size_t>(block)];
            if (brick < 0 || brick % 8 != 0) continue;
            for (int v = 0; v < 729; ++v)
                check(8 * (block % 16) + v % 9, 8 * (block / 16 % 16) + v / 9 % 9,
                      8 * (block / 256) + v / 81,
                      a.bricks[static_cast<std::size_t>(brick * kBrickFloats + v)]);
        }
    }
}

TEST(BuildField, SparseIsTheDenseFieldReducedToItsBand) {
    const SurfaceMesh mesh = make_shape("hand", 24);
    for (const double band : {1.0, 4.0}) {
        FieldBuildOptions options = with(64);
        options.band_cells = band;
        const DistanceGrid dense = build_field(mesh, options);
        options.storage = GridStorage::Sparse;
        const DistanceGrid sparse = build_field(mesh, options);
        const DistanceGrid reduced = DistanceGrid::sparse(dense, band * dense.frame().cell);
        const GridArrays &a = sparse.arrays(), &b = reduced.arrays();
        EXPECT_TRUE(std::ranges::equal(a.coarse, b.coarse));
        EXPECT_TRUE(std::ranges::equal(a.brick_of_block, b.brick_of_block));
        EXPECT_TRUE(std::ranges::equal(a.bricks, b.bricks));
        EXPECT_EQ(a.boundary, b.boundary);
        EXPECT_EQ(a.margin.near, b.margin.near);
        EXPECT_EQ(a.margin.far, b.margin.far);
        EXPECT_EQ(a.margin.band, b.margin.band);
        EXPECT_GT(sparse.num_bricks(), 20);
        EXPECT_LT(sparse.memory(), dense.memory());

        // the same values all over the band
        Random random(8);
        int num_compared = 0;
        for (int i = 0; i < 20000; ++i) {
            const Vector3d x = point_in(dense, random);
            const float value = dense.distance(x);
            if (std::abs(value) > band * dense.frame().cell) continue;
            ASSERT_EQ(sparse.distance(x), value);
            ++num_compared;
        }
        EXPECT_GT(num_compared, 100);
    }
}

TEST(BuildField, SparseOffsetFieldsAreReducedDenseOnesToo) {
    const SurfaceMesh soup = nested_spheres();
    const DistanceGrid dense = build_field(soup, offset_with(32, GridStorage::Dense)),
                       sparse = build_field(soup, offset_with(32)),
                       reduced = DistanceGrid::sparse(dense, 4 * dense.frame().cell);
    EXPECT_TRUE(std::ranges::equal(sparse.arrays().coarse, reduced.arrays().coarse));
    EXPECT_TRUE(
        std::ranges::equal(sparse.arrays().brick_of_block, reduced.arrays().brick_of_block));
    EXPECT_TRUE(std::ranges::equal(sparse.arrays().bricks, reduced.arrays().bricks));
}

TEST(BuildField, HasTheSameBitsForEveryNumberOfThreads) {
    const SurfaceMesh mesh = make_shape("hand", 16), soup = nested_spheres();
    const auto build = [&](int threads) {
        set_num_threads(threads);
        FieldReport report;
        const DistanceGrid a = build_field(mesh, with(64, GridStorage::Sparse), Progress::none(),
                                           &report),
                           b = build_field(soup, offset_with(32));
        std::vector<float> all(a.arrays().bricks.begin(), a.arrays().bricks.end());
        all.insert(all.end(), a.arrays().coarse.begin(), a.arrays().coarse.end());
        all.insert(all.end(), b.arrays().bricks.begin(), b.arrays().bricks.end());
        all.push_back(static_cast<float>(report.largest_error));
        all.push_back(static_cast<float>(report.thinnest));
        set_num_threads(0);
        return all;
    };
    EXPECT_EQ(build(1), build(3));
}

TEST(BuildField, ValuesGrowAlongRaysFromTheInsideOfConvexShapes) {
    const Vector3d half(0.5, 0.4, 0.3);
    for (const GridStorage storage : {GridStorage::Dense, GridStorage::Sparse}) {
        // sparse: deep inside, values step down where bricks begin
        const double from = storage == GridStorage::Dense ? -1 : -4 * 1.5 / 64;
        const DistanceGrid sphere = build_field(make_sphere(0.5, 30), with(64, storage)),
                           box = build_field(box_surface(-half, half), with(64, storage));
        Random random(2);
        for (int i = 0; i < 500; ++i) {
            const Vector3d direction = random.direction();
            for (const DistanceGrid* grid : {&sphere, &box}) {
                float last = -1;
                for (double t = 0.1; t < 0.74; t += 0.003) {
                    const float value = grid->distance(t * direction);
                    if (value < from) continue;
                    ASSERT_GT(value, last) << "at " << t << " along " << direction.transpose();
                    last = value;
                }
            }
        }
    }
}

TEST(BuildField, BoundOfTheBoxIsBelowEveryDistanceOnItsFaces) {
    const SurfaceMesh solid = make_shape("hand", 16), soup = nested_spheres();
    FieldBuildOptions options = offset_with(32);
    options.offset_cells = 3;
    const DistanceGrid a = build_field(solid, with(64)), b = build_field(soup, options);
    const SurfaceQuery query(solid), zero(iso_surface(b));
    const auto least = [](const DistanceGrid& grid, const SurfaceQuery& surface) {
        Random random(6);
        double smallest = 1e30;
        for (int i = 0; i < 5000; ++i) {
            Vector3d x = random.in_cube(1);
            x[i % 3] = i % 2 ? 1 : -1;
            x = grid.bounds().center() + 0.5 * x.cwiseProduct(grid.bounds().sizes());
            smallest = std::min(smallest, surface.closest(x).distance);
        }
        return smallest;
    };
    EXPECT_LE(a.arrays().boundary, least(a, query));
    EXPECT_GT(a.arrays().boundary, 0.9 * least(a, query));
    EXPECT_LE(b.arrays().boundary, least(b, zero));
    EXPECT_GT(b.arrays().boundary, least(b, zero) - 3 * b.frame().cell);
}

TEST(BuildField, OffsetSurfaceOfABridgeIsClosedAndAtItsDistance) {
    const SurfaceMesh soup = make_shape("bridge", 8);
    FieldReport report;
    const DistanceGrid grid = build_field(soup, offset_with(64), Progress::none(), &report);
    EXPECT_DOUBLE_EQ(report.offset, 1.4 * grid.frame().cell);
    SurfaceMesh zero = iso_surface(grid);
    const SurfaceReport check = check_surface(zero);
    EXPECT_TRUE(check.is_closed()) << check.text();
    EXPECT_FALSE(check.is_inside_out);
    // where several cables meet, interpolation rounds off the valleys between them
    const SurfaceQuery query(soup);
    double total = 0;
    for (const Vector3d& x : zero.vertices) {
        const double error = query.closest(x).distance - report.offset;
        ASSERT_LT(std::abs(error), 0.87 * grid.frame().cell);
        total += std::abs(error);
    }
    EXPECT_LT(total / zero.num_vertices(), 0.15 * grid.frame().cell);
    // nothing is left inside
    const int num_parts = check.num_components;
    EXPECT_EQ(remove_enclosed_components(zero), 0) << num_parts;
}

TEST(BuildField, NestedSpheresBecomeOneSolidBall) {
    for (const GridStorage storage : {GridStorage::Dense, GridStorage::Sparse}) {
        FieldReport report;
        const DistanceGrid grid =
            build_field(nested_spheres(), offset_with(32, storage), Progress::none(), &report);
        // the outer wall has an inner side, the inner sphere two
        EXPECT_EQ(report.removed_components, 3);
        EXPECT_EQ(check_surface(iso_surface(grid)).num_components, 1);
        const double radius = 1 + report.offset, cell = grid.frame().cell;
        Random random(4);
        for (int i = 0; i < 300; ++i) {
            const Vector3d direction = random.direction();
            float last = -10;
            for (double t = 0.3; t < 1.4; t += 0.005) {
                const float value = grid.distance(t * direction);
                // sparse: trilinear over blocks of eight cells
                ASSERT_NEAR(value, t - radius, (storage == GridStorage::Dense ? 0.3 : 3) * cell);
                // sparse: deep inside, values step down where bricks begin
                if (storage == GridStorage::Dense || value > -4 * cell) {
                    ASSERT_GT(value, last - 1e-3 * cell);
                }
                last = value;
            }
        }
        EXPECT_NEAR(grid.distance(Vector3d::Zero()), -radius, 0.3 * cell);
    }
}

TEST(BuildField, ASheetBecomesAClosedSlab) {
    FieldReport report;
    const DistanceGrid grid = build_field(sheet(), offset_with(64), Progress::none(), &report);
    EXPECT_EQ(report.removed_components, 0);
    EXPECT_EQ(report.thinnest, 0);
    const SurfaceMesh slab = iso_surface(grid);
    const SurfaceReport check = check_surface(slab);
    EXPECT_TRUE(check.is_closed());
    EXPECT_EQ(check.euler_number, 2);
    for (const double x : {-0.4, 0.0, 0.3})
        for (const int side : {-1, 1}) {
            const double cell = grid.frame().cell;
            EXPECT_NEAR(grid.distance({x, 0.1, side * 2.5 * cell}), 2.5 * cell - report.offset,
                        1e-6);
            EXPECT_GT(side * grid.sample({x, 0.1, side * 1.5 * cell}).gradient.z(), 0.99);
        }
    EXPECT_LT(grid.distance({0.1, 0.2, 0}), -0.5 * report.offset);
}

TEST(BuildField, ReportTellsWhatWasMade) {
    FieldReport report;
    const DistanceGrid grid =
        build_field(box_surface({0, 0, 0}, {1, 1, 0.25}), with(64), Progress::none(), &report);
    EXPECT_EQ(report.memory, grid.memory());
    EXPECT_EQ(report.offset, 0);
    EXPECT_NEAR(report.thinnest, 0.25, 1e-6);
    EXPECT_GT(report.seconds, 0);
    // trilinear values are exact beside faces and wrong by part of a cell at edges
    EXPECT_GT(report.largest_error, 0.05 * grid.frame().cell);
    EXPECT_LT(report.largest_error, 0.5 * grid.frame().cell);
    EXPECT_THAT(report.text(), HasSubstr("thinnest parts 250 mm, error near the surface at most"));
    EXPECT_THAT(report.text(), HasSubstr("1.1 MB"));
    report.offset = 0.002;
    report.removed_components = 2;
    EXPECT_THAT(report.text(), HasSubstr("surface at 2 mm, 2 enclosed components removed, "));
}

TEST(BuildField, CavitiesOfASolidStayEmpty) {
    SurfaceMesh shell = make_sphere(1, 40), hole = make_sphere(0.5, 30);
    for (Triangle& t : hole.triangles) std::swap(t[0], t[1]);
    append(shell, hole);
    const DistanceGrid grid = build_field(shell, with(32, GridStorage::Sparse));
    EXPECT_NEAR(grid.distance(Vector3d::Zero()), 0.5, 0.05);
    EXPECT_NEAR(grid.distance({0.75, 0, 0}), -0.25, 0.05);
}

TEST(BuildField, MeshesWithoutInsideAreRefusedWithARemedy) {
    const auto error = [](const SurfaceMesh& mesh) {
        return input_error([&] { (void)build_field(mesh, with(16)); });
    };
    SurfaceMesh open = make_sphere(1, 10);
    open.triangles.erase(open.triangles.begin() + 50);
    EXPECT_THAT(error(open), HasSubstr("3 open edges (first at triangle "));
    EXPECT_THAT(error(open), HasSubstr("use the offset surface or close it"));

    SurfaceMesh inverted = box_surface();
    for (Triangle& t : inverted.triangles) std::swap(t[0], t[1]);
    EXPECT_THAT(error(inverted), HasSubstr("the mesh is inside out (volume -1 m³)"));

    SurfaceMesh flipped = box_surface();
    std::swap(flipped.triangles[3][0], flipped.triangles[3][1]);
    EXPECT_THAT(error(flipped), HasSubstr("3 inconsistent edges"));

    SurfaceMesh fin = box_surface();
    fin.vertices.emplace_back(2, 2, 2);
    fin.triangles.push_back({0, 1, 8});
    fin.triangles.push_back({1, 0, 8});
    EXPECT_THAT(error(fin), HasSubstr("1 non-manifold edge (at triangle "));

    SurfaceMesh touching = box_surface(), other = box_surface({1, 1, 1}, {2, 2, 2});
    append(touching, other);
    for (Triangle& t : touching.triangles)
        for (int& v : t) v = v == 8 ? 7 : v;
    EXPECT_THAT(error(touching), HasSubstr("1 non-manifold vertex (at vertex 7)"));

    SurfaceMesh overlapping = make_sphere(1, 10), second = overlapping;
    for (Vector3d& v : second.vertices) v.x() += 1;
    append(overlapping, second);
    EXPECT_THAT(error(overlapping), HasSubstr("parts of the mesh overlap or are inside out"));
    EXPECT_EQ(input_error([&] { (void)build_field(overlapping, offset_with(32)); }), "");
}

TEST(BuildField, BrokenMeshesAreRefused) {
    const auto error = [](const SurfaceMesh& mesh) {
        return input_error([&] { (void)build_field(mesh, offset_with(32)); });
    };
    EXPECT_THAT(error({}), HasSubstr("the mesh has no triangles"));
    SurfaceMesh mesh = box_surface();
    mesh.vertices[5].y() = std::nan("");
    EXPECT_THAT(error(mesh), HasSubstr("1 vertex (at vertex 5) with a coordinate that is not"));
    mesh = box_surface();
    mesh.triangles[4][1] = 77;
    EXPECT_THAT(error(mesh), HasSubstr("1 triangle (at triangle 4) that name vertices"));
    EXPECT_THAT(error({{{1, 1, 1}, {1, 1, 1}, {1, 1, 1}}, {{0, 1, 2}}}),
                HasSubstr("all vertices of the mesh are at one place"));
    EXPECT_THAT(error(box_surface({1e6, 0, 0}, {1e6 + 1, 1, 1})),
                HasSubstr("the mesh lies 1e+06 m from the origin, where cells of 46.9 mm"));
}

TEST(BuildField, PartsThinnerThanACellAreRefusedWithTheResolutionNeeded) {
    const SurfaceMesh plate = box_surface({0, 0, 0}, {1, 1, 0.02});
    const std::string text = input_error([&] { (void)build_field(plate, with(64)); });
    EXPECT_THAT(text, HasSubstr("% of the surface bounds parts thinner than a cell of 23.4 mm "
                                "(some 20 mm), which the grid would lose; use resolution 128 or "
                                "the offset surface"));
    EXPECT_EQ(input_error([&] { (void)build_field(plate, with(128, GridStorage::Sparse)); }), "");
    EXPECT_EQ(input_error([&] { (void)build_field(plate, offset_with(64)); }), "");
    EXPECT_THAT(input_error([] {
                    (void)build_field(box_surface({0, 0, 0}, {1, 1, 1e-4}), with(64));
                }),
                HasSubstr("lose; use the offset surface"));
}

TEST(BuildField, OptionsOutOfRangeAreNamed) {
    const auto error = [](const FieldBuildOptions& options) {
        return input_error([&] { (void)build_field(box_surface(), options); });
    };
    for (const int bad : {0, -64, 8, 100, 2048})
        EXPECT_THAT(error({.resolution = bad}),
                    HasSubstr("resolution = " + std::to_string(bad) +
                              " (expected a power of two, 16 to 1024)"));
    EXPECT_THAT(error({.expansion = 1.0}), HasSubstr("expansion = 1 (expected 1.05 to 4)"));
    EXPECT_THAT(error({.expansion = std::nan("")}), HasSubstr("expansion = nan"));
    EXPECT_THAT(error({.band_cells = 0.5}), HasSubstr("band_cells = 0.5 (expected 1 to 64)"));
    FieldBuildOptions options = offset_with(32);
    options.offset_cells = 0.5;
    EXPECT_THAT(error(options), HasSubstr("offset_cells = 0.5 (expected 0.9 to 16)"));
    options.offset_cells = 14;
    EXPECT_THAT(error(options), HasSubstr("offset_cells = 14 (expected at most 10 at resolution"));
    options.offset_cells = 1.4;
    options.expansion = 1.1;
    EXPECT_THAT(error(options), HasSubstr("expansion = 1.1 (expected at least 1.27 at resolution "
                                          "32, or the box cannot hold the offset surface)"));
}

TEST(BuildField, MemoryIsKnownBeforehand) {
    const SurfaceMesh mesh = make_shape("hand", 24);
    const DistanceGrid sparse = build_field(mesh, with(64, GridStorage::Sparse));
    const FieldMemory of_sparse = field_memory(mesh, with(64, GridStorage::Sparse)),
                      of_dense = field_memory(mesh, with(64));
    EXPECT_EQ(of_dense.kept, std::size_t{65 * 65 * 65 * 4});
    EXPECT_GE(of_sparse.kept, sparse.memory());
    EXPECT_LT(of_sparse.kept, 2 * sparse.memory());
    EXPECT_GT(of_sparse.building, of_sparse.kept);
    EXPECT_GT(available_memory(), std::size_t{1} << 20);
    EXPECT_LT(available_memory(), std::size_t{1} << 50);
}

TEST(BuildField, TooLittleMemoryIsToldWithWhatWouldFit) {
    const SurfaceQuery query(box_surface());
    const auto error = [&](const FieldBuildOptions& options, std::size_t available) {
        return input_error([&] { detail::check_field_memory(query, options, available); });
    };
    EXPECT_THAT(error(with(1024), 600000000),
                HasSubstr("a dense field of resolution 1024 needs 4308 MB while it is built, but "
                          "600 MB are free; sparse storage would fit ("));
    EXPECT_THAT(error(with(1024), 600000000), HasSubstr("; resolution 512 would fit (541 MB)"));
    EXPECT_THAT(error(with(128, GridStorage::Sparse), 1000000),
                HasSubstr("a sparse field of resolution 128 needs"));
    EXPECT_EQ(error(with(512), 600000000), "");
}

TEST(BuildField, StopsWhenItIsCancelled) {
    Progress progress;
    progress.cancel();
    EXPECT_THROW((void)build_field(box_surface(), {}, progress), Cancelled);
}

}  // namespace
}  // namespace pliant
