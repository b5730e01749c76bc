#pragma once

#include "pliant/haptics/dynamic_coupling.h"
#include "pliant/haptics/haptic_tool.h"

#include <variant>

namespace pliant {

/// One of the couplings, all of the same shape. Allocates nothing after construction.
class AnyCoupling {
public:
    AnyCoupling(ToolCoupling kind, const CouplingGains& gains, const CouplingOptions& options)
        : any_(make(kind, gains, options)) {}

    StepStatus update(const Pose& manipulandum, const ToolContact& contact, double dt) noexcept {
        return std::visit([&](auto& c) { return c.update(manipulandum, contact, dt); }, any_);
    }
    [[nodiscard]] const Pose& pose() const noexcept {
        return std::visit([](const auto& c) -> const Pose& { return c.pose(); }, any_);
    }
    void place(const Pose& pose) noexcept {
        std::visit([&](auto& c) { c.place(pose); }, any_);
    }
    [[nodiscard]] Wrench rendered(const Pose& manipulandum) const noexcept {
        return std::visit([&](const auto& c) { return c.rendered(manipulandum); }, any_);
    }
    [[nodiscard]] double stored_energy(const Pose& manipulandum) const noexcept {
        return std::visit([&](const auto& c) { return c.stored_energy(manipulandum); }, any_);
    }
    [[nodiscard]] const CouplingGains& gains() const noexcept {
        return std::visit([](const auto& c) -> const CouplingGains& { return c.gains(); }, any_);
    }
    void set_gains(const CouplingGains& gains) noexcept {
        std::visit([&](auto& c) { c.set_gains(gains); }, any_);
    }
    /// The baselines have no step limits.
    void set_step_scale(double scale) noexcept {
        if (auto* c = as_static()) c->set_step_scale(scale);
    }
    [[nodiscard]] StaticCoupling* as_static() noexcept {
        return std::get_if<StaticCoupling>(&any_);
    }

private:
    using Any = std::variant<StaticCoupling, DynamicCoupling, DirectRendering>;
    static Any make(ToolCoupling kind, const CouplingGains& gains, const CouplingOptions& options) {
        switch (kind) {
            case ToolCoupling::Dynamic: return Any(std::in_place_type<DynamicCoupling>, gains);
            case ToolCoupling::Direct: return Any(std::in_place_type<DirectRendering>, gains);
            case ToolCoupling::Static: break;
        }
        return Any(std::in_place_type<StaticCoupling>, gains, options);
    }
    Any any_;
};

}  // namespace pliant
