#include "kernels/widen/decode.h"

#include "kernels/widen/widen.h"

namespace msdump::kernels {

float decode_float8_e5m2(uint8_t code) { return formula::float8_e5m2(code); }
float decode_float8_e4m3fn(uint8_t code) { return formula::float8_e4m3fn(code); }
float decode_float8_e8m0(uint8_t code) { return formula::float8_e8m0(code); }
float decode_hifloat8(uint8_t code) { return formula::hifloat8(code); }
float decode_float4_e2m1(uint8_t code) { return formula::float4_e2m1(code); }
float decode_float4_e1m2(uint8_t code) { return formula::float4_e1m2(code); }
float decode_float16(uint16_t bits) { return std::bit_cast<float>(formula::float16_to_float_bits(bits)); }
float decode_bfloat16(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

}  // namespace msdump::kernels
