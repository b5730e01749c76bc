#include "pliant/fem/fem_model.h"

#include "fem/accurate_hex.h"
#include "fem/fem_model_data.h"
#include "fem/hex_batches.h"
#include "pliant/core/error.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <span>
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

/// The nodes of anything, one after the other: all pairs of nodes of one are coupled.
struct Cliques {
    std::span<const int> offsets, nodes;
};

/// Fills the block columns of K.
void build_columns(FemModelData& d, const Cliques& cliques) {
    const int n = d.mesh.num_vertices();
    // cliques around each node
    std::vector<int> offsets(static_cast<std::size_t>(n) + 1, 0);
    for (const int node : cliques.nodes) ++offsets[node + 1];
    for (int i = 0; i < n; ++i) offsets[i + 1] += offsets[i];
    std::vector<int> next(offsets.begin(), offsets.end() - 1), around(cliques.nodes.size());
    for (int clique = 0; clique + 1 < static_cast<int>(cliques.offsets.size()); ++clique)
        for (int k = cliques.offsets[clique]; k < cliques.offsets[clique + 1]; ++k)
            around[next[cliques.nodes[k]]++] = clique;

    d.column_offsets.assign(1, 0);
    std::vector<char> is_seen(static_cast<std::size_t>(n), 0);
    for (int b = 0; b < n; ++b) {
        const auto first = static_cast<std::ptrdiff_t>(d.rows.size());
        for (int k = offsets[b]; k < offsets[b + 1]; ++k)
            for (int a = cliques.offsets[around[k]]; a < cliques.offsets[around[k] + 1]; ++a) {
                const int node = cliques.nodes[a];
                if (is_seen[node]) continue;
                is_seen[node] = 1;
                d.rows.push_back(node);
            }
        std::sort(d.rows.begin() + first, d.rows.end());
        if (d.rows.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()) / 9)
            throw InputError("",
                             "the mesh has too many vertices: its stiffness matrix needs more "
                             "than 2147483647 entries; use a coarser one");
        for (auto row = d.rows.begin() + first; row != d.rows.end(); ++row) is_seen[*row] = 0;
        d.column_offsets.push_back(static_cast<int>(d.rows.size()));
    }
}

/// The place of every element's blocks in the columns.
void find_element_slots(FemModelData& d) {
    const int per_element = nodes_per_element(d.mesh.kind);
    d.slots.resize(d.nodes.size() * static_cast<std::size_t>(per_element));
    parallel_for(d.nodes.size(), 1024, [&](std::size_t k) {
        const std::size_t first = k - k % static_cast<std::size_t>(per_element);
        const int* const begin = d.rows.data() + d.column_offsets[d.nodes[k]];
        const int* const end = d.rows.data() + d.column_offsets[d.nodes[k] + 1];
        for (int a = 0; a < per_element; ++a)
            d.slots[k * static_cast<std::size_t>(per_element) + static_cast<std::size_t>(a)] =
                static_cast<int>(std::lower_bound(begin, end, d.nodes[first + a]) - begin);
    });
}

/// The pattern of K: nodes are coupled that share an element, or an edge or star of elements that
/// do not lock.
void build_pattern(FemModelData& d) {
    if (d.domains == nullptr) {
        const int per_element = nodes_per_element(d.mesh.kind);
        std::vector<int> offsets;
        for (int k = 0; k <= static_cast<int>(d.nodes.size()); k += per_element)
            offsets.push_back(k);
        build_columns(d, {offsets, d.nodes});
    } else {
        // a star holds the edges at its node; edges of regions without stars count themselves
        std::vector<int> offsets = d.domains->star_offsets, nodes = d.domains->star_nodes;
        for (int slot = 0; slot < d.domains->num_slots(); ++slot) {
            if (d.domains->ends[slot][0] < d.domains->num_stars()) continue;
            const auto of_edge = d.domains->nodes_of(slot);
            nodes.insert(nodes.end(), of_edge.begin(), of_edge.end());
            offsets.push_back(static_cast<int>(nodes.size()));
        }
        build_columns(d, {offsets, nodes});
        set_domain_slots(d, *d.domains);
    }
    find_element_slots(d);
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
    const bool is_tet = d->mesh.kind == ElementKind::Tet4;
    if (is_tet && d->elements == ElementFormulation::Accurate) {
        d->domains = make_tet_domains(*d);
        d->domain_scratch = std::make_unique<DomainScratchPool>(*d->domains);
    }
    build_pattern(*d);
    if (is_tet && d->domains == nullptr) d->tets = make_tet_batches(*d);
    if (!is_tet)
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
