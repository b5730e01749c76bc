#include "pliant/greens/hand_over.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/numbers.h"
#include "greens/coarse_hats.h"
#include "pliant/core/error.h"

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

/// Surfaces are the same if no vertex is further off than this, over the body's length.
constexpr double kSameSurface = 1e-5;
/// Directions that the surface hardly shows are left out: added to the normal equations, relative.
constexpr double kHandOverRidge = 1e-10;

/// Where the force of a node acts: a triangle and the weights of its corners.
std::vector<SurfacePoint> places_of_nodes(const GreensModel& model) {
    std::vector<SurfacePoint> places(at(model.num_nodes()));
    for (int t = 0; t < model.surface.mesh.num_triangles(); ++t)
        for (const int node : model.corner_nodes[at(t)]) {
            if (places[at(node)].triangle >= 0) continue;
            Vector3d weights = Vector3d::Zero();
            for (int k = 0; k < 3; ++k)
                if (model.corner_nodes[at(t)][at(k)] == node) weights[k] = 1;
            places[at(node)] = SurfacePoint::on_triangle(t, weights / weights.sum());
        }
    return places;
}

}  // namespace

HandOver::HandOver(std::shared_ptr<const GreensModel> from, const ReducedModel& to)
    : from_(std::move(from)), model_(to), force_(to.make_force()) {
    const SurfaceMesh& mesh = from_->surface.mesh;
    const SurfaceShapes shapes = to.shapes();
    if (to.is_free())
        throw InputError("",
                         "a body that is held is handed over to a reduced model that is held; "
                         "this one is free");
    bool is_same = shapes.num_vertices() == mesh.num_vertices();
    for (std::size_t v = 0; is_same && v < mesh.vertices.size(); ++v) {
        const float* const x = shapes.arrays().rest.data() + 3 * v;
        is_same = (Vector3d(double{x[0]}, double{x[1]}, double{x[2]}) - mesh.vertices[v]).norm() <=
                  kSameSurface * from_->reference.length;
    }
    if (!is_same)
        throw InputError("",
                         "a body is handed over to a reduced model of the same surface: build "
                         "it from that of the Green's functions, at the same size");

    // the normal equations of eq. (W4)
    const int r = shapes.size();
    shapes_.resize(3 * mesh.num_vertices(), r);
    std::vector<float> unit(at(r)), rows(3 * mesh.vertices.size());
    for (int k = 0; k < r; ++k) {
        std::fill(unit.begin(), unit.end(), 0.0f);
        unit[at(k)] = 1;
        shapes.velocities(unit, rows);
        for (Eigen::Index i = 0; i < shapes_.rows(); ++i)
            shapes_(i, k) = static_cast<double>(rows[static_cast<std::size_t>(i)]);
    }
    const std::vector<double> areas = vertex_areas(mesh);
    weights_.resize(shapes_.rows());
    for (Eigen::Index i = 0; i < weights_.size(); ++i)
        weights_[i] = areas[static_cast<std::size_t>(i / 3)];
    MatrixXd normal = shapes_.transpose() * weights_.asDiagonal() * shapes_;
    normal.diagonal().array() += kHandOverRidge * normal.trace() / r;
    normal_.compute(normal);
    load_ = balance_ = sum_ = VectorXd::Zero(r);
}

HandOverReport HandOver::apply(const GreensBody& from, ReducedBody& to) {
    HandOverReport report;
    const SurfaceMesh& mesh = from_->surface.mesh;
    const auto display = std::dynamic_pointer_cast<const GreensDisplay>(from.display());
    std::vector<float> state(at(display->state_size())), x(3 * mesh.vertices.size());
    from.write_display(state);
    display->positions(state, x);
    VectorXd u(shapes_.rows());
    for (std::size_t v = 0; v < mesh.vertices.size(); ++v)
        u.segment<3>(static_cast<Eigen::Index>(3 * v)) =
            from.pose().to_body(
                Eigen::Map<const Eigen::Vector3f>(x.data() + 3 * v).cast<double>()) -
            mesh.vertices[v];
    const VectorXd q = normal_.solve(shapes_.transpose() * (weights_.asDiagonal() * u));
    if (!q.allFinite()) return report;

    // what acts, eq. (W5)
    load_.setZero();
    const SurfaceShapes& shapes = to.shapes();
    const std::vector<SurfacePoint> places = places_of_nodes(*from_);
    std::vector<LoadedNode> loaded;
    display->loaded_nodes(state, loaded);
    for (const LoadedNode& one : loaded) {
        const SurfacePoint& place = places[at(one.node)];
        const Vector3d force(double{one.force[0]}, double{one.force[1]}, double{one.force[2]});
        shapes.add_force(place.triangle, place.barycentric,
                         from.pose().rotation.conjugate() * force, load_);
    }

    // what keeps the shape at rest besides, eq. (W6)
    const auto workspace = force_->make_workspace();
    VectorXd resistance(q.size());
    force_->force(q, resistance, *workspace);
    resistance *= to.tuning().stiffness;
    balance_ = resistance - load_;
    if (const auto body = from.body_loads(); body.size() == 3) {
        const double unit = from_->reference.modulus * from.modulus_scale() /
                            (from_->density * from_->reference.length);
        balance_ -= model_.gravity_load(unit * Vector3d(body[0], body[1], body[2]));
    }

    // at rest, eq. (W4): no velocity, and no acceleration under the load that balances it
    const auto r = static_cast<std::size_t>(q.size());
    std::vector<double> saved(at(to.state_size()), 0.0);
    to.save_state(saved);
    std::fill_n(saved.begin(), 5 * r, 0.0);  // q, its rates, q before and the last load
    for (const std::size_t part : {0, 3})
        std::copy_n(q.data(), r, saved.begin() + static_cast<std::ptrdiff_t>(part * r));
    std::copy_n(resistance.data(), r, saved.begin() + static_cast<std::ptrdiff_t>(4 * r));
    if (!to.restore_state(saved)) return report;

    const VectorXd gap = shapes_ * q - u;
    for (Eigen::Index i = 0; i < gap.size(); i += 3)
        report.jump = std::max(report.jump, gap.segment<3>(i).norm());
    const double whole = u.cwiseAbs2().dot(weights_), missing = gap.cwiseAbs2().dot(weights_);
    report.relative_jump = whole > 0 ? std::sqrt(missing / whole) : 0;
    report.is_done = true;
    return report;
}

void HandOver::add_loads(ReducedBody& to, double fade) noexcept {
    sum_ = load_ + (1 - std::clamp(fade, 0.0, 1.0)) * balance_;
    to.add_reduced_force(sum_);
}

}  // namespace pliant
