#include "fem/stretch_watch.h"

#include "core/jacobi_eigen.h"
#include "fem/fem_model_data.h"
#include "fem/node_shares.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pliant {
namespace {

using L = Eigen::Array<float, StretchWatch::kLanes, 1>;
/// Elements of one task.
constexpr std::size_t kGrain = 512;

/// λ_max of a symmetric positive semidefinite matrix from above: (tr A¹⁶)^(1/16), no more than 7 %
/// too large when three eigenvalues share the maximum.
template <int N>
double largest_eigenvalue_bound(Eigen::Matrix<double, N, N> A) {
    const double scale = A.trace();
    if (!(scale > 0)) return 0;
    A /= scale;
    for (int k = 0; k < 4; ++k) A = A.lazyProduct(A).eval();
    return scale * std::pow(A.trace(), 1.0 / 16);
}

/// g_e of the element at a place, with its lumped mass.
template <int N>
double geometric_eigenvalue(const FemModelData& d, int place, Lumping lumping) {
    constexpr int kPoints = ReferenceElement<N>::kPoints;
    Eigen::Matrix<double, N, N> A = Eigen::Matrix<double, N, N>::Zero();
    for (int k = 0; k < kPoints; ++k) {
        const QuadraturePoint& point = d.points[static_cast<std::size_t>(place) * kPoints + k];
        const Eigen::Matrix<double, 3, N> g =
            point.inverse_jacobian.transpose() * ReferenceElement<N>::get().gradients[k];
        A += point.weight * g.transpose().lazyProduct(g);
    }
    const double density = d.materials[d.regions[place]].density;
    const Eigen::Matrix<double, N, 1> scale =
        (density * node_shares<N>(d, place, lumping)).cwiseSqrt().cwiseInverse();
    A = scale.asDiagonal() * A * scale.asDiagonal();
    return largest_eigenvalue_bound<N>(A);
}

/// λ and μ that bound the law; of anisotropic materials by the largest stiffness of all.
std::array<double, 2> constants_of(const Material& material) {
    if (!material.anisotropy) return {material.lambda, material.mu};
    Matrix6d C = material.anisotropy->stiffness;
    // a strain of this norm has the norm of the tensor
    C.bottomRows<3>() *= std::sqrt(2.0);
    C.rightCols<3>() *= std::sqrt(2.0);
    return {0, 0.5 * jacobi_eigen<6>(C).values.maxCoeff()};
}

/// The constants of all elements over ω₀².
template <int N, class Stiffness>
std::vector<Stiffness> stiffness_of(const FemModelData& d, Lumping lumping, double omega_squared) {
    std::vector<std::array<double, 2>> constants;
    for (const Material& material : d.materials) constants.push_back(constants_of(material));
    std::vector<Stiffness> all(d.regions.size());
    parallel_ranges(all.size(), kGrain, [&](std::size_t begin, std::size_t end) {
        for (std::size_t place = begin; place < end; ++place) {
            const double g =
                geometric_eigenvalue<N>(d, static_cast<int>(place), lumping) / omega_squared;
            const auto& [lambda, mu] = constants[static_cast<std::size_t>(d.regions[place])];
            all[place] = {static_cast<float>(g * lambda), static_cast<float>(g * mu)};
        }
    });
    return all;
}

/// Invariants of F, H = F − I by columns.
struct Invariants {
    L I, II, J;
    explicit Invariants(const std::array<L, 9>& H) {
        const L F[9] = {H[0] + 1.0f, H[1], H[2], H[3], H[4] + 1.0f, H[5], H[6], H[7], H[8] + 1.0f};
        I = L::Zero();
        for (const L& f : F) I += f * f;
        II = J = L::Zero();
        for (int l = 0; l < 3; ++l) {
            const L* const a = F + 3 * ((l + 1) % 3);
            const L* const b = F + 3 * ((l + 2) % 3);
            for (int c = 0; c < 3; ++c) {
                const int c1 = (c + 1) % 3, c2 = (c + 2) % 3;
                const L cofactor = a[c1] * b[c2] - a[c2] * b[c1];
                II += cofactor * cofactor;
                if (l == 0) J += F[c] * cofactor;
            }
        }
    }
};

/// The largest of three numbers, given their sum and that of their squares, from above; exact where
/// the two smaller ones are equal.
L largest_of_three(const L& sum, const L& squares) {
    const L mean = sum / 3.0f;
    return mean + (2.0f / 3.0f * (squares - 3.0f * mean * mean).max(0.0f)).sqrt();
}

/// σ of the stable neo-Hookean law P = a F + b cof F: the largest of three stretching modes, whose
/// matrix has the trace and the norm below, and of modes of twist a ± b s_k.
L neo_hookean_bound(const Invariants& x, const L& s_squared, const L& lambda, const L& mu) {
    const L mu_n = 4.0f / 3.0f * mu, lambda_n = lambda + 5.0f / 6.0f * mu;
    const L r = 1.0f / (x.I + 1.0f);
    const L a = mu_n * (1.0f - r), twice_da = 2.0f * mu_n * r * r;
    const L b = lambda_n * (x.J - 1.0f) - 0.75f * mu_n;
    const L q = lambda_n * x.J + b;
    const L J2 = x.J * x.J;
    // a + 2a' s_i² + λ' c_i² on the diagonal, 2a' c_k + (λ' J + b) s_k beside it
    const L sum = 3.0f * a + twice_da * x.I + lambda_n * x.II;
    const L s4 = x.I * x.I - 2.0f * x.II, c4 = x.II * x.II - 2.0f * J2 * x.I;
    const L diagonal = 3.0f * a * a + twice_da * twice_da * s4 + lambda_n * lambda_n * c4 +
                       2.0f * a * (twice_da * x.I + lambda_n * x.II) +
                       6.0f * twice_da * lambda_n * J2;
    const L beside = twice_da * twice_da * x.II + 6.0f * twice_da * q * x.J + q * q * x.I;
    return largest_of_three(sum, diagonal + 2.0f * beside).max(a + b.abs() * s_squared.sqrt());
}

/// λ F⊗F, μ (F Fᵀ dF + F dFᵀ F) and dF S, by norms.
L st_venant_kirchhoff_bound(const Invariants& x, const L& s_squared, const L& lambda, const L& mu) {
    const L stress = 0.5f * lambda * (x.I - 3.0f) + mu * (s_squared - 1.0f);
    return lambda.max(0.0f) * x.I + 2.0f * mu * s_squared + stress.max(0.0f);
}

/// Rotations count where κ = λ tr(S − I) − 2μ is positive, over the sum of two stretches, which is
/// at least 2 √(J/s) of the largest one.
L corotational_bound(const Invariants& x, const L& s_squared, const L& lambda, const L& mu) {
    const L kappa = lambda * ((3.0f * x.I).sqrt() - 3.0f) - 2.0f * mu;
    const L pair = (x.J.max(1e-6f) / s_squared.sqrt()).sqrt();
    return (3.0f * lambda + 2.0f * mu).max(2.0f * mu + kappa.max(0.0f) / pair);
}

/// Adds lanes to what was seen.
void keep_worst(Law law, const std::array<L, 9>& H, const L& lambda, const L& mu,
                StretchWatch::Look& worst) {
    const Invariants x(H);
    const L s_squared = largest_of_three(x.I, x.I * x.I - 2.0f * x.II);
    const L at_rest = (3.0f * lambda + 2.0f * mu).max(2.0f * mu);
    L now = at_rest;
    if (law == Law::NeoHookean) now = neo_hookean_bound(x, s_squared, lambda, mu);
    if (law == Law::StVenantKirchhoff) now = st_venant_kirchhoff_bound(x, s_squared, lambda, mu);
    if (law == Law::Corotational) now = corotational_bound(x, s_squared, lambda, mu);
    const L stiffening = at_rest.min(1.0f) + (now - at_rest).max(0.0f);
    const auto larger = [](const L& lanes, double& so_far) {
        for (const float value : lanes)
            if (!(value <= so_far))
                so_far = std::isnan(value) ? std::numeric_limits<double>::infinity()
                                           : static_cast<double>(value);
    };
    larger(stiffening, worst.stiffening);
    larger(s_squared, worst.largest_square);
    if (law != Law::StVenantKirchhoff) return;
    // s = J / c with c the largest product of two stretches
    const L c_squared = largest_of_three(x.II, x.II * x.II - 2.0f * x.J * x.J * x.I);
    const L smallest = x.J / c_squared.max(1e-30f).sqrt();
    for (const float value : smallest)
        worst.smallest_stvk = std::min(worst.smallest_stvk, static_cast<double>(value));
}

std::array<double, 3> numbers_of(const StretchWatch::Look& look) {
    return {look.stiffening, look.largest_square, look.smallest_stvk};
}

/// ∂φ_a/∂ξ of a hex at its eight points: [axis][a].
using HexFactors = std::array<std::array<L, 8>, 3>;
const HexFactors& hex_factors() {
    static const HexFactors made = [] {
        HexFactors all;
        for (std::size_t axis = 0; axis < 3; ++axis)
            for (std::size_t a = 0; a < 8; ++a)
                for (int k = 0; k < 8; ++k)
                    all[axis][a][k] = static_cast<float>(
                        ReferenceElement<8>::get().gradients[static_cast<std::size_t>(k)](
                            static_cast<int>(axis), static_cast<int>(a)));
        return all;
    }();
    return made;
}

}  // namespace

StretchWatch::StretchWatch(const FemModel& model, Lumping lumping, double omega_squared) {
    const FemModelData& d = model.data();
    if (!(omega_squared > 0 && std::isfinite(omega_squared))) return;
    if (d.mesh.kind == ElementKind::Tet4)
        add_tets(model, stiffness_of<4, Stiffness>(d, lumping, omega_squared));
    else
        add_hexes(model, stiffness_of<8, Stiffness>(d, lumping, omega_squared));
}

void StretchWatch::add_tets(const FemModel& model, const std::vector<Stiffness>& stiffness) {
    const FemModelData& d = model.data();
    for (const Law law : {Law::StVenantKirchhoff, Law::NeoHookean, Law::Corotational}) {
        int filled = kLanes;
        for (int place = 0; place < static_cast<int>(d.regions.size()); ++place) {
            if (d.materials[static_cast<std::size_t>(d.regions[place])].law != law) continue;
            if (filled == kLanes) {
                tets_.emplace_back().law = law;
                filled = 0;
            }
            // the others repeat this one until they have their own
            for (int lane = filled; lane < kLanes; ++lane) {
                const auto at = static_cast<std::size_t>(lane);
                TetGroup& group = tets_.back();
                const auto p = static_cast<std::size_t>(place);
                group.places[at] = place;
                group.lambda[at] = stiffness[p].lambda;
                group.mu[at] = stiffness[p].mu;
                for (int k = 0; k < 9; ++k)
                    group.inverse_jacobian[static_cast<std::size_t>(k)][at] =
                        static_cast<float>(d.points[p].inverse_jacobian(k % 3, k / 3));
            }
            ++filled;
        }
    }
}

void StretchWatch::add_hexes(const FemModel& model, const std::vector<Stiffness>& stiffness) {
    const FemModelData& d = model.data();
    for (int place = 0; place < static_cast<int>(d.regions.size()); ++place) {
        const auto p = static_cast<std::size_t>(place);
        const Law law = d.materials[static_cast<std::size_t>(d.regions[p])].law;
        if (law == Law::SmallStrain) continue;
        Hex hex{law, place, true, stiffness[p], {}, 0};
        const QuadraturePoint* const points = d.points.data() + 8 * p;
        const Eigen::Vector3d sides = points[0].inverse_jacobian.diagonal();
        for (int k = 0; k < 8; ++k)
            hex.is_box = hex.is_box && points[k].inverse_jacobian.isApprox(
                                           Eigen::Matrix3d(sides.asDiagonal()), 1e-6);
        if (hex.is_box) {
            for (int axis = 0; axis < 3; ++axis)
                hex.inverse_sides[static_cast<std::size_t>(axis)] = static_cast<float>(sides[axis]);
        } else {
            hex.first_point = static_cast<int>(points_.size());
            auto& all = points_.emplace_back();
            for (int k = 0; k < 8; ++k)
                for (int i = 0; i < 9; ++i)
                    all[static_cast<std::size_t>(i)][static_cast<std::size_t>(k)] =
                        static_cast<float>(points[k].inverse_jacobian(i % 3, i / 3));
        }
        hexes_.push_back(hex);
    }
}

StretchWatch::Workspace StretchWatch::make_workspace() const {
    return Workspace(std::max(detail::num_ranges(tets_.size(), kGrain / kLanes),
                              detail::num_ranges(hexes_.size(), kGrain)));
}

StretchWatch::Look StretchWatch::look(const FemModel& model, const FemModel::ConstRef& u,
                                      Workspace& ws) const noexcept {
    const FemModelData& d = model.data();
    const double* const all = u.data();
    const auto lanes = [](const Lanes& values) { return Eigen::Map<const L>(values.data()); };
    parallel_ranges(tets_.size(), kGrain / kLanes, [&](std::size_t begin, std::size_t end) {
        Look worst;
        for (std::size_t g = begin; g < end; ++g) {
            const TetGroup& group = tets_[g];
            std::array<L, 9> du, H;
            for (int lane = 0; lane < kLanes; ++lane) {
                const int* const nodes =
                    d.nodes.data() + std::size_t{4} * group.places[static_cast<std::size_t>(lane)];
                const double* const u0 = all + std::size_t{3} * nodes[0];
                for (std::size_t a = 0; a < 3; ++a) {
                    const double* const ua = all + std::size_t{3} * nodes[a + 1];
                    for (std::size_t c = 0; c < 3; ++c)
                        du[3 * a + c][lane] = static_cast<float>(ua[c] - u0[c]);
                }
            }
            for (std::size_t l = 0; l < 3; ++l)
                for (std::size_t c = 0; c < 3; ++c)
                    H[3 * l + c] = du[c] * lanes(group.inverse_jacobian[3 * l]) +
                                   du[3 + c] * lanes(group.inverse_jacobian[3 * l + 1]) +
                                   du[6 + c] * lanes(group.inverse_jacobian[3 * l + 2]);
            keep_worst(group.law, H, lanes(group.lambda), lanes(group.mu), worst);
        }
        ws[begin / (kGrain / kLanes)] = numbers_of(worst);
    });
    const HexFactors& factors = hex_factors();
    parallel_ranges(hexes_.size(), kGrain, [&](std::size_t begin, std::size_t end) {
        Look worst;
        for (std::size_t e = begin; e < end; ++e) {
            const Hex& hex = hexes_[e];
            const int* const nodes = d.nodes.data() + std::size_t{8} * hex.place;
            const double* const u0 = all + std::size_t{3} * nodes[0];
            std::array<L, 9> du, H;
            for (L& lane : du) lane = L::Zero();
            for (std::size_t a = 0; a < 8; ++a) {
                const double* const ua = all + std::size_t{3} * nodes[a];
                const float x[3] = {static_cast<float>(ua[0] - u0[0]),
                                    static_cast<float>(ua[1] - u0[1]),
                                    static_cast<float>(ua[2] - u0[2])};
                for (std::size_t axis = 0; axis < 3; ++axis)
                    for (std::size_t c = 0; c < 3; ++c) du[3 * axis + c] += x[c] * factors[axis][a];
            }
            for (std::size_t l = 0; l < 3; ++l)
                for (std::size_t c = 0; c < 3; ++c) {
                    if (hex.is_box) {
                        H[3 * l + c] = du[3 * l + c] * hex.inverse_sides[l];
                        continue;
                    }
                    const auto& J = points_[static_cast<std::size_t>(hex.first_point)];
                    H[3 * l + c] = du[c] * lanes(J[3 * l]) + du[3 + c] * lanes(J[3 * l + 1]) +
                                   du[6 + c] * lanes(J[3 * l + 2]);
                }
            keep_worst(hex.law, H, L::Constant(hex.stiffness.lambda), L::Constant(hex.stiffness.mu),
                       worst);
        }
        ws[begin / kGrain] = numbers_of(worst);
    });
    Look worst;
    for (const auto& [stiffening, largest_square, smallest_stvk] : ws) {
        worst.stiffening = std::max(worst.stiffening, stiffening);
        worst.largest_square = std::max(worst.largest_square, largest_square);
        worst.smallest_stvk = std::min(worst.smallest_stvk, smallest_stvk);
    }
    return worst;
}

}  // namespace pliant
