#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <Eigen/Core>

#include "pliant/core/triple_buffer.h"
#include "pliant/geometry/surface_query.h"
#include "pliant/greens/force_detail.h"
#include "pliant/greens/surface_stiffness.h"

namespace pliant {

class SurfaceWalk;

enum class PointPhase : std::uint8_t { Free, Sticking, Sliding, Pulling };

/// A point-like tool at one tick. Frame of the body, SI.
struct PointInput {
    Eigen::Vector3d tip = Eigen::Vector3d::Zero();  ///< x^H: where the device is [m]
    bool is_pulling = false;  ///< adhesive: sticks to the surface and follows outwards too
};

/// One contact as the tick leaves it: what the display needs.
struct PointContact {
    PointPhase phase = PointPhase::Free;
    int triangle = -1;                                  ///< of the undeformed surface; −1: free
    Eigen::Vector3d barycentric{1, 0, 0};               ///< x^C in it
    Eigen::Vector3d point = Eigen::Vector3d::Zero();    ///< x^C [m]
    Eigen::Vector3d normal = Eigen::Vector3d::UnitZ();  ///< outward, interpolated
    /// What Coulomb's law sees: the normal tilted, and μ changed, by detail.
    Eigen::Vector3d felt_normal = Eigen::Vector3d::UnitZ();
    double felt_friction = 0;
    Eigen::Vector3d tip = Eigen::Vector3d::Zero();    ///< x^H as used [m]
    Eigen::Vector3d force = Eigen::Vector3d::Zero();  ///< on the body [N]; the device gets −force

    [[nodiscard]] bool is_touching() const noexcept { return phase != PointPhase::Free; }
};

/// All points at one tick.
struct PointContactFrame {
    static constexpr int kMaxPoints = 8;
    std::uint64_t tick = 0;  ///< ticks since construction
    int num_points = 0;
    std::array<PointContact, kMaxPoints> points{};
};

struct PointContactSettings {
    double friction = 0.3;        ///< Coulomb's μ
    double modulus_scale = 1;     ///< factor on the modulus of the model
    double max_stiffness = 1000;  ///< of the device along any direction [N/m]; infinity: no limit
    double reach = 2e-3;          ///< pulling takes hold of the surface within this distance [m]
    double max_jump = 0.05;       ///< a tip that moves further in one tick was put down anew [m]
};

/// Point-like tools on an elastic body at the rate of a device, docs/greens.md eqs. (E5)–(E11):
/// contact on the undeformed surface, Coulomb friction, sliding over the triangles. All points
/// press on one body: what one feels depends on the others, (E10). A tick allocates, locks and
/// throws nothing, walks a bounded number of triangles, and publishes one way: nobody who reads
/// changes a force. One thread ticks, one reads.
class PointContacts {
public:
    /// Throws InputError for settings out of range and for more than kMaxPoints.
    PointContacts(std::shared_ptr<const GreensModel> model, int num_points,
                  const PointContactSettings& settings = {});

    /// From the thread of the ticks. False, and nothing else: not finite or out of range.
    bool set(const PointContactSettings& settings) noexcept;
    [[nodiscard]] const PointContactSettings& settings() const noexcept { return settings_; }
    /// Detail that points feel as they slide; none: null. Before the first tick.
    void set_detail(std::shared_ptr<const ForceDetail> detail) noexcept {
        detail_ = std::move(detail);
    }

    /// One tick; `inputs` of the points in order, missing ones are as before. A tip that is not
    /// finite is ignored: the point keeps its last place.
    const PointContactFrame& tick(std::span<const PointInput> inputs,
                                  const SurfaceStiffness& stiffness) noexcept;
    /// Of the last tick, for its thread.
    [[nodiscard]] const PointContactFrame& frame() const noexcept { return frame_; }
    /// Lets go of everything.
    void reset() noexcept;
    /// The undeformed surface.
    [[nodiscard]] const SurfaceQuery& surface() const noexcept { return query_; }

    /// For the reading thread: moves to the newest published frame; false if there is none.
    bool update() noexcept { return published_.update(); }
    [[nodiscard]] const PointContactFrame& published() const noexcept {
        return published_.read_slot();
    }

private:
    static constexpr int kMaxPoints = PointContactFrame::kMaxPoints;
    using Stiffness = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor,
                                    3 * kMaxPoints, 3 * kMaxPoints>;
    /// Compliances between the corners of two triangles, kept while contact stays in them.
    struct Pair {
        int triangle_i = -1, triangle_j = -1;
        std::array<Eigen::Matrix3d, 9> corners;
    };

    void place(PointContact& contact) const noexcept;
    void feel(PointContact& contact) const noexcept;
    void begin(PointContact& contact, const PointInput& input,
               const Eigen::Vector3d& last_tip) const noexcept;
    void walk(PointContact& contact, const Eigen::Vector3d& step) const noexcept;
    [[nodiscard]] const Pair& pair(int i, int j, const SurfaceStiffness& stiffness) noexcept;
    void couple(const SurfaceStiffness& stiffness) noexcept;
    [[nodiscard]] Eigen::Vector3d force_on(int a) const noexcept;
    [[nodiscard]] bool slide(int a) noexcept;
    [[nodiscard]] bool finish_forces() noexcept;

    std::shared_ptr<const GreensModel> model_;
    PointContactSettings settings_;
    SurfaceQuery query_;
    std::shared_ptr<const SurfaceWalk> ways_;
    std::shared_ptr<const ForceDetail> detail_;
    std::vector<Eigen::Vector3d> normals_;  // of vertices
    PointContactFrame frame_;
    std::array<bool, kMaxPoints> is_placed_{}, is_pulling_{};  // placed: the tip is known
    std::array<int, kMaxPoints> active_{};                     // points that touch
    int num_active_ = 0;
    Stiffness coupled_;  // K of all active points, eq. (E10)
    std::array<Pair, kMaxPoints*(kMaxPoints - 1) / 2> pairs_;
    std::uint64_t pairs_of_ = 0;  // id of their stiffness
    double scale_;                // of the body [m]
    TripleBuffer<PointContactFrame> published_;
};

/// Tractions of point contacts as loads for a CapacitanceSolver, docs/greens.md eq. (E4): the
/// deformation to show, together with whatever else holds the body. Sized at construction.
class PointLoads {
public:
    /// `num_columns`: the nodes, or all ids of columns where masks are of a coarser level.
    explicit PointLoads(int num_columns, int max_loads);

    void clear() noexcept;
    /// Free corners only: what rests on the support is carried by it. False when max_loads nodes
    /// are in use: those that fit are taken.
    bool add(const SurfaceStiffness& stiffness, const PointContact& contact) noexcept;
    /// For CapacitanceSolver::set_loads, whose option max_loads must not be less. With a scaled
    /// modulus, give the solver the model of that modulus.
    [[nodiscard]] std::span<const int> nodes() const noexcept { return nodes_; }
    [[nodiscard]] std::span<const Eigen::Vector3d> tractions() const noexcept { return tractions_; }

private:
    std::size_t max_loads_;
    std::vector<int> nodes_, place_;
    std::vector<Eigen::Vector3d> tractions_;  // [Pa]
};

}  // namespace pliant
