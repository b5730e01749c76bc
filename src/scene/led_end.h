#pragma once

#include "scene/proxy_exchange.h"

#include <utility>

namespace pliant {

/// The bodies' end of a tool whose hand is in another loop and tells where it is: what one sphere
/// and many have in common. `Touching` is the tool among the bodies, `Exchange` has a box `hand`.
template <class Touching, class Exchange>
class LedEnd : public BodiesEnd, public BoxReader<ProxyHandLetter> {
public:
    LedEnd(std::shared_ptr<Touching> touching, std::shared_ptr<Exchange> exchange)
        : BoxReader(std::shared_ptr<LetterBox<ProxyHandLetter>>(exchange, &exchange->hand)),
          touching_(std::move(touching)),
          exchange_(std::move(exchange)) {}

    [[nodiscard]] LetterReader& letters() noexcept final { return *this; }
    void begin_step(double dt) noexcept final {
        if (hand_.tick > 0) tell(hand_, dt);
    }
    void end_step() noexcept final {}
    void reset() noexcept final {
        touching_->reset();
        hand_ = {};
        begin_anew();
    }

protected:
    [[nodiscard]] Touching& touching() noexcept { return *touching_; }
    [[nodiscard]] Exchange& exchange() noexcept { return *exchange_; }

private:
    /// Ticks the tool towards the hand and posts what holds it.
    virtual void tell(const ProxyHandLetter& hand, double dt) noexcept = 0;
    /// The next letter is the first one of its round.
    virtual void begin_anew() noexcept = 0;
    void read(const ProxyHandLetter& letter) noexcept final { hand_ = letter; }

    std::shared_ptr<Touching> touching_;
    std::shared_ptr<Exchange> exchange_;
    ProxyHandLetter hand_;  ///< tick 0: there is none yet
};

}  // namespace pliant
