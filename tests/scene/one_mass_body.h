#pragma once

#include "body/surface_display.h"
#include "geometry/simple_surfaces.h"

namespace pliant::test {

/// How the body's step integrates a force that is constant in it: those of all kinds of bodies.
enum class StepRule {
    SymplecticEuler,
    ConstantAcceleration,  ///< rigid and free bodies; many short inner steps
    Newmark,               ///< average acceleration, balance at the end: held reduced bodies
};

/// A box whose points all move with one mass on a spring; everything about it is known.
class OneMassBody final : public Body {
public:
    struct Options {
        StepRule rule = StepRule::ConstantAcceleration;
        double mass = 2;
        double stiffness = 0;          ///< [N/m]
        double damping = 0;            ///< [N s/m]
        bool knows_compliance = true;  ///< if it has a stiffness
    };
    explicit OneMassBody(const Options& o)
        : Body(box_surface(Eigen::Vector3d::Constant(-0.5), Eigen::Vector3d::Constant(0.5))),
          options(o),
          display_(std::make_shared<PosedSurfaceDisplay>(surface())) {}

    Options options;
    Eigen::Vector3d x = Eigen::Vector3d::Zero(), v = x, a = x;
    Eigen::Vector3d load = x, last_load = x;
    Eigen::Vector3d gravity = x, wind_direction = x;
    double wind_pressure = 0;
    int order = 0;  ///< when it stepped, by *clock
    int* clock = nullptr;

    [[nodiscard]] std::string_view kind() const noexcept override { return "mass"; }
    [[nodiscard]] std::shared_ptr<const BodyDisplay> display() const override { return display_; }
    void add_force(const SurfacePoint&, const Eigen::Vector3d& force) noexcept override {
        load += force;
    }
    void set_gravity(const Eigen::Vector3d& acceleration) noexcept override {
        gravity = acceleration;
    }
    void set_wind_direction(const Eigen::Vector3d& d) override { wind_direction = d; }
    void set_wind_pressure(double pressure) noexcept override { wind_pressure = pressure; }
    [[nodiscard]] Eigen::Vector3d position(const SurfacePoint& p,
                                           TickMoment = TickMoment::End) const noexcept override {
        if (p.triangle < 0) return x + surface().vertices[static_cast<std::size_t>(p.vertex)];
        Eigen::Vector3d sum = x;
        for (int k = 0; k < 3; ++k) sum += p.barycentric[k] * surface().corner(p.triangle, k);
        return sum;
    }
    [[nodiscard]] Eigen::Vector3d velocity(const SurfacePoint&) const noexcept override {
        return v;
    }
    [[nodiscard]] Eigen::Vector3d normal(const SurfacePoint& p) const noexcept override {
        const int t = triangle_of(p);
        return (surface().corner(t, 1) - surface().corner(t, 0))
            .cross(surface().corner(t, 2) - surface().corner(t, 0))
            .normalized();
    }
    [[nodiscard]] double mobility(const SurfacePoint&) const noexcept override {
        return 1 / options.mass;
    }
    bool compliance(const SurfacePoint&, Eigen::Matrix3d& C) const noexcept override {
        if (!options.knows_compliance || options.stiffness == 0) return false;
        // stiffer along y and z
        C = Eigen::Vector3d(1, 0.5, 0.1).asDiagonal();
        C /= options.stiffness;
        return true;
    }
    [[nodiscard]] Energy energy() const noexcept override {
        return {0.5 * options.mass * v.squaredNorm(), 0.5 * options.stiffness * x.squaredNorm()};
    }
    [[nodiscard]] int state_size() const noexcept override { return 9; }
    void save_state(std::span<double> state) const noexcept override {
        Eigen::Map<Eigen::Matrix<double, 9, 1>>(state.data()) << x, v, a;
    }
    bool restore_state(std::span<const double>) noexcept override { return false; }
    void write_display(std::span<float> state) const noexcept override {
        write_pose({x, Quaternion::Identity()}, state);
    }

private:
    StepStatus do_step(double h) noexcept override {
        const double m = options.mass, k = options.stiffness, d = options.damping;
        const Eigen::Vector3d f = load + m * gravity;
        if (options.rule == StepRule::SymplecticEuler) {
            v += h / m * (f - k * x - d * v);
            x += h * v;
        } else if (options.rule == StepRule::ConstantAcceleration) {
            a = (f - k * x - d * v) / m;
            x += h * v + 0.5 * h * h * a;
            v += h * a;
        } else {
            const Eigen::Vector3d x_free = x + h * v + 0.25 * h * h * a, v_free = v + 0.5 * h * a;
            a = (f - k * x_free - d * v_free) / (m + 0.5 * h * d + 0.25 * h * h * k);
            x = x_free + 0.25 * h * h * a;
            v = v_free + 0.5 * h * a;
        }
        last_load = load;
        load.setZero();
        if (clock != nullptr) order = ++*clock;
        return StepStatus::Ok;
    }
    void do_reset() noexcept override {
        for (Eigen::Vector3d* value : {&x, &v, &a, &load, &last_load}) value->setZero();
    }
    std::shared_ptr<const BodyDisplay> display_;
};

}  // namespace pliant::test
