// Reading IR text costs what it is long, also where it is damaged.
#include <string>

#include "ir_of.h"
#include "support/growth.h"

namespace msdump {
namespace {

using test::growth;
using test::kNotQuadratic;

const auto kRead = [](const std::string& text) { CHECK(test::ir_of(text).nodes.size() == 1); };

std::string repeated(const std::string& text, size_t count) {
  std::string all;
  for (size_t i = 0; i < count; ++i) all += text;
  return all;
}

TEST_CASE("the open bracket of a head is not looked for again with every line that follows") {
  const auto open_head = [](size_t n) {
    return "%0(a) = Add(" + repeated("(%1), ", n) + "\n" + repeated("%1, \n", n) + "#Fullname with scope: (a)\n";
  };
  CHECK(growth(1000, open_head, kRead) < kNotQuadratic);
}

TEST_CASE("open types, names and source lines cost what they are long") {
  for (const std::string start :
       {"  : (<Tensor[Float32], (2, 3)>", "  # Fullname with scope: (Default/a", "  # In file "}) {
    INFO(start);
    const auto open_part = [&](size_t n) {
      return "%0(a) = Add(%1)\n" + start + repeated("aaaaaa, ", n) + "\n" + repeated("bbb\n", n);
    };
    CHECK(growth(1000, open_part, kRead) < kNotQuadratic);
  }
}

TEST_CASE("brackets, quotes and nested tuples of one operator cost what they are long") {
  for (const std::string part : {"(", "\"", "{", "<", "Tuple[", "[const vector]", "(\",\"), "}) {
    INFO(part);
    const auto nested = [&](size_t n) {
      return "%0(a) = Add(%1) {x: " + repeated(part, n) + "}\n  : (<" + repeated(part, n) + ">) -> (<A>)\n";
    };
    CHECK(growth(1000, nested, kRead) < kNotQuadratic);
  }
}

}  // namespace
}  // namespace msdump
