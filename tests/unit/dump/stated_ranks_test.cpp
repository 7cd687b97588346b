// The ranks of .pt files whose names say none.
#include <optional>
#include <string>
#include <vector>

#include "dump/index/tensor_list.h"
#include "support/catch.h"
#include "support/pt_builder.h"
#include "support/scratch_dir.h"
#include "support/statistics_run.h"

namespace msdump {
namespace {

using namespace test;

// A state dict with one DTensor, saved by a rank of a mesh of four.
std::string saved_by(std::optional<int64_t> rank) {
  DTensorSpec spec{.mesh_shape = {4}, .ranks = {0, 1, 2, 3}, .placements = {placement("Replicate")}};
  if (rank) spec.writer = {{pickle::text("_coordinate_on_dim"), pickle::integers({*rank})}};
  return build_pt({.pickle = pickle::whole(pickle::dict({{pickle::text("w"), dtensor_call(spec)}}))});
}

// "file rank", in the order of the list.
std::vector<std::string> ranks(const ScratchDir& scratch) {
  const auto dump = list_dump({scratch.path()});
  std::vector<std::string> texts;
  for (const TensorRecord& record : dump.tensors()) {
    const auto rank = place_of(dump.index, record).rank;
    texts.push_back(std::string(dump.index.files()[record.file].name) + " " + (rank ? std::to_string(*rank) : "-"));
  }
  return texts;
}

}  // namespace

TEST_CASE("Files whose names say no rank have that of their DTensors") {
  const ScratchDir scratch;
  scratch.write("a.pt", saved_by(3));
  scratch.write("b.pt", saved_by(std::nullopt));
  scratch.write("ckpt_0.pt", saved_by(1));
  scratch.write("cut.pt", saved_by(1).substr(0, 100));
  // Another folder, with one file.
  scratch.write("one/c.pt", saved_by(2));
  CHECK(ranks(scratch) == std::vector<std::string>{"ckpt_0.pt 1", "a.pt 3", "b.pt -", "c.pt -"});
}

TEST_CASE("A rank in the name or folder counts, and not what the DTensors say") {
  const ScratchDir scratch;
  scratch.write("model_rank_1.pt", saved_by(3));
  scratch.write("model_rank_2.pt", saved_by(3));
  scratch.write("rank_7/a.pt", saved_by(3));
  scratch.write("rank_7/b.pt", saved_by(3));
  CHECK(ranks(scratch) == std::vector<std::string>{"model_rank_1.pt 1", "model_rank_2.pt 2", "a.pt 7", "b.pt 7"});
}

TEST_CASE("If the first eight files of a folder state no rank, no other is opened for one") {
  const ScratchDir scratch;
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h"})
    scratch.write(std::string(name) + ".pt", saved_by(std::nullopt));
  scratch.write("i.pt", saved_by(1));
  CHECK(ranks(scratch).back() == "i.pt -");
  scratch.write("h.pt", saved_by(0));
  const auto found = ranks(scratch);
  CHECK(found[0] == "h.pt 0");
  CHECK(found[1] == "i.pt 1");
  CHECK(found[2] == "a.pt -");
}

}  // namespace msdump
