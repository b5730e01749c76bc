#include "server/viewed_world.h"

namespace pliant {
namespace {

class LiveWorld final : public ViewedWorld {
public:
    LiveWorld(std::unique_ptr<World> world, const EngineOptions& options)
        : engine_(std::move(world), options) {
        engine_.run();
    }

    const World& world() const noexcept override { return engine_.world(); }
    std::string scheduling() const override { return engine_.scheduling(); }
    void look_at_clock(double /*now*/) override {}

    void run() override { engine_.run(); }
    void pause() override { engine_.pause(); }
    bool is_paused() const override { return engine_.is_paused(); }
    void single_step(int ticks) override {
        if (engine_.is_paused()) engine_.single_step(ticks);
    }
    void set_speed(double speed) override { engine_.set_speed(speed); }
    double speed() const override { return engine_.speed(); }
    bool send(const Command& command) override { return engine_.send(command); }
    double parameter(int index) const override { return engine_.parameter(index); }

    const LoopFrame& frame(int loop) override { return engine_.frame(loop); }
    void take_samples(int loop, std::vector<TickSample>& samples) override {
        engine_.take_samples(loop, samples);
    }

    void start_recording(const std::filesystem::path& path, const std::string& started) override {
        RecordingHeader header = recording_header(engine_.world());
        header.started = started;
        engine_.start_recording(path, header);
    }
    void stop_recording() override { engine_.stop_recording(); }
    Engine::RecordingStatus recording() const override { return engine_.recording(); }

private:
    Engine engine_;
};

}  // namespace

std::unique_ptr<ViewedWorld> make_live_world(std::unique_ptr<World> world,
                                             const EngineOptions& options) {
    return std::make_unique<LiveWorld>(std::move(world), options);
}

}  // namespace pliant
