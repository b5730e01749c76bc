#include "fem/hex_batches.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <span>
#include <tuple>
#include <utility>

namespace pliant {
namespace {

using Eigen::Vector3d;

/// Corners of the mesh in the binary order of the kernels.
constexpr int kFromBinary[8] = {0, 1, 3, 2, 4, 5, 7, 6};

/// Relative to the sides: what rounding does to a box a million sides from the origin.
constexpr double kBoxTolerance = 1e-10;

/// The rest shape as a polynomial x(ξ): at m the factor of Π ξ_k over the bits k of m.
using Modes = std::array<Vector3d, 8>;

Modes rest_modes(const VolumeMesh& mesh, int element) {
    const auto nodes = mesh.element(element);
    Modes modes;
    for (int m = 0; m < 8; ++m) {
        modes[m].setZero();
        for (int a = 0; a < 8; ++a) {
            double sign = 1;
            for (int k = 0; k < 3; ++k)
                if (m >> k & 1 && !(a >> k & 1)) sign = -sign;
            // relative to a corner, so that the place of the body does not matter
            modes[m] += sign / 8 * (mesh.vertices[nodes[kFromBinary[a]]] - mesh.vertices[nodes[0]]);
        }
    }
    return modes;
}

bool is_axis_aligned_box(const Modes& modes) {
    const Vector3d sides(modes[1].x(), modes[2].y(), modes[4].z());
    const double tolerance = kBoxTolerance * sides.minCoeff();
    double rest = 0;
    for (int m = 1; m < 8; ++m)
        for (int k = 0; k < 3; ++k)
            if (m != 1 << k) rest = std::max(rest, std::abs(modes[m][k]));
    return rest <= tolerance;
}

/// One element on its way into a batch.
struct Hex {
    int element, place;
    bool is_box;
    Law law;
    const HexWeights* cut;  ///< null: filled evenly
    Modes modes;
};

class HexBatchBuilder {
public:
    HexBatchBuilder(const VolumeMesh& mesh, const ElementBlocks& blocks,
                    const std::vector<Material>& materials, ElementFormulation elements,
                    const CutHexes* cut)
        : mesh_(mesh),
          blocks_(blocks),
          materials_(materials),
          is_accurate_(elements == ElementFormulation::Accurate),
          cut_(cut) {}

    HexBatches build() && {
        hexes_.batch_offsets = hexes_.node_offsets = hexes_.other_offsets = {0};
        for (int block = 0; block < blocks_.num_blocks(); ++block) {
            append_block(blocks_.block_offsets[block], blocks_.block_offsets[block + 1]);
            hexes_.batch_offsets.push_back(static_cast<int>(hexes_.batches.size()));
            hexes_.node_offsets.push_back(static_cast<int>(hexes_.nodes.size()));
            hexes_.other_offsets.push_back(static_cast<int>(hexes_.others.size()));
        }
        hexes_.values.shrink_to_fit();
        hexes_.single_values.resize(hexes_.values.size());
        for (std::size_t k = 0; k < hexes_.values.size(); ++k)
            std::ranges::transform(hexes_.values[k].lane, hexes_.single_values[k].lane,
                                   [](double value) { return static_cast<float>(value); });
        return std::move(hexes_);
    }

private:
    [[nodiscard]] const Material& material(int element) const {
        return materials_[mesh_.regions.empty() ? 0 : mesh_.regions[element]];
    }

    void append_block(int first, int end) {
        assert(end - first <= kMaxHexesPerBlock);
        std::vector<Hex> block;
        block_nodes_.clear();
        for (int place = first; place < end; ++place) {
            const int element = blocks_.elements[place];
            if (!has_hex_kernel(material(element))) {
                hexes_.others.push_back(place);
                continue;
            }
            const Modes modes = rest_modes(mesh_, element);
            block.push_back({element, place, is_axis_aligned_box(modes), material(element).law,
                             cut_ != nullptr ? cut_->of(place) : nullptr, modes});
            for (const int node : mesh_.element(element)) block_nodes_.push_back(node);
        }
        std::ranges::sort(block_nodes_);
        block_nodes_.erase(std::unique(block_nodes_.begin(), block_nodes_.end()),
                           block_nodes_.end());
        hexes_.nodes.insert(hexes_.nodes.end(), block_nodes_.begin(), block_nodes_.end());

        // one shape and law after the other
        const auto kind = [](const Hex& hex) {
            return std::tuple(hex.cut != nullptr, hex.is_box, hex.law);
        };
        std::ranges::stable_sort(block, {}, kind);
        for (auto rest = std::span<const Hex>(block); !rest.empty();) {
            const auto same =
                static_cast<std::size_t>(std::ranges::count(rest, kind(rest.front()), kind));
            const std::size_t count = std::min<std::size_t>(kHexLanes, same);
            append_batch(rest.first(count));
            rest = rest.subspan(count);
        }
    }

    void append_batch(std::span<const Hex> hexes) {
        HexBatch batch{};
        batch.num_elements = static_cast<int>(hexes.size());
        batch.first_value = static_cast<int>(hexes_.values.size());
        batch.is_box = hexes[0].is_box;
        batch.is_small_strain = hexes[0].law == Law::SmallStrain;
        batch.is_neo_hookean = hexes[0].law == Law::NeoHookean;
        batch.is_accurate = is_accurate_;
        batch.is_cut = hexes[0].cut != nullptr;
        std::ranges::fill(batch.elements, -1);
        const int num_values = batch.is_cut   ? kHexCutValues
                               : batch.is_box ? kHexBoxValues
                                              : kHexValues;
        hexes_.values.resize(hexes_.values.size() + static_cast<std::size_t>(num_values));
        for (int lane = 0; lane < kHexLanes; ++lane) {
            // lanes without element have the shape of the first, so that nothing is 0/0 there
            const bool is_empty = lane >= batch.num_elements;
            const Hex& hex = hexes[is_empty ? 0 : lane];
            append_values(hex, [&, next = batch.first_value](double value) mutable {
                hexes_.values[next++].lane[lane] = value;
            });
            if (is_empty) continue;
            batch.elements[lane] = hex.element;
            batch.places[lane] = hex.place;
            const auto nodes = mesh_.element(hex.element);
            for (int a = 0; a < 8; ++a) {
                const auto found = std::ranges::lower_bound(block_nodes_, nodes[kFromBinary[a]]);
                batch.corners[a][lane] =
                    static_cast<std::uint16_t>(4 * (found - block_nodes_.begin() + 1));
            }
        }
        hexes_.batches.push_back(batch);
    }

    /// Hands the values of one element to `append` in the order of HexBatches.
    template <class Append>
    void append_values(const Hex& hex, Append append) const {
        const Material& law = material(hex.element);
        const double filled = mesh_.filled.empty() ? 1.0 : mesh_.filled[hex.element];
        const double factor = filled * law.mu / 8;
        append(law.lambda / (2 * law.mu));
        if (hex.is_box) {
            const Vector3d half_sides(hex.modes[1].x(), hex.modes[2].y(), hex.modes[4].z());
            append(factor * half_sides.prod());
            for (int k = 0; k < 3; ++k) append(1 / half_sides[k]);
            if (hex.cut != nullptr) {
                const double scale = law.mu / 8;
                append(1 / (scale * hex.cut->col(0).sum()));
                append(1 / scale);
                for (int k = 0; k < 7; ++k)
                    for (int q = 0; q < 8; ++q) append(scale * (*hex.cut)(kFromBinary[q], k));
            }
        } else {
            append(factor);
            for (int k = 0; k < 3; ++k)
                for (int m = 1; m < 8; ++m) append(hex.modes[m][k]);
        }
    }

    const VolumeMesh& mesh_;
    const ElementBlocks& blocks_;
    const std::vector<Material>& materials_;
    bool is_accurate_;
    const CutHexes* cut_;
    std::vector<int> block_nodes_;  ///< of the block at hand, ascending
    HexBatches hexes_;
};

}  // namespace

bool has_hex_kernel(const Material& material) noexcept {
    return !material.anisotropy && material.law != Law::Corotational;
}

HexBatches make_hex_batches(const VolumeMesh& mesh, const ElementBlocks& blocks,
                            const std::vector<Material>& materials, ElementFormulation elements,
                            const CutHexes* cut) {
    assert(mesh.kind == ElementKind::Hex8);
    return HexBatchBuilder(mesh, blocks, materials, elements, cut).build();
}

}  // namespace pliant
