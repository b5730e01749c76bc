#pragma once

#include "pliant/net/web_server.h"
#include "pliant/scene/world.h"

#include <map>
#include <string_view>

namespace pliant {

/// Plane cuts through the distance fields of contacts, for pages that show them. Only of rigid
/// bodies: fields that deform belong to the thread of their loop.
class FieldSlices {
public:
    /// The world must outlive it.
    explicit FieldSlices(const World& world) : world_(world) {}

    /// Of "{c}/slice/x", "y" or "z", docs/server.md section "Data over HTTP"; null: there is none.
    [[nodiscard]] SharedBytes find(std::string_view path);

private:
    [[nodiscard]] SharedBytes encode(std::size_t contact, int axis) const;
    const World& world_;
    std::map<std::pair<std::size_t, int>, SharedBytes> made_;
};

}  // namespace pliant
