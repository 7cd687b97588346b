#include "stats/compute.h"

#include <sys/resource.h>

#include "support/catch.h"
#include "support/scratch_dir.h"
#include "support/statistics_run.h"

namespace msdump::stats {
namespace {

TEST_CASE("statistics of many tensors need no more open files than the process may have") {
  const test::ScratchDir scratch;
  for (int i = 0; i < 80; ++i)
    scratch.write("Add.a" + std::to_string(i) + ".1.1.10.output.0.npy",
                  test::npy_of("<f4", {1}, std::string_view("\0\0\x80\x3f", 4)));
  const test::ListedDump dump = test::list_dump({scratch.path()});
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit few{24, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
  const auto results = test::compute_statistics(dump, {.jobs = 4});
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  for (const auto& result : results) CHECK((result && result->max == 1.0));
}

}  // namespace
}  // namespace msdump::stats
