// Tests the commands on the configuration and its channels: real processes, each with a separate data directory.

import { describe, expect, test } from 'bun:test'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { useCli } from './support/cli.ts'

const cli = useCli()

const createArgs = ['key', 'create', '--account', 'ann', '--group', 'default', '--name', 'laptop']

describe('configuration', () => {
  const write = (text: string) => {
    mkdirSync(cli.data)
    const file = join(cli.data, 'tollgate.yaml')
    writeFileSync(file, text)
    return file
  }
  const secret = 'vendor-secret-0123456789'
  const good = `
channels:
  - { id: main, vendor: openai, key: ${secret}, models: [gpt-4o-mini] }
`

  test('check accepts a good file and lists what is wrong with a bad one', async () => {
    const file = write(good)
    const accepted = await cli.run(['config', 'check', file, '--json'])
    expect([accepted.code, JSON.parse(accepted.out)]).toEqual([
      0,
      { valid: true, file, problems: [] },
    ])

    writeFileSync(file, 'channel: []\nserver: { port: 99999999 }\n')
    const refused = await cli.run(['config', 'check', '--config', file])
    expect([refused.code, refused.out]).toEqual([1, ''])
    expect(refused.err).toContain('did you mean channels?')
    const checked = await cli.run(['config', 'check', file, '--json'])
    expect([checked.code, checked.err]).toEqual([1, ''])
    expect(JSON.parse(checked.out).problems.length).toBeGreaterThan(1)

    const keyless = [
      ...[
        '{ id: a, vendor: openai }',
        '{ id: b, vendor: openai, key: " " }',
        '{ id: c, vendor: vllm }',
      ],
      '{ id: d, vendor: openai, baseUrl: "http://127.0.0.1:1/v1" }',
    ]
    writeFileSync(file, `channels: [${keyless.join(', ')}]\n`)
    const without = JSON.parse((await cli.run(['config', 'check', file, '--json'])).out)
    writeFileSync(
      file,
      'channels: [{ id: a, vendor: bedrock, key: k, options: { regoin: us-west-2, region: us-west-2 } }]\n',
    )
    const misspelt = JSON.parse((await cli.run(['config', 'check', file, '--json'])).out)
    expect(misspelt.problems).toEqual([
      {
        path: 'channels[0].options.regoin',
        message: 'is no option of bedrock, and is ignored; did you mean region?',
      },
    ])
    expect(without.problems).toEqual(
      [0, 1].map((at) => ({
        path: `channels[${at}].key`,
        message: 'is missing: openai needs one',
      })),
    )
  })

  test("import prints what LiteLLM's file amounts to, which check accepts", async () => {
    const theirs = join(cli.scratch, 'litellm.yaml')
    writeFileSync(
      theirs,
      `model_list:
  - model_name: fast
    litellm_params: { model: openai/gpt-4o-mini, api_key: os.environ/KEY, rpm: 60 }
  - model_name: mine
    litellm_params: { model: openai/qwen, api_base: "http://10.0.0.5:8000/v1" }
    model_info: { input_cost_per_token: 1.5e-7, output_cost_per_token: 6e-7 }
general_settings: { master_key: sk-secret }
`,
    )
    const { code, out, err } = await cli.run(['config', 'import', theirs])
    expect(code).toBe(0)
    expect(err).toStartWith('general_settings.master_key: is not carried over')
    expect(err).not.toContain('sk-secret')
    const own = join(cli.scratch, 'imported.yaml')
    writeFileSync(own, out)
    const check = ['config', 'check', own, '--data', cli.data]
    expect(await cli.run(check, { KEY: 'sk-up' })).toMatchObject({ code: 0 })
    const found = await cli.json('config', 'import', theirs)
    expect(found.config.channels).toHaveLength(2)
    expect(found.left).toHaveLength(1)
    for (const [text, said] of [
      ['channels: []', 'no model_list'],
      ['a: [', 'is refused'],
    ] as const) {
      writeFileSync(theirs, text)
      const failed = await cli.run(['config', 'import', theirs])
      expect(failed).toMatchObject({ code: 1, out: '' })
      expect(failed.err).toContain(said)
    }
    expect((await cli.run(['config', 'import', 'none.yaml'])).err).toContain('does not exist')
  })

  test('show and channel list mask secrets', async () => {
    const file = write(good)
    for (const words of [
      ['config', 'show'],
      ['channel', 'list'],
    ]) {
      for (const flags of [[], ['--json']]) {
        const { code, out, err } = await cli.run([...words, ...flags, '--config', file])
        expect([code, err]).toEqual([0, ''])
        expect(out).toContain('main')
        expect(out).not.toContain(secret)
      }
    }
  })

  test('without a file the channels are what the server would serve', async () => {
    const { out } = await cli.run(['channel', 'list', '--json'])
    expect(JSON.parse(out).map((channel: { id: string }) => channel.id)).toEqual(['sandbox'])
  })

  test('channel list tells a draining channel from a disabled one', async () => {
    const lines = ['enabled', 'draining', 'disabled'].map(
      (state) => `  - { id: c-${state}, vendor: sandbox, state: ${state} }`,
    )
    const file = write(`channels:\n${lines.join('\n')}\n`)
    const { out } = await cli.run(['channel', 'list', '--config', file])
    for (const state of ['enabled', 'draining', 'disabled'])
      expect(out).toMatch(new RegExp(`^c-${state} .* ${state} `, 'm'))
  })

  test('an unknown channel is told with the nearest name', async () => {
    const { code, err } = await cli.run(['channel', 'test', 'mian', '--config', write(good)])
    expect([code, err]).toEqual([1, 'tollgate: there is no channel "mian"; did you mean main?\n'])
  })

  test('the file says where the data is, unless a flag does', async () => {
    const file = write(`data: inside\n${good}`)
    expect((await cli.run([...createArgs, '--config', file])).code).toBe(0)
    expect(readdirSync(join(cli.data, 'inside'))).toContain('tollgate.db')
    const listed = await cli.run(['key', 'list', '--json'], { TOLLGATE_CONFIG: file })
    expect(JSON.parse(listed.out)).toHaveLength(1)
  })
})
