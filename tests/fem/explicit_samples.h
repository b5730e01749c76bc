#pragma once

#include "fem/fem_samples.h"
#include "pliant/fem/explicit_dynamics.h"
#include "pliant/fem/loads.h"

/// Bodies for explicit steps.
namespace pliant::test {

inline Material soft() { return isotropic(2e4, 0.3, 1000); }
inline Material draggy() {
    Material m = soft();
    m.viscosity = 2000;
    return m;
}

/// A body with everything that its steps need.
struct FemSample {
    explicit FemSample(const FemModel& model, const ExplicitOptions& options = {})
        : FemSample(model, Constraints(model.num_nodes()), options) {}
    FemSample(const FemModel& model, const Constraints& constraints, const ExplicitOptions& options = {})
        : dynamics(model, constraints, options),
          s(dynamics.make_state()),
          ws(dynamics.make_workspace()),
          load(Eigen::VectorXd::Zero(model.num_unknowns())) {}

    ExplicitReport step(double dt) {
        const ExplicitReport report = dynamics.step(s, load, dt, ws);
        work.external_work += ws.work.external_work;
        work.damping_work += ws.work.damping_work;
        return report;
    }
    double energy() { return dynamics.energy(s, ws).total(); }

    ExplicitDynamics dynamics;
    FemState s;
    ExplicitDynamics::Workspace ws;
    Eigen::VectorXd load;
    EnergyLog work;
};

/// A bar clamped at one end under its weight.
struct HangingBar : FemSample {
    explicit HangingBar(const Material& material, const ExplicitOptions& options = {})
        : FemSample(model_of(material), held(model_of(material)), options) {
        load = gravity_load(dynamics.model(), Eigen::Vector3d(0, -9.81, 0));
        dynamics.set_acceleration(s, load, ws);
    }
    static FemModel model_of(const Material& material) {
        return {hex_box(4, 2, 2, Box(Eigen::Vector3d::Zero(), Eigen::Vector3d(0.4, 0.2, 0.2))),
                {material}};
    }
};

}  // namespace pliant::test
