-- The statements that failed, and how often, in percent of all of their kind.
CREATE VIEW sys.statements_with_errors AS
SELECT DIGEST_TEXT AS query,
       SUM(COUNT_STAR) AS exec_count,
       SUM(SUM_ERRORS) AS errors,
       ROUND(SUM(SUM_ERRORS) / SUM(COUNT_STAR) * 100, 4) AS error_pct,
       DIGEST AS digest
  FROM performance_schema.events_statements_summary_by_digest
 GROUP BY DIGEST, DIGEST_TEXT
HAVING errors > 0
 ORDER BY SUM(SUM_ERRORS) DESC;
