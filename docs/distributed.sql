SELECT s.REQUEST AS served, c.REQUEST AS made, b.REQUEST AS within, FORMAT_PICO_TIME(s.TIMER_START - c.TIMER_START) AS later
FROM prices.events_stages_history_long s
JOIN basket.events_stages_history_long c ON c.TRACE_ID = s.TRACE_ID AND c.SPAN_ID = s.PARENT_SPAN_ID
JOIN basket.events_stages_history_long b ON b.TRACE_ID = c.TRACE_ID AND b.SPAN_ID = c.PARENT_SPAN_ID
ORDER BY served;
