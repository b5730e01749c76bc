#include "scene/greens_store.h"

#include <functional>
#include <set>

#include <gtest/gtest.h>

namespace pliant {
namespace {

/// A model in the cache is taken only for the recipe that it was made of.
TEST(GreensStore, EveryOptionThatChangesAModelIsInItsKey) {
    GreensRecipe recipe;
    recipe.surface.shape = "rabbit";
    recipe.build.fixed = "z < 15 %";
    SyntheticProbing probing;
    const std::vector<std::function<void(GreensRecipe&)>> changes = {
        [](GreensRecipe&) {},
        [](GreensRecipe& r) { r.surface.shape = "nodule"; },
        [](GreensRecipe& r) { r.levels = 2; },
        [](GreensRecipe& r) { r.pad = PadShape{}; },
        [](GreensRecipe& r) { r.build.size = 0.2; },
        [](GreensRecipe& r) { r.build.youngs_modulus = 2e5; },
        [](GreensRecipe& r) { r.build.poisson_ratio = 0.4; },
        [](GreensRecipe& r) { r.build.density = 900; },
        [](GreensRecipe& r) { r.build.fixed = "z < 16 %"; },
        [](GreensRecipe& r) { r.build.contactable = "z > 50 %"; },
        [](GreensRecipe& r) { r.build.has_fixed_columns = true; },
        [](GreensRecipe& r) { r.build.method = GreensMethod::FiniteElements; },
        [](GreensRecipe& r) { r.build.readouts = {GreensReadout{}}; },
        [](GreensRecipe& r) {
            r.build.readouts = {{ReadoutKind::Stress, {0, 0, 0}}};
        },
        [](GreensRecipe& r) {
            r.build.readouts = {{ReadoutKind::Stress, {0, 0, 0.01}}};
        },
        [](GreensRecipe& r) { r.build.elements = BoundaryElements::Constant; },
        [](GreensRecipe& r) { r.build.crease_angle = 0.5; },
        [](GreensRecipe& r) { r.build.solver = GreensSolver::Direct; },
        [](GreensRecipe& r) { r.build.solver = GreensSolver::Iterative; },
        [](GreensRecipe& r) { r.build.residual = 1e-3; },
        [](GreensRecipe& r) { r.build.memory = 1e9; },
        [](GreensRecipe& r) { r.build.matrix = GreensMatrix::Wavelet; },
        [](GreensRecipe& r) { r.build.matrix_tolerance = 1e-3; },
        [](GreensRecipe& r) { r.build.mesh.kind = "voxel"; },
        [](GreensRecipe& r) { r.build.mesh.resolution = 20; },
        [](GreensRecipe& r) { r.build.mesh.is_hollow = true; },
        [](GreensRecipe& r) { r.build.mesh.growth = 0.4; },
        [](GreensRecipe& r) { r.build.mesh.levels = 3; },
        [](GreensRecipe& r) { r.build.keeps_largest = true; },
        [](GreensRecipe& r) { r.build.material = material_preset("rubber"); },
        [](GreensRecipe& r) {
            r.build.regions = {{"z > 1 %", material_preset("rubber")}};
        },
        [](GreensRecipe& r) {
            r.build.regions = {{"z > 2 %", material_preset("rubber")}};
        },
        [](GreensRecipe& r) { r.build.wavelet = WaveletOptions{}; },
        [](GreensRecipe& r) { r.build.wavelet = WaveletOptions{.tolerance = 0.1}; },
        [](GreensRecipe& r) { r.build.wavelet = WaveletOptions{.kind = WaveletKind::Linear}; },
        [](GreensRecipe& r) { r.build.wavelet = WaveletOptions{.thresholds_base = true}; },
        [](GreensRecipe& r) { r.build.wavelet = WaveletOptions{.bits = 16}; },
        [](GreensRecipe& r) { r.build.coarsest_level = 1; },
        [](GreensRecipe& r) { r.build.coarsest_level = 1, r.build.finest_level = 2; },
        [&](GreensRecipe& r) { r.measured = probing; },
        [&](GreensRecipe& r) { probing.num_probes = 5, r.measured = probing; },
        [&](GreensRecipe& r) { probing.cone = 0.5, r.measured = probing; },
        [&](GreensRecipe& r) { probing.force = 1, r.measured = probing; },
        [&](GreensRecipe& r) { probing.noise = 1e-5, r.measured = probing; },
        [&](GreensRecipe& r) { probing.hidden_share = 0.2, r.measured = probing; },
        [&](GreensRecipe& r) {
            probing.cameras = {{1, 0, 0}}, r.measured = probing;
        },
        [&](GreensRecipe& r) { probing.sees_loaded = false, r.measured = probing; },
        [&](GreensRecipe& r) { probing.tip = ProbeTip::Vertex, r.measured = probing; },
        [&](GreensRecipe& r) { probing.seed = (1ull << 60) + 1, r.measured = probing; },
        [&](GreensRecipe& r) { probing.seed = (1ull << 60) + 2, r.measured = probing; },
    };
    std::set<std::uint64_t> keys;
    for (std::size_t i = 0; i < changes.size(); ++i) {
        GreensRecipe changed = recipe;
        changes[i](changed);
        EXPECT_TRUE(keys.insert(greens_key(changed)).second) << "change " << i;
    }
}

}  // namespace
}  // namespace pliant
