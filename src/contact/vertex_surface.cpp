#include "contact/cluster_kernels.h"
#include "contact/triangle_order.h"
#include "pliant/contact/moving_surface.h"
#include "reduction/aligned_array.h"

#include <cassert>
#include <numeric>

namespace pliant {
namespace {

/// A sphere in single precision that holds one in double.
FloatSphere rounded_sphere(const Eigen::Vector3d& centre, double radius) noexcept {
    const double slack = 1e-6 * (centre.cwiseAbs().sum() + radius);
    return {{static_cast<float>(centre.x()), static_cast<float>(centre.y()),
             static_cast<float>(centre.z())},
            static_cast<float>(radius + slack)};
}

/// Boxes of clusters and of sixteen clusters each.
struct ClusterBoxes {
    ClusterBoxes(std::size_t num_groups, std::size_t num_tops)
        : boxes(num_groups), groups(num_tops) {
        const auto clear = [](std::vector<BoxGroup>& all) {
            for (BoxGroup& group : all)
                for (int k = 0; k < 3; ++k) {
                    std::fill_n(group.low[k], kBoxGroup, 1e30f);
                    std::fill_n(group.high[k], kBoxGroup, -1e30f);
                }
        };
        clear(boxes);
        clear(groups);
    }
    std::vector<BoxGroup> boxes, groups;
};

}  // namespace

struct VertexSurface::Impl {
    explicit Impl(const SurfaceMesh& mesh)
        : triangle_order(order_triangles(mesh, kClusterTriangles)) {
        number_vertices(mesh);
        list_clusters();
        const auto groups = (clusters.size() + kBoxGroup - 1) / kBoxGroup;
        const auto tops = (groups + kBoxGroup - 1) / kBoxGroup;
        for (int i = 0; i < 3; ++i) {
            positions.emplace_back(4 * mesh.vertices.size());
            boxes.emplace_back(groups, tops);
        }
        for (int i = 0; i < 2; ++i) swept.emplace_back(groups, tops);
        found_groups.resize(groups + kBoxGroup);
        found_clusters.resize(clusters.size() + kBoxGroup);
        found_triangles.resize(kClusterTriangles + 1);
    }

    /// By the clusters that use them: the first one has its own vertices side by side, and those
    /// that a later one shares with it are mostly side by side as well.
    void number_vertices(const SurfaceMesh& mesh) {
        std::vector<std::vector<int>> users(mesh.vertices.size());
        for (std::size_t i = 0; i < triangle_order.size(); ++i)
            for (const int v : mesh.triangles[static_cast<std::size_t>(triangle_order[i])]) {
                std::vector<int>& of_vertex = users[static_cast<std::size_t>(v)];
                const int cluster = static_cast<int>(i) / kClusterTriangles;
                if (of_vertex.empty() || of_vertex.back() != cluster) of_vertex.push_back(cluster);
            }
        vertex_order.resize(mesh.vertices.size());
        std::iota(vertex_order.begin(), vertex_order.end(), 0);
        std::stable_sort(vertex_order.begin(), vertex_order.end(), [&](int a, int b) {
            const auto &of_a = users[static_cast<std::size_t>(a)],
                       &of_b = users[static_cast<std::size_t>(b)];
            // vertices that no triangle uses come last
            return of_b.empty() ? !of_a.empty() : !of_a.empty() && of_a < of_b;
        });
        new_number.resize(mesh.vertices.size());
        for (std::size_t i = 0; i < vertex_order.size(); ++i)
            new_number[static_cast<std::size_t>(vertex_order[i])] = static_cast<int>(i);
        for (const int t : triangle_order)
            for (const int v : mesh.triangles[static_cast<std::size_t>(t)])
                corners.push_back(4 * new_number[static_cast<std::size_t>(v)]);
        for (const int v : vertex_order) offsets.push_back(3 * v);
        offsets[static_cast<std::size_t>(new_number.back())] -= 1;
        // prefetched from beyond the end
        offsets.resize(offsets.size() + kOffsetsAhead);
    }

    void list_clusters() {
        const int num_triangles = static_cast<int>(triangle_order.size());
        int first_new = 0;
        for (int first = 0; first < num_triangles; first += kClusterTriangles) {
            const int last = std::min(num_triangles, first + kClusterTriangles);
            std::vector<int> used;
            for (int i = 3 * first; i < 3 * last; ++i)
                used.push_back(corners[static_cast<std::size_t>(i)] / 4);
            std::sort(used.begin(), used.end());
            used.erase(std::unique(used.begin(), used.end()), used.end());
            ClusterVertices cluster;
            cluster.first = first_new;
            const auto own = std::lower_bound(used.begin(), used.end(), first_new);
            list_shared({used.begin(), own}, cluster);
            first_new = std::max(first_new, used.back() + 1);
            cluster.last = first_new;
            clusters.push_back(cluster);
        }
        // unused ones are moved along with the last cluster, whose box they do not matter for
        clusters.back().last = static_cast<int>(vertex_order.size());
    }

    /// Pairs where two are side by side; to look at one again changes nothing.
    void list_shared(std::span<const int> used, ClusterVertices& cluster) {
        std::vector<int> pairs, singles;
        for (std::size_t i = 0; i < used.size(); ++i) {
            const bool has_follower = i + 1 < used.size() && used[i + 1] == used[i] + 1;
            const bool has_leader = i > 0 && used[i - 1] == used[i] - 1;
            if (has_follower) {
                pairs.push_back(4 * used[i]);
                i += 1;
            } else if (has_leader) {
                pairs.push_back(4 * used[i - 1]);
            } else {
                singles.push_back(4 * used[i]);
            }
        }
        const auto append = [&](std::vector<int>& list, int step) {
            while (static_cast<int>(list.size()) % step != 0) list.push_back(list.back());
            shared.insert(shared.end(), list.begin(), list.end());
            return static_cast<int>(shared.size());
        };
        cluster.first_pair = static_cast<int>(shared.size());
        cluster.last_pair = append(pairs, kSharedPairs);
        cluster.last_single = append(singles, 2 * kSharedPairs);
    }

    /// Calls what a test of its triangles reads into the cache, with positions in two buffers.
    void call_cluster(int c, const float* from, const float* to) const noexcept {
        constexpr int kLine = 16;  // numbers
        const ClusterVertices& cluster = clusters[static_cast<std::size_t>(c)];
        const int* const first = corners.data() + 3 * kClusterTriangles * c;
        for (int i = 0; i < 3 * kClusterTriangles; i += kLine) __builtin_prefetch(first + i);
        for (int i = 4 * cluster.first; i < 4 * cluster.last; i += kLine) {
            __builtin_prefetch(to + i);
            if (from != to) __builtin_prefetch(from + i);
        }
        for (int i = cluster.first_pair; i < cluster.last_single; ++i) {
            __builtin_prefetch(to + shared[static_cast<std::size_t>(i)]);
            if (from != to) __builtin_prefetch(from + shared[static_cast<std::size_t>(i)]);
        }
    }

    [[nodiscard]] const float* at(int buffer) const noexcept {
        return positions[static_cast<std::size_t>(buffer)].data();
    }

    std::vector<int> triangle_order;            // caller's number of each triangle
    std::vector<int> vertex_order, new_number;  // caller's of ours, ours of the caller's
    std::vector<int> offsets;                   // ClusterPass
    std::vector<int> corners;                   // of ordered triangles, places in positions
    std::vector<ClusterVertices> clusters;
    std::vector<int> shared;  // ClusterPass

    // of the start, the end and what the next advance() takes
    int start = 0, end = 0, next = 1;
    bool has_next = false;
    std::vector<AlignedArray<float>> positions;
    std::vector<ClusterBoxes> boxes;
    std::vector<ClusterBoxes> swept;  // of this tick, and from the end to what is next
    std::size_t current_swept = 0;
    std::vector<int> found_groups, found_clusters, found_triangles;
    int num_found = 0;  // clusters of the last gather
};

VertexSurface::VertexSurface(const SurfaceMesh& mesh, Body* body)
    : MovingSurface(mesh, body), impl_(std::make_unique<Impl>(mesh)) {
    std::vector<float> x;
    for (const Eigen::Vector3d& v : mesh.vertices)
        for (int k = 0; k < 3; ++k) x.push_back(static_cast<float>(v[k]));
    (void)set_positions(x);
    VertexSurface::restart();
}

VertexSurface::~VertexSurface() = default;

bool VertexSurface::set_positions(std::span<const float> x) noexcept {
    Impl& self = *impl_;
    assert(x.size() == 3 * self.new_number.size());
    ClusterBoxes& boxes = self.boxes[static_cast<std::size_t>(self.next)];
    const ClusterPass pass{.source = x.data(),
                           .offsets = self.offsets.data(),
                           .last_slot = self.new_number.back(),
                           .clusters = self.clusters.data(),
                           .num_clusters = static_cast<int>(self.clusters.size()),
                           .shared = self.shared.data(),
                           .positions = self.positions[static_cast<std::size_t>(self.next)].data(),
                           .boxes = boxes.boxes.data()};
    self.has_next = write_clusters(pass);
    if (!self.has_next) return false;
    join_boxes(boxes.boxes.data(), boxes.boxes.data(), static_cast<int>(boxes.boxes.size()),
               boxes.boxes.data(), boxes.groups.data());
    const auto& from = self.boxes[static_cast<std::size_t>(self.end)].boxes;
    ClusterBoxes& swept = self.swept[1 - self.current_swept];
    join_boxes(from.data(), boxes.boxes.data(), static_cast<int>(from.size()), swept.boxes.data(),
               swept.groups.data());
    // the next gather is mostly about the same place as the last
    for (int i = 0; i < self.num_found; ++i)
        self.call_cluster(self.found_clusters[static_cast<std::size_t>(i)], self.at(self.end),
                          self.at(self.next));
    return true;
}

void VertexSurface::advance() noexcept {
    Impl& self = *impl_;
    self.start = self.end;
    if (!self.has_next) return;
    self.has_next = false;
    self.end = self.next;
    self.current_swept = 1 - self.current_swept;
    self.next = 3 - self.start - self.end;  // the third one is free
}

void VertexSurface::restart() noexcept {
    advance();
    impl_->start = impl_->end;
    impl_->next = (impl_->end + 1) % 3;
}

void VertexSurface::gather(const Eigen::Vector3d& centre, double radius, SurfaceMoment moment,
                           int id, TrianglePatch& patch) noexcept {
    Impl& self = *impl_;
    const bool is_swept = moment == SurfaceMoment::Swept && self.start != self.end;
    const ClusterBoxes& boxes =
        is_swept ? self.swept[self.current_swept] : self.boxes[static_cast<std::size_t>(self.end)];
    const float* const start = self.at(self.start);
    const float* const end = self.at(self.end);
    const FloatSphere sphere = rounded_sphere(centre, radius);

    int num_groups = 0, num_clusters = 0;
    for (std::size_t i = 0; i < boxes.groups.size(); ++i)
        num_groups += find_boxes(boxes.groups[i], static_cast<int>(i), sphere,
                                 self.found_groups.data() + num_groups);
    for (int i = 0; i < num_groups; ++i) {
        const int group = self.found_groups[static_cast<std::size_t>(i)];
        num_clusters += find_boxes(boxes.boxes[static_cast<std::size_t>(group)], group, sphere,
                                   self.found_clusters.data() + num_clusters);
    }
    self.num_found = num_clusters;
    // all at once, instead of one wait after the other
    for (int i = 0; i < num_clusters; ++i)
        self.call_cluster(self.found_clusters[static_cast<std::size_t>(i)], is_swept ? start : end,
                          end);
    const int num_triangles = static_cast<int>(self.triangle_order.size());
    for (int i = 0; i < num_clusters; ++i) {
        const int first = kClusterTriangles * self.found_clusters[static_cast<std::size_t>(i)];
        const int last = std::min(num_triangles, first + kClusterTriangles);
        const int count = find_triangles(self.corners.data(), first, last, is_swept ? start : end,
                                         end, sphere, self.found_triangles.data());
        for (int j = 0; j < count; ++j) {
            const int t = self.found_triangles[static_cast<std::size_t>(j)];
            double from[9], to[9];
            const auto corner = 3 * static_cast<std::size_t>(t);
            for (std::size_t k = 0; k < 3; ++k) {
                const auto v = static_cast<std::size_t>(self.corners[corner + k]);
                for (std::size_t d = 0; d < 3; ++d) {
                    from[3 * k + d] = double{start[v + d]};
                    to[3 * k + d] = double{end[v + d]};
                }
            }
            patch.add(id, self.triangle_order[static_cast<std::size_t>(t)], from, to);
        }
    }
}

Eigen::Vector3d VertexSurface::position(int vertex, TickMoment moment) const noexcept {
    const float* x = impl_->at(moment == TickMoment::Start ? impl_->start : impl_->end) +
                     4 * impl_->new_number[static_cast<std::size_t>(vertex)];
    return {double{x[0]}, double{x[1]}, double{x[2]}};
}

}  // namespace pliant
