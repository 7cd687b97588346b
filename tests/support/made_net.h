// Nets for the tests of pairing and of the search for roots: a test says which operators a net has, once, with the fault
// that its candidate has; both dumps are computed, written as MindSpore 2.10 does it, and compared.
//
//   const Trial trial([](MadeNet& net) {
//     const auto x = net.input("x");
//     const auto y = net.op("Mul", {x, net.constant(net.bad() ? 1.5F : 2)});
//     net.op("ReLU", {y});
//   });
//   CHECK(trial.roots() == Texts{"value Default/Mul-op0"});
//
// Files: rank_R/Net/0/STEP/TYPE.SCOPE_TYPE-opN.0.0.TIME.io.slot.DefaultFormat.DTYPE.npy, IR in rank_R/graphs. Operators
// are numbered by type, in the order in which they are made; each is on a line of its own of net.py.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/compare_run.h"
#include "support/scratch_dir.h"

namespace msdump {

using Texts = std::vector<std::string>;
using Values = std::vector<float>;

// 16 numbers around 1, of both signs, none of them 0.
[[nodiscard]] Values some_values(float scale = 1);

struct MadePlace {
  bool bad = false;  // the candidate
  int rank = 0, step = 0;
};

class MadeNet {
 public:
  using Tensor = uint32_t;

  explicit MadeNet(const MadePlace& place, bool half) : place_(place), half_(half) {}

  [[nodiscard]] bool bad() const { return place_.bad; }
  // Adds to the time stamps of its files: two runs have none in common.
  void start_at(size_t microseconds) { begin_ = microseconds; }
  [[nodiscard]] int rank() const { return place_.rank; }
  [[nodiscard]] int step() const { return place_.step; }

  Tensor input(const std::string& name, const Values& values = some_values());
  Tensor weight(const std::string& name, const Values& values = some_values(0.5F));
  Tensor constant(float value);
  Tensor constant(const Values& values);  // whose text the IR leaves out
  // Computes Mul, Add, Sub, Div, Neg, ReLU, Sign, Log, ReduceSum; any other type adds its inputs. The name is
  // SCOPE/TYPE-opN.
  Tensor op(std::string_view type, const std::vector<Tensor>& inputs, std::string_view scope = "Default");

  // Of what was made: to plant a fault, or to see what is there. What was computed of it stays.
  Values& operator[](Tensor tensor) { return tensors_[tensor].values; }
  void hide_output(Tensor of) { tensors_[of].dumped = false; }
  void hide_input(Tensor of, size_t slot) { node(of).inputs[slot].dumped = false; }
  // What the file of an input holds, where that is not what went in.
  void show_input(Tensor of, size_t slot, const Values& values) { node(of).inputs[slot].shown = values; }
  void shape_input(Tensor of, size_t slot, const Shape& shape) { node(of).inputs[slot].shape = shape; }
  void shape_output(Tensor of, const Shape& shape) { tensors_[of].shape = shape; }
  void narrow_input(Tensor of, size_t slot) { node(of).inputs[slot].half = true; }  // to float16
  // A second output, which nothing reads.
  void add_output(Tensor of, const Values& values) { node(of).more_outputs.push_back(values); }
  void set_attributes(Tensor of, const std::string& text) { node(of).attributes = text; }  // "group: 0-1, axis: 1"
  void return_output(Tensor of) { returned_ = of; }                                        // the graph does
  void on_line(int line) { line_ = line; }                                                 // of the next operator

  void write(const std::filesystem::path& dump, bool with_ir) const;

 private:
  struct MadeTensor {
    Values values;
    std::string operand;   // in the IR
    std::string declared;  // of a parameter: its line there
    uint32_t node = UINT32_MAX;
    Shape shape;  // empty: one axis
    bool dumped = true;
  };
  struct Input {
    Tensor tensor = 0;
    bool dumped = true;
    Values shown;  // empty: what went in
    Shape shape;
    bool half = false;
  };
  struct Node {
    std::string type, scope, name, attributes;
    int line = 0;
    std::vector<Input> inputs;
    Tensor output = 0;
    std::vector<Values> more_outputs;
  };

  Node& node(Tensor of) { return nodes_[tensors_[of].node]; }
  Tensor add(MadeTensor tensor);
  void write_tensor(const std::filesystem::path& folder, const Node& node, size_t time, const std::string& tensor,
                    const Values& values, const Shape& shape, bool half) const;
  [[nodiscard]] std::string ir() const;

  const MadePlace place_;
  const bool half_;
  size_t begin_ = 0;
  int line_ = 10;
  std::vector<MadeTensor> tensors_;
  std::vector<Node> nodes_;
  Tensor returned_ = UINT32_MAX;
};

// relu(FACTOR x + w).
struct MadeChain {
  MadeNet::Tensor x = 0, w = 0, product = 0, sum = 0, relu = 0;
};
MadeChain made_chain(MadeNet& net, float factor = 2);

struct TrialOptions {
  int ranks = 1, steps = 1;
  bool ir = true;
  bool half_candidate = false;  // all of it in float16
  bool statistics = false;      // a statistic.csv in place of the tensors
  const NameMap* map = nullptr;
};

class Trial {
 public:
  using Build = std::function<void(MadeNet&)>;
  explicit Trial(const Build& build, const TrialOptions& options = {});

  [[nodiscard]] const test::ComparedDumps& compared() const { return *compared_; }
  [[nodiscard]] Texts roots() const { return compared_->roots(); }
  [[nodiscard]] const Divergence& root() const { return compared_->report().roots.at(0); }

 private:
  const test::ScratchDir scratch_;
  std::unique_ptr<test::ComparedDumps> compared_;
};

// Two faults: Exp and Cos are wrong, Add reads both, and Neg reads Cos.
void two_roots(MadeNet& net);

}  // namespace msdump
