#include "graph/join/numbering.h"

#include <filesystem>
#include <string>
#include <vector>

#include "support/catch.h"
#include "support/npy_builder.h"
#include "support/scratch_dir.h"
#include "support/statistics_run.h"

namespace msdump {
namespace {

ProofTally tally_of(std::initializer_list<Agreement> agreements) {
  ProofTally tally;
  for (const Agreement agreement : agreements) tally.count(agreement);
  return tally;
}

TEST_CASE("comparisons without a result are in no tally") {
  using enum Agreement;
  const ProofTally tally = tally_of({kEqual, kUnknown, kDifferent, kEqual, kEqual});
  CHECK(tally.agreeing == 3);
  CHECK(tally.contradicting == 1);
  CHECK(tally.share() == 0.75);
  CHECK(tally_of({kUnknown}).share() == 0);
}

TEST_CASE("a proof makes certain, leaves or takes away confidence") {
  using enum Agreement;
  CHECK(proved_confidence(0.5, tally_of({kEqual, kEqual})) == 1);
  CHECK(proved_confidence(0.5, tally_of({kEqual, kEqual, kDifferent})) == 0.5);
  CHECK(proved_confidence(0.9, tally_of({kEqual, kDifferent, kDifferent})) == 0.3);
  CHECK(proved_confidence(0.2, tally_of({kDifferent})) == 0.2);
  CHECK(proved_confidence(0.7, tally_of({kUnknown})) == 0.7);
}

TEST_CASE("a tensor that cannot be read proves nothing and is reported") {
  const test::ScratchDir scratch;
  const std::string folder = "rank_0/Net/0/0/";
  const std::string good = test::npy_of("<f4", {2}, std::string(8, 'a'));
  std::vector<std::string> paths;
  for (const char* name : {"Add.Default_Add-op0", "Mul.Default_Mul-op0", "Sub.Default_Sub-op0"})
    paths.push_back(scratch.write(folder + name + ".0.0.1700000000000001.output.0.DefaultFormat.Float32.npy", good));
  const test::ListedDump listed = test::list_dump({scratch.path()}, Headers::kWhereNeeded);
  REQUIRE(listed.tensors().size() == 3);
  std::filesystem::remove(paths[1]);
  std::filesystem::resize_file(paths[2], good.size() - 1);
  const ValueComparer comparer(listed.index, listed.tensors());
  CHECK(comparer.compare(RecordId(0), RecordId(0)) == Agreement::kEqual);
  for (const RecordId unreadable : {RecordId(1), RecordId(2), RecordId(1)}) {
    CHECK(comparer.compare(RecordId(0), unreadable) == Agreement::kUnknown);
    CHECK(comparer.compare(unreadable, RecordId(0)) == Agreement::kUnknown);
  }
  const std::vector<Error> failures = comparer.failures();
  REQUIRE(failures.size() == 2);
  CHECK(failures[0].path == paths[1]);
  CHECK(failures[1].path == paths[2]);
}

TEST_CASE("tensors without elements are compared by the values of their rows") {
  const test::ScratchDir scratch;
  scratch.write("rank_0/Net/0/0/statistic.csv",
                "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value,Min Value\n"
                "Add,Default_Add-op0,0,0,1700000000000001,output,0,8,float32,\"(2)\",3,1\n"
                "Mul,Default_Mul-op0,0,0,1700000000000002,input,0,8,float32,\"(2)\",3,1\n"
                "Mul,Default_Mul-op0,0,0,1700000000000002,input,1,8,float32,\"(2)\",3,2\n"
                "Mul,Default_Mul-op0,0,0,1700000000000002,output,0,8,float16,\"(2)\",3,1\n");
  const test::ListedDump listed = test::list_dump({scratch.path()}, Headers::kWhereNeeded);
  REQUIRE(listed.tensors().size() == 4);
  const ValueComparer comparer(listed.index, listed.tensors());
  CHECK(comparer.compare(RecordId(0), RecordId(1)) == Agreement::kEqual);
  CHECK(comparer.compare(RecordId(0), RecordId(2)) == Agreement::kDifferent);
  CHECK(comparer.compare(RecordId(0), RecordId(3)) == Agreement::kDifferent);
}

}  // namespace
}  // namespace msdump
