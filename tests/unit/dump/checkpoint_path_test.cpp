#include "dump/names/checkpoint_path.h"

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "support/catch.h"

namespace msdump {
namespace {

// "rank step rest", "-" for what is not there.
std::string place_in(std::string_view path) {
  const CheckpointPath found = parse_checkpoint_path(path);
  const auto number = [](const std::optional<int64_t>& value) { return value ? std::to_string(*value) : "-"; };
  return fmt::format("{} {} {}", number(found.rank), number(found.step), found.rest);
}

TEST_CASE("ranks of checkpoints are in folders and in names of files") {
  CHECK(place_in("rank_3/net_rank_3-10_2.ckpt") == "3 - net-10_2.ckpt");
  CHECK(place_in("net_rank_12-10_2.ckpt") == "12 - net-10_2.ckpt");
  CHECK(place_in("model_world_size_8_rank_3.pt") == "3 - model_world_size_8.pt");
  CHECK(place_in("mp_rank_01_002/model_optim_rng.pt") == "1 - 002/model_optim_rng.pt");
  CHECK(place_in("mp_rank_00_model_states.pt") == "0 - model_states.pt");
  CHECK(place_in("bf16_zero_pp_rank_3_mp_rank_00_optim_states.pt") == "3 - bf16_zero_mp_rank_00_optim_states.pt");
  CHECK(place_in("tp_rank_1/a.pt") == "1 - a.pt");
  CHECK(place_in("rank0.pt") == "0 - pt");
  CHECK(place_in("consolidated.01.pth") == "1 - pth");
  CHECK(place_in("layer_03-model_01-model_states.pt") == "1 - layer_03-model_states.pt");
}

TEST_CASE("versions of checkpoints are in folders and in names of files") {
  CHECK(place_in("iter_0000100/mp_rank_01/model.pt") == "1 100 model.pt");
  CHECK(place_in("global_step_10/actor/model_rank_1.pt") == "1 10 actor/model.pt");
  CHECK(place_in("global_step40/a.pt") == "- 40 a.pt");
  CHECK(place_in("checkpoint-500/model.safetensors") == "- 500 model.safetensors");
  CHECK(names_epoch("net_rank_1-10_2.ckpt"));
  CHECK_FALSE(names_epoch("net-10_2/a.ckpt"));
  CHECK_FALSE(names_epoch("layer_2.ckpt"));
  CHECK(place_in("runs/step_2/iter_7/a.pt") == "- 7 runs/step_2/a.pt");
}

TEST_CASE("other numbers of a path are no rank and no version") {
  for (const std::string path :
       {"layer_3.pt", "model-00001-of-00002.safetensors", "net-10_2.ckpt", "franks_3.pt", "rank.pt", "model_3.pt",
        "steps_3.pt", "prank_3.pt", "rank_99999999999999999999.pt", "", "rank_a3/x.pt"}) {
    CHECK(place_in(path) == "- - " + path);
  }
  // The innermost counts, and another rank above it stays a folder.
  CHECK(place_in("rank_1/net_rank_2.pt") == "2 - rank_1/net.pt");
}

TEST_CASE("an array that convert wrote of a checkpoint names its file") {
  CHECK(checkpoint_of_array("net_rank_1-3_10.ckpt.fc.weight.2x3.npy") == "net_rank_1-3_10.ckpt");
  CHECK(checkpoint_of_array("a.safetensors.layers.0.weight.npy") == "a.safetensors");
  CHECK(checkpoint_of_array("Add.a.1.2.1700000000000000.input.0.npy").empty());
}

}  // namespace
}  // namespace msdump
