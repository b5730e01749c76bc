#include "server/frame_message.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <set>

#include "scene/proxy_scenes.h"
#include "server/scene_assets.h"
#include "server/viewer_samples.h"

namespace pliant {
namespace {

/// A surface of `num_vertices` points that all sit at the first three numbers of the state, and a
/// mesh of nodes at the next three.
class PointDisplay final : public BodyDisplay {
public:
    PointDisplay(int state_size, int num_nodes) : state_size_(state_size), num_nodes_(num_nodes) {}
    int state_size() const noexcept override { return state_size_; }
    void positions(std::span<const float> state, std::span<float> x) const noexcept override {
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = state[i % 3];
    }
    void normals(std::span<const float>, std::span<float>) const noexcept override {}
    std::vector<std::array<int, 2>> mesh_edges() const override { return {}; }
    int num_mesh_nodes() const noexcept override { return num_nodes_; }
    void mesh_positions(std::span<const float> state, std::span<float> x) const noexcept override {
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = state[3 + i % 3];
    }

private:
    int state_size_, num_nodes_;
};

/// Little-endian, byte by byte, whatever this machine does.
class Expected {
public:
    Expected& u32(std::uint32_t number) { return put(number, 4); }
    Expected& f32(float number) { return put(std::bit_cast<std::uint32_t>(number), 4); }
    Expected& f64(double number) { return put(std::bit_cast<std::uint64_t>(number), 8); }
    std::string bytes;

private:
    Expected& put(std::uint64_t number, int size) {
        for (int i = 0; i < size; ++i) bytes += static_cast<char>(number >> (8 * i) & 0xff);
        return *this;
    }
};

BodyStream stream(StreamEncoding encoding, int state_size, int loop, std::size_t loop_offset,
                  std::size_t offset, int rank, int num_vertices, int num_nodes = 0) {
    return {.encoding = encoding,
            .asset = 0,
            .rank = rank,
            .loop = loop,
            .loop_offset = loop_offset,
            .offset = offset,
            .num_vertices = num_vertices,
            .display = std::make_shared<PointDisplay>(state_size, num_nodes)};
}

/// A rigid and a full body in loop 0, in the order opposite to the world's, a reduced one in
/// loop 1.
struct ThreeBodies {
    std::vector<BodyStream> streams = {
        stream(StreamEncoding::Positions, 10, 0, 7, 0, 0, 2, 1),
        stream(StreamEncoding::Reduced, 9, 1, 0, 10, 2, 5),
        stream(StreamEncoding::Pose, 7, 0, 0, 19, 0, 4),
    };
    LoopFrame haptic, slow;
    FrameContent content;

    ThreeBodies() {
        haptic.time = 1.25;
        slow.time = 1.24;
        for (int i = 0; i < 7; ++i) haptic.display.push_back(static_cast<float>(i));
        for (int i = 0; i < 10; ++i) haptic.display.push_back(static_cast<float>(100 + i));
        for (int i = 0; i < 9; ++i) slow.display.push_back(static_cast<float>(200 + i));
        haptic.held[1] = {.body = 2,
                          .is_poke = false,
                          .point = {1, 2, 3},
                          .target = {4, 5, 6},
                          .force = {7, 8, 9}};
        slow.held[3] = {
            .body = 1, .is_poke = true, .point = {-1, -2, -3}, .target = {}, .force = {0.5, 0, 0}};
        slow.has_tool = true;
        slow.tool_position = {11, 12, 13};
        slow.tool_target = {14, 15, 16};
        slow.tool_force = {17, 18, 19};
        slow.contacts.push_back({.shell = 1,
                                 .field = 2,
                                 .num_pairs = 7,
                                 .statistics = {.visited = 412,
                                                .skipped = 3000,
                                                .contacts = 26,
                                                .level = 3,
                                                .is_truncated = true,
                                                .clearance = 0},
                                 .force = {0.5, -1, 2},
                                 .deepest = 0.25,
                                 .nodes = {{0, 7}, {0, 8}},
                                 .forces = {{}, {}},
                                 .num_nodes = 2,
                                 .num_contacting = 1,
                                 .greens = {}});
        set_haptics(slow.haptics);
        gather(false);
    }
    static void set_haptics(ShownHaptics& haptics) {
        haptics.body = 2;
        HapticTick& tick = haptics.tick;
        tick.manipulandum = {{31, 32, 33}, Quaternion(0.5, 0.5, -0.5, -0.5)};
        tick.tool = {{34, 35, 36}, Quaternion(0, 0, 1, 0)};
        tick.coupling = {{37, 38, 39}, {40, 41, 42}};
        tick.contact = {{43, 44, 45}, {46, 47, 48}};
        tick.command.force = {49, 50, 51};
        tick.command.torque = {52, 53, 54};
        tick.depth = 0.125;
        tick.max_depth = 0.25;
        tick.worst_depth = 0.5;
        tick.violations = 1234567;
        tick.num_contacts = 55;
        tick.port_energy = -0.75;
        tick.stored_energy = 1.5;
        tick.oscillation = 0.0625;
        tick.gain_scale = 0.9375;
        tick.step_scale = 0.875;
        tick.device.status = DeviceStatus::Stale;
        tick.device.buttons = 0xff000005;
        ShownProxy& proxy = haptics.proxy;
        proxy.radius = 0.03125;
        proxy.num_planes = 1;
        proxy.planes[0] = {{61, 62, 63}, {0, 0, 1}};
        proxy.planes[1] = {{9, 9, 9}, {9, 9, 9}};  // of an earlier tick
        proxy.pops = 3;
        proxy.passes = 7;
        proxy.triangles_tested = 40;
        proxy.is_squeezed = proxy.is_sliding = true;
        proxy.has_arrived = false;
        proxy.all_pops = 12;
        proxy.carried = 5;
        proxy.squeezed = 2;
        proxy.num_spheres = 2;
        proxy.spheres[0] = {{71, 72, 73}, {1, 0, 0, 0}, {0, 0, 0}, false};
        proxy.spheres[1] = {{74, 75, 76}, {0, 0, 1, 0}, {0, 1, 0}, true};
    }
    void gather(bool is_paused) {
        const LoopFrame* loops[] = {&haptic, &slow};
        gather_frame(streams, loops, is_paused, content);
    }
};

TEST(FrameMessage, IsWrittenByteForByte) {
    ThreeBodies scene;
    scene.gather(true);
    const SharedBytes message = encode_frame(scene.streams, scene.content, 77, 8.5);

    Expected expected;
    expected.u32(1).u32(77).u32(1).u32(3).f64(1.25).f64(8.5);
    const auto empty_slot = [&] {
        expected.f32(-1);
        for (int i = 0; i < 10; ++i) expected.f32(0);
    };
    empty_slot();
    expected.f32(2).f32(0);
    for (int i = 1; i <= 9; ++i) expected.f32(static_cast<float>(i));
    empty_slot();
    expected.f32(1).f32(1).f32(-1).f32(-2).f32(-3).f32(0).f32(0).f32(0).f32(0.5).f32(0).f32(0);
    expected.f32(1);
    for (int i = 11; i <= 19; ++i) expected.f32(static_cast<float>(i));
    // the tool in a hand: present, body, poses, wrenches, depths, counts, energies, what back-off
    // does, the device and as many buttons as a float holds
    expected.f32(1).f32(2).f32(31).f32(32).f32(33).f32(0.5).f32(0.5).f32(-0.5).f32(-0.5);
    expected.f32(34).f32(35).f32(36).f32(0).f32(0).f32(1).f32(0);
    for (int i = 37; i <= 54; ++i) expected.f32(static_cast<float>(i));
    expected.f32(0.125).f32(0.25).f32(0.5).f32(1234567).f32(55).f32(-0.75).f32(1.5).f32(0.0625);
    expected.f32(0.9375).f32(0.875).f32(2).f32(5);
    // the proxy: radius, planes, pops, passes, triangles, flags, counts since reset
    expected.f32(0.03125).f32(1);
    for (const int i : {61, 62, 63, 0, 0, 1}) expected.f32(static_cast<float>(i));
    for (int i = 0; i < 12; ++i) expected.f32(0);
    expected.f32(3).f32(7).f32(40).f32(1 + 2 + 8).f32(12).f32(5).f32(2);
    // spheres of a tool of many: how many; whether it touches, place, turn, normal of each
    expected.f32(2);
    for (const int i : {0, 71, 72, 73, 1, 0, 0, 0, 0, 0, 0}) expected.f32(static_cast<float>(i));
    for (const int i : {1, 74, 75, 76, 0, 0, 1, 0, 0, 1, 0}) expected.f32(static_cast<float>(i));
    // the contact: counts, whether it was cut short, force, depth and pairs
    expected.f32(412).f32(3000).f32(26).f32(3).f32(1).f32(0.5).f32(-1).f32(2).f32(0.25).f32(7);
    // positions of two vertices, pose and two coordinates, pose
    for (int i = 0; i < 6; ++i) expected.f32(static_cast<float>(100 + i % 3));
    for (int i = 0; i < 9; ++i) expected.f32(static_cast<float>(200 + i));
    for (int i = 0; i < 7; ++i) expected.f32(static_cast<float>(i));
    EXPECT_EQ(*message, expected.bytes);
}

TEST(FrameMessage, WorldWithoutBodiesHasAFrame) {
    const LoopFrame loop;
    const LoopFrame* loops[] = {&loop};
    FrameContent content;
    gather_frame({}, loops, false, content);
    EXPECT_EQ(encode_frame({}, content, 1, 0)->size(), 32u + 4u * (4 * 11 + 10 + kHapticFloats));
}

TEST(FrameMessage, WithoutAToolInAHandItsNumbersAreZero) {
    ThreeBodies scene;
    scene.slow.haptics.body = -1;
    scene.gather(false);
    for (const float x : scene.content.haptics) EXPECT_EQ(x, 0.0f);
    EXPECT_TRUE(scene.content.spheres.empty());
}

TEST(FrameMessage, ContentIsNewWhenAnythingInItChanges) {
    ThreeBodies scene;
    const FrameContent before = scene.content;
    scene.gather(false);
    EXPECT_TRUE(scene.content == before);
    scene.gather(true);
    EXPECT_FALSE(scene.content == before);
    const auto is_new_after = [&](auto change) {
        ThreeBodies other;
        change(other);
        other.gather(false);
        return !(other.content == before);
    };
    EXPECT_TRUE(is_new_after([](ThreeBodies& s) { s.haptic.time += 1e-3; }));
    EXPECT_TRUE(is_new_after([](ThreeBodies& s) { s.slow.display.back() += 1; }));
    EXPECT_TRUE(is_new_after([](ThreeBodies& s) { s.haptic.held[1].target[2] += 1; }));
    EXPECT_TRUE(is_new_after([](ThreeBodies& s) { s.haptic.held[1].body = -1; }));
    EXPECT_TRUE(is_new_after([](ThreeBodies& s) { s.slow.tool_force[0] = 0; }));
    EXPECT_TRUE(is_new_after([](ThreeBodies& s) { s.slow.has_tool = false; }));
    EXPECT_TRUE(is_new_after([](ThreeBodies& s) { s.slow.contacts[0].force[1] = 0; }));
    EXPECT_TRUE(is_new_after([](ThreeBodies& s) { s.slow.contacts[0].statistics.visited = 1; }));
    EXPECT_TRUE(is_new_after([](ThreeBodies& s) { s.slow.haptics.tick.coupling.torque[2] = 0; }));
    EXPECT_TRUE(is_new_after([](ThreeBodies& s) { s.slow.haptics.body = -1; }));
    EXPECT_TRUE(is_new_after([](ThreeBodies& s) { s.slow.haptics.proxy.spheres[1].turn[0] = 1; }));
    // statistics are not drawn
    EXPECT_FALSE(is_new_after([](ThreeBodies& s) { s.haptic.skipped = 7; }));
}

TEST(FrameMessage, SamplesAreWrittenByteForByte) {
    TickSample a, b;
    a.tick = 41;
    a.time = 0.041;
    a.hand = {1, 2, 3};
    a.point = {4, 5, 6};
    a.force = {7, 8, 9};
    a.energy = 10;
    a.work_us = 3.5f;
    a.late_us = 12.0f;
    HapticTick felt;
    felt.command.force = {3, 0, 4};
    felt.port_energy = 0.25;
    felt.stored_energy = 0.125;
    a.show_device(felt);
    b.tick = 42;
    const TickSample samples[] = {a, b};
    Expected expected;
    expected.u32(2).u32(1).u32(2).u32(0).f64(41).f64(0.041);
    for (int i = 1; i <= 10; ++i) expected.f64(i);
    expected.f64(42);
    for (int i = 0; i < 11; ++i) expected.f64(0);
    expected.f32(3.5f).f32(12.0f).f32(5).f32(0.25f).f32(0.125f);
    expected.f32(0).f32(0).f32(-1).f32(0).f32(0);  // no tool in a hand
    EXPECT_EQ(*encode_samples(1, samples), expected.bytes);
}

TEST(FrameMessage, MeshNodesComeForBodiesThatHaveThem) {
    ThreeBodies scene;
    const auto messages = encode_mesh_nodes(scene.streams, scene.content);
    ASSERT_EQ(messages.size(), 1u);
    Expected expected;
    expected.u32(3).u32(0).u32(1).u32(0).f32(103).f32(104).f32(105);
    EXPECT_EQ(*messages[0], expected.bytes);
}

TEST(FrameMessage, MeshesOfHundredsOfBodiesAreBounded) {
    std::vector<BodyStream> streams;
    for (std::size_t i = 0; i < 512; ++i)
        streams.push_back(stream(StreamEncoding::Pose, 7, 0, 7 * i, 7 * i, 0, 4, 2000));
    LoopFrame loop;
    loop.display.resize(7 * streams.size());
    const LoopFrame* loops[] = {&loop};
    FrameContent content;
    gather_frame(streams, loops, false, content);
    std::size_t total = 0;
    for (const SharedBytes& message : encode_mesh_nodes(streams, content)) total += message->size();
    EXPECT_LE(total, kMaxMeshBytes);
    EXPECT_GT(total, kMaxMeshBytes / 2);
}

TEST(FrameMessage, MarksOfAContactAreWrittenByteForByte) {
    const auto world = test::pressed_world();
    world->advance_to(0.3);
    const LoopFrame frame = world->loop(0).make_frame();
    const LoopFrame* loops[] = {&frame};
    std::vector<ContactMark> marks;
    world->loop(0).contact_marks(frame, 0, marks);
    const ShownContact& contact = frame.contacts.at(0);
    ASSERT_GT(contact.num_contacting, 0);
    ASSERT_GT(contact.num_nodes, contact.num_contacting);
    Expected expected;
    expected.u32(4).u32(0).u32(static_cast<std::uint32_t>(contact.num_nodes));
    expected.u32(static_cast<std::uint32_t>(contact.num_contacting));
    std::vector<float> state(kPoseFloats + 6);
    world->body(0).write_display(state);
    const std::vector<double> q(state.begin() + kPoseFloats, state.end());
    const ContactPair& pair = *world->loop(0).contact(0).pair();
    for (std::size_t i = 0; i < marks.size(); ++i) {
        for (const float x : marks[i].position) expected.f32(x);
        expected.f32(
            static_cast<float>(pair.traversal().tree().sphere_radius(contact.nodes[i].node, q)));
    }
    for (const Eigen::Vector3f& force : pair.forces().point_forces())
        expected.f32(force.x()).f32(force.y()).f32(force.z());
    const auto messages = encode_contact_marks(*world, loops);
    ASSERT_EQ(messages.size(), 1u);
    EXPECT_EQ(*messages[0], expected.bytes);

    // and they are where bodies touch: in the ball of 8 cm, but for the outer ones
    for (const ContactMark& mark : marks) {
        const auto& x = mark.position;
        const float distance = std::hypot(x[0] - 0.3f, x[1], x[2] - 0.26f);
        if (mark.is_contacting) {
            EXPECT_LT(distance, 0.08f + 1e-6f);
        }
    }
}

TEST(FrameMessage, MarksOfContactAmongBodiesHaveTheirForces) {
    const auto world = test::fallen_world();
    world->advance_to(1);
    const LoopFrame frame = world->loop(0).make_frame();
    const LoopFrame* loops[] = {&frame};
    const auto messages = encode_contact_marks(*world, loops);
    ASSERT_EQ(messages.size(), 1u);
    const std::string& bytes = *messages[0];
    const auto count = test::number_at<std::uint32_t>(bytes, 8);
    EXPECT_EQ(test::number_at<std::uint32_t>(bytes, 12), count) << "all of them touch";
    ASSERT_EQ(count, 2 * 4u) << "boxes stand on their corners";
    ASSERT_EQ(bytes.size(), 16u + (16u + 12u) * count);
    float weight = 0;
    // each is the one of 200 points of a box that is nearest to a corner on the floor
    const double half_a_spacing = 0.5 * std::sqrt(6 * 0.1 * 0.1 / 200);
    std::set<std::pair<double, double>> corners;
    for (std::size_t i = 0; i < count; ++i) {
        const auto mark = [&](std::size_t k) {
            return static_cast<double>(test::number_at<float>(bytes, 16 + 16 * i + 4 * k));
        };
        const double x = std::copysign(std::abs(mark(0)) < 0.15 ? 0.1 : 0.2, mark(0)),
                     y = std::copysign(0.05, mark(1));
        EXPECT_LT(std::hypot(mark(0) - x, mark(1) - y, mark(2)), half_a_spacing);
        corners.emplace(x, y);
        weight += test::number_at<float>(bytes, 16 + 16 * count + 12 * i + 8);
    }
    EXPECT_NEAR(weight, 2 * 0.5 * 9.81, 0.05);
    EXPECT_EQ(corners.size(), count) << "one for each";
    EXPECT_NEAR(frame.contacts.at(0).deepest, 0, 1e-4) << "on the floor, not in it";
}

TEST(FrameMessage, MarksOfManyContactsAreBounded) {
    const auto world = test::pressed_world();
    LoopFrame frame = world->loop(0).make_frame();
    frame.contacts[0].num_nodes = ShownContact::kMaxNodes;
    const LoopFrame* one[] = {&frame};
    const std::size_t each = encode_contact_marks(*world, one).at(0)->size();
    EXPECT_EQ(each, 16u + 16u * ShownContact::kMaxNodes);
    EXPECT_LE(each, kMaxMarkBytes);
    // more than there can be: those that do not fit are left out
    frame.contacts[0].num_nodes = static_cast<int>(kMaxMarkBytes / 16);
    EXPECT_TRUE(encode_contact_marks(*world, one).empty());
}

TEST(FrameMessage, WorldWithoutContactsHasNoMarks) {
    const auto world = test::small_world();
    const LoopFrame quick = world->loop(0).make_frame(), soft = world->loop(1).make_frame();
    const LoopFrame* loops[] = {&quick, &soft};
    EXPECT_TRUE(encode_contact_marks(*world, loops).empty());
}

TEST(FrameMessage, TrianglesOfAProxyAreWhereTheBodyIs) {
    World world(parse_scene(test::proxy_scene(test::kRigidBlock), "scene.json"), {.cache = {}});
    const SceneAssets assets(world);
    const auto message = [&] {
        const LoopFrame frame = world.loop(0).make_frame();
        const LoopFrame* loops[] = {&frame};
        FrameContent content;
        gather_frame(assets.streams(), loops, false, content);
        return encode_proxy_triangles(world, assets.streams(), content, loops);
    };
    world.advance_to(0.6);
    const SharedBytes triangles = message();
    ASSERT_TRUE(triangles);
    const std::string& bytes = *triangles;
    EXPECT_EQ(test::number_at<std::uint32_t>(bytes, 0), 5u);
    const auto count = test::number_at<std::uint32_t>(bytes, 4);
    ASSERT_GE(count, 2u) << "of the upper side";
    ASSERT_EQ(bytes.size(), 16u + 36u * count);
    double highest = -1;
    for (std::size_t i = 0; i < 3 * count; ++i) {
        EXPECT_NEAR(std::abs(test::number_at<float>(bytes, 16 + 12 * i)), 0.03, 1e-6);
        highest = std::max(highest, double{test::number_at<float>(bytes, 16 + 12 * i + 8)});
    }
    EXPECT_NEAR(highest, 0, 1e-6);

    const auto other = test::small_world();
    const LoopFrame quick = other->loop(0).make_frame();
    const LoopFrame* loops[] = {&quick};
    EXPECT_FALSE(encode_proxy_triangles(*other, {}, {}, loops)) << "no proxy";
}

}  // namespace
}  // namespace pliant
