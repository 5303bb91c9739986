// RUN: not attn-opt %s -convert-attn-to-cpu=vector-width=12 2>&1 | FileCheck %s

// CHECK: error: expected vector-width to be 4, 8 or 16, got 12
module {
}
