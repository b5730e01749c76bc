#include "pliant/core/least_squares.h"

#include "input_error.h"

#include <gtest/gtest.h>
#include <cmath>
#include <random>

namespace {

using namespace pliant;
using Eigen::VectorXd;

/// a exp(−b t) at 20 times, plus noise.
VectorXd decay_data(double a, double b, double noise, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal(0, 1);
    VectorXd y(20);
    for (int i = 0; i < 20; ++i) y[i] = a * std::exp(-b * 0.1 * i) + noise * normal(random);
    return y;
}
FitResiduals decay_model(const VectorXd& data) {
    return [data](const VectorXd& p) {
        VectorXd r = -data;
        for (int i = 0; i < 20; ++i) r[i] += p[0] * std::exp(-p[1] * 0.1 * i);
        return r;
    };
}

TEST(LeastSquares, ExactDataGiveTheTruthFromFarAway) {
    const FitResult fit = fit_parameters(decay_model(decay_data(3e5, 0.7, 0, 1)),
                                         {{"a", 1e3, 1, 1e9}, {"b", 5, 0.01, 10}});
    EXPECT_TRUE(fit.has_converged);
    EXPECT_NEAR(fit.parameters[0].value, 3e5, 1);
    EXPECT_NEAR(fit.parameters[1].value, 0.7, 1e-5);
    EXPECT_TRUE(fit.parameters[0].is_identified && fit.parameters[1].is_identified);
}

TEST(LeastSquares, IntervalsHoldTheTruthInNineteenOfTwentyCases) {
    int held = 0;
    const int trials = 300;
    for (int trial = 0; trial < trials; ++trial) {
        const FitResult fit =
            fit_parameters(decay_model(decay_data(2, 0.7, 0.05, static_cast<unsigned>(trial))),
                           {{"a", 1, 0.1, 100}, {"b", 1, 0.01, 10}});
        held += fit.parameters[1].low95 < 0.7 && fit.parameters[1].high95 > 0.7;
    }
    // 95 % ± three deviations of a count of 300
    EXPECT_NEAR(held, 0.95 * trials, 12);
}

TEST(LeastSquares, CombinationsAndIdleParametersAreNotIdentified) {
    const VectorXd t = VectorXd::LinSpaced(12, 0.1, 2);
    const FitResult product =
        fit_parameters([&](const VectorXd& p) { return VectorXd(p[0] * p[1] * t - 6 * t); },
                       {{"a", 1, 0.01, 100}, {"b", 1, 0.01, 100}});
    for (const FittedParameter& p : product.parameters) EXPECT_FALSE(p.is_identified) << p.name;
    EXPECT_NEAR(product.parameters[0].value * product.parameters[1].value, 6, 1e-4);
    const FitResult idle =
        fit_parameters([&](const VectorXd& p) { return VectorXd(p[0] * t - 6 * t); },
                       {{"a", 1, 0.01, 100}, {"b", 1, 0.01, 100}});
    EXPECT_TRUE(idle.parameters[0].is_identified);
    EXPECT_FALSE(idle.parameters[1].is_identified);
    EXPECT_NEAR(idle.parameters[0].value, 6, 1e-5);
}

TEST(LeastSquares, BoundsAreKeptAndSaid) {
    const FitResult fit = fit_parameters(decay_model(decay_data(2, 0.7, 0, 1)),
                                         {{"a", 1, 0.1, 100}, {"b", 0.3, 0.1, 0.5}});
    EXPECT_NEAR(fit.parameters[1].value, 0.5, 1e-9);
    EXPECT_TRUE(fit.parameters[1].is_at_bound);
    EXPECT_FALSE(fit.parameters[0].is_at_bound);
}

TEST(LeastSquares, AsManyDataAsParametersHaveNoInterval) {
    const FitResult fit =
        fit_parameters([](const VectorXd& p) { return VectorXd::Constant(1, p[0] - 5).eval(); },
                       {{"a", 1, 0.1, 100}});
    EXPECT_NEAR(fit.parameters[0].value, 5, 1e-6);
    EXPECT_TRUE(fit.parameters[0].is_identified);
    EXPECT_TRUE(std::isinf(fit.parameters[0].high95));
}

TEST(LeastSquares, StudentsTIsThatOfTables) {
    EXPECT_TRUE(std::isinf(student_t95(0)));
    for (const auto& [v, t] :
         {std::pair{1, 12.706}, {4, 2.776}, {5, 2.571}, {10, 2.228}, {30, 2.042}, {1000, 1.962}})
        EXPECT_NEAR(student_t95(v), t, 0.002 * t) << v;
}

TEST(LeastSquares, WhatCannotBeFittedIsSaid) {
    const FitResiduals one = [](const VectorXd& p) { return VectorXd::Constant(1, p[0]).eval(); };
    EXPECT_EQ(test::input_error([&] {
                  (void)fit_parameters(one, {{"a", 1, 0.1, 10}, {"b", 1, 0.1, 10}});
              }),
              "there are 1 data for 2 parameters; measure more or fit fewer");
    EXPECT_NE(test::input_error([&] {
                  (void)fit_parameters(one, {{"a", -1, 0.1, 10}});
              }).find("a = -1"),
              std::string::npos);
    EXPECT_NE(test::input_error([&] {
                  (void)fit_parameters(
                      [](const VectorXd&) { return VectorXd::Constant(3, NAN).eval(); },
                      {{"a", 1, 0.1, 10}});
              }).find("no finite answer"),
              std::string::npos);
}

}  // namespace
