#pragma once

#include "pliant/haptics/fem_haptic_tool.h"
#include "pliant/haptics/solver_haptic_tool.h"
#include "pliant/scene/held_tool.h"
#include "scene/fem_exchange.h"

#include <variant>

namespace pliant {

/// The bodies' end of a tool among full FEM bodies or in an `among`: FemHapticTool or
/// SolverHapticTool, and letters to and from the haptic loop, whose clock it keeps to;
/// docs/scene.md section "Tools among full FEM bodies". One thread at a time; nothing marked
/// noexcept allocates.
class LedProxies final : public BodiesEnd, public BoxReader<FemHandLetter> {
public:
    /// Throws InputError as FemHapticTool.
    LedProxies(const FemProxies& description, std::vector<RigidBody*> proxies,
               std::vector<const FemBody*> bodies)
        : LedProxies(description) {
        tool_.emplace<FemHapticTool>(link_, std::move(proxies), std::move(bodies),
                                     description.options);
    }
    /// Of the body number `member` of a solver. Throws InputError as SolverHapticTool.
    LedProxies(const FemProxies& description, RigidBody& body, const ContactSolver& solver,
               int member)
        : LedProxies(description) {
        tool_.emplace<SolverHapticTool>(link_, body, solver, member, *description.among);
    }

    [[nodiscard]] LetterReader& letters() noexcept override { return *this; }
    /// Before a solver acts and the proxies step.
    void begin_step(double dt) noexcept override;
    void end_step() noexcept override;
    void reset() noexcept override;

private:
    explicit LedProxies(const FemProxies& description)
        : BoxReader(std::shared_ptr<LetterBox<FemHandLetter>>(description.exchange,
                                                              &description.exchange->hand)),
          exchange_(description.exchange) {}
    void read(const FemHandLetter& letter) noexcept override;
    [[nodiscard]] double clock(double dt) const noexcept;

    std::shared_ptr<FemExchange> exchange_;
    FemHapticLink link_;
    std::variant<std::monostate, FemHapticTool, SolverHapticTool> tool_;
    FemStepsLetter letter_;
    std::uint64_t num_ticks_ = 0;
    double haptic_time_ = 0;  ///< of the hand that was read last [s]
    double end_ = 0;          ///< of the last step, on the haptic clock [s]
};

}  // namespace pliant
