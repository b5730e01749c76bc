#pragma once

#include "pliant/scene/held_tool.h"
#include "scene/fem_exchange.h"

namespace pliant {

/// A tool in a hand as its hand knows it, whatever it touches.
class FeltTool {
public:
    virtual ~FeltTool() = default;
    virtual void tick(double now, double dt) noexcept = 0;
    [[nodiscard]] virtual const HapticTick& last() const noexcept = 0;
    /// Whether last() says where the manipulandum is.
    [[nodiscard]] virtual bool has_begun() const noexcept = 0;
    [[nodiscard]] virtual Pose start() const noexcept = 0;  ///< of the tool's body
    virtual void set_gains(const CouplingGains& gains) noexcept = 0;
    virtual void show_force(bool is_on) noexcept = 0;
    virtual void set_back_off(bool is_on) noexcept = 0;
    virtual void set_passivity_control(bool is_on) noexcept = 0;
    [[nodiscard]] virtual const char* notice() const noexcept = 0;
    virtual void reset() noexcept = 0;
    /// Where what it touches is in another loop, or may be; null: it is in this one.
    [[nodiscard]] virtual LetterReader* letters() noexcept { return nullptr; }
};

/// By contact pairs: HapticTool.
class PairTool final : public FeltTool {
public:
    /// Throws InputError as HapticTool.
    PairTool(HeldTool& held, RigidBody& body, std::vector<ContactPair*> pairs)
        : body_(body), tool_(*held.device, body, std::move(pairs), held.gains, held.options) {}

    void tick(double now, double dt) noexcept override {
        tool_.tick(now, dt);
        has_begun_ = true;
    }
    [[nodiscard]] const HapticTick& last() const noexcept override { return tool_.last(); }
    [[nodiscard]] bool has_begun() const noexcept override { return has_begun_; }
    [[nodiscard]] Pose start() const noexcept override { return body_.motion().pose; }
    void set_gains(const CouplingGains& gains) noexcept override { tool_.set_gains(gains); }
    void show_force(bool is_on) noexcept override { tool_.show_force(is_on); }
    void set_back_off(bool is_on) noexcept override { tool_.set_back_off(is_on); }
    void set_passivity_control(bool is_on) noexcept override { tool_.set_passivity_control(is_on); }
    [[nodiscard]] const char* notice() const noexcept override { return tool_.notice(); }
    void reset() noexcept override {
        tool_.reset();
        has_begun_ = false;
    }

private:
    RigidBody& body_;
    HapticTool tool_;
    bool has_begun_ = false;
};

/// The haptic end of a tool among full FEM bodies or in an `among`: FemHapticPort, and letters to
/// and from the loop of the bodies. Poses are those of the tool's first body.
class FemTool final : public FeltTool, public BoxReader<FemStepsLetter> {
public:
    /// Throws InputError as FemHapticPort.
    explicit FemTool(HeldTool& held);

    void tick(double now, double dt) noexcept override;
    [[nodiscard]] const HapticTick& last() const noexcept override { return tick_; }
    [[nodiscard]] bool has_begun() const noexcept override { return port_.steps().epoch() > 0; }
    [[nodiscard]] Pose start() const noexcept override { return start_; }
    void set_gains(const CouplingGains& gains) noexcept override;
    void show_force(bool is_on) noexcept override { port_.show_force(is_on); }
    void set_back_off(bool is_on) noexcept override { port_.set_back_off(is_on); }
    void set_passivity_control(bool is_on) noexcept override { port_.set_passivity_control(is_on); }
    [[nodiscard]] const char* notice() const noexcept override { return port_.notice(); }
    void reset() noexcept override;
    [[nodiscard]] LetterReader* letters() noexcept override { return this; }

private:
    void read(const FemStepsLetter& letter) noexcept override { take(letter.steps); }
    void take(const FemToolSteps& steps) noexcept;
    [[nodiscard]] Pose body_of(const Pose& grasped) const noexcept;

    std::shared_ptr<FemExchange> exchange_;
    FemHapticLink link_;
    Eigen::Vector3d grasp_;
    Pose start_;
    bool has_depth_bound_;
    FemHapticPort port_;
    HapticTick tick_;
    FemHandLetter letter_;
    std::uint64_t num_ticks_ = 0;
};

}  // namespace pliant
