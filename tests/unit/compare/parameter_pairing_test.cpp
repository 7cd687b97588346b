#include "compare/match/parameters/parameter_pairing.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "io/run_context.h"
#include "support/catch.h"
#include "support/growth.h"
#include "support/made_checkpoint.h"
#include "support/must.h"
#include "support/scratch_dir.h"
#include "support/statistics_run.h"

namespace msdump {
namespace {

using test::MadeCheckpoint;
using test::unlike;
using test::unlike_values;
using Texts = std::vector<std::string>;

MadeCheckpoint operator+(MadeCheckpoint all, const MadeCheckpoint& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

// "a = b: note", "a: note", "= b"; sorted. `relations`: what is told of all, "KIND TEXT COUNT".
Texts pairs(const MadeCheckpoint& a, const MadeCheckpoint& b, const NameMap* map = nullptr,
            Texts* relations = nullptr) {
  const test::ScratchDir scratch;
  const test::ListedDump dump_a = test::list_dump({scratch.write("a.safetensors", test::safetensors_of(a))});
  const test::ListedDump dump_b = test::list_dump({scratch.write("b.safetensors", test::safetensors_of(b))});
  const CompareSide side_a{&dump_a.index, &dump_a.tensors()}, side_b{&dump_b.index, &dump_b.tensors()};
  CHECK(is_checkpoint(side_a));
  const CancelToken cancel;
  const PairedParameters paired = test::must(pair_parameters(side_a, side_b, map, {nullptr, nullptr}, cancel));
  if (relations != nullptr) {
    for (const FoundRelation& one : paired.pairing.relations)
      relations->push_back(fmt::format("{} {} {}", one.kind, one.text, one.count));
  }
  Texts texts;
  for (size_t i = 0; i < paired.pairing.tensors.size(); ++i) {
    const OpPair& op = paired.pairing.operators[paired.pairing.tensors[i].op];
    std::string text;
    if (op.a != kNoId) text = paired.pairing.a[op.a].name;
    if (op.b != kNoId) text.append(text.empty() ? "= " : " = ").append(paired.pairing.b[op.b].name);
    texts.push_back(text + (paired.pairing.notes[i].empty() ? "" : ": " + paired.pairing.notes[i]));
  }
  std::sort(texts.begin(), texts.end());
  return texts;
}

std::vector<float> noisy(std::vector<float> values, float part) {
  for (size_t i = 0; i < values.size(); ++i) values[i] += i % 2 == 0 ? part : -part;
  return values;
}

}  // namespace

TEST_CASE("parameters pair by name, whatever their values are") {
  CHECK(pairs({unlike("a", {8}, 1), unlike("b", {8}, 2)}, {unlike("b", {8}, 1), unlike("a", {8}, 2)}) ==
        Texts{"a = a", "b = b"});
  CHECK(pairs({unlike("bn.gamma", {8}, 1)}, {unlike("bn.weight", {8}, 2)}) == Texts{"bn.gamma = bn.weight"});
  CHECK(pairs({unlike("a/b", {8}, 1)}, {unlike("a.b", {8}, 2)}) == Texts{"a/b = a.b"});
}

TEST_CASE("of several ranks those of one number pair, a rank alone with any other") {
  const auto constant = [](float value) { return MadeCheckpoint{{"w", {4}, std::vector<float>(4, value)}}; };
  const test::ScratchDir scratch;
  for (const char* const side : {"a", "b"}) {
    for (const int rank : {0, 1})
      scratch.write(fmt::format("{}/rank_{}/m.safetensors", side, rank),
                    test::safetensors_of(constant(*side == 'a' ? 1 : 2)));
  }
  const auto ranks_of_pairs = [&](const std::string& folder_a, const std::string& folder_b) {
    const test::ListedDump dump_a = test::list_dump({(scratch.path() / folder_a).string()});
    const test::ListedDump dump_b = test::list_dump({(scratch.path() / folder_b).string()});
    const CompareSide side_a{&dump_a.index, &dump_a.tensors()}, side_b{&dump_b.index, &dump_b.tensors()};
    const PairedParameters paired =
        test::must(pair_parameters(side_a, side_b, nullptr, {nullptr, nullptr}, CancelToken()));
    Texts texts;
    for (const TensorPair& pair : paired.pairing.tensors) {
      const auto rank = [&](const test::ListedDump& dump, RecordId tensor) {
        return tensor == kNoId ? "-"
                               : std::to_string(identity_of(dump.index, dump.tensors()[tensor]).rank.value_or(-1));
      };
      texts.push_back(rank(dump_a, pair.a) + " = " + rank(dump_b, pair.b));
    }
    return texts;
  };
  CHECK(ranks_of_pairs("a", "b") == Texts{"0 = 0", "1 = 1"});
  CHECK(ranks_of_pairs("a/rank_0", "b/rank_1") == Texts{"0 = 1"});
}

TEST_CASE("of gamma and weight of one module only that of the name pairs") {
  CHECK(pairs({unlike("n.gamma", {8}, 1), unlike("n.weight", {8}, 2)}, {unlike("n.kernel", {8}, 3)}) ==
        Texts{"n.gamma", "n.weight = n.kernel"});
}

TEST_CASE("wrappers of all names are left out") {
  const MadeCheckpoint plain = {unlike("fc.weight", {8, 4}, 1), unlike("fc.bias", {8}, 2), unlike("head", {4}, 3)};
  const MadeCheckpoint wrapped = {unlike("module.fc.weight", {8, 4}, 4), unlike("module.fc.bias", {8}, 5),
                                  unlike("module.head", {4}, 6)};
  CHECK(pairs(plain, wrapped) ==
        Texts{"fc.bias = module.fc.bias", "fc.weight = module.fc.weight", "head = module.head"});
  CHECK(pairs(wrapped, plain) ==
        Texts{"module.fc.bias = fc.bias", "module.fc.weight = fc.weight", "module.head = head"});
}

TEST_CASE("a beginning that few names share is no wrapper") {
  const MadeCheckpoint a = {unlike("x.out.dense.weight", {8, 8}, 1), unlike("p", {3, 3}, 2), unlike("q", {3, 4}, 3)};
  const MadeCheckpoint b = {unlike("x.mlp.dense.weight", {8, 8}, 4), unlike("r", {5, 3}, 5), unlike("s", {6, 4}, 6)};
  const Texts found = pairs(a, b);
  CHECK(std::find(found.begin(), found.end(), "p = r") == found.end());
}

TEST_CASE("renamed parameters pair by their values, layer by layer") {
  MadeCheckpoint a, b;
  for (uint32_t i = 0; i < 4; ++i) {
    const std::string at = "model.layers." + std::to_string(i), other = "blocks." + std::to_string(i);
    a = a + MadeCheckpoint{unlike(at + ".q.weight", {8, 8}, 10 * i), unlike(at + ".k.weight", {8, 8}, 10 * i + 1)};
    b = b +
        MadeCheckpoint{unlike(other + ".wk.weight", {8, 8}, 10 * i + 1), unlike(other + ".wq.weight", {8, 8}, 10 * i)};
  }
  for (float& value : b.back().values) value += 5;  // one layer differs
  CHECK(pairs(a, b) ==
        Texts{"model.layers.0.k.weight = blocks.0.wk.weight", "model.layers.0.q.weight = blocks.0.wq.weight",
              "model.layers.1.k.weight = blocks.1.wk.weight", "model.layers.1.q.weight = blocks.1.wq.weight",
              "model.layers.2.k.weight = blocks.2.wk.weight", "model.layers.2.q.weight = blocks.2.wq.weight",
              "model.layers.3.k.weight = blocks.3.wk.weight", "model.layers.3.q.weight = blocks.3.wq.weight"});
}

TEST_CASE("trained values are still recognised, and others of the shape are not") {
  const auto values = unlike_values(64, 1);
  CHECK(pairs({{"a", {8, 8}, values}}, {{"zz", {8, 8}, noisy(values, 0.05F)}, unlike("yy", {8, 8}, 2)}) ==
        Texts{"= yy", "a = zz"});
  CHECK(pairs({{"a", {8, 8}, values}, unlike("b", {9}, 3)}, {unlike("yy", {8, 8}, 2), unlike("zz", {8, 8}, 4)}) ==
        Texts{"= yy", "= zz", "a", "b"});
}

TEST_CASE("bias follows weight where its values prove nothing") {
  const auto zeros = std::vector<float>(8, 0);
  const MadeCheckpoint a = {unlike("l.x.weight", {8, 8}, 1),
                            {"l.x.bias", {8}, zeros},
                            unlike("l.y.weight", {8, 8}, 2),
                            {"l.y.bias", {8}, zeros}};
  const MadeCheckpoint b = {unlike("m.second.kernel", {8, 8}, 2),
                            {"m.second.bias", {8}, zeros},
                            unlike("m.first.kernel", {8, 8}, 1),
                            {"m.first.bias", {8}, std::vector<float>(8, 1)}};
  CHECK(pairs(a, b) == Texts{"l.x.bias = m.first.bias", "l.x.weight = m.first.kernel", "l.y.bias = m.second.bias",
                             "l.y.weight = m.second.kernel"});
}

TEST_CASE("parameters whose numbers differ pair one by one") {
  CHECK(pairs({unlike("features.0.w", {8, 8}, 1), unlike("features.3.w", {8, 8}, 2)},
              {unlike("conv.1.x.w", {8, 8}, 1), unlike("conv.2.x.w", {8, 8}, 2)}) ==
        Texts{"features.0.w = conv.1.x.w", "features.3.w = conv.2.x.w"});
}

TEST_CASE("equal constants pair by their names, others only where the shape leaves no choice") {
  const auto ones = std::vector<float>(8, 1), twos = std::vector<float>(8, 2);
  CHECK(pairs({{"in.norm_one", {8}, ones}, {"in.norm_two", {8}, ones}},
              {{"out.norm_two", {8}, ones}, {"out.norm_one", {8}, ones}, unlike("z", {3}, 1), unlike("y", {4}, 1)}) ==
        Texts{"= y", "= z", "in.norm_one = out.norm_one", "in.norm_two = out.norm_two"});
  CHECK(pairs({{"p.a", {8}, ones}, {"q.b", {8}, ones}}, {{"x.c", {8}, twos}, {"y.d", {8}, twos}}).size() == 4);
  CHECK(pairs({unlike("net.head.w", {8, 3}, 1), unlike("u", {2, 2}, 3)},
              {unlike("net.heads.w", {8, 3}, 2), unlike("vvvv", {2, 2}, 4)}) ==
        Texts{"= vvvv", "net.head.w = net.heads.w", "u"});
}

TEST_CASE("transposed matrices are found by shape and values") {
  const auto w = unlike_values(32, 1), square = unlike_values(64, 2);
  const MadeCheckpoint a = {{"w", {8, 4}, w}, {"s", {8, 8}, square}};
  CHECK(pairs(a, {{"w", {4, 8}, test::transposed(w, 8, 4)}, {"s", {8, 8}, test::transposed(square, 8, 8)}}) ==
        Texts{"s = s: transposed", "w = w: transposed"});
  // A square one with other values is not turned because another one is.
  Texts told;
  CHECK(pairs(a, {{"w", {4, 8}, test::transposed(w, 8, 4)}, unlike("s", {8, 8}, 9)}, nullptr, &told) ==
        Texts{"s = s", "w = w: transposed"});
  CHECK(told == Texts{"transposed w: transposed 1"});
  // Nothing says that a square one alone is meant so.
  CHECK(pairs(a, {{"w", {8, 4}, w}, {"s", {8, 8}, test::transposed(square, 8, 8)}}) == Texts{"s = s", "w = w"});
  // Other values of the other shape stay a difference of shapes.
  CHECK(pairs(a, {unlike("w", {4, 8}, 7), {"s", {8, 8}, square}}) == Texts{"s = s", "w = w"});
  CHECK(pairs({{"a", {8, 8}, square}}, {{"b", {8, 8}, test::transposed(square, 8, 8)}, unlike("c", {8, 8}, 3)}) ==
        Texts{"= c", "a = b: transposed"});
}

TEST_CASE("queries, keys and values are found in one parameter, and their biases with them") {
  const auto q = unlike_values(64, 1), k = unlike_values(32, 2), v = unlike_values(32, 3);
  const MadeCheckpoint parts = {{"l.0.q_proj.weight", {8, 8}, q},       {"l.0.k_proj.weight", {4, 8}, k},
                                {"l.0.v_proj.weight", {4, 8}, v},       unlike("l.0.q_proj.bias", {8}, 4),
                                {"l.0.k_proj.bias", {4}, {0, 0, 0, 0}}, unlike("l.0.v_proj.bias", {4}, 5)};
  const MadeCheckpoint whole = {{"h.0.qkv.weight", {16, 8}, test::joined({q, k, v})},
                                {"h.0.qkv.bias", {16}, test::joined({parts[3].values, {0, 0, 0, 0}, parts[5].values})}};
  const Texts found = pairs(parts, whole);
  REQUIRE(found.size() == 6);
  CHECK(found[1] ==
        "l.0.k_proj.weight = h.0.qkv.weight: part 2 of 3: h.0.qkv.weight = concat(q_proj, k_proj, v_proj; axis 0)");
  CHECK(found[0] ==
        "l.0.k_proj.bias = h.0.qkv.bias: part 2 of 3: h.0.qkv.bias = concat(q_proj, k_proj, v_proj; axis 0)");
  const Texts other_way = pairs(whole, parts);
  CHECK(other_way[5] ==
        "h.0.qkv.weight = l.0.v_proj.weight: part 3 of 3: h.0.qkv.weight = concat(q_proj, k_proj, v_proj; axis 0)");
}

TEST_CASE("biases without values are parts of the bias in the same module, and of no other vector") {
  const auto q = unlike_values(64, 1), k = unlike_values(64, 2);
  const std::vector<float> zeros(8, 0), more_zeros(16, 0);
  const MadeCheckpoint parts = {
      {"l.0.q.weight", {8, 8}, q}, {"l.0.k.weight", {8, 8}, k}, {"l.0.q.bias", {8}, zeros}, {"l.0.k.bias", {8}, zeros}};
  const MadeCheckpoint whole = {{"h.0.norm.bias", {16}, more_zeros},
                                {"h.0.qk.bias", {16}, more_zeros},
                                {"h.0.qk.scale", {16}, more_zeros},
                                {"h.0.qk.weight", {16, 8}, test::joined({q, k})}};
  const std::string how = " of 2: h.0.qk.bias = concat(q, k; axis 0)";
  const Texts found = pairs(parts, whole);
  REQUIRE(found.size() == 6);
  CHECK(found[0] == "= h.0.norm.bias");
  CHECK(found[1] == "= h.0.qk.scale");
  CHECK(found[2] == "l.0.k.bias = h.0.qk.bias: part 2" + how);
  CHECK(found[4] == "l.0.q.bias = h.0.qk.bias: part 1" + how);
}

TEST_CASE("a part without values takes the gap that it fills, and no other") {
  const auto q = unlike_values(64, 1), v = unlike_values(64, 2);
  const std::vector<float> threes(32, 3), more_threes(64, 3);
  const Texts found =
      pairs({{"l.a", {8, 8}, more_threes}, {"l.k", {4, 8}, threes}, {"l.q", {8, 8}, q}, {"l.v", {8, 8}, v}},
            {{"h.qkv", {20, 8}, test::joined({q, threes, v})}});
  const std::string how = " of 3: h.qkv = concat(q, k, v; axis 0)";
  CHECK(found == Texts{"l.a", "l.k = h.qkv: part 2" + how, "l.q = h.qkv: part 1" + how, "l.v = h.qkv: part 3" + how});
}

TEST_CASE("trained parts are found in their places") {
  const auto q = unlike_values(64, 1), k = unlike_values(64, 2);
  const Texts found =
      pairs({{"l.q", {8, 8}, q}, {"l.k", {8, 8}, k}}, {{"h.qk", {16, 8}, noisy(test::joined({q, k}), 0.03F)}});
  CHECK(found == Texts{"l.k = h.qk: part 2 of 2: h.qk = concat(q, k; axis 0)",
                       "l.q = h.qk: part 1 of 2: h.qk = concat(q, k; axis 0)"});
}

TEST_CASE("parts in groups are found, in all layers by the first that tells") {
  MadeCheckpoint a, b;
  for (uint32_t i = 0; i < 3; ++i) {
    const std::string at = "l." + std::to_string(i), other = "d." + std::to_string(i);
    const auto q = unlike_values(64, 3 * i), k = unlike_values(32, 3 * i + 1);
    a = a + MadeCheckpoint{{at + ".q", {8, 8}, q}, {at + ".k", {4, 8}, k}};
    // Two groups: four rows of q, then two of k.
    const auto rows = [](const std::vector<float>& from, size_t first, size_t count) {
      return std::vector<float>(from.begin() + static_cast<std::ptrdiff_t>(first * 8),
                                from.begin() + static_cast<std::ptrdiff_t>((first + count) * 8));
    };
    b = b + MadeCheckpoint{
                {other + ".qk", {12, 8}, test::joined({rows(q, 0, 4), rows(k, 0, 2), rows(q, 4, 4), rows(k, 2, 2)})}};
  }
  b.front().values = unlike_values(96, 99);
  const Texts found = pairs(a, b);
  REQUIRE(found.size() == 6);
  CHECK(found[0] == "l.0.k = d.0.qk: part 2 of 2: d.0.qk = concat(q, k; axis 0, 2 groups)");
  CHECK(found[5] == "l.2.q = d.2.qk: part 1 of 2: d.2.qk = concat(q, k; axis 0, 2 groups)");
}

TEST_CASE("parts that are not all of a parameter are no parts of it") {
  const auto q = unlike_values(64, 1), k = unlike_values(32, 2);
  CHECK(pairs({{"l.q", {8, 8}, q}, {"l.k", {4, 8}, k}},
              {{"qkv", {16, 8}, test::joined({q, k, unlike_values(32, 3)})}}) == Texts{"= qkv", "l.k", "l.q"});
}

TEST_CASE("experts are found in one parameter, in the order of their numbers, transposed or not") {
  MadeCheckpoint a;
  std::vector<std::vector<float>> plain, turned;
  for (const uint32_t i : {0U, 2U, 10U}) {
    a.push_back(unlike("l.0.experts." + std::to_string(i) + ".w", {8, 4}, i));
    plain.push_back(a.back().values);
    turned.push_back(test::transposed(a.back().values, 8, 4));
  }
  CHECK(pairs(a, {{"l.0.ffn", {3, 8, 4}, test::joined(plain)}}).back() ==
        "l.0.experts.2.w = l.0.ffn: part 2 of 3: l.0.ffn = concat(0, 2, 10; axis 0)");
  CHECK(pairs(a, {{"l.0.ffn", {3, 4, 8}, test::joined(turned)}}).front() ==
        "l.0.experts.0.w = l.0.ffn: part 1 of 3: l.0.ffn = concat(0, 2, 10; axis 0, transposed)");
}

TEST_CASE("a tied parameter is that of one with a partner, and of no layer beside it") {
  const auto embedding = unlike_values(64, 1);
  const MadeCheckpoint one = {{"embed.weight", {16, 4}, embedding}};
  const MadeCheckpoint both = one + MadeCheckpoint{{"lm_head.weight", {16, 4}, embedding}};
  const std::string tied = "lm_head.weight: tied: the same values as embed.weight, which has a partner";
  CHECK(pairs(both, one) == Texts{"embed.weight = embed.weight", tied});
  CHECK(pairs(one, both) == Texts{"= " + tied, "embed.weight = embed.weight"});
  auto other = both;
  other.back().values.back() += 1;  // one element
  CHECK(pairs(other, one).back() == "lm_head.weight");
  CHECK(pairs({{"l.0.w", {16, 4}, embedding}, {"l.1.w", {16, 4}, embedding}}, {{"l.0.w", {16, 4}, embedding}}) ==
        Texts{"l.0.w = l.0.w", "l.1.w"});
  CHECK(pairs({{"b", {64}, embedding}, {"c", {64}, embedding}}, {{"b", {64}, embedding}}) == Texts{"b = b", "c"});
}

TEST_CASE("rows regrouped for rotary embeddings are found") {
  const auto values = unlike_values(64, 1);
  std::vector<float> pairs_of;
  for (const int row : {0, 4, 1, 5, 2, 6, 3, 7})
    pairs_of.insert(pairs_of.end(), values.begin() + row * 8, values.begin() + row * 8 + 8);
  CHECK(pairs({{"q", {8, 8}, values}}, {{"wq", {8, 8}, pairs_of}}) ==
        Texts{"q = wq: rows of 1 heads as rotary pairs, halves in the candidate"});
  // Rows in another order do not say that a square matrix is transposed.
  const auto square = unlike_values(64, 2);
  CHECK(pairs({{"q", {8, 8}, values}, {"s", {8, 8}, square}},
              {{"wq", {8, 8}, pairs_of}, {"s", {8, 8}, test::transposed(square, 8, 8)}})[1] == "s = s");
}

TEST_CASE("parameters with rows appended pair by the common ones") {
  const auto values = unlike_values(80, 1);
  CHECK(pairs({{"embed", {20, 4}, values}, unlike("other", {20, 4}, 2)},
              {{"tokens", {24, 4}, test::joined({values, std::vector<float>(16, 0)})}, unlike("z", {24, 4}, 5)}) ==
        Texts{"= z", "embed = tokens", "other"});
}

TEST_CASE("a map pairs names first, and renames parts of them") {
  const MadeCheckpoint a = {unlike("x.a", {8}, 1), unlike("x.b", {8}, 2)};
  const MadeCheckpoint b = {unlike("y.p", {8}, 1), unlike("y.q", {8}, 2)};
  const NameMap crossed(test::must(parse_name_map("x.a,y.q\n", {})));
  CHECK(pairs(a, b, &crossed) == Texts{"= y.p", "x.a = y.q", "x.b"});
  const NameMap renamed(test::must(parse_name_map("x.a=y.q\n", {})));
  CHECK(pairs(a, b, &renamed) == Texts{"= y.p", "x.a = y.q", "x.b"});
}

// Parameters with numbers of one class each, or all of one class.
MadeCheckpoint many(const std::string& prefix, uint32_t count, uint32_t seed) {
  MadeCheckpoint all;
  for (uint32_t i = 0; i < count; ++i) all.push_back(unlike(prefix + std::to_string(i) + ".w", {2, 2}, seed + i));
  return all;
}

struct OpenCheckpoints {
  OpenCheckpoints(const MadeCheckpoint& a, const MadeCheckpoint& b)
      : dump_a(test::list_dump({scratch.write("a.safetensors", test::safetensors_of(a))})),
        dump_b(test::list_dump({scratch.write("b.safetensors", test::safetensors_of(b))})) {}
  [[nodiscard]] Pairing pair() const {
    const CompareSide side_a{&dump_a.index, &dump_a.tensors()}, side_b{&dump_b.index, &dump_b.tensors()};
    return test::must(pair_parameters(side_a, side_b, nullptr, {nullptr, nullptr}, CancelToken())).pairing;
  }
  const test::ScratchDir scratch;
  const test::ListedDump dump_a, dump_b;
};

TEST_CASE("a tied parameter is found among more parameters than those whose values are kept") {
  constexpr uint32_t kMany = (1U << 14) + 100;  // more than TensorSamples keeps
  MadeCheckpoint b = many("layers.", kMany, 1), a = b;
  a.push_back({"first.bank.w", {2, 2}, a[3].values});
  a.push_back({"last.bank.w", {2, 2}, a[kMany - 1].values});
  const Pairing pairing = OpenCheckpoints(a, b).pair();
  REQUIRE(pairing.relations.size() == 2);
  CHECK(pairing.relations[0].text == "first.bank.w = layers.3.w");
  CHECK(pairing.relations[1].text == "last.bank.w = layers." + std::to_string(kMany - 1) + ".w");
}

TEST_CASE("the cost of looking for tied parameters is not quadratic") {
  const auto make = [](size_t count) {
    MadeCheckpoint b = many("layers.", static_cast<uint32_t>(count), 1), a = b;
    const MadeCheckpoint more = many("extra", static_cast<uint32_t>(count), 1'000'000);
    a.insert(a.end(), more.begin(), more.end());
    return std::make_shared<OpenCheckpoints>(a, b);
  };
  const auto pair = [](const std::shared_ptr<OpenCheckpoints>& both) { CHECK(both->pair().tensors.size() > 2); };
  CHECK(test::growth(1000, make, pair) < test::kNotQuadratic);
}

TEST_CASE("a file that cannot be read when values are compared is told") {
  const OpenCheckpoints both({unlike("a", {8, 4}, 1)}, {unlike("b", {8, 4}, 1)});
  CHECK(both.pair().unread.empty());
  std::filesystem::remove(both.scratch.path() / "b.safetensors");
  const Pairing pairing = both.pair();
  REQUIRE(pairing.unread.size() == 1);
  CHECK(pairing.unread.front().path.ends_with("b.safetensors"));
  CHECK(pairing.unread.front().code == ErrorCode::kNotFound);
}

TEST_CASE("more parameters than are matched by their values are told as limits") {
  const auto names = [](uint32_t seed) {
    MadeCheckpoint all;
    for (uint32_t i = 0; i < 1450; ++i) {
      std::string name(1, static_cast<char>('a' + i % 26));
      for (uint32_t rest = i / 26 + seed; rest > 0; rest /= 26) name += static_cast<char>('a' + rest % 26);
      all.push_back(unlike(name, {2, 2}, seed + i));
    }
    return all;
  };
  std::vector<std::string> limits;
  for (const ReachedLimit& one : OpenCheckpoints(names(1), names(100'000)).pair().limits) limits.emplace_back(one.name);
  CHECK(limits == std::vector<std::string>{"parameter_classes", "parameters_of_a_shape"});
  CHECK(OpenCheckpoints({unlike("a", {8, 4}, 1)}, {unlike("b", {8, 4}, 1)}).pair().limits.empty());
}

}  // namespace msdump
