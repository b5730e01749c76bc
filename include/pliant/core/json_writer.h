#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pliant {

/// Writes one JSON value into a string, compact, keys in the order given. Non-finite numbers become
/// null.
///     JsonWriter json; json.begin_object().key("name").value("bridge").end_object();  json.text()
class JsonWriter {
public:
    JsonWriter& begin_object();
    JsonWriter& end_object();
    JsonWriter& begin_array();
    JsonWriter& end_array();
    JsonWriter& key(std::string_view name);
    JsonWriter& value(std::string_view text);
    JsonWriter& value(const char* text) { return value(std::string_view(text)); }
    JsonWriter& value(double number);  ///< shortest text that reads back the same
    JsonWriter& value(std::int64_t number);
    JsonWriter& value(std::uint64_t number);
    JsonWriter& value(int number) { return value(static_cast<std::int64_t>(number)); }
    JsonWriter& value(bool flag);
    template <class T>
    JsonWriter& member(std::string_view name, const T& item) {
        return key(name).value(item);
    }
    [[nodiscard]] const std::string& text() const noexcept { return text_; }

private:
    void separate();
    std::string text_;
    bool needs_comma_ = false;
};

}  // namespace pliant
