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
    int seconds;  ///< roughly, on two cores, for the estimate of the time left
    void (*run)(Context&);
    bool only_by_name = false;  ///< too long to be run unless it is asked for
};

/// The experiments of one module, on one page.
struct ExperimentPage {
    std::string module, title;
    std::vector<Experiment> experiments;
    std::vector<Experiment> left_out = {};  ///< run only by name, and not asked for
};
[[nodiscard]] ExperimentPage fem_page();
[[nodiscard]] ExperimentPage reduction_page();
[[nodiscard]] ExperimentPage contact_page();
[[nodiscard]] ExperimentPage haptics_page();
[[nodiscard]] ExperimentPage greens_page();
[[nodiscard]] ExperimentPage wavelets_page();
[[nodiscard]] ExperimentPage proxy_page();
/// All of them, in the order above.
[[nodiscard]] std::vector<ExperimentPage> all_pages();

/// The page's HTML. `above` is HTML before the title, for a link to an index.
[[nodiscard]] std::string page_html(const ExperimentPage& page,
                                    const std::vector<Section>& sections, bool is_quick,
                                    const std::string& above = {});

}  // namespace pliant::reproduce
