#include <algorithm>
#include <vector>

#include "apps/pliant/output.h"
#include "contact_samples.h"
#include "pliant/core/tick_histogram.h"
#include "pliant/scene/scene_file.h"
#include "pliant/scene/world.h"
#include "reduction_experiments.h"

namespace pliant::reproduce {
namespace {

/// The demo, or one of a few small bodies.
SceneDescription baskets_scene(bool is_quick) {
    SceneDescription scene = demo_scene("baskets");
    if (!is_quick) return scene;
    for (BodyDescription& body : scene.bodies) {
        auto* const reduced = std::get_if<ReducedSource>(&body.source);
        if (reduced == nullptr) continue;
        body.copies->counts = {2, 2, 2};
        ReducedBuildOptions& build = std::get<ReducedRecipe>(reduced->model).build;
        build.mesh.resolution = 24;
        build.num_modes = 4;
        build.rank = 10;
    }
    return scene;
}

}  // namespace

void run_baskets(Context& context) {
    Section& page = context.section;
    // falling, the first impacts, and the whole heap
    constexpr double kEnd = 2, kHeap = 1.5;
    const SceneDescription scene = baskets_scene(context.is_quick);
    const auto& recipe =
        std::get<ReducedRecipe>(std::get<ReducedSource>(scene.bodies[1].source).model);
    World world = [&] {
        const AllCores all;
        return World(scene);
    }();
    context.done(0.6);
    const int num_baskets = static_cast<int>(world.bodies().size()) - 2;  // floor, paddle
    page.text(
        cli::format("%d free baskets of r = %d fall on a floor and into a heap: the demo baskets, "
                    "decoupled, one step (1/120 s) of every body with all its contacts, friction "
                    "and deformed fields, on one thread. Published for 512 baskets of r = 40: "
                    "1.2 s for each frame of one step, contact by trees of spheres.",
                    num_baskets, recipe.build.rank));
    std::vector<double> air, heap;  // [ms]
    for (double time = 0; time < kEnd;) {
        const double start = thread_cpu_time_us();
        const SimulationLoop& loop = world.loop(world.advance());
        // another loop has the tool alone
        if (loop.settings().name != "baskets") continue;
        time = loop.time();
        (time < kHeap ? air : heap).push_back(1e-3 * (thread_cpu_time_us() - start));
        context.done(0.6 + 0.4 * std::min(1.0, time / kEnd));
    }
    Table table{"baskets",
                cli::format("Time of a step of all baskets; falling: the first %g s, with the "
                            "first impacts",
                            kHeap),
                {{"when", "when"},
                 {"steps", "steps"},
                 {"median_ms", "median, ms"},
                 {"max_ms", "largest, ms"}}};
    const auto add = [&](const char* when, std::vector<double>& times) {
        std::sort(times.begin(), times.end());
        table.add({when, Cell::count(static_cast<std::int64_t>(times.size())),
                   Cell::number(times[times.size() / 2], "%.1f"),
                   Cell::number(times.back(), "%.1f")});
    };
    add("falling", air);
    add("in the heap", heap);
    page.table(table);
}

}  // namespace pliant::reproduce
