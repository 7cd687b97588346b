#include "graph/scope_name.h"

#include "support/catch.h"

namespace msdump {
namespace {

TEST_CASE("an operator's layer is told from its name, whoever wrote it") {
  CHECK(scope_of_op("Default/network/conv1-Conv2d/Conv2D-op12") == "Default/network/conv1-Conv2d");
  CHECK(scope_of_op("Default/Mul-op0") == "Default");
  CHECK(scope_of_op("Default_conv1-Conv2d_Conv2D-op12") == "Default_conv1-Conv2d_Conv2D");
  CHECK(scope_of_op("Conv2D-op12_3") == "Conv2D");
  CHECK(scope_of_op("Module.layers.0.fc.Linear.forward.2") == "Module.layers.0.fc");
  CHECK(scope_of_op("Cell.fc.Dense.backward.0") == "Cell.fc.backward");
  CHECK(scope_of_op("Module.fc.Linear.parameters_grad.1") == "Module.fc.backward");
  CHECK(scope_of_op("Functional.layer_norm.7.forward") == "Functional.layer_norm");
  CHECK(scope_of_op("Functional.layer_norm.7.backward") == "Functional.layer_norm.backward");
  CHECK(scope_of_op("Aten.add.Tensor.3.forward") == "Aten.add.Tensor");
  CHECK(scope_of_op("Primitive.matmul.MatMul.0.forward") == "Primitive.matmul.MatMul");
  CHECK(scope_of_op("layers.0.weight") == "layers.0");
}

TEST_CASE("a name without a layer is its own") {
  for (const char* const name : {"", "loss", "/", ".", ".weight", "/x", "-op3", "Mul"})
    CHECK(scope_of_op(name) == name);
}

}  // namespace
}  // namespace msdump
