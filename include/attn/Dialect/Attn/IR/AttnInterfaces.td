//===- AttnInterfaces.td - Interfaces of mask and layout attributes -------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_INTERFACES
#define ATTN_INTERFACES

include "mlir/IR/OpBase.td"

def Attn_MaskAttrInterface : AttrInterface<"MaskAttrInterface"> {
  let cppNamespace = "::attn";
  let description = [{
    Which keys `j` a query row `i` may see. Everything the compiler knows of a
    mask comes through these methods: block skipping, mask-free loops and
    per-element tests are derived from them on every target.

    A mask may take run-time parameters (a window bound, a table of document
    ids). They are operands of the op that carries the attribute; `all_of` and
    `any_of` hand each member its share in order.
  }];
  let methods = [
    InterfaceMethod<"Number of run-time parameters the mask takes from its op.",
      "unsigned", "getNumParams", (ins), "", "return 0;">,
    InterfaceMethod<"Checks the types of the run-time parameters.",
      "::llvm::LogicalResult", "verifyParams",
      (ins "::mlir::TypeRange":$types,
           "::llvm::function_ref<::mlir::InFlightDiagnostic()>":$emitError),
      "", "return ::mlir::success();">,
    InterfaceMethod<"True when the mask keeps every pair.",
      "bool", "keepsAll", (ins), "", "return false;">,
    InterfaceMethod<[{
        Keys outside the returned range are masked for every row in
        [rowBegin, rowEnd). Conservative: the range may hold masked pairs. It may
        reach beyond [0, seq_len_kv) or be empty (end <= begin); the caller clamps.
      }], "::attn::KeyRange", "keptRange",
      (ins "::attn::MaskContext &":$ctx, "::mlir::Value":$rowBegin, "::mlir::Value":$rowEnd)>,
    InterfaceMethod<[{
        True when the keys that row i sees are exactly `keptRange(i, i + 1)`: then a test of
        one pair is two comparisons with bounds of the row.
      }], "bool", "rowsAreIntervals", (ins), "", "return false;">,
    InterfaceMethod<[{
        Keys in the returned range are kept for every row in [rowBegin, rowEnd),
        so that no per-element test is needed. Conservative: it may be smaller
        than the largest such range, or empty.
      }], "::attn::KeyRange", "fullRange",
      (ins "::attn::MaskContext &":$ctx, "::mlir::Value":$rowBegin, "::mlir::Value":$rowEnd)>,
    InterfaceMethod<"An i1: row i sees key j.",
      "::mlir::Value", "predicate",
      (ins "::attn::MaskContext &":$ctx, "::mlir::Value":$i, "::mlir::Value":$j)>,
  ];
}

def Attn_KVLayoutAttrInterface : AttrInterface<"KVLayoutAttrInterface"> {
  let cppNamespace = "::attn";
  let description = [{
    Where the rows of K and V live. A tile program asks for the extent of one
    sequence and for a tile of its rows; it never computes an address itself.
    Run-time tables (block tables, sequence lengths) are operands of the op.
  }];
  let methods = [
    InterfaceMethod<"Number of run-time operands the layout takes from its op.",
      "unsigned", "getNumOperands", (ins), "", "return 0;">,
    InterfaceMethod<"Checks the types of the run-time operands.",
      "::llvm::LogicalResult", "verifyOperands",
      (ins "::mlir::TypeRange":$types,
           "::llvm::function_ref<::mlir::InFlightDiagnostic()>":$emitError),
      "", "return ::mlir::success();">,
    InterfaceMethod<"Number of valid rows (index) of sequence `batch` in `tensor`.",
      "::mlir::Value", "seqLen",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "::mlir::Value":$tensor,
           "::mlir::ValueRange":$operands, "::mlir::Value":$batch)>,
    InterfaceMethod<[{
        Builds the load of rows [row, row + tile rows) of one head; rows at or
        past `rowLimit` read as zero, whatever memory holds there.
      }], "::mlir::Value", "loadTile",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "::mlir::Type":$tileType,
           "::mlir::Value":$tensor, "::mlir::ValueRange":$operands, "::mlir::Value":$batch,
           "::mlir::Value":$row, "::mlir::Value":$head, "::mlir::Value":$rowLimit)>,
    InterfaceMethod<"True when a tile of `rows` rows is one strided box in memory.",
      "bool", "isBulkTile", (ins "int64_t":$rows)>,
  ];
}

#endif // ATTN_INTERFACES
