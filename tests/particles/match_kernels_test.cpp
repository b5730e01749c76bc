#include "particles/match_kernels.h"

#include "core/numbers.h"
#include "particles/sample_particles.h"
#include "pliant/core/simd.h"

#include <gmock/gmock.h>
#include <Eigen/SVD>

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::Vector3f;

/// Groups that share nothing, with anything at rest and now; matched by formula in double.
struct Groups {
    std::vector<int> offsets{0}, members;
    std::vector<float> rest, inverse_mass, spread, turns;
    std::vector<MatchParticle> particles;
    std::vector<Vector3d> rest_arm;  // of each particle
    std::vector<double> mass;
    std::vector<Matrix3d> S;

    [[nodiscard]] MatchGroups view() const {
        return {offsets.data(), members.data(), rest.data(), inverse_mass.data(), spread.data()};
    }
    [[nodiscard]] int count() const { return static_cast<int>(offsets.size()) - 1; }
    [[nodiscard]] Quaternion turn(int g) const {
        const float* q = turns.data() + 4 * at(members[at(offsets[at(g)])]);
        return {q[0], q[1], q[2], q[3]};
    }
};

/// `sizes` groups; each moved by `move(rest position, particle)`; stiffness of particles from a
/// fifth of the given one to all of it.
template <class Move>
Groups make_groups(int count, int most, float stiffness, unsigned seed, const Move& move,
                   double thinness = 1) {
    std::mt19937 random(seed), stiffness_random(seed);
    std::uniform_real_distribution<double> radius(0.2, 1);
    std::uniform_real_distribution<float> part(0.2f, 1);
    std::uniform_int_distribution<int> size(1, most);
    Groups g;
    for (int k = 0; k < count; ++k) {
        const int n = size(random);
        std::vector<Vector3d> x;
        double total = 0;
        Vector3d centre = Vector3d::Zero();
        const bool is_line = k % 3 == 0;
        const Vector3d direction = random_vector(random).normalized();
        for (int j = 0; j < n; ++j) {
            x.push_back(is_line ? Vector3d(j * direction) : Vector3d(random_vector(random)));
            g.mass.push_back(radius(random));
            total += g.mass.back();
            centre += g.mass.back() * x.back();
        }
        centre /= total;
        const std::pair<Quaternion, Vector3d> motion = move(random);
        const Quaternion& turn = motion.first;
        const Vector3d& shift = motion.second;
        for (int j = 0; j < n; ++j) {
            const int i = static_cast<int>(g.members.size());
            const Quaternion Q = random_rotation(random);
            const Vector3d r = thinness * Vector3d(radius(random), radius(random), radius(random));
            const Matrix3d S = g.mass[at(i)] / 5 * Q.toRotationMatrix() *
                               r.cwiseAbs2().asDiagonal() * Q.toRotationMatrix().transpose();
            g.members.push_back(i);
            g.S.push_back(S);
            g.rest_arm.push_back(x[at(j)] - centre);
            const Vector3f arm = g.rest_arm.back().cast<float>();
            g.rest.insert(g.rest.end(),
                          {arm.x(), arm.y(), arm.z(), static_cast<float>(g.mass[at(i)])});
            MatchParticle p{};
            Eigen::Map<Vector3f>(p.x) = Vector3d(turn * x[at(j)] + shift).cast<float>();
            const Matrix3d A = turn.toRotationMatrix() * S;
            for (int c = 0; c < 3; ++c) {
                p.a0[c] = static_cast<float>(A(c, 0));
                p.a1[c] = static_cast<float>(A(c, 1));
                p.a2[c] = static_cast<float>(A(c, 2));
            }
            p.a0[3] = part(stiffness_random) * stiffness;
            g.particles.push_back(p);
            g.turns.insert(g.turns.end(), {1.0f, 0.0f, 0.0f, 0.0f});
        }
        const Matrix3d& S = g.S[at(g.offsets.back())];
        for (const double s : {S(0, 0), S(0, 1), S(0, 2), S(1, 1), S(1, 2), S(2, 2), 0.0, 0.0})
            g.spread.push_back(static_cast<float>(s));
        g.inverse_mass.push_back(static_cast<float>(1 / total));
        g.offsets.push_back(static_cast<int>(g.members.size()));
    }
    return g;
}

bool no_fallback(const float*, float*) noexcept { return false; }
bool svd_fallback(const float* A, float* q) noexcept {
    const Matrix3d M = Eigen::Map<const Eigen::Matrix3f>(A).cast<double>();
    if (!(M.determinant() > 0)) return false;
    const Eigen::JacobiSVD<Matrix3d> svd(M, Eigen::ComputeFullU | Eigen::ComputeFullV);
    const Eigen::Quaterniond R(Matrix3d(svd.matrixU() * svd.matrixV().transpose()));
    q[0] = static_cast<float>(R.w());
    for (int k = 0; k < 3; ++k) q[k + 1] = static_cast<float>(R.vec()[k]);
    return true;
}

int match_all(Groups& g, PolarFallback fallback = no_fallback) {
    int unsettled = 0;
    for (int b = 0; b < g.count(); b += kMatchLanes)
        unsettled += match_groups(g.view(), b, std::min(b + kMatchLanes, g.count()),
                                  g.particles.data(), g.turns.data(), fallback);
    return unsettled;
}

/// Rotation and goals as docs/particles.md eq. (4) says, in double by singular values.
void expect_matched(const Groups& before, const Groups& after, double tolerance) {
    for (int g = 0; g < before.count(); ++g) {
        Vector3d centre = Vector3d::Zero();
        double total = 0;
        const int begin = before.offsets[at(g)], end = before.offsets[at(g) + 1];
        for (int i = begin; i < end; ++i) {
            total += before.mass[at(i)];
            centre += before.mass[at(i)] *
                      Eigen::Map<const Vector3f>(before.particles[at(i)].x).cast<double>();
        }
        centre /= total;
        Matrix3d A = Matrix3d::Zero();
        for (int i = begin; i < end; ++i) {
            const MatchParticle& p = before.particles[at(i)];
            const Vector3d x = Eigen::Map<const Vector3f>(p.x).cast<double>();
            A += before.mass[at(i)] * x * before.rest_arm[at(i)].transpose();
            for (int c = 0; c < 3; ++c) {
                A(c, 0) += p.a0[c];
                A(c, 1) += p.a1[c];
                A(c, 2) += p.a2[c];
            }
        }
        const Eigen::JacobiSVD<Matrix3d> svd(A, Eigen::ComputeFullU | Eigen::ComputeFullV);
        Matrix3d D = Matrix3d::Identity();
        D(2, 2) = (svd.matrixU() * svd.matrixV().transpose()).determinant();
        const Matrix3d R = svd.matrixU() * D * svd.matrixV().transpose();
        EXPECT_LT((after.turn(g).toRotationMatrix() - R).norm(), tolerance) << g;
        for (int i = begin; i < end; ++i) {
            const Vector3d x0 =
                Eigen::Map<const Vector3f>(before.particles[at(i)].x).cast<double>();
            const Vector3d goal = centre + R * before.rest_arm[at(i)];
            const Vector3d expected = x0 + before.particles[at(i)].a0[3] * (goal - x0);
            const Vector3d found =
                Eigen::Map<const Vector3f>(after.particles[at(i)].x).cast<double>();
            EXPECT_LT((found - expected).norm(), tolerance * (1 + 5 * goal.norm())) << g;
        }
    }
}

using Motion = std::pair<Quaternion, Vector3d>;
Motion small_motion(std::mt19937& random) {
    return {rotation_from_vector(0.3 * random_vector(random).normalized()),
            0.1 * random_vector(random)};
}
void disturb(Groups& g, float by) {
    std::mt19937 random(9);
    for (MatchParticle& p : g.particles)
        Eigen::Map<Vector3f>(p.x) += by * random_vector(random).cast<float>();
}

class MatchKernels : public testing::TestWithParam<std::string> {};

TEST_P(MatchKernels, RigidMotionIsFoundExactlyAndMovesNothing) {
    const ScopedSimdTarget target(GetParam());
    Groups g = make_groups(500, 8, 1.0f, 1, small_motion);
    const Groups before = g;
    EXPECT_EQ(match_all(g), 0);
    expect_matched(before, g, 1e-5);
    for (std::size_t i = 0; i < g.particles.size(); ++i)
        for (int c = 0; c < 3; ++c)
            EXPECT_NEAR(g.particles[i].x[c], before.particles[i].x[c], 2e-5);
}

TEST_P(MatchKernels, DisturbedGroupsAreMatchedAsTheFormulaSays) {
    const ScopedSimdTarget target(GetParam());
    Groups g = make_groups(500, 27, 0.6f, 2, small_motion);
    disturb(g, 0.1f);
    const Groups before = g;
    EXPECT_EQ(match_all(g), 0);
    expect_matched(before, g, 2e-4);
}

INSTANTIATE_TEST_SUITE_P(Targets, MatchKernels, testing::ValuesIn(simd_targets()));

TEST(MatchKernelsTurns, LargeTurnsInOneStepSettle) {
    for (const double angle : {1.5, 2.4, 3.0}) {
        Groups g = make_groups(200, 8, 1.0f, 4, [angle](std::mt19937& random) -> Motion {
            return {rotation_from_vector(angle * random_vector(random).normalized()),
                    Vector3d::Zero()};
        });
        const Groups before = g;
        EXPECT_EQ(match_all(g, svd_fallback), 0) << angle;
        expect_matched(before, g, 1e-4);
    }
}

TEST(MatchKernelsTurns, MirroredGroupsKeepAProperRotation) {
    Groups g = make_groups(100, 8, 0.5f, 6, small_motion, 0.05);
    for (MatchParticle& p : g.particles) p.x[0] = -p.x[0];
    for (int pass = 0; pass < 20; ++pass) match_all(g, svd_fallback);
    for (int k = 0; k < g.count(); ++k) EXPECT_NEAR(g.turn(k).norm(), 1, 1e-5);
    for (const MatchParticle& p : g.particles)
        for (const float x : p.x) EXPECT_TRUE(std::isfinite(x));
}

TEST(MatchKernelsTurns, NumbersThatAreNotFiniteLeaveTheRotation) {
    Groups g = make_groups(8, 4, 0.5f, 7, small_motion);
    g.particles[0].x[1] = std::numeric_limits<float>::quiet_NaN();
    match_all(g);
    EXPECT_NEAR(g.turn(0).norm(), 1, 1e-6);
}

TEST(MatchKernelsTurns, TinyGroupsAreTurnedAsLargeOnes) {
    // 0.1 mm and a gram: an absolute threshold would stall
    Groups g = make_groups(64, 8, 1.0f, 8, small_motion);
    for (std::size_t i = 0; i < g.particles.size(); ++i) {
        MatchParticle& p = g.particles[i];
        for (int c = 0; c < 3; ++c) {
            p.x[c] *= 1e-4f;
            p.a0[c] *= 1e-11f;
            p.a1[c] *= 1e-11f;
            p.a2[c] *= 1e-11f;
            g.rest[4 * i + at(c)] *= 1e-4f;
        }
        g.rest[4 * i + 3] *= 1e-3f;
        g.mass[i] *= 1e-3;
        g.rest_arm[i] *= 1e-4;
    }
    for (float& m : g.inverse_mass) m *= 1e3f;
    const Groups before = g;
    EXPECT_EQ(match_all(g), 0);
    expect_matched(before, g, 1e-4);
}

}  // namespace
}  // namespace pliant
