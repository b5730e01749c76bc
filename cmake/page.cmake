# pliant_embed(FUNCTION HEADER FILE …) adds a source that holds the files, see embed.cmake.
function(pliant_embed function header)
    set(output ${PROJECT_BINARY_DIR}/embedded/${function}.cpp)
    string(REPLACE ";" "$<SEMICOLON>" files "${ARGN}")
    add_custom_command(OUTPUT ${output}
        COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DHEADER=${header} -DFUNCTION=${function} "-DFILES=${files}"
            -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
        DEPENDS ${ARGN} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
        COMMENT "Embedding ${function}" VERBATIM)
    target_sources(pliant PRIVATE ${output})
    # the assembler reads the files: ninja has to know, and a link of all at once would lose their names
    set_source_files_properties(${output} TARGET_DIRECTORY pliant PROPERTIES
        OBJECT_DEPENDS "${ARGN}" SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON
        COMPILE_OPTIONS $<$<CXX_COMPILER_ID:GNU>:-fno-lto>)
endfunction()

# The viewer's page, bundled by esbuild in a copy of web/ under the build folder.
set(PLIANT_PAGE_FILES)
if(PLIANT_PAGE)
    set(page_folder ${PROJECT_BINARY_DIR}/web)
    file(GLOB_RECURSE page_sources CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/web
        ${PROJECT_SOURCE_DIR}/web/src/* ${PROJECT_SOURCE_DIR}/web/tests/*)
    list(APPEND page_sources build.mjs tsconfig.json)
    set(page_inputs ${page_sources})
    list(TRANSFORM page_inputs PREPEND ${PROJECT_SOURCE_DIR}/web/)
    foreach(file index.html app.js style.css)
        list(APPEND PLIANT_PAGE_FILES ${page_folder}/page/${file})
    endforeach()
    add_custom_command(OUTPUT ${page_folder}/node_modules/.package-lock.json
        COMMAND ${CMAKE_COMMAND} -E make_directory ${page_folder}
        COMMAND ${CMAKE_COMMAND} -E copy ${PROJECT_SOURCE_DIR}/web/package.json ${PROJECT_SOURCE_DIR}/web/package-lock.json ${page_folder}
        COMMAND ${PROJECT_SOURCE_DIR}/tools/npm-install ${page_folder}
        DEPENDS ${PROJECT_SOURCE_DIR}/web/package.json ${PROJECT_SOURCE_DIR}/web/package-lock.json
        COMMENT "Installing what the viewer is made with" VERBATIM)
    add_custom_command(OUTPUT ${PLIANT_PAGE_FILES}
        COMMAND ${CMAKE_COMMAND} -E rm -rf ${page_folder}/src ${page_folder}/tests
        COMMAND ${CMAKE_COMMAND} -E copy_directory ${PROJECT_SOURCE_DIR}/web/src ${page_folder}/src
        COMMAND ${CMAKE_COMMAND} -E copy_directory ${PROJECT_SOURCE_DIR}/web/tests ${page_folder}/tests
        COMMAND ${CMAKE_COMMAND} -E copy ${PROJECT_SOURCE_DIR}/web/build.mjs ${PROJECT_SOURCE_DIR}/web/tsconfig.json ${page_folder}
        COMMAND node build.mjs page
        DEPENDS ${page_inputs} ${page_folder}/node_modules/.package-lock.json
        WORKING_DIRECTORY ${page_folder}
        COMMENT "Bundling the viewer" VERBATIM)
endif()
