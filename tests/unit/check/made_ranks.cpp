#include "made_ranks.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "small_dump.h"
#include "support/must.h"
#include "support/statistics_run.h"

namespace msdump::check {
namespace {

namespace fs = std::filesystem;

class RankWriter {
 public:
  RankWriter(fs::path folder, bool only_statistics, bool checksums)
      : folder_(std::move(folder)), only_statistics_(only_statistics), checksums_(checksums) {}

  std::string leaf(const std::string& name, const Values& values) const {
    return fmt::format(R"({{"type":"torch.Tensor","dtype":"torch.float32","shape":[{}],{}}})", values.size(),
                       only_statistics_ ? numbers(values) : file(name, values));
  }

  std::string file(const std::string& name, const Values& values) const {
    test::write_bytes(folder_ / "dump_tensor_data" / (name + ".npy"), floats(values));
    return fmt::format(R"("data_name":"{}.npy")", name);
  }

  std::string numbers(const Values& values) const {
    double sum = 0, squares = 0;
    for (const float value : values) {
      sum += value;
      squares += static_cast<double>(value) * value;
    }
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    uint32_t checksum = 1;
    for (const float value : values) checksum = checksum * 31 + std::bit_cast<uint32_t>(value);
    return fmt::format(R"("Max":{},"Min":{},"Mean":{},"Norm":{}{})", *most, *least,
                       sum / static_cast<double>(values.size()), std::sqrt(squares),
                       checksums_ ? fmt::format(R"(,"md5":"{:08x}")", checksum) : "");
  }

  std::string value(const std::string& name, const Arg& arg) const {
    if (const auto* const tensor = std::get_if<Values>(&arg.of)) return leaf(name, *tensor);
    if (const auto* const text = std::get_if<std::string>(&arg.of)) return *text;
    const auto* const list = std::get_if<ValueLists>(&arg.of);
    if (list == nullptr) return "null";
    std::string text;
    for (size_t i = 0; i < list->size(); ++i)
      text += (i == 0 ? "" : ",") + leaf(fmt::format("{}.{}", name, i), (*list)[i]);
    return "[" + text + "]";
  }

  std::string values(const std::string& name, const std::vector<Arg>& args) const {
    std::string text;
    for (size_t i = 0; i < args.size(); ++i)
      text += (i == 0 ? "" : ",") + value(fmt::format("{}.{}", name, i), args[i]);
    return "[" + text + "]";
  }

 private:
  const fs::path folder_;
  const bool only_statistics_, checksums_;
};

}  // namespace

std::string group_json(const std::vector<int64_t>& ranks) {
  return fmt::format(R"({{"type":"torch.ProcessGroup","group_ranks":[{}],"group_id":"a"}})", fmt::join(ranks, ","));
}

std::string reduction_json(const std::string& name) {
  return fmt::format(R"({{"type":"torch.distributed.ReduceOp","value":"RedOpType.{}"}})", name);
}

std::string number_json(int64_t number) { return fmt::format(R"({{"type":"int","value":{}}})", number); }

Values seeded(uint64_t seed, size_t count, float scale) {
  Values values;
  uint64_t state = seed * 0x9E3779B97F4A7C15 + 1;
  for (size_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005 + 1442695040888963407;
    values.push_back(scale * (static_cast<float>(state >> 40) / static_cast<float>(1 << 23) - 1));
  }
  return values;
}

void MadeRank::call(const std::string& name, const std::vector<Arg>& inputs, const std::vector<Arg>& outputs,
                    const std::string& keywords) {
  entries_.push_back({name, keywords, inputs, outputs, {}});
}

void MadeRank::module(const std::string& name, const Values& input, const Values& output,
                      const std::vector<std::pair<std::string, Values>>& parameters) {
  entries_.push_back({name, {}, {input}, {output}, parameters});
}

Values& MadeRank::operator[](const std::string& tensor) {
  for (Entry& entry : entries_) {
    for (auto& [name, values] : entry.parameters) {
      if (entry.name + ".parameters." + name == tensor) return values;
    }
    for (auto [io, args] : {std::pair(".input.", &entry.inputs), std::pair(".output.", &entry.outputs)}) {
      for (size_t i = 0; i < args->size(); ++i) {
        const std::string name = fmt::format("{}{}{}", entry.name, io, i);
        auto* const one = std::get_if<Values>(&(*args)[i].of);
        if (one != nullptr && name == tensor) return *one;
        auto* const list = std::get_if<ValueLists>(&(*args)[i].of);
        for (size_t k = 0; list != nullptr && k < list->size(); ++k) {
          if (fmt::format("{}.{}", name, k) == tensor) return (*list)[k];
        }
      }
    }
  }
  FAIL("no tensor " << tensor);
  return std::get<Values>(entries_.front().inputs.front().of);
}

void MadeRun::write() const {
  for (size_t i = 0; i < made_.size(); ++i) {
    if (made_[i].empty()) continue;
    const fs::path folder = scratch_->path() / fmt::format("step{}/rank{}", i / ranks_, i % ranks_);
    fs::create_directories(folder / "dump_tensor_data");
    const RankWriter writer(folder, only_statistics_, checksums_);
    std::string data;
    for (const MadeRank::Entry& entry : made_[i].entries_) {
      const bool forward = entry.name.find(".backward") == std::string::npos;
      std::string parameters;
      for (const auto& [name, values] : entry.parameters) {
        parameters += fmt::format("{}\"{}\":{}", parameters.empty() ? "" : ",", name,
                                  writer.leaf(entry.name + ".parameters." + name, values));
      }
      data += fmt::format(R"({}"{}":{{"{}":{},"input_kwargs":{{{}}},"parameters":{{{}}},"output":{}}})",
                          data.empty() ? "" : ",\n", entry.name, forward ? "input_args" : "input",
                          writer.values(entry.name + ".input", entry.inputs), entry.keywords, parameters,
                          writer.values(entry.name + ".output", entry.outputs));
    }
    test::write_bytes(folder / "dump.json",
                      fmt::format(R"({{"task":"{}","level":"mix","framework":"pytorch","dump_data_dir":null,"data":{{)",
                                  only_statistics_ ? "statistics" : "tensor") +
                          data + "}}");
  }
}

test::Checked MadeRun::check(const RuleSet& rules, bool only_first) const {
  write();
  return test::Checked(scratch_->path(), rules, only_first);
}

}  // namespace msdump::check
