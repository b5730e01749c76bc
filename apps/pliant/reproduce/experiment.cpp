#include "experiment.h"

#include <algorithm>
#include <cmath>

#include "apps/pliant/output.h"
#include "pliant/core/simd.h"
#include "pliant/core/version.h"

namespace pliant::reproduce {

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
            "page says so. Times are CPU times of this machine, the best of several runs.",
        sections, above);
}

}  // namespace pliant::reproduce
