#pragma once

/// Steps of surface transforms, compiled for each instruction set, in float and double.
namespace pliant {

/// values[row] ± Σ weights[k] values[vertices[k]], k from offsets[i] to offsets[i + 1], for
/// `count` rows from `first_row` on. A row does not occur among the vertices of any.
template <class T>
struct TransformRows {
    int first_row, count;
    const int *offsets, *vertices;
    const T* weights;
};
/// values[row] ± weights[i] (values[pairs[2 i]] + values[pairs[2 i + 1]])
template <class T>
struct TransformPairs {
    int first_row, count;
    const int* pairs;
    const T* weights;
};

/// `width` values for each row or vertex.
void add_transform_rows(const TransformRows<float>& rows, float* values, int width,
                        bool subtracts) noexcept;
void add_transform_rows(const TransformRows<double>& rows, double* values, int width,
                        bool subtracts) noexcept;
void add_transform_pairs(const TransformPairs<float>& rows, float* values, int width,
                         bool subtracts) noexcept;
void add_transform_pairs(const TransformPairs<double>& rows, double* values, int width,
                         bool subtracts) noexcept;

}  // namespace pliant
