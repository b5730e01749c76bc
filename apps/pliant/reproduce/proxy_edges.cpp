#include <algorithm>
#include <cmath>

#include "apps/pliant/output.h"
#include "plot.h"
#include "proxy_experiments.h"
#include "samples.h"
#include "tests/haptics/proxy_trials.h"

namespace pliant::reproduce {
namespace {

using cli::format;
using Eigen::Vector3d;

/// A box with faces of n × n squares whose highest corner is the origin.
SurfaceMesh corner_box(double size, int n) {
    SurfaceMesh mesh = test::thin_plate(size, size, n);
    for (Vector3d& v : mesh.vertices) v -= Vector3d::Constant(0.5 * size);
    return mesh;
}

/// Largest |Δf| d / (|f| Δs) while the hand goes around the origin at distance d; 1 is exact.
double turning_ratio(const std::function<Vector3d(double)>& direction, double distance,
                     double angle, double step, double& percent) {
    VertexSurface box(corner_box(0.1, 6));
    VirtualProxy proxy({&box});
    const double r = proxy.options().sphere.radius;
    // edges run through the middle of a side, corners are the origin
    proxy.reset(3 * r * direction(0));
    Vector3d last = Vector3d::Zero(), at = Vector3d::Zero();
    double largest = 0;
    percent = 0;
    for (double a = 0; a < angle; a += step / distance) {
        const Vector3d hand = distance * direction(a);
        const ProxyState& state = proxy.tick(hand);
        if (a > 0) {
            const double change = (state.force - last).norm() / last.norm();
            largest = std::max(largest, change * distance / (hand - at).norm());
            percent = std::max(percent, 100 * change);
        }
        last = state.force;
        at = hand;
    }
    return largest;
}

/// A wall of a concave corner: everything below the plane through the origin across `normal`.
SurfaceMesh wall(const Vector3d& normal, double size) {
    SurfaceMesh mesh = test::thin_plate(size, 0.2 * size, 10);
    const Eigen::Quaterniond turn = Eigen::Quaterniond::FromTwoVectors(Vector3d::UnitZ(), normal);
    for (Vector3d& v : mesh.vertices) v = turn * (v - Vector3d(0, 0, 0.1 * size));
    return mesh;
}

}  // namespace

void run_edges(Context& context) {
    Section& page = context.section;
    page.text(
        "A hand outside a box, at a distance d below r = 5 mm from its edge or corner, goes around "
        "it in steps Δs of 0.1 mm: the force has to turn by Δs / d and no more. With the hand "
        "deeper than a face, the proxy slides off the edge and the force jumps: that is inherent "
        "in a proxy that looks for the nearest place.");
    Table table{"edges",
                "Force around convex edges and corners",
                {{"around", "around"},
                 {"distance_mm", "d, mm"},
                 {"percent", "largest change in a step, %"},
                 {"ratio", "over |f| Δs / d"}}};
    const double y = -0.043;  // off the vertices of the edge
    for (const double d : {1e-3, 3e-3, 4.5e-3}) {
        double percent = 0;
        const Vector3d edge(0, y / d, 0);
        const double ratio = turning_ratio(
            [&](double a) { return Vector3d(edge + Vector3d(std::sin(a), 0, std::cos(a))); }, d,
            0.5 * EIGEN_PI, 1e-4, percent);
        table.add({"edge", Cell::number(1e3 * d, "%.1f"), Cell::number(percent, "%.2f"),
                   page.at_most(format("turn of the force around an edge at %.1f mm", 1e3 * d),
                                ratio, 1.05, "%.3f")});
    }
    const Vector3d from = Vector3d(1, 2, 8).normalized(), to = Vector3d(8, 3, 1).normalized();
    const Vector3d axis = from.cross(to).normalized();
    for (const double d : {1e-3, 3e-3}) {
        double percent = 0;
        const double ratio =
            turning_ratio([&](double a) { return Vector3d(Eigen::AngleAxisd(a, axis) * from); }, d,
                          std::acos(from.dot(to)), 1e-4, percent);
        table.add({"corner", Cell::number(1e3 * d, "%.1f"), Cell::number(percent, "%.2f"),
                   page.at_most(format("turn of the force around a corner at %.1f mm", 1e3 * d),
                                ratio, 1.05, "%.3f")});
    }
    // deeper than the face: towards the edge, 10 mm below the top
    {
        VertexSurface box(corner_box(0.1, 6));
        VirtualProxy proxy({&box});
        proxy.reset({-0.04, y, 0.01});
        double largest = 0;
        Vector3d last = Vector3d::Zero();
        for (double x = -0.04; x < 0.01; x += 1e-4) {
            const Vector3d force = proxy.tick({x, y, -0.01}).force;
            if (last.norm() > 0) largest = std::max(largest, (force - last).norm() / last.norm());
            last = force;
        }
        table.add({"edge, hand 10 mm below the face (reference 105 %)", Cell::number(-10, "%.1f"),
                   Cell::number(100 * largest, "%.0f"), "–"});
    }
    page.table(table);

    Table planes{"planes",
                 "Where planes hold the proxy, goal 3 mm behind all of them; the radius of 0.999 r "
                 "with which they are found leaves 5 µm along each normal but one",
                 {{"walls", "walls"},
                  {"active", "active planes"},
                  {"error_um", "distance from the exact place, µm"}}};
    const Vector3d normals[3] = {Vector3d::UnitZ(), Vector3d::UnitX(), Vector3d::UnitY()};
    for (int count = 1; count <= 3; ++count) {
        std::vector<std::unique_ptr<VertexSurface>> walls;
        std::vector<MovingSurface*> surfaces;
        Vector3d exact(0.021, 0.013, 0.017), goal = exact;
        const double r = 5e-3;
        for (int i = 0; i < count; ++i) {
            walls.push_back(std::make_unique<VertexSurface>(wall(normals[i], 0.2)));
            surfaces.push_back(walls.back().get());
            goal += (-3e-3 - normals[i].dot(goal)) * normals[i];
            exact += (r - normals[i].dot(exact)) * normals[i];
        }
        VirtualProxy proxy(surfaces);
        proxy.reset({0.03, 0.03, 0.03});
        // the shrink of the radius in each direction, and rounding
        const double shrunk = 0.1 + 1e6 * 1e-3 * r * std::sqrt(count - 1.0);
        for (int k = 0; k < 3; ++k) (void)proxy.tick(goal);
        std::array<ConstraintPlane, 3> active;
        planes.add({Cell::count(count),
                    page.compared(format("active planes of %d walls", count),
                                  proxy.state().active_planes(active), count, 0, "%.0f"),
                    page.at_most(format("place between %d walls [µm]", count),
                                 1e6 * (proxy.state().position - exact).norm(), shrunk, "%.2f")});
    }
    page.table(planes);
}

void run_wedge(Context& context) {
    Section& page = context.section;
    const double r = 5e-3, degrees = 1, half = 0.5 * degrees * kDegree;
    page.text(
        "Two plates at one degree; the hand pushes a sphere of radius 5 mm towards the edge where "
        "they meet, also against the walls, and pulls it out again. It must stop where the plates "
        "are 2 r apart. Found with 0.999 r (shrink) and placed with r it does; found with the full "
        "radius, rounding holds it on the way.");
    const double stop = r / std::sin(half);  // of the centre, from the edge
    const auto plate = [&](double sign) {
        // its face towards the other one goes through the origin
        SurfaceMesh mesh = test::thin_plate(1.4, 0.02, 14);
        for (Vector3d& v : mesh.vertices)
            v = Eigen::AngleAxisd(-sign * half, Vector3d::UnitY()) *
                (v + Vector3d(0.75, 0, sign * 0.01));
        return mesh;
    };
    VertexSurface above(plate(1)), below(plate(-1));
    Table table{"wedge",
                "A sphere in a wedge of one degree",
                {{"shrink", "shrink"},
                 {"passes", "passes, mean"},
                 {"most", "most"},
                 {"error_mm", "end from the exact place, mm"},
                 {"behind", "ticks behind a wall"},
                 {"clearance", "least clearance, r"}}};
    for (const double shrink : {0.999, 1.0}) {
        ProxyOptions options;
        options.sphere.shrink = shrink;
        VirtualProxy proxy({&above, &below}, options);
        SurfaceNeighbourhood near({&above, &below});
        proxy.reset({1.2, 0.011, 0});
        double passes = 0, least = 1, error = 0;
        int most = 0, behind = 0, ticks = 0;
        for (int k = 0; k < 3000; ++k) {
            // in, along the edge and back, against one wall and the other
            const double s = 0.5 - 0.5 * std::cos(2 * EIGEN_PI * k / 1500);
            const Vector3d hand(1.2 - 1.0 * s, 0.011 + 0.1 * std::sin(0.011 * k),
                                0.01 * std::sin(0.037 * k));
            const ProxyState& state = proxy.tick(hand);
            passes += state.passes;
            most = std::max(most, state.passes);
            const double angle = std::atan2(state.position.z(), state.position.x());
            behind += std::abs(angle) > half;
            near.require(state.position, 1.1 * r, 0);
            least = std::min(least, near.clearance(state.position) / r);
            ++ticks;
        }
        // straight in
        for (int k = 0; k < 200; ++k) (void)proxy.tick({0.2, 0.011, 0});
        error = std::abs(proxy.state().position.x() - stop);
        const bool is_judged = shrink < 1;
        table.add(
            {Cell::number(shrink, "%.3f"), Cell::number(passes / ticks, "%.1f"), Cell::count(most),
             // 0.001 r of shrink are 0.001 r / sin ½° along the wedge
             is_judged ? page.at_most("end in the wedge [mm]", 1e3 * error,
                                      1e3 * 2 * (1 - shrink) * stop, "%.2f")
                       : Cell::number(1e3 * error, "%.2f"),
             is_judged ? page.at_most("ticks behind a wall of the wedge", behind, 0, "%.0f")
                       : Cell::count(behind),
             is_judged ? page.at_least("least clearance in the wedge [r]", least, 0.99, "%.4f")
                       : Cell::number(least, "%.4f")});
        context.done(is_judged ? 0.5 : 1);
    }
    page.table(table);
}

}  // namespace pliant::reproduce
