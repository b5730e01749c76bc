#pragma once

#include "pliant/core/progress.h"
#include "pliant/greens/greens_body.h"
#include "pliant/greens/greens_model.h"
#include "pliant/scene/scene_description.h"
#include "pliant/scene/simulation_loop.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace pliant {

/// Rounds of subdivision of a pad, where a scene does not say.
inline constexpr int kPadLevels = 2;
/// Whether it is a shape that comes with levels of subdivision.
[[nodiscard]] bool is_subdivided(const SurfaceSource& source);

/// Of everything that the model of a recipe depends on. Reads a measured file; throws InputError.
[[nodiscard]] std::uint64_t greens_key(const GreensRecipe& recipe);

/// Models with Green's functions of a scene: one for each file or recipe, however many bodies use
/// it, kept in the cache folder as those of ModelStore are.
class GreensStore {
public:
    GreensStore(std::filesystem::path cache, std::function<void(const std::string&)> say,
                Progress& progress)
        : cache_(std::move(cache)), say_(std::move(say)), progress_(progress) {}

    /// `body` is named in the line that is said. Throws InputError and Cancelled.
    [[nodiscard]] std::shared_ptr<const GreensModel> get(const std::string& body,
                                                         const GreensSource& source);
    /// Of the level that the body is shown on; null: that of the model itself. Throws InputError.
    [[nodiscard]] std::shared_ptr<const ShownSurface> shown(const GreensSource& source,
                                                            const GreensModel& model) const;

private:
    [[nodiscard]] GreensModel build(const GreensRecipe& recipe, std::uint64_t key,
                                    std::string& how) const;

    std::filesystem::path cache_;
    std::function<void(const std::string&)> say_;
    Progress& progress_;
    std::map<std::string, std::shared_ptr<const GreensModel>> models_;
};

/// Nodes that hands and points load beside those that tools hold.
inline constexpr int kLoadsBesideTools = 96;
/// Nodes that the tools of a contact may hold at once.
[[nodiscard]] int most_held_nodes(const GreensContactDescription& contact,
                                  const GreensModel& model);
/// A contact of a scene; `places` in the loop, of that rate [Hz]: of the body, then of those that
/// touch it.
[[nodiscard]] LoopContact make_greens_contact(const GreensContactDescription& contact,
                                              GreensBody& body, std::vector<RigidBody*> by,
                                              const std::vector<int>& places, double rate,
                                              std::optional<GreensHand> hand = std::nullopt);
/// As a scene describes it, with the wrist at `pose` where it has no motion.
[[nodiscard]] GreensHand make_greens_hand(const HandSource& source, const Pose& pose);

}  // namespace pliant
