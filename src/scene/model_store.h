#pragma once

#include "pliant/core/progress.h"
#include "pliant/reduction/reduced_body.h"
#include "pliant/scene/scene_description.h"

#include <filesystem>
#include <functional>
#include <map>
#include <string>

namespace pliant {

class CacheKey;
/// A file is known by its bytes, a shape by its name: making it may take longer than a start
/// should.
void add_surface(CacheKey& key, const SurfaceSource& source);
/// The surface of a file or of a named shape.
[[nodiscard]] SurfaceMesh load_source(const SurfaceSource& source, Progress& progress);
/// The same, repaired and scaled so that its longest side is `size` metres; 0: as it is.
[[nodiscard]] SurfaceMesh load_solid(const SurfaceSource& source, double size, Progress& progress);

/// Reduced models of a scene: one for each file or recipe, however many bodies use it. What a
/// recipe gives is kept in a cache folder, so that the next start maps a file into memory.
class ModelStore {
public:
    ModelStore(std::filesystem::path cache, std::function<void(const std::string&)> say,
               Progress& progress)
        : cache_(std::move(cache)), say_(std::move(say)), progress_(progress) {}

    /// `body` is named in the line that is said. Throws InputError and Cancelled.
    [[nodiscard]] const ReducedBodyModel& get(const std::string& body, const ReducedSource& source);

private:
    [[nodiscard]] ReducedBodyModel load(const std::string& body, const ModelFile& file) const;
    [[nodiscard]] ReducedBodyModel build(const std::string& body, const ReducedRecipe& recipe,
                                         std::uint64_t key) const;
    void tell(const std::string& body, const ReducedModel& model, const std::string& how) const;
    std::filesystem::path cache_;
    std::function<void(const std::string&)> say_;
    Progress& progress_;
    std::map<std::string, ReducedBodyModel> models_;
};

}  // namespace pliant
