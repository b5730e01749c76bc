#include "fem/tet_kernels.h"

#include "core/numbers.h"
#include "fem/fem_samples.h"
#include "fem/random_matrices.h"
#include "fem/scalar_elements.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/core/simd.h"

#include <gtest/gtest.h>
#include <limits>
#include <set>

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;
using test::kLaws;

constexpr FemOptions kPlain{.elements = ElementFormulation::Plain};

Material kernel_material(Law law) { return isotropic(1e4, 0.3, 1000, law); }

/// Several constants of each law and an anisotropic one, in regions that cross each other.
FemModel mixed_model(int n) {
    VolumeMesh mesh = test::distorted_tets(n);
    std::vector<Material> materials;
    for (const Law law : kLaws)
        for (const double E : {1e4, 3e5}) materials.push_back(isotropic(E, 0.3, 1000, law));
    Matrix6d stiffness = isotropic_stiffness(2e4, 1e4);
    stiffness(0, 0) *= 2;
    materials.push_back(anisotropic(stiffness, 1000));
    for (int e = 0; e < mesh.num_elements(); ++e) {
        mesh.regions.push_back(e * 7 % 31 % static_cast<int>(materials.size()));
        mesh.filled.push_back(1.0 / (1 + e % 3));
    }
    return {std::move(mesh), std::move(materials), kPlain};
}

struct Response {
    VectorXd R, K, Kp;
    SmallestDetF smallest;
};

/// Element by element.
Response scalar_response(const FemModel& model, const VectorXd& u, const VectorXd& p) {
    const FemModelData& d = model.data();
    Response s{VectorXd::Zero(u.size()), VectorXd::Zero(9 * std::ssize(d.rows)),
               VectorXd::Zero(u.size()), kNoDetF};
    for (int place = 0; place < model.mesh().num_elements(); ++place) {
        add_element_tangent<4>(d, place, u.data(), s.R.data(), s.K.data());
        add_element_product<4>(d, place, u.data(), p.data(), s.Kp.data());
        keep_element_det_F<4>(d, place, u.data(), s.smallest);
    }
    return s;
}

Response model_response(const FemModel& model, const VectorXd& u, const VectorXd& p) {
    auto K = model.make_matrix();
    auto ws = model.make_workspace();
    // whatever is in K must not matter
    std::fill_n(K.valuePtr(), K.nonZeros(), kNan);
    Response r{VectorXd(u.size()), {}, VectorXd(u.size()), {}};
    model.force_and_tangent(u, r.R, K);
    r.K = Eigen::Map<VectorXd>(K.valuePtr(), K.nonZeros());
    model.tangent_product(u, p, r.Kp);

    // all ways to the force and the tangent are one
    VectorXd R(u.size());
    model.internal_force(u, R);
    EXPECT_LE((R - r.R).norm(), 1e-13 * r.R.norm());
    VectorXd R_with_det(u.size());
    r.smallest = model.internal_force(u, R_with_det, ws);
    EXPECT_LE((R - R_with_det).norm(), 1e-13 * r.R.norm());
    model.tangent(u, K);
    EXPECT_EQ((r.K - Eigen::Map<VectorXd>(K.valuePtr(), K.nonZeros())).norm(), 0);
    return r;
}

/// Rounding of sums of a few dozen terms.
constexpr double kRounding = 1e-14;

void expect_equal(const Response& a, const Response& b, double tolerance = kRounding) {
    EXPECT_LE((a.R - b.R).norm(), tolerance * b.R.norm());
    EXPECT_LE((a.K - b.K).norm(), tolerance * b.K.norm());
    EXPECT_LE((a.Kp - b.Kp).norm(), tolerance * b.K.norm());
    EXPECT_NEAR(a.smallest.value, b.smallest.value, 1e-14 * (1 + std::abs(b.smallest.value)));
    EXPECT_EQ(a.smallest.element, b.smallest.element);
}

void compare_with_scalar(const FemModel& model, const VectorXd& u) {
    const VectorXd p = test::random_displacements(model.num_unknowns(), 1, 9);
    const Response scalar = scalar_response(model, u, p);
    expect_equal(model_response(model, u, p), scalar);
}

TEST(TetKernels, EqualTheScalarLawsOnEveryTarget) {
    for (const std::string& target : simd_targets()) {
        SCOPED_TRACE(target);
        const ScopedSimdTarget scope(target);
        for (const Law law : kLaws) {
            SCOPED_TRACE(to_string(law));
            // 2058 elements: nine blocks, the last one with ten elements
            const FemModel model(test::distorted_tets(7), {kernel_material(law)}, kPlain);
            compare_with_scalar(model, test::random_displacements(model.num_unknowns(), 0.03, 1));
        }
        const FemModel model = mixed_model(5);
        compare_with_scalar(model, test::random_displacements(model.num_unknowns(), 0.05, 2));
    }
}

TEST(TetKernels, FollowLargeRotations) {
    std::mt19937 generator(5);
    const VolumeMesh mesh = test::distorted_tets(3);
    for (const Law law : kLaws) {
        const FemModel model(mesh, {kernel_material(law)}, kPlain);
        for (int k = 0; k < 5; ++k) {
            const Matrix3d A = test::random_rotation(generator) - Matrix3d::Identity();
            const VectorXd u = test::affine_displacements(mesh, A, Vector3d(1, 2, 3));
            SCOPED_TRACE(to_string(law));
            compare_with_scalar(model,
                                u + test::random_displacements(model.num_unknowns(), 0.03, 3));
        }
    }
}

TEST(TetKernels, AnyNumberOfElementsFillsTheBatches) {
    const VolumeMesh box = test::distorted_tets(2);
    for (int count = 1; count <= 20; ++count) {
        VolumeMesh mesh = box;
        mesh.elements.resize(static_cast<std::size_t>(4 * count));
        std::set<int> used(mesh.elements.begin(), mesh.elements.end());
        std::vector<int> number(mesh.vertices.size(), -1);
        std::vector<Vector3d> vertices;
        for (const int v : used) {
            number[v] = static_cast<int>(vertices.size());
            vertices.push_back(mesh.vertices[v]);
        }
        for (int& v : mesh.elements) v = number[v];
        mesh.vertices = vertices;
        const FemModel model(mesh, {kernel_material(Law::StVenantKirchhoff)}, kPlain);
        SCOPED_TRACE(count);
        compare_with_scalar(model, test::random_displacements(model.num_unknowns(), 0.1, 4));
        // det F = 1 everywhere: the element is one of the body's, not an empty lane
        auto ws = model.make_workspace();
        VectorXd R(model.num_unknowns());
        const SmallestDetF smallest = model.internal_force(VectorXd::Zero(R.size()), R, ws);
        EXPECT_EQ(smallest.value, 1);
        EXPECT_EQ(smallest.element, model.data().blocks.elements[0]);
    }
}

TEST(TetKernels, ScatteredElementsTakeSeveralRounds) {
    // 300 tetrahedra that share nothing: more nodes than a round holds
    VolumeMesh mesh;
    std::mt19937 generator(6);
    std::uniform_real_distribution<double> uniform(-1, 1);
    while (mesh.num_elements() < 300) {
        for (int a = 0; a < 4; ++a) {
            mesh.elements.push_back(mesh.num_vertices());
            mesh.vertices.push_back(Vector3d::NullaryExpr([&] { return uniform(generator); }));
        }
        if (smallest_jacobian(mesh, mesh.num_elements() - 1) > 0.1) continue;
        mesh.elements.resize(mesh.elements.size() - 4);
        mesh.vertices.resize(mesh.vertices.size() - 4);
    }
    const FemModel model(mesh, {kernel_material(Law::StVenantKirchhoff)}, kPlain);
    EXPECT_GT(std::ssize(model.data().tets.rounds), model.data().blocks.num_blocks());
    compare_with_scalar(model, test::random_displacements(model.num_unknowns(), 0.1, 7));
}

TEST(TetBatches, EveryElementHasOneLaneAndItsOwnNodesAndPairs) {
    const FemModel model = mixed_model(6);
    const FemModelData& d = model.data();
    const TetBatches& tets = d.tets;
    const auto K = model.make_matrix();
    constexpr int kPairs[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
    std::vector<int> lanes_of(static_cast<std::size_t>(model.mesh().num_elements()), 0);
    for (const TetRound& round : tets.rounds) {
        ASSERT_LE(round.num_nodes, kMaxRoundNodes);
        ASSERT_LE(round.num_pairs, kMaxRoundPairs);
        for (int r = round.first_run; r < round.end_run; ++r)
            for (int batch = tets.runs[r].first_batch; batch < tets.runs[r].end_batch; ++batch)
                for (int lane = 0; lane < kTetLanes; ++lane) {
                    const int place = tets.element_places[batch * kTetLanes + lane];
                    const TetShapes<double>& shapes = tets.shapes[batch];
                    if (place < 0) {
                        EXPECT_EQ(shapes.lambda[lane], 0);
                        EXPECT_EQ(shapes.mu[lane], 0);
                        EXPECT_EQ(shapes.gradients[1][2][lane], shapes.gradients[1][2][0]);
                        continue;
                    }
                    ++lanes_of[place];
                    std::vector<int> nodes;
                    for (int a = 0; a < 4; ++a)
                        nodes.push_back(tets.round_nodes[round.first_node +
                                                         tets.nodes[batch].places[a][lane] / 4] /
                                        3);
                    EXPECT_TRUE(std::ranges::is_sorted(nodes));
                    EXPECT_TRUE(std::is_permutation(nodes.begin(), nodes.end(),
                                                    d.nodes.begin() + 4 * place));
                    for (int k = 0; k < 6; ++k) {
                        // the row of the block (p, q) and of (q, p)
                        const PairTarget& target =
                            tets.pair_targets[round.first_pair + tets.pairs[batch].places[k][lane]];
                        EXPECT_EQ(K.innerIndexPtr()[target.upper], 3 * nodes[kPairs[k][0]]);
                        EXPECT_EQ(K.innerIndexPtr()[target.lower], 3 * nodes[kPairs[k][1]]);
                        EXPECT_EQ(target.upper_stride, d.column_height(nodes[kPairs[k][1]]));
                        EXPECT_EQ(target.lower_stride, d.column_height(nodes[kPairs[k][0]]));
                    }
                }
    }
    for (const int count : lanes_of) EXPECT_EQ(count, 1);
}

TEST(TetKernels, CorotationalSurvivesCollapseAndInversionLikeTheScalarLaw) {
    const VolumeMesh mesh = test::distorted_tets(3);
    const FemModel model(mesh, {kernel_material(Law::Corotational)}, kPlain);
    std::mt19937 generator(8);
    std::vector<VectorXd> cases;
    // flat, nearly flat from both sides, mirrored, shrunk
    for (const double s : {0.0, 1e-3, 0.04, 0.06, -1e-3, -0.5, -1.0}) {
        const Matrix3d Q = test::random_rotation(generator), P = test::random_rotation(generator);
        for (const Vector3d& stretch : {Vector3d(1, 1, s), Vector3d(1, 0.5, s), Vector3d(2, s, s),
                                        Vector3d(0.1, 0.1, 0.1 * s)})
            cases.push_back(test::affine_displacements(
                mesh, Q * stretch.asDiagonal() * P - Matrix3d::Identity()));
    }
    // only some elements
    cases.push_back(test::random_displacements(model.num_unknowns(), 0.5, 11));
    for (const std::string& target : simd_targets()) {
        const ScopedSimdTarget scope(target);
        for (const VectorXd& u : cases) {
            const VectorXd p = test::random_displacements(model.num_unknowns(), 1, 9);
            const Response simd = model_response(model, u, p);
            const Response scalar = scalar_response(model, u, p);
            // derivatives of the rotation grow up to 1000-fold, and rounding with them
            const double scale = scalar_response(model, VectorXd::Zero(u.size()), p).K.norm();
            EXPECT_LE((simd.R - scalar.R).norm(), 1e-13 * scale) << target;
            EXPECT_LE((simd.K - scalar.K).norm(), 1e-10 * scale) << target;
            EXPECT_LE((simd.Kp - scalar.Kp).norm(), 1e-10 * scale) << target;
            EXPECT_NEAR(simd.smallest.value, scalar.smallest.value, 1e-12);
        }
    }
}

/// Per unknown: Σ weight (λ + 2μ) |∇u| (1 + |∇u|)³ |g_a|, the stress that rounding can spoil.
VectorXd stress_scale(const FemModel& model, const VectorXd& u) {
    const FemModelData& d = model.data();
    VectorXd scale = VectorXd::Zero(u.size());
    for (int place = 0; place < model.mesh().num_elements(); ++place) {
        const ElementView<4> element(d, place);
        const auto& reference = element.reference.gradients[0];
        const QuadraturePoint& point = element.points[0];
        const double H =
            displacement_gradient<4>(gather<4>(u.data(), element.nodes), reference, point).norm();
        const auto& m = element.material;
        const NodeColumns<4> g = point.inverse_jacobian.transpose() * reference;
        for (int a = 0; a < 4; ++a)
            scale.segment<3>(3 * element.nodes[a]).array() +=
                point.weight * (m.lambda + 2 * m.mu) * H * std::pow(1 + H, 3) * g.col(a).norm();
    }
    return scale;
}

TEST(TetKernels, SinglePrecisionKeepsSixDigitsAtAnySizeAndPlace) {
    for (const std::string& target : simd_targets()) {
        const ScopedSimdTarget scope(target);
        for (const double size : {1e-9, 1e-5, 1e-2, 0.1}) {
            for (const Law law : kLaws) {
                const FemModel model(test::distorted_tets(5), {kernel_material(law)}, kPlain);
                auto ws = model.make_workspace();
                VectorXd u = test::random_displacements(model.num_unknowns(), size, 12);
                VectorXd R(u.size()), single(u.size());
                const SmallestDetF exact = model.internal_force(u, R, ws);
                for (const double offset : {0.0, 1e3}) {
                    const VectorXd moved = u.array() + offset;
                    const SmallestDetF smallest =
                        model.internal_force(moved, single, ws, Precision::Single);
                    // what doubles lose 1 km away; 20 ulp of float
                    const VectorXd limit =
                        2e-6 * stress_scale(model, u).array() + 1e-6 * offset * 1e-3;
                    for (int i = 0; i < u.size(); ++i)
                        ASSERT_LE(std::abs(single[i] - R[i]), limit[i] + 1e-30)
                            << target << ' ' << to_string(law) << ' ' << size << ' ' << offset;
                    EXPECT_NEAR(smallest.value, exact.value, 3e-6);
                }
            }
        }
    }
}

TEST(TetKernels, NotANumberStaysWithTheElementsAroundIt) {
    const FemModel mixed = mixed_model(4);
    std::vector<FemModel> models{mixed};
    for (const Law law : kLaws)
        models.emplace_back(mixed.mesh(), std::vector(9, kernel_material(law)), kPlain);
    for (const std::string& target : simd_targets()) {
        const ScopedSimdTarget scope(target);
        for (const FemModel& model : models) {
            // one after the other anywhere and at the first node of a round
            int bad_node = 31;
            for (const double bad : {kNan, std::numeric_limits<double>::infinity(), 1e300, kNan}) {
                VectorXd u = test::random_displacements(model.num_unknowns(), 0.02, 13);
                u[3 * bad_node + 1] = bad;
                std::vector<char> is_near(static_cast<std::size_t>(model.num_nodes()), 0);
                for (int e = 0; e < model.mesh().num_elements(); ++e)
                    if (std::ranges::count(model.mesh().element(e), bad_node) > 0)
                        for (const int node : model.mesh().element(e)) is_near[node] = 1;
                VectorXd R(u.size()), Kp(u.size());
                auto K = model.make_matrix();
                auto ws = model.make_workspace();
                const auto expect_local = [&](const VectorXd& v) {
                    for (int i = 0; i < model.num_nodes(); ++i)
                        EXPECT_TRUE(is_near[i] || v.segment<3>(3 * i).allFinite()) << target;
                };
                model.internal_force(u, R, ws, Precision::Single);
                expect_local(R);
                const SmallestDetF smallest = model.internal_force(u, R, ws);
                expect_local(R);
                if (std::isnan(bad)) {
                    EXPECT_FALSE(R.segment<3>(3 * bad_node).allFinite());
                    EXPECT_TRUE(std::isfinite(smallest.value));
                }
                model.force_and_tangent(u, R, K);
                expect_local(R);
                for (int j = 0; j < K.outerSize(); ++j)
                    for (FemModel::Matrix::InnerIterator it(K, j); it; ++it)
                        ASSERT_TRUE((is_near[it.row() / 3] && is_near[j / 3]) ||
                                    std::isfinite(it.value()));
                model.tangent_product(u, VectorXd::Ones(u.size()), Kp);
                expect_local(Kp);
                bad_node = model.data().tets.round_nodes[0] / 3;
            }
        }
    }
    // nothing but NaN: no element, no crash
    const VectorXd nothing = VectorXd::Constant(mixed.num_unknowns(), kNan);
    VectorXd R(nothing.size());
    auto ws = mixed.make_workspace();
    for (const Precision precision : {Precision::Double, Precision::Single}) {
        const SmallestDetF smallest = mixed.internal_force(nothing, R, ws, precision);
        EXPECT_EQ(smallest.value, std::numeric_limits<double>::infinity());
        EXPECT_EQ(smallest.element, -1);
    }
}

TEST(TetKernels, TangentIsExactlySymmetric) {
    const FemModel model = mixed_model(6);
    auto K = model.make_matrix();
    for (const double size : {0.02, 0.3}) {
        model.tangent(test::random_displacements(model.num_unknowns(), size, 14), K);
        const FemModel::Matrix Kt = K.transpose();
        for (int k = 0; k < K.nonZeros(); ++k) ASSERT_EQ(K.valuePtr()[k], Kt.valuePtr()[k]);
    }
}

TEST(TetKernels, ThreadsDoNotChangeASingleBit) {
    const FemModel model = mixed_model(10);
    const VectorXd u = test::random_displacements(model.num_unknowns(), 0.02, 15);
    std::vector<Response> responses;
    std::vector<VectorXd> single;
    for (const int threads : {1, 2, 3}) {
        set_num_threads(threads);
        responses.push_back(model_response(model, u, u));
        auto ws = model.make_workspace();
        single.emplace_back(u.size());
        model.internal_force(u, single.back(), ws, Precision::Single);
    }
    set_num_threads(0);
    for (int k = 1; k < 3; ++k) {
        expect_equal(responses[k], responses[0], 0);
        EXPECT_EQ((single[k] - single[0]).norm(), 0);
    }
}

TEST(TetKernels, SmallestDetFIsThatOfTheSqueezedElement) {
    const FemModel model = mixed_model(5);
    auto ws = model.make_workspace();
    VectorXd R(model.num_unknowns());
    // one vertex after the other moved far into its neighbours
    for (int node = 0; node < model.num_nodes(); node += 17) {
        VectorXd u = VectorXd::Zero(model.num_unknowns());
        u.segment<3>(3 * node).setConstant(0.15);
        const SmallestDetF expected = model.smallest_det_F(u, ws);
        for (const Precision precision : {Precision::Double, Precision::Single}) {
            const SmallestDetF smallest = model.internal_force(u, R, ws, precision);
            EXPECT_NEAR(smallest.value, expected.value, 1e-5);
            EXPECT_EQ(smallest.element, expected.element);
        }
    }
    EXPECT_EQ(model.internal_force(VectorXd::Zero(R.size()), R, ws).value, 1);
}

TEST(TetKernels, AllocateNothing) {
    set_num_threads(1);
    const FemModel model = mixed_model(6);
    const VectorXd u = test::random_displacements(model.num_unknowns(), 0.1, 16);
    VectorXd R(u.size());
    auto K = model.make_matrix();
    auto ws = model.make_workspace();
    const AllocationGuard guard;
    const double sum = model.internal_force(u, R, ws).value +
                       model.internal_force(u, R, ws, Precision::Single).value;
    model.force_and_tangent(u, R, K);
    model.tangent_product(u, u, R);
    const auto allocations = guard.count();
    set_num_threads(0);
    EXPECT_EQ(allocations, 0u);
    EXPECT_TRUE(std::isfinite(sum));
}

}  // namespace
}  // namespace pliant
