// The Lua scripts of shared limits: one call judges and takes all scopes of a request.

/**
 * Both meters of a scope are one hash (r, t: units as in gcra.ts; at: ms), and its places a sorted set of leases scored
 * by their expiry. Time is the server's, so the nodes' clocks do not matter. %.0f because Lua would print a large
 * number with an exponent.
 */
const prelude = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function read(key, nr, nt)
  local h = redis.call('HMGET', key, 'r', 't', 'at')
  local at = math.max(tonumber(h[3]) or now, now)
  local elapsed = at - (tonumber(h[3]) or at)
  local r = nr < 0 and 0 or math.max(0, (tonumber(h[1]) or 0) - elapsed * nr)
  local t = nt < 0 and 0 or math.max(0, (tonumber(h[2]) or 0) - elapsed * nt)
  return r, t, at
end
local function write(key, nr, nt, r, t, at)
  local ttl = 1000
  if nr > 0 then ttl = math.max(ttl, 1000 + r / nr) end
  if nt > 0 then ttl = math.max(ttl, 1000 + t / nt) end
  redis.call('HSET', key, 'r', string.format('%.0f', r), 't', string.format('%.0f', t), 'at', string.format('%.0f', at))
  redis.call('PEXPIRE', key, string.format('%.0f', math.ceil(ttl)))
end
`

/**
 * KEYS: the meters and the leases of each scope in turn. ARGV: lease id, lease ms, then for each scope requests per
 * minute, tokens per minute, places (each -1 for no limit) and units of tokens to take. Returns 1 or 0, then for each
 * scope the use afterwards: requests, tokens, places.
 */
export const admitScript = `${prelude}
local admitted = 1
local found = {}
for i = 1, #KEYS / 2 do
  local a = 3 + (i - 1) * 4
  local nr, nt, nc, units = tonumber(ARGV[a]), tonumber(ARGV[a + 1]), tonumber(ARGV[a + 2]), tonumber(ARGV[a + 3])
  local r, t, at = 0, 0, now
  if nr >= 0 or nt >= 0 then r, t, at = read(KEYS[2 * i - 1], nr, nt) end
  local c = 0
  if nc >= 0 then
    redis.call('ZREMRANGEBYSCORE', KEYS[2 * i], '-inf', now)
    c = redis.call('ZCARD', KEYS[2 * i])
    if c >= nc then admitted = 0 end
  end
  if nr >= 0 and (nr == 0 or r + 60000 > nr * 60000) then admitted = 0 end
  if nt >= 0 and (nt == 0 or t + units > nt * 60000) then admitted = 0 end
  found[i] = { nr = nr, nt = nt, nc = nc, units = units, r = r, t = t, c = c, at = at }
end
local reply = { admitted }
for i, s in ipairs(found) do
  if admitted == 1 then
    if s.nr >= 0 then s.r = s.r + 60000 end
    if s.nt >= 0 then s.t = s.t + s.units end
    if s.nr >= 0 or s.nt >= 0 then write(KEYS[2 * i - 1], s.nr, s.nt, s.r, s.t, s.at) end
    if s.nc >= 0 then
      redis.call('ZADD', KEYS[2 * i], now + ARGV[2], ARGV[1])
      redis.call('PEXPIRE', KEYS[2 * i], ARGV[2])
      s.c = s.c + 1
    end
  end
  reply[#reply + 1] = s.r
  reply[#reply + 1] = s.t
  reply[#reply + 1] = s.c
end
return reply`

/** Returns one scope's use: requests and tokens. KEYS: its meters, its leases. ARGV: requests and tokens per minute. */
export const readScript = `${prelude}
local r, t = read(KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]))
return { string.format('%.0f', r), string.format('%.0f', t) }`

/**
 * Corrects one scope. KEYS: its meters, its leases. ARGV: requests per minute, tokens per minute, units of requests and
 * of tokens to add (negative: to give back), and a lease to end or ''.
 */
export const adjustScript = `${prelude}
local nr, nt, dr, dt = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
if ARGV[5] ~= '' then redis.call('ZREM', KEYS[2], ARGV[5]) end
if dr ~= 0 or dt ~= 0 then
  local r, t, at = read(KEYS[1], nr, nt)
  r, t = math.max(0, r + dr), math.max(0, t + dt)
  local h = redis.call('HMGET', KEYS[1], 'r', 't', 'at')
  local from = tonumber(h[3]) or at
  -- A limit added after this request began has a meter that cannot be drained here: both stay as of their last use.
  local function keep(field, stored, limit, units, other)
    if limit >= 0 or (tonumber(stored) or 0) <= 0 then return false end
    local mine = units + (at - from) * math.max(0, other)
    redis.call('HSET', KEYS[1], field, string.format('%.0f', mine))
    local ttl = 1000 + (other > 0 and mine / other or 0)
    if redis.call('PTTL', KEYS[1]) < ttl then redis.call('PEXPIRE', KEYS[1], string.format('%.0f', math.ceil(ttl))) end
    return true
  end
  if not keep('t', h[1], nr, t, nt) and not keep('r', h[2], nt, r, nr) then
    write(KEYS[1], nr, nt, r, t, at)
  end
end
return 1`

/**
 * A node's heartbeat. KEYS: the set of nodes, and a mark that tells whether the server lost its data. ARGV: node id,
 * node ms, a mark to set where there is none. Returns the number of live nodes and the mark.
 */
export const beatScript = `${prelude}
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
redis.call('SETNX', KEYS[2], ARGV[3])
return { redis.call('ZCARD', KEYS[1]), redis.call('GET', KEYS[2]) }`

/** Renews leases of one scope. KEYS: its leases. ARGV: lease ms, then the lease ids. */
export const renewScript = `${prelude}
for i = 2, #ARGV do redis.call('ZADD', KEYS[1], now + ARGV[1], ARGV[i]) end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1`
