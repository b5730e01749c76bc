#pragma once

#include <string>
#include <vector>

#include "pliant/haptics/zwidth.h"
#include "reproduce/report.h"

namespace pliant::cli {

/// The damping that walls need on a variant of a device.
struct ZWidthVariant {
    std::string key, label;
    ZWidthOptions options;
    std::vector<double> needed = {};  ///< for each stiffness [N s/m]
};

/// All that `pliant haptics zwidth` measures.
struct ZWidthStudy {
    ZWidthOptions options;
    ZWidthMap map;
    /// The ideal case of K T/2 first, then what shifts it, one by one.
    std::vector<ZWidthVariant> variants;
};

[[nodiscard]] ZWidthStudy study_zwidth(const ZWidthOptions& options, Progress& progress);
/// Tables on standard output.
void print(const ZWidthStudy& study);
/// One JSON object per wall and per stiffness.
[[nodiscard]] std::vector<std::string> json_lines(const ZWidthStudy& study);
[[nodiscard]] std::string zwidth_page(const ZWidthStudy& study);

}  // namespace pliant::cli
