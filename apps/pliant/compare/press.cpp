#include "press.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "../output.h"
#include "pliant/core/error.h"

namespace pliant::compare {
namespace {

using Eigen::Vector3d;

constexpr int kMaxTicks = 20000;           // of one part of the script
constexpr std::size_t kLeastVertices = 6;  // under the pad
constexpr int kWaySamples = 40;            // at which the stroke is looked at beforehand
constexpr int kProbes = 12;                // forces tried to find how stiff a body is
constexpr double kProbeFactor = 4;
constexpr double kProbeDepth = 0.02;   // of the depth: enough to know the stiffness
constexpr double kCorrectionTime = 6;  // of the servo, over 1/ω

std::vector<double> vertex_areas(const SurfaceMesh& mesh) {
    std::vector<double> areas(mesh.vertices.size(), 0);
    for (int t = 0; t < mesh.num_triangles(); ++t) {
        const double area = 0.5 * (mesh.corner(t, 1) - mesh.corner(t, 0))
                                      .cross(mesh.corner(t, 2) - mesh.corner(t, 0))
                                      .norm();
        for (const int v : mesh.triangles[static_cast<std::size_t>(t)])
            areas[static_cast<std::size_t>(v)] += area / 3;
    }
    return areas;
}

/// Of the free vertices within 2 % of the top, the one farthest from what is held.
int pressed_vertex(const Object& object) {
    Vector3d support = Vector3d::Zero();
    for (const int v : object.fixed) support += object.mesh.vertices[static_cast<std::size_t>(v)];
    support /= static_cast<double>(object.fixed.size());
    double top = -std::numeric_limits<double>::infinity();
    const std::vector<Vector3d>& x = object.surface.vertices;
    for (std::size_t v = 0; v < x.size(); ++v)
        if (object.is_held[v] == 0) top = std::max(top, x[v].z());
    int best = -1;
    double farthest = -1;
    for (std::size_t v = 0; v < x.size(); ++v) {
        const double distance = (x[v] - support).norm();
        if (object.is_held[v] != 0 || x[v].z() < top - 0.02 * object.size || distance <= farthest)
            continue;
        best = static_cast<int>(v);
        farthest = distance;
    }
    return best;
}

double checked_depth(double depth, const Object& object) {
    if (depth == 0) return 0.03 * object.size;
    if (!(depth > 0 && depth <= object.size / 3))
        throw InputError("", "--depth", cli::format("%g", depth),
                         cli::format("metres, more than 0 and at most a third of the size: %.3g",
                                     object.size / 3));
    return depth;
}

/// From 0 to 1 with no jump of velocity.
double eased(double t) { return t * t * (3 - 2 * t); }

/// One body under the pad.
class Presser {
public:
    Presser(Body& body, const Object& object) : body_(body), object_(object) {}

    /// A tick with this force [N] downwards, spread by the pad.
    void step(const Pad& pad, double force) {
        forces_.clear();
        for (const double weight : pad.weights) forces_.emplace_back(0, 0, -weight * force);
        add_forces(body_, pad.vertices, forces_);
        body_.step(object_.tick());
    }
    /// Eq. (2): how far the surface under the pad is below its rest [m].
    [[nodiscard]] double depth(const Pad& pad) const {
        double sum = 0;
        for (std::size_t i = 0; i < pad.vertices.size(); ++i)
            sum += pad.weights[i] *
                   (object_.surface.vertices[static_cast<std::size_t>(pad.vertices[i])].z() -
                    body_.position(SurfacePoint::at_vertex(pad.vertices[i])).z());
        return sum;
    }

private:
    Body& body_;
    const Object& object_;
    std::vector<Vector3d> forces_;
};

/// Displacement per force of the body at rest [m/N]; 0: it gives nowhere.
double probed_compliance(Body& body, const Object& object, const Script& script,
                         Progress& progress) {
    Presser presser(body, object);
    const Pad pad = script.pad_at(0);
    double force = 1e-3 * object.material.youngs_modulus() * script.radius() * script.depth();
    double compliance = 0;
    for (int probe = 0; probe < kProbes; ++probe, force *= kProbeFactor) {
        for (int tick = 0; tick < script.settle(); ++tick) {
            presser.step(pad, force);
            if (tick % 64 == 0) progress.advance(0);
        }
        const double depth = presser.depth(pad);
        compliance = depth / force;
        if (depth > kProbeDepth * script.depth()) break;
    }
    body.reset();
    return std::isfinite(compliance) && compliance > 0 ? compliance : 0;
}

}  // namespace

Script::Script(const Object& object, double depth)
    : object_(object),
      query_(object.surface),
      areas_(vertex_areas(object.surface)),
      depth_(checked_depth(depth, object)),
      radius_(0.15 * object.size),
      length_(0.2 * object.size) {
    const std::vector<Vector3d>& x = object.surface.vertices;
    place_ = x[static_cast<std::size_t>(pressed_vertex(object))];

    // a coarse surface has a larger pad
    std::vector<double> distances;
    for (const Vector3d& y : x) distances.push_back((y - place_).norm());
    std::ranges::sort(distances);
    radius_ = std::max(radius_, 1.1 * distances[std::min(kLeastVertices, distances.size() - 1)]);

    // the stroke goes along the longer side of the top, towards the middle
    const Box box = bounding_box(x);
    const int axis = box.sizes().x() >= box.sizes().y() ? 0 : 1;
    direction_ = Vector3d::Unit(axis) * (box.center()[axis] >= place_[axis] ? 1 : -1);
    // … as far as there is something to stroke that is not much lower
    double way = 0;
    for (int i = 1; i <= kWaySamples; ++i) {
        Vector3d centre;
        const double next = double(i) / kWaySamples;
        if (!centre_at(next, centre) || centre.z() < place_.z() - length_ ||
            pad_around(centre).vertices.empty())
            break;
        way = next;
    }
    length_ *= way;
}

int Script::ticks(double phases) const noexcept {
    const double count = std::ceil(phases / (object_.frequency * object_.tick()));
    return static_cast<int>(std::clamp<double>(count, 1, kMaxTicks));
}

bool Script::centre_at(double way, Vector3d& centre) const {
    const Vector3d above = place_ + way * length_ * direction_ + Vector3d(0, 0, object_.size);
    const std::optional<RayHit> hit = query_.ray(above, -Vector3d::UnitZ());
    if (!hit) return false;
    centre = above - Vector3d(0, 0, hit->t);
    return true;
}

Pad Script::pad_around(const Vector3d& centre) const {
    Pad pad;
    double sum = 0;
    for (std::size_t v = 0; v < areas_.size(); ++v) {
        const double square = (object_.surface.vertices[v] - centre).squaredNorm();
        const double share = 1 - square / (radius_ * radius_);
        if (share <= 0 || object_.is_held[v] != 0) continue;
        pad.vertices.push_back(static_cast<int>(v));
        pad.weights.push_back(areas_[v] * share * share);
        sum += pad.weights.back();
    }
    for (double& weight : pad.weights) weight /= sum;
    return pad;
}

Pad Script::pad_at(double way) const {
    Vector3d centre = place_;
    if (way > 0) (void)centre_at(way, centre);
    return pad_around(centre);
}

Touch touch(Body& body, const Object& object, const Script& script, double force,
            const std::string& title, Progress& progress) {
    const int press = script.press(), hold = script.hold(), stroke = script.stroke();
    progress.stage(title + ": press and stroke", static_cast<std::size_t>(press + hold + stroke));
    Touch touch;
    const bool can_give = body.kind() != "rigid";
    const double compliance = can_give ? probed_compliance(body, object, script, progress) : 0;
    if (compliance > 0) touch.first_stiffness = 1 / compliance;

    // the force is led so that the pad is as deep as the script says, eq. (3)
    Presser presser(body, object);
    const double share = std::min(0.1, object.tick() * object.frequency / kCorrectionTime);
    double correction = 0, applied = 0;
    const auto tick = [&](const Pad& pad, double wanted) {
        applied = compliance > 0 ? std::max(0.0, (wanted + correction) / compliance)
                                 : force * wanted / script.depth();
        presser.step(pad, applied);
        const double depth = presser.depth(pad);
        correction += share * (wanted - depth);
        progress.advance();
        return depth;
    };
    const Pad first = script.pad_at(0);
    touch.press.emplace_back(0, 0);
    for (int i = 1; i <= press + hold; ++i) {
        const double wanted = script.depth() * eased(std::min(1.0, double(i) / press));
        touch.depth = tick(first, wanted);
        touch.press.emplace_back(touch.depth, applied);
    }
    touch.force = applied;
    for (int v = 0; v < object.surface.num_vertices(); ++v)
        touch.shape.push_back(body.position(SurfacePoint::at_vertex(v)));
    for (int i = 0; i <= stroke; ++i) {
        const double way = eased(double(i) / stroke);
        (void)tick(script.pad_at(way), script.depth());
        touch.stroke.emplace_back(way * script.stroke_length(), applied);
    }

    touch.ticks = body.report().steps.summary();
    for (std::size_t i = 0; i < kNumStepStatuses; ++i)
        if (i != static_cast<std::size_t>(StepStatus::Ok)) touch.not_ok += body.report().counts[i];
    return touch;
}

}  // namespace pliant::compare
