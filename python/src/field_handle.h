#pragma once

#include "body_handle.h"
#include "pliant/field/deformed_field.h"

namespace pliant::python {

/// Of a ReducedModel of Python. Throws InputError for anything else.
[[nodiscard]] ReducedModel reduced_model_of(py::handle value);

}  // namespace pliant::python
