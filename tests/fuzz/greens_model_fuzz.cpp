#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "fuzz/archive_fuzz.h"
#include "pliant/core/error.h"
#include "pliant/greens/greens_model.h"
#include "tests/sample_archives.h"

/// Any bytes give a model that can be used or an InputError.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const std::vector<std::byte> sample =
        pliant::test::archive_sample(pliant::test::write_greens_sample);
    volatile double sink = 0;
    try {
        const pliant::Archive archive =
            pliant::Archive::from_bytes(pliant::test::fuzzed_archive(data, size, sample), "fuzz");
        const pliant::GreensModel model = pliant::greens_model_from_archive(archive, "fuzz");
        const pliant::GreensFunctions& functions = *model.reference.functions;
        const int n = model.num_nodes();
        if (n < 1 || functions.num_nodes() != n || functions.block() != 3) std::abort();

        // everything that reads from the file
        std::vector<int> nodes;
        std::vector<float> weights, field(3 * static_cast<std::size_t>(n)),
            readouts(static_cast<std::size_t>(functions.num_readouts()));
        float block[9];
        for (int node = 0; node < n; ++node) {
            if (!functions.has_column(node)) continue;
            nodes.push_back(node);
            weights.insert(weights.end(), 3, 1e-3f);
            functions.element(n - 1, node, block);
            sink = sink + static_cast<double>(block[8]);
        }
        functions.add_columns(nodes, weights, field);
        functions.add_readouts(nodes, weights, readouts);
        const std::vector<float> body(static_cast<std::size_t>(functions.num_body_columns()), 1.0f);
        functions.add_body_columns(body, field);
        functions.add_body_readouts(body, readouts);
        for (int v = 0; v < model.surface.mesh.num_vertices(); ++v) {
            const auto place = static_cast<std::size_t>(v);
            for (int k = model.vertex_offsets[place]; k < model.vertex_offsets[place + 1]; ++k) {
                const auto entry = static_cast<std::size_t>(k);
                const auto node = static_cast<std::size_t>(model.vertex_nodes[entry]);
                sink = sink + static_cast<double>(model.vertex_weights[entry] * field[3 * node]);
            }
        }
        for (const auto& corners : model.corner_nodes)
            for (const int node : corners)
                sink = sink + model.reference.areas[static_cast<std::size_t>(node)];
        sink = sink + model.gravity_parameters({0, 0, -9.81})[2] + model.youngs_modulus();
    } catch (const pliant::InputError&) {
        // a malformed file, refused
    }
    return 0;
}
