// Which input of a device operator is which of the network's: match_inputs() through pair_sides().
#include "support/catch.h"
#include "support/device_pair.h"

namespace msdump {
namespace {

PairTensor in(const char* text) { return text; }

// The pairs of the inputs of one operator, and what has none.
struct InputPairs {
  Texts pairs, alone;
};
InputPairs inputs_of_pair(const char* device, const char* host, const std::vector<PairTensor>& device_inputs,
                          const std::vector<PairTensor>& host_inputs, const DevicePairOptions& options = {}) {
  const DevicePair pair({{device, "Default/a/" + std::string(host) + "-op7", device_inputs, {"out"}}},
                        {{host, "Default/a/" + std::string(host) + "-op1", host_inputs, {"out"}}}, options);
  InputPairs result;
  for (const std::string& text : pair.tensors()) {
    const size_t equal = text.find('=');
    if (text.find(".i") == std::string::npos) continue;
    const auto slot = [](std::string_view side) {
      return side.empty() ? std::string("-") : std::string(side.substr(side.rfind('i') + 1));
    };
    result.pairs.push_back(slot(std::string_view(text).substr(0, equal)) + "=" +
                           slot(std::string_view(text).substr(equal + 1)));
  }
  result.alone = pair.alone();
  return result;
}

}  // namespace

TEST_CASE("an input that is an attribute on the device does not shift the others") {
  const InputPairs made =
      inputs_of_pair("OneHotD", "OneHot", {in("i").ints(48), in("on").sized(1), in("off").sized(1)},
                     {in("i").ints(48), in("depth").ints(1), in("on").sized(1), in("off").sized(1)});
  CHECK(made.pairs == Texts{"0=0", "-=1", "1=2", "2=3"});
  CHECK(made.alone == Texts{"=OneHot.i1: an attribute in the candidate"});
}

TEST_CASE("an attribute of the network may be an input of the device") {
  const InputPairs made = inputs_of_pair("ReduceMean", "ReduceMean", {"x", in("axes").ints(2)}, {"x"});
  CHECK(made.pairs == Texts{"0=0", "1=-"});
  CHECK(made.alone == Texts{"ReduceMean.i1=: an attribute in the reference"});
}

TEST_CASE("the table exchanges slots, whatever the values are") {
  const std::vector<PairTensor> host = {"x", "dy", in("v").sized(6), in("m").sized(6), in("g").sized(4)};
  const Texts swapped = {"1=0", "0=1", "2=2", "3=3", "4=4"};
  CHECK(inputs_of_pair("LayerNormGrad", "LayerNormGrad",
                       {"dy", "x", in("v").sized(6), in("m").sized(6), in("g").sized(4)}, host)
            .pairs == swapped);
}

TEST_CASE("lists take one slot for each tensor, with the axis before them, after them or as an attribute") {
  const std::vector<PairTensor> host = {"a", "b", "c", in("axis").ints(1)};
  CHECK(inputs_of_pair("ConcatV2D", "Concat", {"a", "b", "c"}, host).pairs == Texts{"0=0", "1=1", "2=2", "-=3"});
  CHECK(inputs_of_pair("Concat", "Concat", {in("axis").ints(1), "a", "b", "c"}, host).pairs ==
        Texts{"1=0", "2=1", "3=2", "0=3"});
  CHECK(inputs_of_pair("ConcatV2", "Concat", {"a", "b", "c", in("axis").ints(1)}, host).pairs ==
        Texts{"0=0", "1=1", "2=2", "3=3"});
}

TEST_CASE("without a table the order counts where values and shapes do not contradict") {
  CHECK(inputs_of_pair("NobodyKnows", "NobodyKnows", {"a", "b"}, {"a", "b"}).pairs == Texts{"0=0", "1=1"});
  CHECK(inputs_of_pair("NobodyKnows", "NobodyKnows", {"b", "a"}, {"a", "b"}).pairs == Texts{"1=0", "0=1"});
  CHECK(inputs_of_pair("NobodyKnows", "NobodyKnows", {"b"}, {"a", "b"}).pairs == Texts{"-=0", "0=1"});
  CHECK(inputs_of_pair("NobodyKnows", "NobodyKnows", {"a", "b"}, {"b"}).pairs == Texts{"1=0", "0=-"});
  CHECK(inputs_of_pair("NobodyKnows", "NobodyKnows", {"a", "b"}, {in("s").ints(2), "a", "b"}).pairs ==
        Texts{"-=0", "0=1", "1=2"});
}

TEST_CASE("values decide over any order") {
  CHECK(inputs_of_pair("NobodyKnows", "NobodyKnows", {"c", "b", "a"}, {"a", "b", "c"}).pairs ==
        Texts{"2=0", "1=1", "0=2"});
  CHECK(inputs_of_pair("NobodyKnows", "NobodyKnows", {"d", "c", "b", "a"}, {"a", "b", "c", "d"}).pairs ==
        Texts{"3=0", "2=1", "1=2", "0=3"});
}

TEST_CASE("what values contradict is paired as a last resort") {
  const InputPairs made = inputs_of_pair("NobodyKnows", "NobodyKnows", {"wrong", "b"}, {"a", "b"});
  CHECK(made.pairs == Texts{"0=0", "1=1"});
  const InputPairs moved = inputs_of_pair("NobodyKnows", "NobodyKnows", {"b", "wrong"}, {"a", "b"});
  CHECK(moved.pairs == Texts{"1=0", "0=1"});
}

TEST_CASE("without values inputs are paired by their shapes and order") {
  const DevicePairOptions statistics = {.statistics = true};
  CHECK(inputs_of_pair("NobodyKnows", "NobodyKnows", {in("a").sized(5), in("c").sized(7)},
                       {in("a").sized(5), in("b").sized(6), in("c").sized(7)}, statistics)
            .pairs == Texts{"0=0", "-=1", "1=2"});
  CHECK(inputs_of_pair("NobodyKnows", "NobodyKnows", {"a", "b"}, {"a", "b"}, statistics).pairs == Texts{"0=0", "1=1"});
}

TEST_CASE("integers are not paired with other numbers") {
  const InputPairs made = inputs_of_pair("NobodyKnows", "NobodyKnows", {"x", "y"}, {in("i").ints(48), "y"});
  CHECK(made.pairs == Texts{"0=-", "-=0", "1=1"});
}

TEST_CASE("of more than 64 inputs the order alone counts") {
  for (const size_t count : {size_t{64}, size_t{65}}) {
    std::vector<PairTensor> device, host;
    for (size_t i = 0; i < count; ++i) {
      device.emplace_back(std::to_string(count - 1 - i).c_str());
      host.emplace_back(std::to_string(i).c_str());
    }
    const InputPairs made = inputs_of_pair("NobodyKnows", "NobodyKnows", device, host);
    REQUIRE(made.pairs.size() == count);
    CHECK(made.pairs[0] == (count == 64 ? "63=0" : "0=0"));
    CHECK(made.pairs[count - 1] == (count == 64 ? "0=63" : "64=64"));
  }
}

TEST_CASE("more than 64 inputs on one side are enough for the order alone to count") {
  std::vector<PairTensor> device, host;
  for (size_t i = 0; i < 65; ++i) {
    device.emplace_back(std::to_string(64 - i).c_str());
    if (i < 64) host.emplace_back(std::to_string(i).c_str());
  }
  CHECK(inputs_of_pair("NobodyKnows", "NobodyKnows", device, host).pairs[0] == "0=0");
}

TEST_CASE("values that agree a little are better than those that do not") {
  const PairTensor b = in("b").sized(10);
  const InputPairs made = inputs_of_pair("NobodyKnows", "NobodyKnows", {b.times(1024)}, {in("a").sized(10), b});
  CHECK(made.pairs == Texts{"-=0", "0=1"});
}

TEST_CASE("an input that is missing among the files does not shift the others") {
  CHECK(inputs_of_pair("MatMulV2", "MatMul", {in("w").slot(1)}, {"x", "w"}).pairs == Texts{"-=0", "1=1"});
}

}  // namespace msdump
