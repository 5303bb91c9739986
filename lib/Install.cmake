# Installs headers, libraries and the package that find_package(Attn) reads.
include(CMakePackageConfigHelpers)

get_property(attn_libraries GLOBAL PROPERTY ATTN_LIBRARIES)
if(NOT ATTN_RUNTIME_ONLY)
  list(APPEND attn_libraries AttnLLVM)
endif()
foreach(library IN LISTS attn_libraries)
  # AttnCompiler is Attn::Compiler to others.
  string(REGEX REPLACE "^Attn" "" name ${library})
  set_target_properties(${library} PROPERTIES EXPORT_NAME ${name})
endforeach()
set(attn_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Attn)
install(TARGETS ${attn_libraries} EXPORT AttnTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT AttnTargets NAMESPACE Attn:: DESTINATION ${attn_package_dir})
foreach(tree ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  install(DIRECTORY ${tree}/include/attn ${tree}/include/attn-c OPTIONAL
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    FILES_MATCHING PATTERN "*.h" PATTERN "*.td" PATTERN "*.inc")
endforeach()
# What attnc bench runs.
if(NOT ATTN_RUNTIME_ONLY)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/benchmarks/ DESTINATION ${CMAKE_INSTALL_DATADIR}/attn/benchmarks
    FILES_MATCHING PATTERN "*.py" PATTERN "results" EXCLUDE PATTERN "__pycache__" EXCLUDE)
endif()
configure_package_config_file(${PROJECT_SOURCE_DIR}/lib/AttnConfig.cmake.in
  ${PROJECT_BINARY_DIR}/AttnConfig.cmake INSTALL_DESTINATION ${attn_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/AttnConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/AttnConfig.cmake ${PROJECT_BINARY_DIR}/AttnConfigVersion.cmake
  DESTINATION ${attn_package_dir})
