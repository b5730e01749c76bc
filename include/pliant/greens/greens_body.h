#pragma once

#include "pliant/body/body.h"
#include "pliant/geometry/limit_surface.h"
#include "pliant/greens/strain_monitor.h"
#include "pliant/greens/surface_stiffness.h"
#include "pliant/greens/tolerance_view.h"

#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace pliant {

/// A loaded node of a display state, in the world.
struct LoadedNode {
    int node = 0;
    std::array<float, 3> position = {};  ///< displaced [m]
    std::array<float, 3> force = {};     ///< on it [N]
};

/// A finer surface that follows the vertices of a model, docs/geometry-subdivision.md eq. (9): what
/// is shown and picked; elasticity and contact stay with those of the model.
struct ShownSurface {
    /// `rounds` ≥ 1 of subdivision below the surface of the model, through the vertices of `detail`
    /// as far as these are within `reach` [m] of it. Throws InputError as DisplacedSurface does.
    ShownSurface(const GreensModel& model, int rounds, const SurfaceQuery& detail, double reach,
                 Progress& progress = Progress::none());

    int rounds;
    DisplacedSurface displaced;
    SurfaceMesh mesh;  ///< at rest
    DisplacementReport report;
};

class DetailLevels;

/// Where a GreensBody is drawn. A display state has the loaded nodes only; whoever draws sums their
/// columns, docs/greens.md eq. (F1), so that the tick never waits for a deformation. It also says
/// on which level and with which tolerance: only pictures know of both.
class GreensDisplay final : public BodyDisplay {
public:
    /// `driven`: fixed nodes whose displacements are in the display state.
    GreensDisplay(std::shared_ptr<const GreensModel> model, int max_loads,
                  std::vector<int> driven = {}, std::shared_ptr<const ShownSurface> shown = {});
    ~GreensDisplay() override;

    [[nodiscard]] int state_size() const noexcept override;
    void positions(std::span<const float> state, std::span<float> x) const noexcept override;
    /// Room for positions, so that a tick that asks for them allocates nothing.
    struct Scratch;
    [[nodiscard]] std::shared_ptr<Scratch> make_scratch() const;
    /// As they are felt: all levels, by the tolerance of the build, whatever is shown.
    void felt_positions(std::span<const float> state, std::span<float> x,
                        Scratch& scratch) const noexcept;
    void normals(std::span<const float> x, std::span<float> n) const noexcept override;
    [[nodiscard]] std::vector<std::array<int, 2>> mesh_edges() const override { return {}; }
    [[nodiscard]] int num_mesh_nodes() const noexcept override { return 0; }
    void mesh_positions(std::span<const float>, std::span<float>) const noexcept override {}

    /// Rounds of subdivision of the surface shown; its vertices are numbered level by level.
    [[nodiscard]] int num_levels() const noexcept;
    /// Of one of them, 0 to num_levels(), as they run over the surface: pairs of its vertices.
    [[nodiscard]] std::vector<std::array<int, 2>> level_edges(int level) const;
    /// What this tolerance leaves of the columns; 0: that of the build. None: not compressed.
    [[nodiscard]] std::optional<CompressionReport> compression(double tolerance) const;

    /// Displacements of all nodes in the axes of the body [m], three numbers each.
    void displacements(std::span<const float> state, std::span<float> u) const noexcept;
    /// Displacements of all vertices in the axes of the body [m] for nondimensional tractions of
    /// nodes, three numbers each.
    void respond(std::span<const int> nodes, std::span<const float> tractions,
                 std::span<float> u_vertices) const noexcept;
    /// Thread-safe, as all of this.
    void loaded_nodes(std::span<const float> state, std::vector<LoadedNode>& nodes) const;
    [[nodiscard]] const GreensModel& model() const noexcept { return *model_; }

private:
    struct Loads;
    void sum(const Loads& loads, std::span<float> u) const noexcept;
    void sum(const Loads& loads, std::span<float> u, std::span<float> total) const noexcept;
    void place(std::span<const float> state, int level, std::span<float> x,
               Scratch& scratch) const noexcept;
    [[nodiscard]] Eigen::Vector3f at_vertex(std::span<const float> u, std::size_t v) const noexcept;

    std::shared_ptr<const GreensModel> model_;
    int max_loads_;
    std::vector<int> driven_;
    std::shared_ptr<const ShownSurface> shown_;
    std::unique_ptr<const DetailLevels> detail_;
    std::unique_ptr<const ToleranceView> tolerances_;  // null: not compressed
    bool are_nodes_vertices_ = true;                   // the same ones
    std::vector<double> level_areas_;                  // of functions of coarser levels by id [m²]
};

struct GreensBodyOptions {
    Pose pose;
    double rate = 1000;      ///< of steps [Hz]
    double mask_radius = 0;  ///< of the forces of points [m]; 0: 1.5 mean edges
    /// On which it is touched, docs/greens-constraints.md: masks are the functions of this level,
    /// tools hold its vertices. −1: nodes, and masks of mask_radius.
    int constraint_level = -1;
    std::shared_ptr<const ShownSurface> shown = {};  ///< in place of the surface of the model
    int max_loads = 256;                             ///< nodes that may be loaded at once
    /// Fixed nodes with columns whose displacements place() gives, each once.
    std::vector<int> driven = {};
    int strain_gauges = 32;  ///< where strain is watched; 0: nowhere
    StrainLimits strain_limits = {};
};

/// An elastic body without inertia, held by its supports: it is always where its loads are in
/// balance, docs/greens.md section "Bodies". Contact gives tractions of nodes, which count at once;
/// forces of hands come through the mask of their point and with a lag of 50 ms, docs/greens.md
/// eq. (F2), so that a spring that is evaluated once per step is stable. Wind does not move it.
class GreensBody final : public Body {
public:
    /// Throws InputError for options out of range, a scalar field and as SurfaceStiffness does.
    GreensBody(std::shared_ptr<const GreensModel> model, const GreensBodyOptions& options = {});
    ~GreensBody() override;

    [[nodiscard]] const GreensModel& model() const noexcept;
    [[nodiscard]] std::shared_ptr<const GreensModel> shared_model() const noexcept;
    [[nodiscard]] const Pose& pose() const noexcept;
    /// Masks and stiffness as contact takes them now. One taken over by a step stays valid until
    /// the next but one is.
    [[nodiscard]] const SurfaceStiffness& stiffness() const noexcept;
    /// Before the first step: takes over the masks that were ordered last, and waits for them.
    /// Steps, resets and saved states do so themselves; contact that acts before the step needs it.
    void take_first_mask() const noexcept;
    /// Those at the start, for any thread.
    [[nodiscard]] const SurfaceStiffness& first_stiffness() const noexcept;
    /// On which it is touched now: it changes with the masks. −1: nodes.
    [[nodiscard]] int constraint_level() const noexcept;
    /// A place of surface() on that of the model, which is coarser where another one is shown.
    [[nodiscard]] TrianglePoint place_on_model(const SurfacePoint& point) const noexcept;
    /// Where a place of the model's surface is in the world [m].
    [[nodiscard]] Eigen::Vector3d model_position(int triangle,
                                                 const Eigen::Vector3d& barycentric) const noexcept;
    /// What the slider makes of the modulus of the model.
    [[nodiscard]] double modulus_scale() const noexcept;
    /// With which its columns are shown; 0: as they were built.
    [[nodiscard]] double shown_tolerance() const noexcept;

    /// Where the next step takes the body, and displacements of its driven nodes in its axes [m]:
    /// somebody else moves its supports, docs/greens-zones.md. Ignored unless finite and of the
    /// right number.
    void place(const Pose& pose, std::span<const Eigen::Vector3d> driven) noexcept;
    [[nodiscard]] std::span<const int> driven_nodes() const noexcept;
    /// Since the last step [m].
    [[nodiscard]] std::span<const Eigen::Vector3d> driven_displacements() const noexcept;

    /// Contact in the next step: tractions [Pa] in the axes of the body, by ids of columns, and the
    /// energy that they store [J]. Ids without a column and numbers that are not finite are
    /// ignored.
    void add_tractions(std::span<const int> nodes, std::span<const Eigen::Vector3d> tractions,
                       double energy) noexcept;
    /// How contact in the next step went: what is not Ok counts as the status of that step where
    /// the step itself has nothing worse to say.
    void note_contact(StepStatus status) noexcept;
    /// Nodes that may be loaded at once.
    [[nodiscard]] int max_loads() const noexcept;
    /// Whether linear theory still holds: the largest measures at the gauges, each read once in
    /// the last 16 steps.
    [[nodiscard]] const StrainReading& strain() const noexcept;
    /// Columns loaded by contact and hands in the last step.
    [[nodiscard]] int num_loads() const noexcept;
    [[nodiscard]] std::span<const int> loaded_columns() const noexcept;
    /// Of these, over the modulus as it is.
    [[nodiscard]] std::span<const Eigen::Vector3d> load_tractions() const noexcept;
    /// What hands pull with since the last step, as tractions [Pa].
    [[nodiscard]] std::span<const int> pulled_nodes() const noexcept;
    [[nodiscard]] std::span<const Eigen::Vector3d> pull_tractions() const noexcept;
    /// Of gravity, nondimensional, for the modulus as it is; none: the model has no body columns.
    [[nodiscard]] std::span<const double> body_loads() const noexcept;
    /// Gravity or a hand moves it.
    [[nodiscard]] bool is_loaded_at_rest() const noexcept;
    /// How far gravity and hands alone move a place of the surface, in the axes of the body [m]:
    /// where it is for a point that comes to touch it.
    [[nodiscard]] Eigen::Vector3d resting_displacement(
        int triangle, const Eigen::Vector3d& barycentric) const noexcept;

    [[nodiscard]] std::string_view kind() const noexcept override { return "greens"; }
    [[nodiscard]] std::shared_ptr<const BodyDisplay> display() const override;
    void add_force(const SurfacePoint& point, const Eigen::Vector3d& force) noexcept override;
    void set_gravity(const Eigen::Vector3d& acceleration) noexcept override;
    void set_wind_direction(const Eigen::Vector3d&) override {}
    void set_wind_pressure(double) noexcept override {}
    [[nodiscard]] Eigen::Vector3d position(
        const SurfacePoint& point, TickMoment moment = TickMoment::End) const noexcept override;
    [[nodiscard]] Eigen::Vector3d velocity(const SurfacePoint& point) const noexcept override;
    [[nodiscard]] Eigen::Vector3d normal(const SurfacePoint& point) const noexcept override;
    [[nodiscard]] double mobility(const SurfacePoint& point) const noexcept override;
    bool compliance(const SurfacePoint& point, Eigen::Matrix3d& C) const noexcept override;
    [[nodiscard]] Energy energy() const noexcept override;
    [[nodiscard]] std::vector<LiveParameter> parameters() const override;
    void set_parameter(int index, double value) noexcept override;
    [[nodiscard]] int state_size() const noexcept override;
    void save_state(std::span<double> state) const noexcept override;
    bool restore_state(std::span<const double> state) noexcept override;
    void write_display(std::span<float> state) const noexcept override;

private:
    StepStatus do_step(double dt) noexcept override;
    void do_reset() noexcept override;

    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pliant
