#include "report/page/step_charts.h"

#include <algorithm>
#include <cmath>
#include <span>

#include <fmt/format.h>

#include "base/text.h"
#include "report/junit.h"

namespace msdump::report {
namespace {

constexpr double kWide = 240, kHigh = 72, kLabels = 14;  // in pixels; labels are below
constexpr double kDecades = 10;                          // a range of so many times has a logarithmic scale

std::string escaped(std::string_view text) { return xml_escaped(escape_for_terminal(text)); }

// The part of a series that one drawing shows.
class Drawing {
 public:
  Drawing(std::span<const int64_t> steps, std::span<const float> values, int64_t at)
      : steps_(steps), values_(values), at_(at) {
    std::vector<double> finite;
    for (const float value : values) {
      if (std::isfinite(value)) finite.push_back(static_cast<double>(value));
    }
    if (finite.empty()) return;
    const auto [least, most] = std::minmax_element(finite.begin(), finite.end());
    least_ = *least;
    most_ = *most;
    logarithmic_ = least_ > 0 && most_ / least_ >= kDecades;
  }

  [[nodiscard]] std::string svg(std::string_view kind) const {
    std::string text = fmt::format(
        "<svg class=\"{}\" role=\"img\" aria-label=\"steps {} to {}, {:.4g} to {:.4g}, marked at step {}\" "
        "viewBox=\"0 0 {} {}\" width=\"{}\" height=\"{}\">\n",
        kind, steps_.front(), steps_.back(), least_, most_, at_, kWide, kHigh + kLabels, kWide, kHigh + kLabels);
    text += fmt::format("<line class=\"step\" x1=\"{0:.1f}\" y1=\"0\" x2=\"{0:.1f}\" y2=\"{1}\"/>\n", x_of(at_), kHigh);
    text += lines() + fmt::format(
                          "<text class=\"from\" x=\"0\" y=\"{0}\">{1}</text>"
                          "<text class=\"to\" x=\"{2}\" y=\"{0}\">{3}</text>\n",
                          kHigh + kLabels - 2, steps_.front(), kWide, steps_.back());
    return text + "</svg>\n";
  }
  // "1.016 to 8.473, logarithmic"
  [[nodiscard]] std::string range() const {
    return fmt::format("{:.4g} to {:.4g}{}", least_, most_, logarithmic_ ? ", logarithmic" : "");
  }

 private:
  [[nodiscard]] double x_of(int64_t step) const {
    const auto all = static_cast<double>(steps_.back() - steps_.front());
    return all > 0 ? kWide * static_cast<double>(step - steps_.front()) / all : kWide / 2;
  }
  [[nodiscard]] double y_of(double value) const {
    const auto scale = [&](double number) { return logarithmic_ ? std::log(number) : number; };
    const double range = scale(most_) - scale(least_);
    return range > 0 ? (kHigh - 4) * (scale(most_) - scale(value)) / range + 2 : kHigh / 2;
  }

  // A line for each stretch of finite values, and a mark for each place that has others.
  [[nodiscard]] std::string lines() const {
    std::string text, points;
    const auto end_line = [&] {
      if (!points.empty()) text += fmt::format("<polyline points=\"{}\"/>\n", points);
      points.clear();
    };
    const size_t places = std::min(values_.size(), kStepChartPoints);
    for (size_t place = 0; place < places; ++place) {
      const size_t begin = values_.size() * place / places, end = values_.size() * (place + 1) / places;
      const std::span<const float> some = values_.subspan(begin, end - begin);
      const auto bad = std::find_if(some.begin(), some.end(), [](float value) { return !std::isfinite(value); });
      if (bad != some.end()) {
        end_line();
        const int64_t step = steps_[begin + static_cast<size_t>(bad - some.begin())];
        text += fmt::format("<circle class=\"nan\" cx=\"{:.1f}\" cy=\"3\" r=\"2\"/>\n", x_of(step));
        continue;
      }
      auto [first, second] = std::minmax_element(some.begin(), some.end());
      if (second < first) std::swap(first, second);
      for (const auto one : {first, second}) {
        const size_t index = begin + static_cast<size_t>(one - some.begin());
        points += fmt::format("{:.1f},{:.1f} ", x_of(steps_[index]), y_of(static_cast<double>(values_[index])));
        if (first == second) break;
      }
    }
    end_line();
    return text;
  }

  std::span<const int64_t> steps_;
  std::span<const float> values_;
  int64_t at_;
  double least_ = 0, most_ = 0;
  bool logarithmic_ = false;
};

std::string chart_html(const StepChart& chart) {
  const std::span<const int64_t> steps(chart.steps);
  const std::span<const float> values(chart.values);
  const auto at = static_cast<size_t>(std::lower_bound(steps.begin(), steps.end(), chart.at) - steps.begin());
  const size_t begin = at - std::min(at, kStepsAround), end = std::min(steps.size(), at + kStepsAround + 1);
  const Drawing whole(steps, values, chart.at);
  const Drawing near(steps.subspan(begin, end - begin), values.subspan(begin, end - begin), chart.at);
  return fmt::format(
      "<figure><figcaption><span class=\"name\">{}</span><br>{} <span class=\"quiet\">({})</span></figcaption>\n"
      "{}{}</figure>\n",
      escaped(chart.name), escaped(chart.text), whole.range(), whole.svg("whole"), near.svg("near"));
}

}  // namespace

std::string step_charts_html(const std::string& title, const std::vector<StepChart>& charts) {
  if (charts.empty()) return {};
  std::string text = fmt::format(
      "<section class=\"began\" aria-labelledby=\"began-title\"><h2 id=\"began-title\">{}</h2>\n"
      "<input type=\"checkbox\" id=\"near\"> <label for=\"near\">only {} steps before and after</label>\n"
      "<div class=\"multiples\">\n",
      escaped(title), kStepsAround);
  for (const StepChart& chart : charts) text += chart_html(chart);
  return text + "</div></section>\n";
}

}  // namespace msdump::report
