#include "pliant/greens/distributed_contact.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>

#include <Eigen/Geometry>

#include "core/numbers.h"
#include "pliant/core/error.h"
#include "pliant/greens/hierarchical_basis.h"

namespace pliant {
namespace {

using Eigen::Vector3d;

/// Gaps below this part of the body's size are closed.
constexpr double kGapTolerance = 1e-5;
/// Tension below this part of the largest traction is rounding.
constexpr double kTensionTolerance = 1e-5;
/// Frictionless: the body's normal is the direction while the cosine of the angle between it and
/// the tool's is below −this: 60°, at edges 30°, and 3° more for a node that is held along it.
constexpr double kFacing = 0.5, kFacingAtEdge = 0.866, kFacingHeld = 0.97;
/// A node is at an edge where its normal and that of a triangle around it are 30° apart.
constexpr double kSmooth = 0.866;
/// A direction that is the tool's normal is turned after it when they are 5° apart.
constexpr double kTurned = 0.996;
/// Directions count as leaning against the tool's normal by at least this cosine.
constexpr double kLeastFacing = 0.4;
/// Frictionless: a tool does not take nodes that it would push off the body, out of its far side.
constexpr double kMostAway = 0.5;
/// Frictionless: nodes beside a face of a tool, 73° or more from facing it, are taken anew in every
/// step, so that a tool that has passed them does not carry them along.
constexpr double kBeside = 0.3;
/// Another node of the place is held when its normal faces the tool by so much more.
constexpr double kBetterFacing = 0.2;
/// Eq. (E15).
constexpr double kBearing = 10, kMostPoisson = 0.49;
/// Fields of all nodes are this much cheaper, node for node, than single ones.
constexpr std::size_t kGlobalRatio = 16;
/// Nodes may bulge by this much more than the tools press.
constexpr double kBulge = 1.5;

bool comes_before(const TouchedNode& a, const TouchedNode& b) noexcept { return a.node < b.node; }

CapacitanceOptions contact_capacitance(const DistributedContactOptions& options) {
    if (options.max_nodes < 1 || options.max_iterations < 1)
        throw InputError("", "distributed contact: max_nodes and max_iterations must be positive");
    CapacitanceOptions capacitance = options.capacitance;
    capacitance.max_dofs =
        options.max_nodes * (options.friction == TouchFriction::Sticking ? 3 : 1);
    return capacitance;
}

}  // namespace

DistributedContact::DistributedContact(std::shared_ptr<const GreensModel> model,
                                       std::vector<RigidShape> tools, const UpdateCosts& costs,
                                       const DistributedContactOptions& options)
    : model_(std::move(model)),
      tools_(std::move(tools)),
      options_(options),
      solver_(model_->reference, costs, contact_capacitance(options)),
      tolerance_(kGapTolerance * model_->reference.length),
      poses_(tools_.size()) {
    const ReferenceProblem& reference = model_->reference;
    if (reference.functions->block() != 3)
        throw InputError("",
                         "distributed contact: the body's field is scalar; touch needs elastic "
                         "Green's functions");
    for (std::size_t k = 0; k < tools_.size(); ++k) {
        const auto& bounds = tools_[k].bounds();
        if (!bounds.sizes().allFinite())
            throw InputError("", "distributed contact: tool " + std::to_string(k) +
                                     " is unbounded; use a sphere, capsule, box or convex mesh");
        middles_.push_back(bounds.center());
        radii_.push_back(bounds.sizes().norm() / 2);
    }
    // the nodes, then the vertices of each level from the coarsest
    const int num_levels = reference.hierarchy ? reference.hierarchy->num_levels() : -1;
    touchable_.resize(at(num_levels + 2));
    std::size_t num_touchable = 0;
    for (int level = -1; level <= num_levels; ++level) {
        const int count =
            level < 0 ? model_->num_nodes() : reference.hierarchy->num_vertices(level);
        for (int node = 0; node < count; ++node)
            if (reference.kinds[at(node)] == NodeKind::Free &&
                reference.functions->has_column(level < 0 ? node
                                                          : reference.hierarchy->id(level, node)))
                touchable_[at(place_of_level(level))].push_back(node);
        num_touchable = std::max(num_touchable, touchable_[at(place_of_level(level))].size());
    }
    for (const Vector3d& normal : model_->normals) normals_.push_back(normal.normalized());
    is_at_edge_.assign(normals_.size(), 0);
    const SurfaceMesh& mesh = model_->surface.mesh;
    for (std::size_t t = 0; t < model_->corner_nodes.size(); ++t) {
        const int triangle = static_cast<int>(t);
        const Vector3d a = mesh.corner(triangle, 0);
        const Vector3d normal =
            (mesh.corner(triangle, 1) - a).cross(mesh.corner(triangle, 2) - a).normalized();
        for (const int node : model_->corner_nodes[t])
            if (normal.dot(normals_[at(node)]) < kSmooth) is_at_edge_[at(node)] = 1;
    }
    find_mates();
    if (num_touchable > at(options.max_nodes)) rank_nodes();
    const double nu = std::min(model_->poisson_ratio, kMostPoisson);
    stiffest_ = 2 * reference.modulus * (1 - nu) / (1 - 2 * nu);
    if (!set_level(options.level))
        throw InputError("", "distributed contact: level", std::to_string(options.level),
                         "-1, or a level of which the body has columns");
    change_level();

    const std::size_t most = at(options.max_nodes), nodes = at(model_->num_nodes());
    for (auto* list : {&active_, &kept_, &good_}) list->reserve(most);
    moved_.reserve(most);
    candidates_.reserve(num_touchable);
    intruders_.reserve(num_touchable);
    asked_nodes_.reserve(std::max(num_touchable, most));
    asked_values_.reserve(std::max(num_touchable, most));
    ranks_.reserve(num_touchable + most);
    for (auto* flags : {&was_active_, &is_active_, &is_barred_, &is_listed_})
        flags->assign(nodes, 0);
    placed_middles_ = middles_;
    field_.assign(3 * nodes, 0.0f);
    tool_columns_.reserve(most);
    tool_offsets_.assign(tools_.size() + 1, 0);
    changes_.reserve(3 * most);
    values_.reserve(3 * most);
}

/// Rings of the nodes at one place.
void DistributedContact::find_mates() {
    const auto& positions = model_->reference.positions;
    std::vector<int> order(positions.size());
    std::iota(order.begin(), order.end(), 0);
    mate_ = order;
    const auto key = [&](int node) {
        const Vector3d& x = positions[at(node)];
        return std::tuple(x.x(), x.y(), x.z(), node);
    };
    std::sort(order.begin(), order.end(), [&](int a, int b) { return key(a) < key(b); });
    for (std::size_t first = 0; first < order.size();) {
        std::size_t end = first + 1;
        while (end < order.size() && positions[at(order[end])] == positions[at(order[first])])
            ++end;
        for (std::size_t k = first; k < end; ++k)
            mate_[at(order[k])] = order[k + 1 < end ? k + 1 : first];
        first = end;
    }
}

/// Vertices of coarser levels come first where there are levels. Elsewhere each next node is the
/// farthest one from those before.
void DistributedContact::rank_nodes() {
    const auto& positions = model_->reference.positions;
    rank_.resize(positions.size());
    std::iota(rank_.begin(), rank_.end(), 0);
    if (model_->surface.num_levels() > 0) return;
    const std::vector<int>& nodes = touchable_[at(place_of_level(-1))];
    std::vector<double> distances(nodes.size(), kInfinity);
    std::size_t next = 0;
    for (int rank = 0; rank < static_cast<int>(nodes.size()); ++rank) {
        const Vector3d& x = positions[at(nodes[next])];
        rank_[at(nodes[next])] = rank;
        distances[next] = -1;
        std::size_t farthest = next;
        for (std::size_t k = 0; k < nodes.size(); ++k) {
            if (distances[k] < 0) continue;
            distances[k] = std::min(distances[k], (positions[at(nodes[k])] - x).squaredNorm());
            if (distances[k] > distances[farthest]) farthest = k;
        }
        next = farthest;
    }
}

int DistributedContact::place_of_level(int level) const noexcept { return level + 1; }

bool DistributedContact::set_level(int level) noexcept {
    if (level < -1 || at(place_of_level(level)) >= touchable_.size() ||
        touchable_[at(place_of_level(level))].empty())
        return false;
    wanted_level_ = level;
    return true;
}

/// Held nodes that are not on the new level are let go.
void DistributedContact::change_level() noexcept {
    moved_.clear();
    level_ = wanted_level_;
    first_column_ = level_ < 0 ? 0 : model_->reference.hierarchy->id(level_, 0);
    const auto is_gone = [&](const TouchedNode& touched) {
        const bool is_there =
            model_->reference.functions->has_column(column(touched.node)) &&
            (level_ < 0 || touched.node < model_->reference.hierarchy->num_vertices(level_));
        if (!is_there) is_active_[at(touched.node)] = 0;
        return !is_there;
    };
    active_.erase(std::remove_if(active_.begin(), active_.end(), is_gone), active_.end());
}

void DistributedContact::reset() noexcept {
    active_.clear();
    std::fill(is_active_.begin(), is_active_.end(), 0);
    solver_.forget();
    // whatever a budget left of the last step
    report_ = {};
    const double most_seconds =
        std::exchange(most_seconds_, std::numeric_limits<double>::infinity());
    (void)solve();
    most_seconds_ = most_seconds;
    finish(Status::Settled);
}

/// Free nodes that a tool may reach before it has moved the body by more than it presses.
void DistributedContact::find_candidates() noexcept {
    const auto& positions = model_->reference.positions;
    double reach = std::max(tolerance_, kBulge * least_reach_);
    for (std::size_t k = 0; k < tools_.size(); ++k)
        placed_middles_[k] = poses_[k].to_world(middles_[k]);
    const auto each_near = [&](double margin, auto&& visit) {
        for (const int node : touchable_[at(place_of_level(level_))])
            for (std::size_t k = 0; k < tools_.size(); ++k) {
                const Vector3d& x = positions[at(node)];
                const double range = radii_[k] + margin;
                if ((x - placed_middles_[k]).squaredNorm() > range * range) continue;
                if (visit(node, tools_[k].sample(poses_[k].to_body(x), radii_[k] + range).gap))
                    break;
            }
    };
    // how deep the tools are in the body at rest, and how far it has been pressed
    each_near(0, [&](int, double gap) {
        reach = std::max(reach, -kBulge * gap);
        return false;
    });
    for (const TouchedNode& touched : active_)
        reach = std::max(reach, kBulge * (poses_[at(touched.tool)].to_world(touched.anchor) -
                                          positions[at(touched.node)])
                                             .norm());
    candidates_.clear();
    each_near(reach, [&](int node, double gap) {
        if (gap > reach) return false;
        candidates_.push_back(node);
        return true;
    });
}

/// The problem of the active nodes, eq. (E12).
CapacitanceStatus DistributedContact::solve() noexcept {
    moved_.clear();
    changes_.clear();
    values_.clear();
    for (const TouchedNode& touched : active_) {
        if (options_.friction == TouchFriction::Frictionless) {
            changes_.push_back({column(touched.node), touched.direction});
            values_.push_back(touched.depth);
            continue;
        }
        const Vector3d u = poses_[at(touched.tool)].to_world(touched.anchor) -
                           model_->reference.positions[at(touched.node)];
        for (int k = 0; k < 3; ++k) {
            changes_.push_back({column(touched.node), Vector3d::Unit(k)});
            values_.push_back(u[k]);
        }
    }
    // what the step has left
    solver_.set_budget(std::min(options_.capacitance.budget, most_seconds_ - report_.seconds));
    const CapacitanceStatus status = solver_.solve(changes_, values_);
    report_.solver = status;
    if (!is_refused(status)) report_.seconds += solver_.report().predicted;
    return status;
}

/// Displacements or tractions of the active nodes into asked_values_.
void DistributedContact::gather_values(bool are_tractions) noexcept {
    asked_nodes_.clear();
    for (const TouchedNode& touched : active_) asked_nodes_.push_back(touched.node);
    asked_values_.resize(asked_nodes_.size());
    if (are_tractions)
        solver_.tractions(asked_nodes_, asked_values_);
    else
        solver_.displacements(asked_nodes_, asked_values_);
}

/// Frictionless: along which a node is held against a tool with the outward normal `outward`.
Vector3d DistributedContact::direction(int node, const Vector3d& outward,
                                       const Vector3d& now) const noexcept {
    const Vector3d n = normals_[at(node)];
    const double facing = is_at_edge_[at(node)] != 0 ? kFacingAtEdge : kFacing;
    if (n.dot(outward) <= (now == n ? -kFacingHeld * facing : -facing)) return n;
    return now != n && now.dot(outward) <= -kTurned ? now : Vector3d(-outward);
}

/// Of the nodes at one place, the one whose normal faces the tool most; the node itself unless
/// another one does by more than `margin`.
int DistributedContact::facing_mate(int node, const Vector3d& outward,
                                    double margin) const noexcept {
    const auto facing = [&](int one) { return normals_[at(one)].dot(outward); };
    int best = node;
    double most = facing(node) - margin;
    for (int mate = mate_[at(node)]; mate != node; mate = mate_[at(mate)])
        if (model_->reference.kinds[at(mate)] == NodeKind::Free &&
            model_->reference.functions->has_column(column(mate)) && facing(mate) < most) {
            best = mate;
            most = facing(mate);
        }
    return best;
}

/// Frictionless: the depth along the direction that brings a node at `displacement` to the surface
/// of its tool, to first order. `turns`: the direction goes with the tool's normal. Returns the gap
/// there.
double DistributedContact::follow(TouchedNode& touched, const Vector3d& displacement,
                                  bool turns) const noexcept {
    const Pose& pose = poses_[at(touched.tool)];
    const Vector3d x = pose.to_body(model_->reference.positions[at(touched.node)] + displacement);
    const ShapeSample sample = tools_[at(touched.tool)].sample(x);
    const Vector3d outward = pose.rotation * sample.normal;
    if (turns) touched.direction = direction(touched.node, outward, touched.direction);
    // within a step the tool's normal may turn away: never count with less than a half
    const double facing = std::min(touched.direction.dot(outward), -kLeastFacing);
    touched.depth = touched.direction.dot(displacement) - sample.gap / facing;
    touched.anchor = x - sample.gap * sample.normal;
    touched.normal = sample.normal;
    return sample.gap;
}

/// True when a depth has changed.
bool DistributedContact::follow_all() noexcept {
    bool has_changed = false;
    gather_values(false);
    moved_.assign(asked_values_.begin(), asked_values_.end());
    for (std::size_t k = 0; k < active_.size(); ++k) {
        const double before = active_[k].depth;
        (void)follow(active_[k], asked_values_[k], false);
        has_changed = has_changed || std::abs(active_[k].depth - before) > tolerance_;
    }
    return has_changed;
}

/// Sticking nodes whose tool has jumped away: nothing that moves them so far is elastic.
void DistributedContact::let_go_of_distant() noexcept {
    std::erase_if(active_, [&](const TouchedNode& touched) {
        if (displacement(touched).norm() <= model_->reference.length) return false;
        is_active_[at(touched.node)] = 0;
        return true;
    });
}

/// Frictionless nodes of the last step go with their tools, or are let go as above. Where a tool has
/// gone round an edge, the node of the other side is held in place of its mate.
void DistributedContact::slide_along() noexcept {
    if (moved_.size() == active_.size())
        asked_values_.assign(moved_.begin(), moved_.end());
    else
        gather_values(false);
    bool has_other_nodes = false;
    std::size_t num_kept = 0;
    for (std::size_t k = 0; k < active_.size(); ++k) {
        TouchedNode& touched = active_[k];
        if (!(std::abs(follow(touched, asked_values_[k], true)) <= model_->reference.length)) {
            is_active_[at(touched.node)] = 0;
            continue;
        }
        const Vector3d outward = poses_[at(touched.tool)].rotation * touched.normal;
        if (const int mate = facing_mate(touched.node, outward, kBetterFacing);
            mate != touched.node) {
            is_active_[at(touched.node)] = 0;
            is_active_[at(mate)] = 1;
            touched.node = mate;
            (void)follow(touched, asked_values_[k], true);
            has_other_nodes = true;
        }
        active_[num_kept++] = touched;
    }
    active_.resize(num_kept);
    if (has_other_nodes) std::sort(active_.begin(), active_.end(), comes_before);
}

/// Nodes that their tool would have to pull. Along the normal of the tool a node that was just
/// pushed out is pressed, whichever way the body's points. Those that come from the last step must
/// be pressed into the body as well: what still is in a tool is then taken anew where it is. And
/// nodes that bear more than the material can, eq. (E15), which are not taken again in this step.
int DistributedContact::remove_pulled() noexcept {
    gather_values(true);
    double largest = 0;
    for (const Vector3d& p : asked_values_) largest = std::max(largest, p.norm());
    const double rounding = kTensionTolerance * largest;
    const double bearing = kBearing * stiffest_ * solver_.report().farthest;
    kept_.clear();
    for (std::size_t k = 0; k < active_.size(); ++k) {
        const int node = active_[k].node;
        const Vector3d outward = poses_[at(active_[k].tool)].rotation * active_[k].normal;
        const bool is_old = report_.iterations == 1;
        const bool is_sliding = options_.friction == TouchFriction::Frictionless;
        const bool is_overloaded =
            !(asked_values_[k].norm() * std::sqrt(solver_.area(column(node))) <= bearing) ||
            (is_sliding && !(std::abs(active_[k].depth) <= model_->reference.length));
        // the tool's normal has turned away: what still is inside is taken along the new one
        const bool is_turned =
            is_sliding && active_[k].direction.dot(outward) > -kLeastFacing;
        if (is_overloaded || is_turned || asked_values_[k].dot(outward) < -rounding ||
            (is_old && asked_values_[k].dot(normals_[at(node)]) > rounding) ||
            (is_old && is_sliding && normals_[at(node)].dot(outward) > -kBeside)) {
            is_active_[at(node)] = 0;
            is_barred_[at(node)] = is_overloaded;
            report_.overloaded += is_overloaded;
            report_.pulled += was_active_[at(node)];
        } else {
            kept_.push_back(active_[k]);
        }
    }
    return static_cast<int>(active_.size() - kept_.size());
}

/// Of nodes at one place that face a tool equally, the first one is enough.
bool DistributedContact::has_listed_mate(int node) const noexcept {
    for (int mate = mate_[at(node)]; mate != node; mate = mate_[at(mate)])
        if (is_listed_[at(mate)] != 0) return true;
    return false;
}

/// Nodes inside a tool that are not held, deepest first.
void DistributedContact::find_intruders() noexcept {
    asked_nodes_.clear();
    for (const int node : candidates_) {
        bool is_held = is_active_[at(node)] != 0;
        for (int mate = mate_[at(node)]; mate != node; mate = mate_[at(mate)])
            is_held = is_held || is_active_[at(mate)] != 0;
        if (!is_held) asked_nodes_.push_back(node);
    }
    asked_values_.resize(asked_nodes_.size());
    if (kGlobalRatio * asked_nodes_.size() < is_active_.size()) {
        solver_.displacements(asked_nodes_, asked_values_);
    } else {
        solver_.evaluate(model_->num_nodes());
        solver_.write_displacements(field_);
        for (std::size_t i = 0; i < asked_nodes_.size(); ++i)
            asked_values_[i] =
                Eigen::Map<const Eigen::Vector3f>(field_.data() + 3 * at(asked_nodes_[i]))
                    .cast<double>();
    }
    intruders_.clear();
    report_.left_out = 0;
    report_.deepest = 0;
    for (std::size_t i = 0; i < asked_nodes_.size(); ++i) {
        const int node = asked_nodes_[i];
        const Vector3d x_body = model_->reference.positions[at(node)] + asked_values_[i];
        Intruder deepest;
        deepest.gap = -tolerance_;
        bool is_inside = false;
        for (std::size_t k = 0; k < tools_.size(); ++k) {
            if ((x_body - placed_middles_[k]).squaredNorm() > radii_[k] * radii_[k]) continue;
            const Vector3d x = poses_[k].to_body(x_body);
            const ShapeSample sample = tools_[k].sample(x);
            if (!(sample.gap < deepest.gap)) continue;
            is_inside = true;
            deepest.gap = sample.gap;
            deepest.touched = {.node = node,
                               .tool = static_cast<int>(k),
                               .anchor = x - sample.gap * sample.normal,
                               .normal = sample.normal};
        }
        if (!is_inside) continue;
        const Vector3d outward = poses_[at(deepest.touched.tool)].rotation * deepest.touched.normal;
        // another one of this place is taken
        if (facing_mate(node, outward, 0) != node || has_listed_mate(node)) continue;
        ++report_.left_out;
        report_.deepest = std::max(report_.deepest, -deepest.gap);
        if (is_barred_[at(node)]) continue;
        if (options_.friction == TouchFriction::Frictionless) {
            if (normals_[at(node)].dot(outward) > kMostAway) continue;
            (void)follow(deepest.touched, asked_values_[i], true);
        }
        intruders_.push_back(deepest);
        is_listed_[at(node)] = 1;
    }
    for (const Intruder& intruder : intruders_) is_listed_[at(intruder.touched.node)] = 0;
    std::sort(intruders_.begin(), intruders_.end(), [](const Intruder& a, const Intruder& b) {
        return a.gap != b.gap ? a.gap < b.gap : a.touched.node < b.touched.node;
    });
}

/// Where there are more nodes than may be held: the first ones by rank, whether they are held
/// already or not, so that what is held is evenly spread, whatever came first.
void DistributedContact::thin_out() noexcept {
    const std::size_t most = at(options_.max_nodes);
    if (kept_.size() + intruders_.size() <= most) return;
    ranks_.clear();
    for (const TouchedNode& touched : kept_) ranks_.push_back(rank_[at(touched.node)]);
    for (const Intruder& intruder : intruders_)
        ranks_.push_back(rank_[at(intruder.touched.node)]);
    const auto first_left = ranks_.begin() + static_cast<std::ptrdiff_t>(most);
    std::nth_element(ranks_.begin(), first_left, ranks_.end());
    const int limit = *first_left;
    const auto is_left = [&](const TouchedNode& touched) {
        return rank_[at(touched.node)] >= limit;
    };
    for (const TouchedNode& touched : kept_)
        if (is_left(touched)) is_active_[at(touched.node)] = 0;
    std::erase_if(kept_, is_left);
    std::erase_if(intruders_, [&](const Intruder& one) { return is_left(one.touched); });
}

/// Kept nodes and as many intruders as the solver takes: all, half of them, a quarter… Returns how
/// many, −1 when even the kept ones are refused; the last good set is then back.
int DistributedContact::add_intruders() noexcept {
    const auto mark = [&](const std::vector<TouchedNode>& list, char value) {
        for (const TouchedNode& touched : list) is_active_[at(touched.node)] = value;
    };
    std::size_t count = intruders_.size();
    CapacitanceStatus refusal = CapacitanceStatus::Hit;
    for (;; count /= 2) {
        active_ = kept_;
        for (std::size_t k = 0; k < count; ++k) active_.push_back(intruders_[k].touched);
        std::sort(active_.begin(), active_.end(), comes_before);
        const CapacitanceStatus status = solve();
        if (!is_refused(status)) break;
        refusal = status;
        if (count == 0) {
            mark(kept_, 0);
            active_ = good_;
            mark(active_, 1);
            return -1;
        }
    }
    if (is_refused(refusal)) report_.solver = refusal;
    mark(active_, 1);
    good_ = active_;
    return static_cast<int>(count);
}

/// The next list, before anything is spent on it.
bool DistributedContact::is_too_much() const noexcept {
    return static_cast<double>(kept_.size() + intruders_.size()) > most_held_;
}

Vector3d DistributedContact::displacement(const TouchedNode& touched) const noexcept {
    if (options_.friction == TouchFriction::Frictionless) return touched.depth * touched.direction;
    return poses_[at(touched.tool)].to_world(touched.anchor) -
           model_->reference.positions[at(touched.node)];
}

DistributedContact::Status DistributedContact::finish(Status status) noexcept {
    report_.status = status;
    for (const TouchedNode& touched : active_) report_.added += !was_active_[at(touched.node)];
    for (std::size_t node = 0; node < was_active_.size(); ++node)
        report_.removed += was_active_[node] && !is_active_[node];
    // nodes by tool
    std::fill(tool_offsets_.begin(), tool_offsets_.end(), 0);
    for (const TouchedNode& touched : active_) ++tool_offsets_[at(touched.tool) + 1];
    for (std::size_t k = 1; k < tool_offsets_.size(); ++k) tool_offsets_[k] += tool_offsets_[k - 1];
    tool_columns_.clear();
    for (int k = 0; k < num_tools(); ++k)
        for (const TouchedNode& touched : active_)
            if (touched.tool == k) tool_columns_.push_back(column(touched.node));
    return status;
}

DistributedContact::Status DistributedContact::step(std::span<const Pose> poses) noexcept {
    report_ = {};
    std::copy(is_active_.begin(), is_active_.end(), was_active_.begin());
    if (poses.size() != poses_.size() ||
        !std::all_of(poses.begin(), poses.end(), [](const Pose& pose) { return is_finite(pose); }))
        return finish(Status::BadInput);
    std::copy(poses.begin(), poses.end(), poses_.begin());

    const int level_before = level_;
    kept_ = active_;
    if (wanted_level_ != level_) change_level();
    std::ranges::fill(is_barred_, 0);
    // the nodes of the last step go with their tools
    const bool is_frictionless = options_.friction == TouchFriction::Frictionless;
    if (is_frictionless)
        slide_along();
    else
        let_go_of_distant();
    find_candidates();
    good_ = active_;
    if (is_refused(solve())) {
        if (level_ != level_before) {
            // back to that of the solution that stays
            active_ = kept_;
            for (const TouchedNode& touched : active_) is_active_[at(touched.node)] = 1;
            wanted_level_ = level_before;
            change_level();
        }
        return finish(Status::Limited);
    }
    while (report_.iterations < options_.max_iterations) {
        ++report_.iterations;
        const bool slides = is_frictionless && follow_all();
        const int num_pulled = remove_pulled();
        find_intruders();
        const bool is_same = !slides && num_pulled == 0;
        if (is_same && intruders_.empty())
            return finish(report_.left_out > 0 || report_.overloaded > 0 ? Status::Limited
                                                                         : Status::Settled);
        if (is_too_much()) {
            // pulled nodes stay: the solution is that of the list with them
            for (const TouchedNode& touched : active_) is_active_[at(touched.node)] = 1;
            return finish(Status::Limited);
        }
        thin_out();
        const int num_added = add_intruders();
        if (num_added < 0 || (is_same && num_added == 0)) return finish(Status::Limited);
    }
    return finish(Status::Unsettled);
}

Wrench DistributedContact::load(int k) const noexcept {
    Wrench wrench;
    for (const TouchedNode& touched : active_) {
        if (touched.tool != k) continue;
        const int id = column(touched.node);
        const Vector3d force = -solver_.force({&id, 1});
        // it acts at the centre of what answers
        const Vector3d aside =
            solver_.centre_of(id) - model_->reference.positions[at(touched.node)];
        wrench.force += force;
        wrench.torque += (poses_[at(k)].rotation * touched.anchor + aside).cross(force);
    }
    return wrench;
}

Matrix6d DistributedContact::stiffness(int k) const noexcept {
    const std::size_t first = at(tool_offsets_[at(k)]), end = at(tool_offsets_[at(k) + 1]);
    const RigidPatch patch{std::span(tool_columns_).subspan(first, end - first),
                           poses_[at(k)].position};
    return rigid_patch_stiffness(solver_, patch, patch);
}

}  // namespace pliant
