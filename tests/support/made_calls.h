// Dumps of msprobe for the tests: a test says which calls ran, with what, once for both dumps; they are written with their
// values, their modules (construct.json) and a line each (stack.json), and compared.
//
//   const CallTrial trial([](MadeCalls& calls) {
//     calls.ran("Functional.relu.0.forward", {{1, -2}}, {{1, calls.bad() ? 7.0F : 0.0F}}, "Module.net.Net.forward.0");
//   });
//
// Files: step0/rank0/{dump,construct,stack}.json, dump_tensor_data/*.npy.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/made_net.h"

namespace msdump {

class MadeCalls {
 public:
  explicit MadeCalls(bool bad) : bad_(bad) {}

  [[nodiscard]] bool bad() const { return bad_; }

  // A call, a module, its backward pass or the gradients of its parameters, by its name. `parent`: the module around it.
  void ran(const std::string& name, const std::vector<Values>& inputs, const std::vector<Values>& outputs,
           const std::string& parent = {});

  // An argument of the latest call, after its tensors: {"type": "float", "value": 1e-05}, or null for an empty type.
  void given(const std::string& type, const std::string& value);
  // The same by keyword.
  void given(const std::string& keyword, const std::string& type, const std::string& value);

  // A parameter of the latest call, which is a module.
  void has(const std::string& parameter, const Values& values) {
    entries_.back().parameters.emplace_back(parameter, values);
  }
  // One more output of the latest call, of int64, of which statistics have the largest and the least.
  void chose(const Values& indices) { entries_.back().indices = indices; }
  // One more input of the latest call, likewise.
  void read(const Values& indices);
  // One more output of the latest call, and one more input: truth values of both kinds, of which statistics tell nothing.
  void wrote_mask(size_t elements) { entries_.back().mask = elements; }
  void read_mask(size_t elements);
  // Statistics stand for the elements of all tensors.
  void as_statistics() { statistics_ = true; }
  // The line of the latest call, in place of its own.
  void made_at(int line) { entries_.back().line = line; }
  // Its code.
  void made_by(const std::string& code) { entries_.back().code = code; }

  // `below`: the folders of a step and a rank.
  void write(const std::filesystem::path& dump, const std::string& below = "step0/rank0") const;

 private:
  struct Entry {
    std::string name, parent;
    std::vector<Values> inputs, outputs;
    Values indices = {};
    size_t mask = 0;                  // elements of one more output; 0: there is none
    std::string arguments, keywords;  // JSON, of `arguments` each with a comma before it
    std::vector<std::pair<std::string, Values>> parameters;
    int line = 0;
    std::string code = "y = f(x)";
  };

  const bool bad_;
  bool statistics_ = false;
  std::vector<Entry> entries_;
};

class CallTrial {
 public:
  using Build = std::function<void(MadeCalls&)>;
  explicit CallTrial(const Build& build);

  [[nodiscard]] const test::ComparedDumps& compared() const { return *compared_; }
  [[nodiscard]] Texts roots() const { return compared_->roots(); }
  [[nodiscard]] const Divergence& root() const { return compared_->report().roots.at(0); }

 private:
  const test::ScratchDir scratch_;
  std::unique_ptr<test::ComparedDumps> compared_;
};

}  // namespace msdump
