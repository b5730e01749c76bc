#include "pliant/core/nearest_name.h"

#include <algorithm>
#include <cctype>

namespace pliant {
namespace {

std::string lower(std::string text) {
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
}

/// Edit distance with swaps of neighbours (optimal string alignment).
int typing_errors(const std::string& a, const std::string& b) {
    const int n = static_cast<int>(a.size()), m = static_cast<int>(b.size());
    std::vector<int> before(m + 1), above(m + 1), row(m + 1);
    for (int j = 0; j <= m; ++j) above[j] = j;
    for (int i = 1; i <= n; ++i) {
        row[0] = i;
        for (int j = 1; j <= m; ++j) {
            const int replace = above[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = std::min({replace, above[j] + 1, row[j - 1] + 1});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], before[j - 2] + 1);
        }
        std::swap(before, above);
        std::swap(above, row);
    }
    return above[m];
}

}  // namespace

std::string nearest_name(const std::string& name, const std::vector<std::string>& known) {
    const std::string wanted = lower(name);
    // about one error in three letters still reads as the same word
    int best = 1 + std::max(1, static_cast<int>(wanted.size()) / 3);
    std::string nearest;
    for (const std::string& candidate : known) {
        const int errors = typing_errors(wanted, lower(candidate));
        if (errors < best) {
            best = errors;
            nearest = candidate;
        }
    }
    if (nearest.empty() && wanted.size() >= 3)
        for (const std::string& candidate : known)
            if (nearest.empty() && lower(candidate).starts_with(wanted)) nearest = candidate;
    return nearest;
}

}  // namespace pliant
