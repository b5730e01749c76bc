#pragma once

#include "fem/tet_kernels.h"
#include "fem/tet_lanes.h"

/// Loops over the edges of Tet4 bodies that do not lock (tet_domains.h), compiled for each
/// instruction set. As in tet_kernels.h everything works on the places of one round. Every
/// evaluation goes over the edges twice: the first time for the gradients H̃ and dilations θ, from
/// which the pressures of the nodes follow, the second time for the stress.
namespace pliant {

/// Some batches of one law.
template <class T>
struct DomainBatchView {
    TetLaw law;  ///< not Scalar
    int num_batches;
    const DomainBatch* batches;
    const LanePlaces* places;           ///< of all batches
    const LaneVectors<T>* gradients;    ///< of all batches
    const LaneNumbers<T>*mu, *weights;  ///< of these; μ times the weight
};

// Bit i of redo[k] is set as in tet_kernels.h.

/// H̃ and θ at u, and unless null the smallest det (I + H̃).
template <class T>
void domain_gradients(const DomainBatchView<T>& batches, const T* u, LaneMatrices<T>* H,
                      LaneNumbers<T>* theta, std::uint8_t* redo, TetDetF* smallest) noexcept;
template <>
void domain_gradients(const DomainBatchView<double>&, const double*, LaneMatrices<double>*,
                      LaneNumbers<double>*, std::uint8_t*, TetDetF*) noexcept;
template <>
void domain_gradients(const DomainBatchView<float>&, const float*, LaneMatrices<float>*,
                      LaneNumbers<float>*, std::uint8_t*, TetDetF*) noexcept;

/// R += the forces at H̃ under the pressures of the edges.
template <class T>
void add_domain_forces(const DomainBatchView<T>& batches, const LaneMatrices<T>* H,
                       const LaneNumbers<T>* pressure, T* R, std::uint8_t* redo) noexcept;
template <>
void add_domain_forces(const DomainBatchView<double>&, const LaneMatrices<double>*,
                       const LaneNumbers<double>*, double*, std::uint8_t*) noexcept;
template <>
void add_domain_forces(const DomainBatchView<float>&, const LaneMatrices<float>*,
                       const LaneNumbers<float>*, float*, std::uint8_t*) noexcept;

/// As domain_gradients, and their changes dH, dθ by p.
void domain_changes(const DomainBatchView<double>& batches, const double* u, const double* p,
                    LaneMatrices<double>* H, LaneMatrices<double>* dH, LaneNumbers<double>* theta,
                    LaneNumbers<double>* dtheta, std::uint8_t* redo) noexcept;
/// Kp += the change of the forces by dH and that of the pressures.
void add_domain_products(const DomainBatchView<double>& batches, const LaneMatrices<double>* H,
                         const LaneMatrices<double>* dH, const LaneNumbers<double>* pressure,
                         const LaneNumbers<double>* dpressure, double* Kp,
                         std::uint8_t* redo) noexcept;

}  // namespace pliant
