// What the demos with Green's functions promise, on the demos themselves.
#include <gtest/gtest.h>

#include <Eigen/Geometry>

#include "core/numbers.h"
#include "pliant/scene/scene_file.h"
#include "pliant/scene/world.h"

namespace pliant {
namespace {

using Eigen::Vector3d;

const GreensTouch& touch_of(const World& world) {
    for (int l = 0; l < world.num_loops(); ++l)
        if (world.loop(l).num_contacts() > 0) return *world.loop(l).contact(0).greens();
    throw std::logic_error("a demo without contact");
}

// A sheet as thin as its triangles are long: its supports carry what is laid on it.
TEST(GreensDemos, TheSpatulaIsInBalance) {
    const World world(demo_scene("spatula"), {.cache = {}});
    const GreensBody& body = touch_of(world).body();
    const GreensModel& model = body.model();
    const ReferenceProblem& reference = model.reference;
    EXPECT_EQ(model.method, GreensMethod::FiniteElements);
    EXPECT_LT(model.asymmetry, 1e-6);

    // one newton through the mask of the vertex furthest out, along each axis
    const SurfaceStiffness& stiffness = body.stiffness();
    int tip = -1;
    for (int v = 0; v < model.surface.mesh.num_vertices(); ++v)
        if (!stiffness.is_rigid(v) && (tip < 0 || model.surface.mesh.vertices[at(v)].x() >
                                                      model.surface.mesh.vertices[at(tip)].x()))
            tip = v;
    const auto mask = stiffness.mask_nodes(tip);
    const std::vector<int> nodes(mask.begin(), mask.end());
    for (int axis = 0; axis < 3; ++axis) {
        std::vector<float> tractions(3 * nodes.size(), 0.0f);
        Vector3d load_moment = Vector3d::Zero();
        for (std::size_t k = 0; k < nodes.size(); ++k) {
            const double density = stiffness.mask_densities(tip)[k];
            tractions[3 * k + at(axis)] = static_cast<float>(density / reference.modulus);
            load_moment += density * reference.areas[at(nodes[k])] *
                           reference.positions[at(nodes[k])].cross(Vector3d(Vector3d::Unit(axis)));
        }
        std::vector<float> values(3 * at(model.num_nodes()), 0.0f);
        reference.functions->add_columns(nodes, tractions, values);
        Vector3d force = Vector3d::Zero(), moment = Vector3d::Zero();
        double largest = 0;
        for (int i = 0; i < model.num_nodes(); ++i) {
            if (reference.kinds[at(i)] == NodeKind::Free) continue;
            const Vector3d p =
                Eigen::Map<const Eigen::Vector3f>(values.data() + 3 * at(i)).cast<double>();
            const Vector3d f = reference.modulus * reference.areas[at(i)] * p;
            largest = std::max(largest, f.norm());
            force += f;
            moment += reference.positions[at(i)].cross(f);
        }
        // single precision of some 200 reactions, the largest of which is `largest`
        const double rounding = 200 * 6e-8 * largest;
        EXPECT_LT((force + Vector3d::Unit(axis)).norm(), rounding) << axis;
        EXPECT_LT((moment + load_moment).norm(), rounding * reference.length) << axis;
        EXPECT_LT(rounding, 1e-4) << axis;
    }
}

// About 900 unknowns, of which more than 100 are handled by the capacitance matrix at once.
TEST(GreensDemos, TheGraspHoldsMoreThanAHundredOfNineHundredUnknowns) {
    World world(demo_scene("nodule-grasp"), {.cache = {}});
    const auto& tools = dynamic_cast<const GreensTools&>(touch_of(world));
    const DistributedContact& contact = tools.contact();
    EXPECT_NEAR(3 * tools.body().model().num_nodes(), 900, 50);
    int num_touching = 0, num_large = 0, num_changes = 0;
    ShownGreens shown;
    for (int frame = 1; frame <= 450; ++frame) {  // one round of its script
        world.advance_to((frame + 0.01) / 60);
        tools.show(shown);
        EXPECT_EQ(contact.report().status, DistributedContact::Status::Settled) << frame;
        EXPECT_EQ(shown.size, 3 * shown.num_nodes);
        num_touching += shown.size > 0;
        num_large += shown.size > 100;
        num_changes += shown.added + shown.removed;
    }
    EXPECT_GT(num_large, 240);
    EXPECT_GT(num_large, 3 * num_touching / 4);
    EXPECT_GT(num_changes, 100);
    // the hand is open again
    EXPECT_EQ(shown.size, 0);
}

}  // namespace
}  // namespace pliant
