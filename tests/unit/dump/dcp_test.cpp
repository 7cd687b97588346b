// Checkpoints of torch.distributed.checkpoint: whole tensors of shards in other files.
#include "dump/elements/host_tensor.h"
#include "support/catch.h"
#include "support/pt_builder.h"
#include "support/scratch_dir.h"
#include "support/statistics_run.h"

namespace msdump {
namespace {

using namespace test;
using Chunk = DcpTensorSpec::Chunk;

std::string floats(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

// The archive of a shard with the given values.
std::string archive(const std::vector<int64_t>& shape, const std::vector<float>& values) {
  const PtTensorSpec tensor{.elements = static_cast<int64_t>(values.size()), .shape = shape};
  return build_pt({.pickle = pickle::whole(tensor_call(tensor)), .storages = {{"0", floats(values)}}});
}

struct TwoFiles {
  ScratchDir scratch;
  std::vector<Chunk> chunks;

  // Rows of two files, one of which has something else before the shard.
  TwoFiles() {
    const std::string first = archive({2, 3}, {0, 1, 2, 3, 4, 5}), second = archive({1, 3}, {6, 7, 8});
    scratch.write("__0_0.distcp", first);
    scratch.write("__1_0.distcp", "0123456789" + second);
    chunks = {{{0, 0}, {2, 3}, "__0_0.distcp", 0, static_cast<int64_t>(first.size())},
              {{2, 0}, {1, 3}, "__1_0.distcp", 10, static_cast<int64_t>(second.size())},
              {{3, 0}, {0, 3}, ""}};  // nothing is stored of no elements
  }

  std::string problem(const DcpTensorSpec& tensor) {
    scratch.write(".metadata", build_dcp_metadata({tensor}));
    const ListedDump dump = list_dump({scratch.path()});
    REQUIRE(dump.tensors().size() == 1);
    CHECK(dump.tensors()[0].broken);
    REQUIRE(dump.list.failures().size() == 1);
    CHECK(dump.list.failures()[0].tensor == "w");
    return dump.list.failures()[0].message;
  }
};

}  // namespace

TEST_CASE("A tensor of torch.distributed.checkpoint is assembled from its shards") {
  TwoFiles files;
  files.scratch.write(".metadata", build_dcp_metadata({{.shape = {3, 3}, .chunks = files.chunks}}));
  const ListedDump dump = list_dump({files.scratch.path()});
  CHECK(dump.list.failures().empty());
  REQUIRE(dump.tensors().size() == 1);
  const TensorRecord& record = dump.tensors()[0];
  CHECK(record.name.op_name == "w");
  CHECK(record.name.io == Io::kParameter);
  auto tensor = HostTensor::open(dump.index, record, {});
  REQUIRE(tensor);
  CHECK(tensor->shape() == Shape{3, 3});
  std::vector<float> values(9);
  REQUIRE(tensor->read(0, 9, reinterpret_cast<std::byte*>(values.data())));
  CHECK(values == std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7, 8});
}

TEST_CASE("Columns of torch.distributed.checkpoint") {
  TwoFiles files;
  const std::string narrow = archive({3, 1}, {10, 11, 12}), wide = archive({3, 2}, {0, 1, 2, 3, 4, 5});
  files.scratch.write("a.distcp", narrow + wide);
  const auto length = static_cast<int64_t>(narrow.size());
  files.scratch.write(
      ".metadata",
      build_dcp_metadata({{.shape = {3, 3},
                           .chunks = {{{0, 2}, {3, 1}, "a.distcp", 0, length},
                                      {{0, 0}, {3, 2}, "a.distcp", length, static_cast<int64_t>(wide.size())}}}}));
  const ListedDump dump = list_dump({files.scratch.path()});
  REQUIRE(dump.tensors().size() == 1);
  auto tensor = HostTensor::open(dump.index, dump.tensors()[0], {});
  REQUIRE(tensor);
  std::vector<float> values(9);
  REQUIRE(tensor->read(0, 9, reinterpret_cast<std::byte*>(values.data())));
  CHECK(values == std::vector<float>{0, 1, 10, 2, 3, 11, 4, 5, 12});
}

TEST_CASE("What a tensor of torch.distributed.checkpoint lacks is told") {
  TwoFiles files;
  const DcpTensorSpec good{.shape = {3, 3}, .chunks = files.chunks};
  DcpTensorSpec bad = good;
  bad.chunks[1].file = "__7_0.distcp";
  CHECK(files.problem(bad) == "__7_0.distcp is missing, with the shard at [2,0]");
  bad.chunks[1].file = "../__1_0.distcp";
  CHECK(files.problem(bad) == "'../__1_0.distcp' is not the name of a file beside the metadata");
  bad.chunks[1].file.clear();
  CHECK(files.problem(bad) == "the shard at [2,0] was not stored");
  bad.chunks.erase(bad.chunks.begin() + 1);
  CHECK(files.problem(bad) == "its shards have 6 of 9 elements");
  bad = good;
  bad.chunks[1].length += 1;
  CHECK(files.problem(bad) == "__1_0.distcp is cut off before the end of the shard at [2,0]");
  bad.chunks[1] = {{1, 0}, {1, 3}, "__1_0.distcp", 10, 1};
  CHECK(files.problem(bad) == "two shards have the same elements");
  bad.chunks[1].begin = {3, 0};
  CHECK(files.problem(bad) == "damaged metadata: a chunk outside of its tensor");
  bad = good;
  bad.dtype = "float4_e2m1fn_x2_new";
  CHECK(files.problem(bad) == "unsupported: float4_e2m1fn_x2_new");
}

TEST_CASE("Damaged metadata of torch.distributed.checkpoint") {
  TwoFiles files;
  const DcpTensorSpec good{.shape = {3, 3}, .chunks = files.chunks};
  DcpTensorSpec bad = good;
  bad.has_properties = false;
  CHECK(files.problem(bad) == "damaged metadata: a tensor without properties");
  for (const Shape& begin : {Shape{0, 1}, Shape{2, 0}, Shape{4, 0}, Shape{0, 4}}) {
    bad = good;
    bad.chunks[0].begin = begin;
    CHECK(files.problem(bad) == "damaged metadata: a chunk outside of its tensor");
  }
}

// The metadata with another word of the same length: as if a key were missing.
std::string with_word(std::string metadata, std::string_view word, std::string_view other) {
  for (size_t at = metadata.find(word); at != std::string::npos; at = metadata.find(word, at + word.size()))
    metadata.replace(at, word.size(), other);
  return metadata;
}

TEST_CASE("Metadata of torch.distributed.checkpoint in which a part is missing") {
  TwoFiles files;
  const std::string good = build_dcp_metadata({{.shape = {3, 3}, .chunks = files.chunks}});
  const auto problem = [&](std::string_view word, std::string_view other) {
    files.scratch.write(".metadata", with_word(good, word, other));
    const ListedDump dump = list_dump({files.scratch.path()});
    return dump.list.failures().size() == 1 ? dump.list.failures()[0].message : std::string("no failure");
  };
  CHECK(problem("none", "of it") == "no failure");
  CHECK(problem("size", "sise") == "damaged metadata: a tensor without a size");
  CHECK(problem("float32", "float99") == "unsupported: float99");
  CHECK(problem("ctorch\nfloat32", "cnumpy\nfloat32") == "damaged metadata: a tensor without a dtype");
  CHECK(problem("chunks", "pieces") == "damaged metadata: a tensor without chunks");
  CHECK(problem("offsets", "offsetz") == "damaged metadata: a chunk without offsets and sizes");
  CHECK(problem("sizes", "sizez") == "damaged metadata: a chunk without offsets and sizes");
  for (const auto& [word, other] :
       {std::pair("fqn", "fqm"), {"relative_path", "relative_part"}, {"length", "lenght"}}) {
    INFO(word);
    CHECK(problem(word, other) == "the shard at [0,0] was not stored");
  }
  std::vector<Chunk> below = files.chunks;
  below[1].offset = -1;
  CHECK(files.problem({.shape = {3, 3}, .chunks = below}) == "the shard at [2,0] was not stored");
  // Chunks of one dimension less.
  below = files.chunks;
  below[1].begin = {2};
  below[1].shape = {1};
  CHECK(files.problem({.shape = {3, 3}, .chunks = below}) == "damaged metadata: a chunk without offsets and sizes");
}

TEST_CASE("A tensor of torch.distributed.checkpoint has a name of at most 1,024 bytes") {
  TwoFiles files;
  for (const size_t length : {size_t{1024}, size_t{1025}}) {
    files.scratch.write(
        ".metadata", build_dcp_metadata({{.name = std::string(length, 'w'), .shape = {3, 3}, .chunks = files.chunks}}));
    const ListedDump dump = list_dump({files.scratch.path()});
    CHECK(dump.tensors().size() == (length == 1024 ? 1 : 0));
    REQUIRE(dump.list.failures().size() == (length == 1024 ? 0 : 1));
    if (length > 1024) CHECK(dump.list.failures()[0].message == "damaged metadata: a tensor without a name");
  }
}

TEST_CASE("A tensor with one chunk may be stored without an offset, but not one of several") {
  TwoFiles files;
  const std::string whole = archive({3, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8});
  files.scratch.write("whole.distcp", whole);
  const DcpTensorSpec one{.shape = {3, 3},
                          .chunks = {{{0, 0}, {3, 3}, "whole.distcp", 0, static_cast<int64_t>(whole.size())}},
                          .has_offsets = false};
  files.scratch.write(".metadata", build_dcp_metadata({one}));
  CHECK(list_dump({files.scratch.path()}).list.failures().empty());
  CHECK(files.problem({.shape = {3, 3}, .chunks = files.chunks, .has_offsets = false}) ==
        "the shard at [0,0] was not stored");
}

TEST_CASE("A shard that is not what the metadata say is an error") {
  TwoFiles files;
  DcpTensorSpec bad{.shape = {3, 3}, .chunks = files.chunks};
  bad.chunks[1] = {{2, 0}, {1, 3}, "__0_0.distcp", files.chunks[0].offset, files.chunks[0].length};
  files.scratch.write(".metadata", build_dcp_metadata({bad}));
  const ListedDump dump = list_dump({files.scratch.path()});
  REQUIRE(dump.tensors().size() == 1);
  const auto tensor = HostTensor::open(dump.index, dump.tensors()[0], {});
  REQUIRE_FALSE(tensor);
  CHECK(tensor.error().message == "2x3 of float32 where the checkpoint says 1x3 of float32");
}

TEST_CASE("A .metadata of another program is no dump") {
  const ScratchDir scratch;
  scratch.write(".metadata", "version: 1");
  const ListedDump dump = list_dump({scratch.path()});
  CHECK(dump.tensors().empty());
  CHECK(dump.list.failures().empty());
  CHECK(dump.list.foreign() == 1);
}

TEST_CASE("Placeholders of DeepSpeed's ZeRO-3 are no values") {
  const auto none = tensor_call({.elements = 0, .shape = {0}});
  const auto value = tensor_call({.elements = 2, .shape = {2}});
  const auto state = pickle::dict(
      {{pickle::text("module"), pickle::ordered_dict({{pickle::text("w"), none}, {pickle::text("buffer"), value}})},
       {pickle::text("empty"), none}});
  const std::string bytes = build_pt({.pickle = pickle::whole(state), .storages = {{"0", floats({1, 2})}}});
  const ScratchDir scratch;
  scratch.write("zero_pp_rank_1_mp_rank_00_model_states.pt", bytes);
  const ListedDump dump = list_dump({scratch.path()});
  std::vector<std::string> broken;
  for (const TensorRecord& tensor : dump.tensors()) {
    CHECK(place_of(dump.index, tensor).rank == 1);
    if (tensor.broken) broken.emplace_back(tensor.name.op_name);
  }
  CHECK(dump.tensors().size() == 3);
  CHECK(broken == std::vector<std::string>{"module.w"});
  REQUIRE(dump.list.failures().size() == 1);
  CHECK(dump.list.failures()[0].message == "a placeholder of DeepSpeed's ZeRO-3 without values");

  const ScratchDir other;
  other.write("mp_rank_00_model_states.pt", bytes);
  CHECK(list_dump({other.path()}).list.failures().empty());
}

}  // namespace msdump
