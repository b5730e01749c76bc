#include "scene/json_object.h"

#include "scene/json_schema.h"

namespace pliant {

std::string JsonObject::path_of(const std::string& key) const { return member_path(path_, key); }

const JsonValue* JsonObject::find(const std::string& key) const {
    if (source_->asked) source_->asked->push_back(path_of(key));
    return value_->find(key);
}

bool JsonObject::boolean(const std::string& key, bool otherwise) const {
    const JsonValue* value = find(key);
    return value ? value->boolean() : otherwise;
}

double JsonObject::number(const std::string& key, double otherwise) const {
    const JsonValue* value = find(key);
    return value ? value->number() : otherwise;
}

int JsonObject::integer(const std::string& key, int otherwise) const {
    const JsonValue* value = find(key);
    return value ? static_cast<int>(value->number()) : otherwise;
}

std::string JsonObject::text(const std::string& key, const std::string& otherwise) const {
    const JsonValue* value = find(key);
    return value ? value->string() : otherwise;
}

Eigen::Vector3d JsonObject::vector(const std::string& key, const Eigen::Vector3d& otherwise) const {
    const JsonValue* value = find(key);
    if (!value) return otherwise;
    const JsonValue::Array& items = value->array();
    return {items[0].number(), items[1].number(), items[2].number()};
}

std::optional<JsonObject> JsonObject::object(const std::string& key) const {
    const JsonValue* value = find(key);
    if (!value || !value->is(JsonValue::Type::Object)) return std::nullopt;
    return JsonObject(*value, path_of(key), *source_);
}

std::vector<JsonObject> JsonObject::objects(const std::string& key) const {
    std::vector<JsonObject> result;
    if (const JsonValue* value = find(key))
        for (std::size_t i = 0; i < value->array().size(); ++i)
            result.emplace_back(value->array()[i], item_path(path_of(key), i), *source_);
    return result;
}

void JsonObject::refuse(const std::string& key, const std::string& expected) const {
    const JsonValue* value = find(key);
    throw InputError(source_->file, path_of(key), value ? to_text(*value) : "nothing", expected);
}

void JsonObject::refuse_item(const std::string& key, std::size_t i,
                             const std::string& expected) const {
    throw InputError(source_->file, item_path(path_of(key), i), to_text(find(key)->array()[i]),
                     expected);
}

void JsonObject::fail(const std::string& key, const std::string& sentence) const {
    throw InputError(source_->file, path_of(key) + ": " + sentence);
}

void JsonObject::exclude(const std::string& a, const std::string& b) const {
    if (has(a) && has(b))
        throw InputError(source_->file, path_ + ": only one of the keys \"" + a + "\" and \"" + b +
                                            "\" may be given");
}

}  // namespace pliant
