#pragma once

#include "pliant/greens/build_greens.h"
#include "plot.h"
#include "report.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace pliant::reproduce {

/// The shape on a level with dense columns of all free nodes, held as published; E = 10 kPa,
/// ν = 0.3, boundary elements on all cores. In the cache of builds, and in memory while the page is
/// written.
[[nodiscard]] std::shared_ptr<const GreensModel> wavelet_model(const std::string& shape,
                                                               int levels);
[[nodiscard]] const DenseGreensFunctions& dense_functions(const GreensModel& model);

/// docs/greens-wavelets.md eq. (W9) at one tolerance. Not a number where a column lost its whole
/// base: builds refuse that.
struct CompressionPoint {
    double tolerance = 0, compression = 0, rms = 0, max = 0;
};
struct CompressionCurve {
    WaveletKind kind = WaveletKind::LiftedLinear;
    std::vector<CompressionPoint> points;  ///< tolerances ascending

    /// The point of this tolerance, which must be there.
    [[nodiscard]] const CompressionPoint& at_tolerance(double tolerance) const;
    /// Between points, along logarithms; not a number outside of them.
    [[nodiscard]] double compression_at_rms(double rms) const;
    [[nodiscard]] double compression_at_max(double max) const;
    /// At this RMS, or that of the largest tolerance where its RMS is smaller.
    [[nodiscard]] double compression_within_rms(double rms) const;
};

/// Eleven from 0.005 to 0.4; 0.01, 0.05, 0.1 and 0.2 are among them.
[[nodiscard]] std::span<const double> curve_tolerances();

/// Dense columns over the nodes of a surface.
struct ColumnsOfSurface {
    const SemiRegularMesh& surface;
    const std::vector<NodeKind>& kinds;
    const std::vector<double>& areas;
    const DenseGreensFunctions& functions;
};
/// The free rows of the columns `ids`: transformed once, thresholded with every tolerance, errors
/// by transforming back. All cores.
[[nodiscard]] CompressionCurve compression_curve(const ColumnsOfSurface& columns,
                                                 std::span<const int> ids, WaveletKind kind,
                                                 bool thresholds_base);
/// Of all columns of free nodes, with all four transforms.
[[nodiscard]] std::vector<CompressionCurve> compression_curves(const GreensModel& model,
                                                               bool thresholds_base);

/// "lifted linear"
[[nodiscard]] std::string words_for(WaveletKind kind);

/// One curve of a plot.
struct LabelledCurve {
    std::string label;
    const CompressionCurve* curve;
    int color;
};
/// RMS (lines) and MAX (dashes) against compression, and against the tolerance.
[[nodiscard]] std::string error_against_compression(const std::string& title,
                                                    const std::vector<LabelledCurve>& curves);
[[nodiscard]] std::string error_against_tolerance(const std::string& title,
                                                  const std::vector<LabelledCurve>& curves);
/// Curves of the four transforms, each in its own colour.
[[nodiscard]] std::vector<LabelledCurve> by_kind(const std::vector<CompressionCurve>& curves);
/// Points of curves at ε = 0.01, 0.05, 0.1 and 0.2.
[[nodiscard]] Table point_table(const std::string& name, const std::string& caption,
                                const std::string& key, const std::string& label);
void add_points(Table& table, const std::string& of, const CompressionCurve& curve);

}  // namespace pliant::reproduce
