#include "proxy_samples.h"

#include <algorithm>
#include <cmath>

#include "apps/pliant/output.h"
#include "pliant/geometry/shapes.h"

namespace pliant::reproduce {

using cli::format;
using Eigen::Vector3d;

std::string ProxyRecording::csv() const {
    std::string text =
        "time_s,hand_x_m,hand_y_m,hand_z_m,proxy_x_m,proxy_y_m,proxy_z_m,force_x_n,force_y_n,"
        "force_z_n,pop_rounds,is_squeezed\n";
    for (const Row& row : rows) {
        text += format("%.6g", row.time);
        for (const Vector3d* v : {&row.goal, &row.position, &row.force})
            text += format(",%.9g,%.9g,%.9g", v->x(), v->y(), v->z());
        text += format(",%d,%d\n", row.pop_rounds, row.is_squeezed ? 1 : 0);
    }
    return text;
}

Series ProxyRecording::series(const std::string& label, Vector3d Row::*member, int axis,
                              double scale, int color, int stride) const {
    Series series{label, {}, color};
    for (std::size_t i = 0; i < rows.size(); i += static_cast<std::size_t>(stride))
        series.points.emplace_back(rows[i].time, scale * (rows[i].*member)[axis]);
    return series;
}

const ParticleModel& published_fish() {
    static const ParticleModel model = [] {
        const SurfaceMesh surface = make_shape("fish", 16);
        ParticleLayout layout = place_particles(surface, {.count = 137, .stiffness = 0.6});
        set_stiffness(layout, "x > 70 %", 0.9);
        return make_particle_model(std::move(layout), surface);
    }();
    return model;
}

std::unique_ptr<ParticleBody> pile_of_fish() {
    std::vector<PlacedParticles> parts;
    for (int k = 0; k < 4; ++k)
        parts.push_back(
            {&published_fish(),
             {{0.01 * k, 0.07, 0.06 + 0.12 * k}, rotation_from_vector({0.5 * EIGEN_PI, 0, 0})}});
    ParticleBodyOptions options;
    options.dynamics.iterations = 5;
    options.dynamics.planes = {
        {}, {{1, 0, 0}, -0.2}, {{-1, 0, 0}, -0.2}, {{0, 1, 0}, -0.12}, {{0, -1, 0}, -0.12}};
    options.dynamics.damping = 1;
    auto pile = std::make_unique<ParticleBody>(combine(parts), options);
    pile->set_gravity({0, 0, -9.81});
    for (int k = 0; k < 1500; ++k) pile->step(kPileStep);
    return pile;
}

double height_in_fish(const ParticleBody& pile) {
    return std::max(0.02, top_of(pile, 0.02, 0, 0) - 0.008);
}

Vector3d hand_among_fish(int tick, double height) {
    const double way = std::min(1.0, tick / 300.0), a = 2e-3 * std::max(0, tick - 400);
    return {0.02 * std::cos(a), 0.02 * std::sin(a), kAboveFish + way * (height - kAboveFish)};
}

Pose lying_pose() { return {{0, 0.065, 0.03}, rotation_from_vector({0.5 * EIGEN_PI, 0, 0})}; }

SurfaceMesh surface_now(const Body& body) {
    const auto display = body.display();
    std::vector<float> state(static_cast<std::size_t>(display->state_size()));
    std::vector<float> x(3 * body.surface().vertices.size());
    body.write_display(state);
    display->positions(state, x);
    SurfaceMesh mesh = body.surface();
    for (std::size_t v = 0; v < mesh.vertices.size(); ++v)
        mesh.vertices[v] = Eigen::Map<const Eigen::Vector3f>(x.data() + 3 * v).cast<double>();
    return mesh;
}

double top_of(const Body& body, double x, double y, double otherwise) {
    const SurfaceMesh mesh = surface_now(body);
    double top = otherwise;
    bool is_hit = false;
    for (int t = 0; t < mesh.num_triangles(); ++t) {
        const Vector3d a = mesh.corner(t, 0), b = mesh.corner(t, 1), c = mesh.corner(t, 2);
        const auto side = [&](const Vector3d& u, const Vector3d& v) {
            return (v.x() - u.x()) * (y - u.y()) - (v.y() - u.y()) * (x - u.x());
        };
        const double wa = side(b, c), wb = side(c, a), wc = side(a, b);
        if (wa < 0 || wb < 0 || wc < 0 || !(wa + wb + wc > 0)) continue;
        const double z = (wa * a.z() + wb * b.z() + wc * c.z()) / (wa + wb + wc);
        top = is_hit ? std::max(top, z) : z;
        is_hit = true;
    }
    return top;
}

std::vector<std::size_t> peaks_of(const std::vector<double>& values, double least,
                                  std::size_t apart) {
    std::vector<std::size_t> peaks;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (values[i] < least) continue;
        const std::size_t first = i < apart ? 0 : i - apart,
                          last = std::min(values.size(), i + apart + 1);
        const auto highest = std::max_element(values.begin() + static_cast<std::ptrdiff_t>(first),
                                              values.begin() + static_cast<std::ptrdiff_t>(last));
        if (highest == values.begin() + static_cast<std::ptrdiff_t>(i)) peaks.push_back(i);
    }
    return peaks;
}

}  // namespace pliant::reproduce
