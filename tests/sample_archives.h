#pragma once

#include <filesystem>

#include "geometry/simple_surfaces.h"
#include "pliant/contact/build_pointshell.h"
#include "pliant/contact/point_tree.h"
#include "pliant/field/build_field.h"
#include "pliant/geometry/embedding.h"
#include "pliant/geometry/mesh_archive.h"
#include "pliant/geometry/shapes.h"
#include "pliant/geometry/structured_mesh.h"
#include "pliant/greens/build_greens.h"
#include "pliant/particles/particle_model.h"
#include "pliant/reduction/build_reduced.h"

/// Small sound files of every kind of archive that a loader reads, for tests that damage them.
namespace pliant::test {

inline SurfaceMesh sample_box() {
    return box_surface(Eigen::Vector3d::Zero(), Eigen::Vector3d(0.2, 0.1, 0.1));
}

inline void write_volume_sample(const std::filesystem::path& path) {
    VolumeMesh mesh = hex_box(2, 1, 1, bounding_box(sample_box().vertices));
    mesh.regions = {0, 1};
    mesh.filled = {1.0, 0.5};
    const Embedding embedding(mesh, sample_box().vertices);
    ArchiveWriter writer("volume-mesh");
    const VolumeMeshChunks mesh_chunks = add_volume_mesh(writer, mesh);
    add_embedding(writer, embedding);
    writer.save(path);
}

inline DistanceGrid sample_field() { return build_field(sample_box(), {.resolution = 16}); }

inline void write_field_sample(const std::filesystem::path& path) { sample_field().save(path); }

inline Pointshell sample_shell() {
    return build_pointshell_by(ShellGenerator::AreaRandom, sample_field(), sample_box(), 40);
}

inline void write_pointshell_sample(const std::filesystem::path& path) {
    save_pointshell(sample_shell(), path);
}

inline void write_point_tree_sample(const std::filesystem::path& path) {
    PointTree(sample_shell()).save(path);
}

inline void write_reduced_sample(const std::filesystem::path& path) {
    build_reduced_model(sample_box(),
                        {.fixed = "x < 5 %", .mesh = {.resolution = 2}, .num_modes = 2, .rank = 3})
        .save(path);
}

/// Compressed, with a readout.
inline void write_greens_sample(const std::filesystem::path& path) {
    const SemiRegularMesh surface = make_semi_regular("nodule", 1);
    GreensBuildOptions options;
    options.fixed = "z < 25 %";
    options.readouts = {{ReadoutKind::Displacement, bounding_box(surface.mesh.vertices).center()}};
    options.wavelet = WaveletOptions{};
    save_greens_model(build_greens_model(surface, options), path);
}

inline void write_particle_sample(const std::filesystem::path& path) {
    save_particle_model(
        make_particle_model(place_particles(sample_box(), {.count = 10}), sample_box()), path);
}

}  // namespace pliant::test
