#include <string>
#include <vector>

#include <fmt/format.h>

#include "compare/match/pairing.h"
#include "divergence/runs/one_sided_runs.h"
#include "support/catch.h"
#include "support/scratch_dir.h"
#include "support/statistics_run.h"

namespace msdump {
namespace {

struct MadeTensor {
  std::string type, name, io = "output";
  int slot = 0;
  std::string dtype = "float32";
};

// A dump of statistics alone, its rows in the order of time.
class MadeDump {
 public:
  explicit MadeDump(const std::vector<MadeTensor>& tensors) {
    std::string text = "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value\n";
    int time = 17;
    for (const MadeTensor& one : tensors)
      text +=
          fmt::format("{},{},0,0,{},{},{},4,{},\"(1)\",0,\n", one.type, one.name, time++, one.io, one.slot, one.dtype);
    scratch_.write("statistic.csv", text);
    dump_.push_back(test::list_dump({scratch_.path()}));
  }
  [[nodiscard]] CompareSide side() const {
    CompareSide side;
    side.index = &dump_.front().index;
    side.tensors = &dump_.front().tensors();
    return side;
  }

 private:
  test::ScratchDir scratch_;
  std::vector<test::ListedDump> dump_;
};

// "a=b" by names, "a" or "=b" for one side alone, in the order of the pairing.
std::vector<std::string> pairs(const std::vector<MadeTensor>& a, const std::vector<MadeTensor>& b) {
  const MadeDump left(a), right(b);
  const Pairing pairing = pair_sides(left.side(), right.side());
  std::vector<std::string> result;
  for (const OpPair& pair : pairing.operators) {
    std::string text;
    if (pair.a != kNoId) text = pairing.a[pair.a].name;
    if (pair.b != kNoId) text.append("=").append(pairing.b[pair.b].name);
    result.push_back(text);
  }
  return result;
}

using Texts = std::vector<std::string>;

TEST_CASE("operators with the same names on both sides are paired in any order, however the names are spelled") {
  CHECK(pairs({{"Add", "net/Add-op1"}, {"Mul", "Mul-op2"}}, {{"Mul", "Mul-op2"}, {"Add", "net_Add-op1"}}) ==
        Texts{"Mul-op2=Mul-op2", "net/Add-op1=net_Add-op1"});
  // The same name of another type is another operator.
  CHECK(pairs({{"Add", "x"}, {"Mul", "x"}}, {{"Mul", "x"}, {"Add", "x"}}) == Texts{"x=x", "x=x"});
}

TEST_CASE("where names are not the same throughout, equal ones prove nothing: the sequence counts") {
  CHECK(pairs({{"Print", "Print-op0"}, {"Add", "Add-op1"}, {"Add", "Add-op2"}},
              {{"Add", "Add-op0"}, {"Add", "Add-op1"}}) == Texts{"Print-op0", "Add-op1=Add-op0", "Add-op2=Add-op1"});
}

TEST_CASE("numbered constants are paired with those of their dtype alone") {
  const auto constant = [](const char* name, const char* dtype) {
    return MadeTensor{"Parameter", name, "output", 0, dtype};
  };
  CHECK(pairs({constant("data-1", "bool"), constant("data-3", "int64"), constant("net.w", "float32")},
              {constant("data-2", "int64"), constant("data-1", "int32"), constant("net.w", "float16")}) ==
        Texts{"data-1", "data-3=data-2", "=data-1", "net.w=net.w"});
}

TEST_CASE("operators of the candidate alone come after the one that precedes them there") {
  CHECK(pairs({{"Add", "a/Add-op0"}, {"Print", "Print-op1"}, {"Print", "Print-op2"}, {"Mul", "b/Mul-op3"}},
              {{"Add", "a/Add-op0"}, {"Sub", "c/Sub-op1"}, {"Mul", "b/Mul-op2"}}) ==
        Texts{"a/Add-op0=a/Add-op0", "Print-op1", "Print-op2", "=c/Sub-op1", "b/Mul-op3=b/Mul-op2"});
}

TEST_CASE("tensors of two operators are paired by io and slot, slots as numbers") {
  const MadeDump a({{"Add", "x", "input", 10}, {"Add", "x", "input", 2}, {"Add", "x", "output", 0}});
  const MadeDump b({{"Add", "x", "output", 0}, {"Add", "x", "output", 1}, {"Add", "x", "input", 2}});
  const Pairing pairing = pair_sides(a.side(), b.side());
  Texts slots;
  for (const TensorPair& pair : pairing.tensors) {
    const auto text = [](const CompareSide& side, RecordId tensor) {
      if (tensor == kNoId) return std::string("-");
      const NameFacts& name = (*side.tensors)[tensor].name;
      return fmt::format("{}{}", name_of(name.io).front(), name.slot);
    };
    slots.push_back(text(a.side(), pair.a) + text(b.side(), pair.b));
  }
  CHECK(slots == Texts{"i2i2", "i10-", "o0o0", "-o1"});
}

TEST_CASE("a million operators need no names of their own: thousands of one name are paired by their sequence") {
  std::vector<MadeTensor> a, b;
  for (int i = 0; i < 3000; ++i) {
    const std::string type = i % 3 == 0 ? "Add" : i % 3 == 1 ? "Mul" : "Cast";
    b.push_back({type, fmt::format("layer/{}-op{}", type, i)});
    if (i != 1500) a.push_back({type, fmt::format("layer/{}-op{}", type, a.size())});
  }
  const Texts texts = pairs(a, b);
  CHECK(texts.size() == 3000);
  CHECK(std::count_if(texts.begin(), texts.end(), [](const std::string& text) { return text.front() == '='; }) == 1);
}

TEST_CASE(
    "between two runs the operator to name is a cast of the candidate, else its last, else the reference's last") {
  const std::vector<MadeTensor> reference = {
      {"Add", "a/Add-op0"}, {"Sub", "c/Sub-op1"}, {"Sub", "d/Sub-op1"}, {"Mul", "b/Mul-op2"}};
  std::vector<MadeTensor> candidate = {{"Add", "a/Add-op0"}, {"Mul", "b/Mul-op3"}};
  const auto between = [&](const std::string& first, const std::string& end) {
    const MadeDump a(candidate), b(reference);
    const Pairing pairing = pair_sides(a.side(), b.side());
    const std::vector<TensorDiff> diffs(pairing.tensors.size());
    const RunView view(a.side(), b.side(), pairing, diffs, ModuleTree());
    const OneSidedRuns runs(view);
    const auto run_of = [&](const std::string& name) {
      return view.runs_named(name, view.place(ExecutionId(0))).front();
    };
    const ExecutionId found = runs.between(run_of(first), run_of(end));
    return found == kNoId ? std::string("none") : std::string(view.name(found));
  };
  CHECK(between("a/Add-op0", "b/Mul-op2") == "d/Sub-op1");
  CHECK(between("a/Add-op0", "d/Sub-op1") == "c/Sub-op1");
  CHECK(between("a/Add-op0", "a/Add-op0") == "none");
  candidate.insert(candidate.begin() + 1, {{"Print", "Print-op1", "output"}, {"Print", "Print-op2", "output"}});
  CHECK(between("a/Add-op0", "b/Mul-op2") == "Print-op2");
  candidate.insert(candidate.begin() + 1,
                   {{"Cast", "Cast-op1", "input"}, {"Cast", "Cast-op1", "output", 0, "float16"}});
  CHECK(between("a/Add-op0", "b/Mul-op2") == "Cast-op1");
}

}  // namespace
}  // namespace msdump
