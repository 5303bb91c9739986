//===- Wgmma.cpp - Products of a warpgroup --------------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Order of sums: the products of one instruction and the accumulator are added in double and
// rounded once to f32. The tensor core's order is not documented; both results lie within
// 2 (k + 1) 2^-23 times the sum of the magnitudes of the exact one for 16-bit operands. It
// adds products of 8-bit operands with fewer bits: 2 (k + 1) 2^-13 there.
//
//===----------------------------------------------------------------------===//

#include "Float8.h"
#include "MatrixDescriptor.h"
#include "Numbers.h"
#include "Operands.h"
#include "Products.h"
#include "Semantics.h"
#include "attn/Dialect/AttnNV/IR/AttnNV.h"
#include "attn/Emulator/Launch.h"

#include <mlir/Dialect/LLVMIR/NVVMDialect.h>

using namespace mlir;
using namespace attn::emu;
using llvm::ArrayRef;
using llvm::Twine;

static constexpr size_t kRows = 64, kChunkBytes = 16;

namespace {

/// Element types of an operand.
enum class Element { F16, BF16, E4M3, E5M2 };

float decode(Element element, const std::byte *bytes, size_t index) {
  switch (element) {
  case Element::F16:
    return fromF16(get<uint16_t>(bytes, 2 * index));
  case Element::BF16:
    return fromBF16(get<uint16_t>(bytes, 2 * index));
  case Element::E4M3:
    return decodeF8(Float8::E4M3, get<uint8_t>(bytes, index));
  case Element::E5M2:
    return decodeF8(Float8::E5M2, get<uint8_t>(bytes, index));
  }
  llvm_unreachable("all elements are handled");
}

Element elementOf(Type type) {
  if (type.isF16())
    return Element::F16;
  if (type.isBF16())
    return Element::BF16;
  return isa<Float8E4M3FNType>(type) ? Element::E4M3 : Element::E5M2;
}

/// Row and column of value `i` of a thread.
std::pair<size_t, size_t> positionOf(size_t thread, size_t i) {
  size_t lane = thread % kLanes;
  size_t row = 16 * (thread / kLanes) + lane / 4 + 8 * (i / 2 % 2);
  return {row, 8 * (i / 4) + 2 * (lane % 4) + i % 2};
}

/// An operand as floats: element (r, k) is values[r * k + ...].
struct Matrix {
  Matrix(size_t numRows, size_t k) : k(k), values(numRows * k) {}
  float &at(size_t row, size_t inner) { return values[row * k + inner]; }
  size_t k;
  std::vector<float> values;
};

/// Where an operand in shared memory lies, and how to read it.
struct SharedOperand {
  MatrixDescriptor descriptor;
  const std::byte *window; ///< Address 0 of the CTA's window.
  Element element;
  size_t numRows, k;
  bool mnMajor;

  Matrix read() const {
    Matrix matrix(numRows, k);
    size_t perChunk = k / 2;
    for (unsigned chunk = 0, e = descriptor.numChunks(); chunk != e; ++chunk) {
      const std::byte *bytes = window + descriptor.address(chunk);
      for (size_t i = 0; i != perChunk; ++i) {
        float value = decode(element, bytes, i);
        if (mnMajor)
          matrix.at(size_t(chunk / 16) * 8 + i, chunk % 16) = value;
        else
          matrix.at(chunk / 2, size_t(chunk % 2) * perChunk + i) = value;
      }
    }
    return matrix;
  }
};

/// d = a b^T + c, one rounding for each element.
void multiply(const Matrix &a, const Matrix &b, size_t n, Product &d, const Product *c) {
  // Row by row, with b's inner dim outermost, so that the loop over columns vectorizes.
  std::vector<double> transposed(b.values.size());
  for (size_t column = 0; column != n; ++column)
    for (size_t k = 0; k != b.k; ++k)
      transposed[k * n + column] = b.values[column * b.k + k];
  std::vector<double> sums(kRows * n);
  for (size_t row = 0; row != kRows; ++row)
    for (size_t k = 0; k != a.k; ++k) {
      double factor = a.values[row * a.k + k];
      double *sum = &sums[row * n];
      const double *line = &transposed[k * n];
      for (size_t column = 0; column != n; ++column)
        sum[column] += factor * line[column];
    }
  for (size_t thread = 0; thread != kWarpgroupThreads; ++thread)
    for (size_t i = 0; i != d.perThread; ++i) {
      auto [row, column] = positionOf(thread, i);
      double sum = sums[row * n + column];
      size_t index = thread * d.perThread + i;
      if (c)
        sum += c->values[index];
      d.values[index] = static_cast<float>(sum);
    }
}

//===----------------------------------------------------------------------===//
// wgmma
//===----------------------------------------------------------------------===//

class Wgmma : public GroupInstruction {
public:
  void execute(Warpgroup &group, const Site &site, ArrayRef<Lane> lanes) const override;
  unsigned latency() const override { return static_cast<unsigned>(n / 2); }
  static DecodeResult decode(attn::nv::WgmmaOp op);

private:
  /// An operand that all threads must agree on. False: reported.
  template <typename T> static bool agree(ArrayRef<Lane> lanes, size_t offset, StringRef what);
  /// Marks an operand's bytes as being read. False: reported.
  static bool begin(AsyncOp &op, Warpgroup &group, const Accessor &accessor,
                    const SharedOperand &operand, StringRef what);
  SharedOperand shared(Warpgroup &group, uint64_t bits, bool isA) const;
  Matrix readRegisters(ArrayRef<Lane> lanes) const;
  /// What the accumulators hold, or will: null after a report.
  ProductPtr accumulators(Warpgroup &group, const Site &site, ArrayRef<Lane> lanes) const;

  size_t n = 0, k = 0;
  Element elementA = Element::F16, elementB = Element::F16;
  bool transposeA = false, transposeB = false;
  std::optional<size_t> descriptorA, scale;
  size_t registersA = 0, descriptorB = 0;
  std::optional<size_t> acc;
};

DecodeResult Wgmma::decode(attn::nv::WgmmaOp op) {
  Operands<attn::nv::WgmmaOp> operands(op);
  auto wgmma = std::make_unique<Wgmma>();
  wgmma->n = op.getN();
  wgmma->k = static_cast<size_t>(op.getK());
  wgmma->elementA = elementOf(op.getTypeA());
  wgmma->elementB = elementOf(op.getTypeB());
  wgmma->transposeA = op.getTransposeA();
  wgmma->transposeB = op.getTransposeB();
  wgmma->descriptorA = operands.optional(0);
  if (!wgmma->descriptorA)
    wgmma->registersA = operands.at(1);
  wgmma->descriptorB = operands.at(2);
  wgmma->acc = operands.optional(3);
  wgmma->scale = operands.optional(4);
  return std::unique_ptr<Instruction>(std::move(wgmma));
}

template <typename T> bool Wgmma::agree(ArrayRef<Lane> lanes, size_t offset, StringRef what) {
  auto first = get<T>(lanes.front().args, offset);
  for (const Lane &lane : lanes)
    if (get<T>(lane.args, offset) != first) {
      lane.thread->report(ReportKind::BadOperand, Twine(what) + " is not that of thread 0 of the "
                                                                "warpgroup");
      return false;
    }
  return true;
}

SharedOperand Wgmma::shared(Warpgroup &group, uint64_t bits, bool isA) const {
  bool transpose = isA ? transposeA : transposeB;
  size_t rows = isA ? kRows : n;
  const std::byte *window = group.cta.memory.data() - kSharedStart;
  return {MatrixDescriptor(bits, static_cast<unsigned>(rows), transpose),
          window,
          isA ? elementA : elementB,
          rows,
          k,
          transpose};
}

bool Wgmma::begin(AsyncOp &op, Warpgroup &group, const Accessor &accessor,
                  const SharedOperand &operand, StringRef what) {
  if (operand.descriptor.hasBaseOffset()) {
    accessor.thread.report(ReportKind::BadDescriptor,
                           Twine(what) + " has a base offset, which the emulator does not know");
    return false;
  }
  SharedMemory &memory = group.cta.memory;
  for (unsigned chunk = 0, e = operand.descriptor.numChunks(); chunk != e; ++chunk) {
    uint32_t address = operand.descriptor.address(chunk);
    const std::byte *bytes = operand.window + address;
    if (!memory.contains(bytes)) {
      accessor.thread.report(ReportKind::BadDescriptor,
                             Twine(what) + " reaches shared address " + Twine(address) +
                                 ", where the CTA has " + Twine(memory.size()) + " bytes from " +
                                 Twine(kSharedStart));
      return false;
    }
    if (!op.begin(memory, accessor, AccessKind::Read, bytes, kChunkBytes, kChunkBytes))
      return false;
  }
  return true;
}

Matrix Wgmma::readRegisters(ArrayRef<Lane> lanes) const {
  Matrix matrix(kRows, k);
  size_t perRegister = k / 8;
  for (auto [thread, lane] : llvm::enumerate(lanes))
    for (size_t reg = 0; reg != 4; ++reg) {
      size_t row = 16 * (thread / kLanes) + thread % kLanes / 4 + 8 * (reg % 2);
      size_t first = reg / 2 * (k / 2) + thread % 4 * perRegister;
      const std::byte *bytes = lane.args + registersA + 8 * reg;
      for (size_t i = 0; i != perRegister; ++i)
        matrix.at(row, first + i) = ::decode(elementA, bytes, i);
    }
  return matrix;
}

ProductPtr Wgmma::accumulators(Warpgroup &group, const Site &site, ArrayRef<Lane> lanes) const {
  size_t perThread = n / 2;
  auto bits = [&](const Lane &lane, size_t i) { return get<uint32_t>(lane.args, *acc + 8 * i); };
  uint32_t first = bits(lanes.front(), 0);
  ProductTable &table = productsOf(group);
  ProductPtr previous = table.find(first);
  if (previous && previous->perThread != perThread) {
    lanes.front().thread->report(ReportKind::AccumulatorInFlight,
                                 "accumulates onto the values of " + previous->site.text() +
                                     ", which has another shape and is in flight");
    return nullptr;
  }
  auto values = std::make_shared<Product>(site, perThread);
  for (auto [thread, lane] : llvm::enumerate(lanes))
    for (size_t i = 0; i != perThread; ++i) {
      uint32_t value = bits(lane, i);
      bool fits = previous ? value == Tag::encode(Tag(first).number, i)
                           : !table.find(value) && !table.endOf(value);
      if (!fits) {
        const Site *end = table.endOf(value);
        lane.thread->report(
            ReportKind::AccumulatorInFlight,
            "accumulator " + Twine(i) +
                (end ? " is of a product whose registers were given on by " + end->text()
                     : " is not the one that the products before it left there"));
        return nullptr;
      }
      values->values[thread * perThread + i] = std::bit_cast<float>(value);
    }
  return previous ? previous : values;
}

void Wgmma::execute(Warpgroup &group, const Site &site, ArrayRef<Lane> lanes) const {
  Thread &issuer = *lanes.front().thread;
  if (!group.fenced)
    return issuer.report(ReportKind::MissingWgmmaFence,
                         "no wgmma.fence since the warpgroup's registers could last be written");
  if (!agree<uint64_t>(lanes, descriptorB, "the descriptor of B") ||
      (descriptorA && !agree<uint64_t>(lanes, *descriptorA, "the descriptor of A")) ||
      (scale && !agree<bool>(lanes, *scale, "scale_d")))
    return;

  ProductTable &table = productsOf(group);
  ProductPtr previous;
  if (acc && (!scale || get<bool>(lanes.front().args, *scale))) {
    previous = accumulators(group, site, lanes);
    if (!previous)
      return;
  }
  auto product = std::make_shared<Product>(site, n / 2);
  auto op = std::make_shared<AsyncOp>(site, issuer);
  product->op = op;

  Clocks known = group.meet();
  Accessor accessor = group.accessor(issuer, site, known, Proxy::Async);
  SharedOperand b = shared(group, get<uint64_t>(lanes.front().args, descriptorB), false);
  std::optional<SharedOperand> a;
  std::optional<Matrix> registers;
  if (descriptorA)
    a = shared(group, get<uint64_t>(lanes.front().args, *descriptorA), true);
  else
    registers = readRegisters(lanes);
  if (!begin(*op, group, accessor, b, "the descriptor of B") ||
      (a && !begin(*op, group, accessor, *a, "the descriptor of A")))
    return;

  // The product owns the operation, which must not own it.
  op->move = [a, b, registers = std::move(registers), previous, n = n,
              result = std::weak_ptr<Product>(product)] {
    ProductPtr product = result.lock();
    if (!product)
      return;
    if (previous && previous->op)
      previous->op->land();
    multiply(a ? a->read() : *registers, b.read(), n, *product, previous.get());
  };
  // The registers of the accumulators are those of the result, whether or not they are added.
  if (uint32_t old = acc ? get<uint32_t>(lanes.front().args, *acc) : 0; table.find(old))
    table.remove(old, site);
  std::optional<uint32_t> number = table.add(product);
  if (!number)
    return issuer.report(ReportKind::AccumulatorInFlight,
                         Twine(ProductTable::kMost) +
                             " products were started of which no wait has tied the values");
  group.wgmmas.add(op);
  group.cta.cluster.launch.engine.issue(op, /*wakes=*/false);
  for (const Lane &lane : lanes)
    for (size_t i = 0; i != n / 2; ++i)
      put(lane.results, 8 * i, Tag::encode(*number, i));
}

} // namespace

void attn::emu::registerWgmma(InstructionTable &table) {
  addOp<attn::nv::WgmmaOp, Wgmma::decode>(table);
}
