#pragma once

#include "pliant/body/live_parameter.h"
#include "pliant/core/error.h"
#include "pliant/core/pose.h"
#include "pliant/core/tick_histogram.h"
#include "pliant/geometry/surface_mesh.h"

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pliant {

/// A place on the surface of a body that moves with it: a vertex, or a point of a triangle.
struct SurfacePoint {
    int triangle = -1;  ///< or −1: the vertex counts
    int vertex = -1;
    Eigen::Vector3d barycentric = Eigen::Vector3d::Zero();  ///< weights of the triangle's corners

    [[nodiscard]] static SurfacePoint at_vertex(int vertex);
    [[nodiscard]] static SurfacePoint on_triangle(int triangle, const Eigen::Vector3d& barycentric);
};

/// The surface of a body at rest and what is asked about it. Immutable and cheap to copy: many
/// bodies of one shape share one.
class BodySurface {
public:
    BodySurface(SurfaceMesh mesh);  // NOLINT(google-explicit-constructor): a mesh is one
    [[nodiscard]] const SurfaceMesh& mesh() const noexcept { return data_->mesh; }
    [[nodiscard]] double size() const noexcept { return data_->size; }  ///< longest side [m]
    /// Whether the point is on the surface and its weights are finite.
    [[nodiscard]] bool has(const SurfacePoint& point) const noexcept;
    /// Whose normal the point has: its own, or the first of its vertex; −1: none. The point must be
    /// on the surface.
    [[nodiscard]] int triangle_of(const SurfacePoint& point) const noexcept;

private:
    struct Data {
        SurfaceMesh mesh;
        double size = 0;
        std::vector<int> first_triangle;  ///< of each vertex
    };
    std::shared_ptr<const Data> data_;
};

/// Of the last step.
enum class TickMoment { Start, End };

/// Mechanical energy now [J]. Of potentials only the elastic one.
struct Energy {
    double kinetic = 0, elastic = 0;
    [[nodiscard]] double total() const noexcept { return kinetic + elastic; }
};

/// What the steps of a body said since it was made or reset.
struct BodyReport {
    StepStatus last = StepStatus::Ok;
    std::array<std::uint64_t, kNumStepStatuses> counts = {};  ///< of each StepStatus
    TickHistogram steps;                                      ///< thread CPU time of step()
};

/// Where the surface of a body is drawn. Immutable, made once and shared with the threads that
/// draw; the body itself writes only the few numbers of a *display state* inside its tick.
class BodyDisplay {
public:
    virtual ~BodyDisplay() = default;
    /// Numbers of a display state; the first seven are the pose, p and (w, x, y, z).
    [[nodiscard]] virtual int state_size() const noexcept = 0;
    /// x y z of all surface vertices in the world. `x` has 3 num_vertices places.
    virtual void positions(std::span<const float> state, std::span<float> x) const noexcept = 0;
    /// Unit normals of the surface with vertices at x, averaged over faces by area; zero where
    /// there is none.
    virtual void normals(std::span<const float> x, std::span<float> n) const noexcept = 0;
    /// Edges of the simulation mesh as pairs of its nodes; empty for bodies without one.
    [[nodiscard]] virtual std::vector<std::array<int, 2>> mesh_edges() const = 0;
    [[nodiscard]] virtual int num_mesh_nodes() const noexcept = 0;
    /// x y z of all nodes of the simulation mesh in the world.
    virtual void mesh_positions(std::span<const float> state,
                                std::span<float> x) const noexcept = 0;
};
inline constexpr int kPoseFloats = 7;

/// Anything simulated, as contact, haptics, scenes and viewers see it; docs/body.md. One thread at
/// a time; nothing marked noexcept allocates. Points [m], velocities [m/s] and forces [N] are in
/// the world. Surface points out of range and vectors that are not finite are ignored; answers
/// about them are zero.
class Body {
public:
    virtual ~Body() = default;
    Body(const Body&) = delete;
    Body& operator=(const Body&) = delete;

    [[nodiscard]] virtual std::string_view kind() const noexcept = 0;  ///< rigid, reduced, fem, …
    /// At rest, in the axes of the body.
    [[nodiscard]] const SurfaceMesh& surface() const noexcept { return surface_.mesh(); }
    /// Longest side of the box around surface() [m].
    [[nodiscard]] double size() const noexcept { return surface_.size(); }
    [[nodiscard]] virtual std::shared_ptr<const BodyDisplay> display() const = 0;

    // Loads of the next step; they add up and are gone after it.
    virtual void add_force(const SurfacePoint& point, const Eigen::Vector3d& force) noexcept = 0;
    /// Acceleration of every step until changed [m/s²].
    virtual void set_gravity(const Eigen::Vector3d& acceleration) noexcept = 0;
    /// Directs wind; slow. Then a dynamic pressure [Pa] of every step until changed pushes along
    /// `direction` on the part of the rest surface that faces it, docs/body.md eq. (6).
    virtual void set_wind_direction(const Eigen::Vector3d& direction) = 0;
    virtual void set_wind_pressure(double pressure) noexcept = 0;

    /// Advances by dt seconds under the loads given since the last step. Never throws; keeps the
    /// state finite; counts in report().
    StepStatus step(double dt) noexcept;
    /// Does the work of a step and forgets it: the next one finds code and data in the caches.
    /// Bodies with cheap or long steps do nothing.
    virtual void rehearse(double /*dt*/) noexcept {}

    [[nodiscard]] virtual Eigen::Vector3d position(
        const SurfacePoint& point, TickMoment moment = TickMoment::End) const noexcept = 0;
    [[nodiscard]] virtual Eigen::Vector3d velocity(const SurfacePoint& point) const noexcept = 0;
    /// Unit, outwards; zero where the triangle has no area. Of a vertex: of its first triangle.
    [[nodiscard]] virtual Eigen::Vector3d normal(const SurfacePoint& point) const noexcept = 0;
    /// Largest change of velocity there by an impulse of 1 N s [1/kg], an upper bound. Zero:
    /// nothing moves it. Springs that are evaluated once per step take it to stay stable,
    /// docs/scene.md eq. (2).
    [[nodiscard]] virtual double mobility(const SurfacePoint& point) const noexcept = 0;

    // What only some methods have.
    /// Holds a surface point at a place from the next step on, until released; false: this body
    /// takes forces only, or holds as many points as it can.
    virtual bool prescribe(const SurfacePoint& point, const Eigen::Vector3d& position) noexcept;
    virtual void release_all() noexcept {}
    /// Force that holds the i-th prescribed point in the last step, on the body.
    [[nodiscard]] virtual Eigen::Vector3d holding_force(int i) const noexcept;
    /// Static displacement of the point for a force of 1 N on it [m/N], all other loads kept;
    /// false: not known.
    virtual bool compliance(const SurfacePoint& point, Eigen::Matrix3d& C) const noexcept;

    /// Of the body now. O(state).
    [[nodiscard]] virtual Energy energy() const noexcept = 0;
    [[nodiscard]] const BodyReport& report() const noexcept { return report_; }

    // Numbers that may be changed while it runs.
    [[nodiscard]] virtual std::vector<LiveParameter> parameters() const { return {}; }
    /// By place in parameters(); clamped to its range. Ignores what is not finite.
    virtual void set_parameter(int index, double value) noexcept;

    /// Everything that the future depends on but loads, parameters and prescribed points:
    /// state_size() numbers, restored exactly. False: a state that is not finite or not of this
    /// size, and the body keeps its own.
    [[nodiscard]] virtual int state_size() const noexcept = 0;
    virtual void save_state(std::span<double> state) const noexcept = 0;
    virtual bool restore_state(std::span<const double> state) noexcept = 0;
    /// Back to the start: state, held points, pending loads and report; parameters stay.
    void reset() noexcept;

    /// For display()->positions, newest state; display()->state_size() places.
    virtual void write_display(std::span<float> state) const noexcept = 0;

protected:
    explicit Body(BodySurface surface) : surface_(std::move(surface)) {}
    virtual StepStatus do_step(double dt) noexcept = 0;
    virtual void do_reset() noexcept = 0;
    [[nodiscard]] bool is_valid(const SurfacePoint& point) const noexcept {
        return surface_.has(point);
    }
    [[nodiscard]] int triangle_of(const SurfacePoint& point) const noexcept {
        return surface_.triangle_of(point);
    }

private:
    BodySurface surface_;
    BodyReport report_;
};

}  // namespace pliant
