#include "pliant/core/atomic_file.h"
#include "pliant/core/error.h"
#include "pliant/core/json_value.h"
#include "pliant/core/json_writer.h"
#include "pliant/core/nearest_name.h"
#include "pliant/particles/particle_layout.h"

#include <algorithm>

namespace pliant {
namespace {

using Eigen::Vector3d;

/// Reads members of one object and names places in messages.
class LayoutObject {
public:
    LayoutObject(const JsonValue& value, std::string path, const std::string& file,
                 const std::vector<std::string>& keys)
        : value_(value), path_(std::move(path)), file_(file) {
        if (!value.is(JsonValue::Type::Object)) fail(value, path_, "an object");
        for (const auto& [key, member] : value.object()) {
            if (std::ranges::find(keys, key) != keys.end()) continue;
            const std::string nearest = nearest_name(key, keys);
            throw InputError(file_,
                             place(key) + ": unknown key" +
                                 (nearest.empty() ? "" : "; did you mean \"" + nearest + "\"?"));
        }
    }
    [[nodiscard]] const JsonValue* find(const char* key) const { return value_.find(key); }
    [[nodiscard]] const JsonValue& get(const char* key) const {
        const JsonValue* const found = find(key);
        if (!found) throw InputError(file_, place(key) + " is missing");
        return *found;
    }
    [[nodiscard]] std::string place(const std::string& key) const {
        return path_.empty() ? key : path_ + "." + key;
    }
    [[noreturn]] void fail(const JsonValue& value, const std::string& where,
                           const char* expected) const {
        throw InputError(file_, where, to_text(value), expected);
    }
    [[nodiscard]] double number(const char* key) const { return number(get(key), place(key)); }
    [[nodiscard]] double number(const JsonValue& value, const std::string& where) const {
        if (!value.is(JsonValue::Type::Number)) fail(value, where, "a number");
        return value.number();
    }
    [[nodiscard]] int index(const JsonValue& value, const std::string& where) const {
        const double x = number(value, where);
        if (!(x >= 0 && x <= 1e9) || x != static_cast<double>(static_cast<int>(x)))
            fail(value, where, "a whole number from 0 on");
        return static_cast<int>(x);
    }
    /// So many numbers.
    [[nodiscard]] std::vector<double> numbers(const char* key, std::size_t count) const {
        const JsonValue& list = get(key);
        const std::string expected = std::to_string(count) + " numbers in brackets";
        if (!list.is(JsonValue::Type::Array) || list.array().size() != count)
            fail(list, place(key), expected.c_str());
        std::vector<double> values;
        for (const JsonValue& item : list.array()) values.push_back(number(item, place(key)));
        return values;
    }
    [[nodiscard]] const JsonValue::Array& array(const char* key) const {
        const JsonValue& list = get(key);
        if (!list.is(JsonValue::Type::Array)) fail(list, place(key), "a list in brackets");
        return list.array();
    }

private:
    const JsonValue& value_;
    std::string path_;
    const std::string& file_;
};

Particle read_particle(const JsonValue& value, const std::string& path, const std::string& file) {
    const LayoutObject object(
        value, path, file,
        {"position", "radius", "radii", "rotation", "mass", "stiffness", "object"});
    Particle p;
    p.position = Eigen::Map<const Vector3d>(object.numbers("position", 3).data());
    const bool has_radii = object.find("radii") != nullptr;
    if (has_radii == (object.find("radius") != nullptr))
        throw InputError(file, path +
                                   " needs either \"radius\" (a sphere) or \"radii\" (an "
                                   "ellipsoid)");
    if (has_radii)
        p.radii = Eigen::Map<const Vector3d>(object.numbers("radii", 3).data());
    else
        p.radii.setConstant(object.number("radius"));
    if (object.find("rotation")) {
        const std::vector<double> q = object.numbers("rotation", 4);
        p.rotation = Quaternion(q[0], q[1], q[2], q[3]);
    }
    p.mass = object.number("mass");
    if (object.find("stiffness")) p.stiffness = object.number("stiffness");
    if (const JsonValue* number = object.find("object"))
        p.object = object.index(*number, object.place("object"));
    return p;
}

}  // namespace

ParticleLayout parse_layout(const std::string& text, const std::string& name) {
    const JsonValue root = parse_json(text, name);
    const LayoutObject object(root, "", name, {"format", "cloth", "particles", "links"});
    const JsonValue& format = object.get("format");
    if (!format.is(JsonValue::Type::String) || format.string() != "pliant-particles-1")
        object.fail(format, "format", "\"pliant-particles-1\"");
    ParticleLayout layout;
    if (const JsonValue* cloth = object.find("cloth")) {
        if (!cloth->is(JsonValue::Type::Boolean)) object.fail(*cloth, "cloth", "true or false");
        layout.is_cloth = cloth->boolean();
    }
    const JsonValue::Array& particles = object.array("particles");
    for (std::size_t i = 0; i < particles.size(); ++i)
        layout.particles.push_back(
            read_particle(particles[i], "particles[" + std::to_string(i) + "]", name));
    const JsonValue::Array& links = object.array("links");
    for (std::size_t k = 0; k < links.size(); ++k) {
        const std::string place = "links[" + std::to_string(k) + "]";
        if (!links[k].is(JsonValue::Type::Array) || links[k].array().size() != 2)
            object.fail(links[k], place, "two particles in brackets");
        const auto& pair = links[k].array();
        layout.links.push_back({object.index(pair[0], place), object.index(pair[1], place)});
    }
    check_layout(layout, name);
    for (Particle& p : layout.particles) p.rotation.normalize();
    return layout;
}

ParticleLayout load_layout(const std::filesystem::path& path) {
    return parse_layout(read_file(path), path.string());
}

void save_layout(const ParticleLayout& layout, const std::filesystem::path& path) {
    JsonWriter json;
    json.begin_object().member("format", "pliant-particles-1").member("cloth", layout.is_cloth);
    json.key("particles").begin_array();
    const auto list = [&](const char* key, std::initializer_list<double> numbers) {
        json.key(key).begin_array();
        for (const double x : numbers) json.value(x);
        json.end_array();
    };
    for (const Particle& p : layout.particles) {
        json.begin_object();
        list("position", {p.position.x(), p.position.y(), p.position.z()});
        if (p.radii.maxCoeff() == p.radii.minCoeff()) {
            json.member("radius", p.radii[0]);
        } else {
            list("radii", {p.radii.x(), p.radii.y(), p.radii.z()});
            list("rotation", {p.rotation.w(), p.rotation.x(), p.rotation.y(), p.rotation.z()});
        }
        json.member("mass", p.mass).member("stiffness", p.stiffness);
        if (p.object != 0) json.member("object", p.object);
        json.end_object();
    }
    json.end_array().key("links").begin_array();
    for (const auto& [a, b] : layout.links) json.begin_array().value(a).value(b).end_array();
    json.end_array().end_object();
    AtomicFile file(path);
    file.write(json.text());
    file.commit();
}

}  // namespace pliant
