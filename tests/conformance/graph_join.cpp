// Operators joined to files and lines, over the trees that MindSpore 1.3 to 2.10 really wrote, against the truth tables made
// from the protobuf, the directory listing and the bytes; and over msprobe's trees.
#include <algorithm>
#include <iostream>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "graph/join/numbering.h"
#include "graph/lines/line_search.h"
#include "support/catch.h"
#include "support/csv_rows.h"
#include "support/graph_run.h"
#include "support/paths.h"

using namespace msdump;
using namespace msdump::test;
namespace fs = std::filesystem;

namespace {

using Texts = std::vector<std::string>;

constexpr std::string_view kTable = ".ops.csv";

std::vector<std::string> cases_in(const fs::path& expected) {
  std::vector<std::string> cases;
  for (const auto& entry : fs::directory_iterator(expected)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(kTable)) cases.push_back(name.substr(0, name.size() - kTable.size()));
  }
  std::sort(cases.begin(), cases.end());
  return cases;
}

Texts sorted_words(const std::string& text) {
  Texts words;
  for (const std::string_view word : split(text, ' ')) {
    if (!word.empty()) words.emplace_back(word);
  }
  std::sort(words.begin(), words.end());
  return words;
}

// Operators of one graph with one name: one a rank.
std::vector<OpId> operators(const OpGraph& graph, const std::string& graph_id, const std::string& full_name) {
  std::vector<OpId> found;
  for (OpId op{0}; op < graph.size(); ++op) {
    const auto& id = graph.origin(op).graph_id;
    if (graph.full_name(op) == full_name && id && std::to_string(*id) == graph_id) found.push_back(op);
  }
  return found;
}

bool holds(const Texts& files, const Texts& wanted) {
  return std::includes(wanted.begin(), wanted.end(), files.begin(), files.end());
}

}  // namespace

TEST_CASE("every operator of the real trees has the files that its bytes prove") {
  const auto corpus = corpus_or_skip("real");
  if (!corpus) return;
  const fs::path real = *corpus, expected = real / "expected";
  size_t rows = 0, trees = 0;
  for (const std::string& name : cases_in(expected)) {
    INFO(name);
    const JoinedDump tree = join_dump(real / name / "dump");
    CHECK(tree.loaded->failures.empty());
    CHECK(tree.loaded->parsed == tree.loaded->expected);
    for (const Texts& row : csv_rows(expected / (name + std::string(kTable)))) {
      INFO(row[1]);
      const std::vector<OpId> ops = operators(tree.graph(), row[0], row[1]);
      REQUIRE(!ops.empty());
      const Texts wanted = sorted_words(row[7]);
      // With several ranks the table lists the first one's.
      const bool found = std::any_of(ops.begin(), ops.end(), [&](OpId op) {
        const Texts files = tree.files_of(op);
        return files == wanted || (ops.size() > 1 && !files.empty() && holds(files, wanted));
      });
      CHECK(found);
      CHECK(tree.graph().op_type(ops.front()) == row[3]);
      ++rows;
    }
    ++trees;
  }
  CHECK(trees > 0);
  std::cout << fmt::format("{} operators of {} trees have their files\n", rows, trees);
}

TEST_CASE("in the real trees no input contradicts its producer's output") {
  const auto corpus = corpus_or_skip("real");
  if (!corpus) return;
  uint64_t agreeing = 0;
  for (const std::string& name : cases_in(*corpus / "expected")) {
    INFO(name);
    const JoinedDump tree = join_dump(*corpus / name / "dump");
    const ValueComparer comparer(tree.dump.index, tree.dump.tensors());
    for (OpId op{0}; op < tree.graph().size(); ++op) {
      for (const ProofEdge& edge : proof_edges(tree.dump.tensors(), tree.dump.index, tree.graph(), tree.join(), op)) {
        const Agreement agreement = comparer.compare(edge.input_tensor, edge.output_tensor);
        INFO(tree.graph().full_name(op) << " input " << edge.slot);
        CHECK(agreement != Agreement::kDifferent);
        agreeing += agreement == Agreement::kEqual ? 1U : 0U;
      }
    }
  }
  CHECK(agreeing > 1000);
  std::cout << fmt::format("{} inputs equal their producer's output\n", agreeing);
}

TEST_CASE("every line of the scripts leads to the operators with files that mention it") {
  const auto corpus = corpus_or_skip("real");
  if (!corpus) return;
  const fs::path real = *corpus;
  std::map<std::string, std::map<std::string, std::set<std::string>>> wanted;  // by case, then by place
  for (const Texts& row : csv_rows(real / "expected" / "lines.csv")) {
    const std::string place = fmt::format("{}:{}{}", row[1], row[2], row[2] == row[3] ? "" : "-" + row[3]);
    for (const std::string& op : sorted_words(row[6])) wanted[row[0]][place].insert(op);
  }
  size_t lines = 0, found_operators = 0;
  for (const auto& [name, places] : wanted) {
    const JoinedDump tree = join_dump(real / name / "dump");
    for (const auto& [place, ops] : places) {
      INFO(name << " " << place);
      const auto query = parse_line_query(place);
      REQUIRE(query);
      std::set<std::string> found;
      for (const LineHit& hit : find_line(tree.graph(), *query)) found.insert(tree.graph().full_name(hit.op));
      for (const std::string& op : ops) {
        INFO(op);
        CHECK(found.count(op) == 1);
      }
      ++lines;
      found_operators += ops.size();
    }
  }
  CHECK(lines > 0);
  std::cout << fmt::format("{} operators found from {} places in scripts\n", found_operators, lines);
}

TEST_CASE("every call with a stack in msprobe's trees has its files and a line of the script") {
  const auto corpus = corpus_or_skip("msprobe");
  if (!corpus) return;
  size_t trees = 0, with_files = 0, files = 0;
  for (const auto& entry : fs::directory_iterator(*corpus / "trees")) {
    INFO(entry.path().filename().string());
    const JoinedDump tree = join_dump(entry.path());
    if (tree.graph().size() == 0) continue;
    ++trees;
    for (OpId op{0}; op < tree.graph().size(); ++op) with_files += tree.join().pairs_of(op).empty() ? 0U : 1U;
    for (const TensorGroup& group : tree.join().groups())
      files += tree.join().rule_of(group) == JoinRule::kUnmatched ? 0U : group.count;
  }
  CHECK(trees > 0);
  CHECK(with_files > 0);
  std::cout << fmt::format("{} calls of {} trees of msprobe have {} tensors\n", with_files, trees, files);
}
