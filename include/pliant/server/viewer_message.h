#pragma once

#include "pliant/scene/command.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace pliant {

// What a page may say, docs/server.md section "Messages of the page".

/// A world command; `parameter` by name.
struct CommandMessage {
    Command command;
    std::string parameter;
};
struct AcknowledgeMessage {
    std::uint32_t frame = 0;
};
struct ControlMessage {
    enum class Action {
        Pause,
        Run,
        Step,
        Speed,
        OpenScene,
        StartRecording,
        StopRecording,
        SeekReplay,
        ShowMesh,
        HideMesh,
        ShowContacts,
        HideContacts,
        Ping,
        Steer,
        StartSketch,
        CancelSketch,
        BuildSketch,
    };
    Action action = Action::Ping;
    double value = 0;  ///< ticks, speed, time [s], ping id, rank
    std::string name;  ///< scene or recording
};
using ViewerMessage = std::variant<CommandMessage, AcknowledgeMessage, ControlMessage>;

/// Of one text message; nothing for anything malformed: bad JSON, unknown types or keys, numbers
/// that are not finite or out of range, texts that are too long. Never throws.
[[nodiscard]] std::optional<ViewerMessage> parse_viewer_message(std::string_view text) noexcept;

}  // namespace pliant
