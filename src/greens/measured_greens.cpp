#include "pliant/greens/measured_greens.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <utility>

#include <Eigen/Eigenvalues>
#include <Eigen/LU>

#include "core/numbers.h"
#include "greens/coarse_hats.h"
#include "greens/column_batches.h"
#include "greens/greens_nodes.h"
#include "greens/shifted_columns.h"
#include "greens/surface_fill.h"
#include "pliant/core/error.h"
#include "pliant/core/parallel.h"

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;

constexpr int kMaxShiftedRings = 4;
/// Vertices named in a message.
constexpr std::size_t kMostNamed = 12;
/// Probes of one column that are told apart; the mask of a row has a bit for each.
constexpr std::size_t kMaxProbesOfVertex = 64;
/// Responses of pairs that differ by more than this make the result doubtful.
constexpr double kDoubtfulMeasurement = 0.3;

/// ζ_ij, m/N: rows by vertices, nine values each, column by column.
using Responses = MatrixXd;

Matrix3d response_block(const Responses& zeta, int row) {
    Matrix3d Z;
    for (int i = 0; i < 9; ++i) Z(i % 3, i / 3) = zeta(row, i);
    return Z;
}

void set_response(Responses& zeta, int row, const Matrix3d& Z) {
    for (int i = 0; i < 9; ++i) zeta(row, i) = Z(i % 3, i / 3);
}

double force_spread(const Matrix3d& F) {
    const Vector3d values = Eigen::SelfAdjointEigenSolver<Matrix3d>(F).eigenvalues();
    return values[2] > 0 ? std::max(values[0], 0.0) / values[2] : 0;
}

std::string named_vertices(const std::vector<int>& vertices) {
    std::string text = vertices.size() == 1 ? "vertex " : "vertices ";
    for (std::size_t i = 0; i < std::min(vertices.size(), kMostNamed); ++i)
        text += (i == 0 ? "" : ", ") + std::to_string(vertices[i]);
    if (vertices.size() > kMostNamed)
        text += " and " + std::to_string(vertices.size() - kMostNamed) + " more";
    return text;
}

class MeasuredBuilder {
public:
    MeasuredBuilder(const SemiRegularMesh& surface, const GreensMeasurement& measurement,
                    const MeasuredGreensOptions& options, Progress& progress,
                    MeasuredGreensReport& report)
        : measurement_(measurement), options_(options), progress_(progress), report_(report) {
        model_.surface = surface;
        if (options.size > 0) scale_to_size(model_.surface.mesh, options.size);
    }

    GreensModel build() {
        add_nodes();
        sort_probes();
        estimate();
        refuse_unknown();
        infer_selves();
        fill();
        infer_columns();
        add_functions();
        return std::move(model_);
    }

private:
    [[nodiscard]] const SurfaceMesh& mesh() const noexcept { return model_.surface.mesh; }
    [[nodiscard]] bool is_free(int v) const noexcept {
        return model_.reference.kinds[at(v)] == NodeKind::Free;
    }

    /// One node for each vertex.
    void add_nodes() {
        if (measurement_.num_vertices != mesh().num_vertices())
            throw InputError("", "vertices", std::to_string(measurement_.num_vertices),
                             std::to_string(mesh().num_vertices()) +
                                 ", as the surface has: probes name vertices by number");
        model_.method = GreensMethod::Measured;
        model_.poisson_ratio = options_.poisson_ratio;
        model_.density = options_.density;
        model_.normals = vertex_normals(mesh());
        for (const Triangle& corners : mesh().triangles) model_.corner_nodes.push_back(corners);
        ReferenceProblem& reference = model_.reference;
        reference.positions = mesh().vertices;
        reference.areas = vertex_areas(mesh());
        reference.length = bounding_box(mesh().vertices).sizes().maxCoeff();
        GreensBuildOptions selections;
        selections.fixed = options_.fixed;
        selections.contactable = options_.contactable;
        reference.kinds = node_kinds(reference.positions, reference.length, selections);
        wanted_ = column_nodes(reference.positions, reference.kinds, selections);
        connect_vertices(model_);
    }

    void sort_probes() {
        probes_of_.resize(mesh().vertices.size());
        for (const GreensProbe& probe : measurement_.probes) {
            const auto is_vertex = [&](int v) { return v >= 0 && v < mesh().num_vertices(); };
            if (!is_vertex(probe.vertex) || !std::ranges::all_of(probe.seen, is_vertex) ||
                probe.seen.size() != probe.displacements.size())
                throw InputError("",
                                 "a probe names a vertex that the surface does not have, or "
                                 "has not one displacement for each vertex seen");
            if (!is_free(probe.vertex))
                throw InputError("", "fixed", options_.fixed,
                                 "the base alone, but it selects vertex " +
                                     std::to_string(probe.vertex) +
                                     ", which was probed; narrow the selection");
            auto& probes = probes_of_[at(probe.vertex)];
            if (probes.size() == kMaxProbesOfVertex)
                throw InputError("", "vertex " + std::to_string(probe.vertex) +
                                         " has more than 64 probes; average repeated ones");
            probes.push_back(&probe);
        }
        // which columns are measured, and which can be inferred
        place_.assign(mesh().vertices.size(), -1);
        const int num_coarse = num_coarse_vertices(model_.surface);
        std::vector<int> unprobed;
        for (const int v : wanted_) {
            if (!probes_of_[at(v)].empty()) {
                place_[at(v)] = static_cast<int>(measured_.size());
                measured_.push_back(v);
            } else if (v < num_coarse) {
                unprobed.push_back(v);
            }
        }
        if (!unprobed.empty())
            throw InputError("", "too few probes: none at " + named_vertices(unprobed) +
                                     ", which may be touched; probe there, or leave " +
                                     (unprobed.size() == 1 ? "it" : "them") +
                                     " out of the contactable region");
    }

    /// docs/greens-measured.md eqs. (M1)–(M4), one column after the other.
    void estimate() {
        zeta_.resize(measured_.size());
        is_known_.resize(measured_.size());
        report_.columns.resize(measured_.size());
        sums_.resize(measured_.size());
        progress_.stage("estimation", measured_.size());
        parallel_for(measured_.size(), 4, [&](std::size_t c) {
            estimate_column(c);
            progress_.advance();
        });
        find_noise();
    }

    void estimate_column(std::size_t c) {
        const auto& probes = probes_of_[at(measured_[c])];
        MeasuredColumn& column = report_.columns[c];
        column.vertex = measured_[c];
        column.num_probes = static_cast<int>(probes.size());
        Matrix3d all = Matrix3d::Zero();
        for (const GreensProbe* probe : probes) all += probe->force * probe->force.transpose();
        column.spread = force_spread(all);

        // sums of each row over the probes that saw it
        const int n = mesh().num_vertices();
        std::vector<Matrix3d> uf(at(n), Matrix3d::Zero()), ff(at(n), Matrix3d::Zero());
        std::vector<double> uu(at(n), 0.0);
        std::vector<int> counts(at(n), 0);
        for (const GreensProbe* probe : probes)
            for (std::size_t i = 0; i < probe->seen.size(); ++i) {
                const auto v = at(probe->seen[i]);
                uf[v] += probe->displacements[i] * probe->force.transpose();
                ff[v] += probe->force * probe->force.transpose();
                uu[v] += probe->displacements[i].squaredNorm();
                ++counts[v];
            }

        zeta_[c] = Responses::Zero(n, 9);
        is_known_[c].assign(at(n), 0);
        ColumnSums& sums = sums_[c];
        double residual = 0;
        for (int v = 0; v < n; ++v) {
            if (!is_free(v)) {
                is_known_[c][at(v)] = 1;  // the base stays where it is
                continue;
            }
            if (counts[at(v)] < 3 || !(force_spread(ff[at(v)]) >= options_.min_spread)) continue;
            const double kappa = options_.regularisation * ff[at(v)].trace() / 3;
            const Matrix3d inverse = (ff[at(v)] + kappa * Matrix3d::Identity()).inverse();
            const Matrix3d Z = uf[at(v)] * inverse;
            set_response(zeta_[c], v, Z);
            is_known_[c][at(v)] = 1;
            ++column.num_seen;
            // Σ |u − ζ f|²
            const double left = uu[at(v)] - 2 * (Z.transpose() * uf[at(v)]).trace() +
                                (Z * ff[at(v)] * Z.transpose()).trace();
            residual += std::max(left, 0.0);
            sums.displacement += uu[at(v)];
            sums.freedom += 3 * (counts[at(v)] - 3);
            sums.response += Z.squaredNorm();
            sums.gain += 3 * inverse.trace();
        }
        sums.residual = residual;
        if (sums.displacement > 0) column.residual = std::sqrt(residual / sums.displacement);
    }

    /// Stated, else that of the column's own redundancy, else that of all of them.
    void find_noise() {
        double residual = 0, freedom = 0;
        for (const ColumnSums& sums : sums_) {
            residual += sums.residual;
            freedom += sums.freedom;
        }
        const bool is_stated = measurement_.noise > 0;
        const double pooled = freedom > 0 ? std::sqrt(residual / freedom) : 0;
        report_.noise = is_stated ? measurement_.noise : pooled;
        if (!is_stated && !(freedom > 0))
            report_.notes.emplace_back(
                "no vertex was seen in more than three probes of a column, and no noise is "
                "stated: errors of the columns are not known");
        for (std::size_t c = 0; c < sums_.size(); ++c) {
            const ColumnSums& sums = sums_[c];
            const double own = sums.freedom > 0 ? std::sqrt(sums.residual / sums.freedom) : pooled;
            const double noise = std::max(measurement_.noise, own);
            const double variance = noise * noise * sums.gain;
            const double truth = std::max(sums.response - variance, 0.0);
            MeasuredColumn& column = report_.columns[c];
            column.has_noise = is_stated || freedom > 0;
            column.error =
                variance > 0 ? std::sqrt(variance / std::max(truth, 1e-6 * variance)) : 0;
        }
    }

    void refuse_unknown() {
        std::vector<int> thin, noisy;
        double worst = 0;
        for (const MeasuredColumn& column : report_.columns) {
            if (column.num_probes < 3 || !(column.spread >= options_.min_spread))
                thin.push_back(column.vertex);
            else if (column.error > options_.max_error)
                noisy.push_back(column.vertex);
            worst = std::max(worst, column.error);
        }
        if (!thin.empty())
            throw InputError("", "too few probes: the columns of " + named_vertices(thin) +
                                     " have forces that do not span all directions; probe each "
                                     "in three or more that are well apart");
        if (noisy.empty()) return;
        char numbers[96];
        std::snprintf(numbers, sizeof numbers, "up to %.3g %%, allowed are %.3g %%",
                      100 * std::min(worst, 9.99), 100 * options_.max_error);
        throw InputError("", "too much noise: the columns of " + named_vertices(noisy) +
                                 " have an expected error of " + numbers +
                                 "; push harder, repeat probes, or allow more");
    }

    /// Loaded vertices that were not seen: the mean of their neighbours' own responses.
    void infer_selves() {
        const int num_coarse = num_coarse_vertices(model_.surface);
        std::vector<std::vector<int>> neighbours(mesh().vertices.size());
        for (int v = num_coarse; v < mesh().num_vertices(); ++v) {
            const auto& around =
                model_.surface.neighbourhood[at(v - model_.surface.num_vertices[0])];
            neighbours[at(around[0])].push_back(around[1]);
            neighbours[at(around[1])].push_back(around[0]);
        }
        std::vector<int> lost;
        std::vector<std::pair<std::size_t, Matrix3d>> found;
        for (std::size_t c = 0; c < measured_.size(); ++c) {
            const int v = measured_[c];
            if (is_known_[c][at(v)]) continue;
            Matrix3d sum = Matrix3d::Zero();
            int count = 0;
            for (const int other : neighbours[at(v)]) {
                const int place = place_[at(other)];
                if (place < 0 || !is_known_[at(place)][at(other)]) continue;
                sum += response_block(zeta_[at(place)], other);
                ++count;
            }
            if (count == 0)
                lost.push_back(v);
            else
                found.emplace_back(c, sum / count);
        }
        if (!lost.empty())
            throw InputError("", "too few probes: " + named_vertices(lost) +
                                     " were not seen while they were loaded, nor was any vertex "
                                     "beside them; the tip of the probe can tell");
        for (const auto& [c, Z] : found) {
            set_response(zeta_[c], measured_[c], Z);
            is_known_[c][at(measured_[c])] = 1;
        }
        report_.num_inferred_selves = static_cast<int>(found.size());
    }

    /// docs/greens-measured.md eq. (M5).
    void fill() {
        const SurfaceFill laplace(mesh());
        std::vector<char> is_filled(measured_.size(), 0);
        progress_.stage("hidden vertices", measured_.size());
        parallel_for(measured_.size(), 4, [&](std::size_t c) {
            is_filled[c] = laplace.fill(is_known_[c], zeta_[c]) ? 1 : 0;
            progress_.advance();
        });
        std::vector<int> lost;
        for (std::size_t c = 0; c < measured_.size(); ++c) {
            if (!is_filled[c]) lost.push_back(measured_[c]);
            for (const char is_known : is_known_[c])
                if (!is_known) ++report_.num_filled;
        }
        if (!lost.empty())
            throw InputError("", "too few probes: in the columns of " + named_vertices(lost) +
                                     " a whole part of the surface was never seen");
    }

    /// docs/greens-measured.md eqs. (M6), (M7).
    void infer_columns() {
        if (options_.columns == MeasuredColumns::Probed) {
            wanted_ = measured_;
            return;
        }
        const ShiftedColumns shifts(mesh());
        std::vector<int> missing;
        for (const int v : wanted_)
            if (place_[at(v)] < 0) missing.push_back(v);
        const std::size_t num_measured = zeta_.size();
        zeta_.resize(num_measured + missing.size());
        progress_.stage("inferred columns", missing.size());
        std::vector<char> is_found(missing.size(), 0);
        parallel_for(missing.size(), 4, [&](std::size_t i) {
            is_found[i] = infer_column(missing[i], shifts, zeta_[num_measured + i]) ? 1 : 0;
            progress_.advance();
        });
        std::vector<int> kept;
        for (const int v : wanted_) {
            if (place_[at(v)] >= 0) {
                kept.push_back(v);
                continue;
            }
            const auto i = static_cast<std::size_t>(
                std::lower_bound(missing.begin(), missing.end(), v) - missing.begin());
            if (!is_found[i]) continue;
            place_[at(v)] = static_cast<int>(num_measured + i);
            kept.push_back(v);
            ++report_.num_inferred;
        }
        if (kept.size() < wanted_.size())
            report_.notes.push_back(std::to_string(wanted_.size() - kept.size()) +
                                    " vertices have no column: no end of the edge that they split "
                                    "was probed; they feel rigid");
        wanted_ = std::move(kept);
    }

    /// False: neither parent was probed.
    bool infer_column(int vertex, const ShiftedColumns& shifts, Responses& zeta) const {
        const auto& around =
            model_.surface.neighbourhood[at(vertex - model_.surface.num_vertices[0])];
        std::array<const Responses*, 2> columns{};
        int count = 0;
        for (std::size_t p = 0; p < 2; ++p)
            if (const int place = place_[at(around[p])]; place >= 0) {
                columns[p] = &zeta_[at(place)];
                ++count;
            }
        if (count == 0) return false;
        // a parent that is held does not move: its responses are zero
        for (std::size_t p = 0; p < 2; ++p)
            if (!columns[p] && !is_free(around[p])) ++count;

        zeta = Responses::Zero(mesh().num_vertices(), 9);
        for (const Responses* column : columns)
            if (column) zeta += *column / count;
        for (const int row : shifts.near(vertex, options_.shifted_rings)) {
            zeta.row(row).setZero();
            if (!is_free(row)) continue;
            for (std::size_t p = 0; p < 2; ++p) {
                if (!columns[p]) continue;
                const SurfaceWalk::Place there = shifts.shifted(row, vertex, around[p]);
                for (int k = 0; k < 3; ++k)
                    zeta.row(row) += there.barycentric[k] / count *
                                     columns[p]->row(mesh().triangles[at(there.triangle)][at(k)]);
            }
        }
        // beside the base the field fades, but not the cusp on top of it
        for (std::size_t p = 0; p < 2; ++p)
            if (columns[p] && !is_free(around[1 - p])) {
                const std::vector<int> ring = shifts.near(around[p], 1);
                const double share = 0.5 / static_cast<double>(ring.size() - 1);
                zeta.row(vertex) += 0.5 * columns[p]->row(around[p]);
                for (std::size_t i = 1; i < ring.size(); ++i)
                    zeta.row(vertex) -= share * columns[p]->row(ring[i]);
            }
        return true;
    }

    /// docs/greens-measured.md eq. (M8).
    [[nodiscard]] double estimated_modulus(const std::vector<CoarseHat>& hats) const {
        const double nu = options_.poisson_ratio;
        const ShiftedColumns shifts(mesh());
        std::vector<double> moduli;
        for (const int v : measured_) {
            const Responses& zeta = zeta_[at(place_[at(v)])];
            const double area =
                hats[at(v)].area > 0 ? hats[at(v)].area : model_.reference.areas[at(v)];
            // against the second ring: what the whole body gives drops out
            const std::vector<int> rows = shifts.near(v, 2);
            const std::size_t inner = shifts.near(v, 1).size();
            Matrix3d ring = Matrix3d::Zero();
            double near = 0, count = 0;
            for (std::size_t i = inner; i < rows.size(); ++i) {
                if (!is_free(rows[i])) continue;
                ring += response_block(zeta, rows[i]);
                near += 1 / (mesh().vertices[at(rows[i])] - mesh().vertices[at(v)]).norm();
                ++count;
            }
            if (!(count > 0)) continue;
            const Vector3d& n = model_.normals[at(v)];
            const double give = n.dot((response_block(zeta, v) - ring / count) * n);
            const double shape = 3 / std::sqrt(3 * area / std::numbers::pi) - near / count;
            if (give > 0 && shape > 0)
                moduli.push_back((1 - nu * nu) * shape / (std::numbers::pi * give));
        }
        if (moduli.empty())
            throw InputError("",
                             "the surface comes out along the forces that press it in, at every "
                             "vertex probed; forces and displacements have opposite signs");
        const auto middle = moduli.begin() + static_cast<std::ptrdiff_t>(moduli.size() / 2);
        std::nth_element(moduli.begin(), middle, moduli.end());
        return *middle;
    }

    void add_functions() {
        ReferenceProblem& reference = model_.reference;
        const std::vector<CoarseHat> hats =
            coarse_hats(model_.surface, reference.kinds, reference.areas);
        report_.youngs_modulus =
            options_.youngs_modulus > 0 ? options_.youngs_modulus : estimated_modulus(hats);
        reference.modulus = report_.youngs_modulus / (2 * (1 + options_.poisson_ratio));
        if (options_.columns == MeasuredColumns::Probed)
            for (const int v : wanted_)
                if (hats[at(v)].area > 0) reference.areas[at(v)] = hats[at(v)].area;

        // tractions in units of the modulus: Ξ = ζ a G / ℓ₀
        auto functions = std::make_shared<DenseGreensFunctions>(
            DenseGreensLayout{mesh().num_vertices(), 3, wanted_, 0, 0});
        parallel_for(wanted_.size(), 16, [&](std::size_t i) {
            const int v = wanted_[i];
            const Responses& zeta = zeta_[at(place_[at(v)])];
            const double unit = reference.areas[at(v)] * reference.modulus / reference.length;
            MatrixXd column(3 * mesh().num_vertices(), 3);
            for (int row = 0; row < mesh().num_vertices(); ++row)
                column.middleRows<3>(3 * row) = unit * response_block(zeta, row);
            functions->set_column(v, column);
        });
        model_.asymmetry = reciprocity_defect(*functions, reference.kinds, reference.areas);
        report_.asymmetry = model_.asymmetry;
        if (model_.asymmetry > kDoubtfulMeasurement)
            report_.notes.emplace_back(
                "responses of pairs of vertices to each other differ much; check the directions "
                "of forces and the numbers of vertices");
        reference.functions = std::move(functions);
    }

    /// Of one column, over the rows that were seen.
    struct ColumnSums {
        double residual = 0, displacement = 0, freedom = 0, response = 0, gain = 0;
    };

    const GreensMeasurement& measurement_;
    const MeasuredGreensOptions& options_;
    Progress& progress_;
    MeasuredGreensReport& report_;
    GreensModel model_;
    std::vector<std::vector<const GreensProbe*>> probes_of_;
    std::vector<int> wanted_, measured_;  // vertices with columns, and those probed
    std::vector<int> place_;              // of the column of each vertex in zeta_, −1: none
    std::vector<Responses> zeta_;
    std::vector<std::vector<char>> is_known_;
    std::vector<ColumnSums> sums_;
};

void check_measured_options(const MeasuredGreensOptions& options) {
    const auto require = [](bool is_right, const char* field, double value, const char* expected) {
        if (!is_right) throw InputError("", field, std::to_string(value), expected);
    };
    require(options.size >= 0 && std::isfinite(options.size), "size", options.size,
            "a length in metres, or 0 to keep that of the surface");
    require(options.youngs_modulus >= 0 && std::isfinite(options.youngs_modulus), "youngs_modulus",
            options.youngs_modulus, "a positive number, or 0 to estimate it");
    require(options.poisson_ratio > -1 && options.poisson_ratio <= 0.5, "poisson_ratio",
            options.poisson_ratio, "-1 < value <= 0.5");
    require(options.density > 0 && std::isfinite(options.density), "density", options.density,
            "a positive number");
    require(options.regularisation >= 0 && options.regularisation <= 1, "regularisation",
            options.regularisation, "0 to 1");
    require(options.min_spread > 0 && options.min_spread <= 1, "min_spread", options.min_spread,
            "more than 0, up to 1");
    require(options.max_error > 0, "max_error", options.max_error, "a positive number");
    require(options.shifted_rings >= 0 && options.shifted_rings <= kMaxShiftedRings,
            "shifted_rings", options.shifted_rings, "0 to 4");
    if (options.fixed.empty())
        throw InputError("",
                         "fixed names no node, but measured bodies stand on something: name its "
                         "vertices, as in \"z < 5 %\"");
}

}  // namespace

GreensModel build_measured_model(const SemiRegularMesh& surface,
                                 const GreensMeasurement& measurement,
                                 const MeasuredGreensOptions& options, Progress& progress,
                                 MeasuredGreensReport* report) {
    check_measured_options(options);
    MeasuredGreensReport unused;
    MeasuredGreensReport& told = report ? *report : unused;
    told = {};
    return MeasuredBuilder(surface, measurement, options, progress, told).build();
}

}  // namespace pliant
