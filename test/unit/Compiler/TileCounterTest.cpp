//===- TileCounterTest.cpp - Kernels that draw their tiles ----------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../../lib/Compiler/ManifestBuilder.h"
#include "attn/Compiler/EmulatedProgram.h"
#include "attn/Pipelines/Registration.h"

#include <gmock/gmock.h>
#include <mlir/IR/MLIRContext.h>
#include <mlir/Parser/Parser.h>

using namespace attn;
using namespace mlir;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

class TileCounter : public testing::Test {
protected:
  TileCounter() {
    DialectRegistry registry;
    registerDialects(registry);
    context.appendDialectRegistry(registry);
  }
  MLIRContext context;
};

//===----------------------------------------------------------------------===//
// On the emulator
//===----------------------------------------------------------------------===//

/// A CTA takes the tile of its own number and then draws: ten draws for ten tiles. Each tile adds
/// one to its element of x.
constexpr const char *kDrawing = R"(
llvm.func @drawing(%x0: !llvm.ptr<1>, %x: !llvm.ptr<1>, %x2: i64, %x3: i64, %x4: i64,
                   %c0: !llvm.ptr<1>, %counter: !llvm.ptr<1>, %c2: i64, %c3: i64, %c4: i64)
    attributes {nvvm.kernel, nvvm.maxntid = array<i32: 1>} {
  %one = llvm.mlir.constant(1 : i32) : i32
  %tiles = llvm.mlir.constant(10 : i32) : i32
  %bound = llvm.mlir.constant(BOUND : i32) : i32
  %cta = nvvm.read.ptx.sreg.ctaid.x : i32
  %ctas = nvvm.read.ptx.sreg.nctaid.x : i32
  llvm.br ^tile(%cta : i32)
^tile(%i: i32):
  %at = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
  %old = llvm.load %at : !llvm.ptr<1> -> i32
  %new = llvm.add %old, %one : i32
  llvm.store %new, %at : i32, !llvm.ptr<1>
  %drawn = llvm.atomicrmw uinc_wrap %counter, %bound monotonic : !llvm.ptr<1>, i32
  %next = llvm.add %ctas, %drawn : i32
  %more = llvm.icmp "ult" %next, %tiles : i32
  llvm.cond_br %more, ^tile(%next : i32), ^end
^end:
  llvm.return
})";

class EmulatedTileCounter : public TileCounter {
protected:
  rt::Status run(const std::string &bound, const emu::LaunchOptions &options = {}) {
    std::string text = kDrawing;
    text.replace(text.find("BOUND"), 5, bound);
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    auto program = emu::Program::create(*module, *findTarget("sm_80"));
    EXPECT_TRUE(program) << program.error().message;
    rt::Manifest manifest;
    manifest.chip = "sm_80";
    manifest.arguments = {rt::ArgumentSpec::memref("x", rt::ElementType::I32, {10})};
    rt::KernelEntry kernel;
    kernel.name = "drawing";
    kernel.grid = {rt::SizeFactor::constant(10)};
    kernel.persistent = kernel.tileCounter = true;
    kernel.threads = 1;
    kernel.arguments = {0};
    manifest.kernels = {kernel, kernel};
    EXPECT_TRUE(rt::validate(manifest));
    std::vector<rt::Argument> arguments = {
        rt::TensorArg::dense(x.data(), rt::ElementType::I32, {10})};
    return EmulatedProgram(std::move(manifest), std::move(*program), rt::ErrorCode::Internal)
        .run(arguments, options);
  }
  std::vector<int32_t> x = std::vector<int32_t>(10);
};

TEST_F(EmulatedTileCounter, StartsAtZeroForEachLaunch) {
  rt::Status status = run("9");
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_THAT(x, Each(2));
  emu::LaunchOptions inTurns;
  inTurns.interleave = 3;
  ASSERT_TRUE(run("9", inTurns));
  EXPECT_THAT(x, Each(4));
}

TEST_F(EmulatedTileCounter, MustBeLeftAtZero) {
  rt::Status status = run("10");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, rt::ErrorCode::Internal);
  EXPECT_EQ(status.error().message, "kernel 'drawing' left its tile counter at 10, expected 0");
  // One CTA alone draws what it needs.
  emu::LaunchOptions alone;
  alone.onlyCta = 1;
  EXPECT_TRUE(run("9", alone));
}

//===----------------------------------------------------------------------===//
// In manifests
//===----------------------------------------------------------------------===//

class TileCounterArgument : public TileCounter {
protected:
  rt::Status read(const std::string &arguments, rt::Manifest &manifest) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>("func.func @k(" + arguments + R"()
        attributes {attn.kernel} {
      %tiles = arith.constant 12 : index
      %n = attn.num_ctas %tiles
      scf.forall (%i) in (%n) {
      } {attn.schedule = #attn.schedule<>, attn.smem_bytes = 16 : i64}
      return
    })",
                                                               &context);
    EXPECT_TRUE(module);
    return readKernels(*module, manifest);
  }
};

constexpr const char *kTensor = "%q: memref<4x8xf16>";
constexpr const char *kCounter = "%c: memref<1xi32> {attn.tile_counter}";
constexpr const char *kMap = "%m: !attn.tensor_map<64 x 64 x f16> {attn.tensor_map_of = 0 : i64}";

TEST_F(TileCounterArgument, IsNoneOfTheArguments) {
  rt::Manifest manifest;
  rt::Status status = read(std::string(kTensor) + ", " + kCounter + ", " + kMap, manifest);
  ASSERT_TRUE(status) << status.error().message;
  const rt::KernelEntry &kernel = manifest.kernels.front();
  EXPECT_TRUE(kernel.tileCounter);
  EXPECT_THAT(kernel.arguments, ElementsAre(0));
  EXPECT_EQ(kernel.tensorMaps.size(), 1u);

  rt::Manifest without;
  ASSERT_TRUE(read(std::string(kTensor) + ", " + kMap, without));
  EXPECT_FALSE(without.kernels.front().tileCounter);
}

TEST_F(TileCounterArgument, StandsBetweenArgumentsAndMaps) {
  for (const std::string &arguments : {std::string(kCounter) + ", " + kTensor,
                                       std::string(kTensor) + ", " + kMap + ", " + kCounter}) {
    rt::Manifest manifest;
    rt::Status status = read(arguments, manifest);
    ASSERT_FALSE(status) << arguments;
    EXPECT_EQ(status.error().code, rt::ErrorCode::Internal);
    EXPECT_THAT(status.error().message, HasSubstr("of kernel 'k' comes after its tile counter or "
                                                  "tensor maps"));
  }
}

} // namespace
