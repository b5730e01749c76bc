#pragma once

#include "pliant/greens/surface_stiffness.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>

namespace pliant {

/// Builds the stiffness for another mask beside the ticks. Who ordered it takes it over when it is
/// due, always after the same number of ticks: runs are the same however busy the machine is. One
/// thread orders and takes.
class StiffnessWorkshop {
public:
    StiffnessWorkshop(std::shared_ptr<const GreensModel> model,
                      const SurfaceStiffnessOptions& options);
    ~StiffnessWorkshop();
    StiffnessWorkshop(const StiffnessWorkshop&) = delete;
    StiffnessWorkshop& operator=(const StiffnessWorkshop&) = delete;

    /// A mask of this radius [m], or of a level from 0 on. The last order counts.
    void order(double radius, int level = -1) noexcept;
    /// Puts what was ordered into `current`, and waits for it where it is not ready. What was
    /// there is freed by the next order.
    void take(std::shared_ptr<const SurfaceStiffness>& current) noexcept;

private:
    void run();

    std::shared_ptr<const GreensModel> model_;
    SurfaceStiffnessOptions options_;
    std::atomic<double> radius_{0};
    std::atomic<int> level_{-1};
    std::atomic<std::uint64_t> ordered_{0}, done_{0};
    std::atomic<bool> stops_{false};
    std::shared_ptr<const SurfaceStiffness> made_;  // the worker's until done_ == ordered_
    std::thread worker_;
};

}  // namespace pliant
