// Tests what the schema refuses and its messages, which always name the path and never a value.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { validate } from './validate.ts'

const known = { vendors: ['openai', 'deepseek'], dialects: ['openai-chat', 'anthropic-messages'] }

function problems(raw: unknown): Record<string, string> {
  const validated = validate(raw, known)
  if (validated.ok) return {}
  return Object.fromEntries(validated.problems.map(({ path, message }) => [path, message]))
}

const channel = { id: 'a', vendor: 'openai' }
const key = { name: 'k', secret: '0123456789abcdef' }

test('a region that would change the host of a channel is refused', () => {
  const regions = ['us-east-1', 'evil.example/', 'x@evil.example', 'eu:1', '', 'US']
  const channels = regions.map((region, index) => {
    return { id: `c${index}`, vendor: 'openai', options: { region } }
  })
  const found = problems({ channels })
  expect(Object.keys(found).toSorted()).toEqual(
    [1, 2, 3, 4, 5].map((at) => `channels[${at}].options.region`),
  )
})

describe('unknown keys', () => {
  test('are refused at every depth with the nearest known one, or all where none is near', () => {
    const found = problems({
      chanels: [],
      server: { prot: 1 },
      channels: [{ ...channel, baseURL: 'http://h', timeouts: { conectMs: 1 } }],
      models: { 'a/b': { price: {} } },
      groups: { vip: { limits: { requestPerMinute: 1 } } },
      keys: [{ ...key, qqqqqqqqqqqqqq: 1 }],
    })
    expect(found).toEqual({
      chanels: 'unknown key; did you mean channels?',
      'server.prot': 'unknown key; did you mean port?',
      'channels[0].baseURL': 'unknown key; did you mean baseUrl?',
      'channels[0].timeouts.conectMs': 'unknown key; did you mean connectMs?',
      'models["a/b"].price': 'unknown key; did you mean prices?',
      'groups.vip.limits.requestPerMinute': 'unknown key; did you mean requestsPerMinute?',
      'keys[0].qqqqqqqqqqqqqq': expect.stringContaining('unknown key; known here: name, account, '),
    })
  })

  test('are listed where something else than a section stands', () => {
    const found = problems({ channels: [{ ...channel, keys: ['sk-1'] }] })
    expect(found['channels[0].keys[0]']).toBe(
      'expected a section of keys and values: name, key, disabled',
    )
  })

  test('of prices name the price meant', () => {
    const found = problems({
      models: { m: { prices: { inputs: '1', 'image/hd/1x1': '1', weather: '1' } } },
    })
    expect(found['models.m.prices.inputs']).toBe('unknown price; did you mean input?')
    expect(found['models.m.prices["image/hd/1x1"]']).toContain('image/1024x1024/hd')
    expect(found['models.m.prices.weather']).toContain('expected one of input, cachedInput')
  })
})

test('no channel has the name of an address of the control API', () => {
  expect(problems({ channels: [{ ...channel, id: 'export' }] })).toEqual({
    'channels[0].id': 'expected another name: export is an address of the control API',
  })
})

test('of very many names only some are told where one is wrong', () => {
  const groups = Object.fromEntries(Array.from({ length: 2_000 }, (_, at) => [`g${at}`, {}]))
  const { 'keys[0].group': said = '' } = problems({ groups, keys: [{ ...key, group: 'g-1' }] })
  expect(said).toMatch(/^unknown group; expected one of default, g0, .* and 1901 more$/)
})

test('a channel changes nothing of requests that is not its own to change', () => {
  const parameters = {
    set: {
      model: 'x',
      'options.num_predict': 5,
      max_tokens: '5',
      service_tier: 'priority',
      generationConfig: {},
      'a b': 1,
      'thinking.type': 'disabled',
    },
    remove: ['n', 'logit_bias', 'thinking.type', 'stream_options'],
    defaults: { 'generationConfig.maxOutputTokens': 0, 'extra_body.n': 2, seed: 1 },
  }
  expect(problems({ channels: [{ ...channel, parameters }] })).toEqual({
    'channels[0].parameters.set["a b"]':
      'expected the name of a field, or names joined by dots such as thinking.type',
  })
  const { 'a b': _, ...set } = parameters.set
  const at = 'channels[0].parameters'
  const gateway = 'cannot be changed: it belongs to the gateway'
  const cost = 'cannot be changed: it decides what a request may cost'
  expect(problems({ channels: [{ ...channel, parameters: { ...parameters, set } }] })).toEqual({
    [`${at}.set.model`]: gateway,
    [`${at}.set["options.num_predict"]`]:
      'cannot be changed: set the limit by its name in this format',
    [`${at}.set.max_tokens`]: 'expected a whole number of at least 1',
    [`${at}.set.service_tier`]: 'expected a service tier without a price of its own',
    [`${at}.set.generationConfig`]: 'name one of its fields, such as generationConfig.temperature',
    [`${at}.remove[0]`]: cost,
    [`${at}.remove[2]`]: 'stands here twice',
    [`${at}.remove[3]`]: gateway,
    [`${at}.defaults["generationConfig.maxOutputTokens"]`]: 'expected a whole number of at least 1',
    [`${at}.defaults["extra_body.n"]`]: cost,
  })
  const long = { set: { seed: 'x'.repeat(20_000) } }
  expect(problems({ channels: [{ ...channel, parameters: long }] })).toEqual({
    [at]: 'expected at most 16384 characters',
  })
})

test('the proxy of a channel', () => {
  const refused = (proxy: unknown) => problems({ channels: [{ ...channel, proxy }] })
  for (const good of ['http://h:3128', 'http://h:80/', 'http://u:p%40@h:1', 'http://[::1]:8080'])
    expect(refused(good)).toEqual({})
  for (const bad of [
    ...['h:3128', 'https://h:1', 'socks5://h:1', 'http://h', 'http://h:1/path', 'http://h:1?a'],
    ...['http://u:***@h:1', 'http://u:%0d%0a@h:1', 'http://u:%zz@h:1', 5, ''],
  ])
    expect(Object.keys(refused(bad))).toEqual(['channels[0].proxy'])
})

test('statuses after which another channel is tried', () => {
  const refused = (retryStatuses: unknown) =>
    problems({ channels: [{ ...channel, retryStatuses }] })
  expect(refused({ add: [400, 451], remove: [500] })).toEqual({})
  expect(refused({ add: [200, 400], remove: [400], drop: [] })).toMatchObject({
    'channels[0].retryStatuses.add[0]': 'expected a whole number from 400 to 599',
  })
  expect(refused({ add: [400], remove: [400] })).toEqual({
    'channels[0].retryStatuses.remove[0]': 'is also in add',
  })
})

describe('values', () => {
  test('each says what is expected, many at once', () => {
    const found = problems({
      server: { port: 65_536, maxBodyBytes: 'much', publicUrl: 'ftp://h', corsOrigins: '*' },
      databaseUrl: 'mysql://h',
      valkeyUrl: 'http://h',
      nodes: 0,
      logLevel: 'loud',
      currency: 'usd',
      timeouts: { connectMs: 0 },
      retry: { maxAttempts: 1.5, retryUncertain: 'maybe' },
      billing: { clientLeaves: 'run', maxHeldPerKey: '-1', idempotencyHours: 0 },
      ledger: { settleMs: 0, maxUnsettled: '1e3' },
      groups: { vip: { multiplier: '-1', models: ['a*b'], limits: { tokensPerMinute: 0 } } },
      channels: 'openai',
      models: { 'a*b': {}, m: { kind: 'talk', prices: { input: '1e3' } } },
      accounts: { 'b c': {} },
      keys: [{ name: 'k' }, { name: 'l', secret: 'short' }, { ...key, expiresAt: '2027-02-30' }],
    })
    const places = Object.keys(found).sort()
    expect(places).toEqual(
      [
        'server.port',
        'server.maxBodyBytes',
        'server.publicUrl',
        'server.corsOrigins',
        'databaseUrl',
        'valkeyUrl',
        'nodes',
        'logLevel',
        'currency',
        'timeouts.connectMs',
        'retry.maxAttempts',
        'retry.retryUncertain',
        'billing.clientLeaves',
        'billing.maxHeldPerKey',
        'billing.idempotencyHours',
        'ledger.settleMs',
        'ledger.maxUnsettled',
        'groups.vip.multiplier',
        'groups.vip.models[0]',
        'groups.vip.limits.tokensPerMinute',
        'channels',
        'models["a*b"]',
        'models.m.kind',
        'models.m.prices.input',
        'accounts["b c"]',
        'keys[0].secret',
        'keys[1].secret',
        'keys[2].expiresAt',
      ].sort(),
    )
    for (const [place, message] of Object.entries(found)) {
      if (place !== 'keys[0].secret') expect(`${place}: ${message}`).toMatch(/: expected /)
    }
    expect(found['keys[0].secret']).toBe('is required')
    expect(found['server.port']).toBe('expected a whole number from 0 to 65535')
    expect(found['keys[1].secret']).toBe('expected a secret of at least 16 characters')
  })

  test('what could never work is refused', () => {
    const origins = ['*', 'https://app.example', 'http://localhost:3000', 'chrome-extension://abc']
    const wrong = ['https://app.example/', 'app.example', 'https://App.example']
    const found = problems({
      server: { port: 8_001, healthPort: 8_000, workers: 2, corsOrigins: [...origins, ...wrong] },
      payments: { stripe: { secretKey: 'pk_live_1', webhookSecret: 'whsec_1' } },
      channels: [{ id: 'a', models: [] }],
    })
    expect(Object.keys(found).toSorted()).toEqual([
      'channels[0].models',
      'channels[0].vendor',
      'payments.stripe.secretKey',
      ...wrong.map((_, index) => `server.corsOrigins[${index + origins.length}]`),
      'server.healthPort',
    ])
    expect(found['channels[0].vendor']).toBe('is required')
    expect(found['channels[0].models']).toBe('expected at least one model')
    expect(problems({ server: { port: 8_001, healthPort: 8_000 } })).toEqual({})
  })

  test('a node renews before it fences itself, and fences itself before its leases end', () => {
    expect(problems({ ledger: { renewMs: 1_000, fenceMs: 2_000, leaseMs: 3_000 } })).toEqual({})
    expect(problems({ ledger: { renewMs: 40_000 } })).toEqual({
      'ledger.renewMs': 'expected renewMs below fenceMs',
    })
    expect(problems({ ledger: { leaseMs: 30_000 } })).toEqual({
      'ledger.leaseMs': 'expected fenceMs below leaseMs',
    })
    expect(
      Object.keys(problems({ ledger: { renewMs: 9_000, fenceMs: 8_000, leaseMs: 7_000 } })),
    ).toEqual(['ledger.renewMs', 'ledger.fenceMs'])
  })

  test('a declared model may be a whole name, a beginning with one star, or the star alone', () => {
    expect(problems({ models: { 'acme/*': {}, '*': {}, m: {} } })).toEqual({})
    expect(Object.keys(problems({ models: { '**': {}, '': {}, 'a b*': {} } }))).toHaveLength(3)
  })

  test('weight and priority stay in their ranges', () => {
    const found = problems({ channels: [{ ...channel, weight: -1, priority: 1e7 }] })
    expect(Object.keys(found).sort()).toEqual(['channels[0].priority', 'channels[0].weight'])
  })

  test('a price may be any of the documented names', () => {
    const prices = {
      input: '0.15',
      'input>200000': '0.3',
      cachedInput: '0',
      cacheWrite: '1',
      cacheWrite1h: '2',
      output: '0.000000001',
      reasoning: '1',
      audioInput: '1',
      audioOutput: '1',
      imageInput: '1',
      imageOutput: '1',
      request: '10000',
      image: '40000',
      'image/1024x1024': '40000',
      'image/hd': '1',
      'image/1024x1024/hd': '80000',
      second: '100',
      character: '15',
    }
    const validated = validate({ models: { m: { prices } } }, known)
    expect(validated).toMatchObject({ ok: true, input: { models: { m: { prices } } } })
  })

  test('an exact decimal is kept as given, an inexact one is refused', () => {
    const price = (input: unknown) => validate({ models: { m: { prices: { input } } } }, known)
    const kept = (text: string) => ({
      ok: true,
      input: { models: { m: { prices: { input: text } } } },
    })
    expect(price('0.150')).toMatchObject(kept('0.150'))
    expect(price(0.15)).toMatchObject(kept('0.15'))
    for (const bad of [0.1 + 0.2, 1e-9, -1, '', '.5', '1.', '1,5', '0.0000000001', true]) {
      expect(Object.keys(problems({ models: { m: { prices: { input: bad } } } }))).toEqual([
        'models.m.prices.input',
      ])
    }
  })

  test('dates with and without time are read, those without a zone are not', () => {
    const expiry = (expiresAt: string) => problems({ keys: [{ ...key, expiresAt }] })
    for (const good of ['2027-01-31', '2027-01-31T12:00:00Z', '2028-02-29T12:00:00+08:00']) {
      expect(expiry(good)).toEqual({})
    }
    for (const bad of ['2027-01-31T12:00:00', 'tomorrow', '2027-02-29']) {
      expect(Object.keys(expiry(bad))).toEqual(['keys[0].expiresAt'])
    }
  })
})

describe('the file against itself', () => {
  test('ids, names and secrets are unique', () => {
    const found = problems({ channels: [channel, channel], keys: [key, key] })
    expect(found).toEqual({
      'channels[1].id': 'is the same as channels[0].id; each must be different',
      'keys[1].name': 'is the same as keys[0].name; each must be different',
      'keys[1].secret': 'is the same as keys[0].secret; each must be different',
    })
  })

  test('groups, vendors and dialects must exist; group default always does', () => {
    const found = problems({
      groups: { premium: {} },
      channels: [
        { id: 'a', vendor: 'opnai', dialect: 'openai_chat', groups: ['default', 'premum'] },
        { id: 'b', vendor: 'zzzzzzzz' },
      ],
      keys: [key, { name: 'l', secret: 'another-secret-1234', group: 'premiun' }],
    })
    expect(found).toEqual({
      'channels[0].vendor': 'unknown vendor; did you mean openai?',
      'channels[0].dialect': 'unknown dialect; did you mean openai-chat?',
      'channels[0].groups[1]': 'unknown group; did you mean premium?',
      'channels[1].vendor': 'unknown vendor; expected one of openai, deepseek',
      'keys[1].group': 'unknown group; did you mean premium?',
    })
  })

  test('a pattern for the vendor needs a pattern for the public', () => {
    const models = { fast: 'gpt-*', 'gpt-*': 'openai/gpt-*', 'o*': 'o3' }
    expect(problems({ channels: [{ ...channel, models }] })).toEqual({
      'channels[0].models.fast': 'expected a * at the end of both names, or of the first only',
    })
    const neither = problems({ channels: [{ ...channel, models: {} }] })
    expect(Object.keys(neither)).toEqual(['channels[0].models'])
  })
})

test('a currency that Stripe does not count in hundredths is refused', () => {
  const stripe = { secretKey: 'sk_test', webhookSecret: 'whsec_test' }
  const place = ['payments.stripe.currency']
  const placesOf = (raw: object) => Object.keys(problems(raw))
  expect(placesOf({ currency: 'JPY', payments: { stripe } })).toEqual(place)
  expect(placesOf({ payments: { stripe: { ...stripe, currency: 'KWD' } } })).toEqual(place)
  const charged = { payments: { stripe: { ...stripe, currency: 'USD' } } }
  expect(placesOf({ currency: 'JPY', ...charged })).toEqual([])
  expect(placesOf({ currency: 'JPY' })).toEqual([])
})

test('no message shows a value, whatever is wrong with it', () => {
  const secret = 'S3CRET-VALUE'
  const place = fc.constantFrom(
    'server',
    'data',
    'databaseUrl',
    'nodes',
    'logLevel',
    'currency',
    'timeouts',
    'groups',
    'channels',
    'models',
    'keys',
  )
  const inner = fc.constantFrom('id', 'vendor', 'key', 'secret', 'group', 'prices', 'expiresAt')
  const wrong = fc.constantFrom<unknown>(secret, [secret], `\n${secret}`, [[secret]], 7, false)
  fc.assert(
    fc.property(place, inner, wrong, (section, name, value) => {
      const entry = { [name]: value }
      for (const raw of [value, entry, [entry], { a: entry }, { a: { prices: entry } }]) {
        expect(Object.values(problems({ [section]: raw })).join(' ')).not.toContain(secret)
      }
    }),
  )
  const vendor = problems({
    channels: [{ id: 'a', vendor: secret, dialect: secret, groups: [secret] }],
  })
  expect(Object.values(vendor).join(' ')).not.toContain(secret)
})

test('what is wrong between entries is reported together with what is wrong in others', () => {
  const found = problems({
    nodes: 0,
    ledger: { renewMs: 50_000 },
    channels: [
      { id: 'a', vendor: 'opnai', groups: ['nogroup'] },
      { id: '', vendor: 'openai' },
      { id: 'a', vendor: 'openai' },
    ],
    keys: [{ ...key, group: 'nogroup' }, { name: 'short', secret: 'x' }, key],
  })
  expect(Object.keys(found).sort()).toEqual([
    'channels[0].groups[0]',
    'channels[0].vendor',
    'channels[1].id',
    'channels[2].id',
    'keys[0].group',
    'keys[1].secret',
    'keys[2].name',
    'keys[2].secret',
    'ledger.renewMs',
    'nodes',
  ])
})

test('a vendor without an address of its own needs one', () => {
  const raw = { channels: [{ id: 'a', vendor: 'openai' }] }
  const validated = validate(raw, { ...known, addressless: ['openai'] })
  expect(validated).toEqual({
    ok: false,
    problems: [{ path: 'channels[0].baseUrl', message: 'is required for vendor openai' }],
  })
})

describe('providers of identities', () => {
  const client = { clientId: 'a', clientSecret: 'b' }

  test('are github and google by their ids, and of a kind else', () => {
    const providers = [
      { id: 'github', ...client },
      { id: 'google', ...client },
      { id: 'ghe', kind: 'github', baseUrl: 'https://ghe.example/', ...client },
      { id: 'corp', kind: 'oidc', issuer: 'https://id.example/', ...client },
    ]
    expect(problems({ publicUrl: 'https://gate.example', identity: { providers } })).toEqual({})
  })

  test('are refused with the place of what is wrong', () => {
    const providers = [
      { id: 'corp', ...client },
      { id: 'corp', kind: 'oidc', ...client },
      { id: 'A b', kind: 'oidc', issuer: 'https://u:p@id.example', ...client },
      { id: 'github', clientId: 'a' },
    ]
    expect(Object.keys(problems({ identity: { providers } }))).toEqual([
      'identity.providers[0].kind',
      'identity.providers[1].issuer',
      'identity.providers[2].id',
      'identity.providers[2].issuer',
      'identity.providers[3].clientSecret',
    ])
    const twice = [1, 2].map(() => ({ id: 'github', ...client }))
    expect(problems({ identity: { providers: twice } })).toEqual({
      'identity.providers': 'expected a different id for each provider',
    })
  })
})
