#pragma once

#include "pliant/body/body.h"
#include "pliant/greens/surface_zone.h"

#include <memory>
#include <vector>

namespace pliant {

/// A zone of another kind inside a ZonedBody, which places it and solves its seams. Forces reach it
/// with a lag, docs/greens-zones.md eq. (17).
class SurfaceZoneBody final : public Body {
public:
    /// `rate` of steps [Hz].
    SurfaceZoneBody(std::shared_ptr<SurfaceZone> zone, double rate);

    /// Where it is from the next step on, its seam displaced by u.
    void place(const Pose& pose, const Eigen::VectorXd& u) noexcept;
    /// The zone carries the loads of this step, as far as they count after dt [s].
    void follow_loads(double dt) noexcept;
    /// Factor on its stiffness.
    void set_stiffness(double factor) noexcept { stiffness_ = factor; }

    [[nodiscard]] std::string_view kind() const noexcept override { return "zone"; }
    [[nodiscard]] std::shared_ptr<const BodyDisplay> display() const override { return display_; }
    void add_force(const SurfacePoint& point, const Eigen::Vector3d& force) noexcept override;
    void set_gravity(const Eigen::Vector3d& acceleration) noexcept override;
    void set_wind_direction(const Eigen::Vector3d&) override {}
    void set_wind_pressure(double) noexcept override {}
    [[nodiscard]] Eigen::Vector3d position(
        const SurfacePoint& point, TickMoment moment = TickMoment::End) const noexcept override;
    [[nodiscard]] Eigen::Vector3d velocity(const SurfacePoint& point) const noexcept override;
    [[nodiscard]] Eigen::Vector3d normal(const SurfacePoint& point) const noexcept override;
    [[nodiscard]] double mobility(const SurfacePoint& point) const noexcept override;
    /// Not known.
    [[nodiscard]] Energy energy() const noexcept override { return {}; }
    [[nodiscard]] int state_size() const noexcept override;
    void save_state(std::span<double> state) const noexcept override;
    bool restore_state(std::span<const double> state) noexcept override;
    void write_display(std::span<float> state) const noexcept override;

private:
    struct Corners {
        std::array<int, 3> vertices = {};
        Eigen::Vector3d weights = Eigen::Vector3d::Zero();
    };
    [[nodiscard]] Corners corners(const SurfacePoint& point) const noexcept;
    /// With the seams held: less than what a force meets, so that hands go by mobility().
    [[nodiscard]] Eigen::Matrix3d held_compliance(const SurfacePoint& point) const noexcept;
    void move() noexcept;
    StepStatus do_step(double dt) noexcept override;
    void do_reset() noexcept override;

    std::shared_ptr<SurfaceZone> zone_;
    double rate_, stiffness_ = 1, dt_ = 0;
    Pose pose_;
    Eigen::Vector3d gravity_ = Eigen::Vector3d::Zero();  // in the world
    Eigen::VectorXd u_, load_, wanted_;
    std::vector<Eigen::Vector3d> now_, before_;  // vertices in the world
    std::shared_ptr<const BodyDisplay> display_;
    bool has_ignored_ = false;
};

}  // namespace pliant
