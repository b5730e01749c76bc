#include "pliant/greens/update_costs.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <fstream>
#include <memory>
#include <numeric>
#include <string_view>

#include "core/numbers.h"
#include "greens/nonnegative_fit.h"
#include "pliant/core/atomic_file.h"
#include "pliant/core/error.h"
#include "pliant/core/hash.h"
#include "pliant/core/json_value.h"
#include "pliant/core/json_writer.h"
#include "pliant/core/simd.h"
#include "pliant/greens/capacitance_inverse.h"

namespace pliant {
namespace {

/// Operations are timed for at least this long [s].
constexpr double kShortTiming = 5e-4;
constexpr std::string_view kCostsFormat = "pliant-update-costs-1";

/// 1, s, s², s³.
std::array<double, UpdateCosts::kInverseTerms> inverse_monomials(double s) noexcept {
    return {1, s, s * s, s * s * s};
}

struct UpdateExponents {
    int size, added, removed;
};

/// All products of total degree at most three.
constexpr auto kUpdateExponents = [] {
    std::array<UpdateExponents, UpdateCosts::kUpdateTerms> all{};
    std::size_t place = 0;
    for (int i = 0; i <= 3; ++i)
        for (int j = 0; i + j <= 3; ++j)
            for (int k = 0; i + j + k <= 3; ++k) all[place++] = {i, j, k};
    return all;
}();

constexpr std::size_t update_term(int i, int j, int k) noexcept {
    std::size_t place = 0;
    while (kUpdateExponents[place].size != i || kUpdateExponents[place].added != j ||
           kUpdateExponents[place].removed != k)
        ++place;
    return place;
}

std::array<double, UpdateCosts::kUpdateTerms> update_monomials(double size, double added,
                                                               double removed) noexcept {
    const auto of_size = inverse_monomials(size), of_added = inverse_monomials(added),
               of_removed = inverse_monomials(removed);
    std::array<double, UpdateCosts::kUpdateTerms> terms{};
    for (std::size_t k = 0; k < terms.size(); ++k) {
        const UpdateExponents& e = kUpdateExponents[k];
        terms[k] = of_size[at(e.size)] * of_added[at(e.added)] * of_removed[at(e.removed)];
    }
    return terms;
}

template <std::size_t N>
double cost_of(const std::array<double, N>& coefficients,
               const std::array<double, N>& terms) noexcept {
    return std::inner_product(coefficients.begin(), coefficients.end(), terms.begin(), 0.0);
}

double thread_seconds() noexcept {
    std::timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Compliance that falls with the distance along a line: look-ups for timings cost what those of
/// dense data cost, and every set is well-conditioned.
std::shared_ptr<const GreensFunctions> timing_functions(int num_nodes) {
    DenseGreensLayout layout;
    layout.num_nodes = num_nodes;
    for (int node = 0; node < num_nodes; ++node) layout.columns.push_back(node);
    auto functions = std::make_shared<DenseGreensFunctions>(layout);
    Eigen::MatrixXd column(3 * num_nodes, 3);
    for (int node = 0; node < num_nodes; ++node) {
        for (int i = 0; i < num_nodes; ++i)
            column.middleRows<3>(3 * i) =
                std::exp(-0.2 * std::abs(i - node)) * Eigen::Matrix3d::Identity();
        functions->set_column(node, column);
    }
    return functions;
}

std::vector<ChangedDof> timing_nodes(int first, int end) {
    std::vector<ChangedDof> dofs;
    for (int node = first; node < end; ++node)
        for (int k = 0; k < 3; ++k) dofs.push_back({node, Eigen::Vector3d::Unit(k)});
    return dofs;
}

std::string processor_name() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("model name")) return line;
    return "unknown processor";
}

}  // namespace

UpdateCosts::UpdateCosts() {
    // 54 s³ operations from scratch and 54 s² for each node of an update, at about 5 a nanosecond
    inverse_ = {2e-6, 0, 0, 54 / 5e9};
    update_[update_term(0, 0, 0)] = 2e-6;
    update_[update_term(2, 1, 0)] = 162 / 5e9;
    update_[update_term(2, 0, 1)] = 54 / 5e9;
}

double UpdateCosts::from_scratch(double size) const noexcept {
    return cost_of(inverse_, inverse_monomials(size));
}

double UpdateCosts::update(double size, double added, double removed) const noexcept {
    return cost_of(update_, update_monomials(size, added, removed));
}

UpdateCosts UpdateCosts::fit(std::span<const UpdateTiming> timings) {
    UpdateCosts costs;
    for (const bool is_update : {false, true}) {
        std::vector<UpdateTiming> chosen;
        for (const UpdateTiming& timing : timings) {
            if (!(timing.seconds > 0) || !std::isfinite(timing.seconds))
                throw InputError("", "timing.seconds", std::to_string(timing.seconds),
                                 "a time above zero");
            if (timing.is_update == is_update) chosen.push_back(timing);
        }
        if (chosen.size() < 4)
            throw InputError("", is_update ? "timings of updates" : "timings from scratch",
                             std::to_string(chosen.size()), "at least 4");
        const Eigen::Index rows = static_cast<Eigen::Index>(chosen.size());
        Eigen::MatrixXd A(rows, is_update ? kUpdateTerms : kInverseTerms);
        // every row over its time: errors are relative, and short updates count as much as long
        for (Eigen::Index row = 0; row < rows; ++row) {
            const UpdateTiming& t = chosen[static_cast<std::size_t>(row)];
            const auto fill = [&](const auto& terms) {
                for (std::size_t k = 0; k < terms.size(); ++k)
                    A(row, static_cast<Eigen::Index>(k)) = terms[k] / t.seconds;
            };
            if (is_update)
                fill(update_monomials(t.size, t.added, t.removed));
            else
                fill(inverse_monomials(t.size));
        }
        const Eigen::VectorXd x = nonnegative_fit(A, Eigen::VectorXd::Ones(rows));
        double* const to = is_update ? costs.update_.data() : costs.inverse_.data();
        std::copy_n(x.data(), x.size(), to);
    }
    return costs;
}

std::vector<UpdateTiming> UpdateCosts::time_updates(int max_size, int repeats) {
    std::vector<UpdateTiming> timings;
    const int num_nodes = 2 * max_size;
    const auto functions = timing_functions(num_nodes);
    CapacitanceInverse base(functions, 3 * num_nodes), inverse(functions, 3 * num_nodes);
    const auto best_time = [&](auto&& run) {
        double best = kInfinity, total = 0;
        // short ones more often: the first runs of an operation are slow
        for (int k = 0; k < repeats || (total < kShortTiming && k < 100 * repeats); ++k) {
            const double start = thread_seconds();
            run();
            // the clock has a grain of its own
            const double seconds = std::max(thread_seconds() - start, 1e-8);
            best = std::min(best, seconds);
            total += seconds;
        }
        return best;
    };
    // large ones first: they wake the processor
    for (const int size : {200, 100, 40, 20, 10, 5}) {
        if (size > max_size) continue;
        const auto whole = timing_nodes(0, size);
        timings.push_back({.size = double(size), .is_update = false, .seconds = best_time([&] {
                                                                         (void)inverse.reset(whole);
                                                                     })});
        for (const int added : {0, 1, 2, 5, 10, 20, 50, 100})
            for (const int removed : {0, 1, 2, 5, 10, 20, 50, 100}) {
                if (added > size / 2 || removed > size / 2) continue;
                // an update copies an inverse, takes nodes away and adds others
                const int kept = size - added;
                const auto out = timing_nodes(kept, kept + removed),
                           in = timing_nodes(size + removed, size + removed + added);
                (void)base.reset(timing_nodes(0, kept + removed));
                const double seconds = best_time([&] {
                    inverse.copy_from(base);
                    if (removed > 0) (void)inverse.remove(out);
                    if (added > 0) (void)inverse.add(in);
                });
                timings.push_back({.size = double(size),
                                   .added = double(added),
                                   .removed = double(removed),
                                   .is_update = true,
                                   .seconds = seconds});
            }
    }
    return timings;
}

UpdateCosts UpdateCosts::measure(int max_size) { return fit(time_updates(max_size, 3)); }

void UpdateCosts::save(const std::filesystem::path& file) const {
    JsonWriter json;
    json.begin_object().member("format", kCostsFormat);
    const auto list = [&](std::string_view name, const auto& coefficients) {
        json.key(name).begin_array();
        for (const double value : coefficients) json.value(value);
        json.end_array();
    };
    list("from_scratch", inverse_);
    list("update", update_);
    json.end_object();
    AtomicFile out(file);
    out.write(json.text());
    out.commit();
}

UpdateCosts UpdateCosts::load(const std::filesystem::path& file) {
    const std::string name = file.string();
    const JsonValue json = parse_json(read_file(file, std::size_t{1} << 16), name);
    const JsonValue* const format =
        json.is(JsonValue::Type::Object) ? json.find("format") : nullptr;
    if (!format || !format->is(JsonValue::Type::String) || format->string() != kCostsFormat)
        throw InputError(name, "format", format ? to_text(*format) : "missing",
                         "\"" + std::string(kCostsFormat) + "\"; remove the file to measure again");
    UpdateCosts costs;
    const auto read = [&](std::string_view field, auto& coefficients) {
        const JsonValue* const values = json.find(field);
        bool is_good = values && values->is(JsonValue::Type::Array) &&
                       values->array().size() == coefficients.size();
        for (std::size_t k = 0; is_good && k < coefficients.size(); ++k) {
            const JsonValue& value = values->array()[k];
            is_good = value.is(JsonValue::Type::Number) && value.number() >= 0;
            if (is_good) coefficients[k] = value.number();
        }
        if (!is_good)
            throw InputError(name, std::string(field), values ? to_text(*values) : "missing",
                             std::to_string(coefficients.size()) +
                                 " numbers >= 0; remove the file to measure again");
    };
    read("from_scratch", costs.inverse_);
    read("update", costs.update_);
    return costs;
}

std::string UpdateCosts::file_name() {
    const auto targets = simd_targets();
    const std::string machine = processor_name() + (targets.empty() ? "" : targets.front());
    return "update-costs-" + hash_text(hash_bytes(machine.data(), machine.size())) + ".json";
}

UpdateCosts UpdateCosts::of_this_machine(const std::filesystem::path& folder, int max_size) {
    if (folder.empty()) return measure(max_size);
    const std::filesystem::path file = folder / file_name();
    if (std::filesystem::exists(file)) try {
            return load(file);
        } catch (const InputError&) {
            // written by another version, or cut short: measured again below
        }
    const UpdateCosts costs = measure(max_size);
    std::error_code ignored;
    std::filesystem::create_directories(folder, ignored);
    costs.save(file);
    return costs;
}

}  // namespace pliant
