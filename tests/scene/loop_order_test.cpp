#include "scene/loop_order.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>

#include "core/temporary_directory.h"
#include "pliant/scene/recording.h"
#include "scene/proxy_scenes.h"

namespace pliant {
namespace {

TEST(LoopOrder, ComparesTicksOfDifferentRatesWithoutRounding) {
    // 0.3 s in both: 3·(1/10) and 9·(1/30) are two different doubles
    EXPECT_FALSE(begins_before(3, 10, 9, 30));
    EXPECT_FALSE(begins_before(9, 30, 3, 10));
    EXPECT_TRUE(begins_before(8, 30, 3, 10));
    EXPECT_TRUE(begins_before(0, 1, 1, 1e4));
    // a rate one bit higher is earlier, also after a year
    const double rate = std::nextafter(1000.0, 2000.0);
    const std::uint64_t year = 31'536'000'000;
    EXPECT_TRUE(begins_before(year, rate, year, 1000));
    EXPECT_FALSE(begins_before(year, 1000, year, rate));
    // the slow way, with whole numbers
    std::mt19937_64 random(1);
    for (int i = 0; i < 10'000; ++i) {
        const std::uint64_t a = random() % 1'000'000, b = random() % 1'000'000;
        const std::uint64_t rate_a = 1 + random() % 5000, rate_b = 1 + random() % 5000;
        ASSERT_EQ(begins_before(a, static_cast<double>(rate_a), b, static_cast<double>(rate_b)),
                  a * rate_b < b * rate_a);
    }
}

TEST(LoopOrder, ATickThatATimeFallsIntoIsTheFirstThatDoesNotBeginBefore) {
    EXPECT_EQ(tick_at(0.3, 10), 3u) << "decimals: 0.3·10 is more than 3";
    EXPECT_EQ(tick_at(0.31, 10), 4u);
    EXPECT_EQ(tick_at(-1.0, 10), 0u);
    EXPECT_EQ(tick_at(std::uint64_t{3}, 10, 30), 9u);
    EXPECT_EQ(tick_at(std::uint64_t{1}, 1000, 300), 1u);
    EXPECT_EQ(tick_at(std::uint64_t{10}, 1000, 300), 3u);
    EXPECT_EQ(tick_at(std::uint64_t{11}, 1000, 300), 4u);
    EXPECT_EQ(tick_at(std::uint64_t{1} << 40, 1000, 3000), std::uint64_t{3} << 40);
}

TEST(LoopOrder, RecordingsReplayBitForBitAtAnyRates) {
    const test::TemporaryDirectory folder;
    const std::array round = {20.0,  25.0,  30.0,  50.0,  60.0,   75.0,   90.0,   100.0, 120.0,
                              144.0, 240.0, 250.0, 300.0, 333.0,  500.0,  600.0,  750.0, 900.0,
                              1e3,   1.2e3, 1.5e3, 2e3,   2400.0, 3000.0, 3600.0, 4000.0};
    std::mt19937_64 random(8);
    const auto rate = [&] {
        if (random() % 2 == 0) return round[random() % round.size()];
        return 20 * std::pow(200, static_cast<double>(random()) / 0x1p64);
    };
    const SceneDescription scene = parse_scene(test::kThreeLoops, "scene.json", ".");
    int num_held = 0;
    for (int set = 0; set < 200; ++set) {
        SceneDescription one = scene;
        // devices ask for more than 30 Hz
        do one.rate = set == 0 ? 1000 : rate();
        while (!(one.rate > 30));
        one.loops[0].rate = set == 0 ? 60 : rate();
        one.loops[1].rate = set == 0 ? 30 : rate();
        SCOPED_TRACE(testing::Message() << one.rate << ", " << one.loops[0].rate << " and "
                                        << one.loops[1].rate << " Hz");
        World world(one, {.cache = {}});
        const auto file = folder / "rates.pliantrec";
        {
            WorldRecorder recorder(file, world, recording_header(world, {}, 1e6));
            while (world.elapsed_ticks(0) < world.tick_at(0.12, 0))
                recorder.add_tick(world, world.advance(), 1);
            recorder.finish();
        }
        World again(one, {.cache = {}});
        const ReplayCheck check = check_replay(Recording::load(file), again);
        EXPECT_EQ(check.num_different, 0u) << check.first_difference;
        EXPECT_EQ(check.num_beyond, 0u);
        EXPECT_EQ(again.state_hash(), world.state_hash());
        num_held += world.loop(0).haptic_tick()->num_contacts > 0;
    }
    EXPECT_GT(num_held, 100) << "the loops have something to tell each other";
}

}  // namespace
}  // namespace pliant
