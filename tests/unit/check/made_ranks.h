// Dumps of several ranks for the tests, as msprobe writes them: each rank's calls in each step, with what went in and came
// out. A test makes an honest run, then changes what should be found.
//
//   MadeRun run(4);
//   for (size_t rank = 0; rank < 4; ++rank)
//     run.at(rank).call("Distributed.all_reduce.0.forward", {parts[rank]}, {sum});
//   run.at(2)["Distributed.all_reduce.0.forward.output.0"][0] += 1;
//   CHECK(run.check().only("collective_mismatch").ranks == ...);
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "check/rules/rules.h"
#include "support/check_run.h"
#include "support/scratch_dir.h"

namespace msdump::check {

using Values = std::vector<float>;
using ValueLists = std::vector<Values>;

// An argument or a result: nothing (a buffer that only receives), a tensor, a list of tensors, or JSON.
struct Arg {
  Arg() = default;
  Arg(Values tensor) : of(std::move(tensor)) {}        // NOLINT: as a test writes it
  Arg(ValueLists tensors) : of(std::move(tensors)) {}  // NOLINT
  static Arg json(std::string text) {
    Arg arg;
    arg.of = std::move(text);
    return arg;
  }
  std::variant<std::monostate, Values, ValueLists, std::string> of;
};

[[nodiscard]] std::string group_json(const std::vector<int64_t>& ranks);  // of a process group
[[nodiscard]] std::string reduction_json(const std::string& name);        // "MAX"
[[nodiscard]] std::string number_json(int64_t number);
[[nodiscard]] Values seeded(uint64_t seed, size_t count = 8, float scale = 1);  // no two alike

class MadeRank {
 public:
  // `keywords`: the inside of a JSON object.
  void call(const std::string& name, const std::vector<Arg>& inputs, const std::vector<Arg>& outputs,
            const std::string& keywords = {});
  // With its parameters, as a module of level mix.
  void module(const std::string& name, const Values& input, const Values& output,
              const std::vector<std::pair<std::string, Values>>& parameters);
  // The elements of "Distributed.all_reduce.0.forward.output.0".
  [[nodiscard]] Values& operator[](const std::string& tensor);
  [[nodiscard]] bool empty() const { return entries_.empty(); }

 private:
  friend class MadeRun;
  struct Entry {
    std::string name, keywords;
    std::vector<Arg> inputs, outputs;
    std::vector<std::pair<std::string, Values>> parameters;
  };
  std::vector<Entry> entries_;
};

class MadeRun {
 public:
  explicit MadeRun(size_t ranks, size_t steps = 1) : ranks_(ranks), made_(ranks * steps) {}

  [[nodiscard]] MadeRank& at(size_t rank, size_t step = 0) { return made_[step * ranks_ + rank]; }
  [[nodiscard]] size_t ranks() const { return ranks_; }
  // Only numbers in dump.json, no elements; `checksums`: and one of the elements.
  void write_statistics(bool checksums = false) {
    only_statistics_ = true;
    checksums_ = checksums;
  }
  // Ranks without calls are not written.
  [[nodiscard]] test::Checked check(const RuleSet& rules = RuleSet::defaults(), bool only_first = false) const;

 private:
  void write() const;

  size_t ranks_;
  std::vector<MadeRank> made_;
  bool only_statistics_ = false, checksums_ = false;
  std::shared_ptr<test::ScratchDir> scratch_ = std::make_shared<test::ScratchDir>();
};

}  // namespace msdump::check
