/* early_stop.h - what SIGTERM and SIGINT do until the program handles them itself. */
#pragma once

/* They end the process with this line on stderr ("": none) and this status. For main, before
 * anything else; whoever handles them later takes over. */
void early_stop_catch(const char *line, int status);
