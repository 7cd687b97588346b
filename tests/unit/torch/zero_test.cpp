// What DeepSpeed's ZeRO saves of the parameters that it partitions.
#include "torch/zero.h"

#include "support/catch.h"
#include "support/pt_builder.h"

using namespace msdump;
using namespace msdump::test;

namespace {

pickle::Text torch_size(const std::vector<int64_t>& dims) {
  return pickle::call(pickle::global("torch", "Size"), {pickle::integers(dims)});
}

torch::ZeroShapes shapes_in(const std::vector<std::pair<std::string, pickle::Text>>& items) {
  std::vector<std::pair<pickle::Text, pickle::Text>> pairs;
  for (const auto& [key, value] : items) pairs.emplace_back(pickle::text(key), value);
  const std::string text = pickle::whole(pickle::dict(pairs));
  const auto parsed = torch::parse_pickle(std::as_bytes(std::span(text)), 0);
  REQUIRE(parsed);
  return torch::zero_shapes_of(*parsed);
}

std::optional<int64_t> ranks_in(const pickle::Text& count) {
  const std::string text = pickle::whole(
      pickle::dict({{pickle::text("optimizer_state_dict"), pickle::dict({{pickle::text("partition_count"), count}})}}));
  const auto parsed = torch::parse_pickle(std::as_bytes(std::span(text)), 0);
  REQUIRE(parsed);
  return torch::zero_ranks_of(*parsed);
}

}  // namespace

TEST_CASE("The shapes of partitioned parameters, by group") {
  const auto group =
      pickle::ordered_dict({{pickle::text("w"), torch_size({4, 3})}, {pickle::text("s"), torch_size({})}});
  const auto shapes =
      shapes_in({{"param_shapes", pickle::list({group, pickle::dict({{pickle::text("b"), torch_size({3})}})})},
                 {"frozen_param_shapes", pickle::dict({{pickle::text("f"), torch_size({2})}})},
                 {"shared_params", pickle::dict({{pickle::text("tied"), pickle::text("w")}})}});
  REQUIRE(shapes.groups.size() == 2);
  CHECK(shapes.groups[0] == torch::ZeroShapes::Group{{"w", {4, 3}}, {"s", {}}});
  CHECK(shapes.groups[1] == torch::ZeroShapes::Group{{"b", {3}}});
  CHECK(shapes.frozen == torch::ZeroShapes::Group{{"f", {2}}});
  CHECK(shapes.shared == std::vector<std::pair<std::string, std::string>>{{"tied", "w"}});
}

TEST_CASE("Shapes that are damaged are none") {
  const auto of = [](const pickle::Text& name, const pickle::Text& shape) {
    return shapes_in({{"param_shapes", pickle::list({pickle::dict({{name, shape}})})}}).groups.size();
  };
  CHECK(of(pickle::text("w"), torch_size({1})) == 1);
  CHECK(of(pickle::text("w"), torch_size({-1})) == 0);
  CHECK(of(pickle::text("w"), pickle::text("4")) == 0);
  CHECK(of(pickle::text("w"), torch_size(std::vector<int64_t>(kMaxRank + 1, 1))) == 0);
  CHECK(of(pickle::integer(1), torch_size({1})) == 0);
  CHECK(of(pickle::text(std::string(1025, 'w')), torch_size({1})) == 0);
  CHECK(shapes_in({{"param_shapes", pickle::none()}}).groups.empty());
  CHECK(shapes_in({{"param_shapes", pickle::list({pickle::none()})}}).groups.empty());
  CHECK(shapes_in({}).groups.empty());
}

TEST_CASE("The ranks that parameters are partitioned over") {
  CHECK(ranks_in(pickle::integer(4)) == 4);
  CHECK(ranks_in(pickle::list({pickle::integer(2), pickle::integer(8)})) == 8);
  CHECK(ranks_in(pickle::list({})) == std::nullopt);
  CHECK(ranks_in(pickle::none()) == std::nullopt);
}
