#include "check/values/value_rules.h"

#include <limits>

#include "small_dump.h"

namespace msdump::check {
namespace {}  // namespace

TEST_CASE("NaN and infinities of an operator are errors") {
  CHECK(reported_of("Default/Log-op1", floats({1, 0}), floats({kNan, 1})) ==
        Lines{"nan error Default_Log-op1 output 0"});
  CHECK(reported_of("Default/Exp-op1", floats({1, 0}), floats({kInf, 1})) ==
        Lines{"inf error Default_Exp-op1 output 0"});
  CHECK(reported_of("Default/Log-op1", floats({1, 0}), floats({0, -kInf})) ==
        Lines{"inf error Default_Log-op1 output 0"});
}

TEST_CASE("a mask of -inf is a note: put by a select, or handed on from an input") {
  const Lines select = reported_of("Default/Select-op1", floats({1, 2}), floats({-kInf, 0}));
  CHECK(select == Lines{"inf note Default_Select-op1 output 0"});
  const Lines add = reported_of("Default/Add-op1", floats({0, -kInf}), floats({3, -kInf}));
  CHECK(add == Lines{"inf note Default_Add-op1 input 0", "inf note Default_Add-op1 output 0"});
  // An Add of finite inputs overflows.
  CHECK(reported_of("Default/Add-op1", floats({0, 1}), floats({3, -kInf})) ==
        Lines{"inf error Default_Add-op1 output 0"});
}

TEST_CASE("float16 at its edge is saturation, where it came up") {
  const std::string edge = halves({0x3C00, 0x7BFF}), finite = halves({0x3C00, 0x4000});
  CHECK(reported_of("Default/Mul-op1", finite, edge) == Lines{"saturation warning Default_Mul-op1 output 0"});
  CHECK(reported_of("Default/Reshape-op1", edge, edge) == Lines{"saturation warning Default_Reshape-op1 input 0"});
  // A mask of -65504 and 0.
  CHECK(reported_of("Default/Mul-op1", finite, halves({0xFBFF, 0})) ==
        Lines{"saturation note Default_Mul-op1 output 0"});
}

TEST_CASE("most of a tensor being subnormal is a note") {
  CHECK(reported_of("Default/Mul-op1", halves({0x3C00, 0x4000}), halves({1, 2, 3, 0x3C00})) ==
        Lines{"subnormal note Default_Mul-op1 output 0"});
  CHECK(reported_of("Default/Mul-op1", halves({0x3C00, 0x4000}), halves({1, 0x3C00, 0x3C00, 0})).empty());
}

TEST_CASE("zeros and constants are news only where something else went in") {
  CHECK(reported_of("Default/ReLU-op1", floats({-1, -2}), floats({0, 0})) ==
        Lines{"all_zero note Default_ReLU-op1 output 0"});
  CHECK(reported_of("Default/Add-op1", floats({1, 2}), floats({3, 3})) ==
        Lines{"constant note Default_Add-op1 output 0"});
  CHECK(reported_of("Default/Mul-op1", floats({0, 0}), floats({0, 0})).empty());
  CHECK(reported_of("Default/ZerosLike-op1", floats({1, 2}), floats({0, 0})).empty());
  CHECK(reported_of("Default/ReduceSum-op1", floats({1, 2}), floats({3})).empty());
}

TEST_CASE("limits are judged when they are given") {
  const auto reported = [](std::string_view rule) {
    return reported_of("Default/Mul-op1", floats({1, 2}), floats({-3, 1, 4}), only(rule));
  };
  CHECK(reported("too_large").empty());
  CHECK(reported("too_large:max_gt=3.5") == Lines{"too_large warning Default_Mul-op1 output 0"});
  CHECK(reported("too_large:abs_mean_gt=2.6") == Lines{"too_large warning Default_Mul-op1 output 0"});
  CHECK(reported("too_large:abs_mean_gt=2.7").empty());
  CHECK(reported("too_small:min_lt=-2") == Lines{"too_small warning Default_Mul-op1 output 0"});
  CHECK(reported("too_large:max_gt=3.5,op=Other*").empty());
}

TEST_CASE("a range counts the elements inside, ends included") {
  const auto reported = [](std::string_view rule) {
    return reported_of("Default/Mul-op1", halves({0x3C00, 0x3C00}), floats({0, 1, 2, 10}), only(rule));
  };
  CHECK(reported("activation_range:range_start_inclusive=0,range_end_inclusive=2,range_percentage_lt=76") ==
        Lines{"activation_range warning Default_Mul-op1 output 0"});
  CHECK(reported("activation_range:range_start_inclusive=0,range_end_inclusive=2,range_percentage_lt=75").empty());
  CHECK(reported("tensor_range:range_end_inclusive=1,range_percentage_gt=60") ==
        Lines{"tensor_range warning Default_Mul-op1 input 0"});
  CHECK(reported("tensor_range:max_min_gt=9") == Lines{"tensor_range warning Default_Mul-op1 output 0"});
}

TEST_CASE("statistics show NaN, infinities, edges and zeros as tensors do") {
  const test::ScratchDir scratch;
  const auto row = [](int number, std::string_view type, std::string_view dtype, std::string_view values) {
    return fmt::format("{0},Default_{0}-op{1},0,0,{1},output,0,16,{2},\"[4]\",{3},\n", type, number, dtype, values);
  };
  scratch.write("rank_0/Net/0/0/statistic.csv",
                "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value,Min Value,"
                "L2Norm Value\n" +
                    row(1, "Add", "float32", "2,1,3") + row(2, "Log", "float32", "nan,nan,nan") +
                    row(3, "Exp", "float32", "inf,1,inf") + row(4, "Mul", "float16", "65504,1,65504"));
  CHECK(Checked(scratch.path()).reported() == Lines{"partial_dump note", "nan error Default_Log-op2 output 0",
                                                    "inf error Default_Exp-op3 output 0",
                                                    "saturation warning Default_Mul-op4 output 0"});
}

TEST_CASE("complex numbers are judged by their parts") {
  const test::ScratchDir scratch;
  scratch.write(tensor_path("Default/FFT-op1", 1, "output.0"), [] {
    test::NpySpec spec;
    spec.literal = test::npy_literal("<c8", "(2,)");
    const std::vector<float> parts = {1, 2, kNan, 4};
    spec.data.assign(reinterpret_cast<const char*>(parts.data()), parts.size() * sizeof(float));
    return test::build_npy(spec);
  }());
  const Checked checked(scratch.path());
  CHECK(checked.only("nan").message == "some elements: NaN");
}

TEST_CASE("a cast of numbers that were computed overflows; one of -1e9 is a mask") {
  const std::string computed = floats({-2e7F, -3}), mask = floats({-1e9F, -3}), out = halves({0xFC00, 0xC200});
  CHECK(reported_of("Default/Cast-op1", computed, out) == Lines{"inf error Default_Cast-op1 output 0"});
  CHECK(reported_of("Default/Cast-op1", mask, out) == Lines{"inf note Default_Cast-op1 output 0"});
}

TEST_CASE("of a row of checksums nothing is known, which is not a clean bill") {
  const test::ScratchDir scratch;
  scratch.write("rank_0/Net/0/0/statistic.csv",
                "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,MD5\n"
                "Mul,Default_Mul-op1,0,0,1700000000000001,output,0,8,float32,\"(2)\",a1b2\n");
  const Checked checked(scratch.path());
  CHECK(checked.facts().count_read() == 1);
  CHECK(checked.facts().count_without_values() == 1);
}

TEST_CASE("a mean alone that is NaN shows a NaN") {
  const test::ScratchDir scratch;
  scratch.write("rank_0/Net/0/0/statistic.csv",
                "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Avg Value\n"
                "Mul,Default_Mul-op1,0,0,1700000000000001,output,0,8,float32,\"(2)\",nan\n");
  CHECK(Checked(scratch.path()).of("nan").size() == 1);
}

TEST_CASE("a rule that statistics cannot judge is named") {
  const test::ScratchDir scratch;
  scratch.write("rank_0/Net/0/0/statistic.csv",
                "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value\n"
                "Mul,Default_Mul-op1,0,0,1700000000000001,output,0,8,float32,\"(2)\",7\n");
  RuleSet rules = RuleSet::none();
  for (const char* const text : {"too_large:max_gt=1,mean_gt=1", "subnormal"}) REQUIRE(rules.apply(text));
  const Checked checked(scratch.path(), rules);
  CHECK(unjudged_rules(checked.dump(), checked.facts(), rules) ==
        Lines{"rule subnormal needs the elements of tensors; this dump has statistics only",
              "rule too_large: nothing here has mean"});
  CHECK(checked.of("too_large").size() == 1);
}

namespace {

// An operator that has float16 for the network, and this on the device.
std::string half_operator(std::string_view on_device) {
  return test::ir_text(fmt::format(
      "  %1(CNode_1) = Conv2D(%para1_x)\n      : (<Tensor[Float32], (2, 2)>) -> (<Tensor[Float16], (2, 2)>)\n"
      "      : (<Float32xDefaultFormat[const vector][2, 2]>) -> (<{}xDefaultFormat[const vector][2, 2]>)\n"
      "      # Fullname with scope: (Default/Conv2D-op1)\n",
      on_device));
}

}  // namespace

TEST_CASE("half of a float32 buffer that is labelled float16 is not judged") {
  for (const bool wide : {false, true}) {
    const test::ScratchDir scratch;
    scratch.write("rank_0/graphs/ms_output_trace_code_graph_0.ir", half_operator(wide ? "Float32" : "Float16"));
    scratch.write(tensor_path("Default/Conv2D-op1", 1, "input.0"), floats({1, 2}));
    scratch.write(tensor_path("Default/Conv2D-op1", 1, "output.0"), halves({0x7E00, 0x3C00}));
    const Checked checked(scratch.path());
    CHECK(checked.of("nan").size() == (wide ? 0 : 1));
    CHECK(checked.report().first.has_value() == !wide);
    CHECK(checked.facts().count_mislabelled() == (wide ? 1 : 0));
  }
}

TEST_CASE("a float32 file of an operator that has float16 for the network is right, and judged") {
  const test::ScratchDir scratch;
  scratch.write("rank_0/graphs/ms_output_trace_code_graph_0.ir", half_operator("Float32"));
  scratch.write(tensor_path("Default/Conv2D-op1", 1, "output.0"), floats({kNan, 1}));
  CHECK(Checked(scratch.path()).of("nan").size() == 1);
}

}  // namespace msdump::check
