#pragma once

#include "pliant/body/body.h"

#include <Eigen/Core>

namespace pliant {

/// Motion of a body at one time: all 3n unknowns, hanging and prescribed ones included.
struct FemState {
    Eigen::VectorXd u;  ///< displacements [m]
    Eigen::VectorXd v;  ///< velocities [m/s]
    Eigen::VectorXd a;  ///< accelerations [m/s²]
    double time = 0;    ///< [s]
};

/// Energies of a body and the work done on it since the start [J].
struct EnergyLog {
    double external_work = 0;  ///< of loads and prescribed motions
    double contact_work = 0;   ///< of contact and friction forces
    double damping_work = 0;   ///< taken out by drag and damping, counted positive
};

/// Σ m v and Σ m x × v about the origin with lumped masses, x = rest position + u.
struct Momentum {
    Eigen::Vector3d linear = Eigen::Vector3d::Zero();
    Eigen::Vector3d angular = Eigen::Vector3d::Zero();
};

}  // namespace pliant
