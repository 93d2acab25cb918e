-- The upstream's replies, run inside nginx. Texts are read once from the folder the bench wrote.

local ffi = require 'ffi'
ffi.cdef [[
  typedef struct { long sec; long nsec; } bench_timespec;
  int clock_gettime(int clock, bench_timespec *time);
]]
local MONOTONIC = 1
local now = ffi.new('bench_timespec')

local mock = {}
local texts = {}

local function text(folder, name)
  local known = texts[name]
  if known then return known end
  local file = assert(io.open(folder .. '/' .. name, 'rb'))
  known = file:read('*a')
  file:close()
  texts[name] = known
  return known
end

local function json(body)
  ngx.header.content_type = 'application/json'
  ngx.header.content_length = #body
  ngx.print(body)
end

-- The whole reply, sent when the request's body has been read to its end.
function mock.whole(folder, name)
  ngx.req.read_body()
  json(text(folder, name))
end

-- What arrived: its length and MD5, so that the bench knows the request came through unaltered.
function mock.echo(folder, name)
  ngx.req.read_body()
  local body = ngx.req.get_body_data() or ''
  local seen = #body .. ' ' .. ngx.md5(body)
  json((text(folder, name):gsub('@SEEN@', seen)))
end

-- `events` content events, low..high ms apart, each with its number and its send time
-- (CLOCK_MONOTONIC, us), then the tail: finish, usage, [DONE].
function mock.stream(folder, name, events, low, high)
  ngx.req.read_body()
  local event, tail = text(folder, name .. '.event'), text(folder, name .. '.tail')
  local head, middle, rest = event:match('^(.-)@SEQ00@(.-)@STAMP0000000000@(.*)$')
  ngx.header.content_type = 'text/event-stream'
  ngx.header.cache_control = 'no-cache'
  for number = 0, events - 1 do
    ffi.C.clock_gettime(MONOTONIC, now)
    local us = tonumber(now.sec) * 1e6 + math.floor(tonumber(now.nsec) / 1e3)
    ngx.print(head, string.format('%07d', number), middle, string.format('%017.0f', us), rest)
    if not ngx.flush() then return end
    ngx.sleep(math.random(low, high) / 1000)
  end
  ngx.print(tail)
end

return mock
