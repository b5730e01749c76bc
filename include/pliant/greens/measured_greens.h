#pragma once

#include "pliant/core/progress.h"
#include "pliant/greens/greens_model.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace pliant {

/// One push on a body that stands on its base: a known force at a vertex of its surface, and how
/// far the vertices moved that were seen. Axes of the body, SI.
struct GreensProbe {
    int vertex = 0;
    Eigen::Vector3d force = Eigen::Vector3d::Zero();  ///< on the body [N]
    std::vector<int> seen;                            ///< vertices, each once
    std::vector<Eigen::Vector3d> displacements;       ///< of these [m]
};

/// What a robot and its cameras found out about a body.
struct GreensMeasurement {
    int num_vertices = 0;  ///< of the surface
    /// Standard deviation of a coordinate of a displacement [m]; 0: unknown, it is estimated where
    /// a vertex was seen in more than three probes.
    double noise = 0;
    std::vector<GreensProbe> probes;
};

/// Text, docs/greens-measured.md section "File". Throws InputError that names the line for what is
/// not a number, vertices out of range or twice in a probe.
[[nodiscard]] GreensMeasurement load_measurement(const std::filesystem::path& path);
[[nodiscard]] GreensMeasurement parse_measurement(const std::string& text, const std::string& name);
void save_measurement(const GreensMeasurement& measurement, const std::filesystem::path& path);

/// Over what the force of a synthetic probe is spread.
enum class ProbeTip {
    Coarse,  ///< the hat function of the vertex on the level before the finest
    Vertex,  ///< that of the finest level
};

struct SyntheticProbing {
    int num_probes = 4;  ///< of each vertex: forces around the inward normal
    double cone = 0.7;   ///< angle between normal and forces [rad]
    double force = 0;    ///< [N]; 0: so that loaded vertices move by 2 % of the body's length
    double noise = 0;    ///< standard deviation of a coordinate of a displacement [m]
    /// This share of the vertices, drawn anew for each probed vertex, is not seen.
    double hidden_share = 0;
    /// Vertices that no camera at these places [m] sees are hidden; empty: none is.
    std::vector<Eigen::Vector3d> cameras = {};
    bool sees_loaded = true;  ///< the tip says where it is, whatever the cameras see
    ProbeTip tip = ProbeTip::Coarse;
    std::uint64_t seed = 1;
};

/// Probes the free vertices of level L − 1 of a model whose nodes are its vertices. Throws
/// InputError for other models, a surface without levels and options out of range.
[[nodiscard]] GreensMeasurement synthetic_measurement(const GreensModel& model,
                                                      const SyntheticProbing& options);

/// Which vertices have columns.
enum class MeasuredColumns {
    All,     ///< those not probed are inferred from their parents; Ξ_:j = a_j ζ_:j
    Probed,  ///< the others have none; areas are those of level L − 1, a_[L−1,j]
};

struct MeasuredGreensOptions {
    double size = 0;    ///< the longest side of the surface is scaled to this [m]; 0: as it is
    std::string fixed;  ///< the base, as in "z < 5 %"
    /// Free vertices that may be touched and so have columns; empty: all of them.
    std::string contactable = {};
    double youngs_modulus = 0;     ///< scale of the units [Pa]; 0: estimated, eq. (M8)
    double poisson_ratio = 0.3;    ///< used for the estimate
    double density = 1000;         ///< [kg/m³]
    double regularisation = 1e-6;  ///< κ over a third of the trace of Σ f fᵀ
    double min_spread = 0.02;  ///< smallest over largest eigenvalue of Σ f fᵀ of forces that span
    double max_error = 0.2;    ///< of a column by noise, relative, RMS
    int shifted_rings = 2;     ///< rows of inferred columns that are shifted: 0 to 4 edges away
    MeasuredColumns columns = MeasuredColumns::All;
};

/// How well a column is known.
struct MeasuredColumn {
    int vertex = 0;
    int num_probes = 0;
    double spread = 0;       ///< smallest over largest eigenvalue of Σ f fᵀ
    int num_seen = 0;        ///< free rows estimated; the others are filled in
    double residual = 0;     ///< RMS of what the estimate leaves over RMS displacement
    double error = 0;        ///< expected relative RMS error of its rows by noise, eq. (M4)
    bool has_noise = false;  ///< the noise is known, stated or from redundant probes
};

struct MeasuredGreensReport {
    std::vector<MeasuredColumn> columns;  ///< probed ones
    int num_inferred = 0;                 ///< columns of vertices that were not probed
    int num_filled = 0;                   ///< blocks found by Laplace's equation
    int num_inferred_selves = 0;          ///< loaded vertices that were not seen
    double noise = 0;                     ///< [m], as stated or the mean of the estimates
    double youngs_modulus = 0;            ///< [Pa]
    double asymmetry = 0;                 ///< reciprocity, docs/greens.md eq. (C5)
    std::vector<std::string> notes;
};

/// Green's functions between the free vertices of a body from what was measured,
/// docs/greens-measured.md eqs. (M1)–(M8): dense, without body columns and without tractions of the
/// base. Throws InputError for options out of range, a surface whose vertices do not fit, and
/// measurements with too few probes or too much noise, naming the columns; Cancelled.
[[nodiscard]] GreensModel build_measured_model(const SemiRegularMesh& surface,
                                               const GreensMeasurement& measurement,
                                               const MeasuredGreensOptions& options,
                                               Progress& progress = Progress::none(),
                                               MeasuredGreensReport* report = nullptr);

}  // namespace pliant
