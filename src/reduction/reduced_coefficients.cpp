#include "pliant/reduction/reduced_coefficients.h"

#include "fem/accurate_hex.h"
#include "fem/fem_model_data.h"
#include "fem/material_dilation.h"
#include "geometry/trilinear.h"
#include "pliant/core/error.h"
#include "pliant/core/parallel.h"
#include "reduction/pair_strains.h"
#include "reduction/symmetric_product.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Which points count for a component, and how much: in boxes ∂u/∂x does not depend on x, so that
/// half the points tell xx; likewise yy and zz.
struct PointRule {
    std::array<std::array<double, 8>, 3> normal_factor{};  ///< of the weight; 0: skipped
    int num_columns = 0;                                   ///< of strains in one element
};

PointRule all_points(int num_points) {
    PointRule rule;
    for (auto& factors : rule.normal_factor)
        std::fill_n(factors.begin(), static_cast<std::size_t>(num_points), 1.0);
    rule.num_columns = 6 * num_points;
    return rule;
}

PointRule box_points() {
    PointRule rule;
    // Gauss point k lies at kHexSigns[k]/√3
    for (int k = 0; k < 8; ++k)
        for (int axis = 0; axis < 3; ++axis)
            rule.normal_factor[axis][k] = kHexSigns[k][axis] > 0 ? 2.0 : 0.0;
    rule.num_columns = 3 * 4 + 3 * 8;
    return rule;
}

bool is_box(const FemModelData& d, int place) {
    if (d.mesh.kind != ElementKind::Hex8) return false;
    const QuadraturePoint* const points = d.points.data() + static_cast<std::size_t>(place) * 8;
    const Matrix3d diagonal = points[0].inverse_jacobian.diagonal().asDiagonal();
    for (int k = 0; k < 8; ++k)
        if ((points[k].inverse_jacobian - diagonal).cwiseAbs().maxCoeff() >
            1e-12 * diagonal.cwiseAbs().maxCoeff())
            return false;
    return true;
}

/// Gram products of one region.
struct Products {
    MatrixXd trace;   ///< Σ tr e_P tr e_Q; of an anisotropic material Σ e_P : C : e_Q
    MatrixXd strain;  ///< Σ e_P : e_Q
    MatrixXd plane;   ///< of accurate hexes Σ of products of traces in planes of stress
    VectorXd stress;  ///< Σ S₀ : e_P
};

class ProductBuilder {
public:
    ProductBuilder(const FemModelData& d, const MatrixXd& U, const Material& material)
        : d_(d),
          U_(U),
          is_quadratic_(material.law == Law::StVenantKirchhoff),
          has_stars_(d.domains != nullptr && has_dilation_part(material)),
          P_(num_pairs(static_cast<int>(U.cols()))) {
        products_.trace = MatrixXd::Zero(P_, P_);
        if (material.anisotropy) {
            anisotropy_ = &*material.anisotropy;
            root_ = anisotropy_->stiffness.llt().matrixU();
            products_.stress = VectorXd::Zero(P_);
        } else {
            products_.strain = MatrixXd::Zero(P_, P_);
        }
    }

    /// Adds accurate hexes: 18 strains of each instead of six at eight points.
    void add_accurate(const std::vector<int>& places, std::int64_t block_bytes,
                      Progress& progress) {
        const bool is_isotropic = anisotropy_ == nullptr;
        const int trace_columns = is_isotropic ? 1 : kAccurateStrains;
        const int strain_columns = is_isotropic ? kAccurateStrains : 0;
        const int plane_columns = is_isotropic ? kPlaneTraces : 0;
        if (is_isotropic && products_.plane.size() == 0)
            products_.plane = MatrixXd::Zero(P_, P_);
        const std::int64_t bytes =
            std::int64_t{8} * P_ * (trace_columns + strain_columns + plane_columns);
        const auto batch = static_cast<std::size_t>(
            std::clamp<std::int64_t>(block_bytes / bytes, 1,
                                     static_cast<std::int64_t>(places.size())));
        const auto columns_of = [&](int per_element) {
            return static_cast<Eigen::Index>(batch) * per_element;
        };
        MatrixXd trace(P_, columns_of(trace_columns)), strain(P_, columns_of(strain_columns));
        MatrixXd plane(P_, columns_of(plane_columns));
        for (std::size_t first = 0; first < places.size(); first += batch) {
            const std::size_t count = std::min(batch, places.size() - first);
            parallel_ranges(count, 16, [&](std::size_t begin, std::size_t end) {
                AccurateScratch scratch(P_, U_.cols());
                for (std::size_t k = begin; k < end; ++k) {
                    const auto i = static_cast<Eigen::Index>(k);
                    fill_modes(places[first + k], scratch);
                    if (is_isotropic)
                        fill_isotropic(scratch, trace.col(i),
                                       strain.middleCols(i * strain_columns, strain_columns),
                                       plane.middleCols(i * plane_columns, plane_columns));
                    else
                        fill_anisotropic(scratch,
                                         trace.middleCols(i * trace_columns, trace_columns));
                }
            });
            const auto n = static_cast<Eigen::Index>(count);
            add_symmetric_product(trace.leftCols(n * trace_columns), products_.trace,
                                  num_threads());
            if (is_isotropic) {
                add_symmetric_product(strain.leftCols(n * strain_columns), products_.strain,
                                      num_threads());
                add_symmetric_product(plane.leftCols(n * plane_columns), products_.plane,
                                      num_threads());
            } else {
                // only the mean does work with the initial stress
                const Vector6d s = stress_by_root();
                for (std::size_t k = 0; k < count; ++k) {
                    const double root = std::sqrt(HexStressSpace(d_, places[first + k]).volume());
                    products_.stress +=
                        trace.middleCols<6>(static_cast<Eigen::Index>(k) * trace_columns) *
                        (root * s);
                }
            }
            progress.advance(count);
        }
    }

    /// Adds the elements at `places`, all of one shape kind; of tetrahedra that do not lock the
    /// edges in these slots.
    void add(const std::vector<int>& places, const PointRule& rule, std::int64_t block_bytes,
             Progress& progress) {
        const int num_points = points_per_element(d_.mesh.kind);
        const int trace_columns =
            anisotropy_ != nullptr ? 6 * num_points : (has_stars_ ? 0 : num_points);
        const int strain_columns = anisotropy_ != nullptr ? 0 : rule.num_columns;
        const std::int64_t bytes = std::int64_t{8} * P_ * (trace_columns + strain_columns);
        const auto batch = static_cast<std::size_t>(
            std::clamp<std::int64_t>(block_bytes / std::max<std::int64_t>(bytes, 1), 1,
                                     static_cast<std::int64_t>(places.size())));
        MatrixXd trace(P_, static_cast<Eigen::Index>(batch) * trace_columns);
        MatrixXd strain(P_, static_cast<Eigen::Index>(batch) * strain_columns);
        for (std::size_t first = 0; first < places.size(); first += batch) {
            const std::size_t count = std::min(batch, places.size() - first);
            parallel_ranges(count, 16, [&](std::size_t begin, std::size_t end) {
                Scratch scratch{PairStrains::Zero(P_, 6), {9, U_.cols()}};
                for (std::size_t k = begin; k < end; ++k)
                    fill(places[first + k], rule, scratch,
                         trace.middleCols(static_cast<Eigen::Index>(k) * trace_columns,
                                          trace_columns),
                         strain.middleCols(static_cast<Eigen::Index>(k) * strain_columns,
                                           strain_columns));
            });
            const auto n = static_cast<Eigen::Index>(count);
            if (trace_columns > 0)
                add_symmetric_product(trace.leftCols(n * trace_columns), products_.trace,
                                      num_threads());
            if (strain_columns > 0)
                add_symmetric_product(strain.leftCols(n * strain_columns), products_.strain,
                                      num_threads());
            // the columns of the batch in order, for the same sum on any number of threads
            if (anisotropy_ != nullptr)
                products_.stress +=
                    trace.leftCols(n * trace_columns) * stress_factors(places, first, count);
            progress.advance(count);
        }
    }

    /// Adds the traces of stars, the means over their edges, docs/fem.md eq. (W2).
    void add_stars(const std::vector<int>& stars, std::int64_t block_bytes, Progress& progress) {
        const auto batch = static_cast<std::size_t>(std::clamp<std::int64_t>(
            block_bytes / (std::int64_t{8} * P_), 1, static_cast<std::int64_t>(stars.size())));
        MatrixXd trace(P_, static_cast<Eigen::Index>(batch));
        for (std::size_t first = 0; first < stars.size(); first += batch) {
            const std::size_t count = std::min(batch, stars.size() - first);
            parallel_ranges(count, 16, [&](std::size_t begin, std::size_t end) {
                Eigen::Matrix<double, 9, Eigen::Dynamic> G(9, U_.cols());
                for (std::size_t k = begin; k < end; ++k)
                    fill_star(stars[first + k], G, trace.col(static_cast<Eigen::Index>(k)));
            });
            add_symmetric_product(trace.leftCols(static_cast<Eigen::Index>(count)), products_.trace,
                                  num_threads());
            progress.advance(count);
        }
    }

    [[nodiscard]] const Products& products() const noexcept { return products_; }

private:
    struct Scratch {
        PairStrains e;
        Eigen::Matrix<double, 9, Eigen::Dynamic> G;
    };

    /// Strains of an accurate hex that count, and those whose traces do.
    static constexpr int kAccurateStrains = 18, kPlaneTraces = 6;

    /// Σ w ψ e_P of one element: the sum itself, and of the six functions.
    struct AccurateScratch {
        AccurateScratch(int num_pairs, Eigen::Index r)
            : e(PairStrains::Zero(num_pairs, 6)), G(9, r) {
            of_mode.fill(PairStrains::Zero(num_pairs, 6));
        }
        PairStrains e;
        Eigen::Matrix<double, 9, Eigen::Dynamic> G;
        std::array<PairStrains, 7> of_mode;
        double volume = 0;
        Matrix3d tangents, normals;
    };

    void fill_modes(int place, AccurateScratch& scratch) const {
        const HexStressSpace space(d_, place);
        scratch.volume = space.volume();
        scratch.tangents = space.tangents();
        scratch.normals = space.normals();
        for (PairStrains& sum : scratch.of_mode) sum.setZero();
        for (int q = 0; q < 8; ++q) {
            basis_gradients<8>(d_, U_, place, q, scratch.G);
            pair_strains(scratch.G, is_quadratic_, scratch.e);
            if (anisotropy_ != nullptr) {
                scratch.e.row(0) = -anisotropy_->initial_strain.transpose();
                scratch.e.row(0).tail<3>() *= 0.5;
            }
            for (int k = 0; k < 7; ++k)
                scratch.of_mode[static_cast<std::size_t>(k)] += space.weights()(q, k) * scratch.e;
        }
        scratch.of_mode[0] /= std::sqrt(scratch.volume);
    }

    /// Factors of the six components of E in a · E b.
    static Vector6d contraction(const Eigen::Vector3d& a, const Eigen::Vector3d& b) {
        Vector6d factors;
        factors << a[0] * b[0], a[1] * b[1], a[2] * b[2], a[1] * b[2] + a[2] * b[1],
            a[2] * b[0] + a[0] * b[2], a[0] * b[1] + a[1] * b[0];
        return factors;
    }

    static void fill_isotropic(const AccurateScratch& scratch, Eigen::Ref<VectorXd> trace,
                               Eigen::Ref<MatrixXd> strain, Eigen::Ref<MatrixXd> plane) {
        const PairStrains& mean = scratch.of_mode[0];
        trace = mean.leftCols<3>().rowwise().sum();
        strain.leftCols<3>() = mean.leftCols<3>();
        strain.middleCols<3>(3) = std::sqrt(2.0) * mean.rightCols<3>();
        for (int k = 0; k < 3; ++k) {
            // two unit vectors across the normal
            const Eigen::Vector3d a = scratch.tangents.col((k + 1) % 3);
            const Eigen::Vector3d b = scratch.normals.col(k).cross(a);
            const PairStrains& linear = scratch.of_mode[static_cast<std::size_t>(k) + 1];
            strain.col(6 + 3 * k) = linear * contraction(a, a);
            strain.col(7 + 3 * k) = linear * contraction(b, b);
            strain.col(8 + 3 * k) = std::sqrt(2.0) * linear * contraction(a, b);
            plane.col(k) = strain.col(6 + 3 * k) + strain.col(7 + 3 * k);
            const Eigen::Vector3d t = scratch.tangents.col(k);
            strain.col(15 + k) =
                scratch.of_mode[static_cast<std::size_t>(k) + 4] * contraction(t, t);
            plane.col(3 + k) = strain.col(15 + k);
        }
    }

    void fill_anisotropic(AccurateScratch& scratch, Eigen::Ref<MatrixXd> columns) const {
        // engineering shears
        for (PairStrains& e : scratch.of_mode) e.rightCols<3>() *= 2.0;
        columns.leftCols<6>() = scratch.of_mode[0] * root_.transpose();
        for (int k = 0; k < 3; ++k) {
            const auto mode = static_cast<std::size_t>(k) + 1;
            columns.middleCols<3>(6 + 3 * k) =
                scratch.of_mode[mode] *
                plane_stress_root(anisotropy_->stiffness, scratch.tangents, k);
            columns.col(15 + k) =
                scratch.of_mode[mode + 3] *
                edge_stress_root(anisotropy_->stiffness, scratch.tangents, k);
        }
    }

    /// S₀ = Lᵀ s of the root L of the stiffness.
    [[nodiscard]] Vector6d stress_by_root() const {
        return root_.transpose().triangularView<Eigen::Lower>().solve(
            anisotropy_->initial_stress);
    }

    [[nodiscard]] double weight(int place, int k) const {
        if (d_.domains) return d_.domains->weights[place];
        return d_
            .points[static_cast<std::size_t>(place) *
                        static_cast<std::size_t>(points_per_element(d_.mesh.kind)) +
                    static_cast<std::size_t>(k)]
            .weight;
    }

    void fill(int place, const PointRule& rule, Scratch& scratch, Eigen::Ref<MatrixXd> trace,
              Eigen::Ref<MatrixXd> strain) const {
        Eigen::Index column = 0;
        for (int k = 0; k < points_per_element(d_.mesh.kind); ++k) {
            if (d_.domains)
                edge_gradients(*d_.domains, U_, place, scratch.G);
            else
                with_element(d_.mesh.kind,
                             [&](auto N) { basis_gradients<N>(d_, U_, place, k, scratch.G); });
            pair_strains(scratch.G, is_quadratic_, scratch.e);
            const double w = weight(place, k), root = std::sqrt(w);
            if (anisotropy_ != nullptr) {
                scratch.e.row(0) = -anisotropy_->initial_strain.transpose();
                scratch.e.row(0).tail<3>() *= 0.5;
                // engineering shears
                PairStrains voigt = scratch.e;
                voigt.rightCols<3>() *= 2.0;
                trace.middleCols<6>(6 * k).noalias() = root * voigt * root_.transpose();
                continue;
            }
            if (!has_stars_) trace.col(k) = root * scratch.e.leftCols<3>().rowwise().sum();
            for (int c = 0; c < 3; ++c)
                if (const double factor = rule.normal_factor[c][k]; factor > 0)
                    strain.col(column++) = std::sqrt(factor * w) * scratch.e.col(c);
            for (int c = 3; c < 6; ++c) strain.col(column++) = std::sqrt(2 * w) * scratch.e.col(c);
        }
    }

    /// √V_n times the mean of tr e_P.
    void fill_star(int star, Eigen::Matrix<double, 9, Eigen::Dynamic>& G,
                   Eigen::Ref<VectorXd> trace) const {
        const TetDomains& domains = *d_.domains;
        const auto r = static_cast<int>(U_.cols());
        const double root = std::sqrt(domains.star_weights[star]);
        Eigen::RowVectorXd linear = Eigen::RowVectorXd::Zero(r);
        MatrixXd products = MatrixXd::Zero(r, r);  // ∇u_i : ∇u_j
        for (int k = domains.star_edge_offsets[star]; k < domains.star_edge_offsets[star + 1];
             ++k) {
            const double share = root * domains.star_shares[k];
            edge_gradients(domains, U_, domains.star_edges[k], G);
            linear += share * (G.row(0) + G.row(4) + G.row(8));
            if (is_quadratic_) products += share * G.transpose().lazyProduct(G);
        }
        trace.setZero();
        for (int j = 1; j <= r; ++j) {
            trace[pair_index(0, j)] = linear[j - 1];
            if (!is_quadratic_) continue;
            for (int i = 1; i <= j; ++i)
                trace[pair_index(i, j)] = (i == j ? 0.5 : 1.0) * products(i - 1, j - 1);
        }
    }

    /// Σ weight S₀ · e from the columns root(weight) L e: S₀ = Lᵀ (L⁻ᵀ S₀).
    [[nodiscard]] VectorXd stress_factors(const std::vector<int>& places, std::size_t first,
                                          std::size_t count) const {
        const Vector6d s = stress_by_root();
        const int num_points = points_per_element(d_.mesh.kind);
        VectorXd factors(static_cast<Eigen::Index>(count) * 6 * num_points);
        for (std::size_t k = 0; k < count; ++k)
            for (int point = 0; point < num_points; ++point)
                factors.segment<6>((static_cast<Eigen::Index>(k) * num_points + point) * 6) =
                    std::sqrt(weight(places[first + k], point)) * s;
        return factors;
    }

    const FemModelData& d_;
    const MatrixXd& U_;
    const Anisotropy* anisotropy_ = nullptr;
    Matrix6d root_;
    bool is_quadratic_;
    bool has_stars_;  ///< which take the trace
    int P_;
    Products products_;
};

/// w of factor · Σ T_PQ (q q)_P (q q)_Q, from the upper triangle of T.
ReducedCoefficients fold(const MatrixXd& T, int r, double factor) {
    ReducedCoefficients c{r, std::vector<double>(static_cast<std::size_t>(num_quartic(r)), 0.0)};
    for (int l = 0; l <= r; ++l)
        for (int k = 0; k <= l; ++k)
            for (int j = 0; j <= r; ++j)
                for (int i = 0; i <= j; ++i) {
                    const int P = pair_index(i, j), Q = pair_index(k, l);
                    std::array<int, 4> sorted{i, j, k, l};
                    std::sort(sorted.begin(), sorted.end());
                    c.w[static_cast<std::size_t>(
                        quartic_index(sorted[0], sorted[1], sorted[2], sorted[3]))] +=
                        factor * (P <= Q ? T(P, Q) : T(Q, P));
                }
    return c;
}

void check_law(const Material& material) {
    if (material.law != Law::StVenantKirchhoff && material.law != Law::SmallStrain)
        throw InputError("", "material.law", std::string(to_string(material.law)),
                         "st-venant-kirchhoff or small-strain for a polynomial; other laws need "
                         "direct evaluation");
}

}  // namespace

ReducedCoefficients ReducedCoefficients::truncated(int size) const {
    assert(size >= 0 && size <= r);
    return {size, {w.begin(), w.begin() + static_cast<std::ptrdiff_t>(num_quartic(size))}};
}

void ReducedCoefficients::add(const ReducedCoefficients& other, double factor) {
    assert(other.r == r);
    for (std::size_t k = 0; k < w.size(); ++k) w[k] += factor * other.w[k];
}

std::vector<MaterialPolynomials> build_coefficients(const FemModel& model, const MatrixXd& U,
                                                    Progress& progress, std::int64_t block_bytes) {
    assert(U.rows() == model.num_unknowns() && U.cols() > 0);
    const FemModelData& d = model.data();
    for (const Material& material : model.materials()) check_law(material);
    const auto r = static_cast<int>(U.cols());
    const int num_places = d.domains ? d.domains->num_slots() : model.mesh().num_elements();
    progress.stage("polynomials",
                   static_cast<std::size_t>(num_places + (d.domains ? d.domains->num_stars() : 0)));
    const PointRule whole = all_points(points_per_element(d.mesh.kind)), box = box_points();
    std::vector<MaterialPolynomials> groups;
    for (int region = 0; region < static_cast<int>(model.materials().size()); ++region) {
        const Material& material = model.materials()[region];
        ProductBuilder builder(d, U, material);
        std::vector<int> accurate, boxes, others, stars;
        if (d.domains) {
            const TetDomains& domains = *d.domains;
            for (int slot = 0; slot < domains.num_slots(); ++slot)
                if (domains.regions[slot] == region && domains.weights[slot] > 0)
                    others.push_back(slot);
            for (int star = 0; star < domains.num_stars(); ++star)
                if (domains.star_regions[star] == region) stars.push_back(star);
        }
        for (int place = 0; !d.domains && place < num_places; ++place) {
            if (d.regions[place] != region) continue;
            if (is_accurate_hex(d, place))
                accurate.push_back(place);
            else
                (!material.anisotropy && is_box(d, place) ? boxes : others).push_back(place);
        }
        if (!accurate.empty()) builder.add_accurate(accurate, block_bytes, progress);
        if (!boxes.empty()) builder.add(boxes, box, block_bytes, progress);
        if (!others.empty()) builder.add(others, whole, block_bytes, progress);
        if (!stars.empty()) builder.add_stars(stars, block_bytes, progress);

        const Products& products = builder.products();
        MaterialPolynomials group;
        group.is_anisotropic = material.anisotropy.has_value();
        group.of_lambda = fold(products.trace, r, 0.5);
        if (!group.is_anisotropic) {
            group.of_mu = fold(products.strain, r, 1.0);
            if (products.plane.size() > 0) group.of_plane = fold(products.plane, r, 0.5);
        } else {
            for (int j = 0; j <= r; ++j)
                for (int i = 0; i <= j; ++i)
                    group.of_lambda.w[static_cast<std::size_t>(quartic_index(0, 0, i, j))] +=
                        products.stress[pair_index(i, j)];
            // S₀ : E, not S₀ : (E − E₀): the constant counts for nothing
            group.of_lambda.w[0] = 0;
        }
        groups.push_back(std::move(group));
    }
    return groups;
}

ReducedCoefficients combine(const std::vector<MaterialPolynomials>& groups,
                            std::span<const Material> materials) {
    assert(groups.size() == materials.size() && !groups.empty());
    const int r = groups.front().of_lambda.r;
    ReducedCoefficients sum{r, std::vector<double>(static_cast<std::size_t>(num_quartic(r)), 0.0)};
    for (std::size_t g = 0; g < groups.size(); ++g) {
        sum.add(groups[g].of_lambda, groups[g].is_anisotropic ? 1.0 : materials[g].lambda);
        if (!groups[g].is_anisotropic) sum.add(groups[g].of_mu, materials[g].mu);
        if (!groups[g].of_plane.w.empty())
            sum.add(groups[g].of_plane, plane_stress_lambda(materials[g]));
    }
    return sum;
}

}  // namespace pliant
