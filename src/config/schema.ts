// The one schema of the configuration file: what may be in it, and what each key means.

import { z } from 'zod'
import { defaultData, defaultGroup } from './defaults.ts'
import { priceNamePattern, priceNames } from './prices.ts'
import { suggestion } from './problems.ts'
import {
  baseUrlExpected,
  databaseSchemes,
  isAddressRange,
  isBaseUrl,
  isHttpUrl,
  isProxyUrl,
  isUrlOf,
  logLevels,
  portRange,
  proxyExpected,
  valkeySchemes,
  withoutTrailingSlash,
  workersRange,
} from './rules.ts'
import { channelLimits, parameters, retryStatuses } from './schema-channel.ts'
import { apiKey, limits } from './schema-keys.ts'
import { media } from './schema-media.ts'
import { billing, ledger } from './schema-money.ts'
import {
  checkedText,
  choice,
  decimal,
  identifier,
  key,
  modelPattern,
  modelPatterns,
  named,
  pairs,
  part,
  secretText,
  section,
  sparse,
  sparseKey,
  text,
  wholeNumber,
  yesOrNo,
} from './schema-parts.ts'
import { payments } from './schema-payments.ts'
import { history, identity, notices, statusPage, usage } from './schema-run-time.ts'
import { smtp } from './schema-smtp.ts'
import { telemetry } from './schema-telemetry.ts'
import { uploads } from './schema-uploads.ts'
import { webhooks } from './schema-webhooks.ts'

const day = 86_400_000
const milliseconds = wholeNumber(1, day)
const count = wholeNumber(1, 1_000_000_000)
const bytes = wholeNumber(1_024, 1_099_511_627_776)

/** Time limits of one attempt; each may be set for all, by channel and by model. */
const timers = {
  connectMs: [5_000, 'Name look-up, connection and TLS.'],
  sendIdleMs: [30_000, 'The vendor took no byte of the request for this long.'],
  firstEventMs: [
    60_000,
    'Stream: from sending to the first event with meaning (content, tool call, reasoning, finish).',
  ],
  replyMs: [600_000, 'Whole reply: from sending to the last byte.'],
  idleMs: [90_000, 'Stream: between two bytes.'],
  semanticIdleMs: [
    300_000,
    'Stream: between two events with meaning; ends a stream that only pings.',
  ],
  totalMs: [1_800_000, 'The request as a whole, all attempts included.'],
} as const

function eachTimer<Key>(make: (description: string, byDefault: number) => Key) {
  const keys = Object.entries(timers).map(([name, [byDefault, text]]) => [
    name,
    make(text, byDefault),
  ])
  return Object.fromEntries(keys) as Record<keyof typeof timers, Key>
}

const timeouts = section(
  eachTimer((description, byDefault) => key(milliseconds, description, byDefault)),
)

const ownTimeouts = part(
  sparse(eachTimer((description) => sparseKey(milliseconds, description))),
  'Timers that differ here; the others stay as they are.',
)

const server = section({
  host: key(text(), 'Address to listen on; 0.0.0.0 or :: for every one.', '127.0.0.1'),
  port: key(
    wholeNumber(portRange.min, portRange.max),
    'Port to listen on; 0 takes a free one.',
    8_787,
  ),
  workers: key(
    wholeNumber(workersRange.min, workersRange.max),
    'Serving processes on this machine.',
    1,
  ),
  console: key(
    yesOrNo,
    'Serves the web console at /, and builds it where its sources changed; false: / is a plain page.',
    true,
  ),
  publicUrl: key(
    checkedText('expected an http or https address', isHttpUrl).transform(withoutTrailingSlash),
    'Address under which browsers and callbacks reach this server.',
  ),
  maxBodyBytes: key(bytes, 'Largest request body; past it 413.', 64 * 1024 * 1024),
  maxHeaderBytes: key(bytes, 'Largest head of a request; past it 431.', 16 * 1024),
  maxInFlight: key(count, 'Requests under way at once; past it 503 before a body is read.', 10_000),
  maxBufferedBytes: key(
    bytes,
    'Bytes of request bodies held at once; past it 503.',
    256 * 1024 * 1024,
  ),
  heartbeatMs: key(milliseconds, 'A quiet stream gets a comment this often.', 15_000),
  commitAfterMs: key(
    milliseconds,
    'A stream that a vendor accepted but has not begun is answered with a heartbeat after this; another channel cannot take it over from then on.',
    15_000,
  ),
  writeStallMs: key(
    milliseconds,
    'A client that takes nothing of its reply for this long is disconnected.',
    60_000,
  ),
  bodyTimeoutMs: key(
    milliseconds,
    'A request body must have arrived within this; of a form, its next 64 KiB.',
    60_000,
  ),
  drainDelayMs: key(
    wholeNumber(0, day),
    'After SIGTERM, /readyz answers 503 for this long while requests are still served, so that load balancers turn away first; left out: 5000 where readiness was asked for within the last minute and no terminal started the server, else 0.',
  ),
  drainMs: key(milliseconds, 'After that, requests under way have this long to end.', 300_000),
  metricsToken: key(
    secretText(),
    'Bearer token that reads /metrics from elsewhere than this machine; without it only this machine may.',
  ),
  healthPort: key(
    wholeNumber(1, portRange.max),
    'Worker N alone answers /healthz, /readyz and /metrics at this port + N, in addition.',
  ),
  corsOrigins: key(
    z.array(text(), 'expected a list of origins'),
    'Origins whose pages may call the API from a browser; ["*"] for all.',
    ['*'],
  ),
  trustedProxies: key(
    z.array(
      checkedText('expected an IP address, or a range such as 10.0.0.0/8', isAddressRange),
      'expected a list of addresses',
    ),
    'Proxies whose word on the address of their client is taken: addresses, or ranges such as 10.0.0.0/8.',
    [],
  ),
  forwardedHeader: key(
    choice(['x-forwarded-for', 'forwarded']),
    'Where trusted proxies name their client: only the header that all of them write themselves is safe.',
    'x-forwarded-for',
  ),
})

const retry = section({
  maxAttempts: key(wholeNumber(1, 20), 'Channels tried for one request, the first included.', 3),
  retryUncertain: key(
    yesOrNo,
    'Try another channel although the vendor may have done the work: after a reset or a timeout. Text only.',
    true,
  ),
})

const responses = section({
  keepDays: key(
    wholeNumber(0, 3_650),
    'How long a stored response is kept after it, or one that goes on from it, was made; 0: none is.',
    30,
  ),
})

const realtime = section({
  maxSessionMs: key(milliseconds, 'The longest a session lasts.', 3_600_000),
  idleMs: key(
    milliseconds,
    'A session in which neither side said anything for this long is ended.',
    900_000,
  ),
  maxMessageBytes: key(
    bytes,
    'Largest message of either side; past it the session is closed with 1009.',
    16 * 1024 * 1024,
  ),
})

const videos = section({
  maxHours: key(
    wholeNumber(1, 720),
    'A video that its vendor has not finished after this has failed, and costs nothing.',
    24,
  ),
  keepDays: key(
    wholeNumber(1, 3_650),
    'How long a video is listed after it was asked for. Its content stays where it was made, for as long as the vendor keeps it.',
    30,
  ),
})

export const group = section({
  multiplier: key(decimal(6, '1.25'), 'What prices are multiplied by for keys of this group.', '1'),
  modelMultipliers: key(
    pairs(modelPattern, decimal(6, '0.8')),
    'The same for some models, by name or by beginning with one * at the end, in place of `multiplier`; the longest counts.',
    {},
  ),
  models: key(
    modelPatterns,
    'Models that keys of this group may use: names, or beginnings with one * at the end.',
    ['*'],
  ),
  limits,
})

const groups = named(identifier, group)

const channelModels = z.union(
  [
    z.array(modelPattern).min(1),
    z
      .record(modelPattern, modelPattern)
      .refine((models) => Object.keys(models).length > 0, 'expected at least one model'),
  ],
  { error: 'expected a list of model names, or a map of public name to the name the vendor uses' },
)

/** Headers that the connection itself sends, so that a channel may not. */
const ownHeaders =
  /^(host|connection|upgrade|expect|te|trailer|transfer-encoding|keep-alive|content-.*|accept|accept-encoding|user-agent|proxy-.*|sec-websocket-.*)$/
const headerName = z
  .string()
  .regex(/^[a-z0-9!#$%&'*+.^_`|~-]+$/, 'expected the name of a header in lower case')
  .refine((name) => !ownHeaders.test(name), 'is a header that the gateway sets by itself')
const headerValue = z
  .string('expected text')
  .regex(/^[\x21-\x7e]([\t\x20-\x7e]*[\x21-\x7e])?$/, 'expected printable ASCII characters')

const channelKey = section({
  name: identifier.meta({ description: 'Name of the key, unique in its channel.' }),
  key: secretText().meta({ description: "The vendor's key.", fromFile: true }),
  disabled: key(yesOrNo, 'It is not used.', false),
})

export const channelStates = ['enabled', 'draining', 'disabled'] as const

export const channel = section({
  id: identifier.meta({ description: 'Name of the channel, unique.' }),
  vendor: text('expected the name of a vendor').meta({
    description: 'Who serves it, such as openai, deepseek, ollama; openai-compatible for the rest.',
  }),
  baseUrl: key(
    checkedText(baseUrlExpected, isBaseUrl).transform(withoutTrailingSlash),
    "All that stands before the vendor's own path; left out: the vendor's usual address.",
  ),
  key: key(secretText(), "The vendor's key."),
  keys: key(
    z.array(channelKey, 'expected a list of keys'),
    'Several keys in place of one: requests are spread over those that work.',
    [],
  ),
  models: key(
    channelModels,
    "Models served: a list, or a map of public name to the vendor's name; left out: the shipped models of the vendor.",
  ),
  groups: key(
    z.array(identifier, 'expected a list of group names'),
    'Groups whose keys it serves; left out: every group.',
  ),
  priority: key(
    wholeNumber(-1_000_000, 1_000_000),
    'Channels of the lowest number are tried first.',
    0,
  ),
  weight: key(
    wholeNumber(0, 1_000_000),
    'Share of requests among channels of equal priority; 0: only when no other is left.',
    1,
  ),
  disabled: key(yesOrNo, 'Takes no requests.', false),
  state: key(
    choice(channelStates),
    'draining and disabled take no new requests; those under way end as they would. draining says that it is for a while.',
    'enabled',
  ),
  concurrency: key(
    wholeNumber(1, 1_000_000),
    'Most requests under way at once with each of its keys, in each serving process; past it other channels serve.',
  ),
  limits: channelLimits,
  costMultiplier: key(
    decimal(6, '0.8'),
    'What the vendor asks of its list price; figures of the cost are multiplied by it.',
    '1',
  ),
  tags: key(
    z.array(identifier, 'expected a list of tags').max(32, 'expected at most 32 tags'),
    'Words by which operators pick channels.',
    [],
  ),
  note: key(text('expected text').max(1_000, 'expected at most 1000 characters'), 'For operators.'),
  passTrace: key(
    yesOrNo,
    'The vendor is sent the traceparent and tracestate of the client, where it sent them.',
    false,
  ),
  dialect: key(
    text('expected the name of a dialect'),
    'The only format spoken to it, such as openai-chat; left out: whatever the vendor speaks.',
  ),
  timeouts: ownTimeouts,
  headers: key(
    pairs(headerName, headerValue),
    'Headers that every call to it has, in place of those of the same name that the vendor usually gets.',
  ),
  proxy: key(
    checkedText(proxyExpected, isProxyUrl).transform(withoutTrailingSlash),
    'HTTP proxy that it is reached through: http://HOST:PORT, or with USER:PASSWORD@ before the host.',
  ),
  parameters: key(
    parameters,
    "What of the vendor's own members a request for text has otherwise than the client said: names, with dots between where they lie deeper.",
  ),
  retryStatuses: key(
    retryStatuses,
    'After which refusals another channel is tried, where it is not as usual.',
  ),
  options: key(
    pairs(
      z.string().regex(/^[A-Za-z][\w-]*$/, 'expected a name of letters, digits, _ and -'),
      secretText(),
    ),
    "The vendor's own settings as text, such as apiVersion for azure-openai.",
  ),
})

const priceName = z.string().regex(priceNamePattern, {
  error: (issue) => {
    const base = String(issue.input).split(/[>/]/)[0] ?? ''
    return priceNames.includes(base)
      ? 'not a price name; a tier is written input>200000, an image price image/1024x1024/hd'
      : `unknown price${suggestion(base, priceNames) || `; expected one of ${priceNames.join(', ')}`}`
  },
})

export const modelKinds = [
  'chat',
  'completion',
  'embedding',
  'image',
  'transcription',
  'translation',
  'speech',
  'video',
  'moderation',
  'rerank',
  'realtime',
] as const

export const model = section({
  kind: key(choice(modelKinds), 'What it does; left out: as shipped, else chat.'),
  context: key(count, 'Context window in tokens; left out: as shipped, else unknown.'),
  maxOutput: key(count, 'Most tokens of one reply; left out: as shipped, else unknown.'),
  vision: key(yesOrNo, 'Accepts images; left out: as shipped, else false.'),
  ownedBy: key(text(), 'Shown as owned_by; left out: as shipped, else who serves it.'),
  prices: key(
    pairs(priceName, decimal(9, '0.15')),
    'Prices per million units (tokens, requests, searches, images, seconds, characters) in the currency, as decimals in quotes.',
  ),
  timeouts: ownTimeouts,
})

const account = section({
  credit: key(decimal(9, '10.00'), 'Opening balance in the currency, posted once.'),
})

/** The file: every section may be left out. */
export const fileSchema = section({
  environmentFile: key(
    text(),
    "File of NAME=value lines that stand above the environment for ${NAME}, read again with every reload; a relative path starts at this file's folder.",
  ),
  publicUrl: key(
    checkedText('expected an http or https address', isHttpUrl).transform(withoutTrailingSlash),
    'Address under which browsers and callbacks reach this server; stands above server.publicUrl.',
  ),
  server: part(server, 'Where it listens and what it takes.'),
  uploads: part(uploads, 'Files that clients send in forms.'),
  // null is kept, since whether it was given decides what it is relative to.
  data: text()
    .nullish()
    .transform((folder) => folder ?? null)
    .meta({
      description: "Folder of the data; a relative one starts at the file's folder.",
      byDefault: defaultData,
    }),
  databaseUrl: key(
    checkedText('expected a postgres:// address', (url) => isUrlOf(url, databaseSchemes)),
    'PostgreSQL in place of the built-in database.',
  ),
  valkeyUrl: key(
    checkedText('expected a redis:// or valkey:// address', (url) => isUrlOf(url, valkeySchemes)),
    'Valkey or Redis that shares limits between nodes.',
  ),
  nodes: key(
    wholeNumber(1, 10_000),
    'Nodes that divide the limits among them while Valkey is away.',
    1,
  ),
  logLevel: key(choice(logLevels), 'Least severe message that is logged.', 'info'),
  currency: key(
    z
      .string('expected a currency code')
      .regex(/^[A-Z]{3}$/, 'expected three capital letters such as USD'),
    'The one currency of prices and balances.',
    'USD',
  ),
  priceRevision: key(
    wholeNumber(0, 1_000_000_000),
    'Raised with a change of prices: those of the file with the highest revision count, on every node. A single node without it takes its edited file as it is.',
    0,
  ),
  timeouts: part(timeouts, 'Timers of one attempt, for every channel and model.'),
  retry: part(retry, 'When another channel is tried.'),
  billing: part(
    billing,
    'What is charged when a request does not end as it should, and what may be held at once.',
  ),
  ledger: part(ledger, 'How nodes lease credit and settle what they spent.'),
  responses: part(responses, 'Replies of the Responses format that are kept for their account.'),
  realtime: part(realtime, 'Realtime sessions over WebSocket.'),
  videos: part(videos, 'Videos, which are made as jobs.'),
  media: part(media, 'Images, sound and video, and where results of them are kept.'),
  smtp: key(smtp, 'The server that mail is sent by; left out: none is sent.'),
  telemetry: part(telemetry, 'Where traces and metrics go.'),
  webhooks: key(webhooks, 'Who is told of what needs an operator.', []),
  payments: part(payments, 'How customers pay, and what they are given for it.'),
  identity: part(identity, 'Who may sign in, and as what.'),
  usage: part(usage, 'The record of each request.'),
  history: part(history, 'Messages that are kept for their account.'),
  notices,
  statusPage,
  groups: part(groups, 'Groups of models by name; default always exists.'),
  publicGroups: key(
    z.array(identifier, 'expected a list of group names'),
    'Groups whose models and prices anyone may read; [] for none.',
    [defaultGroup],
  ),
  channels: part(
    z.array(channel, 'expected a list of channels'),
    'Who serves models, and with which key.',
    [],
  ),
  models: part(
    named(modelPattern, model),
    'Models by name: overrides and extends what is shipped, field by field. A name that ends in * speaks for models of that beginning that are neither declared nor shipped; the longest wins.',
  ),
  accounts: part(named(identifier, account), 'Accounts by name.'),
  keys: part(z.array(apiKey, 'expected a list of keys'), 'API keys declared here.', []),
})

/** The settings of a file, with the default of everything it leaves out. Plain JSON data. */
export type FileSettings = z.output<typeof fileSchema>
