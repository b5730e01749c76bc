#include "pliant/scene/haptic_ticks.h"

#include "scene/record_coding.h"

#include <algorithm>

namespace pliant {
namespace {

constexpr std::size_t kPiece = 64;  // ticks

}  // namespace

void HapticTicks::add(const HapticRecord& record) {
    CodingContext context;
    if (size_ % kPiece == 0)
        pieces_.push_back(code_.size());
    else
        context.haptic = *last_;
    encode_haptic(code_, context, 0, record);
    // copies share it until one of them goes on
    if (!last_ || last_.use_count() > 1) last_ = std::make_shared<HapticRecord>();
    *last_ = record;
    ++size_;
}

const HapticTick& HapticTicks::Reader::operator[](std::size_t i) {
    if (near_.empty() || i < first_ || i - first_ >= near_.size()) {
        const std::size_t piece = i / kPiece;
        first_ = piece * kPiece;
        near_.resize(std::min(kPiece, ticks_->size_ - first_));
        RecordDecoder decoder(std::string_view(ticks_->code_).substr(ticks_->pieces_[piece]), 0, 1);
        HapticRecord record;
        for (HapticTick& tick : near_)
            // as add() wrote it
            if (!decoder.next() || !decoder.haptic(record) || !from_record(record, tick)) break;
    }
    return near_[i - first_];
}

std::size_t HapticTicks::num_bytes() const noexcept {
    return sizeof *this + code_.capacity() + pieces_.capacity() * sizeof(std::size_t) +
           (last_ ? sizeof(HapticRecord) : 0);
}

}  // namespace pliant
