# SPDX-FileCopyrightText: The libreach authors
# SPDX-License-Identifier: MIT
#
# The Swift tests, in the normal build. Scenarios make their own namespaces.

TEST_TARGETS += test-swift

.PHONY: test-swift
test-swift: ## run the Swift tests of the core and of the C interface's signatures
	swift build --build-tests --scratch-path .build/tests
	swift test --skip-build --disable-xctest --scratch-path .build/tests \
	    --filter '^(ReachabilitySwiftTests|CReachabilityABITests)'
