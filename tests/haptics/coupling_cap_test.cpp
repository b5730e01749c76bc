#include <gtest/gtest.h>

#include "pliant/field/analytic_field.h"
#include "tests/haptics/coupling_samples.h"

namespace pliant {
namespace {

using namespace test;

TEST(CouplingScene, APinBesideAGrazingPlateStaysAboveTheBoundOnlyWithACapPerPoint) {
    // The pin is under the grasp point and takes the load; the plate beside it gives way by turning
    // and only grazes, but its 1600 points count and make the pin soft.
    ToolShape tool;
    tool.points.push_back(Vector3d::Zero());
    for (int i = 0; i < 40; ++i)
        for (int j = 0; j < 40; ++j) tool.points.push_back({0.02 + 0.001 * i, 0.001 * j - 0.02, 0});
    tool.normals.assign(tool.points.size(), Vector3d::UnitZ());
    DeviceCapabilities device = sample_device();
    CouplingScene scene;
    scene.cell = 2e-3;
    scene.gyration = tool.gyration();
    scene.bounding = tool.reach();
    const CouplingGains gains = derive_gains(device, scene);
    for (const bool has_cap : {false, true}) {
        ContactLoadOptions loads;
        loads.stiffness = gains.contact_stiffness;
        loads.cap_depth = has_cap ? 0.5 * gains.max_depth : 0;
        ToolScene world(tool, plane_set_field({{Vector3d::UnitZ(), 0.0}}), loads);
        CouplingOptions options;
        options.holds_depth = false;  // the force alone
        StaticCoupling coupling(gains, options);
        coupling.place({{0, 0, 0.002}});
        double deepest = 0;
        int num_contacts = 0;
        for (int i = 0; i < 1500; ++i) {
            const ToolContact& contact = world.contact(coupling.pose());
            deepest = std::max(deepest, world.depth());
            num_contacts = contact.num_contacts;
            static_cast<void>(coupling.update({{0, 0, -0.2}}, contact, 1e-3));
        }
        EXPECT_GT(num_contacts, 1);
        if (has_cap) {
            EXPECT_LT(deepest, gains.max_depth);
        } else {
            EXPECT_GT(deepest, 2 * gains.max_depth);
        }
    }
}

}  // namespace
}  // namespace pliant
