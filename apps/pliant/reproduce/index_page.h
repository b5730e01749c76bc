#pragma once

#include "catalogue.h"
#include "experiment.h"

#include <map>
#include <string>
#include <vector>

namespace pliant::reproduce {

/// What a call of `pliant reproduce all` has.
struct Report {
    Results results;
    std::map<std::string, std::string> failures;  ///< by "module/experiment": what went wrong
    bool is_quick = false;
    std::size_t num_reused = 0;  ///< results of earlier calls
    double seconds = 0;          ///< of this call
};

/// The index: what was published with ours beside it, pages, times, provenance.
[[nodiscard]] std::string index_html(const Report& report,
                                     const std::vector<ExperimentPage>& pages);

}  // namespace pliant::reproduce
