#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "fuzz/archive_fuzz.h"
#include "pliant/core/error.h"
#include "pliant/reduction/reduced_model.h"
#include "tests/sample_archives.h"

/// Any bytes give a model that can be used or an InputError.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const std::vector<std::byte> sample =
        pliant::test::archive_sample(pliant::test::write_reduced_sample);
    volatile double sink = 0;
    try {
        const pliant::Archive archive =
            pliant::Archive::from_bytes(pliant::test::fuzzed_archive(data, size, sample), "fuzz");
        const pliant::ReducedModel model = pliant::ReducedModel::from_archive(archive, "fuzz");
        const int r = model.rank();
        if (r < 1 || model.basis().cols() != r || model.mass().rows() != r) std::abort();
        if (model.shapes().size() != r || model.num_modes() < 1) std::abort();

        // everything that reads from the file
        const Eigen::VectorXd q = Eigen::VectorXd::Constant(r, 1e-3);
        sink = sink + model.basis().sum() + model.captured() + model.suggested_step();
        sink = sink + model.gravity_load({0, 0, -9.81}).sum();
        if (model.is_free()) sink = sink + model.inertia().mass;
        for (int v = 0; v < model.shapes().num_vertices(); ++v)
            sink = sink + model.shapes().position(v, q).sum();
        const pliant::ReducedModel first = model.truncated(1);
        sink = sink + first.mass()(0, 0) + static_cast<double>(first.polynomials().size());
        sink = sink + static_cast<double>(model.surface().num_triangles());
        sink = sink + static_cast<double>(model.embedding().num_points());
        sink = sink + static_cast<double>(model.mesh().num_elements());
        if (!model.has_polynomials()) return 0;
        const auto force = model.make_force();
        const auto workspace = force->make_workspace();
        sink = sink + force->energy(q, *workspace);
    } catch (const pliant::InputError&) {
        // a malformed file, refused
    }
    return 0;
}
