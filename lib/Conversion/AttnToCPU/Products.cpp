//===- Products.cpp - Tile products as register-blocked loops -------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

namespace {
/// The part of a product whose accumulators stay in registers.
struct RegisterBlock {
  int64_t rows;
  int64_t vectors;
};
} // namespace

/// Each step over k loads `vectors` vectors of b and `rows` broadcast elements of a for
/// rows * vectors multiply-adds, so a block wants to be large and square; it needs
/// rows * vectors + vectors + 1 registers.
static RegisterBlock chooseBlock(int64_t rows, int64_t vectors, int64_t vectorWidth) {
  // AVX-512 has 32 registers; hosts of narrower vectors are assumed to have 16.
  int64_t registers = vectorWidth == 16 ? 32 : 16;
  int64_t wanted = vectorWidth == 16 ? 4 : 2;
  // Few rows: more columns keep the multiply-add units busy.
  if (rows < wanted)
    wanted = (registers - 1) / (rows + 1);
  RegisterBlock block;
  block.vectors = std::min(wanted, vectors);
  int64_t most = std::min<int64_t>({rows, (registers - 1 - block.vectors) / block.vectors, 12});
  // A slightly smaller block that divides the rows spares the code for the rest.
  block.rows = most;
  for (int64_t fewer = most; fewer >= (most * 2 + 2) / 3 && rows % block.rows != 0; --fewer)
    if (rows % fewer == 0)
      block.rows = fewer;
  return block;
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

/// Transposes vectorWidth vectors in log2(vectorWidth) rounds: each interleaves vector i
/// with vector i + n/2, which moves one bit of the column number to the row number.
static SmallVector<Value> transposeBlock(ImplicitLocOpBuilder &b, SmallVector<Value> rows) {
  int64_t n = rows.size();
  InterleaveMasks masks(n);
  for (int64_t round = 1; round < n; round *= 2) {
    SmallVector<Value> next;
    for (int64_t i = 0; i < n / 2; ++i)
      for (const auto &mask : {masks.low, masks.high})
        next.push_back(vector::ShuffleOp::create(b, rows[i], rows[i + n / 2], mask));
    rows = next;
  }
  return rows;
}

/// A copy of `from` with rows and columns exchanged, in which products read whole vectors.
Value KernelEmitter::packTransposed(const TileBuffer &from) {
  Value to = allocate({padded(from.cols), rowPitch(from.rows)});
  callShared("pack " + Twine(from.cols), {from.memref, to}, [&](ValueRange args) {
    forBlocks(from.rows, vectorWidth, [&](Value row, int64_t numRows) {
      forRange(index(0), index(from.cols), vectorWidth, [&](Value col) {
        SmallVector<Value> block;
        for (int64_t i = 0; i < vectorWidth; ++i)
          block.push_back(i < numRows ? load(args[0], {offset(row, i), col}) : splat(0.0f));
        for (auto [i, vector] : llvm::enumerate(transposeBlock(b, block)))
          store(vector, args[1], {offset(col, i), row});
      });
    });
  });
  return to;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// out[row.., col..] = init + sum_k a[row.., k] b[k, col..], accumulated in registers.
void KernelEmitter::emitProductBlock(const TileBuffer &a, Value matrix, const AccumulatorInit &init,
                                     Value out, Value row, int64_t numRows, Value col,
                                     int64_t numVectors) {
  SmallVector<Value> rows, cols, accumulators;
  for (int64_t i = 0; i < numRows; ++i)
    rows.push_back(offset(row, i));
  for (int64_t j = 0; j < numVectors; ++j)
    cols.push_back(offset(col, j * vectorWidth));
  for (Value r : rows) {
    Value factor;
    if (init.factors)
      factor = splat(memref::LoadOp::create(b, init.factors, r).getResult());
    for (Value c : cols) {
      Value start = init.buffer ? load(init.buffer, {r, c}) : splat(init.constant);
      if (factor)
        start = arith::MulFOp::create(b, start, factor);
      accumulators.push_back(start);
    }
  }
  auto loop = scf::ForOp::create(
      b, index(0), index(a.cols), index(1), accumulators,
      [&](OpBuilder &, Location, Value k, ValueRange carried) {
        SmallVector<Value> next, vectors;
        for (Value c : cols)
          vectors.push_back(load(matrix, {k, c}));
        for (int64_t i = 0; i < numRows; ++i) {
          Value element = memref::LoadOp::create(b, a.memref, ValueRange{rows[i], k});
          Value left = splat(element);
          for (int64_t j = 0; j < numVectors; ++j)
            next.push_back(vector::FMAOp::create(b, left, vectors[j], carried[i * numVectors + j]));
        }
        scf::YieldOp::create(b, next);
      });
  for (int64_t i = 0; i < numRows; ++i)
    for (int64_t j = 0; j < numVectors; ++j)
      store(loop.getResult(i * numVectors + j), out, {rows[i], cols[j]});
}

void KernelEmitter::emitProduct(const TileBuffer &a, Value matrix, const AccumulatorInit &init,
                                const TileBuffer &out) {
  RegisterBlock block = chooseBlock(out.rows, padded(out.cols) / vectorWidth, vectorWidth);
  SmallVector<Value> operands = {a.memref, matrix, out.memref};
  std::string start = "from constant " + std::to_string(llvm::bit_cast<uint32_t>(init.constant));
  if (init.buffer) {
    operands.push_back(init.buffer);
    start = "from buffer";
  }
  if (init.factors) {
    operands.push_back(init.factors);
    start = "from scaled buffer";
  }
  callShared("product " + Twine(a.cols) + " " + start, operands, [&](ValueRange args) {
    AccumulatorInit own = {init.constant, init.buffer ? args[3] : Value(),
                           init.factors ? args[4] : Value()};
    forBlocks(padded(out.cols), block.vectors * vectorWidth, [&](Value col, int64_t numCols) {
      forBlocks(out.rows, block.rows, [&](Value row, int64_t numRows) {
        emitProductBlock({args[0], a.rows, a.cols}, args[1], own, args[2], row, numRows, col,
                         numCols / vectorWidth);
      });
    });
  });
}

LogicalResult KernelEmitter::emitOp(TileMmaOp op) {
  TileBuffer a = bufferOf(op.getA());
  Value matrix;
  if (!op.getTransposeB()) {
    matrix = bufferOf(op.getB()).memref;
  } else {
    auto known = packed.find(op.getB());
    matrix = known != packed.end() ? known->second : packTransposed(bufferOf(op.getB()));
  }

  AccumulatorInit init;
  TileBuffer out;
  if (auto constant = op.getAcc().getDefiningOp<FillOp>()) {
    init.constant = constant.getValue().convertToFloat();
    out = allocateFor(op.getResult().getType()).front();
  } else {
    SmallVector<TileBuffer, 2> acc = buffersOf(op.getAcc());
    init.buffer = acc.front().memref;
    init.factors = pendingFactors.lookup(op.getAcc());
    out = reuse(op.getAccMutable(), acc).front();
  }

  emitProduct(a, matrix, init, out);
  bind(op.getResult(), out);
  return success();
}

/// result[r, :] = tile[r, :] factors[r]. A product that takes the result as its
/// accumulator applies the factors while it loads it.
LogicalResult KernelEmitter::emitOp(RescaleOp op) {
  SmallVector<TileBuffer, 2> from = buffersOf(op.getTile());
  Value factors = bufferOf(op.getFactors()).memref;
  if (op.getResult().hasOneUse() && isLastUse(op.getTileMutable())) {
    OpOperand &use = *op.getResult().use_begin();
    auto mma = dyn_cast<TileMmaOp>(use.getOwner());
    if (mma && &use == &mma.getAccMutable() && mma->getBlock() == op->getBlock()) {
      pendingFactors[op.getResult()] = factors;
      bind(op.getResult(), from);
      return success();
    }
  }
  TileBuffer to = reuse(op.getTileMutable(), from).front();
  forRows(to.rows, [&](Value row) {
    Value factor = splat(memref::LoadOp::create(b, factors, row).getResult());
    forColumns(to.cols, {}, [&](Value col, Value, ValueRange) -> SmallVector<Value> {
      Value vector = load(from.front().memref, {row, col});
      store(arith::MulFOp::create(b, vector, factor), to.memref, {row, col});
      return {};
    });
  });
  bind(op.getResult(), to);
  return success();
}
