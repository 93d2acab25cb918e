// The one schema of the configuration file: what may be in it, and what each key means.

import { z } from 'zod'
import { defaultData, defaultGroup } from './defaults.ts'
import { priceNamePattern, priceNames } from './prices.ts'
import { suggestion } from './problems.ts'
import {
  baseUrlExpected,
  expectedDatabaseUrl,
  isBaseUrl,
  isDatabaseUrl,
  isHttpUrl,
  isProxyUrl,
  isUrlOf,
  logLevels,
  proxyExpected,
  valkeySchemes,
  withoutTrailingSlash,
} from './rules.ts'
import { channelLimits, parameters, retryStatuses } from './schema-channel.ts'
import { apiKey, limits } from './schema-keys.ts'
import { media } from './schema-media.ts'
import { billing, ledger } from './schema-money.ts'
import {
  bytes,
  checkedText,
  choice,
  count,
  decimal,
  identifier,
  key,
  milliseconds,
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
import { server } from './schema-server.ts'
import { smtp } from './schema-smtp.ts'
import { telemetry } from './schema-telemetry.ts'
import { uploads } from './schema-uploads.ts'
import { webhooks } from './schema-webhooks.ts'

/** Time limits of one attempt; each may be set for all, by channel and by model. */
const timers = {
  connectMs: [5_000, 'Longest time for the name look-up, the connection and TLS together.'],
  sendIdleMs: [30_000, 'Longest time in which the vendor accepts no byte of the request.'],
  firstEventMs: [
    60_000,
    'Streams: longest time from sending the request to the first content, tool call, reasoning or finish; comments do not count.',
  ],
  replyMs: [
    600_000,
    'Replies that are not streamed: longest time from sending the request to the last byte.',
  ],
  idleMs: [90_000, 'Streams: longest time between two bytes.'],
  semanticIdleMs: [
    300_000,
    'Streams: longest time between two events with content; ends a stream that sends only pings.',
  ],
  totalMs: [
    1_800_000,
    'Longest time for the whole request, including all attempts and waits for the client.',
  ],
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
  'Time limits that replace those of the section `timeouts` here; those left out stay the same.',
)

const retry = section({
  maxAttempts: key(
    wholeNumber(1, 20),
    'Most attempts for one request, including the first; each uses another channel, or another key of one.',
    3,
  ),
  retryUncertain: key(
    yesOrNo,
    'Whether another channel is tried after a timeout or a lost connection, when the first vendor may already have done the work. Images, audio and video are never retried in that case.',
    true,
  ),
})

const responses = section({
  keepDays: key(
    wholeNumber(0, 3_650),
    'Days that a stored response is kept after it, or the last one that continues it, was made; 0: none is stored.',
    30,
  ),
})

const realtime = section({
  maxSessionMs: key(milliseconds, 'Longest duration of a session.', 3_600_000),
  idleMs: key(
    milliseconds,
    'Time without a message from either side after which a session is ended.',
    900_000,
  ),
  maxMessageBytes: key(
    bytes,
    'Largest message of either side in bytes; a larger one closes the session with code 1009.',
    16 * 1024 * 1024,
  ),
})

const videos = section({
  maxHours: key(
    wholeNumber(1, 720),
    'Hours after which a video that its vendor has not finished fails; it is then not charged.',
    24,
  ),
  keepDays: key(
    wholeNumber(1, 3_650),
    'Days that a video is listed after its request. Its content stays at the vendor, for as long as the vendor keeps it.',
    30,
  ),
})

export const group = section({
  multiplier: key(
    decimal(6, '1.25'),
    'Factor by which prices are multiplied for keys of this group.',
    '1',
  ),
  modelMultipliers: key(
    pairs(modelPattern, decimal(6, '0.8')),
    'Factors for some models in place of `multiplier`, by model name or by prefix followed by *; the longest match applies.',
    {},
  ),
  models: key(
    modelPatterns,
    'Models that keys of this group may use: names, or prefixes followed by *.',
    ['*'],
  ),
  limits,
})

const groups = named(identifier, group)

const channelModels = z.union(
  [
    z.array(modelPattern).min(1, 'expected at least one model'),
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
  name: identifier.meta({ description: 'Name of the key, unique within its channel.' }),
  key: secretText().meta({ description: 'API key for the vendor.', fromFile: true }),
  disabled: key(yesOrNo, 'Whether the key is not used.', false),
})

export const channelStates = ['enabled', 'draining', 'disabled'] as const

export const channel = section({
  // GET /api/channels/export is the list as a file, so that no channel could be read there.
  id: identifier
    .refine(
      (id) => id !== 'export',
      'expected another name: export is an address of the control API',
    )
    .meta({ description: 'Unique name of the channel, other than export.' }),
  vendor: text('expected the name of a vendor').meta({
    description:
      "Vendor of the channel, such as openai, deepseek or ollama; openai-compatible for any other with OpenAI's format.",
  }),
  baseUrl: key(
    checkedText(baseUrlExpected, isBaseUrl).transform(withoutTrailingSlash),
    "Address of the vendor's API, up to where the vendor's own paths begin; left out: the vendor's usual address.",
  ),
  key: key(secretText(), 'API key for the vendor.'),
  keys: key(
    z.array(channelKey, 'expected a list of keys'),
    'Several API keys in place of `key`; requests are spread over those that work.',
    [],
  ),
  models: key(
    channelModels,
    "Models served: a list of names, or a map of public names to the vendor's names; left out: the vendor's models in the built-in catalogue.",
  ),
  groups: key(
    z.array(identifier, 'expected a list of group names'),
    'Groups whose keys the channel serves; left out: all groups.',
  ),
  priority: key(
    wholeNumber(-1_000_000, 1_000_000),
    'Rank in routing: channels with the lowest number are tried first.',
    0,
  ),
  weight: key(
    wholeNumber(0, 1_000_000),
    'Share of requests among channels of equal priority; 0: tried after all other channels, whatever their priority.',
    1,
  ),
  disabled: key(yesOrNo, 'Whether the channel takes no requests, whatever `state` says.', false),
  state: key(
    choice(channelStates),
    'Whether the channel takes new requests: draining and disabled take none, and running requests finish. draining marks a temporary stop.',
    'enabled',
  ),
  concurrency: key(
    wholeNumber(1, 1_000_000),
    "Most concurrent requests with each of the channel's keys, in each serving process; at the limit other channels are used. Left out: no limit.",
  ),
  limits: channelLimits,
  costMultiplier: key(
    decimal(6, '0.8'),
    "Factor on the vendor's list prices for what you pay, such as 0.8 for a discount; it changes the recorded vendor cost, not what customers pay.",
    '1',
  ),
  tags: key(
    z.array(identifier, 'expected a list of tags').max(32, 'expected at most 32 tags'),
    'Labels by which operators filter and select channels.',
    [],
  ),
  note: key(
    text('expected text').max(1_000, 'expected at most 1000 characters'),
    'Free text for operators.',
  ),
  passTrace: key(
    yesOrNo,
    "Whether the client's traceparent and tracestate headers are passed on to the vendor.",
    false,
  ),
  dialect: key(
    text('expected the name of a dialect'),
    'The only wire format used with the vendor, such as openai-chat; left out: any that the vendor supports.',
  ),
  timeouts: ownTimeouts,
  headers: key(
    pairs(headerName, headerValue),
    'Headers sent with every call to the vendor; they replace headers of the same name.',
  ),
  proxy: key(
    checkedText(proxyExpected, isProxyUrl).transform(withoutTrailingSlash),
    'HTTP proxy through which the vendor is reached: http://HOST:PORT or http://USER:PASSWORD@HOST:PORT.',
  ),
  parameters: key(
    parameters,
    "Changes to the body of text requests before they are sent. Field names are the vendor's; a dot leads into an object, as in thinking.type.",
  ),
  retryStatuses: key(
    retryStatuses,
    'Exceptions to the rule for which statuses of the vendor lead to a try on another channel.',
  ),
  options: key(
    pairs(
      z.string().regex(/^[A-Za-z][\w-]*$/, 'expected a name of letters, digits, _ and -'),
      secretText(),
    ),
    'Further settings that the vendor has, as text, such as apiVersion for azure-openai or imageBuckets for bedrock.',
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
  kind: key(
    choice(modelKinds),
    "What the model does; left out: as in the built-in catalogue, else chat. For names that end in *, it is guessed from each model's name (embed, rerank, ...) before chat is assumed.",
  ),
  context: key(
    count,
    'Context window in tokens; left out: as in the built-in catalogue, else unknown.',
  ),
  maxOutput: key(
    count,
    'Most tokens of one reply, to which a greater limit in a request is lowered; left out: as in the built-in catalogue, else unknown.',
  ),
  vision: key(
    yesOrNo,
    'Whether the model accepts images; left out: as in the built-in catalogue, else false, but true for chat models that only a name ending in * describes.',
  ),
  ownedBy: key(
    text(),
    'Value of owned_by in lists of models; left out: as in the built-in catalogue, else the vendor that serves it.',
  ),
  prices: key(
    pairs(priceName, decimal(9, '0.15')),
    'Prices in the currency per million units (tokens, requests, searches, images, seconds, characters), as decimals in quotes.',
  ),
  timeouts: ownTimeouts,
})

const account = section({
  credit: key(
    decimal(9, '10.00'),
    'Opening balance in the currency; it is credited once and later changes have no effect.',
  ),
})

/** The file: every section may be left out. */
export const fileSchema = section({
  environmentFile: key(
    text(),
    "File of NAME=value lines that override environment variables in ${NAME}; it is read again at every reload. A relative path starts at this file's folder.",
  ),
  publicUrl: key(
    checkedText('expected an http or https address', isHttpUrl).transform(withoutTrailingSlash),
    'Public http or https address of this server, for browsers and callbacks; takes precedence over server.publicUrl.',
  ),
  server: part(server, 'Address to listen on, and limits for requests and connections.'),
  uploads: part(uploads, 'Limits for files that clients send in forms.'),
  // null is kept, since whether it was given decides what it is relative to.
  data: text()
    .nullish()
    .transform((folder) => folder ?? null)
    .meta({
      description:
        "Folder for all data of the server; a relative path starts at this file's folder.",
      byDefault: defaultData,
    }),
  databaseUrl: key(
    checkedText(expectedDatabaseUrl, isDatabaseUrl),
    'Address of a PostgreSQL database (postgres://...); left out: SQLite in the data folder.',
  ),
  valkeyUrl: key(
    checkedText('expected a redis:// or valkey:// address', (url) => isUrlOf(url, valkeySchemes)),
    'Address of a Valkey or Redis server through which nodes share rate limits; left out: each node applies the limits by itself.',
  ),
  nodes: key(
    wholeNumber(1, 10_000),
    'Number of servers of this deployment, not counting workers. While Valkey cannot be reached and has not counted them, each applies its part of the rate limits by this number.',
    1,
  ),
  logLevel: key(choice(logLevels), 'Least severe level that is logged.', 'info'),
  currency: key(
    z
      .string('expected a currency code')
      .regex(/^[A-Z]{3}$/, 'expected three capital letters such as USD'),
    'Currency of all prices and balances, as a code of three letters.',
    'USD',
  ),
  priceRevision: key(
    wholeNumber(0, 1_000_000_000),
    'Revision of the prices in this file. With several nodes, raise it when you change prices: the prices of the file with the highest revision apply on every node. A single node applies an edited file without it.',
    0,
  ),
  timeouts: part(timeouts, 'Time limits in milliseconds, for every channel and model.'),
  retry: part(retry, 'Tries of a request on further channels.'),
  billing: part(
    billing,
    'What is charged when a request does not end well, how much credit running requests may hold, and how repeated requests are recognized.',
  ),
  ledger: part(ledger, 'Timing of how nodes lease credit and settle charges.'),
  responses: part(responses, 'Storage of responses of the Responses API for their account.'),
  realtime: part(realtime, 'Limits of realtime sessions over WebSocket.'),
  videos: part(videos, 'Limits of videos, which vendors make as jobs.'),
  media: part(media, 'Storage of results such as images, sound and videos.'),
  smtp: key(smtp, 'SMTP server for mail; left out: no mail is sent.'),
  telemetry: part(telemetry, 'Export of traces and metrics.'),
  webhooks: key(webhooks, "Webhooks that receive operators' alerts.", []),
  payments: part(payments, 'Payment providers, amounts and bonuses.'),
  identity: part(identity, 'Sign-in of people.'),
  usage: part(usage, 'Retention, archive and export of the records of requests.'),
  history: part(
    history,
    'Message history: whether requests and replies are stored for their account, and for how long.',
  ),
  notices,
  statusPage,
  groups: part(groups, 'Groups of keys by name; the group default always exists.'),
  publicGroups: key(
    z.array(identifier, 'expected a list of group names'),
    'Groups whose models and prices anyone may read without signing in; []: none.',
    [defaultGroup],
  ),
  channels: part(
    z.array(channel, 'expected a list of channels'),
    'Connections to vendors, each with its key and its models.',
    [],
  ),
  models: part(
    named(modelPattern, model),
    'Models by name; each field given replaces that of the built-in catalogue. A name that ends in * describes all models with that prefix that are neither declared nor in the catalogue; the longest prefix applies.',
  ),
  accounts: part(
    named(identifier, account),
    'Accounts by name; keys may also name accounts that are not listed here.',
  ),
  keys: part(
    z.array(apiKey, 'expected a list of keys'),
    'API keys of this file; further keys can be created at run time.',
    [],
  ),
})

/** The settings of a file, with the default of everything it leaves out. Plain JSON data. */
export type FileSettings = z.output<typeof fileSchema>
