// The metrics of pair against the truth of corpus/compare, which was computed with rational numbers.
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "io/json.h"
#include "kernels/pair/pair.h"
#include "kernels/pair/pair_dtype.h"
#include "npy/npy.h"
#include "support/catch.h"
#include "support/paths.h"
#include "support/scratch_dir.h"

using namespace msdump;
using namespace msdump::test;
using kernels::PairMetrics;

namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::byte>;

struct Array {
  DType dtype = DType::kUndefined;
  Shape shape;
  int64_t count = 0;
  Bytes elements;
};

Array read_array(const fs::path& path) {
  const auto file = File::open(path.string());
  REQUIRE(file);
  const auto header = npy::read_header(*file);
  REQUIRE(header);
  Array array{header->dtype, header->shape, 0, Bytes(header->data_bytes)};
  REQUIRE(file->read_at(header->data_offset, array.elements));
  array.count = static_cast<int64_t>(array.elements.size()) / (info(array.dtype).bits / 8);
  return array;
}

// bfloat16 stands in the files as the float32 it was widened to.
void narrow_to_bfloat16(Array& array) {
  REQUIRE(array.dtype == DType::kFloat32);
  Bytes halves;
  for (size_t at = 0; at < array.elements.size(); at += 4) {
    REQUIRE((array.elements[at] == std::byte{0} && array.elements[at + 1] == std::byte{0}));
    halves.insert(halves.end(), {array.elements[at + 2], array.elements[at + 3]});
  }
  array.dtype = DType::kBfloat16;
  array.elements = halves;
}

struct Case {
  const JsonValue& json;
  std::string name;
  Array a, b;

  [[nodiscard]] const std::string& text(const char* key) const { return json.find(key)->text; }
};

Case read_case(const fs::path& folder, const JsonValue& json) {
  Case item{json, json.find("name")->text, read_array(folder / json.find("a")->text),
            read_array(folder / json.find("b")->text)};
  const JsonValue* logical = json.find("logical_dtype");
  if (logical != nullptr && logical->text == "bfloat16") {
    narrow_to_bfloat16(item.a);
    narrow_to_bfloat16(item.b);
  }
  return item;
}

struct Widened {
  DType dtype;
  bool is_native;
  Bytes a, b;
};

Bytes widened(const Array& array, DType to) {
  Bytes bytes(static_cast<size_t>(array.count) * static_cast<size_t>(info(to).bits) / 8);
  kernels::widen_to(array.dtype, to, array.elements.data(), array.count, bytes.data());
  return bytes;
}

Widened to_common(const Case& item) {
  const auto common = kernels::common_dtype(item.a.dtype, item.b.dtype);
  REQUIRE(common);
  return {*common, item.a.dtype == item.b.dtype, widened(item.a, *common), widened(item.b, *common)};
}

PairMetrics metrics_of(const Case& item) {
  const Widened both = to_common(item);
  kernels::PairState state;
  kernels::PairRule rule{.rtol = 1e-5, .atol = 1e-8};
  rule.ulp = both.is_native;
  kernels::pair_block(both.dtype, both.a.data(), both.b.data(), item.a.count, rule, state);
  return kernels::finish(state);
}

// One truth and what was computed; none stands for null.
class Check {
 public:
  explicit Check(const JsonValue& truth) : truth_(truth) {}

  void number(const char* key, std::optional<double> found) { compare(key, truth_.find(key), found); }
  void number(const char* side, const char* key, std::optional<double> found) {
    compare(fmt::format("{}.{}", side, key), truth_.find(side)->find(key), found);
  }
  void count(const char* key, uint64_t found) { number(key, static_cast<double>(found)); }

  [[nodiscard]] int compared() const { return compared_; }

 private:
  // "inf" and "undefined (zero vector)" are strings there; what is not there at all is not defined either.
  void compare(const std::string& key, const JsonValue* truth, std::optional<double> found) {
    INFO(key);
    std::optional<double> expected;
    if (truth != nullptr)
      expected = truth->text == "inf" ? std::numeric_limits<double>::infinity() : truth->as_double();
    ++compared_;
    REQUIRE(expected.has_value() == found.has_value());
    if (expected && *expected != *found) CHECK(*found == Approx(*expected).epsilon(1e-10));
  }

  const JsonValue& truth_;
  int compared_ = 0;
};

void check_sides(Check& check, const PairMetrics& m) {
  check.number("stats_a", "mean_finite", m.mean_a);
  check.number("stats_b", "mean_finite", m.mean_b);
  check.number("stats_a", "std_population_finite", m.std_a);
  check.number("stats_b", "std_population_finite", m.std_b);
  check.number("stats_a", "max_finite", m.max_a);
  check.number("stats_b", "max_finite", m.max_b);
  check.number("stats_a", "min_finite", m.min_a);
  check.number("stats_b", "min_finite", m.min_b);
  check.number("stats_a", "nan", static_cast<double>(m.nan_a));
  check.number("stats_b", "nan", static_cast<double>(m.nan_b));
}

void check_pairs(Check& check, const PairMetrics& m) {
  check.number("max_abs_err", m.max_abs);
  check.number("mean_abs_err", m.mean_abs);
  check.number("max_rel_err", m.max_rel);
  check.number("mean_rel_err_nonzero_ref", m.mean_rel);
  check.number("euclidean_distance", m.l2_distance);
  check.number("rmse", m.rmse);
  check.number("relative_l2", m.relative_l2);
  check.number("cosine", m.cosine);
  check.number("ratio_lt_1e-3", m.under_1e3);
  check.number("ratio_lt_5e-3", m.under_5e3);
  check.count("zero_ref_nonzero_cand", m.reference_zero);
  check.count("n_diff", m.count - m.equal);
  if (m.worst) check.count("argmax_abs_err_flat_finite", *m.worst);
}

bool is_float(DType dtype) {
  return info(dtype).npy_dtype == DType::kFloat16 || info(dtype).npy_dtype == DType::kFloat32 ||
         dtype == DType::kFloat64;
}

}  // namespace

TEST_CASE("the metrics of every golden pair are the truth within 1e-10") {
  const auto folder = corpus_or_skip("compare");
  if (!folder) return;
  const auto json = parse_json(read_bytes(*folder / "golden.json"));
  REQUIRE(json);
  int compared = 0, cases = 0;
  for (const JsonValue& entry : json->find("cases")->items) {
    const Case item = read_case(*folder, entry);
    INFO(item.name);
    ++cases;
    const JsonValue& truth = *entry.find("truth");
    if (item.a.count != item.b.count) {
      CHECK(item.name == "shape_numel_mismatch");
      continue;
    }
    const PairMetrics m = metrics_of(item);
    Check check(truth);
    if (entry.find("dtype_a")->text.starts_with("complex")) {
      check.number("max_abs_err", m.max_abs);
    } else {
      check_sides(check, m);
      const JsonValue* pairs = truth.find("finite_pairs");
      CHECK(m.count == static_cast<uint64_t>(pairs != nullptr ? pairs->as_int().value() : 0));
      if (m.count > 0) {
        check_pairs(check, m);
        check.count("allclose_numpy_1e-5_1e-8_violations", m.over_tolerance + m.nan_mismatch + m.inf_mismatch);
      }
      if (pairs != nullptr) check.count("nonfinite_mismatch_positions", m.nan_mismatch + m.inf_mismatch);
      if (m.max_ulp && is_float(item.a.dtype)) check.count("max_ulp", *m.max_ulp);
      if (m.max_abs && is_float(item.a.dtype) && item.a.dtype == item.b.dtype) CHECK(m.max_ulp.has_value());
    }
    compared += check.compared();
  }
  CHECK(cases == 42);
  CHECK(compared > 900);
}

TEST_CASE("the Kullback-Leibler divergence of every golden pair is about msaccucmp's") {
  const auto folder = corpus_or_skip("compare");
  if (!folder) return;
  const auto json = parse_json(read_bytes(*folder / "golden.json"));
  REQUIRE(json);
  int compared = 0;
  for (const JsonValue& entry : json->find("cases")->items) {
    const Case item = read_case(*folder, entry);
    const JsonValue* tool = entry.find("reference")->find("msaccucmp");
    const JsonValue* theirs = tool == nullptr ? nullptr : tool->find("KullbackLeiblerDivergence");
    if (theirs == nullptr || item.a.count != item.b.count || !kernels::can_kl(item.a.dtype)) continue;
    const std::string text = theirs->text;
    char* end = nullptr;
    const double expected = std::strtod(text.c_str(), &end);
    const PairMetrics m = metrics_of(item);
    if (end == text.c_str() || !std::isfinite(expected) || m.count == 0) continue;
    if (item.a.dtype == DType::kInt64) continue;  // theirs takes it as float32, in which all its values are one
    const Widened both = to_common(item);
    kernels::KlState state;
    kernels::kl_block(both.dtype, both.a.data(), both.b.data(), item.a.count,
                      {m.max_a.value(), m.min_a.value(), m.max_b.value(), m.min_b.value()}, state);
    INFO(item.name << ": " << text);
    CHECK(kernels::finish(state).value() == Approx(expected).margin(2e-5).epsilon(1e-4));  // theirs is of float32
    ++compared;
  }
  CHECK(compared > 20);
}
