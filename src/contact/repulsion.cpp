#include "contact/repulsion.h"

#include "pliant/core/parallel.h"

#include <algorithm>
#include <cmath>
#include <memory>

namespace pliant {
namespace {

constexpr int kBatch = 256;
constexpr int kMaxNewtonSteps = 8;

// Some points on their way to the surface.
struct Batch {
    float x[kBatch], y[kBatch], z[kBatch];
    float gx[kBatch], gy[kBatch], gz[kBatch], distance[kBatch];  // gradients: unit where arrived
    bool is_there[kBatch];
    int count = 0;

    void project(const DistanceField& field, float eps) noexcept;
};

void Batch::project(const DistanceField& field, float eps) noexcept {
    for (int i = 0; i < count; ++i) is_there[i] = false;
    for (int step = 0; step <= kMaxNewtonSteps; ++step) {
        field.samples({x, y, z, count}, {distance, gx, gy, gz});
        bool are_all_there = true;
        for (int i = 0; i < count; ++i) {
            const float square = gx[i] * gx[i] + gy[i] * gy[i] + gz[i] * gz[i];
            is_there[i] = std::abs(distance[i]) < eps && square > 1e-6f;
            if (is_there[i]) {
                const float inverse = 1 / std::sqrt(square);
                gx[i] *= inverse;
                gy[i] *= inverse;
                gz[i] *= inverse;
                continue;
            }
            are_all_there = false;
            // values of distances that are interpolated across a ridge have short gradients: no
            // step longer than twice the value
            const float by = distance[i] / std::max(square, 0.25f);
            x[i] -= by * gx[i];
            y[i] -= by * gy[i];
            z[i] -= by * gz[i];
        }
        if (are_all_there) return;
    }
}

struct Moves {
    double sum = 0;
    float largest = 0;
};

// The list of neighbours serves until two points can have come this much nearer, in spacings.
constexpr double kSlack = 0.4;
// Longest move, in spacings: a point squeezed between others must not jump over its neighbours.
constexpr float kLongestMove = 0.5f;
// A point whose push turns round has gone too far, as those do that sit on sharp edges; others
// may go faster and faster.
constexpr float kSlower = 0.5f, kFaster = 1.1f, kSlowest = 0.05f, kFastest = 2.0f;

class Repeller {
public:
    Repeller(PointArrays& points, int num_frozen, const DistanceField& field,
             const Repulsion& options)
        : points_(points),
          num_frozen_(num_frozen),
          field_(field),
          options_(options),
          last_push_(points.x.size(), Eigen::Vector3f::Zero()),
          pace_(points.x.size(), 1.0f) {}

    RepulsionResult run(Progress& progress);

private:
    void sort_points();
    void put_back();
    [[nodiscard]] Moves move_cells(int begin, int end);
    [[nodiscard]] Eigen::Vector3f push_at(std::size_t place,
                                          const std::array<PlaceRange, 9>& rows) const;
    [[nodiscard]] Eigen::Vector3f move_of(std::size_t point, const Eigen::Vector3f& push);
    void settle(Batch& batch, const int* places, Moves& moves);

    PointArrays& points_;
    int num_frozen_;
    const DistanceField& field_;
    Repulsion options_;
    std::vector<Eigen::Vector3f> last_push_;  // of each point
    std::vector<float> pace_;                 // of each point: factor of the step
    std::unique_ptr<PointGrid> grid_;
    PointArrays present_, next_;  // by place
};

void Repeller::sort_points() {
    grid_ = std::make_unique<PointGrid>(points_.x, points_.y, points_.z,
                                        options_.radius + kSlack * options_.spacing);
    present_.resize(points_.size());
    for (int p = 0; p < points_.size(); ++p)
        present_.set(p, points_, grid_->order()[static_cast<std::size_t>(p)]);
    next_ = present_;
}

void Repeller::put_back() {
    for (int p = 0; p < points_.size(); ++p)
        points_.set(grid_->order()[static_cast<std::size_t>(p)], present_, p);
}

// Sum of eq. (1), along the surface.
Eigen::Vector3f Repeller::push_at(std::size_t place, const std::array<PlaceRange, 9>& rows) const {
    const float x = present_.x[place], y = present_.y[place], z = present_.z[place];
    const float nx = present_.nx[place], ny = present_.ny[place], nz = present_.nz[place];
    const auto radius = static_cast<float>(options_.radius);
    const float square = radius * radius, inverse = 1 / radius;
    float fx = 0, fy = 0, fz = 0;
    for (const PlaceRange& row : rows) {
        const auto end = static_cast<std::size_t>(row.end);
        for (auto b = static_cast<std::size_t>(row.begin); b < end; ++b) {
            const float dx = x - present_.x[b], dy = y - present_.y[b], dz = z - present_.z[b];
            const float d2 = dx * dx + dy * dy + dz * dz;
            if (d2 >= square || d2 == 0) continue;
            const float cosine = nx * present_.nx[b] + ny * present_.ny[b] + nz * present_.nz[b];
            const float d = std::sqrt(d2), u = d * inverse;
            const float push = side_weight(cosine) * (u * u * (2 * u - 3) + 1) / d;
            fx += push * dx;
            fy += push * dy;
            fz += push * dz;
        }
    }
    const float out = fx * nx + fy * ny + fz * nz;
    return {fx - out * nx, fy - out * ny, fz - out * nz};
}

Eigen::Vector3f Repeller::move_of(std::size_t point, const Eigen::Vector3f& push) {
    const float turn = push.dot(last_push_[point]);
    if (turn < 0) pace_[point] = std::max(pace_[point] * kSlower, kSlowest);
    if (turn > 0) pace_[point] = std::min(pace_[point] * kFaster, kFastest);
    last_push_[point] = push;
    const Eigen::Vector3f move = static_cast<float>(options_.step) * pace_[point] * push;
    const float length = move.norm();
    const float longest = kLongestMove * static_cast<float>(options_.spacing);
    return length > longest ? Eigen::Vector3f(move * (longest / length)) : move;
}

// Brings a batch to the surface and empties it. Points that do not find it stay where they are and
// try a shorter move next time.
void Repeller::settle(Batch& batch, const int* places, Moves& moves) {
    batch.project(field_, options_.eps);
    for (int i = 0; i < batch.count; ++i) {
        const auto p = static_cast<std::size_t>(places[i]);
        if (!batch.is_there[i]) {
            next_.set(places[i], present_, places[i]);
            pace_[static_cast<std::size_t>(grid_->order()[p])] *= kSlower;
            continue;
        }
        next_.x[p] = batch.x[i];
        next_.y[p] = batch.y[i];
        next_.z[p] = batch.z[i];
        next_.nx[p] = batch.gx[i];
        next_.ny[p] = batch.gy[i];
        next_.nz[p] = batch.gz[i];
        const float dx = batch.x[i] - present_.x[p], dy = batch.y[i] - present_.y[p],
                    dz = batch.z[i] - present_.z[p];
        const float moved = std::sqrt(dx * dx + dy * dy + dz * dz);
        moves.sum += double{moved};
        moves.largest = std::max(moves.largest, moved);
    }
    batch.count = 0;
}

Moves Repeller::move_cells(int begin, int end) {
    Moves moves;
    Batch batch;
    int places[kBatch];
    PointGrid::Walk walk(*grid_, begin);
    for (int cell = begin; cell < end; ++cell) {
        const auto& rows = walk.around(cell);
        const PlaceRange own = grid_->places(cell);
        for (int place = own.begin; place < own.end; ++place) {
            const auto p = static_cast<std::size_t>(place);
            const int point = grid_->order()[p];
            if (point < num_frozen_) continue;
            const Eigen::Vector3f move = move_of(static_cast<std::size_t>(point), push_at(p, rows));
            const int i = batch.count++;
            places[i] = place;
            batch.x[i] = present_.x[p] + move.x();
            batch.y[i] = present_.y[p] + move.y();
            batch.z[i] = present_.z[p] + move.z();
            if (batch.count == kBatch) settle(batch, places, moves);
        }
    }
    settle(batch, places, moves);
    return moves;
}

RepulsionResult Repeller::run(Progress& progress) {
    RepulsionResult result;
    const int num_moving = points_.size() - num_frozen_;
    double travel = 0;
    sort_points();
    while (result.iterations < options_.max_iterations && !result.has_converged) {
        // two points that approach each other use up the slack twice as fast
        if (2 * travel > kSlack * options_.spacing) {
            put_back();
            sort_points();
            travel = 0;
        }
        // all from the same positions: the order of the points does not matter
        const Moves moves = parallel_reduce(
            static_cast<std::size_t>(grid_->num_cells()), 64, Moves{},
            [&](std::size_t begin, std::size_t end) {
                return move_cells(static_cast<int>(begin), static_cast<int>(end));
            },
            [](const Moves& a, const Moves& b) {
                return Moves{a.sum + b.sum, std::max(a.largest, b.largest)};
            });
        std::swap(present_, next_);
        travel += double{moves.largest};
        ++result.iterations;
        result.has_converged = moves.sum <= options_.tolerance * num_moving;
        progress.advance();
    }
    put_back();
    return result;
}

}  // namespace

void project_to_surface(const DistanceField& field, float eps, PointArrays& points,
                        std::vector<char>& is_there) {
    const auto count = static_cast<std::size_t>(points.size());
    is_there.assign(count, 0);
    parallel_ranges(count, kBatch, [&](std::size_t begin, std::size_t end) {
        Batch batch;
        batch.count = static_cast<int>(end - begin);
        for (std::size_t i = begin; i < end; ++i) {
            batch.x[i - begin] = points.x[i];
            batch.y[i - begin] = points.y[i];
            batch.z[i - begin] = points.z[i];
        }
        batch.project(field, eps);
        for (std::size_t i = begin; i < end; ++i) {
            const std::size_t k = i - begin;
            if (!batch.is_there[k]) continue;
            is_there[i] = 1;
            points.x[i] = batch.x[k];
            points.y[i] = batch.y[k];
            points.z[i] = batch.z[k];
            points.nx[i] = batch.gx[k];
            points.ny[i] = batch.gy[k];
            points.nz[i] = batch.gz[k];
        }
    });
}

RepulsionResult repel(PointArrays& points, int num_frozen, const DistanceField& field,
                      const Repulsion& options, Progress& progress) {
    return Repeller(points, num_frozen, field, options).run(progress);
}

}  // namespace pliant
