#pragma once

#include <chrono>
#include <cstdio>
#include <string>

namespace pliant {

// What stores say about what they built or loaded.

/// Since the clock was made: "9.2 s" or "12 ms".
class StopWatch {
public:
    [[nodiscard]] std::string text() const {
        const double seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
        char text[32];
        if (seconds >= 0.995)
            std::snprintf(text, sizeof text, "%.1f s", seconds);
        else
            std::snprintf(text, sizeof text, "%.0f ms", 1e3 * seconds);
        return text;
    }

private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// 5854 → "5,854".
inline std::string grouped(int number) {
    std::string text = std::to_string(number);
    for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
        text.insert(text.begin() + at, ',');
    return text;
}

}  // namespace pliant
