#pragma once

#include "body_handle.h"
#include "pliant/fem/fem_model.h"
#include "pliant/greens/greens_body.h"

namespace pliant::python {

using GreensPointer = std::shared_ptr<GreensModel>;
using GreensHandle = HandleOf<GreensBody>;

/// Of a FemModel of Python. Throws InputError for anything else.
[[nodiscard]] const FemModel& fem_model_of(py::handle value);

}  // namespace pliant::python
