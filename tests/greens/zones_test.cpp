#include "pliant/greens/zones.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include <Eigen/Eigenvalues>

#include "core/numbers.h"
#include "greens/zoned_bar.h"
#include "input_error.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/geometry/structured_mesh.h"
#include "pliant/geometry/subdivision.h"
#include "pliant/greens/build_greens.h"
#include "pliant/greens/distributed_contact.h"
#include "pliant/greens/fem_zone.h"
#include "pliant/greens/greens_body.h"
#include "pliant/greens/hierarchical_basis.h"
#include "pliant/greens/reduced_zone.h"
#include "pliant/greens/wavelet_greens.h"
#include "pliant/greens/zoned_body.h"
#include "tests/greens/bent_ball.h"

namespace pliant {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;
using test::input_error;
using Block = Eigen::Matrix<float, 3, 3, Eigen::RowMajor>;

constexpr double kBarLength = 0.12, kBarCell = 0.02;

/// Elements whose centres are in a range of x, in the frame of a pose.
VolumeMesh part_of(const VolumeMesh& mesh, double low, double high, const Pose& pose) {
    VolumeMesh part;
    part.kind = mesh.kind;
    std::map<int, int> place;
    for (int e = 0; e < mesh.num_elements(); ++e) {
        Vector3d centre = Vector3d::Zero();
        for (const int v : mesh.element(e)) centre += mesh.vertices[at(v)] / 4;
        if (centre.x() < low || centre.x() > high) continue;
        for (const int v : mesh.element(e)) {
            const auto [entry, is_new] = place.try_emplace(v, part.num_vertices());
            if (is_new) part.vertices.push_back(pose.to_body(mesh.vertices[at(v)]));
            part.elements.push_back(entry->second);
        }
    }
    return part;
}

/// Nodes of the boundary in the planes x = low and, if it is a seam, x = high.
std::string ends_of(const VolumeMesh& part, const Pose& pose, double low, double high,
                    bool has_second) {
    std::string list = "list ";
    int node = 0;
    for (const Vector3d& x_part : part.vertices) {
        const Vector3d x = pose.to_world(x_part);
        const bool is_first = std::abs(x.x() - low) < 1e-9, is_last = std::abs(x.x() - high) < 1e-9;
        const bool is_inside =
            !is_first && !is_last &&
            (x.tail<2>() - Eigen::Vector2d(kBarCell, kBarCell)).cwiseAbs().maxCoeff() <
                0.5 * kBarCell;
        if (is_inside) continue;
        if (is_first || (is_last && has_second))
            list += (list.size() > 5 ? "," : "") + std::to_string(node);
        ++node;
    }
    return list;
}

struct BuiltBar {
    GreensModel whole;
    std::vector<Zone> zones;
};

/// A bar of 6 × 2 × 2 cells by finite elements, whole and in three zones.
const BuiltBar& built_bar() {
    static const BuiltBar bar = [] {
        BuiltBar made;
        const VolumeMesh mesh = tet_box(
            6, 2, 2, Box(Vector3d::Zero(), Vector3d(kBarLength, 2 * kBarCell, 2 * kBarCell)));
        GreensBuildOptions options;
        options.youngs_modulus = 3e4;
        options.fixed = "x < 1 %";
        made.whole = build_greens_model(mesh, options);
        std::mt19937 random(5);
        for (int z = 0; z < 3; ++z) {
            Zone& zone = made.zones.emplace_back();
            zone.name = "zone" + std::to_string(z);
            zone.pose = test::random_pose(random);
            zone.pose.position *= 0.1;
            const double low = 2 * z * kBarCell, high = low + 2 * kBarCell;
            const VolumeMesh part = part_of(mesh, low, high, zone.pose);
            options.fixed = ends_of(part, zone.pose, low, high, z < 2);
            options.has_fixed_columns = true;
            zone.model = std::make_shared<GreensModel>(build_greens_model(part, options));
        }
        return made;
    }();
    return bar;
}

/// Node of the bar for each node of the zones.
std::vector<int> same_places(const GreensModel& zoned, const GreensModel& whole) {
    std::vector<int> same;
    for (const Vector3d& x : zoned.reference.positions) {
        int found = -1;
        for (int i = 0; i < whole.num_nodes(); ++i)
            if ((whole.reference.positions[at(i)] - x).norm() < 1e-9) found = i;
        same.push_back(found);
    }
    return same;
}

std::vector<ZoneSeam> seams_of(const BuiltBar& bar) { return find_seams(bar.zones); }

TEST(ZonedGreens, PosedAtRestIsTheWholeBody) {
    const BuiltBar& bar = built_bar();
    ZonedModel model(bar.zones, seams_of(bar));
    const GreensModel zoned = model.posed();
    const std::vector<int> same = same_places(zoned, bar.whole);
    const ReferenceProblem &a = zoned.reference, &b = bar.whole.reference;
    EXPECT_NEAR(a.length, b.length, 1e-12);
    // closed, and the same triangles
    EXPECT_EQ(zoned.surface.mesh.num_triangles(), bar.whole.surface.mesh.num_triangles());
    EXPECT_EQ(zoned.surface.mesh.num_vertices(), bar.whole.surface.mesh.num_vertices());
    double worst = 0, largest = 0;
    int num_columns = 0;
    for (int j = 0; j < zoned.num_nodes(); ++j) {
        if (!a.functions->has_column(j)) continue;
        if (a.kinds[at(j)] == NodeKind::Fixed) continue;
        ++num_columns;
        EXPECT_NEAR(a.areas[at(j)], b.areas[at(same[at(j)])], 1e-12);
        for (int i = 0; i < zoned.num_nodes(); ++i) {
            if (same[at(i)] < 0) continue;  // inside
            Block mine, theirs;
            a.functions->element(i, j, mine.data());
            b.functions->element(same[at(i)], same[at(j)], theirs.data());
            if (a.kinds[at(i)] == NodeKind::Fixed) {
                // forces of supports: areas of a zone are its own
                mine *= static_cast<float>(a.areas[at(i)]);
                theirs *= static_cast<float>(b.areas[at(same[at(i)])]);
                EXPECT_LT((mine - theirs).norm(), 1e-4 * b.areas[at(same[at(i)])]);
                continue;
            }
            worst = std::max(worst, static_cast<double>((mine - theirs).norm()));
            largest = std::max(largest, static_cast<double>(theirs.norm()));
        }
    }
    EXPECT_EQ(num_columns, bar.whole.num_free_columns());
    EXPECT_LT(worst, 2e-6 * largest);
    for (int i = 0; i < zoned.num_nodes(); ++i)
        for (int k = 0; k < 3; ++k) {
            if (same[at(i)] < 0 || a.kinds[at(i)] == NodeKind::Fixed) continue;
            Eigen::Vector3f mine, theirs;
            a.functions->body_element(i, k, mine.data());
            b.functions->body_element(same[at(i)], k, theirs.data());
            EXPECT_LT((mine - theirs).norm(), 1e-5f) << i << " " << k;
        }
}

TEST(ZonedGreens, SumsAreThoseOfElements) {
    const BuiltBar& bar = built_bar();
    ZonedModel model(bar.zones, seams_of(bar));
    std::vector<Pose> poses;
    for (const Zone& zone : bar.zones) poses.push_back(zone.pose);
    poses[2].rotation = rotation_from_vector(Vector3d(0, 0.2, 0.1)) * poses[2].rotation;
    ASSERT_EQ(model.set_poses(poses), SeamSystem::Status::Solved);
    ASSERT_EQ(model.solve(), SeamSystem::Status::Solved);
    const GreensModel zoned = model.posed();
    const GreensFunctions& functions = *zoned.reference.functions;
    std::vector<int> nodes;
    std::vector<float> weights;
    for (int j = 0; j < zoned.num_nodes(); j += 3)
        if (functions.has_column(j)) {
            nodes.push_back(j);
            for (int k = 0; k < 3; ++k) weights.push_back(std::sin(static_cast<float>(7 * j + k)));
        }
    const std::array<float, 3> gravity{0.3f, -0.5f, 0.7f};
    std::vector<float> sum(3 * at(zoned.num_nodes()), 0.25f);
    functions.add_columns({}, {}, sum);  // memory that a thread keeps
    const AllocationGuard guard;
    functions.add_columns(nodes, weights, sum);
    functions.add_body_columns(gravity, sum);
    const auto allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
    float largest = 0;
    for (const float x : sum) largest = std::max(largest, std::abs(x));
    for (int i = 0; i < zoned.num_nodes(); ++i) {
        Eigen::Vector3f slow = Eigen::Vector3f::Constant(0.25f);
        for (std::size_t k = 0; k < nodes.size(); ++k) {
            Block block;
            functions.element(i, nodes[k], block.data());
            slow += block * Eigen::Map<const Eigen::Vector3f>(weights.data() + 3 * k);
        }
        for (int k = 0; k < 3; ++k) {
            Eigen::Vector3f column;
            functions.body_element(i, k, column.data());
            slow += gravity[at(k)] * column;
        }
        EXPECT_LT((slow - Eigen::Map<Eigen::Vector3f>(sum.data() + 3 * i)).norm(), 3e-6f * largest)
            << i;
    }
    // the first rows alone
    std::vector<float> part(3 * at(model.first_node(1) + 4), 0.25f);
    functions.add_columns(nodes, weights, part);
    functions.add_body_columns(gravity, part);
    for (std::size_t i = 0; i < part.size(); ++i)
        EXPECT_NEAR(part[i], sum[i], 2e-6f * largest) << i;
}

/// Counts what is asked of compressed functions.
class CountedFunctions final : public GreensFunctions {
public:
    explicit CountedFunctions(std::shared_ptr<const GreensFunctions> functions)
        : functions_(std::move(functions)) {}
    [[nodiscard]] int num_nodes() const noexcept override { return functions_->num_nodes(); }
    [[nodiscard]] int block() const noexcept override { return 3; }
    [[nodiscard]] bool has_column(int column) const noexcept override {
        return functions_->has_column(column);
    }
    void element(int i, int j, float* values) const noexcept override {
        functions_->element(i, j, values);
    }
    void add_columns(std::span<const int> nodes, std::span<const float> weights,
                     std::span<float> out) const noexcept override {
        ++num_transforms;
        functions_->add_columns(nodes, weights, out);
    }
    [[nodiscard]] int num_body_columns() const noexcept override {
        return functions_->num_body_columns();
    }
    void body_element(int i, int k, float* values) const noexcept override {
        functions_->body_element(i, k, values);
    }
    void add_body_columns(std::span<const float> weights,
                          std::span<float> out) const noexcept override {
        ++num_transforms;
        functions_->add_body_columns(weights, out);
    }
    [[nodiscard]] std::size_t sum_size(int count) const noexcept override {
        return functions_->sum_size(count);
    }
    void accumulate(std::span<const int> nodes, std::span<const float> weights,
                    std::span<const float> body_weights, int count, std::span<float> sum,
                    SummedRows rows = SummedRows::All) const noexcept override {
        functions_->accumulate(nodes, weights, body_weights, count, sum, rows);
    }
    [[nodiscard]] std::span<const float> field(std::span<const float> sum, int count,
                                               std::span<float> scratch) const noexcept override {
        ++num_transforms;
        return functions_->field(sum, count, scratch);
    }
    void row_of_sum(std::span<const float> sum, int node, float* values) const noexcept override {
        functions_->row_of_sum(sum, node, values);
    }
    [[nodiscard]] bool prefers_sums() const noexcept override { return true; }
    [[nodiscard]] int num_readouts() const noexcept override { return 0; }
    void add_readouts(std::span<const int>, std::span<const float>,
                      std::span<float>) const noexcept override {}
    void add_body_readouts(std::span<const float>, std::span<float>) const noexcept override {}

    mutable int num_transforms = 0;

private:
    std::shared_ptr<const GreensFunctions> functions_;
};

/// Two cubes of compressed boundary elements, one on the other.
struct CompressedCubes {
    CompressedCubes() : zones(2) {
        SurfaceMesh cube;
        for (int v = 0; v < 8; ++v)
            cube.vertices.emplace_back(0.02 * (v & 1), 0.02 * (v >> 1 & 1), 0.02 * (v >> 2 & 1));
        cube.triangles = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
                          {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
        const SemiRegularMesh surface = midpoint_subdivide(cube, 2);
        for (std::size_t z = 0; z < 2; ++z) {
            GreensBuildOptions options;
            options.youngs_modulus = 1e4;
            options.crease_angle = 0;
            options.has_fixed_columns = true;
            options.wavelet = WaveletOptions{};
            options.fixed = "list ";
            for (int v = 0; v < surface.mesh.num_vertices(); ++v) {
                const double height = surface.mesh.vertices[at(v)].z();
                if (height < 1e-9 || (z == 0 && height > 0.02 - 1e-9))
                    options.fixed += (options.fixed.size() > 5 ? "," : "") + std::to_string(v);
            }
            GreensModel model = build_greens_model(surface, options);
            counted[z] = std::make_shared<CountedFunctions>(model.reference.functions);
            model.reference.functions = counted[z];
            zones[z].name = z == 0 ? "below" : "above";
            zones[z].model = std::make_shared<GreensModel>(std::move(model));
            zones[z].pose.position.z() = z == 0 ? 0 : 0.02;
        }
    }
    std::vector<Zone> zones;
    std::array<std::shared_ptr<CountedFunctions>, 2> counted;
};

/// Sums stay coefficients: a field takes one transform of each zone, whatever went into it.
TEST(ZonedGreens, CompressedZonesAreTransformedOnce) {
    const CompressedCubes cubes;
    const ZonedModel model(cubes.zones, find_seams(cubes.zones));
    const GreensModel zoned = model.posed();
    const GreensFunctions& functions = *zoned.reference.functions;
    EXPECT_TRUE(functions.prefers_sums());
    std::vector<int> nodes;
    std::vector<Vector3d> tractions;
    for (int j = 0; j < zoned.num_nodes(); j += 2)
        if (functions.has_column(j) && zoned.reference.kinds[at(j)] == NodeKind::Free) {
            nodes.push_back(j);
            tractions.emplace_back(30 * std::sin(j), 20 * std::cos(3 * j), -40);
        }
    CapacitanceSolver solver(zoned.reference, UpdateCosts(), {.max_loads = 256});
    const std::array<double, 3> gravity = {1e-3, 2e-3, -3e-3};
    for (auto& counted : cubes.counted) counted->num_transforms = 0;
    const AllocationGuard guard;
    const bool is_loaded = solver.set_loads(nodes, tractions) && solver.set_body_loads(gravity);
    const CapacitanceStatus status = solver.solve({}, {});
    solver.evaluate(zoned.num_nodes());
    const auto allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
    ASSERT_TRUE(is_loaded);
    ASSERT_FALSE(is_refused(status));
    for (const auto& counted : cubes.counted) EXPECT_EQ(counted->num_transforms, 1);

    // the slow way: elements
    std::vector<float> fast(3 * at(zoned.num_nodes()));
    solver.write_displacements(fast);
    double worst = 0, largest = 0, worst_selected = 0;
    for (int i = 0; i < zoned.num_nodes(); ++i) {
        if (zoned.reference.kinds[at(i)] == NodeKind::Fixed) continue;
        Vector3d u = Vector3d::Zero();
        for (std::size_t k = 0; k < nodes.size(); ++k) {
            Block block;
            functions.element(i, nodes[k], block.data());
            u += block.cast<double>() * tractions[k] / zoned.reference.modulus;
        }
        for (int k = 0; k < 3; ++k) {
            Eigen::Vector3f column;
            functions.body_element(i, k, column.data());
            u += gravity[at(k)] * column.cast<double>();
        }
        u *= zoned.reference.length;
        Vector3d selected;
        solver.displacements(std::array{i}, std::span(&selected, 1));
        worst = std::max(
            worst, (u - Eigen::Map<Eigen::Vector3f>(fast.data() + 3 * i).cast<double>()).norm());
        worst_selected = std::max(worst_selected, (u - selected).norm());
        largest = std::max(largest, u.norm());
    }
    EXPECT_GT(largest, 1e-5);
    EXPECT_LT(worst, 1e-5 * largest);
    EXPECT_LT(worst_selected, 1e-5 * largest);
}

/// Displacements of the bent, loaded zones by the seam system against posed() and its columns.
TEST(ZonedGreens, ABentPoseRespondsAsItsZonesDo) {
    const BuiltBar& bar = built_bar();
    ZonedModel model(bar.zones, seams_of(bar));
    std::vector<Pose> poses;
    for (const Zone& zone : bar.zones) poses.push_back(zone.pose);
    poses[1].rotation = rotation_from_vector(Vector3d(0, 0.1, 0)) * poses[1].rotation;
    poses[2].rotation = rotation_from_vector(Vector3d(0, 0.2, 0.1)) * poses[2].rotation;
    ASSERT_EQ(model.set_poses(poses), SeamSystem::Status::Solved);
    ASSERT_EQ(model.solve(), SeamSystem::Status::Solved);
    const GreensModel zoned = model.posed();
    // a traction in the last zone
    int loaded = 0;
    const ReferenceProblem& last = bar.zones[2].model->reference;
    while (last.kinds[at(loaded)] == NodeKind::Fixed || !last.functions->has_column(loaded))
        ++loaded;
    const Vector3d p_zone(500, 300, -400);
    ASSERT_TRUE(model.greens(2)->set_loads(std::array{loaded}, std::array{p_zone}));
    ASSERT_EQ(model.solve(), SeamSystem::Status::Solved);
    CapacitanceSolver solver(zoned.reference, UpdateCosts());
    ASSERT_TRUE(solver.set_loads(std::array{model.first_node(2) + loaded},
                                 std::array{Vector3d(model.seams().pose(2).rotation * p_zone)}));
    ASSERT_FALSE(is_refused(solver.solve({}, {})));
    double worst = 0, largest = 0;
    for (int z = 0; z < 3; ++z)
        for (int node = 0; node < bar.zones[at(z)].model->num_nodes(); ++node) {
            const int i = model.first_node(z) + node;
            if (zoned.reference.kinds[at(i)] == NodeKind::Fixed) continue;
            Vector3d u;
            solver.displacements(std::array{i}, std::span(&u, 1));
            const Vector3d exact = model.position(z, node) - zoned.reference.positions[at(i)];
            worst = std::max(worst, (u - exact).norm());
            largest = std::max(largest, exact.norm());
        }
    EXPECT_LT(worst, 3e-6 * largest);
}

/// The last third of the bar as finite elements, with its seam and its surface.
struct LastThird {
    explicit LastThird(Law law = Law::SmallStrain)
        : pose(built_bar().zones[2].pose),
          model(part_of(tet_box(6, 2, 2,
                                Box(Vector3d::Zero(),
                                    Vector3d(kBarLength, 2 * kBarCell, 2 * kBarCell))),
                        4 * kBarCell, 6 * kBarCell, pose),
                {isotropic(3e4, GreensBuildOptions().poisson_ratio, GreensBuildOptions().density,
                           law)},
                {ElementFormulation::Plain}) {
        for (int v = 0; v < model.num_nodes(); ++v)
            if (std::abs(pose.to_world(model.mesh().vertices[at(v)]).x() - 4 * kBarCell) < 1e-9)
                seam.push_back(v);
    }
    [[nodiscard]] std::shared_ptr<FemZone> finite_elements() const {
        auto zone = std::make_shared<FemZone>(model, seam);
        zone->show_surface();
        return zone;
    }
    /// In the subspace of all modes.
    [[nodiscard]] std::shared_ptr<ReducedZone> reduced(double layer) const {
        FemModel::Matrix K = model.make_matrix();
        model.tangent(VectorXd::Zero(model.num_unknowns()), K);
        const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> modes{Eigen::MatrixXd(K)};
        const Eigen::MatrixXd& U = modes.eigenvectors();
        const auto shown = finite_elements();
        Eigen::MatrixXd U_surface(3 * shown->surface().num_vertices(), U.cols());
        std::vector<int> seam_of_surface;
        for (int v = 0; v < shown->surface().num_vertices(); ++v) {
            const int in_mesh = shown->surface_vertices()[at(v)];
            U_surface.middleRows(3 * v, 3) = U.middleRows(3 * in_mesh, 3);
            if (std::ranges::find(seam, in_mesh) != seam.end()) seam_of_surface.push_back(v);
        }
        return std::make_shared<ReducedZone>(make_direct_force(model, U), U_surface,
                                             shown->surface(), seam_of_surface,
                                             ReducedZoneOptions{.layer = layer});
    }

    Pose pose;
    FemModel model;
    std::vector<int> seam;
};

CharacterModel hybrid_bar(std::shared_ptr<SurfaceZone> last) {
    const BuiltBar& bar = built_bar();
    CharacterModel character;
    character.seams = SeamMode::Bonded;
    character.bones.push_back({.name = "root"});
    for (const Zone& zone : bar.zones)
        character.zones.push_back({.name = zone.name, .model = zone.model, .rest = zone.pose});
    character.zones[2].model = nullptr;
    character.zones[2].other = std::move(last);
    return character;
}

/// Pulled at the end of the last zone and pressed on the one before: largest difference from the
/// displacement of the bar that was never cut, over the largest.
double difference_from_whole(ZonedBody& body, const Vector3d& gravity) {
    const FemModel whole(
        tet_box(6, 2, 2, Box(Vector3d::Zero(), Vector3d(kBarLength, 2 * kBarCell, 2 * kBarCell))),
        {isotropic(3e4, GreensBuildOptions().poisson_ratio, GreensBuildOptions().density,
                   Law::SmallStrain)},
        {ElementFormulation::Plain});
    const auto nearest = [](const std::vector<Vector3d>& points, const Vector3d& x) {
        return static_cast<int>(
            std::ranges::min_element(points, {},
                                     [&](const Vector3d& y) { return (x - y).squaredNorm(); }) -
            points.begin());
    };
    const Vector3d end(kBarLength, 0, 2 * kBarCell), middle(3 * kBarCell, 0, 2 * kBarCell);
    const Vector3d pull(0.02, -0.01, 0.03), push(-0.01, 0.02, -0.04);
    const GreensModel& second = *built_bar().zones[1].model;
    const Pose& frame = built_bar().zones[1].pose;
    const int node = nearest(second.reference.positions, frame.to_body(middle));
    const int vertex = nearest(body.surface().vertices, end);
    const std::array nodes{node};
    const std::array tractions{
        Vector3d(frame.rotation.conjugate() * push / second.reference.areas[at(node)])};
    body.set_gravity(gravity);
    std::uint64_t allocations = 0;
    for (int k = 0; k < 100; ++k) {
        const AllocationGuard guard;
        body.add_force(SurfacePoint::at_vertex(vertex), pull);
        body.zone(1).add_tractions(nodes, tractions, 0);
        const StepStatus status = body.step(0.02);
        allocations += guard.count();
        EXPECT_EQ(status, StepStatus::Ok);
    }
    EXPECT_EQ(allocations, 0u);

    std::vector<int> held, seam;
    for (int v = 0; v < whole.num_nodes(); ++v) {
        if (whole.mesh().vertices[at(v)].x() < 1e-9) held.push_back(v);
        if (std::abs(whole.mesh().vertices[at(v)].x() - kBarCell) < 1e-9) seam.push_back(v);
    }
    FemZone exact(whole, seam, held);
    exact.set_loads(
        std::array{nearest(whole.mesh().vertices, end), nearest(whole.mesh().vertices, middle)},
        std::array{pull, push}, gravity);
    VectorXd f(3 * static_cast<Eigen::Index>(seam.size()));
    exact.seam_forces(VectorXd::Zero(f.size()), f);
    const VectorXd u = exact.displacements(-exact.seam_stiffness().ldlt().solve(f));
    double worst = 0;
    for (int v = 0; v < body.surface().num_vertices(); ++v) {
        const Vector3d& rest = body.surface().vertices[at(v)];
        const int same = nearest(whole.mesh().vertices, rest);
        EXPECT_LT((whole.mesh().vertices[at(same)] - rest).norm(), 1e-9);
        worst = std::max(
            worst,
            (body.position(SurfacePoint::at_vertex(v)) - rest - u.segment<3>(3 * same)).norm());
    }
    return worst / u.cwiseAbs().maxCoeff();
}

TEST(HybridZones, FiniteElementsInABodyAreTheWholeBody) {
    ZonedBody body(hybrid_bar(LastThird().finite_elements()));
    EXPECT_TRUE(body.has_greens(1));
    EXPECT_FALSE(body.has_greens(2));
    EXPECT_LT(difference_from_whole(body, Vector3d(0, 1, -9.81)), 2e-5);
    // drawn where it is
    std::vector<float> state(at(body.display()->state_size()));
    std::vector<float> x(3 * body.surface().vertices.size());
    body.write_display(state);
    body.display()->positions(state, x);
    for (int v = 0; v < body.surface().num_vertices(); ++v)
        EXPECT_LT((Eigen::Map<Eigen::Vector3f>(x.data() + 3 * v).cast<double>() -
                   body.position(SurfacePoint::at_vertex(v)))
                      .norm(),
                  1e-7);
    // hands know how it gives way, and its own triangles
    const SurfacePoint end =
        SurfacePoint::on_triangle(body.first_triangle(3) - 1, Vector3d(0.2, 0.3, 0.5));
    EXPECT_GT(body.mobility(end), 0);
    EXPECT_NEAR(body.normal(end).norm(), 1, 1e-12);
    // goes on from a saved state
    std::vector<double> saved(at(body.state_size()));
    body.save_state(saved);
    for (int k = 0; k < 5; ++k) ASSERT_EQ(body.step(0.02), StepStatus::Ok);
    const Vector3d later = body.position(end);
    const Vector3d velocity = body.velocity(end);
    EXPECT_GT(velocity.norm(), 1e-5);
    ASSERT_TRUE(body.restore_state(saved));
    EXPECT_GT((body.position(end) - later).norm(), 1e-6);
    for (int k = 0; k < 5; ++k) ASSERT_EQ(body.step(0.02), StepStatus::Ok);
    EXPECT_EQ(body.position(end), later);
    saved.back() = kNan;
    EXPECT_FALSE(body.restore_state(saved));
    EXPECT_EQ(body.position(end), later);
    body.add_force(end, Vector3d(kNan, 0, 0));
    EXPECT_EQ(body.step(0.02), StepStatus::InputIgnored);
    body.set_gravity(Vector3d::Zero());
    body.reset();
    double farthest = 0;
    for (int v = 0; v < body.surface().num_vertices(); ++v)
        farthest = std::max(
            farthest,
            (body.position(SurfacePoint::at_vertex(v)) - body.surface().vertices[at(v)]).norm());
    EXPECT_LT(farthest, 1e-9);
}

TEST(HybridZones, AReducedModelInABodyIsTheWholeBody) {
    ZonedBody body(hybrid_bar(LastThird().reduced(1e-5)));
    EXPECT_LT(difference_from_whole(body, Vector3d::Zero()), 1e-3);
}

/// Seams of zones that are not linear are iterated from where they were: that is part of the state.
TEST(HybridZones, SeamsThatAreIteratedGoOnToTheBit) {
    CharacterModel character = hybrid_bar(LastThird(Law::StVenantKirchhoff).reduced(1e-2));
    character.bones.push_back({.name = "end",
                               .parent = 0,
                               .joint = Vector3d(4 * kBarCell, kBarCell, kBarCell),
                               .axis = Vector3d(0, 1, 0)});
    character.zones[2].bone = 1;
    std::vector<Keyframe> still(1), bend(3);
    bend[1].time = 0.4;
    bend[1].pose.position.x() = 0.7;
    bend[2].time = 0.8;
    ZonedBodyOptions options;
    options.flexion = {ScriptedMotion(still), ScriptedMotion(bend)};
    ZonedBody body(character, options);
    body.set_gravity(Vector3d(0, 0, -9.81));
    const auto run = [&](int steps) {
        for (int k = 0; k < steps; ++k) {
            body.add_force(SurfacePoint::at_vertex(body.first_vertex(3) - 1),
                           Vector3d(0.1, 0.3, 0.2));
            ASSERT_EQ(body.step(0.02), StepStatus::Ok);
        }
    };
    const auto state = [&] {
        std::vector<double> values(at(body.state_size()));
        body.save_state(values);
        return values;
    };
    body.reset();
    const std::vector<double> start = state();
    run(15);
    const std::vector<double> saved = state();
    run(15);
    const std::vector<double> first = state();
    EXPECT_NE(first, saved);
    // from a state
    ASSERT_TRUE(body.restore_state(saved));
    EXPECT_EQ(state(), saved);
    run(15);
    EXPECT_EQ(state(), first);
    // from the start
    body.reset();
    EXPECT_EQ(state(), start);
    run(30);
    EXPECT_EQ(state(), first);
    // in another body
    character.zones[2].other = LastThird(Law::StVenantKirchhoff).reduced(1e-2);
    ZonedBody other(character, options);
    other.set_gravity(Vector3d(0, 0, -9.81));
    ASSERT_TRUE(other.restore_state(first));
    for (int v = 0; v < body.surface().num_vertices(); ++v)
        EXPECT_EQ(other.position(SurfacePoint::at_vertex(v)),
                  body.position(SurfacePoint::at_vertex(v)));
    // a bad one leaves what was
    std::vector<double> bad = saved;
    bad.back() = kNan;
    EXPECT_FALSE(body.restore_state(bad));
    EXPECT_EQ(state(), first);
}

/// All zones have the same factor: half the displacement.
TEST(HybridZones, TheStiffnessOfAllZonesIsOneSlider) {
    ZonedBody body(hybrid_bar(LastThird().finite_elements()));
    const SurfacePoint end = SurfacePoint::at_vertex(body.first_vertex(3) - 1);
    const auto pulled = [&] {
        body.reset();
        const Vector3d before = body.position(end);
        for (int k = 0; k < 100; ++k) {
            body.add_force(end, Vector3d(0.01, 0, 0.02));
            (void)body.step(0.02);
        }
        return Vector3d(body.position(end) - before);
    };
    const Vector3d u = pulled();
    ASSERT_EQ(body.parameters()[0].name, "stiffness");
    body.set_parameter(0, 2);
    EXPECT_LT((2 * pulled() - u).norm(), 1e-6 * u.norm());
}

TEST(HybridZones, WhatCannotBeIsRefused) {
    const LastThird last;
    CharacterModel character = hybrid_bar(last.finite_elements());
    character.seams = SeamMode::Blended;
    EXPECT_EQ(input_error([&] { ZonedBody{character}; }),
              "zone \"zone2\" has no Green's functions: its seams must be bonded");
    character = hybrid_bar(std::make_shared<FemZone>(last.model, last.seam));
    EXPECT_THAT(input_error([&] { ZonedBody{character}; }),
                ::testing::HasSubstr("zone \"zone2\" has no surface: make it with one"));
    character.zones.erase(character.zones.begin(), character.zones.begin() + 2);
    character.zones[0].other = last.finite_elements();
    EXPECT_EQ(input_error([&] { ZonedBody{character}; }),
              "a body of zones needs one with Green's functions at least");
    character = hybrid_bar(nullptr);
    EXPECT_THAT(input_error([&] { ZonedBody{character}; }),
                ::testing::HasSubstr("zone \"zone2\" has no model"));
}

/// Contact that knows nothing of zones.
/// Contact on one zone moves its neighbours over the seams: the zones of a character that is bonded
/// come to where the seam system has them.
TEST(ZonedGreens, BondedCharactersPassContactOn) {
    const BuiltBar& bar = built_bar();
    CharacterModel character;
    character.seams = SeamMode::Bonded;
    character.bones.push_back({.name = "root"});
    for (const Zone& zone : bar.zones)
        character.zones.push_back({.name = zone.name, .model = zone.model, .rest = zone.pose});
    ZonedBody body(character);
    ZonedModel model(bar.zones, seams_of(bar));
    int loaded = 0;
    const ReferenceProblem& last = bar.zones[2].model->reference;
    while (last.kinds[at(loaded)] == NodeKind::Fixed || !last.functions->has_column(loaded))
        ++loaded;
    const std::array nodes{loaded};
    const std::array tractions{Vector3d(500, 300, -400)};
    ASSERT_TRUE(model.greens(2)->set_loads(nodes, tractions));
    ASSERT_EQ(model.solve(), SeamSystem::Status::Solved);

    const auto run = [&](int steps, bool is_touched) {
        std::uint64_t allocations = 0;
        for (int k = 0; k < steps; ++k) {
            const AllocationGuard guard;
            if (is_touched) body.zone(2).add_tractions(nodes, tractions, 0);
            const StepStatus status = body.step(0.02);
            allocations += guard.count();
            EXPECT_EQ(status, StepStatus::Ok);
        }
        EXPECT_EQ(allocations, 0u);
    };
    // of vertices from where bonded zones have them, over the largest displacement, zone by zone
    const auto errors = [&](bool is_touched) {
        std::array<double, 3> worst{}, largest{};
        for (int z = 0; z < 3; ++z) {
            const GreensModel& zone = *bar.zones[at(z)].model;
            for (int v = 0; v < zone.surface.mesh.num_vertices(); ++v) {
                const Vector3d rest =
                    bar.zones[at(z)].pose.to_world(zone.surface.mesh.vertices[at(v)]);
                const Vector3d moved =
                    model.position(z, zone.vertex_nodes[at(zone.vertex_offsets[at(v)])]) - rest;
                const Vector3d u = body.zone(z).position(SurfacePoint::at_vertex(v)) - rest;
                worst[at(z)] = std::max(worst[at(z)], (is_touched ? u - moved : u).norm());
                largest[at(z)] = std::max(largest[at(z)], moved.norm());
            }
        }
        for (std::size_t z = 0; z < 3; ++z) worst[z] /= largest[z];
        return worst;
    };
    run(80, true);
    for (const double error : errors(true)) EXPECT_LT(error, 2e-5);
    // states keep what is on its way
    std::vector<double> state(at(body.state_size()));
    body.save_state(state);
    const SurfacePoint end = SurfacePoint::at_vertex(body.first_vertex(3) - 1);
    const Vector3d before = body.position(end);
    run(5, false);
    const Vector3d later = body.position(end);
    EXPECT_GT((later - before).norm(), 1e-9);
    ASSERT_TRUE(body.restore_state(state));
    for (const double error : errors(true)) EXPECT_LT(error, 2e-5);
    run(5, false);
    EXPECT_LT((body.position(end) - later).norm(), 1e-12);
    run(80, false);
    for (const double error : errors(false)) EXPECT_LT(error, 2e-5);
    // a bad state leaves what was
    state.back() = kNan;
    EXPECT_FALSE(body.restore_state(state));
    body.reset();
    for (const double error : errors(false)) EXPECT_LT(error, 1e-9);
    ZonedBodyOptions many;
    many.max_loads = 300;
    EXPECT_EQ(input_error([&] { ZonedBody(character, many); }),
              "max_loads = 300 (expected at most 256 for bonded zones)");
}

/// By ids of coarser functions as by the nodes that they spread over.
TEST(ZonedGreens, LoadsOfZonesMayBeOfCoarserFunctions) {
    GreensBuildOptions options;
    options.fixed = "z < 25 %";
    options.coarsest_level = 0;
    options.has_fixed_columns = true;
    const GreensModel model = build_greens_model(test::bent_ball_surface(2), options);
    std::vector<int> seam;
    for (int node = 0; node < model.num_nodes(); ++node)
        if (model.reference.kinds[at(node)] == NodeKind::Fixed) seam.push_back(node);
    GreensZone zone(model.reference, seam, "ball");
    const HierarchicalBasis& basis = *model.reference.hierarchy;
    int coarse = -1, on_seam = -1;
    for (int id = model.num_nodes(); id < model.reference.functions->num_column_ids(); ++id)
        if (model.reference.functions->has_column(id))
            (model.reference.kinds[at(id % model.num_nodes())] == NodeKind::Free ? coarse
                                                                                 : on_seam) = id;
    ASSERT_GE(coarse, 0);
    const Vector3d p(300, -200, 100);
    VectorXd by_function(3 * static_cast<Eigen::Index>(seam.size())), by_nodes = by_function;
    const VectorXd none = VectorXd::Zero(by_nodes.size());
    ASSERT_TRUE(zone.set_loads(std::array{coarse}, std::array{p}));
    zone.seam_forces(none, by_function);
    const WeightedVertices spread = basis.values(coarse);
    const std::vector<int> nodes(spread.vertices.begin(), spread.vertices.end());
    std::vector<Vector3d> tractions;
    for (const double weight : spread.weights) tractions.emplace_back(weight * p);
    ASSERT_GT(nodes.size(), 3u);
    ASSERT_TRUE(zone.set_loads(nodes, tractions));
    zone.seam_forces(none, by_nodes);
    EXPECT_GT(by_nodes.norm(), 1e-3);
    EXPECT_LT((by_function - by_nodes).norm(), 1e-5 * by_nodes.norm());
    // those that are not there, and those that would move a seam
    EXPECT_FALSE(
        zone.set_loads(std::array{model.reference.functions->num_column_ids()}, std::array{p}));
    EXPECT_TRUE(on_seam < 0 || !zone.set_loads(std::array{on_seam}, std::array{p}));
    VectorXd after(by_nodes.size());
    zone.seam_forces(none, after);
    EXPECT_EQ(after, by_nodes);
}

TEST(ZonedGreens, ToolsTouchZonesAsTheyTouchTheWhole) {
    const BuiltBar& bar = built_bar();
    ZonedModel model(bar.zones, seams_of(bar));
    const auto zoned = std::make_shared<GreensModel>(model.posed());
    const auto whole = std::make_shared<GreensModel>(bar.whole);
    const std::vector<RigidShape> tools{RigidShape::box(Vector3d(0.05, 0.05, 0.01))};
    const DistributedContactOptions options{.max_nodes = 40};
    DistributedContact on_zones(zoned, tools, UpdateCosts(), options);
    DistributedContact on_whole(whole, tools, UpdateCosts(), options);
    Pose pose;
    // over a seam, from above
    pose.position = Vector3d(0.1, 0.02, 0.04 + 0.01 - 0.002);
    ASSERT_EQ(on_zones.step(std::array{pose}), DistributedContact::Status::Settled);
    ASSERT_EQ(on_whole.step(std::array{pose}), DistributedContact::Status::Settled);
    EXPECT_EQ(on_zones.touched().size(), on_whole.touched().size());
    EXPECT_GE(on_whole.touched().size(), 3u);
    const Wrench a = on_zones.load(0), b = on_whole.load(0);
    EXPECT_GT(b.force.norm(), 0.01);
    EXPECT_LT((a.force - b.force).norm(), 1e-4 * b.force.norm());
    EXPECT_LT((a.torque - b.torque).norm(), 1e-4 * (b.torque.norm() + 0.1 * b.force.norm()));
}

TEST(ZonedGreens, AZonedModelIsABody) {
    const BuiltBar& bar = built_bar();
    ZonedModel model(bar.zones, seams_of(bar));
    GreensBody zoned(std::make_shared<GreensModel>(model.posed()));
    GreensBody whole(std::make_shared<GreensModel>(bar.whole));
    // the same point of both: stiffness by masks
    const Vector3d x(0.06, 0.02, 0.04);
    const auto vertex_at = [&](const Body& body) {
        for (int v = 0; v < body.surface().num_vertices(); ++v)
            if ((body.surface().vertices[at(v)] - x).norm() < 1e-9) return v;
        return -1;
    };
    const auto pull = [&](GreensBody& body) {
        const SurfacePoint point = SurfacePoint::at_vertex(vertex_at(body));
        body.set_gravity(Vector3d(0, 0, -9.81));
        for (int k = 0; k < 500; ++k) {
            body.add_force(point, Vector3d(0.01, 0.02, 0.05));
            EXPECT_EQ(body.step(1e-3), StepStatus::Ok);
        }
        return Vector3d(body.position(point) - x);
    };
    const Vector3d a = pull(zoned), b = pull(whole);
    EXPECT_GT(b.norm(), 1e-5);
    EXPECT_LT((a - b).norm(), 1e-4 * b.norm());
}

/// Zones of boundary elements: seams have free tractions at their rims, so that only convergence
/// can be asked for.
TEST(ZonedGreens, BoundaryElementsAgreeWithinTheirError) {
    const auto surface_of = [](const VolumeMesh& mesh) {
        // the surface that finite elements have
        GreensBuildOptions options;
        options.fixed = "x < 1 %";
        return build_greens_model(mesh, options).surface;
    };
    const auto tip = [&](int cells, bool is_split) {
        const double cell = 0.02 / cells;
        const VolumeMesh mesh =
            tet_box(3 * cells, cells, cells, Box(Vector3d::Zero(), Vector3d(0.06, 0.02, 0.02)));
        GreensBuildOptions options;
        options.youngs_modulus = 1e4;
        options.crease_angle = 0;
        options.fixed = "x < 1 %";
        const Vector3d load(0, 0, 2.0);
        const auto end_force = [&](const GreensModel& model, int node) {
            return std::abs(model.reference.positions[at(node)].x() - 0.06) < 0.1 * cell;
        };
        if (!is_split) {
            const GreensModel model = build_greens_model(surface_of(mesh), options);
            CapacitanceSolver solver(model.reference, UpdateCosts(), {.max_loads = 256});
            std::vector<int> nodes;
            std::vector<Vector3d> tractions;
            for (int i = 0; i < model.num_nodes(); ++i)
                if (end_force(model, i)) {
                    nodes.push_back(i);
                    tractions.push_back(load);
                }
            EXPECT_TRUE(solver.set_loads(nodes, tractions));
            EXPECT_FALSE(is_refused(solver.solve({}, {})));
            Vector3d u;
            solver.displacements(std::array{nodes[0]}, std::span(&u, 1));
            return u.z();
        }
        std::vector<Zone> zones(2);
        for (std::size_t z = 0; z < 2; ++z) {
            const double low = z == 0 ? 0 : 0.02, high = z == 0 ? 0.02 : 0.06;
            const VolumeMesh part = part_of(mesh, low, high, Pose());
            const SemiRegularMesh surface = surface_of(part);
            std::string list = "list ";
            for (int v = 0; v < surface.mesh.num_vertices(); ++v) {
                const double x = surface.mesh.vertices[at(v)].x();
                if (x < 1e-9 || std::abs(x - 0.02) < 1e-9)
                    list += (list.size() > 5 ? "," : "") + std::to_string(v);
            }
            options.fixed = list;
            options.has_fixed_columns = true;
            zones[z].name = std::to_string(z);
            zones[z].model = std::make_shared<GreensModel>(build_greens_model(surface, options));
        }
        ZonedModel model(zones, find_seams(zones));
        std::vector<int> nodes;
        std::vector<Vector3d> tractions;
        for (int i = 0; i < zones[1].model->num_nodes(); ++i)
            if (end_force(*zones[1].model, i)) {
                nodes.push_back(i);
                tractions.push_back(load);
            }
        EXPECT_TRUE(model.greens(1)->set_loads(nodes, tractions));
        EXPECT_EQ(model.solve(), SeamSystem::Status::Solved);
        return model.unknown(1, nodes[0]).z();
    };
    const double coarse = std::abs(tip(2, true) / tip(2, false) - 1);
    const double fine = std::abs(tip(4, true) / tip(4, false) - 1);
    EXPECT_LT(fine, 0.1);
    EXPECT_LT(fine, coarse);
}

}  // namespace
}  // namespace pliant
