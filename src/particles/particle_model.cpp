#include "pliant/particles/particle_model.h"

#include "core/numbers.h"
#include "pliant/core/error.h"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

using Eigen::Vector3d;
constexpr int kInfluences = SkinWeights::kInfluences;

template <class Row>
std::vector<std::uint64_t> rows_of(const std::vector<Row>& list, std::uint64_t width) {
    return {list.size(), width};
}

/// Values of a chunk, so many for each of `count` items; throws when there are not as many.
template <class T>
std::span<const T> values_of(const Archive& archive, const std::string& chunk, std::size_t count,
                             std::size_t width, const std::string& name) {
    const std::span<const T> values = archive.get<T>(chunk);
    if (values.size() != count * width)
        throw InputError(name, "chunk \"" + chunk + "\" has " + std::to_string(values.size()) +
                                   " values instead of " + std::to_string(count * width));
    return values;
}

/// Values of a chunk of any number of rows, `width` in each.
template <class T>
std::span<const T> whole_rows(const Archive& archive, const std::string& chunk, std::size_t width,
                              const std::string& name) {
    const std::span<const T> values = archive.get<T>(chunk);
    if (values.size() % width != 0)
        throw InputError(name, "chunk \"" + chunk + "\" has " + std::to_string(values.size()) +
                                   " values, not a multiple of " + std::to_string(width));
    return values;
}

}  // namespace

double ParticleModel::mass() const noexcept {
    double sum = 0;
    for (const Particle& p : layout.particles) sum += p.mass;
    return sum;
}

SkinWeights skin_weights(const ParticleLayout& layout, const std::vector<Vector3d>& vertices) {
    SkinWeights skin;
    const std::size_t n = layout.particles.size();
    const std::size_t used = std::min(n, at(kInfluences));
    std::vector<std::pair<double, int>> near(n);
    for (const Vector3d& x : vertices) {
        for (std::size_t i = 0; i < n; ++i)
            near[i] = {(layout.particles[i].position - x).squaredNorm(), static_cast<int>(i)};
        const std::size_t sorted = std::min(n, used + 1);
        std::ranges::partial_sort(near, near.begin() + static_cast<std::ptrdiff_t>(sorted));
        std::array<int, kInfluences> particles;
        particles.fill(near[0].second);
        std::array<double, kInfluences> weights{};
        if (near[0].first == 0) {
            weights[0] = 1;
        } else {
            // an influence is gone where another one takes its place
            const double beyond = n > used ? 1 / near[used].first : 0;
            double sum = 0;
            for (std::size_t k = 0; k < used; ++k) {
                particles[k] = near[k].second;
                weights[k] = 1 / near[k].first - beyond;
                sum += weights[k];
            }
            // all as near as the next one: equal shares
            for (std::size_t k = 0; k < used; ++k)
                weights[k] = sum > 0 ? weights[k] / sum : 1.0 / static_cast<double>(used);
        }
        std::array<float, kInfluences> rounded;
        for (std::size_t k = 0; k < at(kInfluences); ++k)
            rounded[k] = static_cast<float>(weights[k]);
        skin.particles.push_back(particles);
        skin.weights.push_back(rounded);
    }
    return skin;
}

ParticleModel make_particle_model(ParticleLayout layout, SurfaceMesh surface,
                                  const std::string& name) {
    check_layout(layout, name);
    check_layout_inside(layout, surface, name);
    ParticleModel model{std::move(layout), std::move(surface), {}};
    model.skin = skin_weights(model.layout, model.surface.vertices);
    return model;
}

ParticleModel combine(std::span<const PlacedParticles> parts) {
    ParticleModel whole;
    for (const auto& [model, pose] : parts) {
        const int first = whole.layout.num_particles(), object = whole.layout.num_objects();
        for (Particle p : model->layout.particles) {
            p.position = pose.to_world(p.position);
            p.rotation = pose.rotation * p.rotation;
            p.object += object;
            whole.layout.particles.push_back(p);
        }
        for (const auto& [a, b] : model->layout.links)
            whole.layout.links.push_back({first + a, first + b});
        whole.layout.is_cloth = whole.layout.is_cloth || model->layout.is_cloth;
        SurfaceMesh surface = model->surface;
        for (Vector3d& x : surface.vertices) x = pose.to_world(x);
        append(whole.surface, surface);
        for (auto particles : model->skin.particles) {
            for (int& i : particles) i += first;
            whole.skin.particles.push_back(particles);
        }
        whole.skin.weights.insert(whole.skin.weights.end(), model->skin.weights.begin(),
                                  model->skin.weights.end());
    }
    return whole;
}

void save_particle_model(const ParticleModel& model, const std::filesystem::path& path,
                         const Provenance& provenance) {
    constexpr std::size_t kNumbers = 12;  // position, radii, rotation, mass, stiffness
    std::vector<double> particles;
    std::vector<int> objects;
    for (const Particle& p : model.layout.particles) {
        const auto& q = p.rotation;
        particles.insert(particles.end(),
                         {p.position.x(), p.position.y(), p.position.z(), p.radii.x(), p.radii.y(),
                          p.radii.z(), q.w(), q.x(), q.y(), q.z(), p.mass, p.stiffness});
        objects.push_back(p.object);
    }
    const auto flat = [](const auto& rows) {
        using Number = std::remove_cvref_t<decltype(rows[0][0])>;
        std::vector<Number> values;
        for (const auto& row : rows) values.insert(values.end(), row.begin(), row.end());
        return values;
    };
    const std::vector<int> links = flat(model.layout.links),
                           triangles = flat(model.surface.triangles),
                           skin = flat(model.skin.particles);
    const std::vector<float> weights = flat(model.skin.weights);
    const std::vector<int> is_cloth{model.layout.is_cloth ? 1 : 0};
    std::vector<double> vertices;
    for (const Vector3d& x : model.surface.vertices)
        vertices.insert(vertices.end(), {x.x(), x.y(), x.z()});

    ArchiveWriter writer(ParticleModel::kArchiveKind);
    writer.add<double>("particles/numbers", particles, rows_of(objects, kNumbers));
    writer.add<int>("particles/objects", objects);
    writer.add<int>("particles/links", links, rows_of(model.layout.links, 2));
    writer.add<int>("particles/cloth", is_cloth);
    writer.add<double>("surface/vertices", vertices, rows_of(model.surface.vertices, 3));
    writer.add<int>("surface/triangles", triangles, rows_of(model.surface.triangles, 3));
    writer.add<int>("skin/particles", skin, rows_of(model.skin.particles, 4));
    writer.add<float>("skin/weights", weights, rows_of(model.skin.weights, 4));
    for (const auto& [key, value] : provenance) writer.set_provenance(key, value);
    writer.save(path);
}

ParticleModel read_particle_model(const Archive& archive, const std::string& name) {
    archive.require_kind(ParticleModel::kArchiveKind);
    ParticleModel model;
    const auto objects = archive.get<int>("particles/objects");
    const auto numbers = values_of<double>(archive, "particles/numbers", objects.size(), 12, name);
    for (std::size_t i = 0; i < objects.size(); ++i) {
        const double* const at_i = numbers.data() + 12 * i;
        Particle p;
        p.position = Eigen::Map<const Vector3d>(at_i);
        p.radii = Eigen::Map<const Vector3d>(at_i + 3);
        p.rotation = Quaternion(at_i[6], at_i[7], at_i[8], at_i[9]);
        p.mass = at_i[10];
        p.stiffness = at_i[11];
        p.object = objects[i];
        model.layout.particles.push_back(p);
    }
    const auto links = whole_rows<int>(archive, "particles/links", 2, name);
    for (std::size_t k = 0; k < links.size(); k += 2)
        model.layout.links.push_back({links[k], links[k + 1]});
    model.layout.is_cloth = values_of<int>(archive, "particles/cloth", 1, 1, name)[0] != 0;
    check_layout(model.layout, name);

    const auto vertices = whole_rows<double>(archive, "surface/vertices", 3, name);
    for (std::size_t k = 0; k < vertices.size(); k += 3)
        model.surface.vertices.emplace_back(vertices[k], vertices[k + 1], vertices[k + 2]);
    for (const Vector3d& x : model.surface.vertices)
        if (!x.allFinite() || x.cwiseAbs().maxCoeff() > 1e6)
            throw InputError(name, "a vertex of the surface is not finite, or farther than 1e6 m");
    const auto triangles = whole_rows<int>(archive, "surface/triangles", 3, name);
    if (triangles.empty())
        throw InputError(name,
                         "the surface has no triangles; build the model again: pliant build "
                         "MESH --kind particles");
    for (std::size_t k = 0; k < triangles.size(); k += 3)
        model.surface.triangles.push_back({triangles[k], triangles[k + 1], triangles[k + 2]});
    for (const Triangle& t : model.surface.triangles)
        for (const int v : t)
            if (v < 0 || v >= model.surface.num_vertices())
                throw InputError(name, "a triangle of the surface has vertex " + std::to_string(v) +
                                           ", which there is not");
    const std::size_t num_vertices = model.surface.vertices.size();
    const auto carriers = values_of<int>(archive, "skin/particles", num_vertices, 4, name);
    const auto weights = values_of<float>(archive, "skin/weights", num_vertices, 4, name);
    for (std::size_t v = 0; v < num_vertices; ++v) {
        model.skin.particles.emplace_back();
        model.skin.weights.emplace_back();
        float sum = 0;
        for (std::size_t k = 0; k < 4; ++k) {
            const int particle = model.skin.particles[v][k] = carriers[4 * v + k];
            const float weight = model.skin.weights[v][k] = weights[4 * v + k];
            if (particle < 0 || particle >= model.layout.num_particles())
                throw InputError(name, "vertex " + std::to_string(v) + " is carried by particle " +
                                           std::to_string(particle) + ", which there is not");
            if (!(weight >= 0 && weight <= 1))
                throw InputError(
                    name, "a weight of vertex " + std::to_string(v) + " is not between 0 and 1");
            sum += weight;
        }
        if (!(std::abs(sum - 1) < 1e-4f))
            throw InputError(
                name, "the weights of vertex " + std::to_string(v) + " do not add up to one");
    }
    return model;
}

ParticleModel load_particle_model(const std::filesystem::path& path) {
    return read_particle_model(Archive::verified(path), path.string());
}

}  // namespace pliant
