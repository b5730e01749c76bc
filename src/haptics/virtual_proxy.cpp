#include "pliant/haptics/virtual_proxy.h"

#include "haptics/proxy_forces.h"
#include "haptics/proxy_sphere.h"

#include <cmath>
#include <optional>

namespace pliant {

bool ProxyState::is_touching() const noexcept {
    return std::any_of(contacts.begin(), contacts.begin() + num_contacts,
                       [](const ProxyContact& contact) { return contact.multiplier > 0; });
}

int ProxyState::active_planes(std::array<ConstraintPlane, 3>& planes) const noexcept {
    int count = 0;
    for (int i = 0; i < num_contacts && count < 3; ++i) {
        const ProxyContact& contact = contacts[static_cast<std::size_t>(i)];
        if (contact.multiplier <= 0) continue;
        ConstraintPlane& plane = planes[static_cast<std::size_t>(count++)];
        plane = contact.plane;
        plane.offset -= std::max(0.0, plane.normal.dot(withheld));
    }
    return count;
}

void check(const ProxyOptions& options) {
    check(options.sphere);
    const auto require = [](bool is_good, const char* field, double value, const char* expected) {
        if (!is_good) throw InputError("", field, std::to_string(value), expected);
    };
    require(options.max_passes >= 1 && options.max_passes <= 10'000, "passes of the proxy",
            options.max_passes, "1 to 10000");
    require(options.stiffness >= 0 && options.stiffness < 1e9, "stiffness of the proxy",
            options.stiffness, "0 N/m or more, e.g. 500");
    require(options.dynamic_friction >= 0 && options.dynamic_friction <= 10,
            "dynamic friction of the proxy", options.dynamic_friction, "0 to 10");
    require(options.static_friction >= options.dynamic_friction && options.static_friction <= 10,
            "static friction of the proxy", options.static_friction,
            "dynamic friction or more, up to 10");
    require(options.mask_radius > 1 && options.mask_radius <= 100, "mask radius of the proxy",
            options.mask_radius, "1 < value <= 100 radii");
    require(options.release >= 0, "release of the proxy", options.release, "0 J or more");
    require(std::isfinite(options.body_force), "body force of the proxy", options.body_force,
            "a finite factor");
}

struct VirtualProxy::Impl {
    Impl(SurfaceSet&& surfaces, const ProxyOptions& options)
        : own(std::move(surfaces)),
          near(own->surfaces()),
          spreader(own->surfaces()),
          sphere(options) {}
    Impl(const SurfaceSet& surfaces, const ProxyOptions& options)
        : near(surfaces.surfaces()), spreader(surfaces.surfaces()), sphere(options) {}

    std::optional<SurfaceSet> own;  // advanced here; others by their owner
    SurfaceNeighbourhood near;
    ForceSpreader spreader;
    ProxySphere sphere;
};

VirtualProxy::VirtualProxy(std::vector<MovingSurface*> surfaces, const ProxyOptions& options) {
    check(options);
    impl_ = std::make_unique<Impl>(SurfaceSet(std::move(surfaces)), options);
    reset(Eigen::Vector3d::Zero());
}

VirtualProxy::VirtualProxy(const SurfaceSet& surfaces, const ProxyOptions& options) {
    check(options);
    impl_ = std::make_unique<Impl>(surfaces, options);
}

VirtualProxy::~VirtualProxy() = default;

void VirtualProxy::reset(const Eigen::Vector3d& position) noexcept {
    impl_->sphere.reset(position);
    if (impl_->own) impl_->own->restart();
    impl_->near.forget();
}

const ProxyState& VirtualProxy::tick(const Eigen::Vector3d& goal) noexcept {
    Impl& self = *impl_;
    if (self.own) self.own->advance();
    self.sphere.begin(goal, self.near);
    self.sphere.follow_surfaces(self.near);
    self.sphere.follow_goal(self.near);
    self.sphere.finish(self.near, self.sphere.options().stiffness);
    return self.sphere.state();
}

const ProxyState& VirtualProxy::state() const noexcept { return impl_->sphere.state(); }
const SurfaceNeighbourhood& VirtualProxy::neighbourhood() const noexcept { return impl_->near; }
const ProxyOptions& VirtualProxy::options() const noexcept { return impl_->sphere.options(); }

StepStatus VirtualProxy::set_options(const ProxyOptions& options) noexcept {
    try {
        check(options);
    } catch (const InputError&) {
        return StepStatus::InputIgnored;
    }
    impl_->sphere.set_options(options);
    return StepStatus::Ok;
}

void VirtualProxy::apply_forces() noexcept {
    impl_->spreader.apply(impl_->sphere.state(), impl_->sphere.options(), impl_->near);
}

}  // namespace pliant
