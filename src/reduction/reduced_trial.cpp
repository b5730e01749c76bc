#include "pliant/reduction/reduced_trial.h"

#include "fem/node_shares.h"
#include "pliant/fem/mass.h"
#include "pliant/reduction/reduced_dynamics.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

namespace pliant {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr double kStandardGravity = 9.81;
/// A free body stands on so much of its height; a hand touches so much of its size.
constexpr double kFoot = 0.05, kHand = 0.1;
/// Loads grow in so many steps, so that statics follow the branch of the rest shape.
constexpr int kLoadSteps = 10, kIterations = 60;

class Trial {
public:
    explicit Trial(const ReducedModel& model)
        : model_(model),
          mesh_(model.mesh()),
          fem_(mesh_, model.materials(), {model.elements()}),
          surface_(model.surface()),
          shapes_(model.shapes()),
          dynamics_(model.make_force(), model.mass()),
          ws_(dynamics_.make_workspace()) {
        for (const Vector3d& x : mesh_.vertices) box_.extend(x);
        const Eigen::SparseMatrix<double> M = mass_matrix(fem_);
        masses_ = M * VectorXd::Ones(M.cols());
    }

    ReducedTrial run() {
        ReducedTrial trial;
        trial.size = box_.sizes().maxCoeff();
        trial.frequency = model_.frequency(0);
        trial.mass = masses_.sum() / 3;
        trial.weight = bear(weight(trial.mass));
        trial.hand = bear(hand());
        return trial;
    }

private:
    /// A force shared out to nodes by their masses.
    [[nodiscard]] VectorXd on_nodes(const std::vector<int>& nodes, const Vector3d& force) const {
        const auto U = model_.basis();
        VectorXd load = VectorXd::Zero(model_.rank());
        double mass = 0;
        for (const int node : nodes) {
            load.noalias() += masses_[3 * node] * (U.middleRows<3>(3 * node).transpose() * force);
            mass += masses_[3 * node];
        }
        return load / mass;
    }
    template <class Choice>
    [[nodiscard]] std::vector<int> nodes(const Choice& is_chosen) const {
        std::vector<int> chosen;
        for (int v = 0; v < mesh_.num_vertices(); ++v)
            if (is_chosen(mesh_.vertices[static_cast<std::size_t>(v)])) chosen.push_back(v);
        return chosen;
    }
    /// A force along z on the elements at an end of the body, by their mass. Of cut cells what is
    /// inside counts: a force on their outer nodes alone would press them as nothing can.
    [[nodiscard]] VectorXd on_end(bool is_top, double force) const {
        const auto U = model_.basis();
        const FemModelData& d = fem_.data();
        const double depth = kFoot * box_.sizes().z();
        VectorXd load = VectorXd::Zero(model_.rank());
        double mass = 0;
        with_element(d.mesh.kind, [&](auto num_nodes_constant) {
            constexpr int N = num_nodes_constant;
            for (int place = 0; place < d.mesh.num_elements(); ++place) {
                const int e = d.blocks.elements[static_cast<std::size_t>(place)];
                const auto is_near = [&](int node) {
                    const double z = mesh_.vertices[static_cast<std::size_t>(node)].z();
                    return is_top ? z >= box_.max().z() - depth : z <= box_.min().z() + depth;
                };
                const auto of_element = mesh_.element(e);
                if (std::ranges::none_of(of_element, is_near)) continue;
                const Eigen::Matrix<double, N, 1> shares =
                    fem_.material_of(e).density * node_shares<N>(d, place, Lumping::RowSum);
                for (int a = 0; a < N; ++a)
                    load += shares[a] *
                            U.row(3 * of_element[static_cast<std::size_t>(a)] + 2).transpose();
                mass += shares.sum();
            }
        });
        return force / mass * load;
    }
    [[nodiscard]] VectorXd weight(double mass) const {
        if (!model_.is_free()) return model_.gravity_load(-kStandardGravity * Vector3d::UnitZ());
        // the basis does not feel the acceleration of the whole: what carries it is the load
        return on_end(false, mass * kStandardGravity);
    }
    [[nodiscard]] VectorXd hand() const {
        const double reach = kHand * box_.sizes().maxCoeff();
        if (model_.is_free())
            return on_end(true, -ReducedTrial::kHandForce) +
                   on_end(false, ReducedTrial::kHandForce);
        Vector3d support = Vector3d::Zero();
        for (const int v : model_.fixed_vertices())
            support += mesh_.vertices[static_cast<std::size_t>(v)];
        support /= static_cast<double>(model_.fixed_vertices().size());
        const Vector3d place = *std::ranges::max_element(
            mesh_.vertices, {}, [&](const Vector3d& x) { return (x - support).squaredNorm(); });
        const Vector3d inwards = (box_.center() - place).normalized();
        return on_nodes(nodes([&](const Vector3d& x) { return (x - place).norm() <= reach; }),
                        ReducedTrial::kHandForce *
                            (inwards.allFinite() ? inwards : Vector3d(-Vector3d::UnitZ())));
    }

    TriedLoad bear(const VectorXd& load) {
        ReducedState s = dynamics_.make_state();
        TriedLoad found;
        for (int k = 1; k <= kLoadSteps; ++k)
            found.is_settled =
                dynamics_
                    .solve_static(s, static_cast<double>(k) / kLoadSteps * load, kIterations, *ws_)
                    .status == StepStatus::Ok;
        const VectorXd u = model_.basis() * s.q;
        found.displacement = largest_displacement(u, s.q);
        auto fem_ws = fem_.make_workspace();
        found.least_det_F = fem_.smallest_det_F(u, fem_ws).value;
        found.volume = volume_ratio(s.q);
        return found;
    }
    /// Of the drawn surface and of the middle of elements that lie mostly inside; nodes of cut cells
    /// lie outside, where nothing is.
    [[nodiscard]] double largest_displacement(const VectorXd& u, const VectorXd& q) const {
        double largest = 0;
        for (int v = 0; v < surface_.num_vertices(); ++v)
            largest = std::max(
                largest,
                (shapes_.position(v, q) - surface_.vertices[static_cast<std::size_t>(v)]).norm());
        for (int e = 0; e < mesh_.num_elements(); ++e) {
            if (!mesh_.filled.empty() && mesh_.filled[static_cast<std::size_t>(e)] < 0.5) continue;
            const auto of_element = mesh_.element(e);
            Vector3d mean = Vector3d::Zero();
            for (const int node : of_element) mean += u.segment<3>(3 * node);
            largest = std::max(largest, mean.norm() / static_cast<double>(of_element.size()));
        }
        return largest;
    }
    [[nodiscard]] double volume_ratio(const VectorXd& q) const {
        std::vector<Vector3d> moved;
        for (int v = 0; v < surface_.num_vertices(); ++v) moved.push_back(shapes_.position(v, q));
        const double at_rest = volume(surface_.vertices), now = volume(moved);
        return at_rest > 0 ? now / at_rest : 1.0;
    }
    [[nodiscard]] double volume(const std::vector<Vector3d>& x) const {
        double sum = 0;
        for (const Triangle& t : surface_.triangles)
            sum += x[static_cast<std::size_t>(t[0])].dot(
                       x[static_cast<std::size_t>(t[1])].cross(x[static_cast<std::size_t>(t[2])])) /
                   6;
        return sum;
    }

    const ReducedModel& model_;
    VolumeMesh mesh_;
    FemModel fem_;
    SurfaceMesh surface_;
    SurfaceShapes shapes_;
    ReducedDynamics dynamics_;
    std::unique_ptr<ReducedDynamics::Workspace> ws_;
    Eigen::AlignedBox3d box_;
    VectorXd masses_;  ///< of each unknown, its row of the mass matrix [kg]
};

std::string short_text(const char* format, double value) {
    char text[64];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

}  // namespace

bool ReducedTrial::is_usable() const noexcept {
    return weight.least_det_F >= kLeastDetF && weight.displacement <= kMostSag * size &&
           weight.volume >= kLeastVolume;
}

std::string ReducedTrial::warning() const {
    if (is_usable()) return {};
    std::string what;
    if (weight.least_det_F < kLeastDetF || weight.displacement <= kMostSag * size)
        what = "is crushed by its own weight: " + short_text("%.3g", 100 * weight.volume) +
               " % of its volume are left, the smallest det F is " +
               short_text("%.2g", weight.least_det_F);
    else
        what = "sags by " + short_text("%.3g", weight.displacement) + " m under its own weight, " +
               short_text("%.2g", weight.displacement / size) + " times its size";
    return what + "; take a stiffer material, a smaller size or hold more of it";
}

ReducedTrial try_model(const ReducedModel& model) { return Trial(model).run(); }

}  // namespace pliant
