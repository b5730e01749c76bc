#include "pliant/core/error.h"
#include "pliant/core/nearest_name.h"
#include "pliant/fem/material.h"

namespace pliant {
namespace {

/// Typical room-temperature values for small loads; single batches differ by tens of per cent,
/// living tissue by factors. Poisson ratios of nearly incompressible materials stay at 0.48 and
/// below, where linear elements still bend.
struct Preset {
    const char* name;
    double youngs_modulus;  ///< [Pa]
    double poisson_ratio;
    double density;  ///< [kg/m³]
};

constexpr Preset kPresets[] = {
    {"brain", 2e3, 0.45, 1040},
    {"fat", 3e3, 0.45, 920},
    {"liver", 6e3, 0.45, 1060},
    {"tissue", 10e3, 0.45, 1050},
    {"gelatin", 15e3, 0.45, 1030},
    {"muscle", 30e3, 0.45, 1060},
    {"foam", 50e3, 0.10, 40},
    {"sponge", 100e3, 0.20, 60},
    {"skin", 150e3, 0.45, 1100},
    {"silicone", 500e3, 0.48, 1080},
    {"cartilage", 1e6, 0.40, 1100},
    {"rubber", 2e6, 0.48, 1100},
    {"cork", 20e6, 0.05, 200},
    {"polyethylene", 800e6, 0.42, 950},
    {"plastic", 2.3e9, 0.37, 1050},
    {"nylon", 2.7e9, 0.39, 1140},
    {"wood", 0, 0, 450},  // orthotropic: wood_stiffness
    {"bone", 17e9, 0.30, 1900},
    {"concrete", 30e9, 0.20, 2400},
    {"aluminium", 69e9, 0.33, 2700},
    {"glass", 70e9, 0.22, 2500},
    {"titanium", 110e9, 0.34, 4500},
    {"copper", 120e9, 0.34, 8930},
    {"steel", 200e9, 0.29, 7850},
};

/// Softwood: x along the grain, y radial, z tangential to the growth rings.
Matrix6d wood_stiffness() {
    OrthotropicConstants wood;
    wood.youngs_modulus << 11e9, 0.9e9, 0.5e9;
    wood.poisson_ratio << 0.45, 0.02, 0.38;
    wood.shear_modulus << 0.05e9, 0.7e9, 0.8e9;
    return orthotropic_stiffness(wood);
}

}  // namespace

std::vector<std::string> material_names() {
    std::vector<std::string> names;
    for (const Preset& preset : kPresets) names.emplace_back(preset.name);
    return names;
}

Material material_preset(const std::string& name, Law law) {
    for (const Preset& preset : kPresets) {
        if (name != preset.name) continue;
        if (name == "wood") return anisotropic(wood_stiffness(), preset.density, law);
        return isotropic(preset.youngs_modulus, preset.poisson_ratio, preset.density, law);
    }
    std::string expected = "one of";
    const char* separator = " ";
    for (const Preset& preset : kPresets) {
        expected += separator;
        expected += preset.name;
        separator = ", ";
    }
    const std::string near = nearest_name(name, material_names());
    if (!near.empty()) expected += "; did you mean '" + near + "'?";
    throw InputError("", "material", "'" + name + "'", expected);
}

}  // namespace pliant
