// corpus/compare: what msaccucmp's ten algorithms print for pairs of arrays, to the last character.
#include <iostream>

#include "dump/index/dump_index.h"
#include "io/json.h"
#include "profiles/msaccucmp/metrics.h"
#include "support/catch.h"
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

}  // namespace

TEST_CASE("metrics of pairs of arrays are those that msaccucmp printed for them") {
  const auto corpus = corpus_or_skip("compare");
  if (!corpus) return;
  const auto golden = parse_json(read_bytes(*corpus / "golden.json"));
  REQUIRE(golden);
  size_t pairs = 0, refused = 0;
  for (const JsonValue& one : golden->find("cases")->items) {
    INFO(one.find("name")->text);
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
      INFO(kMsaccucmpAlgorithms[i]);
      CHECK(ours->values[i] == theirs.find(kMsaccucmpAlgorithms[i])->text);
    }
    std::vector<std::string> reasons;
    for (const JsonValue& reason : theirs.find("CompareFailReason")->items) reasons.push_back(reason.text);
    CHECK(ours->reasons == reasons);
    ++pairs;
  }
  std::cout << pairs << " pairs, " << refused << " of two shapes" << std::endl;
  CHECK(pairs >= 40);
}
