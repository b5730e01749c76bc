#pragma once

#include <cstddef>

/// Kernels over the unknowns of a body, compiled for each instruction set; docs/fem.md
/// section "Explicit steps".
namespace pliant {

/// h = v + dt/2 a, u' = u + dt h.
void predict_unknowns(std::size_t count, double dt, const double* u, const double* v,
                      const double* a, double* h, double* u_new) noexcept;

/// Arrays of one acceleration step; `drag` and `damping_force` may be null.
struct AccelerationArrays {
    const double *load, *internal_force, *damping_force, *drag, *inverse_q, *h;
    double* a;
};
/// Powers of the loads and of the drag [W].
struct Powers {
    double load, drag;
};
/// a = (f − R − f_D − d h) / q of the unknowns [first, end). A load that is not finite makes their
/// power not finite.
Powers accelerate_unknowns(const AccelerationArrays& arrays, std::size_t first,
                           std::size_t end) noexcept;

/// v' = h + dt/2 a' in the place of h. Returns 0 if all v' are finite, otherwise NaN.
double finish_unknowns(std::size_t count, double dt, const double* a, double* h) noexcept;

}  // namespace pliant
