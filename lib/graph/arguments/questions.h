// What each operator of a graph is asked: its type, its arguments and constants, and, through the graph, what it reads.
// Operators of two graphs with equal questions compute the same, whatever their names, numbers and order are.
//
// Names of parameters count, because they say which value is read. Numbers and names of operators, scopes and dtypes do
// not. Operators that move or round values without changing what they mean (TransData, TensorMove, a Cast between floats, a
// Reshape to the shape of its input) are left out: what reads them reads their input.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "graph/flow/data_flow.h"
#include "graph/op_graph.h"

namespace msdump {

// True if both graphs are of GE, or neither is: else they have other operators and arguments.
[[nodiscard]] bool of_one_compiler(const OpGraph& a, const OpGraph& b);

// What the questions of two graphs are made of, so that what only one of the two releases writes does not count.
struct QuestionTerms {
  std::set<std::pair<std::string, std::string>> arguments;  // family and argument, in both graphs
  std::set<std::string_view> parameters;                    // names in both graphs
  std::map<std::string, uint64_t, std::less<>> renamed;     // weights that one graph has: a number for both names
};
[[nodiscard]] QuestionTerms common_terms(const OpGraph& a, const OpGraph& b);

// Numbers for values that are known to be the same in two graphs although the questions that lead to them differ; by reader and slot.
using SameValues = std::map<std::pair<OpId, uint32_t>, uint64_t>;

class GraphQuestions {
 public:
  // The objects must outlive it.
  GraphQuestions(const OpGraph& graph, const QuestionTerms& terms, const SameValues& same);

  // Equal for equal questions of two graphs with the same terms.
  [[nodiscard]] uint64_t of(OpId op) const { return questions_[op]; }
  // Of a value that `op` reads.
  [[nodiscard]] uint64_t of(OpId op, const InputEdge& edge) const;
  // True if its readers read its input instead.
  [[nodiscard]] bool is_left_out(OpId op) const { return passed_on_[op].has_value(); }
  [[nodiscard]] bool any(uint64_t question) const { return all_.count(question) > 0; }

 private:
  void ask(OpId op);
  [[nodiscard]] uint64_t question_of(OpId op, const std::vector<InputEdge>& edges) const;
  [[nodiscard]] std::optional<uint64_t> passed_on(OpId op, const std::vector<InputEdge>& edges) const;

  const OpGraph& graph_;
  const QuestionTerms& terms_;
  const SameValues& same_;
  std::vector<uint64_t> questions_;                 // by operator
  std::vector<std::optional<uint64_t>> passed_on_;  // by operator: the value that its readers read instead
  std::unordered_set<uint64_t> all_;
};

}  // namespace msdump
