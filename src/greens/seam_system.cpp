#include "pliant/greens/seam_system.h"

#include "core/dense_algebra.h"
#include "core/numbers.h"
#include "core/resource_use.h"
#include "pliant/core/error.h"
#include "pliant/geometry/surface_mesh.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

/// A relative rotation that has changed by less is the same: what is left of moving all frames as
/// one is rounding.
constexpr double kSameTurn = 1e-14;
/// Rigid motions that meet less resistance, times the largest stiffness of a seam node, are free.
/// Boundary elements resist rotations of a free body with 1e-5 of that at most.
constexpr double kFreeMotion = 1e-6;
constexpr double kSmallestPivot = 1e-13;  // of the largest entry of its block

auto node_block(MatrixXd& matrix, int i, int j) { return matrix.block<3, 3>(3 * i, 3 * j); }

/// Columns of equal span, orthonormal; those without length of their own are left out.
MatrixXd orthonormal_span(const MatrixXd& columns) {
    const SymmetricEigen gram = symmetric_eigen(columns.transpose() * columns);
    const double largest = gram.values.size() ? gram.values[gram.values.size() - 1] : 0;
    MatrixXd basis(columns.rows(), 0);
    for (Eigen::Index k = 0; k < gram.values.size(); ++k) {
        if (!(gram.values[k] > 1e-10 * largest)) continue;
        basis.conservativeResize(Eigen::NoChange, basis.cols() + 1);
        basis.rightCols(1) = columns * gram.vectors.col(k) / std::sqrt(gram.values[k]);
    }
    return basis;
}

}  // namespace

const SeamPairs& SeamSystem::seam(int s) const noexcept { return seams_[at(s)].pairs; }

std::string SeamSystem::name(int zone) const {
    return at(zone) < options_.names.size() ? "\"" + options_.names[at(zone)] + "\""
                                            : std::to_string(zone);
}

SeamSystem::SeamSystem(std::vector<std::shared_ptr<const SeamResponse>> zones,
                       std::vector<SeamPairs> seams, std::span<const Pose> rest_poses,
                       const SeamSystemOptions& options)
    : options_(options) {
    if (zones.size() < 2 || seams.empty())
        throw InputError("", "a model of several zones needs two zones and a seam at least");
    if (rest_poses.size() != zones.size() ||
        !std::ranges::all_of(rest_poses, [](const Pose& pose) { return is_finite(pose); }))
        throw InputError("", "every zone needs a finite pose: there are " +
                                 std::to_string(zones.size()) + " zones and " +
                                 std::to_string(rest_poses.size()) + " poses");
    for (auto& zone : zones) {
        if (!zone) throw InputError("", "a zone is missing");
        ZoneData& data = zones_.emplace_back();
        data.K = zone->seam_stiffness();
        const auto size = static_cast<Eigen::Index>(3 * zone->seam_positions().size());
        assert(data.K.rows() == size && data.K.cols() == size);
        data.u = data.f = VectorXd::Zero(size);
        is_linear_ = is_linear_ && zone->is_linear();
        data.response = std::move(zone);
    }
    int size = 0;
    seams_.reserve(seams.size());
    for (SeamPairs& pairs : seams) {
        SeamData& data = seams_.emplace_back();
        data.pairs = std::move(pairs);
        data.first = size;
        data.size = 3 * static_cast<int>(data.pairs.nodes_a.size());
        data.g.resize(data.pairs.nodes_a.size());
        data.turn.setZero();
        size += data.size;
    }
    check_seams(rest_poses);
    w_ = r_ = best_ = step_ = tried_ = VectorXd::Zero(size);
    order();
    take_poses(rest_poses);
    assemble();
    check_support();
    if (!eliminate())
        throw InputError("",
                         "the seams cannot be solved for: some zone is held by nothing, or the "
                         "stiffness of one is not positive definite");
    report_ = {.num_blocks = report_.num_blocks, .num_pivots = report_.num_pivots};
}

void SeamSystem::check_seams(std::span<const Pose> rest_poses) {
    std::vector<std::vector<int>> uses(zones_.size());
    for (std::size_t z = 0; z < zones_.size(); ++z)
        uses[z].assign(zones_[z].response->seam_positions().size(), 0);
    for (int s = 0; s < num_seams(); ++s) {
        const SeamPairs& pairs = seams_[at(s)].pairs;
        const auto is_zone = [&](int z) { return z >= 0 && z < num_zones(); };
        if (!is_zone(pairs.zone_a) || !is_zone(pairs.zone_b) || pairs.zone_a == pairs.zone_b)
            throw InputError(
                "", "seam " + std::to_string(s) + " must join two zones; it names the zones " +
                        std::to_string(pairs.zone_a) + " and " + std::to_string(pairs.zone_b));
        const std::string where =
            "the seam of the zones " + name(pairs.zone_a) + " and " + name(pairs.zone_b);
        if (pairs.nodes_a.size() != pairs.nodes_b.size() || pairs.nodes_a.empty())
            throw InputError("", where +
                                     " does not match: " + std::to_string(pairs.nodes_a.size()) +
                                     " nodes meet " + std::to_string(pairs.nodes_b.size()) +
                                     "; both sides need the same nodes in the same order");
        Box bounds;
        for (int side = 0; side < 2; ++side) {
            const int z = side ? pairs.zone_b : pairs.zone_a;
            const auto& nodes = side ? pairs.nodes_b : pairs.nodes_a;
            for (const int node : nodes) {
                if (node < 0 || at(node) >= uses[at(z)].size())
                    throw InputError("", where + " names seam node " + std::to_string(node) +
                                             " of zone " + name(z) + ", which has " +
                                             std::to_string(uses[at(z)].size()));
                if (uses[at(z)][at(node)]++ > 0)
                    throw InputError("", where + " names seam node " + std::to_string(node) +
                                             " of zone " + name(z) +
                                             " a second time: a node can be in one seam only");
                if (side == 0) bounds.extend(zones_[at(z)].response->seam_positions()[at(node)]);
            }
            zones_[at(z)].sides.push_back({s, side == 1, &nodes});
        }
        const double allowed = options_.match_tolerance * bounds.sizes().maxCoeff();
        for (std::size_t k = 0; k < pairs.nodes_a.size(); ++k) {
            const int a = pairs.zone_a, b = pairs.zone_b;
            const Vector3d x_a = rest_poses[at(a)].to_world(
                zones_[at(a)].response->seam_positions()[at(pairs.nodes_a[k])]);
            const Vector3d x_b = rest_poses[at(b)].to_world(
                zones_[at(b)].response->seam_positions()[at(pairs.nodes_b[k])]);
            if (const double distance = (x_a - x_b).norm(); !(distance <= allowed))
                throw InputError("", where + " does not match: pair " + std::to_string(k) +
                                         " (nodes " + std::to_string(pairs.nodes_a[k]) + " and " +
                                         std::to_string(pairs.nodes_b[k]) + ") is " +
                                         std::to_string(distance) +
                                         " m apart at rest; both sides need the same nodes in the "
                                         "same order");
        }
    }
    for (int z = 0; z < num_zones(); ++z)
        if (const auto loose = std::ranges::find(uses[at(z)], 0); loose != uses[at(z)].end())
            throw InputError("", "seam node " + std::to_string(loose - uses[at(z)].begin()) +
                                     " of zone " + name(z) +
                                     " has no partner in another zone: the surfaces of a seam need "
                                     "the same nodes on both sides");
}

/// Elimination of the seam with the fewest others around it first: no fill for chains and trees.
void SeamSystem::order() {
    const std::size_t n = seams_.size();
    std::vector<std::vector<char>> touches(n, std::vector<char>(n, 0));
    for (const ZoneData& zone : zones_)
        for (const ZoneSeam& p : zone.sides)
            for (const ZoneSeam& q : zone.sides) touches[at(p.seam)][at(q.seam)] = 1;
    block_places_.assign(n * n, -1);
    std::vector<char> is_done(n, 0);
    const auto later_size = [&](std::size_t s) {
        int size = 0;
        for (std::size_t t = 0; t < n; ++t)
            if (touches[s][t] && !is_done[t] && t != s) size += seams_[t].size;
        return size;
    };
    for (std::size_t k = 0; k < n; ++k) {
        std::size_t best = n;
        for (std::size_t s = 0; s < n; ++s)
            if (!is_done[s] && (best == n || later_size(s) < later_size(best))) best = s;
        is_done[best] = 1;
        Pivot& pivot = pivots_.emplace_back();
        pivot.seam = static_cast<int>(best);
        pivot.transposes.resize(at(seams_[best].size));
        seams_[best].pivot = static_cast<int>(k);
        for (std::size_t t = 0; t < n; ++t)
            if (touches[best][t] && !is_done[t]) pivot.later.push_back(static_cast<int>(t));
        for (const int s : pivot.later)
            for (const int t : pivot.later) touches[at(s)][at(t)] = 1;
    }
    const auto add_block = [&](int row, int column, bool has_solved) {
        block_places_[at(row) * n + at(column)] = static_cast<int>(blocks_.size());
        Block& block = blocks_.emplace_back();
        block.row = row;
        block.column = column;
        block.A = block.reduced = MatrixXd::Zero(seams_[at(row)].size, seams_[at(column)].size);
        if (has_solved) block.solved = block.A;
    };
    for (const Pivot& pivot : pivots_) {
        add_block(pivot.seam, pivot.seam, false);
        for (const int t : pivot.later) {
            add_block(pivot.seam, t, true);
            add_block(t, pivot.seam, false);
        }
    }
    report_.num_blocks = static_cast<int>(blocks_.size());
    report_.num_pivots = num_seams();
}

int SeamSystem::block_of(int row, int column) const noexcept {
    return block_places_[at(row) * seams_.size() + at(column)];
}

/// docs/greens-zones.md eq. (3).
void SeamSystem::take_poses(std::span<const Pose> poses) noexcept {
    for (std::size_t z = 0; z < zones_.size(); ++z) {
        zones_[z].pose = poses[z];
        zones_[z].pose.rotation.normalize();
    }
    for (SeamData& seam : seams_) {
        const ZoneData &a = zones_[at(seam.pairs.zone_a)], &b = zones_[at(seam.pairs.zone_b)];
        const Pose a_to_b = b.pose.inverse() * a.pose;
        const Matrix3d turn = a_to_b.rotation.toRotationMatrix();
        if ((turn - seam.turn).cwiseAbs().maxCoeff() > kSameTurn) {
            seam.turn = turn;
            seam.has_turned = true;
        }
        for (std::size_t k = 0; k < seam.g.size(); ++k)
            seam.g[k] = a_to_b.to_world(a.response->seam_positions()[at(seam.pairs.nodes_a[k])]) -
                        b.response->seam_positions()[at(seam.pairs.nodes_b[k])];
    }
}

/// Blocks of docs/greens-zones.md eq. (5) that a turned seam has changed.
void SeamSystem::assemble() noexcept {
    for (Block& block : blocks_) block.is_dirty = false;
    // turns are those of side b: side a of a seam is in its own axes
    const auto has_turned = [&](const ZoneSeam& side) {
        return side.is_b && seams_[at(side.seam)].has_turned;
    };
    for (const ZoneData& zone : zones_)
        for (const ZoneSeam& row : zone.sides)
            for (const ZoneSeam& column : zone.sides)
                if (has_turned(row) || has_turned(column) || !is_factored_)
                    blocks_[at(block_of(row.seam, column.seam))].is_dirty = true;
    for (Block& block : blocks_)
        if (block.is_dirty) block.A.setZero();
    for (ZoneData& zone : zones_)
        for (const ZoneSeam& row : zone.sides)
            for (const ZoneSeam& column : zone.sides) {
                Block& block = blocks_[at(block_of(row.seam, column.seam))];
                if (!block.is_dirty) continue;
                const Matrix3d left = row.is_b ? Matrix3d(seams_[at(row.seam)].turn.transpose())
                                               : Matrix3d(Matrix3d::Identity());
                const Matrix3d right =
                    column.is_b ? seams_[at(column.seam)].turn : Matrix3d(Matrix3d::Identity());
                for (std::size_t i = 0; i < row.nodes->size(); ++i)
                    for (std::size_t j = 0; j < column.nodes->size(); ++j)
                        node_block(block.A, static_cast<int>(i), static_cast<int>(j)) +=
                            left * node_block(zone.K, (*row.nodes)[i], (*column.nodes)[j]) * right;
            }
    report_.assembled = static_cast<int>(
        std::ranges::count_if(blocks_, [](const Block& block) { return block.is_dirty; }));
    for (SeamData& seam : seams_) seam.has_turned = false;
}

/// D = P L U in place, by columns; no blocking, whose buffers would be allocated.
bool SeamSystem::factor(Pivot& pivot) noexcept {
    MatrixXd& D = blocks_[at(block_of(pivot.seam, pivot.seam))].reduced;
    const Eigen::Index n = D.rows();
    const double scale = D.cwiseAbs().maxCoeff();
    if (!std::isfinite(scale) || !(scale > 0)) return false;
    for (Eigen::Index k = 0; k < n; ++k) {
        Eigen::Index largest = 0;
        D.col(k).tail(n - k).cwiseAbs().maxCoeff(&largest);
        largest += k;
        pivot.transposes[static_cast<std::size_t>(k)] = static_cast<int>(largest);
        if (largest != k) D.row(k).swap(D.row(largest));
        if (!(std::abs(D(k, k)) > kSmallestPivot * scale)) return false;
        D.col(k).tail(n - k - 1) /= D(k, k);
        for (Eigen::Index j = k + 1; j < n; ++j)
            D.col(j).tail(n - k - 1) -= D(k, j) * D.col(k).tail(n - k - 1);
    }
    return true;
}

void SeamSystem::solve_pivot(const Pivot& pivot, double* x) const noexcept {
    const MatrixXd& D = blocks_[at(block_of(pivot.seam, pivot.seam))].reduced;
    const Eigen::Index n = D.rows();
    for (Eigen::Index k = 0; k < n; ++k)
        std::swap(x[k], x[pivot.transposes[static_cast<std::size_t>(k)]]);
    Eigen::Map<VectorXd> v(x, n);
    for (Eigen::Index k = 0; k < n; ++k) v.tail(n - k - 1) -= v[k] * D.col(k).tail(n - k - 1);
    for (Eigen::Index k = n - 1; k >= 0; --k) {
        v[k] /= D(k, k);
        v.head(k) -= v[k] * D.col(k).head(k);
    }
}

/// docs/greens-zones.md eq. (6), one seam after the other: those whose blocks have changed, and
/// what was eliminated after them.
bool SeamSystem::eliminate() noexcept {
    report_.refactored = 0;
    for (std::size_t k = 0; k < pivots_.size(); ++k) {
        Pivot& pivot = pivots_[k];
        const auto depends_on_dirty = [&](int row, int column) {
            return blocks_[at(block_of(row, column))].is_dirty;
        };
        pivot.is_dirty = depends_on_dirty(pivot.seam, pivot.seam);
        for (const int t : pivot.later)
            pivot.is_dirty |= depends_on_dirty(pivot.seam, t) || depends_on_dirty(t, pivot.seam);
        for (std::size_t j = 0; j < k && !pivot.is_dirty; ++j)
            pivot.is_dirty =
                pivots_[j].is_dirty &&
                std::ranges::find(pivots_[j].later, pivot.seam) != pivots_[j].later.end();
        if (!pivot.is_dirty) continue;
        ++report_.refactored;

        // what the seams before it leave of its blocks
        const auto reduce = [&](int row, int column) {
            Block& block = blocks_[at(block_of(row, column))];
            block.reduced = block.A;
            for (std::size_t j = 0; j < k; ++j) {
                const int before = pivots_[j].seam;
                const int left = block_of(row, before), right = block_of(before, column);
                if (left < 0 || right < 0) continue;
                const MatrixXd &L = blocks_[at(left)].reduced, &X = blocks_[at(right)].solved;
                for (Eigen::Index c = 0; c < X.cols(); ++c)
                    block.reduced.col(c).noalias() -= L * X.col(c);
            }
        };
        reduce(pivot.seam, pivot.seam);
        for (const int t : pivot.later) {
            reduce(pivot.seam, t);
            reduce(t, pivot.seam);
        }
        if (!factor(pivot)) return is_factored_ = false;
        for (const int t : pivot.later) {
            Block& block = blocks_[at(block_of(pivot.seam, t))];
            block.solved = block.reduced;
            for (Eigen::Index c = 0; c < block.solved.cols(); ++c)
                solve_pivot(pivot, block.solved.col(c).data());
        }
    }
    return is_factored_ = true;
}

void SeamSystem::solve_in_place(VectorXd& r) const noexcept {
    const auto part = [&](int s) { return r.segment(seams_[at(s)].first, seams_[at(s)].size); };
    for (const Pivot& pivot : pivots_) {
        solve_pivot(pivot, r.data() + seams_[at(pivot.seam)].first);
        for (const int t : pivot.later)
            part(t).noalias() -= blocks_[at(block_of(t, pivot.seam))].reduced * part(pivot.seam);
    }
    for (auto pivot = pivots_.rbegin(); pivot != pivots_.rend(); ++pivot)
        for (const int t : pivot->later)
            part(pivot->seam).noalias() -= blocks_[at(block_of(pivot->seam, t))].solved * part(t);
}

void SeamSystem::gather(int zone, const VectorXd& f, VectorXd& r) const noexcept {
    for (const ZoneSeam& side : zones_[at(zone)].sides) {
        const SeamData& seam = seams_[at(side.seam)];
        for (std::size_t k = 0; k < side.nodes->size(); ++k) {
            const Vector3d force = f.segment<3>(3 * (*side.nodes)[k]);
            r.segment<3>(seam.first + 3 * static_cast<int>(k)) +=
                side.is_b ? Vector3d(seam.turn.transpose() * force) : force;
        }
    }
}

void SeamSystem::spread(int zone, const VectorXd& w, VectorXd& u) const noexcept {
    for (const ZoneSeam& side : zones_[at(zone)].sides) {
        const SeamData& seam = seams_[at(side.seam)];
        for (std::size_t k = 0; k < side.nodes->size(); ++k) {
            const Vector3d w_k = w.segment<3>(seam.first + 3 * static_cast<int>(k));
            u.segment<3>(3 * (*side.nodes)[k]) = side.is_b ? Vector3d(seam.turn * w_k) : w_k;
        }
    }
}

bool SeamSystem::are_poses(std::span<const Pose> poses) const noexcept {
    return poses.size() == zones_.size() && std::ranges::all_of(poses, [](const Pose& pose) {
               return is_finite(pose) && pose.rotation.norm() > 0;
           });
}

SeamSystem::Status SeamSystem::set_poses(std::span<const Pose> poses) noexcept {
    if (!are_poses(poses)) return Status::BadInput;
    report_.seconds = 0;
    const SecondsOfScope scope(report_.seconds);
    take_poses(poses);
    assemble();
    const bool is_done = eliminate();
    return is_done ? Status::Solved : Status::Singular;
}

/// Seam nodes of zones for the unknowns of now.
void SeamSystem::displace_zones() noexcept {
    for (int z = 0; z < num_zones(); ++z) {
        ZoneData& zone = zones_[at(z)];
        spread(z, w_, zone.u);
        for (const ZoneSeam& side : zone.sides)
            if (side.is_b)
                for (std::size_t k = 0; k < side.nodes->size(); ++k)
                    zone.u.segment<3>(3 * (*side.nodes)[k]) += seams_[at(side.seam)].g[k];
    }
}

/// Of the unknowns, docs/greens-zones.md eq. (4), left in r_; returns the largest force in it.
double SeamSystem::imbalance(std::span<const Vector3d> external) noexcept {
    displace_zones();
    r_.setZero();
    double largest = 0;
    for (int z = 0; z < num_zones(); ++z) {
        ZoneData& zone = zones_[at(z)];
        zone.response->seam_forces(zone.u, zone.f);
        largest = std::max(largest, zone.f.cwiseAbs().maxCoeff());
        gather(z, zone.f, r_);
    }
    for (std::size_t k = 0; k < external.size(); ++k)
        r_.segment<3>(3 * static_cast<int>(k)) -= external[k];
    return largest;
}

SeamSystem::Status SeamSystem::solve_linear(std::span<const Vector3d> external) noexcept {
    best_ = w_;
    w_.setZero();
    (void)imbalance(external);
    solve_in_place(r_);
    w_ -= r_;
    report_.iterations = 1;
    if (w_.allFinite()) return Status::Solved;
    w_ = best_;
    return Status::BadInput;
}

/// With the stiffness at rest. A step that does not bring rᵀA⁻¹r down is halved: it comes down
/// along A⁻¹r wherever the stiffness of now is positive definite.
SeamSystem::Status SeamSystem::iterate(std::span<const Vector3d> external) noexcept {
    double least = std::numeric_limits<double>::infinity(), largest = 0;
    best_ = w_;
    for (report_.iterations = 0;; ++report_.iterations) {
        const double force = imbalance(external);
        tried_ = r_;
        solve_in_place(tried_);
        const double now = std::abs(r_.dot(tried_));
        if (now < least) {
            least = now;
            largest = std::max(largest, force);
            best_ = w_;
            if (r_.cwiseAbs().maxCoeff() <= options_.tolerance * largest) return Status::Solved;
            std::swap(step_, tried_);
        } else {
            step_ *= 0.5;
        }
        if (report_.iterations == options_.max_iterations || !std::isfinite(least)) break;
        w_ = best_ - step_;
    }
    w_ = best_;
    return std::isfinite(least) ? Status::NotConverged : Status::BadInput;
}

SeamSystem::Status SeamSystem::solve(std::span<const Vector3d> external) noexcept {
    if (!external.empty() && external.size() != at(num_unknowns() / 3)) return Status::BadInput;
    if (!is_factored_) return Status::Singular;
    const Status status = is_linear_ ? solve_linear(external) : iterate(external);
    displace_zones();
    return status;
}

int SeamSystem::state_size() const noexcept { return num_unknowns() + 9 * num_seams(); }

void SeamSystem::save_state(std::span<double> state) const noexcept {
    assert(state.size() == at(state_size()));
    auto out = std::ranges::copy(w_, state.begin()).out;
    for (const SeamData& seam : seams_) out = std::ranges::copy(seam.turn.reshaped(), out).out;
}

SeamSystem::Status SeamSystem::restore_state(std::span<const Pose> poses,
                                             std::span<const double> state) noexcept {
    if (state.size() != at(state_size()) ||
        !std::ranges::all_of(state, [](double x) { return std::isfinite(x); }) || !are_poses(poses))
        return Status::BadInput;
    const double* next = state.data();
    for (double& one : w_) one = *next++;
    // those that differ by rounding from the poses stay as they were, see take_poses
    for (SeamData& seam : seams_) {
        const Eigen::Map<const Matrix3d> turn(next);
        next += 9;
        seam.has_turned |= turn != seam.turn;
        seam.turn = turn;
    }
    const Status status = set_poses(poses);
    displace_zones();
    return status;
}

void SeamSystem::reset() noexcept {
    w_.setZero();
    for (SeamData& seam : seams_) seam.turn.setZero();
}

double SeamSystem::largest_gap() const noexcept {
    double largest = 0;
    for (const SeamData& seam : seams_) {
        const ZoneData &a = zones_[at(seam.pairs.zone_a)], &b = zones_[at(seam.pairs.zone_b)];
        for (std::size_t k = 0; k < seam.g.size(); ++k) {
            const int i = seam.pairs.nodes_a[k], j = seam.pairs.nodes_b[k];
            const Vector3d x_a = a.response->seam_positions()[at(i)] + a.u.segment<3>(3 * i);
            const Vector3d x_b = b.response->seam_positions()[at(j)] + b.u.segment<3>(3 * j);
            largest = std::max(largest, (a.pose.to_world(x_a) - b.pose.to_world(x_b)).norm());
        }
    }
    return largest;
}

MatrixXd SeamSystem::matrix() const {
    MatrixXd A = MatrixXd::Zero(w_.size(), w_.size());
    for (const Block& block : blocks_)
        A.block(seams_[at(block.row)].first, seams_[at(block.column)].first, block.A.rows(),
                block.A.cols()) = block.A;
    return A;
}

/// Every connected group of zones must resist all six rigid motions.
void SeamSystem::check_support() const {
    std::vector<int> group(zones_.size());
    std::iota(group.begin(), group.end(), 0);
    for (std::size_t round = 0; round < zones_.size(); ++round)
        for (const SeamData& seam : seams_) {
            int &a = group[at(seam.pairs.zone_a)], &b = group[at(seam.pairs.zone_b)];
            a = b = std::min(a, b);
        }
    const MatrixXd A = matrix();
    for (int first = 0; first < num_zones(); ++first) {
        if (group[at(first)] != first || zones_[at(first)].sides.empty()) continue;
        Box bounds;
        for (int z = 0; z < num_zones(); ++z)
            if (group[at(z)] == first)
                for (const Vector3d& x : zones_[at(z)].response->seam_positions())
                    bounds.extend(zones_[at(z)].pose.to_world(x));
        MatrixXd motions = MatrixXd::Zero(A.rows(), 6);
        double stiffest = 0;
        for (const SeamData& seam : seams_) {
            const int a = seam.pairs.zone_a;
            if (group[at(a)] != first) continue;
            const Pose& pose = zones_[at(a)].pose;
            for (std::size_t k = 0; k < seam.g.size(); ++k) {
                const Vector3d arm =
                    (pose.to_world(
                         zones_[at(a)].response->seam_positions()[at(seam.pairs.nodes_a[k])]) -
                     bounds.center()) /
                    std::max(bounds.sizes().maxCoeff(), 1e-300);
                const int row = seam.first + 3 * static_cast<int>(k);
                for (int axis = 0; axis < 3; ++axis) {
                    const Vector3d along = Vector3d::Unit(axis);
                    motions.block<3, 1>(row, axis) = pose.rotation.conjugate() * along;
                    motions.block<3, 1>(row, 3 + axis) =
                        pose.rotation.conjugate() * along.cross(arm);
                    stiffest = std::max(stiffest, std::abs(A(row + axis, row + axis)));
                }
            }
        }
        const MatrixXd basis = orthonormal_span(motions);
        const MatrixXd reduced = basis.transpose() * A * basis;
        const VectorXd resistance = symmetric_eigenvalues(0.5 * (reduced + reduced.transpose()));
        const auto num_free = std::ranges::count_if(
            resistance, [&](double value) { return value <= kFreeMotion * stiffest; });
        if (num_free == 0) continue;
        std::string names;
        for (int z = 0; z < num_zones(); ++z)
            if (group[at(z)] == first) names += (names.empty() ? "" : ", ") + name(z);
        throw InputError("", "the zones " + names + " together can move in " +
                                 std::to_string(num_free) +
                                 " rigid ways against nothing: hold at least three nodes of one "
                                 "of them off its seams that are not on a line");
    }
}

SeamBond::SeamBond(const MatrixXd& compliance_1, const MatrixXd& compliance_2) {
    if (compliance_1.rows() != compliance_2.rows() || compliance_1.cols() != compliance_2.cols() ||
        compliance_1.rows() != compliance_1.cols())
        throw InputError("", "the seams of the two zones do not match: " +
                                 std::to_string(compliance_1.rows() / 3) + " nodes meet " +
                                 std::to_string(compliance_2.rows() / 3));
    const MatrixXd sum = compliance_1 + compliance_2;
    inverse_ = solve_dense(sum, MatrixXd::Identity(sum.rows(), sum.cols()));
    if (!inverse_.allFinite())
        throw InputError("",
                         "the compliance of the seam is singular: a node of it is twice in "
                         "the list, or does not move");
}

VectorXd SeamBond::forces(const VectorXd& u_1, const VectorXd& u_2) const {
    return inverse_ * (u_1 - u_2);
}

}  // namespace pliant
