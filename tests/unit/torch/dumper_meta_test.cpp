// What SGLang's dumper says of a tensor beside its value.
#include "torch/dumper_meta.h"

#include "support/catch.h"
#include "support/pt_builder.h"
#include "support/scratch_dir.h"
#include "torch/pt_file.h"

using namespace msdump;
using namespace msdump::test;
using Items = std::vector<std::pair<pickle::Text, pickle::Text>>;

namespace {

std::string distribution_in(const pickle::Text& root) {
  const ScratchDir scratch;
  const auto file = File::open(scratch.write("a.pt", build_pt({.pickle = pickle::whole(root)})));
  REQUIRE(file);
  const auto found = torch::read_pt(*file);
  INFO((found ? "" : found.error().message));
  REQUIRE(found);
  REQUIRE(found->tensors.size() == 1);
  CHECK_FALSE(found->tensors[0].problem);
  return found->tensors[0].distribution == nullptr ? "" : *found->tensors[0].distribution;
}

pickle::Text saved(const Items& meta, const pickle::Text& value = tensor_call()) {
  return pickle::dict({{pickle::text("value"), value}, {pickle::text("meta"), pickle::dict(meta)}});
}

pickle::Text tp(int64_t rank, int64_t size) {
  return pickle::dict({{pickle::text("tp_rank"), pickle::integer(rank)},
                       {pickle::text("tp_size"), pickle::integer(size)},
                       {pickle::text("pp_rank"), pickle::integer(0)},
                       {pickle::text("pp_size"), pickle::integer(1)},
                       {pickle::text("vpp_rank"), pickle::none()},
                       {pickle::text("vpp_size"), pickle::none()},
                       {pickle::text("tp_src_rank"), pickle::integer(0)}});
}

constexpr std::string_view kOfTp = R"({"dims":"t h[tp]","parallel":{"tp":{"rank":1,"size":2}}})";

}  // namespace

TEST_CASE("The dims of a tensor, and the parallel axes of its process") {
  const std::pair dims{pickle::text("dims"), pickle::text("t h[tp]")};
  CHECK(distribution_in(saved(
            {{pickle::text("name"), pickle::text("x")}, dims, {pickle::text("sglang_parallel_info"), tp(1, 2)}})) ==
        kOfTp);
  CHECK(distribution_in(saved({dims, {pickle::text("megatron_parallel_info"), tp(1, 2)}})) == kOfTp);
  CHECK(distribution_in(saved({dims})) == R"({"dims":"t h[tp]","parallel":{}})");
  CHECK(distribution_in(saved({{pickle::text("sglang_parallel_info"), tp(1, 2)}})).empty());
}

TEST_CASE("Parallel axes that are not known, or said twice, are left out") {
  constexpr std::string_view kNone = R"({"dims":"t","parallel":{}})";
  const std::pair dims{pickle::text("dims"), pickle::text("t")};
  const auto with = [&](const pickle::Text& info) {
    return distribution_in(saved({dims, {pickle::text("sglang_parallel_info"), info}}));
  };
  CHECK(with(pickle::dict({{pickle::text("distributed_error"), pickle::boolean(true)},
                           {pickle::text("tp_rank"), pickle::integer(1)},
                           {pickle::text("tp_size"), pickle::integer(2)}})) == kNone);
  CHECK(distribution_in(saved({dims,
                               {pickle::text("sglang_parallel_info"), tp(1, 2)},
                               {pickle::text("megatron_parallel_info"), tp(1, 2)}})) == kNone);
  for (const auto& info :
       {tp(2, 2), tp(-1, 2), tp(0, 1), pickle::list({}), pickle::dict({{pickle::integer(1), pickle::integer(2)}}),
        pickle::dict({{pickle::text("_rank"), pickle::integer(0)}, {pickle::text("_size"), pickle::integer(2)}})})
    CHECK(with(info) == kNone);
  Items many;
  for (int64_t i = 0; i < 200; ++i) {
    many.emplace_back(pickle::text("a" + std::to_string(i) + "_rank"), pickle::integer(1));
    many.emplace_back(pickle::text("a" + std::to_string(i) + "_size"), pickle::integer(2));
  }
  CHECK(with(pickle::dict(many)) == kNone);
}

TEST_CASE("Other files state no dims") {
  const std::pair dims{pickle::text("dims"), pickle::text("t")};
  CHECK(distribution_in(tensor_call()).empty());
  CHECK(distribution_in(
            pickle::dict({{pickle::text("value"), tensor_call()}, {pickle::text("meta"), pickle::text("dims")}}))
            .empty());
  CHECK(distribution_in(pickle::dict({{pickle::text("value"), tensor_call()}})).empty());
  CHECK(distribution_in(saved({{pickle::text("dims"), pickle::integer(3)}})).empty());
  CHECK(distribution_in(saved({{pickle::text("dims"), pickle::text(std::string(1025, 't'))}})).empty());
  CHECK_FALSE(distribution_in(saved({{pickle::text("dims"), pickle::text(std::string(1024, 't'))}})).empty());
  // Of a list of tensors, none is the one that is meant; a DTensor says more.
  CHECK(distribution_in(saved({dims}, pickle::list({tensor_call()}))).empty());
  CHECK(distribution_in(saved({dims}, dtensor_call({.placements = {placement("Replicate")}})))
            .starts_with(R"({"device_mesh")"));
}
