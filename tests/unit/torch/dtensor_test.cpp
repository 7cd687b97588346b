// DTensors: the local tensor, and what is said of the global one.
#include "torch/dtensor.h"

#include <span>

#include "support/catch.h"
#include "support/pt_builder.h"
#include "support/scratch_dir.h"
#include "torch/pt_file.h"

using namespace msdump;
using namespace msdump::test;
using msdump::torch::PtTensor;

namespace {

PtTensor only(const DTensorSpec& spec) {
  const ScratchDir scratch;
  const auto file = File::open(scratch.write("a.pt", build_pt({.pickle = pickle::whole(dtensor_call(spec))})));
  REQUIRE(file);
  auto found = torch::read_pt(*file);
  INFO((found ? "" : found.error().message));
  REQUIRE(found);
  REQUIRE(found->tensors.size() == 1);
  return std::move(found->tensors[0]);
}

std::string distribution_of(const DTensorSpec& spec) {
  const PtTensor tensor = only(spec);
  CHECK_FALSE(tensor.problem);
  return tensor.distribution == nullptr ? "" : *tensor.distribution;
}

std::optional<int64_t> rank_of(const std::vector<DTensorSpec>& tensors) {
  std::vector<pickle::Text> calls;
  for (const DTensorSpec& spec : tensors) calls.push_back(dtensor_call(spec));
  const std::string bytes = pickle::whole(pickle::list(calls));
  const auto parsed = torch::parse_pickle(std::as_bytes(std::span(bytes)), 0);
  REQUIRE(parsed);
  return torch::rank_of_meshes(*parsed);
}

// Of a mesh (2, 3) of ranks 10 to 15.
DTensorSpec at(const std::vector<int64_t>& coordinate) {
  return {.mesh_shape = {2, 3},
          .ranks = {10, 11, 12, 13, 14, 15},
          .writer = {{pickle::text("_coordinate_on_dim"), pickle::integers(coordinate)}}};
}

pickle::Text shard(int64_t dim) { return placement("Shard", {{pickle::text("dim"), pickle::integer(dim)}}); }

}  // namespace

TEST_CASE("A DTensor is its local tensor and says how the global one is sharded") {
  const PtTensor tensor = only({.placements = {shard(0)}});
  CHECK(tensor.shape == Shape{2, 3});
  CHECK(tensor.bytes == 24);
  REQUIRE(tensor.distribution != nullptr);
  CHECK(*tensor.distribution ==
        R"json({"device_mesh":[0,1],"placements":["Shard(0)"],"mesh_dim_names":["dp","tp"],"global_shape":[4,3]})json");
}

TEST_CASE("Placements of every kind, on a mesh of two dimensions") {
  const DTensorSpec spec{
      .mesh_shape = {2, 2},
      .ranks = {4, 5, 6, 7},
      .placements = {placement("_StridedShard", {{pickle::text("dim"), pickle::integer(0)},
                                                 {pickle::text("split_factor"), pickle::integer(2)}}),
                     placement("Replicate"), placement("Partial", {{pickle::text("reduce_op"), pickle::text("sum")}})}};
  CHECK(distribution_of(spec).starts_with(
      R"json({"device_mesh":[[4,5],[6,7]],"placements":["_StridedShard(0, 2)","Replicate","Partial(sum)"],)json"));
}

TEST_CASE("The modules of older versions") {
  CHECK(distribution_of({.tensor_module = "torch.distributed._tensor.api", .placements = {placement("_Partial")}})
            .find(R"json(["Partial"])json") != std::string::npos);
}

TEST_CASE("What is not understood of a spec is left out") {
  // Ranks that do not fill the mesh.
  CHECK(distribution_of({.ranks = {0, 1, 2}, .placements = {shard(1)}})
            .starts_with(R"json({"placements":["Shard(1)"],)json"));
  CHECK(distribution_of({.placements = {pickle::integer(3)}}).empty());
  CHECK(distribution_of({.placements = {shard(0)}, .shape = {-1}}).find("global_shape") == std::string::npos);
}

TEST_CASE("A mesh that is too large is left out, with its placements if the rest is too long") {
  std::vector<int64_t> ranks(16'385, 7);
  CHECK(distribution_of({.mesh_shape = {16'385}, .ranks = ranks, .placements = {shard(0)}})
            .starts_with(R"json({"placements")json"));
  ranks.resize(16'384, 7);
  for (int64_t& rank : ranks) rank = 10'000;
  CHECK(distribution_of({.mesh_shape = {16'384}, .ranks = ranks, .placements = {shard(0)}}).empty());
}

TEST_CASE("Other subclasses that wrap a tensor are not read") {
  const PtTensor tensor = only({.type = "AsyncCollectiveTensor"});
  REQUIRE(tensor.problem);
  CHECK(tensor.problem->message == "unsupported tensor: torch.distributed.tensor.AsyncCollectiveTensor");
  const PtTensor no_tensor = only({.local = pickle::none()});
  REQUIRE(no_tensor.problem);
  CHECK(no_tensor.problem->code == ErrorCode::kUnsupportedFormat);
}

TEST_CASE("A DTensor in a DTensor without end is refused") {
  pickle::Text value = tensor_call();
  for (int i = 0; i < 20; ++i) value = dtensor_call({.local = value, .placements = {shard(0)}});
  const PtTensor tensor = only({.local = value});
  REQUIRE(tensor.problem);
  CHECK(tensor.problem->message == "damaged tensor: nested in itself");
}

TEST_CASE("The rank that saved a file has its place in the meshes") {
  CHECK(rank_of({at({0, 0})}) == 10);
  CHECK(rank_of({at({1, 0})}) == 13);
  CHECK(rank_of({at({1, 2}), at({1, 2}), DTensorSpec()}) == 15);
  DTensorSpec row = at({1});
  row.mesh_shape = {3};
  row.ranks = {12, 13, 14};
  CHECK(rank_of({row, at({1, 0})}) == 13);
  CHECK(rank_of({{.writer = {{pickle::text("_rank"), pickle::integer(7)}}}}) == 7);
}

TEST_CASE("Meshes that state no rank, or two") {
  CHECK_FALSE(rank_of({}));
  CHECK_FALSE(rank_of({DTensorSpec()}));
  CHECK_FALSE(rank_of({{.writer = {{pickle::text("_coordinate_on_dim"), pickle::none()}}}}));
  CHECK_FALSE(rank_of({{.writer = {{pickle::text("_rank"), pickle::integer(-1)}}}}));
  for (const std::vector<int64_t>& coordinate : std::vector<std::vector<int64_t>>{{2, 0}, {0, 3}, {0}, {0, 0, 0}, {}})
    CHECK_FALSE(rank_of({at(coordinate)}));
  CHECK_FALSE(rank_of({at({0, 0}), at({0, 1})}));
  CHECK_FALSE(rank_of({at({0, 0}), at({0, 1}), at({0, 0})}));
}

TEST_CASE("Meshes that are damaged, or too many, state no rank") {
  const auto mesh = [](const std::vector<pickle::Text>& arguments) {
    return pickle::object(pickle::global("torch.distributed.device_mesh", "DeviceMesh"),
                          pickle::dict({{pickle::text("mesh"),
                                         pickle::call(pickle::global("torch._utils", "_rebuild_tensor_v2"), arguments)},
                                        {pickle::text("_flatten_mesh_list"), pickle::integers({8, 9})},
                                        {pickle::text("_coordinate_on_dim"), pickle::integers({1})}}));
  };
  const pickle::Text shape = pickle::integers({2}), other = pickle::none();
  const auto rank = [](const pickle::Text& value) {
    const std::string bytes = pickle::whole(value);
    const auto parsed = torch::parse_pickle(std::as_bytes(std::span(bytes)), 0);
    REQUIRE(parsed);
    return torch::rank_of_meshes(*parsed);
  };
  CHECK(rank(mesh({other, other, shape})) == 9);
  CHECK_FALSE(rank(mesh({other, other})));
  CHECK_FALSE(rank(mesh({other, other, other})));
  std::vector<pickle::Text> many(1000, mesh({other, other, shape}));
  CHECK(rank(pickle::list(many)) == 9);
  many.push_back(many.back());
  CHECK_FALSE(rank(pickle::list(many)));
}
