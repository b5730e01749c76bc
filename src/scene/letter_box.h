#pragma once

#include "pliant/core/triple_buffer.h"

#include <cstdint>
#include <deque>
#include <memory>

namespace pliant {

/// From one loop to another, newest wins and nobody waits; in replays also letters from before. A
/// letter has the `round` (resets of the sender) and the `tick` that it is of, from 1 on in each.
template <class Letter>
class LetterBox {
public:
    LetterBox() = default;
    /// Letters with vectors of final size, as `initial`: posting then allocates nothing.
    explicit LetterBox(const Letter& initial) : slots_(initial) {}
    void post(const Letter& letter) noexcept {
        slots_.write_slot() = letter;
        slots_.publish();
        if (keeps_) kept_.push_back(letter);
    }
    /// Stays the same until the next call.
    [[nodiscard]] const Letter& newest() noexcept {
        slots_.update();
        return slots_.read_slot();
    }
    /// From now on, where one thread runs both loops.
    void keep() {
        keeps_ = true;
        kept_.clear();
    }
    /// Null: it is not there (yet). Those before it are dropped: readers go forward.
    [[nodiscard]] const Letter* find(std::uint64_t round, std::uint64_t tick) noexcept {
        const auto is_before = [&](const Letter& letter) {
            return letter.round < round || (letter.round == round && letter.tick < tick);
        };
        while (!kept_.empty() && is_before(kept_.front())) kept_.pop_front();
        const bool is_there =
            !kept_.empty() && kept_.front().round == round && kept_.front().tick == tick;
        return is_there ? &kept_.front() : nullptr;
    }

private:
    TripleBuffer<Letter> slots_;
    std::deque<Letter> kept_;
    bool keeps_ = false;
};

/// One end of a tool whose device is in one loop and whose bodies are in another, as the loops know
/// it: it reads what the other end posted, SimulationLoop::receive().
class LetterReader {
public:
    virtual ~LetterReader() = default;
    /// The newest, for the next tick. Returns the tick that it is of, 0: none since the last reset.
    virtual std::uint64_t receive() noexcept = 0;
    /// That of the other end's tick `tick`; false: it is not there (yet).
    [[nodiscard]] virtual bool receive(std::uint64_t tick) noexcept = 0;
    /// Letters are kept for receive(tick).
    virtual void keep() = 0;
    /// After a reset: letters of other rounds are not read.
    void set_round(std::uint64_t round) noexcept { round_ = round; }

protected:
    [[nodiscard]] std::uint64_t round() const noexcept { return round_; }

private:
    std::uint64_t round_ = 0;
};

/// Reads the letters of a box that both ends share.
template <class Letter>
class BoxReader : public LetterReader {
public:
    explicit BoxReader(std::shared_ptr<LetterBox<Letter>> box) : box_(std::move(box)) {}
    std::uint64_t receive() noexcept final {
        const Letter& letter = box_->newest();
        if (letter.round != round()) return 0;
        read(letter);
        return letter.tick;
    }
    [[nodiscard]] bool receive(std::uint64_t tick) noexcept final {
        const Letter* const letter = box_->find(round(), tick);
        if (letter) read(*letter);
        return letter != nullptr;
    }
    void keep() final { box_->keep(); }

protected:
    virtual void read(const Letter& letter) noexcept = 0;

private:
    std::shared_ptr<LetterBox<Letter>> box_;
};

/// The end in the loop of the bodies.
class BodiesEnd {
public:
    virtual ~BodiesEnd() = default;
    [[nodiscard]] virtual LetterReader& letters() noexcept = 0;
    /// Before the bodies step, and after they did.
    virtual void begin_step(double dt) noexcept = 0;
    virtual void end_step() noexcept = 0;
    /// After the bodies were.
    virtual void reset() noexcept = 0;
};

}  // namespace pliant
