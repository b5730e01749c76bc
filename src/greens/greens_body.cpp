#include "pliant/greens/greens_body.h"

#include "body/surface_display.h"
#include "core/jacobi_eigen.h"
#include "core/numbers.h"
#include "geometry/triangle.h"
#include "greens/greens_sliders.h"
#include "greens/greens_state.h"
#include "greens/hand_pulls.h"
#include "greens/node_loads.h"
#include "greens/stiffness_workshop.h"

#include <Eigen/LU>
#include <algorithm>
#include <cassert>
#include <cmath>
#include <optional>
#include <utility>

namespace pliant {

using Eigen::Matrix3d;
using Eigen::Vector3d;

namespace {

constexpr double kMaskTime = 0.25;  // from a new mask radius to its use [s]
constexpr int kSweepTicks = 16;     // in which all strain gauges are read once
constexpr int kLoadNumbers = 4;     // of a saved state: node and traction

SurfaceStiffnessOptions mask_options(double radius, int level) {
    SurfaceStiffnessOptions options;
    options.mask.radius = radius;
    if (level >= 0) {
        options.mask.kind = MaskKind::Level;
        options.mask.level = level;
    }
    return options;
}

std::shared_ptr<const GreensModel> checked_model(std::shared_ptr<const GreensModel> model,
                                                 const GreensBodyOptions& options) {
    if (!model) throw InputError("", "a body with Green's functions needs a model");
    if (!is_finite(options.pose) || !(options.pose.rotation.norm() > 0))
        throw InputError("", "the pose of the body is not finite, or its rotation is zero");
    if (!(options.rate > 0) || !std::isfinite(options.rate))
        throw InputError("", "rate", std::to_string(options.rate), "more than 0 Hz");
    if (options.strain_gauges < 0 || options.strain_gauges > 4096)
        throw InputError("", "strain_gauges", std::to_string(options.strain_gauges), "0 to 4096");
    if (options.max_loads < 1)
        throw InputError("", "max_loads", std::to_string(options.max_loads), "at least 1");
    if (options.constraint_level > model->surface.num_levels())
        throw InputError("", "constraint_level", std::to_string(options.constraint_level),
                         "at most " + std::to_string(model->surface.num_levels()) +
                             ", the finest level of the surface");
    for (const int node : options.driven) {
        if (node < 0 || node >= model->num_nodes() ||
            model->reference.kinds[at(node)] != NodeKind::Fixed)
            throw InputError("", "node " + std::to_string(node) +
                                     " cannot be driven: it is not fixed in the reference problem");
        if (!model->reference.functions->has_column(node))
            throw InputError("", "node " + std::to_string(node) +
                                     " cannot be driven: it has no Green's function; build the "
                                     "model with columns of its fixed nodes");
    }
    return model;
}

}  // namespace

struct GreensBody::Impl {
    Impl(const std::shared_ptr<const GreensModel>& m, const GreensBodyOptions& o)
        : model(m),
          options(o),
          level(level_in_use(
              *m, o.constraint_level < 0 ? m->surface.num_levels() : o.constraint_level)),
          stiffness(
              std::make_shared<const SurfaceStiffness>(m, mask_options(o.mask_radius, level))),
          first_stiffness(stiffness),
          workshop(m, {}),
          display(std::make_shared<GreensDisplay>(m, o.max_loads, o.driven, o.shown)),
          sliders(greens_sliders(*m, *display, stiffness->radius(), level)),
          contact(m->reference.functions->num_column_ids(), o.max_loads),
          now(m->reference.functions->num_column_ids(), o.max_loads),
          before(m->reference.functions->num_column_ids(), o.max_loads),
          hands(m->reference.functions->num_column_ids(), o.max_loads) {
        options.pose.rotation.normalize();
        radius = stiffness->radius();
        wanted_level = level;
        driven_place.assign(at(m->num_nodes()), -1);
        for (std::size_t k = 0; k < o.driven.size(); ++k)
            driven_place[at(o.driven[k])] = static_cast<int>(k);
        next.pose = options.pose;
        next.driven.assign(o.driven.size(), Vector3d::Zero());
        placed = placed_before = next;
        watched_driven = next.driven;
        if (o.strain_gauges > 0)
            monitor.emplace(m, StrainMonitorOptions{.num_gauges = o.strain_gauges,
                                                    .covers_supports = !o.driven.empty(),
                                                    .triangles = {},
                                                    .limits = o.strain_limits});
    }

    /// Where somebody else has its supports.
    struct Placed {
        Pose pose;
        std::vector<Vector3d> driven;  // displacements [m]
    };

    [[nodiscard]] double modulus() const noexcept { return scale * model->reference.modulus; }
    [[nodiscard]] bool has_weight() const noexcept {
        return model->reference.functions->num_body_columns() == 3;
    }

    /// Of the surface shown in that of the model.
    [[nodiscard]] TrianglePoint place(const SurfacePoint& point, int triangle) const noexcept {
        if (point.triangle >= 0) return on_model(point.triangle, point.barycentric);
        const Triangle& corners = shown_mesh().triangles[at(triangle)];
        Vector3d weights = Vector3d::Zero();
        for (int k = 0; k < 3; ++k)
            if (corners[at(k)] == point.vertex) weights[k] = 1;
        return on_model(triangle, weights);
    }
    [[nodiscard]] TrianglePoint on_model(int triangle, const Vector3d& barycentric) const noexcept {
        if (!options.shown) return {triangle, barycentric};
        return point_on_coarser({triangle, barycentric}, options.shown->rounds);
    }
    [[nodiscard]] const SurfaceMesh& shown_mesh() const noexcept {
        return options.shown ? options.shown->mesh : model->surface.mesh;
    }

    /// Of a node in the axes of the body, docs/greens.md eq. (F1).
    [[nodiscard]] Vector3d displacement(int node, const NodeLoads& loads,
                                        const Placed& where) const noexcept {
        const ReferenceProblem& reference = model->reference;
        if (const int place = driven_place[at(node)]; place >= 0) return where.driven[at(place)];
        if (reference.kinds[at(node)] == NodeKind::Fixed) return Vector3d::Zero();
        Eigen::Matrix<float, 3, 3, Eigen::RowMajor> block;
        Vector3d u = Vector3d::Zero();
        for (int i = 0; i < loads.size(); ++i) {
            reference.functions->element(node, loads.node(i), block.data());
            u += block.cast<double>() * loads.value(i);
        }
        for (std::size_t k = 0; k < where.driven.size(); ++k) {
            reference.functions->element(node, options.driven[k], block.data());
            u += block.cast<double>() * where.driven[k] / reference.length;
        }
        if (has_weight())
            for (int k = 0; k < 3; ++k) {
                Eigen::Vector3f column;
                reference.functions->body_element(node, k, column.data());
                u += weight[at(k)] * column.cast<double>();
            }
        return reference.length * u;
    }
    [[nodiscard]] Vector3d vertex(int v, const NodeLoads& loads,
                                  const Placed& where) const noexcept {
        Vector3d x = model->surface.mesh.vertices[at(v)];
        const int end = model->vertex_offsets[at(v) + 1];
        for (int k = model->vertex_offsets[at(v)]; k < end; ++k)
            x += static_cast<double>(model->vertex_weights[at(k)]) *
                 displacement(model->vertex_nodes[at(k)], loads, where);
        return x;
    }
    /// Of a place of the model, in the axes of the body.
    [[nodiscard]] Vector3d position_of(const TrianglePoint& place, const NodeLoads& loads,
                                       const Placed& where) const noexcept {
        const Triangle& corners = model->surface.mesh.triangles[at(place.triangle)];
        Vector3d x = Vector3d::Zero();
        for (int k = 0; k < 3; ++k)
            x += place.barycentric[k] * vertex(corners[at(k)], loads, where);
        return x;
    }
    [[nodiscard]] Vector3d position(const SurfacePoint& point, int triangle, const NodeLoads& loads,
                                    const Placed& where) const noexcept {
        if (!options.shown && point.triangle < 0)
            return where.pose.to_world(vertex(point.vertex, loads, where));
        if (triangle < 0) return where.pose.position;
        const TrianglePoint on = place(point, triangle);
        Vector3d x = position_of(on, loads, where);
        if (options.shown) {
            // detail moves along with what carries it
            const SurfaceMesh& fine = options.shown->mesh;
            Vector3d rest =
                point.triangle < 0 ? fine.vertices[at(point.vertex)] : Vector3d(Vector3d::Zero());
            for (int k = 0; k < 3; ++k) {
                if (point.triangle >= 0)
                    rest += point.barycentric[k] * fine.corner(point.triangle, k);
                rest -= on.barycentric[k] * model->surface.mesh.corner(on.triangle, k);
            }
            x += rest;
        }
        return where.pose.to_world(x);
    }

    void weigh() noexcept;
    void watch_strain() noexcept;
    void take_mask() noexcept {
        workshop.take(stiffness);
        level = wanted_level;
    }
    /// Now, if one is ordered.
    void take_ordered() noexcept {
        if (ticks_to_mask >= 0) take_mask();
        ticks_to_mask = -1;
    }

    std::shared_ptr<const GreensModel> model;
    GreensBodyOptions options;
    int level, wanted_level = -1;  // of masks and conditions, −1: nodes; in use, and ordered
    double radius = 0;             // of masks that are not of a level [m]
    std::shared_ptr<const SurfaceStiffness> stiffness, first_stiffness;
    StiffnessWorkshop workshop;
    std::shared_ptr<const GreensDisplay> display;
    GreensSliders sliders;
    double scale = 1;
    double tolerance = 0;    // of pictures; 0: that of the build
    int coarser = 0;         // levels below the finest that are shown
    int ticks_to_mask = -1;  // −1: no other mask is ordered
    bool has_stepped = false;

    NodeLoads contact, now, before;  // of the next step, of the last and of the one before
    HandPulls hands;
    Placed next, placed, placed_before;
    std::vector<int> driven_place;  // of each node, −1: not driven
    double contact_energy = 0, energy = 0;
    Vector3d gravity = Vector3d::Zero();  // in the world
    std::array<double, 3> weight = {};    // parameters of body columns
    double last_step = 0;                 // [s]
    bool has_ignored = false, is_full = false;
    StepStatus contact_status = StepStatus::Ok;  // of the next step

    std::optional<StrainMonitor> monitor;
    std::vector<Vector3d> watched_driven;  // displacements of driven nodes over the length
    int next_gauge = 0;
    StrainReading sweep, strain;  // so far in this sweep, and of the last whole one
};

/// A share of the gauges in every step.
void GreensBody::Impl::watch_strain() noexcept {
    if (!monitor) return;
    const int count = (monitor->num_gauges() + kSweepTicks - 1) / kSweepTicks;
    for (std::size_t k = 0; k < placed.driven.size(); ++k)
        watched_driven[k] = placed.driven[k] / model->reference.length;
    sweep.merge(monitor->read(
        next_gauge, count,
        {.nodes = now.nodes(),
         .tractions = now.values(),
         .body = has_weight() ? std::span<const double>(weight) : std::span<const double>(),
         .supports = options.driven,
         .displacements = watched_driven}));
    next_gauge += count;
    if (next_gauge < monitor->num_gauges()) return;
    next_gauge = 0;
    strain = std::exchange(sweep, {});
}

void GreensBody::Impl::weigh() noexcept {
    if (!has_weight()) return;
    weight = model->gravity_parameters(placed.pose.rotation.conjugate() * gravity);
    for (double& one : weight) one /= scale;
}

GreensBody::GreensBody(std::shared_ptr<const GreensModel> model, const GreensBodyOptions& options)
    : Body(options.shown ? options.shown->mesh : checked_model(model, options)->surface.mesh),
      impl_(std::make_unique<Impl>(checked_model(model, options), options)) {}
GreensBody::~GreensBody() = default;

const GreensModel& GreensBody::model() const noexcept { return *impl_->model; }
std::shared_ptr<const GreensModel> GreensBody::shared_model() const noexcept {
    return impl_->model;
}
const Pose& GreensBody::pose() const noexcept { return impl_->placed.pose; }
const SurfaceStiffness& GreensBody::stiffness() const noexcept { return *impl_->stiffness; }
const SurfaceStiffness& GreensBody::first_stiffness() const noexcept {
    return *impl_->first_stiffness;
}
int GreensBody::constraint_level() const noexcept { return impl_->level; }
TrianglePoint GreensBody::place_on_model(const SurfacePoint& point) const noexcept {
    if (!is_valid(point) || triangle_of(point) < 0) return {};
    return impl_->place(point, triangle_of(point));
}
Vector3d GreensBody::model_position(int triangle, const Vector3d& barycentric) const noexcept {
    return impl_->placed.pose.to_world(
        impl_->position_of({triangle, barycentric}, impl_->now, impl_->placed));
}
double GreensBody::modulus_scale() const noexcept { return impl_->scale; }
double GreensBody::shown_tolerance() const noexcept { return impl_->tolerance; }
std::shared_ptr<const BodyDisplay> GreensBody::display() const { return impl_->display; }
const StrainReading& GreensBody::strain() const noexcept { return impl_->strain; }
int GreensBody::num_loads() const noexcept { return impl_->now.size(); }
std::span<const int> GreensBody::loaded_columns() const noexcept { return impl_->now.nodes(); }
std::span<const Vector3d> GreensBody::load_tractions() const noexcept {
    return impl_->now.values();
}
std::span<const int> GreensBody::pulled_nodes() const noexcept {
    return impl_->hands.point_loads().nodes();
}
std::span<const Vector3d> GreensBody::pull_tractions() const noexcept {
    return impl_->hands.point_loads().tractions();
}
std::span<const double> GreensBody::body_loads() const noexcept {
    return impl_->has_weight() ? std::span<const double>(impl_->weight) : std::span<const double>();
}

void GreensBody::note_contact(StepStatus status) noexcept {
    if (status != StepStatus::Ok) impl_->contact_status = status;
}
int GreensBody::max_loads() const noexcept { return impl_->options.max_loads; }

bool GreensBody::is_loaded_at_rest() const noexcept {
    return impl_->hands.loads().size() > 0 || impl_->weight != std::array<double, 3>{};
}
Vector3d GreensBody::resting_displacement(int triangle,
                                          const Vector3d& barycentric) const noexcept {
    const SurfaceMesh& mesh = impl_->model->surface.mesh;
    Vector3d u = Vector3d::Zero();
    for (int k = 0; k < 3; ++k) {
        const int v = mesh.triangles[at(triangle)][at(k)];
        u += barycentric[k] *
             (impl_->vertex(v, impl_->hands.loads(), impl_->placed) - mesh.vertices[at(v)]);
    }
    return u;
}

void GreensBody::place(const Pose& pose, std::span<const Vector3d> driven) noexcept {
    Impl& m = *impl_;
    if (!is_finite(pose) || !(pose.rotation.norm() > 0) || driven.size() != m.next.driven.size() ||
        !std::ranges::all_of(driven, [](const Vector3d& u) { return u.allFinite(); })) {
        m.has_ignored = true;
        return;
    }
    m.next.pose = pose;
    m.next.pose.rotation.normalize();
    std::ranges::copy(driven, m.next.driven.begin());
}
std::span<const int> GreensBody::driven_nodes() const noexcept { return impl_->options.driven; }
std::span<const Vector3d> GreensBody::driven_displacements() const noexcept {
    return impl_->placed.driven;
}

void GreensBody::add_tractions(std::span<const int> nodes, std::span<const Vector3d> tractions,
                               double energy) noexcept {
    assert(nodes.size() == tractions.size());
    const GreensFunctions& functions = *impl_->model->reference.functions;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (!functions.has_column(nodes[i]) || !tractions[i].allFinite())
            impl_->has_ignored = true;
        else if (!impl_->contact.add(nodes[i], tractions[i] / impl_->modulus()))
            impl_->is_full = true;
    }
    if (std::isfinite(energy)) impl_->contact_energy += energy;
}

void GreensBody::add_force(const SurfacePoint& point, const Vector3d& force) noexcept {
    if (!is_valid(point) || !force.allFinite() || triangle_of(point) < 0) {
        impl_->has_ignored = true;
        return;
    }
    impl_->hands.add(impl_->place(point, triangle_of(point)),
                     impl_->placed.pose.rotation.conjugate() * force);
}

void GreensBody::set_gravity(const Vector3d& acceleration) noexcept {
    if (!acceleration.allFinite()) return;
    impl_->gravity = acceleration;
    impl_->weigh();
}

StepStatus GreensBody::do_step(double dt) noexcept {
    Impl& m = *impl_;
    if (!(dt > 0) || !std::isfinite(dt)) {
        m.contact.clear();
        m.contact_energy = 0;
        return StepStatus::InputIgnored;
    }
    if (m.ticks_to_mask >= 0 && m.ticks_to_mask-- == 0) m.take_mask();
    m.has_stepped = true;
    m.last_step = dt;
    m.placed_before = m.placed;
    m.placed = m.next;
    m.weigh();

    // what acts now
    m.hands.follow(dt);
    m.is_full |= !m.hands.spread(*m.stiffness, m.modulus());
    m.before.copy_from(m.now);
    m.now.copy_from(m.contact);
    const NodeLoads& hands = m.hands.loads();
    for (int i = 0; i < hands.size(); ++i) m.is_full |= !m.now.add(hands.node(i), hands.value(i));
    m.contact.clear();
    m.watch_strain();

    m.energy = m.contact_energy + m.hands.energy(*m.stiffness, m.scale);
    m.contact_energy = 0;

    const StepStatus status = m.is_full       ? StepStatus::CapacityExceeded
                              : m.has_ignored ? StepStatus::InputIgnored
                                              : m.contact_status;
    m.is_full = m.has_ignored = false;
    m.contact_status = StepStatus::Ok;
    return status;
}

void GreensBody::do_reset() noexcept {
    Impl& m = *impl_;
    m.take_ordered();
    m.has_stepped = false;
    m.hands.clear();
    m.contact.clear();
    m.now.clear();
    m.before.clear();
    m.contact_energy = m.energy = m.last_step = 0;
    m.next_gauge = 0;
    m.sweep = m.strain = {};
    m.has_ignored = m.is_full = false;
    m.placed = m.placed_before = m.next;
    m.weigh();
}

Vector3d GreensBody::position(const SurfacePoint& point, TickMoment moment) const noexcept {
    if (!is_valid(point)) return Vector3d::Zero();
    return moment == TickMoment::Start
               ? impl_->position(point, triangle_of(point), impl_->before, impl_->placed_before)
               : impl_->position(point, triangle_of(point), impl_->now, impl_->placed);
}

Vector3d GreensBody::velocity(const SurfacePoint& point) const noexcept {
    if (!is_valid(point) || !(impl_->last_step > 0)) return Vector3d::Zero();
    return (impl_->position(point, triangle_of(point), impl_->now, impl_->placed) -
            impl_->position(point, triangle_of(point), impl_->before, impl_->placed_before)) /
           impl_->last_step;
}

Vector3d GreensBody::normal(const SurfacePoint& point) const noexcept {
    if (!is_valid(point)) return Vector3d::Zero();
    const int t = triangle_of(point);
    if (t < 0) return Vector3d::Zero();
    const Triangle& corners =
        impl_->model->surface.mesh.triangles[at(impl_->place(point, t).triangle)];
    std::array<Vector3d, 3> x;
    for (std::size_t k = 0; k < 3; ++k) x[k] = impl_->vertex(corners[k], impl_->now, impl_->placed);
    if (has_no_area(x[0], x[1], x[2])) return Vector3d::Zero();
    return impl_->placed.pose.rotation * area_vector(x[0], x[1], x[2]).normalized();
}

bool GreensBody::compliance(const SurfacePoint& point, Matrix3d& C) const noexcept {
    if (!is_valid(point) || triangle_of(point) < 0) return false;
    const TrianglePoint where = impl_->place(point, triangle_of(point));
    const Matrix3d K = impl_->stiffness->stiffness_at(where.triangle, where.barycentric,
                                                      {.modulus = impl_->scale});
    const Matrix3d R = impl_->placed.pose.rotation.toRotationMatrix();
    C = R * K.inverse() * R.transpose();
    return C.allFinite();
}

/// docs/greens.md eq. (F3): by what the body really does there, which next to a support is more
/// than the stiffness between the vertices says.
double GreensBody::mobility(const SurfacePoint& point) const noexcept {
    take_first_mask();
    Matrix3d C;
    if (!compliance(point, C)) return 0;
    const TrianglePoint where = impl_->place(point, triangle_of(point));
    const Triangle& corners = impl_->model->surface.mesh.triangles[at(where.triangle)];
    Matrix3d response = Matrix3d::Zero();
    for (int k = 0; k < 3; ++k)
        for (int l = 0; l < 3; ++l)
            response += where.barycentric[k] * where.barycentric[l] / impl_->scale *
                        impl_->stiffness->compliance(corners[at(k)], corners[at(l)]);
    const auto largest = [](const Matrix3d& A) {
        return jacobi_eigen<3>(Matrix3d(0.5 * (A + A.transpose()))).values[2];
    };
    const double rate = impl_->options.rate;
    return HandPulls::share_of_step(rate) * rate * rate * std::max(largest(C), largest(response));
}

Energy GreensBody::energy() const noexcept { return {.elastic = impl_->energy}; }

std::vector<LiveParameter> GreensBody::parameters() const { return impl_->sliders.parameters; }

void GreensBody::set_parameter(int index, double value) noexcept {
    Impl& m = *impl_;
    if (index < 0 || at(index) >= m.sliders.kinds.size() || !std::isfinite(value)) return;
    const LiveParameter& slider = m.sliders.parameters[at(index)];
    const double kept = clamped(slider, value);
    switch (m.sliders.kinds[at(index)]) {
        case GreensSlider::Modulus:
            m.scale = kept;
            m.weigh();
            return;
        case GreensSlider::DisplayLevel:
            m.coarser = static_cast<int>(std::lround(slider.high - kept));
            return;
        case GreensSlider::Tolerance: m.tolerance = kept > slider.low ? kept : 0; return;
        case GreensSlider::ConstraintLevel: m.wanted_level = level_in_use(*m.model, kept); break;
        case GreensSlider::MaskRadius: m.radius = kept; break;
    }
    m.workshop.order(m.radius, m.wanted_level);
    // before the first step it is there from the start, as a replay begins with it: waited for
    // once, however often it was ordered
    m.ticks_to_mask = m.has_stepped ? static_cast<int>(std::lround(kMaskTime * m.options.rate)) : 0;
}

void GreensBody::take_first_mask() const noexcept {
    if (!impl_->has_stepped) impl_->take_ordered();
}

int GreensBody::state_size() const noexcept {
    return HandPulls::kStateSize + 2 + kLoadNumbers * impl_->options.max_loads;
}

void GreensBody::save_state(std::span<double> state) const noexcept {
    assert(state.size() == at(state_size()));
    take_first_mask();
    std::fill(state.begin(), state.end(), 0.0);
    impl_->hands.save(state.first<HandPulls::kStateSize>());
    double* out = state.data() + HandPulls::kStateSize;
    const auto put = [&](double x) { *out++ = x; };
    put(impl_->energy);
    put(impl_->now.size());
    for (int i = 0; i < impl_->now.size(); ++i) {
        put(impl_->now.node(i));
        out = std::copy_n(impl_->now.value(i).data(), 3, out);
    }
}

bool GreensBody::restore_state(std::span<const double> state) noexcept {
    Impl& m = *impl_;
    if (state.size() != at(state_size()) ||
        !std::ranges::all_of(state, [](double x) { return std::isfinite(x); }))
        return false;
    const auto pulls = state.first<HandPulls::kStateSize>();
    const std::span<const double> rest = state.subspan(pulls.size());
    const std::span<const double> loads = rest.subspan(2);
    const auto is_index = [](double x, int least, int end) {
        return x >= least && x < end && x == std::floor(x);
    };
    if (!HandPulls::is_state(pulls, m.model->surface.mesh.num_triangles())) return false;
    if (!is_index(rest[1], 0, m.options.max_loads + 1)) return false;
    const auto count = static_cast<std::size_t>(rest[1]);
    const GreensFunctions& functions = *m.model->reference.functions;
    const int num_ids = functions.num_column_ids();
    for (std::size_t i = 0; i < count; ++i)
        if (!is_index(loads[i * kLoadNumbers], 0, num_ids) ||
            !functions.has_column(static_cast<int>(loads[i * kLoadNumbers])))
            return false;

    const auto vector = [](const double* x) { return Vector3d(x[0], x[1], x[2]); };
    take_first_mask();
    m.hands.restore(pulls);
    m.energy = rest[0];
    m.now.clear();
    for (std::size_t i = 0; i < count; ++i)
        m.now.add(static_cast<int>(loads[i * kLoadNumbers]),
                  vector(loads.data() + i * kLoadNumbers + 1));
    m.before.copy_from(m.now);
    m.placed = m.placed_before = m.next;
    m.weigh();
    (void)m.hands.spread(*m.stiffness, m.modulus());
    return true;
}

void GreensBody::write_display(std::span<float> state) const noexcept {
    assert(state.size() == at(impl_->display->state_size()));
    std::fill(state.begin(), state.end(), 0.0f);
    write_pose(impl_->placed.pose, state);
    for (std::size_t k = 0; k < 3; ++k)
        state[kGreensGravity + k] = static_cast<float>(impl_->weight[k]);
    state[kGreensModulus] = static_cast<float>(impl_->scale);
    state[kGreensTolerance] = static_cast<float>(impl_->tolerance);
    state[kGreensCoarser] = static_cast<float>(impl_->coarser);
    state[kGreensCount] = static_cast<float>(impl_->now.size());
    for (int i = 0; i < impl_->now.size(); ++i) {
        float* const load = state.data() + kGreensLoads + kFloatsPerLoad * i;
        load[0] = static_cast<float>(impl_->now.node(i));
        Eigen::Map<Eigen::Vector3f>(load + 1) = impl_->now.value(i).cast<float>();
    }
    float* const driven = state.data() + kGreensLoads + kFloatsPerLoad * impl_->options.max_loads;
    for (std::size_t k = 0; k < impl_->placed.driven.size(); ++k)
        Eigen::Map<Eigen::Vector3f>(driven + 3 * k) =
            (impl_->placed.driven[k] / impl_->model->reference.length).cast<float>();
}

}  // namespace pliant
