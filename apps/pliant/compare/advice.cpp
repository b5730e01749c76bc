#include <algorithm>
#include <cmath>

#include "../output.h"
#include "report.h"

namespace pliant::compare {
namespace {

using cli::format;

constexpr double kGoodError = 0.1;    // as near as one rarely feels or sees
constexpr double kHandForce = 10;     // that devices show and fingers press with [N]
constexpr double kUnseen = 1e-4;      // of the size: what gives less looks and feels rigid
constexpr double kShareOfTick = 0.5;  // left to a body: contact and the rest need time as well

std::string shape_words(const Result& result) {
    return format("shape %.1f %% of the depth off (RMS, at most %.0f %%)", 100 * result.rms,
                  100 * result.largest);
}

std::string difference_words(const Result& result) {
    return shape_words(result) + format(", force %.2f times that of full FEM", result.force_ratio);
}

std::string cost_words(const Result& result, double tick) {
    return format("a tick of %.3g ms takes ", 1e3 * tick) +
           microseconds(result.touch.ticks.p50_us) + " µs (p99.9 " +
           microseconds(result.touch.ticks.p999_us) + " µs)";
}

/// Why one takes, or does not take, a method that was not chosen.
std::string other_words(const Result& result, const Study& study) {
    const double tick = study.object->tick();
    const std::string title = title_of(result.method);
    const std::string speed =
        result.keeps_up(tick) ? "" : ", and does not keep up here: " + cost_words(result, tick);
    switch (result.method) {
        case Method::Rigid:
            return format(
                "rigid: next to no cost, but this object gives way under the pad, by a millimetre "
                "for %.3g N.",
                1e-3 * study.reference().touch.first_stiffness);
        case Method::LinearModal:
            return "linear modal: " + difference_words(result) + speed +
                   ". The cheapest that deforms and moves; it swells when it turns far.";
        case Method::Reduced:
            return "reduced: " + difference_words(result) + speed +
                   (result.force_ratio > 1 + kGoodError
                        ? format(". Too stiff under the pad: %d shapes hold no dent this small; "
                                 "take it where the body bends as a whole, or raise --rank.",
                                 study.object->rank)
                        : ". Takes large bending as well, and vibrates.");
        case Method::FullFem:
            return "full FEM: the reference" + speed +
                   (result.keeps_up(tick) ? ", and keeps up here; it alone takes dents and large "
                                            "strain at once."
                                          : ". A coarser --resolution or a slower loop of its own "
                                            "(felt through the contact planes) makes it usable.");
        case Method::Greens:
            return "Green's functions: " + difference_words(result) + speed +
                   ". Always in balance: no vibration; the force grows in proportion to the depth "
                   "however deep.";
        case Method::Particles:
            return "particles: " + shape_words(result) + speed +
                   ". They have no material: stiffness is a matter of taste and of the tick, and "
                   "their force says nothing about this one. Take them where softness, not force, "
                   "counts.";
    }
    return "";
}

const Result* cheapest(const std::vector<const Result*>& of) {
    return *std::ranges::min_element(of, {}, [](const Result* r) { return r->touch.ticks.p50_us; });
}

}  // namespace

std::string microseconds(double us) { return format(us < 100 ? "%.3g" : "%.0f", us); }

bool Result::keeps_up(double tick) const noexcept {
    return touch.ticks.p999_us < 1e6 * kShareOfTick * tick;
}

const Result& Study::reference() const {
    return *std::ranges::find(results, Method::FullFem, &Result::method);
}

double Result::error() const noexcept { return std::max(rms, std::abs(force_ratio - 1)); }

Advice advise(const Study& study) {
    const double tick = study.object->tick();
    const Result* chosen = nullptr;
    std::string why;

    // only what has the material of the object can be right about its force
    std::vector<const Result*> in_time, good;
    const Result* rigid = nullptr;
    for (const Result& result : study.results) {
        if (result.method == Method::Rigid) rigid = &result;
        if (result.method == Method::Rigid || result.method == Method::Particles) continue;
        if (!result.keeps_up(tick)) continue;
        in_time.push_back(&result);
        if (result.error() <= kGoodError) good.push_back(&result);
    }
    const double gives = kHandForce / study.reference().touch.first_stiffness;
    if (rigid && gives < kUnseen * study.object->size) {
        chosen = rigid;
        why = format("under %.0f N it gives %.2g µm, less than anybody sees or feels.", kHandForce,
                     1e6 * gives);
    } else if (!good.empty()) {
        chosen = cheapest(good);
        why = chosen->method == Method::FullFem
                  ? "it keeps up itself, and nothing that is cheaper comes within 10 % of it in "
                    "shape and force: " +
                        cost_words(*chosen, tick) + "."
                  : "the cheapest that comes within 10 % of full FEM in shape and force: " +
                        difference_words(*chosen) + "; " + cost_words(*chosen, tick) + ".";
    } else if (!in_time.empty()) {
        chosen = *std::ranges::min_element(in_time, {}, &Result::error);
        why = "nothing that keeps up comes within 10 % of full FEM; this comes nearest: " +
              difference_words(*chosen) + "; " + cost_words(*chosen, tick) +
              ". Smaller depths bring linear methods nearer.";
    } else {
        chosen = &study.reference();
        why = "none of the methods compared leaves half of a tick to the rest; " +
              cost_words(*chosen, tick) + ".";
    }
    Advice advice{name_of(chosen->method), {"Take " + title_of(chosen->method) + ": " + why}};
    for (const Result& result : study.results)
        if (&result != chosen) {
            std::string words = other_words(result, study);
            words[0] = static_cast<char>(std::toupper(words[0]));
            advice.reasons.push_back(words);
        }
    return advice;
}

}  // namespace pliant::compare
