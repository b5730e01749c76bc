#pragma once

#include "pliant/contact/build_pointshell.h"
#include "pliant/contact/contact_loads.h"
#include "pliant/contact/point_tree.h"
#include "pliant/field/build_field.h"
#include "pliant/geometry/implicit.h"
#include "pliant/reduction/reduced_body.h"

#include <memory>
#include <string>
#include <vector>

namespace pliant::reproduce {

// Bodies, poses and pictures that several experiments of contact share.

/// All cores while it lives: for construction, which is not what is measured.
class AllCores {
public:
    AllCores();
    ~AllCores();
    AllCores(const AllCores&) = delete;
    AllCores& operator=(const AllCores&) = delete;
};

/// A closed body as a mesh and as its field.
struct Solid {
    SurfaceMesh mesh;
    std::shared_ptr<const DistanceGrid> field;

    [[nodiscard]] double cell() const { return field->frame().cell; }
};
[[nodiscard]] Solid make_solid(SurfaceMesh mesh, int cells, double expansion = 1.5);
/// A shape of the registry, its longest side `size`, its box around the origin.
[[nodiscard]] SurfaceMesh centred_shape(const std::string& shape, double size, int resolution = 0);
/// `moves`: of each level of the repulsion at most; 0: until it converges.
[[nodiscard]] Pointshell make_shell(const Solid& solid, int num_points, int num_levels,
                                    int moves = 0);

/// A soft body of r vectors; its stages are kept in the cache of builds.
struct SoftOptions {
    std::string fixed;  ///< as in "z < 5 %"
    int resolution = 40;
    int num_modes = 8, rank = 15;
    double youngs_modulus = 1e6;
};
[[nodiscard]] ReducedModel make_soft(const SurfaceMesh& mesh, const SoftOptions& options);
[[nodiscard]] PointTree make_tree(const Pointshell& shell, const ReducedModel& model);
/// Equilibrium under a load along a mode, grown until the body turns by `angle` somewhere [rad].
[[nodiscard]] Eigen::VectorXd bent_shape(const ReducedModel& model, int mode, double angle);
/// Largest angle by which the surface turns [rad].
[[nodiscard]] double largest_turn(const ReducedModel& model, const Eigen::VectorXd& q);
[[nodiscard]] SurfaceMesh deformed_surface(const ReducedModel& model, const Eigen::VectorXd& q);

/// Contact of one shell with one field, pose after pose; torques about the origin of the field.
class Probe {
public:
    Probe(const PointTree& tree, std::shared_ptr<const DistanceField> field,
          const TraversalOptions& traversal = {}, const ContactLoadOptions& loads = {});
    const ContactLoads& at(const Pose& shell_to_field, std::span<const double> q = {});
    [[nodiscard]] const TraversalStatistics& statistics() const { return traversal_.statistics(); }
    [[nodiscard]] PointTraversal& traversal() { return traversal_; }

private:
    PointTraversal traversal_;
    ContactForces forces_;
};

/// How far to go along `direction` from `start` (no contact) until `wanted` points of the shell are
/// inside the field [m]; its shape is q, or that of rest.
[[nodiscard]] double depth_of_contacts(const PointTree& tree,
                                       const std::shared_ptr<const DistanceField>& field,
                                       const Pose& start, const Eigen::Vector3d& direction,
                                       double longest, int wanted, const Eigen::VectorXd& q = {});

// ---- pictures ----

/// Iso-lines of a field in a plane as SVG: the surface strong, others every `spacing` [m].
struct SliceView {
    Eigen::Vector3d origin, across, up;  ///< as in slice_field
    int width = 240;                     ///< [pixels]
    double spacing = 0;
};
[[nodiscard]] std::string slice_picture(const DistanceField& field, const SliceView& view,
                                        const std::string& label);

/// Points of one colour of the page, 0 … 7.
struct Dots {
    std::vector<Eigen::Vector3d> points;
    int color = 6;
    double radius = 1;  ///< [pixels]
};
[[nodiscard]] std::string dots_picture(const std::vector<Dots>& dots, double azimuth,
                                       double elevation, int width, const std::string& label);

}  // namespace pliant::reproduce
