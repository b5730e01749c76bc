#include "pliant/greens/surface_stiffness.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <string>
#include <utility>

#include <Eigen/Geometry>
#include <Eigen/LU>

#include "core/dense_algebra.h"
#include "core/jacobi_eigen.h"
#include "core/numbers.h"
#include "pliant/core/error.h"
#include "pliant/geometry/surface_topology.h"
#include "pliant/greens/hierarchical_basis.h"

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

/// Least eigenvalue of a vertex stiffness against the largest: a passive spring in any direction.
constexpr double kLeastStiffness = 1e-6;
/// Of the default radius: large enough to hide single triangles, small enough to feel local.
constexpr double kDefaultEdges = 1.5;

std::uint64_t next_stiffness_id() noexcept {
    static std::atomic<std::uint64_t> last{0};
    return ++last;
}

double mean_edge_length(const SurfaceMesh& mesh) {
    double sum = 0;
    for (int t = 0; t < mesh.num_triangles(); ++t)
        for (int k = 0; k < 3; ++k) sum += (mesh.corner(t, (k + 1) % 3) - mesh.corner(t, k)).norm();
    return sum / std::max(3 * mesh.num_triangles(), 1);
}

const SurfaceStiffnessOptions& checked_stiffness_options(const GreensModel& model,
                                                         const SurfaceStiffnessOptions& options) {
    if (model.reference.functions->block() != 3)
        throw InputError("",
                         "surface stiffness: the body's field is scalar; touch needs elastic "
                         "Green's functions");
    if (!(options.mask.radius >= 0) || !std::isfinite(options.mask.radius))
        throw InputError("", "mask.radius", std::to_string(options.mask.radius),
                         "value ≥ 0 [m]; 0: 1.5 mean edges");
    if (!(options.rigid_stiffness > 0) || !std::isfinite(options.rigid_stiffness))
        throw InputError("", "rigid_stiffness", std::to_string(options.rigid_stiffness),
                         "value > 0 [N/m]");
    if (options.mask.kind == MaskKind::Custom && !options.mask.density)
        throw InputError("", "mask.density: missing; a custom mask needs one");
    return options;
}

}  // namespace

/// What surrounds a vertex: the triangles reached over the surface without leaving the ball.
struct SurfaceStiffness::Patch {
    const GreensModel& model;
    SurfaceTopology topology;
    std::vector<int> seen_vertex, seen_node;  // by the vertex whose mask it was
    std::vector<int> vertices, nodes;

    explicit Patch(const GreensModel& body)
        : model(body),
          topology(body.surface.mesh),
          seen_vertex(body.surface.mesh.vertices.size(), -1),
          seen_node(body.reference.positions.size(), -1) {}

    /// Nodes of all triangles that meet the connected vertices nearer than `radius`, ascending.
    void gather(int centre, double radius) {
        const auto& positions = model.surface.mesh.vertices;
        vertices.assign(1, centre);
        nodes.clear();
        seen_vertex[at(centre)] = centre;
        for (std::size_t next = 0; next < vertices.size(); ++next)
            for (const int triangle : topology.triangles_at(vertices[next]))
                for (int k = 0; k < 3; ++k) {
                    const int vertex = model.surface.mesh.triangles[at(triangle)][at(k)];
                    const int node = model.corner_nodes[at(triangle)][at(k)];
                    if (std::exchange(seen_node[at(node)], centre) != centre) nodes.push_back(node);
                    if (seen_vertex[at(vertex)] == centre ||
                        !((positions[at(vertex)] - positions[at(centre)]).norm() < radius))
                        continue;
                    seen_vertex[at(vertex)] = centre;
                    vertices.push_back(vertex);
                }
        std::sort(nodes.begin(), nodes.end());
    }
};

SurfaceStiffness::SurfaceStiffness(std::shared_ptr<const GreensModel> model,
                                   const SurfaceStiffnessOptions& options)
    : model_(std::move(model)), id_(next_stiffness_id()) {
    rigid_ = checked_stiffness_options(*model_, options).rigid_stiffness;
    mask_offsets_.assign(1, 0);
    if (options.mask.kind == MaskKind::Level)
        build_from_level(options.mask.level);
    else
        build_from_patches(options.mask);
}

void SurfaceStiffness::build_from_patches(const PressureMaskOptions& options) {
    const SurfaceMesh& mesh = model_->surface.mesh;
    PressureMaskOptions mask = options;
    if (mask.radius == 0) mask.radius = kDefaultEdges * mean_edge_length(mesh);
    radius_ = mask.kind == MaskKind::Vertex ? 0 : mask.radius;

    Patch patch(*model_);
    for (int vertex = 0; vertex < mesh.num_vertices(); ++vertex) {
        const std::size_t first = mask_nodes_.size();
        const bool is_elastic = add_mask(vertex, mask, patch);
        mask_offsets_.push_back(static_cast<int>(mask_nodes_.size()));
        finish_vertex(first, is_elastic ? elastic_stiffness(vertex) : Matrix3d(Matrix3d::Zero()));
    }
}

/// The vertex is rigid where it has no mask or no stiffness of its own.
void SurfaceStiffness::finish_vertex(std::size_t first, Matrix3d K) {
    if (mask_nodes_.size() == first || !K.allFinite()) {
        mask_nodes_.resize(first);
        mask_densities_.resize(first);
        mask_offsets_.back() = static_cast<int>(first);
        K = rigid_ * Matrix3d::Identity();
    }
    stiffness_.push_back(K);
    const auto eigen = jacobi_eigen<3>(K);
    spectra_.push_back({eigen.values, eigen.vectors});
}

/// Masks φ_[l,k] / a_[l,k] at the vertices of the level, docs/greens-constraints.md eq. (H13).
/// Those of other vertices, and their stiffness, are what barycentric coordinates in the triangles
/// of the level make of them: so contact in fine triangles is contact in those.
void SurfaceStiffness::build_from_level(int level) {
    const ReferenceProblem& reference = model_->reference;
    if (!reference.hierarchy)
        throw InputError("",
                         "mask of a coarser level: the body has no columns of coarser levels; "
                         "refine them first");
    const HierarchicalBasis& basis = *reference.hierarchy;
    if (level < 0 || level > basis.num_levels())
        throw InputError("", "mask.level", std::to_string(level),
                         "0 to " + std::to_string(basis.num_levels()));
    radius_ =
        mean_edge_length({model_->surface.mesh.vertices, model_->surface.triangles[at(level)]});
    const std::vector<double> areas = basis.areas(reference.areas);
    for (int vertex = 0; vertex < basis.num_vertices(); ++vertex) {
        const WeightedVertices over = basis.covering(level, vertex);
        double sum = 0;
        const auto each = [&](auto&& visit) {
            for (std::size_t q = 0; q < over.vertices.size(); ++q)
                if (const int id = basis.id(level, over.vertices[q]);
                    reference.functions->has_column(id))
                    visit(id, over.vertices[q], over.weights[q]);
        };
        // functions without columns are left out, as nodes are
        if (!is_held(vertex)) each([&](int, int, double weight) { sum += weight; });
        const std::size_t first = mask_nodes_.size();
        Matrix3d K = Matrix3d::Zero();
        if (sum > 0)
            each([&](int id, int k, double weight) {
                mask_nodes_.push_back(id);
                mask_densities_.push_back(weight / sum / areas[at(id)]);
                if (k < vertex) K += weight / sum * stiffness_[at(k)];
            });
        mask_offsets_.push_back(static_cast<int>(mask_nodes_.size()));
        if (sum > 0 && vertex < basis.num_vertices(level)) K = elastic_stiffness(vertex);
        finish_vertex(first, K);
    }
    if (mask_nodes_.empty())
        throw InputError("", "mask.level", std::to_string(level),
                         "a level of which the body has columns");
}

bool SurfaceStiffness::is_held(int vertex) const noexcept {
    for (int k = model_->vertex_offsets[at(vertex)]; k < model_->vertex_offsets[at(vertex) + 1];
         ++k)
        if (model_->reference.kinds[at(model_->vertex_nodes[at(k)])] == NodeKind::Fixed)
            return true;
    return false;
}

/// Appends the mask of a vertex; false where the body is rigid. docs/greens.md eq. (E1).
bool SurfaceStiffness::add_mask(int vertex, const PressureMaskOptions& options, Patch& patch) {
    const ReferenceProblem& reference = model_->reference;
    const int first = model_->vertex_offsets[at(vertex)],
              end = model_->vertex_offsets[at(vertex) + 1];
    if (is_held(vertex)) return false;

    const std::size_t start = mask_nodes_.size();
    double sum = 0;
    const auto add = [&](int node, double density) {
        if (!(density >= 0) || !std::isfinite(density))
            throw InputError("", "mask.density", std::to_string(density),
                             "finite values that are not negative");
        if (density == 0 || reference.kinds[at(node)] == NodeKind::Fixed ||
            !reference.functions->has_column(node))
            return;
        mask_nodes_.push_back(node);
        mask_densities_.push_back(density);
        sum += density * reference.areas[at(node)];
    };
    if (options.kind != MaskKind::Vertex) {
        patch.gather(vertex, options.radius);
        const Vector3d& centre = model_->surface.mesh.vertices[at(vertex)];
        for (const int node : patch.nodes) {
            const Vector3d& x = reference.positions[at(node)];
            const double distance = (x - centre).norm();
            if (!(distance < options.radius)) continue;
            add(node, options.kind == MaskKind::Cone ? 1 - distance / options.radius
                                                     : options.density(centre, x));
        }
    }
    // alone, or nothing else in reach: the nodes that move the vertex
    if (!(sum > 0)) {
        mask_nodes_.resize(start);
        mask_densities_.resize(start);
        sum = 0;
        for (int k = first; k < end; ++k)
            add(model_->vertex_nodes[at(k)], double{model_->vertex_weights[at(k)]});
    }
    if (!(sum > 0)) return false;
    for (std::size_t k = start; k < mask_densities_.size(); ++k) mask_densities_[k] /= sum;
    return true;
}

std::span<const int> SurfaceStiffness::mask_nodes(int vertex) const noexcept {
    const std::size_t first = at(mask_offsets_[at(vertex)]),
                      end = at(mask_offsets_[at(vertex) + 1]);
    return std::span(mask_nodes_).subspan(first, end - first);
}

std::span<const double> SurfaceStiffness::mask_densities(int vertex) const noexcept {
    const std::size_t first = at(mask_offsets_[at(vertex)]),
                      end = at(mask_offsets_[at(vertex) + 1]);
    return std::span(mask_densities_).subspan(first, end - first);
}

Matrix3d SurfaceStiffness::compliance(int i, int j) const noexcept {
    const ReferenceProblem& reference = model_->reference;
    Matrix3d sum = Matrix3d::Zero();
    if (is_rigid(i) || is_rigid(j)) return sum;
    const auto nodes = mask_nodes(j);
    const auto densities = mask_densities(j);
    for (int k = model_->vertex_offsets[at(i)]; k < model_->vertex_offsets[at(i) + 1]; ++k)
        for (std::size_t m = 0; m < nodes.size(); ++m) {
            Eigen::Matrix<float, 3, 3, Eigen::RowMajor> element;
            reference.functions->element(model_->vertex_nodes[at(k)], nodes[m], element.data());
            sum += double{model_->vertex_weights[at(k)]} * densities[m] * element.cast<double>();
        }
    return reference.length / reference.modulus * sum;
}

/// (E2), its symmetric part with eigenvalues kept positive: the device must not gain energy.
Matrix3d SurfaceStiffness::elastic_stiffness(int vertex) const {
    const Matrix3d K = compliance(vertex, vertex).inverse();
    if (!K.allFinite()) return K;
    const auto eigen = symmetric_eigen(0.5 * (K + K.transpose()));
    const double least = kLeastStiffness * eigen.values.cwiseAbs().maxCoeff();
    return eigen.vectors * eigen.values.cwiseMax(least).asDiagonal() * eigen.vectors.transpose();
}

Matrix3d SurfaceStiffness::stiffness_at(int triangle, const Vector3d& barycentric,
                                        const Scale& scale) const noexcept {
    Matrix3d K = Matrix3d::Zero();
    for (int k = 0; k < 3; ++k) {
        const int vertex = model_->surface.mesh.triangles[at(triangle)][at(k)];
        const double factor = is_rigid(vertex) ? 1 : scale.modulus;
        const Spectrum& spectrum = spectra_[at(vertex)];
        if (factor * spectrum.values[2] <= scale.limit) {
            K += barycentric[k] * factor * stiffness_[at(vertex)];
            continue;
        }
        // along each axis as stiff as it is, or as the device can be, eq. (E4)
        for (int axis = 0; axis < 3; ++axis)
            K += barycentric[k] * std::min(factor * spectrum.values[axis], scale.limit) *
                 spectrum.axes.col(axis) * spectrum.axes.col(axis).transpose();
    }
    return K;
}

LiveSurfaceStiffness::LiveSurfaceStiffness(std::shared_ptr<const GreensModel> model,
                                           const SurfaceStiffnessOptions& options,
                                           bool is_immediate)
    : model_(std::move(model)),
      options_(options),
      is_immediate_(is_immediate),
      tick_(std::make_shared<const SurfaceStiffness>(model_, options)),
      display_(tick_.read_slot()),
      wanted_(options.mask.radius) {
    if (!is_immediate_) worker_ = std::thread([this] { run(); });
}

LiveSurfaceStiffness::~LiveSurfaceStiffness() {
    stops_ = true;
    ++epoch_;
    epoch_.notify_one();
    if (worker_.joinable()) worker_.join();
}

bool LiveSurfaceStiffness::request(double radius) noexcept {
    if (!(radius >= 0) || !std::isfinite(radius)) return false;
    wanted_ = radius;
    if (is_immediate_) {
        rebuild(radius);
        return true;
    }
    ++epoch_;
    epoch_.notify_one();
    return true;
}

/// A mask that cannot be built leaves the old one.
void LiveSurfaceStiffness::rebuild(double radius) noexcept {
    try {
        SurfaceStiffnessOptions options = options_;
        options.mask.radius = radius;
        const auto built = std::make_shared<const SurfaceStiffness>(model_, options);
        for (auto* buffer : {&tick_, &display_}) {
            buffer->write_slot() = built;
            buffer->publish();
        }
    } catch (const std::exception&) {
    }
}

void LiveSurfaceStiffness::run() noexcept {
    std::uint32_t seen = 0;
    for (;;) {
        epoch_.wait(seen);
        seen = epoch_;
        if (stops_) return;
        rebuild(wanted_);
    }
}

const SurfaceStiffness& LiveSurfaceStiffness::for_tick() noexcept {
    tick_.update();
    return *tick_.read_slot();
}

const SurfaceStiffness& LiveSurfaceStiffness::for_display() noexcept {
    display_.update();
    return *display_.read_slot();
}

}  // namespace pliant
