#pragma once

#include "pliant/greens/wavelet_greens.h"

#include <memory>
#include <span>
#include <vector>

namespace pliant {

/// Wavelet columns as a larger tolerance would have left them, without building anything: the
/// blocks of each column are ordered by the tolerance that drops them, docs/greens-wavelets.md
/// eq. (W11), so that those of any tolerance come first. Smaller tolerances than the one of the
/// build change nothing: what it dropped is gone. Immutable, for all threads.
class ToleranceView {
public:
    /// Inverts every column once, on all cores.
    explicit ToleranceView(std::shared_ptr<const WaveletGreensFunctions> stored);

    /// As accumulate() of the columns; columns of body forces stay whole.
    void accumulate(std::span<const int> ids, std::span<const float> weights,
                    std::span<const float> body_weights, double tolerance, int num_nodes,
                    std::span<float> sum) const noexcept;
    /// What is left. `rms` and `max` are estimates: those of the build, and what dropping more does
    /// to some columns.
    [[nodiscard]] CompressionReport report(double tolerance) const;

private:
    struct Errors {
        double rms = 0, max = 0;  // against the stored columns
    };
    void order(std::size_t place, std::span<float> field);
    [[nodiscard]] std::size_t num_kept(std::size_t place, double tolerance) const noexcept;
    [[nodiscard]] Errors errors_of(double tolerance) const;

    std::shared_ptr<const WaveletGreensFunctions> stored_;
    std::vector<std::size_t> starts_;   // of the blocks of each column
    std::vector<std::uint32_t> order_;  // blocks in their column
    std::vector<float> drops_;          // from this tolerance on; descending in each column
    std::vector<float> all_drops_;      // of free rows and columns, ascending
    std::vector<float> amplitudes_;     // of the free rows of each column
    std::vector<double> samples_;       // tolerances
    std::vector<Errors> errors_;        // at these
};

}  // namespace pliant
