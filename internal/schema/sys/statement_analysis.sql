-- The statements that the program made, without their values, those that took the most time first.
CREATE VIEW sys.statement_analysis AS
SELECT DIGEST_TEXT AS query,
       SUM(COUNT_STAR) AS exec_count,
       SUM(SUM_ERRORS) AS err_count,
       sys.format_time(SUM(SUM_TIMER_WAIT)) AS total_latency,
       sys.format_time(MAX(MAX_TIMER_WAIT)) AS max_latency,
       sys.format_time(SUM(SUM_TIMER_WAIT) / SUM(SUM_TIMER_WAIT / AVG_TIMER_WAIT)) AS avg_latency,
       SUM(SUM_ROWS_SENT) AS rows_sent,
       SUM(SUM_ROWS_AFFECTED) AS rows_affected,
       DIGEST AS digest
  FROM performance_schema.events_statements_summary_by_digest
 GROUP BY DIGEST, DIGEST_TEXT
HAVING exec_count > 0
 ORDER BY SUM(SUM_TIMER_WAIT) DESC;
