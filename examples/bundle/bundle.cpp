// Finds a kernel in a bundle of attnc prewarm and says how it is launched, with the runtime alone.
//
//   attnc prewarm llama-3-8b phase=decode --target sm_90a --bundle llama.attnb
//   cmake -S examples/bundle -B build/bundle -DCMAKE_PREFIX_PATH=PREFIX && cmake --build
//   build/bundle build/bundle/bundle llama.attnb                     # lists the kernels
//   build/bundle/bundle llama.attnb sm_90a SPEC         # SPEC as it was listed

#include <attn/Runtime/Bundle.h>

#include <cstdio>
#include <string>

using namespace attn::rt;

static int failure(const Error &error) {
  std::fprintf(stderr, "%s\n", error.message.c_str());
  return 1;
}

static void describe(const Manifest &manifest) {
  std::printf("chip      %s\npayload   %s\ncompiler  %s\n", manifest.chip.c_str(),
              std::string(toString(manifest.payloadKind)).c_str(), manifest.compiler.c_str());
  for (const ArgumentSpec &argument : manifest.arguments)
    std::printf("argument  %s %s\n", argument.name.c_str(),
                std::string(toString(argument.kind)).c_str());
  for (const KernelEntry &kernel : manifest.kernels)
    std::printf("kernel    %s: %d threads, %lld bytes of shared memory\n", kernel.name.c_str(),
                kernel.threads,
                static_cast<long long>(kernel.staticSharedBytes + kernel.dynamicSharedBytes));
}

int main(int argc, char **argv) {
  if (argc != 2 && argc != 4)
    return failure({ErrorCode::BadInput, "usage: bundle FILE [TARGET SPEC]"});
  Expected<Bundle::Ptr> bundle = Bundle::open(argv[1]);
  if (!bundle)
    return failure(bundle.error());
  if (argc == 2) {
    for (const BundleKernel &kernel : (*bundle)->kernels())
      std::printf("%s %s %s\n", kernel.target.c_str(),
                  std::string(toString(kernel.payload)).c_str(), kernel.spec.c_str());
    return 0;
  }
  const BundleKernel *kernel = (*bundle)->find(argv[3], argv[2], PayloadKind::Ptx);
  if (!kernel)
    return failure(
        {ErrorCode::NotFound, std::string("no kernel '") + argv[3] + "' for " + argv[2]});
  // The alias is what a process that has the compiler would look for.
  if ((*bundle)->resolve(kernel->alias) != kernel)
    return failure({ErrorCode::Internal, "the alias leads elsewhere"});
  Expected<Artifact> artifact = (*bundle)->get(kernel->key);
  if (!artifact)
    return failure(artifact.error());
  describe(artifact->manifest);
  return 0;
}
