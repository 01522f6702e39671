#pragma once

#include "policy.h"

/* What the kernel keeps for a process: its parent, descriptors, limits and privileges. */

/* Ends the process together with its parent. */
void follow_parent(pid_t parent, int signal);

/* Closes every descriptor from `first` on, except `kept`, which closes when the program starts. */
void close_descriptors(int first, int kept);

void set_limits(const policy *policy);

/* Drops all capabilities and the means to gain privileges. */
void drop_privileges(const policy *policy);
