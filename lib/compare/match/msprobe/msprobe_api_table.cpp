#include "compare/match/msprobe/msprobe_api_table.h"

#include <array>
#include <utility>

namespace msdump {
namespace {

constexpr std::string_view kTorchFunctions =
    " "
    "abs absolute acos acosh add addbmm addcdiv addcmul addmm addmv angle arange arccos arccosh arcsinh arctan "
    "arctanh argmax asin asinh atan atan2 atanh baddbmm bartlett_window bincount bitwise_and bitwise_or "
    "bitwise_xor blackman_window ceil cholesky_solve clamp clip column_stack conj cosh cross cumprod diag_embed "
    "diagflat diagonal digamma dist div divide einsum erf erfc exp exp2 expm1 eye flip fliplr flipud floor_divide "
    "fmax fmod full full_like gcd geqrf greater greater_equal hamming_window hann_window heaviside histc hsplit "
    "hstack hypot i0 igamma igammac imag inner inverse is_nonzero is_tensor isinf isneginf isposinf isreal "
    "kaiser_window kron lcm lerp log1p logaddexp logaddexp2 logdet logical_and logical_not logical_or logical_xor "
    "logit logspace lt lu_solve lu_unpack masked_select matmul mm moveaxis movedim msort mul multiply nan_to_num "
    "nansum neg negative nextafter nonzero not_equal numel ones_like orgqr outer permute polar pow rand rand_like "
    "randn randn_like ravel real reciprocal remainder reshape roll rot90 round row_stack rsqrt searchsorted sgn "
    "sign signbit sin sinc sinh slogdet square subtract sum swapdims t tan topk trace trapz tril tril_indices "
    "triu_indices true_divide trunc unbind unsqueeze vander view_as_real vsplit where xlogy zeros_like ";

using Renamed = std::pair<std::string_view, std::string_view>;
constexpr std::array<Renamed, 10> kRenamed{{{"Functional.bidense", "Functional.bilinear"},
                                            {"Functional.dense", "Functional.linear"},
                                            {"Functional.equal", "Torch.eq"},
                                            {"Functional.swapaxes", "Torch.transpose"},
                                            {"Tensor.asnumpy", "Tensor.numpy"},
                                            {"Tensor.cauchy", "Tensor.cauchy_"},
                                            {"Tensor.equal", "Tensor.eq"},
                                            {"Tensor.fill_diagonal", "Tensor.fill_diagonal_"},
                                            {"Tensor.gather_elements", "Tensor.gather"},
                                            {"Tensor.swapaxes", "Tensor.transpose"}}};

}  // namespace

bool is_torch_function(std::string_view function) {
  if (function.empty() || function.find(' ') != std::string_view::npos) return false;
  for (size_t at = kTorchFunctions.find(function); at != std::string_view::npos;
       at = kTorchFunctions.find(function, at + 1)) {
    if (kTorchFunctions[at - 1] == ' ' && kTorchFunctions[at + function.size()] == ' ') return true;
  }
  return false;
}

std::optional<std::string_view> renamed_api(std::string_view api) {
  for (const auto& [from, to] : kRenamed) {
    if (from == api) return to;
  }
  return std::nullopt;
}

}  // namespace msdump
