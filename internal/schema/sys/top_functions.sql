-- The functions in which the program spent the most time, without what they called. An average is of
-- the calls that have times: SUM_TIMER_WAIT / AVG_TIMER_WAIT is how many these are.
CREATE VIEW sys.top_functions AS
SELECT EVENT_NAME AS `function`,
       SUM(COUNT_STAR) AS calls,
       sys.format_time(SUM(SUM_TIMER_SELF)) AS self_latency,
       sys.format_time(SUM(SUM_TIMER_WAIT)) AS total_latency,
       sys.format_time(SUM(SUM_TIMER_WAIT) / SUM(SUM_TIMER_WAIT / AVG_TIMER_WAIT)) AS avg_latency,
       sys.format_time(MAX(MAX_TIMER_WAIT)) AS max_latency,
       SUM(SUM_ERRORS) AS errors,
       SUM(SUM_PANICS) AS panics
  FROM performance_schema.events_calls_summary_global_by_event_name
 GROUP BY EVENT_NAME
HAVING calls > 0
 ORDER BY SUM(SUM_TIMER_SELF) DESC;
