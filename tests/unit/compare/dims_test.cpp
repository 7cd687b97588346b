#include "compare/match/placement/distribution.h"

#include <string>
#include <string_view>
#include <vector>

#include "compare/match/placement/placement_file.h"
#include "support/catch.h"

namespace msdump {
namespace {

// A parallel axis of a run, whose ranks are `stride` apart.
struct Parallel {
  std::string name;
  int64_t size = 2, stride = 1;
};

JsonValue local_of(std::string_view dims, const std::vector<Parallel>& axes, int64_t rank) {
  std::string text = R"({"dims":")" + std::string(dims) + R"(","parallel":{)";
  for (const Parallel& axis : axes) {
    if (!text.ends_with('{')) text += ',';
    text += '"' + axis.name + R"(":{"rank":)" + std::to_string(rank / axis.stride % axis.size) + R"(,"size":)" +
            std::to_string(axis.size) + "}";
  }
  auto json = parse_json(text + "}}");
  REQUIRE(json);
  return std::move(*json);
}

std::string text_of(const std::vector<JsonValue>& locals, size_t axes) {
  const auto placement = placement_of_dims(locals, axes);
  return placement ? stated_text(*placement) : "none";
}

// As a line of a --layout file has it; "none" if nothing is stated.
std::string stated(std::string_view dims, const std::vector<Parallel>& axes, int64_t ranks, size_t tensor_axes = 2) {
  std::vector<JsonValue> locals;
  for (int64_t rank = 0; rank < ranks; ++rank) locals.push_back(local_of(dims, axes, rank));
  return text_of(locals, tensor_axes);
}

const std::vector<Parallel> kTp{{"tp"}}, kTpCp{{"tp"}, {"cp", 2, 2}};

TEST_CASE("dims name the parallel axes that shard an axis of the tensor") {
  CHECK(stated("t h[tp]", kTp, 2) == "concat(axis=1; by=2)");
  CHECK(stated("t[tp] h", kTp, 2) == "concat(axis=0; by=2)");
  CHECK(stated("t h[tp:sharded]", kTp, 2) == "concat(axis=1; by=2)");
  CHECK(stated("t h[tp:partial]", kTp, 2) == "sum(by=2)");
  CHECK(stated("t 1 (num_heads*head_dim)[tp]", {{"tp", 4}}, 4, 3) == "concat(axis=2; by=4)");
  CHECK(stated("b s[cp:zigzag] h[tp]", kTpCp, 4, 3) == "concat(axis=2; by=2), zigzag(axis=1; by=2)");
  CHECK(stated("b s[cp:natural] h[tp:partial]", kTpCp, 4, 3) == "sum(by=2), concat(axis=1; by=2)");
  CHECK(stated("b s[cp,tp] h", kTpCp, 4, 3) == "concat(axis=1; by=2), concat(axis=1; by=2)");
  // The ranks of tp may be the slower ones.
  CHECK(stated("s[cp] h[tp]", {{"tp", 2, 3}, {"cp", 3, 1}}, 6) == "concat(axis=0; by=3), concat(axis=1; by=2)");
}

TEST_CASE("a parallel axis that dims does not name is replicated, if it is tp or cp or said to be") {
  CHECK(stated("t h", kTp, 2) == "copy(by=2)");
  CHECK(stated("s h[tp]", kTpCp, 4) == "concat(axis=1; by=2), copy(by=2)");
  CHECK(stated("t h[tp] # dp:=moe_dp ep:replicated", {{"tp"}, {"ep", 2, 2}}, 4) == "concat(axis=1; by=2), copy(by=2)");
  CHECK(stated("t h[tp]", {{"tp"}, {"ep", 2, 2}}, 4) == "none");
  CHECK(stated("t h[tp]", {{"tp"}, {"dp", 2, 2}}, 4) == "none");
  // Of data-parallel ranks, one alone may have the tensor.
  CHECK(stated("t h[tp]", {{"tp"}, {"dp", 2, 2}}, 2) == "concat(axis=1; by=2)");
  // Sequence parallelism is of the ranks of tp.
  CHECK(stated("s[sp] b h", {{"tp"}, {"sp"}}, 2, 3) == "concat(axis=0; by=2)");
  CHECK(stated("s[cp:zigzag,sp] b h", {{"tp"}, {"sp"}, {"cp", 2, 2}}, 4, 3) ==
        "concat(axis=0; by=2), zigzag(axis=0; by=2)");
  // A parallel axis of one process shards nothing.
  CHECK(stated("t h[etp]", kTp, 2) == "copy(by=2)");
}

TEST_CASE("dims that are not understood, or do not fit the ranks or the tensor, state nothing") {
  CHECK(stated("t h[tp]", kTp, 2, 3) == "none");
  CHECK(stated("t h[tp]", kTp, 3) == "none");
  CHECK(stated("t h[tp]", {{"tp", 4}}, 2) == "none");
  CHECK(stated("t h[tp]", {}, 2) == "none");
  CHECK(stated("s[tp,cp] h", kTpCp, 4) == "none");
  CHECK(stated("t[tp] h[tp]", kTp, 2) == "none");
  CHECK(stated("s[sp] h[tp]", {{"tp"}, {"sp"}}, 2) == "none");
  // Packed sequences are sharded one by one, and where they end is not stated.
  CHECK(stated("t[cp:zigzag] h", {{"cp"}}, 2) == "none");
  CHECK(stated("s[cp:zigzag] h", {{"cp"}}, 2) == "zigzag(axis=0; by=2)");
  for (const std::string_view dims :
       {"t h[tp", "t h[]", "t h[tp:mean]", "t h[:partial]", "t h[tp,]", "", "#", "t h ["}) {
    INFO(dims);
    CHECK(stated(dims, kTp, 2) == "none");
  }
}

TEST_CASE("the ranks must state one mesh") {
  const auto of = [](int64_t rank, std::string_view dims = "t h[tp]") { return local_of(dims, {{"tp", 4}}, rank); };
  CHECK(text_of({of(0), of(1), of(2), of(3)}, 2) == "concat(axis=1; by=4)");
  CHECK(text_of({of(0), of(2), of(1), of(3)}, 2) == "none");
  CHECK(text_of({of(0), of(0), of(1), of(1)}, 2) == "none");
  CHECK(text_of({of(1), of(1), of(1), of(1)}, 2) == "none");
  CHECK(text_of({of(0), of(0), of(0), of(0)}, 2) == "none");
  CHECK(text_of({of(0), of(1), of(2), of(3, "t[tp] h")}, 2) == "none");
  CHECK(text_of({of(0), of(1), of(2), local_of("t h[tp]", {}, 3)}, 2) == "none");
  CHECK(text_of({of(0), of(1), of(2), local_of("t h[tp]", {{"tp", 8}}, 3)}, 2) == "none");
  CHECK(text_of({}, 2) == "none");
  for (const std::string_view text : {R"({"dims":"t h[tp]"})", R"({"dims":3})", R"({"dims":"t h[tp]","parallel":[]})",
                                      R"({"dims":"t h[tp]","parallel":{"tp":{"size":9223372036854775807}}})"}) {
    const auto json = parse_json(text);
    REQUIRE(json);
    CHECK(text_of({*json, *json}, 2) == "none");
  }
}

}  // namespace
}  // namespace msdump
