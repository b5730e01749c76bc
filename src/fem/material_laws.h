#pragma once

#include "pliant/fem/material.h"

namespace pliant {

// The four functions of every law, without the choice of law; equations in docs/fem.md section
// "Materials". Loops over many points of one material can choose once with `with_law`.

struct StVenantKirchhoffLaw {
    static double energy_density(const Material& m, const Eigen::Matrix3d& F) noexcept;
    static Eigen::Matrix3d stress(const Material& m, const Eigen::Matrix3d& F) noexcept;
    static Matrix9d stress_gradient(const Material& m, const Eigen::Matrix3d& F) noexcept;
    static Eigen::Matrix3d stress_second_gradient(const Material& m, const Eigen::Matrix3d& F,
                                                  const Eigen::Matrix3d& dF1,
                                                  const Eigen::Matrix3d& dF2) noexcept;
};

struct SmallStrainLaw {
    static double energy_density(const Material& m, const Eigen::Matrix3d& F) noexcept;
    static Eigen::Matrix3d stress(const Material& m, const Eigen::Matrix3d& F) noexcept;
    static Matrix9d stress_gradient(const Material& m, const Eigen::Matrix3d& F) noexcept;
    static Eigen::Matrix3d stress_second_gradient(const Material& m, const Eigen::Matrix3d& F,
                                                  const Eigen::Matrix3d& dF1,
                                                  const Eigen::Matrix3d& dF2) noexcept;
};

struct NeoHookeanLaw {
    static double energy_density(const Material& m, const Eigen::Matrix3d& F) noexcept;
    static Eigen::Matrix3d stress(const Material& m, const Eigen::Matrix3d& F) noexcept;
    static Matrix9d stress_gradient(const Material& m, const Eigen::Matrix3d& F) noexcept;
    static Eigen::Matrix3d stress_second_gradient(const Material& m, const Eigen::Matrix3d& F,
                                                  const Eigen::Matrix3d& dF1,
                                                  const Eigen::Matrix3d& dF2) noexcept;
};

struct CorotationalLaw {
    static double energy_density(const Material& m, const Eigen::Matrix3d& F) noexcept;
    static Eigen::Matrix3d stress(const Material& m, const Eigen::Matrix3d& F) noexcept;
    static Matrix9d stress_gradient(const Material& m, const Eigen::Matrix3d& F) noexcept;
    static Eigen::Matrix3d stress_second_gradient(const Material& m, const Eigen::Matrix3d& F,
                                                  const Eigen::Matrix3d& dF1,
                                                  const Eigen::Matrix3d& dF2) noexcept;
};

/// Calls `function` with the type of the law.
template <class Function>
auto with_law(Law law, Function function) {
    switch (law) {
        case Law::SmallStrain: return function(SmallStrainLaw{});
        case Law::NeoHookean: return function(NeoHookeanLaw{});
        case Law::Corotational: return function(CorotationalLaw{});
        case Law::StVenantKirchhoff: break;
    }
    return function(StVenantKirchhoffLaw{});
}

}  // namespace pliant
