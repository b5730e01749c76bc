#pragma once

#include "body/surface_display.h"
#include "pliant/scene/world.h"

#include <atomic>
#include <chrono>

namespace pliant::test {

/// The simplest thing that a loop can run: a tetrahedron that a spring holds where it began. May be
/// told to be slow or to fail.
class PointMassBody final : public Body {
public:
    struct Options {
        Eigen::Vector3d start = Eigen::Vector3d::Zero();
        double mass = 1, stiffness = 100;
    };

    explicit PointMassBody(const Options& options)
        : Body(tetrahedron()),
          options_(options),
          display_(std::make_shared<PosedSurfaceDisplay>(tetrahedron())),
          stiffness_(options.stiffness) {
        do_reset();
    }

    std::atomic<int> slow_us{0};     ///< every step takes so long on the clock, from any thread
    std::atomic<int> slow_steps{0};  ///< that have begun
    StepStatus next_status = StepStatus::Ok;

    [[nodiscard]] const Eigen::Vector3d& x() const { return x_; }
    [[nodiscard]] double stiffness() const { return stiffness_; }

    [[nodiscard]] std::string_view kind() const noexcept override { return "point"; }
    [[nodiscard]] std::shared_ptr<const BodyDisplay> display() const override { return display_; }
    void add_force(const SurfacePoint& point, const Eigen::Vector3d& force) noexcept override {
        if (is_valid(point) && force.allFinite()) load_ += force;
    }
    void set_gravity(const Eigen::Vector3d& acceleration) noexcept override {
        gravity_ = acceleration;
    }
    void set_wind_direction(const Eigen::Vector3d&) override {}
    void set_wind_pressure(double) noexcept override {}
    [[nodiscard]] Eigen::Vector3d position(const SurfacePoint& point,
                                           TickMoment moment) const noexcept override {
        const Eigen::Vector3d& x = moment == TickMoment::End ? x_ : x_before_;
        if (point.triangle < 0)
            return x + surface().vertices[static_cast<std::size_t>(point.vertex)];
        Eigen::Vector3d sum = x;
        for (int k = 0; k < 3; ++k)
            sum += point.barycentric[k] * surface().corner(point.triangle, k);
        return sum;
    }
    [[nodiscard]] Eigen::Vector3d velocity(const SurfacePoint&) const noexcept override {
        return v_;
    }
    [[nodiscard]] Eigen::Vector3d normal(const SurfacePoint&) const noexcept override {
        return Eigen::Vector3d::UnitZ();
    }
    [[nodiscard]] double mobility(const SurfacePoint&) const noexcept override {
        return 1 / options_.mass;
    }
    [[nodiscard]] Energy energy() const noexcept override {
        return {0.5 * options_.mass * v_.squaredNorm(),
                0.5 * stiffness_ * (x_ - options_.start).squaredNorm()};
    }
    [[nodiscard]] std::vector<LiveParameter> parameters() const override {
        LiveParameter stiffness;
        stiffness.name = "stiffness";
        stiffness.label = "Stiffness";
        stiffness.unit = "N/m";
        stiffness.value = options_.stiffness;
        stiffness.high = 1000;
        return {stiffness};
    }
    void set_parameter(int index, double value) noexcept override {
        if (index == 0) stiffness_ = value;
    }
    [[nodiscard]] int state_size() const noexcept override { return 6; }
    void save_state(std::span<double> state) const noexcept override {
        std::copy_n(x_.data(), 3, state.begin());
        std::copy_n(v_.data(), 3, state.begin() + 3);
    }
    bool restore_state(std::span<const double> state) noexcept override {
        if (state.size() != 6) return false;
        x_ = Eigen::Vector3d(state[0], state[1], state[2]);
        v_ = Eigen::Vector3d(state[3], state[4], state[5]);
        return true;
    }
    void write_display(std::span<float> state) const noexcept override {
        write_pose({.position = x_}, state);
    }

    [[nodiscard]] static SurfaceMesh tetrahedron() {
        return {{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}}};
    }

private:
    StepStatus do_step(double dt) noexcept override {
        const auto until = std::chrono::steady_clock::now() +
                           std::chrono::microseconds(slow_us.load(std::memory_order_relaxed));
        if (slow_us.load(std::memory_order_relaxed) > 0) ++slow_steps;
        while (slow_us.load(std::memory_order_relaxed) > 0 &&
               std::chrono::steady_clock::now() < until) {
        }
        x_before_ = x_;
        v_ += dt * (gravity_ + (load_ - stiffness_ * (x_ - options_.start)) / options_.mass);
        x_ += dt * v_;
        load_.setZero();
        return next_status;
    }
    void do_reset() noexcept override {
        x_ = x_before_ = options_.start;
        v_.setZero();
        load_.setZero();
    }

    Options options_;
    std::shared_ptr<const BodyDisplay> display_;
    double stiffness_;
    Eigen::Vector3d x_, x_before_, v_, load_, gravity_ = Eigen::Vector3d::Zero();
};

/// A world of point masses: `counts[l]` in loop l, whose rate is `rates[l]`.
struct PointWorld {
    SceneDescription scene;
    std::vector<std::vector<PointMassBody*>> bodies;  ///< of each loop

    [[nodiscard]] World make(const std::vector<double>& rates, const std::vector<int>& counts) {
        WorldParts parts;
        scene.bodies.clear();
        bodies.assign(rates.size(), {});
        for (std::size_t l = 0; l < rates.size(); ++l) {
            LoopSettings settings;
            settings.name = l == 0 ? "haptic" : "loop" + std::to_string(l);
            settings.rate = rates[l];
            std::vector<std::unique_ptr<Body>> made;
            std::vector<int> numbers;
            // all bodies of a loop are copies of one description
            scene.bodies.emplace_back().name = "points" + std::to_string(l);
            for (int k = 0; k < counts[l]; ++k) {
                auto body = std::make_unique<PointMassBody>(
                    PointMassBody::Options{.start = {3.0 * k, 3.0 * static_cast<double>(l), 0}});
                bodies[l].push_back(body.get());
                numbers.push_back(static_cast<int>(parts.bodies.size()));
                WorldBody entry;
                entry.name = scene.bodies[l].name + "[" + std::to_string(k) + "]";
                entry.description = static_cast<int>(l);
                entry.loop = static_cast<int>(l);
                entry.place = k;
                parts.bodies.push_back(entry);
                made.push_back(std::move(body));
            }
            parts.loops.push_back(
                std::make_unique<SimulationLoop>(settings, std::move(made), numbers));
        }
        return World(scene, std::move(parts));
    }
};

}  // namespace pliant::test
