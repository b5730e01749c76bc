// Highway compiles this file once for each instruction set by including it again: keep Eigen and
// everything else with inline code of its own out of it.
#include "fem/tet_domain_kernels.h"

#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fem/tet_domain_kernels.cpp"
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
struct Edges {
    using T = hn::TFromD<D>;

    HWY_INLINE Edges(const DomainBatchView<T>& batches, int k, int first_lane)
        : mu(hn::Load(D(), batches.mu[k].v + first_lane)),
          weight(hn::Load(D(), batches.weights[k].v + first_lane)),
          num_nodes(batches.batches[k].num_nodes),
          lane(first_lane),
          places(batches.places + batches.batches[k].first_place),
          gradients(batches.gradients + batches.batches[k].first_gradient) {}

    /// Σ (u_a − u_0) g_aᵀ.
    HWY_INLINE Matrix3<D> gradient(const T* u) const {
        const D d;
        const Vector3<D> u0 = gather(d, u, places[0].v + lane);
        Matrix3<D> H = multiple_of_identity<D>(hn::Zero(d));
        for (int a = 1; a < num_nodes; ++a) {
            const Vector3<D> ua = gather(d, u, places[a].v + lane);
            PLIANT_UNROLL
            for (int k = 0; k < 3; ++k) {
                const auto g = hn::Load(d, gradients[a - 1].v[k] + lane);
                PLIANT_UNROLL
                for (int i = 0; i < 3; ++i)
                    H.m[i][k] = hn::MulAdd(hn::Sub(ua.v[i], u0.v[i]), g, H.m[i][k]);
            }
        }
        return H;
    }

    /// f_a += P g_a.
    HWY_INLINE void add_stress(const Matrix3<D>& P, T* f) const {
        const D d;
        Vector3<D> f0{{hn::Zero(d), hn::Zero(d), hn::Zero(d)}};
        for (int a = 1; a < num_nodes; ++a) {
            Vector3<D> g;
            PLIANT_UNROLL
            for (int k = 0; k < 3; ++k) g.v[k] = hn::Load(d, gradients[a - 1].v[k] + lane);
            const Vector3<D> fa = product(P, g);
            PLIANT_UNROLL
            for (int i = 0; i < 3; ++i) f0.v[i] = hn::Sub(f0.v[i], fa.v[i]);
            scatter_add<1>(d, fa.v[0], fa.v[1], fa.v[2], places[a].v + lane, f);
        }
        scatter_add<1>(d, f0.v[0], f0.v[1], f0.v[2], places[0].v + lane, f);
    }

    hn::Vec<D> mu, weight;
    int num_nodes, lane;
    const LanePlaces* places;
    const LaneVectors<T>* gradients;
};

template <class D, class T = hn::TFromD<D>>
HWY_INLINE void store(const Matrix3<D>& A, int lane, LaneMatrices<T>& to) {
    PLIANT_UNROLL
    for (int k = 0; k < 9; ++k) hn::Store(A.m[k / 3][k % 3], D(), to.m[k] + lane);
}
template <class D, class T = hn::TFromD<D>>
HWY_INLINE Matrix3<D> load_matrix(const LaneMatrices<T>& from, int lane) {
    Matrix3<D> A;
    PLIANT_UNROLL
    for (int k = 0; k < 9; ++k) A.m[k / 3][k % 3] = hn::Load(D(), from.m[k] + lane);
    return A;
}

template <class D, class Law, class T = hn::TFromD<D>>
HWY_INLINE void law_gradients(const DomainBatchView<T>& batches, const T* u, LaneMatrices<T>* H,
                              LaneNumbers<T>* theta, std::uint8_t* redo, TetDetF* smallest) {
    const D d;
    auto smallest_det = hn::Set(d, std::numeric_limits<T>::infinity());
    auto group_of_smallest = hn::Zero(d);
    for (int k = 0; k < batches.num_batches; ++k) {
        if constexpr (Law::kMayRedo) redo[k] = 0;
        for (int lane = 0; lane < kTetLanes; lane += kLanes<D>) {
            const Edges<D> edges(batches, k, lane);
            const Matrix3<D> gradient = edges.gradient(u);
            store<D>(gradient, lane, H[k]);
            const Law law(gradient, hn::Zero(d), edges.mu);
            if (smallest != nullptr)
                keep_smallest<D>(law.det_F(), (k * kTetLanes + lane) / kLanes<D>, smallest_det,
                                 group_of_smallest);
            hn::Store(law.dilation(), d, theta[k].v + lane);
            note_redo<D>(law, lane, redo[k]);
        }
    }
    if (smallest != nullptr) *smallest = smallest_of_lanes<D>(smallest_det, group_of_smallest);
}

template <class D, class Law, class T = hn::TFromD<D>>
HWY_INLINE void law_domain_forces(const DomainBatchView<T>& batches, const LaneMatrices<T>* H,
                                  const LaneNumbers<T>* pressure, T* R, std::uint8_t* redo) {
    const D d;
    for (int k = 0; k < batches.num_batches; ++k) {
        if constexpr (Law::kMayRedo) redo[k] = 0;
        for (int lane = 0; lane < kTetLanes; lane += kLanes<D>) {
            const Edges<D> edges(batches, k, lane);
            Law law(load_matrix<D>(H[k], lane), hn::Zero(d), edges.mu);
            law.add_pressure(hn::Mul(hn::Load(d, pressure[k].v + lane), edges.weight));
            edges.add_stress(law.stress(), R);
            note_redo<D>(law, lane, redo[k]);
        }
    }
}

template <class Law>
HWY_INLINE void law_changes(const DomainBatchView<double>& batches, const double* u,
                            const double* p, LaneMatrices<double>* H, LaneMatrices<double>* dH,
                            LaneNumbers<double>* theta, LaneNumbers<double>* dtheta,
                            std::uint8_t* redo) {
    using D = LaneTag<double>;
    const D d;
    for (int k = 0; k < batches.num_batches; ++k) {
        if constexpr (Law::kMayRedo) redo[k] = 0;
        for (int lane = 0; lane < kTetLanes; lane += kLanes<D>) {
            const Edges<D> edges(batches, k, lane);
            const Matrix3<D> gradient = edges.gradient(u), change = edges.gradient(p);
            store<D>(gradient, lane, H[k]);
            store<D>(change, lane, dH[k]);
            const Law law(gradient, hn::Zero(d), edges.mu);
            hn::Store(law.dilation(), d, theta[k].v + lane);
            hn::Store(contraction(law.dilation_gradient(), change), d, dtheta[k].v + lane);
            note_redo<D>(law, lane, redo[k]);
        }
    }
}

template <class Law>
HWY_INLINE void law_domain_products(const DomainBatchView<double>& batches,
                                    const LaneMatrices<double>* H, const LaneMatrices<double>* dH,
                                    const LaneNumbers<double>* pressure,
                                    const LaneNumbers<double>* dpressure, double* Kp,
                                    std::uint8_t* redo) {
    using D = LaneTag<double>;
    const D d;
    for (int k = 0; k < batches.num_batches; ++k) {
        if constexpr (Law::kMayRedo) redo[k] = 0;
        for (int lane = 0; lane < kTetLanes; lane += kLanes<D>) {
            const Edges<D> edges(batches, k, lane);
            Law law(load_matrix<D>(H[k], lane), hn::Zero(d), edges.mu);
            law.add_pressure(hn::Mul(hn::Load(d, pressure[k].v + lane), edges.weight));
            Matrix3<D> dP = law.stress_change(load_matrix<D>(dH[k], lane));
            auto dp = hn::Mul(hn::Load(d, dpressure[k].v + lane), edges.weight);
            if constexpr (Law::kMayRedo) dp = hn::IfThenZeroElse(law.redo(), dp);
            add_scaled<D>(dp, law.dilation_gradient(), dP);
            edges.add_stress(dP, Kp);
            note_redo<D>(law, lane, redo[k]);
        }
    }
}

/// Calls `body.template operator()<Law>()`.
template <class D, bool kWithDerivative, class Body>
HWY_INLINE void with_lanes(TetLaw law, const Body& body) {
    switch (law) {
        case TetLaw::SmallStrain: return body.template operator()<SmallStrainLanes<D>>();
        case TetLaw::NeoHookean: return body.template operator()<NeoHookeanLanes<D>>();
        case TetLaw::Corotational:
            return body.template operator()<CorotationalLanes<D, kWithDerivative>>();
        default: return body.template operator()<StVenantKirchhoffLanes<D>>();
    }
}

template <class T>
struct Gradients {
    const DomainBatchView<T>& batches;
    const T* u;
    LaneMatrices<T>* H;
    LaneNumbers<T>* theta;
    std::uint8_t* redo;
    TetDetF* smallest;
    template <class Law>
    HWY_INLINE void operator()() const {
        law_gradients<LaneTag<T>, Law>(batches, u, H, theta, redo, smallest);
    }
};
template <class T>
struct Forces {
    const DomainBatchView<T>& batches;
    const LaneMatrices<T>* H;
    const LaneNumbers<T>* pressure;
    T* R;
    std::uint8_t* redo;
    template <class Law>
    HWY_INLINE void operator()() const {
        law_domain_forces<LaneTag<T>, Law>(batches, H, pressure, R, redo);
    }
};
struct Changes {
    const DomainBatchView<double>& batches;
    const double *u, *p;
    LaneMatrices<double>*H, *dH;
    LaneNumbers<double>*theta, *dtheta;
    std::uint8_t* redo;
    template <class Law>
    HWY_INLINE void operator()() const {
        law_changes<Law>(batches, u, p, H, dH, theta, dtheta, redo);
    }
};
struct Products {
    const DomainBatchView<double>& batches;
    const LaneMatrices<double>*H, *dH;
    const LaneNumbers<double>*pressure, *dpressure;
    double* Kp;
    std::uint8_t* redo;
    template <class Law>
    HWY_INLINE void operator()() const {
        law_domain_products<Law>(batches, H, dH, pressure, dpressure, Kp, redo);
    }
};

void gradients_f64(const DomainBatchView<double>& b, const double* u, LaneMatrices<double>* H,
                   LaneNumbers<double>* theta, std::uint8_t* redo, TetDetF* smallest) {
    with_lanes<LaneTag<double>, false>(b.law, Gradients<double>{b, u, H, theta, redo, smallest});
}
void gradients_f32(const DomainBatchView<float>& b, const float* u, LaneMatrices<float>* H,
                   LaneNumbers<float>* theta, std::uint8_t* redo, TetDetF* smallest) {
    with_lanes<LaneTag<float>, false>(b.law, Gradients<float>{b, u, H, theta, redo, smallest});
}
void domain_forces_f64(const DomainBatchView<double>& b, const LaneMatrices<double>* H,
                       const LaneNumbers<double>* pressure, double* R, std::uint8_t* redo) {
    with_lanes<LaneTag<double>, false>(b.law, Forces<double>{b, H, pressure, R, redo});
}
void domain_forces_f32(const DomainBatchView<float>& b, const LaneMatrices<float>* H,
                       const LaneNumbers<float>* pressure, float* R, std::uint8_t* redo) {
    with_lanes<LaneTag<float>, false>(b.law, Forces<float>{b, H, pressure, R, redo});
}
void changes(const DomainBatchView<double>& b, const double* u, const double* p,
             LaneMatrices<double>* H, LaneMatrices<double>* dH, LaneNumbers<double>* theta,
             LaneNumbers<double>* dtheta, std::uint8_t* redo) {
    with_lanes<LaneTag<double>, true>(b.law, Changes{b, u, p, H, dH, theta, dtheta, redo});
}
void domain_products(const DomainBatchView<double>& b, const LaneMatrices<double>* H,
                     const LaneMatrices<double>* dH, const LaneNumbers<double>* pressure,
                     const LaneNumbers<double>* dpressure, double* Kp, std::uint8_t* redo) {
    with_lanes<LaneTag<double>, true>(b.law, Products{b, H, dH, pressure, dpressure, Kp, redo});
}

}  // namespace pliant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pliant {

HWY_EXPORT(gradients_f64);
HWY_EXPORT(gradients_f32);
HWY_EXPORT(domain_forces_f64);
HWY_EXPORT(domain_forces_f32);
HWY_EXPORT(changes);
HWY_EXPORT(domain_products);

template <>
void domain_gradients(const DomainBatchView<double>& batches, const double* u,
                      LaneMatrices<double>* H, LaneNumbers<double>* theta, std::uint8_t* redo,
                      TetDetF* smallest) noexcept {
    HWY_DYNAMIC_DISPATCH(gradients_f64)(batches, u, H, theta, redo, smallest);
}
template <>
void domain_gradients(const DomainBatchView<float>& batches, const float* u, LaneMatrices<float>* H,
                      LaneNumbers<float>* theta, std::uint8_t* redo, TetDetF* smallest) noexcept {
    HWY_DYNAMIC_DISPATCH(gradients_f32)(batches, u, H, theta, redo, smallest);
}
template <>
void add_domain_forces(const DomainBatchView<double>& batches, const LaneMatrices<double>* H,
                       const LaneNumbers<double>* pressure, double* R,
                       std::uint8_t* redo) noexcept {
    HWY_DYNAMIC_DISPATCH(domain_forces_f64)(batches, H, pressure, R, redo);
}
template <>
void add_domain_forces(const DomainBatchView<float>& batches, const LaneMatrices<float>* H,
                       const LaneNumbers<float>* pressure, float* R, std::uint8_t* redo) noexcept {
    HWY_DYNAMIC_DISPATCH(domain_forces_f32)(batches, H, pressure, R, redo);
}
void domain_changes(const DomainBatchView<double>& batches, const double* u, const double* p,
                    LaneMatrices<double>* H, LaneMatrices<double>* dH, LaneNumbers<double>* theta,
                    LaneNumbers<double>* dtheta, std::uint8_t* redo) noexcept {
    HWY_DYNAMIC_DISPATCH(changes)(batches, u, p, H, dH, theta, dtheta, redo);
}
void add_domain_products(const DomainBatchView<double>& batches, const LaneMatrices<double>* H,
                         const LaneMatrices<double>* dH, const LaneNumbers<double>* pressure,
                         const LaneNumbers<double>* dpressure, double* Kp,
                         std::uint8_t* redo) noexcept {
    HWY_DYNAMIC_DISPATCH(domain_products)(batches, H, dH, pressure, dpressure, Kp, redo);
}

}  // namespace pliant
#endif
