-- Requests that were refused before there was a price or a channel for them may name any model: their totals stand under
-- the empty name from now on, so that nobody makes totals without end by asking for what is not there.

CREATE TEMPORARY TABLE refused AS
  SELECT account, key_id, model_asked AS model, group_id, operation, (status / 100) || 'xx' AS status_class,
    at / 900000 * 900000 AS quarter, count(*) AS requests, count(*) AS errors,
    nullif(sum(duration_ms), 0) AS duration_ms,
    nullif(sum(CASE WHEN duration_ms < 40 THEN 1 ELSE 0 END), 0) AS duration_40,
    nullif(sum(CASE WHEN duration_ms >= 40 AND duration_ms < 63 THEN 1 ELSE 0 END), 0) AS duration_63,
    nullif(sum(CASE WHEN duration_ms >= 63 AND duration_ms < 100 THEN 1 ELSE 0 END), 0) AS duration_100,
    nullif(sum(CASE WHEN duration_ms >= 100 AND duration_ms < 160 THEN 1 ELSE 0 END), 0) AS duration_160,
    nullif(sum(CASE WHEN duration_ms >= 160 AND duration_ms < 250 THEN 1 ELSE 0 END), 0) AS duration_250,
    nullif(sum(CASE WHEN duration_ms >= 250 AND duration_ms < 400 THEN 1 ELSE 0 END), 0) AS duration_400,
    nullif(sum(CASE WHEN duration_ms >= 400 AND duration_ms < 630 THEN 1 ELSE 0 END), 0) AS duration_630,
    nullif(sum(CASE WHEN duration_ms >= 630 AND duration_ms < 1000 THEN 1 ELSE 0 END), 0) AS duration_1000,
    nullif(sum(CASE WHEN duration_ms >= 1000 AND duration_ms < 1600 THEN 1 ELSE 0 END), 0) AS duration_1600,
    nullif(sum(CASE WHEN duration_ms >= 1600 AND duration_ms < 2500 THEN 1 ELSE 0 END), 0) AS duration_2500,
    nullif(sum(CASE WHEN duration_ms >= 2500 AND duration_ms < 4000 THEN 1 ELSE 0 END), 0) AS duration_4000,
    nullif(sum(CASE WHEN duration_ms >= 4000 AND duration_ms < 6300 THEN 1 ELSE 0 END), 0) AS duration_6300,
    nullif(sum(CASE WHEN duration_ms >= 6300 AND duration_ms < 10000 THEN 1 ELSE 0 END), 0) AS duration_10000,
    nullif(sum(CASE WHEN duration_ms >= 10000 AND duration_ms < 16000 THEN 1 ELSE 0 END), 0) AS duration_16000,
    nullif(sum(CASE WHEN duration_ms >= 16000 AND duration_ms < 25000 THEN 1 ELSE 0 END), 0) AS duration_25000,
    nullif(sum(CASE WHEN duration_ms >= 25000 AND duration_ms < 40000 THEN 1 ELSE 0 END), 0) AS duration_40000,
    nullif(sum(CASE WHEN duration_ms >= 40000 AND duration_ms < 63000 THEN 1 ELSE 0 END), 0) AS duration_63000,
    nullif(sum(CASE WHEN duration_ms >= 63000 AND duration_ms < 100000 THEN 1 ELSE 0 END), 0) AS duration_100000,
    nullif(sum(CASE WHEN duration_ms >= 100000 AND duration_ms < 160000 THEN 1 ELSE 0 END), 0) AS duration_160000,
    nullif(sum(CASE WHEN duration_ms >= 160000 AND duration_ms < 250000 THEN 1 ELSE 0 END), 0) AS duration_250000,
    nullif(sum(CASE WHEN duration_ms >= 250000 THEN 1 ELSE 0 END), 0) AS duration_more
  FROM usage
  WHERE channel IS NULL AND price_version IS NULL AND status >= 400 AND model_asked <> ''
    AND at >= (SELECT since FROM usage_kept)
  GROUP BY account, key_id, model_asked, group_id, operation, 6, 7;

INSERT INTO usage_series (account, key_id, model, channel, group_id, operation, status_class)
  SELECT DISTINCT account, key_id, '', '', group_id, operation, status_class FROM refused
  UNION SELECT DISTINCT '', '', '', '', group_id, operation, status_class FROM refused
  ORDER BY 1, 2, 3, 4, 5, 6, 7
  ON CONFLICT DO NOTHING;

INSERT INTO usage_quarter (series, quarter, requests, errors, duration_ms, duration_40, duration_63, duration_100, duration_160, duration_250, duration_400, duration_630, duration_1000, duration_1600, duration_2500, duration_4000, duration_6300, duration_10000, duration_16000, duration_25000, duration_40000, duration_63000, duration_100000, duration_160000, duration_250000, duration_more)
  SELECT usage_series.id, quarter, sum(requests), sum(errors), sum(duration_ms), sum(duration_40), sum(duration_63), sum(duration_100), sum(duration_160), sum(duration_250), sum(duration_400), sum(duration_630), sum(duration_1000), sum(duration_1600), sum(duration_2500), sum(duration_4000), sum(duration_6300), sum(duration_10000), sum(duration_16000), sum(duration_25000), sum(duration_40000), sum(duration_63000), sum(duration_100000), sum(duration_160000), sum(duration_250000), sum(duration_more)
  FROM refused JOIN usage_series ON usage_series.account = refused.account AND usage_series.key_id = refused.key_id
    AND usage_series.model = '' AND usage_series.channel = '' AND usage_series.group_id = refused.group_id
    AND usage_series.operation = refused.operation AND usage_series.status_class = refused.status_class
  GROUP BY usage_series.id, quarter
  ON CONFLICT (series, quarter) DO UPDATE SET
    requests = coalesce(usage_quarter.requests + excluded.requests, usage_quarter.requests, excluded.requests),
    errors = coalesce(usage_quarter.errors + excluded.errors, usage_quarter.errors, excluded.errors),
    duration_ms = coalesce(usage_quarter.duration_ms + excluded.duration_ms, usage_quarter.duration_ms, excluded.duration_ms),
    duration_40 = coalesce(usage_quarter.duration_40 + excluded.duration_40, usage_quarter.duration_40, excluded.duration_40),
    duration_63 = coalesce(usage_quarter.duration_63 + excluded.duration_63, usage_quarter.duration_63, excluded.duration_63),
    duration_100 = coalesce(usage_quarter.duration_100 + excluded.duration_100, usage_quarter.duration_100, excluded.duration_100),
    duration_160 = coalesce(usage_quarter.duration_160 + excluded.duration_160, usage_quarter.duration_160, excluded.duration_160),
    duration_250 = coalesce(usage_quarter.duration_250 + excluded.duration_250, usage_quarter.duration_250, excluded.duration_250),
    duration_400 = coalesce(usage_quarter.duration_400 + excluded.duration_400, usage_quarter.duration_400, excluded.duration_400),
    duration_630 = coalesce(usage_quarter.duration_630 + excluded.duration_630, usage_quarter.duration_630, excluded.duration_630),
    duration_1000 = coalesce(usage_quarter.duration_1000 + excluded.duration_1000, usage_quarter.duration_1000, excluded.duration_1000),
    duration_1600 = coalesce(usage_quarter.duration_1600 + excluded.duration_1600, usage_quarter.duration_1600, excluded.duration_1600),
    duration_2500 = coalesce(usage_quarter.duration_2500 + excluded.duration_2500, usage_quarter.duration_2500, excluded.duration_2500),
    duration_4000 = coalesce(usage_quarter.duration_4000 + excluded.duration_4000, usage_quarter.duration_4000, excluded.duration_4000),
    duration_6300 = coalesce(usage_quarter.duration_6300 + excluded.duration_6300, usage_quarter.duration_6300, excluded.duration_6300),
    duration_10000 = coalesce(usage_quarter.duration_10000 + excluded.duration_10000, usage_quarter.duration_10000, excluded.duration_10000),
    duration_16000 = coalesce(usage_quarter.duration_16000 + excluded.duration_16000, usage_quarter.duration_16000, excluded.duration_16000),
    duration_25000 = coalesce(usage_quarter.duration_25000 + excluded.duration_25000, usage_quarter.duration_25000, excluded.duration_25000),
    duration_40000 = coalesce(usage_quarter.duration_40000 + excluded.duration_40000, usage_quarter.duration_40000, excluded.duration_40000),
    duration_63000 = coalesce(usage_quarter.duration_63000 + excluded.duration_63000, usage_quarter.duration_63000, excluded.duration_63000),
    duration_100000 = coalesce(usage_quarter.duration_100000 + excluded.duration_100000, usage_quarter.duration_100000, excluded.duration_100000),
    duration_160000 = coalesce(usage_quarter.duration_160000 + excluded.duration_160000, usage_quarter.duration_160000, excluded.duration_160000),
    duration_250000 = coalesce(usage_quarter.duration_250000 + excluded.duration_250000, usage_quarter.duration_250000, excluded.duration_250000),
    duration_more = coalesce(usage_quarter.duration_more + excluded.duration_more, usage_quarter.duration_more, excluded.duration_more);

UPDATE usage_quarter SET
    requests = usage_quarter.requests - moved.requests,
    errors = nullif(usage_quarter.errors - coalesce(moved.errors, 0), 0),
    duration_ms = nullif(usage_quarter.duration_ms - coalesce(moved.duration_ms, 0), 0),
    duration_40 = nullif(usage_quarter.duration_40 - coalesce(moved.duration_40, 0), 0),
    duration_63 = nullif(usage_quarter.duration_63 - coalesce(moved.duration_63, 0), 0),
    duration_100 = nullif(usage_quarter.duration_100 - coalesce(moved.duration_100, 0), 0),
    duration_160 = nullif(usage_quarter.duration_160 - coalesce(moved.duration_160, 0), 0),
    duration_250 = nullif(usage_quarter.duration_250 - coalesce(moved.duration_250, 0), 0),
    duration_400 = nullif(usage_quarter.duration_400 - coalesce(moved.duration_400, 0), 0),
    duration_630 = nullif(usage_quarter.duration_630 - coalesce(moved.duration_630, 0), 0),
    duration_1000 = nullif(usage_quarter.duration_1000 - coalesce(moved.duration_1000, 0), 0),
    duration_1600 = nullif(usage_quarter.duration_1600 - coalesce(moved.duration_1600, 0), 0),
    duration_2500 = nullif(usage_quarter.duration_2500 - coalesce(moved.duration_2500, 0), 0),
    duration_4000 = nullif(usage_quarter.duration_4000 - coalesce(moved.duration_4000, 0), 0),
    duration_6300 = nullif(usage_quarter.duration_6300 - coalesce(moved.duration_6300, 0), 0),
    duration_10000 = nullif(usage_quarter.duration_10000 - coalesce(moved.duration_10000, 0), 0),
    duration_16000 = nullif(usage_quarter.duration_16000 - coalesce(moved.duration_16000, 0), 0),
    duration_25000 = nullif(usage_quarter.duration_25000 - coalesce(moved.duration_25000, 0), 0),
    duration_40000 = nullif(usage_quarter.duration_40000 - coalesce(moved.duration_40000, 0), 0),
    duration_63000 = nullif(usage_quarter.duration_63000 - coalesce(moved.duration_63000, 0), 0),
    duration_100000 = nullif(usage_quarter.duration_100000 - coalesce(moved.duration_100000, 0), 0),
    duration_160000 = nullif(usage_quarter.duration_160000 - coalesce(moved.duration_160000, 0), 0),
    duration_250000 = nullif(usage_quarter.duration_250000 - coalesce(moved.duration_250000, 0), 0),
    duration_more = nullif(usage_quarter.duration_more - coalesce(moved.duration_more, 0), 0)
  FROM (SELECT usage_series.id AS series, quarter, sum(requests) AS requests, sum(errors) AS errors, sum(duration_ms) AS duration_ms, sum(duration_40) AS duration_40, sum(duration_63) AS duration_63, sum(duration_100) AS duration_100, sum(duration_160) AS duration_160, sum(duration_250) AS duration_250, sum(duration_400) AS duration_400, sum(duration_630) AS duration_630, sum(duration_1000) AS duration_1000, sum(duration_1600) AS duration_1600, sum(duration_2500) AS duration_2500, sum(duration_4000) AS duration_4000, sum(duration_6300) AS duration_6300, sum(duration_10000) AS duration_10000, sum(duration_16000) AS duration_16000, sum(duration_25000) AS duration_25000, sum(duration_40000) AS duration_40000, sum(duration_63000) AS duration_63000, sum(duration_100000) AS duration_100000, sum(duration_160000) AS duration_160000, sum(duration_250000) AS duration_250000, sum(duration_more) AS duration_more
    FROM refused JOIN usage_series ON usage_series.account = refused.account AND usage_series.key_id = refused.key_id
    AND usage_series.model = refused.model AND usage_series.channel = '' AND usage_series.group_id = refused.group_id
    AND usage_series.operation = refused.operation AND usage_series.status_class = refused.status_class
    GROUP BY usage_series.id, quarter) AS moved
  WHERE usage_quarter.series = moved.series AND usage_quarter.quarter = moved.quarter;

DELETE FROM usage_quarter WHERE requests = 0;

INSERT INTO usage_quarter_all (series, quarter, requests, errors, duration_ms, duration_40, duration_63, duration_100, duration_160, duration_250, duration_400, duration_630, duration_1000, duration_1600, duration_2500, duration_4000, duration_6300, duration_10000, duration_16000, duration_25000, duration_40000, duration_63000, duration_100000, duration_160000, duration_250000, duration_more)
  SELECT usage_series.id, quarter, sum(requests), sum(errors), sum(duration_ms), sum(duration_40), sum(duration_63), sum(duration_100), sum(duration_160), sum(duration_250), sum(duration_400), sum(duration_630), sum(duration_1000), sum(duration_1600), sum(duration_2500), sum(duration_4000), sum(duration_6300), sum(duration_10000), sum(duration_16000), sum(duration_25000), sum(duration_40000), sum(duration_63000), sum(duration_100000), sum(duration_160000), sum(duration_250000), sum(duration_more)
  FROM refused JOIN usage_series ON usage_series.account = '' AND usage_series.key_id = ''
    AND usage_series.model = '' AND usage_series.channel = '' AND usage_series.group_id = refused.group_id
    AND usage_series.operation = refused.operation AND usage_series.status_class = refused.status_class
  GROUP BY usage_series.id, quarter
  ON CONFLICT (series, quarter) DO UPDATE SET
    requests = coalesce(usage_quarter_all.requests + excluded.requests, usage_quarter_all.requests, excluded.requests),
    errors = coalesce(usage_quarter_all.errors + excluded.errors, usage_quarter_all.errors, excluded.errors),
    duration_ms = coalesce(usage_quarter_all.duration_ms + excluded.duration_ms, usage_quarter_all.duration_ms, excluded.duration_ms),
    duration_40 = coalesce(usage_quarter_all.duration_40 + excluded.duration_40, usage_quarter_all.duration_40, excluded.duration_40),
    duration_63 = coalesce(usage_quarter_all.duration_63 + excluded.duration_63, usage_quarter_all.duration_63, excluded.duration_63),
    duration_100 = coalesce(usage_quarter_all.duration_100 + excluded.duration_100, usage_quarter_all.duration_100, excluded.duration_100),
    duration_160 = coalesce(usage_quarter_all.duration_160 + excluded.duration_160, usage_quarter_all.duration_160, excluded.duration_160),
    duration_250 = coalesce(usage_quarter_all.duration_250 + excluded.duration_250, usage_quarter_all.duration_250, excluded.duration_250),
    duration_400 = coalesce(usage_quarter_all.duration_400 + excluded.duration_400, usage_quarter_all.duration_400, excluded.duration_400),
    duration_630 = coalesce(usage_quarter_all.duration_630 + excluded.duration_630, usage_quarter_all.duration_630, excluded.duration_630),
    duration_1000 = coalesce(usage_quarter_all.duration_1000 + excluded.duration_1000, usage_quarter_all.duration_1000, excluded.duration_1000),
    duration_1600 = coalesce(usage_quarter_all.duration_1600 + excluded.duration_1600, usage_quarter_all.duration_1600, excluded.duration_1600),
    duration_2500 = coalesce(usage_quarter_all.duration_2500 + excluded.duration_2500, usage_quarter_all.duration_2500, excluded.duration_2500),
    duration_4000 = coalesce(usage_quarter_all.duration_4000 + excluded.duration_4000, usage_quarter_all.duration_4000, excluded.duration_4000),
    duration_6300 = coalesce(usage_quarter_all.duration_6300 + excluded.duration_6300, usage_quarter_all.duration_6300, excluded.duration_6300),
    duration_10000 = coalesce(usage_quarter_all.duration_10000 + excluded.duration_10000, usage_quarter_all.duration_10000, excluded.duration_10000),
    duration_16000 = coalesce(usage_quarter_all.duration_16000 + excluded.duration_16000, usage_quarter_all.duration_16000, excluded.duration_16000),
    duration_25000 = coalesce(usage_quarter_all.duration_25000 + excluded.duration_25000, usage_quarter_all.duration_25000, excluded.duration_25000),
    duration_40000 = coalesce(usage_quarter_all.duration_40000 + excluded.duration_40000, usage_quarter_all.duration_40000, excluded.duration_40000),
    duration_63000 = coalesce(usage_quarter_all.duration_63000 + excluded.duration_63000, usage_quarter_all.duration_63000, excluded.duration_63000),
    duration_100000 = coalesce(usage_quarter_all.duration_100000 + excluded.duration_100000, usage_quarter_all.duration_100000, excluded.duration_100000),
    duration_160000 = coalesce(usage_quarter_all.duration_160000 + excluded.duration_160000, usage_quarter_all.duration_160000, excluded.duration_160000),
    duration_250000 = coalesce(usage_quarter_all.duration_250000 + excluded.duration_250000, usage_quarter_all.duration_250000, excluded.duration_250000),
    duration_more = coalesce(usage_quarter_all.duration_more + excluded.duration_more, usage_quarter_all.duration_more, excluded.duration_more);

UPDATE usage_quarter_all SET
    requests = usage_quarter_all.requests - moved.requests,
    errors = nullif(usage_quarter_all.errors - coalesce(moved.errors, 0), 0),
    duration_ms = nullif(usage_quarter_all.duration_ms - coalesce(moved.duration_ms, 0), 0),
    duration_40 = nullif(usage_quarter_all.duration_40 - coalesce(moved.duration_40, 0), 0),
    duration_63 = nullif(usage_quarter_all.duration_63 - coalesce(moved.duration_63, 0), 0),
    duration_100 = nullif(usage_quarter_all.duration_100 - coalesce(moved.duration_100, 0), 0),
    duration_160 = nullif(usage_quarter_all.duration_160 - coalesce(moved.duration_160, 0), 0),
    duration_250 = nullif(usage_quarter_all.duration_250 - coalesce(moved.duration_250, 0), 0),
    duration_400 = nullif(usage_quarter_all.duration_400 - coalesce(moved.duration_400, 0), 0),
    duration_630 = nullif(usage_quarter_all.duration_630 - coalesce(moved.duration_630, 0), 0),
    duration_1000 = nullif(usage_quarter_all.duration_1000 - coalesce(moved.duration_1000, 0), 0),
    duration_1600 = nullif(usage_quarter_all.duration_1600 - coalesce(moved.duration_1600, 0), 0),
    duration_2500 = nullif(usage_quarter_all.duration_2500 - coalesce(moved.duration_2500, 0), 0),
    duration_4000 = nullif(usage_quarter_all.duration_4000 - coalesce(moved.duration_4000, 0), 0),
    duration_6300 = nullif(usage_quarter_all.duration_6300 - coalesce(moved.duration_6300, 0), 0),
    duration_10000 = nullif(usage_quarter_all.duration_10000 - coalesce(moved.duration_10000, 0), 0),
    duration_16000 = nullif(usage_quarter_all.duration_16000 - coalesce(moved.duration_16000, 0), 0),
    duration_25000 = nullif(usage_quarter_all.duration_25000 - coalesce(moved.duration_25000, 0), 0),
    duration_40000 = nullif(usage_quarter_all.duration_40000 - coalesce(moved.duration_40000, 0), 0),
    duration_63000 = nullif(usage_quarter_all.duration_63000 - coalesce(moved.duration_63000, 0), 0),
    duration_100000 = nullif(usage_quarter_all.duration_100000 - coalesce(moved.duration_100000, 0), 0),
    duration_160000 = nullif(usage_quarter_all.duration_160000 - coalesce(moved.duration_160000, 0), 0),
    duration_250000 = nullif(usage_quarter_all.duration_250000 - coalesce(moved.duration_250000, 0), 0),
    duration_more = nullif(usage_quarter_all.duration_more - coalesce(moved.duration_more, 0), 0)
  FROM (SELECT usage_series.id AS series, quarter, sum(requests) AS requests, sum(errors) AS errors, sum(duration_ms) AS duration_ms, sum(duration_40) AS duration_40, sum(duration_63) AS duration_63, sum(duration_100) AS duration_100, sum(duration_160) AS duration_160, sum(duration_250) AS duration_250, sum(duration_400) AS duration_400, sum(duration_630) AS duration_630, sum(duration_1000) AS duration_1000, sum(duration_1600) AS duration_1600, sum(duration_2500) AS duration_2500, sum(duration_4000) AS duration_4000, sum(duration_6300) AS duration_6300, sum(duration_10000) AS duration_10000, sum(duration_16000) AS duration_16000, sum(duration_25000) AS duration_25000, sum(duration_40000) AS duration_40000, sum(duration_63000) AS duration_63000, sum(duration_100000) AS duration_100000, sum(duration_160000) AS duration_160000, sum(duration_250000) AS duration_250000, sum(duration_more) AS duration_more
    FROM refused JOIN usage_series ON usage_series.account = '' AND usage_series.key_id = ''
    AND usage_series.model = refused.model AND usage_series.channel = '' AND usage_series.group_id = refused.group_id
    AND usage_series.operation = refused.operation AND usage_series.status_class = refused.status_class
    GROUP BY usage_series.id, quarter) AS moved
  WHERE usage_quarter_all.series = moved.series AND usage_quarter_all.quarter = moved.quarter;

DELETE FROM usage_quarter_all WHERE requests = 0;

DROP TABLE refused;

-- All by hours and by days are folded anew.
DELETE FROM usage_facet_quarter;
DELETE FROM usage_hour;
DELETE FROM usage_day;
DELETE FROM usage_facet;
UPDATE usage_folded SET until = 0;
