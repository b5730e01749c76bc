#include "pliant/greens/seam_system.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numbers>

#include "greens/zoned_bar.h"
#include "input_error.h"
#include "pliant/core/allocation_guard.h"

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using test::input_error;
using test::zoned_bar;
using test::ZonedBar;
using test::ZonedBarOptions;
using ::testing::HasSubstr;

/// Forces at a free corner of the end, in the middle of a zone and on a seam node; returns them
/// over all vertices and gives them to the zones.
struct BarLoads {
    VectorXd f;
    std::vector<Vector3d> external;  // on seam nodes
};

int vertex_near(const ZonedBar& bar, const Vector3d& x) {
    int best = 0;
    for (int v = 0; v < bar.mesh.num_vertices(); ++v)
        if ((bar.mesh.vertices[at(v)] - x).norm() < (bar.mesh.vertices[at(best)] - x).norm())
            best = v;
    return best;
}

/// Loads in SI that the zones carry, far beyond what is small: places of frames are of the order of
/// a metre, and their rounding must not count. The force on a seam is external, or where seams are
/// free a traction of the first zone.
BarLoads load_bar(const ZonedBar& bar, ZonedModel& model, bool has_free_seams) {
    BarLoads loads{VectorXd::Zero(3 * bar.mesh.num_vertices()),
                   std::vector<Vector3d>(at(model.seams().num_unknowns() / 3), Vector3d::Zero())};
    const double L = ZonedBar::kLength;
    const std::vector<std::pair<Vector3d, Vector3d>> forces = {
        {{L, 0, 1}, {2, -1, 3}},
        {{0.5 * L / static_cast<double>(bar.zones.size()), 1, 1}, {-1, 2, 1}}};
    std::vector<std::vector<int>> nodes(bar.zones.size());
    std::vector<std::vector<Vector3d>> tractions(bar.zones.size());
    for (const auto& [x, force] : forces) {
        int v = vertex_near(bar, x);
        if (bar.is_held[at(v)]) v = vertex_near(bar, Vector3d(0.9 * L, 1, 0));
        loads.f.segment<3>(3 * v) += force;
        for (int z = 0; z < model.num_zones(); ++z)
            if (const int node = bar.node_of(z, v); node >= 0) {
                const ReferenceProblem& reference = bar.zones[at(z)].model->reference;
                nodes[at(z)].push_back(node);
                tractions[at(z)].push_back(bar.zones[at(z)].pose.rotation.conjugate() * force /
                                           reference.areas[at(node)]);
                break;
            }
    }
    // the third pair of the first seam
    const Vector3d on_seam(1, 0.5, -2);
    const int node = bar.seams[0].nodes_a[2];
    loads.f.segment<3>(3 * bar.vertices[at(bar.seams[0].zone_a)][at(node)]) += on_seam;
    const Vector3d in_a = bar.zones[at(bar.seams[0].zone_a)].pose.rotation.conjugate() * on_seam;
    if (has_free_seams) {
        nodes[0].push_back(node);
        tractions[0].push_back(in_a / bar.zones[0].model->reference.areas[at(node)]);
    } else {
        loads.external[2] = in_a;
    }
    for (int z = 0; z < model.num_zones(); ++z)
        EXPECT_TRUE(model.greens(z)->set_loads(nodes[at(z)], tractions[at(z)]));
    return loads;
}

/// Largest difference of the zones to the body that was never cut, relative.
double distance_to_whole(const ZonedBar& bar, const ZonedModel& model, const BarLoads& loads) {
    const VectorXd u = bar.displacements(loads.f);
    double worst = 0;
    for (int z = 0; z < model.num_zones(); ++z)
        for (std::size_t node = 0; node < bar.vertices[at(z)].size(); ++node) {
            const int v = bar.vertices[at(z)][node];
            const Vector3d moved =
                model.position(z, static_cast<int>(node)) - bar.mesh.vertices[at(v)];
            worst = std::max(worst, (moved - u.segment<3>(3 * v)).norm());
        }
    return worst / u.cwiseAbs().maxCoeff();
}

TEST(SeamBond, TwoZonesWithFreeSeamsAreTheWholeBody) {
    const ZonedBar bar = zoned_bar({.free_seams = true, .is_held_at_end = true});
    ZonedModel model(bar.zones, bar.seams);
    const BarLoads loads = load_bar(bar, model, true);

    // by compliances alone
    const GreensZone &first = *model.greens(0), &second = *model.greens(1);
    const SeamBond bond(first.seam_compliance(), second.seam_compliance());
    const VectorXd q = bond.forces(first.free_displacements(), second.free_displacements());
    const VectorXd u_bond = second.free_displacements() + second.seam_compliance() * q;
    ASSERT_EQ(model.solve(), SeamSystem::Status::Solved);
    EXPECT_LT((u_bond - model.seams().displacements(1)).norm(), 1e-12 * u_bond.norm());
    EXPECT_LT(distance_to_whole(bar, model, loads), 1e-12);
    const MatrixXd sum = first.seam_compliance() + second.seam_compliance();
    EXPECT_LT((sum - sum.transpose()).norm(), 1e-12 * sum.norm());
}

struct ChainCase {
    int num_zones;
    bool random_frames;
};
class Chains : public ::testing::TestWithParam<ChainCase> {};

TEST_P(Chains, AreTheWholeBody) {
    const ZonedBar bar = zoned_bar(
        {.num_zones = GetParam().num_zones, .cells = 2, .random_frames = GetParam().random_frames});
    ZonedModel model(bar.zones, bar.seams);
    const BarLoads loads = load_bar(bar, model, false);
    ASSERT_EQ(model.solve(loads.external), SeamSystem::Status::Solved);
    EXPECT_LT(distance_to_whole(bar, model, loads), 1e-12);
    EXPECT_LT(model.seams().largest_gap(), 1e-14);
    const MatrixXd A = model.seams().matrix();
    EXPECT_LT((A - A.transpose()).norm(), 1e-13 * A.norm());
}
INSTANTIATE_TEST_SUITE_P(, Chains,
                         ::testing::Values(ChainCase{2, false}, ChainCase{2, true},
                                           ChainCase{3, false}, ChainCase{3, true},
                                           ChainCase{4, false}, ChainCase{4, true}));

TEST(SeamSystem, ChainsAreBlockTridiagonal) {
    const ZonedBar bar = zoned_bar({.num_zones = 4, .cells = 2});
    ZonedModel model(bar.zones, bar.seams);
    EXPECT_EQ(model.seams().report().num_blocks, 7);  // 3 + 2 · 2
}

TEST(SeamSystem, NothingMovesAtRest) {
    const ZonedBar bar = zoned_bar({.num_zones = 3, .cells = 2, .random_frames = true});
    ZonedModel model(bar.zones, bar.seams);
    ASSERT_EQ(model.solve(), SeamSystem::Status::Solved);
    for (int z = 0; z < 3; ++z)
        EXPECT_LT(model.seams().displacements(z).cwiseAbs().maxCoeff(), 1e-14);
}

std::vector<Pose> bent_poses(const ZonedBar& bar, double degrees) {
    std::vector<Pose> poses;
    for (std::size_t z = 0; z < bar.zones.size(); ++z) {
        // each zone turns further about the middle of the seam before it
        const double x = ZonedBar::kLength * static_cast<double>(z) / bar.zones.size();
        Pose joint;
        joint.position = Vector3d(x, 0, 0);
        joint.rotation = rotation_from_vector(Vector3d(0.3, 1, 0.2).normalized() *
                                              (degrees * std::numbers::pi / 180));
        Pose back;
        back.position = Vector3d(-x, 0, 0);
        Pose moved = z == 0 ? Pose{} : joint * back;
        if (z > 0) {
            Pose before = poses.back() * bar.zones[z - 1].pose.inverse();
            moved = before * moved;
        }
        poses.push_back(moved * bar.zones[z].pose);
    }
    return poses;
}

TEST(SeamSystem, RigidMotionOfAllFramesChangesNothing) {
    const ZonedBar bar = zoned_bar({.num_zones = 3, .cells = 2, .random_frames = true});
    ZonedModel model(bar.zones, bar.seams);
    const BarLoads loads = load_bar(bar, model, false);
    std::vector<Pose> poses = bent_poses(bar, 20);
    ASSERT_EQ(model.set_poses(poses), SeamSystem::Status::Solved);
    ASSERT_EQ(model.solve(loads.external), SeamSystem::Status::Solved);
    std::vector<VectorXd> before;
    for (int z = 0; z < 3; ++z) before.push_back(model.seams().displacements(z));
    std::mt19937 random(3);
    const Pose motion = test::random_pose(random);
    for (Pose& pose : poses) pose = motion * pose;
    ASSERT_EQ(model.set_poses(poses), SeamSystem::Status::Solved);
    EXPECT_EQ(model.seams().report().refactored, 0);
    ASSERT_EQ(model.solve(loads.external), SeamSystem::Status::Solved);
    for (int z = 0; z < 3; ++z)
        EXPECT_LT((model.seams().displacements(z) - before[at(z)]).norm(),
                  1e-12 * before[at(z)].norm());
}

TEST(SeamSystem, SeamsStayClosedInABentPose) {
    const ZonedBar bar = zoned_bar({.num_zones = 4, .cells = 2, .random_frames = true});
    ZonedModel model(bar.zones, bar.seams);
    ASSERT_EQ(model.set_poses(bent_poses(bar, 25)), SeamSystem::Status::Solved);
    ASSERT_EQ(model.solve(), SeamSystem::Status::Solved);
    EXPECT_GT(model.seams().displacements(2).cwiseAbs().maxCoeff(), 1e-4);
    EXPECT_LT(model.seams().largest_gap(), 1e-14);
    // nodal forces balance
    VectorXd r = VectorXd::Zero(model.seams().num_unknowns());
    double largest = 0;
    for (int z = 0; z < 4; ++z) {
        VectorXd f(model.seams().displacements(z).size());
        model.greens(z)->seam_forces(model.seams().displacements(z), f);
        model.seams().gather(z, f, r);
        largest = std::max(largest, f.cwiseAbs().maxCoeff());
    }
    EXPECT_LT(r.cwiseAbs().maxCoeff(), 1e-12 * largest);
}

TEST(SeamSystem, OnlyWhatHasTurnedIsFactoredAgain) {
    const ZonedBar bar = zoned_bar({.num_zones = 4, .cells = 2});
    ZonedModel model(bar.zones, bar.seams);
    std::vector<Pose> poses = bent_poses(bar, 10);
    ASSERT_EQ(model.set_poses(poses), SeamSystem::Status::Solved);
    const SeamSystem::Report all = model.seams().report();
    EXPECT_EQ(all.assembled, all.num_blocks);
    EXPECT_EQ(all.refactored, 3);
    // the last zone alone: its seam, a diagonal block
    poses[3].rotation = poses[3].rotation * rotation_from_vector(Vector3d(0, 0.1, 0));
    ASSERT_EQ(model.set_poses(poses), SeamSystem::Status::Solved);
    EXPECT_EQ(model.seams().report().assembled, 1);
    ASSERT_EQ(model.solve(), SeamSystem::Status::Solved);
    // a frame that only shifts
    poses[3].position.x() += 1e-3;
    ASSERT_EQ(model.set_poses(poses), SeamSystem::Status::Solved);
    EXPECT_EQ(model.seams().report().refactored, 0);
    ASSERT_EQ(model.solve(), SeamSystem::Status::Solved);

    ZonedModel fresh(bar.zones, bar.seams);
    ASSERT_EQ(fresh.set_poses(poses), SeamSystem::Status::Solved);
    ASSERT_EQ(fresh.solve(), SeamSystem::Status::Solved);
    for (int z = 0; z < 4; ++z)
        EXPECT_LT((fresh.seams().displacements(z) - model.seams().displacements(z)).norm(),
                  1e-13 * fresh.seams().displacements(z).norm() + 1e-18);
}

/// A spring network as a zone: any positive definite matrix.
class SpringZone final : public SeamResponse {
public:
    SpringZone(std::vector<Vector3d> positions, unsigned seed, double cubic = 0)
        : positions_(std::move(positions)), cubic_(cubic) {
        const int n = static_cast<int>(3 * positions_.size());
        const MatrixXd B = test_matrix(n, seed);
        K_ = B * B.transpose() + 0.5 * MatrixXd::Identity(n, n);
        push_ = test_matrix(n, seed + 100).col(0);
    }
    [[nodiscard]] std::span<const Vector3d> seam_positions() const noexcept override {
        return positions_;
    }
    [[nodiscard]] MatrixXd seam_stiffness() const override { return K_; }
    void seam_forces(const VectorXd& u, VectorXd& f) const noexcept override {
        f = push_;
        f.noalias() += K_ * u;
        f.array() += cubic_ * u.array().cube();
    }
    [[nodiscard]] bool is_linear() const noexcept override { return cubic_ == 0; }
    [[nodiscard]] const VectorXd& push() const { return push_; }

private:
    static MatrixXd test_matrix(int n, unsigned seed) {
        std::mt19937 random(seed);
        std::uniform_real_distribution<double> uniform(-1, 1);
        MatrixXd matrix(n, n);
        for (int i = 0; i < n * n; ++i) matrix.data()[i] = uniform(random) / std::sqrt(n);
        return matrix;
    }
    std::vector<Vector3d> positions_;
    double cubic_;
    MatrixXd K_;
    VectorXd push_;
};

struct Graph {
    std::vector<std::shared_ptr<const SeamResponse>> zones;
    std::vector<SeamPairs> seams;
    std::vector<Pose> poses;
};

/// Zones with two nodes in each seam, in the given graph.
Graph spring_graph(int num_zones, const std::vector<std::array<int, 2>>& edges, double cubic = 0) {
    std::mt19937 random(11);
    std::uniform_real_distribution<double> uniform(-1, 1);
    Graph graph;
    std::vector<std::vector<Vector3d>> nodes(at(num_zones));
    for (int z = 0; z < num_zones; ++z) graph.poses.push_back(test::random_pose(random));
    for (const auto& [a, b] : edges) {
        SeamPairs& seam = graph.seams.emplace_back(SeamPairs{a, b, {}, {}});
        for (int k = 0; k < 2 + (a + b) % 2; ++k) {
            const Vector3d x(uniform(random), uniform(random), uniform(random));
            seam.nodes_a.push_back(static_cast<int>(nodes[at(a)].size()));
            nodes[at(a)].push_back(graph.poses[at(a)].to_body(x));
            seam.nodes_b.push_back(static_cast<int>(nodes[at(b)].size()));
            nodes[at(b)].push_back(graph.poses[at(b)].to_body(x));
        }
    }
    for (int z = 0; z < num_zones; ++z)
        graph.zones.push_back(
            std::make_shared<SpringZone>(nodes[at(z)], static_cast<unsigned>(z) + 1, cubic));
    return graph;
}

void expect_solved_as_dense(const Graph& graph, SeamSystem& system) {
    ASSERT_EQ(system.solve(), SeamSystem::Status::Solved);
    // all at once, without elimination by blocks
    VectorXd r = VectorXd::Zero(system.num_unknowns());
    for (int z = 0; z < system.num_zones(); ++z)
        system.gather(z, dynamic_cast<const SpringZone&>(*graph.zones[at(z)]).push(), r);
    const VectorXd w = -solve_dense(system.matrix(), MatrixXd(r));
    for (int z = 0; z < system.num_zones(); ++z) {
        VectorXd u = VectorXd::Zero(system.displacements(z).size());
        system.spread(z, w, u);
        EXPECT_LT((u - system.displacements(z)).norm(), 1e-12 * u.norm());
    }
}

TEST(SeamSystem, TreesHaveNoFill) {
    // a trunk with branches: seams of one zone touch each other
    const std::vector<std::array<int, 2>> edges = {{0, 1}, {1, 2}, {1, 3}, {3, 4}, {3, 5}, {5, 6}};
    const Graph graph = spring_graph(7, edges);
    SeamSystem system(graph.zones, graph.seams, graph.poses);
    int pairs = 6;
    for (std::size_t i = 0; i < edges.size(); ++i)
        for (std::size_t j = 0; j < edges.size(); ++j)
            if (i != j && (edges[i][0] == edges[j][0] || edges[i][0] == edges[j][1] ||
                           edges[i][1] == edges[j][0] || edges[i][1] == edges[j][1]))
                ++pairs;
    EXPECT_EQ(system.report().num_blocks, pairs);
    expect_solved_as_dense(graph, system);
}

TEST(SeamSystem, LoopsOfZonesAreSolved) {
    const Graph graph =
        spring_graph(6, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 0}, {1, 4}, {0, 1}});
    SeamSystem system(graph.zones, graph.seams, graph.poses);
    expect_solved_as_dense(graph, system);
    std::vector<Pose> poses = graph.poses;
    poses[2].rotation = poses[2].rotation * rotation_from_vector(Vector3d(0.2, -0.1, 0.3));
    ASSERT_EQ(system.set_poses(poses), SeamSystem::Status::Solved);
    EXPECT_LT(system.report().refactored, system.report().num_pivots);
    SeamSystem fresh(graph.zones, graph.seams, graph.poses);
    // everything turns, then to the same place
    std::vector<Pose> others = poses;
    for (Pose& pose : others) pose.rotation = rotation_from_vector(pose.position);
    ASSERT_EQ(fresh.set_poses(others), SeamSystem::Status::Solved);
    ASSERT_EQ(fresh.set_poses(poses), SeamSystem::Status::Solved);
    ASSERT_EQ(system.solve(), SeamSystem::Status::Solved);
    ASSERT_EQ(fresh.solve(), SeamSystem::Status::Solved);
    for (int z = 0; z < 6; ++z)
        EXPECT_LT((system.displacements(z) - fresh.displacements(z)).norm(), 1e-12);
}

VectorXd seam_imbalance(const SeamSystem& system, std::span<const Vector3d> external = {}) {
    VectorXd r = VectorXd::Zero(system.num_unknowns());
    for (int z = 0; z < system.num_zones(); ++z) {
        VectorXd f(system.displacements(z).size());
        system.zone(z).seam_forces(system.displacements(z), f);
        system.gather(z, f, r);
    }
    for (std::size_t k = 0; k < external.size(); ++k)
        r.segment<3>(3 * static_cast<Eigen::Index>(k)) -= external[k];
    return r;
}

TEST(SeamSystem, NonlinearZonesAreIteratedToBalance) {
    const Graph graph = spring_graph(3, {{0, 1}, {1, 2}}, 0.3);
    SeamSystem system(graph.zones, graph.seams, graph.poses, {.max_iterations = 40});
    ASSERT_EQ(system.solve(), SeamSystem::Status::Solved);
    EXPECT_LT(seam_imbalance(system).cwiseAbs().maxCoeff(), 1e-7);
}

/// Zones that harden: steps of the stiffness at rest are far too long.
TEST(SeamSystem, AnImbalanceNeverGrows) {
    const Graph graph = spring_graph(3, {{0, 1}, {1, 2}}, 5);
    SeamSystem system(graph.zones, graph.seams, graph.poses);
    const std::vector<Vector3d> external(at(system.num_unknowns() / 3), Vector3d(3, -4, 5));
    const auto size_of_imbalance = [&] {
        const VectorXd r = seam_imbalance(system, external);
        VectorXd step = r;
        system.solve_in_place(step);
        return r.dot(step);
    };
    const double at_rest = size_of_imbalance();
    double before = at_rest;
    SeamSystem::Status status = SeamSystem::Status::NotConverged;
    int num_solves = 0;
    for (; num_solves < 200 && status == SeamSystem::Status::NotConverged; ++num_solves) {
        status = system.solve(external);
        const double now = size_of_imbalance();
        ASSERT_LT(now, before) << num_solves;
        before = now;
    }
    EXPECT_EQ(status, SeamSystem::Status::Solved);
    EXPECT_GT(num_solves, 1);
    EXPECT_LT(before, 1e-12 * at_rest);
}

TEST(SeamSystem, GoesOnFromASavedStateToTheBit) {
    const Graph graph = spring_graph(3, {{0, 1}, {1, 2}}, 2);
    SeamSystem system(graph.zones, graph.seams, graph.poses, {.max_iterations = 1});
    std::vector<Pose> poses = graph.poses, turned = poses;
    turned[2].rotation = rotation_from_vector(Vector3d(0.1, 0, 0.02)) * turned[2].rotation;
    ASSERT_EQ(system.set_poses(turned), SeamSystem::Status::Solved);
    ASSERT_EQ(system.solve(), SeamSystem::Status::NotConverged);
    std::vector<double> saved(at(system.state_size()));
    system.save_state(saved);
    const VectorXd there = system.displacements(1);
    ASSERT_EQ(system.solve(), SeamSystem::Status::NotConverged);
    const VectorXd further = system.displacements(1);
    EXPECT_NE(there, further);
    ASSERT_EQ(system.set_poses(poses), SeamSystem::Status::Solved);
    (void)system.solve();
    ASSERT_EQ(system.restore_state(turned, saved), SeamSystem::Status::Solved);
    EXPECT_EQ(system.displacements(1), there);
    ASSERT_EQ(system.solve(), SeamSystem::Status::NotConverged);
    EXPECT_EQ(system.displacements(1), further);
    // one that cannot be
    saved[0] = kNan;
    EXPECT_EQ(system.restore_state(turned, saved), SeamSystem::Status::BadInput);
    EXPECT_EQ(system.displacements(1), further);
    // from the start
    system.reset();
    ASSERT_EQ(system.set_poses(turned), SeamSystem::Status::Solved);
    ASSERT_EQ(system.solve(), SeamSystem::Status::NotConverged);
    EXPECT_EQ(system.displacements(1), there);
}

TEST(SeamSystem, SeamsThatDoNotMatchAreRefused) {
    ZonedBar bar = zoned_bar({.cells = 2});
    std::vector<ZoneSeam> seams = bar.seams;
    seams[0].nodes_b.pop_back();
    EXPECT_THAT(input_error([&] { ZonedModel(bar.zones, seams); }),
                HasSubstr("the seam of the zones \"zone0\" and \"zone1\" does not match: 9 nodes "
                          "meet 8"));
    seams = bar.seams;
    std::swap(seams[0].nodes_b[3], seams[0].nodes_b[4]);
    EXPECT_THAT(input_error([&] { ZonedModel(bar.zones, seams); }), HasSubstr("pair 3 (nodes "));
    EXPECT_THAT(input_error([&] { ZonedModel(bar.zones, seams); }),
                HasSubstr("is 0.030000 m apart at rest"));
    seams = bar.seams;
    seams[0].nodes_b[3] = seams[0].nodes_b[4];
    EXPECT_THAT(input_error([&] { ZonedModel(bar.zones, seams); }), HasSubstr("is twice"));
    EXPECT_THAT(input_error([&] { ZonedModel(bar.zones, {}); }), HasSubstr("is in no seam"));
}

TEST(SeamSystem, AnUnsupportedChainIsRefusedInWords) {
    const ZonedBar bar = zoned_bar({.num_zones = 3, .cells = 2, .is_held_at_start = false});
    EXPECT_THAT(input_error([&] { ZonedModel(bar.zones, bar.seams); }),
                HasSubstr("the zones \"zone0\", \"zone1\", \"zone2\" together can move in 6 rigid "
                          "ways against nothing"));
}

TEST(SeamSystem, AnUnsupportedChainHasSixZeroSingularValues) {
    const ZonedBar held = zoned_bar({.num_zones = 3, .cells = 2});
    const ZonedBar loose = zoned_bar({.num_zones = 3, .cells = 2, .is_held_at_start = false});
    // the first zone of the one is stiffened by nothing in the other: take its stiffness away
    ZonedModel model(held.zones, held.seams);
    const GreensZone first_held(held.zones[0].model->reference, held.seams[0].nodes_a, "",
                                held.zones[0].precise);
    const GreensZone first_loose(loose.zones[0].model->reference, loose.seams[0].nodes_a, "",
                                 loose.zones[0].precise);
    MatrixXd A = model.seams().matrix();
    const auto n = first_held.seam_stiffness().rows();
    A.topLeftCorner(n, n) += first_loose.seam_stiffness() - first_held.seam_stiffness();
    const VectorXd values = symmetric_eigenvalues(A);
    EXPECT_LT(std::abs(values[5]), 1e-10 * values[values.size() - 1]);
    EXPECT_GT(values[6], 1e-4 * values[values.size() - 1]);
}

TEST(SeamSystem, AZoneWithFreeSeamsMustBeHeldByItself) {
    const ZonedBar bar = zoned_bar({.free_seams = true, .is_held_at_end = true});
    std::vector<Zone> zones = bar.zones;
    auto model = std::make_shared<GreensModel>(*zones[1].model);
    for (NodeKind& kind : model->reference.kinds) kind = NodeKind::Free;
    zones[1].model = model;
    EXPECT_THAT(input_error([&] { ZonedModel(zones, bar.seams); }),
                HasSubstr("zone \"zone1\": is without support"));
}

TEST(SeamSystem, SeamsAreFoundByThePlacesOfNodes) {
    const ZonedBar bar = zoned_bar({.num_zones = 3, .cells = 2, .random_frames = true});
    const std::vector<ZoneSeam> found = find_seams(bar.zones);
    ASSERT_EQ(found.size(), bar.seams.size());
    for (std::size_t s = 0; s < found.size(); ++s) {
        EXPECT_EQ(found[s].nodes_a, bar.seams[s].nodes_a);
        EXPECT_EQ(found[s].nodes_b, bar.seams[s].nodes_b);
    }
    // another triangulation
    std::vector<Zone> zones = bar.zones;
    auto model = std::make_shared<GreensModel>(*zones[1].model);
    const int moved = bar.seams[0].nodes_b[4];
    model->reference.positions[at(moved)] += Vector3d(1e-3, 0, 0);
    zones[1].model = model;
    EXPECT_THAT(input_error([&] { (void)find_seams(zones); }),
                HasSubstr("has no partner there: the two sides of a seam need the same triangles"));
}

TEST(SeamSystem, StaysFiniteAndAllocatesNothing) {
    const ZonedBar bar = zoned_bar({.num_zones = 4, .cells = 2});
    ZonedModel model(bar.zones, bar.seams);
    std::vector<Pose> poses = bent_poses(bar, 15), bad = poses;
    bad[1].position.x() = kNan;
    const int node = 1;  // off the seams
    const std::array nodes{node};
    const std::array tractions{Vector3d(10, 20, 30)}, wrong{Vector3d(kNan, 0, 0)};
    const AllocationGuard guard;
    const auto status = model.set_poses(poses);
    const bool is_taken = model.greens(0)->set_loads(nodes, tractions);
    const auto solved = model.solve();
    const bool is_wrong = model.greens(0)->set_loads(nodes, wrong);
    const auto refused = model.set_poses(bad);
    const Vector3d u = model.unknown(0, node);
    const auto allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
    EXPECT_EQ(status, SeamSystem::Status::Solved);
    EXPECT_EQ(solved, SeamSystem::Status::Solved);
    EXPECT_EQ(refused, SeamSystem::Status::BadInput);
    EXPECT_TRUE(is_taken);
    EXPECT_FALSE(is_wrong);
    EXPECT_TRUE(u.allFinite());
}

}  // namespace
}  // namespace pliant
