#include <algorithm>
#include <cmath>

#include "support/noisy_net/kernels.h"

namespace msdump::noisy {
namespace {

// The elements of x that make up each element of the result, in their order.
std::vector<std::vector<size_t>> groups(const Shape& shape, const std::vector<bool>& summed) {
  int64_t kept = 1;
  for (size_t i = 0; i < shape.size(); ++i) kept *= summed[i] ? 1 : shape[i];
  std::vector<std::vector<size_t>> result(static_cast<size_t>(kept));
  Shape index(shape.size());
  for (size_t flat = 0; flat < static_cast<size_t>(elements(shape)); ++flat) {
    size_t group = 0;
    for (size_t i = 0; i < shape.size(); ++i) {
      if (!summed[i]) group = group * static_cast<size_t>(shape[i]) + static_cast<size_t>(index[i]);
    }
    result[group].push_back(flat);
    for (size_t i = shape.size(); i-- > 0;) {
      if (++index[i] < shape[i]) break;
      index[i] = 0;
    }
  }
  return result;
}

// Over other axes the result has the same shape only if those are as long: faults.cpp sees to it.
std::vector<bool> axes(const KernelCall& call) {
  const size_t rank = call.in[0]->shape.size();
  std::vector<bool> summed(rank);
  if (call.twist.axis) {
    summed[static_cast<size_t>(*call.twist.axis)] = true;
  } else {
    for (const double axis : call.in[1]->v)
      summed[static_cast<size_t>(axis < 0 ? axis + static_cast<double>(rank) : axis)] = true;
  }
  return summed;
}

void reduce(KernelCall& call) {
  const Arithmetic& how = *call.how;
  const Numbers& x = call.in[0]->v;
  const auto all = groups(call.in[0]->shape, axes(call));
  for (size_t i = 0; i < call.out[0].v.size(); ++i) {
    const std::vector<size_t>& group = all[i];
    const auto count = static_cast<int64_t>(group.size());
    const int64_t summed = call.twist.part ? count - std::max<int64_t>(1, count / 8) : count;
    if (call.node->type == "ReduceMax") {
      double most = x[group[0]];
      for (int64_t k = 1; k < summed; ++k) most = std::fmax(most, x[group[static_cast<size_t>(k)]]);
      call.out[0].v[i] = most;
      continue;
    }
    const double sum = how.sum(summed, [&](int64_t k) { return x[group[static_cast<size_t>(k)]]; });
    call.out[0].v[i] = call.node->type == "ReduceMean" ? sum / static_cast<double>(count) : sum;
  }
}

void bias_gradient(KernelCall& call) {
  const Numbers& dy = call.in[0]->v;
  const auto all = groups(call.in[0]->shape, {true, false});
  for (size_t i = 0; i < call.out[0].v.size(); ++i) {
    const auto count = static_cast<int64_t>(all[i].size());
    call.out[0].v[i] = call.how->sum(call.twist.part ? count - std::max<int64_t>(1, count / 8) : count,
                                     [&](int64_t k) { return dy[all[i][static_cast<size_t>(k)]]; });
  }
}

void sum_rows(KernelCall& call) {
  const Arithmetic& how = *call.how;
  const auto width = static_cast<size_t>(call.out[0].shape[1]);
  const size_t rows = call.in[1]->v.size();
  const size_t summed = call.twist.part ? rows - std::max<size_t>(1, rows / 8) : rows;
  std::vector<std::vector<size_t>> of(static_cast<size_t>(call.out[0].shape[0]));
  for (size_t row = 0; row < summed; ++row) of[static_cast<size_t>(call.in[1]->v[row])].push_back(row);
  for (size_t word = 0; word < of.size(); ++word) {
    for (size_t i = 0; i < width; ++i)
      call.out[0].v[word * width + i] = how.sum(static_cast<int64_t>(of[word].size()), [&](int64_t k) {
        return call.in[0]->v[of[word][static_cast<size_t>(k)] * width + i];
      });
  }
}

// The place of the largest of each window of 2 x 2, the first of equal ones.
std::vector<size_t> largest(const Tensor& x, const Shape& to) {
  std::vector<size_t> places;
  const auto width = static_cast<size_t>(x.shape[3]);
  for (int64_t plane = 0; plane < x.shape[0] * x.shape[1]; ++plane) {
    for (int64_t row = 0; row < to[2]; ++row) {
      for (int64_t column = 0; column < to[3]; ++column) {
        const auto corner = static_cast<size_t>((plane * x.shape[2] + 2 * row) * x.shape[3] + 2 * column);
        size_t best = corner;
        for (const size_t other : {corner + 1, corner + width, corner + width + 1}) {
          if (x.v[other] > x.v[best]) best = other;
        }
        places.push_back(best);
      }
    }
  }
  return places;
}

}  // namespace

bool compute_reductions(KernelCall& call) {
  const std::string& type = call.node->type;
  if (type == "ReduceSum" || type == "ReduceMean" || type == "ReduceMax") {
    reduce(call);
  } else if (type == "BiasAddGrad") {
    bias_gradient(call);
  } else if (type == "UnsortedSegmentSum") {
    sum_rows(call);
  } else if (type == "MaxPool") {
    const auto places = largest(*call.in[0], call.out[0].shape);
    for (size_t i = 0; i < places.size(); ++i) call.out[0].v[i] = call.in[0]->v[places[i]];
  } else if (type == "MaxPoolGrad") {
    const auto places = largest(*call.in[0], call.in[2]->shape);
    for (size_t i = 0; i < places.size(); ++i) call.out[0].v[places[i]] += call.in[2]->v[i];
  } else {
    return false;
  }
  return true;
}

bool compute_optimizers(KernelCall& call) {
  const std::string& type = call.node->type;
  const Arithmetic& how = *call.how;
  const Numbers& weight = call.in[0]->v;
  if (type == "ApplyMomentum") {
    Tensor moments = *call.in[1];
    for (size_t i = 0; i < weight.size(); ++i) {
      moments.v[i] = how.inner(how.inner(moments.v[i] * call.scalar(4)) + call.in[3]->v[i]);
      call.out[0].v[i] = weight[i] - how.inner(moments.v[i] * call.scalar(2));
    }
    call.updated = {std::move(moments)};
    return true;
  }
  const bool decays = type == "AdamWeightDecay";
  if (type != "Adam" && !decays) return false;
  const size_t after_rate = decays ? 4 : 6;
  const double b1 = call.scalar(after_rate), b2 = call.scalar(after_rate + 1), epsilon = call.scalar(after_rate + 2);
  const double decay = decays ? call.scalar(7) : 0;
  const double rate =
      decays ? call.scalar(3) : how.inner(call.scalar(5) * std::sqrt(1 - call.scalar(4)) / (1 - call.scalar(3)));
  for (size_t i = 0; i < weight.size(); ++i) {
    const double g = call.in.back()->v[i], m = call.in[1]->v[i], v = call.in[2]->v[i];
    const double next = how.inner(m + how.inner(how.inner(g - m) * (1 - b1)));
    const double square = how.inner(v + how.inner(how.inner(g * g - v) * (1 - b2)));
    const double step =
        how.inner(how.inner(next / how.inner(std::sqrt(square) + epsilon)) + how.inner(decay * weight[i]));
    call.out[0].v[i] = weight[i] - how.inner(rate * step);
    call.out[1].v[i] = next;
    call.out[2].v[i] = square;
  }
  return true;
}

}  // namespace msdump::noisy
