// The parts of random nets: layers as Python classes have them, with a line of the script for each operator. Blocks of
// one class have the same lines, as in a script.
#pragma once

#include <initializer_list>
#include <random>
#include <string>
#include <vector>

#include "support/noisy_net/net.h"

namespace msdump::noisy {

class Blocks {
 public:
  Blocks(NetBuilder& net, uint64_t seed) : net_(net), random_(seed) {}

  int64_t below(int64_t count) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(count)); }
  bool chance(int64_t of) { return below(of) == 0; }
  int64_t pick(std::initializer_list<int64_t> from) { return from.begin()[below(static_cast<int64_t>(from.size()))]; }

  Ref data(const std::string& name, const Shape& shape);
  Ref loss(Ref logits);

  // (batch, in) to (batch, out); further axes in front are folded by Reshape.
  Ref dense(Ref x, int64_t out, const std::string& scope, int line);
  Ref layer(Ref x, const std::string& scope, bool smooth);
  Ref residual(Ref x, const std::string& scope, bool smooth);
  Ref gate(Ref x, const std::string& scope);
  Ref unit_length(Ref x, const std::string& scope);
  Ref log_sum(Ref x, const std::string& scope, bool smooth);
  Ref root_mean_square(Ref x, const std::string& scope);
  Ref dropout(Ref x, const std::string& scope);
  Ref branches(Ref x, const std::string& scope);
  Ref layer_norm(Ref x, const std::string& scope);

  Ref convolution(Ref x, int64_t channels, const std::string& scope, int line, bool smooth, int64_t kernel = 3);
  Ref bottleneck(Ref x, const std::string& scope, bool smooth);
  Ref fork(Ref x, const std::string& scope, bool smooth);
  Ref pool(Ref x, const std::string& scope);
  Ref mean(Ref x, const std::vector<int64_t>& axes, const std::string& scope);

  Ref embedding(int64_t batch, int64_t length, int64_t width, int64_t words);
  Ref transformer(Ref x, const std::string& scope, bool masked, bool root_mean_square);
  Ref recurrence(int64_t batch, int64_t steps, int64_t width, bool gated);

 private:
  // Scope and line of the operators made while it lives.
  class Place {
   public:
    Place(NetBuilder& net, const std::string& scope, int line) : net_(net), scope_(net.scope), line_(net.line) {
      net.scope = scope.starts_with("Expand") ? scope : "Default/" + scope;
      net.line = line;
    }
    ~Place() {
      net_.scope = scope_;
      net_.line = line_;
    }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

   private:
    NetBuilder& net_;
    std::string scope_;
    int line_;
  };

  Numbers normal(int64_t count, double scale);
  Ref weight(const std::string& scope, const std::string& name, const Shape& shape, double scale, double mean = 0);
  Ref reduce(std::string_view type, Ref x, int64_t axis, bool keep);
  Ref matmul(Ref a, Ref b, bool ta, bool tb, bool batched = false);
  Ref activation(Ref x, bool smooth);
  Ref attention(Ref x, const std::string& scope, bool masked);
  Ref reshape(Ref x, const Shape& shape) { return net_.op("Reshape", {x, net_.tuple(shape)}, shape); }

  NetBuilder& net_;
  std::mt19937_64 random_;
  Ref mask_ = kAbsent;  // of attention, shared by the blocks
};

}  // namespace msdump::noisy
