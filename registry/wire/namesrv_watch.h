/* namesrv_watch.h - what leat's clients and name server add to a request for a route (105), so that
 * it is answered when there is news. Others do not know these fields and pass over them. */
#pragma once

/* Of the request: milliseconds to wait at most, and the index of the last answer. With both, the
 * answer comes when the topic's route is another than at that index, or when the wait is over. */
#define NAMESRV_WAIT_FIELD "leatWait"
#define NAMESRV_INDEX_FIELD "leatIndex" /* and of every answer, of code 17 (no route) too */
/* Of every answer: another number after a restart, when what has no route yet has not left. */
#define NAMESRV_EPOCH_FIELD "leatEpoch"
