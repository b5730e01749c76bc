#include "scene/scene_reader.h"

#include <algorithm>
#include <numbers>
#include <string>
#include <vector>

namespace pliant {
namespace {

std::string list_of_bones(const std::vector<Bone>& bones) {
    std::string names;
    for (const Bone& bone : bones) names += (names.empty() ? "\"" : ", \"") + bone.name + "\"";
    return names;
}

int find_bone(const std::vector<Bone>& bones, const std::string& name) {
    const auto found = std::ranges::find(bones, name, &Bone::name);
    return found == bones.end() ? -1 : static_cast<int>(found - bones.begin());
}

Bone read_bone(const JsonObject& json, const std::vector<Bone>& before) {
    Bone bone;
    bone.name = json.text("name", "");
    if (find_bone(before, bone.name) >= 0) json.refuse("name", "another name for each bone");
    if (json.has("parent")) {
        bone.parent = find_bone(before, json.text("parent", ""));
        if (bone.parent < 0)
            json.refuse("parent", before.empty() ? "none: this is the first bone"
                                                 : "a bone before it: " + list_of_bones(before));
    }
    bone.joint = json.vector("joint", bone.joint);
    bone.axis = json.vector("axis", bone.axis);
    if (!(bone.axis.norm() > 0)) json.refuse("axis", "a direction");
    return bone;
}

GreensSource read_greens_part(const JsonObject& json, const std::filesystem::path& folder) {
    // joints drive nodes, whose columns are those of the finest level
    for (const char* key : {"finest_constraint_level", "display_level"})
        if (json.has(key)) json.fail(key, "does not go with parts of \"zones\"");
    GreensSource source = read_greens(json, folder);
    // joints move what is fixed
    if (auto* const recipe = std::get_if<GreensRecipe>(&source.model))
        recipe->build.has_fixed_columns = true;
    return source;
}

/// A reduced model whose bone holds it.
ReducedSource read_reduced_part(const JsonObject& json, const std::filesystem::path& folder) {
    ReducedSource source = read_reduced(json, folder);
    for (const char* kind : {"model", "reduced"}) {
        const auto part = json.object(kind);
        if (!part) continue;
        if (part->boolean("free", false))
            part->fail("free", "does not go with parts of \"zones\": these are \"fixed\"");
        for (const char* key : {"damping", "linear", "coupling"})
            if (part->has(key))
                part->fail(key, "does not go with parts of \"zones\", which have no inertia");
        if (auto* const recipe = std::get_if<ReducedRecipe>(&source.model))
            if (recipe->build.mesh.kind.ends_with("tet") && !part->has("elements"))
                recipe->build.elements = ElementFormulation::Plain;  // which add up across seams
    }
    return source;
}

}  // namespace

bool ZonesSource::is_one_body() const noexcept {
    const auto stays = [](const ScriptedMotion& angle) {
        return angle.largest_rates().linear == 0;
    };
    return is_bonded && !motion && std::ranges::all_of(flexion, stays) &&
           std::ranges::none_of(parts, [](const Part& part) { return part.reduced.has_value(); });
}

ZonesSource read_zones(const JsonObject& json, const std::filesystem::path& folder,
                       const Pose& pose) {
    ZonesSource zones;
    for (const JsonObject& item : json.objects("bones")) {
        zones.bones.push_back(read_bone(item, zones.bones));
        zones.flexion.push_back(read_number_path(item, "angle", "degrees", std::numbers::pi / 180)
                                    .value_or(ScriptedMotion({Keyframe{}})));
    }
    for (const JsonObject& item : json.objects("parts")) {
        ZonesSource::Part part;
        part.name = item.text("name", "");
        if (std::ranges::find(zones.parts, part.name, &ZonesSource::Part::name) !=
            zones.parts.end())
            item.refuse("name", "another name for each part");
        part.bone = find_bone(zones.bones, item.text("bone", ""));
        if (part.bone < 0) item.refuse("bone", "one of the bones: " + list_of_bones(zones.bones));
        if (const auto place = item.object("pose")) part.pose = read_pose(*place);
        if (const auto greens = item.object("greens")) {
            part.greens = read_greens_part(*greens, folder);
        } else {
            if (json.text("seams", "blended") != "bonded")
                item.fail(item.has("model") ? "model" : "reduced",
                          "goes with \"seams\": \"bonded\" only");
            part.reduced = read_reduced_part(item, folder);
        }
        zones.parts.push_back(std::move(part));
    }
    zones.is_bonded = json.text("seams", "blended") == "bonded";
    if (zones.is_bonded && json.has("blend"))
        json.fail("blend", "goes with \"seams\": \"blended\" only");
    zones.blend = json.number("blend", zones.blend);
    zones.motion = read_motion(json, pose);
    if (zones.is_one_body())
        for (const JsonObject& item : json.objects("parts"))
            if (item.object("greens")->has("constraint_level"))
                item.object("greens")->fail(
                    "constraint_level",
                    "goes with parts that move: bonded ones whose bones stay are touched at their "
                    "nodes");
    return zones;
}

}  // namespace pliant
