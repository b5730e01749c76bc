#pragma once

#include "pliant/core/progress.h"
#include "pliant/field/analytic_field.h"
#include "pliant/scene/scene_description.h"
#include "pliant/scene/simulation_loop.h"

#include <filesystem>
#include <functional>
#include <map>
#include <span>

namespace pliant {

/// One of the bodies of a contact.
struct ContactSide {
    const BodyDescription& description;
    Body& body;
    int place = 0;  ///< in its loop
    bool is_held = false;  ///< by the hand with the device
};

/// Length within which a point is stopped: a cell of the field, or the spacing of the points [m].
[[nodiscard]] double contact_cell(const ContactPair& pair);

/// Pointshells and fields of a scene, each made once however many contacts and copies use it and
/// kept in the cache folder: the next start maps files into memory.
class ContactStore {
public:
    ContactStore(std::filesystem::path cache, std::function<void(const std::string&)> say,
                 Progress& progress)
        : cache_(std::move(cache)), say_(std::move(say)), progress_(progress) {}

    // All throw InputError and Cancelled.
    [[nodiscard]] LoopContact make(const PairContactDescription& contact, const ContactSide& shell,
                                   const ContactSide& field);
    [[nodiscard]] LoopContact make(const AmongContactDescription& contact,
                                   std::span<const ContactSide> bodies);
    /// Copies of one body.
    [[nodiscard]] LoopContact make(const SelfContactDescription& contact,
                                   std::span<const ContactSide> bodies);

private:
    [[nodiscard]] PointTree tree(const ContactSide& side);
    [[nodiscard]] PointTree build_tree(const std::string& body, const PointshellSource& source,
                                       const SurfaceMesh& surface, const ReducedModel* model,
                                       std::uint64_t shell_key, std::uint64_t key);
    [[nodiscard]] Pointshell build_shell(const PointshellSource& source, const SurfaceMesh& surface,
                                         std::uint64_t key);
    [[nodiscard]] FieldBody field(const ContactSide& side);
    [[nodiscard]] FieldPointer grid(const std::string& body, const FieldSource& source,
                                    const SurfaceMesh& surface);
    [[nodiscard]] DeformedFieldModel deformed(const std::string& body, const FieldSource& source,
                                              const ReducedModel& model);
    void tell(const std::string& line) const {
        if (say_) say_(line);
    }

    std::filesystem::path cache_;
    std::function<void(const std::string&)> say_;
    Progress& progress_;
    std::map<std::string, PointTree> trees_;
    std::map<std::string, FieldPointer> grids_;
    std::map<std::string, DeformedFieldModel> deformed_;
};

}  // namespace pliant
