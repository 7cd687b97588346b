// Where the rules about one tensor begin and end: shares and limits that are just reached, and what they do not judge.
#include "check/values/value_rules.h"

#include <limits>

#include "small_dump.h"

namespace msdump::check {
namespace {

constexpr const char* kDevicePath = "rank_0/Net/0/0/Mul.Default_Mul-op1.1.1.1700000000000001";
constexpr const char* kTablePath = "rank_0/Net/0/0/statistic.csv";

// Codes of one byte: so many elements, of which the first is `first`.
std::string codes(size_t count, int first, int others) {
  std::string bytes(count, static_cast<char>(others));
  bytes[0] = static_cast<char>(first);
  return bytes;
}

// The messages of the saturation rule about one dump file.
Lines saturation_of(DType dtype, const std::string& bytes) {
  const test::ScratchDir scratch;
  scratch.write(kDevicePath, device_file(dtype, bytes));
  const Checked checked(scratch.path());
  Lines messages;
  for (const Finding* const finding : checked.of("saturation")) messages.push_back(finding->message);
  return messages;
}

std::string inf_message(const std::vector<float>& output) {
  const test::ScratchDir scratch;
  scratch.write(tensor_path("Default/Exp-op1", 1, "input.0"), floats({1, 2}));
  scratch.write(tensor_path("Default/Exp-op1", 1, "output.0"), floats(output));
  return Checked(scratch.path()).only("inf").message;
}

}  // namespace

TEST_CASE("a share of NaN or infinities that is just the limit is reported, a smaller one is not") {
  const auto nan = [](std::string_view rule) {
    return reported_of("Default/Log-op1", floats({1, 2}), floats({kNan, 1, 2, 3}), only(rule));
  };
  CHECK(nan("nan:percentage_ge=25") == Lines{"nan error Default_Log-op1 output 0"});
  CHECK(nan("nan:percentage_ge=26").empty());
  const auto inf = [](std::string_view rule) {
    return reported_of("Default/Exp-op1", floats({1, 2}), floats({kInf, -kInf, 1, 2}), only(rule));
  };
  CHECK(inf("inf:percentage_ge=50") == Lines{"inf error Default_Exp-op1 output 0"});
  CHECK(inf("inf:percentage_ge=51").empty());
}

TEST_CASE("the sign of infinities is reported") {
  CHECK(inf_message({kInf, 1}) == "1 of 2 elements: +inf");
  CHECK(inf_message({-kInf, 1, 2}) == "1 of 3 elements: -inf");
  CHECK(inf_message({kInf, -kInf, -kInf}) == "3 of 3 elements: +inf and -inf");
}

TEST_CASE("8-bit floats are saturated from one in a hundred on, the others from one element on") {
  CHECK(saturation_of(DType::kFloat8E5m2, codes(100, 0x7B, 0x3C)) ==
        Lines{"1 of 100 elements at 57344, the edge of float8_e5m2"});
  CHECK(saturation_of(DType::kFloat8E4m3fn, codes(100, 0x7E, 0x38)) ==
        Lines{"1 of 100 elements at 448, the edge of float8_e4m3fn"});
  CHECK(saturation_of(DType::kHifloat8, codes(100, 0x6E, 0x08)) ==
        Lines{"1 of 100 elements at 32768, the edge of hifloat8"});
  CHECK(saturation_of(DType::kFloat8E5m2, codes(101, 0x7B, 0x3C)).empty());
  std::string half;
  for (int i = 0; i < 1000; ++i) half += i == 0 ? std::string("\xFF\xFB") : std::string("\0\x3C", 2);
  CHECK(saturation_of(DType::kFloat16, half) == Lines{"1 of 1000 elements at -65504, the edge of float16"});
  CHECK(saturation_of(DType::kBfloat16, std::string("\x7F\x7F\x80\x3F", 4)) ==
        Lines{"1 of 2 elements at 3.38953e+38, the edge of bfloat16"});
}

TEST_CASE("a table whose extremes are edges shows float16, but not how many elements of 8 bits are there") {
  const test::ScratchDir scratch;
  scratch.write(kTablePath, statistic_table("Max Value,Min Value", {{"Mul-op1", "float8_e5m2", "57344,1"},
                                                                    {"Mul-op2", "float16", "1,-65504"},
                                                                    {"Mul-op3", "float16", "0,-65504"},
                                                                    {"Mul-op4", "float32", "3.40282e+38,1"}}));
  const Checked checked(scratch.path());
  CHECK(checked.reported() == Lines{"partial_dump note", "saturation warning Default_Mul-op2 output 0",
                                    "saturation note Default_Mul-op3 output 0"});
  CHECK(checked.of("saturation").front()->message == "some elements at -65504, the edge of float16");
}

TEST_CASE("an edge that an input has is reported for the operator that made it, where it is known") {
  const std::string edge = halves({0x3C00, 0x7BFF});
  const test::ScratchDir ir, recorded;
  ir.write("rank_0/graphs/ms_output_trace_code_graph_0.ir",
           test::ir_text(test::node_text("%1", "Mul", "%para1_x", "Default/Mul-op1") +
                         test::node_text("%2", "Neg", "%1", "Default/Neg-op2")));
  ir.write(tensor_path("Default/Mul-op1", 1, "input.0"), halves({0x3C00, 0x4000}));
  ir.write(tensor_path("Default/Mul-op1", 1, "output.0"), edge);
  ir.write(tensor_path("Default/Neg-op2", 2, "input.0"), edge);
  ir.write(tensor_path("Default/Neg-op2", 2, "output.0"), halves({0x3C00, 0x4000}));
  CHECK(Checked(ir.path()).reported() == Lines{"saturation warning Default/Mul-op1 output 0"});
  // msprobe's order stands in for the data flow.
  const auto leaf = [](int max) {
    return fmt::format(R"({{"type":"torch.Tensor","dtype":"torch.float16","shape":[2],"Max":{},"Min":1,"Mean":1,)"
                       R"("Norm":1,"requires_grad":false}})",
                       max);
  };
  recorded.write(
      "step0/rank0/dump.json",
      fmt::format(R"({{"task":"statistics","level":"L1","framework":"pytorch","dump_data_dir":null,"data":{{)"
                  R"("Functional.mul.0.forward":{{"input_args":[{0}],"input_kwargs":{{}},"output":[{1}]}},)"
                  R"("Functional.neg.0.forward":{{"input_args":[{1}],"input_kwargs":{{}},"output":[{0}]}}}}}})",
                  leaf(2), leaf(65504)));
  CHECK(Checked(recorded.path()).reported() == Lines{"saturation warning Functional.mul.0.forward output 0"});
}

TEST_CASE("what came in at the negative edge was put there, beside whatever values") {
  CHECK(reported_of("Default/Mul-op1", halves({0xFBFF, 0x3C00}), halves({0x3C00, 0x4000})) ==
        Lines{"saturation note Default_Mul-op1 input 0"});
  CHECK(reported_of("Default/Mul-op1", halves({0x3C00, 0x4000}), halves({0xFBFF, 0x3C00})) ==
        Lines{"saturation warning Default_Mul-op1 output 0"});
}

TEST_CASE("half of what is not zero being subnormal is enough, and inputs are not reported") {
  const std::string numbers = halves({0x3C00, 0x4000});
  CHECK(reported_of("Default/Mul-op1", numbers, halves({1, 0x3C00, 0, 0})) ==
        Lines{"subnormal note Default_Mul-op1 output 0"});
  CHECK(reported_of("Default/Mul-op1", halves({1, 2}), numbers).empty());
}

TEST_CASE("zeros are reported from the given share on, of floats made of floats") {
  const auto half_zero = [](std::string_view rule) {
    return reported_of("Default/ReLU-op1", floats({1, 2}), floats({0, 0, 1, 2}), only(rule));
  };
  CHECK(half_zero("all_zero:zero_percentage_ge=50") == Lines{"all_zero note Default_ReLU-op1 output 0"});
  CHECK(half_zero("all_zero:zero_percentage_ge=51").empty());
  const std::string integers = npy_of<int32_t>("<i4", {1, 2}), zeros = npy_of<int32_t>("<i4", {0, 0});
  CHECK(reported_of("Default/Mul-op1", floats({1, 2}), zeros).empty());
  CHECK(reported_of("Default/Mul-op1", integers, floats({0, 0})).empty());
  CHECK(reported_of("Default/DropoutDoMask-op1", floats({1, 2}), floats({0, 0})).empty());
  CHECK(reported_of("Default/DropOut-op1", floats({1, 2}), floats({0, 0})).empty());
}

TEST_CASE("a limit that is just reached is not passed") {
  const auto reported = [](std::string_view rule) {
    return reported_of("Default/Mul-op1", floats({1, 2}), floats({-3, 1, 4}), only(rule));
  };
  CHECK(reported("too_large:max_gt=4").empty());
  CHECK(reported("too_small:min_lt=-3").empty());
  CHECK(reported("too_large:max_gt=3.99").size() == 1);
  CHECK(reported("too_small:min_lt=-2.99").size() == 1);
}

TEST_CASE("limits are not for outputs that nothing writes, nor for numbers beside which a table has NaN") {
  const RuleSet rules = only("too_large:max_gt=5");
  CHECK(reported_of("Default/Assign-op1", floats({1, 2}), floats({9, 9}), rules).empty());
  CHECK(reported_of("Default/Mul-op1", floats({1, 2}), floats({9, 9}), rules).size() == 1);
  const RuleSet range = only("tensor_range:max_min_gt=5");
  CHECK(reported_of("Default/Assign-op1", floats({1, 2}), floats({1, 9}), range).empty());
  CHECK(reported_of("Default/Mul-op1", floats({1, 2}), floats({1, 9}), range).size() == 1);
  const test::ScratchDir scratch;
  scratch.write(kTablePath, statistic_table("Max Value,Min Value,NaN Count",
                                            {{"Mul-op1", "float32", "7,1,2"}, {"Mul-op2", "float32", "7,1,0"}}));
  CHECK(Checked(scratch.path(), rules).reported() == Lines{"too_large warning Default_Mul-op2 output 0"});
}

TEST_CASE("what operators of Gradients and of msprobe's backward put out are gradients") {
  const RuleSet rules = only("gradient_too_large:max_gt=1");
  CHECK(reported_of("Gradients/Default/Mul-op1", floats({9, 1}), floats({3, 1}), rules) ==
        Lines{"gradient_too_large warning Gradients_Default_Mul-op1 output 0"});
  CHECK(reported_of("Default/Mul-op1", floats({9, 1}), floats({3, 1}), rules).empty());
  const test::ScratchDir scratch;
  const std::string folder = "step0/rank0/dump_tensor_data/Functional.mul.0.";
  scratch.write(folder + "backward.output.0.npy", floats({3, 1}));
  scratch.write(folder + "forward.output.0.npy", floats({3, 1}));
  CHECK(Checked(scratch.path(), rules).reported() ==
        Lines{"gradient_too_large warning Functional.mul.0.backward output 0"});
}

TEST_CASE("of what an optimizer updates only the weight is one") {
  const test::ScratchDir scratch;
  for (const char* const slot : {"input.0", "input.1", "input.3"})
    scratch.write(tensor_path("Default/ApplyMomentum-op1", 1, slot), floats({3, 1}));
  CHECK(Checked(scratch.path(), only("weight_too_large:max_gt=1")).reported() ==
        Lines{"weight_too_large warning Default_ApplyMomentum-op1 input 0"});
}

TEST_CASE("both ends of a range belong to it, and a share or distance that is just the limit is none") {
  const auto reported = [](std::string_view rule) {
    return reported_of("Default/Mul-op1", floats({0, 4}), halves({0x3C00, 0x4000, 0x4000, 0x4400}), only(rule));
  };
  // 1, 2, 2, 4
  CHECK(reported("activation_range:range_start_inclusive=1,range_end_inclusive=4,range_percentage_lt=100").empty());
  CHECK(reported("activation_range:range_start_inclusive=1,range_end_inclusive=2,range_percentage_gt=75").empty());
  CHECK(reported("activation_range:range_start_inclusive=1,range_end_inclusive=2,range_percentage_gt=74").size() == 1);
  CHECK(reported("activation_range:max_min_lt=3").empty());
  CHECK(reported("activation_range:max_min_gt=3").empty());
  // An input is not an activation.
  CHECK(reported("activation_range:max_min_gt=2.9") == Lines{"activation_range warning Default_Mul-op1 output 0"});
}

TEST_CASE("a range is counted over the whole of a tensor") {
  std::vector<float> elements(70000, 5);
  elements[0] = 0;
  std::fill(elements.begin() + 65536, elements.end(), 1.0F);
  // 4465 of 70000 are not 5.
  CHECK(reported_of("Default/Mul-op1", floats({5, 5}), floats(elements),
                    only("activation_range:range_start_inclusive=0,range_end_inclusive=2,range_percentage_gt=6")) ==
        Lines{"activation_range warning Default_Mul-op1 output 0"});
}

}  // namespace msdump::check
