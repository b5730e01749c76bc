#pragma once

#include "press.h"

namespace pliant::compare {

/// One method in numbers. Differences are those to full FEM.
struct Result {
    Method method = Method::FullFem;
    double build_seconds = 0, bytes = 0;
    Touch touch;
    double rms = 0, largest = 0;  ///< of the shape at the deepest press, over the depth, eq. (4)
    double force_ratio = 1;       ///< at the deepest press
    [[nodiscard]] bool keeps_up(double tick) const noexcept;
    /// Eq. (5): the larger of shape RMS and relative force difference.
    [[nodiscard]] double error() const noexcept;
};

struct Study {
    std::string name, material;
    const Object* object = nullptr;
    const Script* script = nullptr;
    std::vector<Result> results;  ///< in the order of kMethods

    [[nodiscard]] const Result& reference() const;  ///< full FEM
};
/// Runs the methods asked for, full FEM first.
[[nodiscard]] std::vector<Result> run_methods(const Object& object, const Script& script,
                                              const std::vector<Method>& methods,
                                              Progress& progress);

[[nodiscard]] std::string microseconds(double us);  ///< 7.1, 991

struct Advice {
    std::string method;                ///< name_of the one to take
    std::vector<std::string> reasons;  ///< sentences, the choice first, then one for each other
};
[[nodiscard]] Advice advise(const Study& study);

void print(const Study& study, const Advice& advice);
[[nodiscard]] std::vector<std::string> json_lines(const Study& study, const Advice& advice);
[[nodiscard]] std::string compare_page(const Study& study, const Advice& advice);

}  // namespace pliant::compare
