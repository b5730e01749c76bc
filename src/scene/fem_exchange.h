#pragma once

#include "pliant/haptics/fem_haptic_link.h"

#include <vector>

namespace pliant {

/// Where the hand is, from the haptic loop.
struct FemHandLetter {
    std::uint64_t round = 0;  ///< resets of the sender: letters of another round are not read
    std::uint64_t tick = 0;   ///< of the sender, from 1 on in each round
    double time = 0;          ///< of that tick, on the haptic clock [s]
    FemHandState hand;
};

/// The newest steps of the bodies, from their loop.
struct FemStepsLetter {
    std::uint64_t round = 0, tick = 0;
    FemToolSteps steps;
};

/// From one loop to another, newest wins and nobody waits; in replays also letters from before.
template <class Letter>
class LetterBox {
public:
    void post(const Letter& letter) noexcept {
        slots_.write_slot() = letter;
        slots_.publish();
        if (!kept_.empty()) kept_[num_kept_++ % kept_.size()] = letter;
    }
    /// Stays the same until the next call.
    [[nodiscard]] const Letter& newest() noexcept {
        slots_.update();
        return slots_.read_slot();
    }
    /// From now on, where one thread runs both loops.
    void keep() {
        kept_.assign(kNumKept, {});
        num_kept_ = 0;
    }
    /// Null: it is not there (yet).
    [[nodiscard]] const Letter* find(std::uint64_t round, std::uint64_t tick) const noexcept {
        for (const Letter& letter : kept_)
            if (letter.round == round && letter.tick == tick) return &letter;
        return nullptr;
    }

private:
    static constexpr std::size_t kNumKept = 256;  // more than any loop falls behind another
    TripleBuffer<Letter> slots_;
    std::vector<Letter> kept_;
    std::size_t num_kept_ = 0;
};

/// Between the two ends of a tool among full FEM bodies, docs/scene.md section "Tools among full
/// FEM bodies".
struct FemExchange {
    LetterBox<FemHandLetter> hand;
    LetterBox<FemStepsLetter> steps;
};

}  // namespace pliant
