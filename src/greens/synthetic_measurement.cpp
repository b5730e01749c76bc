#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include <Eigen/Geometry>

#include "core/numbers.h"
#include "greens/coarse_hats.h"
#include "pliant/core/error.h"
#include "pliant/geometry/surface_query.h"
#include "pliant/greens/measured_greens.h"

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

/// Of the body's length, for the default force.
constexpr double kDefaultIndentation = 0.02;

/// Numbers that are the same everywhere, which those of the standard library need not be.
class ProbeDice {
public:
    explicit ProbeDice(std::uint64_t seed) : state_(seed) {}
    /// In (0, 1).
    double uniform() noexcept {
        state_ += 0x9e3779b97f4a7c15u;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        z ^= z >> 31;
        return (static_cast<double>(z >> 11) + 0.5) * 0x1p-53;
    }
    double normal() noexcept {
        const double radius = std::sqrt(-2 * std::log(uniform()));
        return radius * std::cos(2 * std::numbers::pi * uniform());
    }

private:
    std::uint64_t state_;
};

void check_probing(const GreensModel& model, const SyntheticProbing& options) {
    if (model.surface.num_levels() < 1)
        throw InputError("",
                         "probing needs a surface with levels of subdivision: its coarser "
                         "vertices are probed, the others seen");
    if (model.num_nodes() != model.surface.mesh.num_vertices() ||
        model.reference.functions->block() != 3)
        throw InputError("", "probing needs an elastic model with one node for each vertex");
    const auto require = [](bool is_right, const char* field, double value, const char* expected) {
        if (!is_right) throw InputError("", field, std::to_string(value), expected);
    };
    require(options.num_probes >= 1, "num_probes", options.num_probes, "at least 1");
    require(options.cone >= 0 && options.cone < 1.6, "cone", options.cone, "0 to 1.6 rad");
    require(options.force >= 0 && std::isfinite(options.force), "force", options.force,
            "newtons, or 0 for a small indentation");
    require(options.noise >= 0 && std::isfinite(options.noise), "noise", options.noise,
            "metres, or 0");
    require(options.hidden_share >= 0 && options.hidden_share <= 1, "hidden_share",
            options.hidden_share, "0 to 1");
}

std::vector<char> seen_by_cameras(const SurfaceMesh& mesh, const std::vector<Vector3d>& normals,
                                  const std::vector<Vector3d>& cameras) {
    std::vector<char> is_seen(mesh.vertices.size(), cameras.empty() ? 1 : 0);
    if (cameras.empty()) return is_seen;
    const SurfaceQuery query(mesh);
    const double off = 1e-6 * bounding_box(mesh.vertices).sizes().maxCoeff();
    for (std::size_t v = 0; v < is_seen.size(); ++v)
        for (const Vector3d& camera : cameras) {
            const Vector3d& x = mesh.vertices[v];
            if (!(normals[v].dot(camera - x) > 0)) continue;
            if (!query.segment(x + off * normals[v], camera)) is_seen[v] = 1;
        }
    return is_seen;
}

}  // namespace

GreensMeasurement synthetic_measurement(const GreensModel& model, const SyntheticProbing& options) {
    check_probing(model, options);
    const ReferenceProblem& reference = model.reference;
    const SurfaceMesh& mesh = model.surface.mesh;
    const std::vector<Vector3d> normals = vertex_normals(mesh);
    const std::vector<char> in_view = seen_by_cameras(mesh, normals, options.cameras);
    const std::vector<CoarseHat> hats =
        coarse_hats(model.surface, reference.kinds, reference.areas);
    const auto num_nodes = at(model.num_nodes());

    GreensMeasurement measurement;
    measurement.num_vertices = mesh.num_vertices();
    measurement.noise = options.noise;
    ProbeDice dice(options.seed);
    const int num_coarse = num_coarse_vertices(model.surface);
    std::array<std::vector<float>, 3> responses;  // to a unit force along each axis [m/N]
    for (int k = 0; k < num_coarse; ++k) {
        if (reference.kinds[at(k)] != NodeKind::Free || !reference.functions->has_column(k))
            continue;
        // the tip: unit force, nondimensional displacements
        CoarseHat tip = hats[at(k)];
        if (options.tip == ProbeTip::Vertex) tip = {{k}, {1.0}, reference.areas[at(k)]};
        double area = 0;
        for (std::size_t i = 0; i < tip.vertices.size(); ++i)
            if (reference.functions->has_column(tip.vertices[i]))
                area += tip.weights[i] * reference.areas[at(tip.vertices[i])];
        for (int axis = 0; axis < 3; ++axis) {
            std::vector<int> nodes;
            std::vector<float> weights;
            for (std::size_t i = 0; i < tip.vertices.size(); ++i) {
                if (!reference.functions->has_column(tip.vertices[i])) continue;
                nodes.push_back(tip.vertices[i]);
                for (int c = 0; c < 3; ++c)
                    weights.push_back(c == axis ? static_cast<float>(tip.weights[i]) : 0.0f);
            }
            responses[at(axis)].assign(3 * num_nodes, 0.0f);
            reference.functions->add_columns(nodes, weights, responses[at(axis)]);
        }
        const double unit = reference.length / (area * reference.modulus);
        const auto response = [&](std::size_t v) {
            Matrix3d Z;
            for (int axis = 0; axis < 3; ++axis)
                for (std::size_t c = 0; c < 3; ++c)
                    Z(static_cast<int>(c), axis) = unit * responses[at(axis)][3 * v + c];
            return Z;
        };
        double force = options.force;
        if (!(force > 0))
            force = kDefaultIndentation * reference.length / response(at(k)).trace() * 3;

        std::vector<char> is_seen = in_view;
        for (std::size_t v = 0; v < num_nodes; ++v)
            if (dice.uniform() < options.hidden_share) is_seen[v] = 0;
        if (options.sees_loaded) is_seen[at(k)] = 1;
        const Vector3d side = normals[at(k)].unitOrthogonal(), up = normals[at(k)].cross(side);
        for (int p = 0; p < options.num_probes; ++p) {
            const double angle = 2 * std::numbers::pi * p / options.num_probes;
            GreensProbe probe;
            probe.vertex = k;
            probe.force =
                force * (std::sin(options.cone) * (std::cos(angle) * side + std::sin(angle) * up) -
                         std::cos(options.cone) * normals[at(k)]);
            for (std::size_t v = 0; v < num_nodes; ++v) {
                if (!is_seen[v]) continue;
                Vector3d u = Vector3d::Zero();
                if (reference.kinds[v] == NodeKind::Free) u = response(v) * probe.force;
                for (double& x : u) x += options.noise * dice.normal();
                probe.seen.push_back(static_cast<int>(v));
                probe.displacements.push_back(u);
            }
            measurement.probes.push_back(std::move(probe));
        }
    }
    return measurement;
}

}  // namespace pliant
