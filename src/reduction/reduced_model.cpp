#include "pliant/reduction/reduced_model.h"

#include "pliant/core/error.h"
#include "pliant/core/hash.h"
#include "pliant/fem/loads.h"
#include "pliant/fem/mass.h"
#include "reduction/reduced_model_data.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numbers>

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

bool is_polynomial(const Material& material) {
    return material.law == Law::StVenantKirchhoff || material.law == Law::SmallStrain;
}

std::string number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", value);
    return text;
}

/// Polynomials hold the constants of an anisotropic material and the law of any.
void check_edit(const std::string& name, std::size_t group, const Material& built,
                const Material& edited) {
    const std::string field = "materials[" + std::to_string(group) + "]";
    if (edited.law != built.law)
        throw InputError(name, field + ".law", std::string(to_string(edited.law)),
                         std::string(to_string(built.law)) +
                             ", that of the model; build it again for another one");
    const bool is_equal = built.anisotropy.has_value() == edited.anisotropy.has_value() &&
                          (!built.anisotropy ||
                           (built.anisotropy->stiffness == edited.anisotropy->stiffness &&
                            built.anisotropy->initial_strain == edited.anisotropy->initial_strain &&
                            built.anisotropy->initial_stress == edited.anisotropy->initial_stress));
    if (!is_equal)
        throw InputError(name,
                         field +
                             " has other anisotropic constants than the model, which holds their "
                             "whole effect; build it again");
}

}  // namespace

std::uint64_t content_hash(const SurfaceMesh& surface) noexcept {
    static_assert(sizeof(Eigen::Vector3d) == 3 * sizeof(double));
    const std::uint64_t hash =
        hash_bytes(surface.vertices.data(), surface.vertices.size() * sizeof(Eigen::Vector3d));
    return hash_bytes(surface.triangles.data(), surface.triangles.size() * sizeof(Triangle), hash);
}

void add_projections(ReducedModelParts& parts, const FemModel& model, Progress& progress) {
    const MatrixXd& U = parts.basis.U;
    assert(U.rows() == model.num_unknowns());
    const bool has_polynomials =
        parts.basis.size() <= kMaxPolynomialRank &&
        std::all_of(parts.materials.begin(), parts.materials.end(), is_polynomial);
    parts.polynomials.clear();
    if (has_polynomials) parts.polynomials = build_coefficients(model, U, progress);

    // the mass of a group is what is added by doubling its density
    progress.stage("reduced mass", parts.materials.size());
    const FemModel::Matrix M = mass_matrix(model);
    const std::size_t num_groups = parts.materials.size();
    parts.unit_masses.clear();
    parts.unit_weights.clear();
    for (std::size_t g = 0; g < num_groups; ++g) {
        FemModel::Matrix M_g = M;
        if (num_groups > 1) {
            std::vector<Material> doubled = parts.materials;
            doubled[g].density *= 2;
            M_g = mass_matrix(FemModel(model.mesh(), doubled, {model.elements()})) - M;
        }
        const double density = parts.materials[g].density;
        const MatrixXd MU = M_g * U / density;
        parts.unit_masses.emplace_back(U.transpose() * MU);
        MatrixXd weights = MatrixXd::Zero(3, U.cols());
        for (Eigen::Index node = 0; node < MU.rows() / 3; ++node)
            weights += MU.middleRows<3>(3 * node);
        parts.unit_weights.push_back(std::move(weights));
        progress.advance();
    }

    parts.inertia.reset();
    if (parts.fixed_vertices.empty()) parts.inertia = inertia_blocks(model, U);
}

ReducedModel::ReducedModel(std::shared_ptr<const Data> data)
    : data_(std::move(data)), materials_(data_, &data_->parts.materials), rank_(data_->rank) {}

ReducedModel::ReducedModel(ReducedModelParts parts) {
    const auto data = std::make_shared<Data>();
    data->parts = std::move(parts);
    ReducedModelParts& p = data->parts;
    data->rank = p.basis.size();
    data->num_vertices = p.mesh.num_vertices();
    data->num_elements = p.mesh.num_elements();
    data->num_surface_vertices = p.surface.num_vertices();
    data->U = p.basis.U.data();
    if (p.basis.U.rows() != 3 * static_cast<Eigen::Index>(data->num_vertices))
        throw InputError("", "basis, rows", std::to_string(p.basis.U.rows()),
                         std::to_string(3 * static_cast<std::int64_t>(data->num_vertices)) +
                             ", three for each vertex of the mesh");
    for (const MaterialPolynomials& group : p.polynomials) {
        if (group.of_lambda.r != data->rank ||
            (!group.is_anisotropic && group.of_mu.r != data->rank) ||
            (!group.of_plane.w.empty() && group.of_plane.r != data->rank))
            throw InputError("", "polynomials, rank", std::to_string(group.of_lambda.r),
                             std::to_string(data->rank) + ", that of the basis");
        data->groups.push_back(
            {group.of_lambda.w.data(), group.is_anisotropic ? nullptr : group.of_mu.w.data(),
             group.of_plane.w.empty() ? nullptr : group.of_plane.w.data()});
    }
    data->check();
    if (!p.embedding) p.embedding.emplace(p.mesh, p.surface.vertices);
    if (p.embedding->num_points() != p.surface.num_vertices() ||
        p.embedding->num_vertices() != data->num_vertices)
        throw InputError(
            "", "embedding, points", std::to_string(p.embedding->num_points()),
            std::to_string(p.surface.num_vertices()) + ", the vertices of the surface");
    data->shapes.emplace(p.surface, *p.embedding, p.basis.U, p.storage);
    *this = ReducedModel(std::shared_ptr<const Data>(data));
}

void ReducedModel::Data::check() const {
    const auto require = [&](bool is_right, const std::string& field, const std::string& value,
                             const std::string& expected) {
        if (!is_right) throw InputError(name, field, value, expected);
    };
    const auto fits = [&](const MatrixXd& m, Eigen::Index rows, Eigen::Index cols) {
        return m.rows() == rows && m.cols() == cols && m.allFinite();
    };
    const std::size_t num_groups = parts.materials.size();
    require(rank >= 1, "rank", std::to_string(rank), "1 or more");
    require(num_groups >= 1, "materials", "none", "one for each region of the mesh");
    for (const Material& material : parts.materials) {
        try {
            check_material(material);
        } catch (const InputError& error) {
            throw InputError(name, error.what());
        }
    }
    const VectorXd& lambda = parts.eigenvalues;
    require(lambda.size() > 0 && lambda.allFinite() && lambda[0] > 0 &&
                std::is_sorted(lambda.begin(), lambda.end()),
            "eigenvalues", lambda.size() > 0 ? "starting with " + number(lambda[0]) : "none",
            "positive and ascending");
    const VectorXd& sigma = parts.basis.singular_values;
    require(sigma.size() >= rank && sigma.allFinite(), "singular values",
            std::to_string(sigma.size()), "at least the rank, " + std::to_string(rank));
    require(parts.unit_masses.size() == num_groups && parts.unit_weights.size() == num_groups,
            "reduced masses", std::to_string(parts.unit_masses.size()),
            std::to_string(num_groups) + ", one for each material");
    for (std::size_t g = 0; g < num_groups; ++g)
        require(fits(parts.unit_masses[g], rank, rank) && fits(parts.unit_weights[g], 3, rank),
                "reduced mass " + std::to_string(g),
                std::to_string(parts.unit_masses[g].rows()) + " rows",
                "finite and of rank " + std::to_string(rank));
    require(groups.empty() || groups.size() == num_groups, "polynomials",
            std::to_string(groups.size()), "none or one for each material");
    for (std::size_t g = 0; g < groups.size(); ++g)
        require((groups[g].of_mu == nullptr) == parts.materials[g].anisotropy.has_value(),
                "polynomials of material " + std::to_string(g),
                groups[g].of_mu ? "two parts" : "one part",
                "one part for anisotropic materials, two for others");

    const std::vector<int>& fixed = parts.fixed_vertices;
    require(fixed.empty() || (fixed.front() >= 0 && fixed.back() < num_vertices &&
                              std::is_sorted(fixed.begin(), fixed.end(), std::less_equal<int>())),
            "fixed vertices", std::to_string(fixed.size()) + " of them",
            "ascending, from 0 to " + std::to_string(num_vertices - 1));
    require(fixed.empty() == parts.inertia.has_value(), "inertia", parts.inertia ? "given" : "none",
            "for free bodies and only for them");
    if (parts.inertia) {
        const InertiaBlocks& inertia = *parts.inertia;
        bool is_right = inertia.mass > 0 && std::isfinite(inertia.mass) &&
                        inertia.centre.allFinite() && inertia.second_moment.allFinite();
        for (std::size_t k = 0; k < 9; ++k)
            is_right = is_right && fits(inertia.b[k], rank, 1) && fits(inertia.B[k], rank, rank);
        require(is_right, "inertia", "mass " + number(inertia.mass),
                "positive mass and finite blocks of rank " + std::to_string(rank));
    }
    require(parts.expected_reach >= 0 && std::isfinite(parts.expected_reach), "expected reach",
            number(parts.expected_reach), "a finite length");
}

int ReducedModel::num_modes() const noexcept {
    return static_cast<int>(data_->parts.eigenvalues.size());
}
int ReducedModel::num_vertices() const noexcept { return data_->num_vertices; }
int ReducedModel::num_elements() const noexcept { return data_->num_elements; }
bool ReducedModel::is_free() const noexcept { return data_->parts.inertia.has_value(); }
ElementFormulation ReducedModel::elements() const noexcept { return data_->parts.elements; }
bool ReducedModel::has_polynomials() const noexcept { return !data_->groups.empty(); }
const VectorXd& ReducedModel::eigenvalues() const noexcept { return data_->parts.eigenvalues; }
const VectorXd& ReducedModel::singular_values() const noexcept {
    return data_->parts.basis.singular_values;
}
const std::vector<int>& ReducedModel::fixed_vertices() const noexcept {
    return data_->parts.fixed_vertices;
}
double ReducedModel::expected_reach() const noexcept { return data_->parts.expected_reach; }
const Provenance& ReducedModel::provenance() const noexcept { return data_->provenance; }

double ReducedModel::frequency(int mode) const noexcept {
    return std::sqrt(eigenvalues()[mode]) / (2 * std::numbers::pi);
}

double ReducedModel::captured() const noexcept {
    const double all = singular_values().squaredNorm();
    return all > 0 ? singular_values().head(rank_).squaredNorm() / all : 0.0;
}

double ReducedModel::suggested_step() const noexcept {
    constexpr double kHapticTick = 1e-3, kStepsPerPeriod = 20;
    const double wanted = std::min(kHapticTick, 1 / (kStepsPerPeriod * frequency(0)));
    // down to 1, 2 or 5 times a power of ten; 1e-9 forgives the rounding of the logarithm
    const double power = std::pow(10, std::floor(std::log10(wanted) + 1e-9));
    for (const double digit : {5.0, 2.0})
        if (digit * power <= wanted) return digit * power;
    return power;
}

Eigen::Map<const MatrixXd> ReducedModel::basis() const noexcept {
    return {data_->U, 3 * static_cast<Eigen::Index>(data_->num_vertices), rank_};
}

std::vector<MaterialPolynomials> ReducedModel::polynomials() const {
    const auto count = static_cast<std::size_t>(num_quartic(rank_));
    std::vector<MaterialPolynomials> all;
    for (const Data::Group& group : data_->groups) {
        MaterialPolynomials& polynomials = all.emplace_back();
        polynomials.of_lambda = {rank_, {group.of_lambda, group.of_lambda + count}};
        polynomials.is_anisotropic = group.of_mu == nullptr;
        if (group.of_mu) polynomials.of_mu = {rank_, {group.of_mu, group.of_mu + count}};
        if (group.of_plane)
            polynomials.of_plane = {rank_, {group.of_plane, group.of_plane + count}};
    }
    return all;
}

std::unique_ptr<ReducedForce> ReducedModel::make_force(Precision precision) const {
    try {
        if (!has_polynomials())
            return make_direct_force(FemModel(mesh(), materials(), {elements()}),
                                     MatrixXd(basis()));
        return make_polynomial_force(combine(polynomials(), materials()), precision);
    } catch (const InputError& error) {
        throw InputError(data_->name, error.what());
    }
}

MatrixXd ReducedModel::mass() const {
    MatrixXd sum = MatrixXd::Zero(rank_, rank_);
    for (std::size_t g = 0; g < materials().size(); ++g)
        sum += materials()[g].density * data_->parts.unit_masses[g].topLeftCorner(rank_, rank_);
    return sum;
}

VectorXd ReducedModel::gravity_load(const Eigen::Vector3d& acceleration) const {
    VectorXd f = VectorXd::Zero(rank_);
    for (std::size_t g = 0; g < materials().size(); ++g)
        f += materials()[g].density *
             (data_->parts.unit_weights[g].leftCols(rank_).transpose() * acceleration);
    return f;
}

InertiaBlocks ReducedModel::inertia() const {
    assert(is_free());
    // all densities have changed by one factor
    const double factor = materials()[0].density / data_->parts.materials[0].density;
    InertiaBlocks blocks = *data_->parts.inertia;
    blocks.mass *= factor;
    blocks.second_moment *= factor;
    for (std::size_t k = 0; k < 9; ++k) {
        blocks.b[k] = (factor * blocks.b[k].head(rank_)).eval();
        blocks.B[k] = (factor * blocks.B[k].topLeftCorner(rank_, rank_)).eval();
    }
    return blocks;
}

ReducedModel ReducedModel::with_materials(std::vector<Material> materials) const {
    const std::vector<Material>& built = data_->parts.materials;
    if (materials.size() != built.size())
        throw InputError(data_->name, "materials", std::to_string(materials.size()),
                         std::to_string(built.size()) + ", those of the model");
    for (std::size_t g = 0; g < built.size(); ++g) {
        check_material(materials[g]);
        if (has_polynomials()) check_edit(data_->name, g, built[g], materials[g]);
        const double factor = materials[g].density / built[g].density;
        const double first = materials[0].density / built[0].density;
        if (is_free() && std::abs(factor - first) > 1e-12 * first)
            throw InputError(data_->name, "materials[" + std::to_string(g) + "].density",
                             number(materials[g].density),
                             number(first * built[g].density) +
                                 ": densities of a free body change by one factor, or its basis "
                                 "would hold rigid motion; build it again");
    }
    ReducedModel edited = *this;
    edited.materials_ = std::make_shared<const std::vector<Material>>(std::move(materials));
    return edited;
}

ReducedModel ReducedModel::truncated(int rank) const {
    if (rank < 1 || rank > rank_)
        throw InputError(data_->name, "rank", std::to_string(rank),
                         "1 to " + std::to_string(rank_) + ", the vectors of the model's basis");
    ReducedModel shorter = *this;
    shorter.rank_ = rank;
    return shorter;
}

void ReducedModel::require_surface(const SurfaceMesh& other) const {
    const std::uint64_t hash = content_hash(other);
    if (hash == data_->parts.input_hash || hash == content_hash(surface())) return;
    throw InputError(data_->name, "the model was built from another surface (its hash is " +
                                      hash_text(data_->parts.input_hash) + ", that of this one " +
                                      hash_text(hash) +
                                      "); build the model again from this surface");
}

}  // namespace pliant
