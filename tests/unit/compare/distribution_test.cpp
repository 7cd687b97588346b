#include "compare/match/placement/distribution.h"

#include <string>
#include <string_view>
#include <vector>

#include "compare/match/placement/placement_file.h"
#include "support/catch.h"

namespace msdump {
namespace {

// As a line of a --layout file has it; "none" if nothing is stated.
std::string stated(std::string_view distribution, const std::vector<int64_t>& ranks) {
  const auto placement = placement_in(distribution, ranks);
  return placement ? stated_text(*placement) : "none";
}

TEST_CASE("placements of DTensors are those of a mesh whose last dimension is the fastest") {
  const std::vector<int64_t> two{0, 1}, four{0, 1, 2, 3};
  CHECK(stated(R"j({"device_mesh":[0,1],"placements":["Shard(1)"],"global_shape":[4,6]
})j",
               two) == "concat(axis=1; by=2)");
  CHECK(stated(R"j({"device_mesh":[[0,1],[2,3]],"placements":["Replicate","Shard(0)"]
})j",
               four) == "concat(axis=0; by=2), copy(by=2)");
  CHECK(stated(R"j({"device_mesh":[[0,1],[2,3]],"placements":["Shard(0)","Partial"]
  })j",
               four) == "sum(by=2), concat(axis=0; by=2)");
  CHECK(stated(R"j({"device_mesh":[0,1],"placements":["Partial(avg)"]
  })j",
               two) == "mean(by=2)");
  CHECK(stated(R"j({"device_mesh":[0,1],"placements":["Partial(max)"]
  })j",
               two) == "max(by=2)");
  // FSDP shards what tensor parallelism sharded first.
  CHECK(stated(R"j({"device_mesh":[[0,1],[2,3]],"placements":["_StridedShard(0, 2)","Shard(0)"]
  })j",
               four) == "concat(axis=0; by=2), concat(axis=0; by=2; blocks=2)");
  // A dimension of one rank says nothing.
  CHECK(stated(R"j({"device_mesh":[[0,1]],"placements":["Shard(1)","Shard(0)"]
  })j",
               two) == "concat(axis=0; by=2)");
}

TEST_CASE("layouts of MindSpore map axes to dimensions of the device matrix") {
  const std::vector<int64_t> four{0, 1, 2, 3};
  CHECK(stated(R"j({"device_matrix":[2,2],"tensor_map":[1,-1]})j", four) == "copy(by=2), concat(axis=0; by=2)");
  CHECK(stated(R"j({"device_matrix":[2,2],"tensor_map":[0,1],"rank_list":[0,1,2,3]})j", four) ==
        "concat(axis=0; by=2), concat(axis=1; by=2)");
  CHECK(stated(R"j({"device_matrix":[2,2],"tensor_map":[0,1],"rank_list":[4,5,6,7]})j", four) == "none");
  CHECK(stated(R"j({"device_matrix":[2,4],"tensor_map":[0,1]})j", four) == "none");
  CHECK(stated(R"j({"device_matrix":[2,2],"tensor_map":[0,1],"partial":["dp"]})j", four) == "none");
}

TEST_CASE("a distribution of other ranks, or one that is not understood, states nothing") {
  const std::vector<int64_t> two{0, 1};
  for (const std::string_view text :
       {R"j({"device_mesh":[0,2],"placements":["Shard(0)"]})j", R"j({"device_mesh":[1,0],"placements":["Shard(0)"]})j",
        R"j({"device_mesh":[0,1,2],"placements":["Shard(0)"]
  })j",
        R"j({"device_mesh":[[0,1]],"placements":["Shard(0)"]})j",
        R"j({"device_mesh":[[0],1],"placements":["Shard(0)","Shard(0)"]
  })j",
        R"j({"device_mesh":[0,1],"placements":["Shard(-1)"]
  })j",
        R"j({"device_mesh":[0,1],"placements":["Shard(64)"]})j", R"j({"device_mesh":[0,1],"placements":["Shard"]})j",
        R"j({"device_mesh":[0,1],"placements":["Ragged(0)"]
  })j",
        R"j({"device_mesh":[0,1],"placements":["Partial(min)"]
  })j",
        R"j({"device_mesh":[0,1],"placements":["_StridedShard(0)"]})j",
        R"j({"device_mesh":[0,1],"placements":["_StridedShard(0, 99999999)"]
  })j",
        R"j({"device_mesh":[],"placements":[]})j", R"j({"device_mesh":"0","placements":[]})j",
        R"j({"placements":["Shard(0)"]
  })j",
        R"j({"device_matrix":[9223372036854775807,2],"tensor_map":[0]})j",
        R"j({"device_matrix":[0],"tensor_map":[0]})j", "[]", "{"}) {
    INFO(text);
    CHECK(stated(text, two) == "none");
  }
}

}  // namespace
}  // namespace msdump
