#include "pliant/contact/surface_set.h"

#include <algorithm>

namespace pliant {

SurfaceSet::SurfaceSet(std::vector<MovingSurface*> surfaces) : surfaces_(std::move(surfaces)) {
    for (auto i = surfaces_.begin(); i != surfaces_.end(); ++i)
        if (!*i || std::find(surfaces_.begin(), i, *i) != i)
            throw InputError("", "surface " + std::to_string(i - surfaces_.begin()) + " of a set",
                             *i ? "listed before" : "none", "every surface once");
}

}  // namespace pliant
