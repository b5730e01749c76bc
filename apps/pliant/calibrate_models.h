#pragma once

#include <Eigen/Core>
#include <functional>
#include <string>
#include <vector>

#include "pliant/core/progress.h"
#include "pliant/fem/material.h"
#include "pliant/geometry/simulation_mesh.h"
#include "pliant/geometry/surface_mesh.h"

namespace pliant::cli {

/// All numbers that can be fitted; SI.
struct CalibrationValues {
    double modulus = 1e6;    ///< E [Pa]
    double poisson = 0.3;    ///< ν
    double damping = 1e-3;   ///< β of stiffness-proportional damping [s]
    double stiffness = 0.6;  ///< of particles
    double mask_radius = 0;  ///< of point contacts on Green's functions [m]
};

/// The body and how it was pressed.
struct CalibrationSetup {
    std::string kind;  ///< reduced, fem, greens, particles
    SurfaceMesh surface;
    double size = 0;    ///< that it was scaled to [m]; 0: as it came
    std::string fixed;  ///< selection
    Law law = Law::StVenantKirchhoff;
    double density = 1000;
    SimulationMeshOptions mesh = {.resolution = 12};
    int num_modes = 20, rank = 30;           ///< reduced
    int num_particles = 60;                  ///< particles
    Eigen::Vector3d at = {0, 0, 0};          ///< place of the press on the surface [m]
    Eigen::Vector3d direction = {0, 0, -1};  ///< unit, into the body
    double radius = 0;                       ///< of the pad that presses [m]
};

/// Force against depth of a press, at rest.
struct PressCurve {
    std::vector<double> depth, force;  ///< ascending, without (0, 0)

    /// Between and beyond, by the stiffness force/depth: exact for linear bodies, second order for
    /// smooth ones. Zero above the surface.
    [[nodiscard]] double force_at(double depth_m) const;
};

/// For bodies that are pressed `deepest` metres or with `strongest` newtons at most. Slow: the
/// model is built here; a call is quick unless it changes ν. Throws InputError as the builders do.
using PressModel = std::function<PressCurve(const CalibrationValues&)>;
[[nodiscard]] PressModel make_press_model(const CalibrationSetup& setup,
                                          const CalibrationValues& start, double deepest,
                                          double strongest, Progress& progress);

/// Depth below which a press of particles says nothing about their stiffness [m].
[[nodiscard]] double least_particle_travel(const SurfaceMesh& surface);

/// Frequencies [Hz] of the lowest modes.
using FrequencyModel = std::function<std::vector<double>(const CalibrationValues&)>;
[[nodiscard]] FrequencyModel make_frequency_model(const CalibrationSetup& setup, int num_modes,
                                                  Progress& progress);

/// Of the point contact of a model with Green's functions where none is asked for [m].
[[nodiscard]] double default_mask_radius(const SurfaceMesh& surface);

}  // namespace pliant::cli
