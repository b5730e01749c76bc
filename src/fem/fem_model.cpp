#include "pliant/fem/fem_model.h"

#include "fem/accurate_hex.h"
#include "fem/fem_model_data.h"
#include "fem/hex_batches.h"
#include "pliant/core/error.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <sstream>

namespace pliant {
namespace {

/// Large blocks touch fewer nodes twice, small ones leave work for all threads: a hundred or two
/// blocks where that is possible.
int elements_per_block(const VolumeMesh& mesh) {
    if (mesh.kind == ElementKind::Hex8) return kMaxHexesPerBlock;
    const auto share = static_cast<unsigned>(mesh.num_elements()) / 128U;
    return static_cast<int>(std::clamp(std::bit_floor(share), 256U, 1024U));
}

std::string at(const char* name, int i) {
    return std::string(name) + "[" + std::to_string(i) + "]";
}

void check_mesh(const VolumeMesh& mesh) {
    const auto num_elements = static_cast<std::size_t>(mesh.num_elements());
    if (num_elements == 0) throw InputError("", "the mesh has no elements; nothing to simulate");
    if (mesh.elements.size() % static_cast<std::size_t>(nodes_per_element(mesh.kind)) != 0)
        throw InputError("", "elements.size", std::to_string(mesh.elements.size()),
                         "a multiple of " + std::to_string(nodes_per_element(mesh.kind)));
    for (int v = 0; v < mesh.num_vertices(); ++v)
        if (!mesh.vertices[v].allFinite()) {
            std::ostringstream text;
            text << mesh.vertices[v].transpose();
            throw InputError("", at("vertices", v), text.str(), "finite coordinates");
        }
    std::vector<char> is_used(mesh.vertices.size(), 0);
    for (int e = 0; e < mesh.num_elements(); ++e)
        for (const int node : mesh.element(e)) {
            if (node < 0 || node >= mesh.num_vertices())
                throw InputError("", at("elements", e), "vertex " + std::to_string(node),
                                 "a vertex from 0 to " + std::to_string(mesh.num_vertices() - 1));
            is_used[node] = 1;
        }
    if (const auto orphan = std::ranges::find(is_used, 0); orphan != is_used.end())
        throw InputError("", "vertex " + std::to_string(orphan - is_used.begin()) +
                                 " belongs to no element and would move without resistance; drop "
                                 "unused vertices with keep_largest_part()");
    if (!mesh.filled.empty() && mesh.filled.size() != num_elements)
        throw InputError("", "filled.size", std::to_string(mesh.filled.size()),
                         "one for each of " + std::to_string(num_elements) + " elements");
    for (int e = 0; e < static_cast<int>(mesh.filled.size()); ++e)
        if (!(mesh.filled[e] > 0 && mesh.filled[e] <= 1)) {
            std::ostringstream text;
            text << mesh.filled[e];
            throw InputError("", at("filled", e), text.str(), "0 < value <= 1");
        }
}

void check_hanging(const VolumeMesh& mesh) {
    std::vector<char> is_hanging(mesh.vertices.size(), 0);
    const auto is_vertex = [&](int v) { return v >= 0 && v < mesh.num_vertices(); };
    for (const HangingNode& h : mesh.hanging)
        if (is_vertex(h.vertex)) is_hanging[h.vertex] = 1;
    for (int i = 0; i < static_cast<int>(mesh.hanging.size()); ++i) {
        const HangingNode& h = mesh.hanging[i];
        bool is_valid = is_vertex(h.vertex) && (h.num_masters == 2 || h.num_masters == 4) &&
                        h.weight == 1.0 / h.num_masters;
        for (int m = 0; is_valid && m < h.num_masters; ++m)
            is_valid = is_vertex(h.masters[m]) && !is_hanging[h.masters[m]];
        if (!is_valid)
            throw InputError("", at("hanging", i), "vertex " + std::to_string(h.vertex),
                             "a vertex that is the mean of 2 or 4 free ones");
    }
}

void check_regions(const VolumeMesh& mesh, const std::vector<Material>& materials) {
    if (!mesh.regions.empty() && std::ssize(mesh.regions) != mesh.num_elements())
        throw InputError("", "regions.size", std::to_string(mesh.regions.size()),
                         "one for each of " + std::to_string(mesh.num_elements()) + " elements");
    int num_regions = std::max(1, static_cast<int>(mesh.region_names.size()));
    for (int e = 0; e < static_cast<int>(mesh.regions.size()); ++e) {
        if (mesh.regions[e] < 0)
            throw InputError("", at("regions", e), std::to_string(mesh.regions[e]), "value >= 0");
        num_regions = std::max(num_regions, mesh.regions[e] + 1);
    }
    if (std::ssize(materials) != num_regions)
        throw InputError("", "materials.size", std::to_string(materials.size()),
                         std::to_string(num_regions) + ", one for each region of the mesh");
    for (const Material& material : materials) check_material(material);
}

/// Fills the block columns of K and the place of every element's blocks in them.
void build_pattern(FemModelData& d) {
    const int n = d.mesh.num_vertices(), per_element = nodes_per_element(d.mesh.kind);
    // elements around each node
    std::vector<int> offsets(static_cast<std::size_t>(n) + 1, 0);
    for (const int node : d.nodes) ++offsets[node + 1];
    for (int i = 0; i < n; ++i) offsets[i + 1] += offsets[i];
    std::vector<int> next(offsets.begin(), offsets.end() - 1), around(d.nodes.size());
    for (int k = 0; k < static_cast<int>(d.nodes.size()); ++k)
        around[next[d.nodes[k]]++] = k / per_element;

    d.column_offsets.assign(1, 0);
    d.slots.resize(d.nodes.size() * static_cast<std::size_t>(per_element));
    std::vector<int> slot_of(static_cast<std::size_t>(n), -1);
    for (int b = 0; b < n; ++b) {
        const int first = d.column_offsets.back();
        for (int k = offsets[b]; k < offsets[b + 1]; ++k)
            for (int a = 0; a < per_element; ++a) {
                const int node = d.nodes[around[k] * per_element + a];
                if (slot_of[node] >= 0) continue;
                slot_of[node] = 0;
                d.rows.push_back(node);
            }
        std::sort(d.rows.begin() + first, d.rows.end());
        if (d.rows.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()) / 9)
            throw InputError("",
                             "the mesh has too many vertices: its stiffness matrix needs more "
                             "than 2147483647 entries; use a coarser one");
        for (int k = first; k < static_cast<int>(d.rows.size()); ++k)
            slot_of[d.rows[k]] = k - first;
        for (int k = offsets[b]; k < offsets[b + 1]; ++k) {
            const std::size_t start = static_cast<std::size_t>(around[k]) * per_element;
            for (int column = 0; column < per_element; ++column)
                if (d.nodes[start + column] == b)
                    for (int a = 0; a < per_element; ++a)
                        d.slots[(start + column) * per_element + a] = slot_of[d.nodes[start + a]];
        }
        for (int k = first; k < static_cast<int>(d.rows.size()); ++k) slot_of[d.rows[k]] = -1;
        d.column_offsets.push_back(static_cast<int>(d.rows.size()));
    }
}

}  // namespace

std::string_view to_string(ElementFormulation elements) noexcept {
    return elements == ElementFormulation::Accurate ? "accurate" : "plain";
}

ElementFormulation element_formulation(std::string_view name, const std::string& field) {
    for (const auto elements : {ElementFormulation::Accurate, ElementFormulation::Plain})
        if (name == to_string(elements)) return elements;
    throw InputError("", field, std::string(name), "accurate or plain");
}

FemModel::FemModel(VolumeMesh mesh, std::vector<Material> materials, const FemOptions& options) {
    check_mesh(mesh);
    check_hanging(mesh);
    check_regions(mesh, materials);
    auto d = std::make_shared<FemModelData>();
    d->elements = options.elements;
    d->blocks = element_blocks(mesh, elements_per_block(mesh));
    d->points = quadrature_points(mesh, d->blocks.elements);
    for (const int e : d->blocks.elements) {
        const auto nodes = mesh.element(e);
        d->nodes.insert(d->nodes.end(), nodes.begin(), nodes.end());
        d->regions.push_back(mesh.regions.empty() ? 0 : mesh.regions[e]);
    }
    d->mesh = std::move(mesh);
    d->materials = std::move(materials);
    if (options.elements == ElementFormulation::Accurate)
        d->cut = find_cut_hexes(d->mesh, d->blocks, d->points,
                                [&](int place) { return is_accurate_hex(*d, place); });
    build_pattern(*d);
    if (d->mesh.kind == ElementKind::Tet4)
        d->tets = make_tet_batches(*d);
    else
        d->hexes = make_hex_batches(d->mesh, d->blocks, d->materials, d->elements, &d->cut);
    data_ = std::move(d);
}

const VolumeMesh& FemModel::mesh() const noexcept { return data_->mesh; }
const std::vector<Material>& FemModel::materials() const noexcept { return data_->materials; }
const Material& FemModel::material_of(int element) const noexcept {
    const auto& regions = data_->mesh.regions;
    return data_->materials[regions.empty() ? 0 : regions[element]];
}
ElementFormulation FemModel::elements() const noexcept { return data_->elements; }

FemModel::Workspace FemModel::make_workspace() const {
    const auto num_blocks = static_cast<std::size_t>(data_->blocks.num_blocks());
    return {std::vector<double>(num_blocks), std::vector<int>(num_blocks)};
}

FemModel::Matrix FemModel::make_matrix() const {
    const FemModelData& d = *data_;
    Matrix K(num_unknowns(), num_unknowns());
    K.resizeNonZeros(9 * static_cast<Eigen::Index>(d.rows.size()));
    int end = 0;
    for (int b = 0; b < num_nodes(); ++b)
        for (int c = 0; c < 3; ++c) {
            K.outerIndexPtr()[3 * b + c] = end;
            for (int k = d.column_offsets[b]; k < d.column_offsets[b + 1]; ++k)
                for (int r = 0; r < 3; ++r) K.innerIndexPtr()[end++] = 3 * d.rows[k] + r;
        }
    K.outerIndexPtr()[num_unknowns()] = end;
    std::fill_n(K.valuePtr(), end, 0.0);
    return K;
}

}  // namespace pliant
