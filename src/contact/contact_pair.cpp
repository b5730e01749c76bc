#include "pliant/contact/contact_pair.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace pliant {

using Eigen::VectorXd;

namespace {

/// A body as contact sees it: its axes, its shape and where loads go.
struct ContactSide {
    RigidBody* rigid = nullptr;
    ReducedBody* reduced = nullptr;

    [[nodiscard]] const Body& body() const noexcept {
        return rigid != nullptr ? static_cast<const Body&>(*rigid) : *reduced;
    }
    [[nodiscard]] Pose pose() const noexcept {
        return rigid != nullptr ? rigid->motion().pose : reduced->pose();
    }
    [[nodiscard]] std::span<const double> shape() const noexcept {
        if (reduced == nullptr) return {};
        const VectorXd& q = reduced->state().q;
        return {q.data(), static_cast<std::size_t>(q.size())};
    }
    [[nodiscard]] int rank() const noexcept {
        return reduced != nullptr ? reduced->model().rank() : 0;
    }
    void take(const Wrench& wrench, const VectorXd& load, const Eigen::MatrixXd& stiffness,
              double damping, ContactExchange exchange) const noexcept {
        if (rigid != nullptr)
            rigid->add_wrench(wrench);
        else if (exchange == ContactExchange::Explicit)
            reduced->add_reduced_force(load);
        else
            reduced->add_contact(load, stiffness, damping);
    }
};

ContactSide side_of(Body* body, const std::string& role) {
    ContactSide side{dynamic_cast<RigidBody*>(body), dynamic_cast<ReducedBody*>(body)};
    if (side.rigid == nullptr && side.reduced == nullptr)
        throw InputError("", role + " of a contact",
                         body != nullptr ? std::string(body->kind()) : "no body",
                         "a rigid or a reduced body");
    if (side.rigid != nullptr && side.rigid->is_dynamic())
        throw InputError("", role +
                                 " of a contact is a rigid body with mass, which only bodies "
                                 "without contact may have: leave out its density");
    if (side.reduced != nullptr && side.reduced->model().is_free())
        throw InputError("", role +
                                 " of a contact is a reduced body that flies freely: hold it "
                                 "somewhere (fixed)");
    return side;
}

void check_rank(const std::string& what, int rank, const ContactSide& side) {
    if (rank == side.rank()) return;
    throw InputError("", what, std::to_string(rank) + " vectors",
                     std::to_string(side.rank()) + ", as its body; build it with that model");
}

/// Of a body that deforms, for this pair alone; else null.
std::shared_ptr<DeformedField> deformed_field(const FieldBody& field, const ContactSide& side) {
    if (!field.deformed) return {};
    check_rank("deformed field", field.deformed->rank(), side);
    return std::make_shared<DeformedField>(*field.deformed);
}
const std::shared_ptr<const DistanceField>& rigid_field(const FieldBody& field,
                                                        const ContactSide& side) {
    if (side.reduced != nullptr)
        throw InputError("", "field body of a contact deforms and needs a deformed field");
    if (!field.field) throw InputError("", "field body of a contact has no field; build one");
    return field.field;
}

}  // namespace

struct ContactPair::Impl {
    Impl(ShellBody s, const FieldBody& f, const ContactPairOptions& o)
        : options(o),
          shell(side_of(s.body, "shell body")),
          field(side_of(f.body, "field body")),
          deformed(deformed_field(f, field)),
          traversal(std::move(s.tree), deformed ? deformed : rigid_field(f, field), o.traversal),
          forces(traversal, deformed.get(), o.loads) {
        check_rank("point-tree", traversal.tree().rank(), shell);
        if (!(o.damping_steps >= 0) || !std::isfinite(o.damping_steps))
            throw InputError("", "damping_steps", std::to_string(o.damping_steps), "value >= 0");
        if (deformed) last_shape = change = VectorXd::Zero(field.rank());
    }

    /// Takes the shape of the field body; how far its surface moved since the last time [m].
    double follow_field() noexcept {
        if (!deformed) return 0;
        const VectorXd& q = field.reduced->state().q;
        change = q - last_shape;
        last_shape = q;
        return deformed->update(q) ? deformed->travel(change) : 0;
    }

    /// Contacts and loads of the bodies as they are.
    StepStatus find() noexcept {
        const double travel = follow_field();
        const Pose shell_pose = shell.pose(), field_pose = field.pose();
        const StepStatus found =
            traversal.update(field_pose.inverse() * shell_pose, shell.shape(), travel);
        const ContactFrames frames{shell_pose, field_pose, shell_pose.position,
                                   field_pose.position};
        const StepStatus loaded = forces.update(traversal, frames, shell.shape());
        return found != StepStatus::Ok ? found : loaded;
    }

    ContactPairOptions options;
    ContactSide shell, field;
    std::shared_ptr<DeformedField> deformed;  ///< or null
    PointTraversal traversal;
    ContactForces forces;
    VectorXd last_shape, change;
};

ContactPair::ContactPair(ShellBody shell, FieldBody field, const ContactPairOptions& options)
    : impl_(std::make_unique<Impl>(std::move(shell), field, options)) {}
ContactPair::~ContactPair() = default;
ContactPair::ContactPair(ContactPair&&) noexcept = default;
ContactPair& ContactPair::operator=(ContactPair&&) noexcept = default;

StepStatus ContactPair::act(double dt) noexcept {
    Impl& m = *impl_;
    if (!(dt > 0) || !std::isfinite(dt)) return StepStatus::InputIgnored;
    const StepStatus status = m.find();
    const ContactLoads& loads = m.forces.loads();
    if (loads.num_contacts > 0) {
        const double damping = m.options.damping_steps * dt;
        m.shell.take(loads.on_shell, loads.shell_load, loads.shell_reduced_stiffness, damping,
                     m.options.exchange);
        m.field.take(loads.on_field, loads.field_load, loads.field_reduced_stiffness, damping,
                     m.options.exchange);
    }
    return status;
}

StepStatus ContactPair::look() noexcept {
    forget();
    StepStatus status = impl_->find();
    // what coherence leaves out makes room for deeper levels
    const PointTraversal& traversal = impl_->traversal;
    for (int i = 1; i < traversal.tree().num_levels() && traversal.statistics().is_truncated; ++i)
        status = impl_->find();
    return status;
}

const ContactLoads& ContactPair::loads() const noexcept { return impl_->forces.loads(); }
const PointTraversal& ContactPair::traversal() const noexcept { return impl_->traversal; }
const ContactForces& ContactPair::forces() const noexcept { return impl_->forces; }
const Body& ContactPair::shell_body() const noexcept { return impl_->shell.body(); }
const Body& ContactPair::field_body() const noexcept { return impl_->field.body(); }
ContactExchange ContactPair::exchange() const noexcept { return impl_->options.exchange; }
Pose ContactPair::field_pose() const noexcept { return impl_->field.pose(); }

void ContactPair::set_stiffness(double stiffness) noexcept {
    if (!std::isfinite(stiffness)) return;
    ContactLoadOptions options = impl_->forces.options();
    options.stiffness = std::clamp(stiffness, 1e-9, 1e12);
    impl_->forces.set_options(options);
}
void ContactPair::set_cap_depth(double depth) noexcept {
    if (!std::isfinite(depth)) return;
    ContactLoadOptions options = impl_->forces.options();
    options.cap_depth = std::max(depth, 0.0);
    impl_->forces.set_options(options);
}
void ContactPair::set_friction(double friction) noexcept {
    if (!std::isfinite(friction)) return;
    ContactLoadOptions options = impl_->forces.options();
    options.friction = std::max(friction, 0.0);
    impl_->forces.set_options(options);
}
void ContactPair::set_normals(ContactNormals normals) {
    ContactLoadOptions options = impl_->forces.options();
    options.normals = normals;
    impl_->forces.set_options(options);
}
void ContactPair::set_budget(int nodes) noexcept { impl_->traversal.set_budget(nodes); }
int ContactPair::calibrate(double seconds) { return impl_->traversal.calibrate(seconds); }

void ContactPair::forget() noexcept {
    impl_->traversal.forget();
    impl_->forces.forget();
}

}  // namespace pliant
