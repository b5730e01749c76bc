#pragma once

#include <array>
#include <cstddef>

#include "pliant/reduction/reduced_coefficients.h"

extern "C" void dgemv_(const char* transposed, const int* m, const int* n, const double* alpha,
                       const double* A, const int* lda, const double* x, const int* incx,
                       const double* beta, double* y, const int* incy);

namespace pliant::bench {

/// The evaluation of [Barbic2007] §3: packed monomials times one matrix of coefficients for each
/// degree, force and stiffness apart, by matrix–vector products of the BLAS. The yardstick of the
/// benchmarks and a second reference of the tests. Bodies without initial stress.
class PublishedPolynomial {
public:
    explicit PublishedPolynomial(const ReducedCoefficients& c)
        : r_(c.r), num_pairs_(r_ * (r_ + 1) / 2) {
        const int num_triples = r_ * (r_ + 1) * (r_ + 2) / 6;
        force_ = {Eigen::MatrixXd(r_, r_), Eigen::MatrixXd(num_pairs_, r_),
                  Eigen::MatrixXd(num_triples, r_)};
        stiffness_ = {Eigen::MatrixXd(1, num_pairs_), Eigen::MatrixXd(r_, num_pairs_),
                      Eigen::MatrixXd(num_pairs_, num_pairs_)};
        pairs_.resize(num_pairs_);
        triples_.resize(num_triples);
        entries_.resize(num_pairs_);
        // row of coefficients of monomials (b, d, e), index 0 standing for none
        for (int a = 1; a <= r_; ++a) {
            int pair = 0, triple = 0;
            for (int b = 1; b <= r_; ++b) {
                force_[0](b - 1, a - 1) = force_coefficient(c, {a, b, 0, 0});
                for (int d = b; d <= r_; ++d) {
                    force_[1](pair++, a - 1) = force_coefficient(c, {a, b, d, 0});
                    for (int e = d; e <= r_; ++e)
                        force_[2](triple++, a - 1) = force_coefficient(c, {a, b, d, e});
                }
            }
        }
        int entry = 0;
        for (int a = 1; a <= r_; ++a)
            for (int b = a; b <= r_; ++b, ++entry) {
                int pair = 0;
                stiffness_[0](0, entry) = stiffness_coefficient(c, {a, b, 0, 0});
                for (int d = 1; d <= r_; ++d) {
                    stiffness_[1](d - 1, entry) = stiffness_coefficient(c, {a, b, d, 0});
                    for (int e = d; e <= r_; ++e)
                        stiffness_[2](pair++, entry) = stiffness_coefficient(c, {a, b, d, e});
                }
            }
    }

    [[nodiscard]] std::size_t num_bytes() const {
        Eigen::Index sum = 0;
        for (const auto* matrices : {&force_, &stiffness_})
            for (const Eigen::MatrixXd& matrix : *matrices) sum += matrix.size();
        return static_cast<std::size_t>(sum) * sizeof(double);
    }

    void force(const Eigen::VectorXd& q, Eigen::VectorXd& R) {
        multiply_pairs(q);
        double* triple = triples_.data();
        const double* pair = pairs_.data();
        for (int i = 0; i < r_; ++i)
            for (int j = i; j < r_; ++j, ++pair)
                for (int k = j; k < r_; ++k) *triple++ = *pair * q[k];
        R.setZero();
        add_product(force_[0], q, R);
        add_product(force_[1], pairs_, R);
        add_product(force_[2], triples_, R);
    }

    void stiffness(const Eigen::VectorXd& q, Eigen::MatrixXd& K) {
        multiply_pairs(q);
        entries_ = stiffness_[0].transpose();
        add_product(stiffness_[1], q, entries_);
        add_product(stiffness_[2], pairs_, entries_);
        const double* entry = entries_.data();
        for (int a = 0; a < r_; ++a)
            for (int b = a; b < r_; ++b) K(a, b) = K(b, a) = *entry++;
    }

private:
    using Indices = std::array<int, 4>;

    static double coefficient(const ReducedCoefficients& c, Indices indices) {
        std::sort(indices.begin(), indices.end());
        return c.w[static_cast<std::size_t>(
            quartic_index(indices[0], indices[1], indices[2], indices[3]))];
    }
    /// Of the last three in ∂W/∂q of the first.
    static double force_coefficient(const ReducedCoefficients& c, const Indices& indices) {
        return coefficient(c, indices) *
               static_cast<double>(std::count(indices.begin(), indices.end(), indices[0]));
    }
    /// Of the last two in ∂²W/∂q² of the first two.
    static double stiffness_coefficient(const ReducedCoefficients& c, const Indices& indices) {
        return force_coefficient(c, indices) *
               static_cast<double>(std::count(indices.begin() + 1, indices.end(), indices[1]));
    }

    void multiply_pairs(const Eigen::VectorXd& q) {
        double* pair = pairs_.data();
        for (int i = 0; i < r_; ++i)
            for (int j = i; j < r_; ++j) *pair++ = q[i] * q[j];
    }

    /// y += Aᵀx; by columns of A, which OpenBLAS does faster than by rows.
    static void add_product(const Eigen::MatrixXd& A, const Eigen::VectorXd& x,
                            Eigen::VectorXd& y) {
        const auto m = static_cast<int>(A.rows()), n = static_cast<int>(A.cols());
        const int step = 1;
        const double one = 1;
        dgemv_("T", &m, &n, &one, A.data(), &m, x.data(), &step, &one, y.data(), &step);
    }

    int r_, num_pairs_;
    /// One column for each number that comes out, of degree 1, 2, 3 and 0, 1, 2.
    std::array<Eigen::MatrixXd, 3> force_, stiffness_;
    Eigen::VectorXd pairs_, triples_, entries_;
};

}  // namespace pliant::bench
