-- The functions that returned an error or panicked, and how often, in percent of their calls.
CREATE VIEW sys.functions_with_errors AS
SELECT EVENT_NAME AS `function`,
       SUM(COUNT_STAR) AS calls,
       SUM(SUM_ERRORS) AS errors,
       SUM(SUM_PANICS) AS panics,
       ROUND((SUM(SUM_ERRORS) + SUM(SUM_PANICS)) / SUM(COUNT_STAR) * 100, 4) AS error_pct
  FROM performance_schema.events_calls_summary_global_by_event_name
 GROUP BY EVENT_NAME
HAVING errors + panics > 0
 ORDER BY SUM(SUM_ERRORS) + SUM(SUM_PANICS) DESC;
