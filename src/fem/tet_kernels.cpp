// Highway compiles this file once for each instruction set by including it again: keep Eigen and
// everything else with inline code of its own out of it.
#include "fem/tet_kernels.h"

#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fem/tet_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// after highway.h
#include "fem/tet_lanes-inl.h"
#include "fem/tet_laws-inl.h"

HWY_BEFORE_NAMESPACE();
namespace pliant::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Some lanes of a batch.
template <class D>
struct Tets {
    using T = hn::TFromD<D>;

    HWY_INLINE Tets(const TetShapes<T>& shapes, const TetNodes& nodes, int first_lane)
        : lambda(hn::Load(D(), shapes.lambda + first_lane)),
          mu(hn::Load(D(), shapes.mu + first_lane)) {
        PLIANT_UNROLL
        for (int a = 0; a < 3; ++a) {
            PLIANT_UNROLL
            for (int k = 0; k < 3; ++k)
                g[a].v[k] = hn::Load(D(), shapes.gradients[a][k] + first_lane);
        }
        PLIANT_UNROLL
        for (int a = 0; a < 4; ++a) places[a] = nodes.places[a] + first_lane;
    }

    /// Σ u_a g_aᵀ with g_0 = −g_1 − g_2 − g_3.
    HWY_INLINE Matrix3<D> gradient(const T* u) const {
        const D d;
        const Vector3<D> u0 = gather(d, u, places[0]);
        Matrix3<D> H;
        PLIANT_UNROLL
        for (int a = 0; a < 3; ++a) {
            const Vector3<D> ua = gather(d, u, places[a + 1]);
            PLIANT_UNROLL
            for (int i = 0; i < 3; ++i) {
                const auto du = hn::Sub(ua.v[i], u0.v[i]);
                PLIANT_UNROLL
                for (int k = 0; k < 3; ++k)
                    H.m[i][k] =
                        a == 0 ? hn::Mul(du, g[a].v[k]) : hn::MulAdd(du, g[a].v[k], H.m[i][k]);
            }
        }
        return H;
    }

    /// f_a += P g_a.
    HWY_INLINE void add_stress(const Matrix3<D>& P, T* f) const {
        const D d;
        Vector3<D> f0;
        PLIANT_UNROLL
        for (int a = 0; a < 3; ++a) {
            const Vector3<D> fa = product(P, g[a]);
            PLIANT_UNROLL
            for (int i = 0; i < 3; ++i)
                f0.v[i] = a == 0 ? hn::Neg(fa.v[i]) : hn::Sub(f0.v[i], fa.v[i]);
            scatter_add<1>(d, fa.v[0], fa.v[1], fa.v[2], places[a + 1], f);
        }
        scatter_add<1>(d, f0.v[0], f0.v[1], f0.v[2], places[0], f);
    }

    Vector3<D> g[3];
    hn::Vec<D> lambda, mu;
    const std::uint16_t* places[4];
};

template <class D, class Law, class T = hn::TFromD<D>>
HWY_INLINE void law_forces(const TetBatchView<T>& batches, const T* u, T* R, std::uint8_t* redo,
                           TetDetF* smallest) {
    const D d;
    auto smallest_det = hn::Set(d, std::numeric_limits<T>::infinity());
    auto group_of_smallest = hn::Zero(d);
    for (int k = 0; k < batches.num_batches; ++k) {
        if constexpr (Law::kMayRedo) redo[k] = 0;
        for (int lane = 0; lane < kTetLanes; lane += kLanes<D>) {
            const Tets<D> tets(batches.shapes[k], batches.nodes[k], lane);
            const Law law(tets.gradient(u), tets.lambda, tets.mu);
            if (smallest != nullptr)
                keep_smallest<D>(law.det_F(), (k * kTetLanes + lane) / kLanes<D>, smallest_det,
                                 group_of_smallest);
            tets.add_stress(law.stress(), R);
            note_redo<D>(law, lane, redo[k]);
        }
    }
    if (smallest != nullptr) *smallest = smallest_of_lanes<D>(smallest_det, group_of_smallest);
}

/// Adds a block of each lane.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void add_block(const Matrix3<D>& K, const std::uint16_t* places, T* to) {
    PLIANT_UNROLL
    for (int j = 0; j < 3; ++j)
        scatter_add<kTetBlockSize>(D(), K.m[0][j], K.m[1][j], K.m[2][j], places, to + 4 * j);
}
/// Adds a symmetric block, given by its upper triangle, at places times 4.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void add_diagonal_block(const Matrix3<D>& K, const std::uint16_t* places, T* to) {
    PLIANT_UNROLL
    for (int j = 0; j < 3; ++j)
        scatter_add<kTetBlockSize / 4>(D(), K.m[0][j], K.m[j < 1 ? 0 : 1][j < 1 ? 1 : j], K.m[j][2],
                                       places, to + 4 * j);
}

template <class Law>
HWY_INLINE void law_tangents(const TetBatchView<double>& batches, const TetPairs* pair_places,
                             const double* u, double* R, double* diagonal, double* pairs,
                             std::uint8_t* redo) {
    using D = LaneTag<double>;
    for (int k = 0; k < batches.num_batches; ++k) {
        if constexpr (Law::kMayRedo) redo[k] = 0;
        for (int lane = 0; lane < kTetLanes; lane += kLanes<D>) {
            const Tets<D> tets(batches.shapes[k], batches.nodes[k], lane);
            Law law(tets.gradient(u), tets.lambda, tets.mu);
            tets.add_stress(law.stress(), R);
            note_redo<D>(law, lane, redo[k]);

            // the blocks of nodes 1, 2, 3; those of node 0 make all sums over rows zero
            law.set_gradients(tets.g);
            Matrix3<D> row[3];  // blocks (0, 1) (0, 2) (0, 3), negative
            int pair = 3;
            PLIANT_UNROLL
            for (int a = 0; a < 3; ++a) {
                const Matrix3<D> Kaa = law.block(a, a);
                add_diagonal_block(Kaa, tets.places[a + 1], diagonal);
                PLIANT_UNROLL
                for (int i = 0; i < 3; ++i) {
                    PLIANT_UNROLL
                    for (int j = 0; j < 3; ++j) {
                        const auto& entry = Kaa.m[i < j ? i : j][i < j ? j : i];
                        row[a].m[i][j] = a == 0 ? entry : hn::Add(row[a].m[i][j], entry);
                    }
                }
                PLIANT_UNROLL
                for (int b = a + 1; b < 3; ++b) {
                    const Matrix3<D> Kab = law.block(a, b);
                    add_block(Kab, pair_places[k].places[pair++] + lane, pairs);
                    PLIANT_UNROLL
                    for (int i = 0; i < 3; ++i) {
                        PLIANT_UNROLL
                        for (int j = 0; j < 3; ++j) {
                            row[a].m[i][j] = hn::Add(row[a].m[i][j], Kab.m[j][i]);
                            row[b].m[i][j] =
                                a == 0 ? Kab.m[i][j] : hn::Add(row[b].m[i][j], Kab.m[i][j]);
                        }
                    }
                }
            }
            Matrix3<D> K00;
            PLIANT_UNROLL
            for (int i = 0; i < 3; ++i) {
                PLIANT_UNROLL
                for (int j = i; j < 3; ++j)
                    K00.m[i][j] = hn::Add(row[0].m[i][j], hn::Add(row[1].m[i][j], row[2].m[i][j]));
            }
            add_diagonal_block(K00, tets.places[0], diagonal);
            PLIANT_UNROLL
            for (int b = 0; b < 3; ++b)
                add_block(scaled<D>(hn::Set(D(), -1), row[b]), pair_places[k].places[b] + lane,
                          pairs);
        }
    }
}

template <class Law>
HWY_INLINE void law_products(const TetBatchView<double>& batches, const double* u, const double* p,
                             double* Kp, std::uint8_t* redo) {
    using D = LaneTag<double>;
    for (int k = 0; k < batches.num_batches; ++k) {
        if constexpr (Law::kMayRedo) redo[k] = 0;
        for (int lane = 0; lane < kTetLanes; lane += kLanes<D>) {
            const Tets<D> tets(batches.shapes[k], batches.nodes[k], lane);
            const Law law(tets.gradient(u), tets.lambda, tets.mu);
            tets.add_stress(law.stress_change(tets.gradient(p)), Kp);
            note_redo<D>(law, lane, redo[k]);
        }
    }
}

template <class T>
HWY_INLINE void forces(const TetBatchView<T>& batches, const T* u, T* R, std::uint8_t* redo,
                       TetDetF* smallest) {
    using D = LaneTag<T>;
    switch (batches.law) {
        case TetLaw::SmallStrain:
            return law_forces<D, SmallStrainLanes<D>>(batches, u, R, redo, smallest);
        case TetLaw::NeoHookean:
            return law_forces<D, NeoHookeanLanes<D>>(batches, u, R, redo, smallest);
        case TetLaw::Corotational:
            return law_forces<D, CorotationalLanes<D, false>>(batches, u, R, redo, smallest);
        default: return law_forces<D, StVenantKirchhoffLanes<D>>(batches, u, R, redo, smallest);
    }
}
void forces_f64(const TetBatchView<double>& batches, const double* u, double* R, std::uint8_t* redo,
                TetDetF* smallest) {
    forces(batches, u, R, redo, smallest);
}
void forces_f32(const TetBatchView<float>& batches, const float* u, float* R, std::uint8_t* redo,
                TetDetF* smallest) {
    forces(batches, u, R, redo, smallest);
}

void tangents(const TetBatchView<double>& batches, const TetPairs* pair_places, const double* u,
              double* R, double* diagonal, double* pairs, std::uint8_t* redo) {
    using D = LaneTag<double>;
    switch (batches.law) {
        case TetLaw::SmallStrain:
            return law_tangents<SmallStrainLanes<D>>(batches, pair_places, u, R, diagonal, pairs,
                                                     redo);
        case TetLaw::NeoHookean:
            return law_tangents<NeoHookeanLanes<D>>(batches, pair_places, u, R, diagonal, pairs,
                                                    redo);
        case TetLaw::Corotational:
            return law_tangents<CorotationalLanes<D, true>>(batches, pair_places, u, R, diagonal,
                                                            pairs, redo);
        default:
            return law_tangents<StVenantKirchhoffLanes<D>>(batches, pair_places, u, R, diagonal,
                                                           pairs, redo);
    }
}

void products(const TetBatchView<double>& batches, const double* u, const double* p, double* Kp,
              std::uint8_t* redo) {
    using D = LaneTag<double>;
    switch (batches.law) {
        case TetLaw::SmallStrain: return law_products<SmallStrainLanes<D>>(batches, u, p, Kp, redo);
        case TetLaw::NeoHookean: return law_products<NeoHookeanLanes<D>>(batches, u, p, Kp, redo);
        case TetLaw::Corotational:
            return law_products<CorotationalLanes<D, true>>(batches, u, p, Kp, redo);
        default: return law_products<StVenantKirchhoffLanes<D>>(batches, u, p, Kp, redo);
    }
}

}  // namespace pliant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pliant {

HWY_EXPORT(forces_f64);
HWY_EXPORT(forces_f32);
HWY_EXPORT(tangents);
HWY_EXPORT(products);

template <>
void add_tet_forces(const TetBatchView<double>& batches, const double* u, double* R,
                    std::uint8_t* redo, TetDetF* smallest) noexcept {
    HWY_DYNAMIC_DISPATCH(forces_f64)(batches, u, R, redo, smallest);
}
template <>
void add_tet_forces(const TetBatchView<float>& batches, const float* u, float* R,
                    std::uint8_t* redo, TetDetF* smallest) noexcept {
    HWY_DYNAMIC_DISPATCH(forces_f32)(batches, u, R, redo, smallest);
}
void add_tet_tangents(const TetBatchView<double>& batches, const TetPairs* pair_places,
                      const double* u, double* R, double* diagonal, double* pairs,
                      std::uint8_t* redo) noexcept {
    HWY_DYNAMIC_DISPATCH(tangents)(batches, pair_places, u, R, diagonal, pairs, redo);
}
void add_tet_tangent_products(const TetBatchView<double>& batches, const double* u, const double* p,
                              double* Kp, std::uint8_t* redo) noexcept {
    HWY_DYNAMIC_DISPATCH(products)(batches, u, p, Kp, redo);
}

}  // namespace pliant
#endif
