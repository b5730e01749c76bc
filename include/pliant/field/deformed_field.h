#pragma once

#include "pliant/field/build_field.h"
#include "pliant/reduction/reduced_model.h"

#include <filesystem>
#include <memory>
#include <vector>

namespace pliant {

/// A part of a body with a field of its own, so that a limb does not see the ghost of another one
/// that was near it at rest.
struct FieldDomain {
    DistanceGrid rest;                     ///< of this part at rest
    std::vector<Eigen::Vector3d> proxies;  ///< at rest, on or in this part [m]
};

struct DeformedFieldOptions {
    int num_proxies = 40;    ///< of the whole body, shared out by area
    int num_neighbours = 5;  ///< k, 3 … 8; with 2 the field would jump
    /// At most so many; 0: up to 8, as find_domains says; 1: one.
    int num_domains = 1;
    /// Walk from the pulled-back point to the rest surface and measure to the image of its tangent
    /// plane, docs/field.md eq. (13): better under stretch.
    bool pushes_forward = false;
};

/// Which domain each triangle of a surface belongs to so that parts that are near in space but far
/// along the surface or material are apart; at most `max_domains`, 1 if nothing is to be gained.
[[nodiscard]] std::vector<int> find_domains(const SurfaceMesh& mesh, int max_domains = 8);

/// Immutable part: rest fields, proxies and how they move. Copies share their data.
class DeformedFieldModel {
public:
    /// Domains and proxies from the model's own surface. `build` as for build_field; soups need
    /// FieldSurface::Offset. Up to 64³ cells grids are dense; sparse ones have a band of 16 cells
    /// or more, see docs/field.md.
    explicit DeformedFieldModel(const ReducedModel& model, const FieldBuildOptions& build = {},
                                const DeformedFieldOptions& options = {},
                                Progress& progress = Progress::none());
    /// Of parts made elsewhere. Throws InputError for no domain, too few proxies, sizes that do not
    /// fit, and sparse grids with a band below 16 cells.
    [[nodiscard]] static DeformedFieldModel of_domains(const ReducedModel& model,
                                                       const std::vector<FieldDomain>& domains,
                                                       const DeformedFieldOptions& options = {});
    [[nodiscard]] static DeformedFieldModel load(const std::filesystem::path& path,
                                                 const ReducedModel& model);
    void save(const std::filesystem::path& path, const Provenance& provenance = {}) const;

    [[nodiscard]] int rank() const noexcept;
    [[nodiscard]] int num_domains() const noexcept;
    [[nodiscard]] int num_proxies() const noexcept;
    [[nodiscard]] const DeformedFieldOptions& options() const noexcept;

    struct Data;  ///< src/field/deformed_field_data.h

private:
    friend class DeformedField;
    DeformedFieldModel() = default;
    std::shared_ptr<const Data> data_;
};

/// Balls of the rest shape whose material does not count, one for each point of a batch [m]; of
/// radius −∞: none.
struct RestBalls {
    const float* x = nullptr;
    const float* y = nullptr;
    const float* z = nullptr;
    const float* radius = nullptr;
};

/// The field of a deforming body in its own axes, docs/field.md eq. (10)–(14): the rest field
/// pulled back through the nearest proxies, C0. Exact for rigid motions, good for smooth bases and
/// small strain. update() once per tick; then queries as for every field. One thread at a time.
class DeformedField final : public DistanceField {
public:
    explicit DeformedField(const DeformedFieldModel& model);
    ~DeformedField() override;

    /// Takes the shape q, O(r) for each proxy. Ignores q that is not finite (false).
    bool update(const Eigen::Ref<const Eigen::VectorXd>& q) noexcept;
    /// Upper bound of how far any point of the solid moves between two shapes [m].
    [[nodiscard]] double travel(const Eigen::Ref<const Eigen::VectorXd>& q_change) const noexcept;

    void distances(const PointBatch& points, float* distance) const noexcept override;
    /// Gradients by central differences over half a cell: seven times the cost of distances().
    void samples(const PointBatch& points, const SampleBatch& samples) const noexcept override;
    [[nodiscard]] const Box& bounds() const noexcept override;     ///< of the present shape
    [[nodiscard]] CullingMargin margin() const noexcept override;  ///< grows with |F − I|, eq. (14)
    [[nodiscard]] double resolution() const noexcept override;

    /// What it is made of, to make another one for another thread.
    [[nodiscard]] DeformedFieldModel model() const noexcept;
    [[nodiscard]] int rank() const noexcept;
    /// Proxies nearest to deformed points: where contact loads act. Of equally near ones the lower
    /// index; 0 for points that are not finite.
    void nearest_proxies(const PointBatch& points, int* proxy) const noexcept;
    [[nodiscard]] int nearest_proxy(const Eigen::Vector3d& x) const noexcept;
    /// f += U_iᵀ force, r places, of a force at proxy i in body axes.
    void add_load(int proxy, const Eigen::Vector3d& force, double* f) const noexcept;
    /// U_i, 3 × r by columns.
    [[nodiscard]] const double* proxy_modes(int proxy) const noexcept;
    [[nodiscard]] int num_domains() const noexcept;
    /// Values of one domain alone without the material in a ball for each point, for self-contact,
    /// docs/contact.md eq. (33). margin() holds for them too.
    void domain_distances(int domain, const PointBatch& points, const RestBalls& balls,
                          float* distance) const noexcept;
    /// How the material of a domain that is at the points moves, docs/contact.md eq. (35): for each
    /// point a row of `stride` ≥ 4 r floats, r groups (m_x m_y m_z 0).
    void domain_modes(int domain, const PointBatch& points, float* modes,
                      int stride) const noexcept;
    /// Proxies with det F ≤ 0, or nearly, in this shape.
    [[nodiscard]] int num_skipped() const noexcept;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// How a deformed field compares with the exact field of the deformed surface, sampled near it.
struct DeformedFieldAccuracy {
    int num_samples = 0;
    double mean_error = 0, rms_error = 0, largest_error = 0;  ///< of distances [m], |d| ≤ reach
    double wrong_signs = 0;  ///< fraction of samples farther than a cell from the surface
    double too_large = 0;    ///< fraction whose value exceeds the exact one by over a cell
};
[[nodiscard]] DeformedFieldAccuracy compare_with_exact(DeformedField& field,
                                                       const ReducedModel& model,
                                                       const Eigen::VectorXd& q, double reach,
                                                       int num_samples, unsigned seed = 1);

}  // namespace pliant
