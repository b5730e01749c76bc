#include <gtest/gtest.h>

#include "contact/traversal_samples.h"
#include "haptics/bound_samples.h"
#include "haptics/tool_in_hand.h"

// The depth bound where fields are made of cells: by the field itself contacts are within
// max_depth, as with exact ones; of the solid it was made from the field knows no more than its
// interpolation error, which is below half a cell.

namespace pliant {
namespace {

using namespace test;

constexpr double kGridCell = 1e-3;  // twice the depth allowed: the rule
constexpr double kGridHalf = 0.04;
constexpr int kGridCells = 80;

enum class GridKind { Dense, Sparse };

std::shared_ptr<const DistanceGrid> gridded(const DistanceField& exact, GridKind kind) {
    const DistanceGrid dense = sampled_grid(exact, kGridHalf, kGridCells);
    return std::make_shared<DistanceGrid>(
        kind == GridKind::Dense ? dense : DistanceGrid::sparse(dense, 4 * kGridCell));
}

/// Askew in its cells, so that faces, edges and corners lie everywhere in them.
Pose askew() { return {Vector3d::Constant(0.3e-3), rotation_from_vector({0.1, 0.2, 0.3})}; }
FieldPointer put_askew(const FieldPointer& field) {
    return move_field(field, askew().position, askew().rotation);
}
FieldPointer hollowed(const FieldPointer& solid, const FieldPointer& hollow) {
    return invert_field(unite_fields({invert_field(solid), hollow}));
}

constexpr double kGridBall = 0.02;
std::vector<BoundScene> gridded_scenes() {
    const auto id = Eigen::Quaterniond::Identity();
    const FieldPointer post = capsule_field(0.003, 0.015);
    const FieldPointer outside = box_field(Vector3d::Constant(0.02));
    std::vector<BoundScene> all;
    all.push_back({"box on a ball",
                   block(0.01, 0.01, 0.01),
                   put_askew(sphere_field(kGridBall)),
                   {{0, 0, 0.032}}});
    all.push_back({"box on the edge of a box",
                   block(0.01, 0.01, 0.01),
                   put_askew(box_field({0.02, 0.02, 0.015})),
                   {{0.018, 0, 0.032}}});
    all.push_back({"rod between posts",
                   block(0.03, 0.003, 0.003),
                   unite_fields({move_field(post, {0.01, 0.0065, 0}, id),
                                 move_field(post, {-0.01, -0.0065, 0}, id)}),
                   {}});
    all.push_back(
        {"ball in a socket", ball_tool(0.01, 1500), hollowed(outside, sphere_field(0.0105)), {}});
    all.push_back({"box in a shaft", block(0.008, 0.008, 0.015),
                   put_askew(hollowed(outside, box_field({0.0085, 0.0085, 0.1}))), askew()});
    for (BoundScene& scene : all) scene.exact = scene.field;
    return all;
}

/// Largest difference of both fields near the surface.
double interpolation_error(const DistanceField& grid, const DistanceField& exact) {
    std::mt19937 random(1);
    std::uniform_real_distribution<double> place(-0.03, 0.03);
    double error = 0;
    for (int i = 0; i < 300000; ++i) {
        const double x = place(random), y = place(random), z = place(random);
        const double distance = exact.distance({x, y, z});
        if (std::abs(distance) < kGridCell)
            error = std::max(error, std::abs(distance - grid.distance({x, y, z})));
    }
    return error;
}

class GriddedBound : public testing::TestWithParam<GridKind> {};
INSTANTIATE_TEST_SUITE_P(Grids, GriddedBound, testing::Values(GridKind::Dense, GridKind::Sparse));

TEST_P(GriddedBound, HoldsInTheGridAndToHalfACellInTheSolid) {
    for (BoundScene scene : gridded_scenes()) {
        scene.field = gridded(*scene.exact, GetParam());
        const double error = interpolation_error(*scene.field, *scene.exact);
        EXPECT_LT(error, 0.5 * kGridCell) << scene.name;
        double contact = 0, deepest = 0;
        for (const double seconds : {0.4, 0.1})
            for (const double turn : {0.5, 3.0}) {
                // about a place inside of what lies below
                Pose middle = scene.start;
                if (middle.position.z() > 0.01) middle.position.z() -= 0.015;
                const Hand hand = wandering(middle, 0.05, turn, seconds, 3);
                const BoundOutcome out = run_hand(scene, hand, 1);
                EXPECT_LE(out.depth, 1 + kTangent) << scene.name << " " << seconds << " " << turn;
                EXPECT_LE(out.exact_depth, (1 + kTangent) * scene.max_depth + error)
                    << scene.name << " " << seconds << " " << turn;
                contact += out.contact;
                deepest = std::max(deepest, out.depth);
            }
        EXPECT_GT(contact, 0.4) << scene.name;
        // but for the socket, which holds the ball on all sides, the hand comes to the bound
        EXPECT_GT(deepest, scene.name == "ball in a socket" ? 0.1 : 0.5) << scene.name;
    }
}

TEST_P(GriddedBound, OfASmoothSolidIsExactToTheSquareOfACell) {
    BoundScene scene = gridded_scenes()[0];
    scene.field = gridded(*scene.exact, GetParam());
    // trilinear interpolation of a distance with curvatures 1/r, twice: c²/8 (1/r + 1/r)
    const double error = kGridCell * kGridCell / (4 * (kGridBall - 2 * scene.max_depth));
    const Hand hand = [](double t) {
        return Pose{{0.02 * std::sin(9 * t), 0.02 * std::cos(7 * t), 0.02},
                    rotation_from_vector({3 * t, 2 * t, 0})};
    };
    const BoundOutcome out = run_hand(scene, hand, 2);
    EXPECT_GT(out.contact, 0.5);
    EXPECT_GT(out.exact_depth, 0.3 * scene.max_depth);
    EXPECT_LE(out.exact_depth, out.depth * scene.max_depth + error);
    EXPECT_LE(out.depth, 1 + kTangent);
}

TEST_P(GriddedBound, HoldsForAToolInAHandWithAndWithoutFeedback) {
    const BoundScene scene = gridded_scenes()[4];
    const auto field = gridded(*scene.exact, GetParam());
    for (const bool shows_force : {true, false}) {
        ToolInHandOptions options;
        options.start = scene.start;
        options.cell = kGridCell;
        options.hand = HandModel::firm();
        options.tool.shows_force = shows_force;
        ToolInHand held(scene.tool.tree(), field, options);
        const Hand hand = wandering(scene.start, 0.03, 1.0, 0.2, 7);
        double exact = 0;
        for (int k = 0; k < 2000; ++k) {
            const HapticTick& tick = held.step(hand(kHapticStep * k));
            for (const Vector3d& p : scene.tool.points)
                exact = std::max(exact, -double{scene.exact->distance(tick.tool.to_world(p))});
        }
        const HapticTick& last = held.haptics().last();
        EXPECT_EQ(last.max_depth, 0.5 * kGridCell);
        EXPECT_LE(last.worst_depth, (1 + kTangent) * last.max_depth) << shows_force;
        EXPECT_GT(last.worst_depth, 0.2 * last.max_depth) << shows_force;
        EXPECT_LE(exact, (1 + kTangent) * last.max_depth + 0.5 * kGridCell) << shows_force;
    }
}

}  // namespace
}  // namespace pliant
