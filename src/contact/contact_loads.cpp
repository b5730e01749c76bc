#include "pliant/contact/contact_loads.h"

#include "contact/load_sums.h"
#include "contact/normal_spread.h"

#include <cassert>
#include <cmath>
#include <cstdio>

namespace pliant {

using Eigen::Matrix3d;
using Eigen::Vector3d;

namespace {

Matrix3d skew(const Vector3d& v) {
    Matrix3d m;
    m << 0, -v.z(), v.y(), v.z(), 0, -v.x(), -v.y(), v.x(), 0;
    return m;
}

/// Forces on one body about its centre, world axes.
struct WorldSums {
    Vector3d force, torque;
    Matrix3d moment;          ///< Σ f rᵀ
    Matrix3d turning_arms;    ///< Σ ~f ~r
    Matrix3d turning_forces;  ///< Σ ~r ~f
    [[nodiscard]] WorldSums operator-() const {
        return {-force, -torque, -moment, -turning_arms, -turning_forces};
    }
};

Matrix6d turned(const Matrix6d& m, const Matrix3d& R) {
    Matrix6d out;
    for (const int i : {0, 3})
        for (const int j : {0, 3}) out.block<3, 3>(i, j) = R * m.block<3, 3>(i, j) * R.transpose();
    return out;
}
/// Turned into the axes of the world, still about the reference point.
ForceSums turned(const ForceSums& sums, const Matrix3d& R) {
    return {R * sums.force, R * sums.moment * R.transpose(), turned(sums.stiffness, R)};
}

/// `shift`: from the centre to the reference point.
WorldSums about_centre(const ForceSums& sums, const Vector3d& shift) {
    WorldSums w;
    w.force = sums.force;
    w.moment = sums.moment + sums.force * shift.transpose();
    // ~a ~b = b aᵀ − (a · b) I
    const Matrix3d trace = w.moment.trace() * Matrix3d::Identity();
    w.turning_arms = w.moment.transpose() - trace;
    w.turning_forces = w.moment - trace;
    w.torque = Vector3d(w.moment(2, 1) - w.moment(1, 2), w.moment(0, 2) - w.moment(2, 0),
                        w.moment(1, 0) - w.moment(0, 1));
    return w;
}

/// Σ (v, p × v)(g, p × g)ᵀ with p + shift in place of p.
Matrix6d about_centre(Matrix6d m, const Vector3d& shift) {
    const Matrix3d S = skew(shift);
    m.bottomRows<3>() += S * m.topRows<3>();
    m.rightCols<3>() -= m.leftCols<3>() * S;
    return m;
}

/// What turning and shifting the load adds to −Σ s (v, r × v)(g, r × g)ᵀ when the shell moves,
/// eq. (15).
void add_shell_motion(const WorldSums& f, bool turns_with_shell, Matrix6d& gradient) {
    if (turns_with_shell) {
        gradient.topRightCorner<3, 3>() -= skew(f.force);
        gradient.bottomRightCorner<3, 3>() -= skew(f.torque);
    } else {
        gradient.bottomRightCorner<3, 3>() += f.turning_arms;
    }
}

/// When the field moves, F on the field: mirrored eq. (15), direct eq. (16).
void add_field_motion(const WorldSums& F, bool turns_with_shell, bool turns_with_field,
                      GradientForm form, Matrix6d& gradient) {
    gradient.bottomLeftCorner<3, 3>() += skew(F.force);
    if (form == GradientForm::Mirrored) {
        // seen from the field, the shell turns back
        gradient.bottomRightCorner<3, 3>() -= F.turning_arms;
        if (!turns_with_shell) return;
        gradient.topRightCorner<3, 3>() += skew(F.force);
        gradient.bottomRightCorner<3, 3>() += F.turning_forces;
    } else if (turns_with_field) {
        gradient.topRightCorner<3, 3>() -= skew(F.force);
        gradient.bottomRightCorner<3, 3>() -= F.turning_forces;
    }
}

/// Forces of other directions than the shell's normals: tangential ones turn with neither body,
/// docs/contact.md section "Friction", those along the gradient with the field, eq. (10a).
void add_other_forces(const ForceSums& sums, const Vector3d& reference, const ContactFrames& frames,
                      const ContactLoadOptions& options, bool turns_with_field, bool has_gradient,
                      ContactLoads& loads) {
    Vector3d shift = reference - frames.shell_centre;
    const WorldSums f = about_centre(sums, shift);
    Matrix6d K = about_centre(sums.stiffness, shift);
    loads.on_shell += {f.force, f.torque};
    loads.shell_stiffness += K;
    if (!has_gradient) loads.shell_gradient -= K;
    add_shell_motion(f, false, loads.shell_gradient);

    shift = reference - frames.field_centre;
    const WorldSums F = -about_centre(sums, shift);
    K = about_centre(sums.stiffness, shift);
    loads.on_field += {F.force, F.torque};
    loads.field_stiffness += K;
    if (!has_gradient) loads.field_gradient -= K;
    add_field_motion(F, false, turns_with_field, options.gradients, loads.field_gradient);
}

void clear(ContactLoads& loads) noexcept {
    loads.on_shell = loads.on_field = {};
    for (Matrix6d* m : {&loads.shell_gradient, &loads.field_gradient, &loads.shell_stiffness,
                        &loads.field_stiffness})
        m->setZero();
    loads.shell_load.setZero();
    loads.field_load.setZero();
    loads.shell_reduced_stiffness.setZero();
    loads.field_reduced_stiffness.setZero();
    loads.num_contacts = loads.num_sticking = loads.num_sliding = 0;
    loads.deepest = loads.elastic_energy = 0;
}

void expect(bool is_good, const char* field, double value, const char* expected) {
    if (is_good) return;
    char text[32];
    std::snprintf(text, sizeof text, "%g", value);
    throw InputError("", field, text, expected);
}

}  // namespace

void check_load_options(const ContactLoadOptions& o) {
    const auto is_positive = [](double v) { return std::isfinite(v) && v > 0; };
    expect(is_positive(o.stiffness) && o.stiffness < 1e15, "contact.stiffness", o.stiffness,
           "0 < value < 1e15, in newtons per metre");
    expect(is_positive(o.scaling_count), "contact.scaling_count", o.scaling_count, "value > 0");
    expect(std::isfinite(o.cap_depth) && o.cap_depth >= 0, "contact.cap_depth", o.cap_depth,
           "value >= 0, in metres; 0 for none");
    expect(std::isfinite(o.friction) && o.friction >= 0, "contact.friction", o.friction,
           "value >= 0");
    expect(is_positive(o.friction_stiffness), "contact.friction_stiffness", o.friction_stiffness,
           "value > 0, relative to the normal stiffness");
    expect(o.max_anchors >= 1 && o.max_anchors <= (1 << 24), "contact.max_anchors", o.max_anchors,
           "1 <= value <= 16777216");
}

StepStatus sum_contacts(const ContactPoints& contacts, const DistanceField& field,
                        const ContactFrames& frames, std::span<const double> q,
                        LoadSums& sums) noexcept {
    bool is_good = is_finite(frames.shell) && is_finite(frames.field) &&
                   frames.shell_centre.allFinite() && frames.field_centre.allFinite();
    for (const double v : q) is_good = is_good && std::isfinite(v);
    if (!is_good) {
        sums.clear();
        return StepStatus::InputIgnored;
    }
    const Matrix3d shell = frames.shell.rotation.normalized().toRotationMatrix();
    const Matrix3d to_world = frames.field.rotation.normalized().toRotationMatrix();
    return sums.update(contacts, field, to_world.transpose() * shell, to_world, q);
}

bool assemble_loads(const LoadSums& sums, const ContactFrames& frames,
                    ContactLoads& loads) noexcept {
    clear(loads);
    if (sums.num_contacts == 0) return true;
    const ContactLoadOptions& o = sums.options;
    const bool is_normal_of_shell = o.normals != ContactNormals::FieldGradient;
    const Matrix3d R = frames.field.rotation.normalized().toRotationMatrix();
    const Vector3d reference = R * sums.reference + frames.field.position;

    const ForceSums normal = turned(sums.normal, R);
    const Matrix6d gradient = o.takes_field_gradient ? turned(sums.gradient, R) : normal.stiffness;

    // the shell, eq. (13)–(15); then the field, by the opposite forces
    Vector3d shift = reference - frames.shell_centre;
    const WorldSums f = about_centre(normal, shift);
    loads.on_shell = {f.force, f.torque};
    loads.shell_stiffness = about_centre(normal.stiffness, shift);
    loads.shell_gradient = -about_centre(gradient, shift);
    add_shell_motion(f, is_normal_of_shell, loads.shell_gradient);

    shift = reference - frames.field_centre;
    const WorldSums F = -about_centre(normal, shift);
    loads.on_field = {F.force, F.torque};
    loads.field_stiffness = about_centre(normal.stiffness, shift);
    loads.field_gradient = -about_centre(gradient, shift);
    add_field_motion(F, is_normal_of_shell, !is_normal_of_shell, o.gradients, loads.field_gradient);

    if (o.normals == ContactNormals::Spread)
        add_other_forces(turned(sums.of_field, R), reference, frames, o, true,
                         o.takes_field_gradient, loads);
    if (o.friction > 0)
        add_other_forces(turned(sums.tangential, R), reference, frames, o, false, false, loads);
    // centres so far away that arms squared are beyond all numbers
    if (!loads.shell_gradient.allFinite() || !loads.field_gradient.allFinite()) {
        clear(loads);
        return false;
    }

    loads.shell_load = sums.shell_load;
    loads.shell_reduced_stiffness = sums.shell_stiffness;
    loads.field_load = sums.proxies.load;
    loads.field_reduced_stiffness = sums.proxies.stiffness;
    loads.num_contacts = sums.num_contacts;
    loads.num_sticking = sums.num_sticking;
    loads.num_sliding = sums.num_sliding;
    loads.deepest = sums.deepest;
    loads.elastic_energy = sums.elastic_energy;
    return true;
}

struct ContactForces::Impl {
    Impl(const PointTree& shell, const DeformedField* deformed_field,
         const ContactLoadOptions& options)
        : tree(shell), deformed(deformed_field), sums(shell_rows(tree), deformed, options) {
        loads.shell_load = sums.shell_load;
        loads.shell_reduced_stiffness = sums.shell_stiffness;
        loads.field_load = sums.proxies.load;
        loads.field_reduced_stiffness = sums.proxies.stiffness;
        find_spread();
    }
    void find_spread() {
        if (sums.options.normals == ContactNormals::Spread && sums.spread.empty())
            sums.spread = normal_spread(tree.shell());
    }
    PointTree tree;  ///< keeps the rows alive
    const DeformedField* deformed;
    LoadSums sums;
    ContactLoads loads;
};

ContactForces::ContactForces(const PointTraversal& traversal, const DeformedField* deformed,
                             const ContactLoadOptions& options) {
    check_load_options(options);
    impl_ = std::make_unique<Impl>(traversal.tree(), deformed, options);
}
ContactForces::~ContactForces() = default;
ContactForces::ContactForces(ContactForces&&) noexcept = default;
ContactForces& ContactForces::operator=(ContactForces&&) noexcept = default;

const ContactLoadOptions& ContactForces::options() const noexcept { return impl_->sums.options; }

void ContactForces::set_options(const ContactLoadOptions& options) {
    check_load_options(options);
    // anchors outlive every change but that of their number
    if (options.max_anchors != impl_->sums.options.max_anchors)
        impl_->sums.anchors = FrictionAnchors(options.max_anchors);
    if (options.friction == 0) impl_->sums.anchors.clear();
    impl_->sums.options = options;
    impl_->find_spread();
}

StepStatus ContactForces::update(const PointTraversal& traversal, const ContactFrames& frames,
                                 std::span<const double> q) noexcept {
    assert(static_cast<int>(q.size()) == impl_->tree.rank());
    LoadSums& sums = impl_->sums;
    const StepStatus status =
        sum_contacts(traversal.contacts(), traversal.field(), frames, q, sums);
    return assemble_loads(sums, frames, impl_->loads) ? status : StepStatus::InputIgnored;
}

const ContactLoads& ContactForces::loads() const noexcept { return impl_->loads; }

std::span<const Eigen::Vector3f> ContactForces::point_forces() const noexcept {
    return std::span(impl_->sums.point_forces)
        .first(static_cast<std::size_t>(impl_->loads.num_contacts));
}

void ContactForces::forget() noexcept { impl_->sums.anchors.clear(); }

}  // namespace pliant
