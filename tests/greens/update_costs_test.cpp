#include "pliant/greens/update_costs.h"

#include <cmath>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "core/numbers.h"
#include "greens/nonnegative_fit.h"
#include "pliant/core/atomic_file.h"
#include "tests/greens/synthetic_greens.h"
#include "tests/input_error.h"

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

double scratch_model(double s) { return 1e-6 + 3e-7 * s + 1e-8 * s * s * s; }
double update_model(double s, double a, double r) {
    return 2e-6 + 1e-8 * s * s + 3e-8 * a * s * s + 1e-8 * r * s * s + 2e-8 * a * a * s;
}

std::vector<UpdateTiming> synthetic_timings(double noise) {
    std::mt19937 random(1);
    std::uniform_real_distribution<double> uniform(-noise, noise);
    std::vector<UpdateTiming> timings;
    for (const double s : {5., 10., 20., 40., 100., 200.}) {
        timings.push_back({s, 0, 0, false, scratch_model(s) * (1 + uniform(random))});
        for (const double a : {0., 1., 2., 5., 10., 20., 50.})
            for (const double r : {0., 1., 2., 5., 10., 20., 50.})
                if (a <= s && r <= s)
                    timings.push_back(
                        {s, a, r, true, update_model(s, a, r) * (1 + uniform(random))});
    }
    return timings;
}

double worst_error(const UpdateCosts& costs) {
    double worst = 0;
    for (const double s : {7., 15., 30., 70., 150.}) {
        worst = std::max(worst, std::abs(costs.from_scratch(s) / scratch_model(s) - 1));
        for (const double a : {0., 1., 3., 7.})
            for (const double r : {0., 1., 4., 7.})
                worst =
                    std::max(worst, std::abs(costs.update(s, a, r) / update_model(s, a, r) - 1));
    }
    return worst;
}

TEST(NonnegativeFit, FindsSolutionsInsideAndOnTheBorder) {
    const MatrixXd A = test::random_matrix(12, 4, 1);
    const VectorXd inside = (VectorXd(4) << 1, 2, 0.5, 3).finished();
    EXPECT_LT((nonnegative_fit(A, A * inside) - inside).norm(), 1e-9);

    // conditions of the optimum: no slope along free columns, none that helps at bound ones
    for (unsigned seed = 0; seed < 20; ++seed) {
        const MatrixXd M = test::random_matrix(15, 6, seed);
        const VectorXd b = test::random_matrix(15, 1, seed + 100), x = nonnegative_fit(M, b),
                       slope = M.transpose() * (b - M * x);
        for (int k = 0; k < 6; ++k) {
            EXPECT_GE(x[k], 0);
            if (x[k] > 0)
                EXPECT_NEAR(slope[k], 0, 1e-9);
            else
                EXPECT_LE(slope[k], 1e-9);
        }
    }
}

TEST(UpdateCosts, FitReproducesPolynomials) {
    EXPECT_LT(worst_error(UpdateCosts::fit(synthetic_timings(0))), 1e-3);
}

TEST(UpdateCosts, FitStandsNoise) {
    // within the error the specification allows for predictions
    EXPECT_LT(worst_error(UpdateCosts::fit(synthetic_timings(0.1))), 0.25);
}

TEST(UpdateCosts, FewOrImpossibleTimingsAreNamed) {
    auto timings = synthetic_timings(0);
    const auto fit = [&] { return test::input_error([&] { (void)UpdateCosts::fit(timings); }); };
    timings[3].seconds = 0;
    EXPECT_EQ(fit(), "timing.seconds = 0.000000 (expected a time above zero)");
    timings.resize(3);
    EXPECT_EQ(fit(), "timings from scratch = 1 (expected at least 4)");
}

TEST(UpdateCosts, DefaultPrefersUpdatesForSmallChanges) {
    const UpdateCosts costs;
    EXPECT_LT(costs.update(100, 1, 1), 0.2 * costs.from_scratch(100));
    EXPECT_GT(costs.update(100, 60, 0), costs.from_scratch(100));
    EXPECT_LT(costs.update(100, 0, 5), costs.update(100, 5, 0));
}

TEST(UpdateCosts, SweepTimesEverySize) {
    const auto timings = UpdateCosts::time_updates(10, 1);
    int from_scratch = 0, updates = 0;
    for (const auto& timing : timings) {
        EXPECT_GT(timing.seconds, 0);
        ++(timing.is_update ? updates : from_scratch);
    }
    EXPECT_EQ(from_scratch, 2);
    // 5: {0, 1, 2}², 10: {0, 1, 2, 5}²
    EXPECT_EQ(updates, 25);
}

struct CostsFolder {
    // of each process: tests run side by side
    CostsFolder()
        : path(std::filesystem::path(testing::TempDir()) /
               ("pliant_update_costs_" + std::to_string(getpid()))) {
        std::filesystem::remove_all(path);
        std::filesystem::create_directories(path);
    }
    ~CostsFolder() { std::filesystem::remove_all(path); }
    std::filesystem::path path;
};

void write_costs_file(const std::filesystem::path& path, const std::string& text) {
    AtomicFile file(path);
    file.write(text);
    file.commit();
}

TEST(UpdateCosts, FilesBringBackTheSameNumbers) {
    const CostsFolder folder;
    const auto costs = UpdateCosts::fit(synthetic_timings(0.1));
    costs.save(folder.path / "costs.json");
    const auto loaded = UpdateCosts::load(folder.path / "costs.json");
    EXPECT_EQ(loaded.from_scratch(33), costs.from_scratch(33));
    EXPECT_EQ(loaded.update(33, 2, 5), costs.update(33, 2, 5));
    EXPECT_THAT(UpdateCosts::file_name(), testing::MatchesRegex("update-costs-[0-9a-f]+\\.json"));
}

TEST(UpdateCosts, StoredCostsAreTakenAndBadOnesReplaced) {
    const CostsFolder folder;
    const auto file = folder.path / UpdateCosts::file_name();
    const auto costs = UpdateCosts::fit(synthetic_timings(0.1));
    costs.save(file);
    EXPECT_EQ(UpdateCosts::of_this_machine(folder.path).update(33, 2, 5), costs.update(33, 2, 5));
    write_costs_file(file, "{");
    const auto measured = UpdateCosts::of_this_machine(folder.path, 40);
    EXPECT_GT(measured.from_scratch(40), 0);
    EXPECT_EQ(UpdateCosts::load(file).from_scratch(40), measured.from_scratch(40));
}

TEST(UpdateCosts, BadFilesAreNamed) {
    const CostsFolder folder;
    const auto file = folder.path / "costs.json";
    const auto error = [&](const std::string& text) {
        write_costs_file(file, text);
        return test::input_error([&] { (void)UpdateCosts::load(file); });
    };
    const std::string name = file.string();
    EXPECT_EQ(error("[]"), name +
                               ": format = missing (expected \"pliant-update-costs-1\"; remove "
                               "the file to measure again)");
    EXPECT_EQ(error(R"({"format": "pliant-update-costs-1"})"),
              name +
                  ": from_scratch = missing (expected 4 numbers >= 0; remove the file to measure "
                  "again)");
    EXPECT_EQ(error(R"({"format": "pliant-update-costs-1", "from_scratch": [1, 2, -3, 4]})"),
              name +
                  ": from_scratch = [1,2,-3,4] (expected 4 numbers >= 0; remove the file to "
                  "measure again)");
}

}  // namespace
}  // namespace pliant
