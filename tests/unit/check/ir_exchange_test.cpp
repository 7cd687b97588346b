// Collectives of MindSpore, whose groups, roots, tags and reductions are attributes of the IR.
#include <map>

#include "check/ranks/collective_rules.h"
#include "small_dump.h"

namespace msdump::check {
namespace {

using Ranks = std::vector<int64_t>;
using Values = std::vector<float>;

// One operator of each rank, with its attributes: "group: \"g\", rank_list: (0, 1)".
class IrRun {
 public:
  void add(int64_t rank, const std::string& type, const std::string& attributes,
           const std::map<std::string, Values>& tensors) {
    const std::string name = fmt::format("Default/{}-op{}", type, ++operators_[rank]);
    std::string node = test::node_text(fmt::format("%{}", operators_[rank]), type, "%para1_x", name);
    node.insert(node.find("(%para1_x)") + std::string_view("(%para1_x)").size(),
                fmt::format(" primitive_attrs: {{{}}}", attributes));
    nodes_[rank] += node;
    for (const auto& [slot, values] : tensors)
      scratch_.write(tensor_path(name, operators_[rank], slot, 0, rank), floats(values));
  }

  [[nodiscard]] Checked check(const RuleSet& rules = only("collective_mismatch")) const {
    for (const auto& [rank, nodes] : nodes_)
      scratch_.write(fmt::format("rank_{}/graphs/ms_output_trace_code_graph_0.ir", rank), test::ir_text(nodes));
    return Checked(scratch_.path(), rules);
  }

 private:
  const test::ScratchDir scratch_;
  std::map<int64_t, int> operators_;
  std::map<int64_t, std::string> nodes_;
};

const Values kOne = {1, 2.5, -3, 7}, kTwo = {4, -1.5, 2, 0.25}, kSum = {5, 1, -1, 7.25}, kLargest = {4, 2.5, 2, 7};
const std::string kBoth = "group: \"g\", rank_list: (0, 1)";

std::string both(const std::string& further) { return kBoth + ", " + further; }

void check_silent(const IrRun& run) {
  const Checked checked = run.check();
  CHECK(checked.findings().empty());
  CHECK(checked.report().collectives.judged == 2);
  CHECK(checked.report().collectives.not_judged.empty());
}

void check_found(const IrRun& run) { CHECK(run.check().of("collective_mismatch").size() == 1); }

}  // namespace

TEST_CASE("Broadcast gives what the rank has that root_rank names, a place in the group") {
  for (const bool right : {true, false}) {
    IrRun run;
    for (const int64_t rank : {0, 1}) {
      run.add(rank, "Broadcast", both("root_rank: I64(1)"),
              {{"input.0", rank == 0 ? kOne : kTwo}, {"output.0", right ? kTwo : kOne}});
    }
    right ? check_silent(run) : check_found(run);
  }
  IrRun second;  // of ranks 2 and 5: the second is rank 5
  for (const int64_t rank : {2, 5}) {
    second.add(rank, "Broadcast", "rank_list: (2, 5), root_rank: I64(1)",
               {{"input.0", rank == 2 ? kOne : kTwo}, {"output.0", kTwo}});
  }
  check_silent(second);
}

TEST_CASE("A root that is no place in the group is not known") {
  for (const char* const root : {"2", "-1", "x", "1x", "I64(2)", "I64(1", "I64(1x)"}) {
    IrRun run;
    for (const int64_t rank : {0, 1})
      run.add(rank, "Broadcast", both(std::string("root_rank: ") + root), {{"input.0", kOne}, {"output.0", kTwo}});
    INFO(root);
    CHECK(run.check().findings().empty());
    CHECK(run.check().report().collectives.judged == 0);
  }
}

TEST_CASE("Reduce gives the reduction to the rank that dest_rank names") {
  for (const bool right : {true, false}) {
    IrRun run;
    for (const int64_t rank : {0, 1}) {
      run.add(rank, "Reduce", both("op: \"sum\", dest_rank: I64(1)"),
              {{"input.0", rank == 0 ? kOne : kTwo}, {"output.0", rank == 1 && right ? kSum : kLargest}});
    }
    right ? check_silent(run) : check_found(run);
  }
}

TEST_CASE("The reduction of AllReduce is the one that its attribute says") {
  for (const char* const op : {"sum", "max"}) {
    for (const bool right : {true, false}) {
      IrRun run;
      for (const int64_t rank : {0, 1}) {
        run.add(rank, "AllReduce", both(fmt::format("op: \"{}\"", op)),
                {{"input.0", rank == 0 ? kOne : kTwo}, {"output.0", right == (op[0] == 's') ? kSum : kLargest}});
      }
      right ? check_silent(run) : check_found(run);
    }
  }
  IrRun other;
  for (const int64_t rank : {0, 1})
    other.add(rank, "AllReduce", both("op: \"band\""), {{"input.0", kOne}, {"output.0", kLargest}});
  CHECK(other.check().findings().empty());
  CHECK(other.check().report().collectives.judged == 0);
}

TEST_CASE("Receive gets what the rank sent that it names, with the same tag") {
  for (const int64_t tag : {3, 4}) {
    for (const bool right : {true, false}) {
      IrRun run;
      run.add(0, "Send", both("sr_tag: I64(3), dest_rank: I64(1)"), {{"input.0", kOne}});
      run.add(1, "Receive", both(fmt::format("sr_tag: I64({}), src_rank: I64(0)", tag)),
              {{"output.0", right ? kOne : kTwo}});
      const Checked checked = run.check();
      CHECK(checked.findings().size() == (tag == 3 && !right ? 1 : 0));
      CHECK(checked.report().collectives.judged == (tag == 3 ? 2 : 0));
    }
  }
}

TEST_CASE("A tag that is not said is 0") {
  IrRun run;
  run.add(0, "Send", both("sr_tag: I64(0), dest_rank: I64(1)"), {{"input.0", kOne}});
  run.add(1, "Receive", both("src_rank: I64(0)"), {{"output.0", kOne}});
  check_silent(run);
}

TEST_CASE("AlltoAll is judged where it cuts the first dimension") {
  for (const char* const along : {"split_dim: I64(0), concat_dim: I64(0)", "split_dim: I64(1), concat_dim: I64(0)",
                                  "split_dim: I64(0), concat_dim: I64(1)"}) {
    IrRun run;
    for (const int64_t rank : {0, 1}) {
      const auto at = static_cast<size_t>(2 * rank);
      run.add(rank, "AlltoAll", both(along),
              {{"input.0", rank == 0 ? kOne : kTwo}, {"output.0", {kOne[at], kOne[at + 1], kTwo[at], kTwo[at + 1]}}});
    }
    INFO(along);
    CHECK(run.check().findings().empty());
    const bool first = std::string_view(along).find("(1)") == std::string_view::npos;
    CHECK(run.check().report().collectives.judged == (first ? 2 : 0));
  }
}

TEST_CASE("A group that names a rank twice is none") {
  IrRun run;
  for (const int64_t rank : {0, 1})
    run.add(rank, "AllReduce", "op: \"sum\", rank_list: (0, 1, 1)", {{"input.0", kOne}, {"output.0", kTwo}});
  CHECK(run.check().findings().empty());
  CHECK(run.check().report().collectives.judged == 0);
}

TEST_CASE("The group of all ranks is stated by their number") {
  for (const int size : {2, 4}) {
    IrRun run;
    for (const int64_t rank : {0, 1}) {
      run.add(
          rank, "AllGather", fmt::format("group: \"hccl_world_group\", rank_size: I64({})", size),
          {{"input.0", rank == 0 ? kOne : kTwo}, {"output.0", {1, 2.5, -3, 7, 4, -1.5, 2, size == 2 ? 1.0F : 0.25F}}});
    }
    const Checked checked = run.check();
    CHECK(checked.findings().size() == (size == 2 ? 1 : 0));
    CHECK(checked.report().collectives.not_judged.size() == (size == 2 ? 0 : 1));
    if (size == 4)
      CHECK(checked.report().collectives.not_judged.front().first == "have ranks that are not in the dump");
  }
}

TEST_CASE("The group of all ranks says how many there are") {
  for (const auto& [group, size, missing] :
       {std::tuple("hccl_world_group", 4, Ranks{2, 3}), std::tuple("hccl_world_group", 2, Ranks{}),
        std::tuple("2-50511", 4, Ranks{}), std::tuple("hccl_world_group", 100'001, Ranks{})}) {
    IrRun run;
    for (const int64_t rank : {0, 1}) {
      run.add(rank, "AllGather", fmt::format("group: \"{}\", rank_size: I64({})", group, size),
              {{"input.0", {1, 2}}, {"output.0", kOne}});
    }
    const Checked checked = run.check(only("rank_missing"));
    REQUIRE(checked.findings().size() == (missing.empty() ? 0 : 1));
    if (!missing.empty()) CHECK(checked.findings().front().ranks == missing);
  }
}

TEST_CASE("The largest number of ranks that is believed is a hundred thousand") {
  IrRun run;
  for (const int64_t rank : {0, 1}) {
    run.add(rank, "AllGather", "group: \"hccl_world_group\", rank_size: I64(100000)",
            {{"input.0", {1, 2}}, {"output.0", kOne}});
  }
  const Finding finding = run.check(only("rank_missing")).only("rank_missing");
  CHECK(finding.ranks.size() == 99'998);
  CHECK(finding.severity == Severity::kNote);
}

}  // namespace msdump::check
