#pragma once

#include "pliant/body/body.h"
#include "pliant/contact/triangle_patch.h"
#include "pliant/reduction/surface_shapes.h"

#include <memory>
#include <optional>
#include <span>

namespace pliant {

/// How a sphere leaves a surface that it overlaps, docs/contact-moving.md section "Pop-out".
enum class PopOutMode {
    Plain,      ///< every triangle pushes, as published
    HalfSpace,  ///< only those in front of which the centre is, as published
    Guarded,    ///< no push, whatever surface it is of, takes the centre through a front face
};

/// A closed surface that moves, as spheres that touch it see it; docs/contact-moving.md. Nothing in
/// it is ever stale: whatever advance() took is found by the next gather(). Corners move in
/// straight lines from where they were at the last advance() but one to where they were at the
/// last. Nothing marked noexcept allocates.
class MovingSurface {
public:
    virtual ~MovingSurface() = default;
    MovingSurface(const MovingSurface&) = delete;
    MovingSurface& operator=(const MovingSurface&) = delete;

    [[nodiscard]] int num_vertices() const noexcept { return num_vertices_; }
    [[nodiscard]] int num_triangles() const noexcept { return static_cast<int>(triangles_.size()); }
    [[nodiscard]] const Triangle& triangle(int t) const noexcept {
        return triangles_[static_cast<std::size_t>(t)];
    }
    /// Across the side from corner k to corner k + 1, on the same face of a sheet; at its border
    /// the other face.
    [[nodiscard]] int neighbour(int t, int k) const noexcept {
        return neighbours_[static_cast<std::size_t>(t)][static_cast<std::size_t>(k)];
    }
    /// Whose surface it is, for forces; null: nobody's.
    [[nodiscard]] Body* body() const noexcept { return body_; }
    /// How spheres leave it; none: as each does by its options.
    [[nodiscard]] std::optional<PopOutMode> pop_out() const noexcept { return pop_out_; }
    void set_pop_out(std::optional<PopOutMode> mode) noexcept { pop_out_ = mode; }

    /// Begins a tick: what was the end is the start, and the newest positions are the end.
    virtual void advance() noexcept = 0;
    /// Forgets where it was: start and end are the newest positions.
    virtual void restart() noexcept = 0;
    /// Adds all triangles within `radius` of `centre` at the moment asked for, and some more, to
    /// the patch as those of surface number `id`.
    virtual void gather(const Eigen::Vector3d& centre, double radius, SurfaceMoment moment, int id,
                        TrianglePatch& patch) noexcept = 0;
    /// Of a vertex; O(1), or O(r).
    [[nodiscard]] virtual Eigen::Vector3d position(int vertex,
                                                   TickMoment moment) const noexcept = 0;

    [[nodiscard]] Corners corners(int triangle, TickMoment moment) const noexcept;

protected:
    /// Throws InputError for surfaces that are open or inconsistently oriented.
    MovingSurface(const SurfaceMesh& mesh, Body* body);

private:
    std::vector<Triangle> triangles_;
    std::vector<std::array<int, 3>> neighbours_;
    int num_vertices_;
    Body* body_;
    std::optional<PopOutMode> pop_out_;
};

/// A surface whose every vertex is rewritten: clusters of triangles in boxes, all of which one
/// streaming pass writes anew.
class VertexSurface : public MovingSurface {
public:
    explicit VertexSurface(const SurfaceMesh& mesh, Body* body = nullptr);
    ~VertexSurface() override;

    /// x y z of all vertices, for the next advance(). Returns false and ignores them unless all are
    /// finite.
    bool set_positions(std::span<const float> x) noexcept;

    void advance() noexcept override;
    void restart() noexcept override;
    void gather(const Eigen::Vector3d& centre, double radius, SurfaceMoment moment, int id,
                TrianglePatch& patch) noexcept override;
    [[nodiscard]] Eigen::Vector3d position(int vertex, TickMoment moment) const noexcept override;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// A surface that follows a pose and r reduced coordinates, x = p + R (X + Ū q): spheres with
/// bounds of their deformation; only vertices near the place asked about are ever computed.
class ReducedSurface : public MovingSurface {
public:
    /// Rigid: r = 0.
    explicit ReducedSurface(const SurfaceMesh& mesh, Body* body = nullptr);
    explicit ReducedSurface(const SurfaceShapes& shapes, Body* body = nullptr);
    ~ReducedSurface() override;

    [[nodiscard]] int rank() const noexcept;
    /// For the next advance(). Returns false and ignores them unless all are finite.
    bool set_motion(const Pose& pose, std::span<const double> q) noexcept;

    void advance() noexcept override;
    void restart() noexcept override;
    void gather(const Eigen::Vector3d& centre, double radius, SurfaceMoment moment, int id,
                TrianglePatch& patch) noexcept override;
    [[nodiscard]] Eigen::Vector3d position(int vertex, TickMoment moment) const noexcept override;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// The surface of a body of any kind, which advance() reads: a ReducedSurface for rigid and reduced
/// ones, else a VertexSurface of what is displayed. The body must outlive it. Throws InputError for
/// surfaces that are open or inconsistently oriented.
[[nodiscard]] std::unique_ptr<MovingSurface> make_moving_surface(Body& body);

}  // namespace pliant
