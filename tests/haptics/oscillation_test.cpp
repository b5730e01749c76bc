#include "pliant/haptics/oscillation.h"
#include "core/numbers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "input_error.h"
#include "pliant/core/allocation_guard.h"

namespace pliant {
namespace {

using Eigen::Vector3d;
using std::numbers::pi;
using test::input_error;

Wrench force(const Vector3d& f) { return {f, Vector3d::Zero()}; }

/// Gain of the analytic filter: second-order Butterworth, frequencies warped by the sampling.
double butterworth(double frequency, double cutoff, double rate) {
    const double ratio = std::tan(pi * frequency / rate) / std::tan(pi * cutoff / rate);
    return ratio * ratio / std::sqrt(1 + std::pow(ratio, 4));
}

void record_sine(OscillationMeter& meter, double amplitude, double frequency, int samples,
                 double offset = 0, double rate = 1000) {
    for (int k = 0; k < samples; ++k)
        meter.record(
            force(Vector3d(0, offset + amplitude * std::sin(2 * pi * frequency * k / rate), 0)));
}

TEST(OscillationMeter, PassesWhatTheButterworthHighPassPasses) {
    for (const double f : {2.0, 6.0, 14.0, 16.0, 30.0, 100.0, 250.0, 490.0}) {
        OscillationMeter meter;
        record_sine(meter, 1, f, 2000);  // whole periods in every window
        EXPECT_EQ(meter.num_windows(), 4);
        EXPECT_NEAR(meter.level().force, butterworth(f, 15, 1000) / std::sqrt(2), 1e-6) << f;
    }
    // half the power at the cutoff
    OscillationMeter meter({.cutoff = 20});
    record_sine(meter, 1, 20, 2000);
    EXPECT_NEAR(meter.level().force, 0.5, 1e-6);
    // at other rates as well
    OscillationMeter fast({.rate = 5000});
    record_sine(fast, 1, 40, 10000, 0, 5000);
    EXPECT_NEAR(fast.level().force, butterworth(40, 15, 5000) / std::sqrt(2), 1e-6);
}

TEST(OscillationMeter, IsTheVectorRootMeanSquareOfForcesAndOfTorques) {
    OscillationMeter meter;
    for (int k = 0; k < 1500; ++k) {
        const double s = std::sin(2 * pi * 200 * k / 1000.0),
                     c = std::cos(2 * pi * 200 * k / 1000.0);
        meter.record({Vector3d(3 * s, 4 * c, 1), Vector3d(0, 0.1 * s, -0.2 * s)});
    }
    const double gain = butterworth(200, 15, 1000);
    EXPECT_NEAR(meter.level().force, gain * std::sqrt(12.5), 1e-9);
    EXPECT_NEAR(meter.level().torque, gain * std::sqrt(0.025), 1e-9);
    EXPECT_NEAR(meter.level().last_force, meter.level().force, 1e-6);
}

TEST(OscillationMeter, AConstantForceIsNoOscillationFromTheFirstSample) {
    OscillationMeter meter;
    for (int k = 0; k < 1000; ++k) meter.record({Vector3d(5, -8, 3), Vector3d(0.1, 0, 0)});
    EXPECT_LT(meter.level().last_force, 1e-12);
    EXPECT_LT(meter.level().last_torque, 1e-12);
    EXPECT_FALSE(meter.is_oscillating());
}

/// Two windows of 200 Hz with these root mean squares.
bool fails(double first, double second, const OscillationOptions& options = {}) {
    OscillationMeter meter(options);
    const double gain = butterworth(200, options.cutoff, options.rate);
    record_sine(meter, 0, 200, 500);
    record_sine(meter, first * std::sqrt(2) / gain, 200, 500);
    record_sine(meter, second * std::sqrt(2) / gain, 200, 500);
    EXPECT_NEAR(meter.level().last_force, first, 2e-3 * first);
    EXPECT_NEAR(meter.level().force, second, 2e-3 * std::max(first, second));
    return meter.is_oscillating();
}

TEST(OscillationMeter, FailsExactlyByTheCriterion) {
    // bound of both windows: 0.03 N
    EXPECT_FALSE(fails(0.0298, 0.0298));
    EXPECT_TRUE(fails(0.0302, 0.0302));
    EXPECT_TRUE(fails(0.0302, 0.01));
    // growth by more than a tenth
    EXPECT_FALSE(fails(0.020, 0.0219));
    EXPECT_TRUE(fails(0.020, 0.0221));
    // but not of what is quiet
    EXPECT_FALSE(fails(0.001, 0.0098));
    EXPECT_TRUE(fails(0.001, 0.0102));
    // a coarser encoder raises the bound
    EXPECT_FALSE(fails(0.049, 0.049, {.force_limit = 0.05}));
    EXPECT_TRUE(fails(0.051, 0.051, {.force_limit = 0.05}));
}

TEST(OscillationMeter, TorquesHaveTheirOwnBound) {
    for (const double level : {0.98e-3, 1.02e-3}) {
        OscillationMeter meter;
        for (int k = 0; k < 1500; ++k)
            meter.record(
                {Vector3d::Zero(), Vector3d(level * std::sqrt(2) / butterworth(200, 15, 1000) *
                                                std::sin(2 * pi * 200 * k / 1000.0),
                                            0, 0)});
        EXPECT_NEAR(meter.level().torque, level, 1e-8);
        EXPECT_EQ(meter.is_oscillating(), level > 1e-3);
    }
}

TEST(OscillationMeter, SaysNothingBeforeTwoWindows) {
    OscillationMeter meter;
    record_sine(meter, 5, 50, 999);
    EXPECT_EQ(meter.num_windows(), 1);
    EXPECT_FALSE(meter.is_oscillating());
    record_sine(meter, 5, 50, 1);
    EXPECT_TRUE(meter.is_oscillating());
    meter.reset();
    EXPECT_EQ(meter.num_windows(), 0);
    EXPECT_FALSE(meter.is_oscillating());
    EXPECT_EQ(meter.level().force, 0);
}

TEST(OscillationMeter, TellsALoopThatShakesFromAHandThatMoves) {
    OscillationMeter meter;
    record_sine(meter, 1, 2, 1000, 3);
    EXPECT_LT(meter.level().force_share, 0.01);
    EXPECT_EQ(meter.level().torque_share, 0);
    meter.reset();
    record_sine(meter, 1, 60, 1000, 3);
    EXPECT_NEAR(meter.level().force_share, 1, 0.01);
}

TEST(OscillationMeter, WhatIsNotFiniteCountsAsOscillationForTwoWindows) {
    OscillationMeter meter;
    record_sine(meter, 0, 50, 1200);
    meter.record(force({kNan, 0, 0}));
    record_sine(meter, 0, 50, 299);
    EXPECT_TRUE(meter.is_oscillating());
    EXPECT_EQ(meter.level().force, 0);
    record_sine(meter, 0, 50, 500);
    EXPECT_TRUE(meter.is_oscillating());
    record_sine(meter, 0, 50, 500);
    EXPECT_FALSE(meter.is_oscillating());
}

TEST(OscillationMeter, BadOptionsAreNamed) {
    const auto error = [](const OscillationOptions& options) {
        return input_error([&] { OscillationMeter meter(options); });
    };
    EXPECT_NE(error({.rate = 0}).find("oscillation.rate"), std::string::npos);
    EXPECT_NE(error({.cutoff = 500}).find("0 < value < rate/2"), std::string::npos);
    EXPECT_NE(error({.window = 1e-3}).find("at least two samples"), std::string::npos);
    EXPECT_NE(error({.window = kNan}), "");
    EXPECT_NE(error({.force_limit = -1}).find("oscillation.force_limit = -1"), std::string::npos);
    EXPECT_NE(error({.torque_limit = kNan}), "");
    EXPECT_NE(error({.quiet_force = -1}), "");
}

TEST(OscillationMeter, AllocatesNothing) {
    OscillationMeter meter;
    AllocationGuard guard;
    record_sine(meter, 1, 30, 600);
    const auto allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
}

/// A slow swing with one step of 0.5 N and one of 0.2 N.
std::vector<Vector3d> signal_with_steps() {
    std::vector<Vector3d> f;
    for (int k = 0; k < 1000; ++k) {
        const double t = 1e-3 * k;
        f.emplace_back(2 * std::sin(10 * t), 3 * t, k >= 400 ? 0.5 : 0.0);
        if (k >= 700) f.back().x() -= 0.2;
    }
    return f;
}

/// Levels of rests in closed loops, half second by half second.
TEST(IsGrowing, TellsATrendFromSingleWindows) {
    const auto grows = [](const std::vector<double>& levels) { return is_growing(levels); };
    // a body that swings out, its handle stepping through an encoder of 50 um (bridge-ball)
    EXPECT_FALSE(grows({0.0131, 0.0157, 0.0070, 0.0099, 0.0057, 0.0028, 0.0026, 0.0037, 0.0024,
                        0.0024, 0.0026, 0.0026}));
    // motors that get warm in the second window
    EXPECT_FALSE(grows({0.0000, 0.0156, 0.0053, 0.0021, 0.0003, 0, 0, 0, 0, 0, 0, 0}));
    // one and a half encoder steps for ever
    EXPECT_FALSE(grows({0.0135, 0.0149, 0.0112, 0.0132, 0.0082, 0.0097, 0.0094, 0.0100, 0.0098,
                        0.0094, 0.0100, 0.0099}));
    // by 2 % a window, which no two of them show
    std::vector<double> slow, quick, quiet;
    for (int i = 0; i < 12; ++i) {
        slow.push_back(0.012 * std::pow(1.02, i));
        quick.push_back(0.001 * std::pow(1.4, i));
        quiet.push_back(0.001 * std::pow(1.2, i));
    }
    EXPECT_TRUE(grows(slow));
    EXPECT_TRUE(grows(quick));
    EXPECT_FALSE(grows(quiet)) << "below 0.01 N";
    // snaps that a loop keeps alive
    EXPECT_TRUE(grows({0.0070, 0.0146, 0.0134, 0.0143, 0.0153, 0.0167, 0.0135, 0.0151, 0.0141,
                       0.0179, 0.0170, 0.0113}));
    EXPECT_FALSE(grows({0.01, 0.02, 0.04, 0.08, 0.16})) << "too few to say";
    slow[11] = NAN;
    EXPECT_TRUE(grows(slow));
}

TEST(FindJumps, FindsStepsAndNotSmoothMotion) {
    const std::vector<Vector3d> f = signal_with_steps();
    const auto jumps = find_jumps(f, 0.05);
    ASSERT_EQ(jumps.size(), 2u);
    EXPECT_EQ(jumps[0].sample, 400);
    EXPECT_NEAR(jumps[0].size, 0.5, 1e-3);
    EXPECT_EQ(jumps[1].sample, 700);
    EXPECT_NEAR(jumps[1].size, 0.2, 1e-3);
    EXPECT_EQ(find_jumps(f, 0.3).size(), 1u);
    EXPECT_EQ(find_jumps(f, 0.05, 1).size(), 1u);
    EXPECT_TRUE(find_jumps(f, 0.05, 0).empty());
    EXPECT_TRUE(find_jumps({}, 0.05).empty());
    EXPECT_TRUE(find_jumps(std::span(f).first(1), 0.05).empty());
}

TEST(FindJumps, ASteepRampIsNoJumpAndASpikeIsOne) {
    std::vector<Vector3d> ramp, spike(50, Vector3d::Zero());
    for (int k = 0; k < 100; ++k) ramp.emplace_back(0.5 * k, 0, 0);
    EXPECT_TRUE(find_jumps(ramp, 0.01).empty());
    spike[20].y() = 1;  // up and down again: one place
    const auto jumps = find_jumps(spike, 0.1);
    ASSERT_EQ(jumps.size(), 1u);
    EXPECT_EQ(jumps[0].sample, 20);
    EXPECT_NEAR(jumps[0].size, 1, 1e-12);
    spike[20].y() = kNan;
    EXPECT_TRUE(find_jumps(spike, 0.1).empty());
}

std::vector<Vector3d> sine(int n, double rate, double frequency, const Vector3d& amplitude) {
    std::vector<Vector3d> f;
    for (int k = 0; k < n; ++k) f.emplace_back(amplitude * std::sin(2 * pi * frequency * k / rate));
    return f;
}

TEST(ForceSpectrum, ASineHasItsAmplitudeAtItsFrequency) {
    const int n = 1024;
    const double rate = 1000, f = 100 * rate / n;
    const ForceSpectrum s = force_spectrum(sine(n, rate, f, {0.3, 0, -0.4}), rate);
    ASSERT_EQ(s.frequency.size(), 513u);
    EXPECT_DOUBLE_EQ(s.frequency[100], f);
    EXPECT_DOUBLE_EQ(s.frequency.back(), 500);
    EXPECT_NEAR(s.amplitude[100], 0.5, 1e-12);
    // of a Hann window: half beside it, nothing beyond
    EXPECT_NEAR(s.amplitude[99], 0.25, 1e-12);
    EXPECT_NEAR(s.amplitude[101], 0.25, 1e-12);
    EXPECT_NEAR(s.amplitude[97], 0, 1e-12);
    EXPECT_NEAR(s.amplitude[104], 0, 1e-12);
}

TEST(ForceSpectrum, AnyNumberOfSamplesWillDo) {
    // zeros are added up to 2048: 150 Hz is not quite on a frequency, the peak falls by less than
    // a Hann window's scallop at a quarter of its bins
    const ForceSpectrum s = force_spectrum(sine(1500, 1000, 150, {0, 2, 0}), 1000);
    std::size_t peak = 0;
    for (std::size_t k = 0; k < s.amplitude.size(); ++k)
        if (s.amplitude[k] > s.amplitude[peak]) peak = k;
    EXPECT_NEAR(s.frequency[peak], 150, 0.25);
    EXPECT_NEAR(s.amplitude[peak], 2, 0.1);
    // the mean, and few samples
    EXPECT_NEAR(force_spectrum(std::vector<Vector3d>(100, {0, 3, 4}), 1000).amplitude[0], 5, 1e-12);
    EXPECT_TRUE(force_spectrum({}, 1000).frequency.empty());
    EXPECT_EQ(force_spectrum(std::vector<Vector3d>(1, {0, 3, 4}), 1000).amplitude.at(0), 5);
    EXPECT_EQ(force_spectrum(std::vector<Vector3d>(2, {0, 3, 4}), 1000).amplitude.size(), 2u);
}

TEST(ForceSpectrum, HoldsTheEnergyOfTheWindowedSignal) {
    // Parseval: Σ |w f|² n = Σ_k |X_k|², both sides, |X_k| = amplitude Σw / (2 or 1)
    const int n = 700;
    std::vector<Vector3d> f;
    unsigned state = 1;
    const auto random = [&] {
        state = state * 1664525u + 1013904223u;
        return state / 4294967296.0 - 0.5;
    };
    for (int k = 0; k < n; ++k) {
        const double x = random(), y = random(), z = random();
        f.emplace_back(x, y, z);
    }
    double energy = 0, sum = 0;
    for (int k = 0; k < n; ++k) {
        const double hann = 0.5 * (1 - std::cos(2 * pi * k / n));
        energy += hann * hann * f[static_cast<std::size_t>(k)].squaredNorm();
        sum += hann;
    }
    const ForceSpectrum s = force_spectrum(f, 1000);
    double total = 0;
    for (std::size_t k = 0; k < s.amplitude.size(); ++k) {
        const bool is_end = k == 0 || k + 1 == s.amplitude.size();
        const double X = s.amplitude[k] * sum / (is_end ? 1 : 2);
        total += (is_end ? 1 : 2) * X * X;
    }
    EXPECT_NEAR(total / 1024, energy, 1e-10 * energy);
}

TEST(ForceSpectrum, BadRatesAreNamed) {
    EXPECT_NE(input_error([] { static_cast<void>(force_spectrum({}, 0)); }).find("rate"),
              std::string::npos);
}

}  // namespace
}  // namespace pliant
