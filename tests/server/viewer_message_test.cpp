#include "pliant/server/viewer_message.h"

#include <gtest/gtest.h>

#include <string>

namespace pliant {
namespace {

using Action = ControlMessage::Action;

template <class T>
T parse_as(const std::string& text) {
    const auto message = parse_viewer_message(text);
    EXPECT_TRUE(message.has_value()) << text;
    if (!message || !std::holds_alternative<T>(*message)) {
        ADD_FAILURE() << "another kind of message: " << text;
        return {};
    }
    return std::get<T>(*message);
}

bool is_refused(const std::string& text) { return !parse_viewer_message(text).has_value(); }

TEST(ViewerMessage, AcknowledgementHasTheFrame) {
    EXPECT_EQ(parse_as<AcknowledgeMessage>(R"({"type":"ack","frame":7})").frame, 7u);
    EXPECT_EQ(parse_as<AcknowledgeMessage>(R"({"frame":4294967295,"type":"ack"})").frame,
              4294967295u);
}

TEST(ViewerMessage, GrabHasPointAndTarget) {
    const Command command =
        parse_as<CommandMessage>(R"({"type":"grab","slot":3,"body":511,"triangle":12,)"
                                 R"("barycentric":[0.25,0.25,0.5],"target":[1,-2,3e-1]})")
            .command;
    EXPECT_EQ(command.kind, Command::Kind::Grab);
    EXPECT_EQ(command.slot, 3);
    EXPECT_EQ(command.body, 511);
    EXPECT_EQ(command.triangle, 12);
    EXPECT_EQ(command.vertex, -1);
    EXPECT_EQ(command.barycentric, (std::array<double, 3>{0.25, 0.25, 0.5}));
    EXPECT_EQ(command.target, (std::array<double, 3>{1, -2, 0.3}));
}

TEST(ViewerMessage, WeightsJustOutsideTheTriangleArePutRight) {
    const Command command =
        parse_as<CommandMessage>(R"({"type":"poke","slot":0,"body":0,"triangle":0,)"
                                 R"("barycentric":[-1e-7,0.4,0.6],"force":2.5})")
            .command;
    EXPECT_EQ(command.kind, Command::Kind::Poke);
    EXPECT_EQ(command.value, 2.5);
    EXPECT_EQ(command.barycentric[0], 0.0);
    // sum of weights: one rounding each
    EXPECT_NEAR(command.barycentric[1] + command.barycentric[2], 1.0, 1e-15);
    for (const char* weights : {"[0,0,0]", "[1,1,1]", "[-0.5,1,0.5]", "[1,0]", "[1,0,0,0]",
                                R"([1,0,"0"])", "[0.5,0.2,0]"})
        EXPECT_TRUE(is_refused(R"({"type":"poke","slot":0,"body":0,"triangle":0,"barycentric":)" +
                               std::string(weights) + "}"))
            << weights;
}

TEST(ViewerMessage, ToolMayTurnAndHaveButtons) {
    const auto tool = [](const std::string& more) {
        return R"({"type":"tool","target":[1,2,3])" + more + "}";
    };
    const Command plain = parse_as<CommandMessage>(tool("")).command;
    EXPECT_EQ(plain.rotation, (std::array<double, 4>{1, 0, 0, 0}));
    EXPECT_EQ(plain.buttons, 0u);
    const Command command =
        parse_as<CommandMessage>(tool(R"(,"rotation":[0.5,-0.5,0.5,0.5],"buttons":4294967295)"))
            .command;
    EXPECT_EQ(command.kind, Command::Kind::MoveTool);
    EXPECT_EQ(command.target, (std::array<double, 3>{1, 2, 3}));
    EXPECT_EQ(command.rotation, (std::array<double, 4>{0.5, -0.5, 0.5, 0.5}));
    EXPECT_EQ(command.buttons, 4294967295u);
    // single precision is put right
    const Command near =
        parse_as<CommandMessage>(tool(R"(,"rotation":[1.000004,0,0,0.001])")).command;
    double norm = 0;
    for (const double x : near.rotation) norm += x * x;
    EXPECT_NEAR(norm, 1, 1e-15);
    for (const char* bad :
         {R"(,"rotation":[0,0,0,0])", R"(,"rotation":[1,1,0,0])", R"(,"rotation":[0.5,0,0,0])",
          R"(,"rotation":[1,0,0])", R"(,"rotation":[1,0,0,0,0])", R"(,"rotation":[1,0,0,null])",
          R"(,"rotation":[NaN,0,0,0])", R"(,"rotation":1)", R"(,"buttons":-1)", R"(,"buttons":1.5)",
          R"(,"buttons":4294967296)", R"(,"buttons":[1])"})
        EXPECT_TRUE(is_refused(tool(bad))) << bad;
    EXPECT_TRUE(is_refused(R"({"type":"tool","rotation":[1,0,0,0]})"));
    EXPECT_TRUE(is_refused(R"({"type":"drag","slot":0,"target":[0,0,0],"rotation":[1,0,0,0]})"));
}

TEST(ViewerMessage, EveryOtherTypeIsKnown) {
    EXPECT_EQ(parse_as<CommandMessage>(R"({"type":"drag","slot":1,"target":[0,0,1]})").command.kind,
              Command::Kind::Drag);
    EXPECT_EQ(parse_as<CommandMessage>(R"({"type":"release","slot":2})").command.slot, 2);
    EXPECT_EQ(parse_as<CommandMessage>(R"({"type":"tool","target":[1,2,3]})").command.kind,
              Command::Kind::MoveTool);
    EXPECT_EQ(parse_as<CommandMessage>(R"({"type":"reset"})").command.kind, Command::Kind::Reset);
    const auto set =
        parse_as<CommandMessage>(R"({"type":"set","parameter":"bridge.stiffness","value":-2})");
    EXPECT_EQ(set.command.kind, Command::Kind::SetParameter);
    EXPECT_EQ(set.parameter, "bridge.stiffness");
    EXPECT_EQ(set.command.value, -2.0);
    EXPECT_EQ(parse_as<CommandMessage>(
                  R"({"type":"poke","slot":0,"body":0,"triangle":0,"barycentric":[1,0,0]})")
                  .command.value,
              0.0);

    const auto control = [](const std::string& text) { return parse_as<ControlMessage>(text); };
    EXPECT_EQ(control(R"({"type":"pause"})").action, Action::Pause);
    EXPECT_EQ(control(R"({"type":"run"})").action, Action::Run);
    EXPECT_EQ(control(R"({"type":"step","ticks":1000})").value, 1000.0);
    EXPECT_EQ(control(R"({"type":"speed","value":0.01})").value, 0.01);
    EXPECT_EQ(control(R"({"type":"open","scene":"heart"})").name, "heart");
    EXPECT_EQ(control(R"({"type":"record","on":true})").action, Action::StartRecording);
    EXPECT_EQ(control(R"({"type":"record","on":false})").action, Action::StopRecording);
    EXPECT_EQ(control(R"({"type":"seek","time":1.5})").action, Action::SeekReplay);
    EXPECT_EQ(control(R"({"type":"mesh","on":true})").action, Action::ShowMesh);
    EXPECT_EQ(control(R"({"type":"mesh","on":false})").action, Action::HideMesh);
    EXPECT_EQ(control(R"({"type":"contacts","on":true})").action, Action::ShowContacts);
    EXPECT_EQ(control(R"({"type":"contacts","on":false})").action, Action::HideContacts);
    EXPECT_EQ(control(R"({"type":"sketch","on":true})").action, Action::StartSketch);
    EXPECT_EQ(control(R"({"type":"sketch","on":false})").action, Action::CancelSketch);
    EXPECT_EQ(control(R"({"type":"sketch_build","rank":15})").value, 15.0);
    for (const char* bad :
         {R"({"type":"sketch"})", R"({"type":"sketch","on":1})", R"({"type":"sketch_build"})",
          R"({"type":"sketch_build","rank":0})", R"({"type":"sketch_build","rank":2.5})",
          R"({"type":"sketch_build","rank":1001})"})
        EXPECT_TRUE(is_refused(bad)) << bad;
    EXPECT_EQ(control(R"({"type":"ping","id":1763251200123.5})").value, 1763251200123.5);
    EXPECT_EQ(control(R"({"type":"steer"})").action, Action::Steer);
}

TEST(ViewerMessage, WhatIsNotExactlyAMessageIsRefused) {
    const char* bad[] = {
        "",
        " ",
        "null",
        "[]",
        "7",
        "{}",
        "{",
        R"("ack")",
        R"({"type":7})",
        R"({"type":"dance"})",
        R"({"type":"reset"} x)",
        R"({"type":"reset","type":"reset"})",
        // keys that are unknown, missing or of another type
        R"({"type":"reset","now":true})",
        R"({"type":"ack"})",
        R"({"type":"ack","frame":"7"})",
        R"({"type":"ack","frame":7,"extra":1})",
        R"({"type":"pause","value":1})",
        R"({"type":"record","on":1})",
        R"({"type":"contacts"})",
        R"({"type":"contacts","on":"true"})",
        R"({"type":"contacts","on":true,"contact":0})",
        R"({"type":"open","scene":3})",
        R"({"type":"release"})",
        R"({"type":"drag","slot":0})",
        R"({"type":"release","slot":0,"target":[0,0,0]})",
        // numbers that are out of range or not whole
        R"({"type":"ack","frame":-1})",
        R"({"type":"ack","frame":1.5})",
        R"({"type":"ack","frame":4294967296})",
        R"({"type":"release","slot":4})",
        R"({"type":"release","slot":-1})",
        R"({"type":"release","slot":0.5})",
        R"({"type":"step","ticks":0})",
        R"({"type":"step","ticks":1001})",
        R"({"type":"step","ticks":1.5})",
        R"({"type":"speed","value":0})",
        R"({"type":"speed","value":1.01})",
        R"({"type":"seek","time":-1})",
        R"({"type":"tool","target":[1e7,0,0]})",
        R"({"type":"tool","target":[0,0]})",
        R"({"type":"tool","target":[0,0,null]})",
        R"({"type":"tool","target":[[0],[0],[0]]})",
        // numbers that are none
        R"({"type":"tool","target":[NaN,0,0]})",
        R"({"type":"tool","target":[Infinity,0,0]})",
        R"({"type":"set","parameter":"a","value":1e999})",
        R"({"type":"set","parameter":"a","value":null})",
        R"({"type":"poke","slot":0,"body":0,"triangle":0,"barycentric":[1,0,0],"force":-1})",
        R"({"type":"grab","slot":0,"body":-1,"triangle":0,"barycentric":[1,0,0],"target":[0,0,0]})",
        R"({"type":"grab","slot":0,"body":3e9,"triangle":0,"barycentric":[1,0,0],"target":[0,0,0]})",
        "{\"type\":\"open\",\"scene\":\"\xff\xfe\"}",
    };
    for (const char* text : bad) EXPECT_TRUE(is_refused(text)) << text;
}

TEST(ViewerMessage, LongOrDeepMessagesAreRefused) {
    EXPECT_FALSE(is_refused(R"({"type":"open","scene":")" + std::string(200, 'x') + "\"}"));
    EXPECT_TRUE(is_refused(R"({"type":"open","scene":")" + std::string(201, 'x') + "\"}"));
    EXPECT_TRUE(is_refused(std::string(100'000, '[')));
    std::string late(70'000, ' ');
    late += R"({"type":"reset"})";
    EXPECT_TRUE(is_refused(late));
}

}  // namespace
}  // namespace pliant
