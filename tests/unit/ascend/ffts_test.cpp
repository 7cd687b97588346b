#include "ascend/dump_file.h"

#include "support/catch.h"

namespace msdump::ascend {
namespace {

constexpr const char* kName = "Conv2D.a.1.7.1700000000000001.4.487.1.0";  // thread 1, device 0

DumpFile sliced(const std::string& attribute) {
  DumpFile dump;
  DumpTensor input, output;
  input.section = Section::kInput;
  input.shape = Shape{4, 8};
  input.original_shape = Shape{4, 8};
  output.section = Section::kOutput;
  output.shape = output.original_shape = Shape{4};
  dump.tensors = {input, output};
  dump.attributes = {{"other", "{"}, {"slices", attribute}};
  return dump;
}

constexpr const char* kSlices =
    R"({"threadMode": true, "input_tensor_slice": [[[{"lower":0,"higher":2},{"lower":0,"higher":8}]],)"
    R"([[{"lower":2,"higher":3},{"lower":0,"higher":8}]]]})";

}  // namespace

TEST_CASE("the tensors of a sliced file take the shape of their thread's slice") {
  DumpFile dump = sliced(kSlices);
  REQUIRE(apply_thread_slices(dump, kName).has_value());
  CHECK(dump.tensors[0].shape == Shape{1, 8});
  CHECK_FALSE(dump.tensors[0].original_shape.has_value());
  // No slices are given for outputs: they are whole.
  CHECK(dump.tensors[1].shape == Shape{4});
  CHECK(dump.tensors[1].original_shape == Shape{4});
}

TEST_CASE("a file whose attribute does not turn automatic slicing on is left alone") {
  DumpFile manual = sliced(R"({"threadMode": false, "input_tensor_slice": [[]]})");
  REQUIRE(apply_thread_slices(manual, kName).has_value());
  CHECK(manual.tensors[0].shape == Shape{4, 8});
  DumpFile mentioned = sliced(R"({"comment": "threadMode", "input_tensor_slice": [[]]})");
  REQUIRE(apply_thread_slices(mentioned, kName).has_value());
  CHECK(mentioned.tensors[0].shape == Shape{4, 8});
  DumpFile number = sliced(R"({"threadMode": 1, "input_tensor_slice": [[]]})");
  REQUIRE(apply_thread_slices(number, kName).has_value());
  CHECK(number.tensors[0].shape == Shape{4, 8});
  DumpFile none = sliced("text");
  REQUIRE(apply_thread_slices(none, kName).has_value());
  CHECK(none.tensors[0].shape == Shape{4, 8});
}

TEST_CASE("slices that contradict the file are refused") {
  DumpFile no_thread = sliced(kSlices);
  CHECK(apply_thread_slices(no_thread, "plain").error().code == ErrorCode::kBadHeader);
  DumpFile missing_thread = sliced(kSlices);
  CHECK(apply_thread_slices(missing_thread, "Conv2D.a.1.7.1700000000000001.4.487.9.0")
            .error()
            .message.find("2 threads") != std::string::npos);
  DumpFile backwards = sliced(R"({"threadMode": true, "input_tensor_slice": [[], [[{"lower":3,"higher":2}]]]})");
  CHECK(apply_thread_slices(backwards, kName).error().code == ErrorCode::kBadHeader);
  DumpFile too_few = sliced(R"({"threadMode": true, "input_tensor_slice": [[], []]})");
  CHECK(apply_thread_slices(too_few, kName).error().message == "input_tensor_slice has 0 tensors, the file has more");
  DumpFile no_bound = sliced(R"({"threadMode": true, "input_tensor_slice": [[], [[{"lower":0}]]]})");
  CHECK(apply_thread_slices(no_bound, kName).error().message == "an FFTS+ slice without valid lower and higher bounds");
  DumpFile text_bound = sliced(R"({"threadMode": true, "input_tensor_slice": [[], [[{"lower":"0","higher":2}]]]})");
  CHECK(apply_thread_slices(text_bound, kName).error().message ==
        "an FFTS+ slice without valid lower and higher bounds");
  DumpFile broken = sliced(R"({"threadMode": tru)");
  const Error error = apply_thread_slices(broken, kName).error();
  CHECK(error.code == ErrorCode::kBadJson);
  CHECK(error.message.starts_with("attribute 'slices': line 1, column "));
  CHECK_FALSE(error.offset);  // a place in the attribute is not one in the file
}

TEST_CASE("an attribute of very many bounds is refused instead of taking a hundred times its size") {
  std::string slices = R"({"threadMode": true, "input_tensor_slice": [)";
  for (int i = 0; i < 200'000; ++i) slices += "1,";
  DumpFile dump = sliced(slices + "1]}");
  const Status status = apply_thread_slices(dump, kName);
  REQUIRE_FALSE(status);
  CHECK(status.error().message.ends_with("the most that msdump allows"));
}

}  // namespace msdump::ascend
