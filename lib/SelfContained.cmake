# Makes AttnLLVM link the archives of LLVM and MLIR instead of their shared libraries, so that a
# tool runs where no LLVM is installed.

# Every MLIR archive names the shared LLVM beside the archives it needs. A program with both aborts
# at its start: each registers the same options.
foreach(target ${MLIR_EXPORTED_TARGETS})
  if(NOT TARGET ${target})
    continue()
  endif()
  get_target_property(libraries ${target} INTERFACE_LINK_LIBRARIES)
  if(libraries)
    list(REMOVE_ITEM libraries LLVM "$<LINK_ONLY:LLVM>" MLIR)
    set_target_properties(${target} PROPERTIES INTERFACE_LINK_LIBRARIES "${libraries}")
  endif()
endforeach()

# What our sources include; the archives name what they need themselves.
target_link_libraries(AttnLLVM INTERFACE
  MLIRAffineToStandard MLIRArithToLLVM MLIRArithTransforms MLIRArithUtils
  MLIRBuiltinToLLVMIRTranslation
  MLIRBytecodeReader MLIRBytecodeWriter MLIRControlFlowToLLVM MLIRFuncToLLVM MLIRGPUDialect
  MLIRIndexToLLVM MLIRLLVMToLLVMIRTranslation MLIRMathToLLVM MLIRMathToLibm MLIRMathTransforms
  MLIRMemRefToLLVM MLIRMemRefTransforms MLIRNVVMToLLVMIRTranslation MLIROptLib MLIRParser MLIRPass
  MLIRReconcileUnrealizedCasts MLIRSCFToControlFlow MLIRSCFTransforms MLIRTargetLLVMIRExport
  MLIRTransforms MLIRTranslateLib MLIRVectorToLLVM MLIRVectorToLLVMPass MLIRVectorTransforms)
llvm_map_components_to_libnames(llvm_archives
  Analysis BitWriter CodeGen Core IRReader NVPTX OrcJIT Passes Support SupportLSP Target
  TargetParser X86)
target_link_libraries(AttnLLVM INTERFACE ${llvm_archives})

# LLVM's own dependencies as archives too, where the system has them. --as-needed drops the others:
# the archives name Z3, which only clang's analyzer calls.
set(zlib ZLIB::ZLIB libz.a)
set(zstd zstd::libzstd_shared libzstd.a)
set(xml2 LibXml2::LibXml2 libxml2.a)
foreach(dependency zlib zstd xml2)
  list(GET ${dependency} 0 target)
  list(GET ${dependency} 1 archive)
  find_library(ATTN_${dependency}_ARCHIVE ${archive})
  if(NOT TARGET ${target} OR NOT ATTN_${dependency}_ARCHIVE)
    continue()
  endif()
  get_target_property(configurations ${target} IMPORTED_CONFIGURATIONS)
  set_target_properties(${target} PROPERTIES IMPORTED_LOCATION ${ATTN_${dependency}_ARCHIVE})
  foreach(configuration ${configurations})
    set_target_properties(${target} PROPERTIES
      IMPORTED_LOCATION_${configuration} ${ATTN_${dependency}_ARCHIVE})
  endforeach()
endforeach()

target_compile_options(AttnLLVM INTERFACE $<BUILD_INTERFACE:-ffunction-sections>
  $<BUILD_INTERFACE:-fdata-sections>)
target_link_options(AttnLLVM INTERFACE
  $<BUILD_INTERFACE:-static-libstdc++> $<BUILD_INTERFACE:-static-libgcc>
  $<BUILD_INTERFACE:LINKER:--as-needed> $<BUILD_INTERFACE:LINKER:--gc-sections>
  $<BUILD_INTERFACE:LINKER:-s>)
