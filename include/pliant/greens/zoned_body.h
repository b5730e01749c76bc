#pragma once

#include "pliant/body/scripted_motion.h"
#include "pliant/greens/greens_body.h"
#include "pliant/greens/skeleton.h"
#include "pliant/greens/surface_zone.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pliant {

/// An elastic part of a character, moved by the bone that its fixed nodes are on.
struct CharacterZone {
    std::string name;
    std::shared_ptr<const GreensModel> model;  ///< or null: `other`
    Pose rest;                                 ///< of the axes of the model in those of the body
    int bone = 0;                              ///< of the skeleton
    double mask_radius = 0;                    ///< of the forces of points [m]; 0: 1.5 mean edges
    /// Another kind, bonded to the others; of one body alone, which loads it.
    std::shared_ptr<SurfaceZone> other = nullptr;
    int constraint_level = -1;  ///< of the model, on which it is touched; −1: the finest
};

/// How the zones of a character are joined.
enum class SeamMode {
    Blended,  ///< bones share what is fixed at a joint, every zone by itself, eqs. (9)–(12)
    Bonded,   ///< nodes that meet are one: forces of contact go from zone to zone, eq. (16)
};

/// What moves and what deforms, docs/greens-zones.md section "Characters".
struct CharacterModel {
    std::vector<Bone> bones;
    std::vector<CharacterZone> zones;
    double blend = 0.01;  ///< over which neighbouring bones share fixed nodes at a joint [m]
    SeamMode seams = SeamMode::Blended;
};

struct ZonedBodyOptions {
    Pose pose;
    std::optional<ScriptedMotion> motion;  ///< of the body, in place of the pose
    /// Angle of the hinge of each bone [rad], x of the path; empty: at rest.
    std::vector<ScriptedMotion> flexion = {};
    double rate = 1000;   ///< of steps [Hz]
    int max_loads = 256;  ///< nodes of a zone that may be loaded at once
};

/// The display states of the zones behind the pose of the body.
class ZonedDisplay final : public BodyDisplay {
public:
    /// `first_vertex` of each zone in `rest`, and the end.
    ZonedDisplay(std::vector<std::shared_ptr<const BodyDisplay>> zones,
                 std::vector<int> first_vertex, const SurfaceMesh& rest);

    [[nodiscard]] int state_size() const noexcept override { return offsets_.back(); }
    void positions(std::span<const float> state, std::span<float> x) const noexcept override;
    void normals(std::span<const float> x, std::span<float> n) const noexcept override;
    [[nodiscard]] std::vector<std::array<int, 2>> mesh_edges() const override { return {}; }
    [[nodiscard]] int num_mesh_nodes() const noexcept override { return 0; }
    void mesh_positions(std::span<const float>, std::span<float>) const noexcept override {}
    /// Of a zone in the whole.
    [[nodiscard]] int state_offset(int zone) const noexcept {
        return offsets_[static_cast<std::size_t>(zone)];
    }

private:
    std::vector<std::shared_ptr<const BodyDisplay>> zones_;
    std::vector<int> first_vertex_;
    std::vector<int> offsets_;  // of states, and the end
    std::vector<Triangle> triangles_;
};

/// A character of elastic zones on bones: a script bends the bones, seams follow by blending, every
/// zone is solved by itself, or seams are bonded and solved for; docs/greens-zones.md section
/// "Characters". Contact and hands act on the zones as on any GreensBody; on zones of another kind
/// hands do. Wind does not move it.
class ZonedBody final : public Body {
public:
    /// Throws InputError as Skeleton and GreensBody do, for a zone on a bone that is not there, and
    /// where a joint bends fixed nodes that have no columns; bonded, as find_seams and ZonedModel
    /// do, for free seam nodes, and for more than GreensZone::kMaxLoads loads. Zones of another
    /// kind must be bonded, have a surface, and not be all there are.
    ZonedBody(CharacterModel model, const ZonedBodyOptions& options = {});
    ~ZonedBody() override;

    [[nodiscard]] const CharacterModel& model() const noexcept;
    [[nodiscard]] int num_zones() const noexcept;
    /// False: of another kind, which contact does not touch.
    [[nodiscard]] bool has_greens(int z) const noexcept;
    /// For contact; steps are those of this body. Of zones with Green's functions.
    [[nodiscard]] GreensBody& zone(int z) noexcept;
    [[nodiscard]] const GreensBody& zone(int z) const noexcept;
    /// First vertex and triangle of a zone in surface().
    [[nodiscard]] int first_vertex(int z) const noexcept;
    [[nodiscard]] int first_triangle(int z) const noexcept;
    [[nodiscard]] int display_offset(int z) const noexcept;
    /// Where bones have gone from rest, in the axes of the body.
    [[nodiscard]] std::span<const Pose> bones() const noexcept;
    [[nodiscard]] const Pose& pose() const noexcept;
    [[nodiscard]] double time() const noexcept;  ///< since the start [s]

    [[nodiscard]] std::string_view kind() const noexcept override { return "zones"; }
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
