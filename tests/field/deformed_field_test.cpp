#include "pliant/field/deformed_field.h"

#include "core/temporary_directory.h"
#include "field/deformed_field_data.h"
#include "field/deformed_samples.h"
#include "input_error.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/core/parallel.h"
#include "pliant/core/simd.h"
#include "pliant/field/build_field.h"
#include "pliant/reduction/material_points.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;
using namespace test;
using ::testing::HasSubstr;

const ReducedModel& bar() {
    static const ReducedModel model = bar_of_shapes();
    return model;
}
const FieldDomain& bar_domain() {
    static const FieldDomain domain = one_domain(bar(), 48);
    return domain;
}
DeformedFieldModel bar_field(const DeformedFieldOptions& options = {}) {
    return DeformedFieldModel::of_domains(bar(), {bar_domain()}, options);
}
Matrix3d rotation(double angle) {
    return Eigen::AngleAxisd(angle, Vector3d(1, 2, -1).normalized()).toRotationMatrix();
}

/// Equations (10)–(12a) by the book, in double.
class SlowField {
public:
    SlowField(const ReducedModel& model, const FieldDomain& domain, const VectorXd& q, int k)
        : domain_(domain), k_(k) {
        const MaterialPoints points = material_points(model, domain.proxies, true);
        for (int i = 0; i < points.num_points(); ++i) {
            p_.emplace_back(domain.proxies[i] + points.U(i) * q);
            const VectorXd f = points.F(i) * q;
            F_.emplace_back(Matrix3d::Identity() + Eigen::Map<const Matrix3d>(f.data()));
        }
        // how far the solid reaches from its proxies at rest, and stretched
        const GridFrame& frame = domain.rest.frame();
        for (int c = 0; c <= frame.cells[2]; ++c)
            for (int b = 0; b <= frame.cells[1]; ++b)
                for (int a = 0; a <= frame.cells[0]; ++a) {
                    const Vector3d X = frame.vertex(a, b, c);
                    const double value = double{domain.rest.distance(X)};
                    if (value > frame.cell) continue;
                    double nearest = INFINITY;
                    for (const Vector3d& P : domain.proxies)
                        nearest = std::min(nearest, (X - P).norm());
                    cover_ = std::max({cover_, 1.25 * nearest, nearest - value / 8});
                }
        double stretch = 1;
        for (const Matrix3d& F : F_) stretch = std::max(stretch, norm_bound(F));
        cover_ *= stretch;
    }
    [[nodiscard]] double distance(const Vector3d& x) const {
        std::vector<std::pair<double, int>> near;
        for (std::size_t i = 0; i < p_.size(); ++i)
            near.emplace_back((x - p_[i]).norm(), static_cast<int>(i));
        std::sort(near.begin(), near.end());
        const double d_max = near[k_ - 1].first;
        double sum = 0, value = 0;
        for (int n = 0; n < k_; ++n) {
            const auto [d, i] = near[n];
            const double weight = (d_max - d) / d;
            const Vector3d X = domain_.proxies[i] + F_[i].inverse() * (x - p_[i]);
            sum += weight;
            value += weight * rest_value(X);
        }
        const double beyond = near[0].first - cover_;
        return std::max(value / sum, beyond > 0 ? beyond : 8 * beyond);
    }

private:
    [[nodiscard]] double rest_value(const Vector3d& X) const {
        const Box box = domain_.rest.frame().box();
        const Vector3d inside = X.cwiseMax(box.min()).cwiseMin(box.max());
        const double outside = (X - inside).norm(), value = double{domain_.rest.distance(inside)};
        if (outside == 0) return value;
        return std::max(std::hypot(outside, value),
                        outside + double{domain_.rest.arrays().boundary});
    }
    const FieldDomain& domain_;
    int k_;
    double cover_ = 0;
    std::vector<Vector3d> p_;
    std::vector<Matrix3d> F_;
};

TEST(DeformedField, AtRestItIsTheRestField) {
    const DeformedField field(bar_field());
    const RandomPoints points(padded(bar_domain().rest.bounds(), -0.01), 2000, 1);
    const auto values = values_at(field, points), rest = values_at(bar_domain().rest, points);
    for (int i = 0; i < points.size(); ++i) EXPECT_NEAR(values[i], rest[i], 2e-6) << i;
    EXPECT_FLOAT_EQ(field.margin().stretch, 1);
    EXPECT_FLOAT_EQ(field.margin().near, bar_domain().rest.margin().near);
}

// acceptance test 15, first half: constant F pulls back exactly
TEST(DeformedField, RigidAndAffineMotionIsExact) {
    DeformedField field(bar_field());
    Matrix3d stretch = Matrix3d::Identity();
    stretch(0, 0) = 1.3;
    stretch(1, 2) = 0.4;
    const Vector3d t(0.4, -0.2, 0.7);
    for (const Matrix3d& F : {Matrix3d(Matrix3d::Identity()), rotation(1.1), rotation(3.0),
                              Matrix3d(rotation(0.7) * stretch)}) {
        ASSERT_TRUE(field.update(affine_coordinates(bar(), F, t)));
        EXPECT_EQ(field.num_skipped(), 0);
        const RandomPoints material(padded(bar_domain().rest.bounds(), -0.05), 500, 2);
        for (int i = 0; i < material.size(); ++i) {
            const Vector3d x = F * material.at(i) + t;
            EXPECT_NEAR(field.distance(x), bar_domain().rest.distance(material.at(i)), 1e-5);
        }
    }
}

TEST(DeformedField, EqualsTheFormulaOnEveryTargetForAllNeighbourCounts) {
    const VectorXd q = bend_coordinates(bar(), 1.2);
    const RandomPoints points(Box(Vector3d::Constant(-2.5), Vector3d::Constant(2.5)), 150, 3);
    for (int k = 3; k <= 8; ++k) {
        DeformedField field(bar_field({.num_neighbours = k}));
        ASSERT_TRUE(field.update(q));
        const SlowField slow(bar(), bar_domain(), q, k);
        for (const std::string& target : simd_targets()) {
            const ScopedSimdTarget scope(target);
            const auto values = values_at(field, points);
            // single precision of 12 products, weights and distances of a few metres
            for (int i = 0; i < points.size(); ++i)
                EXPECT_NEAR(values[i], slow.distance(points.at(i)), 2e-5)
                    << target << " k " << k << " point " << i;
        }
    }
}

TEST(DeformedField, EqualsTheFormulaOnEveryTargetForManyProxies) {
    const VectorXd q = bend_coordinates(bar(), 1.2);
    const RandomPoints points(Box(Vector3d::Constant(-2.5), Vector3d::Constant(2.5)), 150, 3);
    const FieldDomain domain{bar_domain().rest, one_domain(bar(), 8, 90).proxies};
    DeformedField field(DeformedFieldModel::of_domains(bar(), {domain}, {.num_proxies = 90}));
    ASSERT_TRUE(field.update(q));
    const SlowField slow(bar(), domain, q, 5);
    for (const std::string& target : simd_targets()) {
        const ScopedSimdTarget scope(target);
        const auto values = values_at(field, points);
        for (int i = 0; i < points.size(); ++i)
            EXPECT_NEAR(values[i], slow.distance(points.at(i)), 2e-5) << target << " point " << i;
    }
}

// the proxies of one half see the other half where it was at rest
TEST(DeformedField, WhatIsFarFromAllProxiesIsNotTheSolid) {
    const VolumeMesh mesh = long_bar();
    const VectorXd u = displacements(mesh, [](const Vector3d& X) {
        return Vector3d(X + (X.x() > 0.05 ? 2.0 : 0.0) * Vector3d::UnitZ());
    });
    const ReducedModel model = shaped_model(mesh, {u});
    FieldDomain domain = one_domain(model, 48);
    // none in the elements between the halves
    std::erase_if(domain.proxies, [](const Vector3d& P) { return std::abs(P.x() - 0.0625) < 0.1; });
    DeformedField field(DeformedFieldModel::of_domains(model, {domain}, {.num_neighbours = 4}));
    ASSERT_TRUE(field.update(coordinates(model, u)));
    EXPECT_GT(field.distance(Vector3d(0.9, 0, 0)), 0.3);
    EXPECT_NEAR(field.distance(Vector3d(0.7, 0, 2)), -0.2, 0.02);
    EXPECT_NEAR(field.distance(Vector3d(-0.7, 0, 0)), -0.2, 0.02);
}

TEST(DeformedField, AnswersDependOnThePointAlone) {
    for (const bool pushes_forward : {false, true}) {
        DeformedField field(bar_field({.pushes_forward = pushes_forward}));
        ASSERT_TRUE(field.update(bend_coordinates(bar(), 1.0)));
        const RandomPoints points(field.bounds(), 201, 4);
        const auto all = values_at(field, points);
        std::vector<float> some(points.x.size());
        for (const int size : {1, 3, 17, 63, 64, 65, 130})
            for (int begin = 0; begin + size <= points.size(); begin += size) {
                field.distances(points.batch(begin, size), some.data());
                for (int i = 0; i < size; ++i) ASSERT_EQ(some[i], all[begin + i]) << size;
            }
    }
}

// acceptance test 15, second half: also at proxies, through the faces of the rest box and for
// push-forward
TEST(DeformedField, IsContinuousAlongRandomPaths) {
    for (const bool pushes_forward : {false, true}) {
        DeformedField field(bar_field({.pushes_forward = pushes_forward}));
        ASSERT_TRUE(field.update(bend_coordinates(bar(), 1.2)));
        std::mt19937 random(5);
        std::uniform_real_distribution<double> uniform(-2.2, 2.2);
        constexpr int kSteps = 20000;
        double steepest = 0;
        for (int path = 0; path < 12; ++path) {
            Vector3d a(uniform(random), uniform(random), uniform(random));
            Vector3d b(uniform(random), uniform(random), uniform(random));
            if (path < 4) {
                // right through two proxies
                const VectorXd q = bend_coordinates(bar(), 1.2);
                const MaterialPoints at = material_points(bar(), bar_domain().proxies, false);
                a = at.rest[path] + at.U(path) * q;
                b = at.rest[path + 4] + at.U(path + 4) * q;
                const Vector3d beyond = b - a;
                a -= beyond;
                b += beyond;
            }
            const double step = (b - a).norm() / kSteps;
            float last = field.distance(a);
            for (int i = 1; i <= kSteps; ++i) {
                const float value = field.distance(a + (b - a) * i / kSteps);
                steepest = std::max(steepest, std::abs(double{value} - double{last}) / step);
                last = value;
            }
        }
        // steps of 0.2 mm: rounding adds 1e-6 / 2e-4; a jump of a millimetre would show as 5
        EXPECT_LT(steepest, pushes_forward ? 3.0 : 2.0) << "pushes_forward " << pushes_forward;
        EXPECT_GT(steepest, 0.5);
    }
}

TEST(DeformedField, GradientsAreThoseOfTheValues) {
    DeformedField field(bar_field());
    ASSERT_TRUE(field.update(bend_coordinates(bar(), 0.8)));
    const RandomPoints points(field.bounds(), 300, 6);
    const auto values = values_at(field, points);
    std::vector<float> d(300), gx(300), gy(300), gz(300);
    field.samples(points.batch(), {d.data(), gx.data(), gy.data(), gz.data()});
    EXPECT_EQ(d, values);
    const double step = 0.25 * field.resolution();
    for (int i = 0; i < points.size(); ++i)
        for (int axis = 0; axis < 3; ++axis) {
            const Vector3d e = step * Vector3d::Unit(axis);
            const double difference = (double{field.distance(points.at(i) + e)} -
                                       double{field.distance(points.at(i) - e)}) /
                                      (2 * step);
            EXPECT_NEAR((axis == 0 ? gx : axis == 1 ? gy : gz)[i], difference, 1e-3);
        }
    // of a turned body: the turned gradient, where no cell face is near
    const Matrix3d R = rotation(0.8);
    ASSERT_TRUE(field.update(affine_coordinates(bar(), R, Vector3d::Zero())));
    const Vector3d above(0.3, 0.03, 0.6);
    EXPECT_LT((field.sample(R * above).gradient - R * Vector3d::UnitZ()).norm(), 1e-3);
}

TEST(DeformedField, WhatIsNotFiniteChangesNothing) {
    DeformedField field(bar_field());
    ASSERT_TRUE(field.update(bend_coordinates(bar(), 0.5)));
    const float before = field.distance(Vector3d(0.1, 0.2, 0.3));
    VectorXd q = VectorXd::Zero(field.rank());
    for (const double bad : {std::nan(""), HUGE_VAL, 1e300}) {
        q[1] = bad;
        EXPECT_FALSE(field.update(q));
        EXPECT_EQ(field.distance(Vector3d(0.1, 0.2, 0.3)), before);
    }
    EXPECT_EQ(field.travel(q * HUGE_VAL), HUGE_VAL);
    const float x[4] = {NAN, 0, INFINITY, 3e38f}, y[4] = {0, -INFINITY, 0, 0}, z[4] = {};
    float d[4], gx[4], gy[4], gz[4];
    field.samples({x, y, z, 4}, {d, gx, gy, gz});
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(d[i], INFINITY);
        EXPECT_EQ(gx[i], 0);
    }
    EXPECT_GT(d[3], 1e11f);
    EXPECT_TRUE(std::isfinite(d[3]) && std::isfinite(gx[3]));
}

TEST(DeformedField, SkipsProxiesThatAreTurnedInsideOut) {
    DeformedField field(bar_field());
    // shortened and bent: the inner side is inverted
    const Matrix3d shortened = Vector3d(0.1, 1, 1).asDiagonal();
    const VectorXd q =
        affine_coordinates(bar(), shortened, Vector3d::Zero()) + 3 * bend_coordinates(bar(), 1.2);
    ASSERT_TRUE(field.update(q));
    EXPECT_GT(field.num_skipped(), 0);
    EXPECT_LT(field.num_skipped(), 38);
    const RandomPoints points(padded(field.bounds(), 1), 500, 7);
    for (const float v : values_at(field, points)) EXPECT_TRUE(std::isfinite(v));
    // all of them: the rest field follows without turning
    const Vector3d t(0, 0, 1);
    ASSERT_TRUE(field.update(affine_coordinates(bar(), -Matrix3d::Identity(), t)));
    EXPECT_EQ(field.num_skipped(), 40);
    for (const float v : values_at(field, points)) EXPECT_TRUE(std::isfinite(v));
    EXPECT_GE(field.margin().stretch, 1);
    // and it recovers
    ASSERT_TRUE(field.update(VectorXd::Zero(field.rank())));
    EXPECT_EQ(field.num_skipped(), 0);
}

TEST(DeformedField, MarginHoldsForRandomShapesAndSpheres) {
    std::mt19937 random(8);
    std::uniform_real_distribution<double> uniform(-1, 1);
    const double size = bend_coordinates(bar(), 1.0).norm();
    for (const bool pushes_forward : {false, true}) {
        DeformedField field(bar_field({.pushes_forward = pushes_forward}));
        int num_tests = 0;
        for (int shape = 0; shape < 12; ++shape) {
            VectorXd q = bend_coordinates(bar(), 1.2 * uniform(random) + 1e-3);
            for (int j = 0; j < q.size(); ++j) q[j] += 0.08 * size * uniform(random);
            ASSERT_TRUE(field.update(q));
            const CullingMargin margin = field.margin();
            EXPECT_LT(margin.stretch, 12);
            const RandomPoints inside(field.bounds(), 1500, static_cast<unsigned>(shape));
            const auto values = values_at(field, inside);
            for (int i = 0; i < inside.size(); ++i) {
                if (values[i] >= 0) continue;
                // spheres of all sizes about other points
                const double radius = std::exp(2.5 * uniform(random) - 2);
                const Vector3d way =
                    Vector3d(uniform(random), uniform(random), uniform(random)).normalized();
                const Vector3d y = inside.at(i), c = y + radius * way;
                const float value = field.distance(c);
                EXPECT_LE(value, double{margin.stretch} * radius + double{margin.at(value)} + 1e-5)
                    << "shape " << shape << " R " << radius;
                ++num_tests;
            }
        }
        EXPECT_GT(num_tests, 500);
    }
}

TEST(DeformedField, TravelBoundsTheMotionOfEveryPoint) {
    const DeformedField field(bar_field());
    const auto U = bar().basis();
    std::mt19937 random(9);
    std::normal_distribution<double> normal;
    for (int trial = 0; trial < 20; ++trial) {
        const VectorXd dq = VectorXd::NullaryExpr(field.rank(), [&] { return normal(random); });
        const VectorXd u = U * dq;
        double largest = 0;
        for (Eigen::Index v = 0; v < u.size(); v += 3)
            largest = std::max(largest, u.segment<3>(v).norm());
        EXPECT_LE(largest, field.travel(dq));
        EXPECT_LT(field.travel(dq), 30 * largest);
    }
    EXPECT_EQ(field.travel(VectorXd::Zero(field.rank())), 0);
}

TEST(DeformedField, TravelBoundsTheMotionOfTheFieldItself) {
    DeformedField field(bar_field());
    const VectorXd q0 = bend_coordinates(bar(), 0.4), q1 = bend_coordinates(bar(), 1.0);
    ASSERT_TRUE(field.update(q1));
    const MaterialPoints at = material_points(bar(), bar_domain().proxies, true);
    const auto gradient = [&](int i, const VectorXd& q) {
        const VectorXd f = at.F(i) * q;
        return Matrix3d(Matrix3d::Identity() + Eigen::Map<const Matrix3d>(f.data()));
    };
    const RandomPoints points(field.bounds(), 2000, 13);
    const auto values = values_at(field, points);
    int num_inside = 0;
    for (int n = 0; n < points.size(); ++n) {
        if (values[n] >= 0) continue;
        // where the nearest proxy had this point before
        const int i = field.nearest_proxy(points.at(n));
        const Vector3d p0 = at.rest[i] + at.U(i) * q0, p1 = at.rest[i] + at.U(i) * q1;
        const Vector3d before =
            p0 + gradient(i, q0) * gradient(i, q1).inverse() * (points.at(n) - p1);
        EXPECT_LE((before - points.at(n)).norm(), field.travel(q1 - q0));
        ++num_inside;
    }
    EXPECT_GT(num_inside, 100);
}

TEST(DeformedField, BoundsContainTheSurface) {
    DeformedField field(bar_field());
    for (const double angle : {0.01, 0.6, 1.2}) {
        const VectorXd q = bend_coordinates(bar(), angle);
        ASSERT_TRUE(field.update(q));
        const SurfaceShapes shapes = bar().shapes();
        for (int v = 0; v < shapes.num_vertices(); ++v)
            EXPECT_TRUE(field.bounds().contains(shapes.position(v, q)));
        EXPECT_LT(field.bounds().sizes().maxCoeff(), 2.6);
    }
}

TEST(DeformedField, LoadsActThroughTheNearestProxy) {
    DeformedField field(bar_field());
    const VectorXd q = bend_coordinates(bar(), 0.9);
    ASSERT_TRUE(field.update(q));
    const MaterialPoints at = material_points(bar(), bar_domain().proxies, false);
    const RandomPoints points(field.bounds(), 50, 10);
    std::vector<int> nearest(50);
    field.nearest_proxies(points.batch(), nearest.data());
    for (int n = 0; n < points.size(); ++n) {
        const int proxy = field.nearest_proxy(points.at(n));
        EXPECT_EQ(nearest[n], proxy);
        const auto distance = [&](int i) {
            return (at.rest[i] + at.U(i) * q - points.at(n)).norm();
        };
        // found in single precision
        for (int i = 0; i < 40; ++i) EXPECT_GE(distance(i), distance(proxy) - 1e-6);
        const Vector3d force(1, -2, 0.5);
        VectorXd f = VectorXd::Constant(field.rank(), 3);
        field.add_load(proxy, force, f.data());
        const VectorXd expected = at.U(proxy).transpose() * force;
        EXPECT_LT((f - expected - VectorXd::Constant(field.rank(), 3)).norm(), 1e-12);
        const Eigen::Map<const Eigen::Matrix3Xd> U(field.proxy_modes(proxy), 3, field.rank());
        EXPECT_EQ(U, at.U(proxy));
    }
}

TEST(DeformedField, PushForwardIsRightUnderStretchWherePullBackIsNot) {
    DeformedField plain(bar_field()), pushed(bar_field({.pushes_forward = true}));
    Matrix3d F = Matrix3d::Identity();
    F(2, 2) = 1.6;
    const VectorXd q = affine_coordinates(bar(), F, Vector3d::Zero());
    ASSERT_TRUE(plain.update(q));
    ASSERT_TRUE(pushed.update(q));
    // above the top face, which is now at 0.32
    for (const double height : {-0.05, 0.05, 0.1, 0.2}) {
        const Vector3d x(0.2, 0.02, 0.32 + height);
        EXPECT_NEAR(plain.distance(x), height / 1.6, 2e-3);
        EXPECT_NEAR(pushed.distance(x), height, 4e-3);
        // and unchanged to the side
        EXPECT_NEAR(pushed.distance(Vector3d(0.2, 0.2 + height, 0.03)), height, 4e-3);
    }
    const auto of_plain = compare_with_exact(plain, bar(), q, 0.2, 2000);
    const auto of_pushed = compare_with_exact(pushed, bar(), q, 0.2, 2000);
    EXPECT_LT(of_pushed.mean_error, 0.5 * of_plain.mean_error);
    EXPECT_EQ(of_pushed.wrong_signs, 0);
}

TEST(DeformedField, IsNearTheExactFieldOfABentBar) {
    DeformedField field(bar_field());
    const double cell = field.resolution();
    const auto rest = compare_with_exact(field, bar(), VectorXd::Zero(field.rank()), 0.2, 2000);
    EXPECT_EQ(rest.num_samples, 2000);
    EXPECT_LT(rest.mean_error, 0.1 * cell);
    const auto bend = compare_with_exact(field, bar(), bend_coordinates(bar(), 0.6), 0.2, 2000);
    EXPECT_LT(bend.mean_error, 0.03);
    EXPECT_LT(bend.rms_error, 0.04);
    EXPECT_GE(bend.largest_error, bend.rms_error);
    EXPECT_LT(bend.wrong_signs, 0.01);
    EXPECT_GT(bend.mean_error, rest.mean_error);
    EXPECT_THAT(
        input_error([&] { (void)compare_with_exact(field, bar(), VectorXd::Zero(2), 0.2, 10); }),
        HasSubstr("q = 2 coordinates (expected 14 finite coordinates)"));
}

TEST(DeformedField, AllocatesNothingOnceBuilt) {
    set_num_threads(1);
    DeformedField field(bar_field({.pushes_forward = true}));
    const VectorXd q = bend_coordinates(bar(), 0.9);
    const RandomPoints points(field.bounds(), 100, 11);
    std::vector<float> d(100), gx(100), gy(100), gz(100);
    VectorXd f = VectorXd::Zero(field.rank());
    const Vector3d up = Vector3d::UnitZ();
    AllocationGuard guard;
    const bool is_updated = field.update(q);
    field.distances(points.batch(), d.data());
    field.samples(points.batch(), {d.data(), gx.data(), gy.data(), gz.data()});
    field.add_load(field.nearest_proxy(up), up, f.data());
    const double way = field.travel(q);
    const auto allocations = guard.count();
    set_num_threads(0);
    EXPECT_TRUE(is_updated);
    EXPECT_GT(way, 0);
    EXPECT_EQ(allocations, 0u);
}

TEST(DeformedField, FilesGiveTheSameField) {
    const TemporaryDirectory directory;
    const auto path = directory / "bar.pliant";
    const DeformedFieldModel built =
        DeformedFieldModel::of_domains(bar(), {bar_domain(), bar_domain()}, {.num_neighbours = 4});
    built.save(path, {{"command", "test"}});
    const DeformedFieldModel loaded = DeformedFieldModel::load(path, bar());
    EXPECT_EQ(loaded.num_domains(), 2);
    EXPECT_EQ(loaded.num_proxies(), 80);
    EXPECT_EQ(loaded.options().num_neighbours, 4);
    DeformedField a(built), b(loaded);
    const VectorXd q = bend_coordinates(bar(), 1.0);
    ASSERT_TRUE(a.update(q) && b.update(q));
    const RandomPoints points(a.bounds(), 200, 12);
    EXPECT_EQ(values_at(a, points), values_at(b, points));
    EXPECT_EQ(a.bounds().min(), b.bounds().min());
    EXPECT_EQ(a.margin().stretch, b.margin().stretch);
    EXPECT_EQ(a.travel(q), b.travel(q));

    EXPECT_THAT(input_error([&] { (void)DeformedFieldModel::load(path, bar().truncated(5)); }),
                HasSubstr("rank = 14 (expected 5, that of the reduced model)"));
    const VolumeMesh other = reference_bar();
    const ReducedModel stranger =
        shaped_model(other, {affine_displacements(other, Matrix3d::Identity(), Vector3d::Zero())});
    EXPECT_THAT(input_error([&] { (void)DeformedFieldModel::load(path, stranger); }),
                HasSubstr("belongs to another surface"));
    bar().save(directory / "model.pliant");
    EXPECT_THAT(
        input_error([&] { (void)DeformedFieldModel::load(directory / "model.pliant", bar()); }),
        HasSubstr("reduced-model"));
}

TEST(DeformedField, BadPartsAreRefusedByName) {
    EXPECT_THAT(input_error([] { (void)DeformedFieldModel::of_domains(bar(), {}); }),
                HasSubstr("domains = none"));
    FieldDomain few = bar_domain();
    few.proxies.resize(4);
    EXPECT_THAT(input_error([&] { (void)DeformedFieldModel::of_domains(bar(), {few}); }),
                HasSubstr("domains[0].proxies = 4 (expected at least num_neighbours = 5)"));
    EXPECT_THAT(input_error([] { bar_field({.num_neighbours = 2}); }),
                HasSubstr("num_neighbours = 2 (expected 3 … 8)"));
    EXPECT_THAT(input_error([] { bar_field({.num_proxies = 4}); }),
                HasSubstr("num_proxies = 4 (expected at least num_neighbours"));
    FieldDomain bad = bar_domain();
    bad.proxies[3].x() = NAN;
    EXPECT_NE(input_error([&] { (void)DeformedFieldModel::of_domains(bar(), {bad}); }), "");
    FieldDomain narrow = bar_domain();
    narrow.rest = DistanceGrid::sparse(narrow.rest, 4 * narrow.rest.frame().cell);
    EXPECT_THAT(
        input_error([&] { (void)DeformedFieldModel::of_domains(bar(), {narrow}); }),
        HasSubstr("domains[0].rest = sparse with a band of 4 cells (expected a dense grid"));
}

TEST(DeformedField, IsBuiltFromTheModelAlone) {
    const DeformedFieldModel model(bar(), {.resolution = 32}, {.num_proxies = 30});
    EXPECT_EQ(model.num_domains(), 1);
    EXPECT_EQ(model.num_proxies(), 30);
    EXPECT_EQ(model.rank(), 14);
    DeformedField field(model);
    // small grids are dense, whatever was asked for
    EXPECT_EQ(field.margin().far, field.margin().near);
    EXPECT_NEAR(field.distance(Vector3d(0, 0, 0.5)), 0.3, 0.02);
    EXPECT_LT(field.distance(Vector3d(0.4, 0, 0)), -0.1);
}

TEST(DeformedField, ADomainIsAskedWithoutTheMaterialInABall) {
    DeformedField field(bar_field());
    const Matrix3d F = rotation(0.7);
    const Vector3d t(0.4, -0.2, 0.7);
    field.update(affine_coordinates(bar(), F, t));
    const RandomPoints material(Box(Vector3d(-1.4, -1, -0.4), Vector3d(1.4, 1, 0.4)), 3000, 2);
    const RandomPoints centres(Box(Vector3d(-1, -0.2, -0.2), Vector3d(1, 0.2, 0.2)), 3000, 3);
    std::vector<float> x, y, z, radius;
    for (int i = 0; i < material.size(); ++i) {
        const Vector3d p = F * material.at(i) + t;
        x.push_back(static_cast<float>(p.x()));
        y.push_back(static_cast<float>(p.y()));
        z.push_back(static_cast<float>(p.z()));
        radius.push_back(i % 2 == 0 ? 0.5f : -std::numeric_limits<float>::infinity());
    }
    std::vector<float> values(x.size());
    int num_cut = 0;
    for (const std::string& target : simd_targets()) {
        const ScopedSimdTarget scope(target);
        field.domain_distances(
            0, {x.data(), y.data(), z.data(), material.size()},
            {centres.x.data(), centres.y.data(), centres.z.data(), radius.data()}, values.data());
        for (int i = 0; i < material.size(); ++i) {
            const double rest = bar_domain().rest.distance(material.at(i));
            const double ball = radius[i] - (material.at(i) - centres.at(i)).norm();
            // far from all proxies the value may be larger
            EXPECT_GE(values[i], std::max(rest, ball) - 1e-5);
            if (rest < 0.1) {
                EXPECT_NEAR(values[i], std::max(rest, ball), 1e-5);
            }
            num_cut += rest < 0 && ball > 0;
        }
    }
    EXPECT_GT(num_cut, 20);
}

TEST(DeformedField, MaterialMovesWithTheNeighbourhoodsOfProxies) {
    DeformedField field(bar_field());
    const Matrix3d F = rotation(0.7);
    const Vector3d t(0.4, -0.2, 0.7);
    const VectorXd q = affine_coordinates(bar(), F, t);
    field.update(q);
    // an affine change is what all neighbourhoods do
    Matrix3d A = Matrix3d::Zero();
    A << 0.1, 0.3, -0.2, 0.5, -0.4, 0.6, -0.1, 0.2, 0.7;
    const VectorXd change = affine_coordinates(bar(), Matrix3d::Identity() + A, Vector3d(1, -2, 3));
    const RandomPoints material(Box(Vector3d(-1, -0.2, -0.2), Vector3d(1, 0.2, 0.2)), 100, 4);
    const int stride = 4 * bar().rank() + 4;
    std::vector<float> modes(static_cast<std::size_t>(stride) * material.x.size());
    std::vector<float> x, y, z;
    for (int i = 0; i < material.size(); ++i) {
        const Vector3d p = F * material.at(i) + t;
        x.push_back(static_cast<float>(p.x()));
        y.push_back(static_cast<float>(p.y()));
        z.push_back(static_cast<float>(p.z()));
    }
    field.domain_modes(0, {x.data(), y.data(), z.data(), material.size()}, modes.data(), stride);
    for (int i = 0; i < material.size(); ++i) {
        Vector3d moved = Vector3d::Zero();
        for (int j = 0; j < bar().rank(); ++j) {
            const float* group = modes.data() + static_cast<std::size_t>(i * stride + 4 * j);
            moved += change[j] * Vector3d(group[0], group[1], group[2]);
            EXPECT_EQ(group[3], 0);
        }
        const Vector3d expected = A * material.at(i) + Vector3d(1, -2, 3);
        EXPECT_LT((moved - expected).norm(), 2e-5 * (1 + change.norm())) << i;
    }
}

}  // namespace
}  // namespace pliant
