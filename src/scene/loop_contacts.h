#pragma once

#include "pliant/scene/simulation_loop.h"

namespace pliant {

/// The contacts of a loop. One thread at a time, but for marks(); nothing marked noexcept
/// allocates.
class LoopContacts {
public:
    explicit LoopContacts(std::vector<LoopContact> contacts);

    [[nodiscard]] int count() const noexcept { return static_cast<int>(contacts_.size()); }
    [[nodiscard]] const LoopContact& operator[](int c) const noexcept {
        return contacts_[static_cast<std::size_t>(c)];
    }

    /// The pairs that a body takes part in.
    [[nodiscard]] std::vector<ContactPair*> pairs_of(const Body& body);

    /// Where a body is a point that touches Green's functions; null: nowhere.
    /// The solver that has the body in this place of the loop, and its number there; null: none.
    [[nodiscard]] std::pair<const ContactSolver*, int> solver_of(int place) const noexcept;
    [[nodiscard]] GreensPoints* points_of(const RigidBody& body) noexcept;

    [[nodiscard]] std::vector<LiveParameter> parameters(int c) const;
    /// Clamped to its range; a place out of range or a value that is not finite changes nothing.
    void set_parameter(int c, int index, double value) noexcept;

    /// All contacts of the bodies as they are, into the loads of their next step: after all other
    /// loads, which solvers count on.
    void act(double dt) noexcept;
    /// The same for fill() alone, see SimulationLoop::look_at_contacts().
    void look(double dt) noexcept;
    void forget() noexcept;
    /// Forgets, also what it counted.
    void reset() noexcept;

    /// The first body that a script moves into others, those with fields first, and the force on
    /// it; place −1: none.
    struct Moved {
        int place = -1;
        Eigen::Vector3d force = Eigen::Vector3d::Zero();
    };
    [[nodiscard]] Moved moved() const noexcept;

    void make_frames(const std::vector<int>& body_of_world,
                     std::vector<ShownContact>& frames) const;
    void fill(std::span<ShownContact> frames) const noexcept;
    /// Moves what touches as a point to where it is drawn; `display` and `offsets` as below.
    void place_points(std::span<float> display,
                      std::span<const std::size_t> offsets) const noexcept;
    /// What contacts said when it was not ok.
    void add_counts(std::span<std::uint64_t> counts) const noexcept;
    /// Nodes of a frame in the world; `display` are the states of all bodies of the loop and
    /// `offsets` where each begins. Thread-safe.
    void marks(int c, const ShownContact& frame, std::span<const float> display,
               std::span<const std::size_t> offsets, std::vector<ContactMark>& marks) const;

private:
    enum class Role { Stiffness, Friction, Nodes };
    struct Parameter {
        Role role;
        LiveParameter slider;
    };
    [[nodiscard]] static std::vector<Parameter> sliders_of(const LoopContact& contact);

    std::vector<LoopContact> contacts_;
    std::vector<std::size_t> order_;  ///< in which they act
    std::vector<std::vector<Parameter>> parameters_;
    std::array<std::uint64_t, kNumStepStatuses> counts_ = {};
    int moved_ = -1, moved_member_ = -1;  ///< contact of moved(), and which of its bodies
    bool has_acted_ = false;              ///< since they forgot: else there is nothing to show
};

}  // namespace pliant
