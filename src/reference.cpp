#include "reference.h"

#include <algorithm>
#include <cmath>

namespace headscope::reference {

Attention attention(const Sizes& s, const Tensor& q, const Tensor& k, const Tensor& v, double scale, double softcap,
                    const Mask& mask) {
  constexpr double hidden = -std::numeric_limits<double>::infinity();
  const size_t group = s.heads / s.kv_heads;
  const size_t places = s.batch * s.heads * s.queries * s.keys;
  Attention a{Tensor(places), Tensor(places), Tensor(places), Tensor(places),
              Tensor(s.batch * s.heads * s.queries * s.value_head_dim)};
  for (size_t b = 0; b < s.batch; ++b) {
    for (size_t h = 0; h < s.heads; ++h) {
      for (size_t i = 0; i < s.queries; ++i) {
        const size_t row = (b * s.heads + h) * s.queries + i;
        const double* query = q.data() + row * s.head_dim;
        const size_t kv = b * s.kv_heads + h / group;

        // 1. Scores: scale · q_i · k_j, capped, masked.
        double largest = hidden;
        for (size_t j = 0; j < s.keys; ++j) {
          const double* key = k.data() + (kv * s.keys + j) * s.head_dim;
          double dot = 0.0;
          for (size_t c = 0; c < s.head_dim; ++c) dot += query[c] * key[c];
          const size_t place = row * s.keys + j;
          const double bias = mask.bias ? mask.bias(b, h, i, j) : 0.0;
          const bool visible = (!mask.visible || mask.visible(b, h, i, j)) && bias != hidden;
          a.scaled[place] = scale * dot;
          a.capped[place] = softcap > 0.0 ? softcap * std::tanh(a.scaled[place] / softcap) : a.scaled[place];
          a.masked[place] = visible ? a.capped[place] + bias : hidden;
          if (visible) largest = std::max(largest, a.masked[place]);
        }

        // 2. Softmax. A row without a visible key keeps weights of 0.
        double sum = 0.0;
        for (size_t j = 0; j < s.keys; ++j) {
          const double score = a.masked[row * s.keys + j];
          if (score != hidden) sum += std::exp(score - largest);
        }
        for (size_t j = 0; j < s.keys; ++j) {
          const double score = a.masked[row * s.keys + j];
          a.weights[row * s.keys + j] = score == hidden ? 0.0 : std::exp(score - largest) / sum;
        }

        // 3. The head's output: the average of the visible values.
        for (size_t c = 0; c < s.value_head_dim; ++c) {
          double out = 0.0;
          for (size_t j = 0; j < s.keys; ++j) {
            if (a.masked[row * s.keys + j] == hidden) continue;
            out += a.weights[row * s.keys + j] * v[(kv * s.keys + j) * s.value_head_dim + c];
          }
          a.heads[row * s.value_head_dim + c] = out;
        }
      }
    }
  }
  return a;
}

Tensor linear(const Tensor& x, size_t rows, size_t in, const Tensor& w, size_t out, const Tensor& bias) {
  Tensor y(rows * out);
  for (size_t r = 0; r < rows; ++r) {
    for (size_t n = 0; n < out; ++n) {
      double sum = bias.empty() ? 0.0 : bias[n];
      for (size_t k = 0; k < in; ++k) sum += x[r * in + k] * w[k * out + n];
      y[r * out + n] = sum;
    }
  }
  return y;
}

Tensor split_heads(const Tensor& x, size_t batch, size_t length, size_t heads, size_t width) {
  Tensor y(x.size());
  for (size_t b = 0; b < batch; ++b) {
    for (size_t t = 0; t < length; ++t) {
      for (size_t h = 0; h < heads; ++h) {
        for (size_t c = 0; c < width; ++c) {
          y[((b * heads + h) * length + t) * width + c] = x[((b * length + t) * heads + h) * width + c];
        }
      }
    }
  }
  return y;
}

Tensor join_heads(const Tensor& x, size_t batch, size_t length, size_t heads, size_t width) {
  Tensor y(x.size());
  for (size_t b = 0; b < batch; ++b) {
    for (size_t t = 0; t < length; ++t) {
      for (size_t h = 0; h < heads; ++h) {
        for (size_t c = 0; c < width; ++c) {
          y[((b * length + t) * heads + h) * width + c] = x[((b * heads + h) * length + t) * width + c];
        }
      }
    }
  }
  return y;
}

void rotate(Tensor& x, size_t batch, size_t heads, size_t length, size_t width, long first, size_t dims, double base,
            bool adjacent) {
  for (size_t row = 0; row < batch * heads; ++row) {
    for (size_t t = 0; t < length; ++t) {
      double* head = x.data() + (row * length + t) * width;
      for (size_t i = 0; i < dims / 2; ++i) {
        const double angle = static_cast<double>(first + static_cast<long>(t)) *
                             std::pow(base, -2.0 * static_cast<double>(i) / static_cast<double>(dims));
        double& x0 = head[adjacent ? 2 * i : i];
        double& x1 = head[adjacent ? 2 * i + 1 : i + dims / 2];
        const double turned = x0 * std::cos(angle) - x1 * std::sin(angle);
        x1 = x0 * std::sin(angle) + x1 * std::cos(angle);
        x0 = turned;
      }
    }
  }
}

}  // namespace headscope::reference
