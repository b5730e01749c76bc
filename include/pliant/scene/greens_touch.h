#pragma once

#include "pliant/body/rigid_body.h"
#include "pliant/body/scripted_motion.h"
#include "pliant/greens/compliant_hand.h"
#include "pliant/greens/distributed_contact.h"
#include "pliant/greens/greens_body.h"
#include "pliant/greens/level_budget.h"
#include "pliant/greens/point_contact.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace pliant {

class LoadFade;

/// What touching a body with Green's functions shows of itself.
struct ShownGreens {
    static constexpr int kNumStatuses = 8;  ///< of CapacitanceStatus
    bool is_there = false;
    int num_points = 0;    ///< that touch
    int num_nodes = 0;     ///< that tools hold
    int size = 0;          ///< of the capacitance matrix: scalar conditions
    int level = -1;        ///< on which it is touched; −1: nodes
    double tolerance = 0;  ///< with which columns are shown; 0: as they were built
    int added = 0, removed = 0;
    CapacitanceStatus status = CapacitanceStatus::Hit;
    double condition = 1;
    std::array<std::uint64_t, kNumStatuses> counts = {};  ///< of each status since the start
    StrainReading strain;  ///< of the body: whether linear theory still holds
};

/// Rigid bodies that touch a GreensBody; docs/scene.md section "Green's functions". One thread at a
/// time; nothing marked noexcept allocates. Bodies must outlive it.
class GreensTouch {
public:
    virtual ~GreensTouch() = default;
    GreensTouch(const GreensTouch&) = delete;
    GreensTouch& operator=(const GreensTouch&) = delete;

    [[nodiscard]] GreensBody& body() noexcept { return body_; }
    [[nodiscard]] const GreensBody& body() const noexcept { return body_; }
    [[nodiscard]] const std::vector<RigidBody*>& by() const noexcept { return by_; }

    /// Where the display state of body() begins in that of the body of the world that it is a zone
    /// of.
    [[nodiscard]] std::size_t display_offset() const noexcept { return display_offset_; }
    void set_display_offset(std::size_t offset) noexcept { display_offset_ = offset; }

    /// Loads of the next step of all bodies, as they are.
    virtual StepStatus act(double dt) noexcept = 0;
    /// Drops what it remembers of earlier ticks.
    virtual void forget() noexcept = 0;
    /// On rigid body `i` in the last tick, about its origin, in the world.
    [[nodiscard]] virtual Wrench load(int i) const noexcept = 0;
    [[nodiscard]] virtual double deepest() const noexcept = 0;  ///< [m]
    virtual void show(ShownGreens& frame) const noexcept = 0;
    /// From where rigid body `i` is to where it is drawn, in the world [m].
    [[nodiscard]] virtual Eigen::Vector3d shown_offset(int /*i*/) const noexcept {
        return Eigen::Vector3d::Zero();
    }
    /// Null: not one of points.
    [[nodiscard]] virtual const double* friction() const noexcept { return nullptr; }
    virtual void set_friction(double /*friction*/) noexcept {}

protected:
    GreensTouch(GreensBody& body, std::vector<RigidBody*> by) : body_(body), by_(std::move(by)) {}
    GreensBody& body_;
    std::vector<RigidBody*> by_;
    std::size_t display_offset_ = 0;
};

/// Each rigid body touches at the origin of its frame. It is drawn on the surface, not in it, by as
/// much as its origin is inside it.
class GreensPoints final : public GreensTouch {
public:
    /// Throws InputError as PointContacts.
    GreensPoints(GreensBody& body, std::vector<RigidBody*> by, double friction, bool is_pulling,
                 const std::optional<ForceDetail>& detail = std::nullopt);

    StepStatus act(double dt) noexcept override;
    void forget() noexcept override;
    [[nodiscard]] Wrench load(int i) const noexcept override;
    [[nodiscard]] double deepest() const noexcept override;
    void show(ShownGreens& frame) const noexcept override;
    [[nodiscard]] Eigen::Vector3d shown_offset(int i) const noexcept override;
    [[nodiscard]] const double* friction() const noexcept override {
        return &contacts_.settings().friction;
    }
    void set_friction(double friction) noexcept override;

    /// Of the last tick, in the axes of the body; points in the order of by(). Their tips are seen
    /// from the surface without gravity and hands: less what these move it by.
    [[nodiscard]] const PointContactFrame& frame() const noexcept { return contacts_.frame(); }

    /// From now on a hand moves this body, one of by(), and says where its point is: act() waits
    /// for it.
    void lead(const RigidBody& body) noexcept;
    [[nodiscard]] Wrench led_load() const noexcept { return load(led_); }
    /// How far gravity and hands moved the surface under its point in the last tick, as the contact
    /// follows it, in the world; zero where it did not touch before [m].
    [[nodiscard]] const Eigen::Vector3d& led_motion() const noexcept { return led_motion_; }
    /// The tick of all points, with that of the hand at `tip` in the world [m] and a device that
    /// shows up to `max_stiffness` [N/m]. Returns the contact of the hand, in the axes of the body.
    const PointContact& act_with(const Eigen::Vector3d& tip, bool is_pulling,
                                 double max_stiffness) noexcept;
    /// Where the surface is held under the point of the hand, in the world; without contact the
    /// point itself.
    [[nodiscard]] Eigen::Vector3d held_place() const noexcept;

private:
    void tick() noexcept;
    [[nodiscard]] Eigen::Vector3d moved_by(std::size_t i) const noexcept;

    PointContacts contacts_;
    bool is_pulling_;
    int led_ = -1;
    double dt_ = 1e-3;  // of the last tick [s]
    std::vector<PointInput> inputs_;
    std::vector<Eigen::Vector3d> tips_, shifts_;  // axes of the body; of the surface under them
    std::vector<double> lifts_;                   // how far origins are inside their bodies [m]
    Eigen::Vector3d led_motion_ = Eigen::Vector3d::Zero();
    PointLoads loads_;
};

/// The hand whose links are the tools.
struct GreensHand {
    CompliantHand hand;
    std::optional<ScriptedMotion> wrist, closing;  ///< none: at rest, open
    Pose start;                                    ///< of the wrist in the world without `wrist`

    /// Where the hand wants to be.
    [[nodiscard]] Pose wanted_wrist(double time) const noexcept {
        return wrist ? wrist->at(time).pose : start;
    }
    [[nodiscard]] HandJoints wanted_joints(double time) const noexcept {
        return closing_hand(closing ? closing->at(time).pose.position.x() : 0);
    }
};

/// Convex rigid bodies wherever they are, or the links of a hand.
class GreensTools final : public GreensTouch {
public:
    /// `levels`: the level goes by a budget, between that of the body and the finest. Throws
    /// InputError as DistributedContact and LevelBudget.
    GreensTools(GreensBody& body, std::vector<RigidBody*> by,
                const DistributedContactOptions& options,
                std::optional<GreensHand> hand = std::nullopt,
                const std::optional<ConstraintLevelOptions>& levels = std::nullopt);
    ~GreensTools() override;

    StepStatus act(double dt) noexcept override;
    void forget() noexcept override;
    [[nodiscard]] Wrench load(int i) const noexcept override;
    [[nodiscard]] double deepest() const noexcept override { return contact_.report().deepest; }
    void show(ShownGreens& frame) const noexcept override;
    [[nodiscard]] const DistributedContact& contact() const noexcept { return contact_; }

private:
    void give_loads() noexcept;
    void take_tractions() noexcept;
    void take_level_tractions(std::span<Eigen::Vector3d> tractions) noexcept;
    void move_hand(double dt) noexcept;
    void place_hand() noexcept;

    DistributedContact contact_;
    std::optional<LevelBudget> levels_;  // none: that of the body
    std::unique_ptr<LoadFade> fade_;     // with levels_
    int shown_level_ = -1;               // of the last tractions
    bool has_refined_ = false;           // and something has been held since
    std::vector<Pose> poses_;
    std::vector<Eigen::Vector3d> pulls_;  // tractions of hands for the modulus of the model [Pa]
    std::vector<int> load_nodes_;         // of these and of driven supports
    std::vector<Eigen::Vector3d> load_values_;
    std::vector<int> nodes_;  // that are touched, then ids of their columns
    std::vector<Eigen::Vector3d> tractions_;
    std::vector<Wrench> last_loads_;
    std::optional<GreensHand> hand_;
    double time_ = 0;                       // of the hand [s]
    std::vector<Wrench> link_loads_;        // axes of the body
    std::vector<Matrix6d> link_stiffness_;  // that links feel
    std::array<std::uint64_t, ShownGreens::kNumStatuses> counts_ = {};
};

}  // namespace pliant
