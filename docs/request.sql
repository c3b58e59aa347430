SELECT r.EVENT_NAME AS request, r.STATUS, h.EVENT_NAME AS handler, c.EVENT_NAME AS function, s.SQL_TEXT, w.EVENT_NAME AS wait, w.NESTING_EVENT_TYPE AS within
FROM events_stages_history_long r
JOIN events_calls_history_long h ON h.THREAD_ID = r.THREAD_ID AND h.NESTING_EVENT_ID = r.EVENT_ID
JOIN events_calls_history_long c ON c.THREAD_ID = h.THREAD_ID AND c.NESTING_EVENT_ID = h.EVENT_ID
JOIN events_statements_history_long s ON s.THREAD_ID = c.THREAD_ID AND s.NESTING_EVENT_ID = c.EVENT_ID
JOIN events_waits_history_long w ON w.THREAD_ID = s.THREAD_ID AND w.NESTING_EVENT_ID = s.EVENT_ID
ORDER BY r.TIMER_START;
