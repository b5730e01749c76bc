#include "pliant/greens/greens_body.h"

#include "body/surface_display.h"
#include "core/numbers.h"
#include "greens/detail_levels.h"
#include "greens/greens_state.h"
#include "pliant/greens/hierarchical_basis.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace pliant {

ShownSurface::ShownSurface(const GreensModel& model, int levels, const SurfaceQuery& detail,
                           double reach, Progress& progress)
    : rounds(levels), displaced(model.surface.mesh, levels) {
    report = displaced.fit(detail, reach, progress);
    mesh.triangles = displaced.triangles();
    mesh.vertices.resize(at(displaced.num_vertices()));
    displaced.evaluate(model.surface.mesh.vertices, mesh.vertices);
}

/// Of a picture: nondimensional.
struct GreensDisplay::Loads {
    std::vector<int> nodes;
    std::vector<float> tractions;
    std::array<float, 3> gravity = {};
    std::span<const float> driven = {};
    double tolerance = 0;  // 0: that of the build

    Loads(std::span<const int> loaded, std::span<const float> values)
        : nodes(loaded.begin(), loaded.end()), tractions(values.begin(), values.end()) {}
    Loads(std::span<const float> state, std::size_t num_driven) { read(state, num_driven); }
    explicit Loads(std::size_t most) {
        nodes.reserve(most);
        tractions.reserve(3 * most);
    }

    void read(std::span<const float> state, std::size_t num_driven) {
        driven = state.last(3 * num_driven);
        tolerance = double{state[kGreensTolerance]};
        nodes.clear();
        tractions.clear();
        const auto count = static_cast<std::size_t>(state[kGreensCount]);
        for (std::size_t i = 0; i < count; ++i) {
            const float* const load = state.data() + kGreensLoads + kFloatsPerLoad * i;
            nodes.push_back(static_cast<int>(load[0]));
            tractions.insert(tractions.end(), load + 1, load + 4);
        }
        std::copy_n(state.data() + kGreensGravity, 3, gravity.begin());
    }
};

struct GreensDisplay::Scratch {
    Loads loads;
    std::vector<float> u, total;
    std::vector<Eigen::Vector3d> control, fine;  // of a surface with detail
};

GreensDisplay::GreensDisplay(std::shared_ptr<const GreensModel> model, int max_loads,
                             std::vector<int> driven, std::shared_ptr<const ShownSurface> shown)
    : model_(std::move(model)),
      max_loads_(max_loads),
      driven_(std::move(driven)),
      shown_(std::move(shown)),
      detail_(std::make_unique<DetailLevels>(
          shown_ ? shown_->mesh.triangles : model_->surface.mesh.triangles,
          model_->surface.num_levels() + (shown_ ? shown_->rounds : 0))) {
    if (const auto& basis = model_->reference.hierarchy)
        level_areas_ = basis->areas(model_->reference.areas);
    if (auto wavelets =
            std::dynamic_pointer_cast<const WaveletGreensFunctions>(model_->reference.functions))
        tolerances_ = std::make_unique<ToleranceView>(std::move(wavelets));
    const int num_vertices = model_->surface.mesh.num_vertices();
    are_nodes_vertices_ = model_->num_nodes() == num_vertices;
    for (int v = 0; are_nodes_vertices_ && v < num_vertices; ++v)
        are_nodes_vertices_ =
            model_->vertex_offsets[at(v)] == v && model_->vertex_nodes[at(v)] == v;
}
GreensDisplay::~GreensDisplay() = default;

int GreensDisplay::state_size() const noexcept {
    return kGreensLoads + kFloatsPerLoad * max_loads_ + 3 * static_cast<int>(driven_.size());
}

int GreensDisplay::num_levels() const noexcept { return detail_->num_levels(); }

std::vector<std::array<int, 2>> GreensDisplay::level_edges(int level) const {
    return detail_->edges(level);
}

std::optional<CompressionReport> GreensDisplay::compression(double tolerance) const {
    if (!tolerances_) return std::nullopt;
    return tolerances_->report(tolerance);
}

void GreensDisplay::displacements(std::span<const float> state, std::span<float> u) const noexcept {
    assert(u.size() == 3 * at(model_->num_nodes()));
    sum(Loads(state, driven_.size()), u);
}

void GreensDisplay::sum(const Loads& loads, std::span<float> u) const noexcept {
    const std::size_t size = model_->reference.functions->sum_size(static_cast<int>(u.size() / 3));
    std::vector<float> total(size);
    sum(loads, u, total);
}

/// Of as many nodes as `u` has room for: those of a coarser level come first.
void GreensDisplay::sum(const Loads& loads, std::span<float> u,
                        std::span<float> total) const noexcept {
    const GreensFunctions& functions = *model_->reference.functions;
    const int num_nodes = static_cast<int>(u.size() / 3);
    const std::size_t size = functions.sum_size(num_nodes);
    const auto gravity = std::span(loads.gravity).first(functions.num_body_columns() == 3 ? 3 : 0);
    const std::span<float> sum = total.first(size);
    std::ranges::fill(sum, 0.0f);
    if (tolerances_ && loads.tolerance > 0)
        tolerances_->accumulate(loads.nodes, loads.tractions, gravity, loads.tolerance, num_nodes,
                                sum);
    else
        functions.accumulate(loads.nodes, loads.tractions, gravity, num_nodes, sum,
                             SummedRows::Displacements);
    if (!loads.driven.empty())
        functions.accumulate(driven_, loads.driven, {}, num_nodes, sum, SummedRows::Displacements);
    const auto rows = functions.field(sum, num_nodes, sum);
    // rows of supports are tractions
    const auto length = static_cast<float>(model_->reference.length);
    for (std::size_t i = 0; 3 * i < u.size(); ++i) {
        const float factor = model_->reference.kinds[i] == NodeKind::Free ? length : 0.0f;
        for (std::size_t k = 0; k < 3; ++k) u[3 * i + k] = factor * rows[3 * i + k];
    }
    for (std::size_t i = 0; 3 * i < loads.driven.size(); ++i)
        if (driven_[i] < num_nodes)
            for (std::size_t k = 0; k < 3; ++k)
                u[3 * at(driven_[i]) + k] = length * loads.driven[3 * i + k];
}

Eigen::Vector3f GreensDisplay::at_vertex(std::span<const float> u, std::size_t v) const noexcept {
    Eigen::Vector3f sum = Eigen::Vector3f::Zero();
    const int end = model_->vertex_offsets[v + 1];
    for (int k = model_->vertex_offsets[v]; k < end; ++k)
        sum += model_->vertex_weights[at(k)] *
               Eigen::Map<const Eigen::Vector3f>(u.data() + 3 * at(model_->vertex_nodes[at(k)]));
    return sum;
}

std::shared_ptr<GreensDisplay::Scratch> GreensDisplay::make_scratch() const {
    const std::size_t size = model_->reference.functions->sum_size(model_->num_nodes());
    auto scratch = std::make_shared<Scratch>(Scratch{Loads(at(max_loads_)), {}, {}, {}, {}});
    scratch->u.resize(3 * at(model_->num_nodes()));
    scratch->total.resize(size);
    if (shown_) {
        scratch->control.resize(model_->surface.mesh.vertices.size());
        scratch->fine.resize(shown_->mesh.vertices.size());
    }
    return scratch;
}

void GreensDisplay::positions(std::span<const float> state, std::span<float> x) const noexcept {
    const std::shared_ptr<Scratch> scratch = make_scratch();
    scratch->loads.read(state, driven_.size());
    const int level =
        std::clamp(num_levels() - static_cast<int>(state[kGreensCoarser]), 0, num_levels());
    place(state, level, x, *scratch);
}

void GreensDisplay::felt_positions(std::span<const float> state, std::span<float> x,
                                   Scratch& scratch) const noexcept {
    scratch.loads.read(state, driven_.size());
    scratch.loads.tolerance = 0;
    place(state, num_levels(), x, scratch);
}

/// Coarser levels are flat between their vertices.
void GreensDisplay::place(std::span<const float> state, int level, std::span<float> x,
                          Scratch& scratch) const noexcept {
    const std::vector<Eigen::Vector3d>& rest = model_->surface.mesh.vertices;
    const bool is_limited = !shown_ && are_nodes_vertices_;
    const int num_nodes = is_limited ? detail_->num_vertices(level) : model_->num_nodes();
    const std::span<float> u = std::span(scratch.u).first(3 * at(num_nodes));
    sum(scratch.loads, u, scratch.total);
    const DisplayPose pose(state);
    if (!shown_) {
        assert(x.size() == 3 * rest.size());
        const std::size_t count = is_limited ? at(num_nodes) : rest.size();
        for (std::size_t v = 0; v < count; ++v)
            Eigen::Map<Eigen::Vector3f>(x.data() + 3 * v) =
                pose.to_world(rest[v].cast<float>() + at_vertex(u, v));
    } else {
        for (std::size_t v = 0; v < rest.size(); ++v)
            scratch.control[v] = rest[v] + at_vertex(u, v).cast<double>();
        shown_->displaced.evaluate(scratch.control, scratch.fine);
        for (std::size_t v = 0; v < scratch.fine.size(); ++v)
            Eigen::Map<Eigen::Vector3f>(x.data() + 3 * v) =
                pose.to_world(scratch.fine[v].cast<float>());
    }
    if (level < num_levels()) detail_->flatten(x, level);
}

void GreensDisplay::respond(std::span<const int> nodes, std::span<const float> tractions,
                            std::span<float> u_vertices) const noexcept {
    std::vector<float> u(3 * at(model_->num_nodes()));
    sum(Loads(nodes, tractions), u);
    if (shown_) {
        const std::vector<Eigen::Vector3d>& rest = model_->surface.mesh.vertices;
        std::vector<Eigen::Vector3d> control(rest.size()), fine(shown_->mesh.vertices.size());
        for (std::size_t v = 0; v < rest.size(); ++v)
            control[v] = rest[v] + at_vertex(u, v).cast<double>();
        shown_->displaced.evaluate(control, fine);
        for (std::size_t v = 0; 3 * v < u_vertices.size(); ++v)
            Eigen::Map<Eigen::Vector3f>(u_vertices.data() + 3 * v) =
                (fine[v] - shown_->mesh.vertices[v]).cast<float>();
        return;
    }
    for (std::size_t v = 0; 3 * v < u_vertices.size(); ++v)
        Eigen::Map<Eigen::Vector3f>(u_vertices.data() + 3 * v) = at_vertex(u, v);
}

void GreensDisplay::normals(std::span<const float> x, std::span<float> n) const noexcept {
    area_weighted_normals(shown_ ? shown_->mesh.triangles : model_->surface.mesh.triangles, x, n);
}

void GreensDisplay::loaded_nodes(std::span<const float> state,
                                 std::vector<LoadedNode>& nodes) const {
    std::vector<float> u(3 * at(model_->num_nodes()));
    displacements(state, u);
    const DisplayPose pose(state);
    const auto modulus = static_cast<float>(model_->reference.modulus) * state[kGreensModulus];
    const auto count = static_cast<std::size_t>(state[kGreensCount]);
    nodes.clear();
    for (std::size_t i = 0; i < count; ++i) {
        const float* const load = state.data() + kGreensLoads + kFloatsPerLoad * i;
        const auto id = at(static_cast<int>(load[0]));
        LoadedNode one{.node = model_->reference.functions->row_of(static_cast<int>(load[0]))};
        const auto n = at(one.node);
        const Eigen::Vector3f x = model_->reference.positions[n].cast<float>() +
                                  Eigen::Map<const Eigen::Vector3f>(u.data() + 3 * n);
        const auto area = static_cast<float>(level_areas_.empty() ? model_->reference.areas[n]
                                                                  : level_areas_[id]);
        Eigen::Map<Eigen::Vector3f>(one.position.data()) = pose.to_world(x);
        Eigen::Map<Eigen::Vector3f>(one.force.data()) =
            pose.rotation * Eigen::Map<const Eigen::Vector3f>(load + 1) * (modulus * area);
        nodes.push_back(one);
    }
}

}  // namespace pliant
