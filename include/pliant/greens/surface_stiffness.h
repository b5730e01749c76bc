#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include <Eigen/Core>

#include "pliant/core/triple_buffer.h"
#include "pliant/greens/greens_model.h"

namespace pliant {

/// How the force of a point-like contact spreads over the surface: the stiffness of a literal point
/// vanishes as the mesh is refined.
enum class MaskKind {
    Cone,    ///< max(0, 1 − distance / radius)
    Vertex,  ///< one vertex alone: depends on the mesh
    Custom,  ///< any density inside the radius
    Level,   ///< the functions of a coarser level, docs/greens-constraints.md eq. (H13)
};

struct PressureMaskOptions {
    MaskKind kind = MaskKind::Cone;
    double radius = 0;  ///< [m]; 0: 1.5 mean edge lengths
    /// Of MaskKind::Custom: relative pressure at `x` for a contact at `centre`, not negative, [m].
    std::function<double(const Eigen::Vector3d& centre, const Eigen::Vector3d& x)> density = {};
    int level = 0;  ///< of MaskKind::Level; the radius does not count
};

struct SurfaceStiffnessOptions {
    PressureMaskOptions mask;
    double rigid_stiffness = 5000;  ///< of supports and of what has no Green's functions [N/m]
};

/// Pressure masks and stiffness of every vertex of a body, docs/greens.md eqs. (E1)–(E4): what a
/// point-like contact feels anywhere on the surface, exactly at vertices and barycentric between
/// them. Immutable: share it among threads.
class SurfaceStiffness {
public:
    /// Throws InputError for a radius that is negative or not finite, a stiffness that is not
    /// positive, a body without blocks of three, a missing or negative density, and a level without
    /// columns.
    SurfaceStiffness(std::shared_ptr<const GreensModel> model,
                     const SurfaceStiffnessOptions& options = {});

    [[nodiscard]] const std::shared_ptr<const GreensModel>& model() const noexcept {
        return model_;
    }
    /// Differs from that of any other one in this process.
    [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
    [[nodiscard]] double radius() const noexcept { return radius_; }  ///< [m]
    [[nodiscard]] double rigid_stiffness() const noexcept { return rigid_; }

    /// Nodes of the mask of a vertex (of MaskKind::Level: ids of columns), and their densities ρ
    /// [1/m²] with Σ a ρ = 1; empty where the body is rigid.
    [[nodiscard]] std::span<const int> mask_nodes(int vertex) const noexcept;
    [[nodiscard]] std::span<const double> mask_densities(int vertex) const noexcept;
    [[nodiscard]] bool is_rigid(int vertex) const noexcept { return mask_nodes(vertex).empty(); }
    /// K_i for the modulus of the model [N/m], symmetric and positive definite.
    [[nodiscard]] const Eigen::Matrix3d& vertex_stiffness(int vertex) const noexcept {
        return stiffness_[static_cast<std::size_t>(vertex)];
    }

    /// What live settings make of it.
    struct Scale {
        double modulus = 1;  ///< factor on the modulus of the model
        /// Largest stiffness a device can show along any direction [N/m]; stiffer directions of
        /// vertices are cut down to it, softer ones stay.
        double limit = std::numeric_limits<double>::infinity();
    };
    /// K^H(x) at barycentric coordinates of a triangle, eqs. (E3) and (E4); O(1).
    [[nodiscard]] Eigen::Matrix3d stiffness_at(int triangle, const Eigen::Vector3d& barycentric,
                                               const Scale& scale) const noexcept;
    /// Displacement of vertex `i` for a unit force under the mask of vertex `j`, for the modulus of
    /// the model [m/N], eq. (E2); zero where either is rigid.
    [[nodiscard]] Eigen::Matrix3d compliance(int i, int j) const noexcept;

private:
    struct Patch;
    [[nodiscard]] bool add_mask(int vertex, const PressureMaskOptions& options, Patch& patch);
    [[nodiscard]] bool is_held(int vertex) const noexcept;
    void build_from_patches(const PressureMaskOptions& mask);
    void build_from_level(int level);
    void finish_vertex(std::size_t first, Eigen::Matrix3d K);
    [[nodiscard]] Eigen::Matrix3d elastic_stiffness(int vertex) const;

    std::shared_ptr<const GreensModel> model_;
    std::uint64_t id_;
    double radius_ = 0, rigid_ = 0;
    std::vector<int> mask_offsets_, mask_nodes_;
    std::vector<double> mask_densities_;
    std::vector<Eigen::Matrix3d> stiffness_;
    struct Spectrum {
        Eigen::Vector3d values;  // ascending
        Eigen::Matrix3d axes;    // columns
    };
    std::vector<Spectrum> spectra_;  // of stiffness_
};

/// The stiffness in use while its mask changes: rebuilt by a thread of its own and handed over
/// whole. One thread asks, one thread of ticks and one that shows read; none of them waits.
class LiveSurfaceStiffness {
public:
    /// Builds the first one. With `is_immediate`, `request` builds before it returns, so that every
    /// run is the same; the readers must then be on the same thread, or wait for it.
    LiveSurfaceStiffness(std::shared_ptr<const GreensModel> model,
                         const SurfaceStiffnessOptions& options, bool is_immediate = false);
    ~LiveSurfaceStiffness();
    LiveSurfaceStiffness(const LiveSurfaceStiffness&) = delete;
    LiveSurfaceStiffness& operator=(const LiveSurfaceStiffness&) = delete;

    /// [m]; 0: the default. The last one asked for counts. False, and nothing else: negative or not
    /// finite.
    bool request(double radius) noexcept;

    /// For the tick: the newest one. No allocation, nothing is freed here.
    [[nodiscard]] const SurfaceStiffness& for_tick() noexcept;
    /// For whoever shows the deformation.
    [[nodiscard]] const SurfaceStiffness& for_display() noexcept;

private:
    void rebuild(double radius) noexcept;
    void run() noexcept;

    std::shared_ptr<const GreensModel> model_;
    SurfaceStiffnessOptions options_;
    bool is_immediate_;
    TripleBuffer<std::shared_ptr<const SurfaceStiffness>> tick_, display_;
    std::atomic<double> wanted_{0};
    std::atomic<std::uint32_t> epoch_{0};
    std::atomic<bool> stops_{false};
    std::thread worker_;
};

}  // namespace pliant
