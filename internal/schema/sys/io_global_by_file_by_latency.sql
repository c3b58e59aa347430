-- The files that the program read and wrote, those that took the most time first.
CREATE VIEW sys.io_global_by_file_by_latency AS
SELECT FILE_NAME AS file,
       SUM(COUNT_STAR) AS total,
       sys.format_time(SUM(SUM_TIMER_WAIT)) AS total_latency,
       SUM(COUNT_READ) AS count_read,
       sys.format_time(SUM(SUM_TIMER_READ)) AS read_latency,
       SUM(SUM_NUMBER_OF_BYTES_READ) AS bytes_read,
       SUM(COUNT_WRITE) AS count_write,
       sys.format_time(SUM(SUM_TIMER_WRITE)) AS write_latency,
       SUM(SUM_NUMBER_OF_BYTES_WRITE) AS bytes_written,
       SUM(COUNT_MISC) AS count_misc,
       sys.format_time(SUM(SUM_TIMER_MISC)) AS misc_latency
  FROM performance_schema.file_summary_by_instance
 GROUP BY FILE_NAME
HAVING total > 0
 ORDER BY SUM(SUM_TIMER_WAIT) DESC;
