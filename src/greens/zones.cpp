#include "pliant/greens/zones.h"

#include "core/numbers.h"
#include "pliant/core/error.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace pliant {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;

std::span<const Vector3d> zone_nodes(const Zone& zone) {
    return zone.model ? std::span<const Vector3d>(zone.model->reference.positions)
                      : zone.response->seam_positions();
}

std::vector<Vector3d> placed_nodes(const Zone& zone) {
    std::vector<Vector3d> placed;
    for (const Vector3d& x : zone_nodes(zone)) placed.push_back(zone.pose.to_world(x));
    return placed;
}

void check_zone(const Zone& zone) {
    if (!zone.model == !zone.response)
        throw InputError("", "zone \"" + zone.name +
                                 "\" needs either Green's functions or an interface response");
}

/// Nearest of `points`, found by x along `order`.
struct Nearest {
    int node = -1;
    double distance = kInfinity;
};
Nearest nearest_node(const Vector3d& x, std::span<const Vector3d> points,
                     std::span<const int> order) {
    Nearest best;
    const auto less = [&](int i, double value) { return points[at(i)].x() < value; };
    const auto middle = std::lower_bound(order.begin(), order.end(), x.x(), less);
    const auto look = [&](int i) {
        const double distance = (points[at(i)] - x).norm();
        if (distance < best.distance) best = {i, distance};
        return std::abs(points[at(i)].x() - x.x()) < best.distance;
    };
    for (auto it = middle; it != order.end() && look(*it); ++it) {
    }
    for (auto it = middle; it != order.begin() && look(*std::prev(it)); --it) {
    }
    return best;
}

std::vector<int> ordered_by_x(std::span<const Vector3d> points) {
    std::vector<int> order(points.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
    std::ranges::sort(order, {}, [&](int i) { return points[at(i)].x(); });
    return order;
}

/// The only node that moves a vertex, −1: several do.
int node_of_vertex(const GreensModel& model, int vertex) {
    const int first = model.vertex_offsets[at(vertex)];
    return model.vertex_offsets[at(vertex) + 1] == first + 1 ? model.vertex_nodes[at(first)] : -1;
}

/// Those inside, of which only seams had triangles.
void drop_unused_vertices(GreensModel& model) {
    SurfaceMesh& mesh = model.surface.mesh;
    std::vector<int> place(mesh.vertices.size(), -1);
    for (const Triangle& corners : mesh.triangles)
        for (const int v : corners) place[at(v)] = 0;
    std::vector<int> offsets{0}, nodes;
    std::vector<float> weights;
    int count = 0;
    for (std::size_t v = 0; v < place.size(); ++v) {
        if (place[v] < 0) continue;
        place[v] = count++;
        mesh.vertices[at(place[v])] = mesh.vertices[v];
        for (int k = model.vertex_offsets[v]; k < model.vertex_offsets[v + 1]; ++k) {
            nodes.push_back(model.vertex_nodes[at(k)]);
            weights.push_back(model.vertex_weights[at(k)]);
        }
        offsets.push_back(static_cast<int>(nodes.size()));
    }
    mesh.vertices.resize(at(count));
    for (Triangle& corners : mesh.triangles)
        for (int& v : corners) v = place[at(v)];
    model.vertex_offsets = std::move(offsets);
    model.vertex_nodes = std::move(nodes);
    model.vertex_weights = std::move(weights);
}

}  // namespace

std::vector<ZoneSeam> find_seams(std::span<const Zone> zones, double tolerance) {
    std::vector<std::vector<Vector3d>> points;
    std::vector<std::vector<int>> orders;
    std::vector<std::vector<char>> has_partner;
    for (const Zone& zone : zones) {
        check_zone(zone);
        points.push_back(placed_nodes(zone));
        orders.push_back(ordered_by_x(points.back()));
        has_partner.emplace_back(points.back().size(), 0);
    }
    const auto size = [&](std::size_t z) {
        Box box;
        for (const Vector3d& x : points[z]) box.extend(x);
        return box.sizes().maxCoeff();
    };
    std::vector<ZoneSeam> seams;
    for (std::size_t a = 0; a < zones.size(); ++a)
        for (std::size_t b = a + 1; b < zones.size(); ++b) {
            const double near = tolerance * std::min(size(a), size(b));
            ZoneSeam seam{static_cast<int>(a), static_cast<int>(b), {}, {}};
            for (std::size_t i = 0; i < points[a].size(); ++i) {
                const Nearest found = nearest_node(points[a][i], points[b], orders[b]);
                if (!(found.distance <= near)) continue;
                seam.nodes_a.push_back(static_cast<int>(i));
                seam.nodes_b.push_back(found.node);
                has_partner[a][i] = has_partner[b][at(found.node)] = 1;
            }
            if (!seam.nodes_a.empty()) seams.push_back(std::move(seam));
        }
    // displaced nodes between the nodes of a neighbour: another triangulation
    for (std::size_t z = 0; z < zones.size(); ++z) {
        if (!zones[z].model) continue;
        const ReferenceProblem& reference = zones[z].model->reference;
        for (std::size_t i = 0; i < points[z].size(); ++i) {
            if (has_partner[z][i] || reference.kinds[i] != NodeKind::Fixed ||
                !reference.functions->has_column(static_cast<int>(i)))
                continue;
            for (std::size_t other = 0; other < zones.size(); ++other) {
                if (other == z) continue;
                const Nearest found = nearest_node(points[z][i], points[other], orders[other]);
                if (found.distance < std::sqrt(reference.areas[i]))
                    throw InputError(
                        "", "node " + std::to_string(i) + " of zone \"" + zones[z].name + "\" is " +
                                std::to_string(found.distance) +
                                " m from the nearest node of zone \"" + zones[other].name +
                                "\" and has no partner there: the two sides of a "
                                "seam need the same triangles");
            }
        }
    }
    return seams;
}

std::vector<int> vertices_at_nodes(std::span<const Vector3d> vertices, const Pose& pose,
                                   std::span<const Zone> zones, double tolerance) {
    std::vector<Vector3d> placed;
    for (const Vector3d& x : vertices) placed.push_back(pose.to_world(x));
    const double near = tolerance * bounding_box(placed).sizes().maxCoeff();
    std::vector<char> meets(placed.size(), 0);
    for (const Zone& zone : zones) {
        if (!zone.model) continue;
        const std::vector<Vector3d> nodes = placed_nodes(zone);
        const std::vector<int> order = ordered_by_x(nodes);
        for (std::size_t v = 0; v < placed.size(); ++v)
            meets[v] |= nearest_node(placed[v], nodes, order).distance <= near;
    }
    std::vector<int> found;
    for (std::size_t v = 0; v < meets.size(); ++v)
        if (meets[v]) found.push_back(static_cast<int>(v));
    return found;
}

ZonedModel::ZonedModel(std::vector<Zone> zones, const std::vector<ZoneSeam>& seams,
                       SeamSystemOptions options)
    : zones_(std::move(zones)), node_seams_(seams) {
    options.names.clear();
    std::vector<std::vector<int>> seam_nodes(zones_.size());
    std::vector<SeamPairs> pairs;
    for (const ZoneSeam& seam : seams) {
        SeamPairs& made = pairs.emplace_back(SeamPairs{seam.zone_a, seam.zone_b, {}, {}});
        for (int side = 0; side < 2; ++side) {
            const int z = side ? seam.zone_b : seam.zone_a;
            if (z < 0 || at(z) >= zones_.size()) continue;  // SeamSystem tells
            check_zone(zones_[at(z)]);
            const auto& nodes = side ? seam.nodes_b : seam.nodes_a;
            auto& places = side ? made.nodes_b : made.nodes_a;
            if (!zones_[at(z)].model) {
                places = nodes;
                continue;
            }
            for (const int node : nodes) {
                places.push_back(static_cast<int>(seam_nodes[at(z)].size()));
                seam_nodes[at(z)].push_back(node);
            }
        }
    }
    std::vector<std::shared_ptr<const SeamResponse>> responses;
    std::vector<Pose> poses;
    int first = 0;
    for (std::size_t z = 0; z < zones_.size(); ++z) {
        const Zone& zone = zones_[z];
        check_zone(zone);
        options.names.push_back(zone.name);
        poses.push_back(zone.pose);
        first_node_.push_back(first);
        if (zone.model) {
            if (seam_nodes[z].empty())
                throw InputError("", "zone \"" + zone.name + "\" is in no seam");
            greens_.push_back(std::make_shared<GreensZone>(zone.model->reference, seam_nodes[z],
                                                           zone.name, zone.precise));
            responses.push_back(greens_.back());
            first += zone.model->num_nodes();
        } else {
            greens_.push_back(nullptr);
            responses.push_back(zone.response);
        }
    }
    seams_ = std::make_unique<SeamSystem>(std::move(responses), std::move(pairs), poses, options);
}

void ZonedModel::set_gravity(const Vector3d& g) noexcept {
    for (int z = 0; z < num_zones(); ++z)
        if (GreensZone* const zone = greens(z))
            (void)zone->set_body_loads(
                zones_[at(z)].model->gravity_parameters(seams_->pose(z).rotation.conjugate() * g));
}

Vector3d ZonedModel::position(int zone, int node) const noexcept {
    const GreensZone& greens_zone = *greens(zone);
    const ReferenceProblem& reference = greens_zone.reference();
    Vector3d x = reference.positions[at(node)];
    if (reference.kinds[at(node)] == NodeKind::Free || greens_zone.seam_place(node) >= 0)
        x += unknown(zone, node);
    return seams_->pose(zone).to_world(x);
}

GreensModel ZonedModel::posed() const {
    // partners of second sides
    std::vector<std::vector<int>> partner(zones_.size()), seam_of(zones_.size());
    for (std::size_t z = 0; z < zones_.size(); ++z)
        if (zones_[z].model) {
            partner[z].assign(at(zones_[z].model->num_nodes()), -1);
            seam_of[z].assign(at(zones_[z].model->num_nodes()), -1);
        }
    for (std::size_t s = 0; s < node_seams_.size(); ++s) {
        const ZoneSeam& seam = node_seams_[s];
        const bool has_both = zones_[at(seam.zone_a)].model && zones_[at(seam.zone_b)].model;
        for (std::size_t k = 0; k < seam.nodes_a.size(); ++k) {
            if (zones_[at(seam.zone_a)].model)
                seam_of[at(seam.zone_a)][at(seam.nodes_a[k])] = static_cast<int>(s);
            if (zones_[at(seam.zone_b)].model)
                seam_of[at(seam.zone_b)][at(seam.nodes_b[k])] = static_cast<int>(s);
            if (has_both)
                partner[at(seam.zone_b)][at(seam.nodes_b[k])] =
                    first_node(seam.zone_a) + seam.nodes_a[k];
        }
    }

    GreensModel whole;
    SurfaceMesh& mesh = whole.surface.mesh;
    ReferenceProblem& reference = whole.reference;
    std::vector<int> vertex_of_node;  // −1: none, or several nodes move it
    bool is_first = true;
    for (int z = 0; z < num_zones(); ++z) {
        if (!greens(z)) continue;
        const GreensModel& model = *zones_[at(z)].model;
        const Pose& pose = seams_->pose(z);
        if (std::exchange(is_first, false)) {
            reference.modulus = model.reference.modulus;
            whole.poisson_ratio = model.poisson_ratio;
            whole.density = model.density;
            whole.method = model.method;
            whole.elements = model.elements;
        }
        // nodes
        const int first = first_node(z);
        std::vector<Vector3d> u(at(model.num_nodes()), Vector3d::Zero());
        for (int node = 0; node < model.num_nodes(); ++node) {
            const bool is_seam = seam_of[at(z)][at(node)] >= 0;
            const NodeKind kind = is_seam ? NodeKind::Free : model.reference.kinds[at(node)];
            if (kind == NodeKind::Free) u[at(node)] = unknown(z, node);
            reference.kinds.push_back(kind);
            reference.positions.push_back(
                pose.to_world(model.reference.positions[at(node)] + u[at(node)]));
            reference.areas.push_back(is_seam ? 0.0 : model.reference.areas[at(node)]);
            whole.normals.push_back(pose.rotation * model.normals[at(node)]);
        }
        vertex_of_node.resize(reference.kinds.size(), -1);
        // vertices, once where two zones meet
        std::vector<int> new_vertex;
        for (int v = 0; v < model.surface.mesh.num_vertices(); ++v) {
            const int node = node_of_vertex(model, v);
            const int other = node >= 0 ? partner[at(z)][at(node)] : -1;
            if (other >= 0 && vertex_of_node[at(other)] >= 0) {
                new_vertex.push_back(vertex_of_node[at(other)]);
                continue;
            }
            new_vertex.push_back(mesh.num_vertices());
            if (node >= 0) vertex_of_node[at(first + node)] = mesh.num_vertices();
            Vector3d x = model.surface.mesh.vertices[at(v)];
            whole.vertex_offsets.push_back(static_cast<int>(whole.vertex_nodes.size()));
            for (int k = model.vertex_offsets[at(v)]; k < model.vertex_offsets[at(v) + 1]; ++k) {
                const int moved_by = model.vertex_nodes[at(k)];
                x += static_cast<double>(model.vertex_weights[at(k)]) * u[at(moved_by)];
                whole.vertex_nodes.push_back(first + moved_by);
                whole.vertex_weights.push_back(model.vertex_weights[at(k)]);
            }
            mesh.vertices.push_back(pose.to_world(x));
        }
        // triangles but those of seams
        for (int t = 0; t < model.surface.mesh.num_triangles(); ++t) {
            const std::array<int, 3>& corners = model.corner_nodes[at(t)];
            const int seam = seam_of[at(z)][at(corners[0])];
            if (seam >= 0 && seam == seam_of[at(z)][at(corners[1])] &&
                seam == seam_of[at(z)][at(corners[2])])
                continue;
            Triangle& triangle = mesh.triangles.emplace_back();
            std::array<int, 3>& nodes = whole.corner_nodes.emplace_back();
            for (std::size_t k = 0; k < 3; ++k) {
                triangle[k] = new_vertex[at(model.surface.mesh.triangles[at(t)][k])];
                const int other = partner[at(z)][at(corners[k])];
                nodes[k] = other >= 0 ? other : first + corners[k];
            }
        }
    }
    if (is_first) throw InputError("", "none of the zones has Green's functions");
    whole.vertex_offsets.push_back(static_cast<int>(whole.vertex_nodes.size()));
    drop_unused_vertices(whole);
    whole.surface.num_vertices = {mesh.num_vertices()};
    whole.surface.triangles = {mesh.triangles};
    reference.length = bounding_box(mesh.vertices).sizes().maxCoeff();

    // seam nodes at the outer surface carry what is left of it around them
    std::vector<char> is_seam(reference.kinds.size(), 0);
    for (int z = 0; z < num_zones(); ++z)
        for (std::size_t node = 0; node < seam_of[at(z)].size(); ++node)
            is_seam[at(first_node(z)) + node] = seam_of[at(z)][node] >= 0;
    std::vector<Vector3d> outer(reference.kinds.size(), Vector3d::Zero());
    for (int t = 0; t < mesh.num_triangles(); ++t) {
        const Vector3d area =
            (mesh.corner(t, 1) - mesh.corner(t, 0)).cross(mesh.corner(t, 2) - mesh.corner(t, 0)) /
            2;
        for (const int node : whole.corner_nodes[at(t)]) {
            if (!is_seam[at(node)]) continue;
            reference.areas[at(node)] += area.norm() / 3;
            outer[at(node)] += area;
        }
    }
    for (std::size_t node = 0; node < outer.size(); ++node)
        if (outer[node].norm() > 0) whole.normals[node] = outer[node].normalized();
    reference.functions = std::make_shared<ZonedGreensFunctions>(
        *this, reference.length, reference.modulus, whole.density, reference.areas);
    return whole;
}

}  // namespace pliant
