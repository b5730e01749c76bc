#include "field/deformed_samples.h"
#include "geometry/simple_surfaces.h"
#include "input_error.h"
#include "pliant/field/build_field.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pliant {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;
using namespace test;
using ::testing::Each;
using ::testing::HasSubstr;

int num_domains(const std::vector<int>& domain_of) {
    return 1 + *std::max_element(domain_of.begin(), domain_of.end());
}
Vector3d centre_of(const SurfaceMesh& mesh, int t) {
    return (mesh.corner(t, 0) + mesh.corner(t, 1) + mesh.corner(t, 2)) / 3;
}

struct OpenedU {
    VolumeMesh mesh = u_shape();
    ReducedModel model =
        shaped_model(mesh, {displacements(mesh, [](const Vector3d& X) { return opened(X, 1); })});
    SurfaceMesh skin = model.surface();
    std::vector<int> domain_of = find_domains(skin);
    DistanceGrid body = exact_grid(skin, 64);

    [[nodiscard]] VectorXd q(double by) const {
        return coordinates(model,
                           displacements(mesh, [&](const Vector3d& X) { return opened(X, by); }));
    }
    [[nodiscard]] std::vector<FieldDomain> domains(double band = 0) const {
        return cut_into_domains(body, skin, domain_of, {}, band, Progress::none());
    }
};
const OpenedU& u() {
    static const OpenedU shape;
    return shape;
}

TEST(FindDomains, OneIsEnoughForConvexThinAndRoundBodies) {
    EXPECT_THAT(find_domains(box_surface()), Each(0));
    const auto plate = hex_box(20, 20, 1, Box(Vector3d::Zero(), Vector3d(1, 1, 0.02)));
    EXPECT_THAT(find_domains(skin_of(plate)), Each(0));
    EXPECT_THAT(find_domains(torus_surface(60, 24)), Each(0));
    EXPECT_THAT(find_domains(skin_of(long_bar())), Each(0));
    EXPECT_TRUE(find_domains(SurfaceMesh{}).empty());
}

TEST(FindDomains, PartsTheLegsOfAU) {
    const auto& domain_of = u().domain_of;
    EXPECT_GE(num_domains(domain_of), 2);
    EXPECT_LE(num_domains(domain_of), 4);
    // no domain has the upper halves of both legs
    for (int d = 0; d < num_domains(domain_of); ++d) {
        int left = 0, right = 0;
        for (int t = 0; t < u().skin.num_triangles(); ++t) {
            const Vector3d c = centre_of(u().skin, t);
            if (domain_of[t] != d || c.z() < 1.4) continue;
            (c.x() < 0 ? left : right)++;
        }
        EXPECT_EQ(std::min(left, right), 0) << d;
    }
    EXPECT_THAT(find_domains(u().skin, 1), Each(0));
    EXPECT_EQ(num_domains(find_domains(u().skin, 2)), 2);
    EXPECT_EQ(find_domains(u().skin), domain_of);
}

TEST(FindDomains, SeparatePiecesThatAreNearAreApart) {
    SurfaceMesh two = skin_of(hex_box(2, 2, 20, Box(Vector3d::Zero(), Vector3d(0.2, 0.2, 2))));
    const int first = two.num_triangles();
    append(two, skin_of(hex_box(2, 2, 20, Box(Vector3d(0.3, 0, 0), Vector3d(0.5, 0.2, 2)))));
    const auto domain_of = find_domains(two);
    EXPECT_EQ(num_domains(domain_of), 2);
    for (int t = 0; t < two.num_triangles(); ++t) EXPECT_EQ(domain_of[t], t < first ? 0 : 1);
}

TEST(FindDomains, RefusesNoDomains) {
    EXPECT_THAT(input_error([] { (void)find_domains(box_surface(), 0); }),
                HasSubstr("max_domains = 0 (expected 1 or more)"));
}

TEST(FarthestPoints, AreSpreadOverTheSurface) {
    const SurfaceMesh torus = torus_surface(80, 40);
    const auto samples = area_samples(torus, 2000);
    ASSERT_EQ(samples.size(), 2000u);
    const auto points = farthest_points(samples, 40);
    ASSERT_EQ(points.size(), 40u);
    // every place of the surface is near a point, and no two points are nearer than that
    double cover = 0, gap = 1e9;
    for (const Vector3d& x : samples) {
        double nearest = 1e9;
        for (const Vector3d& p : points) nearest = std::min(nearest, (x - p).norm());
        cover = std::max(cover, nearest);
    }
    for (std::size_t i = 0; i < points.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) gap = std::min(gap, (points[i] - points[j]).norm());
    EXPECT_GE(gap, cover);
    EXPECT_LT(cover, 0.6);
}

TEST(CutIntoDomains, TheirUnionIsTheBody) {
    const double cell = u().body.frame().cell;
    for (const double band : {0.0, 4 * cell}) {
        const auto domains = u().domains(band);
        ASSERT_EQ(static_cast<int>(domains.size()), num_domains(u().domain_of));
        const RandomPoints points(padded(bounding_box(u().skin.vertices), 0.1), 20000, 1);
        const auto body = values_at(u().body, points);
        std::vector<float> least(body.size(), 1e30f);
        for (const FieldDomain& domain : domains) {
            const auto values = values_at(domain.rest, points);
            for (std::size_t i = 0; i < least.size(); ++i) least[i] = std::min(least[i], values[i]);
        }
        for (int i = 0; i < points.size(); ++i) {
            if (std::abs(body[i]) < 2 * cell) {
                EXPECT_NEAR(least[i], body[i], cell) << points.at(i).transpose();
            }
            EXPECT_GE(least[i], body[i] - 1e-4f);
            // the depth is kept, also where domains meet
            if (body[i] < -2 * cell) {
                EXPECT_LT(least[i], 0.9 * body[i]);
            }
        }
    }
}

TEST(CutIntoDomains, EachIsAPartOfTheBody) {
    const double cell = u().body.frame().cell;
    for (const FieldDomain& domain : u().domains()) {
        EXPECT_GE(domain.proxies.size(), 7u);
        const RandomPoints points(domain.rest.bounds(), 5000, 2);
        const auto part = values_at(domain.rest, points), body = values_at(u().body, points);
        int left = 0, right = 0;
        for (int i = 0; i < points.size(); ++i) {
            EXPECT_GE(part[i], body[i] - 1e-4f);
            if (part[i] < -cell && points.at(i).z() > 1.4) (points.at(i).x() < 0 ? left : right)++;
        }
        EXPECT_EQ(std::min(left, right), 0);
        // the box has air around the part
        EXPECT_GT(domain.rest.arrays().boundary, 0);
    }
}

/// Points between the opened legs that are well outside, and how many of them seem inside.
int num_ghosts(DeformedField& field, const VectorXd& q, bool counts_all) {
    field.update(q);
    SurfaceMesh moved = u().skin;
    const SurfaceShapes shapes = u().model.shapes();
    for (int v = 0; v < moved.num_vertices(); ++v) moved.vertices[v] = shapes.position(v, q);
    const SurfaceQuery exact(moved);
    const RandomPoints points(Box(Vector3d(-1.5, -0.15, 0.6), Vector3d(1.5, 0.15, 2.3)), 3000, 3);
    const auto values = values_at(field, points);
    int count = 0;
    for (int i = 0; i < points.size(); ++i)
        if (exact.signed_distance(points.at(i)) > 0.15) count += counts_all || values[i] < 0;
    return count;
}

TEST(CutIntoDomains, SeveralDomainsHaveNoGhostsWhereOneHas) {
    const VectorXd q = u().q(0.8);
    DeformedField one(DeformedFieldModel::of_domains(
        u().model, {{u().body, farthest_points(area_samples(u().skin, 2000), 40)}}));
    DeformedField several(DeformedFieldModel::of_domains(u().model, u().domains()));
    EXPECT_GT(num_ghosts(one, q, true), 1000);
    EXPECT_GT(num_ghosts(one, q, false), 50);
    EXPECT_EQ(num_ghosts(several, q, false), 0);
    // and the legs themselves are still there
    const auto accuracy = compare_with_exact(several, u().model, q, 0.15, 2000);
    EXPECT_LT(accuracy.wrong_signs, 0.02);
    EXPECT_LT(accuracy.mean_error, 0.03);
}

TEST(CutIntoDomains, AFieldOfAModelFindsItsDomains) {
    const DeformedFieldModel model(u().model, {.resolution = 64}, {.num_domains = 0});
    EXPECT_EQ(model.num_domains(), num_domains(u().domain_of));
    EXPECT_GE(model.num_proxies(), 38);
    DeformedField field(model);
    EXPECT_EQ(num_ghosts(field, u().q(0.8), false), 0);
}

}  // namespace
}  // namespace pliant
