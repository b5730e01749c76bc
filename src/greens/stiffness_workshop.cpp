#include "greens/stiffness_workshop.h"

#include "pliant/core/error.h"

#include <exception>

namespace pliant {

StiffnessWorkshop::StiffnessWorkshop(std::shared_ptr<const GreensModel> model,
                                     const SurfaceStiffnessOptions& options)
    : model_(std::move(model)), options_(options), worker_([this] { run(); }) {}

StiffnessWorkshop::~StiffnessWorkshop() {
    stops_.store(true);
    order(0);
    worker_.join();
}

void StiffnessWorkshop::order(double radius, int level) noexcept {
    radius_.store(radius, std::memory_order_relaxed);
    level_.store(level, std::memory_order_relaxed);
    ordered_.fetch_add(1, std::memory_order_release);
    ordered_.notify_one();
}

void StiffnessWorkshop::take(std::shared_ptr<const SurfaceStiffness>& current) noexcept {
    const std::uint64_t wanted = ordered_.load(std::memory_order_relaxed);
    for (std::uint64_t done; (done = done_.load(std::memory_order_acquire)) != wanted;)
        done_.wait(done, std::memory_order_acquire);
    if (made_) current.swap(made_);
}

void StiffnessWorkshop::run() {
    for (std::uint64_t done = 0;;) {
        std::uint64_t ordered;
        while ((ordered = ordered_.load(std::memory_order_acquire)) == done)
            ordered_.wait(done, std::memory_order_acquire);
        if (stops_.load()) return;
        made_.reset();
        SurfaceStiffnessOptions options = options_;
        options.mask.radius = radius_.load(std::memory_order_relaxed);
        options.mask.level = level_.load(std::memory_order_relaxed);
        if (options.mask.level >= 0) options.mask.kind = MaskKind::Level;
        try {
            made_ = std::make_shared<const SurfaceStiffness>(model_, options);
        } catch (const std::exception&) {
            // no memory: the stiffness in use stays
        }
        done = ordered;
        done_.store(done, std::memory_order_release);
        done_.notify_one();
    }
}

}  // namespace pliant
