#pragma once

#include "policy.h"

/*
 * Limits the process to the paths that the policy grants, by Landlock. Returns the version of
 * Landlock that the kernel has; 0 if it has none. Paths that do not exist are skipped.
 */
int restrict_files(const policy *policy);
