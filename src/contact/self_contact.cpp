#include "pliant/contact/self_contact.h"

#include "contact/load_sums.h"
#include "contact/self_traversal.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

namespace pliant {

using Eigen::VectorXd;

namespace {

/// Defaults of the exclusion: in cells of the field, in spacings of the shell.
constexpr double kExclusionCells = 4, kExclusionSpacings = 2;

void check_rank(const char* what, int rank, const ReducedBody& body) {
    if (rank == body.model().rank()) return;
    throw InputError(
        "", what, std::to_string(rank) + " vectors",
        std::to_string(body.model().rank()) + ", as its body; build it with that model");
}

void check(const ReducedBody& body, const PointTree& tree, const DeformedFieldModel& field,
           const SelfContactOptions& o) {
    check_rank("point-tree", tree.rank(), body);
    check_rank("deformed field", field.rank(), body);
    if (field.num_domains() < 2)
        throw InputError("",
                         "self-contact needs a deformed field of several domains, and this one has "
                         "one: build it with num_domains = 0; if it still has one, the body has no "
                         "parts that can be told apart");
    if (!std::isfinite(o.damping_steps) || o.damping_steps < 0)
        throw InputError("", "damping_steps", std::to_string(o.damping_steps), "value >= 0");
    if (o.max_contacts < 1)
        throw InputError("", "max_contacts", std::to_string(o.max_contacts), "1 or more");
    const int first_level = tree.level_start(1);
    if (o.budget != 0 && o.budget < first_level)
        throw InputError("", "budget", std::to_string(o.budget),
                         "0 (all nodes) or at least " + std::to_string(first_level) +
                             ", the first level of the pointshell");
    check_load_options(o.loads);
    if (o.loads.friction > 0)
        throw InputError("", "contact.friction", std::to_string(o.loads.friction),
                         "0: self-contact has no friction");
    if (o.loads.normals == ContactNormals::FieldGradient ||
        o.loads.normals == ContactNormals::Spread || o.loads.takes_field_gradient)
        throw InputError("", "self-contact takes directions from the shell, not from the field");
}

double exclusion_of(const SelfContactOptions& o, const DeformedField& field,
                    const Pointshell& shell) {
    if (o.exclusion == 0)
        return std::max(kExclusionCells * field.resolution(), kExclusionSpacings * shell.spacing);
    if (!std::isfinite(o.exclusion) || o.exclusion < field.resolution())
        throw InputError("", "exclusion", std::to_string(o.exclusion),
                         "0 (chosen) or at least a cell of the field, " +
                             std::to_string(field.resolution()) + " m");
    return o.exclusion;
}

}  // namespace

struct SelfContact::Impl {
    Impl(ReducedBody& b, PointTree tree, const DeformedFieldModel& model,
         const SelfContactOptions& o)
        : body((check(b, tree, model, o), &b)),
          options(o),
          largest_budget(o.budget > 0 ? o.budget : tree.num_nodes()),
          field(model),
          traversal(tree, field, exclusion_of(o, field, tree.shell()), o.budget, o.max_contacts),
          row_of_contact(traversal.contacts.node.size()),
          relative_modes(row_of_contact.size() * static_cast<std::size_t>(tree.row_stride())),
          material_modes(static_cast<std::size_t>(kLoadBatch) *
                         static_cast<std::size_t>(tree.row_stride())),
          sums({tree.rank(), tree.row_stride(), static_cast<int>(row_of_contact.size()),
                relative_modes.data(), tree.normal_row(0)},
               nullptr, o.loads) {
        std::iota(row_of_contact.begin(), row_of_contact.end(), 0);
        loads.shell_load = sums.shell_load;
        loads.shell_reduced_stiffness = sums.shell_stiffness;
    }

    StepStatus update(const Eigen::Ref<const VectorXd>& q) noexcept;
    void find_relative_modes() noexcept;

    ReducedBody* body;
    SelfContactOptions options;
    int largest_budget;
    DeformedField field;
    SelfTraversal traversal;
    std::vector<int> row_of_contact;
    AlignedArray<float> relative_modes;  ///< of each contact, U_s − M_s of eq. (35)
    AlignedArray<float> material_modes;  ///< of a batch
    LoadSums sums;
    ContactLoads loads;
};

/// Eq. (35), batches of contacts in the same domain.
void SelfContact::Impl::find_relative_modes() noexcept {
    const ContactPoints& contacts = traversal.contacts;
    const auto stride = static_cast<std::size_t>(traversal.tree.row_stride());
    const int length = 4 * traversal.tree.rank();
    float x[kLoadBatch], y[kLoadBatch], z[kLoadBatch];
    std::size_t contact[kLoadBatch];
    for (int d = 0; d < field.num_domains(); ++d) {
        int count = 0;
        const auto finish = [&] {
            field.domain_modes(d, {x, y, z, count}, material_modes.data(),
                               static_cast<int>(stride));
            for (int i = 0; i < count; ++i) {
                const float* own = traversal.tree.row(contacts.node[contact[i]]);
                const float* other = material_modes.data() + static_cast<std::size_t>(i) * stride;
                float* relative = relative_modes.data() + contact[i] * stride;
                for (int j = 0; j < length; ++j) relative[j] = own[j] - other[j];
                // the fourth of a group is no coordinate
                for (int j = 3; j < length; j += 4) relative[j] = 0;
            }
            count = 0;
        };
        for (std::size_t c = 0; c < static_cast<std::size_t>(contacts.count); ++c) {
            if (traversal.domain[c] != d) continue;
            x[count] = contacts.x[c];
            y[count] = contacts.y[c];
            z[count] = contacts.z[c];
            contact[count++] = c;
            if (count == kLoadBatch) finish();
        }
        if (count > 0) finish();
    }
}

StepStatus SelfContact::Impl::update(const Eigen::Ref<const VectorXd>& q) noexcept {
    const Pose pose = body->pose();
    const ContactFrames frames{pose, pose, pose.position, pose.position};
    StepStatus found = StepStatus::InputIgnored;
    if (field.update(q)) {
        found = traversal.update(field, q);
    } else {
        traversal.clear();
    }
    find_relative_modes();
    // loads of a shell whose modes are the relative ones: a row for each contact
    const std::span<const double> shape(q.data(), static_cast<std::size_t>(q.size()));
    traversal.contacts.node.swap(row_of_contact);
    const StepStatus loaded = sum_contacts(traversal.contacts, field, frames, shape, sums);
    traversal.contacts.node.swap(row_of_contact);
    const bool is_good = assemble_loads(sums, frames, loads);
    if (found != StepStatus::Ok) return found;
    return is_good ? loaded : StepStatus::InputIgnored;
}

SelfContact::SelfContact(ReducedBody& body, PointTree tree, const DeformedFieldModel& field,
                         const SelfContactOptions& options)
    : impl_(std::make_unique<Impl>(body, std::move(tree), field, options)) {}
SelfContact::~SelfContact() = default;
SelfContact::SelfContact(SelfContact&&) noexcept = default;
SelfContact& SelfContact::operator=(SelfContact&&) noexcept = default;

StepStatus SelfContact::act(double dt) noexcept {
    Impl& m = *impl_;
    if (!(dt > 0) || !std::isfinite(dt)) return StepStatus::InputIgnored;
    const StepStatus status = m.update(m.body->state().q);
    if (m.loads.num_contacts > 0)
        m.body->add_contact(m.loads.shell_load, m.loads.shell_reduced_stiffness,
                            m.options.damping_steps * dt);
    return status;
}

StepStatus SelfContact::update(const Eigen::Ref<const VectorXd>& q) noexcept {
    return impl_->update(q);
}
const ContactPoints& SelfContact::contacts() const noexcept { return impl_->traversal.contacts; }
std::span<const int> SelfContact::contact_domains() const noexcept {
    return std::span(impl_->traversal.domain)
        .first(static_cast<std::size_t>(impl_->traversal.contacts.count));
}
const ContactLoads& SelfContact::loads() const noexcept { return impl_->loads; }
std::span<const Eigen::Vector3f> SelfContact::point_forces() const noexcept {
    return std::span(impl_->sums.point_forces)
        .first(static_cast<std::size_t>(impl_->loads.num_contacts));
}
const TraversalStatistics& SelfContact::statistics() const noexcept {
    return impl_->traversal.statistics;
}
double SelfContact::exclusion() const noexcept { return impl_->traversal.exclusion; }
std::span<const int> SelfContact::frontier() const noexcept { return impl_->traversal.frontier(); }
std::span<const int> SelfContact::homes() const noexcept { return impl_->traversal.home; }
const PointTree& SelfContact::tree() const noexcept { return impl_->traversal.tree; }
const SelfContactOptions& SelfContact::options() const noexcept { return impl_->options; }

void SelfContact::set_stiffness(double stiffness) noexcept {
    if (!std::isfinite(stiffness)) return;
    impl_->options.loads.stiffness = std::clamp(stiffness, 1e-9, 1e12);
    impl_->sums.options.stiffness = impl_->options.loads.stiffness;
}
void SelfContact::set_budget(int nodes) noexcept {
    const int first_level = impl_->traversal.tree.level_start(1);
    impl_->options.budget = std::clamp(nodes, first_level, impl_->largest_budget);
    impl_->traversal.budget = impl_->options.budget;
}
void SelfContact::forget() noexcept { impl_->traversal.forget(); }

}  // namespace pliant
