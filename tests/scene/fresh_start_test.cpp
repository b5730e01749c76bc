#include <gtest/gtest.h>

#include <cstring>

#include "pliant/core/hash.h"
#include "scene/coarse_demos.h"
#include "scene/haptic_record.h"

// After a reset every body, tool and contact does what it did when it was new, to the last bit and
// whatever was done to it before. All demos: every kind of body and tool is in one of them.

namespace pliant {
namespace {

using test::RestlessHand, test::coarse_demo;
using Kind = Command::Kind;

/// What one tick left, each under its name.
struct Quantity {
    std::string name;
    std::uint64_t hash = 0;
    friend bool operator==(const Quantity&, const Quantity&) = default;
};
using Left = std::vector<Quantity>;

class Looker {
public:
    explicit Looker(const World& world) : world_(world) {
        for (int l = 0; l < world.num_loops(); ++l) frames_.push_back(world.loop(l).make_frame());
    }
    [[nodiscard]] Left look(int l) {
        Left left;
        const auto add = [&](const std::string& name, const void* bytes, std::size_t size) {
            left.push_back({name, hash_bytes(bytes, size)});
        };
        const auto add_body = [&](const std::string& name, const Body& body) {
            state_.resize(static_cast<std::size_t>(body.state_size()));
            body.save_state(state_);
            add(name, state_.data(), state_.size() * sizeof(double));
        };
        const SimulationLoop& loop = world_.loop(l);
        for (const int b : loop.body_of_world())
            add_body(world_.bodies()[static_cast<std::size_t>(b)].name, world_.body(b));
        if (loop.tool()) add_body("the tool", *loop.tool());
        if (const HapticTick* const tick = loop.haptic_tick()) {
            const HapticRecord record = to_record(*tick);
            add("the tool in the hand", &record, sizeof record);
        }
        LoopFrame& frame = frames_[static_cast<std::size_t>(l)];
        loop.fill(frame);
        for (std::size_t c = 0; c < frame.contacts.size(); ++c) {
            const ShownContact& contact = frame.contacts[c];
            const std::string name = "contact " + loop.contact(static_cast<int>(c)).name;
            const double numbers[] = {
                contact.force[0],
                contact.force[1],
                contact.force[2],
                contact.deepest,
                double(contact.num_pairs),
                double(contact.num_contacting),
                double(contact.statistics.visited),
                double(contact.statistics.skipped),
                double(contact.statistics.level),
                double(contact.statistics.contacts),
            };
            add(name, numbers, sizeof numbers);
            add(name + ": nodes", contact.nodes.data(),
                sizeof contact.nodes[0] * static_cast<std::size_t>(contact.num_nodes));
        }
        for (const HeldPoint& held : frame.held)
            add("what a hand holds", &held.force, sizeof held.force);
        add("energies", frame.energies.data(), sizeof(Energy) * frame.energies.size());
        add("counts of statuses", frame.status_counts.data(), sizeof frame.status_counts);
        add("what is shown", frame.display.data(), sizeof(float) * frame.display.size());
        const ShownProxy& proxy = frame.haptics.proxy;
        const double proxies[] = {proxy.position.x(),          proxy.position.y(),
                                  proxy.position.z(),          double(proxy.num_planes),
                                  double(proxy.num_triangles), double(proxy.pops),
                                  double(proxy.passes),        double(proxy.triangles_tested),
                                  double(proxy.all_pops),      double(proxy.carried),
                                  double(proxy.squeezed)};
        add("the proxy", proxies, sizeof proxies);
        const TickSample& sample = loop.sample();
        add("the sample", &sample.hand, sizeof sample.hand);
        add("the sample", &sample.point, sizeof sample.point);
        add("the sample", &sample.force, sizeof sample.force);
        add("the sample", &sample.energy, sizeof sample.energy);
        return left;
    }

private:
    const World& world_;
    std::vector<LoopFrame> frames_;
    std::vector<double> state_;
};

constexpr int kTicks = 400;  // compared, of all loops

/// As the scene wants it for a while, then somebody joins in; `seen(k, loop, left)`.
template <class Seen>
void run(World& world, Looker& looker, const Seen& seen) {
    RestlessHand hand(1);
    for (int k = 0; k < kTicks; ++k) {
        if (k > kTicks / 4 && k % 11 == 0) world.apply(hand.next(world));
        const int loop = world.advance();
        if (!seen(k, loop, looker.look(loop))) return;
    }
}

void disturb(World& world, RestlessHand& hand, int ticks) {
    for (int k = 0; k < ticks; ++k) {
        if (k % 7 == 0) world.apply(hand.next(world));
        world.advance();
    }
}

std::vector<std::string> all_demos() {
    std::vector<std::string> names;
    for (const DemoInfo& demo : demo_list()) names.push_back(demo.name);
    return names;
}

class FreshStart : public testing::TestWithParam<std::string> {
protected:
    static void expect_resets_are_fresh(World& world) {
        const std::vector<Left> fresh = trace(world);
        RestlessHand hand(2);
        for (const int ticks : {0, 1, 7, 1000}) {
            world.apply({.kind = Kind::Reset});
            disturb(world, hand, ticks);
            world.apply({.kind = Kind::Reset});
            EXPECT_EQ(difference(fresh, world), "") << "after " << ticks << " ticks";
        }
    }
    /// What a world does that is new, or was made so.
    static std::vector<Left> trace(World& world) {
        std::vector<Left> all;
        Looker looker(world);
        run(world, looker, [&](int, int, const Left& left) {
            all.push_back(left);
            return true;
        });
        return all;
    }
    /// The first difference, or nothing.
    static std::string difference(const std::vector<Left>& fresh, World& world) {
        std::string found;
        Looker looker(world);
        run(world, looker, [&](int k, int loop, const Left& left) {
            const Left& expected = fresh[static_cast<std::size_t>(k)];
            if (left == expected) return true;
            found = "tick " + std::to_string(k) + " (" + world.loop(loop).settings().name + "):";
            for (std::size_t i = 0; i < left.size() && i < expected.size(); ++i)
                if (left[i] != expected[i]) found += " " + left[i].name + ",";
            return false;
        });
        return found;
    }
};
INSTANTIATE_TEST_SUITE_P(Demos, FreshStart, testing::ValuesIn(all_demos()),
                         [](const auto& demo) { return test::letters_of(demo.param); });

TEST_P(FreshStart, IsWhatAResetIs) {
    World world(coarse_demo(GetParam()), {.cache = {}});
    expect_resets_are_fresh(world);
}

/// All demos as they are, models from the cache: --gtest_also_run_disabled_tests.
class DISABLED_FreshStartOfDemos : public FreshStart {};
INSTANTIATE_TEST_SUITE_P(Demos, DISABLED_FreshStartOfDemos, testing::ValuesIn(all_demos()),
                         [](const auto& demo) { return test::letters_of(demo.param); });

TEST_P(DISABLED_FreshStartOfDemos, IsWhatAResetIs) {
    World world(demo_scene(GetParam()));
    expect_resets_are_fresh(world);
}

// Recordings begin with a reset and tell the parameters as they are then, not how they came there.
TEST_P(FreshStart, DoesNotDependOnWhenAndHowParametersWereSet) {
    World world(coarse_demo(GetParam()), {.cache = {}});
    RestlessHand hand(3);
    std::vector<double> start;
    for (int i = 0; i < static_cast<int>(world.parameters().size()); ++i)
        start.push_back(world.parameter_value(i));
    const auto set = [&](int i, double value) {
        world.apply({.kind = Kind::SetParameter, .parameter = i, .value = value});
    };
    const std::vector<Left> fresh = trace(world);
    world.apply({.kind = Kind::Reset});

    // anywhere, and back
    for (int k = 0; k < 60; ++k) {
        world.apply(hand.slider(world));
        disturb(world, hand, 3);
    }
    std::vector<double> changed;
    for (std::size_t i = 0; i < start.size(); ++i)
        changed.push_back(world.parameter_value(static_cast<int>(i)));
    world.apply({.kind = Kind::Reset});
    const std::vector<Left> tuned = trace(world);
    for (std::size_t i = start.size(); i-- > 0;) set(static_cast<int>(i), start[i]);
    world.apply({.kind = Kind::Reset});
    EXPECT_EQ(difference(fresh, world), "") << "back where they were";

    // after the reset, in another order, and only once
    world.apply({.kind = Kind::Reset});
    for (std::size_t i = 0; i < start.size(); ++i)
        if (world.parameter_value(static_cast<int>(i)) != changed[i])
            set(static_cast<int>(i), changed[i]);
    EXPECT_EQ(difference(tuned, world), "") << "set after the reset";
}

}  // namespace
}  // namespace pliant
