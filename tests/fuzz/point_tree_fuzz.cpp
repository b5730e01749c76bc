#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "fuzz/archive_fuzz.h"
#include "pliant/contact/point_traversal.h"
#include "pliant/core/error.h"
#include "pliant/field/analytic_field.h"
#include "tests/sample_archives.h"

/// Any bytes give a tree that can be traversed or an InputError.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const std::vector<std::byte> sample =
        pliant::test::archive_sample(pliant::test::write_point_tree_sample);
    try {
        const pliant::Archive archive =
            pliant::Archive::from_bytes(pliant::test::fuzzed_archive(data, size, sample), "fuzz");
        const pliant::PointTree tree = pliant::PointTree::from_archive(archive, "fuzz");
        const std::vector<double> q(static_cast<std::size_t>(tree.rank()), 1e-3);
        pliant::PointTraversal traversal(tree, pliant::sphere_field(0.1));
        traversal.update({tree.centre(), pliant::Quaternion::Identity()}, q);
        if (traversal.statistics().visited > tree.num_nodes()) std::abort();
        for (int node = 0; node < tree.num_nodes(); ++node)
            if (!(tree.sphere_radius(node, q) >= 0)) std::abort();
    } catch (const pliant::InputError&) {
        // a malformed file, refused
    }
    return 0;
}
