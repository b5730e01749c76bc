#include "pliant/greens/zones.h"

#include "core/numbers.h"
#include "pliant/core/parallel.h"

#include <algorithm>
#include <array>
#include <cassert>

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::Vector3f;
using Eigen::VectorXd;
using Block3f = Eigen::Matrix<float, 3, 3, Eigen::RowMajor>;

constexpr std::size_t kChunk = 64;  // nodes whose weights are turned at a time

/// Values of the seam nodes of a zone, on the stack: sums run in ticks.
using SeamValues = std::array<float, 3 * at(GreensZone::kMaxSeamNodes)>;

}  // namespace

// docs/greens-zones.md eq. (7): a unit load of one zone, held seams, then what they give way.
ZonedGreensFunctions::ZonedGreensFunctions(const ZonedModel& model, double length, double modulus,
                                           double density, std::span<const double> seam_areas) {
    struct Column {
        int zone, node;  // −1: gravity along an axis of the world
        double seam_area;
    };
    std::vector<Column> columns;
    const SeamSystem& seams = model.seams();
    num_body_columns_ = 3;
    std::vector<int> part_of_zone(at(model.num_zones()), -1);
    for (int z = 0; z < model.num_zones(); ++z) {
        const GreensZone* const zone = model.greens(z);
        if (!zone) continue;
        const ReferenceProblem& reference = zone->reference();
        part_of_zone[at(z)] = static_cast<int>(zones_.size());
        ZonePart& part = zones_.emplace_back();
        part.functions = reference.functions;
        part.kinds = reference.kinds;
        part.seam_nodes = zone->seam_nodes();
        part.size = static_cast<int>(reference.kinds.size());
        part.first = num_nodes_;
        part.turn = seams.pose(z).rotation.toRotationMatrix().cast<float>();
        part.displacement = static_cast<float>(reference.length / length);
        part.traction = static_cast<float>(reference.modulus / modulus);
        part.weight = static_cast<float>(model.zone(z).model->density * reference.length /
                                         reference.modulus * modulus / (density * length));
        if (reference.functions->num_body_columns() != 3) num_body_columns_ = 0;
        prefers_sums_ |= reference.functions->prefers_sums();
        for (int node = 0; node < part.size; ++node) {
            const int place = zone->seam_place(node);
            part.seam_place.push_back(place);
            const double area = place >= 0 ? seam_areas[at(num_nodes_ + node)] : 0;
            const bool has_one = place >= 0 ? area > 0 : reference.functions->has_column(node);
            column_.push_back(has_one ? 3 * static_cast<int>(columns.size()) : -1);
            if (has_one) columns.push_back({z, node, area});
        }
        num_nodes_ += part.size;
    }
    num_columns_ = 3 * static_cast<int>(columns.size());
    const int num_all = num_columns_ + num_body_columns_;
    for (ZonePart& part : zones_) {
        const auto rows = static_cast<Eigen::Index>(3 * part.seam_nodes.size());
        part.known.resize(rows, num_all);
        if (part.kinds[at(part.seam_nodes[0])] == NodeKind::Free) part.moved.resize(rows, num_all);
    }

    const auto compute = [&](int c, const std::vector<VectorXd>& held, VectorXd& r,
                             std::vector<VectorXd>& u, std::vector<VectorXd>& known) {
        seams.solve_in_place(r);
        for (int z = 0; z < model.num_zones(); ++z) {
            const GreensZone* const zone = model.greens(z);
            if (!zone) continue;
            ZonePart& part = zones_[at(part_of_zone[at(z)])];
            seams.spread(z, r, u[at(z)]);
            zone->known_of(held[at(z)], u[at(z)], known[at(z)]);
            part.known.col(c) = known[at(z)].cast<float>();
            if (part.moved.size())
                part.moved.col(c) = (u[at(z)] / zone->reference().length).cast<float>();
        }
    };
    const auto work = [&](std::size_t begin, std::size_t end) {
        std::vector<VectorXd> held(at(model.num_zones())), u(held.size()), known(held.size());
        for (int z = 0; z < model.num_zones(); ++z)
            held[at(z)] = u[at(z)] = known[at(z)] = VectorXd::Zero(
                static_cast<Eigen::Index>(3 * seams.zone(z).seam_positions().size()));
        VectorXd r(seams.num_unknowns()), f;
        for (std::size_t k = begin; k < end; ++k) {
            const Column& column = columns[k];
            const GreensZone& zone = *model.greens(column.zone);
            const int place = zone.seam_place(column.node);
            MatrixXd by_axis;
            if (place < 0) by_axis = zone.held_by(column.node);
            for (int axis = 0; axis < 3; ++axis) {
                r.setZero();
                VectorXd& own = held[at(column.zone)];
                f.setZero(own.size());
                if (place < 0) {
                    own = by_axis.col(axis);
                    u[at(column.zone)].setZero();
                    zone.forces_of(own, u[at(column.zone)], f);
                    f = -f;
                } else {
                    // a unit traction on a node of the seam is a force in its balance
                    f[3 * place + axis] = column.seam_area * zone.reference().modulus;
                }
                seams.gather(column.zone, f, r);
                compute(3 * static_cast<int>(k) + axis, held, r, u, known);
                own.setZero();
            }
        }
    };
    parallel_ranges(columns.size(), 16, work);

    for (int k = 0; k < num_body_columns_; ++k) {
        std::vector<VectorXd> held, u, known;
        VectorXd r = VectorXd::Zero(seams.num_unknowns());
        for (int z = 0; z < model.num_zones(); ++z) {
            const auto size = static_cast<Eigen::Index>(3 * seams.zone(z).seam_positions().size());
            held.push_back(VectorXd::Zero(size));
            u.push_back(VectorXd::Zero(size));
            known.push_back(VectorXd::Zero(size));
            const GreensZone* const zone = model.greens(z);
            if (!zone) continue;
            const ZonePart& part = zones_[at(part_of_zone[at(z)])];
            for (int axis = 0; axis < 3; ++axis)
                held.back() += static_cast<double>(part.weight * part.turn(k, axis)) *
                               zone->held_by_body(axis);
            VectorXd f(size);
            zone->forces_of(held.back(), u.back(), f);
            f = -f;
            seams.gather(z, f, r);
        }
        compute(num_columns_ + k, held, r, u, known);
    }
}

std::size_t ZonedGreensFunctions::num_bytes() const noexcept {
    std::size_t bytes = 0;
    for (const ZonePart& part : zones_)
        bytes += sizeof(float) * static_cast<std::size_t>(part.known.size() + part.moved.size());
    return bytes;
}

int ZonedGreensFunctions::zone_of(int node) const noexcept {
    int z = 0;
    while (node >= zones_[at(z)].first + zones_[at(z)].size) ++z;
    return z;
}

/// A known of the whole as one of its zone.
Vector3f ZonedGreensFunctions::to_zone(const ZonePart& zone, int node,
                                       const float* weights) const noexcept {
    const bool is_traction =
        zone.kinds[at(node)] == NodeKind::Free || zone.seam_place[at(node)] >= 0;
    return zone.turn.transpose() * Eigen::Map<const Vector3f>(weights) /
           (is_traction ? zone.traction : zone.displacement);
}

void ZonedGreensFunctions::element(int i, int j, float* values) const noexcept {
    const ZonePart &row = zones_[at(zone_of(i))], &column = zones_[at(zone_of(j))];
    const int i_zone = i - row.first, j_zone = j - column.first;
    const int first_column = column_[at(j)];
    Eigen::Matrix3f sum = Eigen::Matrix3f::Zero();
    if (const int place = row.seam_place[at(i_zone)]; place >= 0) {
        sum = row.displacements().block<3, 3>(3 * place, first_column);
    } else {
        Block3f block;
        if (&row == &column && column.seam_place[at(j_zone)] < 0) {
            row.functions->element(i_zone, j_zone, block.data());
            sum = block;
        }
        for (std::size_t k = 0; k < row.seam_nodes.size(); ++k) {
            row.functions->element(i_zone, row.seam_nodes[k], block.data());
            sum += block * row.known.block<3, 3>(static_cast<Eigen::Index>(3 * k), first_column);
        }
    }
    Block3f result;
    for (int axis = 0; axis < 3; ++axis) {
        const Vector3f unit = Vector3f::Unit(axis);
        result.col(axis) = to_whole(row, i_zone, sum * to_zone(column, j_zone, unit.data()));
    }
    Eigen::Map<Block3f>(values, 3, 3) = result;
}

int ZonedGreensFunctions::num_rows(const ZonePart& zone, int num_nodes) const noexcept {
    return std::clamp(num_nodes - zone.first, 0, zone.size);
}

/// Of the sum of its functions, then three floats for each of its seam nodes.
std::size_t ZonedGreensFunctions::zone_size(const ZonePart& zone, int num_nodes) const noexcept {
    const int rows = num_rows(zone, num_nodes);
    return rows > 0 ? zone.functions->sum_size(rows) + 3 * zone.seam_nodes.size() : 0;
}

std::size_t ZonedGreensFunctions::sum_size(int num_nodes) const noexcept {
    std::size_t size = 0;
    for (const ZonePart& zone : zones_) size += zone_size(zone, num_nodes);
    return size;
}

/// total = Σ of columns of seam values, those of nodes and of gravity.
void ZonedGreensFunctions::sum_seams(const Eigen::MatrixXf& columns, std::span<const int> nodes,
                                     std::span<const float> weights, std::span<const float> gravity,
                                     Eigen::Map<Eigen::VectorXf> total) const noexcept {
    total.setZero();
    for (std::size_t k = 0; k < nodes.size(); ++k) {
        const ZonePart& from = zones_[at(zone_of(nodes[k]))];
        const Vector3f w = to_zone(from, nodes[k] - from.first, weights.data() + 3 * k);
        for (int axis = 0; axis < 3; ++axis)
            total += w[axis] * columns.col(column_[at(nodes[k])] + axis);
    }
    for (std::size_t k = 0; k < gravity.size(); ++k)
        total += gravity[k] * columns.col(num_columns_ + static_cast<int>(k));
}

void ZonedGreensFunctions::accumulate(std::span<const int> nodes, std::span<const float> weights,
                                      std::span<const float> body_weights, int num_nodes,
                                      std::span<float> sum, SummedRows /*rows*/) const noexcept {
    assert(weights.size() == 3 * nodes.size() && sum.size() >= sum_size(num_nodes));
    const auto gravity = body_weights.first(num_body_columns_ == 3 ? body_weights.size() : 0);
    std::size_t start = 0;
    for (const ZonePart& zone : zones_) {
        const int rows = num_rows(zone, num_nodes);
        if (rows == 0) break;
        const std::size_t seam_size = 3 * zone.seam_nodes.size(),
                          size = zone_size(zone, num_nodes) - seam_size;
        const std::span<float> own = sum.subspan(start, size);
        float* const moved = sum.data() + start + size;
        start += size + seam_size;

        // loads of the zone, some at a time
        std::array<int, kChunk> ids;
        std::array<float, 3 * kChunk> turned;
        std::size_t count = 0;
        const auto flush = [&] {
            zone.functions->accumulate(std::span(ids.data(), count),
                                       std::span(turned.data(), 3 * count), {}, rows, own);
            count = 0;
        };
        for (std::size_t k = 0; k < nodes.size(); ++k) {
            const int node = nodes[k] - zone.first;
            if (node < 0 || node >= zone.size || zone.seam_place[at(node)] >= 0) continue;
            ids[count] = node;
            Eigen::Map<Vector3f>(turned.data() + 3 * count) =
                to_zone(zone, node, weights.data() + 3 * k);
            if (++count == kChunk) flush();
        }
        flush();
        Vector3f weight = Vector3f::Zero();
        if (!gravity.empty())
            weight =
                zone.weight * (zone.turn.transpose() * Eigen::Map<const Vector3f>(gravity.data()));
        // its seams
        SeamValues values;
        Eigen::Map<Eigen::VectorXf> seam(values.data(), static_cast<Eigen::Index>(seam_size));
        sum_seams(zone.known, nodes, weights, gravity, seam);
        zone.functions->accumulate(zone.seam_nodes, std::span(values.data(), seam_size),
                                   std::span(weight.data(), gravity.size()), rows, own);
        if (zone.moved.size()) sum_seams(zone.moved, nodes, weights, gravity, seam);
        Eigen::Map<Eigen::VectorXf>(moved, seam.size()) += seam;
    }
}

/// What comes out in units and axes of a zone, in those of the whole.
Vector3f ZonedGreensFunctions::to_whole(const ZonePart& zone, int node,
                                        const Vector3f& value) const noexcept {
    const bool is_displacement =
        zone.kinds[at(node)] == NodeKind::Free || zone.seam_place[at(node)] >= 0;
    return (is_displacement ? zone.displacement : zone.traction) * (zone.turn * value);
}

std::span<const float> ZonedGreensFunctions::field(std::span<const float> sum, int num_nodes,
                                                   std::span<float> scratch) const noexcept {
    assert(sum.size() >= sum_size(num_nodes) && scratch.size() >= sum_size(num_nodes));
    std::size_t start = 0;
    for (const ZonePart& zone : zones_) {
        const int rows = num_rows(zone, num_nodes);
        if (rows == 0) break;
        const std::size_t seam_size = 3 * zone.seam_nodes.size(),
                          size = zone_size(zone, num_nodes) - seam_size;
        // rows are not before those of the whole, in which they go: one by one, in order
        const std::span<const float> own =
            zone.functions->field(sum.subspan(start, size), rows, scratch.subspan(start, size));
        const float* const moved = sum.data() + start + size;
        for (int node = 0; node < rows; ++node) {
            const int place = zone.seam_place[at(node)];
            const Vector3f value =
                Eigen::Map<const Vector3f>(place >= 0 ? moved + 3 * place : own.data() + 3 * node);
            Eigen::Map<Vector3f>(scratch.data() + 3 * (zone.first + node)) =
                to_whole(zone, node, value);
        }
        start += size + seam_size;
    }
    return scratch.first(3 * at(num_nodes));
}

void ZonedGreensFunctions::row_of_sum(std::span<const float> sum, int node,
                                      float* values) const noexcept {
    const ZonePart* zone = zones_.data();
    std::size_t start = 0;
    for (; node >= zone->first + zone->size; ++zone) start += zone_size(*zone, num_nodes_);
    const std::size_t size = zone->functions->sum_size(zone->size);
    const int row = node - zone->first, place = zone->seam_place[at(row)];
    Vector3f value;
    if (place >= 0)
        value = Eigen::Map<const Vector3f>(sum.data() + start + size + 3 * at(place));
    else
        zone->functions->row_of_sum(sum.subspan(start, size), row, value.data());
    Eigen::Map<Vector3f>(values, 3) = to_whole(*zone, row, value);
}

void ZonedGreensFunctions::add_sum(std::span<const int> nodes, std::span<const float> weights,
                                   std::span<const float> body_weights,
                                   std::span<float> out) const noexcept {
    const int num_rows = static_cast<int>(out.size()) / 3;
    const std::size_t size = sum_size(num_rows);
    thread_local std::vector<float> sum;
    sum.assign(size, 0.0f);
    accumulate(nodes, weights, body_weights, num_rows, sum);
    const std::span<const float> rows = field(sum, num_rows, sum);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] += rows[i];
}

void ZonedGreensFunctions::add_columns(std::span<const int> nodes, std::span<const float> weights,
                                       std::span<float> out) const noexcept {
    add_sum(nodes, weights, {}, out);
}

void ZonedGreensFunctions::body_element(int i, int k, float* values) const noexcept {
    const ZonePart& row = zones_[at(zone_of(i))];
    const int node = i - row.first, column = num_columns_ + k;
    Vector3f sum = Vector3f::Zero();
    if (const int place = row.seam_place[at(node)]; place >= 0) {
        sum = row.displacements().block<3, 1>(3 * place, column);
    } else {
        for (int axis = 0; axis < 3; ++axis) {
            Vector3f own;
            row.functions->body_element(node, axis, own.data());
            sum += row.weight * row.turn(k, axis) * own;
        }
        Block3f block;
        for (std::size_t s = 0; s < row.seam_nodes.size(); ++s) {
            row.functions->element(node, row.seam_nodes[s], block.data());
            sum += block * row.known.block<3, 1>(static_cast<Eigen::Index>(3 * s), column);
        }
    }
    Eigen::Map<Vector3f>(values, 3) = to_whole(row, node, sum);
}

void ZonedGreensFunctions::add_body_columns(std::span<const float> weights,
                                            std::span<float> out) const noexcept {
    add_sum({}, {}, weights, out);
}

}  // namespace pliant
