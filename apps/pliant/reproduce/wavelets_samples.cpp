#include "wavelets_samples.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "contact_samples.h"
#include "core/numbers.h"
#include "pliant/core/parallel.h"
#include "pliant/geometry/shapes.h"
#include "pliant/greens/wavelet_greens.h"

namespace pliant::reproduce {
namespace {

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
constexpr int kBlockSize = 9;
constexpr std::array kCurveTolerances = {0.005, 0.01, 0.02, 0.035, 0.05, 0.075,
                                         0.1,   0.14, 0.2,  0.28,  0.4};

/// Of some columns at one tolerance.
struct ThresholdSums {
    std::int64_t num_kept = 0;
    double error_squared = 0, norm_squared = 0, max = 0;
    bool lost_base = false;

    [[nodiscard]] ThresholdSums with(const ThresholdSums& other) const {
        return {num_kept + other.num_kept, error_squared + other.error_squared,
                norm_squared + other.norm_squared, std::max(max, other.max),
                lost_base || other.lost_base};
    }
};

double squared_norm(const double* block) {
    double sum = 0;
    for (int c = 0; c < kBlockSize; ++c) sum += block[c] * block[c];
    return sum;
}

/// One column, its free rows alone, thresholded with every tolerance.
class ThresholdedColumn {
public:
    ThresholdedColumn(const SurfaceTransform& transform, bool thresholds_base)
        : transform_(transform),
          thresholds_base_(thresholds_base),
          coefficients_(at(transform.num_vertices()) * kBlockSize),
          dropped_(coefficients_.size()),
          norms_(at(transform.num_vertices())) {}

    /// Three scalar columns, `stride` apart.
    void set(const float* values, std::size_t stride) {
        norm_squared_ = amplitude_ = 0;
        for (int v = 0; v < transform_.num_vertices(); ++v) {
            double* const block = coefficients_.data() + at(v) * kBlockSize;
            const bool is_free = transform_.domain(v) >= 0;
            for (std::size_t c = 0; c < kBlockSize; ++c)
                block[c] = is_free ? double{values[c / 3 * stride + 3 * at(v) + c % 3]} : 0.0;
            const double norm = squared_norm(block);
            norm_squared_ += norm;
            amplitude_ = std::max(amplitude_, std::sqrt(norm));
        }
        transform_.forward(coefficients_.data(), kBlockSize);
        for (int v = 0; v < transform_.num_vertices(); ++v)
            norms_[at(v)] = std::sqrt(squared_norm(coefficients_.data() + at(v) * kBlockSize));
    }

    /// docs/greens-wavelets.md eq. (W8). What is dropped, transformed back, is the error.
    [[nodiscard]] ThresholdSums threshold(double tolerance) {
        ThresholdSums sums;
        sums.norm_squared = norm_squared_;
        bool has_base = false;
        std::fill(dropped_.begin(), dropped_.end(), 0.0);
        for (int v = 0; v < transform_.num_vertices(); ++v) {
            if (transform_.domain(v) < 0) continue;
            const bool is_base = transform_.is_base(v);
            const double limit =
                std::ldexp(tolerance, transform_.level(v) - transform_.num_levels()) * amplitude_;
            if (norms_[at(v)] < limit && (!is_base || thresholds_base_)) {
                std::copy_n(coefficients_.data() + at(v) * kBlockSize, kBlockSize,
                            dropped_.data() + at(v) * kBlockSize);
            } else {
                ++sums.num_kept;
                has_base = has_base || is_base;
            }
        }
        sums.lost_base = !has_base;
        transform_.inverse(dropped_.data(), kBlockSize);
        for (int v = 0; v < transform_.num_vertices(); ++v) {
            const double error = squared_norm(dropped_.data() + at(v) * kBlockSize);
            sums.error_squared += error;
            sums.max = std::max(sums.max, std::sqrt(error) / amplitude_);
        }
        return sums;
    }

private:
    const SurfaceTransform& transform_;
    bool thresholds_base_;
    std::vector<double> coefficients_, dropped_, norms_;
    double norm_squared_ = 0, amplitude_ = 0;
};

/// Straight between neighbours in logarithms.
double compression_between(const std::vector<CompressionPoint>& points,
                           double CompressionPoint::*error, double wanted) {
    for (std::size_t k = 0; k + 1 < points.size(); ++k) {
        const double low = points[k].*error, high = points[k + 1].*error;
        if (!(low <= wanted && wanted <= high)) continue;
        const double share = high > low ? std::log(wanted / low) / std::log(high / low) : 0;
        return points[k].compression *
               std::pow(points[k + 1].compression / points[k].compression, share);
    }
    return kNotANumber;
}

std::string error_plot(const std::string& title, const std::vector<LabelledCurve>& curves,
                       const std::string& x_label, double CompressionPoint::*x, bool has_diagonal) {
    Plot plot{.title = title, .x_label = x_label, .y_label = "relative error"};
    plot.log_x = plot.log_y = true;
    for (const LabelledCurve& one : curves) {
        Series rms{one.label, {}, one.color, Stroke::LineAndDots},
            max{"", {}, one.color, Stroke::Dashed};
        for (const CompressionPoint& point : one.curve->points) {
            rms.points.emplace_back(point.*x, point.rms);
            max.points.emplace_back(point.*x, point.max);
        }
        plot.series.push_back(std::move(rms));
        plot.series.push_back(std::move(max));
    }
    if (has_diagonal)
        plot.series.push_back({"error = ε",
                               {{kCurveTolerances.front(), kCurveTolerances.front()},
                                {kCurveTolerances.back(), kCurveTolerances.back()}},
                               6,
                               Stroke::Line});
    return drawn(plot);
}

}  // namespace

std::shared_ptr<const GreensModel> wavelet_model(const std::string& shape, int levels) {
    static std::map<std::pair<std::string, int>, std::shared_ptr<const GreensModel>> made;
    std::shared_ptr<const GreensModel>& model = made[{shape, levels}];
    if (model != nullptr) return model;
    const AllCores all;
    const SemiRegularMesh surface = make_semi_regular(shape, levels);
    GreensBuildOptions options;
    options.youngs_modulus = 1e4;
    options.fixed = shape_support(shape, surface);
    options.cache = default_cache_folder();
    model = std::make_shared<const GreensModel>(build_greens_model(surface, options));
    return model;
}

const DenseGreensFunctions& dense_functions(const GreensModel& model) {
    return dynamic_cast<const DenseGreensFunctions&>(*model.reference.functions);
}

const CompressionPoint& CompressionCurve::at_tolerance(double tolerance) const {
    const auto found = std::find_if(points.begin(), points.end(), [&](const auto& point) {
        return std::abs(point.tolerance - tolerance) < 1e-9;
    });
    assert(found != points.end());
    return *found;
}

double CompressionCurve::compression_at_rms(double rms) const {
    return compression_between(points, &CompressionPoint::rms, rms);
}

double CompressionCurve::compression_at_max(double max) const {
    return compression_between(points, &CompressionPoint::max, max);
}

double CompressionCurve::compression_within_rms(double rms) const {
    return points.back().rms <= rms ? points.back().compression : compression_at_rms(rms);
}

std::span<const double> curve_tolerances() { return kCurveTolerances; }

CompressionCurve compression_curve(const ColumnsOfSurface& columns, std::span<const int> ids,
                                   WaveletKind kind, bool thresholds_base) {
    const AllCores all;
    std::vector<int> free_rows;
    for (std::size_t v = 0; v < columns.kinds.size(); ++v)
        if (columns.kinds[v] == NodeKind::Free) free_rows.push_back(static_cast<int>(v));
    const SurfaceTransform transform(
        columns.surface, kind, columns.areas,
        single_domain(free_rows, static_cast<int>(columns.kinds.size())));
    const DenseGreensFunctions& dense = columns.functions;
    std::map<int, std::size_t> place;
    for (std::size_t k = 0; k < dense.layout().columns.size(); ++k)
        place[dense.layout().columns[k]] = k;

    using Sums = std::vector<ThresholdSums>;
    const Sums sums = parallel_reduce(
        ids.size(), 16, Sums(kCurveTolerances.size()),
        [&](std::size_t begin, std::size_t end) {
            Sums part(kCurveTolerances.size());
            ThresholdedColumn column(transform, thresholds_base);
            for (std::size_t k = begin; k < end; ++k) {
                column.set(dense.values().data() + 3 * place.at(ids[k]) * dense.stride(),
                           dense.stride());
                for (std::size_t e = 0; e < part.size(); ++e)
                    part[e] = part[e].with(column.threshold(kCurveTolerances[e]));
            }
            return part;
        },
        [](Sums a, const Sums& b) {
            for (std::size_t e = 0; e < a.size(); ++e) a[e] = a[e].with(b[e]);
            return a;
        });
    CompressionCurve curve{kind, {}};
    const auto num_blocks = static_cast<double>(free_rows.size() * ids.size());
    for (std::size_t e = 0; e < sums.size(); ++e)
        curve.points.push_back(
            sums[e].lost_base
                ? CompressionPoint{kCurveTolerances[e], kNotANumber, kNotANumber, kNotANumber}
                : CompressionPoint{
                      kCurveTolerances[e], num_blocks / static_cast<double>(sums[e].num_kept),
                      std::sqrt(sums[e].error_squared / sums[e].norm_squared), sums[e].max});
    return curve;
}

std::vector<CompressionCurve> compression_curves(const GreensModel& model, bool thresholds_base) {
    std::vector<int> ids;
    for (int node = 0; node < model.num_nodes(); ++node)
        if (model.reference.kinds[at(node)] == NodeKind::Free &&
            model.reference.functions->has_column(node))
            ids.push_back(node);
    std::vector<CompressionCurve> curves;
    for (const WaveletKind kind : {WaveletKind::LiftedLinear, WaveletKind::LiftedButterfly,
                                   WaveletKind::Linear, WaveletKind::Butterfly})
        curves.push_back(compression_curve(
            {model.surface, model.reference.kinds, model.reference.areas, dense_functions(model)},
            ids, kind, thresholds_base));
    return curves;
}

std::string words_for(WaveletKind kind) {
    std::string words(to_string(kind));
    std::replace(words.begin(), words.end(), '-', ' ');
    return words;
}

std::string error_against_compression(const std::string& title,
                                      const std::vector<LabelledCurve>& curves) {
    return error_plot(title, curves, "compression", &CompressionPoint::compression, false);
}

std::string error_against_tolerance(const std::string& title,
                                    const std::vector<LabelledCurve>& curves) {
    return error_plot(title, curves, "tolerance ε", &CompressionPoint::tolerance, true);
}

std::vector<LabelledCurve> by_kind(const std::vector<CompressionCurve>& curves) {
    std::vector<LabelledCurve> labelled;
    for (const CompressionCurve& curve : curves)
        labelled.push_back({words_for(curve.kind), &curve, static_cast<int>(labelled.size())});
    return labelled;
}

Table point_table(const std::string& name, const std::string& caption, const std::string& key,
                  const std::string& label) {
    return {name,
            caption,
            {{key, label},
             {"transform", "transform"},
             {"tolerance", "ε"},
             {"compression", "compression"},
             {"rms", "RMS"},
             {"max", "MAX"}}};
}

void add_points(Table& table, const std::string& of, const CompressionCurve& curve) {
    for (const double tolerance : {0.01, 0.05, 0.1, 0.2}) {
        const CompressionPoint& point = curve.at_tolerance(tolerance);
        if (!std::isfinite(point.compression)) continue;
        table.add({of, words_for(curve.kind), Cell::number(point.tolerance),
                   Cell::number(point.compression, "%.2f"), Cell::number(point.rms, "%.4f"),
                   Cell::number(point.max, "%.4f")});
    }
}

}  // namespace pliant::reproduce
