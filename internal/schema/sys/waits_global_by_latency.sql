-- What goroutines waited for, the longest waits first.
CREATE VIEW sys.waits_global_by_latency AS
SELECT EVENT_NAME AS events,
       SUM(COUNT_STAR) AS total,
       sys.format_time(SUM(SUM_TIMER_WAIT)) AS total_latency,
       sys.format_time(SUM(SUM_TIMER_WAIT) / SUM(SUM_TIMER_WAIT / AVG_TIMER_WAIT)) AS avg_latency,
       sys.format_time(MAX(MAX_TIMER_WAIT)) AS max_latency
  FROM performance_schema.events_waits_summary_global_by_event_name
 GROUP BY EVENT_NAME
HAVING total > 0
 ORDER BY SUM(SUM_TIMER_WAIT) DESC;
