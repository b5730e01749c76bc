#pragma once

#include "pliant/core/error.h"
#include "pliant/core/json_value.h"

#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

namespace pliant {

/// Where a reader is.
struct JsonSource {
    std::string file;                           ///< in messages
    std::vector<std::string>* asked = nullptr;  ///< gets the path of every key that is looked up
};

/// An object of a file that its schema has accepted, with its place there. `source` must outlive
/// it. Keys that are missing give `otherwise`.
class JsonObject {
public:
    JsonObject(const JsonValue& value, std::string path, const JsonSource& source)
        : value_(&value), path_(std::move(path)), source_(&source) {}

    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    [[nodiscard]] const std::string& file() const noexcept { return source_->file; }
    [[nodiscard]] std::string path_of(const std::string& key) const;
    [[nodiscard]] const JsonValue* find(const std::string& key) const;
    [[nodiscard]] bool has(const std::string& key) const { return find(key) != nullptr; }

    [[nodiscard]] bool boolean(const std::string& key, bool otherwise) const;
    [[nodiscard]] double number(const std::string& key, double otherwise) const;
    [[nodiscard]] int integer(const std::string& key, int otherwise) const;
    [[nodiscard]] std::string text(const std::string& key, const std::string& otherwise) const;
    [[nodiscard]] Eigen::Vector3d vector(const std::string& key,
                                         const Eigen::Vector3d& otherwise) const;
    [[nodiscard]] std::optional<JsonObject> object(const std::string& key) const;
    [[nodiscard]] std::vector<JsonObject> objects(const std::string& key) const;

    /// file: path.key = value (expected …)
    [[noreturn]] void refuse(const std::string& key, const std::string& expected) const;
    /// The same for an item of an array: file: path.key[i] = value (expected …)
    [[noreturn]] void refuse_item(const std::string& key, std::size_t i,
                                  const std::string& expected) const;
    /// file: path.key: sentence
    [[noreturn]] void fail(const std::string& key, const std::string& sentence) const;
    /// At most one of them.
    void exclude(const std::string& a, const std::string& b) const;

    /// Runs a check of the library on the value of a key; its InputError gets file and path.
    template <class Call>
    void check(const std::string& key, Call&& call) const {
        try {
            call();
        } catch (const InputError& error) {
            if (error.expected().empty()) fail(key, error.what());
            refuse(key, error.expected());
        }
    }
    /// The same where the library names the member of this object that is wrong.
    template <class Call>
    void check_members(Call&& call) const {
        try {
            call();
        } catch (const InputError& error) {
            if (!error.field().empty() && has(error.field()))
                refuse(error.field(), error.expected());
            throw InputError(source_->file, path_ + ": " + error.what());
        }
    }

private:
    const JsonValue* value_;
    std::string path_;
    const JsonSource* source_;
};

}  // namespace pliant
