// One name for what MindSpore and PyTorch name differently in dumps of msprobe.
//
//   module      Cell.attn.q.Dense.forward.0, Module.attn.q.Linear.forward.0        module attn q forward
//   call        Primitive.matmul.MatMul.3.forward, Functional.matmul.3.forward,
//               Torch.matmul.3.forward, Mint.matmul.3.forward                      call matmul forward
//   parameter   gamma weight, beta bias, embedding_table weight, moving_mean running_mean, moving_variance running_var
// Numbers of calls are left out. Any other name, such as that of an operator in an IR, only loses its number.
// Source: reference/verified-on-real-msprobe.md 3.
#pragma once

#include <string>
#include <string_view>

namespace msdump {

[[nodiscard]] std::string common_name(std::string_view op_name);
[[nodiscard]] std::string_view common_parameter_name(std::string_view parameter);

}  // namespace msdump
