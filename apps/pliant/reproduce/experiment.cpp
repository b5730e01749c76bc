#include "experiment.h"

#include <algorithm>
#include <cmath>

#include "apps/pliant/output.h"
#include "pliant/core/simd.h"
#include "pliant/core/version.h"

namespace pliant::reproduce {
namespace {

/// How to get the experiments that take too long for this page.
std::string words_for_left_out(const ExperimentPage& page) {
    std::string words;
    for (const Experiment& experiment : page.left_out)
        words += cli::format("%s pliant reproduce %s --only %s (%s, about %d s)",
                             words.empty() ? " Longer experiments run only by name:" : ",",
                             page.module.c_str(), experiment.name.c_str(), experiment.title.c_str(),
                             experiment.seconds);
    return words.empty() ? words : words + ".";
}

}  // namespace

void Context::done(double fraction) {
    const auto units = static_cast<std::size_t>(
        std::floor(std::clamp(fraction, 0.0, 1.0) * static_cast<double>(share_)));
    progress_.advance(units > reported_ ? units - reported_ : 0);
    reported_ = std::max(reported_, units);
}

std::vector<ExperimentPage> all_pages() {
    return {fem_page(),    reduction_page(), contact_page(), haptics_page(),
            greens_page(), wavelets_page(),  proxy_page()};
}

std::string page_html(const ExperimentPage& page, const std::vector<Section>& sections,
                      bool is_quick, const std::string& above) {
    return html_page(
        page.title,
        cli::format("Written by pliant %s reproduce %s%s; one thread, SIMD %s. ", kVersion,
                    page.module.c_str(), is_quick ? " --quick (smaller sizes)" : "",
                    simd_targets().front().c_str()) +
            "Reference numbers are those published with the method or computed by an independent "
            "program; where a number is further from its reference than the stated tolerance, the "
            "page says so. Times are CPU times of this machine, the best of several runs." +
            words_for_left_out(page),
        sections, above);
}

}  // namespace pliant::reproduce
