// corpus/compare: what msaccucmp's ten algorithms print for pairs of arrays, as texts and as numbers within 1e-6.
#include <iostream>
#include <set>

#include "dump/index/dump_index.h"
#include "io/json.h"
#include "profiles/msaccucmp/metrics.h"
#include "support/catch.h"
#include "support/other_tool.h"
#include "support/paths.h"
#include "support/scratch_dir.h"

using namespace msdump;
using namespace msdump::test;

namespace {

HostTensor array_at(const std::string& path) {
  auto index = DumpIndex::build({path}, {});
  REQUIRE(index);
  auto opened = index->open_tensors(index->files().front());
  REQUIRE(opened);
  auto tensor = HostTensor::open(std::move(*opened), 0, {});
  REQUIRE(tensor);
  return std::move(*tensor);
}

// "(mean;std),(mean;std)" part by part.
bool same_value(std::string ours, std::string theirs) {
  const double last_decimal = ours.starts_with('(') ? 1e-3 : 1e-6;
  for (std::string* const text : {&ours, &theirs}) {
    std::replace(text->begin(), text->end(), ';', ',');
    std::erase_if(*text, [](char c) { return c == '(' || c == ')'; });
    *text += '\n';
  }
  const auto a = csv_cells(ours), b = csv_cells(theirs);
  return std::equal(a[0].begin(), a[0].end(), b[0].begin(), b[0].end(),
                    [&](const auto& x, const auto& y) { return same_cell(x, y, last_decimal); });
}

}  // namespace

TEST_CASE("metrics of pairs of arrays are those that msaccucmp printed for them") {
  const auto corpus = corpus_or_skip("compare");
  if (!corpus) return;
  const auto golden = parse_json(read_bytes(*corpus / "golden.json"));
  REQUIRE(golden);
  size_t pairs = 0, refused = 0;
  std::set<std::string> different, rounded;
  for (const JsonValue& one : golden->find("cases")->items) {
    const std::string& name = one.find("name")->text;
    INFO(name);
    HostTensor a = array_at((*corpus / one.find("a")->text).string());
    HostTensor b = array_at((*corpus / one.find("b")->text).string());
    const JsonValue& theirs = *one.find("reference")->find("msaccucmp");
    if (a.shape() != b.shape()) {
      CHECK(theirs.find("error") != nullptr);
      ++refused;
      continue;
    }
    // The golden file was made with these names for the two sides.
    const CancelToken cancel;
    const auto ours = msaccucmp_metrics({a, b, "A", "B", is_msaccucmp_scalar(a.shape()), true}, cancel);
    REQUIRE(ours);
    for (size_t i = 0; i < kMsaccucmpAlgorithms.size(); ++i) {
      const std::string& expected = theirs.find(kMsaccucmpAlgorithms[i])->text;
      if (same_value(ours->values[i], expected)) continue;
      (kMsaccucmpAlgorithms[i] == "AccumulatedRelativeError" ? rounded : different).insert(name);
      UNSCOPED_INFO(name << " " << kMsaccucmpAlgorithms[i] << " " << ours->values[i] << " " << expected);
    }
    std::vector<std::string> reasons;
    for (const JsonValue& reason : theirs.find("CompareFailReason")->items) reasons.push_back(reason.text);
    CHECK(ours->reasons == reasons);
    ++pairs;
  }
  std::cout << pairs << " pairs, " << refused << " of two shapes" << std::endl;
  CHECK(pairs >= 40);
  // float32 overflows or underflows, rounds 64-bit integers, and takes the real parts of complex numbers; what NaN and infinities
  // leave is simpler here.
  const std::set<std::string> other_arithmetic = {"complex64",         "f16_overflow",          "f32_denormal",
                                                  "f32_huge_opposite", "f32_inf_opposite_sign", "f32_tiny_opposite",
                                                  "f64_beyond_f32",    "i64_beyond_2p53",       "scalar_nan"};
  CHECK(different == other_arithmetic);
  // The sum of |a / b - 1| in float32, which leaves few digits of nearly equal values.
  for (const std::string& name : other_arithmetic) rounded.erase(name);
  CHECK(rounded == std::set<std::string>{"f32_accumulate", "f32_large_offset", "f32_noise_1e6", "f32_one_ulp",
                                         "f64_ratio_threshold"});
}
