#include "support/statistics_oracle.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdio>

namespace msdump::test {
namespace {

const double kInf = HUGE_VAL;

// Compilers may swap the operands of a sum, so which NaN comes out is written down: the left one, else the right one,
// else x86's own, which is negative.
double pick(double a, double b, double result) {
  if (std::isnan(a)) return a;
  if (std::isnan(b)) return b;
  return std::isnan(result) ? -std::fabs(result) : result;
}
double plus(double a, double b) { return pick(a, b, a + b); }
double minus(double a, double b) { return pick(a, b, a - b); }
double times(double a, double b) { return pick(a, b, a * b); }
double over(double a, double b) { return pick(a, b, a / b); }

double std_max(double a, double b) { return a < b ? b : a; }
double std_min(double a, double b) { return b < a ? b : a; }

bool is_old(OracleRule rule) { return rule == OracleRule::kA || rule == OracleRule::kB; }
double first_max(OracleRule rule) { return is_old(rule) ? -DBL_MAX : -kInf; }

struct Pass {
  OracleStatistics got;  // avg is of this pass, l2norm is unused
  double squares = 0;
};

Pass one_pass(const double* values, size_t count, OracleRule rule) {
  Pass pass;
  OracleStatistics& got = pass.got;
  got.count = count;
  got.max = first_max(rule);
  got.min = -got.max;
  double entered = 0, sum = 0, mean = 0;
  for (size_t i = 0; i < count; ++i) {
    const double x = values[i];
    if (std::isnan(x)) ++got.nan;
    if (x == kInf) ++got.positive_inf;
    if (x == -kInf) ++got.negative_inf;
    if (rule == OracleRule::kA && !std::isfinite(x)) continue;
    if (x < 0) ++got.negative;
    if (x > 0) ++got.positive;
    if (x == 0) ++got.zero;
    got.max = std::isnan(x) ? x : std_max(got.max, x);
    got.min = std::isnan(x) ? x : std_min(got.min, x);
    pass.squares = plus(pass.squares, times(x, x));
    entered += 1;
    sum = plus(sum, x);
    mean = plus(mean, over(minus(x, mean), entered));
  }
  got.avg = is_old(rule) ? mean : over(sum, entered);
  return pass;
}

// The lengths of the pieces a tensor is cut into; one piece is not merged with anything.
std::vector<size_t> pieces_of(size_t count, OracleRule rule) {
  if (rule == OracleRule::kD) {
    std::vector<size_t> pieces;
    for (size_t left = count; left > 0; left -= pieces.back()) pieces.push_back(std::min<size_t>(left, 20480));
    return pieces;
  }
  const size_t pieces = count <= 10000 ? 1 : std::min<size_t>(count / 10000, 32);
  std::vector<size_t> lengths(pieces, count / pieces);
  lengths.back() = count - count / pieces * (pieces - 1);
  return lengths;
}

void add_counts(const OracleStatistics& from, OracleStatistics& to) {
  to.count += from.count;
  to.negative += from.negative;
  to.positive += from.positive;
  to.zero += from.zero;
  to.nan += from.nan;
  to.negative_inf += from.negative_inf;
  to.positive_inf += from.positive_inf;
}

OracleStatistics merged(const std::vector<double>& values, OracleRule rule) {
  OracleStatistics all;
  all.max = first_max(rule);
  all.min = -all.max;
  const bool keeps_nan = rule == OracleRule::kC2 || rule == OracleRule::kD;
  double squares = 0, total = 0;
  size_t at = 0;
  for (const size_t length : pieces_of(values.size(), rule)) {
    const Pass pass = one_pass(values.data() + at, length, rule);
    at += length;
    const OracleStatistics& part = pass.got;
    add_counts(part, all);
    all.max = keeps_nan && std::isnan(part.max) ? part.max : std_max(all.max, part.max);
    all.min = keeps_nan && std::isnan(part.min) ? part.min : std_min(all.min, part.min);
    squares = plus(squares, pass.squares);
    const auto elements = static_cast<double>(part.count);
    // An integer division: 1 for the first piece, 0 for all others.
    const double weight = part.count == all.count ? 1 : 0;
    all.avg = plus(all.avg, times(minus(part.avg, all.avg), weight));
    const double share = times(part.avg, elements);
    total = std::isnan(share) ? share : plus(total, share);
  }
  all.l2norm = std::sqrt(squares);
  if (!is_old(rule)) all.avg = over(total, static_cast<double>(all.count));
  return all;
}

}  // namespace

OracleStatistics oracle_statistics(const std::vector<double>& values, OracleRule rule) {
  const size_t alone = rule == OracleRule::kD ? 20480 : 10000;
  OracleStatistics result;
  if (values.size() <= alone) {
    const Pass pass = one_pass(values.data(), values.size(), rule);
    result = pass.got;
    result.l2norm = std::sqrt(pass.squares);
  } else {
    result = merged(values, rule);
  }
  const uint64_t not_finite = result.nan + result.negative_inf + result.positive_inf;
  result.null = rule == OracleRule::kA && result.count == not_finite;
  return result;
}

std::string oracle_text(double value) {
  if (std::isnan(value)) return std::signbit(value) ? "-nan" : "nan";
  char text[40];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

}  // namespace msdump::test
