#pragma once

#include "pliant/core/error.h"
#include "pliant/fem/constraints.h"

namespace pliant {

/// A subspace holds what is held at zero; it cannot follow supports that are moved. Throws
/// InputError that names the first component prescribed otherwise.
inline void check_fixed_supports(const Constraints& constraints) {
    const Eigen::VectorXd& u = constraints.displacements();
    for (Eigen::Index i = 0; i < u.size(); ++i)
        if (u[i] != 0)
            throw InputError("", "node " + std::to_string(i / 3) + " is moved by " +
                                     std::to_string(u[i]) + " m along " + "xyz"[i % 3] +
                                     "; supports of a reduced model must stay where they are: "
                                     "prescribe zero");
}

}  // namespace pliant
