#include "core/numbers.h"
#include "pliant/core/error.h"
#include "pliant/field/deformed_field.h"
#include "pliant/geometry/surface_query.h"

#include <algorithm>
#include <cmath>
#include <queue>

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;

/// Patches that a surface is cut into; the way between two is known to about their size.
constexpr int kMaxPatches = 256;
/// Patches are in conflict where the way through the material is so many times the straight one …
constexpr double kDetour = 3;
/// … and no shorter than this part of the body: what is near along the material cannot part far.
constexpr double kShortestWay = 0.25;
/// Fraction of all pairs of patches: fewer conflicts than that are not worth a domain.
constexpr double kFewConflicts = 2e-3;

struct Way {
    double length;
    int to;
};
using Graph = std::vector<std::vector<Way>>;

Graph edge_graph(const SurfaceMesh& mesh) {
    Graph graph(mesh.vertices.size());
    for (const Triangle& t : mesh.triangles)
        for (std::size_t k = 0; k < 3; ++k) {
            const int a = t[k], b = t[(k + 1) % 3];
            const double length = (mesh.vertices[static_cast<std::size_t>(a)] -
                                   mesh.vertices[static_cast<std::size_t>(b)])
                                      .norm();
            graph[static_cast<std::size_t>(a)].push_back({length, b});
            graph[static_cast<std::size_t>(b)].push_back({length, a});
        }
    return graph;
}

/// Vertices by the nearest seed along edges; seeds are as far as possible from those before.
struct Patches {
    std::vector<int> seeds;       ///< vertices
    std::vector<int> of_vertex;   ///< −1: vertex of no triangle
    std::vector<double> to_seed;  ///< of each vertex, along edges

    explicit Patches(const Graph& graph)
        : of_vertex(graph.size(), -1), to_seed(graph.size(), kInfinity) {
        while (static_cast<int>(seeds.size()) < kMaxPatches) {
            int farthest = -1;
            for (std::size_t v = 0; v < graph.size(); ++v)
                if (!graph[v].empty() && to_seed[v] > 0 &&
                    (farthest < 0 || to_seed[v] > to_seed[static_cast<std::size_t>(farthest)]))
                    farthest = static_cast<int>(v);
            if (farthest < 0) break;
            grow(graph, farthest);
        }
    }
    [[nodiscard]] int size() const noexcept { return static_cast<int>(seeds.size()); }

private:
    void grow(const Graph& graph, int seed) {
        const int patch = size();
        seeds.push_back(seed);
        std::priority_queue<std::pair<double, int>, std::vector<std::pair<double, int>>,
                            std::greater<>>
            queue;
        queue.emplace(0, seed);
        while (!queue.empty()) {
            const auto [length, vertex] = queue.top();
            queue.pop();
            const auto v = static_cast<std::size_t>(vertex);
            if (length >= to_seed[v]) continue;
            to_seed[v] = length;
            of_vertex[v] = patch;
            for (const Way& way : graph[v]) queue.emplace(length + way.length, way.to);
        }
    }
};

/// Ways between patches that touch, along edges or straight through the material.
MatrixXd direct_ways(const SurfaceMesh& mesh, const Graph& graph, const Patches& patches) {
    MatrixXd ways = MatrixXd::Constant(patches.size(), patches.size(), kInfinity);
    const auto join = [&](std::size_t v, std::size_t w, double between) {
        const int a = patches.of_vertex[v], b = patches.of_vertex[w];
        if (a < 0 || b < 0 || a == b) return;
        const double length = patches.to_seed[v] + between + patches.to_seed[w];
        ways(a, b) = ways(b, a) = std::min(ways(a, b), length);
    };
    for (std::size_t v = 0; v < graph.size(); ++v)
        for (const Way& way : graph[v]) join(v, static_cast<std::size_t>(way.to), way.length);

    // rays inwards; a few thousand see every wall
    const SurfaceQuery query(mesh, SignMethod::PseudoNormal);
    const std::vector<Vector3d> normals = vertex_normals(mesh);
    const double start = 1e-6 * bounding_box(mesh.vertices).diagonal().norm();
    const std::size_t stride = std::max<std::size_t>(1, mesh.vertices.size() / 8192);
    for (std::size_t v = 0; v < graph.size(); v += stride) {
        if (graph[v].empty() || normals[v].isZero()) continue;
        const auto hit = query.ray(mesh.vertices[v] - start * normals[v], -normals[v]);
        if (!hit) continue;
        // out through a face that looks the same way, else the surface is open or inside out
        const Triangle& t = mesh.triangles[static_cast<std::size_t>(hit->triangle)];
        const Vector3d& a = mesh.corner(hit->triangle, 0);
        const Vector3d across =
            (mesh.corner(hit->triangle, 1) - a).cross(mesh.corner(hit->triangle, 2) - a);
        if (across.dot(normals[v]) >= 0) continue;
        int nearest = 0;
        hit->barycentric.maxCoeff(&nearest);
        join(v, static_cast<std::size_t>(t[static_cast<std::size_t>(nearest)]), hit->t);
    }
    return ways;
}

MatrixXd shortest_ways(MatrixXd ways) {
    const Eigen::Index n = ways.rows();
    ways.diagonal().setZero();
    for (Eigen::Index k = 0; k < n; ++k)
        for (Eigen::Index j = 0; j < n; ++j)
            if (ways(k, j) < kInfinity)
                ways.col(j) = ways.col(j).cwiseMin((ways.col(k).array() + ways(k, j)).matrix());
    return ways;
}

using Conflicts = Eigen::Matrix<bool, Eigen::Dynamic, Eigen::Dynamic>;

Conflicts find_conflicts(const SurfaceMesh& mesh, const Patches& patches, const MatrixXd& ways) {
    const double size = bounding_box(mesh.vertices).diagonal().norm();
    const int n = patches.size();
    Conflicts conflicts = Conflicts::Constant(n, n, false);
    for (int a = 0; a < n; ++a)
        for (int b = 0; b < n; ++b) {
            const double straight = (mesh.vertices[static_cast<std::size_t>(
                                         patches.seeds[static_cast<std::size_t>(a)])] -
                                     mesh.vertices[static_cast<std::size_t>(
                                         patches.seeds[static_cast<std::size_t>(b)])])
                                        .norm();
            // separate pieces are as far as two sizes of the body
            const double way = std::min(ways(a, b), 2 * size);
            conflicts(a, b) = a != b && way > kDetour * straight && way > kShortestWay * size;
        }
    return conflicts;
}

/// Connected sets of patches without conflicts inside: each grows from the patch that has most
/// conflicts with what is left, in the order of the way from it.
std::vector<int> grow_domains(const MatrixXd& direct, const MatrixXd& ways,
                              const Conflicts& conflicts) {
    const auto n = static_cast<int>(direct.rows());
    std::vector<int> domain(static_cast<std::size_t>(n), -1);
    const auto is_free = [&](int a) { return domain[static_cast<std::size_t>(a)] < 0; };
    for (int count = 0;; ++count) {
        int first = -1, most = -1;
        for (int a = 0; a < n; ++a) {
            if (!is_free(a)) continue;
            int num_conflicts = 0;
            for (int b = 0; b < n; ++b) num_conflicts += is_free(b) && conflicts(a, b);
            if (num_conflicts > most) {
                most = num_conflicts;
                first = a;
            }
        }
        if (first < 0) return domain;
        std::vector<int> order;
        for (int a = 0; a < n; ++a)
            if (is_free(a) && ways(first, a) < kInfinity) order.push_back(a);
        std::stable_sort(order.begin(), order.end(),
                         [&](int a, int b) { return ways(first, a) < ways(first, b); });
        std::vector<int> members;
        for (const int a : order) {
            const bool fits = std::none_of(members.begin(), members.end(),
                                           [&](int m) { return conflicts(a, m); });
            const bool touches =
                members.empty() || std::any_of(members.begin(), members.end(),
                                               [&](int m) { return direct(a, m) < kInfinity; });
            if (!fits || !touches) continue;
            domain[static_cast<std::size_t>(a)] = count;
            members.push_back(a);
        }
    }
}

/// Joins the two domains that touch and gain fewest conflicts, until there are few enough and
/// joining costs more than a few.
void merge_domains(std::vector<int>& domain, const MatrixXd& direct, const Conflicts& conflicts,
                   int max_domains) {
    int count = 1 + *std::max_element(domain.begin(), domain.end());
    while (count > 1) {
        MatrixXd cost = MatrixXd::Zero(count, count), touch = cost;
        for (std::size_t a = 0; a < domain.size(); ++a)
            for (std::size_t b = 0; b < domain.size(); ++b) {
                const auto i = static_cast<Eigen::Index>(a), j = static_cast<Eigen::Index>(b);
                cost(domain[a], domain[b]) += conflicts(i, j);
                touch(domain[a], domain[b]) += direct(i, j) < kInfinity;
            }
        // pieces that do not touch are joined last
        const double apart = static_cast<double>(domain.size() * domain.size());
        int keep = 0, drop = 1;
        double least = kInfinity;
        for (int i = 0; i < count; ++i)
            for (int j = i + 1; j < count; ++j) {
                const double price = cost(i, j) + (touch(i, j) > 0 ? 0 : apart);
                if (price < least) {
                    least = price;
                    keep = i;
                    drop = j;
                }
            }
        if (count <= max_domains && cost(keep, drop) > kFewConflicts * apart) break;
        for (int& d : domain) {
            if (d == drop) d = keep;
            if (d > drop) --d;
        }
        --count;
    }
}

}  // namespace

std::vector<int> find_domains(const SurfaceMesh& mesh, int max_domains) {
    if (max_domains < 1)
        throw InputError("", "max_domains", std::to_string(max_domains), "1 or more");
    std::vector<int> domain_of(mesh.triangles.size(), 0);
    if (max_domains == 1 || mesh.triangles.empty()) return domain_of;

    const Graph graph = edge_graph(mesh);
    const Patches patches(graph);
    const MatrixXd direct = direct_ways(mesh, graph, patches);
    const MatrixXd ways = shortest_ways(direct);
    const Conflicts conflicts = find_conflicts(mesh, patches, ways);
    const auto num_pairs = static_cast<double>(conflicts.size());
    if (static_cast<double>(conflicts.count()) <= kFewConflicts * num_pairs) return domain_of;
    std::vector<int> domain = grow_domains(direct, ways, conflicts);
    merge_domains(domain, direct, conflicts, max_domains);

    // a triangle goes with most of its corners; domains are numbered by first triangle
    std::vector<int> number(domain.size(), -1);
    int count = 0;
    for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
        std::array<int, 3> d{};
        for (std::size_t k = 0; k < 3; ++k) {
            const int patch = patches.of_vertex[static_cast<std::size_t>(mesh.triangles[t][k])];
            d[k] = patch < 0 ? 0 : domain[static_cast<std::size_t>(patch)];
        }
        const int chosen = d[1] == d[2] ? d[1] : d[0];
        int& known = number[static_cast<std::size_t>(chosen)];
        if (known < 0) known = count++;
        domain_of[t] = known;
    }
    return domain_of;
}

}  // namespace pliant
