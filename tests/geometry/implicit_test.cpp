#include "pliant/geometry/implicit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace pliant {
namespace {

using Eigen::Vector3d;
using namespace implicit;

struct Block {
    std::string name;
    Implicit body;
};

std::vector<Block> blocks() {
    const Vector3d a(0.1, -0.2, 0.3), b(0.9, 0.4, -0.5);
    const Implicit ball = sphere(a, 0.4),
                   slab = box(-a.cwiseAbs() - b.cwiseAbs(), b.cwiseAbs(), 0.05);
    const Implicit tube = sweep({{a, 0.1}, {b, 0.2}, {-a, 0.05}, {-b, 0.15}});
    const Implicit ring = torus(a, b, 0.6, 0.15);
    return {
        {"sphere", ball},
        {"ellipsoid", ellipsoid(a, {0.3, 0.8, 0.1})},
        {"round ellipsoid", ellipsoid(a, {0.4, 0.4, 0.4})},
        {"capsule", capsule(a, b, 0.3, 0.1)},
        {"capsule whose end is swallowed", capsule(a, Vector3d(0.2, -0.2, 0.3), 0.1, 0.5)},
        {"box", box({-0.2, -0.3, 0.1}, {0.4, 0.1, 0.9})},
        {"rounded box", slab},
        {"cylinder", cylinder(a, b, 0.3)},
        {"rounded cylinder", cylinder(b, a, 0.3, 0.1)},
        {"torus", ring},
        {"sweep", tube},
        {"closed sweep", sweep({{a, 0.1}, {b, 0.2}, {-a, 0.05}, {-b, 0.15}}, true, 5)},
        {"unite", unite({ball, slab, tube, ring})},
        {"smooth_unite", smooth_unite({ball, tube, ring, capsule(a, -b, 0.2, 0.2)}, 0.3)},
        {"nested smooth_unite", smooth_unite({smooth_unite({ball, tube}, 0.2), ring}, 0.1)},
        {"intersect", intersect(slab, ring)},
        {"subtract", subtract(slab, ball)},
        {"smooth subtract", subtract(slab, ring, 0.1)},
        {"shell", shell(ring, 0.1)},
        {"offset", offset(tube, 0.1)},
        {"inward offset", offset(slab, -0.05)},
        {"translate", translate(tube, a)},
        {"rotate", rotate(slab, {0.3, -1.0, 2.0})},
        {"scale", scale(tube, 0.3)},
        {"mirror", mirror(tube, 1)},
        {"repeat", repeat(ring, {0.3, 0.2, 0.1}, 7)},
        {"repeat_around", repeat_around(translate(tube, {1.5, 0, 0}), 2, 5)},
        {"twist", twist(slab, 2, 3.0)},
        {"repeated twist", repeat(twist(slab, 0, -2.0), {1.0, 0.0, 0.5}, 3)},
        {"subtracted twist", subtract(ball, twist(slab, 1, 4.0), 0.05)},
    };
}

class Sampler {
public:
    Vector3d in(const Box& box, double margin) {
        const Vector3d half = 0.5 * box.sizes().array() + margin;
        return box.center() +
               half.cwiseProduct(Vector3d(unit_(random_), unit_(random_), unit_(random_)));
    }
    Vector3d step(double length) {
        return length * Vector3d(unit_(random_), unit_(random_), unit_(random_));
    }

private:
    std::mt19937 random_{7};
    std::uniform_real_distribution<double> unit_{-1.0, 1.0};
};

TEST(Implicit, NoBlockIsSteeperThanItsLipschitzConstant) {
    Sampler sampler;
    for (const Block& block : blocks()) {
        double worst = 0.0;
        for (int i = 0; i < 4000; ++i) {
            const Vector3d x = sampler.in(block.body.box(), 0.7);
            const Vector3d y = x + sampler.step(i % 3 == 0 ? 1e-3 : i % 3 == 1 ? 0.05 : 1.0);
            const double change = std::abs(block.body(x) - block.body(y));
            worst = std::max(worst, (change - 1e-9) / (x - y).norm());
        }
        EXPECT_LE(worst, block.body.lipschitz() * (1.0 + 1e-9)) << block.name;
    }
}

TEST(Implicit, EveryBodyLiesInItsBox) {
    Sampler sampler;
    for (const Block& block : blocks()) {
        const Box& box = block.body.box();
        int inside = 0;
        for (int i = 0; i < 20000; ++i) {
            const Vector3d x = sampler.in(box, 0.3);
            if (block.body(x) >= 0.0) continue;
            ++inside;
            EXPECT_TRUE(box.contains(x)) << block.name << " at " << x.transpose();
        }
        EXPECT_GT(inside, 0) << block.name;
    }
}

TEST(Implicit, BoxesOfSimpleSolidsAreTight) {
    const auto expect_tight = [](const Implicit& body) {
        Box seen;
        Sampler sampler;
        for (int i = 0; i < 200000; ++i) {
            const Vector3d x = sampler.in(body.box(), 0.0);
            if (body(x) <= 0.02) seen.extend(x);
        }
        // the sampled body, thickened by 0.02, must come near every side
        EXPECT_LT((seen.min() - body.box().min()).maxCoeff(), 0.02);
        EXPECT_LT((body.box().max() - seen.max()).maxCoeff(), 0.02);
    };
    expect_tight(cylinder({0.1, 0.2, 0.3}, {0.5, -0.3, 0.1}, 0.3));
    expect_tight(torus({0.1, 0.2, 0.3}, {1, 2, -0.5}, 0.5, 0.1));
    expect_tight(ellipsoid({0.1, 0.2, 0.3}, {0.3, 0.5, 0.2}));
}

TEST(Implicit, SolidsMatchTheirDefinitions) {
    Sampler sampler;
    const Vector3d a(0.1, -0.2, 0.3), b(0.9, 0.4, -0.5), r(0.3, 0.8, 0.1);
    const Implicit cone = capsule(a, b, 0.3, 0.1), egg = ellipsoid(a, r), rod = cylinder(a, b, 0.3);
    for (int i = 0; i < 2000; ++i) {
        const Vector3d x = sampler.in(Box(Vector3d::Constant(-1.2), Vector3d::Constant(1.2)), 0.0);
        // cone: nearest of many balls
        double balls = 1e9;
        for (int k = 0; k <= 400; ++k) {
            const double t = k / 400.0;
            balls = std::min(balls, (x - a - t * (b - a)).norm() - 0.3 + 0.2 * t);
        }
        EXPECT_NEAR(cone(x), balls, 2e-3);  // spacing of the balls
        EXPECT_EQ(egg(x) < 0.0, (x - a).cwiseQuotient(r).squaredNorm() < 1.0);
        const double t = (x - a).dot(b - a) / (b - a).squaredNorm();
        const bool in_rod = t > 0 && t < 1 && (x - a - t * (b - a)).norm() < 0.3;
        EXPECT_EQ(rod(x) < 0.0, in_rod);
    }
}

TEST(Implicit, EllipsoidDistanceIsExact) {
    const Vector3d r(0.3, 0.8, 0.1);
    const Implicit egg = ellipsoid(Vector3d::Zero(), r);
    Sampler sampler;
    for (int i = 0; i < 500; ++i) {
        // along the outward normal of a surface point the distance is the step
        const Vector3d direction = sampler.step(1.0).normalized();
        const Vector3d p = r.cwiseProduct(direction);
        const Vector3d normal = p.cwiseQuotient(r.cwiseProduct(r)).normalized();
        EXPECT_NEAR(egg(p), 0.0, 1e-10);
        EXPECT_NEAR(egg(p + 0.7 * normal), 0.7, 1e-10);
        EXPECT_NEAR(egg(p - 0.01 * normal), -0.01, 1e-9);  // radius of curvature ≥ 0.0125
    }
    EXPECT_NEAR(egg(Vector3d::Zero()), -0.1, 1e-9);
    EXPECT_NEAR(egg(Vector3d(0, 0, 5)), 4.9, 1e-9);
}

TEST(Implicit, UnionOfManyPartsEqualsThePlainMinimum) {
    Sampler sampler;
    const Box arena(Vector3d::Constant(-2.0), Vector3d::Constant(2.0));
    std::vector<Implicit> parts;
    for (int i = 0; i < 150; ++i) {
        const Vector3d c = sampler.in(arena, 0.0);
        if (i % 2) {
            parts.push_back(sphere(c, 0.1 + 0.002 * i));
        } else {
            parts.push_back(capsule(c, c + sampler.step(0.6), 0.1, 0.2));
        }
    }
    const Implicit all = unite(parts), blended = smooth_unite(parts, 0.2);
    for (int i = 0; i < 3000; ++i) {
        const Vector3d x = sampler.in(arena, 1.0);
        double plain = 1e9;
        for (const Implicit& part : parts) plain = std::min(plain, part(x));
        // parts outside their box count at least as far as the box, never farther than they are
        EXPECT_NEAR(all(x), plain, 1e-12);
        EXPECT_LE(blended(x), plain + 1e-12);
        EXPECT_GE(blended(x), plain - 0.1);
    }
}

TEST(Implicit, SmoothUnionOfTwoIsThePolynomialBlend) {
    const Implicit a = sphere({0, 0, 0}, 0.5), b = sphere({0.8, 0, 0}, 0.4);
    const double k = 0.25;
    const Implicit blend = smooth_unite({a, b}, k);
    Sampler sampler;
    for (int i = 0; i < 1000; ++i) {
        const Vector3d x = sampler.in(blend.box(), 0.2);
        const double fa = a(x), fb = b(x);
        const double h = std::max(0.0, 1.0 - std::abs(fa - fb) / k);
        EXPECT_NEAR(blend(x), std::min(fa, fb) - h * h * k / 4, 1e-12);
    }
}

TEST(Implicit, SmoothDifferenceIsTheBlendOfTheComplement) {
    const Implicit a = box({-0.5, -0.4, -0.3}, {0.5, 0.4, 0.3}), b = sphere({0.4, 0.3, 0.2}, 0.35);
    const double k = 0.25;
    const Implicit rest = subtract(a, b, k);
    Sampler sampler;
    for (int i = 0; i < 3000; ++i) {
        const Vector3d x = sampler.in(a.box(), 0.3);
        const double fa = -a(x), fb = b(x), h = std::max(0.0, 1.0 - std::abs(fa - fb) / k);
        EXPECT_NEAR(rest(x), -(std::min(fa, fb) - h * h * k / 4), 1e-12);
    }
}

TEST(Implicit, SmoothUnionDoesNotDependOnTheOrder) {
    std::vector<Implicit> parts;
    for (int i = 0; i < 9; ++i) parts.push_back(sphere({0.1 * i, 0.05 * (i % 3), 0.0}, 0.2));
    const Implicit forward = smooth_unite(parts, 0.2);
    std::reverse(parts.begin(), parts.end());
    const Implicit backward = smooth_unite(parts, 0.2);
    Sampler sampler;
    for (int i = 0; i < 1000; ++i) {
        const Vector3d x = sampler.in(forward.box(), 0.2);
        EXPECT_NEAR(forward(x), backward(x), 1e-13);
    }
}

TEST(Implicit, CombinationsAgreeWithSetOperations) {
    const Implicit a = box({-0.5, -0.4, -0.3}, {0.5, 0.4, 0.3}), b = sphere({0.4, 0.3, 0.2}, 0.35);
    const Implicit both = intersect(a, b), rest = subtract(a, b), skin = shell(b, 0.1);
    Sampler sampler;
    for (int i = 0; i < 3000; ++i) {
        const Vector3d x = sampler.in(a.box(), 0.3);
        const bool in_a = a(x) < 0, in_b = b(x) < 0;
        EXPECT_EQ(both(x) < 0, in_a && in_b);
        EXPECT_EQ(rest(x) < 0, in_a && b(x) > 0);
        EXPECT_EQ(skin(x) < 0, std::abs(b(x)) < 0.05);
    }
}

TEST(Implicit, CopiesAreWhereTheyAreAsked) {
    const Implicit ball = sphere({1.0, 0.2, 0.3}, 0.2);
    const Implicit row = repeat(ball, {0.7, 0.1, 0.0}, 4), ring = repeat_around(ball, 2, 6);
    EXPECT_NEAR(row(Vector3d(1.0 + 3 * 0.7, 0.2 + 3 * 0.1, 0.3)), -0.2, 1e-12);
    EXPECT_GT(row(Vector3d(1.0 + 4 * 0.7, 0.2 + 4 * 0.1, 0.3)), 0.4);
    const Eigen::AngleAxisd sixth(M_PI / 3, Vector3d::UnitZ());
    EXPECT_NEAR(ring(sixth * Vector3d(1.0, 0.2, 0.3)), -0.2, 1e-12);
    EXPECT_NEAR(mirror(ball, 0)(Vector3d(-1.0, 0.2, 0.3)), -0.2, 1e-12);
    EXPECT_NEAR(scale(ball, 2.0)(Vector3d(2.0, 0.4, 0.6)), -0.4, 1e-12);
    EXPECT_NEAR(rotate(ball, {0, 0, M_PI / 2})(Vector3d(-0.2, 1.0, 0.3)), -0.2, 1e-12);
    // a twist of π/2 per metre brings what was at (1, 0) to (0, 1) one metre up
    const Implicit bar = capsule({1, 0, -2}, {1, 0, 2}, 0.1, 0.1);
    EXPECT_LT(twist(bar, 2, M_PI / 2)(Vector3d(0, 1, 1)), -0.05);
    EXPECT_GT(twist(bar, 2, M_PI / 2)(Vector3d(1, 0, 1)), 0.5);
}

TEST(Implicit, SweepPassesThroughItsPoints) {
    const std::vector<SplinePoint> points = {
        {{0, 0, 0}, 0.1}, {{1, 0, 0}, 0.2}, {{1, 1, 0}, 0.05}, {{0, 1, 1}, 0.1}};
    for (const bool closed : {false, true}) {
        const Implicit tube = sweep(points, closed);
        // the fattest ball near a point may belong to a neighbouring piece
        for (const SplinePoint& p : points) {
            EXPECT_LE(tube(p.position), -p.radius + 1e-12);
            EXPECT_GE(tube(p.position), -p.radius - 0.05);
        }
        EXPECT_EQ(tube(Vector3d(-0.2, 0.5, 0.5)) < 0.0, closed);
    }
}

}  // namespace
}  // namespace pliant
