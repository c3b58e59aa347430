-- What goroutines waited for, all locks, channels and files of the same name together, the longest
-- waits first.
CREATE VIEW sys.waits_by_object AS
SELECT OBJECT_NAME AS object,
       EVENT_NAME AS event,
       COUNT(*) AS instances,
       SUM(COUNT_STAR) AS total,
       sys.format_time(SUM(SUM_TIMER_WAIT)) AS total_latency,
       sys.format_time(SUM(SUM_TIMER_WAIT) / SUM(SUM_TIMER_WAIT / AVG_TIMER_WAIT)) AS avg_latency,
       sys.format_time(MAX(MAX_TIMER_WAIT)) AS max_latency
  FROM performance_schema.events_waits_summary_by_instance
 GROUP BY OBJECT_NAME, EVENT_NAME
HAVING total > 0
 ORDER BY SUM(SUM_TIMER_WAIT) DESC;
