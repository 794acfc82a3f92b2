-- State of hosts and robots.txt of origins, old rows and those of a fetch together: the newest of each stays.
-- Tables: hoststate, robots (with several rows a key). Each step is the whole new content of its table.

-- step: hoststate
-- Counts of requests only grow, so they decide where no answer ever came.
SELECT * FROM hoststate
QUALIFY row_number() OVER (
  PARTITION BY host_key
  ORDER BY last_response_time DESC NULLS LAST, requests DESC, next_allowed_time DESC, updated_segment DESC
) = 1
ORDER BY host_key

-- step: robots
SELECT * FROM robots
QUALIFY row_number() OVER (PARTITION BY origin ORDER BY fetched_time DESC, expires_time DESC) = 1
ORDER BY origin
