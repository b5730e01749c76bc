#include "particles/group_colours.h"

#include "core/numbers.h"

namespace pliant {

ColouredSets colour_sets(std::span<const int> offsets, std::span<const int> items, int num_items) {
    const std::size_t num_sets = offsets.size() - 1;
    std::vector<std::vector<int>> used(at(num_items));  // colours at each item
    std::vector<int> colour(num_sets);
    std::vector<std::size_t> taken_by;  // the last set, from one, that met the colour
    for (std::size_t s = 0; s < num_sets; ++s) {
        const auto members = items.subspan(at(offsets[s]), at(offsets[s + 1] - offsets[s]));
        for (const int i : members)
            for (const int c : used[at(i)]) taken_by[at(c)] = s + 1;
        int c = 0;
        while (at(c) < taken_by.size() && taken_by[at(c)] == s + 1) ++c;
        if (at(c) == taken_by.size()) taken_by.push_back(0);
        colour[s] = c;
        for (const int i : members) used[at(i)].push_back(c);
    }
    ColouredSets sets;
    sets.offsets.assign(taken_by.size() + 1, 0);
    for (const int c : colour) ++sets.offsets[at(c) + 1];
    for (std::size_t c = 1; c < sets.offsets.size(); ++c) sets.offsets[c] += sets.offsets[c - 1];
    std::vector<int> next(sets.offsets.begin(), sets.offsets.end() - 1);
    sets.order.resize(num_sets);
    for (std::size_t s = 0; s < num_sets; ++s)
        sets.order[at(next[at(colour[s])]++)] = static_cast<int>(s);
    return sets;
}

}  // namespace pliant
