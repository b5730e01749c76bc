#include "pliant/contact/moving_surface.h"

#include "pliant/body/rigid_body.h"
#include "pliant/geometry/surface_topology.h"
#include "pliant/greens/greens_body.h"
#include "pliant/greens/zoned_body.h"
#include "pliant/reduction/reduced_body.h"

#include <map>

namespace pliant {
namespace {

void check_edges(const SurfaceMesh& mesh, const SurfaceTopology& topology) {
    int unbalanced = 0, open = 0, first = -1;
    for (const SurfaceTopology::Edge& edge : topology.edges()) {
        int balance = 0;
        for (const SurfaceTopology::EdgeUse& use : topology.uses(edge))
            balance += use.is_forward ? 1 : -1;
        if (balance == 0) continue;
        if (first < 0) first = topology.uses(edge)[0].triangle;
        unbalanced += 1;
        open += edge.num_uses == 1;
    }
    if (unbalanced == 0) return;
    const std::string what =
        open > 0 ? std::to_string(open) + " open edges"
                 : std::to_string(unbalanced) + " edges between triangles of opposite orientation";
    throw InputError(
        "", "surface to be touched", what,
        "a closed surface oriented outwards; first at triangle " + std::to_string(first) + " of " +
            std::to_string(mesh.num_triangles()) +
            "; sheets need two faces: \"double_faced\": true for \"particles\" of a scene, pliant "
            "convert IN OUT --double-faced for mesh files, double_faced() in code; "
            "repair_surface() or --repair orients triangles");
}

void check_mesh(const SurfaceMesh& mesh) {
    if (mesh.triangles.empty())
        throw InputError("", "surface to be touched", "no triangles", "at least four");
    for (int t = 0; t < mesh.num_triangles(); ++t)
        for (const int v : mesh.triangles[static_cast<std::size_t>(t)])
            if (v < 0 || v >= mesh.num_vertices())
                throw InputError("", "triangle " + std::to_string(t) + " of the surface",
                                 "vertex " + std::to_string(v),
                                 "0 to " + std::to_string(mesh.num_vertices() - 1));
    for (int v = 0; v < mesh.num_vertices(); ++v)
        if (!mesh.vertices[static_cast<std::size_t>(v)].allFinite())
            throw InputError("", "vertex " + std::to_string(v) + " of the surface", "not finite",
                             "metres");
}

bool is_other_face(const Triangle& a, const Triangle& b) {
    Triangle x = a, y = b;
    std::sort(x.begin(), x.end());
    std::sort(y.begin(), y.end());
    return x == y;
}

std::vector<std::array<int, 3>> find_neighbours(const SurfaceMesh& mesh,
                                                const SurfaceTopology& topology) {
    std::vector<std::array<int, 3>> neighbours(mesh.triangles.size());
    for (int t = 0; t < mesh.num_triangles(); ++t)
        for (int k = 0; k < 3; ++k) {
            const auto& edge = topology.edges()[static_cast<std::size_t>(topology.edge_of(t, k))];
            const auto uses = topology.uses(edge);
            const auto own = std::find_if(uses.begin(), uses.end(), [&](const auto& use) {
                return use.triangle == t && use.side == k;
            });
            int best = t;
            for (const SurfaceTopology::EdgeUse& use : uses) {
                if (use.is_forward == own->is_forward || use.triangle == t) continue;
                const bool is_back =
                    is_other_face(mesh.triangles[static_cast<std::size_t>(t)],
                                  mesh.triangles[static_cast<std::size_t>(use.triangle)]);
                if (best == t || !is_back) best = use.triangle;
                if (!is_back) break;
            }
            neighbours[static_cast<std::size_t>(t)][static_cast<std::size_t>(k)] = best;
        }
    return neighbours;
}

const SurfaceMesh& checked(const SurfaceMesh& mesh) {
    check_mesh(mesh);
    return mesh;
}

/// Of a body, which is read before it advances or restarts.
template <class Surface>
class ReadSurface : public Surface {
public:
    using Surface::Surface;
    void advance() noexcept final {
        read();
        Surface::advance();
    }
    void restart() noexcept final {
        read();
        Surface::restart();
    }

private:
    virtual void read() noexcept = 0;
};

class RigidBodySurface final : public ReadSurface<ReducedSurface> {
public:
    explicit RigidBodySurface(RigidBody& body) : ReadSurface(body.surface(), &body), body_(body) {
        restart();
    }

private:
    void read() noexcept override { (void)set_motion(body_.motion().pose, {}); }
    RigidBody& body_;
};

class ReducedBodySurface final : public ReadSurface<ReducedSurface> {
public:
    explicit ReducedBodySurface(ReducedBody& body)
        : ReadSurface(body.shapes(), &body), body_(body) {
        restart();
    }

private:
    void read() noexcept override {
        const Eigen::VectorXd& q = body_.state().q;
        (void)set_motion(body_.pose(), {q.data(), static_cast<std::size_t>(q.size())});
    }
    ReducedBody& body_;
};

/// Whatever a body displays.
class DisplayedSurface final : public ReadSurface<VertexSurface> {
public:
    explicit DisplayedSurface(Body& body)
        : ReadSurface(body.surface(), &body),
          body_(body),
          display_(body.display()),
          state_(static_cast<std::size_t>(display_->state_size())),
          positions_(3 * body.surface().vertices.size()) {
        restart();
    }

private:
    void read() noexcept override {
        body_.write_display(state_);
        display_->positions(state_, positions_);
        (void)set_positions(positions_);
    }
    Body& body_;
    std::shared_ptr<const BodyDisplay> display_;
    std::vector<float> state_, positions_;
};

/// Bodies with Green's functions: one, or the zones of a character one after the other.
class GreensSurface final : public ReadSurface<VertexSurface> {
public:
    GreensSurface(Body& body, const std::vector<const GreensBody*>& zones)
        : ReadSurface(body.surface(), &body), positions_(3 * body.surface().vertices.size()) {
        for (const GreensBody* zone : zones) {
            const auto display = std::dynamic_pointer_cast<const GreensDisplay>(zone->display());
            parts_.push_back({zone, display, display->make_scratch(),
                              std::vector<float>(static_cast<std::size_t>(display->state_size()))});
        }
        restart();
    }

private:
    struct Part {
        const GreensBody* body;
        std::shared_ptr<const GreensDisplay> display;
        std::shared_ptr<GreensDisplay::Scratch> scratch;
        std::vector<float> state;
    };
    void read() noexcept override {
        std::span<float> rest = positions_;
        for (Part& part : parts_) {
            const std::size_t size = 3 * part.body->surface().vertices.size();
            part.body->write_display(part.state);
            part.display->felt_positions(part.state, rest.first(size), *part.scratch);
            rest = rest.subspan(size);
        }
        (void)set_positions(positions_);
    }
    std::vector<Part> parts_;
    std::vector<float> positions_;
};

}  // namespace

MovingSurface::MovingSurface(const SurfaceMesh& mesh, Body* body)
    : triangles_(checked(mesh).triangles), num_vertices_(mesh.num_vertices()), body_(body) {
    const SurfaceTopology topology(mesh);
    check_edges(mesh, topology);
    neighbours_ = find_neighbours(mesh, topology);
}

Corners MovingSurface::corners(int t, TickMoment moment) const noexcept {
    const Triangle& v = triangle(t);
    return {position(v[0], moment), position(v[1], moment), position(v[2], moment)};
}

std::unique_ptr<MovingSurface> make_moving_surface(Body& body) {
    if (auto* rigid = dynamic_cast<RigidBody*>(&body))
        return std::make_unique<RigidBodySurface>(*rigid);
    if (auto* reduced = dynamic_cast<ReducedBody*>(&body))
        return std::make_unique<ReducedBodySurface>(*reduced);
    if (const auto* greens = dynamic_cast<const GreensBody*>(&body))
        return std::make_unique<GreensSurface>(body, std::vector{greens});
    if (auto* zoned = dynamic_cast<ZonedBody*>(&body)) {
        std::vector<const GreensBody*> zones;
        for (int z = 0; z < zoned->num_zones(); ++z)
            if (zoned->has_greens(z)) zones.push_back(&zoned->zone(z));
        if (static_cast<int>(zones.size()) == zoned->num_zones())
            return std::make_unique<GreensSurface>(body, zones);
    }
    return std::make_unique<DisplayedSurface>(body);
}

}  // namespace pliant
