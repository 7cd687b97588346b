#include "compare/match/tensor_pairing.h"

#include <deque>

#include <fmt/format.h>

#include "support/catch.h"
#include "support/growth.h"

namespace msdump {
namespace {

// The tensors of one operator on one side, in memory.
class MadeSide {
 public:
  void add(Io io, std::string_view slot, const Shape& shape, uint32_t occurrence = 0) {
    TensorRecord record;
    record.name.io = io;
    record.name.slot = slot;
    record.shape = &shapes_.emplace_back(shape);
    record.occurrence = occurrence;
    tensors_.push_back(record);
  }
  [[nodiscard]] SequencedOp op(const std::string& name) const {
    SequencedOp op;
    op.name = name;
    op.type = "linear";
    for (RecordId i{0}; i < tensors_.size(); ++i) op.tensors.push_back(i);
    return op;
  }
  [[nodiscard]] CompareSide side() const {
    CompareSide side;
    side.tensors = &tensors_;
    return side;
  }
  [[nodiscard]] std::string text_of(RecordId tensor) const {
    if (tensor == kNoId) return "-";
    const TensorRecord& record = tensors_[tensor];
    return fmt::format("{}{}.{}", name_of(record.name.io).front(), record.name.slot, record.occurrence);
  }

 private:
  std::deque<Shape> shapes_;
  std::vector<TensorRecord> tensors_;
};

std::vector<TensorPair> paired(const MadeSide& a, const MadeSide& b, const std::string& name) {
  Pairing pairing;
  pairing.a.push_back(a.op(name));
  pairing.b.push_back(b.op(name));
  pairing.operators.push_back({{SequencedOpId(0), SequencedOpId(0)}, PairedBy::kSequence, 1});
  TensorPairer(a.side(), b.side(), {nullptr, true, true}, pairing).pair(OperatorId(0));
  return pairing.tensors;
}

// "i0.0=i1.0 -=o0.0": candidate and reference.
std::string texts(const MadeSide& a, const MadeSide& b, const std::string& name = "Functional.linear.0.forward") {
  std::string text;
  for (const TensorPair& pair : paired(a, b, name))
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", a.text_of(pair.a), b.text_of(pair.b));
  return text;
}

}  // namespace

TEST_CASE("arguments of two frameworks are paired by their shapes, within one occurrence") {
  MadeSide a, b;
  for (const uint32_t occurrence : {0U, 1U}) {
    a.add(Io::kInput, "0", {3}, occurrence);
    a.add(Io::kInput, "1", {4}, occurrence);
    b.add(Io::kInput, "0", {4}, occurrence);
    b.add(Io::kInput, "1", {3}, occurrence);
  }
  CHECK(texts(a, b) == "i1.0=i0.0 i0.0=i1.0 i1.1=i0.1 i0.1=i1.1");
}

TEST_CASE("of several arguments with one shape the first goes with the first") {
  MadeSide a, b;
  a.add(Io::kInput, "0", {5});
  a.add(Io::kInput, "1", {3});
  a.add(Io::kInput, "2", {3});
  b.add(Io::kInput, "0", {3});
  b.add(Io::kInput, "1", {3});
  CHECK(texts(a, b) == "i1.0=i0.0 i0.0=- i2.0=i1.0");
}

TEST_CASE("an argument whose shape nothing has stands alone in its slot") {
  MadeSide a, b;
  a.add(Io::kInput, "0", {3});
  b.add(Io::kInput, "0", {4});
  CHECK(texts(a, b) == "i0.0=- -=i0.0");
}

TEST_CASE("gradients are paired by shape only where one of that shape is left") {
  MadeSide a, b;
  for (const char* const slot : {"0", "1", "2"}) a.add(Io::kOutput, slot, slot[0] == '2' ? Shape{4} : Shape{3});
  for (const char* const slot : {"0", "1", "2"}) b.add(Io::kOutput, slot, slot[0] == '0' ? Shape{4} : Shape{3});
  CHECK(texts(a, b, "Functional.linear.0.backward") == "o2.0=o0.0 o0.0=- o1.0=- -=o1.0 -=o2.0");
  CHECK(texts(a, b) == "o2.0=o0.0 o0.0=o1.0 o1.0=o2.0");
}

TEST_CASE("slots with the same shapes on both sides stay as they are") {
  MadeSide a, b;
  for (MadeSide* const side : {&a, &b}) {
    side->add(Io::kInput, "0", {3});
    side->add(Io::kInput, "1", {3});
    side->add(Io::kOutput, "0", {side == &a ? 3 : 4});
  }
  CHECK(texts(a, b) == "i0.0=i0.0 i1.0=i1.0 o0.0=- -=o0.0");
}

TEST_CASE("the cost of pairing by shapes grows with steps and slots, not with their square") {
  const auto make = [](size_t count) {
    std::pair<MadeSide, MadeSide> sides;
    for (uint32_t occurrence = 0; occurrence < count; ++occurrence) {
      sides.first.add(Io::kInput, "0", {3}, occurrence);
      sides.first.add(Io::kInput, "1", {4}, occurrence);
      sides.second.add(Io::kInput, "0", {4}, occurrence);
      sides.second.add(Io::kInput, "1", {3}, occurrence);
    }
    return sides;
  };
  const auto run = [](const std::pair<MadeSide, MadeSide>& sides) {
    CHECK(paired(sides.first, sides.second, "Functional.linear.0.forward").size() == sides.first.op("").tensors.size());
  };
  CHECK(test::growth(400, make, run) < test::kNotQuadratic);
}

}  // namespace msdump
