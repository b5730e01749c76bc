#include "pliant/greens/zoned_body.h"

#include "body/surface_display.h"
#include "core/numbers.h"
#include "greens/surface_zone_body.h"
#include "pliant/greens/zones.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <utility>

namespace pliant {
namespace {

using Eigen::Vector3d;

constexpr double kSeamTime = 0.05;  // lag of what loads do to bonded seams [s]
constexpr std::array<double, 3> kWeightless = {};

/// Sliders of all zones at once, and how far the bones bend.
enum ZonedParameter { kZonedStiffness, kZonedMaskRadius, kFlexion, kNumZonedParameters };

void check_character(const CharacterModel& model, const ZonedBodyOptions& options) {
    if (model.zones.empty()) throw InputError("", "a body of zones needs a zone at least");
    if (!(model.blend >= 0) || !std::isfinite(model.blend))
        throw InputError("", "blend", std::to_string(model.blend), "not negative, in metres");
    if (!options.flexion.empty() && options.flexion.size() != model.bones.size())
        throw InputError("", "there are " + std::to_string(model.bones.size()) + " bones and " +
                                 std::to_string(options.flexion.size()) + " paths of their angles");
    for (const CharacterZone& zone : model.zones) {
        if (!zone.model == !zone.other)
            throw InputError("", "zone \"" + zone.name +
                                     "\" has no model: it needs one, or a zone of another kind");
        if (zone.other && model.seams != SeamMode::Bonded)
            throw InputError("", "zone \"" + zone.name +
                                     "\" has no Green's functions: its seams must be bonded");
        if (zone.other && zone.other->surface().triangles.empty())
            throw InputError("", "zone \"" + zone.name +
                                     "\" has no surface: make it with one, by "
                                     "ReducedZone::with_surface or FemZone::show_surface");
        if (!is_finite(zone.rest) || !(zone.rest.rotation.norm() > 0))
            throw InputError("", "zone \"" + zone.name + "\": its place is not finite");
        if (zone.bone < 0 || at(zone.bone) >= model.bones.size())
            throw InputError("", "zone \"" + zone.name + "\" is on bone " +
                                     std::to_string(zone.bone) + "; there are " +
                                     std::to_string(model.bones.size()));
    }
    if (std::ranges::all_of(model.zones, [](const CharacterZone& zone) { return !zone.model; }))
        throw InputError("", "a body of zones needs one with Green's functions at least");
}

const SurfaceMesh& surface_of_zone(const CharacterZone& zone) {
    return zone.model ? zone.model->surface.mesh : zone.other->surface();
}

SurfaceMesh surface_at_rest(const CharacterModel& model, const ZonedBodyOptions& options) {
    check_character(model, options);
    SurfaceMesh whole;
    for (const CharacterZone& zone : model.zones) {
        const int first = whole.num_vertices();
        const SurfaceMesh& mesh = surface_of_zone(zone);
        for (const Vector3d& x : mesh.vertices) whole.vertices.push_back(zone.rest.to_world(x));
        for (const Triangle& corners : mesh.triangles)
            whole.triangles.push_back({first + corners[0], first + corners[1], first + corners[2]});
    }
    return whole;
}

}  // namespace

ZonedDisplay::ZonedDisplay(std::vector<std::shared_ptr<const BodyDisplay>> zones,
                           std::vector<int> first_vertex, const SurfaceMesh& rest)
    : zones_(std::move(zones)), first_vertex_(std::move(first_vertex)), triangles_(rest.triangles) {
    int offset = kPoseFloats;
    for (const auto& zone : zones_) {
        offsets_.push_back(offset);
        offset += zone->state_size();
    }
    offsets_.push_back(offset);
}

void ZonedDisplay::positions(std::span<const float> state, std::span<float> x) const noexcept {
    for (std::size_t z = 0; z < zones_.size(); ++z)
        zones_[z]->positions(
            state.subspan(at(offsets_[z]), at(zones_[z]->state_size())),
            x.subspan(3 * at(first_vertex_[z]), 3 * at(first_vertex_[z + 1] - first_vertex_[z])));
}

void ZonedDisplay::normals(std::span<const float> x, std::span<float> n) const noexcept {
    area_weighted_normals(triangles_, x, n);
}

struct ZonedBody::Impl {
    Impl(CharacterModel m, const ZonedBodyOptions& o)
        : model(std::move(m)), options(o), skeleton(model.bones) {
        options.pose.rotation.normalize();
        angles.assign(at(skeleton.num_bones()), 0);
        moved.assign(at(skeleton.num_bones()), Pose());
        std::vector<std::shared_ptr<const BodyDisplay>> displays;
        int vertex = 0, triangle = 0;
        for (CharacterZone& zone : model.zones) zone.rest.rotation.normalize();
        if (model.seams == SeamMode::Bonded) bond();
        for (CharacterZone& zone : model.zones) {
            first_vertex.push_back(vertex);
            first_triangle.push_back(triangle);
            vertex += surface_of_zone(zone).num_vertices();
            triangle += surface_of_zone(zone).num_triangles();
            add_zone(zone);
            displays.push_back(zones.back().body->display());
        }
        first_vertex.push_back(vertex);
        first_triangle.push_back(triangle);
        display = std::make_shared<ZonedDisplay>(std::move(displays), first_vertex,
                                                 surface_at_rest(model, options));
        sliders = std::ranges::find_if(zones, [](const ZoneBody& zone) {
                      return zone.greens != nullptr;
                  })->body->parameters();
        sliders.resize(kFlexion);  // levels differ from zone to zone
        sliders.push_back({.name = "flexion",
                           .label = "Flexion",
                           .unit = "",
                           .help = "Factor on the angles of all joints.",
                           .value = 1,
                           .low = 0,
                           .high = 1.5,
                           .is_logarithmic = false});
        place();
        for (ZoneBody& zone : zones) zone.body->reset();
    }

    struct ZoneBody {
        std::unique_ptr<Body> body;
        GreensBody* greens = nullptr;  // one of the two
        SurfaceZoneBody* other = nullptr;
        std::vector<Vector3d> rest;  // driven nodes in the axes of the body
        BoneWeights weights;
        std::vector<Vector3d> driven;  // displacements in the axes of the zone
        double first_radius = 0;       // of masks [m]
    };

    void bond() {
        if (options.max_loads > GreensZone::kMaxLoads)
            throw InputError(
                "", "max_loads", std::to_string(options.max_loads),
                "at most " + std::to_string(GreensZone::kMaxLoads) + " for bonded zones");
        std::vector<Zone> made;
        for (const CharacterZone& zone : model.zones)
            made.push_back({zone.name, zone.model, zone.other, zone.rest});
        bonded.emplace(made, find_seams(made));
        for (int z = 0; z < bonded->num_zones(); ++z) {
            if (!bonded->greens(z)) {
                for (auto* const list : {&lagged, &forces, &at_rest}) list->emplace_back();
                continue;
            }
            const GreensZone& zone = *bonded->greens(z);
            if (!zone.is_displaced())
                throw InputError("", "zone \"" + model.zones[at(z)].name +
                                         "\": seams of a character must be fixed in the reference "
                                         "problem of the zone");
            const auto size = static_cast<Eigen::Index>(3 * zone.seam_nodes().size());
            lagged.push_back(Eigen::VectorXd::Zero(size));
            forces.push_back(lagged.back());
            at_rest.push_back(lagged.back());
        }
        seam_poses.resize(model.zones.size());
        scaled.reserve(GreensZone::kMaxLoads);
        external = Eigen::VectorXd::Zero(bonded->seams().num_unknowns());
        external_vectors.resize(static_cast<std::size_t>(external.size() / 3));
    }

    /// Fixed nodes that other bones share in are driven, or bonded ones; the others are on their
    /// bone.
    void add_zone(const CharacterZone& zone) {
        if (zone.other) {
            ZoneBody made;
            auto body = std::make_unique<SurfaceZoneBody>(zone.other, options.rate);
            made.other = body.get();
            made.body = std::move(body);
            zones.push_back(std::move(made));
            return;
        }
        const ReferenceProblem& reference = zone.model->reference;
        GreensBodyOptions zone_options{.pose = options.pose * zone.rest,
                                       .rate = options.rate,
                                       .mask_radius = zone.mask_radius,
                                       .constraint_level = zone.constraint_level,
                                       .max_loads = options.max_loads};
        ZoneBody made;
        if (bonded) {
            const GreensZone& seams = *bonded->greens(static_cast<int>(zones.size()));
            zone_options.driven = seams.seam_nodes();
            made.driven.assign(seams.seam_nodes().size(), Vector3d::Zero());
            push_greens(std::move(made), zone, zone_options);
            return;
        }
        for (int node = 0; node < zone.model->num_nodes(); ++node) {
            if (reference.kinds[at(node)] != NodeKind::Fixed) continue;
            const Vector3d x = zone.rest.to_world(reference.positions[at(node)]);
            const BoneWeights weights = skeleton.weights(zone.bone, std::span(&x, 1), model.blend);
            if (weights.bones.size() == 1 && weights.bones[0] == zone.bone) continue;
            if (!reference.functions->has_column(node))
                throw InputError("", "zone \"" + zone.name + "\": a joint bends its fixed node " +
                                         std::to_string(node) +
                                         ", which has no Green's function; build the model with "
                                         "columns of its fixed nodes");
            zone_options.driven.push_back(node);
            made.rest.push_back(x);
        }
        made.weights = skeleton.weights(zone.bone, made.rest, model.blend);
        made.driven.assign(made.rest.size(), Vector3d::Zero());
        push_greens(std::move(made), zone, zone_options);
    }

    void push_greens(ZoneBody made, const CharacterZone& zone, const GreensBodyOptions& how) {
        auto body = std::make_unique<GreensBody>(zone.model, how);
        made.greens = body.get();
        made.first_radius = body->parameters()[kZonedMaskRadius].value;
        made.body = std::move(body);
        zones.push_back(std::move(made));
    }

    /// Bones and seams as they are at this time, docs/greens-zones.md eqs. (9)–(12). False: seams
    /// cannot have been `saved` so.
    bool place(std::span<const double> saved = {}) noexcept {
        pose = options.motion ? options.motion->at(time).pose : options.pose;
        for (std::size_t b = 0; b < angles.size(); ++b)
            angles[b] = options.flexion.empty()
                            ? 0
                            : flexion * options.flexion[b].at(time).pose.position.x();
        skeleton.transforms(angles, moved);
        if (bonded) return place_bonded(saved);
        for (std::size_t z = 0; z < zones.size(); ++z) {
            ZoneBody& zone = zones[z];
            const Pose in_body = moved[at(model.zones[z].bone)] * model.zones[z].rest;
            for (std::size_t k = 0; k < zone.driven.size(); ++k)
                zone.driven[k] = in_body.to_body(blended(zone.weights, static_cast<int>(k), moved,
                                                         zone.rest[k])) -
                                 model.zones[z].rest.to_body(zone.rest[k]);
            zone.greens->place(pose * in_body, zone.driven);
        }
        return true;
    }

    /// Seams in balance in the poses of now and under loads as far as these count yet; or as they
    /// were `saved`.
    [[nodiscard]] bool place_bonded(std::span<const double> saved) noexcept {
        for (std::size_t z = 0; z < zones.size(); ++z)
            seam_poses[z] = moved[at(model.zones[z].bone)] * model.zones[z].rest;
        const SeamSystem::Status status =
            saved.empty() ? balance() : bonded->seams().restore_state(seam_poses, saved);
        // zones that are not linear go on in the next step; otherwise seams stay where they are
        if (status == SeamSystem::Status::Solved || status == SeamSystem::Status::NotConverged)
            for (std::size_t z = 0; z < zones.size(); ++z)
                for (std::size_t k = 0; k < zones[z].driven.size(); ++k)
                    zones[z].driven[k] = bonded->seams()
                                             .displacements(static_cast<int>(z))
                                             .segment<3>(3 * static_cast<Eigen::Index>(k));
        for (std::size_t z = 0; z < zones.size(); ++z)
            if (zones[z].greens)
                zones[z].greens->place(pose * seam_poses[z], zones[z].driven);
            else
                zones[z].other->place(pose * seam_poses[z],
                                      bonded->seams().displacements(static_cast<int>(z)));
        return status != SeamSystem::Status::BadInput;
    }

    [[nodiscard]] SeamSystem::Status balance() noexcept {
        const SeamSystem::Status placed = bonded->set_poses(seam_poses);
        // what zones ask of their seams, eq. (16)
        external.setZero();
        for (int z = 0; z < bonded->num_zones(); ++z)
            if (zones[at(z)].greens) bonded->seams().gather(z, lagged[at(z)], external);
        for (std::size_t i = 0; i < external_vectors.size(); ++i)
            external_vectors[i] = -external.segment<3>(3 * static_cast<Eigen::Index>(i));
        return placed == SeamSystem::Status::Solved ? bonded->solve(external_vectors) : placed;
    }

    /// Loads of the last step reach the seams.
    void follow_loads(double dt) noexcept {
        if (!bonded) return;
        const double part = -std::expm1(-dt / kSeamTime);
        for (int z = 0; z < bonded->num_zones(); ++z) {
            if (zones[at(z)].other) {
                zones[at(z)].other->follow_loads(dt);
                continue;
            }
            GreensZone& zone = *bonded->greens(z);
            const GreensBody& body = *zones[at(z)].greens;
            // tractions over the modulus as it is move it as those over that of the model
            scaled.clear();
            for (const Vector3d& p : body.load_tractions())
                scaled.push_back(zone.reference().modulus * p);
            // weight first, while there are no loads: each call sums all there are
            if (!body.body_loads().empty()) (void)zone.set_body_loads(body.body_loads());
            (void)zone.set_loads(body.loaded_columns(), scaled);
            zone.seam_forces(at_rest[at(z)], forces[at(z)]);
            lagged[at(z)] += part * (forces[at(z)] - lagged[at(z)]);
            // they come from here alone
            (void)zone.set_loads({}, {});
            (void)zone.set_body_loads(kWeightless);
        }
    }

    [[nodiscard]] Body& body(int z) const noexcept { return *zones[at(z)].body; }
    /// Numbers of their states.
    [[nodiscard]] std::size_t num_lagged() const noexcept {
        std::size_t size = 0;
        for (const Eigen::VectorXd& held : lagged) size += static_cast<std::size_t>(held.size());
        return size;
    }
    [[nodiscard]] std::size_t num_seam_values() const noexcept {
        return bonded ? at(bonded->seams().state_size()) : 0;
    }

    /// The zone of a surface point, and the point on it; −1: none.
    [[nodiscard]] int find(SurfacePoint& point) const noexcept {
        const bool is_vertex = point.triangle < 0;
        const std::vector<int>& first = is_vertex ? first_vertex : first_triangle;
        int& index = is_vertex ? point.vertex : point.triangle;
        if (index < 0 || index >= first.back()) return -1;
        const auto after = std::upper_bound(first.begin(), first.end(), index);
        const int z = static_cast<int>(after - first.begin()) - 1;
        index -= first[at(z)];
        return z;
    }

    CharacterModel model;
    ZonedBodyOptions options;
    Skeleton skeleton;
    std::vector<ZoneBody> zones;
    std::vector<int> first_vertex, first_triangle;  // of zones, and the end
    std::shared_ptr<const ZonedDisplay> display;
    std::vector<LiveParameter> sliders;
    double flexion = 1, time = 0;
    Pose pose;
    std::vector<double> angles;
    std::vector<Pose> moved;
    // bonded zones: forces that hold their seams at rest, as far as they count yet, and as they are
    std::optional<ZonedModel> bonded;
    std::vector<Eigen::VectorXd> lagged, forces, at_rest;
    std::vector<Pose> seam_poses;
    std::vector<Vector3d> scaled, external_vectors;
    Eigen::VectorXd external;
    std::vector<double> kept;  // the state while another one is tried
    bool has_ignored = false;
};

ZonedBody::ZonedBody(CharacterModel model, const ZonedBodyOptions& options)
    : Body(surface_at_rest(model, options)),
      impl_(std::make_unique<Impl>(std::move(model), options)) {
    impl_->kept.resize(at(state_size()));
}
ZonedBody::~ZonedBody() = default;

const CharacterModel& ZonedBody::model() const noexcept { return impl_->model; }
int ZonedBody::num_zones() const noexcept { return static_cast<int>(impl_->zones.size()); }
bool ZonedBody::has_greens(int z) const noexcept { return impl_->zones[at(z)].greens != nullptr; }
GreensBody& ZonedBody::zone(int z) noexcept {
    assert(has_greens(z));
    return *impl_->zones[at(z)].greens;
}
const GreensBody& ZonedBody::zone(int z) const noexcept {
    assert(has_greens(z));
    return *impl_->zones[at(z)].greens;
}
int ZonedBody::first_vertex(int z) const noexcept { return impl_->first_vertex[at(z)]; }
int ZonedBody::first_triangle(int z) const noexcept { return impl_->first_triangle[at(z)]; }
int ZonedBody::display_offset(int z) const noexcept { return impl_->display->state_offset(z); }
std::span<const Pose> ZonedBody::bones() const noexcept { return impl_->moved; }
const Pose& ZonedBody::pose() const noexcept { return impl_->pose; }
double ZonedBody::time() const noexcept { return impl_->time; }
std::shared_ptr<const BodyDisplay> ZonedBody::display() const { return impl_->display; }

void ZonedBody::add_force(const SurfacePoint& point, const Vector3d& force) noexcept {
    SurfacePoint on_zone = point;
    const int z = is_valid(point) ? impl_->find(on_zone) : -1;
    if (z < 0)
        impl_->has_ignored = true;
    else
        impl_->body(z).add_force(on_zone, force);
}

void ZonedBody::set_gravity(const Vector3d& acceleration) noexcept {
    for (Impl::ZoneBody& zone : impl_->zones) zone.body->set_gravity(acceleration);
}

StepStatus ZonedBody::do_step(double dt) noexcept {
    Impl& m = *impl_;
    const bool is_good = dt > 0 && std::isfinite(dt);
    if (is_good) {
        m.time += dt;
        m.follow_loads(dt);
        m.place();
    }
    StepStatus status = m.has_ignored ? StepStatus::InputIgnored : StepStatus::Ok;
    for (Impl::ZoneBody& zone : m.zones) {
        const StepStatus one = zone.body->step(dt);
        if (one == StepStatus::CapacityExceeded || status == StepStatus::Ok) status = one;
    }
    m.has_ignored = false;
    return status;
}

void ZonedBody::do_reset() noexcept {
    impl_->time = 0;
    impl_->has_ignored = false;
    for (Eigen::VectorXd& held : impl_->lagged) held.setZero();
    if (impl_->bonded) impl_->bonded->seams().reset();
    // what other kinds carry counts when seams are solved
    for (Impl::ZoneBody& zone : impl_->zones)
        if (zone.other) zone.body->reset();
    impl_->place();
    for (Impl::ZoneBody& zone : impl_->zones) zone.body->reset();
}

Vector3d ZonedBody::position(const SurfacePoint& point, TickMoment moment) const noexcept {
    SurfacePoint on_zone = point;
    const int z = is_valid(point) ? impl_->find(on_zone) : -1;
    return z < 0 ? Vector3d(Vector3d::Zero()) : impl_->body(z).position(on_zone, moment);
}

Vector3d ZonedBody::velocity(const SurfacePoint& point) const noexcept {
    SurfacePoint on_zone = point;
    const int z = is_valid(point) ? impl_->find(on_zone) : -1;
    return z < 0 ? Vector3d(Vector3d::Zero()) : impl_->body(z).velocity(on_zone);
}

Vector3d ZonedBody::normal(const SurfacePoint& point) const noexcept {
    SurfacePoint on_zone = point;
    const int z = is_valid(point) ? impl_->find(on_zone) : -1;
    return z < 0 ? Vector3d(Vector3d::Zero()) : impl_->body(z).normal(on_zone);
}

double ZonedBody::mobility(const SurfacePoint& point) const noexcept {
    SurfacePoint on_zone = point;
    const int z = is_valid(point) ? impl_->find(on_zone) : -1;
    return z < 0 ? 0 : impl_->body(z).mobility(on_zone);
}

bool ZonedBody::compliance(const SurfacePoint& point, Eigen::Matrix3d& C) const noexcept {
    SurfacePoint on_zone = point;
    const int z = is_valid(point) ? impl_->find(on_zone) : -1;
    return z >= 0 && impl_->body(z).compliance(on_zone, C);
}

Energy ZonedBody::energy() const noexcept {
    Energy sum;
    for (const Impl::ZoneBody& zone : impl_->zones) sum.elastic += zone.body->energy().elastic;
    return sum;
}

std::vector<LiveParameter> ZonedBody::parameters() const { return impl_->sliders; }

void ZonedBody::set_parameter(int index, double value) noexcept {
    if (index < 0 || index >= kNumZonedParameters || !std::isfinite(value)) return;
    if (index == kFlexion) {
        impl_->flexion = clamped(impl_->sliders[kFlexion], value);
        return;
    }
    const bool is_first = value == impl_->sliders[at(index)].value;
    for (Impl::ZoneBody& zone : impl_->zones) {
        // masks begin as large as each zone asks for
        const bool is_own = is_first && index == kZonedMaskRadius;
        zone.body->set_parameter(index, is_own ? zone.first_radius : value);
        if (zone.other && index == kZonedStiffness)
            zone.other->set_stiffness(clamped(impl_->sliders[kZonedStiffness], value));
    }
}

int ZonedBody::state_size() const noexcept {
    std::size_t size = 1 + impl_->num_lagged() + impl_->num_seam_values();
    for (const Impl::ZoneBody& zone : impl_->zones) size += at(zone.body->state_size());
    return static_cast<int>(size);
}

void ZonedBody::save_state(std::span<double> state) const noexcept {
    assert(state.size() == at(state_size()));
    state[0] = impl_->time;
    std::size_t first = 1;
    for (const Impl::ZoneBody& zone : impl_->zones) {
        const std::size_t size = at(zone.body->state_size());
        zone.body->save_state(state.subspan(first, size));
        first += size;
    }
    for (const Eigen::VectorXd& held : impl_->lagged) {
        std::ranges::copy(held, state.begin() + static_cast<std::ptrdiff_t>(first));
        first += static_cast<std::size_t>(held.size());
    }
    if (impl_->bonded) impl_->bonded->seams().save_state(state.subspan(first));
}

bool ZonedBody::restore_state(std::span<const double> state) noexcept {
    Impl& m = *impl_;
    if (state.size() != at(state_size()) || !std::isfinite(state[0]) || state[0] < 0) return false;
    const std::size_t num_last = m.num_lagged() + m.num_seam_values();
    if (!std::ranges::all_of(state.last(num_last), [](double x) { return std::isfinite(x); }))
        return false;
    save_state(m.kept);
    const auto take = [&](std::span<const double> from) {
        m.time = from[0];
        std::size_t next = from.size() - num_last;
        for (Eigen::VectorXd& held : m.lagged)
            for (double& one : held) one = from[next++];
        // what other kinds carry counts when seams are solved
        const auto take_zones = [&](bool is_other) {
            std::size_t first = 1;
            return std::ranges::all_of(m.zones, [&](Impl::ZoneBody& zone) {
                const std::size_t size = at(zone.body->state_size());
                const auto own = from.subspan(std::exchange(first, first + size), size);
                return !zone.other == is_other || zone.body->restore_state(own);
            });
        };
        return take_zones(true) && m.place(from.last(m.num_seam_values())) && take_zones(false);
    };
    if (take(state)) return true;
    (void)take(m.kept);
    return false;
}

void ZonedBody::write_display(std::span<float> state) const noexcept {
    assert(state.size() == at(impl_->display->state_size()));
    write_pose(impl_->pose, state);
    for (int z = 0; z < num_zones(); ++z)
        impl_->body(z).write_display(
            state.subspan(at(display_offset(z)), at(display_offset(z + 1) - display_offset(z))));
}

}  // namespace pliant
