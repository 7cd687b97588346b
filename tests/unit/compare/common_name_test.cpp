#include "compare/match/op_sequence.h"

#include "support/catch.h"

namespace msdump {

TEST_CASE("a module is called the same in both frameworks, whatever class and prefix it has") {
  CHECK(common_name("Cell.attn.q.Dense.forward.0") == "module attn q forward");
  CHECK(common_name("Module.attn.q.Linear.forward.3") == common_name("Cell.attn.q.Dense.forward.0"));
  CHECK(common_name("Module.attn.q.Linear.backward.0") == "module attn q backward");
  CHECK(common_name("Module.attn.k.Linear.forward.0") != common_name("Module.attn.q.Linear.forward.0"));
  CHECK(common_name("Module.fc.Linear.parameters_grad.0") == common_name("Cell.fc.Dense.parameters_grad"));
}

TEST_CASE("a call is called the same in both frameworks, without prefix and counter") {
  CHECK(common_name("Primitive.matmul.MatMul.3.forward") == "call matmul forward");
  for (const char* const name :
       {"Functional.matmul.3.forward", "Torch.matmul.0.forward", "Mint.matmul.7.forward", "Tensor.mat_mul.1.forward"}) {
    INFO(name);
    CHECK(common_name(name) == "call matmul forward");
  }
  CHECK(common_name("Torch.matmul.0.backward") == "call matmul backward");
  CHECK(common_name("Functional.layer_norm.0.forward") == common_name("Functional.layernorm.2.forward"));
}

TEST_CASE("any other name stays what it is, without its number") {
  CHECK(common_name("Default/network-Net/conv1-Conv2d/Conv2D-op12") == "Default/network-Net/conv1-Conv2d/Conv2D");
  CHECK(common_name("Default/network-Net/conv1-Conv2d/Conv2D") == "Default/network-Net/conv1-Conv2d/Conv2D");
  CHECK(common_name("").empty());
}

TEST_CASE("parameters have the name that PyTorch gives them") {
  CHECK(common_parameter_name("gamma") == "weight");
  CHECK(common_parameter_name("beta") == "bias");
  CHECK(common_parameter_name("embedding_table") == "weight");
  CHECK(common_parameter_name("moving_mean") == "running_mean");
  CHECK(common_parameter_name("moving_variance") == "running_var");
  CHECK(common_parameter_name("weight") == "weight");
  CHECK(common_parameter_name("gamma_1") == "gamma_1");
}

}  // namespace msdump
