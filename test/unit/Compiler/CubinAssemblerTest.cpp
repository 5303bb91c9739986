//===- CubinAssemblerTest.cpp - The log of ptxas --------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Target/CubinAssembler.h"

#include <fstream>
#include <gmock/gmock.h>
#include <llvm/ADT/SmallString.h>
#include <llvm/Support/FileSystem.h>
#include <thread>

using namespace attn;
using testing::HasSubstr;

namespace {

TEST(CubinAssembler, ReadsResourcesOfEachKernel) {
  auto kernels = parseAssemblerLog(R"(ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'first' for 'sm_80'
ptxas info    : Function properties for first
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 168 registers, used 1 barriers, 488 bytes cmem[0]
ptxas info    : Compiling entry function 'second' for 'sm_80'
ptxas info    : Function properties for second
    24 bytes stack frame, 20 bytes spill stores, 28 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 1024 bytes smem, 488 bytes cmem[0]
)");
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].name, "first");
  EXPECT_EQ(kernels[0].registers, 168);
  EXPECT_EQ(kernels[0].spillStoreBytes, 0);
  EXPECT_EQ(kernels[0].sharedBytes, 0);
  EXPECT_EQ(kernels[1].registers, 255);
  EXPECT_EQ(kernels[1].stackBytes, 24);
  EXPECT_EQ(kernels[1].spillStoreBytes, 20);
  EXPECT_EQ(kernels[1].spillLoadBytes, 28);
  EXPECT_EQ(kernels[1].sharedBytes, 1024);
}

TEST(CubinAssembler, MissingAssemblerIsNamed) {
  auto assembler = Assembler::find("/nonexistent/ptxas");
  ASSERT_FALSE(assembler);
  EXPECT_THAT(assembler.error().message, HasSubstr("/nonexistent/ptxas"));
}

/// An executable file that is gone with the object.
struct Script {
  llvm::SmallString<128> path;

  explicit Script(const std::string &text) {
    EXPECT_FALSE(llvm::sys::fs::createTemporaryFile("ptxas", "sh", path));
    write(text);
  }
  ~Script() { llvm::sys::fs::remove(path); }
  void write(const std::string &text) {
    std::ofstream(path.str().str()) << "#!/bin/sh\n" << text;
    llvm::sys::fs::setPermissions(path, llvm::sys::fs::all_all);
  }
};

TEST(CubinAssembler, VersionIsAskedOnce) {
  Script calls(""), program("");
  auto numCalls = [&] {
    std::ifstream file(calls.path.str().str());
    return std::count(std::istreambuf_iterator<char>(file), {}, '.');
  };
  std::string count = "echo . >> " + calls.path.str().str() + "\n";
  program.write(count + "echo ptxas one\n");
  ASSERT_TRUE(Assembler::find(program.path));
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      auto assembler = Assembler::find(program.path);
      ASSERT_TRUE(assembler) << assembler.error().message;
      EXPECT_EQ(assembler->identity(), "ptxas one\n");
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(numCalls(), 1);
  // Another program in its place is another assembler.
  program.write(count + "echo ptxas the second\n");
  auto assembler = Assembler::find(program.path);
  ASSERT_TRUE(assembler) << assembler.error().message;
  EXPECT_EQ(assembler->identity(), "ptxas the second\n");
  // What is no assembler may become one.
  program.write(count + "echo hello, I am no such thing\n");
  EXPECT_FALSE(Assembler::find(program.path));
  EXPECT_FALSE(Assembler::find(program.path));
  EXPECT_EQ(numCalls(), 4);
}

TEST(CubinAssembler, FailureSaysHowToRepeatIt) {
  auto assembler = Assembler::find();
  if (!assembler)
    GTEST_SKIP() << assembler.error().message;
  auto cubin = assembler->assemble(".version 7.0\n.target sm_80\nnonsense\n", "sm_80");
  ASSERT_FALSE(cubin);
  EXPECT_THAT(cubin.error().message, HasSubstr("repeat with:"));
  EXPECT_THAT(cubin.error().message, HasSubstr("-arch=sm_80"));
}

} // namespace
