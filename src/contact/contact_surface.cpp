#include "pliant/contact/contact_surface.h"

#include "pliant/body/rigid_body.h"
#include "pliant/core/error.h"
#include "pliant/reduction/reduced_body.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace pliant {

namespace {

constexpr double kGravity = 9.81;  ///< [m/s²]
/// Depth under the load of reference, in sizes and cells; docs/contact.md eq. (36).
constexpr double kDepthInSizes = 0.002, kDepthInCells = 0.1;
/// Weights that a body carries at this depth: its own, and those of the heaviest body around.
constexpr double kOwnWeights = 10, kHeaviestWeights = 2, kMostTimesHeavier = 1000;
/// A contact of a soft body is so much stiffer than the body.
constexpr double kTimesTheBody = 100;

struct NamedSurface {
    const char* name;
    double friction, restitution;
};
/// Of dry surfaces against their own kind; typical values of handbooks.
constexpr std::array<NamedSurface, 10> kSurfaces{{{"ice", 0.05, 0.2},
                                                  {"teflon", 0.08, 0.4},
                                                  {"glass", 0.4, 0.65},
                                                  {"plastic", 0.4, 0.6},
                                                  {"wood", 0.45, 0.45},
                                                  {"steel", 0.5, 0.6},
                                                  {"clay", 0.6, 0},
                                                  {"stone", 0.65, 0.3},
                                                  {"tissue", 0.7, 0},
                                                  {"rubber", 0.9, 0.75}}};

double smaller_positive(double a, double b) noexcept {
    if (!(a > 0)) return b;
    return b > 0 ? std::min(a, b) : a;
}

}  // namespace

double common_stiffness(const ContactSurface& a, const ContactSurface& b) noexcept {
    return smaller_positive(a.stiffness, b.stiffness);
}
double common_friction(const ContactSurface& a, const ContactSurface& b) noexcept {
    const double mu = a.friction.value_or(b.friction.value_or(0));
    return std::sqrt(mu * b.friction.value_or(mu));
}
double common_restitution(const ContactSurface& a, const ContactSurface& b) noexcept {
    return std::max(a.restitution, b.restitution);
}

ContactSurface contact_surface_preset(const std::string& name) {
    std::string known;
    for (const NamedSurface& one : kSurfaces) {
        if (name == one.name) return {.friction = one.friction, .restitution = one.restitution};
        known += (known.empty() ? "" : ", ") + std::string(one.name);
    }
    throw InputError("", "contact surface", "\"" + name + "\"", "one of " + known);
}

std::vector<std::string> contact_surface_names() {
    std::vector<std::string> names;
    for (const NamedSurface& one : kSurfaces) names.emplace_back(one.name);
    return names;
}

ContactScale contact_scale(const Body& body) {
    ContactScale scale;
    Eigen::AlignedBox3d box;
    for (const Eigen::Vector3d& x : body.surface().vertices) box.extend(x);
    // a surface without thickness is that of a half-space
    const double least = box.isEmpty() ? 0 : box.sizes().minCoeff();
    scale.size = least > 0 ? least : INFINITY;
    scale.width = INFINITY;
    if (least > 0) {
        const Eigen::Vector3d sides = box.sizes();
        scale.width = sides.sum() - sides.maxCoeff() - least;
    }
    if (const auto* rigid = dynamic_cast<const RigidBody*>(&body)) {
        if (rigid->mass()) scale.mass = rigid->mass()->mass;
    } else if (const auto* reduced = dynamic_cast<const ReducedBody*>(&body)) {
        if (reduced->rest_mass()) scale.mass = reduced->rest_mass()->mass;
        double softest = INFINITY;
        for (const Material& material : reduced->model().materials())
            softest = std::min(softest, material.youngs_modulus());
        if (std::isfinite(softest)) scale.modulus = softest;
    }
    return scale;
}

double default_stiffness(const ContactScale& a, const ContactScale& b,
                         double largest_mass) noexcept {
    const double size = smaller_positive(a.size, b.size);
    if (!(size > 0) || !std::isfinite(size)) return 0;
    const double mass = smaller_positive(a.mass, b.mass), cell = smaller_positive(a.cell, b.cell);
    const double depth = std::min(kDepthInSizes * size, cell > 0 ? kDepthInCells * cell : INFINITY);
    const double heaviest = std::min(std::max(largest_mass, mass), kMostTimesHeavier * mass);
    const double load = kGravity * std::max(kOwnWeights * mass, kHeaviestWeights * heaviest);
    return std::max(load / depth, kTimesTheBody * smaller_positive(a.modulus, b.modulus) *
                                      smaller_positive(a.width, b.width));
}

}  // namespace pliant
