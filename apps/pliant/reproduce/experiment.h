#pragma once

#include "pliant/core/progress.h"
#include "report.h"

#include <string>
#include <vector>

namespace pliant::reproduce {

/// What a running experiment writes to and asks.
class Context {
public:
    /// The experiment is `share` of the work units of `progress`' current stage.
    Context(Section& page, bool quick, Progress& progress, std::size_t share)
        : section(page), is_quick(quick), progress_(progress), share_(share) {}

    Section& section;
    bool is_quick;  ///< smaller sizes, a few seconds in all

    /// One of two sizes of a problem.
    template <class T>
    [[nodiscard]] T sized(const T& full, const T& quick) const {
        return is_quick ? quick : full;
    }
    /// Tells how far the experiment is, 0 … 1, never less than before. Throws Cancelled after
    /// Ctrl-C.
    void done(double fraction);

private:
    Progress& progress_;
    std::size_t share_, reported_ = 0;
};

struct Experiment {
    std::string name, title;
    int seconds;  ///< roughly, on one core, for the estimate of the time left
    void (*run)(Context&);
};

// In the order of the page; each in its own file.
void run_strain(Context& context);
void run_compression(Context& context);
void run_orderings(Context& context);
void run_impact(Context& context);
void run_bounce(Context& context);
void run_collision(Context& context);
void run_penalty(Context& context);
void run_realtime(Context& context);
void run_graded(Context& context);
void run_viscoelastic(Context& context);
void run_stability(Context& context);

[[nodiscard]] std::vector<Experiment> fem_experiments();

}  // namespace pliant::reproduce
