// Compiles a problem, runs it on the CPU and compares with float64.
//
//   cmake -S examples/host_cpp -B build/host -DCMAKE_PREFIX_PATH=PREFIX && cmake --build build/host
//   build/host/host

#include <attn/Compiler/Compiler.h>
#include <attn/Compiler/Reference.h>

#include <cmath>
#include <cstdio>

using attn::rt::TensorArg, attn::rt::ElementType;

int main() {
  auto parsed = attn::parseSpec({"dtype=f32", "head_dim=64", "heads_q=8", "mask=causal"},
                                attn::ShapeWords::Allowed);
  auto compiler = attn::Compiler::create({.target = "cpu"});
  auto program = compiler->compileHost(parsed->spec);
  if (!program)
    return std::fprintf(stderr, "%s\n", program.error().message.c_str()), 1;

  const int64_t batch = 2, seq = 300, heads = 8, dim = 64;
  std::vector<float> data[4], lse(batch * heads * seq);
  for (int t = 0; t < 4; ++t)
    for (int64_t i = 0; i < batch * seq * heads * dim; ++i)
      data[t].push_back(std::sin(static_cast<float>(i * (t + 7))));
  auto tensor = [&](int t) {
    return TensorArg::dense(data[t].data(), ElementType::F32, {batch, seq, heads, dim});
  };
  TensorArg lseTensor = TensorArg::dense(lse.data(), ElementType::F32, {batch, heads, seq});
  attn::rt::Argument arguments[] = {tensor(0), tensor(1), tensor(2),
                                    tensor(3), lseTensor, attn::rt::ScalarArg(0.125f)};
  if (auto status = (*program)->run(arguments); !status)
    return std::fprintf(stderr, "%s\n", status.error().message.c_str()), 1;

  std::vector<int64_t> rows{0, 150, 299};
  auto exact = attn::computeReference(parsed->spec, {batch, seq, seq, 0.125},
                                      {tensor(0), tensor(1), tensor(2)}, rows, 0);
  double worst = 0;
  const double *want = exact.o.data();
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t row : rows)
      for (int64_t i = 0; i < heads * dim; ++i)
        worst = std::fmax(worst, std::fabs(data[3][(b * seq + row) * heads * dim + i] - *want++));
  std::printf("largest error against float64: %.1e\n", worst);
  return worst < 1e-5 ? 0 : 2;
}
