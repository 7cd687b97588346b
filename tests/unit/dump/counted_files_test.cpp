#include "dump/index/dump_index.h"

#include <string>
#include <vector>

#include <fmt/format.h>

#include "support/catch.h"
#include "support/npy_builder.h"
#include "support/pt_builder.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

using test::ScratchDir;
using Texts = std::vector<std::string>;

// "op name@time stamp" of the files of an index, in its order.
Texts names_in(const std::vector<std::string>& paths) {
  const auto index = DumpIndex::build(paths, {});
  REQUIRE(index);
  Texts texts;
  for (const IndexedFile& file : index->files())
    texts.push_back(fmt::format("{}@{}", file.facts.op_name, file.facts.timestamp));
  return texts;
}

Texts names_of(const Texts& files) {
  const ScratchDir scratch;
  for (const std::string& file : files)
    scratch.write(file, file.ends_with(".npy") ? test::build_npy({}) : test::build_pt());
  return names_in({scratch.path().string()});
}

TEST_CASE("runs of what torch_npu saves are counted per name") {
  CHECK(names_of({"add_device_0_0.pt", "add_device_0_1.pt", "mm_1_device_0_0.pt"}) ==
        Texts{"add@0", "mm_1@0", "add@1"});
  CHECK(names_of({"x_device_0.pt"}) == Texts{"x@"});
}

TEST_CASE("files of several devices in one folder keep the device in their names") {
  CHECK(names_of({"add_device_0_0.pt", "add_device_1_0.pt"}) == Texts{"add_device_0@0", "add_device_1@0"});
}

TEST_CASE("a folder that says the rank is not part of the operator's name, any other folder is") {
  CHECK(names_of({"worldsize2_global_rank1/add_device_1_0.pt", "sub/add_device_0_0.pt"}) ==
        Texts{"add@0", "sub/add@0"});
}

TEST_CASE("what TensorDump saves is in the order of its numbers") {
  CHECK(names_of({"b_float32_0.npy", "a_float16_1.npy", "b_float32_2.npy", "b_float32_10.npy", "other.npy"}) ==
        Texts{"b@0", "a@1", "b@2", "b@10", "other@"});
  CHECK(names_of({"step3/rank0/x_int64_4.npy"}) == Texts{"x@4"});
}

TEST_CASE("equal numbers in one folder are not TensorDump's") {
  CHECK(names_of({"a_float32_0.npy", "b_float32_0.npy"}) == Texts{"a_float32_0@", "b_float32_0@"});
}

TEST_CASE("interleaved runs of several names are acl_save's") {
  CHECK(names_of({"act_0.pt", "logits_1.pt", "act_2.pt", "logits_3.pt"}) ==
        Texts{"act@0", "logits@1", "act@2", "logits@3"});
}

TEST_CASE("a number may be part of the name of a .pt file") {
  CHECK(names_of({"layer_0.pt", "layer_1.pt"}) == Texts{"layer_0@", "layer_1@"});
  CHECK(names_of({"a_0.pt", "b_1.pt"}) == Texts{"a_0@", "b_1@"});
  CHECK(names_of({"a_0.pt", "b_0.pt", "a_1.pt"}) == Texts{"a_0@", "a_1@", "b_0@"});
  CHECK(names_of({"a_0.pt", "b_1.pt", "a_2.pt", "whole.pt"}) == Texts{"a_0@", "a_2@", "b_1@", "whole@"});
}

TEST_CASE("a file given by its own path is counted where its name alone says so") {
  const ScratchDir scratch;
  CHECK(names_in({scratch.write("add_device_0_3.pt", test::build_pt())}) == Texts{"add@3"});
  CHECK(names_in({scratch.write("x_float32_3.npy", test::build_npy({}))}) == Texts{"x@3"});
  CHECK(names_in({scratch.write("act_3.pt", test::build_pt())}) == Texts{"act_3@"});
}

}  // namespace
}  // namespace msdump
