// Checkpoints of DeepSpeed's ZeRO: whole parameters of the partitions of all ranks.
#include "dump/layouts/zero_checkpoint.h"

#include <algorithm>

#include "dump/elements/host_tensor.h"
#include "support/catch.h"
#include "support/pt_builder.h"
#include "support/scratch_dir.h"
#include "support/statistics_run.h"

namespace msdump {
namespace {

using namespace test;
using Floats = std::vector<float>;
using Items = std::vector<std::pair<pickle::Text, pickle::Text>>;
using Named = std::vector<std::pair<std::string, Shape>>;

// A file of torch.save whose tensors are added one by one.
class SavedFile {
 public:
  explicit SavedFile(const std::string& byteorder = "little") { spec_.byteorder = byteorder; }
  pickle::Text add(const Floats& values) {
    const std::string key = std::to_string(spec_.storages.size());
    const auto count = static_cast<int64_t>(values.size());
    spec_.storages.emplace_back(
        key, std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)));
    return tensor_call({.key = key, .elements = count, .shape = {count}});
  }
  std::string build(const pickle::Text& root) {
    spec_.pickle = pickle::whole(root);
    return build_pt(spec_);
  }

 private:
  PtSpec spec_{.storages = {}};
};

pickle::Text shapes_of(const Named& group) {
  Items items;
  for (const auto& [name, shape] : group) {
    items.emplace_back(pickle::text(name), pickle::call(pickle::global("torch", "Size"), {pickle::integers(shape)}));
  }
  return pickle::ordered_dict(items);
}

// The partitions of a rank, by group.
std::string optim_states(const std::vector<Floats>& groups, const std::string& key, int64_t ranks,
                         const std::string& byteorder = "little") {
  SavedFile file(byteorder);
  std::vector<pickle::Text> tensors;
  for (const Floats& group : groups) tensors.push_back(file.add(group));
  const auto state = pickle::dict(
      {{pickle::text(key), pickle::list(tensors)}, {pickle::text("partition_count"), pickle::integer(ranks)}});
  return file.build(pickle::dict({{pickle::text("optimizer_state_dict"), state}}));
}

struct ModelSpec {
  std::vector<Named> groups;
  Floats module = {};  // of each parameter; none: placeholders
  Named frozen = {};
  Floats fragment = {};  // of the first frozen parameter
  Items shared = {};
};

std::string model_states(const ModelSpec& spec) {
  SavedFile file;
  Items module;
  std::vector<pickle::Text> groups;
  for (const Named& group : spec.groups) {
    for (const auto& [name, shape] : group) module.emplace_back(pickle::text(name), file.add(spec.module));
    groups.push_back(shapes_of(group));
  }
  Items root{{pickle::text("module"), pickle::ordered_dict(module)},
             {pickle::text("param_shapes"), pickle::list(groups)}};
  if (!spec.frozen.empty()) {
    root.emplace_back(pickle::text("frozen_param_shapes"), shapes_of(spec.frozen));
    root.emplace_back(pickle::text("frozen_param_fragments"),
                      pickle::dict({{pickle::text(spec.frozen[0].first), file.add(spec.fragment)}}));
  }
  root.emplace_back(pickle::text("shared_params"), pickle::dict(spec.shared));
  return file.build(pickle::dict(root));
}

// "name 4x3 = 0 1 2"; "name: message" for those that cannot be read. Those of the partitions themselves are left out.
std::vector<std::string> listed(const ScratchDir& scratch) {
  std::vector<std::string> texts;
  const ListedDump dump = list_dump({scratch.path()});
  for (const TensorRecord& record : dump.tensors()) {
    std::string text(record.name.op_name);
    if (text.starts_with("optimizer_state_dict.") || text.starts_with("frozen_param_fragments.")) continue;
    auto tensor = HostTensor::open(dump.index, record, {});
    if (tensor) {
      Floats values(static_cast<size_t>(tensor->count()));
      const Status read = tensor->read(0, tensor->count(), reinterpret_cast<std::byte*>(values.data()));
      text += " " + describe(tensor->shape()) + " =" + (read ? "" : " " + read.error().message);
      for (const float value : values) text += fmt::format(" {}", value);
    } else {
      text += ": " + tensor.error().message;
    }
    texts.push_back(std::move(text));
  }
  std::sort(texts.begin(), texts.end());
  return texts;
}

constexpr std::string_view kModel0 = "zero_pp_rank_0_mp_rank_00_model_states.pt",
                           kModel1 = "zero_pp_rank_1_mp_rank_00_model_states.pt",
                           kOptim0 = "zero_pp_rank_0_mp_rank_00_optim_states.pt",
                           kOptim1 = "bf16_zero_pp_rank_1_mp_rank_00_optim_states.pt";
const std::string kFlat = "fp32_flat_groups", kSingle = "single_partition_of_fp32_groups";

// w of 5 elements (3 a rank), b of 2 (1 a rank) in another group of the model, and of one in the partitions.
const ModelSpec kTwo{.groups = {{{"w", {5, 1}}}, {{"b", {2}}}}};

struct Stage3 {
  ScratchDir scratch;
  Stage3() {
    scratch.write(std::string(kModel0), model_states(kTwo));
    scratch.write(std::string(kModel1), model_states(kTwo));
    scratch.write(std::string(kOptim0), optim_states({{0, 1}, {2, 10}}, kFlat, 2));
    scratch.write(std::string(kOptim1), optim_states({{3, 4}, {-1, 11}}, kFlat, 2));
  }
  std::string problem() const {
    const auto texts = listed(scratch);
    REQUIRE(texts.size() == 2);
    CHECK(texts[0].starts_with("b: "));
    CHECK(texts[1].substr(1) == texts[0].substr(1));
    return texts[0].substr(3);
  }
};

std::string write_and_tell(const Stage3& stage, std::string_view file, const std::string& bytes) {
  stage.scratch.write(std::string(file), bytes);
  return stage.problem();
}

}  // namespace

TEST_CASE("Parameters of stage 3 are divided over the ranks, with padding, and may lie in two groups of partitions") {
  const Stage3 stage;
  CHECK(listed(stage.scratch) == std::vector<std::string>{"b 2 = 10 11", "w 5x1 = 0 1 2 3 4"});
  const ListedDump dump = list_dump({stage.scratch.path()});
  for (const TensorRecord& record : dump.tensors()) {
    if (record.name.op_name == "w" || record.name.op_name == "b") CHECK(place_of(dump.index, record).rank == 0);
  }
}

TEST_CASE("Frozen and shared parameters of stage 3") {
  const Stage3 stage;
  for (const bool second : {false, true}) {
    ModelSpec spec = kTwo;
    spec.frozen = {{"f", {3}}};
    spec.fragment = second ? Floats{22, -1} : Floats{20, 21};
    spec.shared = {{pickle::text("tied"), pickle::text("b")}, {pickle::text("lost"), pickle::text("c")}};
    stage.scratch.write(std::string(second ? kModel1 : kModel0), model_states(spec));
  }
  CHECK(listed(stage.scratch) ==
        std::vector<std::string>{"b 2 = 10 11", "f 3 = 20 21 22", "tied 2 = 10 11", "w 5x1 = 0 1 2 3 4"});
  stage.scratch.write(std::string(kModel1), model_states(kTwo));
  CHECK(listed(stage.scratch)[0] == "b: " + std::string(kModel1) + ": no fragment of f");
}

TEST_CASE("Groups of stage 1 and 2 are divided over the ranks, and the model has its own values") {
  const ScratchDir scratch;
  ModelSpec spec{.groups = {{{"w", {2, 2}}, {"s", {}}}, {{"b", {2}}}}, .module = {7}};
  scratch.write("mp_rank_00_model_states.pt", model_states(spec));
  scratch.write(std::string(kOptim0), optim_states({{0, 1, 2}, {10, 11}}, kSingle, 2));
  scratch.write(std::string(kOptim1), optim_states({{3, 4, -1}, {}}, kSingle, 2));
  const std::vector<std::string> own{"module.b 1 = 7", "module.s 1 = 7", "module.w 1 = 7"};
  std::vector<std::string> all{"b 2 = 10 11"};
  all.insert(all.end(), own.begin(), own.end());
  all.insert(all.end(), {"s scalar = 4", "w 2x2 = 0 1 2 3"});
  CHECK(listed(scratch) == all);
  CHECK(list_dump({scratch.path()}).list.failures().empty());
}

TEST_CASE("What partitions of stage 1 and 2 lack is told once, and the model is there") {
  const ScratchDir scratch;
  const ModelSpec spec{.groups = {{{"w", {2, 2}}, {"s", {}}}, {{"b", {2}}}}, .module = {7}};
  scratch.write("mp_rank_00_model_states.pt", model_states(spec));
  scratch.write(std::string(kOptim0), optim_states({{0, 1, 2}, {10, 11}}, kSingle, 2));
  // "file: message", with a second rank that has these partitions.
  const auto problem = [&](const std::vector<Floats>& groups, int64_t ranks = 2) {
    scratch.write(std::string(kOptim1), optim_states(groups, kSingle, ranks));
    CHECK(listed(scratch) == std::vector<std::string>{"module.b 1 = 7", "module.s 1 = 7", "module.w 1 = 7"});
    const auto failures = list_dump({scratch.path()}).list.failures();
    REQUIRE(failures.size() == 1);
    const std::string_view begin = "no float32 parameters of DeepSpeed's ZeRO: ", message = failures[0].message;
    CHECK(message.starts_with(begin));
    return failures[0].path.substr(failures[0].path.rfind('/') + 1) + ": " + failures[0].message.substr(begin.size());
  };
  const std::string model = "mp_rank_00_model_states.pt: ", optim1 = std::string(kOptim1) + ": ";
  CHECK(problem({{3}, {}}) == model + "the partitions end before s, after 4 elements");
  CHECK(problem({{3, 4, 0, 0, 0, 0}, {}}) == model + "the parameters have 5 of 9 elements of a group");
  CHECK(problem({{3, 4}}) == optim1 + "the ranks have partitions of different groups");
  CHECK(problem({{3, 4}, {}}, 3) == optim1 + "expected the optim_states of 3 ranks, found those of 2");
  scratch.write(std::string(kOptim0), optim_states({{0, 1, 2}}, kSingle, 2));
  CHECK(problem({{3, 4}}) == model + "2 groups and partitions of 1");
  scratch.write(std::string(kOptim0), optim_states({{0, 1, 2}, {10, 11}}, kSingle, 2, "big"));
  CHECK(problem({{3, 4}, {}}) == std::string(kOptim0) + ": partitions of float32, or of several dtypes");
  std::filesystem::remove(scratch.path() / kOptim0);
  CHECK(problem({{3, 4}, {}}) == model + "the partition of rank 0 is missing");
  // Without optimizer there is nothing to put together.
  std::filesystem::remove(scratch.path() / kOptim1);
  CHECK(list_dump({scratch.path()}).list.failures().empty());
}

TEST_CASE("A shared parameter that lacks its values says so under its own name") {
  const Stage3 stage;
  ModelSpec spec = kTwo;
  spec.shared = {{pickle::text("tied"), pickle::text("b")}};
  stage.scratch.write(std::string(kModel0), model_states(spec));
  std::filesystem::remove(stage.scratch.path() / kOptim1);
  std::vector<std::string> names;
  for (const Error& failure : list_dump({stage.scratch.path()}).list.failures()) names.push_back(failure.tensor);
  std::sort(names.begin(), names.end());
  CHECK(names == std::vector<std::string>{"b", "tied", "w"});
}

TEST_CASE("What partitions of stage 3 lack is told once for each parameter") {
  const Stage3 stage;
  const std::string optim1 = std::string(kOptim1) + ": ";
  const auto second = [&](const std::vector<Floats>& groups, int64_t ranks = 2) {
    return write_and_tell(stage, kOptim1, optim_states(groups, kFlat, ranks));
  };
  CHECK(second({{3, 4}, {-1}}) == "partitions of 4 and 3 elements");
  CHECK(second({{3, 4, -1, 11}}) == optim1 + "the ranks have partitions of different groups");
  CHECK(second({{3, 4}, {-1, 11}}, 3) == optim1 + "expected the optim_states of 3 ranks, found those of 2");
  CHECK(write_and_tell(stage, kOptim1, optim_states({{3, 4}, {-1, 11}}, kSingle, 2)) ==
        optim1 + "the ranks have partitions of different stages");
  CHECK(write_and_tell(stage, kOptim1, optim_states({}, kFlat, 2)) == optim1 + "no partitions of parameters");
  stage.scratch.write("zero_pp_rank_1_mp_rank_00_optim_states.pt", optim_states({}, kFlat, 2));
  CHECK(stage.problem().ends_with("are of one rank"));
  std::filesystem::remove(stage.scratch.path() / "zero_pp_rank_1_mp_rank_00_optim_states.pt");
  stage.scratch.write(std::string(kOptim1), optim_states({{3, 4}, {-1, 11}}, kFlat, 2));
  CHECK(listed(stage.scratch)[0] == "b 2 = 10 11");

  ModelSpec spec = kTwo;
  spec.groups[1][0].second = {4};
  CHECK(write_and_tell(stage, kModel0, model_states(spec)) == "the partitions end before b, after 4 elements");
  spec.groups[1][0].second = {int64_t{1} << 62, 4};
  CHECK(write_and_tell(stage, kModel0, model_states(spec)) == "the partitions end before b, after 4 elements");
  spec.groups[0][0].second = {3};
  spec.groups[1][0].second = {2};
  CHECK(write_and_tell(stage, kModel0, model_states(spec)) == "the parameters have 3 of 4 elements of a rank");
  stage.scratch.write(std::string(kModel0), model_states(kTwo));
  std::filesystem::remove(stage.scratch.path() / kOptim0);
  CHECK(stage.problem() == "the partition of rank 0 is missing");
  std::filesystem::remove(stage.scratch.path() / kOptim1);
  // Without partitions both files have placeholders, and those of rank 0 tell it.
  CHECK(listed(stage.scratch) ==
        std::vector<std::string>{"module.b: a placeholder of DeepSpeed's ZeRO-3 without values",
                                 "module.w: a placeholder of DeepSpeed's ZeRO-3 without values"});
}

}  // namespace msdump
