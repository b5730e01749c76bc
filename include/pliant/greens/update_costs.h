#pragma once

#include <array>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace pliant {

/// One measured way to the inverse of `size` nodes (three conditions each).
struct UpdateTiming {
    double size = 0;        ///< nodes of the result
    double added = 0;       ///< nodes
    double removed = 0;     ///< nodes
    bool is_update = true;  ///< otherwise from scratch
    double seconds = 0;     ///< that it took [s]
};

/// Predicts what an inverse costs on this machine: polynomials in the numbers of nodes with
/// coefficients that are not negative, docs/greens.md eqs. (13) and (14), fitted to timings.
class UpdateCosts {
public:
    static constexpr int kInverseTerms = 4;
    static constexpr int kUpdateTerms = 20;

    /// Coefficients that hold roughly on any machine: before a calibration.
    UpdateCosts();
    /// Least squares of relative errors. Throws InputError with fewer than four timings of either
    /// kind, or times that are not positive.
    static UpdateCosts fit(std::span<const UpdateTiming> timings);
    /// Times inversions and updates on this machine: some seconds for 200 nodes.
    static UpdateCosts measure(int max_size = 200);
    /// The sweep behind `measure`: sizes up to `max_size` nodes, the best of `repeats` each.
    [[nodiscard]] static std::vector<UpdateTiming> time_updates(int max_size, int repeats);

    /// Throws InputError when the file is missing or is not one of these.
    static UpdateCosts load(const std::filesystem::path& file);
    void save(const std::filesystem::path& file) const;
    /// Of this machine, from the folder; measured and stored there the first time. Files that do
    /// not read are measured again. An empty folder: measured, not stored.
    static UpdateCosts of_this_machine(const std::filesystem::path& folder, int max_size = 200);
    /// Name of the file of this machine in such a folder.
    [[nodiscard]] static std::string file_name();

    /// Seconds, for numbers of nodes; thirds are single conditions.
    [[nodiscard]] double from_scratch(double size) const noexcept;
    [[nodiscard]] double update(double size, double added, double removed) const noexcept;

private:
    std::array<double, kInverseTerms> inverse_{};
    std::array<double, kUpdateTerms> update_{};
};

}  // namespace pliant
