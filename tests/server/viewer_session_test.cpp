#include "server/viewer_session.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace pliant {
namespace {

SharedBytes bytes(std::size_t size) { return std::make_shared<const std::string>(size, 'x'); }

/// A viewer whose network takes everything, or nothing.
class ViewerSessionTest : public testing::Test {
protected:
    /// Offers a frame as a server does.
    bool offer(std::uint32_t number, double now) {
        if (!session.may_want_frame(now) || !session.wants_frame(number, now)) return false;
        session.send_frame(number, bytes(100), {}, now);
        return true;
    }
    bool takes = true;
    std::vector<std::size_t> sent;
    ViewerSession session{[this](const SharedBytes& message, bool) {
        if (takes) sent.push_back(message->size());
        return takes;
    }};
};

TEST_F(ViewerSessionTest, ClientThatNeverAcknowledgesGetsTwoFrames) {
    std::uint32_t number = 0;
    for (double now = 0; now < 60; now += 0.002) offer(++number, now);
    EXPECT_EQ(sent.size(), 2u);
    EXPECT_FALSE(session.may_want_frame(100));
    // nor does it help to be in a hurry
    session.hurry(number);
    EXPECT_FALSE(offer(number + 1, 100));
}

TEST_F(ViewerSessionTest, AcknowledgementMakesRoomForTheNewestOnly) {
    ASSERT_TRUE(offer(1, 0));
    ASSERT_TRUE(offer(2, 1));
    for (std::uint32_t number = 3; number < 50; ++number) ASSERT_FALSE(offer(number, 2));
    session.acknowledge(1);
    EXPECT_TRUE(offer(50, 2));
    EXPECT_FALSE(offer(51, 3));
}

TEST_F(ViewerSessionTest, UnknownAcknowledgementsAreIgnored) {
    ASSERT_TRUE(offer(1, 0));
    ASSERT_TRUE(offer(2, 1));
    for (const std::uint32_t unknown : {0u, 3u, 77u, 4294967295u}) session.acknowledge(unknown);
    EXPECT_FALSE(session.may_want_frame(2));
    session.acknowledge(1);
    session.acknowledge(1);
    EXPECT_TRUE(offer(3, 2));
    EXPECT_FALSE(session.may_want_frame(3));
}

TEST_F(ViewerSessionTest, AcknowledgementCountsForFramesBefore) {
    ASSERT_TRUE(offer(1, 0));
    ASSERT_TRUE(offer(2, 1));
    session.acknowledge(2);
    EXPECT_TRUE(offer(3, 2));
    EXPECT_TRUE(offer(4, 3));
    EXPECT_FALSE(offer(5, 4));
}

TEST_F(ViewerSessionTest, SixtyFramesASecondWhateverTheTimer) {
    for (const double timer : {0.001, 0.002, 0.004, 0.007}) {
        ViewerSession viewer([](const SharedBytes&, bool) { return true; });
        int count = 0;
        std::uint32_t number = 0;
        for (double now = 10; now < 20; now += timer) {
            ++number;
            if (!viewer.wants_frame(number, now)) continue;
            viewer.send_frame(number, bytes(1), {}, now);
            viewer.acknowledge(number);
            ++count;
        }
        // one at each end
        EXPECT_NEAR(count, 600, 2) << timer;
    }
}

TEST_F(ViewerSessionTest, FrameThatShowsNothingNewIsNotSent) {
    ASSERT_TRUE(offer(1, 0));
    session.acknowledge(1);
    EXPECT_FALSE(offer(1, 5));
    EXPECT_TRUE(offer(2, 5));
}

TEST_F(ViewerSessionTest, AnswerToAnInputDoesNotWait) {
    ASSERT_TRUE(offer(1, 0));
    session.acknowledge(1);
    ASSERT_FALSE(offer(2, 0.003));
    // frame 2 was there before the input and cannot show what it does
    session.hurry(2);
    EXPECT_FALSE(offer(2, 0.004));
    EXPECT_TRUE(offer(3, 0.005));
    session.acknowledge(3);
    EXPECT_FALSE(offer(4, 0.006));
}

TEST_F(ViewerSessionTest, FrameBeforeTheAnswerDoesNotEndTheHurry) {
    ASSERT_TRUE(offer(1, 0));
    session.acknowledge(1);
    session.hurry(2);
    ASSERT_TRUE(offer(2, 0.017));
    EXPECT_TRUE(offer(3, 0.018));
}

TEST_F(ViewerSessionTest, WhatIsSentBesideFramesIsBounded) {
    ASSERT_TRUE(offer(1, 0));
    for (int i = 0; i < 100'000; ++i) session.send_beside(bytes(1000), false);
    std::size_t total = 0;
    for (const std::size_t size : sent) total += size;
    EXPECT_LE(total, ViewerSession::kMaxBytesBeside + 100);
    EXPECT_GT(total, ViewerSession::kMaxBytesBeside / 2);
    // a frame was drawn: the viewer lives
    session.acknowledge(1);
    const std::size_t before = sent.size();
    session.send_beside(bytes(1000), false);
    EXPECT_EQ(sent.size(), before + 1);
}

TEST_F(ViewerSessionTest, ViewerThatOwesNothingGetsStatisticsForEver) {
    for (int i = 0; i < 1000; ++i) session.send_beside(bytes(1000), true);
    EXPECT_EQ(sent.size(), 1000u);
}

TEST_F(ViewerSessionTest, RefusedFrameIsNotCountedAsSent) {
    takes = false;
    for (std::uint32_t number = 1; number < 10; ++number) offer(number, number);
    takes = true;
    EXPECT_TRUE(offer(10, 20));
    EXPECT_TRUE(offer(11, 21));
    EXPECT_FALSE(offer(12, 22));
}

TEST_F(ViewerSessionTest, AnotherSceneStartsAfresh) {
    ASSERT_TRUE(offer(1, 0));
    ASSERT_TRUE(offer(2, 1));
    session.forget_frames();
    EXPECT_TRUE(offer(3, 1.001));
    EXPECT_TRUE(offer(4, 2));
    EXPECT_FALSE(offer(5, 3));
}

}  // namespace
}  // namespace pliant
