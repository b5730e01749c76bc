#pragma once

#include <string>
#include <vector>

#include "calibrate_models.h"
#include "pliant/core/least_squares.h"

namespace pliant::cli {

/// Data, what the model makes of them, and what was found.
struct Calibration {
    CalibrationSetup setup;
    std::string body, source;            ///< names of mesh and data
    bool is_frequencies = false;         ///< else a press
    std::vector<double> x, data, model;  ///< depth [m] and force [N], or mode and frequency [Hz]
    FitResult fit;
    CalibrationValues values;  ///< fitted or held
};

void print(const Calibration& calibration);
[[nodiscard]] std::string json_line(const Calibration& calibration);
[[nodiscard]] std::string calibration_page(const Calibration& calibration);

/// Unit of a parameter by its name; empty: none.
[[nodiscard]] std::string unit_of(const std::string& parameter);

}  // namespace pliant::cli
