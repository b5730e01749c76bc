#include "stability_rests.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/numbers.h"

namespace pliant::reproduce {
namespace {

OscillationOptions rest_limits(const DeviceCapabilities& can, double stiffness,
                               double angular_stiffness, double rate) {
    OscillationOptions limits{.rate = rate};
    limits.force_limit =
        std::max(limits.force_limit, std::min(stiffness, can.max_stiffness) * can.position_step);
    if (can.max_angular_stiffness > 0)
        angular_stiffness = std::min(angular_stiffness, can.max_angular_stiffness);
    limits.torque_limit = std::max(limits.torque_limit, 2 * angular_stiffness * can.angle_step);
    return limits;
}

std::vector<StabilityCase> all_cases(const std::vector<double>& masses,
                                     const std::vector<double>& encoders) {
    std::vector<StabilityCase> all;
    for (const double mass : masses)
        for (const bool is_firm : {false, true})
            for (const double encoder : encoders) all.push_back({mass, encoder, is_firm});
    return all;
}

/// Tools that touch nothing are quiet.
Cell rests_cell(Section& page, const std::string& what, const StabilityOutcome& outcome) {
    return page.at_least(what, outcome.num_rests, std::max(1.0, 0.5 * outcome.num_stops), "%.0f");
}

/// Where there is no bound, there is no number either.
Cell depth_cell(Section& page, const std::string& what, double depth, double bound) {
    return bound < kInfinity ? page.at_most(what, depth, bound, "%.3f") : Cell("");
}

}  // namespace

DeviceModel StabilityCase::device() const {
    DeviceModel model;
    model.mass = mass;
    model.capabilities.position_step = encoder;
    return model;
}
HandModel StabilityCase::hand() const { return is_firm ? HandModel::firm() : HandModel::loose(); }

std::vector<StabilityCase> stability_cases(bool is_quick) {
    return is_quick ? all_cases({0.1}, {5e-5}) : all_cases({0.05, 0.15, 0.3}, {2e-5, 5e-5});
}
std::vector<StabilityCase> extreme_cases(bool is_quick) {
    return all_cases(is_quick ? std::vector{0.1} : std::vector{0.05, 0.3}, {5e-5});
}
std::vector<StabilityCase> fine_encoder_cases(bool is_quick) {
    return all_cases(is_quick ? std::vector{0.1} : std::vector{0.05, 0.3}, {1e-6});
}

void StabilityOutcome::add(const StabilityOutcome& other) {
    force = std::max(force, other.force);
    torque = std::max(torque, other.torque);
    force_limit = std::max(force_limit, other.force_limit);
    torque_limit = std::max(torque_limit, other.torque_limit);
    held_force = std::max(held_force, other.held_force);
    num_stops += other.num_stops;
    num_rests += other.num_rests;
    num_above += other.num_above;
    num_grown += other.num_grown;
    num_growing += other.num_growing;
    least_margin = std::min(least_margin, other.least_margin);
    depth = std::max(depth, other.depth);
    violations += other.violations;
    least_gains = std::min(least_gains, other.least_gains);
    num_helped += other.num_helped;
    num_unsaid += other.num_unsaid;
    if (notice.empty()) notice = other.notice;
}

RestJudge::RestJudge(const DeviceCapabilities& device, double stiffness, double angular_stiffness,
                     double rate)
    : meter_(rest_limits(device, stiffness, angular_stiffness, rate)) {
    outcome_.force_limit = meter_.options().force_limit;
    outcome_.torque_limit = meter_.options().torque_limit;
}

void RestJudge::watch(const HapticTick& tick, const char* notice) noexcept {
    // some tools have no bound
    if (tick.max_depth > 0) outcome_.depth = std::max(outcome_.depth, tick.depth / tick.max_depth);
    outcome_.violations = static_cast<double>(tick.violations);
    outcome_.least_gains = std::min(outcome_.least_gains, tick.gain_scale);
    const double margin = tick.port_energy - tick.stored_energy;
    outcome_.least_margin = std::min(outcome_.least_margin, margin);
    // the controller takes energy out where the margin is below its tolerance, eq. (22), (23)
    const bool is_lowered = tick.gain_scale < 1 || tick.step_scale < 1;
    if (is_lowered || margin < -PassivityOptions().tolerance) ++outcome_.num_helped;
    if (notice == nullptr) return;
    if (is_lowered && std::strstr(notice, "lowered") == nullptr) ++outcome_.num_unsaid;
    if (*notice) outcome_.notice = notice;
}

void RestJudge::begin() noexcept {
    meter_.reset();
    largest_ = 0;
    levels_.clear();
    is_above_ = has_grown_ = has_touched_ = false;
}

void RestJudge::listen(const HapticTick& tick) noexcept {
    has_touched_ = has_touched_ || tick.num_contacts > 0;
    const int before = meter_.num_windows();
    meter_.record({tick.command.force, tick.command.torque});
    if (meter_.num_windows() == before) return;
    const OscillationLevel& level = meter_.level();
    const OscillationOptions& limits = meter_.options();
    largest_ = std::max(largest_, level.force);
    const bool is_loud = level.force > limits.force_limit || level.torque > limits.torque_limit;
    is_above_ = is_above_ || is_loud;
    outcome_.force = std::max(outcome_.force, level.force);
    outcome_.torque = std::max(outcome_.torque, level.torque);
    levels_.push_back(level.force);
    if (meter_.num_windows() == 2)
        has_grown_ = level.force > 1.1 * level.last_force && level.force >= limits.quiet_force;
}

bool RestJudge::end() noexcept {
    ++outcome_.num_stops;
    if (!has_touched_) return false;
    ++outcome_.num_rests;
    outcome_.num_above += is_above_ ? 1 : 0;
    outcome_.num_grown += has_grown_ ? 1 : 0;
    return has_grown_;
}

void RestJudge::end_held() noexcept {
    outcome_.num_growing += is_above_ || is_growing(levels_, meter_.options().quiet_force) ? 1 : 0;
}

void RestJudge::end_long() noexcept {
    outcome_.held_force = std::max(outcome_.held_force, largest_);
}

StabilityOutcome judge_rests(RestJudge judge, const RestSchedule& schedule,
                             const std::function<const HapticTick&(double)>& step,
                             const std::function<const char*()>& notice) {
    const auto ticks = [&](double time) {
        return static_cast<int>(std::lround(time / schedule.dt));
    };
    const int n = ticks(schedule.seconds), length = ticks(schedule.round),
              judged = length - ticks(schedule.judged), first = ticks(schedule.from),
              settled = ticks(1), asked = ticks(0.1);
    const auto watched = [&](int k, int count) -> const HapticTick& {
        const HapticTick& tick = step(std::min(k, n - 1) * schedule.dt);
        judge.watch(tick, count >= settled && count % asked == 0 ? notice() : nullptr);
        return tick;
    };
    for (int k = 0; k < n + ticks(schedule.long_rest); ++k) {
        const HapticTick& tick = watched(k, k);
        const int phase = k % length;
        const bool is_long = k >= n;
        if (k == n || (!is_long && phase == judged)) judge.begin();
        if (is_long || (phase >= judged && k >= first)) judge.listen(tick);
        if (!is_long && phase == length - 1 && k >= first && judge.end()) {
            for (int i = 0; i < ticks(RestJudge::kHeldOn); ++i) judge.listen(watched(k, k + i));
            judge.end_held();
        }
    }
    judge.end_long();
    return judge.outcome();
}

std::vector<Table::Column> stability_columns() {
    return {{"scene", "scene"},
            {"rests", "rests in contact"},
            {"above", "above the limit"},
            {"grown", "grown"},
            {"growing", "of them growing on"},
            {"fine_rests", "rests, 1 µm"},
            {"fine_failed", "above or grown"},
            {"force_n", "largest RMS, N"},
            {"fine_force_n", "at 1 µm, N"},
            {"held_n", "in long rests, N"},
            {"torque_nm", "largest RMS, N m"},
            {"margin_j", "least W − S, J"},
            {"depth", "depth over its bound"},
            {"violations", "ticks beyond"},
            {"gains", "least gains"},
            {"helped", "ticks with help"}};
}

std::vector<Cell> stability_row(Section& page, const std::string& scene,
                                const StabilityOutcome& outcome, const StabilityOutcome& fine,
                                double depth_bound) {
    const StabilityOutcome& o = outcome;
    const double margin = std::min(o.least_margin, fine.least_margin);
    return {scene,
            rests_cell(page, "rests in contact, " + scene, o),
            page.at_most("rests above the limit, " + scene, o.num_above, 0, "%.0f"),
            Cell::number(o.num_grown, "%.0f"),
            page.at_most("rests that grow on, " + scene, o.num_growing, 0, "%.0f"),
            rests_cell(page, "rests in contact with a fine encoder, " + scene, fine),
            page.at_most("rests above the limit or grown with a fine encoder, " + scene,
                         fine.num_above + fine.num_grown, 0, "%.0f"),
            page.at_most("largest oscillation, " + scene, o.force, o.force_limit, "%.4f"),
            Cell::number(fine.force, "%.4f"),
            page.at_most("largest oscillation of long rests, " + scene, o.held_force, o.force_limit,
                         "%.4f"),
            page.at_most("largest torque, " + scene, o.torque, o.torque_limit, "%.1e"),
            page.at_least("port energy, " + scene, margin, -PassivityOptions().tolerance, "%.1e"),
            depth_cell(page, "depth, " + scene, o.depth, depth_bound),
            depth_bound < kInfinity ? Cell::number(o.violations, "%.0f") : Cell(""),
            page.at_least("gains that back-off left, " + scene,
                          std::min(o.least_gains, fine.least_gains), 1, "%.2f"),
            page.at_most("ticks with back-off or passivity control, " + scene,
                         o.num_helped + fine.num_helped, 0, "%.0f")};
}

std::vector<Table::Column> too_high_columns() {
    return {{"scene", "scene"},
            {"help", "help"},
            {"rests", "rests"},
            {"above", "above the limit"},
            {"grown", "grown"},
            {"growing", "of them growing on"},
            {"force_n", "largest RMS, N"},
            {"torque_nm", "largest RMS, N m"},
            {"depth", "depth over its bound"},
            {"gains", "least gains"},
            {"unsaid", "times not said"},
            {"notice", "the page said"}};
}

std::vector<Cell> too_high_row(Section& page, const std::string& scene,
                               const StabilityOutcome& outcome, bool has_help, double depth_bound) {
    const StabilityOutcome& o = outcome;
    return {
        scene,
        has_help ? "all" : "none",
        rests_cell(
            page,
            "rests in contact " + std::string(has_help ? "with" : "without") + " help, " + scene,
            o),
        has_help ? page.at_most("rests above the limit with help, " + scene, o.num_above, 0, "%.0f")
                 : Cell::number(o.num_above, "%.0f"),
        Cell::number(o.num_grown, "%.0f"),
        has_help ? page.at_most("rests that grow on with help, " + scene, o.num_growing, 0, "%.0f")
                 : Cell::number(o.num_growing, "%.0f"),
        Cell::number(o.force, "%.4f"),
        Cell::number(o.torque, "%.1e"),
        depth_cell(page, "depth, gains too high, " + scene, o.depth, depth_bound),
        Cell::number(o.least_gains, "%.2f"),
        page.at_most("times that back-off was not said, " + scene, o.num_unsaid, 0, "%.0f"),
        o.notice};
}

}  // namespace pliant::reproduce
