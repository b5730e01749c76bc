#include <cmath>

#include "apps/pliant/output.h"
#include "proxy_experiments.h"
#include "tests/haptics/proxy_trials.h"

namespace pliant::reproduce {
namespace {

using cli::format;
using Eigen::Vector3d;

constexpr double kPopRadius = 0.03;

SurfaceMesh lifted(SurfaceMesh mesh, double height) {
    for (Vector3d& v : mesh.vertices) v.z() += height;
    return mesh;
}

/// A hollow cube seen from inside.
SurfaceMesh pocket(double side) {
    SurfaceMesh mesh = test::thin_plate(side, side, 2);
    for (Triangle& t : mesh.triangles) std::swap(t[1], t[2]);
    return mesh;
}

struct FailureCase {
    const char *name, *what;
    std::vector<SurfaceMesh> surfaces;
    Vector3d start;
    double (*side)(const Vector3d&);  ///< negative: where the centre must not be
};

std::vector<FailureCase> failure_cases() {
    const double r = kPopRadius;
    // a block that clips through the sheet: its top is just above the centre, which is inside it
    SurfaceMesh block = test::thin_plate(10 * r, 5 * r, 6);
    block = lifted(std::move(block), 0.1 * r - 2.5 * r);
    return {
        {"clipping neighbour",
         "a sheet 0.4 r below the centre, and a block in it whose top is 0.1 r above the centre "
         "and "
         "has its turn first",
         {block, double_faced(lifted(test::flat_sheet(20 * r, 8), -0.4 * r))},
         Vector3d(0.003, 0.002, 0),
         [](const Vector3d& x) { return x.z() + 0.4 * kPopRadius; }},
        {"parallel walls",
         "two sheets 1.5 r apart",
         {double_faced(lifted(test::flat_sheet(20 * r, 8), -0.7 * r)),
          double_faced(lifted(test::flat_sheet(20 * r, 8), 0.8 * r))},
         Vector3d(0.003, 0.002, 0),
         [](const Vector3d& x) {
             return std::min(x.z() + 0.7 * kPopRadius, 0.8 * kPopRadius - x.z());
         }},
        {"pocket",
         "a hollow cube of 1.6 r",
         {pocket(1.6 * r)},
         Vector3d(0.003, 0.002, 0.001),
         [](const Vector3d& x) { return 0.8 * kPopRadius - x.cwiseAbs().maxCoeff(); }},
    };
}

}  // namespace

void run_pop_out_failures(Context& context) {
    Section& page = context.section;
    page.text(
        "Published failures of pop-out: a neighbour that clips through a thin object pushes the "
        "centre across it, and the half-space option (only triangles in front of which the centre "
        "was) mends that; between parallel walls nearer than 2 r and in small pockets it runs into "
        "its limit, and where it ends depends on the limit. Here the limit is reached between the "
        "walls, but without room the sphere stays where it was if it has more clearance there, "
        "whatever the limit; out of the pocket plain and half-space pop-out go through its wall "
        "instead. Guarded pop-out crosses nothing and says where there is no room.");
    Table table{"failures",
                "What pop-out does where there is no room",
                {{"case", "case"},
                 {"pop_out", "pop-out"},
                 {"limit", "limit of rounds"},
                 {"rounds", "rounds"},
                 {"room", "says there is room"},
                 {"moved_r", "moved by, r"},
                 {"side", "centre"}}};
    std::string list;
    for (const FailureCase& failure : failure_cases()) {
        list += (list.empty() ? "" : "; ") + std::string(failure.name) + ": " + failure.what;
        std::vector<std::unique_ptr<VertexSurface>> surfaces;
        std::vector<MovingSurface*> all;
        for (const SurfaceMesh& mesh : failure.surfaces) {
            surfaces.push_back(std::make_unique<VertexSurface>(mesh));
            all.push_back(surfaces.back().get());
        }
        for (const auto& [name, mode] : {std::pair{"plain", PopOutMode::Plain},
                                         {"half-space", PopOutMode::HalfSpace},
                                         {"guarded", PopOutMode::Guarded}})
            for (const int limit : {100, 101}) {
                SurfaceNeighbourhood near(all);
                SphereCarryOptions options;
                options.radius = kPopRadius;
                options.pop_out = mode;
                options.max_pops = limit;
                const PopOutResult result = pop_out(near, failure.start, options);
                const bool is_good = failure.side(result.position) > 0;
                if (mode == PopOutMode::Guarded)
                    (void)page.compared(format("centre on its side, %s, %s", failure.name, name),
                                        is_good, 1, 0);
                table.add(
                    {failure.name, name, Cell::count(limit), Cell::count(result.rounds),
                     result.has_arrived ? "yes" : "no",
                     Cell::number((result.position - failure.start).norm() / kPopRadius, "%.3f"),
                     is_good ? "on its side" : "on the other side"});
            }
    }
    page.text("Sphere of radius r = 3 cm; " + list + ".");
    page.table(table);

    // the whole proxy: walls that close and open again
    VertexSurface low(test::thin_plate(0.4, 0.004, 12)), high(test::thin_plate(0.4, 0.004, 12));
    ProxyOptions options;
    options.sphere.radius = kPopRadius;
    VirtualProxy proxy({&low, &high}, options);
    const SurfaceMesh plate = test::thin_plate(0.4, 0.004, 12);
    const auto put = [&](VertexSurface& surface, double z) {
        std::vector<float> x;
        for (const Vector3d& v : plate.vertices)
            x.insert(x.end(), {float(v.x()), float(v.y()), float(v.z() + z)});
        surface.set_positions(x);
    };
    const Vector3d hand(0.004, 0.003, 0);
    put(low, -0.06);
    put(high, 0.06);
    proxy.reset(hand);
    int squeezed = 0, outside = 0;
    double force = 0;
    for (int k = 0; k <= 200; ++k) {
        const double gap = 0.06 - 0.05 * (1 - std::abs(k - 100) / 100.0);
        put(low, -gap);
        put(high, gap);
        const ProxyState& state = proxy.tick(hand);
        squeezed += state.is_squeezed;
        outside += std::abs(state.position.z()) > gap - 0.002;
        if (state.is_squeezed) force = std::max(force, state.force.norm());
    }
    Table walls{"closing_walls",
                "Plates that close to 1.6 cm around a sphere of 6 cm across, and open again",
                {{"squeezed", "steps without room, of 201"},
                 {"through", "steps with the centre in or behind a plate"},
                 {"force_n", "largest force meanwhile, N"},
                 {"after", "squeezed at the end (1: yes)"}}};
    walls.add({Cell::count(squeezed),
               page.at_most("steps behind a closing plate", outside, 0, "%.0f"),
               page.at_most("force of closing plates [N]", force, 0.05, "%.3f"),
               page.at_most("squeezed after plates opened", proxy.state().is_squeezed, 0, "%.0f")});
    page.table(walls);
    context.done(1);
}

}  // namespace pliant::reproduce
