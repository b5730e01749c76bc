#include <gmock/gmock.h>

#include "apps/pliant/compare/report.h"

namespace pliant::compare {
namespace {

using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

/// What `pliant compare` says of numbers that nobody had to measure.
class CompareAdvice : public ::testing::Test {
protected:
    CompareAdvice() {
        object_.size = 0.2;
        object_.rank = 30;
        study_.object = &object_;
        add(Method::FullFem, 0, 1, 600);  // exact, and too slow for a tick of 1 ms
    }
    /// Errors over the depth, force over that of full FEM, time of a tick.
    void add(Method method, double rms, double force_ratio, double tick_us) {
        Result result;
        result.method = method;
        result.rms = rms;
        result.force_ratio = force_ratio;
        result.touch.first_stiffness = 300;
        result.touch.ticks.p50_us = tick_us / 4;
        result.touch.ticks.p999_us = tick_us;
        study_.results.push_back(result);
    }
    Advice advice() const {
        Advice result = advise(study_);
        EXPECT_THAT(result.reasons, SizeIs(study_.results.size())) << "one for each method";
        return result;
    }
    Object object_;
    Study study_;
};

TEST_F(CompareAdvice, TheCheapestThatIsGoodIsTaken) {
    add(Method::Reduced, 0.05, 1.02, 90);
    add(Method::Greens, 0.02, 1.01, 120);
    add(Method::LinearModal, 0.3, 1.02, 20);
    const Advice told = advice();
    EXPECT_EQ(told.method, "reduced");
    EXPECT_THAT(told.reasons[0], StartsWith("Take reduced: the cheapest that comes within 10 %"));
    EXPECT_THAT(told.reasons[1], HasSubstr("Full FEM: the reference, and does not keep up here"));
    EXPECT_THAT(told.reasons[3], HasSubstr("Linear modal: shape 30.0 % of the depth off"));
}

TEST_F(CompareAdvice, ParticlesAndWhatIsRigidAreNoAnswerToAForce) {
    add(Method::Particles, 0.01, 1, 10);
    add(Method::Rigid, 0.01, 1, 1);
    add(Method::Greens, 0.04, 1.05, 120);
    EXPECT_EQ(advice().method, "greens");
    // but a body that nobody feels giving way may be
    study_.results[0].touch.first_stiffness = 1e6;
    const Advice told = advice();
    EXPECT_EQ(told.method, "rigid");
    EXPECT_THAT(told.reasons[0], StartsWith("Take rigid: under 10 N it gives 10 µm"));
}

TEST_F(CompareAdvice, FullFemThatKeepsUpIsTakenWhereNothingCheaperIsNear) {
    study_.results[0].touch.ticks.p999_us = 400;
    add(Method::Reduced, 0.02, 1.3, 90);
    const Advice told = advice();
    EXPECT_EQ(told.method, "fem");
    EXPECT_THAT(told.reasons[0], HasSubstr("it keeps up itself, and nothing that is cheaper"));
    EXPECT_THAT(told.reasons[1], HasSubstr("Too stiff under the pad: 30 shapes"));
}

TEST_F(CompareAdvice, TheNearestOfThoseThatKeepUpIsTakenWhereNoneIsGood) {
    add(Method::Reduced, 0.1, 1.4, 90);   // force 40 % off
    add(Method::Greens, 0.25, 1.1, 120);  // shape 25 % off
    const Advice told = advice();
    EXPECT_EQ(told.method, "greens");
    EXPECT_THAT(told.reasons[0], HasSubstr("nothing that keeps up comes within 10 % of full FEM; "
                                           "this comes nearest: shape 25.0 %"));
}

TEST_F(CompareAdvice, WhereNoneKeepsUpTheReferenceIsNamedAndSaidToBeSlow) {
    add(Method::Reduced, 0.02, 1, 510);
    const Advice told = advice();
    EXPECT_EQ(told.method, "fem");
    EXPECT_THAT(told.reasons[0], HasSubstr("none of the methods compared leaves half of a tick to "
                                           "the rest; a tick of 1 ms takes 150 µs (p99.9 600 µs)"));
}

}  // namespace
}  // namespace pliant::compare
