-- wrk script: one fixed POST, its replies compared byte for byte when asked, results as one JSON line.
-- Arguments after `--`: name=value pairs (body, expect, paceMs, floodEvery, header=Name: value).

local threads = {}

function setup(thread)
  threads[#threads + 1] = thread
end

local function slurp(path)
  local file = assert(io.open(path, 'rb'))
  local text = file:read('*a')
  file:close()
  return text
end

-- Every `every`-th request carries the valid key, the rest a key never seen before, so that a cache
-- of refused keys is no help.
local function flood(every)
  local marker = 'Bearer 00000000000000000000000000000000'
  local valid = wrk.format()
  wrk.headers['Authorization'] = marker
  local text = wrk.format()
  local from, to = text:find(marker, 1, true)
  local head, tail = text:sub(1, from - 1), text:sub(to + 1)
  local sent = 0
  request = function()
    sent = sent + 1
    if every > 0 and sent % every == 0 then return valid end
    return head .. string.format('Bearer sk-tg-wrong%021d', sent) .. tail
  end
end

function init(args)
  local options = {}
  wrk.method = 'POST'
  wrk.headers['Content-Type'] = 'application/json'
  altered = 0
  refused = 0
  for _, argument in ipairs(args) do
    local name, value = argument:match('^(%w+)=(.*)$')
    if name == 'header' then
      local key, text = value:match('^([^:]+): (.*)$')
      wrk.headers[key] = text
    elseif name then
      options[name] = value
    end
  end
  wrk.body = slurp(options.body)
  if options.expect then
    local expected = slurp(options.expect)
    response = function(status, _, body)
      if status == 401 and options.floodEvery then
        refused = refused + 1
      elseif status ~= 200 or body ~= expected then
        altered = altered + 1
      end
    end
  end
  if options.paceMs then
    local pace = tonumber(options.paceMs)
    delay = function()
      return math.random(pace * 0.5, pace * 1.5)
    end
  end
  if options.floodEvery then flood(tonumber(options.floodEvery)) end
end

function done(summary, latency)
  local wrong, turned = 0, 0
  for _, thread in ipairs(threads) do
    wrong = wrong + thread:get('altered')
    turned = turned + thread:get('refused')
  end
  local errors = summary.errors
  io.write(string.format(
    'BENCH {"requests":%d,"seconds":%.6f,"bytes":%.0f,"p50Us":%d,"p99Us":%d,"maxUs":%d,'
      .. '"altered":%d,"refused":%d,"badStatus":%d,"socketErrors":%d}\n',
    summary.requests, summary.duration / 1e6, summary.bytes,
    latency:percentile(50), latency:percentile(99), latency.max,
    wrong, turned, errors.status, errors.connect + errors.read + errors.write + errors.timeout
  ))
end
