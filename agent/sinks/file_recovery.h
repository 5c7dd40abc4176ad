/* file_recovery.h - ends the files that an earlier run of the sink left behind.
 *
 * Left over is a file that bears FILE_TMP, whose name this sink's directory and prefix could have
 * given, and that nobody holds locked. It is cut behind its last whole record, a compressed one
 * behind its last flush that ends with one, and gets its final name; one without a whole record is
 * removed. What cannot be ended is reported and left as it is. */
#pragma once

#include "agent/core/component.h"
#include "agent/sinks/file_rules.h"
#include "agent/sinks/file_template.h"

void file_recovery_run(const FileRules *rules, const FileTemplate *directory,
                       const FileTemplate *name, Component *owner);
